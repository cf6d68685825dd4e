package lightgbm

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"kir/forest/ensemble"
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
			got := m.Outputs[0].Of(m.Sums(row), 1)
			if math.Abs(got-want[k][0]) > 1e-15*math.Abs(got) /* exp is rounded otherwise */ {
				t.Errorf("%s, row %d: %v, and LightGBM says %v", c.model, k, got, want[k][0])
			}
		}
	}
}
