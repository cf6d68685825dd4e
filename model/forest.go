package model

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
)

// A Forest predicts a label from a composition. [Grow] and [Read] return forests. A forest does not
// change, so that any number of goroutines may use it.
type Forest struct {
	label       string
	classes     []string  // the names of the classes, sorted; nil if the label is a number
	numbers     []float64 // the distinct numeric labels of the rows in ascending order; nil if the label is a class
	ingredients []string
	totalAmount int // the sum of the amounts of a composition
	features    []Feature
	rowCount    int     // number of rows from which the forest was grown
	drawWeights []int64 // relative probability with which a bootstrap draws each row; nil if all are equal
	besideCount int     // number of ingredients beside the composition: see [Data.Beside]
	// groupOfRow[r] is the index of the group of row r (see [Data.groupRows]). It is nil if no
	// ingredient is beside the composition.
	groupOfRow      []int32
	groupCount      int // number of groups of rows; see groupOfRow
	options         Options
	quality         Quality
	candidateChoice *CandidateChoice // the cross-validation that chose the forest's features; nil if there was none
	importances     []Importance     // permutation importance of each feature; nil if not computed
	trees           []tree

	compileOnce sync.Once       // guards compiled
	compiled    *compiledForest // the forest prepared for scoring; nil before the first use
}

// Label returns the name of the predicted quantity.
func (f *Forest) Label() string { return f.label }

// Numeric reports whether the label is a number rather than a class.
func (f *Forest) Numeric() bool { return f.numbers != nil }

// Classes returns the names of the classes in ascending order, or nil if the label is a number. All
// results with one element for each class are in this order.
func (f *Forest) Classes() []string { return slices.Clone(f.classes) }

// Range returns the smallest and the largest label of the rows. Both are 0 if the label is a class.
func (f *Forest) Range() (smallest, largest float64) {
	if !f.Numeric() {
		return 0, 0
	}
	return f.numbers[0], f.numbers[len(f.numbers)-1]
}

// Ingredients returns the names of the ingredients, in the order of the amounts in a composition.
func (f *Forest) Ingredients() []string { return slices.Clone(f.ingredients) }

// Total returns the sum of the amounts of the compositions for which the forest predicts.
func (f *Forest) Total() int { return f.totalAmount }

// Features returns the features that the tests of the trees may use.
func (f *Forest) Features() []Feature { return slices.Clone(f.features) }

// Rows returns the number of rows from which the forest was grown.
func (f *Forest) Rows() int { return f.rowCount }

// TreeCount returns the number of trees.
func (f *Forest) TreeCount() int { return len(f.trees) }

// Options returns the options with which the forest was grown. Defaults are filled in, and Workers
// is 0.
func (f *Forest) Options() Options { return f.options }

// Quality returns how well the forest predicts rows that its trees have not seen.
func (f *Forest) Quality() Quality { return f.quality }

// Choice returns the result of the cross-validation that chose the way to grow the forest. It
// returns nil if there was none.
func (f *Forest) Choice() *CandidateChoice { return f.candidateChoice }

// Importances returns the permutation importance of each feature, in the order of the features. It
// returns nil if the options did not ask for importances.
func (f *Forest) Importances() []Importance { return slices.Clone(f.importances) }

// A TreeShapes gives the sizes and depths of the trees of a forest.
type TreeShapes struct {
	Nodes       int // number of nodes of all trees, leaves included
	Leaves      int // number of leaves of all trees
	MedianDepth int // median of the depths of the trees; a depth is the largest number of tests on a path
	LargestTree int // number of nodes of the largest tree
	MaxDepth    int // depth of the deepest tree
}

// Shape returns the sizes and depths of the trees.
func (f *Forest) Shape() TreeShapes {
	var s TreeShapes
	depths := make([]int, len(f.trees))
	for k := range f.trees {
		t := &f.trees[k]
		s.Nodes += len(t.nodes)
		s.Leaves += t.leafCount()
		s.LargestTree = max(s.LargestTree, len(t.nodes))
		depths[k] = t.depth()
	}
	sort.Ints(depths)
	s.MedianDepth, s.MaxDepth = depths[len(depths)/2], depths[len(depths)-1]
	return s
}

// checkNodeCount returns an error if all trees together have more nodes than int32 indices can
// count.
func (f *Forest) checkNodeCount() error {
	nodes := 0
	for k := range f.trees {
		nodes += len(f.trees[k].nodes)
	}
	if nodes > math.MaxInt32 {
		return fmt.Errorf("the trees have %d nodes together, more than %d: grow fewer trees or larger leaves", nodes, math.MaxInt32)
	}
	return nil
}

// featureValues returns the value of each feature for the dense composition x.
func (f *Forest) featureValues(x []int32) []int32 {
	values := make([]int32, len(f.features))
	for k := range f.features {
		values[k] = f.features[k].value(x)
	}
	return values
}

// labelWeights returns the predicted probability of each label for the dense composition x. The
// order is that of the forest's classes or numbers. The probability of a label is the mean over the
// trees of the label's share in the leaf that x reaches.
func (f *Forest) labelWeights(x []int32) []float64 {
	values := f.featureValues(x)
	law := make([]float64, max(len(f.classes), len(f.numbers)))
	for k := range f.trees {
		f.trees[k].addShares(f.trees[k].leafNumber(values), law)
	}
	for c := range law {
		law[c] /= float64(len(f.trees))
	}
	return law
}

// Shares returns the predicted probability of each class for the dense composition x. The
// probability is the mean over the trees of the class's share in the leaf that x reaches. Shares
// returns nil if the label is a number.
func (f *Forest) Shares(x []int32) []float64 {
	if f.Numeric() {
		return nil
	}
	return f.labelWeights(x)
}

// Mean returns the expected label for the dense composition x. It panics if the label is a class.
func (f *Forest) Mean(x []int32) float64 {
	f.mustBeNumeric()
	mean := 0.0
	for k, w := range f.labelWeights(x) {
		mean += float64(w * f.numbers[k])
	}
	return mean
}

// Quantile returns the p-quantile of the predicted distribution of the label for the dense
// composition x, 0 ≤ p ≤ 1: the smallest label whose cumulative weight is at least p (Meinshausen
// 2006, equation 6). It panics if the label is a class.
func (f *Forest) Quantile(x []int32, p float64) float64 {
	f.mustBeNumeric()
	return f.numbers[quantileIndex(f.labelWeights(x), p)]
}

// mustBeNumeric panics if the label is a class.
func (f *Forest) mustBeNumeric() {
	if !f.Numeric() {
		panic(fmt.Sprintf("forest: %q is a class, not a number", f.label))
	}
}
