// Package testmode says whether tests run in full, and whether under the race detector. go test ./... runs a fixed sample
// of what takes minutes: some of the cells of a grid, fewer seeds, one case of a
// kind. With KIR_LONG=1 in the environment the same tests run all of it.
//
// It is asked by tests as they run: go test keeps results by the variables that were
// read then, not by those that were read before.
package testmode

import "os"

// Enabled reports whether tests run in full: KIR_LONG is set, and not to 0.
func Enabled() bool {
	value := os.Getenv("KIR_LONG")
	return value != "" && value != "0"
}

// Pick returns the first value where tests run in full, else the one of the sample.
func Pick[T any](full, sample T) T {
	if Enabled() {
		return full
	}
	return sample
}
