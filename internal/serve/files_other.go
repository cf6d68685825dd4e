//go:build !unix

package serve

// openFiles returns how many files the process may have open.
func openFiles() int { return 4 * maxUnknownConns }
