package property

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/portable"
)

// A convexRisk bounds the risk wᵀΣw from below by tangents, which is valid where Σ is positive semidefinite.
// Rounding or missing data can make an eigenvalue slightly negative. deficit bounds the magnitude of such an eigenvalue
// and is added to the bounds.
type convexRisk struct {
	m       *Markowitz
	deficit float64
}

// maxTangentIngredients is the greatest N for which tangents are used, because the preparation takes O(N³) time.
const maxTangentIngredients = 400

// convex returns the bound of the risk by tangents. ok is false if Σ is too large or too far from positive
// semidefinite.
func (m *Markowitz) convex() (c convexRisk, ok bool) {
	m.once.Do(func() { m.convexPart, m.hasConvexPart = m.findConvex() })
	return m.convexPart, m.hasConvexPart
}

func (m *Markowitz) findConvex() (c convexRisk, ok bool) {
	if m.n > maxTangentIngredients || m.perUnit == 0 && m.perRisk == 0 {
		return convexRisk{m: m}, m.n <= maxTangentIngredients
	}
	trace, lower := 0.0, portable.NewLower(m.n)
	for i := range m.n {
		trace += float64(m.covariance[i*m.n+i])
	}
	for _, part := range []float64{-1e-12, 1e-12, 1e-10, 1e-8, 1e-6} {
		for i := range m.n {
			row := lower.Row(i)
			for j := range row {
				row[j] = float64(m.covariance[i*m.n+j])
			}
			row[i] += float64(part * trace)
		}
		if lower.Factor() { // the rounding error of the factorisation is below 10⁻¹² of the trace
			return convexRisk{m, float64(max(0, part) * 2 * trace)}, true
		}
	}
	return c, false
}

// evaluate returns, for amounts x that may be fractional: μᵀx, the risk xᵀΣx, the sum of the magnitudes of its
// terms, and the vector Σx. All are in the whole-number units of the coefficients.
func (c convexRisk) evaluate(x []float64) (returns, risk, size float64, with []float64) {
	m := c.m
	with = make([]float64, m.n)
	for i, a := range x {
		if a == 0 {
			continue
		}
		returns += float64(float64(m.returns.a[i]) * a)
		for j := range with {
			with[j] += float64(float64(m.covariance[j*m.n+i]) * a)
		}
	}
	for i, a := range x {
		v := float64(with[i] * a)
		risk += v
		size += math.Abs(v)
	}
	return returns, risk, size, with
}

// sumAmounts returns the total of amounts.
func sumAmounts(x []float64) (sum float64) {
	for _, a := range x {
		sum += a
	}
	return sum
}

// rounding returns an upper bound of the relative rounding error of a sum over all ingredients.
func (c convexRisk) rounding() float64 { return float64(float64(c.m.n+16) * 0x1p-50) }

// Tangents returns the function at, or nil if log y may not be concave. at(x) returns the tangent of log y at amounts
// x, which may be fractions: log y ≤ value + Σ slope·(amount − x). floor is the least log y, −Inf if there is
// none.
func (m *Markowitz) Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64) {
	c, ok := m.convex()
	if !ok {
		return nil, 0
	}
	return func(x []float64) (float64, []float64, bool) {
		returns, risk, size, slope := c.evaluate(x)
		total := sumAmounts(x)
		for i := range slope {
			slope[i] = float64(float64(m.returns.a[i])*m.perReturn) - float64(2*m.perRisk*slope[i])
		}
		value := float64(returns*m.perReturn) - float64(risk*m.perRisk)
		room := float64(c.deficit*total*total*m.perRisk) + float64((math.Abs(value)+float64(size*m.perRisk)+float64(math.Abs(returns)*m.perReturn))*c.rounding())
		return value + room, slope, true
	}, math.Inf(-1)
}

// Tangents is like [Markowitz.Tangents]. at is nil unless the statistic is a volatility to minimise with a concave
// desirability.
func (p *Portfolio) Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64) {
	rate, _, high, floor, ok := p.d.Concave()
	if p.statistic != Volatility || !ok || p.d.best > 0 {
		return nil, 0
	}
	m := p.market
	c, ok := m.convex()
	if !ok || c.deficit > 0 {
		return nil, 0
	}
	return func(x []float64) (float64, []float64, bool) {
		_, risk, size, slope := c.evaluate(x)
		if !(risk > 0) {
			return 0, nil, false
		}
		spread := math.Sqrt(float64(risk * m.perUnit))
		value := p.d.log(spread)
		if !(spread < high) || !(value > floor) {
			return 0, nil, false
		}
		// log d falls with the volatility, and a tangent bounds the volatility from below. So the tangent bounds log
		// d from above.
		falls := rate(spread)
		for i := range slope {
			slope[i] = float64(falls * (float64(slope[i]*m.perUnit) / spread))
		}
		room := float64((math.Abs(value) + float64(math.Abs(falls)*float64(size*m.perUnit)/spread)) * c.rounding())
		return value + room, slope, true
	}, floor
}

// Above returns an upper bound of log y where each ingredient has from lo to hi units.
//
// Every tangent bounds the volatility below, so a ratio is at most one of two linear forms: see
// [boxEvaluation.ratioInterval]. The first tangent is taken at the middle of the box. Later ones
// approach the amounts, not necessarily whole, with the greatest ratio, by steps towards the
// maximum of the ratio of the linear forms (Frank and Wolfe 1956).
func (p *Portfolio) Above(lo, hi []int32, _ int) float64 {
	m := p.market
	c, ok := m.convex()
	if !ok || c.deficit > 0 || p.statistic == Return {
		return p.d.upperBound(math.Inf(-1), math.Inf(1))
	}
	x := middleAmounts(lo, hi, m.total)
	t, ok := c.tangentAt(x, lo, hi)
	switch {
	case !ok:
		return p.d.upperBound(math.Inf(-1), math.Inf(1))
	case p.statistic == Volatility:
		return p.d.upperBound(max(t.least, 0), math.Inf(1))
	}
	best := math.Inf(1)
	for range maxTangents {
		above, corner := t.maxRatio(lo, hi, m.total)
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
		return p.d.upperBound(math.Inf(-1), best)
	}
	return p.d.upperBound(math.Inf(-1), best+float64(math.Abs(best)*0x1p-40))
}

// maxTangents is the greatest number of tangents for one box.
const maxTangents = 12

// A tangentForms holds two linear forms of the amounts: the return, and the tangent of the volatility at some
// amounts, which bounds the volatility from below.
type tangentForms struct {
	c                convexRisk
	returns, spread  []float64 // coefficients per unit of the return and of the volatility's tangent
	meanReturn, risk float64   // return and variance at the amounts of the tangent
	least            float64   // lower bound of the volatility over the box
	slack            float64   // upper bound of the rounding error of the volatility's form
}

// tangentAt returns the tangent at amounts x, with bounds for the box lo..hi. ok is false if the risk at x is not
// above 0.
func (c convexRisk) tangentAt(x []float64, lo, hi []int32) (t tangentForms, ok bool) {
	m := c.m
	returns, risk, size, with := c.evaluate(x)
	if !(risk > 0) {
		return t, false
	}
	spread := math.Sqrt(float64(risk * m.perUnit))
	back := make([]float64, m.n)
	t = tangentForms{c: c, returns: make([]float64, m.n), spread: with, meanReturn: float64(returns * m.perReturn), risk: float64(risk * m.perUnit)}
	for i, v := range with {
		t.returns[i] = float64(float64(m.returns.a[i]) * m.perReturn)
		t.spread[i] = float64(v*m.perUnit) / spread
		back[i] = -t.spread[i]
	}
	above, _ := maximizeLinear(lo, hi, m.total, back)
	t.slack = float64(float64(size*m.perUnit) / spread * c.rounding())
	t.least = -above - t.slack
	return t, true
}

// maxRatio returns an upper bound of return/volatility over the box, +Inf if the tangent gives none. With t the ratio
// at the tangent's amounts, it also returns the corner of the box where returns − t·spread is greatest. corner is
// nil if no corner improves on those amounts.
func (t tangentForms) maxRatio(lo, hi []int32, total int) (best float64, corner []float64) {
	form := make([]float64, len(t.returns))
	excess := func(ratio float64) (float64, []float64) {
		for i := range form {
			form[i] = t.returns[i] - float64(ratio*t.spread[i])
		}
		e, at := maximizeLinear(lo, hi, total, form)
		return e + float64(ratio*t.slack), at
	}
	// Only ratios of at least 0 are bounded: a lower one would need an upper bound of the volatility.
	here := max(0, t.meanReturn/math.Sqrt(t.risk))
	e, corner := excess(here)
	if e <= float64(1e-9*math.Abs(t.meanReturn)) {
		corner = nil
	}
	if !(t.least > 0) {
		return math.Inf(1), corner
	}
	// With e the maximum of returns − t·spread and volatility ≥ least: the ratio is at most t + e/least if e >
	// 0, and at most t otherwise.
	best = here
	if e > 0 {
		best += e / t.least
	}
	for k, at := 0, best; k < ratioSteps && e > 0; k++ {
		if at = float64((here + best) / 2); !(here < at && at < best) {
			break
		}
		if e, _ := excess(at); e > 0 {
			best, here = min(best, at+e/t.least), at
		} else {
			best = at
		}
	}
	return best, corner
}

// stepTowards returns the amounts with the greatest ratio on the segment from x to corner. It returns nil if the
// ratio does not rise from x.
func (t tangentForms) stepTowards(x, corner []float64) []float64 {
	m := t.c.m
	returns, risk, _, with := t.c.evaluate(corner)
	returns, risk = float64(returns*m.perReturn), float64(risk*m.perUnit)
	both := 0.0 // covariance of the two portfolios x and corner
	for i, v := range with {
		both += float64(float64(v*m.perUnit) * x[i])
	}
	// At the fraction g of the way the return is a + g·b and the variance c + 2·g·d + g²·e. The
	// ratio rises up to g = (b·c − a·d)/(a·e − b·d).
	a, b := t.meanReturn, returns-t.meanReturn
	c, d, e := t.risk, both-t.risk, t.risk-float64(2*both)+risk
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

// AboveCost returns the approximate time that [Portfolio.Above] takes, in nanoseconds.
func (p *Portfolio) AboveCost() int64 { return int64(maxTangents * p.market.n * (2*p.market.n + 400)) }

// middleAmounts returns amounts that sum to the total. All lie at the same fraction of the way from lo[i] to hi[i].
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

// maximizeLinear returns the maximum of Σ by·amount over amounts from lo to hi that sum to total, and the amounts
// that attain it. It gives each ingredient lo and the rest to the largest coefficients first.
func maximizeLinear(lo, hi []int32, total int, by []float64) (float64, []float64) {
	order, at := make([]int, len(by)), make([]float64, len(by))
	sum, size, left := 0.0, 0.0, total
	add := func(i, units int) {
		v := float64(by[i] * float64(units))
		sum += v
		size += math.Abs(v)
		left -= units
		at[i] += float64(units)
	}
	for i := range by {
		order[i] = i
		add(i, int(lo[i]))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(by[j], by[i]) })
	for _, i := range order {
		add(i, min(int(hi[i]-lo[i]), max(left, 0)))
	}
	return sum + float64(size*float64(len(by)+8)*0x1p-51), at
}
