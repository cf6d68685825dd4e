//go:build !race

package worth_test

// raceDetector says whether the tests run under the race detector, which slows and
// allocates.
const raceDetector = false
