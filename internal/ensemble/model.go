// Package ensemble scores imported tree ensembles, a line of compositions at a time and bit for bit
// as a point alone.
//
// A [Model] is the content of a file: trees over numbered features, the sums of their leaves by
// target, and the outputs computed from the sums. Packages onnx, xgboost and lightgbm read files
// into one through a [Builder]. [Bind] defines each input of the model as a function of a
// composition and returns a [Score], whose tests compare whole numbers. A feature rises or falls
// with a whole number n, such as the units of an ingredient. So there is one n where the result of
// a test changes. Bind finds it by evaluating the feature, in the floating-point arithmetic of the
// model, on both sides. So nothing is rounded differently along a line than at a point.
//
// # Sums
//
// Runtimes add the values of the leaves in the order of the trees, most of them in float32, and the
// last bits of the result depend on that order. A [Score] adds in the same order and precision.
// Along a line most trees keep their leaf. But a sum with one changed term must be added anew from
// there on, because rounding does not commute. Two facts keep this fast. The sums of neighbouring
// pieces of a line are independent chains of additions, so that up to 32 are added at once. And the
// terms of neighbouring pieces differ only in a few places.
//
// # Lines
//
// For each slot a scorer lists the trees whose current path tests it. Along a line it descends only
// the trees of the slots that vary, with the interval of splits that reaches a node. Package model
// walks its larger trees in the same way.
package ensemble

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// A Model is a tree ensemble as stored in a file. Readers of files make it with a [Builder]. Its slices must not be
// changed.
type Model struct {
	Maker  string   // program that wrote the file, such as "XGBoost 1.7.4"
	Inputs []string // names of the inputs, in order
	Single bool     // whether features and sums are float32 instead of float64

	Features []Feature // the features that nodes test
	Fold     Fold
	Start    []float64 // start of each target's sum
	Terms    [][]Term  // terms of each target, in the order of addition
	Outputs  []Output

	nodes  []Node // children before parents
	roots  []int32
	values []float64

	once   sync.Once
	summer summer
}

// A Feature is a number that nodes compare with thresholds: the function Of of an input, which must be monotonic. If
// Of is nil the feature is the input, rounded to float32 if the model is Single.
type Feature struct {
	Input int
	Of    func(v float64) float64
}

// A Fold is how the values of a target's leaves are combined: sum, minimum or maximum.
type Fold int

// These are the folds.
const (
	Sum Fold = iota
	Min
	Max
)

// A Term is the contribution of one tree to a target: the value number At of the leaf that the tree reaches.
type Term struct{ Tree, At int32 }

// A Node leads to Left if its feature is at most Threshold, else to Right. A child is the index of a node, or ^k for
// the leaf whose values begin at k.
type Node struct {
	Feature, Left, Right int32
	NaNLeft              bool // whether a missing value leads to Left
	Threshold            float64
}

// An Output is a quantity that a model predicts: a number, or a number for each class.
type Output struct {
	Name    string
	Classes []string // nil for a number
	// Of computes the output from the sums of all targets. The output of a number must be monotonic in each sum.
	Of func(sums []float64, class int) float64
}

// These limits apply to all trees of a model together.
const (
	maxNodes  = 1 << 25
	maxValues = 1 << 26
)

// Trees returns the number of trees.
func (m *Model) Trees() int { return len(m.roots) }

// A Builder makes the trees of a [Model]. It needs the children of a node before the node.
type Builder struct{ m *Model }

// NewBuilder returns a builder of a model's trees.
func NewBuilder(m *Model) *Builder { return &Builder{m} }

// AddLeaf adds a leaf with one value for each term of its tree. It returns the leaf encoded as a child.
func (b *Builder) AddLeaf(values ...float64) (int32, error) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("a leaf's value is %v", v)
		}
	}
	if len(b.m.values) > maxValues-len(values) {
		return 0, fmt.Errorf("the trees have more than %d values", maxValues)
	}
	b.m.values = append(b.m.values, values...)
	return ^int32(len(b.m.values) - len(values)), nil
}

// AddThresholdTests adds tests of a feature v and returns the first one as a child. They lead to
// children[k] where v is above bounds[k−1] and at most bounds[k], and to children[missing] where v
// is missing. bounds ascends and is one shorter than children.
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
	case feature < 0 || feature >= len(b.m.Features):
		return 0, fmt.Errorf("feature %d is tested, and there are %d", feature, len(b.m.Features))
	case len(b.m.nodes) >= maxNodes:
		return 0, fmt.Errorf("the trees have more than %d nodes", maxNodes)
	}
	b.m.nodes = append(b.m.nodes, Node{int32(feature), left, right, missing <= at, bounds[at]})
	return int32(len(b.m.nodes) - 1), nil
}

// AddCategoryTests adds tests of whether a feature is in one of some categories. The categories are
// ascending, distinct whole numbers of at least 0. A value belongs to the category that is its
// integer part. zero is the greatest value below category 0.
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

// PreviousInput returns the greatest possible input below v.
func (b *Builder) PreviousInput(v float64) float64 {
	if b.m.Single {
		return float64(math.Nextafter32(float32(v), float32(math.Inf(-1))))
	}
	return math.Nextafter(v, math.Inf(-1))
}

// A Shape is the structure of one tree in a file. Its functions take the numbers of nodes, from 0.
type Shape struct {
	Nodes, Root int
	Children    func(node int) (left, right int, leaf bool)
	Leaf        func(node int) (int32, error)                    // adds a leaf to the builder and returns it as a child
	Test        func(node int, left, right int32) (int32, error) // adds a node's test to the builder and returns it as a child
}

// AddTree adds a tree of the given shape. It returns an error unless each node is reached in exactly one way, which
// excludes cycles.
func (b *Builder) AddTree(s Shape) error {
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
	b.m.roots = append(b.m.roots, made[s.Root])
	return nil
}

// AddToTargets makes the last tree a term of the given targets. Each leaf of the tree has one value for each target,
// in that order.
func (b *Builder) AddToTargets(targets ...int) error {
	for at, target := range targets {
		if target < 0 || target >= len(b.m.Terms) {
			return fmt.Errorf("a tree is of target %d, and there are %d", target, len(b.m.Terms))
		}
		b.m.Terms[target] = append(b.m.Terms[target], Term{int32(len(b.m.roots) - 1), int32(at)})
	}
	return nil
}
