package onnx

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"kir/internal/ensemble"
	"kir/internal/testonly/golden"
)

// numbered is an ensemble of version 5: a tree of two tests and three leaves, and one of
// one test, with two targets.
func numbered(also map[string]*attribute) graphNode {
	tensor := func(numbers ...float64) *attribute { return &attribute{tensor: &tensor{numbers: numbers}} }
	n := graphNode{op: "TreeEnsemble", inputs: []string{"X"}, outputs: []string{"Y"}, attributes: map[string]*attribute{
		"n_targets": {integer: 2}, "tree_roots": {ints: []int64{0, 2}}, "nodes_featureids": {ints: []int64{0, 1, 0}},
		"nodes_splits": tensor(0.5, 2, -1), "nodes_modes": tensor(0, 0, 0),
		"nodes_truenodeids": {ints: []int64{1, 0, 3}}, "nodes_falsenodeids": {ints: []int64{1, 2, 0}},
		"nodes_trueleafs": {ints: []int64{0, 1, 1}}, "nodes_falseleafs": {ints: []int64{1, 1, 1}},
		"leaf_targetids": {ints: []int64{0, 1, 0, 1}}, "leaf_weights": tensor(1, 2.5, -3, 0.25),
	}}
	for name, a := range also {
		n.attributes[name] = a
		if a == nil {
			delete(n.attributes, name)
		}
	}
	return n
}

// TestForms keeps what is made of ensembles of version 5 in all their forms, and of
// classifiers that tell one number for two classes.
func TestForms(t *testing.T) {
	kept := golden.Open(t)
	held := func(numbers ...float64) *attribute { return &attribute{tensor: &tensor{numbers: numbers}} }
	nan := math.NaN()
	for _, also := range []map[string]*attribute{
		{}, {"n_targets": nil}, {"n_targets": {integer: 0}}, {"n_targets": {integer: 1}}, {"n_targets": {integer: -1}},
		{"aggregate_function": {integer: 0}}, {"aggregate_function": {integer: 1}}, {"aggregate_function": {integer: 2}}, {"aggregate_function": {integer: 3}}, {"aggregate_function": {integer: 4}}, {"aggregate_function": {integer: -1}},
		{"post_transform": {integer: 0}}, {"post_transform": {integer: 1}}, {"post_transform": {integer: 2}}, {"post_transform": {integer: 3}}, {"post_transform": {integer: 4}}, {"post_transform": {integer: 5}}, {"post_transform": {integer: -1}}, {"post_transform": {integer: 4}, "n_targets": {integer: 1}, "leaf_targetids": {ints: []int64{0, 0, 0, 0}}},
		{"nodes_modes": held(1, 2, 3)}, {"nodes_modes": held(4, 5, 0)}, {"nodes_modes": held(6, 0, 0)}, {"nodes_modes": held(7, 0, 0)}, {"nodes_modes": held(-1, 0, 0)}, {"nodes_modes": held(0.5, 0, 0)}, {"nodes_modes": held(0, 0)},
		{"nodes_modes": held(6, 0, 6), "membership_values": held(0.5, 0.75, nan, -2.5, nan)}, {"nodes_modes": held(6, 6, 0), "membership_values": held(0.75)}, {"nodes_modes": held(6, 6, 6), "membership_values": held(nan, nan, 3, -2.5)}, {"nodes_modes": held(6, 0, 0), "membership_values": held(2, 1, math.Nextafter(1, 2), 1, nan)},
		{"nodes_missing_value_tracks_true": {ints: []int64{1, 0, 0}}}, {"nodes_missing_value_tracks_true": {ints: []int64{0, 1, 1}}}, {"nodes_missing_value_tracks_true": {ints: []int64{2, 0, 1}}}, {"nodes_missing_value_tracks_true": {ints: []int64{0, 1}}},
		{"tree_roots": nil}, {"tree_roots": {ints: []int64{3}}}, {"tree_roots": {ints: []int64{-1}}}, {"tree_roots": {ints: []int64{2}}}, {"tree_roots": {ints: []int64{0, 0}}}, {"tree_roots": {ints: []int64{0, 1}}},
		{"nodes_featureids": nil}, {"nodes_featureids": {ints: []int64{0, 2, 0}}}, {"nodes_featureids": {ints: []int64{0, 1}}}, {"nodes_truenodeids": {ints: []int64{0, 0, 3}}}, {"nodes_truenodeids": {ints: []int64{3, 0, 3}}}, {"nodes_truenodeids": {ints: []int64{1, 4, 3}}}, {"nodes_falsenodeids": {ints: []int64{1, 2, -1}}}, {"nodes_falsenodeids": {ints: []int64{1, 2}}},
		{"nodes_trueleafs": {ints: []int64{0, 1}}}, {"nodes_falseleafs": {ints: []int64{1, 1, 1, 1}}}, {"nodes_trueleafs": {ints: []int64{1, 1, 1}}}, {"nodes_splits": held(0.5, 2)}, {"nodes_splits": held(0.5, nan, 1)}, {"nodes_splits": held(0.5, math.Inf(1), math.Inf(-1))},
		{"leaf_weights_as_tensor": held(4, 3, 2, 1)}, {"leaf_weights": nil, "leaf_weights_as_tensor": held(4, 3, 2, 1)}, {"leaf_weights_as_tensor": {floats: []float64{4, 3, 2, 1}}}, {"leaf_weights": {floats: []float64{4, 3, 2, 1}}}, {"nodes_splits": nil, "nodes_splits_as_tensor": held(1, 1, 1)},
		{"leaf_targetids": {ints: []int64{0, 1, 0}}}, {"leaf_targetids": {ints: []int64{0, 1, 0, 2}}}, {"leaf_targetids": {ints: []int64{0, 1, 0, -1}}}, {"leaf_weights": held(1, 2, 3)}, {"leaf_weights": held(1, 2, nan, 3)}, {"leaf_weights": held(1, 2, math.Inf(-1), 3)},
	} {
		for _, kind := range []int{kindFloat, kindDouble} {
			said := told(nil, kind, numbered(also))
			kept.CheckText(t, fmt.Sprintf("kind %d %s", kind, texts(also)), said[:min(len(said), 600)])
		}
	}
	for _, n := range []graphNode{numbered(nil), stump("TreeEnsembleRegressor", "X", nil)} {
		read := readTreesV1
		if n.op == "TreeEnsemble" {
			read = readTreesV5
		}
		for targets, fine := range map[int64]bool{0: false, 1: true, maxTargets: true, maxTargets + 1: false} {
			n.attributes["n_targets"] = &attribute{integer: targets}
			if read, _, err := read(&n); (err == nil) != fine || fine && read.targetCount != int(targets) {
				t.Errorf("%s, %d targets: %v", n.op, targets, err)
			}
		}
	}
	one := func(of int64, weights ...float64) map[string]*attribute {
		return map[string]*attribute{"class_treeids": {ints: []int64{0, 0, 7}}, "class_nodeids": {ints: []int64{1, 2, 4}}, "class_ids": {ints: slices.Repeat([]int64{of}, 3)}, "class_weights": {floats: weights}}
	}
	for _, of := range []int64{0, 1} {
		for _, weights := range [][]float64{{1, 0.25, 0.5}, {1, -0.25, 0.5}, {0, 0, 0}} {
			for _, transform := range []string{"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"} {
				for _, base := range [][]float64{nil, {0.125}, {0.125, 0.5}} {
					also := one(of, weights...)
					also["post_transform"], also["base_values"] = &attribute{text: transform}, &attribute{floats: base}
					kept.CheckText(t, fmt.Sprintf("classes, of %d: %v, %s, %v", of, weights, transform, base), told(nil, kindFloat, stump("TreeEnsembleClassifier", "X", also)))
				}
			}
		}
	}
	lone := stump("TreeEnsembleClassifier", "X", nil)
	lone.outputs = lone.outputs[:1]
	kept.CheckText(t, "no numbers", told(nil, kindFloat, lone))
	kept.CheckText(t, "two ensembles", told(nil, kindFloat, stump("TreeEnsembleRegressor", "X", nil), numbered(nil)))
	kept.CheckText(t, "of nothing", told(nil, kindFloat, stump("TreeEnsembleRegressor", "none", nil)))
	for _, kind := range []int{kindInt32, kindInt64, kindUint8, kindString} {
		kept.CheckText(t, fmt.Sprint("of kind ", kind), told(nil, kind, stump("TreeEnsembleRegressor", "X", nil)))
	}
	both := &graph{constants: make(map[string]*tensor), inputs: []graphInput{{name: "A", kind: kindFloat, columns: 1}, {name: "B", kind: kindDouble, columns: 2}, {name: "C", kind: kindDouble}}, outputs: []string{"Y"}}
	for name, nodes := range map[string][]graphNode{
		"two kinds": {made("Concat", "A B", nil), stump("TreeEnsembleRegressor", "Z", nil)}, "doubles": {made("Concat", "B C", nil), stump("TreeEnsembleRegressor", "Z", map[string]*attribute{"nodes_featureids": {ints: []int64{2, 0, 0, 0}}})},
		"one alone": {stump("TreeEnsembleRegressor", "C", nil)}, "as many as are asked for": {stump("TreeEnsembleRegressor", "C", map[string]*attribute{"nodes_featureids": {ints: []int64{4, 0, 3, 0}}})}, "a float": {stump("TreeEnsembleRegressor", "A", nil)},
		"too many": slices.Repeat([]graphNode{made("Identity", "A", nil)}, maxGraphNodes+1), "as many as can be": slices.Repeat([]graphNode{made("Identity", "A", nil)}, maxGraphNodes), "no output": {made("Identity", "A", nil), {op: "TreeEnsembleRegressor", inputs: []string{"A"}, outputs: []string{"other"}, attributes: stump("TreeEnsembleRegressor", "A", nil).attributes}},
		"joins both": {stump("TreeEnsembleRegressor", "C", nil), made("Concat", "A Y", nil)}, "joins none": {made("Concat", "A none", nil)},
	} {
		g := *both
		g.nodes = nodes
		w := &graphReader{model: &ensemble.Model{Producer: "ONNX"}, graph: &g, columns: make(map[string][]inputColumn), tables: make(map[string]*outputTable)}
		if err := w.convertGraph(); err != nil {
			kept.CheckText(t, name, err.Error())
			continue
		}
		x := []float64{0.3, 1.1, 0.5000001, -2, 4, 5, 6, 7}[:len(w.model.Inputs)]
		kept.CheckText(t, name, fmt.Sprintf("%v %t %.9g %d", w.model.Inputs, w.model.IsFloat32, w.model.Sums(x), len(w.model.Outputs)))
	}
}

// texts is [shown] with tensors.
func texts(all map[string]*attribute) string {
	said := ""
	for name, a := range all { // one or a few, of which one tells them apart
		if a != nil && a.tensor != nil {
			said += fmt.Sprintf("%s: %v ", name, a.tensor.numbers)
		}
	}
	if len(all) > 1 && len(said) > 0 {
		said = fmt.Sprint(len(said), " ")
		for _, name := range []string{"nodes_modes", "membership_values"} {
			if a := all[name]; a != nil {
				said += fmt.Sprintf("%s: %v ", name, a.tensor.numbers)
			}
		}
		return said
	}
	return said + shown(all)
}

// TestWire keeps what messages are read as that end too soon, or hold what is not
// looked for.
func TestWire(t *testing.T) {
	kept := golden.Open(t)
	varint := func(field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), v)
	}
	fixed32 := func(field protowire.Number, v uint32) []byte {
		return protowire.AppendFixed32(protowire.AppendTag(nil, field, protowire.Fixed32Type), v)
	}
	fixed64 := func(field protowire.Number, v uint64) []byte {
		return protowire.AppendFixed64(protowire.AppendTag(nil, field, protowire.Fixed64Type), v)
	}
	group := protowire.AppendTag(varint2(3, 1, 5), 3, protowire.EndGroupType)
	for name, text := range map[string][]byte{
		"kinds": slices.Concat(varint(2, 1), fixed32(4, math.Float32bits(1.5)), fixed32(4, math.Float32bits(2))), "double": slices.Concat(varint(2, 11), fixed64(10, math.Float64bits(0.1))), "no kind, raw": message(9, []byte{1}), "bytes": slices.Concat(varint(2, kindUint8), message(9, []byte{1, 255})),
		"within a number": slices.Concat(varint(2, kindFloat), message(9, []byte{1, 2, 3})), "elsewhere": varint(14, 1), "here": varint(14, 0), "a group": slices.Concat(group, varint(2, 1)), "half a tag": {0xff}, "half a number": {0x10}, "half a text": {0x4a, 5, 1}, "half of 32": {0x25, 1}, "half of 64": {0x51, 1, 2}, "half of packed": message(7, []byte{0x80}),
		"whole": slices.Concat(varint(2, kindInt64), varint(7, 5), varint(7, math.MaxUint64), message(7, []byte{1, 2})), "32": slices.Concat(varint(2, kindInt32), varint(5, 3)), "named": message(8, "n"),
	} {
		got, err := readTensor(text)
		kept.CheckText(t, "tensor, "+name, fmt.Sprintf("%+v %v", got, err))
	}
	for name, text := range map[string][]byte{
		"float": slices.Concat(message(1, "a"), fixed32(2, math.Float32bits(-1.5))), "floats": slices.Concat(fixed32(7, math.Float32bits(1)), message(7, []byte{0, 0, 0, 0x40})), "int": varint(3, 7), "ints": slices.Concat(varint(8, 1), message(8, []byte{2, 3})), "texts": message(9, "x", 9, "y", 4, "z"), "tensor": message(5, message(8, "t")), "no tensor": message(5, []byte{0xff}), "half": message(7, []byte{1}),
	} {
		called, a, err := readAttribute(text)
		kept.CheckText(t, "attribute, "+name, fmt.Sprintf("%s %s %v %v", called, shown(map[string]*attribute{"": a}), a.tensor, err))
	}
	twice := message(5, message(1, "a"), 5, message(1, "a"))
	if _, err := readNode(twice); err == nil || err.Error() != `the attribute "a" is there twice` {
		t.Error(err)
	}
	n, err := readNode(message(1, "x", 1, "y", 2, "z", 4, "Op", 7, "of", 9, "else"))
	kept.CheckText(t, "node", fmt.Sprintf("%+v %v", n, err))
	shape := func(sizes ...uint64) (b []byte) {
		for _, v := range sizes {
			b = append(b, message(1, varint(1, v))...)
		}
		return b
	}
	for name, text := range map[string][]byte{
		"columns": message(1, "X", 2, message(1, slices.Concat(varint(1, 11), message(2, shape(7, 3))))), "one size": message(2, message(1, message(2, shape(4)))), "none": message(1, "X"), "too many": message(2, message(1, message(2, shape(maxColumns+1)))), "most": message(2, message(1, message(2, shape(maxColumns)))), "zero": message(2, message(1, message(2, shape(3, 0)))), "no tensor": message(2, message(4, "x")), "broken": message(2, message(1, []byte{0xff})),
	} {
		in, err := readInput(text)
		kept.CheckText(t, "input, "+name, fmt.Sprintf("%+v %v", in, err))
	}
	g, err := readModel(message(2, "maker", 3, "1.2", 7, message(5, message(8, "c"), 5, message(8, "d"), 12, message(1, "Y"))))
	kept.CheckText(t, "model", fmt.Sprintf("%s %s %d %v %v", g.maker, g.version, len(g.constants), g.outputs, err))
	for _, bad := range [][]byte{{0xff}, message(7, []byte{0xff}), message(7, message(1, []byte{0xff})), message(7, message(5, []byte{0xff})), message(7, message(11, []byte{0xff})), message(7, message(12, []byte{0xff}))} {
		_, err := Read(bytes.NewReader(bad))
		kept.CheckText(t, fmt.Sprintf("%x", bad), fmt.Sprint(err))
	}
}

// varint2 begins a group with a number in it.
func varint2(group, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(protowire.AppendTag(nil, group, protowire.StartGroupType), field, protowire.VarintType), v)
}
