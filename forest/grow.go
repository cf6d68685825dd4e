package forest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Options say how a forest is grown. The zero value of a field asks for its
// default.
type Options struct {
	// Trees is the number of trees; 100 by default.
	Trees int
	// FeaturesPerSplit is how many features are drawn, without replacement, to
	// be tried at a node. If all of them are constant there, more are drawn
	// until one is not. By default max(1, ⌊√F⌋) of F features for classes and
	// max(1, ⌊F/3⌋) for numbers.
	FeaturesPerSplit int
	// SmallestLeaf is the least number of distinct rows in a leaf; 1 by default
	// for classes and 5 for numbers.
	SmallestLeaf int
	// Seed is the key of all random numbers.
	Seed uint64
	// Importances asks for the permutation importance of each feature.
	Importances bool
	// Workers is how many trees are grown at a time, by default one for each
	// processor. It does not change the result.
	Workers int
}

func (o Options) withDefaults(features int, numeric bool) (Options, error) {
	switch {
	case o.Trees < 0 || o.Trees > MaxTrees:
		return o, fmt.Errorf("the number of trees is %d and must be in 1..%d", o.Trees, MaxTrees)
	case o.FeaturesPerSplit < 0 || o.FeaturesPerSplit > features:
		return o, fmt.Errorf("the number of features a split is %d and must be in 1..%d", o.FeaturesPerSplit, features)
	case o.SmallestLeaf < 0:
		return o, fmt.Errorf("the smallest leaf is %d and must be at least 1", o.SmallestLeaf)
	}
	if o.Trees == 0 {
		o.Trees = 100
	}
	if o.FeaturesPerSplit == 0 {
		if numeric {
			o.FeaturesPerSplit = max(1, features/3)
		} else {
			o.FeaturesPerSplit = max(1, int(math.Sqrt(float64(features))))
		}
	}
	if o.SmallestLeaf == 0 {
		o.SmallestLeaf = 1
		if numeric {
			o.SmallestLeaf = 5
		}
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o, nil
}

// Grow grows a forest by Breiman's definition. Each tree sees as many rows as
// there are, drawn with replacement. At a node, features are drawn at random
// and the split with the lowest impurity among them is taken, the first drawn
// if several are equal; the impurity is Gini's index for classes and the
// variance for numbers. A threshold is half way between two neighbouring values,
// rounded down. A node becomes a leaf when its labels are all equal, when none
// of its features vary, or when every split would leave fewer distinct rows
// than the smallest leaf on one side.
//
// The forest depends on the data and the seed only, not on the number of
// workers. Grow returns ctx's error if ctx ends first, and an error that says
// what is wrong if the data or options are invalid, wrapping a [*RowError] if
// it is a row.
func Grow(ctx context.Context, d *Data, o Options) (*Forest, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("growing a forest: %w", err)
	}
	f := &Forest{
		label:       d.Label,
		ingredients: slices.Clone(d.Ingredients),
		total:       d.Total,
		rows:        len(d.Rows),
	}
	f.features = amountFeatures(f.ingredients)
	if d.Features != nil {
		f.features = make([]Feature, len(d.Features))
		for i, feature := range d.Features {
			feature.Ingredients = slices.Sorted(slices.Values(feature.Ingredients))
			f.features[i] = feature
		}
	}
	var err error
	if f.options, err = o.withDefaults(len(f.features), d.Numbers != nil); err != nil {
		return nil, fmt.Errorf("growing a forest: %w", err)
	}

	t := newTable(d, f.features)
	labels := d.labelling()
	f.classes, f.numbers = labels.classes, labels.numbers
	f.trees = make([]tree, f.options.Trees)
	bags := make([]bag, f.options.Trees)
	err = inParallel(ctx, f.options.Workers, f.options.Trees, func() func(int) error {
		g := newGrower(t, &labels, f.options)
		return func(k int) (err error) {
			f.trees[k], bags[k], err = g.grow(ctx, k)
			return err
		}
	})
	if err != nil {
		return nil, err
	}
	if err := f.checkSize(); err != nil {
		return nil, fmt.Errorf("growing a forest: %w", err)
	}
	if f.quality, err = f.outOfBag(ctx, t, &labels, bags); err != nil {
		return nil, err
	}
	if f.options.Importances {
		if f.importances, err = f.permute(ctx, t, &labels, bags); err != nil {
			return nil, err
		}
	}
	f.options.Workers = 0 // it has no part in the result
	return f, nil
}

// inParallel calls the function that worker returns for 0..n-1, each once, on
// several goroutines, every one with a function of its own. It stops at the
// first error and returns it.
func inParallel(ctx context.Context, workers, n int, worker func() func(int) error) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for range min(workers, n) {
		group.Go(func() {
			do := worker()
			for {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				err := context.Cause(ctx)
				if err == nil {
					err = do(k)
				}
				if err != nil {
					once.Do(func() { first = err; cancel(err) })
					return
				}
			}
		})
	}
	group.Wait()
	return first
}

// A bag says which rows the bootstrap of a tree left out: a bit set of them.
type bag []uint64

func (b bag) leftOut(r int) bool { return b[r>>6]>>(r&63)&1 != 0 }

// drawBag draws a bootstrap sample, which a tree's stream of numbers begins with:
// as many rows as there are, with replacement. It counts them in drawn.
func drawBag(random stream, drawn []int32) bag {
	clear(drawn)
	for range drawn {
		drawn[random.below(len(drawn))]++
	}
	out := make(bag, (len(drawn)+63)/64)
	for r, n := range drawn {
		if n == 0 {
			out[r>>6] |= 1 << (r & 63)
		}
	}
	return out
}

// A grower grows one tree after another, reusing its memory.
type grower struct {
	t       *table
	labels  *labelling
	options Options
	target  []float64 // numeric labels, centred and scaled to ±1 or so; nil for classes

	random stream
	drawn  []int32 // how often the bootstrap drew each row
	rows   []int32 // the distinct rows drawn, ordered so that each node has a range
	place  []int32 // the index in rows of each row, or −1
	spare  []int32 // the rows that go right, while a node is split
	right  []bool  // by row, while a node is split; else false

	perm  []int32 // a permutation of the features, shuffled further at each node
	first []int32 // by feature: 1 + index of the first of its cells in this node, or 0
	cells []cellInNode
	pairs []uint64 // value<<32 | row, ascending: the positive values of one feature in the node

	// In a node with at most this many positive values, all of them are gathered;
	// in a larger one, the columns of the drawn features are run down.
	gatherLimit int

	node nodeState
}

// A cellInNode is a positive value in a node, linked to the next of its feature.
type cellInNode struct {
	feature, value, row, next int32
}

// A nodeState is what the search for a split needs to know of its node.
type nodeState struct {
	rows     int   // distinct rows
	weight   int64 // draws
	counts   []int64
	squares  int64   // Σ counts²
	other    []int64 // counts on the right of a split; zero between uses
	sum      float64 // Σ target, by draws
	smallest int
}

// A split is the best found so far.
type split struct {
	feature   int32 // −1: none
	threshold int32
	gain      float64 // the part of the impurity's decrease that depends on the split
}

func newGrower(t *table, labels *labelling, o Options) *grower {
	g := &grower{
		t: t, labels: labels, options: o,
		drawn: make([]int32, t.rows),
		place: make([]int32, t.rows),
		right: make([]bool, t.rows),
		perm:  make([]int32, t.features),
		first: make([]int32, t.features),
		node:  nodeState{smallest: o.SmallestLeaf},
		// As many as the columns to be run down have on average.
		gatherLimit: o.FeaturesPerSplit * len(t.colRow) / t.features,
	}
	if labels.numbers != nil {
		g.target = make([]float64, t.rows)
		mean, largest := 0.0, 0.0
		for _, l := range labels.of {
			mean += labels.numbers[l] / float64(t.rows)
		}
		for _, v := range labels.numbers {
			largest = max(largest, math.Abs(v-mean))
		}
		if largest > 0 {
			for r, l := range labels.of {
				g.target[r] = (labels.numbers[l] - mean) / largest
			}
		}
	} else {
		g.node.counts = make([]int64, labels.size())
		g.node.other = make([]int64, labels.size())
	}
	return g
}

// grow grows tree k.
func (g *grower) grow(ctx context.Context, k int) (tree, bag, error) {
	g.random = newStream(g.options.Seed, growing, uint64(k))
	out := drawBag(g.random, g.drawn)
	g.rows = g.rows[:0]
	for r, n := range g.drawn {
		if n == 0 {
			g.place[r] = -1
			continue
		}
		g.place[r] = int32(len(g.rows))
		g.rows = append(g.rows, int32(r))
	}
	for f := range g.perm {
		g.perm[f] = int32(f)
	}

	t := tree{leafStart: []int32{0}}
	type pending struct{ from, to, parent int32 } // parent: whose right child this is, or −1
	stack := []pending{{0, int32(len(g.rows)), -1}}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		at := int32(len(t.nodes))
		if p.parent >= 0 {
			t.nodes[p.parent].right = at
		}
		if at%64 == 0 {
			if err := context.Cause(ctx); err != nil {
				return tree{}, nil, err
			}
		}
		rows := g.rows[p.from:p.to]
		best := split{feature: -1}
		if !g.enter(rows) {
			best = g.search(p.from, p.to)
		}
		if best.feature < 0 {
			t.nodes = append(t.nodes, node{feature: -1, right: int32(t.leaves())})
			g.addLeaf(&t, rows)
			continue
		}
		t.nodes = append(t.nodes, node{feature: best.feature, threshold: best.threshold})
		middle := p.from + g.divide(p.from, p.to, best)
		stack = append(stack, pending{middle, p.to, at}, pending{p.from, middle, -1})
	}
	t.nodes, t.leafStart = slices.Clip(t.nodes), slices.Clip(t.leafStart)
	t.labels, t.counts = slices.Clip(t.labels), slices.Clip(t.counts)
	return t, out, nil
}

// addLeaf adds a leaf with the labels of the rows.
func (g *grower) addLeaf(t *tree, rows []int32) {
	byLabel := g.pairs[:0]
	for _, r := range rows {
		byLabel = append(byLabel, uint64(g.labels.of[r])<<32|uint64(g.drawn[r]))
	}
	slices.Sort(byLabel)
	g.pairs = byLabel
	last := int32(-1)
	for _, b := range byLabel {
		if label := int32(b >> 32); label != last {
			t.labels = append(t.labels, label)
			t.counts = append(t.counts, 0)
			last = label
		}
		t.counts[len(t.counts)-1] += int32(uint32(b))
	}
	t.leafStart = append(t.leafStart, int32(len(t.labels)))
}

// enter sets the state of the node with these rows. It returns true if the node
// is a leaf whatever the features: all labels are equal, or there are too few
// rows for two leaves.
func (g *grower) enter(rows []int32) (leaf bool) {
	n := &g.node
	n.rows, n.weight = len(rows), 0
	equal := true
	if g.target != nil {
		n.sum = 0
		for _, r := range rows {
			w := g.drawn[r]
			n.weight += int64(w)
			n.sum += float64(float64(w) * g.target[r])
			equal = equal && g.labels.of[r] == g.labels.of[rows[0]]
		}
	} else {
		clear(n.counts)
		for _, r := range rows {
			w := int64(g.drawn[r])
			n.weight += w
			n.counts[g.labels.of[r]] += w
		}
		n.squares = 0
		for _, c := range n.counts {
			n.squares += c * c
		}
		equal = n.squares == n.weight*n.weight
	}
	return equal || len(rows) < 2*n.smallest
}

// search draws features and returns the best split of rows[from:to] on them.
//
// The positive values of a drawn feature can be found in two ways: by running
// down its column and keeping the node's rows, which suits large nodes, or, in
// small ones, by collecting all values of the node's rows first. Both give the
// same pairs in the same order.
func (g *grower) search(from, to int32) split {
	gathered := g.valuesWithin(from, to, g.gatherLimit)
	if gathered {
		g.gather(from, to)
	}
	best := split{feature: -1}
	varying := false
	for visited := 0; visited < len(g.perm); visited++ {
		if visited >= g.options.FeaturesPerSplit && varying {
			break
		}
		k := visited + g.random.below(len(g.perm)-visited)
		g.perm[visited], g.perm[k] = g.perm[k], g.perm[visited]
		f := g.perm[visited]
		if gathered {
			if g.first[f] == 0 {
				continue
			}
			g.pickGathered(f)
		} else {
			g.pickColumn(f, from, to)
		}
		positive := len(g.pairs)
		if positive == 0 || positive == g.node.rows && g.pairs[0]>>32 == g.pairs[positive-1]>>32 {
			continue
		}
		varying = true
		if g.target != nil {
			g.tryNumbers(f, &best)
		} else {
			g.tryClasses(f, &best)
		}
	}
	if gathered {
		g.scatter()
	}
	return best
}

// valuesWithin reports whether rows[from:to] have at most limit positive values.
func (g *grower) valuesWithin(from, to int32, limit int) bool {
	values := 0
	for _, r := range g.rows[from:to] {
		values += g.t.rowStart[r+1] - g.t.rowStart[r]
		if values > limit {
			return false
		}
	}
	return true
}

// gather collects the positive values of rows[from:to] by feature.
func (g *grower) gather(from, to int32) {
	g.cells = g.cells[:0]
	for _, r := range g.rows[from:to] {
		for k := g.t.rowStart[r]; k < g.t.rowStart[r+1]; k++ {
			f := g.t.rowFeature[k]
			g.cells = append(g.cells, cellInNode{f, g.t.rowValue[k], r, g.first[f]})
			g.first[f] = int32(len(g.cells))
		}
	}
}

// scatter forgets what gather has collected.
func (g *grower) scatter() {
	for i := range g.cells {
		g.first[g.cells[i].feature] = 0
	}
}

// pickGathered sets the pairs of feature f from the gathered values.
func (g *grower) pickGathered(f int32) {
	g.pairs = g.pairs[:0]
	for c := g.first[f]; c > 0; {
		cell := &g.cells[c-1]
		g.pairs = append(g.pairs, uint64(cell.value)<<32|uint64(cell.row))
		c = cell.next
	}
	slices.Sort(g.pairs)
}

// pickColumn sets the pairs of feature f from its column.
func (g *grower) pickColumn(f, from, to int32) {
	g.pairs = g.pairs[:0]
	for k := g.t.colStart[f]; k < g.t.colStart[f+1]; k++ {
		r := g.t.colRow[k]
		if place := g.place[r]; from <= place && place < to {
			g.pairs = append(g.pairs, uint64(g.t.colValue[k])<<32|uint64(r))
		}
	}
}

// tryClasses looks for a split on feature f that is better than best. With L_c
// and R_c draws of class c on the two sides, Gini's index is lowest where
// Σ L_c²/Σ L_c + Σ R_c²/Σ R_c is highest. All terms are integers until the
// division, so that splits which are equally good compare as equal.
func (g *grower) tryClasses(f int32, best *split) {
	n := &g.node
	left, right := n.counts, n.other
	leftWeight, leftSquares := n.weight, n.squares
	rightWeight, rightSquares := int64(0), int64(0)
	for _, p := range g.pairs {
		r := uint32(p)
		w, c := int64(g.drawn[r]), g.labels.of[r]
		leftSquares += w * (w - 2*left[c])
		rightSquares += w * (w + 2*right[c])
		left[c] -= w
		right[c] += w
		leftWeight -= w
		rightWeight += w
	}
	// Left are the zeros; the pairs follow one by one, and the counts end as
	// they began.
	value := uint64(0)
	for k := 0; ; k++ {
		leftRows := n.rows - len(g.pairs) + k
		if k == len(g.pairs) {
			break
		}
		p := g.pairs[k]
		if next := p >> 32; next != value {
			if leftRows >= n.smallest && n.rows-leftRows >= n.smallest {
				gain := float64(leftSquares)/float64(leftWeight) + float64(rightSquares)/float64(rightWeight)
				if gain > best.gain {
					*best = split{f, int32((value + next) / 2), gain}
				}
			}
			value = next
		}
		r := uint32(p)
		w, c := int64(g.drawn[r]), g.labels.of[r]
		leftSquares += w * (w + 2*left[c])
		rightSquares += w * (w - 2*right[c])
		left[c] += w
		right[c] -= w
		leftWeight += w
		rightWeight -= w
	}
}

// tryNumbers looks for a split on feature f that is better than best. With sums
// L and R of the labels on the two sides and weights l and r, the variance
// within the sides is lowest where L²/l + R²/r is highest.
func (g *grower) tryNumbers(f int32, best *split) {
	n := &g.node
	rightWeight, rightSum := int64(0), 0.0
	for _, p := range g.pairs {
		r := uint32(p)
		w := g.drawn[r]
		rightWeight += int64(w)
		rightSum += float64(float64(w) * g.target[r])
	}
	leftWeight, leftSum := n.weight-rightWeight, n.sum-rightSum
	value := uint64(0)
	for k, p := range g.pairs {
		if next := p >> 32; next != value {
			leftRows := n.rows - len(g.pairs) + k
			if leftRows >= n.smallest && n.rows-leftRows >= n.smallest {
				gain := leftSum*leftSum/float64(leftWeight) + rightSum*rightSum/float64(rightWeight)
				if best.feature < 0 || gain > best.gain {
					*best = split{f, int32((value + next) / 2), gain}
				}
			}
			value = next
		}
		r := uint32(p)
		w := g.drawn[r]
		leftWeight += int64(w)
		rightWeight -= int64(w)
		term := float64(float64(w) * g.target[r])
		leftSum += term
		rightSum -= term
	}
}

// divide orders rows[from:to] so that those that go left come first, and returns
// how many they are. Both sides keep their order.
func (g *grower) divide(from, to int32, s split) int32 {
	column := g.t.colRow[g.t.colStart[s.feature]:g.t.colStart[s.feature+1]]
	values := g.t.colValue[g.t.colStart[s.feature]:g.t.colStart[s.feature+1]]
	above, _ := slices.BinarySearch(values, s.threshold+1)
	column = column[above:]
	rows := g.rows[from:to]
	if len(column) < 8*len(rows) {
		for _, r := range column {
			g.right[r] = true
		}
	} else {
		for _, r := range rows {
			g.right[r] = g.t.value(r, s.feature) > s.threshold
		}
		column = rows
	}
	left := int32(0)
	g.spare = g.spare[:0]
	for _, r := range rows {
		if g.right[r] {
			g.spare = append(g.spare, r)
			continue
		}
		rows[left] = r
		g.place[r] = from + left
		left++
	}
	for k, r := range g.spare {
		rows[left+int32(k)] = r
		g.place[r] = from + left + int32(k)
	}
	for _, r := range column {
		g.right[r] = false
	}
	return left
}
