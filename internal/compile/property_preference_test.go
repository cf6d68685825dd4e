package compile

import (
	"testing"

	"kir/internal/config"
	"kir/property"
)

// TestMostPairs checks that a preference may have as many pairs as package property takes.
func TestMostPairs(t *testing.T) {
	for _, k := range config.PreferenceKind.New().Sections()[0].Keys {
		if k.Name == "first" && k.Type.Schema["maximum"] != property.MaxPairs {
			t.Errorf("first is at most %v, and a preference has at most %d pairs", k.Type.Schema["maximum"], property.MaxPairs)
		}
	}
}
