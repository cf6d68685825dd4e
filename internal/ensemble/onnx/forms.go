package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/ensemble"
)

// The modes of tree nodes. A mode says how a node compares the value v of its feature with its
// threshold t. The numbers are those of the ONNX operator TreeEnsemble.
const (
	modeLEQ    = iota // true if v ≤ t
	modeLT            // true if v < t
	modeGTE           // true if v ≥ t
	modeGT            // true if v > t
	modeEQ            // true if v = t
	modeNEQ           // true if v ≠ t
	modeMember        // true if v is a member of the node's set of numbers
	modeLeaf          // the node is a leaf
)

// modeByName maps the name of a mode to the mode. The names are those of the ONNX operators
// TreeEnsembleClassifier and TreeEnsembleRegressor.
var modeByName = map[string]int{
	"BRANCH_LEQ": modeLEQ, "BRANCH_LT": modeLT, "BRANCH_GTE": modeGTE, "BRANCH_GT": modeGT,
	"BRANCH_EQ": modeEQ, "BRANCH_NEQ": modeNEQ, "LEAF": modeLeaf,
}

// An ensembleTrees holds the trees of an ensemble in a form that is the same for all versions of
// the ONNX operators. Leaves count as nodes.
type ensembleTrees struct {
	roots         []int       // index of the root of each tree
	modes         []int       // mode of each node
	features      []int64     // index of the feature that each node tests
	thresholds    []float64   // threshold of each node's test
	members       [][]float64 // members[k] is the set of numbers of node k, if its mode is modeMember
	trueChildren  []int       // child of each node if its test is true
	falseChildren []int       // child of each node if its test is false
	// missingLeadsToTrue[k] is 1 if a missing value at node k leads to the child for a true test.
	// The slice is empty if no element would be 1.
	missingLeadsToTrue []int64
	weights            map[int][]leafWeight // maps the index of a leaf to its contributions to targets
	targetCount        int                  // number of targets, that is, of sums of leaf weights
	isAverage          bool                 // whether each sum is divided by the number of trees
	baseValues         []float64            // number that is added to the sum of each target
	postTransform      string               // name of the function that is applied to the sums, such as "LOGISTIC"
}

// A leafWeight is what a leaf adds to the sum of one target.
type leafWeight struct {
	target int64 // index of the target
	value  float64
}

// foldByName maps the name of an aggregation, such as "SUM", to its [ensemble.TermFold]. An average
// is a sum that is divided by the number of trees afterwards.
var foldByName = map[string]ensemble.TermFold{"SUM": ensemble.Sum, "AVERAGE": ensemble.Sum, "MIN": ensemble.Min, "MAX": ensemble.Max}

// A namedLength is the length of a list in the attributes of a graph node, with the name of the
// list for error messages.
type namedLength struct {
	name   string
	length int
}

// checkLengths returns an error if a list does not have one value for each tree node. The parameter
// nodes is the number of tree nodes. The list of missing values may also be empty.
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

// readTreesV1 reads the trees of a node of the ONNX operator versions 1 and 3. In these versions,
// the number of a tree and a number within the tree together identify a tree node.
func readTreesV1(n *graphNode) (*ensembleTrees, ensemble.TermFold, error) {
	t := &ensembleTrees{features: n.ints("nodes_featureids"), thresholds: n.numbers("nodes_values"), missingLeadsToTrue: n.ints("nodes_missing_value_tracks_true"),
		baseValues: n.numbers("base_values"), postTransform: n.text("post_transform", "NONE"), weights: make(map[int][]leafWeight)}
	prefix, err := t.readTargets(n)
	if err != nil {
		return nil, 0, err
	}
	aggregate := n.text("aggregate_function", "SUM")
	fold, ok := foldByName[aggregate]
	if !ok {
		return nil, 0, fmt.Errorf("the aggregation %.40q is not supported", aggregate)
	}
	t.isAverage = aggregate == "AVERAGE"
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

// readTargets sets the number of targets. It returns the prefix of the names of the attributes that
// hold the weights of leaves: "class" or "target".
func (t *ensembleTrees) readTargets(n *graphNode) (prefix string, err error) {
	prefix = "target"
	if n.op == "TreeEnsembleClassifier" {
		prefix = "class"
		t.targetCount = len(n.labels("classlabels"))
	} else if a := n.attributes["n_targets"]; a != nil && a.integer > 0 && a.integer <= maxTargets {
		t.targetCount = int(a.integer)
	}
	if t.targetCount < 1 || t.targetCount > maxTargets {
		return "", fmt.Errorf("it has %d targets: there must be 1 to %d", t.targetCount, maxTargets)
	}
	if len(t.baseValues) != 0 && len(t.baseValues) != t.targetCount && !(n.op == "TreeEnsembleClassifier" && t.targetCount == 2 && len(t.baseValues) == 1) {
		return "", fmt.Errorf("it has %d base values of %d targets", len(t.baseValues), t.targetCount)
	}
	return prefix, nil
}

// A nodeID identifies a tree node in operator versions 1 and 3 by the number of the tree and a
// number within the tree.
type nodeID struct{ tree, node int64 }

// A nodeAttributeLists holds the lists of the attributes with which operator versions 1 and 3
// describe tree nodes. Each list has one element for each node.
type nodeAttributeLists struct {
	trees       []int64        // number of the tree of each node
	nodeNumbers []int64        // number of each node within its tree
	trueNodes   []int64        // number of the child of each node if its test is true
	falseNodes  []int64        // number of the child of each node if its test is false
	modes       []string       // name of the mode of each node
	indexByID   map[nodeID]int // maps a node to its index in the lists
}

// readNodes reads the lists of tree nodes and checks their lengths.
func (t *ensembleTrees) readNodes(n *graphNode) (*nodeAttributeLists, error) {
	l := &nodeAttributeLists{trees: n.ints("nodes_treeids"), nodeNumbers: n.ints("nodes_nodeids"), trueNodes: n.ints("nodes_truenodeids"), falseNodes: n.ints("nodes_falsenodeids")}
	nodes := len(l.trees)
	if nodes == 0 {
		return nil, errors.New("it has no nodes")
	}
	if a := n.attributes["nodes_modes"]; a != nil {
		l.modes = a.strings
	}
	if err := checkLengths(nodes, t.missingLeadsToTrue, []namedLength{
		{"nodes_nodeids", len(l.nodeNumbers)}, {"nodes_truenodeids", len(l.trueNodes)}, {"nodes_falsenodeids", len(l.falseNodes)},
		{"nodes_featureids", len(t.features)}, {"nodes_values", len(t.thresholds)}, {"nodes_modes", len(l.modes)},
	}); err != nil {
		return nil, err
	}
	l.indexByID = make(map[nodeID]int, nodes)
	for k := range nodes {
		name := nodeID{l.trees[k], l.nodeNumbers[k]}
		if _, twice := l.indexByID[name]; twice {
			return nil, fmt.Errorf("node %d of tree %d is there twice", name.node, name.tree)
		}
		l.indexByID[name] = k
	}
	return l, nil
}

// linkNodes sets the modes and the children of all tree nodes. The result isChild[k] tells whether
// node k is the child of another node.
func (t *ensembleTrees) linkNodes(l *nodeAttributeLists) (isChild []bool, err error) {
	nodes := len(l.trees)
	t.trueChildren, t.falseChildren = make([]int, nodes), make([]int, nodes)
	isChild = make([]bool, nodes)
	for k, mode := range l.modes {
		m, ok := modeByName[mode]
		if !ok {
			return nil, fmt.Errorf("the mode %.40q is not supported", mode)
		}
		t.modes = append(t.modes, m)
		if m == modeLeaf {
			continue
		}
		a, okA := l.indexByID[nodeID{l.trees[k], l.trueNodes[k]}]
		b, okB := l.indexByID[nodeID{l.trees[k], l.falseNodes[k]}]
		if !okA || !okB {
			return nil, fmt.Errorf("node %d of tree %d has a child that is not there", l.nodeNumbers[k], l.trees[k])
		}
		t.trueChildren[k], t.falseChildren[k] = a, b
		isChild[a], isChild[b] = true, true
	}
	return isChild, nil
}

// findRoots sets the root of each tree, which is the only node of the tree that is not a child. The
// element isChild[k] tells whether node k is the child of another node.
func (t *ensembleTrees) findRoots(l *nodeAttributeLists, isChild []bool) error {
	rooted := make(map[int64]bool)
	for k, tree := range l.trees {
		if isChild[k] {
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

// readWeights reads the weights of all leaves from the attributes whose names begin with prefix.
func (t *ensembleTrees) readWeights(n *graphNode, prefix string, l *nodeAttributeLists) error {
	ofTrees, ofNodes, targets, weights := n.ints(prefix+"_treeids"), n.ints(prefix+"_nodeids"), n.ints(prefix+"_ids"), n.numbers(prefix+"_weights")
	if len(ofTrees) != len(weights) || len(ofNodes) != len(weights) || len(targets) != len(weights) {
		return errors.New("the lists of weights are not of one length")
	}
	for k, v := range weights {
		leaf, ok := l.indexByID[nodeID{ofTrees[k], ofNodes[k]}]
		if !ok || t.modes[leaf] != modeLeaf {
			return fmt.Errorf("weight %d is of node %d of tree %d, which is no leaf", k, ofNodes[k], ofTrees[k])
		}
		t.weights[leaf] = append(t.weights[leaf], leafWeight{targets[k], v})
	}
	return nil
}

// readTreesV5 reads the trees of a node of the ONNX operator version 5. In this version, nodes and
// leaves are numbered across all trees.
func readTreesV5(n *graphNode) (*ensembleTrees, ensemble.TermFold, error) {
	t := &ensembleTrees{features: n.ints("nodes_featureids"), thresholds: n.numbers("nodes_splits"), missingLeadsToTrue: n.ints("nodes_missing_value_tracks_true"), weights: make(map[int][]leafWeight)}
	nodes := len(t.features)
	whole := func(name string, otherwise int64) int64 {
		if a := n.attributes[name]; a != nil {
			return a.integer
		}
		return otherwise
	}
	v := whole("n_targets", 0)
	if v < 1 || v > maxTargets {
		return nil, 0, fmt.Errorf("it has %d targets: there must be 1 to %d", v, maxTargets)
	}
	t.targetCount = int(v)
	kinds := []string{"AVERAGE", "SUM", "MIN", "MAX"}
	transforms := []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
	aggregate, transform := whole("aggregate_function", 1), whole("post_transform", 0)
	if aggregate < 0 || aggregate >= int64(len(kinds)) || transform < 0 || transform >= int64(len(transforms)) {
		return nil, 0, fmt.Errorf("the aggregation %d or the post-transform %d is not supported", aggregate, transform)
	}
	t.isAverage, t.postTransform = aggregate == 0, transforms[transform]
	yes, no, yesLeaf, noLeaf, codes := n.ints("nodes_truenodeids"), n.ints("nodes_falsenodeids"), n.ints("nodes_trueleafs"), n.ints("nodes_falseleafs"), n.numbers("nodes_modes")
	targets, weights := n.ints("leaf_targetids"), n.numbers("leaf_weights")
	if nodes == 0 || len(targets) != len(weights) {
		return nil, 0, fmt.Errorf("it has %d nodes, %d leaves and the targets of %d", nodes, len(weights), len(targets))
	}
	if err := checkLengths(nodes, t.missingLeadsToTrue, []namedLength{
		{"nodes_truenodeids", len(yes)}, {"nodes_falsenodeids", len(no)}, {"nodes_trueleafs", len(yesLeaf)},
		{"nodes_falseleafs", len(noLeaf)}, {"nodes_splits", len(t.thresholds)}, {"nodes_modes", len(codes)},
	}); err != nil {
		return nil, 0, err
	}
	// Each leaf of a child becomes a node of its own. The order is: nodes, leaves reached by yes,
	// leaves reached by no.
	t.modes = slices.Repeat([]int{modeLeaf}, 3*nodes)
	t.trueChildren, t.falseChildren, t.members = make([]int, nodes), make([]int, nodes), make([][]float64, nodes)
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
		}{{yes[k], yesLeaf[k] != 0, t.trueChildren}, {no[k], noLeaf[k] != 0, t.falseChildren}} {
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
				t.weights[leaf] = []leafWeight{{targets[c.to], weights[c.to]}}
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
	return t, foldByName[kinds[aggregate]], nil
}
