package conflict

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/constraint"
	"kir/internal/portable"
	"kir/internal/testonly/golden"
	"kir/internal/testonly/testmode"
	"kir/rule"
)

// randomRule makes a rule of any kind.
func randomRule(r *rand.Rand, ingredients, total int) rule.Rule {
	some := func() []int {
		of := r.Perm(ingredients)[:1+r.IntN(ingredients)]
		slices.Sort(of)
		return of
	}
	between := func(most int) *rule.Range {
		lo := r.IntN(most + 1)
		return &rule.Range{Min: lo, Max: lo + r.IntN(most+1-lo)}
	}
	switch r.IntN(12) {
	case 8:
		ratio := rule.Ratio{Of: some(), To: some(), Min: float64(r.IntN(30)) / 10, Max: math.Inf(1)}
		if r.IntN(2) == 0 {
			ratio.Max = ratio.Min + float64(r.IntN(30))/10
		}
		return ratio
	case 9:
		near := rule.Near{Changes: bounded(r.IntN(4) - 1), Distance: bounded(r.IntN(total+1) - 1)}
		of := some()
		of = of[:min(len(of), total)]
		for _, i := range of {
			near.Recipe = append(near.Recipe, rule.Part{Ingredient: i, Amount: 1})
		}
		near.Recipe[0].Amount += total - len(of)
		return near
	case 10, 11:
		when := rule.If{Then: randomRule(r, ingredients, total)}
		if r.IntN(3) > 0 {
			when.Used = some()
		}
		if when.Used == nil || r.IntN(4) == 0 {
			when.Unused = some()
		}
		return when
	case 0:
		return rule.Require{Of: some()[:1]}
	case 1:
		return rule.Exclude{Of: some()[:1]}
	case 2:
		return rule.Amount{Of: some(), Min: 1 + r.IntN(total/2), Step: r.IntN(3)}
	case 3:
		return rule.Amount{Of: some(), Max: 1 + r.IntN(total/2)}
	case 4:
		of := some()
		return rule.Group{Of: of, Used: between(len(of))}
	case 5:
		return rule.Group{Of: some(), Total: between(total)}
	case 6:
		return rule.Need{If: r.IntN(ingredients), Then: some()}
	}
	limit := rule.Limit{Factors: make([]float64, ingredients), Min: math.Inf(-1), Max: math.Inf(1)}
	for i := range limit.Factors {
		limit.Factors[i] = float64(r.IntN(451)-50) / 10
	}
	lo := float64(r.IntN(400)-50) / 10
	switch r.IntN(3) {
	case 0:
		limit.Min = lo
	case 1:
		limit.Max = lo
	default:
		limit.Min, limit.Max = lo, lo+float64(r.IntN(100))/100
	}
	return limit
}

// randomSet makes rules of all kinds. Some limits are of one attribute.
func randomSet(r *rand.Rand) rule.Set {
	s := rule.Set{Ingredients: 2 + r.IntN(4), Total: 3 + r.IntN(10)}
	for range 2 + r.IntN(6) {
		one := randomRule(r, s.Ingredients, s.Total)
		if limit, ok := one.(rule.Limit); ok && r.IntN(2) == 0 {
			for _, other := range s.Rules {
				if other, ok := other.(rule.Limit); ok {
					limit.Factors = other.Factors
				}
			}
			one = limit
		}
		s.Rules = append(s.Rules, one)
	}
	switch r.IntN(3) {
	case 0:
		s.Used = []int{1 + r.IntN(s.Ingredients)}
	case 1:
		s.Used = []int{1, 2, 3}
	}
	return s
}

// Of rules of all kinds at random, what is said is held against all
// compositions: whether there is a conflict, that the set is a smallest one, and
// that each way out frees the whole of the rules.
func TestExplainAllKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 5))
	infeasible, uncounted, together := 0, 0, 0
	for infeasible < testmode.Pick(400, 130) {
		s := randomSet(r)
		c := checkExplained(t, s, everyAmounts(s.Ingredients, s.Total))
		if c == nil {
			continue
		}
		infeasible++
		for _, change := range c.Changes {
			if strings.Contains(change.Text, " and ") {
				together++
			}
		}
		if slices.ContainsFunc(c.Rules, func(k int) bool {
			switch s.Rules[k].(type) {
			case rule.Need, rule.Limit, rule.Ratio, rule.Near, rule.If:
				return true
			}
			return false
		}) {
			uncounted++
		}
	}
	t.Logf("%d infeasible, %d of them by needs and limits, %d ways out of several changes", infeasible, uncounted, together)
	if uncounted < infeasible/4 || together < infeasible/20 {
		t.Errorf("the random sets are poor: %d by needs and limits, %d ways out of several changes", uncounted, together)
	}
}

// Where compositions are too many to look at, what is proven impossible is; what
// is left unexplained may be so; and each way out that is given is one. Small
// spaces are taken for large ones, so that this can be checked.
func TestExplainLargeSpaces(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 7))
	infeasible, explained, changes := 0, 0, 0
	for infeasible < testmode.Pick(250, 100) {
		s := randomSet(r)
		all := everyAmounts(s.Ingredients, s.Total)
		c, err := question{Set: s}.explain(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		possible := len(bruteRules(s, all)) > 0
		if possible && c != nil {
			t.Fatalf("%+v, used %v: has compositions and is explained as %v", s.Rules, s.Used, c)
		}
		if possible {
			continue
		}
		infeasible++
		if c == nil {
			continue
		}
		explained++
		core := question{Set: s}.onlyRules(c.Rules).Set
		if !c.InvolvesUsedCounts {
			core.Used = nil
		}
		if len(bruteRules(core, all)) > 0 {
			t.Fatalf("%+v: rules %v (law %v) can hold together", s.Rules, c.Rules, c.InvolvesUsedCounts)
		}
		for _, change := range c.Changes {
			if changed := change.applyTo(question{Set: s}); len(changed.conditionChanges) == 0 {
				changes++
				if len(bruteRules(changed.Set, all)) == 0 {
					t.Fatalf("%+v, used %v: %q changes nothing: %+v", s.Rules, s.Used, change.Text, changed.Rules)
				}
			}
		}
	}
	t.Logf("%d infeasible, %d explained, %d changes", infeasible, explained, changes)
	if explained < infeasible*8/10 || changes < explained {
		t.Errorf("of %d infeasible sets %d are explained, with %d ways out", infeasible, explained, changes)
	}
}

// TestExplainedAgain keeps the words of rules and of what is said where they cannot
// hold, in spaces that are gone through and in ones that are not, and the figures of
// rules at random compositions.
func TestExplainedAgain(t *testing.T) {
	kept := golden.Open(t)
	r := rand.New(rand.NewPCG(23, 5))
	for n := 0; n < 80; {
		s := randomSet(r)
		most := float64(n % 2 * 1_000_000)
		c, err := question{Set: s}.explain(context.Background(), most)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			continue
		}
		n++
		said := c.Error() + "\n" + c.FixText() + fmt.Sprintf("\n%s %v %d %d\n", c.Kind, c.Ingredients, c.Sum, c.Limit)
		for k, one := range s.Rules {
			said += s.Describe(k)
			x := make([]int, s.Ingredients)
			for range s.Total {
				x[r.IntN(s.Ingredients)]++
			}
			for _, slack := range constraint.Slacks(one, partsOf(x), s.Total) {
				said += fmt.Sprintf("; %.6g in %.6g to %.6g, room %.6g", slack.Value, slack.Min, slack.Max, slack.Room())
			}
			said += "\n"
		}
		kept.CheckText(t, fmt.Sprintf("set %d", n), said)
	}
}

// TestSkips: a sum is called one that skips its bounds only if no composition has one
// within them, and if all amounts are allowed it is whenever that follows from what the
// differences of the factors have in common.
func TestSkips(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 6))
	skipped, bounded := 0, 0
	for range 600 {
		s := rule.Set{Ingredients: 2 + r.IntN(3), Total: 2 + r.IntN(8)}
		limit := rule.Limit{Factors: make([]float64, s.Ingredients), Min: math.Inf(-1), Max: math.Inf(1)}
		unit, first := float64(1+r.IntN(5)), float64(r.IntN(7)-3)
		for i := range limit.Factors {
			limit.Factors[i] = first + unit*float64(r.IntN(6))
		}
		limit.Min = float64(r.IntN(40))/4 - 2
		limit.Max = limit.Min + float64(r.IntN(8))/8
		switch r.IntN(6) {
		case 0:
			limit.Min = math.Inf(-1)
		case 1:
			limit.Max = math.Inf(1)
		}
		s.Rules = []rule.Rule{limit}
		if r.IntN(2) == 0 {
			s.Rules = append(s.Rules, rule.Amount{Of: []int{r.IntN(s.Ingredients)}, Min: 1 + r.IntN(s.Total), Step: 1 + r.IntN(3)})
		}
		c, err := constraint.FromRules(s)
		if err != nil || len(c.Sums) == 0 {
			continue
		}
		p := newProver(t.Context(), c, question{Set: s}.usedCounts())
		skips := p.hasNoReachableValue(&p.provedSums[0])
		within := len(bruteRules(s, everyAmounts(s.Ingredients, s.Total)))
		if skips && within > 0 {
			t.Fatalf("%+v: %d compositions are within", s.Rules, within)
		}
		if skips {
			skipped++
			if c.Sums[0].Min != math.MinInt64 && c.Sums[0].Max != math.MaxInt64 {
				bounded++
			}
			continue
		}
		// Along one ingredient after the other the mean goes in steps of what the
		// differences have in common.
		common := int64(0)
		for _, f := range limit.Factors {
			common = int64(portable.GCD(int(common), int(math.Abs(f-limit.Factors[0]))))
		}
		if len(s.Rules) > 1 || common == 0 || math.IsInf(limit.Min, 0) || math.IsInf(limit.Max, 0) {
			continue
		}
		sum, inside := limit.Factors[0]*float64(s.Total), false
		for k := -1000.0; k <= 1000; k++ {
			mean := (sum + k*float64(common)) / float64(s.Total)
			inside = inside || limit.Min <= mean && mean <= limit.Max
		}
		if !inside {
			t.Fatalf("%+v of %d units: no step of %d is within", s.Rules, s.Total, common)
		}
	}
	if skipped < 50 || bounded < 20 {
		t.Errorf("%d skip, %d of them between two bounds", skipped, bounded)
	}
}

// Judgements are those of the definitions, for each kind of rule alone.
func TestKeepsAllKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 6))
	kept, broken := 0, 0
	for range 3000 {
		s := rule.Set{Ingredients: 2 + r.IntN(3), Total: 2 + r.IntN(6)}
		s.Rules = []rule.Rule{randomRule(r, s.Ingredients, s.Total), randomRule(r, s.Ingredients, s.Total)}
		c, err := constraint.FromRules(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range everyAmounts(s.Ingredients, s.Total) {
			want := len(bruteRules(s, [][]int{x})) > 0
			if got := c.AreKeptBy(partsOf(x)); got != want {
				t.Fatalf("%+v: %v is kept: %v, want %v", s.Rules, x, got, want)
			}
			if want {
				kept++
			} else {
				broken++
			}
		}
	}
	if kept < 10000 || broken < 10000 {
		t.Errorf("%d kept and %d broken are poor", kept, broken)
	}
}

// Two limits on one attribute that exclude each other are freed by what is said,
// in a small space and in one that is not gone through.
func TestLimitsOnOneAttribute(t *testing.T) {
	for _, c := range []struct{ ingredients, total int }{{6, 10}, {60, 1000}} {
		factors := make([]float64, c.ingredients)
		for i := range factors {
			factors[i] = float64((i*37)%50) + 0.5
		}
		s := rule.Set{Ingredients: c.ingredients, Total: c.total, Used: []int{2, 3, 4}, Rules: []rule.Rule{
			rule.Limit{Attribute: "abv", Factors: factors, Min: 28.4, Max: 41.4},
			rule.Limit{Attribute: "abv", Factors: factors, Min: 6.7, Max: 8.1},
		}}
		conflict, err := Explain(context.Background(), s)
		if err != nil || conflict == nil {
			t.Fatalf("%d ingredients: %v, %v", c.ingredients, conflict, err)
		}
		if len(conflict.Changes) != 2 {
			t.Fatalf("%d ingredients: %v", c.ingredients, conflict)
		}
		for _, change := range conflict.Changes {
			changed := change.Apply(s)
			a, b := changed.Rules[0].(rule.Limit), changed.Rules[1].(rule.Limit)
			if a.Min > b.Max {
				t.Errorf("%d ingredients: %q leaves %v to %v and %v to %v", c.ingredients, change.Text, a.Min, a.Max, b.Min, b.Max)
			}
		}
	}
}

// Many rules and ingredients take no time worth speaking of, proven or not.
func TestProofIsBounded(t *testing.T) {
	const ingredients, total = 400, 1000
	r := rand.New(rand.NewPCG(1, 1))
	s := rule.Set{Ingredients: ingredients, Total: total, Used: []int{10, 11, 12}}
	for range 60 {
		s.Rules = append(s.Rules, rule.Need{If: r.IntN(ingredients), Then: r.Perm(ingredients)[:3]})
	}
	limit := rule.Limit{Factors: make([]float64, ingredients), Min: 0.9, Max: 0.900001}
	for i := range limit.Factors {
		limit.Factors[i] = r.Float64()
	}
	s.Rules = append(s.Rules, limit)
	c, err := constraint.FromRules(s)
	if err != nil {
		t.Fatal(err)
	}
	p := newProver(t.Context(), c, s.Used)
	p.isImpossible()
	if p.stepsLeft < -10*ingredients*len(s.Rules) {
		t.Errorf("the search went on for %d steps too many", -p.stepsLeft)
	}
}

// bounded is a bound of so many, or none where that is negative.
func bounded(most int) *int {
	if most < 0 {
		return nil
	}
	return &most
}
