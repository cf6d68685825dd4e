package mcmc_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// A ladderCell is a target and a ladder of β, small enough for all replicas
// together to be enumerated.
type ladderCell struct {
	cell
	betas  []float64
	learnt int                     // how many of them are of a learnt leg, at the end
	f      *mcmc.Reference         // which begins there
	laws   []*stattest.Enumeration // by rung
	at     [][]int                 // by state of the product: which state on each rung
}

// newLadderCell enumerates the product; nil if it allows nothing.
func newLadderCell(c cell, betas ...float64) *ladderCell {
	l := &ladderCell{cell: c, betas: betas, at: [][]int{nil}}
	if _, err := c.law.Enumerate(); err != nil {
		return nil
	}
	for _, beta := range betas {
		law := c.law
		if law.Power = beta; beta == 0 {
			law.Objectives = nil
		}
		if !l.add(law) {
			return nil
		}
	}
	return l
}

// add adds a rung of a law to the product, and says whether the law allows anything.
func (l *ladderCell) add(law stattest.Law) bool {
	e, err := law.Enumerate()
	if err != nil {
		return false
	}
	l.laws = append(l.laws, e)
	var at [][]int
	for s := range l.at {
		for k := range e.States {
			at = append(at, append(slices.Clone(l.at[s]), k))
		}
	}
	l.at = at
	return true
}

// learn adds a learnt leg, of which a rung follows q^(1−β)·(π·Y)^β.
func (l *ladderCell) learn(t *testing.T, betas ...float64) *ladderCell {
	t.Helper()
	if l.f = mcmc.NewReference(l.target, 1, someMet(l.target)...); l.f == nil {
		t.Fatalf("%s: no reference", l.name)
	}
	for _, beta := range betas {
		law := l.cell.law
		law.Objectives = []stattest.Objective{{Weight: 1 - beta, LogScore: func(x []int) float64 {
			c := plainComposition(t, x)
			return l.f.Log(c) - l.target.LogLaw(c.UsedCount())
		}}}
		for _, w := range l.cell.law.Objectives {
			if w.Weight *= beta; w.Weight > 0 {
				law.Objectives = append(law.Objectives, w)
			}
		}
		if !l.add(law) {
			t.Fatalf("%s: nothing is allowed", l.name)
		}
	}
	l.betas, l.learnt = append(l.betas, betas...), len(betas)
	l.name += fmt.Sprint(", learnt ", betas)
	return l
}

// possible says whether a state of the product has positive probability.
func (l *ladderCell) possible(s int) bool { return l.allowed(l.at[s]) }

func (l *ladderCell) allowed(at []int) bool {
	for r, e := range l.laws {
		if !e.IsPossible(at[r]) {
			return false
		}
	}
	return true
}

// logRatio is that of two states of the product that are possible.
func (l *ladderCell) logRatio(s, t int) float64 {
	sum := 0.0
	for r, e := range l.laws {
		sum += e.LogRatio(l.at[s][r], l.at[t][r])
	}
	return sum
}

// pi returns the probability of a state of the product, 0 also where that is
// less than a float64 holds.
func (l *ladderCell) pi(s int) float64 {
	p := 1.0
	for r, e := range l.laws {
		p *= e.Pi[l.at[s][r]]
	}
	return p
}

// matrix returns the transition matrix of a step of the replicas.
func (l *ladderCell) matrix(moves int, step func(p *mcmc.Replicas, r *mcmc.Rand) error) ([][]float64, error) {
	first := len(l.betas) - l.learnt
	p, err := mcmc.NewReplicas(l.target, l.betas[:first], moves)
	if err != nil {
		return nil, err
	}
	states := make([]*mcmc.Composition, len(l.laws[0].States))
	for s, amounts := range l.laws[0].States {
		var parts []mcmc.Part
		for i, a := range amounts {
			if a > 0 {
				parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
			}
		}
		if states[s], err = mcmc.NewComposition(len(amounts), parts...); err != nil {
			return nil, err
		}
	}
	for k := range first {
		mcmc.Teach(p.State(k), someMet(l.target)[k%2:]...)
		if err := p.Set(k, states[l.at[slices.IndexFunc(l.at, l.allowed)][k]]); err != nil {
			return nil, err
		}
	}
	if l.learnt > 0 {
		if err := p.Learn(l.f, l.betas[first:]...); err != nil {
			return nil, err
		}
	}
	m := make([][]float64, len(l.at))
	for s, at := range l.at {
		if !l.possible(s) {
			continue
		}
		m[s] = make([]float64, len(l.at))
		err := stattest.Explore(func(r *mcmc.Rand) error {
			for k, state := range at {
				if err := p.Set(k, states[state]); err != nil {
					return err
				}
			}
			return step(p, r)
		}, func(prob float64) error {
			if err := p.Kept(); err != nil {
				return err
			}
			to := 0
			for k := range l.betas {
				state, ok := l.laws[k].Index(p.State(k).Composition)
				if !ok {
					return fmt.Errorf("replica %d is at %v", k, p.State(k).Composition)
				}
				want := 0.0
				for _, w := range l.law.Objectives {
					if w.Weight > 0 {
						want += w.Log(l.laws[k].States[state])
					}
				}
				if got := p.State(k).LogScore(); got != want && !(math.Abs(got-want) <= 1e-13*max(1000, math.Abs(want))) {
					return fmt.Errorf("replica %d at %v has a log score of %v and not %v", k, p.State(k).Composition, got, want)
				}
				to = to*len(states) + state
			}
			m[s][to] += prob
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// check says what of πP = π, detailed balance (if claimed) and of the support
// does not hold, as [stattest.Matrix] does.
func (l *ladderCell) check(m [][]float64, reversible bool) error {
	after := make([]float64, len(l.at)) // relative to π
	for s, row := range m {
		sum := 0.0
		for to, p := range row {
			sum += p
			switch {
			case p == 0:
				continue
			case !l.possible(to):
				return fmt.Errorf("from %v to %v, which is forbidden", l.at[s], l.at[to])
			}
			ratio := l.logRatio(s, to)
			after[to] += math.Exp(ratio + math.Log(p))
			if !reversible {
				continue
			}
			lower, upper := p*math.Exp(min(ratio, 0)), at(m, to, s)*math.Exp(min(-ratio, 0))
			if most := max(lower, upper); most > stattest.LeastProbability && math.Abs(lower-upper) > stattest.Tolerance*most {
				return fmt.Errorf("between %v and %v %.15g and %.15g flow, in terms of the more probable", l.at[s], l.at[to], lower, upper)
			}
		}
		if row != nil && math.Abs(sum-1) > stattest.Tolerance {
			return fmt.Errorf("the row of %v sums to %.15g", l.at[s], sum)
		}
	}
	for s := range l.at {
		if l.possible(s) && stattest.LeastProbability/l.pi(s) < stattest.Tolerance/1000 && math.Abs(after[s]-1) > stattest.Tolerance {
			return fmt.Errorf("%v has after a step %.15g times the probability that it had before", l.at[s], after[s])
		}
	}
	return nil
}

func at(m [][]float64, from, to int) float64 {
	if m[from] == nil {
		return 0
	}
	return m[from][to]
}

// reaches says whether every state of positive probability reaches every other
// one by steps of the two matrices in turn.
func (l *ladderCell) reaches(even, odd [][]float64) error {
	next := make([][]int, len(l.at)) // two steps
	for s := range l.at {
		if !l.possible(s) {
			continue
		}
		seen := make([]bool, len(l.at))
		for mid, p := range even[s] {
			if p == 0 {
				continue
			}
			for to, q := range odd[mid] {
				if q > 0 && !seen[to] {
					seen[to] = true
					next[s] = append(next[s], to)
				}
			}
		}
	}
	for s := range l.at {
		if !l.possible(s) {
			continue
		}
		seen := make([]bool, len(l.at))
		queue := []int{s}
		for len(queue) > 0 {
			here := queue[0]
			queue = queue[1:]
			for _, to := range next[here] {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		for to := range l.at {
			if l.possible(to) && !seen[to] {
				return fmt.Errorf("%v never reaches %v", l.at[s], l.at[to])
			}
		}
	}
	return nil
}

// ladderCells are the targets whose ladders go through the matrices.
func ladderCells(t *testing.T) []*ladderCell {
	t.Helper()
	var all []*ladderCell
	add := func(ingredients, total, every int, betas ...float64) {
		if every == 1 {
			every = testmode.Pick(1, 3) // prime to the number of lists of properties, so that all come
		}
		for index, c := range someCells(t, ingredients, total) {
			if index%every != 0 || !c.scored {
				continue
			}
			if l := newLadderCell(c, betas...); l != nil {
				l.name = fmt.Sprintf("N=%d/M=%d/%v/%s", ingredients, total, betas, c.name)
				all = append(all, l)
			}
		}
	}
	add(1, 1, 1, 0, 1)
	add(1, 3, 1, 0, 0.5, 1)
	add(3, 1, 1, 0, 1)
	add(2, 2, 1, 0, 1)
	add(2, 3, 1, 0, 1)
	add(2, 2, 1, 0, 0.3, 1)
	add(2, 2, 1, 0, 1, 3) // a peak
	if !testmode.RaceDetector {
		add(3, 2, 3, 0, 1)
		add(3, 3, 11, 0, 1)
		add(2, 3, 11, 0, 0.45, 1)
		add(2, 3, 11, 0, 1, 3)
		add(2, 2, 17, 0, 1, 3, 9)
		add(2, 2, 17, 0, 0.2, 0.6, 1)
	}
	learn := func(ingredients, total, every int, betas []float64, learnt ...float64) {
		from := len(all)
		add(ingredients, total, every, betas...)
		for _, l := range all[from:] {
			l.learn(t, learnt...)
		}
	}
	learn(1, 1, 1, []float64{0, 1}, 0)
	learn(2, 2, 3, []float64{0, 1}, 0)
	learn(2, 2, 17, []float64{0, 1}, 0, 0.4)
	learn(2, 2, 17, []float64{0, 1, 3}, 0)
	if !testmode.RaceDetector {
		learn(3, 2, 17, []float64{0, 1}, 0)
		learn(2, 2, 35, []float64{0, 0.5, 1}, 0)
	}
	return append(all, equalityLadder(t))
}

// TestLadderIsExact computes the transition matrix of a scan on all replicas
// together, and of its parts: the swaps of either parity, and the moves of one
// replica. The parts are reversible, scans leave the product of the laws as it
// is, and reach all of it.
func TestLadderIsExact(t *testing.T) {
	for _, l := range ladderCells(t) {
		fail := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s: %s: %v", l.name, what, err)
			}
		}
		rungs := len(l.betas)
		var swaps [2][][]float64
		for parity := range swaps {
			m, err := l.matrix(1, func(p *mcmc.Replicas, r *mcmc.Rand) error { p.Swap(r, int64(parity)); return nil })
			fail("swap", err)
			swaps[parity] = m
			if err == nil {
				// Where β = 1 swaps with a peak and then with the learnt leg, each is.
				both := l.learnt > 0 && slices.Max(l.betas) > 1
				fail(fmt.Sprint("swaps of parity ", parity), l.check(m, !both))
			}
		}
		var scans [2][][]float64
		for k := range rungs {
			m, err := l.matrix(1, func(p *mcmc.Replicas, r *mcmc.Rand) error { return p.Move(r, k) })
			fail("move", err)
			if err != nil {
				continue
			}
			fail(fmt.Sprint("the moves of replica ", k), l.check(m, true))
			for parity := range scans {
				if scans[parity] == nil {
					scans[parity] = m
				} else {
					scans[parity] = product(scans[parity], m)
				}
			}
		}
		if t.Failed() {
			continue
		}
		for parity := range scans {
			scans[parity] = product(scans[parity], swaps[parity])
			fail(fmt.Sprint("a scan of parity ", parity), l.check(scans[parity], false))
		}
		fail("scans", l.reaches(scans[0], scans[1]))

		// The whole scan in one run is the product of its parts, where there
		// are few enough outcomes.
		if rungs == 2 && len(l.at) <= 9 {
			for parity := range scans {
				m, err := l.matrix(1, func(p *mcmc.Replicas, r *mcmc.Rand) error {
					for k := range rungs {
						if err := p.Move(r, k); err != nil {
							return err
						}
					}
					p.Swap(r, int64(parity))
					return nil
				})
				fail("scan", err)
				for s := range m {
					for to := range m[s] {
						if math.Abs(m[s][to]-scans[parity][s][to]) > 1e-12 {
							t.Fatalf("%s: a scan is not the product of its parts: %v and %v", l.name, m[s][to], scans[parity][s][to])
						}
					}
				}
			}
		}
	}
}

func product(a, b [][]float64) [][]float64 {
	m := make([][]float64, len(a))
	for s := range a {
		if a[s] == nil {
			continue
		}
		m[s] = make([]float64, len(b))
		for mid, p := range a[s] {
			if p == 0 {
				continue
			}
			for to, q := range b[mid] {
				m[s][to] += p * q
			}
		}
	}
	return m
}
