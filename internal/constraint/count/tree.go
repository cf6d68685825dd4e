package count

import (
	"context"
	"math"
	"math/big"
	"slices"
	"sync"

	"kir/internal/browsersched"
	"kir/internal/portable"
)

// A node is a set of ingredients with its counts: rows[k] counts the compositions that use k of
// them, by units. A leaf is one class. Any other node joins two sets.
type node struct {
	rows        []series
	left, right *node
	class       *class // of a leaf

	// shares[k] of a leaf of several ingredients with an upper bound counts the ways to divide units
	// among k of them.
	shares []series

	// relativeError bounds the relative error of the numbers before rows were rounded, in units of
	// roundoff. Compensated sums do not add to it. Only tests read it.
	relativeError float64
}

// An item is an element of a tree: a class, or a group with its own tree.
type item struct {
	class *class
	group *groupNode
}

func (it item) members() int {
	if it.class != nil {
		return len(it.class.members)
	}
	return it.group.members
}

// items lists the elements of a part: its classes, and the groups that must be multiplied last.
func (q *groupNode) items() []item {
	var list []item
	for c := range q.classes {
		list = append(list, item{class: &q.classes[c]})
	}
	for _, thin := range []bool{true, false} {
		for _, g := range q.groups {
			if g.members > 0 && g.isThin(q.maxUnits) == thin {
				list = append(list, item{group: g})
			}
		}
	}
	return list
}

// halves divides a list of items in two parts with about the same number of members.
func halves(list []item) (left, right []item) {
	all := 0
	for _, it := range list {
		all += it.members()
	}
	cut, sum := 1, list[0].members()
	for cut < len(list)-1 && 2*sum+list[cut].members() <= all {
		sum += list[cut].members()
		cut++
	}
	return list[:cut], list[cut:]
}

// extendable reports whether a grid can be multiplied by the items one by one, and how many passes
// over the grid that takes.
func extendable(list []item, q *groupNode) (passes int, ok bool) {
	for _, it := range list {
		switch {
		case it.class != nil:
			passes += min(len(it.class.members), q.maxUsed)
		case it.group.isThin(q.maxUnits):
			for _, c := range it.group.classes {
				passes += it.group.used.Max * min(len(c.members), it.group.used.Max)
			}
		default:
			return 0, false
		}
	}
	return passes, true
}

// A treeBuilder builds the tree of nodes of a [Sampler], in several goroutines.
type treeBuilder struct {
	tilt    float64
	shares  map[shareKey][]series
	workers chan struct{} // holds a value for each worker that may still be started
}

// A shareKey identifies shares by kind and maximal units.
type shareKey struct {
	kind  amountSet
	units int
}

type pairGrid = grid[pair, real]

// buildGroup makes the tree of a part and the grid of its root. The root of the whole tree needs no
// grid.
func (b *treeBuilder) buildGroup(ctx context.Context, q *groupNode, root bool) (*node, *pairGrid, error) {
	n, g, err := b.buildItems(ctx, q, q.items(), root)
	if err != nil || root {
		return n, nil, err
	}
	g.mask(q)
	n.rows = rounded(g)
	return n, g, nil
}

// buildItems makes the tree of some items of a part.
func (b *treeBuilder) buildItems(ctx context.Context, q *groupNode, list []item, root bool) (*node, *pairGrid, error) {
	if err := browsersched.Err(ctx); err != nil {
		return nil, nil, err
	}
	if len(list) == 1 {
		if list[0].group != nil {
			n, g, err := b.buildGroup(ctx, list[0].group, root)
			if g != nil {
				g = g.resized(g.maxUsed, q.maxUnits)
			}
			return n, g, err
		}
		return b.buildLeaf(q, list[0].class, root)
	}

	l, r := halves(list)
	n := new(node)
	var lg, rg *pairGrid
	var lErr, rErr error
	left := func() { n.left, lg, lErr = b.buildItems(ctx, q, l, false) }
	right := func() { n.right, rg, rErr = b.buildItems(ctx, q, r, false) }
	select {
	case <-b.workers:
		var wg sync.WaitGroup
		wg.Go(left)
		right()
		wg.Wait()
		b.workers <- struct{}{}
	default:
		left()
		right()
	}
	if lErr != nil {
		return nil, nil, lErr
	}
	if rErr != nil {
		return nil, nil, rErr
	}
	if root {
		return n, nil, nil
	}
	g, err := b.combine(ctx, q, n, lg, rg, l, r)
	if err != nil {
		return nil, nil, err
	}
	n.rows = rounded(g)
	return n, g, nil
}

// combine returns the grid of a node from those of its left and right and their items. If possible
// it takes one side's grid, which it changes, and multiplies it by the items of the other side one
// by one.
func (b *treeBuilder) combine(ctx context.Context, q *groupNode, n *node, lg, rg *pairGrid, l, r []item) (*pairGrid, error) {
	maxUsed := min(lg.maxUsed+rg.maxUsed, q.maxUsed)
	lPasses, lOK := extendable(l, q)
	rPasses, rOK := extendable(r, q)
	if !lOK && !rOK {
		n.relativeError = n.left.relativeError + n.right.relativeError + 2 + dotError(q.maxUnits+1)
		return lg.arith.multiply(lg, rg, maxUsed, q.maxUnits), ctx.Err()
	}
	g, rest := lg, r
	n.relativeError = n.left.relativeError
	if lOK && (!rOK || lPasses < rPasses) {
		g, rest = rg, l
		n.relativeError = n.right.relativeError
	}
	g = g.resized(maxUsed, q.maxUnits)
	for _, it := range rest {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		if it.class != nil {
			g.extend(it.class)
		} else {
			g.absorb(it.group)
		}
	}
	return g, nil
}

// buildLeaf makes the leaf of a class.
func (b *treeBuilder) buildLeaf(q *groupNode, c *class, root bool) (*node, *pairGrid, error) {
	n := &node{class: c, shares: b.shares[shareKey{c.kind, q.maxUnits}]}
	if root {
		return n, nil, nil
	}
	g := newGrid[pair, real](&compensatedArithmetic{tilt: b.tilt}, min(len(c.members), q.maxUsed), q.maxUnits)
	g.extend(c)
	n.rows = rounded(g)
	return n, g, nil
}

// fillCommonShares fills in the shares of kinds that several classes have in common.
func (b *treeBuilder) fillCommonShares(ctx context.Context, q *groupNode) error {
	for i := range q.classes {
		c := &q.classes[i]
		if len(c.members) < 2 || c.kind.unbounded(q.maxUnits) {
			continue
		}
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		b.fillShares(c.kind, q.maxUnits, min(len(c.members), q.maxUsed))
	}
	for _, g := range q.groups {
		if err := b.fillCommonShares(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// fillShares fills in the shares of up to most ingredients of a kind.
func (b *treeBuilder) fillShares(k amountSet, units, most int) []series {
	key := shareKey{k, units}
	if len(b.shares[key]) <= most {
		g := newGrid[pair, real](&compensatedArithmetic{tilt: b.tilt}, 0, units)
		rows := make([]series, most+1)
		rows[0] = roundedRow(&g.rows[0])
		g.chain(&g.rows[0], k, most, func(j int, r *row[pair]) { rows[j] = roundedRow(r) })
		b.shares[key] = rows
	}
	return b.shares[key]
}

// resized returns a grid with the same numbers and other limits. It may take over the cells of the
// old grid. There must be no numbers beyond the new limits.
func (g *grid[R, C]) resized(maxUsed, maxUnits int) *grid[R, C] {
	out := emptyGrid(g.arith, maxUsed, maxUnits)
	one := g.arith.coefficient(big.NewInt(1))
	for k := range g.rows {
		switch r := &g.rows[k]; {
		case r.empty():
		case g.maxUnits == maxUnits:
			out.rows[k] = *r
		default:
			out.addTo(&out.rows[k], r, one)
		}
	}
	return out
}

// treeBytes bounds the memory of the rows of a tree, given the items of a part.
func (q *groupNode) treeBytes(list []item, root bool) float64 {
	members, least, most := 0, math.MaxInt, 0
	for _, it := range list {
		members += it.members()
		one := &groupNode{}
		if it.class != nil {
			one.classes = []class{*it.class}
		} else {
			one.groups = []*groupNode{it.group}
		}
		lo, hi := one.amounts()
		least, most = min(least, lo), max(most, hi)
	}
	rows := 0.0
	for k := range min(members, q.maxUsed) + 1 {
		rows += float64(8 * float64(max(0, min(q.maxUnits, k*most)-k*least)+1))
	}
	switch {
	case len(list) == 1 && list[0].group != nil:
		return list[0].group.treeBytes(list[0].group.items(), root)
	case len(list) == 1 && len(list[0].class.members) > 1 && !root:
		return float64(2 * rows) // with shares
	case len(list) == 1:
		return rows
	}
	l, r := halves(list)
	sum := q.treeBytes(l, false) + q.treeBytes(r, false)
	if !root {
		sum += rows
	}
	return sum
}

// amounts returns the least and the greatest amount of any ingredient.
func (q *groupNode) amounts() (least, most int) {
	least = math.MaxInt
	for _, c := range q.classes {
		least, most = min(least, c.kind.lo), max(most, c.kind.hi())
	}
	for _, g := range q.groups {
		lo, hi := g.amounts()
		least, most = min(least, lo), max(most, hi)
	}
	return least, most
}

// tiltFor returns a power of two 2^-e. The plan's numbers, times 2^-e to the power of the
// ingredients used, stay between 2^-1000 and 2^1000.
func tiltFor(p *plan) (float64, error) {
	e := 0.0
	most := p.most()
	bounds := p.logBounds(most, false)
	for n := 1; n <= most; n++ {
		e = max(e, math.Ceil((bounds[n]-1000)/float64(n)))
	}
	if e*float64(most) > 1000 {
		return 0, &SizeError{slices.Max(bounds), 2000, "bits for a number"}
	}
	return portable.Exp2(-e), nil
}
