package stattest

import (
	"errors"
	"fmt"
	"math"

	"kir/internal/portable"
)

// Tolerance is what rounding is allowed: relative to the probability, or to
// the flow between two states, that is checked.
const Tolerance = 1e-12

// LeastProbability is that of a transition below which its digits are not
// looked at, but only that it is as small: a float64 that is much smaller loses
// them, and what is smaller still becomes 0. No sampler ever sees such a
// transition.
const LeastProbability = 1e-280

// What the checks of a [Matrix] find; the errors name the worst offender.
var (
	ErrRows        = errors.New("a row does not sum to 1")
	ErrSupport     = errors.New("a move leads to a state of probability 0")
	ErrInvariant   = errors.New("π P is not π")
	ErrReversible  = errors.New("detailed balance does not hold")
	ErrIrreducible = errors.New("the support falls apart")
	ErrPeriodic    = errors.New("the chain is periodic")
)

// worstDeviation remembers the largest deviation and where it was.
type worstDeviation struct {
	by       float64
	from, to int
}

func (w *worstDeviation) update(by float64, from, to int) {
	if by > w.by || math.IsNaN(by) && !math.IsNaN(w.by) {
		*w = worstDeviation{by, from, to}
	}
}

func (w *worstDeviation) ok() bool { return w.by <= Tolerance }

// Check runs all checks, that of detailed balance if the kernel claims it, and
// returns the first failure.
func (m *Matrix) Check(reversible bool) error {
	checks := []func() error{m.CheckRows, m.CheckSupport, m.CheckInvariant, m.CheckReversible, m.CheckIrreducible, m.CheckAperiodic}
	if !reversible {
		checks = append(checks[:3], checks[4:]...)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// CheckRows verifies that the row of each state of positive probability sums
// to 1.
func (m *Matrix) CheckRows() error {
	w := worstDeviation{}
	for s, row := range m.rows {
		if !m.Enumeration.IsPossible(s) {
			continue
		}
		sum := 0.0
		for _, e := range row {
			sum += e.p
		}
		w.update(math.Abs(sum-1), s, s)
	}
	if w.ok() {
		return nil
	}
	return fmt.Errorf("%w: that of %v is off by %.3g", ErrRows, m.Enumeration.States[w.from], w.by)
}

// CheckSupport verifies that no state of positive probability leads to one of
// probability 0.
func (m *Matrix) CheckSupport() error {
	w := worstDeviation{}
	for s, row := range m.rows {
		for _, e := range row {
			if !m.Enumeration.IsPossible(e.to) {
				w.update(e.p, s, e.to)
			}
		}
	}
	if w.by == 0 {
		return nil
	}
	return fmt.Errorf("%w: from %v to %v with probability %.3g", ErrSupport, m.Enumeration.States[w.from], m.Enumeration.States[w.to], w.by)
}

// CheckInvariant verifies that π P = π, relative to π, at every state into which
// no flow that counts is too small for a float64. What flows into the others is
// left to [Matrix.CheckReversible].
func (m *Matrix) CheckInvariant() error {
	e := m.Enumeration
	after := make([]float64, len(m.rows)) // relative to π
	for s, row := range m.rows {
		for _, entry := range row {
			if e.IsPossible(entry.to) {
				after[entry.to] += math.Exp(e.LogRatio(s, entry.to) + math.Log(entry.p))
			}
		}
	}
	w := worstDeviation{}
	for s := range m.rows {
		if !e.IsPossible(s) {
			continue
		}
		if unseen := LeastProbability / e.Pi[s]; unseen < Tolerance/1000 {
			w.update(math.Abs(after[s]-1), s, s)
		}
	}
	if w.ok() {
		return nil
	}
	return fmt.Errorf("%w: %v has probability %.15g before and %.15g times as much after a step, a relative %.3g apart", ErrInvariant, e.States[w.from], e.Pi[w.from], after[w.from], w.by)
}

// CheckReversible verifies that π(x) P(x, y) = π(y) P(y, x), relative to the
// larger of the two: for the less probable state y of each pair, that P(x, y) is
// P(y, x)·π(y)/π(x), however far apart they lie.
func (m *Matrix) CheckReversible() error {
	e := m.Enumeration
	w := worstDeviation{}
	for s, row := range m.rows {
		for _, entry := range row {
			from, to := s, entry.to
			if !e.IsPossible(to) {
				w.update(math.Inf(1), s, to)
				continue
			}
			if e.LogRatio(from, to) < 0 {
				from, to = to, from
			}
			there, back := m.At(from, to), 0.0
			if p := m.At(to, from); p > 0 {
				back = math.Exp(math.Log(p) + e.LogRatio(to, from))
			}
			if max(there, back) > LeastProbability {
				w.update(math.Abs(there-back)/max(there, back), from, to)
			}
		}
	}
	if w.ok() {
		return nil
	}
	return fmt.Errorf("%w: between %v and %v the probabilities are %.15g one way and %.15g the other, and those of the states e^%.15g apart: the flows differ by a relative %.3g", ErrReversible,
		e.States[w.from], e.States[w.to], m.At(w.from, w.to), m.At(w.to, w.from), e.LogRatio(w.from, w.to), w.by)
}

// CheckIrreducible verifies that every state of positive probability can be
// reached from every other: the first one reaches all, and all reach it.
func (m *Matrix) CheckIrreducible() error {
	first := m.firstPossible()
	back := make([][]entry, len(m.rows))
	for s, row := range m.rows {
		for _, e := range row {
			back[e.to] = append(back[e.to], entry{s, e.p})
		}
	}
	forth, from := levels(m.rows, first), levels(back, first)
	for s := range m.rows {
		switch {
		case !m.Enumeration.IsPossible(s):
		case forth[s] < 0:
			return fmt.Errorf("%w: %v is never reached from %v", ErrIrreducible, m.Enumeration.States[s], m.Enumeration.States[first])
		case from[s] < 0:
			return fmt.Errorf("%w: %v is never reached from %v", ErrIrreducible, m.Enumeration.States[first], m.Enumeration.States[s])
		}
	}
	return nil
}

// firstPossible returns a state of positive probability.
func (m *Matrix) firstPossible() int {
	first := 0
	for !m.Enumeration.IsPossible(first) {
		first++
	}
	return first
}

// CheckConnected verifies of a reversible chain that every two states of positive
// probability are connected by moves that one way or the other have a
// probability above 0: the other way it is above 0 too, however little of it is
// left in a float64.
func (m *Matrix) CheckConnected() error {
	either := make([][]entry, len(m.rows))
	for s, row := range m.rows {
		for _, e := range row {
			either[s] = append(either[s], e)
			either[e.to] = append(either[e.to], entry{s, e.p})
		}
	}
	first := m.firstPossible()
	for s, level := range levels(either, first) {
		if level < 0 && m.Enumeration.IsPossible(s) {
			return fmt.Errorf("%w: nothing connects %v and %v", ErrIrreducible, m.Enumeration.States[first], m.Enumeration.States[s])
		}
	}
	return nil
}

// levels returns in how many steps each state can be reached, −1 for never.
func levels(rows [][]entry, first int) []int {
	level := make([]int, len(rows))
	for s := range level {
		level[s] = -1
	}
	level[first] = 0
	for queue := []int{first}; len(queue) > 0; queue = queue[1:] {
		for _, e := range rows[queue[0]] {
			if level[e.to] < 0 {
				level[e.to] = level[queue[0]] + 1
				queue = append(queue, e.to)
			}
		}
	}
	return level
}

// CheckAperiodic verifies that the lengths of an irreducible chain's cycles
// have no common divisor but 1.
func (m *Matrix) CheckAperiodic() error {
	first := m.firstPossible()
	level := levels(m.rows, first)
	period := 0
	for s, row := range m.rows {
		if level[s] < 0 {
			continue
		}
		for _, e := range row {
			period = portable.GCD(period, level[s]+1-level[e.to])
		}
	}
	if period == 1 {
		return nil
	}
	return fmt.Errorf("%w: it comes back after multiples of %d steps only", ErrPeriodic, period)
}
