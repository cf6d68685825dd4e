package bound

import "math"

// hasLogColumn reports whether the linear program has a column for the log of the factor. Tangents are rows that
// bound the column.
func (p Factor) hasLogColumn() bool { return p.Linear != nil || p.Tangent != nil }

// columnFactorBound returns an upper bound of the factor p for the compositions in a box. The factor must have a
// column in the linear program, but the program is not solved.
func (b *Bounder) columnFactorBound(n *box, p *Factor) float64 {
	if p.Linear != nil {
		return p.Linear.boundLog(b.linearRange(n, p.Linear))
	}
	at := b.middleAmounts(n)
	form, constant, _, ok := b.tangentAt(p, at)
	if !ok {
		return math.Inf(1)
	}
	return max(p.MinLog, b.maxSignedForm(n, &Linear{PerUnit: form, Constant: constant}, 1))
}

// middleAmounts returns amounts within a box that sum to the total. All amounts lie at the same fraction of the
// way from least to greatest amount.
func (b *Bounder) middleAmounts(n *box) []float64 {
	at, least, room := make([]float64, len(b.amountSets)), 0.0, 0.0
	for k := range b.usableIngredients {
		least += float64(n.Lo[2*k])
		room += float64(n.Hi[2*k] - n.Lo[2*k])
	}
	part := 0.0
	if room > 0 {
		part = min(max((float64(b.problem.Conditions.Total)-least)/room, 0), 1)
	}
	for k, i := range b.usableIngredients {
		at[i] = float64(n.Lo[2*k]) + float64(part*float64(n.Hi[2*k]-n.Lo[2*k]))
	}
	return at
}

// tangentAt returns an upper bound of the log of a concave factor: a linear form and a constant. The bound is the
// tangent at the given amounts. The bound need not hold where the log is at its least value, MinLog. The result
// value is the log at these amounts.
func (b *Bounder) tangentAt(p *Factor, amounts []float64) (form []float64, constant, value float64, ok bool) {
	value, form, ok = p.Tangent(amounts)
	b.work += int64(len(amounts) * len(amounts))
	if !ok || math.IsNaN(value) || math.IsInf(value, 0) {
		return nil, 0, 0, false
	}
	constant = value
	size := math.Abs(value)
	for i, f := range form {
		v := float64(f * amounts[i])
		constant -= v
		size += math.Abs(v)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, 0, 0, false
		}
	}
	return form, constant + float64(size*float64(len(amounts)+8)*0x1p-50), value, true
}

// addConcaveTangent adds a row to the linear program: the tangent, at the given amounts, of the log of the factor
// with index logFactors[logIndex]. The tangent is added only if the program's present solution violates the
// tangent and the factor has fewer than the maximum number of tangents. The result reports whether the tangent
// was added.
func (b *Bounder) addConcaveTangent(logIndex int, amounts []float64) bool {
	x := b.relaxation
	p := &b.problem.Factors[x.logFactors[logIndex]]
	if x.tangentCounts[logIndex] >= maxConcaveTangents {
		return false
	}
	form, constant, value, ok := b.tangentAt(p, amounts)
	if !ok || b.tableau != nil && b.tableau.Value[x.firstLogColumn+logIndex] <= max(value, p.MinLog)+1e-10 {
		return false
	}
	if !math.IsInf(p.MinLog, -1) { // raise the tangent so that no point of the tangent lies below the floor
		least := -b.maxSignedForm(b.root, &Linear{PerUnit: form, Constant: constant}, -1)
		constant += max(p.MinLog-least, 0)
	}
	x.addLogRow(logIndex, x.formEntries(&Linear{PerUnit: form}), 1, constant)
	x.tangentCounts[logIndex]++
	return true
}
