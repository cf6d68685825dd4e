package lightgbm

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"kir/internal/ensemble"
	"kir/internal/testonly/golden"
)

// rows reads numbers, those of a line apart by white space; of index:value pairs into
// their columns.
func rows(t *testing.T, path string, skip, columns int) (all [][]float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		row := make([]float64, columns)
		for k, text := range strings.Fields(s.Text())[skip:] {
			if at, value, ok := strings.Cut(text, ":"); ok {
				if k, err = strconv.Atoi(at); err != nil {
					t.Fatal(err)
				}
				text = value
			}
			if row[k], err = strconv.ParseFloat(text, 64); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, row)
	}
	return all
}

func load(t *testing.T, path string) *ensemble.Model {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRecorded compares models that LightGBM made with what it recorded of them.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		model, rows, predictions string
		skip, columns            int
	}{
		{"lg_dart_breast_cancer.model", "breast_cancer_test.tsv", "lg_dart_breast_cancer_true_predictions.txt", 0, 30},
		{"lg_rf_iris.model", "iris_test.libsvm", "lg_rf_iris_true_predictions.txt", 1, 4},
	} {
		m := load(t, "testdata/"+c.model)
		want := rows(t, "testdata/"+c.predictions, 0, 1)
		for k, row := range rows(t, "testdata/"+c.rows, c.skip, c.columns) {
			got := m.Outputs[0].Compute(m.Sums(row), 1)
			if math.Abs(got-want[k][0]) > 1e-15*math.Abs(got) /* exp is rounded otherwise */ {
				t.Errorf("%s, row %d: %v, and LightGBM says %v", c.model, k, got, want[k][0])
			}
		}
	}
}

// TestDecisions holds the decisions of a small model to what LightGBM documents: what
// is missing where, and which categories go left.
func TestDecisions(t *testing.T) {
	read := func(text string) *ensemble.Model {
		m, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := read(small)
	nan := math.NaN()
	for _, c := range []struct{ a, b, c, leaf float64 }{
		{0.5, -0.25, 0, 0.1}, {0.5, -0.2, 0, -0.2}, {0.5, nan, 0, -0.2}, {nan, -1, 0, 0.1}, // NaN is 0 where it is not missing
		{0.6, 1, 1, 0.3}, {0.6, 1, 2.9, 0.3}, {0.6, 1, 32, 0.3},
		{0.6, 1, 0, 0.5}, {0.6, 1, 3, 0.5}, {0.6, 1, 33, 0.5}, {0.6, 1, 64, 0.5}, {0.6, 1, -1, 0.5}, {0.6, 1, nan, 0.5},
		{0.6, 0, 0, -0.4}, {0.6, 1e-36, 0, -0.4}, {0.6, nan, 0, -0.4}, {0.6, 1e-34, 0, 0.5}, {0.6, -1, 0, -0.4}, // 0 is missing
	} {
		if got := m.Sums([]float64{c.a, c.b, c.c})[0]; got != c.leaf+0.25 {
			t.Errorf("at %v, %v and %v the sum is %v, and should be %v", c.a, c.b, c.c, got, c.leaf+0.25)
		}
	}
	zero := read(strings.Replace(small, "cat_threshold=6 1", "cat_threshold=1 1", 1))
	if got := zero.Sums([]float64{0.6, 1, -0.5})[0]; got != 0.3+0.25 {
		t.Errorf("−0.5 is category 0: the sum is %v", got)
	}
	for _, c := range [][3]string{
		{"is_linear=0", "is_linear=1", "linear trees"}, {"binary sigmoid:1", "no_such", "no_such"}, {"tree_sizes=400 100", "tree_sizes=1", "of 1"},
		{"left_child=1 -1 -3 -4", "left_child=1 -1 0 -4", "twice"}, {"end of trees", "end", "ends before"}, {"split_feature=0", "split_feature=7", "feature 7"},
		{"decision_type=2 8 1 6", "decision_type=2 8 1 1", "another node"},
		{"num_cat=1", "num_cat=x", "num_cat"}, {"num_cat=1", "num_cat=9", "num_cat"},
		{"num_cat=1", "num_cat=2", "cat_boundaries"}, {"cat_boundaries=0 2", "cat_boundaries=1 2", "from 1 to 2, of 2"}, {"cat_boundaries=0 2", "cat_boundaries=0 1", "from 0 to 1, of 2"},
	} {
		if _, err := Read(strings.NewReader(strings.Replace(small, c[0], c[1], 1))); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%q for %q: the error is %v, and should say %q", c[1], c[0], err, c[2])
		}
	}
	for _, bounds := range []string{"0 3 2", "0 -1 2"} {
		text := strings.NewReplacer("num_cat=1", "num_cat=2", "cat_boundaries=0 2", "cat_boundaries="+bounds).Replace(small)
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "ascend") {
			t.Errorf("cat_boundaries=%s: the error is %v", bounds, err)
		}
	}
}

// TestObjectives keeps what is told by models of every objective, of one sum and of
// two, of sums and of means.
func TestObjectives(t *testing.T) {
	kept := golden.Open(t)
	for _, objective := range []string{"", "custom", "regression", "regression sqrt", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "poisson", "gamma", "tweedie", "binary sigmoid:1", "binary sigmoid:2.5",
		"binary sigmoid:0", "binary sigmoid:x", "cross_entropy", "xentropy", "cross_entropy_lambda", "xentlambda", "multiclass num_class:2", "softmax num_class:2", "multiclassova num_class:2 sigmoid:2", "other"} {
		for _, c := range [][2]string{{"num_tree_per_iteration=1", "v3"}, {"num_tree_per_iteration=2", "v4"}, {"num_tree_per_iteration=1\naverage_output", "v4"}, {"num_tree_per_iteration=2\naverage_output", "v3"}, {"num_tree_per_iteration=2\naverage_output", "v2"}} {
			text := strings.NewReplacer("num_tree_per_iteration=1", c[0], "version=v4", "version="+c[1], "objective=binary sigmoid:1", "objective="+objective).Replace(small)
			of := objective + ", " + strings.ReplaceAll(c[0], "\n", " ") + ", " + c[1]
			m, err := Read(strings.NewReader(text))
			if err != nil {
				kept.CheckText(t, of, err.Error())
				continue
			}
			said := m.Producer
			for _, x := range [][]float64{{0.5, -0.25, 0}, {0.5, -0.2, 0}, {0.6, 1, 1}} {
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

// TestRefused keeps what is said of files that are wrong.
func TestRefused(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range [][2]string{
		{"tree\n", "tre\n"}, {"version=v4", "version=v1"}, {"version=v4", "version=v4\nversion=v4"}, {"max_feature_idx=2", "max_feature_idx=3"}, {"max_feature_idx=2", "max_feature_idx=-1"}, {"max_feature_idx=2", "max_feature_idx=x"},
		{"num_class=1", "num_class=0"}, {"num_tree_per_iteration=1", "num_tree_per_iteration=0"}, {"num_tree_per_iteration=1", "num_tree_per_iteration=3"}, {"Tree=1", "Tree=2"}, {"num_leaves=5", "num_leaves=0"}, {"num_leaves=5", "num_leaves=4"}, {"num_leaves=5", "num_leaves=x"},
		{"leaf_value=0.1 -0.2", "leaf_value=nan -0.2"}, {"leaf_value=0.1 -0.2", "leaf_value=inf -0.2"}, {"leaf_value=0.1 -0.2", "leaf_value=-0.2"}, {"leaf_value=0.1 -0.2", "leaf_value=a -0.2"}, {"threshold=0.5", "threshold=nan"}, {"threshold=0.5", "threshold=inf"},
		{"decision_type=2", "decision_type=-1"}, {"decision_type=2", "decision_type=12"}, {"decision_type=2", "decision_type=16"}, {"split_feature=0 1", "split_feature=0"}, {"split_feature=0 1", "split_feature=-1 1"}, {"right_child=2", "right_child=9"}, {"right_child=2", "right_child=-9"},
		{"cat_threshold=6 1", "cat_threshold=6"}, {"cat_threshold=6 1", "cat_threshold=6 4294967296"}, {"threshold=0.5 -0.25 0 0", "threshold=0.5 -0.25 1 0"}, {"threshold=0.5 -0.25 0 0", "threshold=0.5 -0.25 0.5 0"},
	} {
		if !strings.Contains(small, c[0]) {
			t.Fatalf("%q is not in the model", c[0])
		}
		m, err := Read(strings.NewReader(strings.Replace(small, c[0], c[1], 1)))
		said := fmt.Sprint(err)
		if err == nil {
			said = fmt.Sprintf("%.9g", m.Sums([]float64{0.6, 1, 1}))
		}
		kept.CheckText(t, c[0]+" is "+c[1], said)
	}
}
