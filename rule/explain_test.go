package rule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/count"
	"kir/internal/golden"
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

// TestExplainedAgain keeps the words of rules and of what is said where they cannot
// hold, in spaces that are gone through and in ones that are not, and the figures of
// rules at random compositions.
func TestExplainedAgain(t *testing.T) {
	kept := golden.Open(t)
	r := rand.New(rand.NewPCG(23, 5))
	for n := 0; n < 80; {
		s := randomSet(r)
		most := float64(n % 2 * 1_000_000)
		c, err := s.explain(context.Background(), most)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			continue
		}
		n++
		said := c.Error() + "\n" + c.WaysOut() + fmt.Sprintf("\n%s %v %d %d\n", c.Kind, c.Ingredients, c.Sum, c.Limit)
		for k, one := range s.Rules {
			said += s.Words(k)
			x := make([]int, s.Ingredients)
			for range s.Total {
				x[r.IntN(s.Ingredients)]++
			}
			for _, slack := range Slacks(one, partsOf(x), s.Total) {
				said += fmt.Sprintf("; %.6g in %.6g to %.6g, room %.6g", slack.Value, slack.Min, slack.Max, slack.Room())
			}
			said += "\n"
		}
		kept.Holds(t, fmt.Sprintf("set %d", n), said)
	}
}

// TestSkips: a sum is called one that skips its bounds only if no composition has one
// within them, and if all amounts are allowed it is whenever that follows from what the
// differences of the factors have in common.
func TestSkips(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 6))
	skipped, bounded := 0, 0
	for range 600 {
		s := Set{Ingredients: 2 + r.IntN(3), Total: 2 + r.IntN(8)}
		limit := Limit{Factors: make([]float64, s.Ingredients), Min: math.Inf(-1), Max: math.Inf(1)}
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
		s.Rules = []Rule{limit}
		if r.IntN(2) == 0 {
			s.Rules = append(s.Rules, Amount{Of: []int{r.IntN(s.Ingredients)}, Min: 1 + r.IntN(s.Total), Step: 1 + r.IntN(3)})
		}
		c, err := s.Conditions()
		if err != nil || len(c.Sums) == 0 {
			continue
		}
		p := newProver(t.Context(), c, s.sizes())
		skips := p.skips(&p.sums[0])
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
			common = int64(gcd(int(common), int(math.Abs(f-limit.Factors[0]))))
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

// TestSetRefuses: what is no rule is told by its number, and the least and most that is
// one is taken.
func TestSetRefuses(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		rule Rule
		says string // "" if it is a rule, of 3 ingredients and 5 units
	}{
		{Require{Of: []int{0}}, ""}, {Require{Of: []int{2}}, ""}, {Require{Of: []int{3}}, "names ingredient 3 and they go from 0 to 2"}, {Exclude{Of: []int{-1}}, "names ingredient -1 and"},
		{Amount{Of: []int{0}}, ""}, {Amount{Of: []int{0}, Min: 3, Max: 3, Step: 1}, ""}, {Amount{Of: []int{3}, Min: 1}, "names ingredient 3"},
		{Amount{Of: []int{0}, Min: -1}, "has a negative amount"}, {Amount{Of: []int{0}, Max: -1}, "has a negative amount"}, {Amount{Of: []int{0}, Step: -1}, "has a negative amount"},
		{Amount{Of: []int{0}, Min: 4, Max: 3}, "asks for amounts of at least 4 and at most 3"},
		{Group{Of: []int{0, 1}, Used: &Range{Min: 1, Max: 1}, Total: &Range{Min: 2, Max: 2}}, ""}, {Group{Of: []int{0}, Used: &Range{Min: 2, Max: 1}}, "asks for 2 to 1 used"},
		{Group{Of: []int{0}, Total: &Range{Min: 2, Max: 1}}, "asks for a total of 2 to 1"}, {Group{Of: []int{7}, Total: &Range{Min: 1, Max: 2}}, "names ingredient 7"},
		{Need{If: 0, Then: []int{1}}, ""}, {Need{If: 3, Then: []int{1}}, "names ingredient 3"}, {Need{If: 0, Then: []int{3}}, "names ingredient 3"},
		{Limit{Factors: []float64{1, 2, 3}, Min: 2, Max: 2}, ""}, {Limit{Factors: []float64{1, 2}, Min: 2, Max: inf}, "has 2 factors for 3 ingredients"},
		{Limit{Factors: []float64{1, nan, 3}, Min: 2, Max: inf}, "has the factor NaN for ingredient 1"}, {Limit{Factors: []float64{1, 1, inf}, Min: 2, Max: inf}, "has the factor +Inf for ingredient 2"},
		{Limit{Factors: []float64{1, 2, 3}, Min: nan, Max: 2}, "has a bound that is not a number"}, {Limit{Factors: []float64{1, 2, 3}, Min: 1, Max: nan}, "has a bound that is not a number"},
		{Limit{Factors: []float64{1, 2, 3}, Min: 3, Max: 2}, "asks for a mean of at least 3 and at most 2"},
		{Ratio{Of: []int{0}, To: []int{1}, Min: 0, Max: 0}, ""}, {Ratio{Of: []int{0}, To: []int{1}, Min: 2, Max: 1}, "asks for a ratio of at least 2 and at most 1"},
		{Ratio{Of: []int{0}, To: []int{1}, Min: inf, Max: inf}, "asks for a ratio from +Inf to +Inf"}, {Ratio{Of: []int{0}, To: []int{1}, Min: -2, Max: -1}, "asks for a ratio from -2 to -1"},
		{Ratio{To: []int{1}, Max: 1}, "is a ratio of nothing"}, {Ratio{Of: []int{1}, Max: 1}, "is a ratio of nothing"}, {Ratio{Of: []int{3}, To: []int{1}, Max: 1}, "names ingredient 3"}, {Ratio{Of: []int{1}, To: []int{3}, Max: 1}, "names ingredient 3"},
		{Near{Recipe: []Part{{0, 5}}, Changes: -1, Distance: 0}, ""}, {Near{Recipe: []Part{{0, 3}}, Changes: 0, Distance: -1}, ""}, {Near{Recipe: []Part{{0, 3}}, Changes: 0, Distance: 0}, "is near a recipe of 3 units, and the total is 5"},
		{Near{Changes: 1, Distance: -1}, "is near nothing"}, {Near{Recipe: []Part{{0, 5}}, Changes: -2, Distance: 1}, "has a negative bound"}, {Near{Recipe: []Part{{0, 5}}, Changes: 1, Distance: -2}, "has a negative bound"},
		{Near{Recipe: []Part{{0, 0}, {1, 5}}, Changes: 1, Distance: -1}, "has 0 units of ingredient 0, or has it twice"}, {Near{Recipe: []Part{{0, 6}}, Changes: 1, Distance: -1}, "has 6 units"}, {Near{Recipe: []Part{{0, 2}, {0, 3}}, Changes: 1, Distance: -1}, "has 3 units of ingredient 0, or has it twice"},
		{Near{Recipe: []Part{{3, 5}}, Changes: 1, Distance: -1}, "names ingredient 3"},
		{If{Used: []int{0}, Then: Require{Of: []int{1}}}, ""}, {If{Unused: []int{0}, Then: Require{Of: []int{1}}}, ""}, {If{Used: []int{0}}, "has nothing behind its condition"}, {If{Then: Require{Of: []int{1}}}, "has no condition"},
		{If{Used: []int{3}, Then: Require{Of: []int{1}}}, "names ingredient 3"}, {If{Unused: []int{3}, Then: Require{Of: []int{1}}}, "names ingredient 3"}, {If{Used: []int{0}, Then: Require{Of: []int{4}}}, "has behind its condition what names ingredient 4"},
	} {
		_, err := Set{Ingredients: 3, Total: 5, Rules: []Rule{nil, c.rule}}.Conditions()
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.says)
		}
		if bad, is := errors.AsType[*Error](err); err != nil && (!is || bad.Rule != 1) {
			t.Errorf("%+v: %v is not of rule 1", c.rule, err)
		}
	}
	for _, c := range []struct {
		ingredients, total int
		fine               bool
	}{{1, 1, true}, {0, 1, false}, {1, 0, false}, {-1, 3, false}, {3, -1, false}, {maxSize, maxSize, true}, {maxSize + 1, 1, false}, {1, maxSize + 1, false}} {
		s := Set{Ingredients: c.ingredients, Total: c.total}
		if err := s.check(); (err == nil) != c.fine || err != nil && !errors.Is(err, count.ErrInvalid) {
			t.Errorf("%d ingredients and %d units: %v", c.ingredients, c.total, err)
		}
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
	p := newProver(t.Context(), c, s.Used)
	p.impossible()
	if p.steps < -10*ingredients*len(s.Rules) {
		t.Errorf("the search went on for %d steps too many", -p.steps)
	}
}
