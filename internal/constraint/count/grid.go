package count

import (
	"context"
	"kir/internal/browsersched"
	"math/big"
)

// A grid is a table of counts for a set of ingredients. The entry (k, u) is the number of ways in which exactly
// k of the ingredients are used and take u units in all. The entries are the coefficients of the generating
// function Σ count·z^k·y^u for k up to maxUsedOnward and u up to maxUnits.
//
// The grid has one row for each number of used ingredients. An [arithmetic] defines the numbers: exact modulo a
// prime, floating-point, or only zero and not zero. R is the type of the cells of a row, and C is the type of a
// factor of a row.
type grid[R, C any] struct {
	arith             arithmetic[R, C]
	rows              []row[R]  // rows[k] holds the counts for k used ingredients
	maxUsed, maxUnits int       // limits of the table
	spareRows         [2]row[R] // buffers of [grid.shiftRepeatedly]
}

// A row holds the counts for one number of used ingredients: cell u is the count for u units. Counts outside
// lo..hi are zero. A row with lo > hi is empty, and the cells of an empty row may not exist yet.
type row[R any] struct {
	cells      R
	cellsExist bool // whether the cells exist; existing cells are zero outside lo..hi
	lo, hi     int
}

func (r *row[R]) isEmpty() bool { return r.lo > r.hi }

// An arithmetic defines the numbers of a [grid], and computes with the cells of rows. Cell u of a row is the
// count for u units.
type arithmetic[R, C any] interface {
	// row returns a new row with the cells for 0..n−1 units, all zero.
	row(n int) R

	// setOne sets cell u of r to one.
	setOne(r R, u int)

	// clear sets the cells lo..hi of r to zero.
	clear(r R, lo, hi int)

	// window adds to each cell u ≤ maxUnits of dst the sum of the cells u−a of src over all amounts a of k. The
	// cells of src are zero outside lo..hi.
	window(dst, src R, lo, hi int, k amountSet, maxUnits int)

	// coefficient converts a whole number to a factor for rows.
	coefficient(c *big.Int) C

	// add adds c·src[u] to dst[u+up] for each u from lo to hi.
	add(dst, src R, lo, hi, up int, c C)

	// multiply returns the product of two grids, cut off at maxUsedOnward and maxUnits.
	multiply(a, b *grid[R, C], maxUsed, maxUnits int) *grid[R, C]
}

// newGrid returns the grid of no ingredients. The only count that is not zero is 1, for no used ingredient and
// no units.
func newGrid[R, C any](arith arithmetic[R, C], maxUsed, maxUnits int) *grid[R, C] {
	g := emptyGrid(arith, maxUsed, maxUnits)
	g.ensureCells(&g.rows[0])
	g.arith.setOne(g.rows[0].cells, 0)
	g.rows[0].lo, g.rows[0].hi = 0, 0
	return g
}

// emptyGrid returns a grid in which all counts are zero.
func emptyGrid[R, C any](arith arithmetic[R, C], maxUsed, maxUnits int) *grid[R, C] {
	g := &grid[R, C]{arith: arith, rows: make([]row[R], maxUsed+1), maxUsed: maxUsed, maxUnits: maxUnits}
	for k := range g.rows {
		g.rows[k].hi = -1
	}
	g.freeScratch()
	return g
}

// freeScratch drops the two spare rows, which only [grid.shiftRepeatedly] uses.
func (g *grid[R, C]) freeScratch() { g.spareRows = [2]row[R]{{hi: -1}, {hi: -1}} }

// ensureCells allocates the cells of a row unless the cells exist.
func (g *grid[R, C]) ensureCells(r *row[R]) {
	if !r.cellsExist {
		r.cells, r.cellsExist = g.arith.row(g.maxUnits+1), true
	}
}

// eraseRow sets all counts of a row to zero.
func (g *grid[R, C]) eraseRow(r *row[R]) {
	if !r.isEmpty() {
		g.arith.clear(r.cells, r.lo, r.hi)
	}
	r.lo, r.hi = 0, -1
}

// widenRange widens the range lo..hi of the row r to include the given range.
func (r *row[R]) widenRange(lo, hi int) {
	if r.isEmpty() {
		r.lo, r.hi = lo, hi
		return
	}
	r.lo, r.hi = min(r.lo, lo), max(r.hi, hi)
}

// addShiftedRow adds to dst, for each amount a of k, the row src moved up by a units. So dst gets the counts
// after one more used ingredient that may have the amounts k.
func (g *grid[R, C]) addShiftedRow(dst, src *row[R], k amountSet) {
	if src.isEmpty() || src.lo+k.lo > g.maxUnits {
		return
	}
	g.ensureCells(dst)
	g.arith.window(dst.cells, src.cells, src.lo, src.hi, k, g.maxUnits)
	dst.widenRange(src.lo+k.lo, min(src.hi+k.hi(), g.maxUnits))
}

// shiftRepeatedly computes the counts of src after j = 1, 2, ..., maxMore more used ingredients, each of which
// may have the amounts k. For each j, shiftRepeatedly calls the function each with j and the row of counts, which
// is valid only during the call. shiftRepeatedly stops early when a row is empty.
func (g *grid[R, C]) shiftRepeatedly(src *row[R], k amountSet, maxMore int, each func(j int, r *row[R])) {
	for j := 1; j <= maxMore; j++ {
		dst := &g.spareRows[j%2]
		g.eraseRow(dst)
		g.addShiftedRow(dst, src, k)
		if dst.isEmpty() {
			return
		}
		each(j, dst)
		src = dst
	}
}

// addScaledRow adds c·src to dst.
func (g *grid[R, C]) addScaledRow(dst, src *row[R], c C) {
	if src.isEmpty() {
		return
	}
	g.ensureCells(dst)
	g.arith.add(dst.cells, src.cells, src.lo, src.hi, 0, c)
	dst.widenRange(src.lo, src.hi)
}

// multiplyClass multiplies the grid by the generating function of a class c of m ingredients with the amounts a:
// (1 + z·Σ_a y^a)^m, or (z·Σ_a y^a)^m if the ingredients are required. The row of i used ingredients contributes
// to the row of i+j used ingredients. The contribution is the number of ways to choose the amounts of j
// ingredients, computed by j windows, times C(m, j). Rows are taken in order of decreasing i, so that no row is
// read after the row was changed. A window (see [arithmetic]) takes one step for each unit, so a class takes at
// most min(m, maxUsedOnward)·maxUsedOnward·maxUnits steps.
func (g *grid[R, C]) multiplyClass(c *class) {
	m := len(c.members)
	if c.required {
		g.requireClass(g.rows, c.amounts, m)
		return
	}
	if m == 1 {
		for i := g.maxUsed - 1; i >= 0; i-- {
			g.addShiftedRow(&g.rows[i+1], &g.rows[i], c.amounts)
		}
		return
	}
	choose := g.coefficients(m, min(m, g.maxUsed))
	for i := g.maxUsed - 1; i >= 0; i-- {
		g.shiftRepeatedly(&g.rows[i], c.amounts, min(m, g.maxUsed-i), func(j int, r *row[R]) {
			g.addScaledRow(&g.rows[i+j], r, choose[j])
		})
	}
}

// coefficients returns the binomial coefficients C(m, j) for j = 0..maxJ as factors for rows.
func (g *grid[R, C]) coefficients(m, maxJ int) []C {
	out := make([]C, maxJ+1)
	for j, c := range binomials(m, maxJ) {
		out[j] = g.arith.coefficient(c)
	}
	return out
}

// addShiftedTimes adds to dst the counts of src after m more used ingredients, each of which may have the amounts
// k.
func (g *grid[R, C]) addShiftedTimes(dst, src *row[R], k amountSet, m int) {
	if m == 1 {
		g.addShiftedRow(dst, src, k)
		return
	}
	g.shiftRepeatedly(src, k, m-1, func(j int, r *row[R]) {
		if j == m-1 {
			g.addShiftedRow(dst, r, k)
		}
	})
}

// requireClass replaces the counts in rows by the counts after m more ingredients, all used, each of which may
// have the amounts k. So row i moves to row i+m.
func (g *grid[R, C]) requireClass(rows []row[R], k amountSet, m int) {
	for i := len(rows) - 1; i >= 0; i-- {
		if i+m < len(rows) {
			g.eraseRow(&rows[i+m])
			g.addShiftedTimes(&rows[i+m], &rows[i], k, m)
		}
		if i < m {
			g.eraseRow(&rows[i])
		}
	}
}

// multiplyThinGroup multiplies the grid by the generating function of a thin group q, that is, a group that
// limits only how many of the members are used. The method adds the classes of the group one by one. Meanwhile
// the method keeps one copy of the grid, called a layer, for each number of used members.
func (g *grid[R, C]) multiplyThinGroup(q *groupNode) {
	most := q.used.Max
	layers := make([]*grid[R, C], most+1)
	layers[0] = g
	for j := 1; j <= most; j++ {
		layers[j] = emptyGrid(g.arith, g.maxUsed, g.maxUnits)
	}
	for c := range q.classes {
		class := &q.classes[c]
		m := len(class.members)
		if class.required {
			g.requireLayers(layers, class.amounts, m)
			continue
		}
		choose := g.coefficients(m, min(m, most))
		for j := most - 1; j >= 0; j-- {
			for i := 0; i < g.maxUsed; i++ {
				if m == 1 {
					g.addShiftedRow(&layers[j+1].rows[i+1], &layers[j].rows[i], class.amounts)
					continue
				}
				g.shiftRepeatedly(&layers[j].rows[i], class.amounts, min(m, most-j, g.maxUsed-i), func(s int, r *row[R]) {
					g.addScaledRow(&layers[j+s].rows[i+s], r, choose[s])
				})
			}
		}
	}
	one := g.arith.coefficient(big.NewInt(1))
	for j, layer := range layers {
		for i := range g.rows {
			switch {
			case j == 0 && q.used.Min > 0:
				g.eraseRow(&g.rows[i])
			case j > 0 && j >= q.used.Min:
				g.addScaledRow(&g.rows[i], &layer.rows[i], one)
			}
		}
	}
}

// requireLayers replaces the layers of multiplyThinGroup by the layers after m more members, all used, each of
// which may have the amounts k. So row i of layer j moves to row i+m of layer j+m.
func (g *grid[R, C]) requireLayers(layers []*grid[R, C], k amountSet, m int) {
	for j := len(layers) - 1; j >= 0; j-- {
		for i := range g.rows {
			if j+m < len(layers) && i+m <= g.maxUsed {
				to := &layers[j+m].rows[i+m]
				g.eraseRow(to)
				g.addShiftedTimes(to, &layers[j].rows[i], k, m)
			}
		}
		if j+m < len(layers) {
			for i := range min(m, g.maxUsed+1) {
				g.eraseRow(&layers[j+m].rows[i])
			}
		}
		if j < m {
			for i := range g.rows {
				g.eraseRow(&layers[j].rows[i])
			}
		}
	}
}

// applyLimits sets a count to zero if the limits of the group q forbid the number of used ingredients or the
// units.
func (g *grid[R, C]) applyLimits(q *groupNode) {
	for k := range g.rows {
		r := &g.rows[k]
		switch {
		case r.isEmpty():
		case !q.used.contains(k) || r.hi < q.units.Min || r.lo > q.units.Max:
			g.eraseRow(r)
		default:
			if r.lo < q.units.Min {
				g.arith.clear(r.cells, r.lo, q.units.Min-1)
				r.lo = q.units.Min
			}
			if r.hi > q.units.Max {
				g.arith.clear(r.cells, q.units.Max+1, r.hi)
				r.hi = q.units.Max
			}
		}
	}
}

// maxThinPasses is the maximum number of passes over a grid up to which multiplyThinGroup is cheaper than
// multiplying by the grid of the group.
const maxThinPasses = 64

// isThin reports whether [grid.multiplyThinGroup] should add the group to a grid. If so, the group limits only
// the number of used members, and adding the group takes few passes over the grid.
func (q *groupNode) isThin(units int) bool {
	if len(q.groups) > 0 || q.units.Min > 0 || q.units.Max < units {
		return false
	}
	passes := 0
	for _, c := range q.classes {
		passes += min(len(c.members), q.used.Max) * q.used.Max
	}
	return passes <= maxThinPasses
}

// factorGrids returns grids whose product is the grid of the ingredients of the group, without the limits of the
// group itself. If the group has classes or thin groups (see [groupNode.isThin]), the first grid is the grid of
// all these. Each other grid is the grid of one further group within the group, with the limits of that group
// applied.
func factorGrids[R, C any](ctx context.Context, arith arithmetic[R, C], group *groupNode) ([]*grid[R, C], error) {
	own := newGrid(arith, group.maxUsed, group.maxUnits)
	simple := len(group.classes) > 0 || len(group.groups) == 0
	for c := range group.classes {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		own.multiplyClass(&group.classes[c])
	}
	var factors []*grid[R, C]
	for _, sub := range group.groups {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		if sub.isThin(group.maxUnits) {
			own.multiplyThinGroup(sub)
			simple = true
			continue
		}
		parts, err := factorGrids(ctx, arith, sub)
		if err != nil {
			return nil, err
		}
		whole, err := multiplyAll(ctx, arith, parts, sub.maxUsed, sub.maxUnits)
		if err != nil {
			return nil, err
		}
		whole.applyLimits(sub)
		factors = append(factors, whole)
	}
	if simple {
		own.freeScratch()
		factors = append([]*grid[R, C]{own}, factors...)
	}
	return factors, nil
}

// multiplyAll multiplies grids until one grid is left. multiplyAll always multiplies the two smallest grids.
func multiplyAll[R, C any](ctx context.Context, arith arithmetic[R, C], factors []*grid[R, C], maxUsed, maxUnits int) (*grid[R, C], error) {
	factors, err := multiplyUntil(ctx, arith, factors, 1, maxUsed, maxUnits)
	if err != nil {
		return nil, err
	}
	return factors[0], nil
}

// multiplyUntil multiplies grids until at most maxFactors grids are left. multiplyUntil always multiplies the
// two smallest grids.
func multiplyUntil[R, C any](ctx context.Context, arith arithmetic[R, C], factors []*grid[R, C], maxFactors, maxUsed, maxUnits int) ([]*grid[R, C], error) {
	for len(factors) > maxFactors {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		a := removeSmallestGrid(&factors)
		b := removeSmallestGrid(&factors)
		factors = append(factors, arith.multiply(a, b, min(a.maxUsed+b.maxUsed, maxUsed), min(a.maxUnits+b.maxUnits, maxUnits)))
	}
	return factors, nil
}

// removeSmallestGrid removes the grid with the fewest cells from the list and returns the grid.
func removeSmallestGrid[R, C any](list *[]*grid[R, C]) *grid[R, C] {
	least := 0
	for i, g := range *list {
		if g.cellCount() < (*list)[least].cellCount() {
			least = i
		}
	}
	g := (*list)[least]
	*list = append((*list)[:least], (*list)[least+1:]...)
	return g
}

func (g *grid[R, C]) cellCount() int { return (g.maxUsed + 1) * (g.maxUnits + 1) }
