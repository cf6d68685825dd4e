package mcmc_test

import (
	"fmt"
	"math"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// plainComposition returns the composition of amounts by ingredient.
func plainComposition(t testing.TB, amounts []int) *mcmc.Composition {
	t.Helper()
	var parts []mcmc.Part
	for i, a := range amounts {
		if a > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
		}
	}
	x, err := mcmc.NewComposition(len(amounts), parts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A referenceCell is a target, what was met of it, and all compositions of sizes with
// mass, those that rules or properties forbid among them.
type referenceCell struct {
	name   string
	target *mcmc.Target
	all    []*mcmc.Composition
	f      *mcmc.Reference
}

func referenceCells(t *testing.T) []referenceCell {
	t.Helper()
	var all []referenceCell
	add := func(name string, target *mcmc.Target, tries int) {
		f := mcmc.NewReference(target, tries, someMet(target)...)
		if f == nil {
			t.Fatalf("%s: there is no reference", name)
		}
		c := referenceCell{name: fmt.Sprintf("%s, %d tries", name, tries), target: target, f: f}
		for amounts := range stattest.Compositions(target.Space().N(), target.Space().Total()) {
			if x := plainComposition(t, amounts); !math.IsInf(target.LogLaw(x.UsedCount()), -1) {
				c.all = append(c.all, x)
			}
		}
		all = append(all, c)
	}
	for _, size := range [][2]int{{1, 1}, {1, 3}, {3, 1}, {2, 2}, {2, 3}, {3, 2}, {4, 2}, {3, 3}} {
		for index, c := range someCells(t, size[0], size[1]) {
			_, err := c.law.Enumerate()
			if !c.scored || err != nil || index%(1+size[0]*size[1]*size[1]) != 0 {
				continue
			}
			tries := 1
			if size[0]*size[1] <= 4 {
				tries = 2
			}
			add(fmt.Sprintf("N=%d/M=%d/%s", size[0], size[1], c.name), c.target, tries)
		}
	}
	l := equalityLadder(t)
	add(l.name, l.target, 1)
	return all
}

// What the reference says that its density is sums to 1, is above 0 everywhere, and is
// how often each composition is drawn.
func TestReferenceIsExact(t *testing.T) {
	for _, c := range referenceCells(t) {
		sum, at := 0.0, map[string]float64{}
		for _, x := range c.all {
			sum += math.Exp(c.f.Log(x))
			at[x.String()] = c.f.Log(x)
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: the density sums to 1 %+.3g", c.name, sum-1)
		}
		x := c.f.State(0)
		drawn := map[string]float64{}
		err := stattest.Explore(func(r *mcmc.Rand) error { return c.f.Move(r, x) }, func(p float64) error {
			drawn[x.Composition.String()] += p
			return x.Composition.Consistent()
		})
		if err != nil {
			t.Fatal(err)
		}
		for key, log := range at {
			rules := c.target.Space().UncountedRuleShares() != nil // d keeps some, and g none
			if p := drawn[key]; math.Abs(p-math.Exp(log)) > stattest.Tolerance*p || !rules && !(p > 0) {
				t.Errorf("%s: %s is drawn with probability %v and its density is %v", c.name, key, p, math.Exp(log))
			}
		}
		if len(drawn) > len(at) {
			t.Errorf("%s: %d compositions are drawn, of %d", c.name, len(drawn), len(at))
		}
	}
}

// The moves of the learnt leg are reversible with respect to q^(1−β)·(π·Y)^β, and
// reach all of it.
func TestLearntMovesAreExact(t *testing.T) {
	for index, c := range referenceCells(t) {
		logs, states := []float64(nil), map[string]int{}
		beta := []float64{0.2, 0.7}[index%2]
		var possible []*mcmc.Composition
		for _, x := range c.all {
			score, err := c.target.LogScore(x)
			if err != nil {
				t.Fatal(err)
			}
			if !math.IsInf(score, -1) {
				states[x.String()] = len(possible)
				possible = append(possible, x)
				logs = append(logs, (1-beta)*c.f.Log(x)+beta*(c.target.LogLaw(x.UsedCount())+score))
			}
		}
		m := make([][]float64, len(possible))
		for s, from := range possible {
			m[s] = make([]float64, len(possible))
			x := c.f.State(beta)
			err := stattest.Explore(func(r *mcmc.Rand) error {
				x.Composition.CopyFrom(from)
				if err := x.Refresh(); err != nil {
					return err
				}
				return c.f.Move(r, x)
			}, func(p float64) error {
				to, ok := states[x.Composition.String()]
				if !ok {
					return fmt.Errorf("it moved to %v, which is forbidden", x.Composition)
				}
				m[s][to] += p
				if err := c.f.Kept(x); err != nil {
					return err
				}
				was := x.LogScore()
				if err := x.Refresh(); err != nil || math.Abs(was-x.LogScore()) > 1e-9*max(1, math.Abs(was)) {
					return fmt.Errorf("at %v its log score is %v and not %v: %w", x.Composition, was, x.LogScore(), err)
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		for s := range m {
			for to := range m {
				ratio := logs[to] - logs[s]
				there, back := m[s][to]*math.Exp(min(0, -ratio)), m[to][s]*math.Exp(min(0, ratio))
				if most := max(there, back); most > stattest.LeastProbability && math.Abs(there-back) > 1e-10*most {
					t.Fatalf("%s at β = %v: between %v and %v %v and %v flow", c.name, beta, possible[s], possible[to], there, back)
				}
				if m[s][to] == 0 && ratio > math.Log(stattest.LeastProbability) {
					t.Errorf("%s: %v never leads to %v", c.name, possible[s], possible[to])
				}
			}
		}
	}
}
