package problem

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir"
	"kir/count"
	"kir/fault"
)

// everyComposition lists the compositions of a total, by their parts.
func everyComposition(ingredients, total int) [][]kir.Part {
	var all [][]kir.Part
	var add func(i, left int, parts []kir.Part)
	add = func(i, left int, parts []kir.Part) {
		if i == ingredients-1 {
			if left > 0 {
				parts = append(slices.Clone(parts), kir.Part{Ingredient: i, Amount: left})
			}
			all = append(all, slices.Clone(parts))
			return
		}
		add(i+1, left, parts)
		for a := 1; a <= left; a++ {
			add(i+1, left-a, append(slices.Clone(parts), kir.Part{Ingredient: i, Amount: a}))
		}
	}
	add(0, total, nil)
	return all
}

// randomRule makes a rule of any kind.
func randomRule(r *rand.Rand, ingredients, total int) *rule {
	some := func() []int {
		of := r.Perm(ingredients)[:1+r.IntN(ingredients)]
		slices.Sort(of)
		return of
	}
	between := func(most int) *count.Range {
		lo := r.IntN(most + 1)
		return &count.Range{Min: lo, Max: lo + r.IntN(most+1-lo)}
	}
	switch r.IntN(7) {
	case 0:
		return &rule{counted: &count.Rule{Of: some()[:1], Require: true}}
	case 1:
		return &rule{counted: &count.Rule{Of: some()[:1], Exclude: true}}
	case 2:
		return &rule{counted: &count.Rule{Of: some(), Min: 1 + r.IntN(total/2), Step: r.IntN(3)}}
	case 3:
		of := some()
		return &rule{counted: &count.Rule{Of: of, Used: between(len(of))}}
	case 4:
		return &rule{counted: &count.Rule{Of: some(), Total: between(total)}}
	case 5:
		return &rule{need: &kir.Need{If: r.IntN(ingredients), Then: some()}}
	}
	limit := &kir.Limit{Factors: make([]float64, ingredients), Min: math.Inf(-1), Max: math.Inf(1)}
	for i := range limit.Factors {
		limit.Factors[i] = float64(r.IntN(9) - 2)
	}
	if limit.Min = float64(r.IntN(8)); r.IntN(2) == 0 {
		limit.Min, limit.Max = math.Inf(-1), float64(r.IntN(5)-2)
	}
	return &rule{limit: limit}
}

// What is proven impossible is, by looking at every composition; each rule of a
// contradiction is part of it as far as proofs go; and most of what is
// impossible is proven.
func TestProofs(t *testing.T) {
	const ingredients, total = 5, 6
	all := everyComposition(ingredients, total)
	any := func(rules []*rule, sizes []int) bool {
		return slices.ContainsFunc(all, func(parts []kir.Part) bool {
			return slices.Contains(sizes, len(parts)) && !slices.ContainsFunc(rules, func(r *rule) bool { return !r.keeps(parts, total) })
		})
	}
	r := rand.New(rand.NewPCG(3, 9))
	impossible, proven := 0, 0
	for round := range 3000 {
		var rules []*rule
		for range 2 + r.IntN(5) {
			rules = append(rules, randomRule(r, ingredients, total))
		}
		p := &prover{ingredients: ingredients, total: total, sizes: [][]int{{1, 2, 3}, {3}, {2, 5}}[r.IntN(3)]}
		possible := any(rules, p.sizes)
		core, law := p.contradiction(rules)
		if !possible {
			impossible++
		}
		if core == nil && !law {
			continue
		}
		proven++
		if possible {
			t.Fatalf("round %d: rules with compositions are proven to have none", round)
		}
		sizes := p.sizes
		if !law {
			sizes = []int{1, 2, 3, 4, 5}
		}
		if any(core, sizes) {
			t.Fatalf("round %d: the contradiction has compositions", round)
		}
		for k := range core {
			if p.impossible(slices.Delete(slices.Clone(core), k, k+1), sizes) {
				t.Fatalf("round %d: %d rules are told to contradict each other, and fewer of them do", round, len(core))
			}
		}
	}
	t.Logf("%d impossible, %d of them proven", impossible, proven)
	if impossible < 500 || proven < impossible*8/10 {
		t.Errorf("%d of %d were proven", proven, impossible)
	}
}

// Many rules and ingredients take no time worth speaking of, proven or not.
func TestProofIsBounded(t *testing.T) {
	const ingredients, total = 400, 1000
	r := rand.New(rand.NewPCG(1, 1))
	var rules []*rule
	for range 60 {
		rules = append(rules, &rule{need: &kir.Need{If: r.IntN(ingredients), Then: r.Perm(ingredients)[:3]}})
	}
	limit := &kir.Limit{Factors: make([]float64, ingredients), Min: 0.9, Max: 0.900001}
	for i := range limit.Factors {
		limit.Factors[i] = r.Float64()
	}
	rules = append(rules, &rule{limit: limit})
	p := &prover{ingredients: ingredients, total: total, sizes: []int{10, 11, 12}}
	p.contradiction(rules)
	if p.steps < -10*ingredients*len(rules) {
		t.Errorf("the search went on for %d steps too many", -p.steps)
	}
}

func TestContradictionsAreExplained(t *testing.T) {
	for _, c := range []struct {
		name, rules string
		says        []string
	}{
		{"a need", "  - needs: {if: Gin, then: [Cassis]}\n  - exclude: Cassis\n  - require: Gin\n  - exclude: Vermouth\n",
			[]string{`6:5: `, `"Gin needs Cassis", "exclude Cassis" and "require Gin" together (line 6, line 7, line 8)`, "drop one of them"}},
		{"a limit alone", "  - exclude: Cassis\n  - limit: {attribute: abv, min: 46}\n", []string{`7:5: `, `"limit of abv min 46"`, "from 46 to 45 or drop it"}},
		{"a limit and a dose", "  - require: Gin\n  - amount: {of: Gin, min: 10}\n  - limit: {attribute: abv, max: 15}\n", []string{"from 15 to 20"}},
		{"groups that cross", "  - group: {of: [Gin, Cassis], used: [2, 2]}\n  - group: {of: [Cassis, Campari], used: [0, 1]}\n  - require: Campari\n", []string{"line 6, line 7, line 8"}},
		{"with the sparsity", "  - needs: {if: Gin, then: [Cassis]}\n  - needs: {if: Cassis, then: [Campari]}\n  - needs: {if: Campari, then: [Vermouth]}\n  - needs: {if: Vermouth, then: [Champagne]}\n  - require: Gin\n",
			[]string{"the sparsity on line 4", "allow other numbers of ingredients"}},
	} {
		_, err := loadRules(t, headBook, c.rules)
		var bad *fault.Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: the error is %v, not one of input", c.name, err)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the message does not say %q: %v", c.name, want, err)
			}
		}
	}
}
