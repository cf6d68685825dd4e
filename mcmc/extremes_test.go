package mcmc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"kir/internal/constraint/count"
	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/rule"
)

// An extreme is a property given by its log scores, which may be far beyond what
// a score has room for. Where its answer must not matter it gives what would
// spoil most: NaN, +Inf, or more than anywhere else.
type extreme struct {
	total   int
	logs    map[int]float64
	outside map[int]bool  // where the law has no mass or a rule is broken
	asked   *extremeAsked // of a property that is asked point by point
}

type extremeAsked struct{ outside int }

func (p *extreme) LogScore(x *mcmc.Composition) float64 {
	k := key(x.Amounts(), p.total)
	if p.outside[k] {
		p.asked.outside++
	}
	return p.logs[k]
}

// byLines is a property that scores lines, all of each, whatever counts.
type byLines struct{ mcmc.Property }

func (p byLines) Scorer(x *mcmc.Composition) mcmc.Scorer { return byLinesScorer{p.Property, x} }

type byLinesScorer struct {
	property mcmc.Property
	x        *mcmc.Composition
}

func (byLinesScorer) Reset()              {}
func (byLinesScorer) Moved(i, j int)      {}
func (s byLinesScorer) LogScore() float64 { return s.property.LogScore(s.x) }

func (s byLinesScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	y := s.x.Clone()
	for k := range y.Amount(i) + y.Amount(j) + 1 {
		if err := y.Move(i, j, k); err != nil {
			panic(err)
		}
		value := s.property.LogScore(y)
		if k > 0 {
			if _, last := p.Piece(p.Len() - 1); last == value {
				continue
			}
		}
		p.Add(k, value)
	}
}

// An extremeCell is a target with scores that lie far apart, and its law.
type extremeCell struct {
	cell
	measured bool // some of the rules
	asked    *extremeAsked
}

// newExtremeCell makes a cell at random: ingredients and units from 1 on; laws
// with sizes that have no mass, some as far apart as a float64 goes; rules or
// none; one or two properties whose log scores are spread over ±10, ±10³ or
// ±10⁵, and −Inf at one in seven. Scores are whole multiples of 1/8, so that sums
// of them have no rounding. It returns nil where nothing is allowed.
func newExtremeCell(t *testing.T, seed uint64, mostIngredients, mostTotal int, ruled bool) *extremeCell {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	ingredients, total := 1+r.IntN(mostIngredients), 1+r.IntN(mostTotal)
	most := min(ingredients, total)
	sizes := make(map[int]float64)
	steep := r.IntN(4) == 0
	for n := 1; n <= most; n++ {
		switch {
		case r.IntN(3) == 0:
		case steep:
			sizes[n] = math.Exp(-700 * r.Float64())
		default:
			sizes[n] = 0.05 + r.Float64()
		}
	}
	space, err := mcmc.NewSpace(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	feasible := func([]int) bool { return true }
	c := &extremeCell{asked: new(extremeAsked)}
	if ruled = ruled && total >= 2; ruled {
		var rules rule.Set
		rules, feasible = randomRules(r, ingredients, total)
		if space, err = mcmc.NewRuledSpace(context.Background(), rules, mcmc.CountingOptions{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c.measured = space.UncountedRuleShares() != nil
	}
	counted := make([]float64, most+1)
	for x := range stattest.Compositions(ingredients, total) {
		if feasible(x) {
			counted[usedOf(x)]++
		}
	}
	logs := space.LogCounts(most)
	c.law = stattest.Law{Ingredients: ingredients, Total: total, Feasible: feasible, Size: func(n int) float64 {
		if !c.measured || counted[n] == 0 {
			return sizes[n]
		}
		return sizes[n] * counted[n] / math.Exp(logs[n]) // the kernels divide by the measured |X_n|
	}}

	scores := make([]map[int]float64, 1+r.IntN(2))
	spreads := make([]float64, len(scores))
	for w := range scores {
		scores[w] = make(map[int]float64)
		spreads[w] = []float64{10, 1e3, 1e5}[r.IntN(3)]
		for x := range stattest.Compositions(ingredients, total) {
			scores[w][key(x, total)] = math.Round(8*spreads[w]*(2*r.Float64()-1)) / 8
			if r.IntN(7) == 0 {
				scores[w][key(x, total)] = math.Inf(-1)
			}
		}
	}
	var wishes []mcmc.Objective
	var names []string
	for w := range scores {
		plain := scores[w]
		p := &extreme{total: total, logs: make(map[int]float64), outside: make(map[int]bool), asked: c.asked}
		for x := range stattest.Compositions(ingredients, total) {
			k := key(x, total)
			p.logs[k] = plain[k]
			p.outside[k] = !feasible(x) || sizes[usedOf(x)] == 0
			free := p.outside[k]
			for v := range scores {
				free = free || v != w && math.IsInf(scores[v][k], -1)
			}
			if free && !math.IsInf(plain[k], -1) {
				p.logs[k] = []float64{math.NaN(), math.Inf(1), 1e6, plain[k]}[r.IntN(4)]
			}
		}
		weight := []float64{1, 2.5}[r.IntN(2)]
		wish := mcmc.Objective{Name: fmt.Sprint("wish ", w), Property: p, Weight: weight}
		if r.IntN(2) == 0 {
			p.asked = new(extremeAsked) // that of lines is asked, and not listened to
			wish.Property = byLines{p}
		}
		wishes = append(wishes, wish)
		names = append(names, fmt.Sprintf("±%g^%g by %T", spreads[w], weight, wish.Property))
		c.law.Objectives = append(c.law.Objectives, stattest.Objective{Weight: weight, LogScore: func(x []int) float64 { return plain[key(x, total)] }})
	}
	c.scored = true
	c.name = fmt.Sprintf("seed %d, %d ingredients, total %d, sizes %v, rules %v, %s", seed, ingredients, total, sizes, ruled, strings.Join(names, " and "))
	c.target, err = mcmc.NewTarget(space, mcmc.Table(sizes), wishes...)
	if errors.Is(err, mcmc.ErrNoMass) {
		return nil
	}
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	if _, err := c.law.Enumerate(); err != nil {
		return nil
	}
	return c
}

func usedOf(x []int) int {
	n := 0
	for _, a := range x {
		n += min(a, 1)
	}
	return n
}

// atBeta is a kernel that moves states whose properties are raised to β, as those
// of a ladder and of its peaks are.
type atBeta struct {
	mcmc.Kernel
	beta float64
}

func (k atBeta) Advance(r *mcmc.Rand, x *mcmc.State, iterations int, tally *mcmc.Tally) error {
	mcmc.SetBeta(x, k.beta)
	return k.Kernel.Advance(r, x, iterations, tally)
}

// extremeKernels are the kernels of the grid, with the most states that each can
// be afforded on here.
func extremeKernels(t *testing.T) map[string]struct {
	make  func(t *mcmc.Target) (mcmc.Kernel, error)
	whole bool
	most  int
} {
	t.Helper()
	most := map[string]int{"balanced": 20, "balanced's refresh": 35, "balanced's recall": 20, "balanced, taught": 12, "balanced's recall, taught": 20}
	all := make(map[string]struct {
		make  func(t *mcmc.Target) (mcmc.Kernel, error)
		whole bool
		most  int
	})
	for _, g := range gridKernels {
		if g.name == "exact" {
			continue // it has no scores
		}
		e := all[g.name]
		e.make, e.whole, e.most = g.make, !g.part, 35
		if most[g.name] > 0 {
			e.most = most[g.name]
		}
		if g.unchecked != nil { // it may refuse, and then connects nothing
			e.make, e.whole = func(t *mcmc.Target) (mcmc.Kernel, error) { return g.unchecked(t), nil }, false
		}
		all[g.name] = e
	}
	return all
}

// TestExtremes computes the transition matrix of every kernel, at β = 1 and as
// the replicas of a ladder and its peaks use it, on targets whose log scores lie
// up to 5·10⁵ apart, beside sizes without mass, what rules forbid and other
// properties that are 0. Nobody is misled by what a property says there, and who
// asks point by point does not even ask.
func TestExtremes(t *testing.T) {
	t.Parallel()
	seeds := testmode.Pick(uint64(160), 48)
	kernels := extremeKernels(t)
	ran, far, cells := 0, 0, 0
	for seed := range seeds {
		c := newExtremeCell(t, seed, 4, 6, seed%2 == 1)
		if c == nil {
			continue
		}
		cells++
		for name, g := range kernels {
			for _, beta := range []float64{1, 0.125, 3, 9} {
				if beta != 1 && name != "balanced" && name != "balanced's line" && seed%4 != 0 {
					continue
				}
				law := c.law
				law.Power = beta
				e, err := law.Enumerate()
				if err != nil {
					t.Fatal(err)
				}
				if len(e.States) > g.most {
					continue
				}
				k, err := g.make(c.target)
				if err != nil {
					t.Fatalf("%s: %s: %v", c.name, name, err)
				}
				m, err := e.Matrix(c.target, atBeta{k, beta}, stattest.Options{Order: seed})
				if err != nil {
					t.Errorf("%s: %s at β = %g: %v", c.name, name, beta, err)
					continue
				}
				checks := []func() error{m.CheckRows, m.CheckSupport, m.CheckInvariant, m.CheckReversible}
				if g.whole {
					checks = append(checks, m.CheckConnected)
				}
				for _, check := range checks {
					if err := check(); err != nil {
						t.Errorf("%s: %s at β = %g: %v", c.name, name, beta, err)
					}
				}
				ran++
				for s := range e.States {
					if e.IsPossible(s) && e.Pi[s] < 1e-300 {
						far++
						break
					}
				}
			}
		}
		if c.asked.outside > 0 {
			t.Errorf("%s: a property was asked %d times where the law has no mass or a rule forbids", c.name, c.asked.outside)
		}
	}
	t.Logf("%d matrices on %d targets, %d of them with states below 1e-300", ran, cells, far)
	if ran < int(seeds)*10 || far < ran/4 {
		t.Errorf("only %d matrices, %d of them with states below 1e-300", ran, far)
	}
}

// TestLadderAtExtremes is TestLadderIsExact where log scores lie far apart.
func TestLadderAtExtremes(t *testing.T) {
	t.Parallel()
	ran, learnt := 0, 0
	for seed := uint64(1000); ran < 60; seed++ {
		c := newExtremeCell(t, seed, 3, 3, seed%2 == 1)
		if c == nil || c.measured {
			continue
		}
		betas := [][]float64{{0, 1}, {0, 1, 3}, {0, 0.125, 1}, {0, 1, 3, 9}}[seed/2%4]
		l := newLadderCell(c.cell, betas...)
		if l == nil || len(l.at) > 260 {
			continue
		}
		if seed%4 == 0 && len(l.at) <= 50 { // no rules, {0, 1} or {0, 0.125, 1}
			l.learn(t, 0)
			learnt++
		}
		ran++
		scan := [][]float64(nil)
		for k := range l.betas {
			m, err := l.matrix(1, func(p *mcmc.Replicas, r *mcmc.Rand) error { return p.Move(r, k) })
			if err == nil {
				err = l.check(m, true)
			}
			if err != nil {
				t.Fatalf("%s: β %v: the moves of replica %d: %v", c.name, betas, k, err)
			}
			if scan == nil {
				scan = m
			} else {
				scan = product(scan, m)
			}
		}
		for parity := range int64(2) {
			m, err := l.matrix(1, func(p *mcmc.Replicas, r *mcmc.Rand) error { p.Swap(r, parity); return nil })
			if err == nil {
				err = l.check(m, true)
			}
			if err == nil {
				err = l.check(product(scan, m), false)
			}
			if err != nil {
				t.Fatalf("%s: β %v: swaps of parity %d: %v", c.name, betas, parity, err)
			}
		}
	}
	if learnt < 5 {
		t.Errorf("only %d ladders have a learnt leg", learnt)
	}
}

// A document of one word, 3,000 times, and five topics of one word each, of which
// one makes at least three tenths of any mixture: the four best of 2 topics are all
// there is, each a quarter, and the next are e^-222 of them. A single topic, which
// has no mass, would score e^1070 times as much.
func TestDocumentOfOneWord(t *testing.T) {
	word := mcmc.Objective{Name: "word", Weight: 1, Property: byLines{logScores(func(x *mcmc.Composition) float64 {
		return 3000 * math.Log(float64(x.Amount(0))/float64(x.Total()))
	})}}
	for _, c := range []struct{ least, lo, hi, most, states int }{{6, 2, 3, 14, 4}, {10, 2, 2, 10, 4}} {
		at := count.Ingredient{Min: c.least}
		target, err := mcmc.NewTarget(ruledSpace(t, 20, at, at, at, at, at), mcmc.Uniform(c.lo, c.hi), word)
		if err != nil {
			t.Fatal(err)
		}
		for _, kernel := range []string{"accelerated", "gibbs", "naive", "balanced", "tempered"} {
			seen := make(map[string]int)
			o := mcmc.Settings{Kernel: kernel, Chains: 1, Warmup: 2000, Draws: 2000, Thin: 10, Seed: 1}
			_, err := mcmc.Stream(t.Context(), samplerOf(t, o, target), o, 0, func(_, _ int, x *mcmc.State) error {
				seen[x.Composition.String()]++
				return nil
			})
			if err != nil {
				t.Errorf("at least %d: %s: %v", c.least, kernel, err)
				continue
			}
			// 2000 draws are worth more than 200: a share of a quarter is off by
			// more than 0.2 with a probability below 1e-10.
			for x, k := range seen {
				if !strings.HasPrefix(x, fmt.Sprintf("{0: %d, ", c.most)) || k < 100 || k > 900 {
					t.Errorf("at least %d: %s: %d of 2000 draws at %s, and only those with %d of the first are to be, a quarter each", c.least, kernel, k, x, c.most)
				}
			}
			if len(seen) != c.states {
				t.Errorf("at least %d: %s: %d states", c.least, kernel, len(seen))
			}
		}
	}
}

// Who gives no target, no space or no sink is told so.
func TestNil(t *testing.T) {
	target := newTarget(t, 3, 4, mcmc.Uniform(1, 3))
	o := mcmc.Settings{Chains: 1, Draws: 1, Thin: 1}
	if _, err := mcmc.Stream(t.Context(), nil, o, 1, func(_, _ int, _ *mcmc.State) error { return nil }); err == nil || !strings.Contains(err.Error(), "no sampler") {
		t.Errorf("no sampler: %v", err)
	}
	if _, err := o.Sampler(nil); err == nil || !strings.Contains(err.Error(), "no target") {
		t.Errorf("no target: %v", err)
	}
	if _, err := mcmc.NewKernelSampler(target, nil); err == nil {
		t.Error("a sampler of no kernel")
	}
	if _, err := mcmc.NewTempered(nil); err == nil {
		t.Error("a ladder of no target")
	}
	if _, err := mcmc.Stream(t.Context(), samplerOf(t, o, target), o, 1, nil); err == nil || !strings.Contains(err.Error(), "no sink") {
		t.Errorf("no sink: %v", err)
	}
	if _, err := mcmc.NewTarget(nil, mcmc.Uniform(1, 3)); err == nil {
		t.Error("no space: no error")
	}
	if _, err := mcmc.NewChain(target, nil, 1, 0); err == nil {
		t.Error("no kernel: no error")
	}
	if _, err := mcmc.NewState(nil, nil); err == nil {
		t.Error("no target: a state")
	}
}
