package assemble

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/search"
)

// limited is a problem whose limits rest on models of numbers and of a class, which is known
// well or guessed.
func limited(t *testing.T, properties, limits string, noise float64, guessed bool) *compile.Problem {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 1))
	var book strings.Builder
	book.WriteString("recipe,a,b,c,y,v,stable\n")
	for k := range 60 {
		a, b := 1+r.IntN(58), 1+r.IntN(20)
		stable := "no"
		if guessed && r.IntN(2) == 0 || !guessed && a+b > 40 {
			stable = "yes"
		}
		fmt.Fprintf(&book, "r%d,%d,%d,%d,%.2f,%.2f,%s\n", k, a, b, 80-a-b, float64(a)+noise*r.NormFloat64(), float64(b)+3*r.NormFloat64(), stable)
	}
	path := filepath.Join(t.TempDir(), "problem.yaml")
	text := "total: 80\nrecipes: book.csv\nlabels: [y, v, stable]\nsearch: {effort: 0.1}\nproperties:\n" + properties + "constraints:\n" + limits
	for name, text := range map[string]string{path: text, filepath.Join(filepath.Dir(path), "book.csv"): book.String()} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := compile.Load(t.Context(), path, compile.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func answerOf(t *testing.T, p *compile.Problem) (*report.Answer, []report.Best) {
	t.Helper()
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	found, err := q.Answer(t.Context(), search.RunContext{Iterations: 1000, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, list, err := Answer(t.Context(), p, found)
	if err != nil {
		t.Fatal(err)
	}
	return a, list
}

// TestWeakLimitIsJudged: the headline is of all models that an answer rests on, those that
// only carry a limit among them, and so is the warning of a trade-off.
func TestWeakLimitIsJudged(t *testing.T) {
	p := limited(t, "  y: {forest: {label: y, maximize: true, trees: 40}}\n  v: {forest: {label: v, maximize: true, trees: 40}}\n  stable: {forest: {label: stable, want: \"yes\"}, weight: 0}\n", "  - limit: {property: stable, min: \"30%\"}\n", 1, true)
	a, _ := answerOf(t, p)
	if a.Grade != report.Weak || !strings.HasPrefix(a.Headline, "Weak: do not rely on predictions of stable (0 ± 13 % better than guessing); ") || !strings.Contains(a.Headline, "; the limit of stable (at least 30%) depends on them.") || !strings.Contains(strings.Join(a.Verdict, " "), "The model of stable is weak") {
		t.Errorf("%s: %s %q", a.Grade, a.Headline, a.Verdict)
	}
	trade, err := p.SearchTradeOff(t.Context(), compile.TradeOptions{ObjectiveNames: []string{"y", "v"}, Effort: 0.01, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	front, err := Tradeoff(p, trade, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(front.Warnings, " "), "Predictions of stable are little better than guessing; the limit of stable (at least 30%) depends on them. ") {
		t.Errorf("%q", front.Warnings)
	}
	// What nothing rests on has no say.
	p = limited(t, "  y: {forest: {label: y, maximize: true, trees: 40}}\n  stable: {forest: {label: stable, want: \"yes\"}, weight: 0}\n", "  - require: [a]\n", 1, true)
	if a, _ := answerOf(t, p); a.Grade == report.Weak || strings.Contains(strings.Join(a.Verdict, " "), "stable") {
		t.Errorf("%s: %s %q", a.Grade, a.Headline, a.Verdict)
	}
}

// TestShownKeepsLimits: what a card shows first of what is limited is the value that the
// limit bounds, which is in the table, too; of a limit with sure it is the probability.
func TestShownKeepsLimits(t *testing.T) {
	least := func(v report.Number, bound float64) bool { return float64(v) >= bound-1e-6 }
	p := limited(t, "  y: {forest: {label: y, maximize: true, trees: 40}}\n  v: {forest: {label: v, maximize: true, trees: 40}, weight: 0}\n  stable: {forest: {label: stable, want: \"yes\"}}\n",
		"  - limit: {property: y, min: 50}\n  - limit: {property: stable, min: \"80%\"}\n  - limit: {property: v, max: 18, sure: \"60%\"}\n", 10, false)
	a, list := answerOf(t, p)
	if len(list) == 0 || a.OptimismCheck == nil || a.OptimismCheck.ExpectedRemainingGain == nil {
		t.Fatalf("%d entries, promise %+v", len(list), a.OptimismCheck)
	}
	little := number.Number(0.1)
	a.OptimismCheck.ExpectedRemainingGain = &little // so that what is expected is below the limit
	setExpectedValues(p, a, list)
	for k, b := range list {
		y, stable := b.Predicted["y"], b.Predicted["stable"]
		if y.Expected == nil || *y.Expected >= 50 {
			t.Fatalf("entry %d: %v is expected of y, so that nothing is tested", k+1, y.Expected)
		}
		if !least(y.Shown(), 50) || !least(stable.Shown(), 0.8) || y.Shown() != y.Value || b.Values["y"].Value != y.Value {
			t.Errorf("entry %d: y %+v, stable %+v, the table %+v", k+1, y, stable, b.Values["y"])
		}
		if len(b.Sure) != 1 || b.Sure[0].Limit != "limit of v (at most 18, with a probability of at least 60%)" || !least(b.Sure[0].Probability, 0.6) {
			t.Errorf("entry %d: %+v", k+1, b.Sure)
		}
	}
}
