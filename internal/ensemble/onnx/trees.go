package onnx

import (
	"errors"
	"fmt"
	"slices"

	"kir/internal/ensemble"
)

// addEnsemble adds the trees of a tree-ensemble node to the model. It also adds the table that the
// node computes.
func (w *graphReader) addEnsemble(n *graphNode) error {
	if w.model.Terms != nil {
		return errors.New("it is the second tree ensemble of the graph: one is supported")
	}
	columns := w.columns[n.inputs[0]]
	if columns == nil {
		return fmt.Errorf("its input %.40q is not made of the model's inputs", n.inputs[0])
	}
	for _, c := range columns {
		double := c.elementKind == kindDouble
		if !double && c.elementKind != kindFloat && c.elementKind != kindInt64 && c.elementKind != kindInt32 {
			return fmt.Errorf("its input is of kind %d", c.elementKind)
		}
		if double != (columns[0].elementKind == kindDouble) {
			return errors.New("its inputs are of float and double")
		}
		w.model.IsFloat32 = !double
		// A float input is rounded to float32 before anything else.
		f := ensemble.Feature{Input: c.inputIndex, Function: c.function}
		if w.inputKind(c.inputIndex) == kindFloat {
			f.Function = roundToFloat32
			if c.function != nil {
				f.Function = func(v float64) float64 { return c.function(roundToFloat32(v)) }
			}
		}
		w.model.Features = append(w.model.Features, f)
	}
	read := readTreesV1
	if n.op == "TreeEnsemble" {
		read = readTreesV5
	}
	t, fold, err := read(n)
	if err != nil {
		return err
	}
	w.model.Fold = fold
	used, positive, err := w.addTrees(t)
	if err != nil {
		return err
	}
	sums := &outputTable{width: t.targetCount, isFloat32: true, value: func(sums []float64, k int) float64 { return sums[k] }}
	if n.op == "TreeEnsemble" && !w.model.IsFloat32 {
		sums.isFloat32 = false
	}
	if n.op == "TreeEnsembleClassifier" {
		return w.addClassifierTable(n, t, sums, used, positive)
	}
	trees := float64(len(t.roots))
	sums.value = func(sums []float64, k int) float64 {
		v := sums[k]
		if t.isAverage {
			v = w.roundSum(v / trees)
		}
		if t.baseValues != nil {
			v = w.roundSum(v + t.baseValues[k])
		}
		return v
	}
	transform := t.postTransform
	if t.targetCount == 1 && transform != "PROBIT" {
		transform = "NONE" // ONNX Runtime applies only PROBIT to a single target
	}
	made, err := applyPostTransform(sums, transform)
	w.tables[n.outputs[0]] = made
	return err
}

// inputKind returns the kind of an input of the model, such as kindFloat, or 0 if the graph does
// not state the kind.
func (w *graphReader) inputKind(input int) int {
	for _, in := range w.graph.inputs {
		if columns := w.columns[in.name]; w.graph.constants[in.name] == nil && len(columns) > 0 && columns[0].inputIndex <= input && input <= columns[len(columns)-1].inputIndex {
			return in.kind
		}
	}
	return 0
}

// roundSum rounds v to the precision in which leaf weights are added.
func (w *graphReader) roundSum(v float64) float64 {
	if w.model.IsFloat32 {
		return roundToFloat32(v)
	}
	return v
}

// addClassifierTable adds the table of class scores of a TreeEnsembleClassifier node, computed from
// the table of sums. A model with two classes may give the score of only one class. ONNX does not
// define the score of the other class then; addClassifierTable computes it as ONNX Runtime does.
//
// The element hasWeights[g] tells whether target g has leaf weights. The parameter allPositive
// tells whether all leaf weights are at least 0.
func (w *graphReader) addClassifierTable(n *graphNode, t *ensembleTrees, sums *outputTable, hasWeights []bool, allPositive bool) error {
	classes := n.labels("classlabels")
	if len(n.outputs) < 2 {
		return errors.New("it has no output of numbers")
	}
	out := n.outputs[1]
	if t.targetCount < 2 {
		return errors.New("it has less than two classes")
	}
	if t.targetCount == 2 && (len(t.baseValues) == 2 || len(t.baseValues) == 1 && !hasWeights[0]) {
		return errors.New("two classes with base values of both, or of one that no leaf is of: what is to be made of them differs between runtimes")
	}
	based := func(sums []float64, k int) float64 {
		if k < len(t.baseValues) {
			return w.roundSum(sums[k] + t.baseValues[k])
		}
		return sums[k]
	}
	if t.targetCount > 2 || hasWeights[1] {
		sums.value = based
		made, err := applyPostTransform(sums, t.postTransform)
		if err == nil {
			made.classes = classes
			w.tables[out] = made
		}
		return err
	}
	made := &outputTable{width: 2, isFloat32: true, classes: classes}
	switch {
	case t.postTransform == "PROBIT":
		return errors.New("the post-transform PROBIT of one number for two classes is not supported")
	case allPositive:
		made.value = func(sums []float64, k int) float64 {
			v := float32(based(sums, 0))
			if k == 0 {
				v = 1 - v
			}
			return float64(v)
		}
	default:
		made.value = func(sums []float64, k int) float64 {
			v := float32(based(sums, 0))
			if k == 0 {
				v = -v
			}
			if t.postTransform == "LOGISTIC" {
				v = logistic(v)
			}
			return float64(v)
		}
	}
	w.tables[out] = made
	return nil
}

// addTrees adds the trees to the model. The result hasWeights[g] tells whether target g has leaf
// weights. The result allPositive tells whether all leaf weights are at least 0.
func (w *graphReader) addTrees(t *ensembleTrees) (hasWeights []bool, allPositive bool, err error) {
	w.model.Terms = make([][]ensemble.Term, t.targetCount)
	hasWeights, allPositive = make([]bool, t.targetCount), true
	b := ensemble.NewBuilder(w.model)
	local := make([]int, len(t.modes)) // number of each node in its tree, plus 1
	var nodes, targets []int
	for k, root := range t.roots {
		// nodes of the present tree
		nodes = append(nodes[:0], root)
		targets = targets[:0]
		for q := 0; q < len(nodes); q++ {
			node := nodes[q]
			if node < 0 || node >= len(local) {
				return nil, false, fmt.Errorf("tree %d has node %d, of %d", k, node, len(local))
			}
			if local[node] != 0 {
				return nil, false, fmt.Errorf("tree %d: node %d is reached twice", k, node)
			}
			local[node] = q + 1
			if t.modes[node] != modeLeaf {
				nodes = append(nodes, t.trueChildren[node], t.falseChildren[node])
			}
			for _, v := range t.weights[node] {
				if v.target < 0 || v.target >= int64(t.targetCount) {
					return nil, false, fmt.Errorf("tree %d: a weight is of target %d, of %d", k, v.target, t.targetCount)
				}
				targets = append(targets, int(v.target))
				hasWeights[v.target] = true
				allPositive = allPositive && v.value >= 0
			}
		}
		slices.Sort(targets)
		targets = slices.Compact(targets)
		values := make([]float64, len(targets))
		err := b.AddTree(ensemble.TreeShape{
			Nodes: len(nodes),
			Children: func(q int) (yes, no int, leaf bool) {
				node := nodes[q]
				if t.modes[node] == modeLeaf {
					return 0, 0, true
				}
				return local[t.trueChildren[node]] - 1, local[t.falseChildren[node]] - 1, false
			},
			Leaf: func(q int) (int32, error) {
				clear(values)
				seen := 0
				for _, v := range t.weights[nodes[q]] {
					at, _ := slices.BinarySearch(targets, int(v.target))
					values[at] = v.value
					seen++
				}
				if of := t.weights[nodes[q]]; seen > 1 && !haveDistinctTargets(of) {
					return 0, errors.New("a leaf has two weights of a target")
				}
				return b.AddLeaf(values...)
			},
			Test: func(q int, yes, no int32) (int32, error) { return t.addTest(b, nodes[q], yes, no) },
		})
		if err == nil {
			err = b.AddToTargets(targets...)
		}
		if err != nil {
			return nil, false, fmt.Errorf("tree %d: %w", k, err)
		}
	}
	return hasWeights, allPositive, nil
}

// haveDistinctTargets reports whether the weights all belong to different targets.
func haveDistinctTargets(weights []leafWeight) bool {
	seen := make(map[int64]bool, len(weights))
	for _, w := range weights {
		if seen[w.target] {
			return false
		}
		seen[w.target] = true
	}
	return true
}

// addTest adds the test of a tree node to the builder. The parameter yes is the child for a true
// test, and no is the child for a false test.
func (t *ensembleTrees) addTest(b *ensemble.Builder, node int, yes, no int32) (int32, error) {
	v, mode := t.thresholds[node], t.modes[node]
	var bounds []float64
	var children []int32
	switch mode {
	case modeLEQ:
		bounds, children = []float64{v}, []int32{yes, no}
	case modeLT:
		bounds, children = []float64{b.PreviousInput(v)}, []int32{yes, no}
	case modeGTE:
		bounds, children = []float64{b.PreviousInput(v)}, []int32{no, yes}
	case modeGT:
		bounds, children = []float64{v}, []int32{no, yes}
	case modeEQ:
		bounds, children = []float64{b.PreviousInput(v), v}, []int32{no, yes, no}
	case modeNEQ:
		bounds, children = []float64{b.PreviousInput(v), v}, []int32{yes, no, yes}
	case modeMember:
		children = []int32{no}
		members := slices.Sorted(slices.Values(t.members[node]))
		for _, v := range slices.Compact(members) {
			if low := b.PreviousInput(v); len(bounds) > 0 && bounds[len(bounds)-1] == low {
				bounds, children = bounds[:len(bounds)-1], children[:len(children)-1]
			} else {
				bounds, children = append(bounds, low), append(children, yes)
			}
			bounds, children = append(bounds, v), append(children, no)
		}
	default:
		return 0, fmt.Errorf("its mode %d is not supported", mode)
	}
	missing := no
	if mode == modeNEQ || len(t.missingLeadsToTrue) > 0 && t.missingLeadsToTrue[node] == 1 {
		missing = yes
	}
	return b.AddThresholdTests(int(t.features[node]), bounds, children, max(slices.Index(children, missing), 0))
}
