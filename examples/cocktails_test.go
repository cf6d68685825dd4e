package examples_test

import (
	"testing"

	"kir/internal/compile"
	"kir/internal/search"
	"kir/internal/testonly/testmode"
)

// TestBestCocktails finds what is known to be there: a product of the two
// calibrated probabilities of at least 0.785, where the best of ten searches has 0.791, with
// ten seeds (two in the short form) and the effort of the run that the README makes, whatever the chains find,
// among compositions of other sets of ingredients than the known drinks have and with no
// amount outside what the book has.
func TestBestCocktails(t *testing.T) {
	p, err := compile.Load(t.Context(), "cocktails/problem.yaml", compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	q.HalfTargets = nil // which are another search, and change nothing in this one
	iterations := int64(p.Sampler.Chains) * p.Sampler.Iterations()
	for seed := uint64(1); seed <= testmode.Pick[uint64](10, 2); seed++ {
		a, err := q.Answer(t.Context(), search.RunContext{Iterations: iterations, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Entries) != 20 {
			t.Fatalf("seed %d: %d entries", seed, len(a.Entries))
		}
		best, last := a.Entries[0].Score(), a.Entries[19].Score()
		t.Logf("seed %2d: the best %.3f, the twentieth %.3f; %d evaluations in %.1f s", seed, best, last, a.Evaluations, a.Seconds)
		if best < 0.785 {
			t.Errorf("seed %d: the best scores %.3f", seed, best)
		}
		if a.Evaluations > iterations/3 {
			t.Errorf("seed %d: %d lines and compositions were scored, more than a third of the chains' %d", seed, a.Evaluations, iterations)
		}
		for k, e := range a.Entries {
			set := make([]int, len(e.Parts))
			for at, part := range e.Parts {
				set[at] = part.Ingredient
				if least, most := q.Least[part.Ingredient], q.Most[part.Ingredient]; part.Amount < least || part.Amount > most || e.Ranges[at].Low < least || e.Ranges[at].High > most {
					t.Errorf("seed %d: entry %d has %d to %d of %s, and the book %d to %d", seed, k+1, e.Ranges[at].Low, e.Ranges[at].High, p.Ingredients[part.Ingredient], least, most)
				}
			}
			if _, known := p.Book.RecipeWithSet(set); known {
				t.Errorf("seed %d: entry %d has the ingredients of a known drink", seed, k+1)
			}
		}
	}
}
