package model

import (
	"context"
	"math"
	"slices"
)

// A grower grows one tree after another, reusing its memory.
type grower struct {
	t       *table
	labels  *labelling
	forest  *Forest // that is grown
	options Options
	target  []float64 // numeric labels, centred and scaled to about ±1; nil for classes

	random    stream
	drawn     []int32 // how often the bootstrap drew each row
	rows      []int32 // the distinct rows drawn, ordered so that each node is a range
	rowIndex  []int32 // the index in rows of each row, or −1
	rightRows []int32 // scratch for splitting a node: the rows that go right
	goesRight []bool  // by row: whether the row goes right; false between splits

	featureOrder []int32 // a permutation of the features, shuffled further at each node
	firstCell    []int32 // by feature: 1 + index of the first of its cells in this node, or 0
	cells        []cellInNode

	nodeFeatures []int32 // the features with cells in this node
	above        []int32 // the rows whose value exceeds the tried threshold

	pairs []uint64 // value<<32 | row, ascending: the positive values of one feature in the node

	// In a node with at most this many positive values, the search gathers all of them; in a larger
	// one, it scans the columns of the drawn features.
	gatherLimit int

	node nodeState
}

// A cellInNode is a positive value in a node, linked to the next of its feature.
type cellInNode struct {
	feature, value, row, nextCell int32
}

// A nodeState is the summary of a node that the search for a split needs.
type nodeState struct {
	rows         int   // number of distinct rows
	weight       int64 // number of draws
	counts       []int64
	squares      int64   // Σ of the squares of counts
	rightCounts  []int64 // counts on the right of a split; zero between uses
	sum          float64 // Σ target over the draws
	minLeafRows  int     // least number of rows in a leaf
	minSplitRows int     // least number of rows in a node to be split
}

// With random splits and numbers, a node is split if it has at least one in forty of the rows; this
// limit is kept between leastSplit and mostSplit. Trees down to single rows are twice as large and
// no better.
const leastSplit, mostSplit = 4, 10

func newGrower(t *table, labels *labelling, f *Forest) *grower {
	o := f.options
	g := &grower{
		t: t, labels: labels, forest: f, options: o,
		drawn:        make([]int32, t.rows),
		rowIndex:     make([]int32, t.rows),
		goesRight:    make([]bool, t.rows),
		featureOrder: make([]int32, t.features),
		firstCell:    make([]int32, t.features),
		node:         nodeState{minLeafRows: o.SmallestLeaf, minSplitRows: 2 * o.SmallestLeaf},
		// As many as the scanned columns have on average.
		gatherLimit: o.FeaturesPerSplit * len(t.colRow) / t.features,
	}
	if labels.numbers != nil {
		if o.Splits == RandomSplits {
			g.node.minSplitRows = max(g.node.minSplitRows, min(max(t.rows/40, leastSplit), mostSplit))
		}
		g.target = make([]float64, t.rows)
		mean, largest := 0.0, 0.0
		for _, l := range labels.labelOf {
			mean += labels.numbers[l] / float64(t.rows)
		}
		for _, v := range labels.numbers {
			largest = max(largest, math.Abs(v-mean))
		}
		if largest > 0 {
			for r, l := range labels.labelOf {
				g.target[r] = (labels.numbers[l] - mean) / largest
			}
		}
	} else {
		g.node.counts = make([]int64, labels.distinctLabels())
		g.node.rightCounts = make([]int64, labels.distinctLabels())
	}
	return g
}

// grow grows tree k.
func (g *grower) grow(ctx context.Context, k int) (tree, bag, error) {
	g.random = newStream(g.options.Seed, growing, uint64(k))
	out := g.forest.drawBag(g.random, g.drawn)
	g.rows = g.rows[:0]
	for r, n := range g.drawn {
		if n == 0 {
			g.rowIndex[r] = -1
			continue
		}
		g.rowIndex[r] = int32(len(g.rows))
		g.rows = append(g.rows, int32(r))
	}
	for f := range g.featureOrder {
		g.featureOrder[f] = int32(f)
	}

	t := tree{leafStart: []int32{0}}
	type pending struct{ from, to, parent int32 } // rows[from:to], the right child of node parent; −1: the root or a left child
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
		if !g.initNode(rows) {
			best = g.search(p.from, p.to)
		}
		if best.feature < 0 {
			t.nodes = append(t.nodes, node{feature: -1, right: int32(t.leaves())})
			g.addLeaf(&t, rows)
			continue
		}
		t.nodes = append(t.nodes, node{feature: best.feature, threshold: best.threshold})
		middle := p.from + g.partitionRows(p.from, p.to, best)
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
		byLabel = append(byLabel, uint64(g.labels.labelOf[r])<<32|uint64(g.drawn[r]))
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

// initNode sets the state of the node with these rows. It returns true if the node
// is a leaf whatever the features: all labels are equal, or there are too few
// rows.
func (g *grower) initNode(rows []int32) (leaf bool) {
	n := &g.node
	n.rows, n.weight = len(rows), 0
	equal := true
	if g.target != nil {
		n.sum = 0
		for _, r := range rows {
			w := g.drawn[r]
			n.weight += int64(w)
			n.sum += float64(float64(w) * g.target[r])
			equal = equal && g.labels.labelOf[r] == g.labels.labelOf[rows[0]]
		}
	} else {
		clear(n.counts)
		for _, r := range rows {
			w := int64(g.drawn[r])
			n.weight += w
			n.counts[g.labels.labelOf[r]] += w
		}
		n.squares = 0
		for _, c := range n.counts {
			n.squares += c * c
		}
		equal = n.squares == n.weight*n.weight
	}
	return equal || len(rows) < n.minSplitRows
}

// partitionRows orders rows[from:to] so that those that go left come first, and returns their
// number. Both sides keep their order.
func (g *grower) partitionRows(from, to int32, s split) int32 {
	column := g.t.colRow[g.t.colStart[s.feature]:g.t.colStart[s.feature+1]]
	values := g.t.colValue[g.t.colStart[s.feature]:g.t.colStart[s.feature+1]]
	above, _ := slices.BinarySearch(values, s.threshold+1)
	column = column[above:]
	rows := g.rows[from:to]
	if len(column) < 8*len(rows) {
		for _, r := range column {
			g.goesRight[r] = true
		}
	} else {
		for _, r := range rows {
			g.goesRight[r] = g.t.value(r, s.feature) > s.threshold
		}
		column = rows
	}
	left := int32(0)
	g.rightRows = g.rightRows[:0]
	for _, r := range rows {
		if g.goesRight[r] {
			g.rightRows = append(g.rightRows, r)
			continue
		}
		rows[left] = r
		g.rowIndex[r] = from + left
		left++
	}
	for k, r := range g.rightRows {
		rows[left+int32(k)] = r
		g.rowIndex[r] = from + left + int32(k)
	}
	for _, r := range column {
		g.goesRight[r] = false
	}
	return left
}
