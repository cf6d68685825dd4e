//go:build race

package mcmc_test

// raceDetector says whether the tests run under the race detector, which takes
// ten times as long over arithmetic that has no races.
const raceDetector = true
