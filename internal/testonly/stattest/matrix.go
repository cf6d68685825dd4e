package stattest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"kir/mcmc"
)

// A Matrix is the transition matrix of a kernel on an [Enumeration].
type Matrix struct {
	Enumeration *Enumeration

	// Accepted and Updated are the expected shares of iterations from each
	// state that the kernel's tally counts as such; 0 for states of
	// probability 0.
	Accepted, Updated []float64

	rows [][]entry // by state, in order of to; none for states of probability 0
}

// entry is one positive transition probability.
type entry struct {
	to int
	p  float64
}

// Options say what a matrix is made of.
type Options struct {
	// Iterations that one step makes; 0 stands for 1. The matrix of two is the
	// square of the matrix of one, unless the kernel leaves something behind
	// in the state that misleads the next iteration.
	Iterations int
	// Order decides in which order each composition lists its ingredients. No
	// matrix may depend on it.
	Order uint64
	// SkipRejected leaves out the outcomes in which nothing was accepted: the
	// matrix of a chain that keeps only the states it moved to.
	SkipRejected bool
	// Alike computes one row only of those of states that differ by the
	// ingredients' names, that with the amounts in falling order. It is for
	// the rates of a kernel and a target that tell ingredients apart by their
	// amounts alone; the matrix then passes no check.
	Alike bool
}

// Matrix runs a kernel of the target t from each state of positive probability
// over every outcome of its random choices. The states' probabilities are
// those of e, which must describe the same target.
//
// It fails if the kernel does, if it leaves the space, if its tally does not
// fit what it did, or if the log density that the state keeps is not that of
// the composition it holds.
func (e *Enumeration) Matrix(t *mcmc.Target, k mcmc.Kernel, o Options) (*Matrix, error) {
	m := &Matrix{
		Enumeration: e,
		Accepted:    make([]float64, len(e.States)),
		Updated:     make([]float64, len(e.States)),
		rows:        make([][]entry, len(e.States)),
	}
	iterations := max(o.Iterations, 1)
	order := rand.New(rand.NewPCG(o.Order, 0x6b6972))
	row := make([]float64, len(e.States))
	first := -1 // the state that the kept log densities are compared with
	density := 0.0
	for s, amounts := range e.States {
		if !e.IsPossible(s) || o.Alike && !falling(amounts) {
			continue
		}
		start, err := newStart(t, amounts[:e.ingredients], amounts[e.ingredients:], order)
		if err != nil {
			return nil, fmt.Errorf("state %v: %w", amounts, err)
		}
		x := start.state
		clear(row)
		kept := 0.0
		var tally mcmc.Tally
		err = Explore(func(r *mcmc.Rand) error {
			if err := start.reset(); err != nil {
				return err
			}
			tally = mcmc.Tally{Moves: tally.Moves[:0]} // as if it were new
			return k.Advance(r, x, iterations, &tally)
		}, func(p float64) error {
			to, ok := e.Index(x.Composition)
			if !ok {
				return fmt.Errorf("it moved to %v, which is not in the space", x.Composition)
			}
			if err := checkTally(tally, iterations, to == s); err != nil {
				return fmt.Errorf("on a move to %v: %w", x.Composition, err)
			}
			if e.IsPossible(to) {
				got := x.LogDensity()
				if first < 0 {
					first, density = to, got
				}
				want := density + e.base[to] - e.base[first] + e.score[to] - e.score[first]
				if !(math.Abs(got-want) <= densityTolerance*max(1, math.Abs(got)/1000)) {
					return fmt.Errorf("at %v its log density is %v, and should be %v", x.Composition, got, want)
				}
			}
			m.Accepted[s] += p * float64(tally.Accepted) / float64(iterations)
			m.Updated[s] += p * float64(tally.Updated) / float64(iterations)
			if !o.SkipRejected || tally.Accepted > 0 {
				row[to] += p
				kept += p
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("state %v: %w", amounts, err)
		}
		for to, p := range row {
			if p > 0 {
				if o.SkipRejected {
					p /= kept
				}
				m.rows[s] = append(m.rows[s], entry{to, p})
			}
		}
	}
	if o.Alike {
		for s, amounts := range e.States {
			sorted := slices.Clone(amounts)
			slices.SortFunc(sorted, func(a, b int) int { return b - a })
			one := e.index[e.key(sorted)]
			m.Accepted[s], m.Updated[s] = m.Accepted[one], m.Updated[one]
		}
	}
	return m, nil
}

func falling(x []int) bool {
	return slices.IsSortedFunc(x, func(a, b int) int { return b - a })
}

// densityTolerance is how far the log density that a state keeps may be from
// that of its composition, for each 1000 that it has. Both are sums of a few
// logarithms, each rounded at 1e-13 if it is below 1000.
const densityTolerance = 1e-10

// checkTally says what is wrong with a tally.
func checkTally(t mcmc.Tally, iterations int, stayed bool) error {
	switch {
	case t.Iterations != int64(iterations):
		return fmt.Errorf("the tally counts %d iterations of %d", t.Iterations, iterations)
	case t.Updated < 0 || t.Updated > t.Accepted || t.Accepted > t.Iterations:
		return fmt.Errorf("the tally %+v does not have updated ≤ accepted ≤ iterations", t)
	case !stayed && t.Updated == 0, iterations == 1 && stayed && t.Updated != 0:
		return fmt.Errorf("the tally counts %d updates", t.Updated)
	}
	return nil
}

// stateResetter can set a state back to a composition, listed in one order.
type stateResetter struct {
	state     *mcmc.State
	all, here *mcmc.Composition
}

func newStart(t *mcmc.Target, amounts, conditions []int, order *rand.Rand) (*stateResetter, error) {
	var all, here []mcmc.Part
	for _, i := range order.Perm(len(amounts)) {
		all = append(all, mcmc.Part{Ingredient: i, Amount: 1})
	}
	for _, i := range order.Perm(len(amounts)) {
		if amounts[i] > 0 {
			here = append(here, mcmc.Part{Ingredient: i, Amount: amounts[i]})
		}
	}
	s := &stateResetter{}
	var err error
	if s.all, err = mcmc.NewComposition(len(amounts), all...); err != nil {
		return nil, err
	}
	if s.here, err = mcmc.NewComposition(len(amounts), here...); err != nil {
		return nil, err
	}
	if len(conditions) > 0 {
		if s.all, err = s.all.WithConditions(conditions...); err != nil {
			return nil, err
		}
		if s.here, err = s.here.WithConditions(conditions...); err != nil {
			return nil, err
		}
	}
	s.state, err = mcmc.NewState(t, s.here.Clone())
	return s, err
}

// reset goes by way of the composition that uses everything, which fixes the
// order of the absent ingredients as well.
func (s *stateResetter) reset() error {
	s.state.Composition.CopyFrom(s.all)
	s.state.Composition.CopyFrom(s.here)
	return s.state.Refresh()
}

// At returns the transition probability from one state to another.
func (m *Matrix) At(from, to int) float64 {
	row := m.rows[from]
	k, found := slices.BinarySearchFunc(row, to, func(e entry, to int) int { return e.to - to })
	if !found {
		return 0
	}
	return row[k].p
}

// Rates returns the shares of iterations that are accepted and that change the
// composition, in equilibrium.
func (m *Matrix) Rates() (accepted, updated float64) {
	for s, p := range m.Enumeration.Pi {
		accepted += p * m.Accepted[s]
		updated += p * m.Updated[s]
	}
	return accepted, updated
}

// Square returns the matrix of two steps. It has no rates.
func (m *Matrix) Square() *Matrix {
	q := &Matrix{
		Enumeration: m.Enumeration,
		Accepted:    make([]float64, len(m.rows)),
		Updated:     make([]float64, len(m.rows)),
		rows:        make([][]entry, len(m.rows)),
	}
	row := make([]float64, len(m.rows))
	for s := range m.rows {
		clear(row)
		for _, a := range m.rows[s] {
			for _, b := range m.rows[a.to] {
				row[b.to] += a.p * b.p
			}
		}
		for to, p := range row {
			if p > 0 {
				q.rows[s] = append(q.rows[s], entry{to, p})
			}
		}
	}
	return q
}

// Compare says, as an error, where two matrices of the same enumeration differ
// most, if that is by more than [Tolerance].
func (m *Matrix) Compare(q *Matrix) error {
	worst := worstDeviation{}
	for s := range m.rows {
		for _, e := range m.rows[s] {
			worst.update(math.Abs(e.p-q.At(s, e.to)), s, e.to)
		}
		for _, e := range q.rows[s] {
			worst.update(math.Abs(e.p-m.At(s, e.to)), s, e.to)
		}
	}
	if worst.ok() {
		return nil
	}
	return fmt.Errorf("from %v to %v the probabilities are %.15g and %.15g, %.3g apart",
		m.Enumeration.States[worst.from], m.Enumeration.States[worst.to], m.At(worst.from, worst.to), q.At(worst.from, worst.to), worst.by)
}
