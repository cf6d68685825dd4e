package paper

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/dataset"
)

// TestAdd: products fall into their bins of 0.04, those at a bound into the one above,
// and 1 into the last.
func TestAdd(t *testing.T) {
	var s cocktailSequence
	var want [cocktailBins]int64
	sum := 0.0
	for _, c := range []struct {
		product float64
		bin     int
	}{{0, 0}, {0.0399, 0}, {0.04, 1}, {0.5 * 0.6, 7}, {0.56, 14}, {0.9199, 22}, {0.92, 23}, {0.9599, 23}, {0.96, 24}, {0.98, 24}, {1, 24}} {
		s.add(math.Log(c.product))
		want[c.bin]++
		sum += c.product
	}
	if s.binCounts != want || math.Abs(s.productSum-sum) > 1e-12 {
		t.Errorf("the bins are %v with the sum %v, not %v with %v", s.binCounts, s.productSum, want, sum)
	}
	p := productDistribution([]cocktailSequence{{productSum: 3, binCounts: [cocktailBins]int64{4: 2, 24: 8}}, {productSum: 5, binCounts: [cocktailBins]int64{4: 4, 24: 6}}}, 10)
	if p.Compositions != 10 || math.Abs(p.Mean-0.4) > 1e-12 || math.Abs(p.SD-math.Sqrt(0.02)) > 1e-12 || len(p.Bins) != cocktailBins || p.Bins[4].Low != 0.16 || p.Bins[4].High != 0.2 ||
		math.Abs(p.Bins[4].Mean-0.3) > 1e-12 || math.Abs(p.Bins[4].SD-math.Sqrt(0.02)) > 1e-12 || math.Abs(p.Bins[24].Mean-0.7) > 1e-12 || p.Bins[5].Mean != 0 {
		t.Errorf("two sequences sum up to %+v", p)
	}
}

// TestSavedFor: who may read the user's files may read a report, and what fails leaves
// nothing behind.
func TestSavedFor(t *testing.T) {
	r := &Report{Sequences: sequenceCount}
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	if err := r.save(dir, nil); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(parent, "plain") // as the umask of whoever runs the tests has it
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	is, err := os.Stat(plain)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"paper.json": is.Mode(), "paper.html": is.Mode(), "": fs.ModeDir | 0o755} {
		if got, err := os.Stat(filepath.Join(dir, name)); err != nil || got.Mode() != want {
			t.Errorf("%q has the mode %v, not %v, %v", name, got.Mode(), want, err)
		}
	}
	if err := r.save(dir, nil); err == nil {
		t.Error("what is there is overwritten")
	}
	if err := r.save(filepath.Join(parent, "none", "out"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a parent: %v", err)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 2 {
		t.Errorf("there are %v, %v", entries, err)
	}
	if err := (&Report{}).Save(filepath.Join(parent, "new")); err == nil || !strings.Contains(err.Error(), "there is no histogram of") {
		t.Errorf("a report of nothing: %v", err)
	}
}

// TestLab: a book that the cocktail experiment is not about is told of, and what it
// wants to know of one that is.
func TestLab(t *testing.T) {
	read := func(text string) *dataset.Book {
		book, err := dataset.Read(strings.NewReader(text), "book.csv", dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return book
	}
	const head = "recipe,ingredient,amount,taste,timing\n"
	const rows = "A,a,1,Fresh,All day\nA,b,3,Fresh,All day\nB,a,2,Fresh,Late\nC,b,1,Sour,All day\nC,c,5,Sour,All day\nD,a,1,Sour,Late\n"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for want, c := range map[string]struct {
		ctx  context.Context
		text string
	}{
		`book.csv has no label "taste", which the cocktail experiment is about`:          {t.Context(), "recipe,ingredient,amount\nA,a,1\n"},
		`book.csv has no label "timing", which the cocktail experiment is about`:         {t.Context(), strings.ReplaceAll(head+rows, "timing", "time")},
		`label "taste" of book.csv: "taste" has no class "Fresh"; it has Old, Sour`:      {t.Context(), strings.ReplaceAll(head+rows, "Fresh", "Old")},
		`label "timing" of book.csv: "timing" has no class "All day"; it has Late, Noon`: {t.Context(), strings.ReplaceAll(head+rows, "All day", "Noon")},
		"context canceled": {ctx, head + rows},
		"accelerated: the chain cannot reach everything": {t.Context(), head + rows + "E,a,1,Sour,Late\nE,b,1,Sour,Late\nE,c,1,Sour,Late\nE,d,1,Sour,Late\n"},
	} {
		if _, err := newCocktailLab(c.ctx, Options{Book: read(c.text), Divide: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %s", err, want)
		}
	}
	lab, err := newCocktailLab(t.Context(), Options{Book: read(head + rows), Divide: 10})
	if err != nil {
		t.Fatal(err)
	}
	c := lab.result
	var law []int
	for _, l := range c.Law {
		law = append(law, l.N, l.Recipes)
	}
	if c.Recipes != 4 || c.Ingredients != 3 || c.Total != 1000 || c.Iterations != 11_000 || c.Discarded != 1000 || !slices.Equal(c.Tastes, []string{"Fresh", "Sour"}) ||
		!slices.Equal(law, []int{1, 2, 2, 2, 3, 0, 4, 0, 5, 0}) || len(c.Forests) != 2 || c.Forests[0].Label != "taste" || c.Forests[1].Want != "All day" || c.Forests[0].Trees != 100 || c.Forests[0].Majority != 0.5 {
		t.Errorf("%+v", c)
	}
	for n, p := range map[int]float64{1: 0.5, 2: 0.5, 3: 0} {
		if lab.scoredTarget.Law().P(n) != p || lab.randomTarget.Law().P(n) != p {
			t.Errorf("of %d ingredients it wants %v", n, lab.scoredTarget.Law().P(n))
		}
	}
	if got := lab.recipeCompositions[0].Parts(); got[0].Amount != 250 || got[1].Amount != 750 {
		t.Errorf("the first recipe is %v", got)
	}
}

// TestRows: the spread of rates, and how far they are from exact ones, by hand.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		x        []float64
		mean, sd float64
	}{{[]float64{1, 2, 6}, 3, math.Sqrt(7)}, {[]float64{0.1, 0.1, 0.1}, 0.1, 0}} {
		if mean, sd := meanSD(c.x); mean != c.mean || math.Abs(sd-c.sd) > 1e-15 {
			t.Errorf("%v has the mean %v ± %v", c.x, mean, sd)
		}
	}
	for _, c := range []struct {
		rates     []float64
		exact, z  float64
		kept      float64
		mean, off float64
	}{{[]float64{0.2, 0.4}, 0.25, 0.5, 100, 30, math.Sqrt(200)}, {[]float64{0.5, 0.5}, 0.25, 0.25 / math.Sqrt(0.1875/200), 100, 50, 0}, {[]float64{1, 1}, 1, 0, 100, 100, 0}, {[]float64{0.5, 0.5}, 1, -100, 100, 50, 0}} {
		r := newRow("small a", KernelGibbs, Accepted, c.exact, c.rates, c.kept)
		if math.Abs(r.Z-c.z) > 1e-9 || math.Abs(r.Mean-c.mean) > 1e-9 || math.Abs(r.SD-c.off) > 1e-9 || r.Exact != 100*c.exact {
			t.Errorf("%v of exactly %v is %+v", c.rates, c.exact, r)
		}
	}
}

// TestPageWords: how numbers are written, which rows say that nothing moved, and the
// verdict, at the bounds from which it says so.
func TestPageWords(t *testing.T) {
	for want, x := range map[string]any{"12,346": 12345.6, "−12346": -12345.6, "1,234": 1234} {
		if got, err := formatNumber(x, 0); err != nil || got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if _, err := formatNumber("x", 0); err == nil || err.Error() != "string is no number" {
		t.Error(err)
	}
	page := &pageView{Report: &Report{Sequences: 10, Figures: []Figure{{Target: "small a", Kernel: KernelNaive, Stuck: 10}, {Target: "small a", Kernel: KernelGibbs, Stuck: 9}}}}
	if !page.Stuck(Row{Target: "small a", Kernel: KernelNaive}) || page.Stuck(Row{Target: "small a", Kernel: KernelGibbs}) || page.Stuck(Row{Target: "small b", Kernel: KernelNaive}) {
		t.Error("what moved is said to be stuck, or what is stuck to have moved")
	}
	v := summarizeRates([]Table{{Rows: []Row{{Kernel: KernelGibbs, Z: 4, SD: 1}, {Kernel: KernelNaive, Z: -4.5, SD: 1}, {Kernel: KernelNaive, Z: 7}}}})
	if v.Rates != 2 || len(v.Beyond) != 2 || v.Largest.Z != -4.5 || v.Limit != 4 || math.Abs(v.FalseAlarm-0.00311) > 1e-5 || math.Abs(v.AnyAlarm-(1-math.Pow(1-v.FalseAlarm, 2))) > 1e-15 {
		t.Errorf("the verdict is %+v", v)
	}
	if v := summarizeRates(nil); v.Rates != 0 || v.AnyAlarm != 0 || v.Beyond == nil {
		t.Errorf("of nothing it is %+v", v)
	}
}

// TestExtents: what of a histogram is shown, and how high.
func TestExtents(t *testing.T) {
	figures := []*Figure{{Sizes: []Size{{N: 1, Target: 0.0009}, {N: 2, Target: 0.001}, {N: 3, Target: 0.5, Mean: 0.6, SD: 0.1}}}, {Sizes: []Size{{N: 2, Mean: 0.9, SD: 0.3}, {N: 7, Mean: 0.001}, {N: 9, Mean: 0.0005}}}}
	if lo, hi := shownSizeRange(figures); lo != 2 || hi != 7 {
		t.Errorf("from %d to %d", lo, hi)
	}
	if got := verticalAxisTop(figures); got != 1.05 {
		t.Errorf("up to %v", got)
	}
	if got := verticalAxisTop(figures[:1]); math.Abs(got-1.05*0.7) > 1e-12 {
		t.Errorf("up to %v", got)
	}
	if got := len(newCountTable().Rows); got != 5 || newCountTable().Rows[2].Count != "117600" || newCountTable().Ingredients != 50 || newCountTable().Total != 5 {
		t.Errorf("the table is %+v", newCountTable())
	}
}
