package dataset

import (
	"strings"
	"testing"
)

// A JSON file of more values than are read is refused, and one of fewer is not for
// that.
func TestManyValues(t *testing.T) {
	for values, refused := range map[int]bool{1000: false, mostValues + 1: true} {
		text := "[" + strings.Repeat("1,", values-2) + "1]" // the list is one, too
		_, err := Read(strings.NewReader(text), "book.json", Options{})
		if err == nil || strings.Contains(err.Error(), "values: split it") != refused {
			t.Errorf("%d values: %v", values, err)
		}
	}
}
