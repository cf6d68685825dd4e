package xgboost

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
)

// small is a model of one test of categories and one of a number.
const small = `{"version":[2,1,0],"learner":{"feature_names":["a","b"],"gradient_booster":{"name":"gbtree","model":{"tree_info":[0],"trees":[` +
	`{"left_children":[1,-1,3,-1,-1],"right_children":[2,-1,4,-1,-1],"split_indices":[0,0,1,0,0],"split_conditions":[NaN,1,0.5,2,-3],` +
	`"default_left":[0,0,true,0,0],"split_type":[1,0,0,0,0],"categories":[1,3],"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[2],` +
	`"tree_param":{"size_leaf_vector":"1"}}]}},"learner_model_param":{"base_score":"[5E-1]","num_class":"0","num_feature":"2","num_target":"1"},"objective":{"name":"binary:logistic"}}}`

// TestDecisions holds the decisions of a small model to what XGBoost documents.
func TestDecisions(t *testing.T) {
	m, err := Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if m.Producer != "XGBoost 2.1.0" {
		t.Errorf("it is made by %s", m.Producer)
	}
	nan := math.NaN()
	for _, c := range []struct{ a, b, leaf float64 }{
		{0, 0, 1}, {2, 0, 1}, {4, 0, 1}, {-1, 0, 1}, {1 << 25, 0, 1}, // not among them: left
		{1, 0.25, 2}, {1.5, 0.25, 2}, {3, 0.5, -3}, {3, math.Nextafter(0.5, 0), -3}, // which is 0.5 in float32
		{3, nan, 2}, {nan, 1, -3},
	} {
		if got := m.Sums([]float64{c.a, c.b})[0]; got != c.leaf {
			t.Errorf("at %v and %v the sum is %v, and should be %v", c.a, c.b, got, c.leaf)
		}
	}
	sums := m.Sums([]float64{0, 0})
	if p := m.Outputs[0].Compute(sums, 1) + m.Outputs[0].Compute(sums, 0); p != 1 || m.Outputs[1].Compute(sums, 0) != 1 {
		t.Errorf("the probabilities sum to %v", p)
	}
}

// TestRefused checks that what is wrong, or not supported, is named.
func TestRefused(t *testing.T) {
	for _, c := range [][3]string{
		{`"gbtree"`, `"gblinear"`, "gblinear"}, {`"gbtree"`, `"other"`, `"other"`}, {`"size_leaf_vector":"1"`, `"size_leaf_vector":"3"`, "3 outputs"},
		{"binary:logistic", "my:own", "my:own"}, {"[5E-1]", "2", "base score"}, {"[5E-1]", "[1,2]", "2 base scores"}, {`"num_feature":"2"`, `"num_feature":"3"`, "3 features"},
		{`"tree_info":[0]`, `"tree_info":[1]`, "target 1"}, {`"tree_info":[0]`, `"tree_info":[]`, "targets of 0"}, {`[2,-1,4,-1,-1]`, `[2,-1,9,-1,-1]`, "child 9"},
		{`[2,-1,4,-1,-1]`, `[2,-1,0,-1,-1]`, "twice"}, {`[2,-1,4,-1,-1]`, `[2]`, "one length"}, {`"split_indices":[0,0,1`, `"split_indices":[0,0,7`, "feature 7"},
		{`[NaN,1,0.5`, `[NaN,NaN,0.5`, "leaf"}, {`[NaN,1,0.5`, `[NaN,1,NaN`, "not a number"}, {`"categories":[1,3]`, `"categories":[3,1]`, "category 1"},
		{`"categories_sizes":[2]`, `"categories_sizes":[9]`, "categories"}, {`"split_type":[1`, `"split_type":[0`, "categories"}, {`[NaN,1`, `[1e60,1`, "range"},
		{`"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[2]`, `"categories_nodes":[0,2],"categories_segments":[0,0],"categories_sizes":[2,2]`, "more categories"},
		{`}}}`, ``, "unexpected end"},
	} {
		if _, err := Read(strings.NewReader(strings.Replace(small, c[0], c[1], 1))); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s for %s: the error is %v, and should say %q", c[1], c[0], err, c[2])
		}
	}
}

// TestObjectives keeps what is told by models of every objective, with a base score for
// all targets and with one for each.
func TestObjectives(t *testing.T) {
	kept := golden.Open(t)
	trees := small[strings.Index(small, `"trees":[`)+len(`"trees":[`) : strings.Index(small, `]}},"learner_model_param"`)]
	for objective := range linkByObjective {
		for _, base := range []string{"[5E-1]", "0.25", "[2,3]", "[-1]", "x"} {
			for _, targets := range []int{1, 2, 3} {
				text := strings.NewReplacer("binary:logistic", objective, "[5E-1]", base, `"tree_info":[0]`, `"tree_info":`+[]string{"[0]", "[0,1]", "[2,1,0]"}[targets-1],
					trees, strings.Join(slices.Repeat([]string{trees}, targets), ","), `"num_target":"1"`, fmt.Sprintf(`"num_target":"%d"`, targets)).Replace(small)
				if strings.HasPrefix(objective, "multi") {
					text = strings.NewReplacer(`"num_class":"0"`, fmt.Sprintf(`"num_class":"%d"`, targets), fmt.Sprintf(`"num_target":"%d"`, targets), `"num_target":"1"`).Replace(text)
				}
				of := fmt.Sprintf("%s, %s, %d targets", objective, base, targets)
				m, err := Read(strings.NewReader(text))
				if err != nil {
					kept.CheckText(t, of, err.Error())
					continue
				}
				said := m.Producer
				for _, x := range [][]float64{{0, 0}, {1, 0.25}, {3, 0.5}} {
					sums := m.Sums(x)
					said += fmt.Sprintf("\n%v: %.9g", x, sums)
					for _, o := range m.Outputs {
						said += "; " + o.Name
						for k := range max(len(o.Classes), 1) {
							said += fmt.Sprintf(" %.9g", o.Compute(sums, k))
						}
					}
				}
				kept.CheckText(t, of, said)
			}
		}
	}
}

// TestUBJSON writes values of all kinds in UBJSON, and reads them as JSON.
func TestUBJSON(t *testing.T) {
	be := func(b []byte, v any) []byte {
		b, err := binary.Append(b, binary.BigEndian, v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct{ data, want string }{
		{"i\x7f", "127"}, {"i\xff", "-1"}, {"U\xff", "255"}, {string(be([]byte("I"), int16(-300))), "-300"}, {string(be([]byte("l"), int32(70000))), "70000"}, {string(be([]byte("L"), int64(-1<<40))), "-1099511627776"},
		{string(be([]byte("d"), float32(0.1))), "0.1"}, {string(be([]byte("D"), 0.1)), "0.1"}, {string(be([]byte("d"), float32(math.Inf(1)))), `"NaN"`}, {string(be([]byte("D"), math.NaN())), `"NaN"`},
		{"Z", "null"}, {"T", "true"}, {"F", "false"}, {"CA", `"65"`}, {"Si\x02a\"", `"a\""`}, {"SU\x00", `""`}, {"[]", "[]"}, {"{}", "{}"}, {"[i\x01Zi\x02]", "[1,null,2]"}, {"[#i\x02i\x05U\x06", "[5,6]"}, {"[#i\x00", "[]"},
		{"[$U#i\x03\x01\x02\xff", "[1,2,255]"}, {"[$i#U\x01\x80", "[-128]"}, {"[$d#i\x01" + string(be(nil, float32(1.5))), "[1.5]"}, {"[$L#i\x00", "[]"}, {"{i\x01ai\x02i\x01b[T]}", `{"a":2,"b":[true]}`}, {"{i\x01a{i\x01bF}}", `{"a":{"b":false}}`},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 65) + strings.Repeat("]", 65)},
	} {
		got, err := toJSON([]byte(c.data))
		if err != nil || string(got) != c.want {
			t.Errorf("%q is %s, %v, want %s", c.data, got, err, c.want)
		}
		for n := range c.data {
			if _, err := toJSON([]byte(c.data[:n])); err == nil || !strings.Contains(err.Error(), errTruncated.Error()) {
				t.Errorf("%q: %v", c.data[:n], err)
			}
		}
	}
	for data, says := range map[string]string{
		"x": "'x' is no whole number", "Sd\x00": "'d' is no whole number", "Si\xff": "ends too early", "Si\x03ab": "ends too early", "[$S#i\x01": "an array of 'S' is not one of numbers", "[$ii\x01": "an array of one kind has no count",
		"[#i\x09U": "ends too early", "{ia": "ends too early", strings.Repeat("[", 66): "nested deeper than 64", "{D": "'D' is no whole number",
	} {
		if _, err := toJSON([]byte(data)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", data, err, says)
		}
	}
}

// TestReadUBJSON: a model in UBJSON is the one that it is in JSON.
func TestReadUBJSON(t *testing.T) {
	var tree any
	if err := json.Unmarshal([]byte(strings.Replace(small, "NaN", "0", 1)), &tree); err != nil {
		t.Fatal(err)
	}
	var write func(b []byte, v any) []byte
	text := func(b []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint16(append(b, 'I'), uint16(len(s))), s...)
	}
	write = func(b []byte, v any) []byte {
		switch v := v.(type) {
		case map[string]any:
			b = append(b, '{')
			for _, k := range slices.Sorted(maps.Keys(v)) {
				b = write(text(b, k), v[k])
			}
			return append(b, '}')
		case []any:
			b = append(b, '[')
			for _, v := range v {
				b = write(b, v)
			}
			return append(b, ']')
		case string:
			return text(append(b, 'S'), v)
		case bool:
			return append(b, map[bool]byte{true: 'T', false: 'F'}[v])
		}
		return binary.BigEndian.AppendUint64(append(b, 'D'), math.Float64bits(v.(float64)))
	}
	want, err := Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(write(nil, tree)))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{{0, 0}, {1, 0.25}, {3, 0.5}} {
		if !slices.Equal(got.Sums(x), want.Sums(x)) || got.Producer != want.Producer {
			t.Errorf("at %v it gives %v, want %v", x, got.Sums(x), want.Sums(x))
		}
	}
}

// TestRefusedAgain keeps what is said of models with one thing changed.
func TestRefusedAgain(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range [][2]string{
		{`"categories_nodes":[0]`, `"categories_nodes":[2]`}, {`"categories_nodes":[0]`, `"categories_nodes":[-1]`}, {`"categories_nodes":[0]`, `"categories_nodes":[5]`}, {`"categories_nodes":[0]`, `"categories_nodes":[]`}, {`"split_type":[1,0,0,0,0]`, `"split_type":[1]`},
		{`"split_type":[1,0,0,0,0]`, `"split_type":[0,0,0,0,0]`}, {`"split_type":[1,0,0,0,0]`, `"split_type":[1,0,1,0,0]`}, {`"split_type":[1,0,0,0,0]`, `"split_type":[1,1,0,0,0]`}, {`"split_type":[1,0,0,0,0]`, `"split_type":[2,0,0,0,0]`},
		{`"categories_segments":[0],"categories_sizes":[2]`, `"categories_segments":[1],"categories_sizes":[2]`}, {`"categories_segments":[0],"categories_sizes":[2]`, `"categories_segments":[2],"categories_sizes":[0]`}, {`"categories_segments":[0],"categories_sizes":[2]`, `"categories_segments":[3],"categories_sizes":[0]`},
		{`"categories_segments":[0],"categories_sizes":[2]`, `"categories_segments":[-1],"categories_sizes":[1]`}, {`"categories_segments":[0],"categories_sizes":[2]`, `"categories_segments":[0],"categories_sizes":[-1]`}, {`"categories_segments":[0]`, `"categories_segments":[]`}, {`"categories_sizes":[2]`, `"categories_sizes":[]`},
		{`"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[2]`, `"categories_nodes":[0,0],"categories_segments":[0,1],"categories_sizes":[1,1]`}, {`"categories":[1,3]`, `"categories":[1,1]`}, {`"categories":[1,3]`, `"categories":[-1,3]`}, {`"categories":[1,3]`, `"categories":[1,16777215]`}, {`"categories":[1,3]`, `"categories":[1,16777216]`},
		{`"default_left":[0,0,true,0,0]`, `"default_left":[1,0,false,0,0]`}, {`"default_left":[0,0,true,0,0]`, `"default_left":[0,0,3,0,0]`}, {`"default_left":[0,0,true,0,0]`, `"default_left":[0]`}, {`"tree_info":[0]`, `"tree_info":[-1]`}, {`"version":[2,1,0]`, `"version":[]`}, {`"version":[2,1,0]`, `"version":[0,9,0]`}, {`"version":[2,1,0]`, `"version":[1,6,0]`},
		{`"num_feature":"2"`, `"num_feature":"x"`}, {`"num_feature":"2"`, `"num_feature":"-2"`}, {`"num_feature":"2"`, `"num_feature":"0"`}, {`"num_feature":"2"`, `"num_feature":"99999999"`}, {`"feature_names":["a","b"]`, `"feature_names":[]`}, {`"feature_names":["a","b"]`, `"feature_names":["a"]`}, {`"num_class":"0"`, `"num_class":"99999999"`}, {`"num_class":"0"`, `"num_class":"-1"`},
		{`"num_target":"1"`, `"num_target":"0"`}, {`"num_target":"1"`, `"num_target":"99999999"`}, {`"size_leaf_vector":"1"`, `"size_leaf_vector":"0"`}, {`"size_leaf_vector":"1"`, `"size_leaf_vector":"2"`}, {`[1,-1,3,-1,-1]`, `[1,-1,3,-1]`}, {`[1,-1,3,-1,-1]`, `[1,-1,-3,-1,-1]`}, {`[0,0,1,0,0]`, `[0,0,-1,0,0]`}, {`"name":"gbtree","model"`, `"name":"dart","model"`},
		{`"gradient_booster":{"name":"gbtree","model":`, `"gradient_booster":{"name":"dart","weight_drop":[0.5],"gbtree":{"model":`}, {`"gradient_booster":{"name":"gbtree","model":`, `"gradient_booster":{"name":"dart","weight_drop":[],"gbtree":{"model":`},
	} {
		if !strings.Contains(small, c[0]) {
			t.Fatalf("%s is not in the model", c[0])
		}
		text := strings.Replace(small, c[0], c[1], 1)
		if strings.Contains(c[1], "weight_drop") {
			text = strings.Replace(text, `}]}},"learner_model_param"`, `}]}}},"learner_model_param"`, 1)
		}
		m, err := Read(strings.NewReader(text))
		said := fmt.Sprint(err)
		if err == nil {
			said = fmt.Sprint(m.Producer, m.Inputs)
			for _, x := range [][]float64{{0, 0}, {1, 0.25}, {3, 0.5}, {math.NaN(), math.NaN()}, {1, math.NaN()}} {
				said += fmt.Sprintf(" %.9g", m.Sums(x[:min(len(x), len(m.Inputs))]))
			}
		}
		kept.CheckText(t, c[0]+" is "+c[1], said)
	}
}
