package bound

import "math"

// hasColumn reports whether the linear program has a column for the factor's log, bounded by tangents.
func (p Factor) hasColumn() bool { return p.Linear != nil || p.Tangent != nil }

// separateBound returns the bound over a box of one factor with a column, without the program.
func (b *Bounder) separateBound(n *box, p *Factor) float64 {
	if p.Linear != nil {
		return p.Linear.boundLog(b.linearRange(n, p.Linear))
	}
	at := b.middleAmounts(n)
	form, constant, _, ok := b.tangentAt(p, at)
	if !ok {
		return math.Inf(1)
	}
	return max(p.Floor, b.greatestOf(n, &Linear{PerUnit: form, Constant: constant}, 1))
}

// middleAmounts returns the amounts of a box that lie at the same fraction between least and greatest and
// sum to the total.
func (b *Bounder) middleAmounts(n *box) []float64 {
	at, least, room := make([]float64, len(b.amounts)), 0.0, 0.0
	for k := range b.usable {
		least += float64(n.lo[2*k])
		room += float64(n.hi[2*k] - n.lo[2*k])
	}
	part := 0.0
	if room > 0 {
		part = min(max((float64(b.p.Conditions.Total)-least)/room, 0), 1)
	}
	for k, i := range b.usable {
		at[i] = float64(n.lo[2*k]) + float64(part*float64(n.hi[2*k]-n.lo[2*k]))
	}
	return at
}

// tangentAt returns an upper bound of a concave factor's log as a linear form and a constant, tangent at the point
// at. The bound ignores the factor's floor. value is the log at that point.
func (b *Bounder) tangentAt(p *Factor, at []float64) (form []float64, constant, value float64, ok bool) {
	value, form, ok = p.Tangent(at)
	b.work += int64(len(at) * len(at))
	if !ok || math.IsNaN(value) || math.IsInf(value, 0) {
		return nil, 0, 0, false
	}
	constant = value
	size := math.Abs(value)
	for i, f := range form {
		v := float64(f * at[i])
		constant -= v
		size += math.Abs(v)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, 0, 0, false
		}
	}
	return form, constant + float64(size*float64(len(at)+8)*0x1p-50), value, true
}

// addConcaveTangent adds to the program a tangent at the amounts at for the factor in the k-th column of logs. It
// does so only if the tangent lowers the program's value there and the factor has not the greatest number of
// tangents.
func (b *Bounder) addConcaveTangent(k int, at []float64) bool {
	x := b.x
	p := &b.p.Factors[x.linear[k]]
	if x.tangents[k] >= mostTouched {
		return false
	}
	form, constant, value, ok := b.tangentAt(p, at)
	if !ok || b.tableau != nil && b.tableau.Value[x.first+k] <= max(value, p.Floor)+1e-10 {
		return false
	}
	if !math.IsInf(p.Floor, -1) { // raise the tangent so that it nowhere lies below the floor
		least := -b.greatestOf(b.root, &Linear{PerUnit: form, Constant: constant}, -1)
		constant += max(p.Floor-least, 0)
	}
	x.addRowOf(k, x.form(&Linear{PerUnit: form}), 1, constant)
	x.tangents[k]++
	return true
}
