package mcmc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/rule"
)

// newConditionCell returns a small problem of random conditions, of random rules, and of rules that
// hold in some cases only, with its law written down afresh; nil where the rules leave nothing.
func newConditionCell(t *testing.T, seed uint64) *ruledCell {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	ingredients, total := 1+r.IntN(3), 2+r.IntN(3)
	law := stattest.Law{Ingredients: ingredients, Total: total}
	var conditions []mcmc.Condition
	tied := seed%3 > 0
	for c := range 1 + r.IntN(2) {
		one := mcmc.Condition{Name: fmt.Sprint("condition ", c)}
		for v := range 1 + r.IntN(3) {
			one.Weights = append(one.Weights, 0.1+r.Float64())
			if tied {
				one.ValueClasses = append(one.ValueClasses, (v*v+1)%2)
				if v == 0 {
					one.ValueClasses[0] = 0
				}
			}
		}
		conditions = append(conditions, one)
		law.Conditions = append(law.Conditions, one.Weights)
	}
	rules, feasible := randomRules(r, ingredients, total)
	counting := mcmc.CountingOptions{}
	if seed%8 < 4 { // no tables of what need not have one
		counting.MaxTableSteps = 1
	}
	count := func(set rule.Set) *mcmc.Space {
		space, err := mcmc.NewRuledSpace(context.Background(), set, counting)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		return space
	}
	base := count(rules)
	law.Feasible = func(x []int) bool { return feasible(x[:ingredients]) }
	if seed%3 == 2 { // conditions without rules on ingredients in the base
		base = count(rule.Set{Ingredients: ingredients, Total: total})
		rules.Rules, feasible = nil, func([]int) bool { return true }
	}
	var spaces []*mcmc.Space
	if tied {
		strides, number := make([]int, len(conditions)), 1
		for c := len(conditions) - 1; c >= 0; c-- {
			strides[c] = number
			number *= 1 + slices.Max(conditions[c].ValueClasses)
		}
		var keeps []func(x []int) bool
		for range number {
			if r.IntN(5) == 0 {
				spaces, keeps = append(spaces, nil), append(keeps, func([]int) bool { return false })
				continue
			}
			more := randomAmount(r, []int{r.IntN(ingredients)}, total)
			if r.IntN(2) == 0 {
				more = randomRule(r, ingredients, total)
			}
			set := rules
			set.Rules = append(slices.Clone(rules.Rules), more.rule)
			spaces, keeps = append(spaces, count(set)), append(keeps, more.keeps)
		}
		law.Feasible = func(x []int) bool {
			number := 0
			for c, v := range x[ingredients:] {
				number += strides[c] * conditions[c].ValueClasses[v]
			}
			return feasible(x[:ingredients]) && keeps[number](x[:ingredients])
		}
	} else if seed%2 == 0 {
		var err error
		if base, err = mcmc.NewSpace(ingredients, total); err != nil {
			t.Fatal(err)
		}
		law.Feasible = nil
	}
	space, err := mcmc.WithConditions(base, conditions, spaces)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return conditionCellOf(t, seed, r, space, law)
}

func conditionCellOf(t *testing.T, seed uint64, r *rand.Rand, space *mcmc.Space, law stattest.Law) *ruledCell {
	t.Helper()
	most := min(law.Ingredients, law.Total)
	sizes := make(map[int]float64)
	for n := 1; n <= most; n++ {
		if r.IntN(4) > 0 {
			sizes[n] = 0.1 + r.Float64()
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	law.Size = func(n int) float64 { return sizes[n] }
	c := &ruledCell{measured: space.UncountedRuleShares() != nil && !slices.ContainsFunc(space.UncountedRuleShares(), func(s mcmc.UncountedRuleShare) bool { return s.Exact })}
	var wishes []mcmc.Objective
	if r.IntN(3) > 0 {
		score := func(x []int) float64 {
			if seed%5 == 0 && share("forbidden", x) < 0.2 {
				return 0
			}
			return 0.1 + share("scores", x)
		}
		var p mcmc.Property = mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return score(pair(x)) })
		if r.IntN(2) == 0 {
			p = valueProperty{score: score, conditions: law.Conditions}
		}
		wishes = append(wishes, mcmc.Objective{Name: "scores", Weight: 1.5, Property: p})
		law.Objectives = append(law.Objectives, stattest.Objective{Weight: 1.5, Score: score})
	}
	var err error
	c.target, err = mcmc.NewTarget(space, mcmc.Table(sizes), wishes...)
	if errors.Is(err, mcmc.ErrNoMass) || errors.As(err, new(*mcmc.InfeasibleError)) {
		return nil
	}
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if c.law, err = law.Enumerate(); err != nil {
		return nil
	}
	return c
}

// pair returns the amounts of x and the values of its conditions.
func pair(x *mcmc.Composition) []int {
	all := amounts(x)
	for c := range x.Conditions() {
		all = append(all, x.Condition(c))
	}
	return all
}

// valueProperty scores all values of a condition at once.
type valueProperty struct {
	score      func(x []int) float64
	conditions [][]float64
}

func (p valueProperty) LogScore(x *mcmc.Composition) float64 {
	return mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return p.score(pair(x)) }).LogScore(x)
}

func (p valueProperty) Scorer(x *mcmc.Composition) mcmc.Scorer { return &valueScorer{p: p, x: x} }

// valueScorer keeps a copy of its composition, so that a change it is not told of shows.
type valueScorer struct {
	p    valueProperty
	x, y *mcmc.Composition
}

func (s *valueScorer) Reset()            { s.y = s.x.Clone() }
func (s *valueScorer) LogScore() float64 { return s.p.LogScore(s.y) }
func (s *valueScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	y := s.y.Clone()
	for k := range y.Amount(i) + y.Amount(j) + 1 {
		if err := y.Move(i, j, k); err != nil {
			panic(err)
		}
		p.Add(k, s.p.LogScore(y))
	}
}
func (s *valueScorer) Moved(i, j int) {
	if err := s.y.Move(i, j, s.x.Amount(i)); err != nil {
		panic(err)
	}
}
func (s *valueScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	y := s.y.Clone()
	for v := range s.p.conditions[c] {
		if err := y.SetCondition(c, v); err != nil {
			panic(err)
		}
		p.Add(v, s.p.LogScore(y))
	}
}
func (s *valueScorer) ConditionSet(c int) {
	if err := s.y.SetCondition(c, s.x.Condition(c)); err != nil {
		panic(err)
	}
}

// TestConditionKernels puts every kernel through the exact-matrix gate on pairs of a composition and
// conditions: with rules of every kind, rules that hold in some cases, properties of both, and alone.
func TestConditionKernels(t *testing.T) {
	t.Parallel()
	kernels := append(slices.Clone(gridKernels), gridKernel{name: "balanced's line and set", make: mixed(mcmc.MoveMix{Line: 1}), part: true})
	ran, tied, scored := 0, 0, 0
	for seed := range uint64(testmode.Pick(1200, 240)) {
		c := newConditionCell(t, seed)
		if c == nil || len(c.law.States) > testmode.Pick(80, 40) {
			continue
		}
		if seed%3 > 0 {
			tied++
		}
		if len(c.target.Objectives()) > 0 {
			scored++
		}
		for _, g := range kernels {
			if g.every > 0 && len(c.law.States) > g.every || g.most > 0 && len(c.law.States) > g.most {
				continue
			}
			k, err := g.make(c.target)
			if g.name == "exact" && (len(c.target.Objectives()) > 0 || c.target.Space().UncountedRuleShares() != nil) {
				if err == nil {
					t.Errorf("seed %d: exact is made for a target that it cannot draw from", seed)
				}
				continue
			}
			if errors.Is(err, mcmc.ErrReducible) {
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, g.name, err)
			}
			m, err := c.law.Matrix(c.target, k, stattest.Options{Order: seed})
			if err != nil {
				t.Errorf("seed %d: %s: %v", seed, g.name, err)
				continue
			}
			checks := []func() error{m.CheckRows, m.CheckSupport, m.CheckInvariant, m.CheckReversible}
			// recall keeps the conditions, and set alone may not change them where rules tie them.
			if !g.part && !strings.HasPrefix(g.name, "balanced's recall") {
				checks = append(checks, m.CheckIrreducible, m.CheckAperiodic)
			}
			for _, check := range checks {
				if err := check(); err != nil {
					t.Errorf("seed %d, %d states: %s: %v", seed, len(c.law.States), g.name, err)
					break
				}
			}
			ran++
		}
	}
	t.Logf("%d matrices; of the problems %d with cases and %d with a property", ran, tied, scored)
	if ran < 300 || tied < 40 || scored < 40 {
		t.Errorf("%d matrices, %d with cases and %d with a property are too few to tell much", ran, tied, scored)
	}
}

// TestConditionLaw compares chains of balanced and tempered, whose matrices are too large, with the
// enumerated law: how often each value of each condition occurs, each size, and each ingredient with
// the first value. Of about 160 figures one is farther than 5 standard errors off with probability
// 1e-4; seeds are fixed.
func TestConditionLaw(t *testing.T) {
	t.Parallel()
	compared, learnt := 0, 0
	for seed := uint64(1); compared < testmode.Pick(400, 120); seed++ {
		c := newConditionCell(t, seed)
		if c == nil || len(c.law.States) < 20 || len(c.target.Objectives()) == 0 {
			continue
		}
		statistics, plain := conditionStatistics(c.target)
		for _, kernel := range []string{"balanced", "tempered"} {
			chain := settled(t, kernel, c.target, seed, 1500)
			if l := chain.Ladder(); l != nil && l.Learnt != nil {
				learnt++
			}
			for s, x := range follow(t, chain, statistics, testmode.Pick(20_000, 5000), 1) {
				p := expectation(c.law, plain[s])
				if off := away(t, x, p); math.Abs(off) > 5 {
					t.Errorf("seed %d: %s: %s has a share of %.4f and is %.1f standard errors off", seed, kernel, statistics[s].Name, p, off)
				}
				compared++
			}
		}
	}
	t.Logf("%d figures, %d ladders with a learnt leg", compared, learnt)
	if learnt == 0 {
		t.Error("no ladder has a learnt leg")
	}
}

func conditionStatistics(target *mcmc.Target) (all []statistic, plain []func(x []int) float64) {
	n := target.Space().N()
	add := func(name string, holds func(amounts, values []int) bool) {
		of := func(x []int) float64 {
			if holds(x[:n], x[n:]) {
				return 1
			}
			return 0
		}
		plain = append(plain, of)
		all = append(all, statistic{Name: name, Value: func(x *mcmc.State) float64 { return of(pair(x.Composition)) }})
	}
	for c, condition := range target.Space().Conditions() {
		for v := range condition.Weights {
			add(fmt.Sprintf("value %d of condition %d", v, c), func(_, values []int) bool { return values[c] == v })
		}
		for i := range n {
			add(fmt.Sprintf("ingredient %d with value 0 of condition %d", i, c), func(amounts, values []int) bool { return amounts[i] > 0 && values[c] == 0 })
		}
	}
	for size := 1; size <= n; size++ {
		add(fmt.Sprint("n = ", size), func(amounts, _ []int) bool {
			used := 0
			for _, a := range amounts {
				used += min(a, 1)
			}
			return used == size
		})
	}
	return all, plain
}

// A chain with conditions continues from what it saved as if it had not been saved.
func TestConditionChainIsRestored(t *testing.T) {
	t.Parallel()
	restored := 0
	for seed := uint64(1); restored < 12; seed++ {
		c := newConditionCell(t, seed)
		if c == nil {
			continue
		}
		for _, name := range []string{"accelerated", "balanced", "tempered"} {
			sampler, err := mcmc.NewSampler(name, c.target)
			if errors.Is(err, mcmc.ErrReducible) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			chain, err := sampler.NewChain(seed, 0)
			if err != nil {
				continue
			}
			for _, step := range []func(c *mcmc.Chain) error{
				func(c *mcmc.Chain) error { return c.Warm(int(300 + 37*seed)) },
				func(c *mcmc.Chain) error { c.EndWarmup(); return c.Advance(50) },
			} {
				if err := step(chain); err != nil {
					t.Fatal(err)
				}
				data, err := chain.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				if most := mcmc.MaxSavedBytes(name, c.target.Space().N()); int64(len(data)) > most {
					t.Errorf("seed %d: %s saves %d bytes, at most %d are stated", seed, name, len(data), most)
				}
				again, err := sampler.RestoreChain(data)
				if err != nil {
					t.Fatalf("seed %d: %s: %v", seed, name, err)
				}
				if err := chain.Refresh(); err != nil {
					t.Fatal(err)
				}
				for _, one := range []*mcmc.Chain{chain, again} {
					if err := one.Advance(100); err != nil {
						t.Fatal(err)
					}
				}
				if !chain.State.Composition.Equal(again.State.Composition) {
					t.Errorf("seed %d: %s: a restored chain comes to %v, one that went on to %v", seed, name, again.State.Composition, chain.State.Composition)
				}
			}
			restored++
		}
	}
}

// pointedConditions is a target of two regions far apart, of which each has a value of a condition of
// its own, so that a learnt leg pays.
func pointedConditions(t *testing.T) (*mcmc.Target, *stattest.Enumeration) {
	t.Helper()
	law := stattest.Law{Ingredients: 6, Total: 10, Conditions: [][]float64{{1, 3}, {1, 1, 2}}, Size: func(n int) float64 {
		if n < 2 || n > 4 {
			return 0
		}
		return 1
	}}
	logScore := func(x []int) float64 {
		off := func(best ...int) float64 {
			sum := 0.0
			for i, b := range best {
				d := float64(x[i] - b)
				sum += math.Abs(d) + d*d/20
			}
			return sum
		}
		return -2 * min(off(5, 3, 2, 0, 0, 0, 0, 0), 0.3+off(0, 0, 3, 0, 5, 2, 1, 2))
	}
	law.Objectives = []stattest.Objective{{Weight: 1, LogScore: logScore}}
	base, err := mcmc.NewSpace(law.Ingredients, law.Total)
	if err != nil {
		t.Fatal(err)
	}
	space, err := mcmc.WithConditions(base, []mcmc.Condition{{Name: "a", Weights: law.Conditions[0]}, {Name: "b", Weights: law.Conditions[1]}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 4), mcmc.Objective{Name: "pointed", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		return math.Exp(logScore(pair(x)))
	})})
	if err != nil {
		t.Fatal(err)
	}
	e, err := law.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	return target, e
}

// With a learnt leg too, draws follow the law of the pairs. Of 26 figures one is farther than 5
// standard errors off with probability 2e-5.
func TestLearntLegWithConditions(t *testing.T) {
	t.Parallel()
	target, e := pointedConditions(t)
	chain := settled(t, "tempered", target, 1, 1000)
	if chain.Ladder().Learnt == nil {
		t.Fatal("the learnt leg is left out")
	}
	statistics, plain := conditionStatistics(target)
	for s, x := range follow(t, chain, statistics, testmode.Pick(40_000, 8000), 1) {
		if off := away(t, x, expectation(e, plain[s])); math.Abs(off) > 5 {
			t.Errorf("%s is %.1f standard errors off", statistics[s].Name, off)
		}
	}
}

// A chain that is hot when warm-up ends goes back to where it was cold, its conditions included.
func TestHotChainReturnsWithItsConditions(t *testing.T) {
	t.Parallel()
	target, _ := pointedConditions(t)
	differ := 0
	for seed := range uint64(20) {
		chain, err := mcmc.NewSampler("balanced", target)
		if err != nil {
			t.Fatal(err)
		}
		c, err := chain.NewChain(seed, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Warm(512); err != nil { // as long as it is cold
			t.Fatal(err)
		}
		cold := c.State.Composition.Clone()
		if err := c.Warm(100); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(pair(c.State.Composition)[6:], pair(cold)[6:]) {
			differ++
		}
		if c.EndWarmup(); !c.State.Composition.Equal(cold) {
			t.Errorf("seed %d: the chain is at %v after warm-up, and was cold at %v", seed, c.State.Composition, cold)
		}
	}
	if differ < 5 {
		t.Errorf("in %d of 20 chains the conditions had changed, which tells little", differ)
	}
}
