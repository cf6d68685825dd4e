package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/model"
)

// root is the directory of the project.
const root = "../.."

// No row of a split is learnt from and predicted, and each book is split alike again.
func TestSplits(t *testing.T) {
	for _, rows := range []int{47, 139, mostHalved, mostHalved + 1, 2120} {
		splits := splitsOf(rows, 1)
		again := splitsOf(rows, 1)
		for k, s := range splits {
			all := slices.Concat(s.Train, s.Test)
			if slices.Sort(all); all[0] < 0 || all[len(all)-1] >= rows || len(slices.Compact(slices.Clone(all))) != len(all) {
				t.Errorf("%d rows, split %d: rows are out of range or twice in it", rows, k)
			}
			if rows <= mostHalved && len(all) != rows || rows > mostHalved && len(s.Train) != fewLearnt {
				t.Errorf("%d rows, split %d learns from %d and predicts %d", rows, k, len(s.Train), len(s.Test))
			}
			if !slices.Equal(s.Train, again[k].Train) || !slices.Equal(s.Test, again[k].Test) {
				t.Errorf("%d rows, split %d is another one the second time", rows, k)
			}
		}
	}
}

// Each row is predicted once a round, from all rows of other folds.
func TestFolds(t *testing.T) {
	splits := foldsOf(23, 5, 2, 1)
	if len(splits) != 10 {
		t.Fatalf("%d splits", len(splits))
	}
	for round := range 2 {
		var tested []int
		for _, s := range splits[5*round : 5*round+5] {
			tested = append(tested, s.Test...)
			if all := slices.Concat(s.Train, s.Test); len(all) != 23 || slices.ContainsFunc(s.Train, func(r int) bool { return slices.Contains(s.Test, r) }) {
				t.Errorf("%+v", s)
			}
		}
		slices.Sort(tested)
		if tested = slices.Compact(tested); len(tested) != 23 || tested[0] != 0 || tested[22] != 22 {
			t.Errorf("round %d predicts %v", round, tested)
		}
	}
	k := &known{name: "liking", data: &model.Data{Rows: make([][]model.Part, 200), Numbers: make([]float64, 200)}}
	c := comparison{folds: 5, rounds: 1, sizes: []int{60, 150, 400, 800}, seed: 1}
	books, dealt := c.parts(k)
	var names []string
	for n, b := range books {
		names = append(names, b.name)
		if len(dealt[n]) != 5 {
			t.Errorf("%s has %d splits", b.name, len(dealt[n]))
		}
	}
	if want := []string{"liking, 60", "liking, 150", "liking, 200"}; !slices.Equal(names, want) || len(k.data.Rows) != 200 || k.name != "liking" {
		t.Errorf("%q, want %q", names, want)
	}
}

// The folds of a round make one measure.
func TestFoldsArePooled(t *testing.T) {
	r := newResult(&known{name: "a", data: &model.Data{}}, "a", 1, 2)
	r.add("m", 0, []forecast{{Error: 3}}, []float64{10})
	r.add("m", 1, []forecast{{Error: 4}}, []float64{20})
	r.add("m", 2, []forecast{{Error: 1}}, []float64{10})
	r.add("m", 3, []forecast{{Error: 1}}, []float64{20})
	if of := r.of["m"]; len(of) != 2 || of[0].rmse != math.Sqrt(12.5) || of[1].rmse != 1 {
		t.Errorf("%+v", of)
	}
}

// A model is compared with the best of scikit-learn on each book, and the parts of a book count as
// one in the mean over the books.
func TestOverBest(t *testing.T) {
	r := func(name, source string, learn, gp, trees float64) *result {
		return &result{book: name, source: source, of: map[string][]measure{today: {{rmse: 1}}, "learn": {{rmse: learn}}, "sklearn GP": {{rmse: gp}}, "sklearn ExtraTrees": {{rmse: trees}}}}
	}
	all := results{books: []*result{r("a, 60", "a", 0.8, 1, 2), r("a, 150", "a", 1.2, 2, 1), r("b", "b", 1.5, 1, 1)}}
	c := columns()[1]
	if got := all.bySource(&c, "learn"); len(got) != 2 || math.Abs(got[0]) > 1e-9 || math.Abs(got[1]-50) > 1e-9 {
		t.Errorf("%v above the best", got)
	}
}

// A mean of predictions has the mean of their errors, and no law.
func TestAddForecasts(t *testing.T) {
	sum := addForecasts(addForecasts(nil, []forecast{{Error: 2, Loss: 1}}, 0.5), []forecast{{Error: -1, Loss: 1}}, 0.5)
	if sum[0].Error != 0.5 || !math.IsNaN(sum[0].Loss) {
		t.Errorf("%+v", sum)
	}
	r := newResult(&known{name: "a", data: &model.Data{}}, "a", 1, 1)
	r.add(sklearnMean, 0, sum, []float64{1})
	if _, ok := r.mean(sklearnMean, func(m measure) float64 { return m.loss }); ok {
		t.Error("a mean without a law has a loss")
	}
}

func TestMeasured(t *testing.T) {
	m := measured([]forecast{{Error: 3, Loss: 1, Held: true}, {Error: -4, Loss: 2}}, []float64{10, 20})
	// The highest is predicted 4 too low and the lowest 3 too high. The standard deviation is 5.
	if want := (measure{rmse: math.Sqrt(12.5), loss: 1.5, r2: 1 - 25.0/50, held: 0.5, optimism: -7.0 / 2 / 5}); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
	r := result{of: map[string][]measure{today: {{loss: 2}, {loss: 4}}, "better": {{loss: 1}, {loss: 2}}}}
	if v, ok := r.percentAbove("better", today, func(m measure) float64 { return m.loss }); !ok || math.Abs(v.mean+50) > 1e-9 || v.se != 0 {
		t.Errorf("half the loss is %+v", v)
	}
	if _, ok := r.percentAbove("none", today, func(m measure) float64 { return m.loss }); ok {
		t.Error("a model without results has a ratio")
	}
}

// The books of the examples are there without the others.
func TestCompareExamples(t *testing.T) {
	c := comparison{root: root, books: []string{"liking", "taste", "warming"}, models: []string{"forest"}, splits: 1, seed: 1}
	r, err := c.compare(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.books) != 2 || r.books[0].book != "liking" || r.books[0].rows != 200 || r.books[1].rows != 69 {
		t.Fatalf("%+v", r.books)
	}
	if rmse, _ := r.books[0].percentAbove("forest", today, func(m measure) float64 { return m.rmse }); rmse.mean > -5 {
		t.Errorf("random splits bring %v %% of the error of liking", rmse.mean)
	}
	text := r.tables() + r.summary()
	for _, want := range []string{"| liking | 200, 100 |", "| taste | 69, 34 |", "| forest |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q:\n%s", want, text)
		}
	}
	if _, err := (&comparison{root: root, books: []string{"none"}}).compare(context.Background()); err == nil {
		t.Error("a book that is not there is compared")
	}
}

// TestBooks reads all books, whose directory the environment names.
func TestBooks(t *testing.T) {
	directory := os.Getenv(directoryVariable)
	if directory == "" {
		t.Skipf("%s is not set", directoryVariable)
	}
	rows := map[string]int{"plate 3851": 2119, "plate 3860": 2120, "films": 1040, "turbidity": 302, "strength": 150, "warming": 174, "perovskite": 139, "electrolytes": 147, "hardness": 386, "yield": 682, "elongation": 469, "liking": 200, "haze": 200, "fragrance": 500, "taste": 69, "timing": 69, "stability": 822, "rheology": 298}
	for _, s := range sources() {
		k, err := s.read(t.Context(), directory, root)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if k == nil || len(k.data.Rows) != rows[s.name] || s.classes != (k.data.Classes != nil) {
			t.Errorf("%s: %d rows expected, of %v", s.name, rows[s.name], k)
		}
	}
}

func TestSklearn(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := sklearnReady(t.Context(), python); err != nil {
		t.Skip(err)
	}
	c := comparison{root: root, books: []string{"liking", "taste"}, models: []string{"sklearn forest"}, splits: 1, seed: 1, python: python}
	r, err := c.compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, book := range r.books {
		if len(book.of["sklearn forest"]) != 1 || !(book.of["sklearn forest"][0].loss > 0) {
			t.Errorf("%s: %+v", book.book, book.of)
		}
	}
	if err := sklearnReady(t.Context(), "no-such-python"); err == nil {
		t.Error("a Python that is not there is ready")
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("a\n"+from+"old\n"+to+"b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := write(path, "new\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "a\n"+from+"new\n"+to+"b\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.WriteFile(path, []byte("no marks"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := write(path, "new\n"); err == nil {
		t.Error("a document without marks is written")
	}
}
