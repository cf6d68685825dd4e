package ensemble

import (
	"strings"
	"testing"
)

// A model is bound to as many sources as it has inputs, or not at all.
func TestBindCounts(t *testing.T) {
	m := &Model{Inputs: []string{"a", "b"}}
	for n := range 4 {
		_, err := Bind(m, 1, 10, make([]Source, n))
		if wrong := err != nil && strings.Contains(err.Error(), "2 inputs"); wrong != (n != 2) {
			t.Errorf("%d sources: %v", n, err)
		}
	}
}
