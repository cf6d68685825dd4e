package count

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Rand is a source of random choices. Draws use no other randomness, so a test can enumerate all outcomes.
type Rand interface {
	// Intn returns an integer uniform on 0 ≤ k < n, for n ≥ 1.
	Intn(n int) int

	// Categorical returns k with probability weights[k]/Σ weights. At least one weight is above
	// zero. It must not keep the slice.
	Categorical(weights []float64) int
}

// ErrEmpty is returned by draws from an empty X_n.
var ErrEmpty = errors.New("count: no composition that keeps the rules uses that many ingredients")

// A Sampler draws compositions of a space independently and uniformly. Its clones share its tables.
// A Sampler is not safe for concurrent use, but clones may be used concurrently.
type Sampler struct {
	table  *Table
	root   *node       // tree for draws; nil if a closed formula counts, or if all ingredients have terms in sums
	stages []stageDraw // tables for draws of the frontier's stages; nil without a frontier
	splits [][]float64 // splits[n]: weights of how many of n used ingredients lie in the root's left subtree, from firstSplit(n) on

	weights []float64
	counts  []float64
	picks   []int32
	taken   []uint64
}

// Sampler prepares draws. Without rules, or if a formula counts, there is nothing to prepare.
// Otherwise it makes a table for each node of a balanced tree over the ingredients. It returns a
// [SizeError] if the tables would take more memory than the options allow or counts exceed the
// range of floating-point numbers, about 10^600. It returns the context's error when that ends.
func (t *Table) Sampler(ctx context.Context) (*Sampler, error) {
	s := &Sampler{table: t}
	p := t.plan
	if t.closed != nil || p.impossible {
		return s, nil
	}
	tilt, err := tiltFor(p)
	if err != nil {
		return nil, err
	}
	if need := p.samplerBytes(); need > float64(t.options.Memory) {
		return nil, &SizeError{need, float64(t.options.Memory), "bytes of memory"}
	}
	b := &treeBuilder{tilt: tilt, shares: make(map[shareKey][]series), workers: make(chan struct{}, t.options.Workers)}
	for range t.options.Workers - 1 {
		b.workers <- struct{}{}
	}
	if err := b.fillCommonShares(ctx, p.root); err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	if p.frontier != nil {
		if s.root, s.stages, err = b.buildFrontier(ctx, p); err != nil {
			return nil, fmt.Errorf("count: %w", err)
		}
		return s, nil
	}
	root, _, err := b.buildGroup(ctx, p.root, true)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	s.root = root
	if root.class == nil {
		s.splits = make([][]float64, p.root.maxUsed+1)
		for n := range s.splits {
			s.splits[n] = root.splitUsed(nil, n, p.total)
		}
	}
	return s, nil
}

// samplerBytes returns an upper bound of the memory for a sampler's tables, in bytes.
func (p *plan) samplerBytes() float64 {
	need := float64(8 * 16 * float64(p.most()+1) * float64(p.total+1))
	if p.root.members > 0 {
		need += p.root.treeBytes(p.root.items(), p.frontier == nil)
	}
	if p.frontier != nil {
		need += float64(bytesPerCell * (p.frontier.storedCells() + float64(2*p.frontier.peakCells())))
	}
	return need
}

// Clone returns a sampler of the same space for use by another goroutine.
func (s *Sampler) Clone() *Sampler {
	return &Sampler{table: s.table, root: s.root, stages: s.stages, splits: s.splits}
}

// Draw appends a composition drawn uniformly from X_n to two slices: the ingredients used and their
// amounts, in no particular order. It allocates nothing if the slices have room and earlier draws
// were as large. It returns [ErrEmpty] if X_n is empty, and panics like [Table.Count].
func (s *Sampler) Draw(r Rand, n int, ingredients, amounts []int32) ([]int32, []int32, error) {
	if s.table.Empty(n) {
		return ingredients, amounts, ErrEmpty
	}
	d := draw{s, r, ingredients, amounts}
	switch c := s.table.closed; {
	case c != nil:
		d.drawClosed(c, n)
	case s.stages != nil:
		d.drawFrontier(n)
	default:
		d.drawTree(n)
	}
	return d.ingredients, d.amounts, nil
}

// firstSplit returns the least number of k used ingredients that must lie in the left subtree, because the right one
// is too small for all k.
func (n *node) firstSplit(k int) int { return max(0, k-(len(n.right.rows)-1)) }

// splitUsed appends the weights of how many of k used ingredients lie in the left subtree, from firstSplit(k) on, if
// all k take the given units. A weight sums over the units of the left subtree the product of the counts of both
// subtrees.
func (n *node) splitUsed(weights []float64, k, units int) []float64 {
	for i := n.firstSplit(k); i <= min(k, len(n.left.rows)-1); i++ {
		weights = append(weights, dotAt(n.left.rows[i], n.right.rows[k-i], units))
	}
	return weights
}

// A draw is one composition in the making: ingredients and amounts are what has been drawn so far.
type draw struct {
	*Sampler
	r                    Rand
	ingredients, amounts []int32
}

// drawTree draws n used ingredients and their amounts from the whole tree. It has the weights of the first split in
// advance.
func (d *draw) drawTree(n int) {
	if d.Sampler.root.class != nil {
		d.leaf(d.Sampler.root, n, d.table.plan.total)
		return
	}
	left := d.Sampler.root.firstSplit(n) + d.choose(d.splits[n])
	d.split(d.Sampler.root, n, left, d.table.plan.total)
}

// node draws k used ingredients of a tree's node, which take the given units together.
func (d *draw) node(n *node, k, units int) {
	switch {
	case k == 0:
	case n.class != nil:
		d.leaf(n, k, units)
	default:
		d.weights = n.splitUsed(d.weights[:0], k, units)
		d.split(n, k, n.firstSplit(k)+d.choose(d.weights), units)
	}
}

// split draws from a node of which the left subtree has i of the k used ingredients.
func (d *draw) split(n *node, k, i, units int) {
	x, y := n.left.rows[i], n.right.rows[k-i]
	t := d.share(x, y, units)
	d.node(n.left, i, t)
	d.node(n.right, k-i, units-t)
}

// share draws how many of the units the left part takes, in proportion to the counts x of the left and y of the
// right.
func (d *draw) share(x, y series, units int) int {
	lo, hi := overlap(x, y, units)
	if lo == hi {
		return lo
	}
	a := x.v[lo-x.lo : hi-x.lo+1]
	b := y.v[units-hi-y.lo : units-lo-y.lo+1]
	if cap(d.weights) < len(a) {
		d.weights = make([]float64, d.table.plan.total+d.table.plan.maxUsed+1)
	}
	d.weights = d.weights[:len(a)]
	for t, v := range a {
		d.weights[t] = float64(v * b[len(a)-1-t])
	}
	return lo + d.r.Categorical(d.weights)
}

// choose draws an index in proportion to weights. If only one weight is above 0, it returns the index without a
// random choice.
func (d *draw) choose(weights []float64) int {
	only := -1
	for i, w := range weights {
		if w > 0 {
			if only >= 0 {
				return d.r.Categorical(weights)
			}
			only = i
		}
	}
	return only
}

// leaf draws which k ingredients of a class are used, and divides the units among them.
func (d *draw) leaf(n *node, k, units int) {
	c := n.class
	if len(c.members) == 1 {
		d.ingredients = append(d.ingredients, c.members[0])
		d.append(units)
		return
	}
	for _, i := range d.subset(len(c.members), k) {
		d.ingredients = append(d.ingredients, c.members[i])
	}
	if n.shares == nil {
		d.drawSteps(c.kind.lo, c.kind.step, k, (units-k*c.kind.lo)/c.kind.step)
	} else {
		d.halve(n.shares, k, units)
	}
}

// halve divides the units among k ingredients with equal amounts: it draws the units of one half of them, then
// recurs. shares[j] holds the counts for j ingredients.
func (d *draw) halve(shares []series, k, units int) {
	if k == 1 {
		d.append(units)
		return
	}
	i := k / 2
	t := d.share(shares[i], shares[k-i], units)
	d.halve(shares, i, t)
	d.halve(shares, k-i, units-t)
}

func (d *draw) append(units int) {
	d.amounts = append(d.amounts, int32(units*d.table.plan.unit))
}

// drawClosed draws a composition of n ingredients from a space that a drawClosed formula counts.
func (d *draw) drawClosed(c *closedFormula, n int) {
	optional, steps, _ := c.shape(n)
	d.ingredients = append(d.ingredients, c.requireds...)
	if picks := d.subset(c.optional, optional); c.optionals == nil {
		d.ingredients = append(d.ingredients, picks...)
	} else {
		for _, i := range picks {
			d.ingredients = append(d.ingredients, c.optionals[i])
		}
	}
	d.drawSteps(c.lo, c.step, n, steps)
}

// drawSteps divides steps among k ingredients uniformly. An ingredient with s of the steps gets the amount lo +
// s·step. It draws k−1 of steps+k−1 places as the separators between ingredients.
func (d *draw) drawSteps(lo, step, k, steps int) {
	bars := d.subset(steps+k-1, k-1)
	slices.Sort(bars)
	last := -1
	for _, bar := range bars {
		d.append(lo + step*(int(bar)-last-1))
		last = int(bar)
	}
	d.append(lo + step*(steps+k-1-last-1))
}

// subset draws k of 0..n−1 uniformly by Floyd's algorithm (Bentley and Floyd 1987). The result is
// valid until the next call.
func (d *draw) subset(n, k int) []int32 {
	d.picks = d.picks[:0]
	// A bit set finds repeated picks fast, but takes too much memory for a few picks of a large n.
	if n > 1<<22 && k < 1<<12 {
		return d.sortedSubset(n, k)
	}
	if words := n/64 + 1; len(d.taken) < words {
		d.taken = make([]uint64, words)
	}
	for top := n - k; top < n; top++ {
		i := d.uniformUpTo(top)
		if d.taken[i/64]>>(i%64)&1 == 1 {
			i = top
		}
		d.taken[i/64] |= 1 << (i % 64)
		d.picks = append(d.picks, int32(i))
	}
	for _, i := range d.picks {
		d.taken[i/64] = 0
	}
	return d.picks
}

// sortedSubset draws k of 0..n−1 uniformly and returns them in increasing order.
func (d *draw) sortedSubset(n, k int) []int32 {
	for top := n - k; top < n; top++ {
		i := int32(d.uniformUpTo(top))
		at, taken := slices.BinarySearch(d.picks, i)
		if taken {
			at, i = len(d.picks), int32(top)
		}
		d.picks = slices.Insert(d.picks, at, i)
	}
	return d.picks
}

// uniformUpTo draws a whole number from 0..top uniformly.
func (d *draw) uniformUpTo(top int) int {
	if top == 0 {
		return 0
	}
	return d.r.Intn(top + 1)
}
