package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/ensemble"
)

// These are the modes of nodes, with the numbers that TreeEnsemble uses.
const (
	modeLEQ = iota
	modeLT
	modeGTE
	modeGT
	modeEQ
	modeNEQ
	modeMember
	modeLeaf
)

var modes = map[string]int{
	"BRANCH_LEQ": modeLEQ, "BRANCH_LT": modeLT, "BRANCH_GTE": modeGTE, "BRANCH_GT": modeGT,
	"BRANCH_EQ": modeEQ, "BRANCH_NEQ": modeNEQ, "LEAF": modeLeaf,
}

// trees holds the trees of an ensemble, read from any of the ONNX forms. Leaves are stored as nodes.
type trees struct {
	roots     []int
	modes     []int
	features  []int64
	values    []float64
	members   [][]float64
	yes, no   []int
	missing   []int64 // 1 for each node where a missing value leads to yes; empty if there are none
	weights   map[int][]weight
	targets   int
	average   bool
	base      []float64
	transform string
}

// A weight is the contribution of a leaf to a target.
type weight struct {
	target int64
	value  float64
}

// folds maps the name of an aggregation to its Fold. A mean is a sum that is divided later.
var folds = map[string]ensemble.Fold{"SUM": ensemble.Sum, "AVERAGE": ensemble.Sum, "MIN": ensemble.Min, "MAX": ensemble.Max}

// A namedLength is the length of a node's list of attributes, with its name for errors.
type namedLength struct {
	name   string
	length int
}

// checkLengths returns an error unless each list has a value for each node. The list of missing values may also be
// empty.
func checkLengths(nodes int, missing []int64, lists []namedLength) error {
	if len(missing) > 0 {
		lists = append(lists, namedLength{"nodes_missing_value_tracks_true", len(missing)})
	}
	for _, l := range lists {
		if l.length != nodes {
			return fmt.Errorf("%s has %d values of %d nodes", l.name, l.length, nodes)
		}
	}
	return nil
}

// readTrees reads the trees of operator versions 1 and 3, whose nodes are identified by a tree and a number.
func readTrees(n *node) (*trees, ensemble.Fold, error) {
	t := &trees{features: n.ints("nodes_featureids"), values: n.numbers("nodes_values"), missing: n.ints("nodes_missing_value_tracks_true"),
		base: n.numbers("base_values"), transform: n.text("post_transform", "NONE"), weights: make(map[int][]weight)}
	prefix, err := t.readTargets(n)
	if err != nil {
		return nil, 0, err
	}
	aggregate := n.text("aggregate_function", "SUM")
	fold, ok := folds[aggregate]
	if !ok {
		return nil, 0, fmt.Errorf("the aggregation %.40q is not supported", aggregate)
	}
	t.average = aggregate == "AVERAGE"
	l, err := t.readNodes(n)
	if err != nil {
		return nil, 0, err
	}
	child, err := t.linkNodes(l)
	if err != nil {
		return nil, 0, err
	}
	if err := t.findRoots(l, child); err != nil {
		return nil, 0, err
	}
	return t, fold, t.readWeights(n, prefix, l)
}

// readTargets sets the number of targets. It returns the prefix of the names of the lists of weights, "class" or
// "target".
func (t *trees) readTargets(n *node) (prefix string, err error) {
	prefix = "target"
	if n.op == "TreeEnsembleClassifier" {
		prefix = "class"
		t.targets = len(n.labels("classlabels"))
	} else if a := n.attributes["n_targets"]; a != nil && a.i > 0 && a.i <= maxTargets {
		t.targets = int(a.i)
	}
	if t.targets < 1 || t.targets > maxTargets {
		return "", fmt.Errorf("it has %d targets: there must be 1 to %d", t.targets, maxTargets)
	}
	if len(t.base) != 0 && len(t.base) != t.targets && !(n.op == "TreeEnsembleClassifier" && t.targets == 2 && len(t.base) == 1) {
		return "", fmt.Errorf("it has %d base values of %d targets", len(t.base), t.targets)
	}
	return prefix, nil
}

// A nodeName identifies a tree node in operator versions 1 and 3.
type nodeName struct{ tree, node int64 }

// nodeLists holds the lists by which operator versions 1 and 3 link tree nodes.
type nodeLists struct {
	trees, numbers, trueNodes, falseNodes []int64
	modes                                 []string
	index                                 map[nodeName]int
}

// readNodes reads the lists of nodes and checks their lengths.
func (t *trees) readNodes(n *node) (*nodeLists, error) {
	l := &nodeLists{trees: n.ints("nodes_treeids"), numbers: n.ints("nodes_nodeids"), trueNodes: n.ints("nodes_truenodeids"), falseNodes: n.ints("nodes_falsenodeids")}
	nodes := len(l.trees)
	if nodes == 0 {
		return nil, errors.New("it has no nodes")
	}
	if a := n.attributes["nodes_modes"]; a != nil {
		l.modes = a.strings
	}
	if err := checkLengths(nodes, t.missing, []namedLength{
		{"nodes_nodeids", len(l.numbers)}, {"nodes_truenodeids", len(l.trueNodes)}, {"nodes_falsenodeids", len(l.falseNodes)},
		{"nodes_featureids", len(t.features)}, {"nodes_values", len(t.values)}, {"nodes_modes", len(l.modes)},
	}); err != nil {
		return nil, err
	}
	l.index = make(map[nodeName]int, nodes)
	for k := range nodes {
		name := nodeName{l.trees[k], l.numbers[k]}
		if _, twice := l.index[name]; twice {
			return nil, fmt.Errorf("node %d of tree %d is there twice", name.node, name.tree)
		}
		l.index[name] = k
	}
	return l, nil
}

// linkNodes sets the modes and the children of all nodes. It returns which nodes are the child of another.
func (t *trees) linkNodes(l *nodeLists) (child []bool, err error) {
	nodes := len(l.trees)
	t.yes, t.no = make([]int, nodes), make([]int, nodes)
	child = make([]bool, nodes)
	for k, mode := range l.modes {
		m, ok := modes[mode]
		if !ok {
			return nil, fmt.Errorf("the mode %.40q is not supported", mode)
		}
		t.modes = append(t.modes, m)
		if m == modeLeaf {
			continue
		}
		a, okA := l.index[nodeName{l.trees[k], l.trueNodes[k]}]
		b, okB := l.index[nodeName{l.trees[k], l.falseNodes[k]}]
		if !okA || !okB {
			return nil, fmt.Errorf("node %d of tree %d has a child that is not there", l.numbers[k], l.trees[k])
		}
		t.yes[k], t.no[k] = a, b
		child[a], child[b] = true, true
	}
	return child, nil
}

// findRoots sets the root of each tree: its only node that is not a child.
func (t *trees) findRoots(l *nodeLists, child []bool) error {
	rooted := make(map[int64]bool)
	for k, tree := range l.trees {
		if child[k] {
			continue
		}
		if rooted[tree] {
			return fmt.Errorf("tree %d begins twice", tree)
		}
		rooted[tree] = true
		t.roots = append(t.roots, k)
	}
	for _, tree := range l.trees {
		if !rooted[tree] {
			return fmt.Errorf("tree %d has no beginning", tree)
		}
	}
	return nil
}

// readWeights reads the weights of the leaves.
func (t *trees) readWeights(n *node, prefix string, l *nodeLists) error {
	ofTrees, ofNodes, targets, weights := n.ints(prefix+"_treeids"), n.ints(prefix+"_nodeids"), n.ints(prefix+"_ids"), n.numbers(prefix+"_weights")
	if len(ofTrees) != len(weights) || len(ofNodes) != len(weights) || len(targets) != len(weights) {
		return errors.New("the lists of weights are not of one length")
	}
	for k, v := range weights {
		leaf, ok := l.index[nodeName{ofTrees[k], ofNodes[k]}]
		if !ok || t.modes[leaf] != modeLeaf {
			return fmt.Errorf("weight %d is of node %d of tree %d, which is no leaf", k, ofNodes[k], ofTrees[k])
		}
		t.weights[leaf] = append(t.weights[leaf], weight{targets[k], v})
	}
	return nil
}

// readTrees5 reads the trees of operator version 5, in which nodes and leaves have numbers.
func readTrees5(n *node) (*trees, ensemble.Fold, error) {
	t := &trees{features: n.ints("nodes_featureids"), values: n.numbers("nodes_splits"), missing: n.ints("nodes_missing_value_tracks_true"), weights: make(map[int][]weight)}
	nodes := len(t.features)
	whole := func(name string, otherwise int64) int64 {
		if a := n.attributes[name]; a != nil {
			return a.i
		}
		return otherwise
	}
	v := whole("n_targets", 0)
	if v < 1 || v > maxTargets {
		return nil, 0, fmt.Errorf("it has %d targets: there must be 1 to %d", v, maxTargets)
	}
	t.targets = int(v)
	kinds := []string{"AVERAGE", "SUM", "MIN", "MAX"}
	transforms := []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
	aggregate, transform := whole("aggregate_function", 1), whole("post_transform", 0)
	if aggregate < 0 || aggregate >= int64(len(kinds)) || transform < 0 || transform >= int64(len(transforms)) {
		return nil, 0, fmt.Errorf("the aggregation %d or the post-transform %d is not supported", aggregate, transform)
	}
	t.average, t.transform = aggregate == 0, transforms[transform]
	yes, no, yesLeaf, noLeaf, codes := n.ints("nodes_truenodeids"), n.ints("nodes_falsenodeids"), n.ints("nodes_trueleafs"), n.ints("nodes_falseleafs"), n.numbers("nodes_modes")
	targets, weights := n.ints("leaf_targetids"), n.numbers("leaf_weights")
	if nodes == 0 || len(targets) != len(weights) {
		return nil, 0, fmt.Errorf("it has %d nodes, %d leaves and the targets of %d", nodes, len(weights), len(targets))
	}
	if err := checkLengths(nodes, t.missing, []namedLength{
		{"nodes_truenodeids", len(yes)}, {"nodes_falsenodeids", len(no)}, {"nodes_trueleafs", len(yesLeaf)},
		{"nodes_falseleafs", len(noLeaf)}, {"nodes_splits", len(t.values)}, {"nodes_modes", len(codes)},
	}); err != nil {
		return nil, 0, err
	}
	// Each leaf of a child becomes a node of its own. The order is: nodes, leaves reached by yes, leaves reached by
	// no.
	t.modes = slices.Repeat([]int{modeLeaf}, 3*nodes)
	t.yes, t.no, t.members = make([]int, nodes), make([]int, nodes), make([][]float64, nodes)
	members := n.numbers("membership_values")
	for k := range nodes {
		if codes[k] != math.Trunc(codes[k]) || codes[k] < 0 || codes[k] > modeMember {
			return nil, 0, fmt.Errorf("node %d has the mode %v", k, codes[k])
		}
		t.modes[k] = int(codes[k])
		if t.modes[k] == modeMember {
			end := slices.IndexFunc(members, math.IsNaN)
			if end < 0 {
				end = len(members)
			}
			t.members[k] = members[:end]
			members = members[min(end+1, len(members)):]
		}
		for side, c := range [...]struct {
			to   int64
			leaf bool
			of   []int
		}{{yes[k], yesLeaf[k] != 0, t.yes}, {no[k], noLeaf[k] != 0, t.no}} {
			most := nodes
			if c.leaf {
				most = len(weights)
			}
			if c.to < 0 || c.to >= int64(most) {
				return nil, 0, fmt.Errorf("node %d has the child %d, of %d", k, c.to, most)
			}
			c.of[k] = int(c.to)
			if c.leaf {
				leaf := (side+1)*nodes + k
				c.of[k] = leaf
				t.weights[leaf] = []weight{{targets[c.to], weights[c.to]}}
			}
		}
	}
	for _, root := range n.ints("tree_roots") {
		if root < 0 || root >= int64(nodes) {
			return nil, 0, fmt.Errorf("a tree begins at node %d, of %d", root, nodes)
		}
		t.roots = append(t.roots, int(root))
	}
	if t.roots == nil {
		return nil, 0, errors.New("it has no trees")
	}
	return t, folds[kinds[aggregate]], nil
}
