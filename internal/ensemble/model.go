// Package ensemble scores tree ensembles of other programs. It scores a line of compositions at a
// time. The results are the same, bit for bit, as those of scoring each composition alone.
//
// A [Model] is the content of a file: trees over numbered features, the targets (sums of leaf
// values of the trees), and the outputs that are computed from these sums. Packages onnx, xgboost
// and lightgbm read files into a Model by a [Builder].
//
// [Bind] defines each input of the model as a function of a composition and returns a [Score],
// whose tests compare whole numbers. A feature is a monotonic function of a whole number n, such as
// the units of an ingredient. There is thus a single n at which the result of a test changes. Bind
// finds this n by evaluating the feature in the floating-point arithmetic of the model. Rounding is
// therefore the same on a line as at a single composition.
//
// # Sums
//
// Other programs add the values of the leaves in the order of the trees, most of them in float32.
// The last bits of the result depend on the order. A [Score] adds in the same order and precision.
//
// Along a line most trees keep their leaf. But rounded addition is not associative. So if one term
// changes, the sum must be added anew from that term on. Two facts keep this fast. The sums of
// neighbouring pieces of a line are independent of each other, so that up to 32 sums are added at
// once. And the terms of neighbouring pieces differ in only a few places.
//
// # Lines
//
// For each slot a scorer lists the trees whose current path tests the slot. Along a line it
// descends only the trees of the slots that vary, with the range of the line that reaches each
// node. Package model descends its larger trees in the same way.
package ensemble

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// A Model is a tree ensemble as stored in a file. It computes targets. A target is the sum, or the
// minimum or maximum, of terms, each of which is a leaf value of one tree. Functions that read
// files make a Model with a [Builder]. The slices of a Model must not be changed.
type Model struct {
	Producer  string   // program that wrote the file, such as "XGBoost 1.7.4"
	Inputs    []string // names of the inputs, in order
	IsFloat32 bool     // whether features and sums are computed in float32 instead of float64

	Features []Feature // the quantities that nodes compare with thresholds
	Fold     TermFold  // how the terms of a target are combined
	Start    []float64 // Start[g] is the number to which the terms of target g are added
	Terms    [][]Term  // Terms[g] lists the terms of target g, in the order of addition
	Outputs  []Output  // the quantities that the model predicts

	nodes      []Node    // nodes of all trees; the children of a node come before the node
	roots      []int32   // root of each tree, encoded as a child of a [Node]
	leafValues []float64 // the values of all leaves

	sumComputerOnce sync.Once   // guards sumComputer
	sumComputer     sumComputer // shared by all scorers; nil before the first use
}

// A Feature is a number that nodes compare with thresholds. It is a monotonic function of one input
// of the model. If Function is nil, the feature is the input itself, rounded to float32 if
// [Model.IsFloat32] is true.
type Feature struct {
	Input    int // index of the input
	Function func(v float64) float64
}

// A TermFold selects how the terms of a target are combined: by their sum, minimum or maximum.
type TermFold int

// The ways to combine the terms of a target.
const (
	Sum TermFold = iota
	Min
	Max
)

// A Term is the contribution of one tree to a target. Each leaf of the tree has a list of values.
// The term is the value with index ValueIndex in the list of the leaf that a composition reaches.
type Term struct{ Tree, ValueIndex int32 }

// A Node is a test of a tree. It leads to the child Left if its feature is at most Threshold, and
// to the child Right otherwise. A child c ≥ 0 is the node with index c. A child c < 0 is a leaf,
// and ^c is the index of the leaf's first value in the list of all leaf values of the model.
type Node struct {
	Feature, Left, Right int32
	NaNLeft              bool // whether a missing value (NaN) leads to Left instead of Right
	Threshold            float64
}

// An Output is a quantity that a model predicts: a number, or one number for each class.
type Output struct {
	Name    string
	Classes []string // names of the classes; nil for a single number
	// Compute returns the output, given the sums of all targets. If the output has classes, it
	// returns the number for the class with index class. An output without classes must be a
	// monotonic function of each sum.
	Compute func(sums []float64, class int) float64
}

// Limits on all trees of a model together.
const (
	maxNodes  = 1 << 25 // greatest number of nodes
	maxValues = 1 << 26 // greatest number of leaf values
)

// Trees returns the number of trees.
func (m *Model) Trees() int { return len(m.roots) }

// A Builder adds trees to a [Model]. The children of a node must be added before the node.
type Builder struct{ model *Model }

// NewBuilder returns a builder that adds trees to m.
func NewBuilder(m *Model) *Builder { return &Builder{m} }

// AddLeaf adds a leaf to the tree that is being built. A leaf has one value for each term to which
// its tree contributes. AddLeaf returns the leaf, encoded as a child of a [Node].
func (b *Builder) AddLeaf(values ...float64) (int32, error) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("a leaf's value is %v", v)
		}
	}
	if len(b.model.leafValues) > maxValues-len(values) {
		return 0, fmt.Errorf("the trees have more than %d values", maxValues)
	}
	b.model.leafValues = append(b.model.leafValues, values...)
	return ^int32(len(b.model.leafValues) - len(values)), nil
}

// AddThresholdTests adds nodes that divide the range of a feature at several bounds. A value v with
// bounds[k−1] < v ≤ bounds[k] leads to children[k], and a missing value to children[missing]. The
// bounds ascend, and there is one more child than bounds. AddThresholdTests returns the topmost new
// node, encoded as a child of a [Node].
func (b *Builder) AddThresholdTests(feature int, bounds []float64, children []int32, missing int) (int32, error) {
	if len(bounds) == 0 {
		return children[0], nil
	}
	at := len(bounds) / 2
	left, err := b.AddThresholdTests(feature, bounds[:at], children[:at+1], min(missing, at))
	if err != nil {
		return 0, err
	}
	right, err := b.AddThresholdTests(feature, bounds[at+1:], children[at+1:], max(missing-at-1, 0))
	if err != nil {
		return 0, err
	}
	switch {
	case math.IsNaN(bounds[at]):
		return 0, errors.New("a threshold is not a number")
	case feature < 0 || feature >= len(b.model.Features):
		return 0, fmt.Errorf("feature %d is tested, and there are %d", feature, len(b.model.Features))
	case len(b.model.nodes) >= maxNodes:
		return 0, fmt.Errorf("the trees have more than %d nodes", maxNodes)
	}
	b.model.nodes = append(b.model.nodes, Node{int32(feature), left, right, missing <= at, bounds[at]})
	return int32(len(b.model.nodes) - 1), nil
}

// AddCategoryTests adds nodes that test whether the category of a feature is one of the given
// categories. The category of a value is its integer part. The test leads
//   - to the child in if the category is one of them,
//   - to the child out if it is not,
//   - to the child missing if the value is missing.
//
// The categories are distinct whole numbers of at least 0, in ascending order. The parameter zero
// is the greatest value that is below category 0. AddCategoryTests returns the topmost new node,
// encoded as a child of a [Node].
func (b *Builder) AddCategoryTests(feature int, categories []int, zero float64, in, out, missing int32) (int32, error) {
	var bounds []float64
	children := []int32{out}
	for k, c := range categories {
		if k == 0 || c != categories[k-1]+1 {
			low := zero
			if c > 0 {
				low = b.PreviousInput(float64(c))
			}
			bounds, children = append(bounds, low), append(children, in)
		}
		if k+1 == len(categories) || categories[k+1] != c+1 {
			bounds, children = append(bounds, b.PreviousInput(float64(c)+1)), append(children, out)
		}
	}
	return b.AddThresholdTests(feature, bounds, children, max(slices.Index(children, missing), 0))
}

// PreviousInput returns the greatest floating-point number below v, in the precision of the model.
func (b *Builder) PreviousInput(v float64) float64 {
	if b.model.IsFloat32 {
		return float64(math.Nextafter32(float32(v), float32(math.Inf(-1))))
	}
	return math.Nextafter(v, math.Inf(-1))
}

// A TreeShape describes one tree of a file to [Builder.AddTree]. Nodes have numbers from 0 to Nodes
// − 1, and leaves count as nodes. The functions take the number of a node.
type TreeShape struct {
	Nodes    int                                         // number of nodes, leaves included
	Root     int                                         // number of the root
	Children func(node int) (left, right int, leaf bool) // returns the numbers of the two children of a node, or leaf = true for a leaf
	Leaf     func(node int) (int32, error)               // adds a leaf to the builder; the result is encoded as a child of a [Node]
	// Test adds the test of a node to the builder and returns the topmost new node. The parameters
	// left and right are the children of the node. They and the result are encoded as children of a
	// [Node].
	Test func(node int, left, right int32) (int32, error)
}

// AddTree adds a tree of the given shape. It returns an error if a node can be reached in more than
// one way. A tree therefore cannot have cycles.
func (b *Builder) AddTree(s TreeShape) error {
	if s.Root < 0 || s.Root >= s.Nodes {
		return fmt.Errorf("the tree begins at node %d, and it has %d", s.Root, s.Nodes)
	}
	const unseen, queued, open = math.MinInt32, math.MinInt32 + 1, math.MinInt32 + 2
	made := make([]int32, s.Nodes)
	for k := range made {
		made[k] = unseen
	}
	todo := []int{s.Root}
	for len(todo) > 0 {
		node := todo[len(todo)-1]
		left, right, leaf := s.Children(node)
		var err error
		switch {
		case leaf:
			made[node], err = s.Leaf(node)
		case made[node] != open:
			made[node] = open
			for _, child := range [...]int{right, left} {
				if child < 0 || child >= s.Nodes {
					return fmt.Errorf("node %d has the child %d, and there are %d nodes", node, child, s.Nodes)
				}
				if made[child] != unseen || child == s.Root {
					return fmt.Errorf("node %d is reached twice", child)
				}
				made[child] = queued
				todo = append(todo, child)
			}
			continue
		default:
			made[node], err = s.Test(node, made[left], made[right])
		}
		if err != nil {
			return fmt.Errorf("node %d: %w", node, err)
		}
		todo = todo[:len(todo)-1]
	}
	b.model.roots = append(b.model.roots, made[s.Root])
	return nil
}

// AddToTargets makes the tree that was added last a term of each given target. The k-th value of
// each leaf of the tree is the term of targets[k].
func (b *Builder) AddToTargets(targets ...int) error {
	for at, target := range targets {
		if target < 0 || target >= len(b.model.Terms) {
			return fmt.Errorf("a tree is of target %d, and there are %d", target, len(b.model.Terms))
		}
		b.model.Terms[target] = append(b.model.Terms[target], Term{int32(len(b.model.roots) - 1), int32(at)})
	}
	return nil
}
