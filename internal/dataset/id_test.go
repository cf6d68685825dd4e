package dataset_test

import (
	"fmt"
	"testing"

	"kir/internal/dataset"
)

// TestIDKey: what an id of a batch may have been turned into by hand is the same id; what is
// another's stays as it is.
func TestIDKey(t *testing.T) {
	for id, want := range map[string]string{
		"B3-1": "B3-1", "3-1": "B3-1", "b3-1": "B3-1", "3–1": "B3-1", "B3−1": "B3-1", "0-1": "B0-1", "20261124-3": "B20261124-3",
		"": "", "B": "B", "B3": "B3", "3-": "3-", "-1": "-1", "B-1": "B-1", "BB3-1": "BB3-1", "03-1": "03-1", "3-01": "3-01", "3-1-2": "3-1-2", "3--1": "3--1", "x": "x", "3-x": "3-x", "3 -1": "3 -1",
		"1234567890-1": "1234567890-1", "1-Jan": "1-Jan", "2026-01-01": "2026-01-01", "+3-1": "+3-1",
	} {
		if got := dataset.IDKey(id); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
	for _, n := range [][2]int{{0, 1}, {1, 10}, {999_999_999, 1000}} {
		round, number, ok := dataset.ParseRecipeID(dataset.RecipeID(n[0], n[1]))
		if !ok || fmt.Sprint(round, number) != fmt.Sprint(n[0], n[1]) {
			t.Errorf("%v: %d, %d, %v", n, round, number, ok)
		}
	}
}
