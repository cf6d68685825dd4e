package model

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
)

// A Forest predicts a label from a composition. It comes from [Grow] or [Read]
// and does not change after that, so that any number of goroutines may use it.
type Forest struct {
	label       string
	classes     []string  // sorted; nil if the label is a number
	numbers     []float64 // the distinct labels of the rows, ascending; nil for classes
	ingredients []string
	total       int
	features    []Feature
	rows        int     // number of rows of the data
	chances     []int64 // by row: relative probability of a draw; nil: uniform
	beside      int     // as in Data
	groups      []int32 // by row: its group, see [Data.groups]; nil without what stands beside
	groupCount  int
	options     Options
	quality     Quality
	choice      *Choice // nil if the features were not chosen by cross-validation
	importances []Importance
	trees       []tree

	compile  sync.Once
	compiled *structure
}

// Label returns the name of the predicted quantity.
func (f *Forest) Label() string { return f.label }

// Numeric reports whether the label is a number rather than a class.
func (f *Forest) Numeric() bool { return f.numbers != nil }

// Classes returns the names of the classes in the order used throughout, which
// is ascending; nil if the label is a number.
func (f *Forest) Classes() []string { return slices.Clone(f.classes) }

// Range returns the smallest and largest label of a numeric forest.
func (f *Forest) Range() (smallest, largest float64) {
	if !f.Numeric() {
		return 0, 0
	}
	return f.numbers[0], f.numbers[len(f.numbers)-1]
}

// Ingredients returns the names of the ingredients, in the order of the amounts
// in a composition.
func (f *Forest) Ingredients() []string { return slices.Clone(f.ingredients) }

// Total returns the sum of the amounts of the compositions the forest is for.
func (f *Forest) Total() int { return f.total }

// Features returns the features that splits may test.
func (f *Forest) Features() []Feature { return slices.Clone(f.features) }

// Rows returns the number of rows the forest was grown from.
func (f *Forest) Rows() int { return f.rows }

// Trees returns the number of trees.
func (f *Forest) Trees() int { return len(f.trees) }

// Options returns the options the forest was grown with, defaults filled in and
// without the number of workers.
func (f *Forest) Options() Options { return f.options }

// Quality returns how well the forest predicts rows that it has not seen.
func (f *Forest) Quality() Quality { return f.quality }

// Choice returns the cross-validation that chose the forest, or nil.
func (f *Forest) Choice() *Choice { return f.choice }

// Importances returns the permutation importance of each feature, in the order of the features, or
// nil if the options did not ask for them.
func (f *Forest) Importances() []Importance { return slices.Clone(f.importances) }

// Shape describes the trees of a forest.
type Shape struct {
	Nodes       int // number of nodes of all trees, leaves included
	Leaves      int // number of leaves of all trees
	MedianDepth int // median over the trees of the largest number of tests on a path
	LargestTree int // number of nodes of the tree with the most nodes
	Deepest     int
}

// Shape returns the size and depth of the trees.
func (f *Forest) Shape() Shape {
	var s Shape
	depths := make([]int, len(f.trees))
	for k := range f.trees {
		t := &f.trees[k]
		s.Nodes += len(t.nodes)
		s.Leaves += t.leaves()
		s.LargestTree = max(s.LargestTree, len(t.nodes))
		depths[k] = t.depth()
	}
	sort.Ints(depths)
	s.MedianDepth, s.Deepest = depths[len(depths)/2], depths[len(depths)-1]
	return s
}

// checkSize returns an error if an int32 cannot number the nodes of all trees.
func (f *Forest) checkSize() error {
	nodes := 0
	for k := range f.trees {
		nodes += len(f.trees[k].nodes)
	}
	if nodes > math.MaxInt32 {
		return fmt.Errorf("the trees have %d nodes together, more than %d: grow fewer trees or larger leaves", nodes, math.MaxInt32)
	}
	return nil
}

// featureValues returns the features of the dense composition x.
func (f *Forest) featureValues(x []int32) []int32 {
	values := make([]int32, len(f.features))
	for k := range f.features {
		values[k] = f.features[k].value(x)
	}
	return values
}

// weights returns the law of the label at the dense composition x: the mean over
// the trees of the leaf's shares, in the order of the classes or numbers.
func (f *Forest) weights(x []int32) []float64 {
	values := f.featureValues(x)
	law := make([]float64, max(len(f.classes), len(f.numbers)))
	for k := range f.trees {
		f.trees[k].addShares(f.trees[k].leaf(values), law)
	}
	for c := range law {
		law[c] /= float64(len(f.trees))
	}
	return law
}

// Shares returns the probability of each class at the dense composition x: the
// mean over the trees of the class's share of the leaf. It returns nil if the
// label is a number.
func (f *Forest) Shares(x []int32) []float64 {
	if f.Numeric() {
		return nil
	}
	return f.weights(x)
}

// Mean returns the expected label of a numeric forest at the dense composition
// x. It panics if the label is a class.
func (f *Forest) Mean(x []int32) float64 {
	f.mustBeNumeric()
	mean := 0.0
	for k, w := range f.weights(x) {
		mean += float64(w * f.numbers[k])
	}
	return mean
}

// Quantile returns the smallest label whose cumulative weight at the dense
// composition x is at least p, in 0..1 (Meinshausen 2006, equation 6). It panics
// if the label is a class.
func (f *Forest) Quantile(x []int32, p float64) float64 {
	f.mustBeNumeric()
	return f.numbers[quantileIndex(f.weights(x), p)]
}

func (f *Forest) mustBeNumeric() {
	if !f.Numeric() {
		panic(fmt.Sprintf("forest: %q is a class, not a number", f.label))
	}
}
