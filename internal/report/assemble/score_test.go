package assemble

import (
	"os"
	"path/filepath"
	"testing"

	"kir/internal/compile"
	"kir/internal/ensemble/xgboost"
)

// TestModelTellsItsValue holds what a scorecard says of a model's number to the model,
// asked about the same recipe at each value of a constant.
func TestModelTellsItsValue(t *testing.T) {
	model, err := os.ReadFile("../../ensemble/testdata/xgb-squared-100.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "problem.yaml")
	for name, text := range map[string]string{
		"rating.json": string(model),
		"r.csv":       "recipe,f3,f4,f5,f19\na,30,70,0,0.1\nb,0,10,90,0.9\n",
		"problem.yaml": `recipes: r.csv
ingredients: [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18]
total: 100
properties:
  rating: {model: {file: rating.json, minimize: {from: 1, to: -1}, constants: {f19: [0.1, 0.9]}}}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := compile.Load(t.Context(), path, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	card, err := Scorecard(p, p.Book)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "rating.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := xgboost.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	for k, shares := range []map[int]float64{{3: 0.3, 4: 0.7}, {4: 0.1, 5: 0.9}} {
		inputs := make([]float64, len(m.Inputs))
		for i, v := range shares {
			inputs[i] = v
		}
		inputs[19] = []float64{0.1, 0.9}[k]
		want := m.Sums(inputs)[0]
		if q := card.Recipes[k].Predicted["rating"]; float64(q.Value) != want || q.Low.IsKnown() {
			t.Errorf("recipe %d: %v, and the model says %v", k, q.Value, want)
		}
	}
}
