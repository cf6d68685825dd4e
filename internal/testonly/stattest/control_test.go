package stattest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// problem is a target on a small space, written down twice.
type problem struct {
	target *mcmc.Target
	states *stattest.Enumeration
}

func uniformSizes(lo, hi int) func(int) float64 {
	return func(n int) float64 {
		if lo <= n && n <= hi {
			return 1
		}
		return 0
	}
}

func newProblem(t *testing.T, ingredients, total, lo, hi int, properties ...mcmc.Property) problem {
	t.Helper()
	space, err := mcmc.NewSpace(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	law := stattest.Law{Ingredients: ingredients, Total: total, Size: uniformSizes(lo, hi)}
	var wishes []mcmc.Objective
	for k, p := range properties {
		wishes = append(wishes, mcmc.Objective{Name: fmt.Sprint("wish ", k), Property: p, Weight: 1})
		law.Objectives = append(law.Objectives, stattest.Objective{Weight: 1, Score: func(x []int) float64 {
			return math.Exp(p.LogScore(composition(t, x...)))
		}})
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(lo, hi), wishes...)
	if err != nil {
		t.Fatal(err)
	}
	states, err := law.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	return problem{target, states}
}

// smallForest returns a grown forest's probability of a class. It is 0 in
// places.
func smallForest(t *testing.T, ingredients, total int) mcmc.LineProperty {
	t.Helper()
	d := &model.Data{Label: "label", Total: total}
	for i := range ingredients {
		d.Ingredients = append(d.Ingredients, fmt.Sprint("ingredient ", i))
	}
	for x := range stattest.Compositions(ingredients, total) {
		var parts []model.Part
		for i, a := range x {
			if a > 0 {
				parts = append(parts, model.Part{Ingredient: int32(i), Amount: int32(a)})
			}
		}
		d.Rows = append(d.Rows, parts)
		d.Classes = append(d.Classes, []string{"no", "yes"}[(x[0]+2*x[ingredients-1])%2])
	}
	f, err := model.Grow(context.Background(), d, model.Options{Trees: 5, Splits: model.BestSplits, SmallestLeaf: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	score, err := f.Score(model.AnyOf("yes"))
	if err != nil {
		t.Fatal(err)
	}
	return property.NewForest(score, 0)
}

// lineKernel is Algorithm 2 written a second time, simply, with places for
// what can be got wrong.
type lineKernel struct {
	target *mcmc.Target
	alpha  func(now, next float64) float64 // of the ratio α(x′)/α(x)
	size   func(t *mcmc.Target, n int) float64
	ends   bool // whether the ends of a line are weighed by their own n
}

// faultless makes no mistake.
func faultless(t *mcmc.Target) lineKernel {
	return lineKernel{
		target: t,
		alpha:  func(now, next float64) float64 { return next / now },
		size:   (*mcmc.Target).LogLaw,
		ends:   true,
	}
}

func (l lineKernel) Advance(r *mcmc.Rand, x *mcmc.State, iterations int, tally *mcmc.Tally) error {
	for range iterations {
		tally.Iterations++
		if err := l.step(r, x, tally); err != nil {
			return err
		}
	}
	return nil
}

func (l lineKernel) step(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
	c := x.Composition
	i := int(c.Ingredients()[r.Intn(c.UsedCount())])
	j := r.Intn(c.N() - 1)
	if j >= i {
		j++
	}
	was, s := c.Amount(i), c.Amount(i)+c.Amount(j)
	others := c.UsedCount() - 1
	if c.Amount(j) > 0 {
		others--
	}
	logs, err := l.scores(c, i, j, s)
	if err != nil {
		return err
	}
	top := math.Inf(-1)
	for k := range logs {
		n := others + 2
		if l.ends && (k == 0 || k == s) {
			n = others + 1
		}
		logs[k] += l.size(l.target, n)
		top = max(top, logs[k])
	}
	for k := range logs {
		logs[k] = math.Exp(logs[k] - top)
	}
	k := r.Categorical(logs)
	y := c.Clone()
	if err := y.Move(i, j, k); err != nil {
		return err
	}
	if !r.Bernoulli(l.alpha(pickProbability(c, i, j), pickProbability(y, i, j))) {
		return nil
	}
	tally.Accepted++
	if k != was {
		tally.Updated++
	}
	if err := c.Move(i, j, k); err != nil {
		return err
	}
	return x.Refresh()
}

// scores returns the log scores of the splits of a line, each by itself or, if
// a wish can score lines, from its pieces.
func (l lineKernel) scores(c *mcmc.Composition, i, j, s int) ([]float64, error) {
	logs := make([]float64, s+1)
	for _, w := range l.target.Objectives() {
		if p, ok := w.Property.(mcmc.LineProperty); ok {
			scorer := p.Scorer(c)
			scorer.Reset()
			var pieces mcmc.PiecewiseConstant
			scorer.Line(i, j, &pieces)
			for k, q := 0, 0; k <= s; k++ {
				if q+1 < pieces.Len() {
					if start, _ := pieces.Piece(q + 1); start == k {
						q++
					}
				}
				_, value := pieces.Piece(q)
				logs[k] += w.Weight * value
			}
			continue
		}
		for k := range logs {
			y := c.Clone()
			if err := y.Move(i, j, k); err != nil {
				return nil, err
			}
			logs[k] += w.Weight * w.Property.LogScore(y)
		}
	}
	return logs, nil
}

// pickProbability is α(x), the probability that {i, j} is picked at x.
func pickProbability(x *mcmc.Composition, i, j int) float64 {
	p := 0.0
	for _, k := range []int{i, j} {
		if x.Amount(k) > 0 {
			p += 1 / float64(x.UsedCount()*(x.N()-1))
		}
	}
	return p
}

// standing never moves.
type standing struct{}

func (standing) Advance(_ *mcmc.Rand, _ *mcmc.State, iterations int, tally *mcmc.Tally) error {
	tally.Iterations += int64(iterations)
	tally.Accepted += int64(iterations)
	return nil
}

// carousel hands all units of a pure composition to the next ingredient.
type carousel struct{}

func (carousel) Advance(_ *mcmc.Rand, x *mcmc.State, _ int, tally *mcmc.Tally) error {
	tally.Add(mcmc.Tally{Iterations: 1, Accepted: 1, Updated: 1})
	c := x.Composition
	i := int(c.Ingredients()[0])
	return c.Move(i, (i+1)%c.N(), 0)
}

// thrown proposes a composition made by throwing all units anew, with the ratio of its
// probability or, uncorrected, as if it were uniform.
type thrown struct{ uncorrected bool }

func (p thrown) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (logRatio float64, err error) {
	ways := func(x *mcmc.Composition) (log float64) { // less the logs of factorials
		for _, i := range x.Ingredients() {
			f, _ := math.Lgamma(float64(x.Amount(int(i))) + 1)
			log -= f
		}
		return log
	}
	for _, i := range x.Ingredients() {
		for range x.Amount(int(i)) {
			if j := r.Intn(x.N()); j != int(i) {
				if err := y.Move(int(i), j, y.Amount(int(i))-1); err != nil {
					return 0, err
				}
			}
		}
	}
	if p.uncorrected {
		return 0, nil
	}
	return ways(x) - ways(y), nil
}

// Every check must let pass what is right and reject what is known to be
// wrong: these are the ways in which samplers of this kind go wrong unseen.
func TestNegativeControls(t *testing.T) {
	bare := newProblem(t, 3, 4, 1, 3)
	pure := newProblem(t, 3, 4, 1, 1)
	scored := newProblem(t, 3, 4, 1, 3, smallForest(t, 3, 4))
	faulty := func(p problem, fault func(l *lineKernel)) mcmc.Kernel {
		l := faultless(p.target)
		fault(&l)
		return l
	}
	multinomial := func(p problem, uncorrected bool) mcmc.Kernel {
		return mcmc.NewMetropolis("multinomial", p.target, thrown{uncorrected})
	}
	accelerated, err := mcmc.NewKernel("accelerated", scored.target)
	if err != nil {
		t.Fatal(err)
	}
	noAlpha := func(l *lineKernel) { l.alpha = func(now, next float64) float64 { return 1 } }
	turned := func(l *lineKernel) { l.alpha = func(now, next float64) float64 { return now / next } }
	noCounts := func(l *lineKernel) {
		l.size = func(t *mcmc.Target, n int) float64 { return math.Log(t.Law().P(n)) }
	}
	noEnds := func(l *lineKernel) { l.ends = false }
	wrongLaw := []error{stattest.ErrInvariant, stattest.ErrReversible}

	for _, c := range []struct {
		name    string
		problem problem
		kernel  mcmc.Kernel
		options stattest.Options
		rejects []error
	}{
		{"the line kernel without a fault", bare, faultless(bare.target), stattest.Options{}, nil},
		{"the line kernel without a fault, on a forest", scored, faultless(scored.target), stattest.Options{}, nil},
		{"accelerated, keeping rejected draws", scored, accelerated, stattest.Options{}, nil},
		{"multinomial with the Hastings correction", bare, multinomial(bare, false), stattest.Options{}, nil},
		{"multinomial with the Hastings correction, on a forest", scored, multinomial(scored, false), stattest.Options{}, nil},

		{"multinomial without the Hastings correction", bare, multinomial(bare, true), stattest.Options{}, wrongLaw},
		{"multinomial without the Hastings correction, on a forest", scored, multinomial(scored, true), stattest.Options{}, wrongLaw},
		{"accelerated without the ratio of α", bare, faulty(bare, noAlpha), stattest.Options{}, wrongLaw},
		{"accelerated without the ratio of α, on a forest", scored, faulty(scored, noAlpha), stattest.Options{}, wrongLaw},
		{"accelerated with the ratio of α turned round", bare, faulty(bare, turned), stattest.Options{}, wrongLaw},
		{"accelerated with |X_n| left out", bare, faulty(bare, noCounts), stattest.Options{}, wrongLaw},
		{"a forest's line without the ends' own n", scored, faulty(scored, noEnds), stattest.Options{}, wrongLaw},
		{"accelerated that skips rejected draws", scored, accelerated, stattest.Options{SkipRejected: true}, wrongLaw},
		{"standing still", bare, standing{}, stattest.Options{}, []error{stattest.ErrIrreducible}},
		{"round and round", pure, carousel{}, stattest.Options{}, []error{stattest.ErrReversible, stattest.ErrPeriodic}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.problem.states.Matrix(c.problem.target, c.kernel, c.options)
			if err != nil {
				t.Fatal(err)
			}
			rejects := c.rejects
			for _, check := range []func() error{m.CheckRows, m.CheckSupport, m.CheckInvariant, m.CheckReversible, m.CheckIrreducible, m.CheckAperiodic} {
				err := check()
				if err == nil {
					continue
				}
				if len(rejects) == 0 || !errors.Is(err, rejects[0]) {
					t.Errorf("rejected: %v; want %v", err, rejects)
					continue
				}
				rejects = rejects[1:]
				t.Logf("rejected: %v", err)
			}
			if len(rejects) > 0 {
				t.Errorf("not rejected: want %v", rejects)
			}
		})
	}
}

// breaking is a kernel made of a function.
type breaking func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error

func (b breaking) Advance(r *mcmc.Rand, x *mcmc.State, _ int, tally *mcmc.Tally) error {
	tally.Iterations++
	return b(r, x, tally)
}

// A kernel whose steps cannot be made a matrix of is found out as well.
func TestMatrixRefuses(t *testing.T) {
	p := newProblem(t, 3, 4, 1, 3, smallForest(t, 3, 4))
	moved := mcmc.Tally{Accepted: 1, Updated: 1}
	drawn := 0
	for name, c := range map[string]struct {
		kernel breaking
		want   string
	}{
		"leaves the space": {func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
			tally.Add(moved)
			return x.Composition.SetParts(mcmc.Part{Ingredient: 0, Amount: 5})
		}, "not in the space"},
		"does not tell the scorers": {func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
			tally.Add(moved)
			c := x.Composition
			for k := range c.N() {
				for l := range c.N() {
					if k != l && c.Amount(k) > 1 && c.Amount(l) == 0 {
						return c.Move(k, l, 1)
					}
				}
			}
			return c.Move(0, 1, c.Amount(0)+c.Amount(1))
		}, "log density"},
		"counts no update": {func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
			tally.Accepted++
			if err := x.Composition.SetParts(mcmc.Part{Ingredient: r.Intn(3), Amount: 4}); err != nil {
				return err
			}
			return x.Refresh()
		}, "0 updates"},
		"counts an update that is none": {func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
			tally.Add(moved)
			return nil
		}, "1 updates"},
		"counts too many accepted": {func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
			tally.Accepted += 2
			return nil
		}, "accepted ≤ iterations"},
		"counts an iteration twice": {func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
			tally.Iterations++
			return nil
		}, "2 iterations of 1"},
		"remembers": {func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
			drawn++
			r.Intn(1 + drawn)
			r.Intn(2)
			return nil
		}, "no tree"},
		"fails": {func(r *mcmc.Rand, x *mcmc.State, tally *mcmc.Tally) error {
			return errors.New("it rains")
		}, "it rains"},
	} {
		_, err := p.states.Matrix(p.target, c.kernel, stattest.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "state [") {
			t.Errorf("%s: got %v, want %q and the state", name, err, c.want)
		}
	}
}
