package kir

import (
	"fmt"
	"math"
)

// A State is where a chain is: a composition together with what its target
// makes of it. Kernels move it; a State belongs to one goroutine.
type State struct {
	Composition *Composition // read it, but let kernels change and replace it

	target *Target
	terms  []term
	sum    float64 // Σ c_k·log y_k at the composition

	beta  float64 // the power to which the properties are raised, 1 but for tempering
	exact exactScratch

	// Scratch for lines: the pieces of one property, of the sum so far and of
	// the next sum, and the weights of what a draw chooses among.
	one, acc, next Pieces
	weights        []float64
	undo           []undo
	was            []Part

	spare  *spare
	memory *memory // what warm-up has learnt; nil if nothing
	finds  *finds  // what was found on the way; nil if nothing is looked for
}

// A spare is a second composition with scorers of its own, where whole
// candidates are drawn. A candidate that is accepted changes places with the
// composition of the state.
type spare struct {
	composition *Composition
	terms       []term // nil until it is scored
}

// undo is a move to take back: the units that ingredient i had.
type undo struct{ i, j, k int32 }

// term is a wish of positive weight and its scorer for this state.
type term struct {
	wish   *Wish
	scorer Scorer
}

// NewState returns the state of a chain that is at x, which becomes the
// state's own. x must be in the target's space.
func NewState(t *Target, x *Composition) (*State, error) {
	if err := t.space.Contains(x); err != nil {
		return nil, err
	}
	s := newState(t, x)
	return s, s.Refresh()
}

// newState leaves the scores to a later Refresh.
func newState(t *Target, x *Composition) *State {
	s := &State{Composition: x, target: t, beta: 1, terms: newTerms(t, x)}
	if r := t.space.rules; r != nil {
		s.exact.sampler = r.sampler.Clone()
	}
	return s
}

// newTerms returns what scores x, not reset yet.
func newTerms(t *Target, x *Composition) []term {
	var terms []term
	if r := t.space.rules; r != nil {
		terms = append(terms, term{&Wish{Name: rulesName, Property: r, Weight: 1}, r.Scorer(x)})
	}
	for k := range t.wishes {
		w := &t.wishes[k]
		if w.Weight == 0 {
			continue
		}
		var scorer Scorer
		if p, ok := w.Property.(LineProperty); ok {
			scorer = p.Scorer(x)
		} else {
			scorer = &pointwise{property: w.Property, x: x, copy: newComposition(x.N())}
		}
		terms = append(terms, term{w, scorer})
	}
	return terms
}

// Target returns the target that the state is scored by.
func (x *State) Target() *Target { return x.target }

// Refresh scores the composition anew, as if nothing had been kept up to date
// along the way. Where a property sums floating-point numbers move by move,
// this is what makes a run that was saved and resumed equal one that was not.
func (x *State) Refresh() error {
	for _, t := range x.terms {
		t.scorer.Reset()
	}
	return x.rescore()
}

// LogScore returns Σ_k c_k·log y_k(x).
func (x *State) LogScore() float64 { return x.sum }

// LogDensity returns the log of the unnormalised target:
// log(y_sparse(n)/|X_n|) + Σ_k c_k·log y_k(x).
func (x *State) LogDensity() float64 {
	return x.target.LogLaw(x.Composition.Used()) + x.sum
}

// AppendScores appends y_k(x) of every wish, in the target's order, to dst. The
// properties of weight 0 have not been checked: see [State.CheckScores].
func (x *State) AppendScores(dst []float64) []float64 {
	k := 0
	if x.target.space.rules != nil {
		k = 1 // the first term is that of the rules
	}
	for _, w := range x.target.wishes {
		if w.Weight == 0 {
			dst = append(dst, math.Exp(w.Property.LogScore(x.Composition)))
			continue
		}
		dst = append(dst, math.Exp(x.terms[k].scorer.LogScore()))
		k++
	}
	return dst
}

// CheckScores returns a [*ScoreError] if what [State.AppendScores] appended
// holds NaN or +Inf, which are no scores.
func (x *State) CheckScores(scores []float64) error {
	for k, y := range scores {
		if badScore(y) {
			w := &x.target.wishes[k]
			return newScoreError(w.Name, w.Property, math.Log(y), x.Composition)
		}
	}
	return nil
}

// ready says, as an error, why a kernel of a target cannot move x from where it
// is. It is asked once for each call, as bad use does not begin half-way.
func (x *State) ready(kernel string, t *Target) error {
	c := x.Composition
	if x.target != t {
		return fmt.Errorf("%s: the state %v belongs to another target", kernel, c)
	}
	if len(c.amounts) != t.space.ingredients || c.total != t.space.total {
		return fmt.Errorf("%s: the state has left the space: %w", kernel, t.space.Contains(c))
	}
	if t.LogLaw(c.Used()) == negInf || x.beta > 0 && !(x.sum > negInf) {
		return fmt.Errorf("%s: the target gives the state %v no density, and from there nothing follows", kernel, c)
	}
	return nil
}

// scoreError describes a bad score at the current composition.
func (x *State) scoreError(t term, score float64) *ScoreError {
	return newScoreError(t.wish.Name, t.scorer, score, x.Composition)
}

// line returns Σ_k c_k·log y_k over the splits of (i, j). The pieces hold
// until the next call. There must be terms.
func (x *State) line(i, j int) (*Pieces, error) {
	s := int32(x.Composition.amounts[i] + x.Composition.amounts[j])
	for k, t := range x.terms {
		p := &x.one
		p.Reset()
		t.scorer.Line(i, j, p)
		for q := range p.values {
			p.values[q] *= t.wish.Weight
		}
		if err := x.checkPieces(t, p, s, i, j); err != nil {
			return nil, err
		}
		if k == 0 {
			x.one, x.acc = x.acc, x.one
			continue
		}
		addPieces(&x.next, &x.acc, p)
		x.acc, x.next = x.next, x.acc
	}
	return &x.acc, nil
}

// checkPieces verifies what a scorer made of a line of sum s, and its weight of
// the values.
func (x *State) checkPieces(t term, p *Pieces, s int32, i, j int) error {
	last := int32(-1)
	for q, start := range p.starts {
		if start <= last || (q == 0 && start != 0) || start > s {
			return fmt.Errorf("property %q gave the line of %d and %d at %v a piece %d that starts at split %d after %d, of %d", t.wish.Name, i, j, x.Composition, q, start, last, s)
		}
		last = start
		if badScore(p.values[q]) {
			y := x.Composition.Clone()
			y.move(i, j, int(start))
			e := x.scoreError(t, p.values[q])
			e.at(y)
			return e
		}
	}
	if last < 0 {
		return fmt.Errorf("property %q gave the line of %d and %d at %v no pieces", t.wish.Name, i, j, x.Composition)
	}
	return nil
}

// addPieces makes dst the sum of a and b.
func addPieces(dst, a, b *Pieces) {
	dst.Reset()
	p, q := 0, 0
	for start := int32(0); ; {
		dst.starts = append(dst.starts, start)
		dst.values = append(dst.values, a.values[p]+b.values[q])
		nextA, nextB := int32(math.MaxInt32), int32(math.MaxInt32)
		if p+1 < len(a.starts) {
			nextA = a.starts[p+1]
		}
		if q+1 < len(b.starts) {
			nextB = b.starts[q+1]
		}
		start = min(nextA, nextB)
		if start == math.MaxInt32 {
			return
		}
		if nextA == start {
			p++
		}
		if nextB == start {
			q++
		}
	}
}

// drawSplit draws a split of a line of sum s ≥ 1 in proportion to
// exp(beta·value) times the weight end at the two ends and inner between, and
// returns it with its value. The split that the chain stands on is among the
// pieces, so something has weight.
func (x *State) drawSplit(r *Rand, p *Pieces, s int, end, inner float64) (k int, value float64) {
	// Choices: the two ends, then what each piece holds between them.
	n := len(p.starts)
	top := math.Inf(-1)
	for q, v := range p.values {
		from, to := innerSplits(p, q, s)
		if v > top && (inner > 0 && from < to || end > 0 && (q == 0 || q == n-1)) {
			top = v
		}
	}
	if cap(x.weights) < n+2 {
		x.weights = make([]float64, 2*(n+2))
	}
	w := x.weights[:n+2]
	w[0] = end * math.Exp(x.beta*(p.values[0]-top))
	w[1] = end * math.Exp(x.beta*(p.values[n-1]-top))
	for q := range n {
		from, to := innerSplits(p, q, s)
		if from < to && inner > 0 {
			w[q+2] = inner * math.Exp(x.beta*(p.values[q]-top)) * float64(to-from)
		} else {
			w[q+2] = 0
		}
	}
	switch c := r.Categorical(w); c {
	case 0:
		return 0, p.values[0]
	case 1:
		return s, p.values[n-1]
	default:
		from, to := innerSplits(p, c-2, s)
		if to-from == 1 {
			return from, p.values[c-2]
		}
		return from + r.Intn(to-from), p.values[c-2]
	}
}

// innerSplits returns the splits from ≤ k < to of piece q that are no end of
// a line of sum s.
func innerSplits(p *Pieces, q, s int) (from, to int) {
	from, to = max(int(p.starts[q]), 1), s
	if q+1 < len(p.starts) {
		to = min(int(p.starts[q+1]), s)
	}
	return from, to
}

// moveTo moves along the line of (i, j) to split k, at which the weighted log
// scores sum to value.
func (x *State) moveTo(i, j, k int, value float64) {
	x.Composition.move(i, j, k)
	x.sum = value
	for _, t := range x.terms {
		t.scorer.Moved(i, j)
	}
}

// moveUnscored is moveTo where the value is not known yet; rescore finds it.
func (x *State) moveUnscored(i, j, k int) {
	x.Composition.move(i, j, k)
	for _, t := range x.terms {
		t.scorer.Moved(i, j)
	}
}

// rescore sums the scores that the scorers have kept up to date.
func (x *State) rescore() error {
	x.sum = 0
	for _, t := range x.terms {
		score := t.wish.Weight * t.scorer.LogScore()
		if badScore(score) {
			return x.scoreError(t, score)
		}
		x.sum += score
	}
	return nil
}

// replace makes y the composition, at which the weighted log scores sum to
// value.
func (x *State) replace(y *Composition, value float64) {
	x.Composition.CopyFrom(y)
	x.sum = value
	for _, t := range x.terms {
		t.scorer.Reset()
	}
}

// other returns the spare composition, which holds anything.
func (x *State) other() *spare {
	if x.spare == nil {
		x.spare = &spare{composition: newComposition(x.Composition.N())}
	}
	return x.spare
}

// candidateCopy returns the composition of [State.other] for candidates that
// are scored by themselves.
func (x *State) candidateCopy() *Composition { return x.other().composition }

// scoreOther returns Σ_k c_k·log y_k of the spare composition. It leaves off
// at a term of −Inf: the scorers of the rest are then not up to date.
func (x *State) scoreOther() (float64, error) {
	y := x.spare
	if y.terms == nil && len(x.terms) > 0 {
		y.terms = newTerms(x.target, y.composition)
	}
	sum := 0.0
	for _, t := range y.terms {
		t.scorer.Reset()
		score := t.wish.Weight * t.scorer.LogScore()
		if badScore(score) {
			e := x.scoreError(t, score)
			e.at(y.composition)
			return 0, e
		}
		if sum += score; sum == negInf {
			return sum, nil
		}
	}
	x.finds.see(y.composition, sum)
	return sum, nil
}

// takeOther makes the spare composition the state's, which becomes the spare
// one. Its weighted log scores sum to value.
func (x *State) takeOther(value float64) outcome {
	y := x.spare
	if y.composition.Equal(x.Composition) {
		return stayed
	}
	if len(x.terms) == 0 {
		*x.Composition, *y.composition = *y.composition, *x.Composition
		return updated
	}
	// Scorers follow the composition that they were made for.
	x.Composition, y.composition = y.composition, x.Composition
	x.terms, y.terms = y.terms, x.terms
	x.sum = value
	return updated
}
