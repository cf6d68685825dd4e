package assemble

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/search"
	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/model"
)

// A made run is a problem that was sampled.
type made struct {
	store   run.Store
	problem *compile.Problem
	result  *run.Result
	model   *report.Model
}

// sample runs a problem given by its files, problem.yaml among them.
func sample(t testing.TB, files map[string]string) made {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return sampleFile(t, filepath.Join(dir, "problem.yaml"), nil)
}

// sampleFile runs a problem file.
func sampleFile(t testing.TB, path string, override func(s *mcmc.Settings)) made {
	t.Helper()
	m, err := runFile(path, override)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// runFile is sampleFile without a test.
func runFile(path string, override func(s *mcmc.Settings)) (m made, err error) {
	effort := 0.1 // a search that finds something
	p, err := compile.Load(context.Background(), path, compile.Options{OverrideSampler: override, Effort: &effort})
	if err != nil {
		return m, err
	}
	spec := &run.Spec{Name: p.Name, Ingredients: p.Ingredients, Target: p.Target, Settings: p.Sampler, ResolvedProblem: p.Resolved, Version: "test"}
	if p.Book != nil {
		spec.IsKnownSet = func(set []int) bool {
			_, known := p.Book.RecipeWithSet(set)
			return known
		}
	}
	if spec.Question, err = p.SearchQuestion(); err != nil {
		return m, err
	}
	m = made{store: run.NewMemoryStore(), problem: p}
	if m.result, err = run.Start(context.Background(), spec, m.store, run.Options{}); err != nil {
		return m, err
	}
	trade, err := p.SearchOwnTradeOff(context.Background(), nil)
	if err != nil {
		return m, err
	}
	m.model, err = Model(context.Background(), p, m.store, m.result, trade, "test")
	return m, err
}

// sampledCocktails is the cocktail example, sampled shortly and once for all tests.
var sampledCocktails = sync.OnceValues(func() (made, error) {
	return runFile(filepath.Join("..", "..", "..", "examples", "cocktails", "problem.yaml"), func(s *mcmc.Settings) {
		s.Draws, s.Warmup = 4000, 1000
	})
})

// cocktails returns the run of the cocktail example, to be read only.
func cocktails(t testing.TB) made {
	t.Helper()
	m, err := sampledCocktails()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// summary.json has what others build on.
func TestContract(t *testing.T) {
	m := cocktails(t).model
	data, err := m.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	has := func(v any, keys ...string) any {
		t.Helper()
		object, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%v is no object", v)
		}
		for _, k := range keys {
			if _, ok := object[k]; !ok {
				t.Errorf("%s is missing", k)
			}
		}
		return object[keys[0]]
	}
	first := func(v any) any {
		t.Helper()
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			t.Fatalf("%v is no list with entries", v)
		}
		return list[0]
	}
	has(tree["problem"], "name", "ingredients", "total")
	has(tree["sampler"], "kernel", "chains", "warmup", "draws", "thin", "seed")
	has(tree["rates"], "accepted", "updated")
	has(first(tree["sparsity"]), "n", "target", "observed", "mcse")
	has(tree, "total_variation", "warnings")
	for _, name := range []string{"used", "log_density", "taste", "timing"} {
		has(has(tree["statistics"], name), "mean", "sd", "q5", "median", "q95", "mcse_mean", "mcse_q5", "mcse_median", "mcse_q95", "ess_mean", "ess_bulk", "ess_tail", "rhat")
	}
	has(first(tree["inclusion"]), "ingredient", "probability", "mcse", "mean_amount")
	best := first(tree["best"])
	has(best, "chain", "draw", "score", "scores", "recipe", "known", "nearest")
	has(first(best.(map[string]any)["nearest"]), "recipe", "overlap", "shared")
	has(tree["timing"], "seconds", "iterations_per_second")
}

// The model's figures are those of all draws, read one by one.
func TestModelIsTheDraws(t *testing.T) {
	m := cocktails(t)
	r, err := run.Open(context.Background(), m.store)
	if err != nil {
		t.Fatal(err)
	}
	n, book := len(m.problem.Ingredients), m.problem.Book
	used, amount := make([]float64, n), make([]float64, n)
	both := make([][]float64, n)
	for i := range both {
		both[i] = make([]float64, n)
	}
	draws, bins := 0.0, make([]float64, scoreHistogramBinCount)
	for d, err := range r.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		draws++
		for _, p := range d.Parts {
			used[p.Ingredient]++
			amount[p.Ingredient] += float64(p.Amount)
			for _, q := range d.Parts {
				both[p.Ingredient][q.Ingredient]++
			}
		}
		bins[min(scoreHistogramBinCount-1, int(d.Scores[0]*d.Scores[1]*scoreHistogramBinCount))]++
	}
	near := func(what string, got report.Number, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	index := make(map[string]int)
	for i, x := range m.model.Inclusion {
		index[x.Ingredient] = i
		near(x.Ingredient, x.Probability, used[i]/draws)
		near("amount of "+x.Ingredient, x.MeanAmount, amount[i]/used[i])
		recipes, units := 0.0, 0.0
		for r := range book.Recipes {
			closed, err := book.Closure(r, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for k, p := range book.Recipes[r].Parts {
				if int(p.Ingredient) == i {
					recipes++
					units += float64(closed[k])
				}
			}
		}
		near("the book's "+x.Ingredient, x.BookShare, recipes/float64(len(book.Recipes)))
		near("the book's amount of "+x.Ingredient, x.BookAmount, units/recipes)
	}
	for _, p := range slices.Concat(m.model.Pairs.Together, m.model.Pairs.Apart) {
		i, j := index[p.First], index[p.Second]
		near(p.First+" + "+p.Second, p.Lift, both[i][j]*draws/(used[i]*used[j]))
		near(p.First+" + "+p.Second, p.Probability, both[i][j]/draws)
	}
	for k, share := range m.model.Score.Histogram.Draws {
		near(fmt.Sprint("bin ", k), share, bins[k]/draws)
	}
}

// The command of the model makes the same run.
func TestCommand(t *testing.T) {
	m := cocktails(t)
	words := strings.Fields(m.model.Again.Command)
	want := []string{"kir", "sample", "problem.yaml", "--kernel", m.problem.Sampler.Kernel, "--chains", "4", "--warmup", "1000", "--draws", "4000", "--thin", "1", "--seed", "1"}
	if !reflect.DeepEqual(words, want) {
		t.Errorf("the command is %q", words)
	}
}

// TestPresenceCounts: chains that differ only in which ingredients they use are
// worth as few draws as that says, and are warned of; ingredients that are rare
// have no say.
func TestPresenceCounts(t *testing.T) {
	p := &compile.Problem{Ingredients: []string{"Gin", "Rum", "Ice"}, Sampler: mcmc.Settings{Kernel: "balanced", Chains: 4, Draws: 1000}}
	steady := diagnose.Summary{RHat: 1.001, ESSBulk: 3000, ESSTail: 3000}
	r := &run.Result{
		Chains:          make([]run.ChainResult, 4),
		IngredientCount: run.Statistic{Name: "used", Summary: steady},
		LogDensity:      run.Statistic{Name: "log_density", Summary: steady},
		Inclusion: []run.Inclusion{
			{Index: 0, Probability: 0.5, ESS: 2000},
			{Index: 1, Probability: 0.04, ESS: 5},
			{Index: 2, Probability: 0.97, ESS: 5},
		},
	}
	if text, grade := runVerdict(p, r); grade != report.Sound || !strings.Contains(text, `2,000 independent ones, by the least certain figure: how often "Gin" is used`) {
		t.Errorf("%s: %s", grade, text)
	}
	if w := runWarnings(p, r); len(w) > 0 {
		t.Errorf("it is warned of %q", w)
	}
	r.Inclusion[0].ESS = 7
	if text, grade := runVerdict(p, r); grade != report.Short {
		t.Errorf("%s: %s", grade, text)
	}
	if w := runWarnings(p, r); len(w) != 1 || !strings.Contains(w[0], `worth only 7 independent ones (ESS) to tell how often "Gin" is used`) || !strings.Contains(w[0], "Run again with --draws 120000") {
		t.Errorf("it is warned of %q", w)
	}
}

// BenchmarkNew is what a report of the cocktails costs before anything of it is
// written: one pass over 4 × 100,000 draws.
func BenchmarkNew(b *testing.B) {
	m := sampleFile(b, filepath.Join("..", "..", "..", "examples", "cocktails", "problem.yaml"), func(s *mcmc.Settings) { s.Draws = 100_000 })
	for b.Loop() {
		if _, err := Model(context.Background(), m.problem, m.store, m.result, nil, "test"); err != nil {
			b.Fatal(err)
		}
	}
}

// Two means of random compositions of the same wish, of other draws, agree within
// five standard errors (false alarm: below 10⁻⁶).
func TestRandomOfAWishIsThatOfTheAnswer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "problem.yaml")
	if err := os.WriteFile(file, []byte("ingredients: [a, b, c, d, e]\ntotal: 50\nsparsity: {uniform: [2, 4]}\nproperties:\n  y: {expression: \"0.1 + 0.9 * share('a')\"}\n  z: {expression: \"1 - share('b')\"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	m := sampleFile(t, file, func(s *mcmc.Settings) { s.Draws, s.Warmup = 1000, 100 })
	p := m.problem
	p.Properties[1].Weight = 0
	wishes := slices.Clone(p.Target.Objectives())
	wishes[1].Weight = 0
	var err error
	if p.Target, err = p.Target.WithObjectives(wishes...); err != nil {
		t.Fatal(err)
	}
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	q.HalfTargets = nil
	a, err := q.Answer(t.Context(), search.RunContext{Iterations: 1000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	answer, _, err := Answer(t.Context(), p, a)
	if err != nil {
		t.Fatal(err)
	}
	w, random := answer.Objectives[0], a.Comparison.Random
	if se := float64(random.SE) * math.Sqrt(1+1000.0/randomCompositionCount); math.Abs(float64(w.Random)-float64(random.Mean)) > 5*se {
		t.Errorf("random compositions have a mean of %v in the table and %v beside the shortlist (standard error of the difference %.3f)", w.Random, random.Mean, se)
	}
}

// What is made of the draws of a seed is what it was, to the last figure: a summary of
// everything that a problem may ask, what its known recipes score, what is told before
// it is sampled, what a forest has learnt, and how an entry is weighed.
func TestMadeAsBefore(t *testing.T) {
	made := sampleFile(t, filepath.Join("testdata", "problem.yaml"), nil)
	p, m := made.problem, made.model
	defer p.Close()
	weighed, err := Weighing(p.Outline(), m.Best[0], "A sour: recipe 1", report.NewIngredientOrder(p.Outline().Attributes, "", ""), Scale{Batch: "700 ml", Step: "5 ml"})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := Scorecard(p, p.Book)
	if err != nil {
		t.Fatal(err)
	}
	check, err := Check(p)
	if err != nil {
		t.Fatal(err)
	}
	m.Timing, m.Again.Problem = run.Timing{}, ""
	m.Best = m.Best[:4]
	for k := range m.Plots {
		for c := range m.Plots[k].Trace {
			m.Plots[k].Trace[c] = m.Plots[k].Trace[c][:12]
		}
	}
	forest, err := Training(p.Properties[0].Model.(*model.Forest), "taste.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, made := range map[string]any{"summary": m, "scores": scores, "check": check, "forest": forest, "weighing": weighed} {
		got, err := json.MarshalIndent(made, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, filepath.Join("testdata", name+".json"), got)
	}
}

// Summaries of small runs of other kinds are what they were: without properties, without
// weight, without a search, without recipes.
func TestMadeOfKinds(t *testing.T) {
	const head = "name: A sour\ntotal: 20\nsparsity: {uniform: [1, 2]}\nsampler: {kernel: balanced, chains: 2, warmup: 100, draws: 300, seed: 1}\n"
	const bare = head + "ingredients: [Gin, Rum, Lime, Syrup]\n"
	for name, text := range map[string]string{
		"plain":      bare,
		"known":      head + "recipes: recipes.csv\n",
		"unweighted": bare + "properties: {gin: {expression: 'share(\"Gin\")', weight: 0}}\n",
		"unsearched": bare + "properties: {gin: {expression: 'share(\"Gin\")', weight: 2}}\n",
	} {
		made := sample(t, map[string]string{"problem.yaml": text, "recipes.csv": "recipe,ingredient,amount\nA,Gin,6\nA,Lime,3\nB,Syrup,2\nB,Gin,4\n"})
		defer made.problem.Close()
		made.result.Answer = nil
		m, err := Model(t.Context(), made.problem, made.store, made.result, nil, "test")
		if err != nil {
			t.Fatal(err)
		}
		m.Timing, m.Again.Problem, m.Plots, m.Pairs = run.Timing{}, "", nil, nil
		got, err := json.MarshalIndent(m, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, filepath.Join("testdata", "kinds", name+".json"), got)
	}
}

// TestDiverseOf: the shortlist that differs, of equal and unequal scores, of none above 0,
// of ingredients that all have, of fewer than are asked for.
func TestDiverseOf(t *testing.T) {
	kept, inf := golden.Open(t), math.Inf(-1)
	for name, scores := range map[string][6]float64{"equal": {}, "unequal": {0, -3, -0.1, -0.2, -5, -0.3}, "none above 0": {inf, inf, inf, inf, inf, inf}, "some at 0": {inf, -1, inf, -1.2, -1.1, inf}} {
		var pool []run.Best
		for k, sets := range [][]int{{0, 1}, {0, 1, 2}, {0, 3}, {4, 5}, {0}, {1, 4}} {
			b := run.Best{Chain: k % 2, Draw: k, LogScore: scores[k], LogDensity: float64(-k % 4)}
			for _, i := range sets {
				b.Parts = append(b.Parts, mcmc.Part{Ingredient: i, Amount: 2 + k})
			}
			pool = append(pool, b)
		}
		for _, most := range []int{1, 4, 9} {
			said := ""
			for _, b := range selectDiverse(slices.Clone(pool), most) {
				said += fmt.Sprint(b.Draw, " ")
			}
			kept.CheckText(t, fmt.Sprint(name, ", ", most), said)
		}
	}
	if got := selectDiverse(nil, 3); got != nil {
		t.Errorf("of none it chooses %v", got)
	}
}

// A kernel is recommended for what random compositions and the law tell.
func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct{ text, kernel, because string }{
		"nothing wished": {"sparsity: {uniform: [1, 3]}\n", "exact", "it draws each recipe independently"},
		"forbidden":      {"sparsity: {uniform: [1, 2]}\nproperties: {need: {expression: \"share('ingredient 1')\"}}\n", "tempered", "of 200 random recipes"},
		"a gap":          {"sparsity: {table: {1: 1, 4: 1}}\nproperties: {like: {expression: \"1 + share('ingredient 1')\"}}\n", "balanced", "skip recipes of 2 ingredients"},
		"anything else":  {"sparsity: {uniform: [1, 4]}\nproperties: {like: {expression: \"1 + share('ingredient 1')\"}}\n", "balanced", "it is the fastest"},
	} {
		file := filepath.Join(t.TempDir(), "problem.yaml")
		if err := os.WriteFile(file, []byte("total: 20\ningredients: {count: 12}\n"+c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := compile.Load(t.Context(), file, compile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := recommendKernel(p)
		if err != nil || a.Kernel != c.kernel || !strings.Contains(a.Because, c.because) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
