//go:build !race

package fragrance_test

const raceEnabled = false
