package count

import (
	"context"
	"kir/internal/browsersched"
	"math/big"
)

// A grid is a table of counts for a set of ingredients. The entry (used, units) is the number of ways to use so many
// of the ingredients for so many units in all. It holds the coefficients of the generating function Σ
// count·z^used·y^units up to maxUsed and maxUnits.
//
// The grid has one row for each number used. An [arithmetic] defines the numbers: exact modulo a prime,
// floating-point, or only zero and not zero. R is the type of a row's cells, C that of a factor on a row.
type grid[R, C any] struct {
	arith             arithmetic[R, C]
	rows              []row[R]
	maxUsed, maxUnits int
	spareRows         [2]row[R]
}

// A row holds the counts for one number of used ingredients, by units. Counts outside lo..hi are zero. A row with lo
// > hi is empty, and its cells may not exist yet.
type row[R any] struct {
	cells  R
	ready  bool // whether cells exists; if so, it is zero outside lo..hi
	lo, hi int
}

func (r *row[R]) empty() bool { return r.lo > r.hi }

// An arithmetic computes with the cells of rows. Cell u of a row is the count for u units.
type arithmetic[R, C any] interface {
	// row returns new cells for 0..n−1 units, all zero.
	row(n int) R

	// one sets cell u to one.
	one(r R, u int)

	// clear sets the cells lo..hi to zero.
	clear(r R, lo, hi int)

	// window adds to each cell u ≤ top of dst the sum of the cells u−a of src over all amounts a of k. src is
	// zero outside lo..hi.
	window(dst, src R, lo, hi int, k amountSet, top int)

	// coefficient converts a whole number to a factor for rows.
	coefficient(c *big.Int) C

	// add adds c·src[u] to dst[u+up] for each u from lo to hi.
	add(dst, src R, lo, hi, up int, c C)

	// multiply returns the product of two grids, cut off at maxUsed and maxUnits.
	multiply(a, b *grid[R, C], maxUsed, maxUnits int) *grid[R, C]
}

// newGrid returns the grid of no ingredients, whose only count is 1: no ingredient used and no units.
func newGrid[R, C any](arith arithmetic[R, C], maxUsed, maxUnits int) *grid[R, C] {
	g := emptyGrid(arith, maxUsed, maxUnits)
	g.ensureCells(&g.rows[0])
	g.arith.one(g.rows[0].cells, 0)
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

// freeScratch drops the two spare rows, which only [grid.chain] uses.
func (g *grid[R, C]) freeScratch() { g.spareRows = [2]row[R]{{hi: -1}, {hi: -1}} }

// ensureCells allocates the cells of a row unless they exist.
func (g *grid[R, C]) ensureCells(r *row[R]) {
	if !r.ready {
		r.cells, r.ready = g.arith.row(g.maxUnits+1), true
	}
}

// erase sets all counts of a row to zero.
func (g *grid[R, C]) erase(r *row[R]) {
	if !r.empty() {
		g.arith.clear(r.cells, r.lo, r.hi)
	}
	r.lo, r.hi = 0, -1
}

// grow widens the range of nonzero counts of r to include lo..hi.
func (r *row[R]) grow(lo, hi int) {
	if r.empty() {
		r.lo, r.hi = lo, hi
		return
	}
	r.lo, r.hi = min(r.lo, lo), max(r.hi, hi)
}

// shift adds to dst the counts of src after one more used ingredient, whose amounts are k.
func (g *grid[R, C]) shift(dst, src *row[R], k amountSet) {
	if src.empty() || src.lo+k.lo > g.maxUnits {
		return
	}
	g.ensureCells(dst)
	g.arith.window(dst.cells, src.cells, src.lo, src.hi, k, g.maxUnits)
	dst.grow(src.lo+k.lo, min(src.hi+k.hi(), g.maxUnits))
}

// chain computes the counts of src after j = 1, 2, ..., most more used ingredients with the amounts k, and calls each
// with j and the row. It stops when a row is empty. The row is valid only during the call.
func (g *grid[R, C]) chain(src *row[R], k amountSet, most int, each func(j int, r *row[R])) {
	for j := 1; j <= most; j++ {
		dst := &g.spareRows[j%2]
		g.erase(dst)
		g.shift(dst, src, k)
		if dst.empty() {
			return
		}
		each(j, dst)
		src = dst
	}
}

// addTo adds c·src to dst.
func (g *grid[R, C]) addTo(dst, src *row[R], c C) {
	if src.empty() {
		return
	}
	g.ensureCells(dst)
	g.arith.add(dst.cells, src.cells, src.lo, src.hi, 0, c)
	dst.grow(src.lo, src.hi)
}

// extend multiplies the grid by the generating function of a class of m ingredients of one kind: (1
// + z·Σ_a y^a)^m, or (z·Σ_a y^a)^m if they are required. The row of i used contributes to those of
// i+j: the ways to choose the amounts of j ingredients, computed by j windows, times C(m, j). Rows
// are taken in order of decreasing i, so that none is read after it was changed. Each window takes
// a step a unit, so a class costs at most min(m, maxUsed)·maxUsed·maxUnits steps.
func (g *grid[R, C]) extend(c *class) {
	m := len(c.members)
	if c.required {
		g.require(g.rows, c.kind, m)
		return
	}
	if m == 1 {
		for i := g.maxUsed - 1; i >= 0; i-- {
			g.shift(&g.rows[i+1], &g.rows[i], c.kind)
		}
		return
	}
	choose := g.coefficients(m, min(m, g.maxUsed))
	for i := g.maxUsed - 1; i >= 0; i-- {
		g.chain(&g.rows[i], c.kind, min(m, g.maxUsed-i), func(j int, r *row[R]) {
			g.addTo(&g.rows[i+j], r, choose[j])
		})
	}
}

// coefficients returns the binomials C(m, j) for j = 0..most as factors for rows.
func (g *grid[R, C]) coefficients(m, most int) []C {
	out := make([]C, most+1)
	for j, c := range binomials(m, most) {
		out[j] = g.arith.coefficient(c)
	}
	return out
}

// shiftAll adds to dst the counts of src after m more used ingredients, each with the amounts k.
func (g *grid[R, C]) shiftAll(dst, src *row[R], k amountSet, m int) {
	if m == 1 {
		g.shift(dst, src, k)
		return
	}
	g.chain(src, k, m-1, func(j int, r *row[R]) {
		if j == m-1 {
			g.shift(dst, r, k)
		}
	})
}

// require replaces the counts by those after m more ingredients with the amounts k, all of which are used. So row i
// moves to row i+m.
func (g *grid[R, C]) require(rows []row[R], k amountSet, m int) {
	for i := len(rows) - 1; i >= 0; i-- {
		if i+m < len(rows) {
			g.erase(&rows[i+m])
			g.shiftAll(&rows[i+m], &rows[i], k, m)
		}
		if i < m {
			g.erase(&rows[i])
		}
	}
}

// absorb multiplies the grid by the generating function of a thin group, which limits only how many of its members
// are used. It adds the group's classes one by one. Meanwhile it keeps one copy of the grid, a layer, for each number
// of members used.
func (g *grid[R, C]) absorb(q *groupNode) {
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
			g.requireLayers(layers, class.kind, m)
			continue
		}
		choose := g.coefficients(m, min(m, most))
		for j := most - 1; j >= 0; j-- {
			for i := 0; i < g.maxUsed; i++ {
				if m == 1 {
					g.shift(&layers[j+1].rows[i+1], &layers[j].rows[i], class.kind)
					continue
				}
				g.chain(&layers[j].rows[i], class.kind, min(m, most-j, g.maxUsed-i), func(s int, r *row[R]) {
					g.addTo(&layers[j+s].rows[i+s], r, choose[s])
				})
			}
		}
	}
	one := g.arith.coefficient(big.NewInt(1))
	for j, layer := range layers {
		for i := range g.rows {
			switch {
			case j == 0 && q.used.Min > 0:
				g.erase(&g.rows[i])
			case j > 0 && j >= q.used.Min:
				g.addTo(&g.rows[i], &layer.rows[i], one)
			}
		}
	}
}

// requireLayers replaces the layers by those after m more members with the amounts k, all of which are used. So row i
// of layer j moves to row i+m of layer j+m.
func (g *grid[R, C]) requireLayers(layers []*grid[R, C], k amountSet, m int) {
	for j := len(layers) - 1; j >= 0; j-- {
		for i := range g.rows {
			if j+m < len(layers) && i+m <= g.maxUsed {
				to := &layers[j+m].rows[i+m]
				g.erase(to)
				g.shiftAll(to, &layers[j].rows[i], k, m)
			}
		}
		if j+m < len(layers) {
			for i := range min(m, g.maxUsed+1) {
				g.erase(&layers[j+m].rows[i])
			}
		}
		if j < m {
			for i := range g.rows {
				g.erase(&layers[j].rows[i])
			}
		}
	}
}

// mask sets the counts to zero that the limits of the group q forbid.
func (g *grid[R, C]) mask(q *groupNode) {
	for k := range g.rows {
		r := &g.rows[k]
		switch {
		case r.empty():
		case !q.used.contains(k) || r.hi < q.units.Min || r.lo > q.units.Max:
			g.erase(r)
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

// thinWork is the greatest number of passes over a grid at which absorbing a group is cheaper than multiplying by the
// group's own grid.
const thinWork = 64

// isThin reports whether [grid.absorb] should add the group. The group must limit only its number of used members,
// and take few passes over the grid.
func (q *groupNode) isThin(units int) bool {
	if len(q.groups) > 0 || q.units.Min > 0 || q.units.Max < units {
		return false
	}
	passes := 0
	for _, c := range q.classes {
		passes += min(len(c.members), q.used.Max) * q.used.Max
	}
	return passes <= thinWork
}

// evaluate returns grids whose product is the grid of the ingredients of q before q's own limits apply. The first is
// that of q's classes and thin groups, if q has any. Each further one is that of another group, within that group's
// limits.
func evaluate[R, C any](ctx context.Context, arith arithmetic[R, C], q *groupNode) ([]*grid[R, C], error) {
	own := newGrid(arith, q.maxUsed, q.maxUnits)
	simple := len(q.classes) > 0 || len(q.groups) == 0
	for c := range q.classes {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		own.extend(&q.classes[c])
	}
	var factors []*grid[R, C]
	for _, sub := range q.groups {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		if sub.isThin(q.maxUnits) {
			own.absorb(sub)
			simple = true
			continue
		}
		parts, err := evaluate(ctx, arith, sub)
		if err != nil {
			return nil, err
		}
		whole, err := product(ctx, arith, parts, sub.maxUsed, sub.maxUnits)
		if err != nil {
			return nil, err
		}
		whole.mask(sub)
		factors = append(factors, whole)
	}
	if simple {
		own.freeScratch()
		factors = append([]*grid[R, C]{own}, factors...)
	}
	return factors, nil
}

// product multiplies grids until one is left. It always multiplies the two smallest.
func product[R, C any](ctx context.Context, arith arithmetic[R, C], factors []*grid[R, C], maxUsed, maxUnits int) (*grid[R, C], error) {
	factors, err := reduce(ctx, arith, factors, 1, maxUsed, maxUnits)
	if err != nil {
		return nil, err
	}
	return factors[0], nil
}

// reduce multiplies grids until at most the number few are left. It always multiplies the two smallest.
func reduce[R, C any](ctx context.Context, arith arithmetic[R, C], factors []*grid[R, C], few, maxUsed, maxUnits int) ([]*grid[R, C], error) {
	for len(factors) > few {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		a := takeSmallest(&factors)
		b := takeSmallest(&factors)
		factors = append(factors, arith.multiply(a, b, min(a.maxUsed+b.maxUsed, maxUsed), min(a.maxUnits+b.maxUnits, maxUnits)))
	}
	return factors, nil
}

// takeSmallest removes the grid with the fewest cells from the list and returns it.
func takeSmallest[R, C any](list *[]*grid[R, C]) *grid[R, C] {
	least := 0
	for i, g := range *list {
		if g.cells() < (*list)[least].cells() {
			least = i
		}
	}
	g := (*list)[least]
	*list = append((*list)[:least], (*list)[least+1:]...)
	return g
}

func (g *grid[R, C]) cells() int { return (g.maxUsed + 1) * (g.maxUnits + 1) }
