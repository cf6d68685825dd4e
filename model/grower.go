package model

import (
	"context"
	"math"
	"slices"
)

// A grower grows one tree after another and reuses its memory.
type grower struct {
	table   *featureTable
	labels  *labelling // the distinct labels, and the label of each row
	forest  *Forest    // the forest to which the trees belong
	options Options
	// centredLabels holds the numeric label of each row, minus the mean of the labels and divided
	// by the greatest deviation from the mean. It is nil for classes.
	centredLabels []float64

	random       randomStream // random numbers of the current tree
	drawCounts   []int32      // how often the bootstrap of the current tree drew each row
	orderedRows  []int32      // the distinct drawn rows; those of each node are neighbours
	rowPositions []int32      // rowPositions[r] is the index of row r in orderedRows, or −1 if row r was not drawn
	rightRows    []int32      // scratch memory of partitionRows: the rows that go right
	goesRight    []bool       // goesRight[r] tells whether row r goes right; false outside partitionRows

	featureOrder []int32 // a permutation of the features, which is shuffled further at each node
	// firstGathered[f] is 1 + the index in gatheredValues of the first positive value of feature f
	// in the node. It is 0 if there is none.
	firstGathered  []int32
	gatheredValues []gatheredValue // the positive values of features in the node, in one linked list for each feature

	nodeFeatures []int32 // the features with positive values in the node
	rowsAbove    []int32 // the rows of the node whose value exceeds the threshold that is being tried

	valueRowPairs []uint64 // the pairs value<<32 | row of the positive values of one feature in the node, ascending

	// gatherLimit decides how the search for a split finds the positive values of features in a
	// node. If the node has at most gatherLimit of them, the search gathers the values of all
	// features. Otherwise it scans the columns of the drawn features.
	gatherLimit int

	nodeState nodeState // summary of the node that is being split
}

// A gatheredValue is a positive value of a feature in the node that is being split, as an element
// of a linked list. The field next is 1 + the index of the next value of the same feature, or 0 at
// the end of the list.
type gatheredValue struct {
	feature, value, row, next int32
}

// A nodeState summarises the node for which a split is searched.
type nodeState struct {
	rowCount        int     // number of distinct rows in the node
	drawCount       int64   // number of bootstrap draws of the rows in the node
	classDraws      []int64 // number of draws of each class in the node
	squaredDrawSum  int64   // Σ of the squares of the elements of classDraws
	rightClassDraws []int64 // number of draws of each class on the right side of a split; zero between uses
	centredLabelSum float64 // sum over the draws in the node of the row's element of [grower] centredLabels
	minLeafRows     int     // least number of distinct rows that a leaf may have
	minSplitRows    int     // least number of distinct rows in a node that may be split
}

// splitRowsFloor and splitRowsCeiling limit the least number of rows in a node that may be split,
// if splits are random and labels are numbers. The least number is a fortieth of all rows, but not
// outside these limits. With smaller nodes, trees are twice as large and no better.
const splitRowsFloor, splitRowsCeiling = 4, 10

// newGrower returns a grower for the trees of forest f.
func newGrower(t *featureTable, labels *labelling, f *Forest) *grower {
	o := f.options
	g := &grower{
		table: t, labels: labels, forest: f, options: o,
		drawCounts:    make([]int32, t.rowCount),
		rowPositions:  make([]int32, t.rowCount),
		goesRight:     make([]bool, t.rowCount),
		featureOrder:  make([]int32, t.featureCount),
		firstGathered: make([]int32, t.featureCount),
		nodeState:     nodeState{minLeafRows: o.SmallestLeaf, minSplitRows: 2 * o.SmallestLeaf},
		// As many as the scanned columns have on average.
		gatherLimit: o.FeaturesPerSplit * len(t.columnRows) / t.featureCount,
	}
	if labels.numbers != nil {
		if o.Splits == RandomSplits {
			g.nodeState.minSplitRows = max(g.nodeState.minSplitRows, min(max(t.rowCount/40, splitRowsFloor), splitRowsCeiling))
		}
		g.centredLabels = make([]float64, t.rowCount)
		mean, largest := 0.0, 0.0
		for _, l := range labels.labelIndices {
			mean += labels.numbers[l] / float64(t.rowCount)
		}
		for _, v := range labels.numbers {
			largest = max(largest, math.Abs(v-mean))
		}
		if largest > 0 {
			for r, l := range labels.labelIndices {
				g.centredLabels[r] = (labels.numbers[l] - mean) / largest
			}
		}
	} else {
		g.nodeState.classDraws = make([]int64, labels.labelCount())
		g.nodeState.rightClassDraws = make([]int64, labels.labelCount())
	}
	return g
}

// growTree grows the tree with index k. It also returns the rows that are not in the tree's
// bootstrap sample.
func (g *grower) growTree(ctx context.Context, k int) (tree, leftOutRows, error) {
	g.random = newRandomStream(g.options.Seed, streamForGrowing, uint64(k))
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

// addLeaf appends a leaf to tree t. The leaf holds the labels of the given rows.
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

// initNode sets the state for the node that holds the given rows. It returns true if the node must
// be a leaf, because all labels are equal or because there are too few rows.
func (g *grower) initNode(rows []int32) (leaf bool) {
	n := &g.nodeState
	n.rowCount, n.drawCount = len(rows), 0
	equal := true
	if g.centredLabels != nil {
		n.centredLabelSum = 0
		for _, r := range rows {
			w := g.drawCounts[r]
			n.drawCount += int64(w)
			n.centredLabelSum += float64(float64(w) * g.centredLabels[r])
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

// partitionRows reorders orderedRows[from:to] so that the rows that split s sends left come first.
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
