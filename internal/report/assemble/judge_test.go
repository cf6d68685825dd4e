package assemble

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/search"
	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// modelled is a problem with models that know much, something and nothing, of numbers
// and of classes, and a wish that is stated.
func modelled(t *testing.T) *compile.Problem {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 1))
	var book strings.Builder
	book.WriteString("recipe,a,b,c,n0,n1,n2,k0,k1,k2\n")
	for k := range 60 {
		a, b := 1+r.IntN(58), 1+r.IntN(20)
		of := func(noise float64) (value float64, class string) {
			if value = float64(a)/60 + noise*r.NormFloat64(); value > 0.5 {
				return value, "much"
			}
			return value, "little"
		}
		n0, k0 := of(0)
		n1, k1 := of(0.35)
		n2, k2 := r.NormFloat64(), []string{"much", "little"}[r.IntN(2)]
		fmt.Fprintf(&book, "r%d,%d,%d,%d,%.3f,%.3f,%.3f,%s,%s,%s\n", k, a, b, 80-a-b, n0, n1, n2, k0, k1, k2)
	}
	text := "total: 80\nrecipes: book.csv\nproperties:\n"
	for _, name := range []string{"n0", "n1", "n2"} {
		text += fmt.Sprintf("  %s: {forest: {label: %s, at_least: 0.5, trees: 60}}\n", name, name)
	}
	for _, name := range []string{"k0", "k1", "k2"} {
		text += fmt.Sprintf("  %s: {forest: {label: %s, want: much, trees: 60}}\n", name, name)
	}
	text += "  stated: {expression: \"0.5 + share('a') / 2\"}\n"
	dir := t.TempDir()
	for name, text := range map[string]string{"book.csv": book.String(), "problem.yaml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := compile.Load(t.Context(), filepath.Join(dir, "problem.yaml"), compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestJudge: answers of models of every strength, alone and together, that promise and
// keep more or less, are judged in the words that they were.
func TestJudge(t *testing.T) {
	var b bytes.Buffer
	all := modelled(t)
	for _, names := range []string{
		"n0", "n1", "n2", "k0", "k1", "k2", "stated", "n0 k0", "n1 k1", "n2 k2 n0", "n0 n1 stated", "n0 n1 n2 k1 k2", "n0 n1 n2 k0 k1 k2 stated",
	} {
		p := *all
		p.Properties = nil
		for _, w := range all.Properties {
			if strings.Contains(names, w.Name) {
				p.Properties = append(p.Properties, w)
			}
		}
		for _, out := range []bool{false, true} { // the last one has no say
			if len(p.Properties) > 1 && out {
				p.Properties[len(p.Properties)-1].Weight = 0
			}
			for _, left := range []report.Number{0.5, 0.25, 0.2, 0, -0.1, report.UnknownNumber()} {
				for _, beat := range [][2]report.Number{{0.999, 0.5}, {0.5, 0.49}, {0.49, 0.7}} {
					if (names != "n1" || beat[0] < 0.9) && names != "stated" && left != 0.5 {
						continue // what is left is told alike of all
					}
					scores := func(n int, mean, se report.Number) search.Scores { return search.Scores{Number: n, Mean: mean, SE: se} }
					a := &report.Answer{
						Comparison:    search.Comparison{Shortlist: scores(20, 0.876, 0.01), Random: scores(1000, 0.123, 0.0045), Known: scores(60, 0.5, 0.03), RandomShareBelow: beat[0], KnownShareBelow: beat[1]},
						OptimismCheck: &search.OptimismCheck{RemainingGain: left}, Compositions: 123456,
					}
					switch {
					case beat[0] < 0.5:
						a.Known.Number = 0
						a.Shortlist.Number = 1
					case left == 0.2:
						a.Shortlist.Number = 0
					case left == 0:
						a.OptimismCheck = nil
					}
					gradeAnswer(&p, a, nil)
					if left != 0.5 {
						a.Verdict = a.Verdict[len(a.Verdict)-2:]
					}
					fmt.Fprintf(&b, "%s, %v, %v: %s: %s\n  %s\n", names, left, beat, a.Grade, a.Headline, strings.Join(a.Verdict, "\n  "))
				}
			}
			if len(p.Properties) < 2 {
				break
			}
		}
		fmt.Fprintf(&b, "%q\n", forestWarnings(&p))
	}
	for _, far := range [][]int{nil, {0}, {0, 2}, {0, 1, 2}, {0, 3, 4}} {
		for _, n := range []int{1, 3, 5} {
			fmt.Fprintf(&b, "%v of %d: %q\n", far, n, extrapolationWarnings(far, n))
		}
	}
	golden.Compare(t, "testdata/judge.txt", b.Bytes())
}

// TestVerdicts: runs that mix well, hardly and not at all are told of in the words that
// they were, each with its way out.
func TestVerdicts(t *testing.T) {
	var b bytes.Buffer
	nan := math.NaN()
	for _, kernel := range []string{"gibbs", "accelerated", "balanced", "tempered", "exact"} {
		for _, chains := range []int{1, 4} {
			for _, c := range []struct {
				name           string
				rhat, ess      float64
				presence       float64 // its ESS, of an ingredient in each of these shares of the draws
				share          float64
				updated, tries int64
			}{
				{"well", 1.001, 5000, 4000, 0.5, 9, 1}, {"at the bounds", 1.01, float64(100 * chains), 6000, 0.05, 9, 2}, {"apart", 1.0101, 900, 1000, 0.5, 9, 1},
				{"short", 1.005, float64(100*chains) - 0.5, 900, 0.5, 9, 1}, {"presence", 1.002, 5000, 30, 0.05, 9, 3}, {"frequent", 1.002, 5000, 30, 0.95, 9, 1},
				{"rare", 1.002, 5000, 30, 0.0499, 9, 1}, {"never missing", 1.002, 5000, 30, 0.9501, 9, 1}, {"still", nan, nan, nan, 0.5, 0, 1}, {"forbidden", 1.5, 40, 40, 0.5, 9, 21}, {"half told", nan, 50, nan, 0.5, 1, 1},
			} {
				p := &compile.Problem{Ingredients: []string{"gin", "rum"}, Sampler: mcmc.Settings{Kernel: kernel, Chains: chains, Draws: 1234}}
				if kernel != "balanced" && c.name != "apart" && c.name != "forbidden" {
					continue // the others are told alike
				}
				statistic := func(name string, rhat, ess float64) run.Statistic {
					return run.Statistic{Name: name, Summary: diagnose.Summary{RHat: report.Number(rhat), ESSBulk: report.Number(ess)}}
				}
				r := &run.Result{
					IngredientCount: statistic("used", c.rhat, c.ess), LogDensity: statistic("log_density", 1.0005, 9000), Properties: []run.Statistic{statistic("taste", 1.0007, 8000)},
					Inclusion: []run.Inclusion{{Index: 0, Probability: report.Number(c.share), ESS: c.presence}, {Index: 1, Probability: 0.5, ESS: 7000}},
				}
				if math.IsNaN(c.ess) {
					r.LogDensity, r.Properties, r.Inclusion[1].ESS = r.IngredientCount, []run.Statistic{r.IngredientCount}, nan
				}
				if c.name == "apart" {
					r.IngredientCount, r.Properties[0].RHat = r.Properties[0], report.Number(c.rhat)
				}
				if c.name == "forbidden" {
					r.Score = new(run.Statistic)
				}
				for k := range chains {
					r.Chains = append(r.Chains, run.ChainResult{StartTries: int(c.tries), Tally: mcmc.Tally{Iterations: 1000 * int64(k), Updated: c.updated}})
				}
				words, grade := runVerdict(p, r)
				fmt.Fprintf(&b, "%s, %d chains, %s: %s: %s\n  %s\n", kernel, chains, c.name, grade, words, strings.Join(runWarnings(p, r), "\n  "))
			}
		}
	}
	for _, v := range []float64{0.4, 1, 9.5, 10, 99, 100, 101, 994, 1000, 1001, 123456} {
		fmt.Fprintln(&b, v, roundUp(v))
	}
	golden.Compare(t, "testdata/verdicts.txt", b.Bytes())
}

// TestQuestions: what is asked is told in words.
func TestQuestions(t *testing.T) {
	record := golden.Open(t)
	forest := new(report.Forest)
	for _, sizes := range [][]run.Size{{{N: 3, Target: 1}}, {{N: 2, Target: 0.5}, {N: 3, Target: 1e-9}, {N: 7, Observed: 0.2}, {N: 8, Target: 0.0004}}} {
		for _, rules := range [][]string{nil, {"at most 3 of a"}, {"a", "b"}} {
			for k, wishes := range [][]report.Property{
				nil, {{Name: "a", About: "a is wanted", Weight: 1, Forest: forest}}, {{Name: "a", About: "x + y", Weight: 2.5}, {Name: "b", About: "b is wanted", Weight: 1, Forest: forest}, {Name: "c", Weight: 0}},
				{{Name: "a", About: "1", Weight: 1, Forest: forest}, {Name: "b", About: "2", Weight: 1, Forest: forest}, {Name: "c", About: "3", Weight: 1, Forest: forest}},
				{{Name: "a", About: "1", Weight: 1, Forest: forest}, {Name: "b", About: "2", Weight: 1, Forest: forest}, {Name: "c", About: "3", Weight: 1, Forest: forest}, {Name: "d", About: "4", Weight: 1, Forest: forest}},
			} {
				m := &report.Model{Sparsity: sizes, Properties: wishes, Problem: report.Problem{Ingredients: 1234, Rules: rules}}
				record.CheckText(t, fmt.Sprint(len(sizes), len(rules), len(wishes), k), questionText(m))
			}
		}
	}
	for _, v := range []float64{0, 12345678, -0.00012345678, 1e-320, 5e307, math.Inf(1), 99999.6} {
		record.CheckText(t, fmt.Sprint("rounded ", v), fmt.Sprint(roundForPlot(v)))
	}
}

// TestFiguresAsBefore: pairs, plots and histograms of draws from a seed are what they
// were, to ten figures.
func TestFiguresAsBefore(t *testing.T) {
	var b bytes.Buffer
	p := &compile.Problem{Ingredients: []string{"a", "b", "c", "d", "e", "f"}}
	for seed, probabilities := range [][6]float64{{0.3, 0.3, 0.3, 0.3, 0.3, 0.3}, {0.9, 0.5, 0.2, 0.2, 0.1, 0.02}, {1, 1, 0.5, 0.5, 0.001, 0}} {
		g := fakeOf(rand.New(rand.NewPCG(uint64(seed), 9)), 4000, true, probabilities)
		g.pairedSlotCount = 6 - seed
		of := newPairs(p, g, g.shares(), run.UnlistedIngredients{Variance: 0.1 * float64(seed), SquaredVariance: 0.01 * float64(seed)})
		fmt.Fprintf(&b, "among %d, %d draws\n", of.Among, of.Draws)
		for _, list := range [][]report.Pair{of.Together, of.Apart} {
			for _, q := range list {
				fmt.Fprintf(&b, "%s + %s: %.10g, %.10g ± %.10g, expected %.10g\n", q.First, q.Second, q.Probability, q.Lift, q.MCSE, q.Expected)
			}
		}
		fmt.Fprintf(&b, "%.10g\n", g.meanAmountErrors())
		for _, chains := range []int{1, 9} {
			// The numbers used, cut into chains, as nine statistics of other names.
			of := &gatheredDraws{}
			statistics := make(map[string]run.Statistic)
			used := g.series[0].valuesByChain[0]
			for k := range 9 {
				d := statisticSeries{name: fmt.Sprint("s", k), stride: 1 + k}
				for c := range chains {
					d.valuesByChain = append(d.valuesByChain, used[c*len(used)/9:(c+1)*len(used)/9])
				}
				statistics[d.name] = run.Statistic{Summary: diagnose.Summary{ESSBulk: 400}}
				of.series = append(of.series, d)
			}
			plots := newPlots(of, statistics)
			fmt.Fprintf(&b, "%d plots, of %d and %d chains, every %d and %d: %.10g\n", len(plots), len(plots[0].Ranks), len(plots[0].Trace), plots[0].Every, plots[7].Every, plots[0].RankSE)
			fmt.Fprintf(&b, "%.10g\n%d: %v\n", plots[0].Ranks[0], len(plots[0].Trace[0]), plots[0].Trace[0][:20])
		}
	}
	r := rand.New(rand.NewPCG(5, 5))
	for _, spread := range []float64{0.1, 1, 3, 4.2, 20, 60} {
		for _, top := range []float64{0, 1e-9, 3} {
			scores := func(n int, more float64) (list []float64) {
				for range n {
					list = append(list, top-more*spread*r.ExpFloat64())
				}
				return append(list, math.Inf(-1))
			}
			h := newScoreHistogram(&gatheredDraws{logScores: [][]float64{scores(100, 0.5), scores(99, 0.7)}}, &run.Baseline{LogScores: append(scores(100, 2), top)})
			fmt.Fprintf(&b, "%v %v: %v %d %.10g..%.10g\n%.6g %.6g\n%.6g %.6g\n", spread, top, h.Log, h.DrawCount, h.Edges[0], h.Edges[len(h.Edges)-1], h.Draws, h.DrawsBelow, h.Random, h.RandomBelow)
		}
	}
	golden.Compare(t, "testdata/figures.txt", b.Bytes())
}

// TestNearestOfEntries: what an entry and a known recipe share is told whatever order the
// recipe is written in, and without what all recipes have.
func TestNearestOfEntries(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"book.csv":     "recipe,ingredient,amount\nA,water,5\nA,lime,2\nA,gin,3\nA,rum,1\nB,rum,4\nB,water,5\nC,water,9\n",
		"problem.yaml": "recipes: book.csv\ningredients: [gin, rum, lime, water, ice]\ntotal: 20\nproperties: {y: {expression: \"1 - share('gin')\"}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := compile.Load(t.Context(), filepath.Join(dir, "problem.yaml"), compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	known, err := p.KnownRecipes()
	if err != nil {
		t.Fatal(err)
	}
	for want, parts := range map[string][]mcmc.Part{
		"[A 0.6666666666666666 [lime gin] B 0 [] C 0 []]": {{Ingredient: 0, Amount: 5}, {Ingredient: 2, Amount: 5}, {Ingredient: 3, Amount: 9}, {Ingredient: 4, Amount: 1}},
		"[A 1 [rum] B 1 [rum] C 0 []]":                    {{Ingredient: 1, Amount: 20}},
		"[A 0 [] B 0 [] C 0 []]":                          {{Ingredient: 3, Amount: 20}},
	} {
		e := search.Entry{Found: search.Found{Parts: parts}}
		for k := range known {
			e.Nearest = append(e.Nearest, search.NearRecipe{KnownIndex: k, Distance: 0.5})
		}
		var got []any
		for _, n := range newNearest(p, e, search.NewDistance(5, known)) {
			got = append(got, n.Recipe, float64(n.Overlap), n.Shared)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%v is near %v, want %s", parts, got, want)
		}
	}
}

// TestHistogramBounds: of a histogram of small scores the lower bound is where one in
// fifty draws, or a quarter of the random compositions, lies below.
func TestHistogramBounds(t *testing.T) {
	for _, c := range []struct {
		draws, random int // how many there are
		small, tiny   int // and of these, those at 10⁻⁵·⁵ among the draws, and at 10⁻⁸·⁵ among the random ones
		lo            report.Number
	}{
		{98, 4, 1, 0, -3}, {98, 4, 2, 0, -6}, {99, 4, 1, 0, -3}, {100, 4, 2, 0, -3}, {100, 4, 3, 0, -6}, {150, 4, 3, 0, -3}, {150, 4, 4, 0, -6}, {10, 4, 0, 1, -3}, {10, 4, 0, 2, -9}, {10, 3, 0, 1, -9}, {10, 8, 0, 2, -3}, {10, 8, 0, 3, -9},
	} {
		of := func(n, few int, log float64) (list []float64) {
			for k := range n {
				if k < few {
					list = append(list, log*math.Ln10)
				} else {
					list = append(list, -2.5*math.Ln10)
				}
			}
			return list
		}
		h := newScoreHistogram(&gatheredDraws{logScores: [][]float64{of(c.draws, c.small, -5.5)}}, &run.Baseline{LogScores: of(c.random, c.tiny, -8.5)})
		if !h.Log || h.Edges[0] != c.lo || h.Edges[scoreHistogramBinCount] != -2 {
			t.Errorf("%+v: from %v to %v", c, h.Edges[0], h.Edges[scoreHistogramBinCount])
		}
	}
}
