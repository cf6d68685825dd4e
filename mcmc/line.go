package mcmc

import (
	"fmt"

	"kir/internal/portable"
)

// line returns Σ_k c_k·log y_k over the splits of (i, j); law gives their mass. The pieces are
// valid until the next call. There must be terms.
//
// A split that some property forbids is −Inf, whatever the other properties return. An invalid
// score, NaN or +Inf, is passed on elsewhere; [State.weigh] reports it if it matters.
func (x *State) line(i, j int, law *splitLaw) (*Pieces, error) {
	return x.lineOf(i, j, law, true, -1)
}

// lineOf is line with or without the terms that are curves. It returns nil where the rules allow no
// split but omit.
func (x *State) lineOf(i, j int, law *splitLaw, curves bool, omit int) (*Pieces, error) {
	s := int32(x.Composition.amounts[i] + x.Composition.amounts[j])
	first := true
	for k, t := range x.terms {
		if t.curveScorer != nil && !curves {
			continue
		}
		p := &x.termPieces
		p.Reset()
		if t.splitScorer != nil {
			t.splitScorer.Splits(i, j, x.relevantSplits(k, int(s), law), p)
		} else {
			t.scorer.Line(i, j, p)
		}
		for q := range p.values {
			p.values[q] = float64(p.values[q] * t.objective.Weight)
		}
		if err := x.checkPieces(t, p, s, i, j); err != nil {
			return nil, err
		}
		if first {
			if k == 0 && omit >= 0 && x.target.space.rules != nil && p.isOnlySplit(omit, int(s)) {
				return nil, nil
			}
			x.termPieces, x.sumPieces, first = x.sumPieces, x.termPieces, false
			continue
		}
		addPieces(&x.nextSum, &x.sumPieces, p)
		x.sumPieces, x.nextSum = x.nextSum, x.sumPieces
	}
	if first {
		x.sumPieces.Reset()
		x.sumPieces.Add(0, 0)
	}
	return &x.sumPieces, nil
}

// isOnlySplit reports whether split k of a line of sum s is the only one that is not −Inf.
func (p *Pieces) isOnlySplit(k, s int) bool {
	for q, v := range p.values {
		end := s + 1
		if q+1 < len(p.starts) {
			end = int(p.starts[q+1])
		}
		if v > negInf && (int(p.starts[q]) != k || end != k+1) {
			return false
		}
	}
	return true
}

// relevantSplits returns pieces over a line of sum s that tell term k where its score matters: they are not
// −Inf where the law has mass and no earlier term forbids the split.
func (x *State) relevantSplits(k, s int, law *splitLaw) *Pieces {
	w, acc := &x.nextSum, &x.sumPieces
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

// checkPieces verifies the pieces that a scorer returned for a line of sum s.
func (x *State) checkPieces(t term, p *Pieces, s int32, i, j int) error {
	last := int32(-1)
	for q, start := range p.starts {
		if start <= last || (q == 0 && start != 0) || start > s {
			return fmt.Errorf("property %q gave the line of %d and %d at %v a piece %d that starts at split %d after %d, of %d", t.objective.Name, i, j, x.Composition, q, start, last, s)
		}
		last = start
	}
	if last < 0 {
		return fmt.Errorf("property %q gave the line of %d and %d at %v no pieces", t.objective.Name, i, j, x.Composition)
	}
	return nil
}

// badSplit returns an error that names the property without a valid score at split k of (i, j),
// which the law and the other properties allow.
func (x *State) badSplit(i, j, k int) error {
	y := x.Composition.Clone()
	y.move(i, j, k)
	if _, err := sumScores(newTerms(x.target, y), y, true); err != nil {
		return err
	}
	for _, t := range x.terms { // look for a scorer that returns an invalid score from Line alone
		p := &x.termPieces
		p.Reset()
		t.scorer.Line(i, j, p)
		q := len(p.starts) - 1
		for int(p.starts[q]) > k {
			q--
		}
		if score := float64(t.objective.Weight * p.values[q]); badScore(score) {
			return newScoreError(t.objective.Name, t.scorer, score, y)
		}
	}
	return fmt.Errorf("the properties together have no score at %v on the line of %d and %d, and by itself each has one", y, i, j)
}

// weighedLine holds the results of [State.weigh] other than the weights.
type weighedLine struct {
	omittedWeight float64 // weight of the omitted split
	otherWeight   float64 // sum of the weights of all other splits
	omittedPiece  int     // index of the piece with the omitted split; −1 for an end or no omission
}

// greatestValues returns the greatest value of an end of the line of (i, j), and of the splits between,
// among those to which the law gives weight. It returns −Inf if there is none, and an error for an
// invalid score.
func (x *State) greatestValues(p *Pieces, i, j int, law *splitLaw) (end, inner float64, err error) {
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	first, last := p.values[0], p.values[len(p.values)-1]
	end, inner = negInf, negInf
	if law.zero > 0 {
		if badScore(first) {
			return 0, 0, x.badSplit(i, j, 0)
		}
		end = first
	}
	if law.full > 0 && !(last <= end) {
		if badScore(last) {
			return 0, 0, x.badSplit(i, j, s)
		}
		end = last
	}
	if law.inner > 0 {
		for q, v := range p.values {
			if v <= inner {
				continue
			}
			if from, to := innerSplits(p, q, s); from < to {
				if badScore(v) {
					return 0, 0, x.badSplit(i, j, from)
				}
				inner = v
			}
		}
	}
	return end, inner, nil
}

// weigh fills x.weights with the choices on the line of (i, j): k = 0, k = s, and the inner splits
// of each piece. Each weight is proportional to exp(β·value) times the law's mass. The split omit
// is left out, unless it is −1.
//
// The scale is that of the greatest value to which the law gives weight, so at least one weight is
// of the order of its factor. weigh ignores values where the law has no mass: they may be anything,
// even far above all others.
func (x *State) weigh(p *Pieces, i, j int, law *splitLaw, omit int) (weighedLine, error) {
	topEnd, topInner, err := x.greatestValues(p, i, j, law)
	if err != nil {
		return weighedLine{}, err
	}
	if topEnd == negInf && topInner == negInf {
		return weighedLine{}, fmt.Errorf("the line of %d and %d at %v has nothing that is allowed, not even where it is: what a scorer says of the line differs from what it says of the point", i, j, x.Composition)
	}
	return x.weighScaled(p, x.Composition.Amount(i)+x.Composition.Amount(j), law, omit, topEnd, topInner), nil
}

// weighScaled is weigh for the splits 0..s, given the greatest value of an end and of the splits
// between.
func (x *State) weighScaled(p *Pieces, s int, law *splitLaw, omit int, topEnd, topInner float64) weighedLine {
	n := len(p.starts)
	first, last := p.values[0], p.values[n-1]
	top, endShift, innerShift := max(topEnd, topInner), 0.0, 0.0
	if law.shift != 0 {
		if float64(x.beta*(topInner-topEnd))+law.shift > 0 {
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
	line := weighedLine{omittedPiece: -1}
	w[0], w[1] = 0, 0
	if law.zero > 0 {
		w[0] = float64(law.zero * portable.Exp(float64(x.beta*(first-top))+endShift))
	}
	if law.full > 0 {
		w[1] = float64(law.full * portable.Exp(float64(x.beta*(last-top))+endShift))
	}
	switch omit {
	case 0:
		line.omittedWeight, w[0] = w[0], 0
	case s:
		line.omittedWeight, w[1] = w[1], 0
	}
	line.otherWeight = w[0] + w[1]
	for q, v := range p.values {
		from, to := innerSplits(p, q, s)
		if from >= to || law.inner == 0 {
			w[q+2] = 0
			continue
		}
		each := float64(law.inner * portable.Exp(float64(x.beta*(v-top))+innerShift))
		if from <= omit && omit < to {
			line.omittedPiece, line.omittedWeight = q, each
			to--
		}
		w[q+2] = float64(each * float64(to-from))
		line.otherWeight += w[q+2]
	}
	return line
}

// drawWeighed draws one of the choices weighed by [State.weigh]. It returns the split, its value
// and its weight.
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
	if q == line.omittedPiece {
		to--
	}
	k = from
	if to-from > 1 {
		k += r.Intn(to - from)
	}
	if q == line.omittedPiece && k >= omit {
		k++
	}
	return k, p.values[q], w[choice] / float64(to-from)
}
