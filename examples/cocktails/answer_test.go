package cocktails_test

import (
	"math"
	"slices"
	"testing"

	"kir"
	"kir/problem"
	"kir/search"
)

// TestBestOfTheExample finds what is known to be there: a product of the two
// properties of at least 0.97, with ten seeds, among compositions of other sets of
// ingredients than the known drinks have and with no amount below what the book
// has. It takes 30,000 lines of the run's 440,000.
func TestBestOfTheExample(t *testing.T) {
	p, err := problem.Load(t.Context(), "problem.yaml", problem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var known []*kir.Composition
	least := make([]int, len(p.Ingredients))
	sets := make(map[string]bool)
	key := func(set []int) string {
		var k []byte
		for _, i := range set {
			k = append(k, byte(i))
		}
		return string(k)
	}
	for r, recipe := range p.Book.Recipes {
		amounts, err := p.Book.Closure(r, p.Total)
		if err != nil {
			t.Fatal(err)
		}
		var parts []kir.Part
		var set []int
		for k, part := range recipe.Parts {
			i := int(part.Ingredient)
			parts = append(parts, kir.Part{Ingredient: i, Amount: amounts[k]})
			set = append(set, i)
			if least[i] == 0 || amounts[k] < least[i] {
				least[i] = amounts[k]
			}
		}
		x, err := kir.NewComposition(len(p.Ingredients), parts...)
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, x)
		slices.Sort(set)
		sets[key(set)] = true
	}
	distance := search.NewDistance(len(p.Ingredients), known)
	apart := search.ApartShare * distance.Typical(known)
	refuse := func(set []int) bool { return sets[key(set)] }
	for seed := uint64(1); seed <= 10; seed++ {
		r, err := search.Best(t.Context(), p.Target, search.Options{
			Evaluations: 30_000, Seed: seed, Starts: known, Least: least, Refuse: refuse,
			Ideas: 20, Distance: distance, Apart: apart,
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := search.Shortlist(t.Context(), p.Target, append(r.Ideas, r.Archive.Best()...), search.ListOptions{
			Length: 20, Distance: distance, Apart: apart, Least: least, Refuse: refuse, Known: known,
		})
		if err != nil {
			t.Fatal(err)
		}
		best, last := math.Exp(list.Entries[0].LogScore), math.Exp(list.Entries[19].LogScore)
		t.Logf("seed %2d: the best %.3f, the twentieth %.3f; %d evaluations", seed, best, last, r.Evaluations+list.Evaluations)
		if best < 0.97 {
			t.Errorf("seed %d: the best scores %.3f", seed, best)
		}
		for k, e := range list.Entries {
			for q, part := range e.Parts {
				if part.Amount < least[part.Ingredient] || e.Ranges[q].Low < least[part.Ingredient] {
					t.Errorf("seed %d: entry %d has %d to %d of %s, and the book at least %d", seed, k+1, e.Ranges[q].Low, e.Ranges[q].High, p.Ingredients[part.Ingredient], least[part.Ingredient])
				}
			}
		}
	}
}
