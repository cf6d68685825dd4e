package property

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/portable"
)

// A convexRisk computes lower bounds of the risk wᵀΣw of a portfolio with shares w. The bounds are tangents of
// the risk, which are below the risk if the covariance Σ is positive semidefinite. Rounding or missing data can
// make an eigenvalue slightly negative. The field eigenvalueDeficit bounds the magnitude of such an eigenvalue
// and is added to the bounds.
type convexRisk struct {
	markowitz         *Markowitz
	eigenvalueDeficit float64 // upper bound of the magnitude of a negative eigenvalue of Σ
}

// maxTangentIngredients is the greatest number N of ingredients for which tangents bound the risk of a
// portfolio, because the preparation takes O(N³) time.
const maxTangentIngredients = 400

// convexRiskOnce returns the [convexRisk] of the portfolios, which it computes at the first call. ok is false
// if the covariance is too large or too far from positive semidefinite.
func (m *Markowitz) convexRiskOnce() (c convexRisk, ok bool) {
	m.convexOnce.Do(func() { m.cachedConvexRisk, m.hasConvexRisk = m.newConvexRisk() })
	return m.cachedConvexRisk, m.hasConvexRisk
}

func (m *Markowitz) newConvexRisk() (c convexRisk, ok bool) {
	if m.ingredientCount > maxTangentIngredients || m.varianceFactor == 0 && m.penaltyFactor == 0 {
		return convexRisk{markowitz: m}, m.ingredientCount <= maxTangentIngredients
	}
	trace, lower := 0.0, portable.NewLower(m.ingredientCount)
	for i := range m.ingredientCount {
		trace += float64(m.covariance[i*m.ingredientCount+i])
	}
	for _, part := range []float64{-1e-12, 1e-12, 1e-10, 1e-8, 1e-6} {
		for i := range m.ingredientCount {
			row := lower.Row(i)
			for j := range row {
				row[j] = float64(m.covariance[i*m.ingredientCount+j])
			}
			row[i] += float64(part * trace)
		}
		if lower.Factor() { // the rounding error of the factorisation is below 10⁻¹² of the trace
			return convexRisk{m, float64(max(0, part) * 2 * trace)}, true
		}
	}
	return c, false
}

// evaluate returns the expected return μᵀx and the risk xᵀΣx for amounts x, which need not be whole. It also
// returns the sum of the magnitudes of the terms of the risk, and the vector Σx. All results are in the units
// of the coefficients, which are whole numbers.
func (c convexRisk) evaluate(x []float64) (returns, risk, size float64, with []float64) {
	m := c.markowitz
	with = make([]float64, m.ingredientCount)
	for i, a := range x {
		if a == 0 {
			continue
		}
		returns += float64(float64(m.returnForm.coefficients[i]) * a)
		for j := range with {
			with[j] += float64(float64(m.covariance[j*m.ingredientCount+i]) * a)
		}
	}
	for i, a := range x {
		v := float64(with[i] * a)
		risk += v
		size += math.Abs(v)
	}
	return returns, risk, size, with
}

// sumAmounts returns the sum of the amounts.
func sumAmounts(x []float64) (sum float64) {
	for _, a := range x {
		sum += a
	}
	return sum
}

// relativeRounding returns an upper bound of the relative rounding error of a sum over all ingredients.
func (c convexRisk) relativeRounding() float64 {
	return float64(float64(c.markowitz.ingredientCount+16) * 0x1p-50)
}

// Tangents returns the function at, which computes linear upper bounds of the log score. It also returns floor,
// the least log score, −Inf if there is none. at(x) returns the tangent at amounts x, which need not be whole:
// for all amounts, the log score is at most value + Σ_i slope_i·(amount_i − x_i). The function is nil if the
// log score may not be concave.
func (m *Markowitz) Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64) {
	c, ok := m.convexRiskOnce()
	if !ok {
		return nil, 0
	}
	return func(x []float64) (float64, []float64, bool) {
		returns, risk, size, slope := c.evaluate(x)
		total := sumAmounts(x)
		for i := range slope {
			slope[i] = float64(float64(m.returnForm.coefficients[i])*m.returnFactor) - float64(2*m.penaltyFactor*slope[i])
		}
		value := float64(returns*m.returnFactor) - float64(risk*m.penaltyFactor)
		room := float64(c.eigenvalueDeficit*total*total*m.penaltyFactor) + float64((math.Abs(value)+float64(size*m.penaltyFactor)+float64(math.Abs(returns)*m.returnFactor))*c.relativeRounding())
		return value + room, slope, true
	}, math.Inf(-1)
}

// Tangents returns the function at, which computes linear upper bounds of the log score; see
// [Markowitz.Tangents]. The function is nil unless the statistic is the volatility, and log desirability is
// concave and decreases with the volatility.
func (p *Portfolio) Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64) {
	rate, _, high, floor, ok := p.desirability.Concave()
	if p.statistic != Volatility || !ok || p.desirability.bestValue > 0 {
		return nil, 0
	}
	m := p.markowitz
	c, ok := m.convexRiskOnce()
	if !ok || c.eigenvalueDeficit > 0 {
		return nil, 0
	}
	return func(x []float64) (float64, []float64, bool) {
		_, risk, size, slope := c.evaluate(x)
		if !(risk > 0) {
			return 0, nil, false
		}
		spread := math.Sqrt(float64(risk * m.varianceFactor))
		value := p.desirability.logDesirability(spread)
		if !(spread < high) || !(value > floor) {
			return 0, nil, false
		}
		// log d falls with the volatility, and a tangent bounds the volatility from below. So the tangent bounds log
		// d from above.
		falls := rate(spread)
		for i := range slope {
			slope[i] = float64(falls * (float64(slope[i]*m.varianceFactor) / spread))
		}
		room := float64((math.Abs(value) + float64(math.Abs(falls)*float64(size*m.varianceFactor)/spread)) * c.relativeRounding())
		return value + room, slope, true
	}, floor
}

// UpperBound returns an upper bound of the log score over a box: all compositions with lo[i] to hi[i] units of each
// ingredient i.
//
// Every tangent bounds the volatility from below, so the ratio is at most the ratio of two linear forms; see
// [boxEvaluation.ratioInterval]. The first tangent is taken at the middle of the box. Later tangents are taken
// at amounts, not necessarily whole, that approach the amounts with the greatest ratio. Each step goes towards
// the maximum of the ratio of the linear forms (Frank and Wolfe 1956).
func (p *Portfolio) UpperBound(lo, hi []int32, _ int) float64 {
	m := p.markowitz
	c, ok := m.convexRiskOnce()
	if !ok || c.eigenvalueDeficit > 0 || p.statistic == Return {
		return p.desirability.upperBound(math.Inf(-1), math.Inf(1))
	}
	x := middleAmounts(lo, hi, m.total)
	t, ok := c.tangentAt(x, lo, hi)
	switch {
	case !ok:
		return p.desirability.upperBound(math.Inf(-1), math.Inf(1))
	case p.statistic == Volatility:
		return p.desirability.upperBound(max(t.minVolatility, 0), math.Inf(1))
	}
	best := math.Inf(1)
	for range maxTangentsPerBox {
		above, corner := t.ratioUpperBound(lo, hi, m.total)
		best = min(best, above)
		if corner == nil {
			break
		}
		if x = t.stepTowards(x, corner); x == nil {
			break
		}
		if t, ok = c.tangentAt(x, lo, hi); !ok {
			break
		}
	}
	if math.IsInf(best, 1) {
		return p.desirability.upperBound(math.Inf(-1), best)
	}
	return p.desirability.upperBound(math.Inf(-1), best+float64(math.Abs(best)*0x1p-40))
}

// maxTangentsPerBox is the greatest number of tangents of the volatility from which the bound for one box is
// computed; see [Portfolio.UpperBound].
const maxTangentsPerBox = 12

// A tangentForms holds two linear functions of the amounts of a portfolio: the return, and a tangent of the
// volatility. The tangent is a lower bound of the volatility.
type tangentForms struct {
	convexRisk              convexRisk
	returnCoefficients      []float64 // item i is the return per unit of ingredient i
	volatilityCoefficients  []float64 // item i is the coefficient of ingredient i in the tangent
	returnAtTangent         float64   // return at the amounts where the tangent was taken
	varianceAtTangent       float64   // variance at the amounts where the tangent was taken
	minVolatility           float64   // lower bound of the volatility over all amounts from lo to hi; see tangentAt
	volatilityRoundingError float64   // upper bound of the rounding error of the tangent
}

// tangentAt returns the tangent of the volatility at amounts x, with bounds for amounts from lo to hi. ok is
// false if the risk at x is not above 0.
func (c convexRisk) tangentAt(x []float64, lo, hi []int32) (t tangentForms, ok bool) {
	m := c.markowitz
	returns, risk, size, with := c.evaluate(x)
	if !(risk > 0) {
		return t, false
	}
	spread := math.Sqrt(float64(risk * m.varianceFactor))
	back := make([]float64, m.ingredientCount)
	t = tangentForms{convexRisk: c, returnCoefficients: make([]float64, m.ingredientCount), volatilityCoefficients: with, returnAtTangent: float64(returns * m.returnFactor), varianceAtTangent: float64(risk * m.varianceFactor)}
	for i, v := range with {
		t.returnCoefficients[i] = float64(float64(m.returnForm.coefficients[i]) * m.returnFactor)
		t.volatilityCoefficients[i] = float64(v*m.varianceFactor) / spread
		back[i] = -t.volatilityCoefficients[i]
	}
	above, _ := maximizeLinear(lo, hi, m.total, back)
	t.volatilityRoundingError = float64(float64(size*m.varianceFactor) / spread * c.relativeRounding())
	t.minVolatility = -above - t.volatilityRoundingError
	return t, true
}

// ratioUpperBound returns an upper bound of return/volatility for amounts from lo to hi that sum to total. The
// bound is +Inf if the tangent gives none. ratioUpperBound also returns corner, a corner of the box of these
// amounts. Let t be the ratio at the amounts where the tangent was taken. At corner, the return minus t times
// the tangent of the volatility is greatest. corner is nil if no corner improves on the amounts of the tangent.
func (t tangentForms) ratioUpperBound(lo, hi []int32, total int) (best float64, corner []float64) {
	form := make([]float64, len(t.returnCoefficients))
	excess := func(ratio float64) (float64, []float64) {
		for i := range form {
			form[i] = t.returnCoefficients[i] - float64(ratio*t.volatilityCoefficients[i])
		}
		e, at := maximizeLinear(lo, hi, total, form)
		return e + float64(ratio*t.volatilityRoundingError), at
	}
	// Only ratios of at least 0 are bounded: a lower one would need an upper bound of the volatility.
	here := max(0, t.returnAtTangent/math.Sqrt(t.varianceAtTangent))
	e, corner := excess(here)
	if e <= float64(1e-9*math.Abs(t.returnAtTangent)) {
		corner = nil
	}
	if !(t.minVolatility > 0) {
		return math.Inf(1), corner
	}
	// With e the maximum of returns − t·spread and volatility ≥ least: the ratio is at most t + e/least if e >
	// 0, and at most t otherwise.
	best = here
	if e > 0 {
		best += e / t.minVolatility
	}
	for k, at := 0, best; k < maxRatioSteps && e > 0; k++ {
		if at = float64((here + best) / 2); !(here < at && at < best) {
			break
		}
		if e, _ := excess(at); e > 0 {
			best, here = min(best, at+e/t.minVolatility), at
		} else {
			best = at
		}
	}
	return best, corner
}

// stepTowards returns the amounts with the greatest ratio of return to volatility among the amounts between x
// and corner. It returns nil if no such amounts have a greater ratio than x.
func (t tangentForms) stepTowards(x, corner []float64) []float64 {
	m := t.convexRisk.markowitz
	returns, risk, _, with := t.convexRisk.evaluate(corner)
	returns, risk = float64(returns*m.returnFactor), float64(risk*m.varianceFactor)
	both := 0.0 // covariance of the two portfolios x and corner
	for i, v := range with {
		both += float64(float64(v*m.varianceFactor) * x[i])
	}
	// At the fraction g of the way the return is a + g·b and the variance c + 2·g·d + g²·e. The
	// ratio rises up to g = (b·c − a·d)/(a·e − b·d).
	a, b := t.returnAtTangent, returns-t.returnAtTangent
	c, d, e := t.varianceAtTangent, both-t.varianceAtTangent, t.varianceAtTangent-float64(2*both)+risk
	top, bottom := float64(b*c)-float64(a*d), float64(a*e)-float64(b*d)
	if !(top > 0) {
		return nil
	}
	part := 1.0
	if bottom > 0 {
		part = min(1, top/bottom)
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v + float64(part*(corner[i]-v))
	}
	return out
}

// UpperBoundCost returns the approximate time that [Portfolio.UpperBound] takes, in nanoseconds.
func (p *Portfolio) UpperBoundCost() int64 {
	return int64(maxTangentsPerBox * p.markowitz.ingredientCount * (2*p.markowitz.ingredientCount + 400))
}

// middleAmounts returns amounts that sum to total. The amount of each ingredient i lies at the same fraction of the
// way from lo[i] to hi[i].
func middleAmounts(lo, hi []int32, total int) []float64 {
	least, room := 0.0, 0.0
	for i := range lo {
		least += float64(lo[i])
		room += float64(hi[i] - lo[i])
	}
	part := 0.0
	if room > 0 {
		part = min(max((float64(total)-least)/room, 0), 1)
	}
	x := make([]float64, len(lo))
	for i := range x {
		x[i] = float64(lo[i]) + float64(part*float64(hi[i]-lo[i]))
	}
	return x
}

// maximizeLinear returns the maximum of Σ_i coefficient_i·amount_i over amounts from lo to hi that sum to
// total. It also returns amounts that attain the maximum. It gives each ingredient lo[i] units, and then the
// remaining units to the ingredients with the largest coefficients.
func maximizeLinear(lo, hi []int32, total int, coefficients []float64) (float64, []float64) {
	order, at := make([]int, len(coefficients)), make([]float64, len(coefficients))
	sum, size, left := 0.0, 0.0, total
	add := func(i, units int) {
		v := float64(coefficients[i] * float64(units))
		sum += v
		size += math.Abs(v)
		left -= units
		at[i] += float64(units)
	}
	for i := range coefficients {
		order[i] = i
		add(i, int(lo[i]))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(coefficients[j], coefficients[i]) })
	for _, i := range order {
		add(i, min(int(hi[i]-lo[i]), max(left, 0)))
	}
	return sum + float64(size*float64(len(coefficients)+8)*0x1p-51), at
}
