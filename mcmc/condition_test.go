package mcmc_test

import (
	"context"
	"errors"
	"fmt"
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
				one.Class = append(one.Class, (v*v+1)%2)
				if v == 0 {
					one.Class[0] = 0
				}
			}
		}
		conditions = append(conditions, one)
		law.Conditions = append(law.Conditions, one.Weights)
	}
	rules, feasible := randomRules(r, ingredients, total)
	counting := mcmc.Counting{}
	if seed%8 < 4 { // no tables of what need not have one
		counting.TableSteps = 1
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
			number *= 1 + slices.Max(conditions[c].Class)
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
				number += strides[c] * conditions[c].Class[v]
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
	c := &ruledCell{measured: space.Shares() != nil && !slices.ContainsFunc(space.Shares(), func(s mcmc.Share) bool { return s.Exact })}
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
func (s *valueScorer) Line(i, j int, p *mcmc.Pieces) {
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
func (s *valueScorer) Values(c int, p *mcmc.Pieces) {
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
	kernels := append(slices.Clone(gridKernels), gridKernel{name: "balanced's line and set", make: mixed(mcmc.Mix{Line: 1}), part: true})
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
			if g.name == "exact" && (len(c.target.Objectives()) > 0 || c.target.Space().Shares() != nil) {
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
