package conflict

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/rule"
)

// inDoses says whether an ingredient may take an amount.
func inDoses(d constraint.AmountSet, amount int) bool {
	for n := range d.Count {
		if d.Lo+n*d.Step == amount {
			return true
		}
	}
	return false
}

// keepsEach judges a composition condition by condition, as they are written out.
func keepsEach(c *constraint.Conditions, parts []rule.Part) bool {
	required := 0
	for _, p := range parts {
		if !inDoses(c.AmountSets[p.Ingredient], p.Amount) {
			return false
		}
		if c.Amounts[p.Ingredient].Required {
			required++
		}
	}
	if required < c.RequiredCount {
		return false
	}
	for g := range c.Groups {
		used, units := 0, 0
		for _, i := range c.Groups[g].Members {
			a := amountOf(parts, i)
			used, units = used+min(a, 1), units+a
		}
		within := func(v int, r *count.Range) bool { return r == nil || r.Min <= v && v <= r.Max }
		if !within(used, c.Groups[g].Used) || !within(units, c.Groups[g].Total) {
			return false
		}
	}
	for _, n := range c.Dependences {
		if !n.IsMet(func(i int) bool { return amountOf(parts, i) > 0 }) {
			return false
		}
	}
	for k := range c.Sums {
		v := int64(0)
		for _, t := range c.Sums[k].Terms {
			v += t.ValueAt(amountOf(parts, t.Ingredient))
		}
		if v < c.Sums[k].Min || v > c.Sums[k].Max {
			return false
		}
	}
	return true
}

// mixedRules makes rules of all kinds, of which groups cross.
func mixedRules(r *rand.Rand) rule.Set {
	n, m := 3+r.IntN(3), 5+r.IntN(6)
	s := rule.Set{Ingredients: n, Total: m}
	some := func() []int { return r.Perm(n)[:1+r.IntN(n)] }
	var one func(depth int) rule.Rule
	one = func(depth int) rule.Rule {
		switch lo := r.IntN(3); r.IntN(9 - depth) {
		case 0:
			return rule.Group{Of: some(), Used: &rule.Range{Min: r.IntN(2), Max: 1 + r.IntN(2)}}
		case 1:
			return rule.Group{Of: some(), Total: &rule.Range{Min: lo, Max: lo + r.IntN(m)}}
		case 2:
			return rule.Need{If: r.IntN(n), Then: some()}
		case 3:
			return rule.Ratio{Of: some(), To: some(), Min: 0, Max: 1 + r.Float64()}
		case 4:
			limit := rule.Limit{Min: float64(lo) / 2, Max: 3}
			for range n {
				limit.Factors = append(limit.Factors, float64(r.IntN(5)))
			}
			return limit
		case 5:
			return rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: m - 1}, {Ingredient: 1, Amount: 1}}, Changes: new(2 + r.IntN(2))}
		case 6:
			return rule.Amount{Of: some(), Min: lo, Step: 1 + r.IntN(2)}
		case 7:
			return rule.Require{Of: some()[:1]}
		}
		return rule.If{Used: some(), Then: one(depth + 1)}
	}
	for range 1 + r.IntN(5) {
		s.Rules = append(s.Rules, one(0))
	}
	return s
}

// What is judged by the conditions that a composition has to do with is what all of
// them say; and so is what an enumeration counts, which gives branches up, and what a
// walk takes for kept.
func TestJudgedByWhatItHasToDoWith(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	kept, broken := 0, 0
	for problem := range 1000 {
		s := mixedRules(r)
		c, err := constraint.FromRules(s)
		if err != nil {
			t.Fatal(err)
		}
		book, byUsed := constraint.NewConstraintState(c), make([]int, s.Ingredients+1)
		w := newWalk(c, question{Set: s}.usedCounts())
		for _, x := range everyAmounts(s.Ingredients, s.Total) {
			parts := partsOf(x)
			r.Shuffle(len(parts), func(a, b int) { parts[a], parts[b] = parts[b], parts[a] })
			want := keepsEach(c, parts)
			if got := c.AreKeptBy(parts); got != want {
				t.Fatalf("problem %d, %+v: %v is kept: %v, and plainly %v", problem, s.Rules, x, got, want)
			}
			w.parts = append(w.parts[:0], parts...)
			if len(w.usableIngredients) > 0 && (w.violation() == 0) != want {
				t.Fatalf("problem %d, %+v: a walk takes %v for broken by %g, and kept is %v", problem, s.Rules, x, w.violation(), want)
			}
			amounts := !slices.ContainsFunc(parts, func(p rule.Part) bool { return !inDoses(c.AmountSets[p.Ingredient], p.Amount) })
			required := 0
			for _, p := range parts {
				book.Add(p)
				if c.Amounts[p.Ingredient].Required {
					required++
				}
			}
			if got := book.IsSatisfied(parts) && amounts && required == c.RequiredCount; got != want {
				t.Fatalf("problem %d, %+v: the ledger says %v of %v, and plainly it is %v", problem, s.Rules, got, x, want)
			}
			if want {
				byUsed[len(parts)]++
				kept++
			} else {
				broken++
			}
			for _, p := range parts {
				book.Remove(p)
			}
		}
		for n := 1; n <= s.Ingredients; n++ {
			if got, ok, err := c.CountFeasible(t.Context(), n); err != nil || !ok || got != byUsed[n] {
				t.Fatalf("problem %d, %+v: %d of %d ingredients are kept (%v, %v), and plainly %d", problem, s.Rules, got, n, ok, err, byUsed[n])
			}
		}
	}
	if kept < 5000 || broken < 5000 {
		t.Errorf("the random rules are poor: %d kept, %d broken", kept, broken)
	}
}
