package onnx

import (
	"errors"
	"fmt"
	"slices"

	"kir/internal/ensemble"
)

// addEnsemble reads the trees of a node and makes its table of outputs.
func (w *walk) addEnsemble(n *node) error {
	if w.m.Terms != nil {
		return errors.New("it is the second tree ensemble of the graph: one is supported")
	}
	columns := w.columns[n.inputs[0]]
	if columns == nil {
		return fmt.Errorf("its input %.40q is not made of the model's inputs", n.inputs[0])
	}
	for _, c := range columns {
		double := c.kind == kindDouble
		if !double && c.kind != kindFloat && c.kind != kindInt64 && c.kind != kindInt32 {
			return fmt.Errorf("its input is of kind %d", c.kind)
		}
		if double != (columns[0].kind == kindDouble) {
			return errors.New("its inputs are of float and double")
		}
		w.m.Single = !double
		// A float input is rounded to float32 before anything else.
		f := ensemble.Feature{Input: c.input, Of: c.of}
		if w.inputKind(c.input) == kindFloat {
			f.Of = round32
			if c.of != nil {
				f.Of = func(v float64) float64 { return c.of(round32(v)) }
			}
		}
		w.m.Features = append(w.m.Features, f)
	}
	read := readTrees
	if n.op == "TreeEnsemble" {
		read = readTrees5
	}
	t, fold, err := read(n)
	if err != nil {
		return err
	}
	w.m.Fold = fold
	used, positive, err := w.addTrees(t)
	if err != nil {
		return err
	}
	sums := &table{width: t.targets, single: true, of: func(sums []float64, k int) float64 { return sums[k] }}
	if n.op == "TreeEnsemble" && !w.m.Single {
		sums.single = false
	}
	if n.op == "TreeEnsembleClassifier" {
		return w.classifier(n, t, sums, used, positive)
	}
	trees := float64(len(t.roots))
	sums.of = func(sums []float64, k int) float64 {
		v := sums[k]
		if t.average {
			v = w.round(v / trees)
		}
		if t.base != nil {
			v = w.round(v + t.base[k])
		}
		return v
	}
	transform := t.transform
	if t.targets == 1 && transform != "PROBIT" {
		transform = "NONE" // ONNX Runtime applies only PROBIT to a single target
	}
	made, err := postTransform(sums, transform)
	w.tables[n.outputs[0]] = made
	return err
}

func (w *walk) inputKind(input int) int {
	for _, in := range w.graph.inputs {
		if columns := w.columns[in.name]; w.graph.constants[in.name] == nil && len(columns) > 0 && columns[0].input <= input && input <= columns[len(columns)-1].input {
			return in.kind
		}
	}
	return 0
}

// round rounds v to the precision of the trees' sums.
func (w *walk) round(v float64) float64 {
	if w.m.Single {
		return round32(v)
	}
	return v
}

// classifier makes the table of class scores from that of the sums. With two classes a model may give the score of
// only one. ONNX does not define the other's; classifier computes it as ONNX Runtime does.
func (w *walk) classifier(n *node, t *trees, sums *table, used []bool, positive bool) error {
	classes := n.labels("classlabels")
	if len(n.outputs) < 2 {
		return errors.New("it has no output of numbers")
	}
	out := n.outputs[1]
	if t.targets < 2 {
		return errors.New("it has less than two classes")
	}
	if t.targets == 2 && (len(t.base) == 2 || len(t.base) == 1 && !used[0]) {
		return errors.New("two classes with base values of both, or of one that no leaf is of: what is to be made of them differs between runtimes")
	}
	based := func(sums []float64, k int) float64 {
		if k < len(t.base) {
			return w.round(sums[k] + t.base[k])
		}
		return sums[k]
	}
	if t.targets > 2 || used[1] {
		sums.of = based
		made, err := postTransform(sums, t.transform)
		if err == nil {
			made.classes = classes
			w.tables[out] = made
		}
		return err
	}
	made := &table{width: 2, single: true, classes: classes}
	switch {
	case t.transform == "PROBIT":
		return errors.New("the post-transform PROBIT of one number for two classes is not supported")
	case positive:
		made.of = func(sums []float64, k int) float64 {
			v := float32(based(sums, 0))
			if k == 0 {
				v = 1 - v
			}
			return float64(v)
		}
	default:
		made.of = func(sums []float64, k int) float64 {
			v := float32(based(sums, 0))
			if k == 0 {
				v = -v
			}
			if t.transform == "LOGISTIC" {
				v = logistic(v)
			}
			return float64(v)
		}
	}
	w.tables[out] = made
	return nil
}

// addTrees adds the trees to the model. It returns which targets have weights, and whether all
// weights are positive.
func (w *walk) addTrees(t *trees) (used []bool, positive bool, err error) {
	w.m.Terms = make([][]ensemble.Term, t.targets)
	used, positive = make([]bool, t.targets), true
	b := ensemble.NewBuilder(w.m)
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
				nodes = append(nodes, t.yes[node], t.no[node])
			}
			for _, v := range t.weights[node] {
				if v.target < 0 || v.target >= int64(t.targets) {
					return nil, false, fmt.Errorf("tree %d: a weight is of target %d, of %d", k, v.target, t.targets)
				}
				targets = append(targets, int(v.target))
				used[v.target] = true
				positive = positive && v.value >= 0
			}
		}
		slices.Sort(targets)
		targets = slices.Compact(targets)
		values := make([]float64, len(targets))
		err := b.AddTree(ensemble.Shape{
			Nodes: len(nodes),
			Children: func(q int) (yes, no int, leaf bool) {
				node := nodes[q]
				if t.modes[node] == modeLeaf {
					return 0, 0, true
				}
				return local[t.yes[node]] - 1, local[t.no[node]] - 1, false
			},
			Leaf: func(q int) (int32, error) {
				clear(values)
				seen := 0
				for _, v := range t.weights[nodes[q]] {
					at, _ := slices.BinarySearch(targets, int(v.target))
					values[at] = v.value
					seen++
				}
				if of := t.weights[nodes[q]]; seen > 1 && !distinct(of) {
					return 0, errors.New("a leaf has two weights of a target")
				}
				return b.AddLeaf(values...)
			},
			Test: func(q int, yes, no int32) (int32, error) { return t.test(b, nodes[q], yes, no) },
		})
		if err == nil {
			err = b.AddToTargets(targets...)
		}
		if err != nil {
			return nil, false, fmt.Errorf("tree %d: %w", k, err)
		}
	}
	return used, positive, nil
}

func distinct(weights []weight) bool {
	seen := make(map[int64]bool, len(weights))
	for _, w := range weights {
		if seen[w.target] {
			return false
		}
		seen[w.target] = true
	}
	return true
}

// test adds the test of a node to the builder, leading to yes or no.
func (t *trees) test(b *ensemble.Builder, node int, yes, no int32) (int32, error) {
	v, mode := t.values[node], t.modes[node]
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
	if mode == modeNEQ || len(t.missing) > 0 && t.missing[node] == 1 {
		missing = yes
	}
	return b.AddThresholdTests(int(t.features[node]), bounds, children, max(slices.Index(children, missing), 0))
}
