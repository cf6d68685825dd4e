package conflict

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/constraint"
	"kir/rule"
)

// A walk begins, and goes on, with compositions: amounts above 0 of different
// ingredients that can be used, which sum to the total.
func TestWalkIsOfCompositions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for range 300 {
		n, total := 1+random.IntN(8), 1+random.IntN(30)
		set := rule.Set{Ingredients: n, Total: total}
		for i := range n {
			switch random.IntN(4) {
			case 0:
				set.Rules = append(set.Rules, rule.Amount{Of: []int{i}, Min: 1 + random.IntN(total)})
			case 1:
				set.Rules = append(set.Rules, rule.Require{Of: []int{i}})
			case 2:
				set.Rules = append(set.Rules, rule.Amount{Of: []int{i}, Step: 1 + random.IntN(3)})
			}
		}
		c, err := constraint.FromRules(set)
		if err != nil {
			continue // a contradiction
		}
		w := newWalk(c, []int{1})
		if len(w.usableIngredients) == 0 {
			continue
		}
		for size := 1; size <= min(n, total); size++ {
			w.startComposition(size)
			for step := range 50 {
				seen, sum := make(map[int]bool), 0
				for _, p := range w.parts {
					if p.Amount < 1 || seen[p.Ingredient] || !slices.Contains(w.usableIngredients, p.Ingredient) {
						t.Fatalf("size %d, step %d: %+v of %+v", size, step, w.parts, set)
					}
					seen[p.Ingredient], sum = true, sum+p.Amount
				}
				if sum != total {
					t.Fatalf("size %d, step %d: %+v sums to %d of %+v", size, step, w.parts, sum, set)
				}
				w.changeParts()
			}
		}
	}
}
