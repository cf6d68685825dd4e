package count

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// crossing has groups of random members that cross, with totals or without.
func crossing(ingredients, total, groups, members int, totals bool) Space {
	r := rand.New(rand.NewPCG(17, 2))
	s := Space{Total: total, Ingredients: make([]Ingredient, ingredients)}
	for range groups {
		g := Group{Members: r.Perm(ingredients)[:members], Used: &Range{1, 3}}
		if totals {
			g.Total = &Range{total / 10, total / 2}
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// A million ingredients in groups that cross are counted where the states are
// few, and refused within the time of looking where they are not: neither takes
// memory that was not allowed.
func TestMillionsThatCross(t *testing.T) {
	ctx := context.Background()
	options := Options{MaxUsed: 12, MaxMemory: 1 << 28, MaxSteps: 1e9}
	table, err := New(ctx, crossing(1_000_000, 100, 2, 300_000, false), options)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.LogCount(10); !(got > 100 && got < 180) {
		t.Errorf("log |X_10| = %v", got)
	}
	for _, s := range []Space{crossing(1_000_000, 20_000, 2, 300_000, true), crossing(400, 100, 40, 60, false)} {
		began := time.Now()
		var size *SizeError
		if _, err := New(ctx, s, options); !errors.As(err, &size) {
			t.Errorf("groups that are too many to hold: %v", err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it takes %v to see that a table does not fit", took)
		}
	}
}

// One crossing group written three ways, as a group, as a sum of units and as
// the bound of the others, counts the same; so does a sum in other units.
func TestSumsInOtherWords(t *testing.T) {
	ctx := context.Background()
	base := crossing(30, 60, 2, 12, true)
	want, err := New(ctx, base, Options{MaxUsed: 8})
	if err != nil {
		t.Fatal(err)
	}
	g := base.Groups[0]
	in := make(map[int]bool)
	for _, i := range g.Members {
		in[i] = true
	}
	var units, others, odd Sum
	for i := range base.Ingredients {
		if in[i] {
			units.Terms = append(units.Terms, Term{Ingredient: i, PerUnit: 1})
		} else {
			others.Terms = append(others.Terms, Term{Ingredient: i, PerUnit: 1})
		}
		odd.Terms = append(odd.Terms, Term{Ingredient: i, PerUnit: 5}, Term{Ingredient: i, PerUnit: map[bool]int64{true: 2}[in[i]]})
	}
	m, lo, hi := int64(base.Total), int64(g.Total.Min), int64(g.Total.Max)
	units.Min, units.Max = lo, hi
	others.Min, others.Max = m-hi, m-lo
	odd.Min, odd.Max = 5*m+2*lo-1, 5*m+2*hi+1
	for k, sum := range []Sum{units, others, odd} {
		s := base
		s.Groups = []Group{{Members: g.Members, Used: g.Used}, base.Groups[1]}
		s.Sums = []Sum{sum}
		got, err := New(ctx, s, Options{MaxUsed: 8})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 8; n++ {
			if got.Count(n).Cmp(want.Count(n)) != 0 {
				t.Errorf("form %d: |X_%d| = %v, want %v", k, n, got.Count(n), want.Count(n))
			}
		}
	}
}

// What is counted of spaces too large to enumerate is what the tables for drawing
// sum to, in another arithmetic, and draws keep the rules.
func TestFrontierOfSomeSize(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(17, 3))
	s := crossing(40, 60, 2, 8, true)
	for i := range s.Ingredients {
		s.Ingredients[i].Max = 10 + r.IntN(3)
	}
	need := Sum{Min: math.MinInt64, Terms: []Term{{0, 0, 1}, {1, 0, -1}, {2, 0, -1}}}
	limit := Sum{Min: 5, Max: 30}
	for i := 30; i < 40; i++ {
		limit.Terms = append(limit.Terms, Term{Ingredient: i, PerUnit: int64(i % 3)})
	}
	s.Sums = []Sum{need, limit}
	table, err := New(ctx, s, Options{MaxUsed: 9})
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := table.Sampler(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := table.plan
	tilt, err := tiltFor(p)
	if err != nil {
		t.Fatal(err)
	}
	first := &sampler.stages[0]
	for n := 7; n <= 9; n++ {
		sum := 0.0 // over what the first stage may do
		var w float64
		for j := range min(first.maxMembers, n) + 1 {
			w, sampler.weightBuffer = first.weightOfUsed(sampler.weightBuffer, &first.families[0], first.states[0].nodeIndex, j, n, p.total)
			sum += w
		}
		want, _ := table.Count(n).Float64()
		if got := sum * math.Pow(tilt, -float64(n)); !(math.Abs(got/want-1) < 1e-12) {
			t.Errorf("tables sum to %v, and |X_%d| = %v", got, n, want)
		}
		for range 50 {
			ingredients, amounts, err := sampler.Draw(pcg{r}, n, nil, nil)
			if err != nil || len(ingredients) != n || !s.Contains(ingredients, amounts) {
				t.Fatalf("%v of %v is drawn from X_%d: %v", amounts, ingredients, n, err)
			}
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := New(canceled, s, Options{MaxUsed: 9}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled count: %v", err)
	}
	if _, err := table.Sampler(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled sampler: %v", err)
	}
	late, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if _, err := New(late, crossing(200, 100, 2, 30, true), Options{MaxUsed: 20}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a count that runs out of time: %v", err)
	}
}
