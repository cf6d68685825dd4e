package rule

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomRule makes a rule of any kind.
func randomRule(r *rand.Rand, ingredients, total int) Rule {
	some := func() []int {
		of := r.Perm(ingredients)[:1+r.IntN(ingredients)]
		slices.Sort(of)
		return of
	}
	between := func(most int) *Range {
		lo := r.IntN(most + 1)
		return &Range{Min: lo, Max: lo + r.IntN(most+1-lo)}
	}
	switch r.IntN(12) {
	case 8:
		ratio := Ratio{Of: some(), To: some(), Min: float64(r.IntN(30)) / 10, Max: math.Inf(1)}
		if r.IntN(2) == 0 {
			ratio.Max = ratio.Min + float64(r.IntN(30))/10
		}
		return ratio
	case 9:
		near := Near{Changes: r.IntN(4) - 1, Distance: r.IntN(total+1) - 1}
		of := some()
		of = of[:min(len(of), total)]
		for _, i := range of {
			near.Recipe = append(near.Recipe, Part{i, 1})
		}
		near.Recipe[0].Amount += total - len(of)
		return near
	case 10, 11:
		when := If{Then: randomRule(r, ingredients, total)}
		if r.IntN(3) > 0 {
			when.Used = some()
		}
		if when.Used == nil || r.IntN(4) == 0 {
			when.Unused = some()
		}
		return when
	case 0:
		return Require{Of: some()[:1]}
	case 1:
		return Exclude{Of: some()[:1]}
	case 2:
		return Amount{Of: some(), Min: 1 + r.IntN(total/2), Step: r.IntN(3)}
	case 3:
		return Amount{Of: some(), Max: 1 + r.IntN(total/2)}
	case 4:
		of := some()
		return Group{Of: of, Used: between(len(of))}
	case 5:
		return Group{Of: some(), Total: between(total)}
	case 6:
		return Need{If: r.IntN(ingredients), Then: some()}
	}
	limit := Limit{Factors: make([]float64, ingredients), Min: math.Inf(-1), Max: math.Inf(1)}
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
func randomSet(r *rand.Rand) Set {
	s := Set{Ingredients: 2 + r.IntN(4), Total: 3 + r.IntN(10)}
	for range 2 + r.IntN(6) {
		rule := randomRule(r, s.Ingredients, s.Total)
		if limit, ok := rule.(Limit); ok && r.IntN(2) == 0 {
			for _, other := range s.Rules {
				if other, ok := other.(Limit); ok {
					limit.Factors = other.Factors
				}
			}
			rule = limit
		}
		s.Rules = append(s.Rules, rule)
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
	for infeasible < 400 {
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
			case Need, Limit, Ratio, Near, If:
				return true
			}
			return false
		}) {
			uncounted++
		}
	}
	t.Logf("%d infeasible, %d of them by needs and limits, %d ways out of several changes", infeasible, uncounted, together)
	if uncounted < 100 || together < 20 {
		t.Errorf("the random sets are poor: %d by needs and limits, %d ways out of several changes", uncounted, together)
	}
}

// Where compositions are too many to look at, what is proven impossible is; what
// is left unexplained may be so; and each way out that is given is one. Small
// spaces are taken for large ones, so that this can be checked.
func TestExplainLargeSpaces(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 7))
	infeasible, explained, changes := 0, 0, 0
	for infeasible < 250 {
		s := randomSet(r)
		all := everyAmounts(s.Ingredients, s.Total)
		c, err := s.explain(context.Background(), 0)
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
		core := s.only(c.Rules)
		if !c.Law {
			core.Used = nil
		}
		if len(bruteRules(core, all)) > 0 {
			t.Fatalf("%+v: rules %v (law %v) can hold together", s.Rules, c.Rules, c.Law)
		}
		for _, change := range c.Changes {
			if changed := change.Apply(s); len(changed.overrides) == 0 {
				changes++
				if len(bruteRules(changed, all)) == 0 {
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

// Judgements are those of the definitions, for each kind of rule alone.
func TestKeepsAllKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 6))
	kept, broken := 0, 0
	for range 3000 {
		s := Set{Ingredients: 2 + r.IntN(3), Total: 2 + r.IntN(6)}
		s.Rules = []Rule{randomRule(r, s.Ingredients, s.Total), randomRule(r, s.Ingredients, s.Total)}
		c, err := s.Conditions()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range everyAmounts(s.Ingredients, s.Total) {
			want := len(bruteRules(s, [][]int{x})) > 0
			if got := c.Keeps(partsOf(x)); got != want {
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

// A bound that is a decimal number is kept by what is exactly on it, in whatever
// order it is summed.
func TestLimitAtItsBound(t *testing.T) {
	s := Set{Ingredients: 3, Total: 10, Rules: []Rule{Limit{Factors: []float64{0.1, 0.2, 0.7}, Min: 0.3, Max: 0.3}}}
	c, err := s.Conditions()
	if err != nil {
		t.Fatal(err)
	}
	on := []Part{{0, 5}, {1, 3}, {2, 2}} // 0.5 + 0.6 + 1.4 = 2.5
	if c.Keeps(on) {
		t.Errorf("a mean of 0.25 keeps 0.3")
	}
	on = []Part{{0, 4}, {1, 4}, {2, 2}} // 0.4 + 0.8 + 1.4 = 2.6
	if c.Keeps(on) {
		t.Errorf("a mean of 0.26 keeps 0.3")
	}
	on = []Part{{0, 5}, {1, 2}, {2, 3}} // 0.5 + 0.4 + 2.1 = 3.0
	if !c.Keeps(on) {
		t.Errorf("a mean of 0.3 does not keep 0.3")
	}
	if slack := Slacks(s.Rules[0], on, 10)[0]; slack.Value != 0.3 || slack.Room() != 0 {
		t.Errorf("at its bound the limit has the mean %v and the room %v", slack.Value, slack.Room())
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
		s := Set{Ingredients: c.ingredients, Total: c.total, Used: []int{2, 3, 4}, Rules: []Rule{
			Limit{Attribute: "abv", Factors: factors, Min: 28.4, Max: 41.4},
			Limit{Attribute: "abv", Factors: factors, Min: 6.7, Max: 8.1},
		}}
		conflict, err := s.Explain(context.Background())
		if err != nil || conflict == nil {
			t.Fatalf("%d ingredients: %v, %v", c.ingredients, conflict, err)
		}
		if len(conflict.Changes) != 2 {
			t.Fatalf("%d ingredients: %v", c.ingredients, conflict)
		}
		for _, change := range conflict.Changes {
			changed := change.Apply(s)
			a, b := changed.Rules[0].(Limit), changed.Rules[1].(Limit)
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
	s := Set{Ingredients: ingredients, Total: total, Used: []int{10, 11, 12}}
	for range 60 {
		s.Rules = append(s.Rules, Need{If: r.IntN(ingredients), Then: r.Perm(ingredients)[:3]})
	}
	limit := Limit{Factors: make([]float64, ingredients), Min: 0.9, Max: 0.900001}
	for i := range limit.Factors {
		limit.Factors[i] = r.Float64()
	}
	s.Rules = append(s.Rules, limit)
	c, err := s.Conditions()
	if err != nil {
		t.Fatal(err)
	}
	p := newProver(c, s.Used)
	p.impossible()
	if p.steps < -10*ingredients*len(s.Rules) {
		t.Errorf("the search went on for %d steps too many", -p.steps)
	}
}
