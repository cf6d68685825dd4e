// Package onnx reads tree ensembles from ONNX files into the form that package ensemble scores.
//
// It reads TreeEnsembleClassifier and TreeEnsembleRegressor (ai.onnx.ml versions 1 and 3) and
// TreeEnsemble (version 5), of float and double, with all modes, aggregations and post-transforms.
//
// It also reads the nodes that exporters put before and after a tree ensemble. Before the trees:
// Cast, Identity, Scaler, Imputer, Concat, FeatureVectorizer, ArrayFeatureExtractor, Gather, and
// Add, Sub, Mul and Div with constants. After the trees: Cast, Identity, ZipMap, Normalizer,
// Reshape and similar nodes, Concat, Exp, Log, Neg, Sqrt, Sigmoid, Softmax, and arithmetic with
// constants. Read returns an error that names any other node. It also returns an error if a graph
// has two ensembles.
//
// ONNX does not define in which order leaves are added. A score adds as ONNX Runtime does with one
// thread. It adds in the order of the trees, and base values last, in float32 unless the input is
// of doubles. With more threads, ONNX Runtime adds partial sums, and its last bits depend on the
// number of threads.
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

// Read reads an ONNX model. The error describes the fault in the file, or names what is not
// supported.
func Read(r io.Reader) (*ensemble.Model, error) {
	data, err := ensemble.ReadFile(r)
	if err != nil {
		return nil, err
	}
	g, err := readModel(data)
	if err != nil {
		return nil, fmt.Errorf("no model of ONNX: %w", err)
	}
	m := &ensemble.Model{Producer: "ONNX"}
	if g.maker != "" {
		m.Producer += fmt.Sprintf(" (%.40s %.20s)", g.maker, g.version)
	}
	w := &graphReader{model: m, graph: g, columns: make(map[string][]inputColumn), tables: make(map[string]*outputTable)}
	return m, w.convertGraph()
}

// An inputColumn is a number that is computed from one input of the model, before the trees.
type inputColumn struct {
	inputIndex  int                   // index of the input of the model
	elementKind int                   // kind of the number, such as kindFloat
	function    func(float64) float64 // computes the number from the input; nil if the number is the input itself
}

// withFunction returns the column with the function step applied to it. The parameter kind is the
// kind of the resulting number, such as kindFloat.
func (c inputColumn) withFunction(kind int, step func(float64) float64) inputColumn {
	before := c.function
	c.elementKind, c.function = kind, step
	if before != nil {
		c.function = func(v float64) float64 { return step(before(v)) }
	}
	return c
}

// A graphReader converts the nodes of a graph, one after another, to a model.
type graphReader struct {
	model   *ensemble.Model
	graph   *graph
	columns map[string][]inputColumn // maps the name of a value of the graph before the trees to its columns
	tables  map[string]*outputTable  // maps the name of a value of the graph after the trees to its table of numbers
}

// convertGraph converts all inputs, nodes and outputs of the graph.
func (w *graphReader) convertGraph() error {
	if len(w.graph.nodes) > maxGraphNodes {
		return fmt.Errorf("the graph has %d nodes: at most %d are supported", len(w.graph.nodes), maxGraphNodes)
	}
	for _, in := range w.graph.inputs {
		if w.graph.constants[in.name] == nil {
			w.addInputColumns(in)
		}
	}
	for k := range w.graph.nodes {
		n := &w.graph.nodes[k]
		if err := w.addNode(n); err != nil {
			return fmt.Errorf("node %d (%.40s): %w", k, n.op, err)
		}
	}
	if w.model.Terms == nil {
		return errors.New("the graph has no tree ensemble")
	}
	for _, name := range w.graph.outputs {
		t := w.tables[name]
		switch {
		case t == nil:
		case t.classes != nil || t.width == 1:
			w.model.Outputs = append(w.model.Outputs, ensemble.Output{Name: name, Classes: t.classes, Compute: t.value})
		default:
			for k := range t.width {
				w.model.Outputs = append(w.model.Outputs, ensemble.Output{Name: name + " " + strconv.Itoa(k), Compute: func(sums []float64, _ int) float64 { return t.value(sums, k) }})
			}
		}
	}
	if w.model.Outputs == nil {
		return errors.New("none of the graph's outputs is of the tree ensemble")
	}
	return nil
}

// addInputColumns adds one column for each number of an input of the graph. If the graph does not
// state the number of columns, there are as many columns as features that the trees test.
func (w *graphReader) addInputColumns(in graphInput) {
	n := in.columns
	if n == 0 {
		n = 1
		for k := range w.graph.nodes {
			if a := w.graph.nodes[k].attributes["nodes_featureids"]; a != nil && len(a.ints) > 0 {
				n = max(n, int(min(slices.Max(a.ints), maxColumns-1))+1)
			}
		}
	}
	columns := make([]inputColumn, n)
	for k := range columns {
		name := in.name
		if n > 1 {
			name += "[" + strconv.Itoa(k) + "]"
		}
		columns[k] = inputColumn{inputIndex: len(w.model.Inputs), elementKind: in.kind}
		w.model.Inputs = append(w.model.Inputs, name)
	}
	w.columns[in.name] = columns
}

// addNode converts one node of the graph.
func (w *graphReader) addNode(n *graphNode) error {
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
		return w.concatenate(n)
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

// isLabel reports whether a value of the graph, given by its name, is a constant or an output of a
// node. It is called only for values that are neither columns nor tables. Such an output holds
// class labels instead of numbers.
func (w *graphReader) isLabel(name string) bool {
	return slices.ContainsFunc(w.graph.nodes, func(n graphNode) bool { return slices.Contains(n.outputs, name) }) || w.graph.constants[name] != nil
}

// concatenate converts a Concat or FeatureVectorizer node, which joins columns before the trees, or
// tables after the trees.
func (w *graphReader) concatenate(n *graphNode) error {
	var columns []inputColumn
	var tables []*outputTable
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
				columns[k] = c.withFunction(kindFloat, roundToFloat32)
			}
		}
		w.columns[out] = columns
		return nil
	}
	if columns != nil {
		return errors.New("it joins what is before the trees with what is behind them")
	}
	all := &outputTable{isFloat32: tables[0].isFloat32}
	var of []func(sums []float64, k int) float64
	var at []int
	for _, t := range tables {
		for k := range t.width {
			of, at = append(of, t.value), append(at, k)
		}
		if len(of) > maxTargets {
			return fmt.Errorf("it makes more than %d numbers", maxTargets)
		}
	}
	all.width = len(of)
	all.value = func(sums []float64, k int) float64 { return of[k](sums, at[k]) }
	w.tables[out] = all
	return nil
}

// roundToFloat32 rounds v to the nearest float32.
func roundToFloat32(v float64) float64 { return float64(float32(v)) }

// roundingFunction returns the function that rounds a number to the given kind, such as kindFloat.
func roundingFunction(kind int) (func(float64) float64, error) {
	switch kind {
	case kindFloat:
		return roundToFloat32, nil
	case kindDouble:
		return func(v float64) float64 { return v }, nil
	case kindInt64, kindInt32:
		return math.Trunc, nil
	}
	return nil, fmt.Errorf("numbers of kind %d are not supported", kind)
}
