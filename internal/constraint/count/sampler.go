package count

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Rand is a source of random choices. Draws use no other randomness, so a test can enumerate all outcomes.
type Rand interface {
	// Intn returns an integer drawn uniformly from 0..n−1, for n ≥ 1.
	Intn(n int) int

	// Categorical returns k with probability weights[k]/Σ weights. At least one weight is above zero.
	// Categorical must not keep the slice.
	Categorical(weights []float64) int
}

// ErrEmpty is returned by a draw of n used ingredients if no composition that keeps the rules uses n
// ingredients.
var ErrEmpty = errors.New("count: no composition that keeps the rules uses that many ingredients")

// A Sampler draws compositions of a space independently and uniformly. Clones of a Sampler share its tables. A
// Sampler is not safe for concurrent use, but different clones may be used concurrently.
type Sampler struct {
	table      *Table
	root       *node         // tree for draws; nil if a closed formula counts, or if all ingredients have terms in sums
	stages     []stageTables // tables for draws of the stages of the plan's frontier; nil if the plan has no frontier
	rootSplits [][]float64   // rootSplits[n] holds the weights for drawing how many of n used ingredients lie in the left subtree of the root; the first weight is for firstSplit(n) ingredients

	weightBuffer     []float64 // buffer for weights
	usedCountWeights []float64 // buffer for the weights of the numbers of used ingredients
	pickedNumbers    []int32   // result of the latest call of subset
	takenBits        []uint64  // bit set of the numbers in pickedNumbers during a call of subset; all bits are 0 between calls
}

// Sampler prepares draws. If a closed formula counts, there is nothing to prepare. Otherwise Sampler makes a
// table for each node of a balanced tree over the ingredients. Sampler returns a [SizeError] if the tables would
// take more memory than the options allow, or if counts exceed the range of floating-point numbers, about
// 10^600. If the context ends, Sampler returns the error of the context.
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
	if need := p.samplerBytes(); need > float64(t.options.MaxMemory) {
		return nil, &SizeError{need, float64(t.options.MaxMemory), "bytes of memory"}
	}
	b := &treeBuilder{tilt: tilt, shares: make(map[shareKey][]series), spareWorkers: make(chan struct{}, t.options.Workers)}
	for range t.options.Workers - 1 {
		b.spareWorkers <- struct{}{}
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
		s.rootSplits = make([][]float64, p.root.maxUsed+1)
		for n := range s.rootSplits {
			s.rootSplits[n] = root.splitWeights(nil, n, p.total)
		}
	}
	return s, nil
}

// samplerBytes returns an upper bound of the memory for the tables of a sampler, in bytes.
func (p *plan) samplerBytes() float64 {
	need := float64(8 * 16 * float64(p.maxPossibleUsed()+1) * float64(p.total+1))
	if p.root.memberCount > 0 {
		need += p.root.treeBytes(p.root.items(), p.frontier == nil)
	}
	if p.frontier != nil {
		need += float64(bytesPerCell * (p.frontier.storedCells() + float64(2*p.frontier.peakCells())))
	}
	return need
}

// Clone returns a sampler of the same space for use by another goroutine.
func (s *Sampler) Clone() *Sampler {
	return &Sampler{table: s.table, root: s.root, stages: s.stages, rootSplits: s.rootSplits}
}

// Draw appends a composition drawn uniformly from all compositions of n ingredients to two slices: the
// ingredients used and their amounts, in no particular order. Draw allocates nothing if the slices have room and
// earlier draws were as large. Draw returns [ErrEmpty] if no composition uses n ingredients, and panics in the
// cases in which [Table.Count] panics.
func (s *Sampler) Draw(r Rand, n int, ingredients, amounts []int32) ([]int32, []int32, error) {
	if s.table.IsEmpty(n) {
		return ingredients, amounts, ErrEmpty
	}
	d := partialDraw{s, r, ingredients, amounts}
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

// firstSplit returns the least number of ingredients that the left subtree must use, if k ingredients of the node
// are used: the right subtree may be too small for all k.
func (n *node) firstSplit(k int) int { return max(0, k-(len(n.right.rows)-1)) }

// splitWeights appends the weights for drawing how many of k used ingredients lie in the left subtree; the first
// weight is for firstSplit(k) ingredients. All k ingredients together take the given units. A weight is the
// product of the counts of both subtrees, summed over the units of the left subtree.
func (n *node) splitWeights(weights []float64, k, units int) []float64 {
	for i := n.firstSplit(k); i <= min(k, len(n.left.rows)-1); i++ {
		weights = append(weights, dotAt(n.left.rows[i], n.right.rows[k-i], units))
	}
	return weights
}

// A partialDraw is a composition while it is being drawn: ingredients and amounts hold the ingredients drawn so
// far, with their amounts.
type partialDraw struct {
	*Sampler
	random               Rand
	ingredients, amounts []int32
}

// drawTree draws n used ingredients and their amounts from the whole tree. The weights of the split at the root
// are taken from rootSplits.
func (d *partialDraw) drawTree(n int) {
	if d.Sampler.root.class != nil {
		d.drawLeaf(d.Sampler.root, n, d.table.plan.total)
		return
	}
	left := d.Sampler.root.firstSplit(n) + d.choose(d.rootSplits[n])
	d.drawSplit(d.Sampler.root, n, left, d.table.plan.total)
}

// drawNode draws k used ingredients of the node n and their amounts, which add up to the given units.
func (d *partialDraw) drawNode(n *node, k, units int) {
	switch {
	case k == 0:
	case n.class != nil:
		d.drawLeaf(n, k, units)
	default:
		d.weightBuffer = n.splitWeights(d.weightBuffer[:0], k, units)
		d.drawSplit(n, k, n.firstSplit(k)+d.choose(d.weightBuffer), units)
	}
}

// drawSplit draws k used ingredients of the node n and their amounts, which add up to the given units. Of the k
// ingredients, i are in the left subtree.
func (d *partialDraw) drawSplit(n *node, k, i, units int) {
	x, y := n.left.rows[i], n.right.rows[k-i]
	t := d.drawShare(x, y, units)
	d.drawNode(n.left, i, t)
	d.drawNode(n.right, k-i, units-t)
}

// drawShare draws how many of the given units the left part gets, if the right part gets the others. Item u of x
// counts the ways of the left part with u units, and y counts those of the right part. The probability is
// proportional to the product of both counts.
func (d *partialDraw) drawShare(x, y series, units int) int {
	lo, hi := overlapRange(x, y, units)
	if lo == hi {
		return lo
	}
	a := x.values[lo-x.lo : hi-x.lo+1]
	b := y.values[units-hi-y.lo : units-lo-y.lo+1]
	if cap(d.weightBuffer) < len(a) {
		d.weightBuffer = make([]float64, d.table.plan.total+d.table.plan.maxUsed+1)
	}
	d.weightBuffer = d.weightBuffer[:len(a)]
	for t, v := range a {
		d.weightBuffer[t] = float64(v * b[len(a)-1-t])
	}
	return lo + d.random.Categorical(d.weightBuffer)
}

// choose draws an index with probability in proportion to weights. If only one weight is above 0, choose returns
// the index of that weight without a random choice. If no weight is above 0, choose returns −1.
func (d *partialDraw) choose(weights []float64) int {
	only := -1
	for i, w := range weights {
		if w > 0 {
			if only >= 0 {
				return d.random.Categorical(weights)
			}
			only = i
		}
	}
	return only
}

// drawLeaf draws which k ingredients of the class of leaf n are used, and divides the units among the k
// ingredients.
func (d *partialDraw) drawLeaf(n *node, k, units int) {
	c := n.class
	if len(c.members) == 1 {
		d.ingredients = append(d.ingredients, c.members[0])
		d.appendAmount(units)
		return
	}
	for _, i := range d.subset(len(c.members), k) {
		d.ingredients = append(d.ingredients, c.members[i])
	}
	if n.shares == nil {
		d.drawSteps(c.amounts.lo, c.amounts.step, k, (units-k*c.amounts.lo)/c.amounts.step)
	} else {
		d.drawHalves(n.shares, k, units)
	}
}

// drawHalves divides the units among k ingredients that may have the same amounts. drawHalves draws how many
// units the first half of the ingredients gets, and then does the same for each half. The counts for j
// ingredients are shares[j], by units.
func (d *partialDraw) drawHalves(shares []series, k, units int) {
	if k == 1 {
		d.appendAmount(units)
		return
	}
	i := k / 2
	t := d.drawShare(shares[i], shares[k-i], units)
	d.drawHalves(shares, i, t)
	d.drawHalves(shares, k-i, units-t)
}

// appendAmount appends an amount, given in multiples of the plan's unit.
func (d *partialDraw) appendAmount(units int) {
	d.amounts = append(d.amounts, int32(units*d.table.plan.unit))
}

// drawClosed draws a composition of n ingredients from a space that a closed formula counts.
func (d *partialDraw) drawClosed(c *closedFormula, n int) {
	optional, steps, _ := c.optionalAndSteps(n)
	d.ingredients = append(d.ingredients, c.requiredIngredients...)
	if picks := d.subset(c.optionalCount, optional); c.optionalIngredients == nil {
		d.ingredients = append(d.ingredients, picks...)
	} else {
		for _, i := range picks {
			d.ingredients = append(d.ingredients, c.optionalIngredients[i])
		}
	}
	d.drawSteps(c.lo, c.step, n, steps)
}

// drawSteps divides the given number of steps among k ingredients, all divisions equally probable. An ingredient
// that gets s steps has the amount lo + s·step. drawSteps draws k−1 of steps+k−1 places as the separators between
// ingredients.
func (d *partialDraw) drawSteps(lo, step, k, steps int) {
	bars := d.subset(steps+k-1, k-1)
	slices.Sort(bars)
	last := -1
	for _, bar := range bars {
		d.appendAmount(lo + step*(int(bar)-last-1))
		last = int(bar)
	}
	d.appendAmount(lo + step*(steps+k-1-last-1))
}

// subset draws k different numbers from 0..n−1 uniformly by Floyd's algorithm (Bentley and Floyd 1987). The
// slice is valid until the next call.
func (d *partialDraw) subset(n, k int) []int32 {
	d.pickedNumbers = d.pickedNumbers[:0]
	// A bit set finds repeated picks fast, but takes too much memory for a few picks of a large n.
	if n > 1<<22 && k < 1<<12 {
		return d.sortedSubset(n, k)
	}
	if words := n/64 + 1; len(d.takenBits) < words {
		d.takenBits = make([]uint64, words)
	}
	for top := n - k; top < n; top++ {
		i := d.uniformUpTo(top)
		if d.takenBits[i/64]>>(i%64)&1 == 1 {
			i = top
		}
		d.takenBits[i/64] |= 1 << (i % 64)
		d.pickedNumbers = append(d.pickedNumbers, int32(i))
	}
	for _, i := range d.pickedNumbers {
		d.takenBits[i/64] = 0
	}
	return d.pickedNumbers
}

// sortedSubset draws k different numbers from 0..n−1 uniformly and returns the numbers in increasing order.
func (d *partialDraw) sortedSubset(n, k int) []int32 {
	for top := n - k; top < n; top++ {
		i := int32(d.uniformUpTo(top))
		at, taken := slices.BinarySearch(d.pickedNumbers, i)
		if taken {
			at, i = len(d.pickedNumbers), int32(top)
		}
		d.pickedNumbers = slices.Insert(d.pickedNumbers, at, i)
	}
	return d.pickedNumbers
}

// uniformUpTo draws a whole number from 0..highest uniformly.
func (d *partialDraw) uniformUpTo(highest int) int {
	if highest == 0 {
		return 0
	}
	return d.random.Intn(highest + 1)
}
