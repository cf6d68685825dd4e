package model

import (
	"cmp"
	"math"
	"slices"
)

// boundInBox returns an upper bound of the scores of all compositions in which each ingredient i
// has from lo[i] to hi[i] units and at most used are used.
func (s *ProcessScore) boundInBox(b *meanBound, lo, hi []int32, used int) float64 {
	b.set(lo, hi, used)
	switch w := s.want; {
	case w.direction > 0:
		return s.scoreOfMean(b.maxMean(1))
	case w.direction < 0:
		return s.scoreOfMean(-b.maxMean(-1))
	case math.IsInf(w.high, 1):
		return min(s.scoreOfMean(b.maxMean(1))+0x1p-40, 1)
	case math.IsInf(w.low, -1):
		return min(s.scoreOfMean(-b.maxMean(-1))+0x1p-40, 1)
	default:
		// The share of a normal law within bounds grows as its mean approaches their middle.
		middle := float64(w.low/2) + float64(w.high/2)
		return min(s.scoreOfMean(min(max(middle, -b.maxMean(-1)), b.maxMean(1)))+0x1p-40, 1)
	}
}

// A meanBound bounds the mean of a process over boxes. The mean is a sum over the known
// compositions of α·κ(d²). In a box it is at most its first- or second-order expansion at the
// middle, plus its [roughness]. Their sum is a sum over the ingredients of a function of the
// squared step, whose maximum is found step by step. Two constraints tie the ingredients together:
// a multiplier charges for the total, and only so many ingredients may be used.
type meanBound struct {
	p       *Process
	rough   *roughness
	weights []float64 // by ingredient: factor of the square of a step in d²
	used    int       // greatest number of ingredients that a composition in the box uses
	steps   int64     // time taken so far, in units of about a nanosecond

	// The box, by ingredient: units, steps, the steps of its middle, and the derivative by steps.
	lo, hi    []int32
	from, to  []int32
	middle    []float64
	first     []float64
	open      []int   // the ingredients with more than one step in the box
	maxSquare float64 // bound of the squared distance of any composition from the middle

	square, slopes, curves []float64   // by known composition: d² from the middle, α·κ′ and 4·α·κ″
	weightedSteps          [][]float64 // by open ingredient: its distance in steps from each known composition, times the weight
	value, errorBound      float64     // Σ α·κ at the middle, and the error bound of the value and the tangent
	second, scratch        []float64   // by pair of open ingredients: the second derivative; empty if not computed
	secondError            float64     // error bound of the second derivative, per squared distance

	terms     []boxTerm
	gains     []gain
	widest    int     // the ingredient whose steps contribute most to the bound, −1 if none does
	weight    float64 // contribution of the widest ingredient to the bound
	undecided bool    // whether the widest ingredient may be unused
}

// A boxTerm is the contribution of an ingredient to a bound: by·(first + second·by), with by the
// distance of its step from the middle.
type boxTerm struct {
	first, second, middle float64
	i                     int
}

func (p *Process) newMeanBound() *meanBound {
	n, k := len(p.known), len(p.grid)
	b := &meanBound{
		p: p, rough: p.roughness(), square: make([]float64, n), slopes: make([]float64, n), curves: make([]float64, n), scratch: make([]float64, n),
		from: make([]int32, k), to: make([]int32, k), first: make([]float64, k), middle: make([]float64, k),
	}
	for _, a := range p.grid {
		b.weights = append(b.weights, math.Ldexp(float64(a.weight), -distanceBits))
	}
	return b
}

// set prepares the bound for a box.
func (b *meanBound) set(lo, hi []int32, used int) {
	p := b.p
	b.lo, b.hi, b.used = lo, hi, used
	b.open = b.open[:0]
	for r, d := range p.empty {
		b.square[r] = float64(d)
	}
	for i, a := range p.grid {
		from, to := a.step(lo[i], p.total), int32(0)
		if to = from; hi[i] != lo[i] {
			to = a.step(hi[i], p.total)
		}
		if b.from[i], b.to[i] = from, to; from != to {
			b.open = append(b.open, i)
		}
	}
	b.centre()
	alike := 0.0 // the part of d² that does not depend on the known composition
	for i, a := range p.grid {
		middle := b.middle[i]
		if middle == 0 {
			continue
		}
		weight := float64(a.weight)
		alike += float64(weight * float64(middle*middle))
		column := p.columns[i]
		if column == nil {
			continue
		}
		slope := float64(2 * float64(weight*middle))
		square := b.square[:len(column)]
		for r, q := range column {
			square[r] -= float64(slope * float64(q))
		}
		b.steps += int64(len(column))
	}
	for r := range b.square {
		b.square[r] += alike
	}
	b.steps += int64(20*len(p.grid) + len(b.square))
	b.expand()
}

// centre sets the middle of the box. Each ingredient is at the same fraction of the way from its
// least to its greatest step, at most at half, so that the amounts sum to the total.
func (b *meanBound) centre() {
	p := b.p
	flat, slope, bend := -1.0, 0.0, 0.0 // Σ share − 1 as a polynomial of that fraction
	for i, a := range p.grid {
		from, span := float64(b.from[i])/float64(a.stepsPerUnit), float64(b.to[i]-b.from[i])/float64(a.stepsPerUnit)
		flat += float64(from * from)
		slope += float64(2 * float64(from*span))
		bend += float64(span * span)
	}
	far := 0.5
	if flat+float64(slope/2)+float64(bend/4) > 0 && bend > 0 {
		far = (math.Sqrt(max(0, float64(slope*slope)-float64(4*float64(bend*flat)))) - slope) / float64(2*bend)
		far = min(max(far, 0), 0.5)
	}
	b.maxSquare = 0
	b.terms = b.terms[:0]
	for i := range p.grid {
		span := float64(b.to[i] - b.from[i])
		b.middle[i] = float64(b.from[i]) + float64(far*span)
		if b.lo[i] != b.hi[i] {
			w := b.weights[i]
			side := float64((1 - far) * span)
			b.maxSquare += float64(w * float64(side*side))
			b.terms = append(b.terms, boxTerm{0, w, b.middle[i], i})
		}
	}
	if len(b.open) > 0 {
		most, _ := b.maximizeTerms()
		b.maxSquare = min(b.maxSquare, max(most, 0)*(1+0x1p-40))
	}
}

// expand computes the value and the derivatives at the middle, with their error bounds.
func (b *meanBound) expand() {
	p := b.p
	if len(b.open) == 0 {
		b.value, b.errorBound = 0, 0
		for r, alpha := range p.alpha {
			b.value += float64(alpha * p.radial.at(int64(b.square[r])))
		}
		b.errorBound = float64(b.rough.sumAbsAlpha * 0x1p-42)
		b.steps += int64(2 * len(p.alpha))
		return
	}
	value, off, tilt, twist, all, sizes := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	const shift = distanceBits - radialBits
	last := len(b.rough.knots) - 1
	for r, alpha := range p.alpha {
		n := min(int(int64(b.square[r])>>shift), last)
		e := &b.rough.knots[n]
		part := 0.0
		if n < last {
			part = float64((b.square[r] - float64(int64(n)<<shift)) * (1.0 / (1 << shift)))
		}
		slope := float64(alpha * (e.slope + float64(part*e.slopeChange)))
		size := math.Abs(alpha)
		value += float64(alpha * (e.value + float64(part*e.valueChange)))
		off += float64(size * e.valueError)
		tilt += float64(size * e.slopeError)
		sizes += math.Abs(slope)
		all += slope
		b.slopes[r] = slope
		b.curves[r] = float64(4 * float64(alpha*(e.curve+float64(part*e.curveChange))))
		twist += float64(size * e.curveError)
	}
	b.value, b.secondError = value, float64(2*twist)+float64(b.rough.sumAbsAlpha*0x1p-38)
	rounding := b.rough.sumAbsAlpha
	for k, i := range b.open {
		w := b.weights[i]
		middle := b.middle[i]
		if len(b.weightedSteps) == k {
			b.weightedSteps = append(b.weightedSteps, make([]float64, len(p.alpha)))
		}
		apart := b.weightedSteps[k]
		if column := p.columns[i]; column != nil {
			for r, q := range column {
				apart[r] = float64(w * (middle - float64(q)))
			}
		} else {
			for r := range apart {
				apart[r] = float64(w * middle)
			}
		}
		b.first[i] = float64(2 * dot(apart, b.slopes))
		rounding += float64(float64(sizes*float64(2*w)) * float64(float64(middle+float64(p.grid[i].stepsPerUnit))*float64(b.to[i]-b.from[i])))
	}
	b.steps += int64(2 * len(b.open) * len(p.alpha))
	b.second = b.second[:0]
	if len(b.open) <= mostCurved && b.maxSquare < widestCurved {
		b.computeSecondDerivatives(all)
	}
	b.errorBound = off + float64(2*float64(tilt*math.Sqrt(b.maxSquare))) + b.rough.mixtureError + float64(rounding*0x1p-40)
	b.steps += int64(4 * len(p.alpha))
}

// Second derivatives are computed only for at most so many ingredients, and up to such a squared
// distance.
const (
	mostCurved   = 8
	widestCurved = 0.6
	nearCurved   = 0.1 // squared distance up to which no bound is better
)

// computeSecondDerivatives sets second to the second derivatives of the mean at the middle of the
// box, for each pair of open ingredients. slopes is the sum of b.slopes.
func (b *meanBound) computeSecondDerivatives(slopes float64) {
	n := len(b.open)
	b.second = slices.Grow(b.second, n*n)[:n*n]
	for k, i := range b.open {
		for r, v := range b.weightedSteps[k] {
			b.scratch[r] = float64(v * b.curves[r])
		}
		for l := range k + 1 {
			v := dot(b.scratch, b.weightedSteps[l])
			b.second[k*n+l], b.second[l*n+k] = v, v
		}
		b.second[k*n+k] += float64(2 * float64(b.weights[i]*slopes))
	}
	b.steps += int64((n + 1) * (n + 2) / 2 * len(b.curves))
}

// dot returns Σ x·y.
func dot(x, y []float64) float64 {
	var s [4]float64
	y = y[:len(x)]
	k := 0
	for ; k+4 <= len(x); k += 4 {
		s[0] += float64(x[k] * y[k])
		s[1] += float64(x[k+1] * y[k+1])
		s[2] += float64(x[k+2] * y[k+2])
		s[3] += float64(x[k+3] * y[k+3])
	}
	for ; k < len(x); k++ {
		s[0] += float64(x[k] * y[k])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// maxMean returns an upper bound of sign times the mean in the box.
func (b *meanBound) maxMean(sign float64) float64 {
	p := b.p
	at := float64(sign * b.value)
	sum := at + b.errorBound
	b.widest, b.weight, b.undecided = -1, 0, false
	if len(b.open) > 0 {
		above := math.Inf(1)
		if len(b.second) > 0 {
			above = b.expansionBound(sign)
		}
		if len(b.second) == 0 || b.maxSquare > nearCurved {
			above = min(above, b.tangentBound(sign))
		}
		sum = min(sum+above, b.normBound(at))
	}
	return float64(sign*p.centre) + float64(p.scale*sum) + float64(math.Abs(p.centre)*0x1p-50)
}

// normBound bounds the mean by its norm F and its value m at the middle. With t the correlation of
// a place with the middle, the mean is at most m·t + √(F² − m²)·√(1 − t²) (Cauchy and Schwarz), and
// t is least at a corner.
func (b *meanBound) normBound(at float64) float64 {
	norm := b.rough.norm
	t, _ := b.p.options.Kernel.correlation(b.maxSquare)
	t = float64(t * (1 - 0x1p-40))
	middle := min(at+b.errorBound, norm)
	if t <= middle/norm {
		return norm + b.rough.mixtureError
	}
	side := float64(norm*norm) - float64(middle*middle)
	return float64(middle*t) + math.Sqrt(float64(side*(1-float64(t*t)))) + b.rough.mixtureError
}

// tangentBound bounds the excess of sign times the mean over its value at the middle.
func (b *meanBound) tangentBound(sign float64) float64 {
	best := math.Inf(1)
	square := b.maxSquare
	for range 2 {
		most, slope := b.rough.tangentExcess(square)
		rest := most - float64(slope*square)
		b.terms = b.terms[:0]
		for i := range b.p.grid {
			if b.lo[i] == b.hi[i] {
				continue
			}
			w := b.weights[i]
			b.terms = append(b.terms, boxTerm{float64(sign * b.first[i]), float64(slope * w), b.middle[i], i})
			b.weigh(i, b.first[i], float64(slope*w))
		}
		above, reached := b.maximizeTerms()
		best = min(best, rest+above)
		if reached > 0.8*square || reached == 0 {
			break
		}
		square = reached
	}
	return best
}

// weigh updates the widest ingredient with one whose term has these factors. An ingredient that may
// be either used or unused precedes those with greater contributions.
func (b *meanBound) weigh(i int, first, second float64) {
	half := float64(float64(b.to[i]-b.from[i]) / 2)
	weight := float64(half * (math.Abs(first) + float64(max(second, 0)*half)))
	if open := b.lo[i] == 0; b.widest < 0 || open && !b.undecided || open == b.undecided && weight > b.weight {
		b.widest, b.weight, b.undecided = i, weight, open
	}
}

// expansionBound bounds the excess of sign times the mean over its value at the middle, by the
// second-order expansion. For two ingredients 2·y·z is at most y²·t/s + z²·s/t, where s and t are
// their greatest distances from the middle.
func (b *meanBound) expansionBound(sign float64) float64 {
	slope := b.rough.secondOrderSlope(b.maxSquare) + b.secondError
	b.terms = b.terms[:0]
	n := len(b.open)
	b.widest, b.weight, b.undecided = -1, 0, false
	for i := range b.p.grid {
		if b.lo[i] == b.hi[i] {
			continue
		}
		term := boxTerm{i: i, middle: b.middle[i]}
		if k := slices.Index(b.open, i); k >= 0 {
			half := float64(b.to[i] - b.from[i])
			second := float64(sign * b.second[k*n+k])
			for l, j := range b.open {
				if l != k {
					second += float64(math.Abs(b.second[k*n+l])*float64(b.to[j]-b.from[j])) / half
				}
			}
			w := b.weights[i]
			term.first, term.second = float64(sign*b.first[i]), float64(second/2)+float64(slope*w)
			b.weigh(i, term.first, term.second)
		}
		b.terms = append(b.terms, term)
	}
	above, _ := b.maximizeTerms()
	return above
}

// maxCharges bounds the charges for a unit that are tried.
const maxCharges = 10

// maximizeTerms returns an upper bound of the sum of the terms, and the squared distance of a point
// near its maximum. Any charge gives a bound, which is convex in the charge.
func (b *meanBound) maximizeTerms() (best, square float64) {
	top := 0.0
	for _, t := range b.terms {
		half := float64(float64(b.to[t.i]-b.from[t.i]) / 2)
		top += float64(half * (math.Abs(t.first) + float64(math.Abs(t.second)*half)))
	}
	if top == 0 {
		return 0, 0
	}
	type place struct{ charge, sum, slope float64 }
	try := func(charge float64) place {
		sum, slope, far := b.boundWithCharge(charge)
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
	for range maxCharges {
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

// boundWithCharge returns an upper bound of the sum of the terms if each unit costs charge/total
// and the charge for the total is paid back. It also returns the derivative by the charge, and the
// squared distance.
func (b *meanBound) boundWithCharge(charge float64) (sum, slope, square float64) {
	p := b.p
	fixed := int64(0)
	left := b.used
	for i, lo := range b.lo {
		if lo > 0 {
			left--
		}
		if lo == b.hi[i] {
			fixed += int64(lo)
		}
	}
	unit := charge / float64(p.total)
	size := math.Abs(charge)
	units := fixed
	b.gains = b.gains[:0]
	for _, t := range b.terms {
		i := t.i
		a := &p.grid[i]
		best, none, x, at, unused := math.Inf(-1), math.Inf(-1), int32(0), 0.0, 0.0
		for l := b.from[i]; l <= b.to[i]; l++ {
			by := float64(l) - t.middle
			v := float64(by * (t.first + float64(t.second*by)))
			// the amount of the step that costs least
			y := max(a.firsts[l], b.lo[i])
			if charge < 0 {
				y = min(a.firsts[l+1]-1, b.hi[i])
			}
			if l == 0 && b.lo[i] == 0 {
				none, unused = v, by // the ingredient may be unused
			}
			if v -= float64(unit * float64(y)); v > best {
				best, x, at = v, y, by
			}
		}
		b.steps += int64(2 * (b.to[i] - b.from[i] + 3))
		size += math.Abs(best)
		if none == math.Inf(-1) || best > none {
			sum += best
			units += int64(x)
			if none != math.Inf(-1) {
				b.gains = append(b.gains, gain{best - none, x})
			}
		} else {
			sum += none
			at = unused
		}
		square += float64(float64(at*at) * b.weights[i])
	}
	if over := len(b.gains) - max(left, 0); over > 0 {
		slices.SortFunc(b.gains, func(g, h gain) int { return cmp.Compare(g.increase, h.increase) })
		for _, g := range b.gains[:over] {
			sum -= g.increase
			units -= int64(g.units)
		}
	}
	sum += float64(unit*float64(int64(p.total)-fixed)) + float64(size*0x1p-44)
	return sum, 1 - float64(units)/float64(p.total), square
}

// A gain is the increase of the sum when an ingredient is used.
type gain struct {
	increase float64
	units    int32
}
