//go:build race

package testmode

// RaceDetector reports whether the tests run under the race detector, which slows them about
// tenfold and allocates.
const RaceDetector = true
