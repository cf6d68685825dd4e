package model

import (
	"math"
	"slices"
)

// Above returns a score that none of a composition exceeds in which each ingredient i has
// from lo[i] to hi[i] units and at most so many are used.
func (s *ProcessScore) Above(lo, hi []int32, used int) float64 {
	b := s.newMeanBound(lo, hi, used)
	switch w := s.want; {
	case w.direction > 0:
		return s.of(b.most(1))
	case w.direction < 0:
		return s.of(-b.most(-1))
	case math.IsInf(w.high, 1):
		return min(s.of(b.most(1))+0x1p-40, 1)
	case math.IsInf(w.low, -1):
		return min(s.of(-b.most(-1))+0x1p-40, 1)
	default:
		// A share of a normal law is the greater the nearer its mean is to the middle.
		middle := float64(w.low/2) + float64(w.high/2)
		return min(s.of(min(max(middle, -b.most(-1)), b.most(1)))+0x1p-40, 1)
	}
}

// AboveCost is about how many nanoseconds [ProcessScore.Above] takes.
func (s *ProcessScore) AboveCost() int64 { return int64(len(s.known) * (12*len(s.ingredients) + 60)) }

// A meanBound bounds the mean of a process over a box. The mean is a sum over the known
// compositions of α·κ(d²), and κ is convex in d²: where α is positive it is at most the
// secant between the least and the greatest d² in the box, where it is negative at most a
// tangent. What these lines add up to is a sum over the ingredients of a square of its step,
// whose greatest value is found step by step. What one ingredient has others have not, which
// a multiplier of the total charges; and no more may be used than there may be.
type meanBound struct {
	p         *Process
	lo, hi    []int32
	from, to  []int32 // steps
	used      int
	near, far []float64 // d² of each known composition in the box
	middle    []float64 // and of the box's middle
}

func (p *Process) newMeanBound(lo, hi []int32, used int) *meanBound {
	n := len(p.known)
	b := &meanBound{p: p, lo: lo, hi: hi, used: used, near: make([]float64, n), far: make([]float64, n), middle: make([]float64, n)}
	for i, a := range p.grid {
		from, to := a.step(lo[i], p.total), a.step(hi[i], p.total)
		b.from, b.to = append(b.from, from), append(b.to, to)
		middle := float64(float64(from+to) / 2)
		weight := float64(a.weight)
		column := p.columns[i]
		for r := range b.near {
			q := 0.0
			if column != nil {
				q = float64(column[r])
			}
			low, high, at := float64(from)-q, float64(to)-q, middle-q
			if low > 0 {
				b.near[r] += float64(weight * float64(low*low))
			} else if high < 0 {
				b.near[r] += float64(weight * float64(high*high))
			}
			b.far[r] += float64(weight * max(float64(low*low), float64(high*high)))
			b.middle[r] += float64(weight * float64(at*at))
		}
	}
	return b
}

// lastConvex is d² up to which the table of a kernel is convex; behind it it falls to 0 at
// once.
const lastConvex = (farthest<<radialBits - 1) << (distanceBits - radialBits)

// most returns what the mean times a sign is at most in the box.
func (b *meanBound) most(sign float64) float64 {
	p := b.p
	tail := p.radial.at(lastConvex)
	sum, size, curve := 0.0, 0.0, 0.0
	slopes := make([]float64, len(b.near))
	for r, alpha := range p.alpha {
		alpha = float64(sign * alpha)
		near, far := min(b.near[r], lastConvex), min(b.far[r], lastConvex)
		at, slope := 0.0, 0.0 // the line is at + slope·(d² − from)
		from := near
		switch {
		case b.near[r] >= lastConvex:
			if alpha > 0 {
				at = tail
			}
		case alpha > 0:
			if at = p.radial.at(int64(near)); b.far[r] > b.near[r] {
				slope = (p.radial.at(int64(far)) - at) / (b.far[r] - b.near[r])
			}
			if b.far[r] > lastConvex { // the secant to where it no longer falls
				slope = (tail - at) / (b.far[r] - b.near[r])
			}
		default:
			from = min(max(b.middle[r], near), far)
			n := int64(from) >> (distanceBits - radialBits)
			if n >= lastConvex>>(distanceBits-radialBits) {
				at, slope = tail, 0
			} else {
				at, slope = p.radial.at(int64(from)), p.radial.of[n].slope
			}
			if b.far[r] > lastConvex {
				at -= tail
			}
		}
		slopes[r] = float64(alpha * slope)
		curve += slopes[r]
		sum += float64(alpha*at) - float64(slopes[r]*from)
		size += math.Abs(alpha) + float64(2*math.Abs(float64(slopes[r]*b.far[r])))
	}
	terms, worth := b.terms(slopes, curve)
	size += worth
	sum += b.best(terms)
	sum = min(sum+float64(size*0x1p-42), b.normed(sign))
	return float64(sign*p.centre) + float64(p.scale*sum) + float64(math.Abs(p.centre)*0x1p-50)
}

// A processNorm is what a mean is at most anywhere by its norm.
type processNorm struct {
	norm float64 // of Σ α·κ in the space of the kernel
	off  float64 // by how much that is off from what the table makes of it
}

// norm returns the norm of the mean: ‖f‖² = Σ Σ α·α·κ, of the kernel without its table.
func (p *Process) norm() processNorm {
	p.once.Do(func() {
		kernel, sum, size, all := p.options.Kernel, 0.0, 0.0, 0.0
		d, x := make([]int64, len(p.known)), make([]int32, len(p.ingredients))
		var used []int32
		for r, parts := range p.known {
			used = used[:0]
			clear(x)
			for _, q := range parts {
				x[q.Ingredient] = int32(q.Amount)
				used = append(used, int32(q.Ingredient))
			}
			p.measure(x, used, d)
			for k, square := range d {
				v, _ := kernel.correlation(math.Ldexp(float64(square), -distanceBits))
				v = float64(float64(p.alpha[r]*p.alpha[k]) * v)
				sum += v
				size += math.Abs(v)
			}
			all += math.Abs(p.alpha[r])
		}
		// Between two knots a chord is above what is convex by at most a quarter of the step
		// times the change of its slope; behind the last the table is 0.
		const step = 1.0 / (1 << radialBits)
		off, _ := kernel.correlation(farthest - step)
		_, last := kernel.correlation(0)
		for n := 1; n <= farthest<<radialBits; n++ {
			_, slope := kernel.correlation(float64(float64(n) * step))
			off, last = max(off, float64((slope-last)*step/4)), slope
		}
		p.normed = processNorm{math.Sqrt(max(sum, 0) + float64(size*0x1p-40)), float64(all * (off + 0x1p-40))}
	})
	return p.normed
}

// normed bounds what the mean times a sign is in the box, as a sum of α·κ, by its norm F and
// what it is at the middle, m. With t the correlation of a place with the middle, the mean is
// at most m·t + √(F² − m²)·√(1 − t²) (Cauchy and Schwarz), and t is nowhere less than at the
// corners.
func (b *meanBound) normed(sign float64) float64 {
	p := b.p
	n := p.norm()
	kernel := p.options.Kernel
	middle, corner := 0.0, 0.0
	for r, alpha := range p.alpha {
		v, _ := kernel.correlation(math.Ldexp(b.middle[r], -distanceBits))
		middle += float64(float64(sign*alpha) * v)
	}
	for i, a := range p.grid {
		half := float64(float64(b.to[i]-b.from[i]) / 2)
		corner += float64(float64(a.weight) * float64(half*half))
	}
	t, _ := kernel.correlation(math.Ldexp(corner, -distanceBits))
	t = float64(t * (1 - 0x1p-40))
	middle = min(middle+n.off, n.norm)
	if t <= middle/n.norm {
		return n.norm + n.off
	}
	side := float64(n.norm*n.norm) - float64(middle*middle)
	return float64(middle*t) + math.Sqrt(float64(side*(1-float64(t*t)))) + n.off
}

// terms returns what each ingredient adds at each of its steps in the box, and the size of
// what was added up.
func (b *meanBound) terms(slopes []float64, curve float64) (terms [][]float64, size float64) {
	p := b.p
	for i, a := range p.grid {
		first, second := 0.0, 0.0 // Σ slope·q and Σ slope·q²
		if column := p.columns[i]; column != nil {
			for r, q := range column {
				v := float64(slopes[r] * float64(q))
				first += v
				second += float64(v * float64(q))
				size += float64(float64(a.weight) * math.Abs(float64(v*float64(q))))
			}
		}
		var of []float64
		for l := b.from[i]; l <= b.to[i]; l++ {
			v := float64(float64(float64(curve*float64(l))-float64(2*first))*float64(l)) + second
			of = append(of, float64(float64(a.weight)*v))
		}
		terms = append(terms, of)
	}
	return terms, size
}

// multipliers is how many charges for a unit are tried.
const multipliers = 24

// best returns what the terms add up to at most. Any charge makes a bound, which is convex in
// it.
func (b *meanBound) best(terms [][]float64) float64 {
	top := 0.0
	for _, of := range terms {
		top += slices.Max(of) - slices.Min(of)
	}
	best := b.charged(terms, 0)
	// The golden section of charges from −4·top to 4·top.
	low, high := float64(-4*top), float64(4*top)
	const golden = 0.6180339887498949
	x, y := high-float64(golden*(high-low)), low+float64(golden*(high-low))
	fx, fy := b.charged(terms, x), b.charged(terms, y)
	for range multipliers {
		best = min(best, fx, fy)
		if fx < fy {
			high, y, fy = y, x, fx
			x = high - float64(golden*(high-low))
			fx = b.charged(terms, x)
		} else {
			low, x, fx = x, y, fy
			y = low + float64(golden*(high-low))
			fy = b.charged(terms, y)
		}
	}
	return min(best, fx, fy)
}

// charged returns what the terms add up to at most where each unit costs charge/total, and
// the total is paid back.
func (b *meanBound) charged(terms [][]float64, charge float64) float64 {
	p := b.p
	sum, size := charge, math.Abs(charge)
	left := b.used
	var gains []float64
	for i, of := range terms {
		if b.lo[i] > 0 {
			left--
		}
		if len(of) == 1 && b.lo[i] == b.hi[i] {
			sum += of[0] - float64(charge*float64(b.lo[i])/float64(p.total))
			continue
		}
		best, none := math.Inf(-1), math.Inf(-1)
		for k, v := range of {
			l := b.from[i] + int32(k)
			// Of the amounts of a step the one that costs least.
			x := max(p.grid[i].firsts[l], b.lo[i])
			if charge < 0 {
				x = min(p.grid[i].firsts[l+1]-1, b.hi[i])
			}
			if l == 0 && b.lo[i] == 0 {
				none = v // unused
			}
			best = max(best, v-float64(charge*float64(x)/float64(p.total)))
		}
		size += math.Abs(best)
		if none == math.Inf(-1) || best <= none {
			sum += max(best, none)
			continue
		}
		sum += none
		gains = append(gains, best-none)
	}
	if left < len(gains) {
		slices.Sort(gains)
		gains = gains[len(gains)-max(left, 0):]
	}
	for _, g := range gains {
		sum += g
	}
	return sum + float64(size*0x1p-44)
}
