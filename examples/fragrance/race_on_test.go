//go:build race

package fragrance_test

// raceEnabled says that the race detector slows everything down.
const raceEnabled = true
