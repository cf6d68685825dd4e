package bound

import (
	"math"
	"slices"

	"kir/internal/constraint/linprog"

	"kir/rule"
)

// A box is a subset of the compositions. It has bounds for each column, of amounts in units and of
// uses: see [relaxation]. Without a relaxation the columns are the same.
type box struct {
	above  float64
	lo, hi []int32
	depth  int

	rest             float64   // what the parts have at most that are not of pieces, but for programs
	pieces           []float64 // what each piece is at most, here or in a box about it
	age              []uint8   // how many boxes about it ago that was, from 1; 0: here
	bounded          bool      // and all else
	branchIngredient int       // the ingredient whose amount makes most of a part, −1 if that is not known
	branchGain       float64   // and how much

	column int   // that it is to be divided along
	cut    int32 // the greatest of the lower one
	upper  bool  // the upper one is the more likely
}

func (n *box) clone() *box {
	c := *n
	c.lo, c.hi, c.pieces = slices.Clone(n.lo), slices.Clone(n.hi), slices.Clone(n.pieces)
	c.depth++
	c.age = make([]uint8, len(n.age))
	for k, a := range n.age {
		c.age[k] = min(a+1, math.MaxUint8)
	}
	c.bounded, c.branchIngredient, c.branchGain = false, -1, 0
	return &c
}

// push and pop keep the open boxes in a heap, the highest bound first.
func (b *Bounder) push(n *box) {
	b.open = append(b.open, n)
	for k := len(b.open) - 1; k > 0; {
		up := (k - 1) / 2
		if !before(b.open[k], b.open[up]) {
			break
		}
		b.open[k], b.open[up] = b.open[up], b.open[k]
		k = up
	}
}

func (b *Bounder) pop() *box {
	top, last := b.open[0], len(b.open)-1
	b.open[0] = b.open[last]
	b.open[last] = nil
	b.open = b.open[:last]
	for k := 0; ; {
		next := 2*k + 1
		if next >= last {
			break
		}
		if next+1 < last && before(b.open[next+1], b.open[next]) {
			next++
		}
		if !before(b.open[next], b.open[k]) {
			break
		}
		b.open[k], b.open[next] = b.open[next], b.open[k]
		k = next
	}
	return top
}

// before reports whether box n is divided before m: the one with the higher bound or, if equal, the
// smaller one.
func before(n, m *box) bool {
	return n.above > m.above || n.above == m.above && n.depth > m.depth
}

// whole returns the box of all compositions, nil if there are none.
func (b *Bounder) whole() *box {
	b.x = newRelaxation(b)
	n := &box{above: math.Inf(1)}
	for i, d := range b.doses {
		if d.N == 0 {
			if b.p.Conditions.Amounts[i].Required || slices.Contains(b.p.Always, i) {
				return nil
			}
			continue
		}
		lo, used := int32(0), int32(0)
		if b.p.Conditions.Amounts[i].Required || slices.Contains(b.p.Always, i) {
			lo, used = int32(d.Lo), 1
		}
		n.lo, n.hi = append(n.lo, lo, used), append(n.hi, int32(d.Hi()), 1)
	}
	if !b.tighten(n) {
		return nil
	}
	return n
}

// tighten narrows the bounds of a box as far as single rows allow. ok is false if the box is empty.
func (b *Bounder) tighten(n *box) (ok bool) {
	x := b.x
	if x == nil {
		return true
	}
	for range 4 {
		changed := false
		for r := range x.firstTangent {
			b.work += int64(2 * len(x.Rows[r]))
			c, ok := b.tightenRow(n, x.Rows[r], x.RowLo[r], x.RowHi[r])
			if !ok {
				return false
			}
			changed = changed || c
		}
		if !changed {
			break
		}
	}
	return true
}

// columnBounds returns the bounds of a column in a box.
func (b *Bounder) columnBounds(n *box, column int) (lo, hi float64) {
	x := b.x
	switch {
	case column >= x.first:
		k := column - x.first - len(x.linear)
		return x.lo[k], x.hi[k]
	case column%2 == 0:
		return float64(float64(n.lo[column]) * x.unit), float64(float64(n.hi[column]) * x.unit)
	}
	return float64(n.lo[column]), float64(n.hi[column])
}

// slip is the largest error of a derived bound, in units.
const slip = 1e-6

// tightenRow narrows the bounds of the columns in one row.
func (b *Bounder) tightenRow(n *box, of []linprog.Entry, from, to float64) (changed, ok bool) {
	least, most, top := 0.0, 0.0, 0.0
	for _, e := range of {
		lo, hi := b.columnBounds(n, e.Column)
		least += min(float64(e.Factor*lo), float64(e.Factor*hi))
		most += max(float64(e.Factor*lo), float64(e.Factor*hi))
		top = max(top, math.Abs(e.Factor))
	}
	room := float64(slip * b.x.unit * top)
	if least > to+room || most < from-room {
		return false, false
	}
	for _, e := range of {
		if e.Column >= b.x.first || math.Abs(e.Factor) < 1e-6*top || n.lo[e.Column] == n.hi[e.Column] {
			continue
		}
		lo, hi := b.columnBounds(n, e.Column)
		unit := 1.0
		if e.Column%2 == 0 {
			unit = b.x.unit
		}
		down, up := (from-(most-max(float64(e.Factor*lo), float64(e.Factor*hi))))/e.Factor, (to-(least-min(float64(e.Factor*lo), float64(e.Factor*hi))))/e.Factor
		if e.Factor < 0 {
			down, up = up, down
		}
		if down = math.Ceil(down/unit - slip); down > float64(n.lo[e.Column]) {
			if down > float64(n.hi[e.Column]) {
				return false, false
			}
			n.lo[e.Column], changed = int32(down), true
		}
		if up = math.Floor(up/unit + slip); up < float64(n.hi[e.Column]) {
			if up < float64(n.lo[e.Column]) {
				return false, false
			}
			n.hi[e.Column], changed = int32(up), true
		}
		if changed && !b.snapBounds(n, e.Column/2) {
			return false, false
		}
	}
	return changed, true
}

// snapBounds moves the bounds of an ingredient to allowed amounts.
func (b *Bounder) snapBounds(n *box, k int) (ok bool) {
	lo, hi, used := &n.lo[2*k], &n.hi[2*k], 2*k+1
	d := b.doses[b.usable[k]]
	if *lo > 0 {
		n.lo[used] = 1
	}
	if *hi == 0 || n.hi[used] == 0 || *hi < int32(d.Lo) {
		*hi, n.hi[used] = 0, 0
	}
	if n.lo[used] == 1 {
		*lo = max(*lo, int32(d.Lo))
	}
	if step := int32(d.Step); step > 1 {
		if *lo > int32(d.Lo) {
			*lo = int32(d.Lo) + (*lo-int32(d.Lo)+step-1)/step*step
		}
		if *hi > 0 {
			*hi = int32(d.Lo) + (*hi-int32(d.Lo))/step*step
		}
	}
	return *lo <= *hi && n.lo[used] <= n.hi[used]
}

// parts computes an upper bound of each factor everywhere, and the range of each linear form.
func (b *Bounder) parts(n *box) {
	n.pieces, n.age = make([]float64, len(b.pieces)), make([]uint8, len(b.pieces))
	b.setAmountBounds(n)
	for k := range b.pieces {
		p := &b.pieces[k]
		n.pieces[k], p.steps, _, _ = p.of(b.least, b.greatest, b.maxUsed())
		b.work += p.steps
	}
	for k := range b.p.Factors {
		p := &b.p.Factors[k]
		most, ends := p.Most, [2]float64{}
		if p.Linear != nil {
			ends[0], ends[1] = b.linearRange(n, p.Linear)
		}
		if p.hasColumn() {
			most = min(most, b.single(n, p))
		}
		b.most, b.ranges = append(b.most, most), append(b.ranges, ends)
		if p.isBoxed() {
			b.most[k] = b.boundFactor(n, k)
		}
	}
}

// A piece is a piece of a factor with its cached bounds.
type piece struct {
	part int
	of   Piece

	steps int64
	gain  float64 // by how much it has lowered bounds
}

// boxPieces returns the pieces of a factor that can bound itself in boxes.
func (p Factor) boxPieces() []Piece {
	switch {
	case p.Pieces != nil:
		return p.Pieces
	case p.Box != nil:
		return []Piece{func(lo, hi []int32, used int) (float64, int64, int, float64) {
			return p.Box(lo, hi, used), p.Cost, -1, 0
		}}
	}
	return nil
}

// joinPieces returns the bound of a factor from those of its pieces.
func (b *Bounder) joinPieces(part int, pieces []float64) float64 {
	of := pieces[b.from[part]:b.from[part+1]]
	if join := b.p.Factors[part].JoinPieces; join != nil {
		return min(b.most[part], join(of))
	}
	return min(b.most[part], of[0])
}

// sum returns a box's bound from the known bounds of its pieces.
func (b *Bounder) sum(n *box) float64 {
	sum := n.rest
	for k := range b.p.Factors {
		if b.from[k+1] > b.from[k] {
			sum = addLogs(sum, b.joinPieces(k, n.pieces))
		}
	}
	return sum
}

// maxPieceAge is the number of divisions after which each piece is computed again.
const maxPieceAge = 6

// refinePiece computes the outdated piece of a box that has lowered bounds most for its cost. It
// returns false if there is none.
func (b *Bounder) refinePiece(n *box) bool {
	best, most, top := -1, 0.0, 0.0
	for k := range b.pieces {
		p := &b.pieces[k]
		worth := (p.gain + 1e-3) / float64(p.steps+1000)
		if top = max(top, worth); n.age[k] > 0 && (best < 0 || worth > most) {
			best, most = k, worth
		}
	}
	if best >= 0 && float64(most*float64(n.age[best])*float64(n.age[best])) < top && n.age[best] < maxPieceAge {
		return false
	}
	if best < 0 {
		return false
	}
	p := &b.pieces[best]
	b.setAmountBounds(n)
	above, steps, along, by := p.of(b.least, b.greatest, b.maxUsed())
	b.work += steps
	p.steps += steps
	age := n.age[best]
	was := b.joinPieces(p.part, n.pieces)
	n.pieces[best] = min(n.pieces[best], above)
	n.age[best] = 0
	is := b.joinPieces(p.part, n.pieces)
	if gain := was - is; gain > 0 {
		p.gain += min(gain, 1) / float64(age)
	}
	if along >= 0 {
		// The factor's bound without this piece's refinement.
		above, n.pieces[best] = n.pieces[best], n.pieces[best]-by
		if less := min(is-b.joinPieces(p.part, n.pieces), 10); less > n.branchGain {
			n.branchIngredient, n.branchGain = along, less
		}
		n.pieces[best] = above
	}
	return true
}

// above returns an upper bound of the log between two values.
func (l *Linear) above(from, to float64) float64 {
	v := l.Log(min(max(from, l.Best), to))
	return v + float64(math.Abs(v)*0x1p-50)
}

// linearRange returns bounds of a linear form in a box. Each ingredient has its least amount, and
// the rest goes where it adds least or most.
func (b *Bounder) linearRange(n *box, l *Linear) (from, to float64) {
	return -b.greatestOf(n, l, -1), b.greatestOf(n, l, 1)
}

// greatestOf returns an upper bound of a linear form times a sign in a box.
func (b *Bounder) greatestOf(n *box, l *Linear, sign float64) float64 {
	type share struct {
		by   float64
		room int32
	}
	var shares []share
	left := b.p.Conditions.Total
	sum, size := float64(sign*l.Constant), math.Abs(l.Constant)
	add := func(v float64) {
		sum += v
		size += math.Abs(v)
	}
	k := 0
	for i, d := range b.doses {
		if d.N == 0 {
			continue
		}
		lo, hi := n.lo[2*k], n.hi[2*k]
		f := float64(sign * l.PerUnit[i])
		add(float64(f * float64(lo)))
		left -= int(lo)
		shares = append(shares, share{f, hi - lo})
		if l.PerUse != nil {
			f := float64(sign * l.PerUse[i])
			add(max(float64(f*float64(n.lo[2*k+1])), float64(f*float64(n.hi[2*k+1]))))
		}
		k++
	}
	slices.SortStableFunc(shares, func(s, t share) int {
		switch {
		case s.by > t.by:
			return -1
		case s.by < t.by:
			return 1
		}
		return 0
	})
	for _, s := range shares {
		take := min(int(s.room), max(left, 0))
		add(float64(s.by * float64(take)))
		left -= take
	}
	b.work += int64(20 * len(shares))
	return sum + float64(size*float64(len(shares)+8)*0x1p-51)
}

// relax makes the tableau, with a few tangents of each factor.
func (b *Bounder) relax() {
	x := b.x
	if x == nil || len(x.linear) == 0 {
		return
	}
	rest := 0.0 // of the parts but one
	for k := range b.most {
		rest += max(b.most[k], 0)
	}
	if math.IsInf(rest, 1) {
		return
	}
	b.prunedBound = least + rest // what the columns of logarithms leave out
	for k, part := range x.linear {
		l := b.p.Factors[part].Linear
		if l == nil {
			b.addConcaveTangent(k, b.middle(b.root))
			continue
		}
		from, to := max(b.ranges[part][0], l.Low), min(b.ranges[part][1], l.High)
		for q := range 7 {
			b.addLinearTangent(k, from+float64((to-from)*float64(q+1)/8))
		}
		b.addLinearTangent(k, min(max(from, l.Best), to))
	}
	b.tableau = linprog.NewDual(&x.Program)
	b.lo, b.hi = make([]float64, x.Columns), make([]float64, x.Columns)
}

// addLinearTangent adds a tangent at v of a factor with a column, if it exists and the factor may
// have more.
func (b *Bounder) addLinearTangent(k int, v float64) bool {
	x := b.x
	if x.tangents[k] >= mostTangents {
		return false
	}
	part := x.linear[k]
	t, ok := b.p.Factors[part].Linear.tangent(v, b.ranges[part][0], b.ranges[part][1], b.p.Conditions.Total)
	if ok {
		x.addTangent(b, k, t)
	}
	return ok
}

// setColumnBounds sets the bounds of the columns to those of a box. The logs are bounded below by least.
func (b *Bounder) setColumnBounds(n *box) {
	x := b.x
	for j := range x.first {
		b.lo[j], b.hi[j] = b.columnBounds(n, j)
	}
	for k, part := range x.linear {
		b.hi[x.first+k] = b.most[part]
		b.lo[x.first+k] = min(least, b.most[part])
	}
	for k := range x.lo {
		b.lo[x.first+len(x.linear)+k], b.hi[x.first+len(x.linear)+k] = x.lo[k], x.hi[k]
	}
}

// begin computes a cheap bound of a box, and keeps the box if it may contain a better composition
// than is known.
func (b *Bounder) begin(n *box) {
	b.nodes++
	n.rest = 0
	for k := range b.p.Factors {
		switch p := &b.p.Factors[k]; {
		case p.hasColumn() && b.tableau != nil:
		case p.hasColumn():
			n.rest = addLogs(n.rest, b.single(n, p))
		case p.isBoundedByForms():
			n.rest = addLogs(n.rest, b.boundFactor(n, k))
		case b.from[k+1] == b.from[k]:
			n.rest = addLogs(n.rest, b.most[k])
		}
	}
	n.rest = addLogs(n.rest, b.sumOfLinear(n))
	if n.above = min(n.above, b.sum(n)); !b.pruneBox(n) {
		b.push(n)
	}
}

// bound computes a box's bound and where to divide it, as long as no other box has a higher bound.
// It keeps the box if it may contain a better composition than is known.
func (b *Bounder) bound(n *box) error {
	for b.refinePiece(n) {
		if n.above = min(n.above, b.sum(n)); b.pruneBox(n) {
			return nil
		}
		if len(b.open) > 0 && b.open[0].above > n.above {
			b.push(n)
			return nil
		}
	}
	rest, formed := 0.0, 0.0 // of the parts that are not in the program
	for k := range b.p.Factors {
		switch p := &b.p.Factors[k]; {
		case p.hasColumn() && b.tableau != nil:
		case p.hasColumn():
			rest = addLogs(rest, b.single(n, p))
		case p.isBoundedByForms():
			formed = addLogs(formed, b.boundFactor(n, k))
		case b.from[k+1] == b.from[k]:
			rest = addLogs(rest, b.most[k])
		default:
			rest = addLogs(rest, b.joinPieces(k, n.pieces))
		}
	}
	linear := b.sumOfLinear(n)
	var amounts, uses []float64
	var empty bool
	if b.probe != nil {
		if amounts, uses, formed, empty = b.boundByForms(n); empty {
			return nil
		}
		if n.above = min(n.above, addLogs(addLogs(rest, formed), linear)); b.pruneBox(n) {
			return nil
		}
	}
	rest = addLogs(rest, formed)
	if b.tableau != nil {
		if amounts, uses, empty = b.solve(n, rest); empty || b.pruneBox(n) {
			return nil
		}
	}
	if err := b.round(n, amounts, uses); err != nil {
		return err
	}
	if b.pruneBox(n) {
		return nil
	}
	if !b.choose(n, amounts, uses) {
		return b.point(n)
	}
	n.bounded = true
	b.push(n)
	return nil
}

// addLogs returns the sum of logs. It is −Inf if either is, whatever the other.
func addLogs(a, b float64) float64 {
	if math.IsInf(a, -1) || math.IsInf(b, -1) {
		return math.Inf(-1)
	}
	return a + b
}

// sumOfLinear returns the sum of the separate bounds of the factors in the program.
func (b *Bounder) sumOfLinear(n *box) (sum float64) {
	if b.tableau != nil {
		for _, k := range b.x.linear {
			sum = addLogs(sum, min(b.most[k], b.single(n, &b.p.Factors[k])))
		}
	}
	return sum
}

// boundFactor returns a factor's own bound in a box.
func (b *Bounder) boundFactor(n *box, part int) float64 {
	p := &b.p.Factors[part]
	switch {
	case p.MaxOverForms != nil:
		return min(b.most[part], p.MaxOverForms(func(perUnit, perUse []float64) float64 {
			return b.greatestOf(n, &Linear{PerUnit: perUnit, PerUse: perUse}, 1)
		}))
	case b.from[part+1] == b.from[part]:
		return b.most[part]
	}
	b.setAmountBounds(n)
	of := make([]float64, len(b.pieces))
	for k := b.from[part]; k < b.from[part+1]; k++ {
		above, steps, _, _ := b.pieces[k].of(b.least, b.greatest, b.maxUsed())
		of[k] = above
		b.work += steps
	}
	return b.joinPieces(part, of)
}

// maxUsed returns the most ingredients that may be used.
func (b *Bounder) maxUsed() int {
	for n := len(b.p.Sizes) - 1; n > 0; n-- {
		if b.p.Sizes[n] {
			return n
		}
	}
	return 0
}

// setAmountBounds sets the bounds of each ingredient's amount in a box.
func (b *Bounder) setAmountBounds(n *box) {
	k := 0
	for i, d := range b.doses {
		if d.N > 0 {
			b.least[i], b.greatest[i] = n.lo[2*k], n.hi[2*k]
			k++
		}
	}
}

// pruneBox drops a box if it contains nothing better than is known.
func (b *Bounder) pruneBox(n *box) bool {
	if n.above > b.incumbent+scoreTolerance {
		return false
	}
	b.prunedBound = max(b.prunedBound, n.above)
	return true
}

// The limits of pivots and of rounds of tangents for one box.
const (
	mostPivots = 400
	firstCuts  = 15
	laterCuts  = 3
)

// solve solves the program of a box and updates the box's bound. It returns the solution, or that
// the box is empty.
func (b *Bounder) solve(n *box, rest float64) (amounts, uses []float64, empty bool) {
	x, t := b.x, b.tableau
	b.setColumnBounds(n)
	t.SetBounds(b.lo, b.hi)
	cuts := laterCuts
	if n.depth == 0 {
		cuts = firstCuts
	}
	again := true
	if t.Work-b.refreshed > int64(100*t.Size()) {
		t.Refresh()
		b.refreshed = t.Work
	}
	for {
		v, row := t.Solve(mostPivots, b.incumbent-rest-1e-6)
		if v == linprog.Infeasible && x.UpperBound(nil, t.FarkasMultipliers(row), b.lo, b.hi) < 0 {
			b.work += int64(x.Entries)
			return nil, nil, true
		}
		above := x.UpperBound(x.Cost, t.Weights(), b.lo, b.hi)
		b.work += int64(x.Entries)
		if above+rest < n.above {
			n.above = above + rest
		}
		if n.above <= b.incumbent+scoreTolerance {
			return nil, nil, false
		}
		if v != linprog.Optimal || above > t.Objective()+1e-7 {
			if again {
				again = false
				t.Refresh()
				b.refreshed = t.Work
				continue
			}
			break
		}
		if cuts--; cuts < 0 || !b.addCuts() {
			break
		}
	}
	for k := range x.ingredients {
		amounts, uses = append(amounts, t.Value[2*k]/x.unit), append(uses, t.Value[2*k+1])
	}
	return amounts, uses, false
}

// addCuts adds tangents where the solution's logs exceed the factors' logs.
func (b *Bounder) addCuts() (added bool) {
	x, t := b.x, b.tableau
	for k, part := range x.linear {
		l := b.p.Factors[part].Linear
		if l == nil {
			at := make([]float64, len(b.doses))
			for q, i := range x.ingredients {
				at[i] = max(t.Value[2*q], 0) / x.unit
			}
			added = b.addConcaveTangent(k, at) || added
			continue
		}
		v := l.Constant
		for _, e := range x.form(l) {
			v += float64(e.Factor * t.Value[e.Column])
		}
		v = min(max(v, b.ranges[part][0]), b.ranges[part][1])
		if t.Value[x.first+k] > max(l.Log(v), l.Floor)+1e-10 && b.addLinearTangent(k, v) {
			added = true
		}
	}
	if added {
		t.AppendRows()
	}
	return added
}

// divide divides a box and bounds its halves.
func (b *Bounder) divide(n *box) error {
	low, high := n.clone(), n.clone()
	low.hi[n.column], high.lo[n.column] = n.cut, n.cut+1
	halves := [2]*box{low, high}
	if n.upper {
		halves = [2]*box{high, low}
	}
	for _, h := range halves {
		if !b.snapBounds(h, n.column/2) || !b.tighten(h) {
			continue
		}
		b.begin(h)
	}
	return nil
}

// integralityTolerance is the distance from a whole number at which a use or an amount counts as
// fractional.
const integralityTolerance = 1e-6

// choose chooses where to divide a box. It returns false if the box is one composition.
func (b *Bounder) choose(n *box, amounts, uses []float64) bool {
	if b.hasBoxedFactor() {
		return b.chooseAlong(n) || b.chooseBoxed(n, amounts, uses)
	}
	column, most := -1, integralityTolerance
	for k := range len(uses) {
		if off := min(uses[k], 1-uses[k]); n.lo[2*k+1] < n.hi[2*k+1] && off > most {
			column, most = 2*k+1, off
		}
	}
	if column >= 0 {
		n.column, n.cut, n.upper = column, 0, uses[column/2] > 0.5 || amounts[column/2] > 1
		return true
	}
	for k := range len(amounts) {
		if n.lo[2*k+1] == 0 || n.lo[2*k] == n.hi[2*k] {
			continue
		}
		step := float64(b.doses[b.x.ingredients[k]].Step)
		over := (amounts[k] - float64(n.lo[2*k])) / step
		if off := math.Abs(over - math.Round(over)); off > most {
			column, most = 2*k, off
		}
	}
	if column >= 0 {
		d := b.doses[b.x.ingredients[column/2]]
		over := (amounts[column/2] - float64(n.lo[column])) / float64(d.Step)
		n.cut = n.lo[column] + int32(math.Floor(over))*int32(d.Step)
		n.column, n.cut = column, min(max(n.cut, n.lo[column]), n.hi[column]-1)
		n.upper = over-math.Floor(over) > 0.5
		return true
	}
	return b.chooseWide(n, amounts)
}

// chooseWide divides the widest interval.
func (b *Bounder) chooseWide(n *box, amounts []float64) bool {
	column, most := -1, int32(0)
	for k := range len(n.lo) / 2 {
		wide := n.hi[2*k] - n.lo[2*k]
		if n.lo[2*k+1] < n.hi[2*k+1] {
			wide += int32(b.p.Conditions.Total) // whether it is used comes first
		}
		if wide > most {
			column, most = 2*k, wide
		}
	}
	if column < 0 {
		return false
	}
	if n.lo[column+1] < n.hi[column+1] {
		n.column, n.cut, n.upper = column+1, 0, true
		return true
	}
	n.column, n.cut = column, n.lo[column]+(n.hi[column]-n.lo[column])/2
	if amounts != nil {
		if at := int32(math.Round(amounts[column/2])); n.lo[column] < at && at < n.hi[column] {
			n.cut = at
		}
	}
	n.upper = false
	return true
}

// hasBoxedFactor reports whether a factor bounds itself in a box.
func (b *Bounder) hasBoxedFactor() bool {
	return slices.ContainsFunc(b.p.Factors, Factor.isBoxed)
}

func (p Factor) isBoxed() bool {
	return !p.hasColumn() && (p.Box != nil || p.Pieces != nil || p.MaxOverForms != nil)
}

// littleBy is the least effect on the log for which a factor's proposal to divide counts.
const littleBy = 0.01

// chooseAlong divides a box along a factor's proposal, at the middle of the roots of amounts.
func (b *Bounder) chooseAlong(n *box) bool {
	if n.branchIngredient < 0 || n.branchGain < littleBy {
		return false
	}
	k, _ := slices.BinarySearch(b.usable, n.branchIngredient)
	if n.lo[2*k] == n.hi[2*k] {
		return false
	}
	if n.lo[2*k+1] < n.hi[2*k+1] {
		n.column, n.cut, n.upper = 2*k+1, 0, false
		return true
	}
	root := float64((math.Sqrt(float64(n.lo[2*k])) + math.Sqrt(float64(n.hi[2*k]))) / 2)
	n.column, n.cut, n.upper = 2*k, min(max(int32(root*root), n.lo[2*k]), n.hi[2*k]-1), false
	if n.lo[2*k] == 0 && n.cut < int32(b.doses[n.branchIngredient].Lo) {
		n.cut = 0 // whether it is used
	}
	return true
}

// mostTried is the most places tried for dividing a box.
const mostTried = 12

// chooseBoxed divides a box where that lowers the factors' bounds in its halves most.
func (b *Bounder) chooseBoxed(n *box, amounts, uses []float64) bool {
	type place struct {
		column int
		cut    int32
		wide   float64
	}
	var places []place
	for k := range len(n.lo) / 2 {
		wide := float64(n.hi[2*k] - n.lo[2*k])
		switch {
		case wide == 0:
		case n.lo[2*k+1] < n.hi[2*k+1]:
			if uses != nil {
				wide += float64(float64(b.p.Conditions.Total) * min(uses[k], 1-uses[k]))
			}
			places = append(places, place{2*k + 1, 0, float64(2 * wide)})
		default:
			places = append(places, place{2 * k, n.lo[2*k] + (n.hi[2*k]-n.lo[2*k])/2, wide})
		}
	}
	if len(places) == 0 {
		return false
	}
	slices.SortStableFunc(places, func(p, q place) int {
		switch {
		case p.wide > q.wide:
			return -1
		case p.wide < q.wide:
			return 1
		}
		return 0
	})
	best, most := 0, -1.0
	here := b.allBoxed(n)
	for at, p := range places[:min(len(places), mostTried)] {
		low, high := n.clone(), n.clone()
		low.hi[p.column], high.lo[p.column] = p.cut, p.cut+1
		gain := [2]float64{}
		for q, h := range [...]*box{low, high} {
			if !b.snapBounds(h, p.column/2) {
				gain[q] = 10
				continue
			}
			if gain[q] = min(here-b.allBoxed(h), 10); math.IsNaN(gain[q]) {
				gain[q] = 0 // both are infinite
			}
		}
		if g := float64(max(gain[0], 1e-6) * max(gain[1], 1e-6)); g > most {
			best, most = at, g
		}
	}
	n.column, n.cut = places[best].column, places[best].cut
	n.upper = uses != nil && n.column%2 == 1 && uses[n.column/2] > 0.5
	return true
}

// allBoxed returns the sum of the bounds of the factors outside the program.
func (b *Bounder) allBoxed(n *box) (sum float64) {
	for k := range b.p.Factors {
		if b.p.Factors[k].isBoxed() {
			sum = addLogs(sum, b.boundFactor(n, k))
		}
	}
	return sum
}

// point scores the single composition of a box.
func (b *Bounder) point(n *box) error {
	var parts []rule.Part
	total, k := 0, 0
	for i, d := range b.doses {
		if d.N == 0 {
			continue
		}
		if a := int(n.lo[2*k]); a > 0 {
			parts = append(parts, rule.Part{Ingredient: i, Amount: a})
			total += a
		}
		k++
	}
	if total != b.p.Conditions.Total || len(parts) >= len(b.p.Sizes) || !b.p.Sizes[len(parts)] || !b.p.Conditions.Keeps(parts) {
		return nil
	}
	return b.offer(parts)
}
