// Package xgboost reads models of XGBoost 1.6 to 3.x, saved as JSON or UBJSON, into the form that
// package ensemble scores.
//
// It reads the boosters gbtree and dart, with numerical and categorical splits. There may be
// several targets, but each tree must have a single target. Read returns an error that names what
// is not supported: gblinear, trees with several outputs, and unknown objectives.
//
// XGBoost compares and adds in float32. A prediction begins with the base score, converted to a
// margin. The leaves are then added in the order of the trees. For dart, each leaf is first
// multiplied by the weight of its tree. A score adds in the same way, to the last bit. The link
// functions compute exp and log in float64 and round the result to float32, which usually equals
// the result of the C library's float32 functions.
package xgboost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"kir/internal/ensemble"
)

// Read reads an XGBoost model. The error describes the fault in the file, or names what is not
// supported.
func Read(r io.Reader) (*ensemble.Model, error) {
	data, err := ensemble.ReadFile(r)
	if err != nil {
		return nil, err
	}
	if isJSON(data) {
		data = quoteNonFinite(data)
	} else if data, err = toJSON(data); err != nil {
		return nil, err
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("no model of XGBoost: %w", err)
	}
	return f.buildModel()
}

// isJSON reports whether the data are JSON rather than UBJSON. In UBJSON, no quotation mark or
// space follows the first brace.
func isJSON(data []byte) bool {
	rest, brace := bytes.CutPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return !brace || len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')
}

// nonFiniteLiterals are the texts of numbers that XGBoost writes although JSON does not allow them.
// An example is NaN as the condition of a categorical test.
var nonFiniteLiterals = [][]byte{[]byte("NaN"), []byte("Infinity"), []byte("-Infinity")}

// quoteNonFinite returns the JSON in data with quotation marks around each of the
// [nonFiniteLiterals].
func quoteNonFinite(data []byte) []byte {
	out := make([]byte, 0, len(data))
	text := false
	for k := 0; k < len(data); k++ {
		c := data[k]
		if !text && (c == 'N' || c == 'I' || c == '-') {
			for _, s := range nonFiniteLiterals {
				if bytes.HasPrefix(data[k:], s) {
					out = append(append(append(out, '"'), s...), '"')
					k += len(s)
					break
				}
			}
			if k >= len(data) {
				break
			}
			c = data[k]
		}
		out = append(out, c)
		switch {
		case c == '"':
			text = !text
		case c == '\\' && text && k+1 < len(data):
			k++
			out = append(out, data[k])
		}
	}
	return out
}

// A file holds the parts of a model file that this package uses.
type file struct {
	Version []int `json:"version"`
	Learner struct {
		FeatureNames []string `json:"feature_names"`
		Booster      booster  `json:"gradient_booster"`
		Param        struct {
			BaseScore  string `json:"base_score"`
			NumClass   number `json:"num_class"`
			NumFeature number `json:"num_feature"`
			NumTarget  number `json:"num_target"`
		} `json:"learner_model_param"`
		Objective struct {
			Name string `json:"name"`
		} `json:"objective"`
	} `json:"learner"`
}

// A booster holds the trees of a model. In a file, it is the "gradient_booster".
type booster struct {
	Name       string   `json:"name"`
	WeightDrop []real   `json:"weight_drop"` // weight of each tree, if the booster is dart
	GBTree     *booster `json:"gbtree"`      // the inner booster of dart, which holds the trees
	Model      struct {
		TreeInfo []int  `json:"tree_info"`
		Trees    []tree `json:"trees"`
	} `json:"model"`
}

// A tree holds the lists that describe one tree. Most lists have one element for each node.
type tree struct {
	Left       []int  `json:"left_children"`
	Right      []int  `json:"right_children"`
	Features   []int  `json:"split_indices"`
	Conditions []real `json:"split_conditions"`    // threshold of a test, or value of a leaf, for each node
	Missing    []flag `json:"default_left"`        // whether a missing value leads left, for each node
	Types      []flag `json:"split_type"`          // whether the test is categorical, for each node
	Categories []int  `json:"categories"`          // the categories of all categorical tests, one test after another
	CatNodes   []int  `json:"categories_nodes"`    // index of the node of each categorical test
	CatStarts  []int  `json:"categories_segments"` // index in Categories of the first category of each categorical test
	CatSizes   []int  `json:"categories_sizes"`    // number of categories of each categorical test
	Param      struct {
		LeafSize number `json:"size_leaf_vector"`
	} `json:"tree_param"`
}

// A real is a number that a file gives as a float32. A number that is not finite becomes NaN.
type real float32

// UnmarshalJSON decodes a number. A text in quotation marks stands for a number that is not finite,
// and becomes NaN.
func (r *real) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		*r = real(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 32)
	*r = real(v)
	return err
}

// A flag is a boolean that files write as true and false or as 1 and 0.
type flag bool

// UnmarshalJSON decodes a boolean in either form.
func (f *flag) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "1", "true":
		*f = true
	case "0", "false":
		*f = false
	default:
		return fmt.Errorf("%.20s is neither 0 nor 1", text)
	}
	return nil
}

// A number is a whole number of at least 0 that files write as a string.
type number int

// UnmarshalJSON decodes a number from a string or from a bare number.
func (n *number) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 32)
	if err != nil || v < 0 {
		return fmt.Errorf("%.20s is no whole number of at least 0", text)
	}
	*n = number(v)
	return nil
}

// Limits on the numbers of features and targets of a model.
const (
	maxFeatures = 1 << 20 // greatest number of features
	maxTargets  = 1 << 12 // greatest number of targets
)

// buildModel converts the content of the file to a model.
func (f *file) buildModel() (*ensemble.Model, error) {
	l := &f.Learner
	g := &l.Booster
	var weights []real
	switch {
	case g.Name == "gbtree":
	case g.Name == "dart" && g.GBTree != nil:
		weights = g.WeightDrop
		g = g.GBTree
		if len(weights) != len(g.Model.Trees) {
			return nil, fmt.Errorf("there are %d weights of %d trees", len(weights), len(g.Model.Trees))
		}
	case g.Name == "gblinear":
		return nil, errors.New("the booster gblinear has no trees: it is not supported")
	default:
		return nil, fmt.Errorf("no model of XGBoost: its booster is %.40q", g.Name)
	}
	m := &ensemble.Model{Producer: "XGBoost", IsFloat32: true, Inputs: l.FeatureNames}
	for k, v := range f.Version[:min(len(f.Version), 3)] {
		m.Producer += string(" ."[min(k, 1)]) + strconv.Itoa(v)
	}
	features := int(l.Param.NumFeature)
	if features > maxFeatures {
		return nil, fmt.Errorf("there are %d features, and %d is the most", features, maxFeatures)
	}
	if len(m.Inputs) == 0 {
		for k := range features {
			m.Inputs = append(m.Inputs, "f"+strconv.Itoa(k))
		}
	}
	if len(m.Inputs) != features {
		return nil, fmt.Errorf("there are %d features and %d names of them", features, len(m.Inputs))
	}
	for k := range features {
		m.Features = append(m.Features, ensemble.Feature{Input: k})
	}
	targets := max(int(l.Param.NumClass), int(l.Param.NumTarget), 1)
	if targets > maxTargets {
		return nil, fmt.Errorf("there are %d classes, and %d is the most", targets, maxTargets)
	}
	if err := setObjective(m, l.Objective.Name, targets, l.Param.BaseScore); err != nil {
		return nil, err
	}
	m.Terms = make([][]ensemble.Term, targets)
	if len(g.Model.Trees) == 0 {
		return nil, errors.New("the model has no trees")
	}
	if len(g.Model.TreeInfo) != len(g.Model.Trees) {
		return nil, fmt.Errorf("there are %d trees, and the targets of %d", len(g.Model.Trees), len(g.Model.TreeInfo))
	}
	b := ensemble.NewBuilder(m)
	for k := range g.Model.Trees {
		weight := real(1)
		if weights != nil {
			weight = weights[k]
		}
		err := g.Model.Trees[k].addToBuilder(b, weight)
		if err == nil {
			err = b.AddToTargets(g.Model.TreeInfo[k])
		}
		if err != nil {
			return nil, fmt.Errorf("tree %d: %w", k, err)
		}
	}
	return m, nil
}

// addToBuilder adds the tree to the builder. Each leaf value is multiplied by weight, the weight of
// the tree.
func (t *tree) addToBuilder(b *ensemble.Builder, weight real) error {
	n := len(t.Left)
	if t.Param.LeafSize > 1 {
		return fmt.Errorf("its leaves have %d outputs: trees of one output are supported, which multi_strategy one_output_per_tree grows", t.Param.LeafSize)
	}
	if len(t.Right) != n || len(t.Features) != n || len(t.Conditions) != n || len(t.Missing) != n {
		return errors.New("its lists are not of one length")
	}
	of, err := t.nodeCategories()
	if err != nil {
		return err
	}
	return b.AddTree(ensemble.TreeShape{
		Nodes:    n,
		Children: func(k int) (left, right int, leaf bool) { return t.Left[k], t.Right[k], t.Left[k] == -1 },
		Leaf:     func(k int) (int32, error) { return b.AddLeaf(float64(weight * t.Conditions[k])) },
		Test: func(k int, left, right int32) (int32, error) {
			if categories, ok := of[k]; ok {
				missing := right
				if t.Missing[k] {
					missing = left
				}
				return b.AddCategoryTests(t.Features[k], categories, b.PreviousInput(0), right, left, missing)
			}
			missing := 1
			if t.Missing[k] {
				missing = 0
			}
			return b.AddThresholdTests(t.Features[k], []float64{b.PreviousInput(float64(t.Conditions[k]))}, []int32{left, right}, missing)
		},
	})
}

// maxCategory is the largest category that XGBoost allows.
const maxCategory = 1<<24 - 1

// nodeCategories returns a map from the index of a node that tests categories to the categories
// that lead right.
func (t *tree) nodeCategories() (map[int][]int, error) {
	if len(t.CatStarts) != len(t.CatNodes) || len(t.CatSizes) != len(t.CatNodes) {
		return nil, errors.New("its lists of categories are not of one length")
	}
	of := make(map[int][]int, len(t.CatNodes))
	rest := len(t.Categories) // nodes do not share categories, so the file's size bounds the work
	for k, node := range t.CatNodes {
		from, size := t.CatStarts[k], t.CatSizes[k]
		if rest -= size; rest < 0 {
			return nil, fmt.Errorf("its nodes have more categories than the %d that there are", len(t.Categories))
		}
		if from < 0 || size < 0 || from > len(t.Categories) || size > len(t.Categories)-from {
			return nil, fmt.Errorf("node %d has the categories %d and %d on, of %d", node, from, size, len(t.Categories))
		}
		if _, twice := of[node]; twice || node < 0 || node >= len(t.Left) || len(t.Types) != len(t.Left) || !bool(t.Types[node]) {
			return nil, fmt.Errorf("node %d has categories, and is not one node that tests some", node)
		}
		of[node] = t.Categories[from : from+size]
		for q, c := range of[node] {
			if c < 0 || c > maxCategory || q > 0 && c <= of[node][q-1] {
				return nil, fmt.Errorf("node %d: the category %d is out of order or range", node, c)
			}
		}
	}
	for node, categorical := range t.Types {
		if _, ok := of[node]; bool(categorical) && !ok && node < len(t.Left) && t.Left[node] != -1 {
			return nil, fmt.Errorf("node %d tests categories, and has none", node)
		}
	}
	return of, nil
}
