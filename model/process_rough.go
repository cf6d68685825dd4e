package model

import (
	"math"
	"slices"
)

// A roughness bounds how much the mean of a process can exceed its first- or second-order expansion
// about a point. The mean is a sum of α·κ(d²) over the compositions of the data, where κ is the
// [Kernel] and d a distance.
//
// The kernel is approximated by a mixture of squared exponentials Σ w·exp(−d²/2u), with several
// squared lengths u. The field mixtureError bounds the error of this approximation. The mean is
// thus a sum of functions, one for each u. The function for u has a known norm F in the function
// space of the kernel exp(−d²/2u): F² = w²·Σ Σ α·α·exp(…).
//
// Let d be the distance from the point, and y = d²/2u. Two bounds hold for the function for u:
//   - It exceeds its tangent by at most F·√(2 + 2y − 2·e^(−y)·(1 + 2y)), which is F times the norm
//     of the linear functional for the excess.
//   - It exceeds its second-order expansion by at most F·√(2 + 3y² − 2·e^(−y)·(1 + y + 2y²)).
//
// The functions for short lengths have only a small part of the norm. If the kernel were not
// divided, the whole norm would count as rough.
type roughness struct {
	squaredLengths []float64     // squared length u of each squared exponential in the mixture
	norms          []float64     // norm F of the function for each squared exponential in the mixture
	knots          []mixtureKnot // the mixture and its derivatives at each entry of a [kernelTable]

	meanNorm     float64 // norm of the mean in the function space of the process's own kernel
	mixtureError float64 // greatest possible difference of the mean if the mixture replaces the kernel
	sumAbsAlpha  float64 // sum of the absolute values of [Process] alpha
}

// A mixtureKnot describes a mixture of squared exponentials, as a function of d², at an entry of a
// [kernelTable]. Between knots the mixture is interpolated linearly.
type mixtureKnot struct {
	value       float64 // value of the mixture at the knot
	valueChange float64 // change of value to the next knot
	slope       float64 // derivative of the mixture with respect to d²
	slopeChange float64 // change of slope to the next knot
	curve       float64 // second derivative of the mixture with respect to d²
	curveChange float64 // change of curve to the next knot
	valueError  float64 // upper bound of the error of interpolating value
	slopeError  float64 // upper bound of d times the error of interpolating slope, where d is the distance
	curveError  float64 // upper bound of d² times the error of interpolating curve, where d is the distance
}

const (
	firstLogSquare = -10.0 // least log of the squared length u in a mixture of squared exponentials: see [roughness]
	lastLogSquare  = 3.5   // greatest log of the squared length u in a mixture of squared exponentials
	logSquareStep  = 0.5   // spacing of the logs of the squared lengths u
)

// mixture returns a mixture of squared exponentials that approximates the kernel: the squared
// length u and the weight of each term. A Matérn kernel is such a mixture, in which u has a gamma
// distribution with shape and rate ν. The integral over log u is computed by the trapezoid rule.
func (k Kernel) mixture() (squares, shares []float64) {
	nu, top := 2.5, float64(3*math.Sqrt(math.Pi)/4) // Γ(ν)
	switch k {
	case SquaredExponential:
		return []float64{1}, []float64{1}
	case Matern32:
		nu, top = 1.5, float64(math.Sqrt(math.Pi)/2)
	}
	for at := firstLogSquare; at <= lastLogSquare; at += logSquareStep {
		u := exp(at)
		share := float64(logSquareStep*exp(float64(nu*(log(nu)+at-u)))) / top
		if share > 1e-14 {
			squares, shares = append(squares, u), append(shares, share)
		}
	}
	return squares, shares
}

// mixtureKnots returns the knots of a mixture of squared exponentials at the entries of the table.
// The mixture has the given squared lengths and weights (shares). The result off is an upper bound
// of the difference between the table and the interpolated mixture.
func (t *kernelTable) mixtureKnots(squares, shares []float64) (of []mixtureKnot, off float64) {
	const step = 1.0 / (1 << tableBits)
	of = make([]mixtureKnot, len(t.steps))
	now, falls := slices.Clone(shares), make([]float64, len(shares))
	for j, u := range squares {
		falls[j] = exp(-step / (2 * u))
	}
	last := len(of) - 1
	const rounded = 0x1p-38 // bounds the rounding of so many multiplications
	third, apart := 0.0, 0.0
	for n := range of {
		was := third
		third = 0
		for j, v := range now {
			by := 1 / float64(2*squares[j])
			of[n].value += v
			of[n].slope -= float64(v * by)
			of[n].curve += float64(v * float64(by*by))
			third -= float64(v * float64(by*float64(by*by)))
			now[j] = float64(v * falls[j])
		}
		if n < last {
			apart = max(apart, math.Abs(t.steps[n].value-of[n].value))
		}
		if n > 0 {
			// All derivatives fall to 0 in magnitude, with alternating signs. A chord differs from
			// a convex function by at most a quarter of its length times the change of its slope.
			b := &of[n-1]
			b.valueChange, b.slopeChange, b.curveChange = of[n].value-b.value, of[n].slope-b.slope, of[n].curve-b.curve
			far := float64(float64(n) * step)
			b.valueError = float64(b.slopeChange*step/4) + rounded
			b.slopeError = float64((float64(-b.curveChange*step/4) + rounded) * math.Sqrt(far))
			b.curveError = float64((min(float64((third-was)*step/4), -b.curveChange) + rounded) * far)
		}
	}
	for _, k := range of {
		off = max(off, k.valueError)
	}
	// Beyond the last knot the table is 0. The mixture is taken as 0, too: d and d² times the
	// derivatives fall there.
	end := of[last]
	of[last] = mixtureKnot{valueError: end.value + rounded, slopeError: float64((rounded - end.slope) * math.Sqrt(maxTableDistance)), curveError: float64((end.curve + rounded) * maxTableDistance)}
	return of, off + max(apart, end.value) + rounded
}

// roughness returns the [roughness] of the mean. The first call computes it.
func (p *Process) roughness() *roughness {
	p.roughnessOnce.Do(func() {
		r := new(roughness)
		var shares []float64
		r.squaredLengths, shares = p.options.Kernel.mixture()
		of, off := p.kernelTable.mixtureKnots(r.squaredLengths, shares)
		r.knots = of
		sums, row, sum := make([]float64, len(shares)), make([]float64, len(shares)), 0.0
		d, x := make([]int64, len(p.compositions)), make([]int32, len(p.ingredients))
		var used []int32
		for k, parts := range p.compositions {
			used = used[:0]
			clear(x)
			for _, q := range parts {
				x[q.Ingredient] = int32(q.Amount)
				used = append(used, int32(q.Ingredient))
			}
			p.writeDistancesAt(x, used, d)
			r.sumAbsAlpha += math.Abs(p.alpha[k])
			clear(row)
			whole := 0.0
			for c, alpha := range p.alpha[:k+1] {
				if c < k {
					alpha = float64(2 * alpha)
				}
				square := math.Ldexp(float64(d[c]), -distanceBits)
				v, _ := p.options.Kernel.correlation(square)
				whole += float64(alpha * v)
				for j, u := range r.squaredLengths {
					row[j] += float64(alpha * exp(-square/float64(2*u)))
				}
			}
			sum += float64(p.alpha[k] * whole)
			for j, v := range row {
				sums[j] += float64(p.alpha[k] * v)
			}
		}
		// No term is rounded more often than twice the number of compositions.
		room := float64(float64(r.sumAbsAlpha*r.sumAbsAlpha) * float64(float64(2*len(p.compositions)+16)*0x1p-52))
		for j, s := range sums {
			r.norms = append(r.norms, float64(shares[j]*math.Sqrt(max(0, s)+room)))
		}
		r.meanNorm = math.Sqrt(max(0, sum) + room)
		r.mixtureError = float64(r.sumAbsAlpha * off)
		p.meanRoughness = r
	})
	return p.meanRoughness
}

// tangentExcess returns an upper bound of the mean's excess over its tangent, for points up to the
// given squared distance from the point of tangency. The bound is a concave function of the squared
// distance. The result slope is its derivative.
func (r *roughness) tangentExcess(square float64) (most, slope float64) {
	for j, u := range r.squaredLengths {
		y := square / float64(2*u)
		var of, by float64 // the square of the norm of the excess functional, and its derivative by y
		if y < 0.1 {
			// The series alternates with falling terms, and the first omitted term is below 0.
			of = float64(float64(y*y) * (3 + float64(y*(-5.0/3+float64(y*(7.0/12+float64(y*(-3.0/20+float64(y*11/360)))))))))
			by = float64(y * (6 + float64(y*(-5+float64(y*(7.0/3+float64(y*(-3.0/4+float64(y*11/60)))))))))
		} else {
			e := exp(-y)
			of = 2 + float64(2*y) - float64(2*float64(e*(1+float64(2*y))))
			by = 2 - float64(2*float64(e*(1-float64(2*y))))
		}
		root := math.Sqrt(of)
		most += float64(r.norms[j] * root)
		if root > 0 {
			slope += float64(r.norms[j]*by) / float64(4*float64(u*root))
		} else {
			slope += float64(r.norms[j]*math.Sqrt(3)) / float64(2*u)
		}
	}
	return float64(most * (1 + 0x1p-20)), slope
}

// secondOrderFactor returns a factor c: up to the given squared distance, the mean's excess over
// its second-order expansion is at most c·d², where d is the distance of a point.
//
// The factor is the norm of the linear functional for the excess, divided by y: see [roughness] for
// both. This quotient rises up to y = secondOrderPeak and falls beyond. Its square is at most
// maxSecondOrderSquare.
func (r *roughness) secondOrderFactor(square float64) (slope float64) {
	for j, u := range r.squaredLengths {
		y := square / float64(2*u)
		of := maxSecondOrderSquare // the square of the norm of the excess functional, divided by y²
		switch {
		case y < 0.1:
			of = float64(y * (10.0/3 - float64(y*(7.0/4-float64(y*3/5))))) // the next term is below 0
		case y < secondOrderPeak:
			e := exp(-y)
			of = min(of, (2+float64(3*float64(y*y))-float64(2*float64(e*(1+y+float64(2*float64(y*y))))))/float64(y*y))
		}
		slope += float64(r.norms[j]*math.Sqrt(of)) / float64(2*u)
	}
	return float64(slope * (1 + 0x1p-20))
}

// Constants of [roughness.secondOrderFactor]: where the quotient is greatest, and an upper bound of
// its square.
const secondOrderPeak, maxSecondOrderSquare = 4.92, 3.05
