// Package bound holds the upper bounds that kir proves against every composition of
// problems that can be listed.
package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/bound"
	"kir/internal/compile"
	"kir/internal/search"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/rule"
)

// A made problem has so many compositions that kir does not look at each, and so few that
// a test does.
type made struct {
	n, total int
	names    []string
	text     strings.Builder // problem.yaml
	recipes  strings.Builder // recipes.csv
	table    strings.Builder // ingredients.csv
}

// newMade draws a book of recipes with two labels, a product of two or three objectives, of
// which one at least is a forest's, or with processes a Gaussian process's or the mean of both,
// and constraints.
func newMade(seed uint64, processes bool) *made {
	r := rand.New(rand.NewPCG(seed, 41))
	m := &made{n: 8 + r.IntN(3), total: 20 + 2*r.IntN(4)}
	fmt.Fprintf(&m.table, "name,cost,abv,kind\n")
	fmt.Fprintf(&m.recipes, "recipe,ingredient,amount,taste,class\n")
	worth := make([]float64, m.n)
	for i := range m.n {
		m.names = append(m.names, fmt.Sprintf("i%d", i))
		kind := i // the first three are of different ones
		if i > 2 {
			kind = r.IntN(3)
		}
		fmt.Fprintf(&m.table, "i%d,%.1f,%.1f,%c\n", i, 1+29*r.Float64(), 1+49*r.Float64(), 'a'+kind)
		worth[i] = r.NormFloat64()
	}
	for row := range 30 + r.IntN(40) {
		x, used := make([]int, m.n), r.Perm(m.n)[:2+r.IntN(3)]
		for range m.total {
			x[used[r.IntN(len(used))]]++
		}
		taste := 10 + r.NormFloat64()/2
		for i, a := range x {
			taste += worth[i] * math.Sqrt(float64(a))
		}
		class := "dull"
		if row == 0 || row > 1 && taste > 10 { // some of either
			class = "bright"
		}
		for i, a := range x {
			if a > 0 {
				fmt.Fprintf(&m.recipes, "r%d,i%d,%d,%.2f,%s\n", row, i, a, taste, class)
			}
		}
	}
	fmt.Fprintf(&m.text, "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: %d\nsparsity: {uniform: [2, %d]}\n", m.total, 3+r.IntN(2))
	if r.IntN(2) == 0 && !processes { // which there would be far from all that it knows
		fmt.Fprintf(&m.text, "search: {doses: any}\n")
	}
	fmt.Fprintf(&m.text, "properties:\n")
	trees := 10 + r.IntN(40)
	forest := []string{
		"{forest: {label: taste, maximize: true, trees: %d}}", "{forest: {label: class, want: bright, trees: %d}}",
		"{forest: {label: taste, at_least: 10, trees: %d}}",
	}
	if processes {
		forest = []string{
			"{process: {label: taste, maximize: true}} # beside %d trees", "{process: {label: taste, between: [9, 11]}} # beside %d trees",
			"{learn: {label: taste, maximize: true, trees: %d}}", "{learn: {label: taste, at_least: 10, trees: %d}}",
		}
	}
	fmt.Fprintf(&m.text, "  first: "+forest[r.IntN(len(forest))]+"\n", trees)
	if r.IntN(3) == 0 {
		fmt.Fprintf(&m.text, "  second: "+forest[r.IntN(len(forest))]+"\n", trees)
	}
	if r.IntN(3) == 0 {
		fmt.Fprintf(&m.text, "  formula: {expression: 'let a = mean(\"abv\") / (share(\"kind\", \"a\") + 0.1); max(exp(-(a / %d - share(\"i1\"))^2), used < 3 ? 0.1 : 0.01)'}\n", 20+r.IntN(50))
	}
	others := []string{
		"{blend: {attribute: cost, minimize: true}}", "{blend: {attribute: abv, maximize: true}}",
		"{blend: {attribute: abv, target: {from: 0, at: 20, to: 60}}}",
		"{expression: {formula: 'mean(\"cost\") / (0.5 + share(\"kind\", \"b\"))', minimize: true}}",
		"{expression: {formula: '2 * mean(\"abv\") + 3 * share(\"i2\") - count(\"i0\")', maximize: true}}",
	}
	fmt.Fprintf(&m.text, "  third: %s\n", others[r.IntN(len(others))])
	fmt.Fprintf(&m.text, "constraints:\n  - limit: {attribute: abv, min: 5, max: %d}\n", 30+r.IntN(20))
	if r.IntN(2) == 0 {
		fmt.Fprintf(&m.text, "  - never: [i0, i1]\n")
	}
	if r.IntN(2) == 0 {
		fmt.Fprintf(&m.text, "  - group: {of: {kind: a}, used: [0, 1]}\n")
	}
	if r.IntN(2) == 0 {
		fmt.Fprintf(&m.text, "  - ratio: {of: [i2, i3], to: [i4, i5], min: 0.2, max: %d}\n", 1+r.IntN(4))
	}
	return m
}

// write writes the files, and returns that of the problem.
func (m *made) write(t *testing.T, dir string) string {
	t.Helper()
	for name, text := range map[string]string{"recipes.csv": m.recipes.String(), "ingredients.csv": m.table.String(), "problem.yaml": m.text.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "problem.yaml")
}

// truth scores every composition that may be suggested, and returns the best score and how
// many there are.
func truth(t *testing.T, file string) (best float64, count int) {
	t.Helper()
	p, err := compile.Load(t.Context(), file, compile.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := search.UnweightedTarget(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	score := func(parts []rule.Part) float64 { // −Inf where it may not be suggested
		var own []mcmc.Part
		var set []int
		for _, p := range parts {
			own = append(own, mcmc.Part(p))
			set = append(set, p.Ingredient)
		}
		if !q.BoundProblem.Conditions.AreKeptBy(parts) || q.Refuse != nil && q.Refuse(set) || q.LacksAlwaysUsed != nil && q.LacksAlwaysUsed(set) {
			return math.Inf(-1)
		}
		x, err := mcmc.NewComposition(len(p.Ingredients), own...)
		if err != nil {
			t.Fatal(err)
		}
		score, err := plain.LogScore(x)
		if err != nil {
			t.Fatal(err)
		}
		return score
	}
	best = math.Inf(-1)
	_, most := p.Target.Law().Support()
	var parts []rule.Part
	var fill func(from, left int)
	fill = func(from, left int) {
		if left == 0 && plain.LogLaw(len(parts)) > math.Inf(-1) {
			if s := score(parts); s > math.Inf(-1) {
				count++
				best = max(best, s)
			}
		}
		if left == 0 || len(parts) == most {
			return
		}
		for i := from; i < len(p.Ingredients); i++ {
			least, greatest := 1, left
			if q.Least != nil {
				least = max(least, q.Least[i])
			}
			if q.Most != nil {
				greatest = min(greatest, q.Most[i])
			}
			for a := least; a <= greatest; a++ {
				parts = append(parts, rule.Part{Ingredient: i, Amount: a})
				fill(i+1, left-a)
				parts = parts[:len(parts)-1]
			}
		}
	}
	fill(0, p.Total)
	alone(t, q, plain, score, best)
	return best, count
}

// oneAfterAnother computes the lanes of the bounder's rounds.
func oneAfterAnother(ctx context.Context, _, count int, compute func(ctx context.Context, lane int) (*bound.LaneResult, error)) (results []*bound.LaneResult, err error) {
	for lane := range count {
		r, err := compute(ctx, lane)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// alone bounds without a search, which would find the best whatever the bound says. What is
// known beforehand scores a thousandth less, so that a box with the best is left out if its
// bound is too low, and the best is not met.
func alone(t *testing.T, q *search.Question, plain *mcmc.Target, score func([]rule.Part) float64, best float64) {
	t.Helper()
	p := *q.BoundProblem
	p.MinAmounts, p.MaxAmounts, p.RequiredIngredients = q.Least, q.Most, q.Always
	_, most := plain.Law().Support()
	for n := range most + 1 {
		p.AllowedUsedCounts = append(p.AllowedUsedCounts, n > 0 && plain.LogLaw(n) > math.Inf(-1))
	}
	p.Score = func(parts []rule.Part) (float64, error) {
		sorted := slices.Clone(parts)
		slices.SortFunc(sorted, func(p, q rule.Part) int { return p.Ingredient - q.Ingredient })
		return score(sorted), nil
	}
	b := bound.New(&p)
	b.UpdateIncumbent(best - 1e-3)
	if err := b.Run(t.Context(), 1e9, oneAfterAnother); err != nil {
		t.Fatal(err)
	}
	if b.UpperBound() < best-rounding {
		t.Errorf("without a search the bound is %v, and %v is reached", math.Exp(b.UpperBound()), math.Exp(best))
	}
}

// summary is what is read of a run's summary.json.
type summary struct {
	Answer struct {
		Evaluations int
		Bound       *struct {
			Score, Best *float64
			Proved      bool
			Unbounded   []string
		}
	}
}

// rounding is by how much scores may differ that are the same but for what is written down.
const rounding = 1e-7

// TestNoCompositionExceedsTheBound runs kir sample on 60 problems, 6 in the short run, whose
// compositions are then all scored. None may score more than the bound that the run states,
// what is called proved must be the best, and the bounds close in at least 80 %.
func TestNoCompositionExceedsTheBound(t *testing.T) {
	none(t, testmode.Pick(60, 6), false)
}

// TestNoCompositionExceedsTheBoundOfAProcess is the same of 30 problems, 3 in the short run,
// with Gaussian processes.
func TestNoCompositionExceedsTheBoundOfAProcess(t *testing.T) {
	none(t, testmode.Pick(30, 3), true)
}

// none compares the bounds of so many problems with all of their compositions.
func none(t *testing.T, wanted int, processes bool) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "kir")
	build := exec.Command("go", "build", "-o", program, "./cmd/kir")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all, proved := 0, 0
	for seed := uint64(1); all < wanted; seed++ {
		dir := t.TempDir()
		m := newMade(seed, processes)
		file := m.write(t, dir)
		best, count := truth(t, file)
		if count <= 5000 {
			continue // half as many as the search has evaluations: kir looks at each
		}
		run := filepath.Join(dir, "run")
		c := exec.CommandContext(t.Context(), program, "sample", file, "-o", run, "--quiet", "--no-report", "--no-cache", "--warmup", "2000", "--draws", "8000")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, out, m.text.String())
		}
		text, err := os.ReadFile(filepath.Join(run, "summary.json"))
		if err != nil {
			t.Fatal(err)
		}
		var s summary
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		b := s.Answer.Bound
		if b == nil || b.Score == nil || b.Best == nil {
			t.Fatalf("seed %d: there is no bound: %s\n%s", seed, text, m.text.String())
		}
		all++
		top := math.Exp(best)
		switch {
		case *b.Score < top*(1-rounding):
			t.Errorf("seed %d: bounded by %v, and %v is reached\n%s", seed, *b.Score, top, m.text.String())
		case *b.Best > top*(1+rounding):
			t.Errorf("seed %d: %v is said to be found, and the best is %v\n%s", seed, *b.Best, top, m.text.String())
		case b.Proved && *b.Best < top*(1-rounding):
			t.Errorf("seed %d: %v is called the best, and %v is reached\n%s", seed, *b.Best, top, m.text.String())
		}
		if b.Proved {
			proved++
		}
		t.Logf("seed %d: best %.6f of %d, found %.6f, bound %.6f, proved %v", seed, top, count, *b.Best, *b.Score, b.Proved)
	}
	t.Logf("%d of %d are proved", proved, all)
	if 5*proved < 4*all {
		t.Errorf("%d of %d are proved, which is less than 80 %%", proved, all)
	}
}
