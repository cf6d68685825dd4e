package bound

import "math"

// hasColumn reports whether a factor has a column in the program, below tangents.
func (p Factor) hasColumn() bool { return p.Linear != nil || p.Tangent != nil }

// single returns the separate bound in a box of a factor with a column.
func (b *Bounder) single(n *box, p *Factor) float64 {
	if p.Linear != nil {
		return p.Linear.boundLog(b.linearRange(n, p.Linear))
	}
	at := b.middle(n)
	form, constant, _, ok := b.tangentAt(p, at)
	if !ok {
		return math.Inf(1)
	}
	return max(p.Floor, b.greatestOf(n, &Linear{PerUnit: form, Constant: constant}, 1))
}

// middle returns the amounts of a box that lie at the same fraction between least and greatest and
// sum to the total.
func (b *Bounder) middle(n *box) []float64 {
	at, least, room := make([]float64, len(b.doses)), 0.0, 0.0
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

// tangentAt returns a linear form and a constant that bound the log of a concave factor from above,
// except for its floor, and the log at the point.
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

// addConcaveTangent adds a tangent at amounts for the k-th factor with a column, if it lies below
// the program's value there and the factor may have more.
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
	if !math.IsInf(p.Floor, -1) { // which the row is not to cut off anywhere
		least := -b.greatestOf(b.root, &Linear{PerUnit: form, Constant: constant}, -1)
		constant += max(p.Floor-least, 0)
	}
	x.addRowOf(k, x.form(&Linear{PerUnit: form}), 1, constant)
	x.tangents[k]++
	return true
}
