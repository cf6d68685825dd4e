package ensemble

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Sums lie within the bounds of every box, over sources of all kinds.
func TestWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	for trial := range 120 {
		n, total := 2+r.IntN(8), 1+r.IntN(60)
		sources := randomSources(r, n, total)
		m := randomModel(r, len(sources), 1+r.IntN(30), 1+r.IntN(7), 1+r.IntN(3), trial%2 == 0, TermFold(max(0, r.IntN(6)-3)), sources, total)
		s, err := Bind(m, n, total, sources)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			x, _ := randomComposition(r, n, total)
			lo, hi := slices.Clone(x), slices.Clone(x)
			for i := range x {
				if r.IntN(2) == 0 {
					lo[i], hi[i] = r.Int32N(x[i]+1), x[i]+r.Int32N(int32(total)+1)
				}
			}
			least, greatest := s.BoundsInBox(lo, hi, total)
			for g, v := range s.Sums(x) {
				if v < least[g] || v > greatest[g] {
					t.Fatalf("trial %d: target %d is %v at %v, and from %v to %v from %v to %v", trial, g, v, x, least[g], greatest[g], lo, hi)
				}
			}
			least, greatest = s.BoundsInBox(x, x, total)
			if want := s.Sums(x); !slices.Equal(least, want) || !slices.Equal(greatest, want) {
				t.Fatalf("trial %d: %v has %v, and alone from %v to %v", trial, x, want, least, greatest)
			}
		}
	}
}
