//go:build race

package browser_test

// buildFlags build kir with what the tests are built with.
var buildFlags = []string{"-race"}
