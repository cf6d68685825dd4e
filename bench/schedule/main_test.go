package main

import "testing"

// Workers take tasks as they are free, and wait for the end of each list.
func TestMakespan(t *testing.T) {
	tasks := []task{{"chain", 0, 3}, {"chain", 0, 1}, {"chain", 0, 1}, {"search", 1, 2}, {"search", 1, 2}, {"search", 1, 2}}
	for workers, want := range map[int]float64{1: 11, 2: 3 + 4, 3: 3 + 2, 16: 3 + 2} {
		if got := makespan(tasks, workers); got != want {
			t.Errorf("%d workers take %v, not %v", workers, got, want)
		}
	}
}
