// Package onnx reads tree ensembles from ONNX files into the form that package ensemble scores.
//
// It reads TreeEnsembleClassifier and TreeEnsembleRegressor (ai.onnx.ml 1 and 3) and TreeEnsemble
// (5), of float and double, with all modes, aggregations and post-transforms. It also reads the
// nodes that exporters put around them. Before the trees: Cast, Identity, Scaler, Imputer, Concat,
// FeatureVectorizer, ArrayFeatureExtractor, Gather, and Add, Sub, Mul and Div with constants.
// Behind them: Cast, Identity, ZipMap, Normalizer, Reshape and its like, Concat, Exp, Log, Neg,
// Sqrt, Sigmoid, Softmax, and arithmetic with constants. An error names any other node, and rejects
// two ensembles in one graph.
//
// ONNX does not define in which order leaves are added. A score does as ONNX Runtime does with one
// thread: in the order of the trees, in float32 unless the input is of doubles, and base values
// after them. With more threads the runtime adds partial sums to each other, and its last bits
// depend on the number of threads.
package onnx

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"kir/internal/ensemble"
)

// Read reads an ONNX model. The error describes the fault in the file, or names what is not supported.
func Read(r io.Reader) (*ensemble.Model, error) {
	data, err := ensemble.ReadFile(r)
	if err != nil {
		return nil, err
	}
	g, err := readModel(data)
	if err != nil {
		return nil, fmt.Errorf("no model of ONNX: %w", err)
	}
	m := &ensemble.Model{Maker: "ONNX"}
	if g.maker != "" {
		m.Maker += fmt.Sprintf(" (%.40s %.20s)", g.maker, g.version)
	}
	w := &walk{m: m, graph: g, columns: make(map[string][]column), tables: make(map[string]*table)}
	return m, w.run()
}

// A column is a number computed from one input of the model.
type column struct {
	input int
	kind  int
	of    func(float64) float64 // function of the input; nil for the input itself
}

// withStep returns the column after one more function is applied, with its new kind of elements.
func (c column) withStep(kind int, step func(float64) float64) column {
	before := c.of
	c.kind, c.of = kind, step
	if before != nil {
		c.of = func(v float64) float64 { return step(before(v)) }
	}
	return c
}

// A walk is the state of reading a graph, node by node.
type walk struct {
	m       *ensemble.Model
	graph   *graph
	columns map[string][]column
	tables  map[string]*table
}

func (w *walk) run() error {
	if len(w.graph.nodes) > maxSteps {
		return fmt.Errorf("the graph has %d nodes: at most %d are supported", len(w.graph.nodes), maxSteps)
	}
	for _, in := range w.graph.inputs {
		if w.graph.constants[in.name] == nil {
			w.addInput(in)
		}
	}
	for k := range w.graph.nodes {
		n := &w.graph.nodes[k]
		if err := w.node(n); err != nil {
			return fmt.Errorf("node %d (%.40s): %w", k, n.op, err)
		}
	}
	if w.m.Terms == nil {
		return errors.New("the graph has no tree ensemble")
	}
	for _, name := range w.graph.outputs {
		t := w.tables[name]
		switch {
		case t == nil:
		case t.classes != nil || t.width == 1:
			w.m.Outputs = append(w.m.Outputs, ensemble.Output{Name: name, Classes: t.classes, Of: t.of})
		default:
			for k := range t.width {
				w.m.Outputs = append(w.m.Outputs, ensemble.Output{Name: name + " " + strconv.Itoa(k), Of: func(sums []float64, _ int) float64 { return t.of(sums, k) }})
			}
		}
	}
	if w.m.Outputs == nil {
		return errors.New("none of the graph's outputs is of the tree ensemble")
	}
	return nil
}

// addInput adds a column for each number of a graph's input. If the graph does not state how many there are, it takes
// the number that the trees test.
func (w *walk) addInput(in input) {
	n := in.columns
	if n == 0 {
		n = 1
		for k := range w.graph.nodes {
			if a := w.graph.nodes[k].attributes["nodes_featureids"]; a != nil && len(a.ints) > 0 {
				n = max(n, int(min(slices.Max(a.ints), maxColumns-1))+1)
			}
		}
	}
	columns := make([]column, n)
	for k := range columns {
		name := in.name
		if n > 1 {
			name += "[" + strconv.Itoa(k) + "]"
		}
		columns[k] = column{input: len(w.m.Inputs), kind: in.kind}
		w.m.Inputs = append(w.m.Inputs, name)
	}
	w.columns[in.name] = columns
}

func (w *walk) node(n *node) error {
	if n.domain != "" && n.domain != "ai.onnx" && n.domain != "ai.onnx.ml" {
		return fmt.Errorf("its domain %.40q is not supported", n.domain)
	}
	if len(n.outputs) == 0 || len(n.inputs) == 0 && n.op != "Constant" {
		return errors.New("it has no input or no output")
	}
	out := n.outputs[0]
	switch n.op {
	case "Constant":
		a := n.attributes["value"]
		if a == nil || a.tensor == nil {
			return errors.New("it is not of a tensor")
		}
		w.graph.constants[out] = a.tensor
		return nil
	case "TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble":
		return w.addEnsemble(n)
	case "Concat", "FeatureVectorizer":
		return w.concat(n)
	}
	for _, name := range n.inputs {
		if w.tables[name] != nil {
			t, err := w.convertAfterTrees(n)
			if t != nil {
				w.tables[out] = t
			}
			return err
		}
	}
	for _, name := range n.inputs {
		if w.columns[name] != nil {
			columns, err := w.convertBeforeTrees(n)
			w.columns[out] = columns
			return err
		}
	}
	for _, name := range n.inputs {
		if !w.isLabel(name) {
			return fmt.Errorf("it needs %.40q, which no node before it makes", name)
		}
	}
	return nil // nodes that handle the label of the likeliest class do not affect the predictions
}

// isLabel reports whether the name is that of a node's output that is a class label instead of numbers.
func (w *walk) isLabel(name string) bool {
	return slices.ContainsFunc(w.graph.nodes, func(n node) bool { return slices.Contains(n.outputs, name) }) || w.graph.constants[name] != nil
}

func (w *walk) concat(n *node) error {
	var columns []column
	var tables []*table
	for _, name := range n.inputs {
		columns = append(columns, w.columns[name]...)
		if t := w.tables[name]; t != nil {
			tables = append(tables, t)
		} else if w.columns[name] == nil {
			return fmt.Errorf("it needs %.40q, which is no column", name)
		}
	}
	if len(columns) > maxColumns {
		return fmt.Errorf("it makes more than %d columns", maxColumns)
	}
	out := n.outputs[0]
	if tables == nil {
		if n.op == "FeatureVectorizer" {
			for k, c := range columns {
				columns[k] = c.withStep(kindFloat, round32)
			}
		}
		w.columns[out] = columns
		return nil
	}
	if columns != nil {
		return errors.New("it joins what is before the trees with what is behind them")
	}
	all := &table{single: tables[0].single}
	var of []func(sums []float64, k int) float64
	var at []int
	for _, t := range tables {
		for k := range t.width {
			of, at = append(of, t.of), append(at, k)
		}
		if len(of) > maxTargets {
			return fmt.Errorf("it makes more than %d numbers", maxTargets)
		}
	}
	all.width = len(of)
	all.of = func(sums []float64, k int) float64 { return of[k](sums, at[k]) }
	w.tables[out] = all
	return nil
}

func round32(v float64) float64 { return float64(float32(v)) }

// roundingStep returns the function that rounds to a kind of elements.
func roundingStep(kind int) (func(float64) float64, error) {
	switch kind {
	case kindFloat:
		return round32, nil
	case kindDouble:
		return func(v float64) float64 { return v }, nil
	case kindInt64, kindInt32:
		return math.Trunc, nil
	}
	return nil, fmt.Errorf("numbers of kind %d are not supported", kind)
}
