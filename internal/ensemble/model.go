// Package ensemble scores the tree ensembles of other programs, a line of
// compositions at a time and bit for bit as a point alone.
//
// A [Model] is what a file holds: trees over numbered features, the sums of their
// leaves by target, and what is made of the sums. Packages onnx, xgboost and lightgbm
// read files into one through a [Builder]. [Bind] says what each input of the model
// is of a composition and gives a [Score], whose tests compare whole numbers: since a
// feature rises or falls with a whole number n, such as the units of an ingredient,
// there is one n where the answer of a test changes, and it is found by evaluating
// the feature, in the floating-point arithmetic of the model, on both sides of it. So
// nothing is rounded differently along a line than at a point.
//
// # Sums
//
// Runtimes add the values of the leaves in the order of the trees, most of them in
// float32, and the last bits of the result depend on that order. A [Score] adds in
// the same order and precision. Along a line most trees keep their leaf, but a sum
// that has changed in one term must be added anew from there on: rounding does not
// commute. What helps is that the sums of neighbouring pieces of a line are
// independent chains of additions, so that up to 32 are added at once, and that of the
// terms of neighbouring pieces only a few differ.
//
// # Lines
//
// For each test slot the trees whose current path asks for it are known. Only those
// of the slots that vary along a line are descended, with the interval of splits
// that reaches a node; see package model, whose larger trees are walked alike.
package ensemble

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// A Model is an ensemble of trees as a file has it. Readers make one with a
// [Builder]. Its slices are not to be changed.
type Model struct {
	Maker  string   // the program that made it, such as "XGBoost 1.7.4"
	Inputs []string // the names of what it is asked about, in order
	Single bool     // features and sums are float32; else float64

	Features []Feature // what nodes test
	Fold     Fold
	Start    []float64 // by target, what its sum begins with
	Terms    [][]Term  // by target, what is added, in that order
	Outputs  []Output

	nodes  []Node // children before parents
	roots  []int32
	values []float64

	once sync.Once
	made summer
}

// A Feature is a number that nodes compare: what Of makes of an input, which must not
// fall, or not rise, anywhere. Without Of it is the input, rounded to float32 if the
// model is of that.
type Feature struct {
	Input int
	Of    func(v float64) float64
}

// A Fold is how the values of a target become one number.
type Fold int

// The folds.
const (
	Sum Fold = iota
	Min
	Max
)

// A Term is a tree's part in a target: values[leaf+At], where leaf is the tree's.
type Term struct{ Tree, At int32 }

// A Node sends what is at most the threshold to the left. A child is the index of a
// node, or ^k of the leaf whose values begin at k.
type Node struct {
	Feature, Left, Right int32
	NaNLeft              bool // where a missing value goes
	Threshold            float64
}

// An Output is something that a model tells: one number, or one for each class.
type Output struct {
	Name    string
	Classes []string // nil for a number
	// Of is what it tells, of the sums by target; a number does not fall, or does
	// not rise, with any of them.
	Of func(sums []float64, class int) float64
}

// Bounds of all trees together.
const (
	maxNodes  = 1 << 25
	maxValues = 1 << 26
)

// Trees returns how many trees there are.
func (m *Model) Trees() int { return len(m.roots) }

// A Builder makes the trees of a [Model], children before parents.
type Builder struct{ m *Model }

// NewBuilder returns a builder of a model's trees.
func NewBuilder(m *Model) *Builder { return &Builder{m} }

// AddLeaf adds a leaf with values, one for each term of its tree, and returns it as a
// child.
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

// AddThresholdTests adds tests of a feature v that lead to children[k] where v is above
// bounds[k−1] and at most bounds[k], of which there is one less and which ascend, and
// to children[missing] where v is missing. It returns the first test as a child.
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

// AddCategoryTests adds tests of whether a feature is in one of some categories, ascending and
// different whole numbers of at least 0: a value is in the category that it has
// without its digits behind the point, zero being the greatest value below category 0.
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

// PreviousInput returns the greatest number below v that an input can be.
func (b *Builder) PreviousInput(v float64) float64 {
	if b.m.Single {
		return float64(math.Nextafter32(float32(v), float32(math.Inf(-1))))
	}
	return math.Nextafter(v, math.Inf(-1))
}

// A Shape is the shape of one tree in a file, whose nodes have numbers from 0.
type Shape struct {
	Nodes, Root int
	Children    func(node int) (left, right int, leaf bool)
	Leaf        func(node int) (int32, error)                    // adds the leaf
	Test        func(node int, left, right int32) (int32, error) // adds the test
}

// AddTree adds a tree. Every node is reached over one way alone, so that there is no
// circle.
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

// AddToTargets adds the last tree to the sums of targets, with the values that each of its
// leaves has, in that order.
func (b *Builder) AddToTargets(targets ...int) error {
	for at, target := range targets {
		if target < 0 || target >= len(b.m.Terms) {
			return fmt.Errorf("a tree is of target %d, and there are %d", target, len(b.m.Terms))
		}
		b.m.Terms[target] = append(b.m.Terms[target], Term{int32(len(b.m.roots) - 1), int32(at)})
	}
	return nil
}
