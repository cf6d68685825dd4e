package model

import (
	"context"
	"math"
	"slices"
)

// A grower grows one tree after another and reuses its memory.
type grower struct {
	table   *table
	labels  *labelling // the distinct labels, and the label of each row
	forest  *Forest    // the forest to which the trees belong
	options Options
	targets []float64 // by row: the numeric label, centred and scaled to about ±1; nil for classes

	random       stream
	drawCounts   []int32 // by row: how often the bootstrap drew the row
	orderedRows  []int32 // the distinct rows drawn, ordered so that the rows of each node are a range
	rowPositions []int32 // by row: the index of the row in orderedRows, or −1 if the row was not drawn
	rightRows    []int32 // scratch memory of partitionRows: the rows that go right
	goesRight    []bool  // by row: whether the row goes right; false outside partitionRows

	featureOrder []int32      // a permutation of the features, shuffled further at each node
	firstCell    []int32      // by feature: 1 + the index in cells of the feature's first positive value in the node, or 0 if there is none
	cells        []cellInNode // the positive values in the node, as one linked list for each feature

	nodeFeatures []int32 // the features with positive values in the node
	rowsAbove    []int32 // the rows of the node whose value exceeds the tried threshold

	valueRowPairs []uint64 // value<<32 | row for the positive values of one feature in the node, ascending

	// gatherLimit is the greatest number of positive values in a node for which the search gathers
	// all of them. In a node with more values, the search scans the columns of the drawn features.
	gatherLimit int

	state nodeState // summary of the current node
}

// A cellInNode is a positive value of a feature in the current node. The field nextCell is 1 + the
// index of the next value of the same feature, or 0 if there is none.
type cellInNode struct {
	feature, value, row, nextCell int32
}

// A nodeState summarises the current node for the search for a split.
type nodeState struct {
	rowCount        int     // number of distinct rows in the node
	drawCount       int64   // number of bootstrap draws of the rows in the node
	classDraws      []int64 // by class: the number of draws in the node
	squaredDrawSum  int64   // Σ of the squares of classDraws
	rightClassDraws []int64 // by class: the number of draws on the right side of a split; zero between uses
	targetSum       float64 // Σ of the targets over the draws
	minLeafRows     int     // least number of distinct rows in a leaf
	minSplitRows    int     // least number of distinct rows in a node that may be split
}

// With random splits and numbers, a node may be split if it has at least a fortieth of all rows.
// splitRowsFloor and splitRowsCeiling are the least and the greatest value of this limit. Without
// such a limit, trees are twice as large and no better.
const splitRowsFloor, splitRowsCeiling = 4, 10

// newGrower returns a grower for the trees of forest f.
func newGrower(t *table, labels *labelling, f *Forest) *grower {
	o := f.options
	g := &grower{
		table: t, labels: labels, forest: f, options: o,
		drawCounts:   make([]int32, t.rowCount),
		rowPositions: make([]int32, t.rowCount),
		goesRight:    make([]bool, t.rowCount),
		featureOrder: make([]int32, t.featureCount),
		firstCell:    make([]int32, t.featureCount),
		state:        nodeState{minLeafRows: o.SmallestLeaf, minSplitRows: 2 * o.SmallestLeaf},
		// As many as the scanned columns have on average.
		gatherLimit: o.FeaturesPerSplit * len(t.columnRows) / t.featureCount,
	}
	if labels.numbers != nil {
		if o.Splits == RandomSplits {
			g.state.minSplitRows = max(g.state.minSplitRows, min(max(t.rowCount/40, splitRowsFloor), splitRowsCeiling))
		}
		g.targets = make([]float64, t.rowCount)
		mean, largest := 0.0, 0.0
		for _, l := range labels.labelIndices {
			mean += labels.numbers[l] / float64(t.rowCount)
		}
		for _, v := range labels.numbers {
			largest = max(largest, math.Abs(v-mean))
		}
		if largest > 0 {
			for r, l := range labels.labelIndices {
				g.targets[r] = (labels.numbers[l] - mean) / largest
			}
		}
	} else {
		g.state.classDraws = make([]int64, labels.labelCount())
		g.state.rightClassDraws = make([]int64, labels.labelCount())
	}
	return g
}

// growTree grows the tree with index k. It also returns the rows that the bootstrap sample of the
// tree left out.
func (g *grower) growTree(ctx context.Context, k int) (tree, leftOutRows, error) {
	g.random = newStream(g.options.Seed, growPurpose, uint64(k))
	out := g.forest.drawBootstrap(g.random, g.drawCounts)
	g.orderedRows = g.orderedRows[:0]
	for r, n := range g.drawCounts {
		if n == 0 {
			g.rowPositions[r] = -1
			continue
		}
		g.rowPositions[r] = int32(len(g.orderedRows))
		g.orderedRows = append(g.orderedRows, int32(r))
	}
	for f := range g.featureOrder {
		g.featureOrder[f] = int32(f)
	}

	t := tree{leafStarts: []int32{0}}
	type pending struct{ from, to, parent int32 } // rows[from:to], the right child of node parent; −1: the root or a left child
	stack := []pending{{0, int32(len(g.orderedRows)), -1}}
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
		rows := g.orderedRows[p.from:p.to]
		best := split{feature: -1}
		if !g.initNode(rows) {
			best = g.searchSplit(p.from, p.to)
		}
		if best.feature < 0 {
			t.nodes = append(t.nodes, node{feature: -1, right: int32(t.leafCount())})
			g.addLeaf(&t, rows)
			continue
		}
		t.nodes = append(t.nodes, node{feature: best.feature, threshold: best.threshold})
		middle := p.from + g.partitionRows(p.from, p.to, best)
		stack = append(stack, pending{middle, p.to, at}, pending{p.from, middle, -1})
	}
	t.nodes, t.leafStarts = slices.Clip(t.nodes), slices.Clip(t.leafStarts)
	t.labels, t.counts = slices.Clip(t.labels), slices.Clip(t.counts)
	return t, out, nil
}

// addLeaf appends a leaf with the labels of the given rows to tree t.
func (g *grower) addLeaf(t *tree, rows []int32) {
	byLabel := g.valueRowPairs[:0]
	for _, r := range rows {
		byLabel = append(byLabel, uint64(g.labels.labelIndices[r])<<32|uint64(g.drawCounts[r]))
	}
	slices.Sort(byLabel)
	g.valueRowPairs = byLabel
	last := int32(-1)
	for _, b := range byLabel {
		if label := int32(b >> 32); label != last {
			t.labels = append(t.labels, label)
			t.counts = append(t.counts, 0)
			last = label
		}
		t.counts[len(t.counts)-1] += int32(uint32(b))
	}
	t.leafStarts = append(t.leafStarts, int32(len(t.labels)))
}

// initNode sets the state for the node with the given rows. It returns true if the node must be a
// leaf whatever the features: if all labels are equal, or if there are too few rows.
func (g *grower) initNode(rows []int32) (leaf bool) {
	n := &g.state
	n.rowCount, n.drawCount = len(rows), 0
	equal := true
	if g.targets != nil {
		n.targetSum = 0
		for _, r := range rows {
			w := g.drawCounts[r]
			n.drawCount += int64(w)
			n.targetSum += float64(float64(w) * g.targets[r])
			equal = equal && g.labels.labelIndices[r] == g.labels.labelIndices[rows[0]]
		}
	} else {
		clear(n.classDraws)
		for _, r := range rows {
			w := int64(g.drawCounts[r])
			n.drawCount += w
			n.classDraws[g.labels.labelIndices[r]] += w
		}
		n.squaredDrawSum = 0
		for _, c := range n.classDraws {
			n.squaredDrawSum += c * c
		}
		equal = n.squaredDrawSum == n.drawCount*n.drawCount
	}
	return equal || len(rows) < n.minSplitRows
}

// partitionRows orders orderedRows[from:to] by split s, so that the rows that go left come first.
// It returns the number of rows that go left. The rows of each side keep their order.
func (g *grower) partitionRows(from, to int32, s split) int32 {
	column := g.table.columnRows[g.table.columnStarts[s.feature]:g.table.columnStarts[s.feature+1]]
	values := g.table.columnValues[g.table.columnStarts[s.feature]:g.table.columnStarts[s.feature+1]]
	above, _ := slices.BinarySearch(values, s.threshold+1)
	column = column[above:]
	rows := g.orderedRows[from:to]
	if len(column) < 8*len(rows) {
		for _, r := range column {
			g.goesRight[r] = true
		}
	} else {
		for _, r := range rows {
			g.goesRight[r] = g.table.value(r, s.feature) > s.threshold
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
		g.rowPositions[r] = from + left
		left++
	}
	for k, r := range g.rightRows {
		rows[left+int32(k)] = r
		g.rowPositions[r] = from + left + int32(k)
	}
	for _, r := range column {
		g.goesRight[r] = false
	}
	return left
}
