//go:build !race

package randomproblem

// raceDetector says whether the tests run under the race detector.
const raceDetector = false
