package rounding

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/constraint"
	"kir/rule"
)

// randomRules returns rules of several kinds, each of which the parts keep.
func randomRules(rng *rand.Rand, parts []rule.Part, total int) []rule.Rule {
	var rules []rule.Rule
	one := func() rule.Part { return parts[rng.IntN(len(parts))] }
	some := func() (of []int, sum int) {
		for _, p := range parts {
			if rng.IntN(2) == 0 {
				of, sum = append(of, p.Ingredient), sum+p.Amount
			}
		}
		return of, sum
	}
	room := func() int { return rng.IntN(2) * rng.IntN(total/20+1) } // none, as often as not
	for range rng.IntN(5) {
		switch p := one(); rng.IntN(9) {
		case 0:
			if least := p.Amount - room(); least > 1 { // of 1 it says no more than that it is used
				rules = append(rules, rule.Amount{Of: []int{p.Ingredient}, Min: least})
			}
		case 1:
			rules = append(rules, rule.Amount{Of: []int{p.Ingredient}, Max: p.Amount + room()})
		case 2:
			step := 2 + rng.IntN(19)
			if p.Amount%step == 0 {
				rules = append(rules, rule.Amount{Of: []int{p.Ingredient}, Step: step})
			}
		case 3:
			if of, sum := some(); len(of) > 0 {
				rules = append(rules, rule.Group{Of: of, Total: &rule.Range{Min: max(0, sum-room()), Max: sum + room()}})
			}
		case 4:
			limit := rule.Limit{Attribute: "cost", Factors: make([]float64, 12), Min: math.Inf(-1), Max: math.Inf(1)}
			mean := 0.0
			for i := range limit.Factors {
				limit.Factors[i] = float64(rng.IntN(200)) / 10
			}
			for _, p := range parts {
				mean += limit.Factors[p.Ingredient] * float64(p.Amount) / float64(total)
			}
			if rng.IntN(2) == 0 {
				limit.Max = math.Ceil(mean*1000) / 1000
			} else {
				limit.Min = math.Floor(mean*1000) / 1000
			}
			rules = append(rules, limit)
		case 5:
			rules = append(rules, rule.Require{Of: []int{p.Ingredient}})
		case 6:
			rules = append(rules, rule.Near{Recipe: parts, Changes: new(0), Distance: new(room())})
		case 7:
			if p.Amount < 2 {
				break
			}
			rules = append(rules, rule.If{Used: []int{p.Ingredient, 11}, Then: rule.Amount{Of: []int{p.Ingredient}, Min: p.Amount, Max: p.Amount + room()}})
		case 8:
			if of, sum := some(); len(of) > 0 && sum > 0 {
				v := float64(p.Amount) / float64(sum)
				rules = append(rules, rule.Ratio{Of: []int{p.Ingredient}, To: of, Min: math.Floor(v*100) / 100, Max: math.Ceil(v*100) / 100})
			}
		}
	}
	return rules
}

// keeps judges steps by package constraint, on a total that both the recipe's units and
// the steps divide: what an amount there is of the total, the rules are told.
func keeps(t *testing.T, rules []rule.Rule, parts []rule.Part, steps []int64, sum int64, total int) bool {
	t.Helper()
	fine := sum * int64(total)
	var of []rule.Part
	for k, p := range parts {
		of = append(of, rule.Part{Ingredient: p.Ingredient, Amount: int(steps[k]) * total})
	}
	var scale func(one rule.Rule) rule.Rule
	scale = func(one rule.Rule) rule.Rule {
		switch r := one.(type) {
		case rule.Amount:
			r.Min, r.Max, r.Step = r.Min*int(sum), r.Max*int(sum), r.Step*int(sum)
			one = r
		case rule.Group:
			r.Total = &rule.Range{Min: r.Total.Min * int(sum), Max: r.Total.Max * int(sum)}
			one = r
		case rule.Near:
			r.Recipe = slices.Clone(r.Recipe)
			for k := range r.Recipe {
				r.Recipe[k].Amount *= int(sum)
			}
			r.Distance = new(*r.Distance * int(sum))
			one = r
		case rule.If:
			r.Then = scale(r.Then)
			one = r
		}
		return one
	}
	var scaled []rule.Rule
	for _, one := range rules {
		scaled = append(scaled, scale(one))
	}
	c, err := constraint.FromRules(rule.Set{Ingredients: 12, Total: int(fine), Rules: scaled})
	if err != nil {
		t.Fatal(err)
	}
	return c.AreKeptBy(of)
}

// brute returns the least Σ (x−q)² of all roundings within far steps that keep the
// rules, and whether there is one.
func brute(t *testing.T, rules []rule.Rule, parts []rule.Part, ideal []float64, sum int64, total int, far int64) (best float64, found bool) {
	best = math.Inf(1)
	steps := make([]int64, len(parts))
	var try func(k int, left int64, cost float64)
	try = func(k int, left int64, cost float64) {
		if k == len(parts)-1 {
			q := ideal[k]
			if left < 1 || math.Abs(float64(left)-q) > float64(far)+1 {
				return
			}
			steps[k] = left
			d := float64(left) - q
			if cost+d*d < best-1e-9 && keeps(t, rules, parts, steps, sum, total) {
				best, found = cost+d*d, true
			}
			return
		}
		for x := max(1, int64(ideal[k])-far+1); x <= int64(ideal[k])+far; x++ {
			steps[k] = x
			d := float64(x) - ideal[k]
			try(k+1, left-x, cost+d*d)
		}
	}
	try(0, sum, 0)
	return best, found
}

// TestWeigh: 1,000 random batches, scales and rules. The sum is exact, the rules
// hold by the judgement of package constraint, and no rounding is nearer; where it says
// that none is possible, none is within what is looked through, and each way out
// helps.
func TestWeigh(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 5))
	possible, impossible, ways := 0, 0, 0
	for trial := range 1000 {
		total := []int{20, 100, 200, 1000}[rng.IntN(4)]
		n := 1 + rng.IntN(5)
		var parts []rule.Part
		left := total
		for k, i := range rng.Perm(12)[:n] {
			amount := left
			if k < n-1 {
				amount = 1 + rng.IntN(left-(n-1-k))
			}
			left -= amount
			parts = append(parts, rule.Part{Ingredient: i, Amount: amount})
		}
		b := Batch{
			Parts: parts, Rules: rule.Set{Ingredients: 12, Total: total, Rules: randomRules(rng, parts, total)},
			Size: big.NewRat(int64(1+rng.IntN(2000)), 1), Step: big.NewRat([]int64{1, 1, 2, 5, 25}[rng.IntN(5)], []int64{1, 10, 100}[rng.IntN(3)]),
		}
		w, err := Weigh(b)
		bad := (*ImpossibleError)(nil)
		switch {
		case errors.As(err, &bad):
			impossible++
			r, err := newRoundingProblem(b)
			if err != nil {
				continue // not a whole number of steps, or fewer than ingredients
			}
			ways += len(bad.Alternatives)
			if n <= 3 {
				if _, found := brute(t, b.Rules.Rules, parts, r.idealSteps, r.batchSteps, total, maxRoundingDistance); found {
					t.Fatalf("trial %d: %+v: %v, and there is one", trial, b, bad)
				}
			}
		case err != nil:
			t.Fatal(err)
		default:
			possible++
			sum := int64(0)
			cost := 0.0
			for k, x := range w.Steps {
				sum += x
				cost += (float64(x) - w.UnroundedSteps[k]) * (float64(x) - w.UnroundedSteps[k])
			}
			whole := new(big.Rat).Mul(b.Step, new(big.Rat).SetInt64(sum))
			if whole.Cmp(b.Size) != 0 || sum != w.Sum || slices.Min(w.Steps) < 1 {
				t.Fatalf("trial %d: %v steps of %v are %v, and the batch %v", trial, w.Steps, b.Step, whole, b.Size)
			}
			if !keeps(t, b.Rules.Rules, parts, w.Steps, sum, total) {
				t.Fatalf("trial %d: %+v: %v breaks a rule", trial, b, w.Steps)
			}
			if n <= 4 {
				if best, found := brute(t, b.Rules.Rules, parts, w.UnroundedSteps, sum, total, 3); found && best < cost-1e-6 {
					t.Fatalf("trial %d: %+v: %v costs %v, and there is one of %v", trial, b, w.Steps, cost, best)
				}
			}
		}
	}
	t.Logf("%d possible, %d impossible with %d ways out", possible, impossible, ways)
	if possible < 400 || impossible < 100 || ways < 50 {
		t.Error("the trials are too easy, or too hard")
	}
}

// TestWeighDensities: millilitres weighed as grams. The sum is the batch's weight to
// the nearest step, and each amount is within a step of what it is by its density.
func TestWeighDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 6))
	for trial := range 300 {
		n := 1 + rng.IntN(8)
		total := 1000
		b := Batch{Rules: rule.Set{Ingredients: 12, Total: total}, Size: big.NewRat(int64(20+rng.IntN(2000)), 1), Step: big.NewRat(1, 10)}
		left, weight := total, 0.0
		for k, i := range rng.Perm(12)[:n] {
			amount := left
			if k < n-1 {
				amount = 1 + rng.IntN(left-(n-1-k))
			}
			left -= amount
			density := big.NewRat(int64(700+rng.IntN(600)), 1000)
			d, _ := density.Float64()
			size, _ := b.Size.Float64()
			weight += d * size * float64(amount) / float64(total)
			b.Parts, b.Density = append(b.Parts, rule.Part{Ingredient: i, Amount: amount}), append(b.Density, density)
		}
		// A dose that is pinned, which no grams meet exactly.
		b.Rules.Rules = []rule.Rule{rule.Amount{Of: []int{b.Parts[0].Ingredient}, Min: b.Parts[0].Amount, Max: b.Parts[0].Amount}}
		w, err := Weigh(b)
		if bad := (*ImpossibleError)(nil); errors.As(err, &bad) && slices.Min(newIdeal(t, b)) < 1 {
			continue // some amount is raised to a step, at the cost of the one that is pinned
		}
		if err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		sum := int64(0)
		for k, x := range w.Steps {
			sum += x
			if off := math.Abs(float64(x) - w.UnroundedSteps[k]); off > 1 && x > 1 && slices.Min(w.UnroundedSteps) > 1 {
				t.Errorf("trial %d: %d steps for %v", trial, x, w.UnroundedSteps[k])
			}
		}
		if sum != w.Sum || math.Abs(float64(sum)-weight*10) > 0.5+1e-6 {
			t.Errorf("trial %d: %d steps of a batch of %v g", trial, sum, weight)
		}
	}
}

func newIdeal(t *testing.T, b Batch) []float64 {
	t.Helper()
	r, err := newRoundingProblem(b)
	if err != nil {
		t.Fatal(err)
	}
	return r.idealSteps
}

// TestWeighExactly: what floats cannot tell is told: a third of ten thousand million
// steps and one is no whole number of them.
func TestWeighExactly(t *testing.T) {
	b := Batch{Rules: rule.Set{Ingredients: 3, Total: 30}, Step: big.NewRat(1, 1)}
	for i := range 3 {
		b.Parts = append(b.Parts, rule.Part{Ingredient: i, Amount: 10})
		b.Rules.Rules = append(b.Rules.Rules, rule.Amount{Of: []int{i}, Max: 10})
	}
	for size, possible := range map[int64]bool{10_000_000_001: false, 10_000_000_002: true} {
		b.Size = big.NewRat(size, 1)
		_, err := Weigh(b)
		if bad := (*ImpossibleError)(nil); errors.As(err, &bad) == possible {
			t.Errorf("%d steps: %v", size, err)
		}
	}
}

// TestWaysOut: of equal parts no more than that are told a scale and a batch that would
// do, by hand; where parts are measured in units of their own, a scale alone.
func TestWaysOut(t *testing.T) {
	for _, c := range []struct {
		parts, size int64
		dense       bool
		want        string
	}{{3, 10, false, "12"}, {2, 5, false, "scale 0.5, 6"}, {5, 11, false, "scale 0.2, 15"}, {2, 5, true, "scale 0.5"}, {3, 10, true, ""}} {
		b := Batch{Rules: rule.Set{Ingredients: int(c.parts), Total: 10 * int(c.parts)}, Size: big.NewRat(c.size, 1), Step: big.NewRat(1, 1)}
		for i := range int(c.parts) {
			b.Parts = append(b.Parts, rule.Part{Ingredient: i, Amount: 10})
			b.Rules.Rules = append(b.Rules.Rules, rule.Amount{Of: []int{i}, Max: 10})
			if c.dense {
				b.Density = append(b.Density, big.NewRat(1, 1))
			}
		}
		_, err := Weigh(b)
		bad := (*ImpossibleError)(nil)
		if !errors.As(err, &bad) {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		var got []string
		for _, w := range bad.Alternatives {
			text := Decimal(w.Value)
			if w.IsScaleStep {
				text = "scale " + text
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%d parts, %d steps, measured each %t: %s, want %s", c.parts, c.size, c.dense, text, c.want)
		}
	}
}
