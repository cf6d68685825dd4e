package kir

import (
	"errors"
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
	picky  SplitScorer // the scorer, if it is one
}

// NewState returns the state of a chain that is at x, which becomes the
// state's own. x must be in the target's space.
func NewState(t *Target, x *Composition) (*State, error) {
	if t == nil || x == nil {
		return nil, errors.New("a state is made of a target and a composition")
	}
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
		terms = append(terms, term{wish: &Wish{Name: rulesName, Property: r, Weight: 1}, scorer: r.Scorer(x)})
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
		picky, _ := scorer.(SplitScorer)
		terms = append(terms, term{w, scorer, picky})
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

// line returns Σ_k c_k·log y_k over the splits of (i, j), of which law says where
// there is mass. The pieces hold until the next call. There must be terms.
//
// A split that some property forbids is −Inf whatever the others say of it. What
// is no score, NaN or +Inf, comes through elsewhere; [State.weigh] finds it if it
// matters.
func (x *State) line(i, j int, law *splitLaw) (*Pieces, error) {
	s := int32(x.Composition.amounts[i] + x.Composition.amounts[j])
	for k, t := range x.terms {
		p := &x.one
		p.Reset()
		if t.picky != nil {
			t.picky.Splits(i, j, x.wanted(k, int(s), law), p)
		} else {
			t.scorer.Line(i, j, p)
		}
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

// wanted returns, as pieces of a line of sum s, where the answer of the term
// numbered k matters: not −Inf where the law has mass and no earlier term
// forbids.
func (x *State) wanted(k, s int, law *splitLaw) *Pieces {
	w, acc := &x.next, &x.acc
	w.Reset()
	if k == 0 {
		acc.Reset()
		acc.Add(0, 0)
	}
	value := func(v, weight float64) float64 {
		if weight == 0 {
			return negInf
		}
		return v
	}
	w.Add(0, value(acc.values[0], law.zero))
	for q, v := range acc.values {
		if from, to := innerSplits(acc, q, s); from < to {
			w.Add(from, value(v, law.inner))
		}
	}
	w.Add(s, value(acc.values[len(acc.values)-1], law.full))
	return w
}

// checkPieces verifies what a scorer made of a line of sum s.
func (x *State) checkPieces(t term, p *Pieces, s int32, i, j int) error {
	last := int32(-1)
	for q, start := range p.starts {
		if start <= last || (q == 0 && start != 0) || start > s {
			return fmt.Errorf("property %q gave the line of %d and %d at %v a piece %d that starts at split %d after %d, of %d", t.wish.Name, i, j, x.Composition, q, start, last, s)
		}
		last = start
	}
	if last < 0 {
		return fmt.Errorf("property %q gave the line of %d and %d at %v no pieces", t.wish.Name, i, j, x.Composition)
	}
	return nil
}

// badSplit says which property has no score at split k of (i, j), which the law
// and the other properties allow.
func (x *State) badSplit(i, j, k int) error {
	y := x.Composition.Clone()
	y.move(i, j, k)
	if _, err := sumScores(newTerms(x.target, y), y, true); err != nil {
		return err
	}
	for _, t := range x.terms { // a scorer that says so of the line alone
		p := &x.one
		p.Reset()
		t.scorer.Line(i, j, p)
		q := len(p.starts) - 1
		for int(p.starts[q]) > k {
			q--
		}
		if score := t.wish.Weight * p.values[q]; badScore(score) {
			return newScoreError(t.wish.Name, t.scorer, score, y)
		}
	}
	return fmt.Errorf("the properties together have no score at %v on the line of %d and %d, and by itself each has one", y, i, j)
}

// addPieces makes dst the sum of a and b, −Inf where either is.
func addPieces(dst, a, b *Pieces) {
	dst.Reset()
	p, q := 0, 0
	for start := int32(0); ; {
		sum := a.values[p] + b.values[q]
		if sum != sum && (a.values[p] == negInf || b.values[q] == negInf) {
			sum = negInf // what the other is, if it is no score, does not matter
		}
		dst.starts = append(dst.starts, start)
		dst.values = append(dst.values, sum)
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

// A splitLaw is what the splits of a line of (i, j) weigh before their scores do:
// the ends k = 0 and k = s, which use one ingredient less, and each between. The
// weight of those between is inner·e^shift, where the two sizes lie further apart
// than the exponent of a float64 goes; else shift is 0.
type splitLaw struct {
	zero, full, inner float64
	shift             float64
}

// weighedLine is what [State.weigh] finds besides the weights.
type weighedLine struct {
	here float64 // the weight of the split that is left out
	rest float64 // the sum of all other weights
	at   int     // the piece of the split left out, −1 if it is an end or there is none
}

// weigh fills x.weights with what there is to choose among on the line of (i, j):
// k = 0, k = s, and what each piece holds between them, each in proportion to
// exp(β·value) times what the law gives it. The split omit, unless it is −1, is
// left out.
//
// The scale is that of the greatest value to which the law gives weight, so that
// one weight at least is of the order of its factor. Where the law gives none the
// value is not looked at: it may be anything, and far above all others.
func (x *State) weigh(p *Pieces, i, j int, law *splitLaw, omit int) (weighedLine, error) {
	n := len(p.starts)
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	first, last := p.values[0], p.values[n-1]
	topEnd, topInner := negInf, negInf
	if law.zero > 0 {
		if badScore(first) {
			return weighedLine{}, x.badSplit(i, j, 0)
		}
		topEnd = first
	}
	if law.full > 0 && !(last <= topEnd) {
		if badScore(last) {
			return weighedLine{}, x.badSplit(i, j, s)
		}
		topEnd = last
	}
	if law.inner > 0 {
		for q, v := range p.values {
			if v <= topInner {
				continue
			}
			if from, to := innerSplits(p, q, s); from < to {
				if badScore(v) {
					return weighedLine{}, x.badSplit(i, j, from)
				}
				topInner = v
			}
		}
	}
	top, endShift, innerShift := max(topEnd, topInner), 0.0, 0.0
	if top == negInf {
		return weighedLine{}, fmt.Errorf("the line of %d and %d at %v has nothing that is allowed, not even where it is: what a scorer says of the line differs from what it says of the point", i, j, x.Composition)
	}
	if law.shift != 0 {
		if x.beta*(topInner-topEnd)+law.shift > 0 {
			top, endShift = topInner, -law.shift
		} else {
			top, innerShift = topEnd, law.shift
		}
	}

	if cap(x.weights) < n+2 {
		x.weights = make([]float64, 2*(n+2))
	}
	w := x.weights[:n+2]
	x.weights = w
	line := weighedLine{at: -1}
	w[0], w[1] = 0, 0
	if law.zero > 0 {
		w[0] = law.zero * math.Exp(x.beta*(first-top)+endShift)
	}
	if law.full > 0 {
		w[1] = law.full * math.Exp(x.beta*(last-top)+endShift)
	}
	switch omit {
	case 0:
		line.here, w[0] = w[0], 0
	case s:
		line.here, w[1] = w[1], 0
	}
	line.rest = w[0] + w[1]
	for q, v := range p.values {
		from, to := innerSplits(p, q, s)
		if from >= to || law.inner == 0 {
			w[q+2] = 0
			continue
		}
		each := law.inner * math.Exp(x.beta*(v-top)+innerShift)
		if from <= omit && omit < to {
			line.at, line.here = q, each
			to--
		}
		w[q+2] = each * float64(to-from)
		line.rest += w[q+2]
	}
	return line, nil
}

// drawWeighed draws one of the choices that [State.weigh] has weighed: a split,
// its value and its weight.
func (x *State) drawWeighed(r *Rand, p *Pieces, s int, line *weighedLine, omit int) (k int, value, weight float64) {
	w := x.weights
	choice := r.Categorical(w)
	switch choice {
	case 0:
		return 0, p.values[0], w[0]
	case 1:
		return s, p.values[len(p.values)-1], w[1]
	}
	q := choice - 2
	from, to := innerSplits(p, q, s)
	if q == line.at {
		to--
	}
	k = from
	if to-from > 1 {
		k += r.Intn(to - from)
	}
	if q == line.at && k >= omit {
		k++
	}
	return k, p.values[q], w[choice] / float64(to-from)
}

// drawSplit draws a split of the line of (i, j) in proportion to exp(β·value)
// times what the law gives it, and returns it with its value. The split that the
// chain stands on is among the pieces, so something has weight.
func (x *State) drawSplit(r *Rand, p *Pieces, i, j int, law *splitLaw) (k int, value float64, err error) {
	line, err := x.weigh(p, i, j, law, -1)
	if err != nil {
		return 0, 0, err
	}
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	k, value, _ = x.drawWeighed(r, p, s, &line, -1)
	return k, value, nil
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
func (x *State) rescore() (err error) {
	if x.sum, err = sumScores(x.terms, x.Composition, false); err != nil {
		x.sum = math.NaN() // no kernel goes on from here
	}
	return err
}

// sumScores returns Σ_k c_k·log y_k of the scorers of c, which it resets first if
// it is told to. At a term of −Inf it leaves off, and the rest are not reset: what
// they say of what is forbidden does not matter, not even if it is no score.
func sumScores(terms []term, c *Composition, reset bool) (float64, error) {
	sum := 0.0
	var bad *ScoreError
	for _, t := range terms {
		if reset {
			t.scorer.Reset()
		}
		score := t.wish.Weight * t.scorer.LogScore()
		if score == negInf {
			return negInf, nil
		}
		if sum += score; badScore(sum) && bad == nil {
			bad = newScoreError(t.wish.Name, t.scorer, score, c)
		}
	}
	if bad != nil {
		return 0, bad
	}
	return sum, nil
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

// scoreOther returns Σ_k c_k·log y_k of the spare composition. Where that is −Inf
// its scorers are not up to date.
func (x *State) scoreOther() (float64, error) {
	y := x.spare
	if y.terms == nil && len(x.terms) > 0 {
		y.terms = newTerms(x.target, y.composition)
	}
	sum, err := sumScores(y.terms, y.composition, true)
	if err == nil {
		x.finds.see(y.composition, sum)
	}
	return sum, err
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
