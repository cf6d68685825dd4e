package compile

import (
	"path/filepath"
	"testing"

	"kir/internal/search"
	"kir/internal/testonly/testmode"
)

// TestShortlistInOrder: on the shortlists of the examples no variant is better than its
// entry, which would stand in its place; entries and variants have the best first, and a
// variant is nearly the same and not the same.
func TestShortlistInOrder(t *testing.T) {
	for _, name := range []string{"cocktails/problem.yaml", "fragrance/problem.yaml", "spritz/problem.yaml"} {
		t.Run(filepath.Dir(name), func(t *testing.T) {
			p, err := Load(t.Context(), filepath.Join("..", "..", "examples", filepath.FromSlash(name)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			q, err := p.SearchQuestion()
			if err != nil {
				t.Fatal(err)
			}
			q.HalfTargets = nil
			if !testmode.Enabled() {
				q.BoundProblem = nil // which adds what it finds, and does not order
			}
			variants := 0
			for seed := range testmode.Pick[uint64](3, 1) {
				a, err := q.Answer(t.Context(), search.RunContext{Iterations: testmode.Pick[int64](40_000, 20_000), Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				distance := search.NewDistance(len(p.Ingredients), q.Known)
				for k, e := range a.Entries {
					if k > 0 && e.LogScore > a.Entries[k-1].LogScore {
						t.Errorf("seed %d: entry %d scores %.4f, below %.4f", seed, k, a.Entries[k-1].Score(), e.Score())
					}
					last := e.LogScore
					for _, v := range e.Variants {
						variants++
						if v.LogScore > last {
							t.Errorf("seed %d: entry %d scores %.4f, and a variant behind %.4f scores %.4f", seed, k+1, e.Score(), last, v.Score())
						}
						last = v.LogScore
						if d := distance.Between(e.Parts, v.Parts); d == 0 || d > 0.25 {
							t.Errorf("seed %d: a variant of entry %d is %.2f away", seed, k+1, d)
						}
					}
				}
			}
			if name == "cocktails/problem.yaml" && variants < testmode.Pick(20, 6) {
				t.Errorf("there are %d variants", variants)
			}
		})
	}
}
