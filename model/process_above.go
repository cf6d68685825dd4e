package model

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/portable"
)

// boundInBox returns an upper bound of the scores of all compositions in a box. In the box, each
// ingredient i has from lo[i] to hi[i] units, and at most used ingredients have a positive amount.
// The parameter b is working memory.
func (s *ProcessScore) boundInBox(b *meanBound, lo, hi []int32, used int) float64 {
	b.setBox(lo, hi, used)
	switch w := s.want; {
	case w.direction > 0:
		return s.scoreOfMean(b.boundMean(1))
	case w.direction < 0:
		return s.scoreOfMean(-b.boundMean(-1))
	case math.IsInf(w.high, 1):
		return min(s.scoreOfMean(b.boundMean(1))+0x1p-40, 1)
	case math.IsInf(w.low, -1):
		return min(s.scoreOfMean(-b.boundMean(-1))+0x1p-40, 1)
	default:
		// The share of a normal law within bounds grows as its mean approaches their middle.
		middle := float64(w.low/2) + float64(w.high/2)
		return min(s.scoreOfMean(min(max(middle, -b.boundMean(-1)), b.boundMean(1)))+0x1p-40, 1)
	}
}

// A meanBound computes upper bounds of the mean of a process over boxes of compositions. The mean
// is Σ α·κ(d²), a sum over the compositions of the data, where d is the distance to the
// composition.
//
// In a box, the mean is at most its first- or second-order expansion about the middle of the box,
// plus a bound of the remainder, which [roughness] gives. This upper bound is a sum of one term for
// each ingredient. A term depends only on the step to which the ingredient's amount is rounded, and
// is maximized by trying all steps. Two constraints connect the ingredients. The amounts sum to the
// total, which a Lagrange multiplier enforces: a charge for each unit. And the number of used
// ingredients is limited.
type meanBound struct {
	process     *Process   // the process whose mean is bounded
	roughness   *roughness // bounds of the error of expanding the mean about the middle
	weights     []float64  // weight of each ingredient: a difference of n steps contributes n²·weight to d²
	maxUsed     int        // greatest number of ingredients that a composition in the box uses
	nanoseconds int64      // estimate of the computing time, in nanoseconds

	lo                 []int32   // least amount of each ingredient in the box, in units
	hi                 []int32   // greatest amount of each ingredient in the box, in units
	fromStep           []int32   // least step to which each ingredient's amount in the box is rounded
	toStep             []int32   // greatest step to which each ingredient's amount in the box is rounded
	middleSteps        []float64 // step of each ingredient in the middle of the box, not rounded
	firstDerivatives   []float64 // derivative of the mean at the middle with respect to each ingredient's step
	openIngredients    []int     // the ingredients whose amounts in the box are rounded to more than one step
	maxSquaredDistance float64   // upper bound of the squared distance of compositions in the box from the middle

	squaredDistances []float64 // squared distance of each composition of the data from the middle of the box
	slopes           []float64 // derivative of each composition's term α·κ(d²) of the mean with respect to d²
	curvatures       []float64 // 4 times the second derivative of each composition's term α·κ(d²) with respect to d²
	// weightedOffsets[k][r] is the difference in steps between the middle and composition r of the
	// data, for open ingredient k, times the weight of the ingredient.
	weightedOffsets [][]float64
	middleValue     float64 // Σ α·κ(d²) at the middle: the mean of the process for standardised labels
	errorBound      float64 // upper bound of the numerical error of middleValue and of the expansions
	// secondDerivatives holds the matrix of the second derivatives for all pairs of open
	// ingredients. It is empty if they are not computed.
	secondDerivatives     []float64
	scratch               []float64 // scratch memory of computeSecondDerivatives
	secondDerivativeError float64   // upper bound of the numerical error of the second derivatives, per squared distance

	terms           []boxTerm // the terms, one for each ingredient, whose sum is to be bounded
	useGains        []useGain // scratch memory: what the use of each optional ingredient adds to the sum of terms
	topIngredient   int       // the ingredient along which the box is best divided; −1 if there is none
	topContribution float64   // contribution of topIngredient to the bound
	topMayBeUnused  bool      // whether some composition in the box does not use topIngredient
}

// A boxTerm is the contribution of one ingredient to a bound: y·(linear + quadratic·y), where y is
// the step of the ingredient minus middle.
type boxTerm struct {
	linear, quadratic, middle float64
	ingredient                int
}

// newMeanBound returns a [meanBound] for the mean of the process.
func (p *Process) newMeanBound() *meanBound {
	n, k := len(p.compositions), len(p.roundings)
	b := &meanBound{
		process: p, roughness: p.roughness(), squaredDistances: make([]float64, n), slopes: make([]float64, n), curvatures: make([]float64, n), scratch: make([]float64, n),
		fromStep: make([]int32, k), toStep: make([]int32, k), firstDerivatives: make([]float64, k), middleSteps: make([]float64, k),
	}
	for _, a := range p.roundings {
		b.weights = append(b.weights, math.Ldexp(float64(a.weight), -distanceBits))
	}
	return b
}

// setBox prepares the bound for a box. In the box, each ingredient i has from lo[i] to hi[i] units,
// and at most used ingredients have a positive amount.
func (b *meanBound) setBox(lo, hi []int32, used int) {
	p := b.process
	b.lo, b.hi, b.maxUsed = lo, hi, used
	b.openIngredients = b.openIngredients[:0]
	for r, d := range p.distancesFromEmpty {
		b.squaredDistances[r] = float64(d)
	}
	for i, a := range p.roundings {
		from, to := a.roundToStep(lo[i], p.totalAmount), int32(0)
		if to = from; hi[i] != lo[i] {
			to = a.roundToStep(hi[i], p.totalAmount)
		}
		if b.fromStep[i], b.toStep[i] = from, to; from != to {
			b.openIngredients = append(b.openIngredients, i)
		}
	}
	b.setMiddle()
	alike := 0.0 // the part of d² that does not depend on the known composition
	for i, a := range p.roundings {
		middle := b.middleSteps[i]
		if middle == 0 {
			continue
		}
		weight := float64(a.weight)
		alike += float64(weight * float64(middle*middle))
		column := p.ingredientSteps[i]
		if column == nil {
			continue
		}
		slope := float64(2 * float64(weight*middle))
		square := b.squaredDistances[:len(column)]
		for r, q := range column {
			square[r] -= float64(slope * float64(q))
		}
		b.nanoseconds += int64(len(column))
	}
	for r := range b.squaredDistances {
		b.squaredDistances[r] += alike
	}
	b.nanoseconds += int64(20*len(p.roundings) + len(b.squaredDistances))
	b.expandAtMiddle()
}

// setMiddle sets the middle of the box. In the middle, the step of each ingredient is at the same
// fraction of the way from its least to its greatest step. The fraction is one half, or less if the
// amounts would otherwise sum to more than the total.
func (b *meanBound) setMiddle() {
	p := b.process
	flat, slope, bend := -1.0, 0.0, 0.0 // Σ share − 1 as a polynomial of that fraction
	for i, a := range p.roundings {
		from, span := float64(b.fromStep[i])/float64(a.stepsPerUnit), float64(b.toStep[i]-b.fromStep[i])/float64(a.stepsPerUnit)
		flat += float64(from * from)
		slope += float64(2 * float64(from*span))
		bend += float64(span * span)
	}
	far := 0.5
	if flat+float64(slope/2)+float64(bend/4) > 0 && bend > 0 {
		far = (math.Sqrt(max(0, float64(slope*slope)-float64(4*float64(bend*flat)))) - slope) / float64(2*bend)
		far = min(max(far, 0), 0.5)
	}
	b.maxSquaredDistance = 0
	b.terms = b.terms[:0]
	for i := range p.roundings {
		span := float64(b.toStep[i] - b.fromStep[i])
		b.middleSteps[i] = float64(b.fromStep[i]) + float64(far*span)
		if b.lo[i] != b.hi[i] {
			w := b.weights[i]
			side := float64((1 - far) * span)
			b.maxSquaredDistance += float64(w * float64(side*side))
			b.terms = append(b.terms, boxTerm{0, w, b.middleSteps[i], i})
		}
	}
	if len(b.openIngredients) > 0 {
		most, _ := b.boundTermSum()
		b.maxSquaredDistance = min(b.maxSquaredDistance, max(most, 0)*(1+0x1p-40))
	}
}

// expandAtMiddle computes the mean and its derivatives at the middle of the box, with bounds of
// their numerical errors.
func (b *meanBound) expandAtMiddle() {
	p := b.process
	if len(b.openIngredients) == 0 {
		b.middleValue, b.errorBound = 0, 0
		for r, alpha := range p.alpha {
			b.middleValue += float64(alpha * p.kernelTable.correlationAt(int64(b.squaredDistances[r])))
		}
		b.errorBound = float64(b.roughness.sumAbsAlpha * 0x1p-42)
		b.nanoseconds += int64(2 * len(p.alpha))
		return
	}
	value, off, tilt, twist, all, sizes := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	const shift = distanceBits - tableBits
	knots := b.roughness.knots
	last := len(knots) - 1
	squares, slopes, curvatures := b.squaredDistances[:len(p.alpha)], b.slopes[:len(p.alpha)], b.curvatures[:len(p.alpha)]
	for r, alpha := range p.alpha {
		n := min(int(int64(squares[r])>>shift), last)
		e := &knots[n]
		part := 0.0
		if n < last {
			part = float64((squares[r] - float64(int64(n)<<shift)) * (1.0 / (1 << shift)))
		}
		slope := float64(alpha * (e.slope + float64(part*e.slopeChange)))
		size := math.Abs(alpha)
		value += float64(alpha * (e.value + float64(part*e.valueChange)))
		off += float64(size * e.valueError)
		tilt += float64(size * e.slopeError)
		sizes += math.Abs(slope)
		all += slope
		slopes[r] = slope
		curvatures[r] = float64(4 * float64(alpha*(e.curve+float64(part*e.curveChange))))
		twist += float64(size * e.curveError)
	}
	b.middleValue, b.secondDerivativeError = value, float64(2*twist)+float64(b.roughness.sumAbsAlpha*0x1p-38)
	rounding := b.roughness.sumAbsAlpha
	for k, i := range b.openIngredients {
		w := b.weights[i]
		middle := b.middleSteps[i]
		if len(b.weightedOffsets) == k {
			b.weightedOffsets = append(b.weightedOffsets, make([]float64, len(p.alpha)))
		}
		apart := b.weightedOffsets[k]
		if column := p.ingredientSteps[i]; column != nil {
			for r, q := range column {
				apart[r] = float64(w * (middle - float64(q)))
			}
		} else {
			for r := range apart {
				apart[r] = float64(w * middle)
			}
		}
		b.firstDerivatives[i] = float64(2 * portable.Dot(apart, b.slopes))
		rounding += float64(float64(sizes*float64(2*w)) * float64(float64(middle+float64(p.roundings[i].stepsPerUnit))*float64(b.toStep[i]-b.fromStep[i])))
	}
	b.nanoseconds += int64(2 * len(b.openIngredients) * len(p.alpha))
	b.secondDerivatives = b.secondDerivatives[:0]
	if len(b.openIngredients) <= maxSecondOrderIngredients && b.maxSquaredDistance < maxSecondOrderDistance {
		b.computeSecondDerivatives(all)
	}
	b.errorBound = off + float64(2*float64(tilt*math.Sqrt(b.maxSquaredDistance))) + b.roughness.mixtureError + float64(rounding*0x1p-40)
	b.nanoseconds += int64(4 * len(p.alpha))
}

// Limits on the use of second derivatives in [meanBound]. An open ingredient is one with more than
// one step in the box.
const (
	maxSecondOrderIngredients = 8   // greatest number of open ingredients for which second derivatives are computed
	maxSecondOrderDistance    = 0.6 // greatest squared distance from the middle with which second derivatives are computed
	secondOrderOnlyDistance   = 0.1 // squared distance from the middle up to which only second-order bounds are computed
)

// computeSecondDerivatives sets secondDerivatives to those of the mean at the middle of the box.
// The parameter slopeSum is the sum of the elements of b.slopes.
func (b *meanBound) computeSecondDerivatives(slopeSum float64) {
	n := len(b.openIngredients)
	b.secondDerivatives = slices.Grow(b.secondDerivatives, n*n)[:n*n]
	for k, i := range b.openIngredients {
		offsets := b.weightedOffsets[k]
		scratch, curvatures := b.scratch[:len(offsets)], b.curvatures[:len(offsets)]
		for r, v := range offsets {
			scratch[r] = float64(v * curvatures[r])
		}
		for l := range k + 1 {
			v := portable.Dot(b.scratch, b.weightedOffsets[l])
			b.secondDerivatives[k*n+l], b.secondDerivatives[l*n+k] = v, v
		}
		b.secondDerivatives[k*n+k] += float64(2 * float64(b.weights[i]*slopeSum))
	}
	b.nanoseconds += int64((n + 1) * (n + 2) / 2 * len(b.curvatures))
}

// boundMean returns an upper bound of sign·mean in the box, where sign is 1 or −1.
func (b *meanBound) boundMean(sign float64) float64 {
	p := b.process
	at := float64(sign * b.middleValue)
	sum := at + b.errorBound
	b.topIngredient, b.topContribution, b.topMayBeUnused = -1, 0, false
	if len(b.openIngredients) > 0 {
		above := math.Inf(1)
		if len(b.secondDerivatives) > 0 {
			above = b.expansionBound(sign)
		}
		if len(b.secondDerivatives) == 0 || b.maxSquaredDistance > secondOrderOnlyDistance {
			above = min(above, b.tangentBound(sign))
		}
		sum = min(sum+above, b.normBound(at))
	}
	return float64(sign*p.labelMean) + float64(p.labelSD*sum) + float64(math.Abs(p.labelMean)*0x1p-50)
}

// normBound returns an upper bound of sign·mean in the box from the norm F of the mean. Let m be
// sign·mean at the middle, which the parameter middleMean gives. Let t be the correlation of a
// composition with the middle. By the inequality of Cauchy and Schwarz, sign·mean at the
// composition is at most m·t + √(F² − m²)·√(1 − t²). The correlation is least at a corner of the
// box.
func (b *meanBound) normBound(middleMean float64) float64 {
	norm := b.roughness.meanNorm
	t, _ := b.process.options.Kernel.correlation(b.maxSquaredDistance)
	t = float64(t * (1 - 0x1p-40))
	middle := min(middleMean+b.errorBound, norm)
	if t <= middle/norm {
		return norm + b.roughness.mixtureError
	}
	side := float64(norm*norm) - float64(middle*middle)
	return float64(middle*t) + math.Sqrt(float64(side*(1-float64(t*t)))) + b.roughness.mixtureError
}

// tangentBound returns an upper bound, in the box, of the rise of sign·mean above its value at the
// middle. It uses the tangent at the middle.
func (b *meanBound) tangentBound(sign float64) float64 {
	best := math.Inf(1)
	square := b.maxSquaredDistance
	for range 2 {
		most, slope := b.roughness.tangentExcess(square)
		rest := most - float64(slope*square)
		b.terms = b.terms[:0]
		for i := range b.process.roundings {
			if b.lo[i] == b.hi[i] {
				continue
			}
			w := b.weights[i]
			b.terms = append(b.terms, boxTerm{float64(sign * b.firstDerivatives[i]), float64(slope * w), b.middleSteps[i], i})
			b.updateTop(i, b.firstDerivatives[i], float64(slope*w))
		}
		above, reached := b.boundTermSum()
		best = min(best, rest+above)
		if reached > 0.8*square || reached == 0 {
			break
		}
		square = reached
	}
	return best
}

// updateTop makes ingredient i the top ingredient if dividing the box along it is better than along
// the present one. The parameters first and second are the factors of the ingredient's [boxTerm].
// An ingredient that may be unused in the box goes before one that is always used. Among the
// others, a greater contribution goes first.
func (b *meanBound) updateTop(i int, first, second float64) {
	half := float64(float64(b.toStep[i]-b.fromStep[i]) / 2)
	weight := float64(half * (math.Abs(first) + float64(max(second, 0)*half)))
	if open := b.lo[i] == 0; b.topIngredient < 0 || open && !b.topMayBeUnused || open == b.topMayBeUnused && weight > b.topContribution {
		b.topIngredient, b.topContribution, b.topMayBeUnused = i, weight, open
	}
}

// expansionBound returns an upper bound, in the box, of the rise of sign·mean above its value at
// the middle. It uses the second-order expansion at the middle. The expansion has a mixed term
// 2·y·z for each two ingredients. Let s and t be the greatest values of |y| and |z| in the box. The
// mixed term is at most y²·t/s + z²·s/t, a sum of two terms for one ingredient each.
func (b *meanBound) expansionBound(sign float64) float64 {
	slope := b.roughness.secondOrderFactor(b.maxSquaredDistance) + b.secondDerivativeError
	b.terms = b.terms[:0]
	n := len(b.openIngredients)
	b.topIngredient, b.topContribution, b.topMayBeUnused = -1, 0, false
	for i := range b.process.roundings {
		if b.lo[i] == b.hi[i] {
			continue
		}
		term := boxTerm{ingredient: i, middle: b.middleSteps[i]}
		if k := slices.Index(b.openIngredients, i); k >= 0 {
			half := float64(b.toStep[i] - b.fromStep[i])
			second := float64(sign * b.secondDerivatives[k*n+k])
			for l, j := range b.openIngredients {
				if l != k {
					second += float64(math.Abs(b.secondDerivatives[k*n+l])*float64(b.toStep[j]-b.fromStep[j])) / half
				}
			}
			w := b.weights[i]
			term.linear, term.quadratic = float64(sign*b.firstDerivatives[i]), float64(second/2)+float64(slope*w)
			b.updateTop(i, term.linear, term.quadratic)
		}
		b.terms = append(b.terms, term)
	}
	above, _ := b.boundTermSum()
	return above
}

// maxTriedMultipliers is the greatest number of Lagrange multipliers (charges for each unit) that
// [meanBound.boundTermSum] tries after the first two.
const maxTriedMultipliers = 10

// boundTermSum returns an upper bound of the sum of the terms. It also returns the squared
// distance, from the middle, of a point at which the sum is near its maximum. Each Lagrange
// multiplier (a charge for each unit) gives an upper bound, which is a convex function of the
// multiplier. boundTermSum searches for the multiplier with the least bound.
func (b *meanBound) boundTermSum() (best, square float64) {
	top := 0.0
	for _, t := range b.terms {
		half := float64(float64(b.toStep[t.ingredient]-b.fromStep[t.ingredient]) / 2)
		top += float64(half * (math.Abs(t.linear) + float64(math.Abs(t.quadratic)*half)))
	}
	if top == 0 {
		return 0, 0
	}
	type place struct{ charge, sum, slope float64 }
	try := func(charge float64) place {
		sum, slope, far := b.boundWithMultiplier(charge)
		if square == 0 || sum < best {
			best, square = sum, far
		}
		return place{charge, sum, slope}
	}
	best = math.Inf(1)
	low := try(0)
	high := low
	switch {
	case low.slope < 0:
		high = try(float64(4 * top))
	case low.slope > 0:
		low = try(float64(-4 * top))
	}
	for range maxTriedMultipliers {
		if !(low.slope < 0 && high.slope > 0) {
			break
		}
		// The intersection of the two lines, below which the bound cannot lie.
		charge := (high.sum - low.sum + float64(low.slope*low.charge) - float64(high.slope*high.charge)) / (low.slope - high.slope)
		least := low.sum + float64(low.slope*(charge-low.charge))
		if !(low.charge < charge && charge < high.charge) || best-least < 0x1p-10*top {
			break
		}
		if at := try(charge); at.slope < 0 {
			low = at
		} else if at.slope > 0 {
			high = at
		} else {
			break
		}
	}
	return best, square
}

// boundWithMultiplier returns the upper bound of the sum of the terms for a Lagrange multiplier:
// each unit costs charge/total, and the cost of all units of the total is paid back. It also
// returns the derivative of the bound by charge, and the squared distance from the middle of the
// point that attains the bound.
func (b *meanBound) boundWithMultiplier(charge float64) (sum, slope, square float64) {
	p := b.process
	fixed := int64(0)
	left := b.maxUsed
	for i, lo := range b.lo {
		if lo > 0 {
			left--
		}
		if lo == b.hi[i] {
			fixed += int64(lo)
		}
	}
	unit := charge / float64(p.totalAmount)
	size := math.Abs(charge)
	units := fixed
	b.useGains = b.useGains[:0]
	for _, t := range b.terms {
		i := t.ingredient
		leastAmounts, lo, hi, toStep := p.roundings[i].leastAmounts, b.lo[i], b.hi[i], b.toStep[i]
		best, none, x, at, unused := math.Inf(-1), math.Inf(-1), int32(0), 0.0, 0.0
		for l := b.fromStep[i]; l <= toStep; l++ {
			by := float64(l) - t.middle
			v := float64(by * (t.linear + float64(t.quadratic*by)))
			// the amount of the step that costs least
			y := max(leastAmounts[l], lo)
			if charge < 0 {
				y = min(leastAmounts[l+1]-1, hi)
			}
			if l == 0 && lo == 0 {
				none, unused = v, by // the ingredient may be unused
			}
			if v -= float64(unit * float64(y)); v > best {
				best, x, at = v, y, by
			}
		}
		b.nanoseconds += int64(2 * (b.toStep[i] - b.fromStep[i] + 3))
		size += math.Abs(best)
		if none == math.Inf(-1) || best > none {
			sum += best
			units += int64(x)
			if none != math.Inf(-1) {
				b.useGains = append(b.useGains, useGain{best - none, x})
			}
		} else {
			sum += none
			at = unused
		}
		square += float64(float64(at*at) * b.weights[i])
	}
	if over := len(b.useGains) - max(left, 0); over > 0 {
		slices.SortFunc(b.useGains, func(g, h useGain) int { return cmp.Compare(g.increase, h.increase) })
		for _, g := range b.useGains[:over] {
			sum -= g.increase
			units -= int64(g.units)
		}
	}
	sum += float64(unit*float64(int64(p.totalAmount)-fixed)) + float64(size*0x1p-44)
	return sum, 1 - float64(units)/float64(p.totalAmount), square
}

// A useGain says what the use of an ingredient that may be unused adds to the sum of terms.
type useGain struct {
	increase float64 // increase of the sum of terms if the ingredient is used
	units    int32   // number of units of the ingredient if it is used
}
