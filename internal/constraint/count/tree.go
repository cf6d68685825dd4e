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

// A node is a node of the tree for draws: a set of ingredients with its counts. rows[k] holds the number of ways to
// use k of the ingredients, by units. A leaf holds one class; any other node joins its two subtrees.
type node struct {
	rows        []series
	left, right *node
	class       *class // class of a leaf; nil for other nodes

	// shares[k] counts, by units, the ways to choose amounts for k ingredients of a leaf. It is nil unless the class
	// has several ingredients and an upper limit.
	shares []series

	// relativeError is an upper bound of the relative error of the counts before they are rounded, in units of 2^-53.
	// Only tests read it. Compensated sums add nothing to it.
	relativeError float64
}

// An item is a class, or a group with its own subtree. The tree of a group is built over its items.
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

// items returns the classes and groups of q. Groups that are not thin come last, because they must be multiplied.
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

// halves cuts a list of items in two parts with about equal numbers of ingredients.
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

// extendable returns how many passes over a grid adding the items one by one takes. ok is false if a group among them
// must be multiplied instead.
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

// A treeBuilder builds the tree of a [Sampler] in several goroutines.
type treeBuilder struct {
	tilt    float64
	shares  map[shareKey][]series
	workers chan struct{} // holds one value for each further goroutine that may be started
}

// A shareKey is the key of a table of shares: the amounts, and the greatest number of units.
type shareKey struct {
	kind  amountSet
	units int
}

type pairGrid = grid[pair, real]

// buildGroup builds the tree of the group q, and its grid within q's limits. The root of the whole tree needs no grid
// and gets nil.
func (b *treeBuilder) buildGroup(ctx context.Context, q *groupNode, root bool) (*node, *pairGrid, error) {
	n, g, err := b.buildItems(ctx, q, q.items(), root)
	if err != nil || root {
		return n, nil, err
	}
	g.mask(q)
	n.rows = rounded(g)
	return n, g, nil
}

// buildItems builds the tree of some items of the group q, and their grid.
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

// combine returns the grid of node n from the grids lg and rg of its subtrees, whose items are l and r. If possible
// it adds the items of one side to the other side's grid, which it overwrites. Otherwise it multiplies the grids.
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

// buildLeaf builds the leaf of class c, and its grid unless it is the root.
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

// fillCommonShares computes the shares of all classes of q that need them, before goroutines read them.
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

// fillShares returns the shares of 0..most ingredients with the amounts k and up to the given units. It computes them
// once for each key.
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

// resized returns a grid with the same counts and other limits, beyond which no count may lie. It can share cells
// with g, which the caller must then not use.
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

// treeBytes returns an upper bound of the memory, in bytes, of the rows of the tree over some items of q.
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
		return float64(2 * rows) // twice: counts and shares
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

// amounts returns the least and the greatest positive amount of any ingredient of q.
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

// tiltFor returns the tilt of compensatedArithmetic, a power of two 2^-e. With it all counts of the plan, times 2^-e
// for each used ingredient, lie between 2^-1000 and 2^1000.
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
