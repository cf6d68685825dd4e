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

// A node is a node of the tree for draws. A node stands for a set of ingredients: rows[k] counts, by units, the
// ways to use k of the ingredients. A leaf holds one class; any other node joins two subtrees.
type node struct {
	rows        []series
	left, right *node
	class       *class // class of a leaf; nil for other nodes

	// shares[k] counts, by units, the ways to choose amounts for k ingredients of a leaf. The slice is nil unless
	// the class has several ingredients and the amounts have an upper limit.
	shares []series

	// relativeError is an upper bound of the relative error of the counts before the counts are rounded, in
	// units of 2^-53. Only tests read relativeError. Compensated sums add nothing to relativeError.
	relativeError float64
}

// A treeItem is a class, or a group with a subtree of its own. The subtree of a group is a balanced tree over the
// classes and groups in the group, its items.
type treeItem struct {
	class *class
	group *groupNode
}

func (it treeItem) memberCount() int {
	if it.class != nil {
		return len(it.class.members)
	}
	return it.group.memberCount
}

// items returns the classes and groups of q as items for the tree. Groups that are not thin (see
// [groupNode.isThin]) come last, because adding such a group to a grid takes a multiplication of grids.
func (q *groupNode) items() []treeItem {
	var list []treeItem
	for c := range q.classes {
		list = append(list, treeItem{class: &q.classes[c]})
	}
	for _, thin := range []bool{true, false} {
		for _, g := range q.groups {
			if g.memberCount > 0 && g.isThin(q.maxUnits) == thin {
				list = append(list, treeItem{group: g})
			}
		}
	}
	return list
}

// splitIntoHalves cuts a list of items in two parts with about equal numbers of ingredients.
func splitIntoHalves(list []treeItem) (left, right []treeItem) {
	all := 0
	for _, it := range list {
		all += it.memberCount()
	}
	cut, sum := 1, list[0].memberCount()
	for cut < len(list)-1 && 2*sum+list[cut].memberCount() <= all {
		sum += list[cut].memberCount()
		cut++
	}
	return list[:cut], list[cut:]
}

// extensionPasses returns how many passes over a grid are needed to add the items to the grid one by one. The
// result ok is false if the list has a group that is not thin (see [groupNode.isThin]), whose grid must be
// multiplied instead.
func extensionPasses(list []treeItem, q *groupNode) (passes int, ok bool) {
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

// A treeBuilder builds the tree of a [Sampler] in several goroutines.
type treeBuilder struct {
	tilt         float64               // power of two by which each used ingredient multiplies a count; see [compensatedArithmetic]
	shares       map[shareKey][]series // maps amounts and a maximum number of units to the result of fillShares
	spareWorkers chan struct{}         // holds one value for each further goroutine that may be started
}

// A shareKey identifies a result of fillShares by the amounts and the maximum number of units.
type shareKey struct {
	amounts amountSet
	units   int
}

type pairGrid = grid[pairRow, pairFactor]

// buildGroup builds the tree of the group q, and the grid of q within the limits of q. The root of the whole
// tree needs no grid, so the grid is nil if root is true.
func (b *treeBuilder) buildGroup(ctx context.Context, q *groupNode, root bool) (*node, *pairGrid, error) {
	n, g, err := b.buildItems(ctx, q, q.items(), root)
	if err != nil || root {
		return n, nil, err
	}
	g.applyLimits(q)
	n.rows = roundedRows(g)
	return n, g, nil
}

// buildItems builds the tree of a list of items of the group q, and the grid of the items. The grid is nil if
// root is true.
func (b *treeBuilder) buildItems(ctx context.Context, q *groupNode, list []treeItem, root bool) (*node, *pairGrid, error) {
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

	l, r := splitIntoHalves(list)
	n := new(node)
	var lg, rg *pairGrid
	var lErr, rErr error
	left := func() { n.left, lg, lErr = b.buildItems(ctx, q, l, false) }
	right := func() { n.right, rg, rErr = b.buildItems(ctx, q, r, false) }
	select {
	case <-b.spareWorkers:
		var wg sync.WaitGroup
		wg.Go(left)
		right()
		wg.Wait()
		b.spareWorkers <- struct{}{}
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
	n.rows = roundedRows(g)
	return n, g, nil
}

// combine returns the grid of node n from the grids lg and rg of the subtrees, whose items are l and r. If
// possible, combine adds the items of one side to the grid of the other side, which is overwritten. Otherwise
// combine multiplies the grids.
func (b *treeBuilder) combine(ctx context.Context, q *groupNode, n *node, lg, rg *pairGrid, l, r []treeItem) (*pairGrid, error) {
	maxUsed := min(lg.maxUsed+rg.maxUsed, q.maxUsed)
	lPasses, lOK := extensionPasses(l, q)
	rPasses, rOK := extensionPasses(r, q)
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
			g.multiplyClass(it.class)
		} else {
			g.multiplyThinGroup(it.group)
		}
	}
	return g, nil
}

// buildLeaf builds the leaf of class c. buildLeaf also returns the grid of the leaf, unless the leaf is the
// root.
func (b *treeBuilder) buildLeaf(q *groupNode, c *class, root bool) (*node, *pairGrid, error) {
	n := &node{class: c, shares: b.shares[shareKey{c.amounts, q.maxUnits}]}
	if root {
		return n, nil, nil
	}
	g := newGrid[pairRow, pairFactor](&compensatedArithmetic{tilt: b.tilt}, min(len(c.members), q.maxUsed), q.maxUnits)
	g.multiplyClass(c)
	n.rows = roundedRows(g)
	return n, g, nil
}

// fillCommonShares calls fillShares for all classes of q whose leaves need shares. The call is made before
// goroutines start that read the shares.
func (b *treeBuilder) fillCommonShares(ctx context.Context, q *groupNode) error {
	for i := range q.classes {
		c := &q.classes[i]
		if len(c.members) < 2 || c.amounts.unbounded(q.maxUnits) {
			continue
		}
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		b.fillShares(c.amounts, q.maxUnits, min(len(c.members), q.maxUsed))
	}
	for _, g := range q.groups {
		if err := b.fillCommonShares(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// fillShares returns a slice whose item j, for j = 0..maxCount, counts, by units, the ways to choose the amounts
// of j used ingredients. Each ingredient may have the amounts k, and all together take at most the given units.
// The result is stored in b.shares and computed only once.
func (b *treeBuilder) fillShares(k amountSet, units, maxCount int) []series {
	key := shareKey{k, units}
	if len(b.shares[key]) <= maxCount {
		g := newGrid[pairRow, pairFactor](&compensatedArithmetic{tilt: b.tilt}, 0, units)
		rows := make([]series, maxCount+1)
		rows[0] = roundedRow(&g.rows[0])
		g.shiftRepeatedly(&g.rows[0], k, maxCount, func(j int, r *row[pairRow]) { rows[j] = roundedRow(r) })
		b.shares[key] = rows
	}
	return b.shares[key]
}

// resized returns a grid with the same counts and other limits. No count may lie beyond the new limits. The
// returned grid can share cells with g, so the caller must not use g afterwards.
func (g *grid[R, C]) resized(maxUsed, maxUnits int) *grid[R, C] {
	out := emptyGrid(g.arith, maxUsed, maxUnits)
	one := g.arith.coefficient(big.NewInt(1))
	for k := range g.rows {
		switch r := &g.rows[k]; {
		case r.isEmpty():
		case g.maxUnits == maxUnits:
			out.rows[k] = *r
		default:
			out.addScaledRow(&out.rows[k], r, one)
		}
	}
	return out
}

// treeBytes returns an upper bound of the memory, in bytes, of the rows of the tree over a list of items of q.
func (q *groupNode) treeBytes(list []treeItem, root bool) float64 {
	members, least, most := 0, math.MaxInt, 0
	for _, it := range list {
		members += it.memberCount()
		one := &groupNode{}
		if it.class != nil {
			one.classes = []class{*it.class}
		} else {
			one.groups = []*groupNode{it.group}
		}
		lo, hi := one.amountBounds()
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
		return float64(2 * rows) // twice: counts and shares
	case len(list) == 1:
		return rows
	}
	l, r := splitIntoHalves(list)
	sum := q.treeBytes(l, false) + q.treeBytes(r, false)
	if !root {
		sum += rows
	}
	return sum
}

// amountBounds returns the least and the greatest positive amount of any ingredient of q.
func (q *groupNode) amountBounds() (least, most int) {
	least = math.MaxInt
	for _, c := range q.classes {
		least, most = min(least, c.amounts.lo), max(most, c.amounts.hi())
	}
	for _, g := range q.groups {
		lo, hi := g.amountBounds()
		least, most = min(least, lo), max(most, hi)
	}
	return least, most
}

// tiltFor returns the tilt of compensatedArithmetic, a power of two 2^-e. The exponent e is such that all counts
// of the plan, times 2^-e for each used ingredient, lie between 2^-1000 and 2^1000.
func tiltFor(p *plan) (float64, error) {
	e := 0.0
	most := p.maxPossibleUsed()
	bounds := p.logBounds(most, false)
	for n := 1; n <= most; n++ {
		e = max(e, math.Ceil((bounds[n]-1000)/float64(n)))
	}
	if e*float64(most) > 1000 {
		return 0, &SizeError{slices.Max(bounds), 2000, "bits for a number"}
	}
	return portable.Exp2(-e), nil
}
