package property

import (
	"cmp"
	"math"
	"slices"
)

// A risk that is bounded below by its tangents: wᵀΣw is convex where Σ has no negative
// eigenvalue. What was rounded, or estimated with gaps, may have one that is a little below 0;
// bend is how far, as a variance.
type convexRisk struct {
	m    *Markowitz
	bend float64
}

// mostTangent is of how many ingredients tangents are taken, which takes N³ time once.
const mostTangent = 400

// convex returns the risk if its tangents bound it.
func (m *Markowitz) convex() (c convexRisk, ok bool) {
	m.once.Do(func() { m.curved, m.curves = m.findConvex() })
	return m.curved, m.curves
}

func (m *Markowitz) findConvex() (c convexRisk, ok bool) {
	if m.n > mostTangent || m.perUnit == 0 && m.perRisk == 0 {
		return convexRisk{m: m}, m.n <= mostTangent
	}
	trace, lower := 0.0, newMatrix(m.n, m.n)
	for i := range m.n {
		trace += float64(m.covariance[i*m.n+i])
	}
	for _, part := range []float64{-1e-12, 1e-12, 1e-10, 1e-8, 1e-6} {
		for i, row := range lower {
			for j := range row {
				row[j] = float64(m.covariance[i*m.n+j])
			}
			row[i] += float64(part * trace)
		}
		if cholesky(lower) { // whose own rounding is below 10⁻¹² of the trace
			return convexRisk{m, float64(max(0, part) * 2 * trace)}, true
		}
	}
	return c, false
}

// at returns the portfolio of amounts: its return, risk in the units of xᵀΣx, and Σx.
func (c convexRisk) at(x []float64) (returns, risk, size float64, with []float64) {
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

// sumOf returns the total of amounts.
func sumOf(x []float64) (sum float64) {
	for _, a := range x {
		sum += a
	}
	return sum
}

// rounding is by how much sums of so many terms may be off, as a part of them.
func (c convexRisk) rounding() float64 { return float64(float64(c.m.n+16) * 0x1p-50) }

// Tangents returns a function of amounts, of any parts of the total, that returns numbers which
// log y is nowhere above: value + Σ slope·(amount − at). It is nil where log y is not concave.
// Floor is the least log y, −Inf for none.
func (m *Markowitz) Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64) {
	c, ok := m.convex()
	if !ok {
		return nil, 0
	}
	return func(x []float64) (float64, []float64, bool) {
		returns, risk, size, slope := c.at(x)
		total := sumOf(x)
		for i := range slope {
			slope[i] = float64(float64(m.returns.a[i])*m.perReturn) - float64(2*m.perRisk*slope[i])
		}
		value := float64(returns*m.perReturn) - float64(risk*m.perRisk)
		room := float64(c.bend*total*total*m.perRisk) + float64((math.Abs(value)+float64(size*m.perRisk)+float64(math.Abs(returns)*m.perReturn))*c.rounding())
		return value + room, slope, true
	}, math.Inf(-1)
}

// Tangents is as that of [Markowitz], of a volatility that is to be small.
func (p *Portfolio) Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64) {
	rate, _, high, floor, ok := p.d.Concave()
	if p.side != Volatility || !ok || p.d.best > 0 {
		return nil, 0
	}
	m := p.market
	c, ok := m.convex()
	if !ok || c.bend > 0 {
		return nil, 0
	}
	return func(x []float64) (float64, []float64, bool) {
		_, risk, size, slope := c.at(x)
		if !(risk > 0) {
			return 0, nil, false
		}
		spread := math.Sqrt(float64(risk * m.perUnit))
		value := p.d.log(spread)
		if !(spread < high) || !(value > floor) {
			return 0, nil, false
		}
		// d falls with the volatility, which its tangent bounds below.
		falls := rate(spread)
		for i := range slope {
			slope[i] = float64(falls * (float64(slope[i]*m.perUnit) / spread))
		}
		room := float64((math.Abs(value) + float64(math.Abs(falls)*float64(size*m.perUnit)/spread)) * c.rounding())
		return value + room, slope, true
	}, floor
}

// Above returns what log y is at most where each ingredient has from lo to hi units. The
// volatility is at least its tangent at the middle of these, so that a ratio is at most one of
// two linear forms: see [enclosing.ratio].
func (p *Portfolio) Above(lo, hi []int32, _ int) float64 {
	m := p.market
	c, ok := m.convex()
	if !ok || c.bend > 0 {
		return p.d.above(math.Inf(-1), math.Inf(1))
	}
	returns, spread, back := make([]float64, m.n), make([]float64, m.n), make([]float64, m.n)
	x := middleOf(lo, hi, m.total)
	_, risk, size, with := c.at(x)
	if !(risk > 0) {
		return p.d.above(math.Inf(-1), math.Inf(1))
	}
	at := math.Sqrt(float64(risk * m.perUnit))
	for i := range returns {
		returns[i] = float64(float64(m.returns.a[i]) * m.perReturn)
		spread[i] = float64(with[i]*m.perUnit) / at
		back[i] = -spread[i]
	}
	least := -greatestOf(lo, hi, m.total, back) - float64(float64(size*m.perUnit)/at*c.rounding())
	switch {
	case p.side == Return:
		return p.d.above(math.Inf(-1), math.Inf(1))
	case p.side == Volatility:
		return p.d.above(max(least, 0), math.Inf(1))
	case !(least > 0):
		return p.d.above(math.Inf(-1), math.Inf(1))
	}
	most := greatestOf(lo, hi, m.total, returns)
	if most <= 0 {
		return p.d.above(math.Inf(-1), 0)
	}
	// Whatever t is: where returns − t·spread are at most e, the ratio is at most t + e/least.
	best, form := most/least, make([]float64, m.n)
	for t, k := best, 0; k < ratioSteps; k++ {
		for i := range form {
			form[i] = returns[i] - float64(t*spread[i])
		}
		e := greatestOf(lo, hi, m.total, form)
		if e > 0 {
			best = min(best, t+e/least)
			t = float64((t + best) / 2)
			continue
		}
		best = min(best, t)
		t = float64(t * 0.9)
	}
	return p.d.above(math.Inf(-1), float64(best*(1+0x1p-40)))
}

// AboveCost is about how many nanoseconds [Portfolio.Above] takes.
func (p *Portfolio) AboveCost() int64 { return int64(p.market.n * (p.market.n + 300)) }

// middleOf returns amounts that are as far from the least to the greatest, each, as makes the
// total.
func middleOf(lo, hi []int32, total int) []float64 {
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

// greatestOf returns what Σ by·amount is at most over the amounts of a total, each from lo to
// hi: each has its least, and what is left goes where it adds most.
func greatestOf(lo, hi []int32, total int, by []float64) float64 {
	order := make([]int, len(by))
	sum, size, left := 0.0, 0.0, total
	add := func(i, units int) {
		v := float64(by[i] * float64(units))
		sum += v
		size += math.Abs(v)
		left -= units
	}
	for i := range by {
		order[i] = i
		add(i, int(lo[i]))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(by[j], by[i]) })
	for _, i := range order {
		add(i, min(int(hi[i]-lo[i]), max(left, 0)))
	}
	return sum + float64(size*float64(len(by)+8)*0x1p-51)
}
