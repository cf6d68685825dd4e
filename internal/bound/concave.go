package bound

import "math"

// hasColumn reports whether the linear program has a column for the log of the factor, bounded by tangents.
func (p Factor) hasColumn() bool { return p.Linear != nil || p.Tangent != nil }

// separateBound returns the bound over a box of the factor p, which has a column, without the linear program.
func (b *Bounder) separateBound(n *box, p *Factor) float64 {
	if p.Linear != nil {
		return p.Linear.boundLog(b.linearRange(n, p.Linear))
	}
	at := b.middleAmounts(n)
	form, constant, _, ok := b.tangentAt(p, at)
	if !ok {
		return math.Inf(1)
	}
	return max(p.MinLog, b.maximumOf(n, &Linear{PerUnit: form, Constant: constant}, 1))
}

// middleAmounts returns amounts within a box that sum to the total. All amounts lie at the same fraction of the
// way from least to greatest amount.
func (b *Bounder) middleAmounts(n *box) []float64 {
	at, least, room := make([]float64, len(b.amountSets)), 0.0, 0.0
	for k := range b.usableIngredients {
		least += float64(n.lo[2*k])
		room += float64(n.hi[2*k] - n.lo[2*k])
	}
	part := 0.0
	if room > 0 {
		part = min(max((float64(b.problem.Conditions.Total)-least)/room, 0), 1)
	}
	for k, i := range b.usableIngredients {
		at[i] = float64(n.lo[2*k]) + float64(part*float64(n.hi[2*k]-n.lo[2*k]))
	}
	return at
}

// tangentAt returns an upper bound of the log of a concave factor as a linear form and a constant. The bound is
// tangent to the log at the amounts at, and ignores the floor of the factor. The result value is the log at
// these amounts.
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

// addConcaveTangent adds to the program a tangent at the amounts at for the factor in column k of the logs. The
// tangent is added only if the tangent lowers the value of the column in the program's solution and the factor
// has fewer than the maximum number of tangents. The result reports whether the tangent was added.
func (b *Bounder) addConcaveTangent(k int, at []float64) bool {
	x := b.relaxation
	p := &b.problem.Factors[x.logFactors[k]]
	if x.tangentCounts[k] >= maxConcaveTangents {
		return false
	}
	form, constant, value, ok := b.tangentAt(p, at)
	if !ok || b.tableau != nil && b.tableau.Value[x.firstLogColumn+k] <= max(value, p.MinLog)+1e-10 {
		return false
	}
	if !math.IsInf(p.MinLog, -1) { // raise the tangent so that no point of the tangent lies below the floor
		least := -b.maximumOf(b.root, &Linear{PerUnit: form, Constant: constant}, -1)
		constant += max(p.MinLog-least, 0)
	}
	x.addLogRow(k, x.formEntries(&Linear{PerUnit: form}), 1, constant)
	x.tangentCounts[k]++
	return true
}
