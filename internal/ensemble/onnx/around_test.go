package onnx

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kir/internal/ensemble"
	"kir/internal/testonly/golden"
)

func made(op, inputs string, attributes map[string]*attribute) graphNode {
	return graphNode{op: op, inputs: strings.Fields(inputs), outputs: []string{"Z"}, attributes: attributes}
}

// stump is an ensemble of a tree with one test and a leaf, of two targets or classes.
func stump(op, from string, also map[string]*attribute) graphNode {
	prefix := "target"
	if op == "TreeEnsembleClassifier" {
		prefix = "class"
	}
	n := graphNode{op: op, inputs: []string{from}, outputs: []string{"Y"}, attributes: map[string]*attribute{
		"nodes_treeids": {ints: []int64{0, 0, 0, 7}}, "nodes_nodeids": {ints: []int64{0, 1, 2, 4}}, "nodes_featureids": {ints: []int64{0, 0, 0, 0}},
		"nodes_values": {floats: []float64{0.5, 0, 0, 0}}, "nodes_modes": {strings: []string{"BRANCH_LEQ", "LEAF", "LEAF", "LEAF"}},
		"nodes_truenodeids": {ints: []int64{1, 0, 0, 0}}, "nodes_falsenodeids": {ints: []int64{2, 0, 0, 0}},
		prefix + "_treeids": {ints: []int64{0, 0, 0, 0, 7}}, prefix + "_nodeids": {ints: []int64{1, 1, 2, 2, 4}}, prefix + "_ids": {ints: []int64{0, 1, 0, 1, 1}},
		prefix + "_weights": {floats: []float64{1, 2, -3, 0.25, 0.5}},
	}}
	if prefix == "class" {
		n.outputs = []string{"L", "Y"}
		n.attributes["classlabels_strings"] = &attribute{strings: []string{"no", "yes"}}
	} else {
		n.attributes["n_targets"] = &attribute{integer: 2}
	}
	for name, a := range also {
		n.attributes[name] = a
		if a == nil {
			delete(n.attributes, name)
		}
	}
	return n
}

// told says what a graph tells of some inputs, or why it does not.
func told(constants map[string]*tensor, kind int, nodes ...graphNode) string {
	g := &graph{nodes: nodes, constants: constants, inputs: []graphInput{{name: "X", kind: kind, columns: 2}}, outputs: []string{"Z", "Y", "L"}}
	w := &graphReader{model: &ensemble.Model{Producer: "ONNX"}, graph: g, columns: make(map[string][]inputColumn), tables: make(map[string]*outputTable)}
	if err := w.convertGraph(); err != nil {
		return err.Error()
	}
	said := strings.Join(w.model.Inputs, ", ")
	for _, x := range [][]float64{{0.5, 3}, {0.75, -1}, {-2.5, 0.1}, {math.NaN(), 2}, {1e9, 1e9}} {
		sums := w.model.Sums(x)
		said += fmt.Sprintf("\n%v: %.9g", x, sums)
		for _, o := range w.model.Outputs {
			said += "; " + o.Name
			for k := range max(len(o.Classes), 1) {
				said += fmt.Sprintf(" %.9g", o.Compute(sums, k))
			}
			said += fmt.Sprint(" ", o.Classes)
		}
	}
	return said
}

// TestAround keeps what nodes before and behind an ensemble make of it, and what of its
// own attributes.
func TestAround(t *testing.T) {
	kept := golden.Open(t)
	constants := map[string]*tensor{"one": {numbers: []float64{2}}, "two": {numbers: []float64{3, -0.5}}, "none": {numbers: []float64{0}}, "three": {numbers: []float64{1, 2, 3}},
		"at": {numbers: []float64{1}}, "swap": {numbers: []float64{1, 0}}, "off": {numbers: []float64{2}}, "half": {numbers: []float64{0.5}}, "bad": {numbers: []float64{math.NaN()}}}
	i := func(v int64) map[string]*attribute {
		return map[string]*attribute{"to": {integer: v}, "axis": {integer: v}}
	}
	s := func(name, v string) map[string]*attribute { return map[string]*attribute{name: {text: v}} }
	for _, kind := range []int{kindFloat, kindDouble} {
		for _, n := range []graphNode{
			made("Identity", "Y", nil), made("Reshape", "Y one", nil), made("Cast", "Y", i(kindFloat)), made("Cast", "Y", i(kindDouble)), made("Cast", "Y", i(kindInt64)), made("Cast", "Y", nil),
			made("ArgMax", "Y", nil), made("Exp", "Y", nil), made("Log", "Y", nil), made("Sqrt", "Y", nil), made("Neg", "Y", nil), made("Sigmoid", "Y", nil), made("Softmax", "Y", nil),
			made("Normalizer", "Y", nil), made("Normalizer", "Y", s("norm", "L1")), made("Normalizer", "Y", s("norm", "L2")), made("Normalizer", "Y", s("norm", "L3")),
			made("Gather", "Y at", i(1)), made("Gather", "Y at", i(-1)), made("Gather", "Y at", i(0)), made("Gather", "Y swap", i(1)), made("Gather", "Y off", i(1)), made("Gather", "Y half", i(1)), made("Gather", "Y", i(1)), made("ArrayFeatureExtractor", "Y at", nil),
			made("Add", "Y one", nil), made("Sub", "Y two", nil), made("Sub", "two Y", nil), made("Mul", "Y two", nil), made("Div", "Y two", nil), made("Div", "one Y", nil),
			made("Add", "Y three", nil), made("Add", "Y Y", nil), made("Add", "Y", nil), made("Add", "Y bad", nil), made("Concat", "Y Y", i(1)), made("Conv", "Y", nil),
			made("ZipMap", "Y", map[string]*attribute{"classlabels_strings": {strings: []string{"a", "b"}}}), made("ZipMap", "Y", map[string]*attribute{"classlabels_int64s": {ints: []int64{4, 5}}}), made("ZipMap", "Y", map[string]*attribute{"classlabels_strings": {strings: []string{"a"}}}),
		} {
			kept.CheckText(t, fmt.Sprintf("kind %d, behind, %s %v %s", kind, n.op, n.inputs, shown(n.attributes)), told(constants, kind, stump("TreeEnsembleRegressor", "X", nil), n))
		}
		f := func(numbers ...float64) *attribute { return &attribute{floats: numbers} }
		for _, n := range []graphNode{
			made("Identity", "X", nil), made("Cast", "X", i(kindFloat)), made("Cast", "X", i(kindDouble)), made("Cast", "X", i(kindInt64)), made("Cast", "X", i(kindString)),
			made("Scaler", "X", map[string]*attribute{"offset": f(0.1, 1), "scale": f(3)}), made("Scaler", "X", map[string]*attribute{"offset": f(-3), "scale": f(-1, 2)}), made("Scaler", "X", map[string]*attribute{"offset": f(1, 2, 3), "scale": f(1)}), made("Scaler", "X", map[string]*attribute{"offset": f(1)}),
			made("Imputer", "X", map[string]*attribute{"replaced_value_float": {float: math.NaN()}, "imputed_value_floats": f(7)}), made("Imputer", "X", map[string]*attribute{"replaced_value_float": {float: 3}, "imputed_value_floats": f(7)}), made("Imputer", "X", nil),
			made("ArrayFeatureExtractor", "X at", nil), made("Gather", "X swap", i(1)), made("Gather", "X off", i(1)), made("Gather", "X at", nil),
			made("Add", "X two", nil), made("Sub", "X one", nil), made("Sub", "one X", nil), made("Mul", "X two", nil), made("Mul", "two X", nil), made("Div", "X one", nil), made("Div", "one X", nil), made("Div", "X none", nil), made("Add", "X three", nil),
			made("Concat", "X X", i(1)), made("Concat", "X X", i(0)), made("FeatureVectorizer", "X X", nil), made("Exp", "X", nil),
		} {
			kept.CheckText(t, fmt.Sprintf("kind %d, before, %s %v %s", kind, n.op, n.inputs, shown(n.attributes)), told(constants, kind, n, stump("TreeEnsembleRegressor", "Z", nil)))
		}
	}
	for _, also := range []map[string]*attribute{
		{"aggregate_function": {text: "AVERAGE"}}, {"aggregate_function": {text: "MIN"}}, {"aggregate_function": {text: "MAX"}}, {"aggregate_function": {text: "MEDIAN"}},
		{"post_transform": {text: "LOGISTIC"}}, {"post_transform": {text: "SOFTMAX"}}, {"post_transform": {text: "SOFTMAX_ZERO"}}, {"post_transform": {text: "PROBIT"}}, {"post_transform": {text: "OTHER"}},
		{"base_values": {floats: []float64{10, 20}}}, {"base_values": {floats: []float64{10}}}, {"base_values": {floats: []float64{10, 20, 30}}},
		{"nodes_modes": {strings: []string{"BRANCH_LT", "LEAF", "LEAF", "LEAF"}}}, {"nodes_modes": {strings: []string{"BRANCH_GT", "LEAF", "LEAF", "LEAF"}}}, {"nodes_modes": {strings: []string{"BRANCH_GTE", "LEAF", "LEAF", "LEAF"}}},
		{"nodes_modes": {strings: []string{"BRANCH_EQ", "LEAF", "LEAF", "LEAF"}}}, {"nodes_modes": {strings: []string{"BRANCH_NEQ", "LEAF", "LEAF", "LEAF"}}}, {"nodes_modes": {strings: []string{"OTHER", "LEAF", "LEAF", "LEAF"}}}, {"nodes_modes": {strings: []string{"LEAF"}}},
		{"nodes_missing_value_tracks_true": {ints: []int64{1, 0, 0, 0}}}, {"nodes_missing_value_tracks_true": {ints: []int64{1}}}, {"nodes_featureids": {ints: []int64{1, 0, 0, 0}}}, {"nodes_featureids": {ints: []int64{2, 0, 0, 0}}}, {"nodes_featureids": {ints: []int64{-1, 0, 0, 0}}},
		{"nodes_truenodeids": {ints: []int64{2, 0, 0, 0}}}, {"nodes_truenodeids": {ints: []int64{9, 0, 0, 0}}}, {"nodes_truenodeids": {ints: []int64{0, 0, 0, 0}}}, {"nodes_nodeids": {ints: []int64{0, 1, 1, 4}}}, {"nodes_treeids": nil}, {"nodes_values": {floats: []float64{math.NaN(), 0, 0, 0}}},
		{"n_targets": {integer: 0}, "classlabels_strings": nil}, {"n_targets": {integer: 1}, "classlabels_strings": {strings: []string{"only"}}}, {"target_ids": {ints: []int64{0, 1, 0, 5, 1}}, "class_ids": {ints: []int64{0, 1, 0, 5, 1}}}, {"target_nodeids": {ints: []int64{1, 1, 2, 2, 3}}, "class_nodeids": {ints: []int64{1, 1, 2, 2, 3}}},
		{"target_weights": {floats: []float64{1, 2, -3, math.Inf(1), 0}}, "class_weights": {floats: []float64{1, 2, -3, math.Inf(1), 0}}}, {"class_ids": {ints: []int64{0, 0, 0, 0, 0}}, "target_ids": {ints: []int64{0, 0, 0, 0, 0}}}, {"classlabels_strings": nil, "classlabels_int64s": {ints: []int64{3, 4}}},
	} {
		for _, op := range []string{"TreeEnsembleRegressor", "TreeEnsembleClassifier"} {
			kept.CheckText(t, op+" "+shown(also), told(nil, kindFloat, stump(op, "X", also)))
		}
	}
}

// shown writes attributes in order.
func shown(all map[string]*attribute) string {
	text := make(map[string]string)
	for name, a := range all {
		if a == nil {
			text[name] = "none"
		} else {
			text[name] = fmt.Sprintf("%v %v %s %v %v %v", a.float, a.integer, a.text, a.floats, a.ints, a.strings)
		}
	}
	return fmt.Sprint(text) // in order
}
