package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/testonly/golden"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// collect reads all draws of a run into memory.
func collect(t testing.TB, dir string) [][]Draw {
	t.Helper()
	return storedDraws(t, NewDirectoryStore(dir))
}

func start(t testing.TB, s *Spec, o Options) (string, *Result) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Start(context.Background(), s, NewDirectoryStore(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// The draws are those of the chains, whatever the kernel, warm-up and thin.
func TestDrawsAreTheChains(t *testing.T) {
	for _, kernel := range mcmc.KernelNames() {
		for _, thin := range []int{1, 3, 2000} {
			t.Run(fmt.Sprint(kernel, " thin ", thin), func(t *testing.T) {
				draws, total := 3000/thin+2, 60
				if thin == 3 {
					total = 9000 // amounts that no value is kept ready for
				}
				s := newSpec(t, 40, total, mcmc.Uniform(2, 9), mcmc.Settings{Kernel: kernel, Chains: 2, Warmup: 1500, Draws: draws, Thin: thin, Seed: 7})
				dir, _ := start(t, s, Options{})
				got := collect(t, dir)
				sampler, err := mcmc.NewSampler(kernel, s.Target)
				if err != nil {
					t.Fatal(err)
				}
				for chain := range got {
					c, err := sampler.NewChain(7, chain)
					if err != nil {
						t.Fatal(err)
					}
					advance := func(n int) {
						if err := c.Advance(n); err != nil {
							t.Fatal(err)
						}
					}
					refresh := func() {
						if err := c.State.Refresh(); err != nil {
							t.Fatal(err)
						}
					}
					refresh()
					advance(1024)
					refresh()
					advance(1500 - 1024)
					if len(got[chain]) != draws {
						t.Fatalf("%d draws, want %d", len(got[chain]), draws)
					}
					for n, d := range got[chain] {
						if n%max(1, 1024/thin) == 0 {
							refresh()
						}
						advance(thin)
						want := Draw{Chain: chain, Draw: n, LogDensity: c.State.LogDensity(), Scores: []float64{}, Parts: c.State.Composition.Parts()}
						if d.Scores == nil {
							d.Scores = []float64{}
						}
						if !reflect.DeepEqual(d, want) {
							t.Fatalf("draw %d is %v, want %v", n, d, want)
						}
					}
				}
			})
		}
	}
}

// Every figure is what a plain computation on all draws makes of them.
func TestFiguresOfTheDraws(t *testing.T) {
	s := smallSpec(t, mcmc.Settings{Kernel: "accelerated", Chains: 3, Warmup: 500, Draws: 5000, Thin: 2, Seed: 3})
	dir, r := start(t, s, Options{})
	chains := collect(t, dir)

	series := func(of func(d *Draw) float64) [][]float64 {
		all := make([][]float64, len(chains))
		for c, draws := range chains {
			for k := range draws {
				all[c] = append(all[c], of(&draws[k]))
			}
		}
		return all
	}
	statistic := func(got Statistic, name string, of func(d *Draw) float64) {
		t.Helper()
		want := diagnose.Summarize(series(of))
		if got.Name != name || fmt.Sprint(got.Summary) != fmt.Sprint(want) {
			t.Errorf("%s (as %s):\n%+v, want\n%+v", name, got.Name, got.Summary, want)
		}
	}
	logScore := func(d *Draw) float64 { return 1.5*math.Log(d.Scores[0]) + 0.5*math.Log(d.Scores[1]) }
	statistic(r.IngredientCount, "used", func(d *Draw) float64 { return float64(len(d.Parts)) })
	statistic(r.LogDensity, "log_density", func(d *Draw) float64 { return d.LogDensity })
	for k, name := range []string{"smooth", "fruit", "aside"} {
		statistic(r.Properties[k], name, func(d *Draw) float64 { return d.Scores[k] })
	}
	// Scores are of another sum here.
	mean := diagnose.Summarize(series(func(d *Draw) float64 { return math.Exp(logScore(d)) }))
	if math.Abs(float64(r.Score.Mean)-float64(mean.Mean)) > 1e-12 || math.Abs(float64(r.Score.MCSEMean)-float64(mean.MCSEMean)) > 1e-12 {
		t.Errorf("the score is %v ± %v, want %v ± %v", r.Score.Mean, r.Score.MCSEMean, mean.Mean, mean.MCSEMean)
	}

	for i, x := range r.Inclusion {
		present := series(func(d *Draw) float64 {
			if slices.ContainsFunc(d.Parts, func(p mcmc.Part) bool { return p.Ingredient == i }) {
				return 1
			}
			return 0
		})
		sum, count := 0, 0
		for _, draws := range chains {
			for _, d := range draws {
				for _, p := range d.Parts {
					if p.Ingredient == i {
						sum += p.Amount
						count++
					}
				}
			}
		}
		want := diagnose.Summarize(present)
		if x.Index != i || float64(x.Probability) != float64(count)/15000 || !(float64(x.MCSE) >= float64(want.MCSEMean) && float64(x.MCSE) < float64(1.02*want.MCSEMean)) || math.Abs(float64(x.MeanAmount)-float64(sum)/float64(count)) > 1e-12 {
			t.Errorf("ingredient %d: %+v, want %v ± %v, %d units in %d draws", i, x, want.Mean, want.MCSEMean, sum, count)
		}
	}

	variation := 0.0
	for _, z := range r.Sizes {
		var total int64
		for c, draws := range chains {
			count := int64(0)
			for _, d := range draws {
				if len(d.Parts) == z.N {
					count++
				}
			}
			if z.Counts[c] != count {
				t.Errorf("n = %d in chain %d: %d, want %d", z.N, c, z.Counts[c], count)
			}
			total += count
		}
		if float64(z.Observed) != float64(total)/15000 || float64(z.Target) != s.Target.Law().P(z.N) {
			t.Errorf("n = %d: observed %v, want %v; target %v", z.N, z.Observed, float64(total)/15000, z.Target)
		}
		variation += math.Abs(float64(z.Observed)-float64(z.Target)) / 2
	}
	if len(r.Sizes) != 4 || math.Abs(variation-float64(r.Variation)) > 1e-12 {
		t.Errorf("%d sizes at distance %v, want 4 at %v", len(r.Sizes), r.Variation, variation)
	}

	// The best of each set of ingredients, by brute force. Scores of draws are
	// those of the sampler, which the columns give back but for rounding.
	sameSet := func(d *Draw, set []int) bool {
		return slices.EqualFunc(d.Parts, set, func(p mcmc.Part, i int) bool { return p.Ingredient == i })
	}
	check := func(name string, got []Best, wanted func(set []int) bool) {
		t.Helper()
		best := make(map[string]*Draw)
		for c := range chains {
			for k := range chains[c] {
				d := &chains[c][k]
				var set []int
				for _, p := range d.Parts {
					set = append(set, p.Ingredient)
				}
				key := fmt.Sprint(set)
				if !wanted(set) {
					continue
				}
				if b := best[key]; b == nil || logScore(d) > logScore(b)+1e-9 {
					best[key] = d
				}
			}
		}
		all := make([]*Draw, 0, len(best))
		for _, d := range best {
			all = append(all, d)
		}
		slices.SortFunc(all, func(a, b *Draw) int { return cmp.Compare(logScore(b), logScore(a)) })
		if len(got) != min(len(all), 100) {
			t.Fatalf("%s: %d, want %d", name, len(got), min(len(all), 100))
		}
		seen := make(map[string]bool)
		for k, b := range got {
			d := chains[b.Chain][b.Draw]
			if !sameSet(&d, b.ingredientSet()) || !reflect.DeepEqual(d.Parts, b.Parts) || !reflect.DeepEqual(d.Scores, b.Scores) || d.LogDensity != b.LogDensity {
				t.Errorf("%s, %d: %+v is not the draw %+v", name, k, b, d)
			}
			if math.Abs(b.LogScore-logScore(all[k])) > 1e-9 || math.Abs(b.Score-math.Exp(b.LogScore)) > 1e-12 {
				t.Errorf("%s, %d: log score %v, want %v", name, k, b.LogScore, logScore(all[k]))
			}
			if key := fmt.Sprint(b.ingredientSet()); seen[key] {
				t.Errorf("%s: %s twice", name, key)
			} else {
				seen[key] = true
			}
			if b.Known != s.IsKnownSet(b.ingredientSet()) {
				t.Errorf("%s, %d: known is %t", name, k, b.Known)
			}
		}
	}
	check("best", r.Best, func([]int) bool { return true })
	check("new", r.NewBest, func(set []int) bool { return !s.IsKnownSet(set) })

	if r.Tally.Iterations != 3*2*5000 || len(r.Chains) != 3 || r.Chains[0].Tally.Iterations != 2*5000 || r.Chains[0].StartTries < 1 {
		t.Errorf("the tallies are %+v of %+v", r.Tally, r.Chains)
	}
	if r.Timing.Iterations != 3*(500+2*5000) || !(r.Timing.Seconds > 0) {
		t.Errorf("the timing is %+v", r.Timing)
	}
	again, err := Merge(context.Background(), s, NewDirectoryStore(dir), Options{Workers: 1})
	if err != nil || fmt.Sprintf("%+v", again) == "" || !equalResults(again, r) || again.Timing != r.Timing {
		t.Errorf("the stored result is not the result: %v\n%+v\n%+v", err, again, r)
	}
}

// The figures of chains without properties, which are told of what changes only,
// are those of their draws too, beyond the number of draws that are all kept.
func TestFiguresWithoutProperties(t *testing.T) {
	kernels := []string{"balanced", "accelerated"}
	for _, kernel := range kernels[:testmode.Pick(2, 1)] {
		n := testmode.Pick(200, 50)
		s := newSpec(t, n, 60, mcmc.Uniform(3, testmode.Pick(20, 8)), mcmc.Settings{Kernel: kernel, Chains: 2, Warmup: 100, Draws: 140_000, Thin: 1, Seed: 6})
		dir, r := start(t, s, Options{})
		counts, amounts, sizes := make([]int, n), make([]int, n), make(map[int]int)
		used, density := 0.0, 0.0
		for _, draws := range collect(t, dir) {
			for _, d := range draws {
				for _, p := range d.Parts {
					counts[p.Ingredient]++
					amounts[p.Ingredient] += p.Amount
				}
				sizes[len(d.Parts)]++
				used += float64(len(d.Parts)) / 280_000
				density += d.LogDensity / 280_000
			}
		}
		for i, x := range r.Inclusion {
			if float64(x.Probability) != float64(counts[i])/280_000 || float64(x.MeanAmount) != float64(amounts[i])/float64(counts[i]) || !(x.MCSE > 0) {
				t.Fatalf("%s, ingredient %d: %+v, want %d draws and %d units", kernel, i, x, counts[i], amounts[i])
			}
		}
		for _, z := range r.Sizes {
			if float64(z.Observed) != float64(sizes[z.N])/280_000 {
				t.Errorf("%s, n = %d: %v, want %d draws", kernel, z.N, z.Observed, sizes[z.N])
			}
		}
		if math.Abs(float64(r.IngredientCount.Mean)-used) > 1e-9*used || math.Abs(float64(r.LogDensity.Mean)-density) > 1e-9*math.Abs(density) {
			t.Errorf("%s: means %v and %v, want %v and %v", kernel, r.IngredientCount.Mean, r.LogDensity.Mean, used, density)
		}
	}
}

// TestWithheld: where the chains have too few independent draws no error is stated, and
// each that was is told why; one that was not known keeps its own reason.
func TestWithheld(t *testing.T) {
	nan, few := math.NaN(), errors.New("few")
	made := func(ess float64) *Result {
		known := Statistic{Name: "known"}
		known.ESSBulk, known.SEMean, known.SEQ5, known.SEMedian, known.SEQ95 = 1e6, 1, 2, 3, 4
		slow, score := known, known
		slow.Name, slow.ESSBulk, slow.SEMean = "slow", number.Number(ess), number.Number(nan)
		slow.Undefined = []diagnose.UndefinedFigure{{Figure: "SEMean", Err: few}}
		return &Result{IngredientCount: known, LogDensity: known, Properties: []Statistic{slow}, Score: &score, Chains: make([]ChainResult, 4)}
	}
	for _, c := range []struct {
		ess  float64
		want string
	}{{1e5, "[1 2 3 4] [] [1 2 3 4] [] [NaN 2 3 4] [SEMean] [1 2 3 4] []"}, {5, "[NaN NaN NaN NaN] [SEMean SEQ5 SEMedian SEQ95] " +
		"[NaN NaN NaN NaN] [SEMean SEQ5 SEMedian SEQ95] [NaN NaN NaN NaN] [SEMean SEQ5 SEMedian SEQ95] [NaN NaN NaN NaN] [SEMean SEQ5 SEMedian SEQ95]"}} {
		r, got := made(c.ess), []string(nil)
		if slowest := r.withholdStandardErrors(); slowest != c.ess {
			t.Errorf("the slowest is %v, not %v", slowest, c.ess)
		}
		for _, s := range []*Statistic{&r.IngredientCount, &r.LogDensity, &r.Properties[0], r.Score} {
			var figures []string
			for _, u := range s.Undefined {
				figures = append(figures, u.Figure)
				if why := u.Err.Error(); why != "few" && !strings.HasPrefix(why, "withheld, as the row slow has ") {
					t.Errorf("%s of %s: %s", u.Figure, s.Name, why)
				}
			}
			got = append(got, fmt.Sprint([]float64{float64(s.SEMean), float64(s.SEQ5), float64(s.SEMedian), float64(s.SEQ95)}, figures))
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("with %v: %s\nwant %s", c.ess, all, c.want)
		}
	}
}

// equalResults compares all but the timing.
func equalResults(a, b *Result) bool {
	x, y := *a, *b
	x.Timing, y.Timing = Timing{}, Timing{}
	show := func(r Result) string {
		score, baseline, answer := r.Score, r.Baseline, shownAnswer(r.Answer)
		told, err := json.Marshal([]any{r.Ladders, r.LogZ})
		if err != nil {
			panic(err)
		}
		r.Score, r.Baseline, r.Answer, r.Ladders, r.LogZ = nil, nil, nil, nil, nil
		var ladders []mcmc.LadderStatistics
		r.Chains = slices.Clone(r.Chains)
		for k := range r.Chains {
			if l := r.Chains[k].Ladder; l != nil {
				both := *l
				if l.Learnt != nil {
					ladders = append(ladders, *l.Learnt)
				}
				both.Learnt = nil
				ladders, r.Chains[k].Ladder = append(ladders, both), nil
			}
		}
		return fmt.Sprintf("%+v %+v %+v %+v %s %s", r, score, baseline, ladders, told, answer)
	}
	return show(x) == show(y)
}

// Without properties every draw has the same score, and the best are those of
// the highest density, the earliest first.
func TestBestWithoutProperties(t *testing.T) {
	s := newSpec(t, 30, 50, mcmc.Uniform(2, 6), mcmc.Settings{Kernel: "balanced", Chains: 2, Draws: 20_000, Thin: 1, Seed: 5})
	dir, r := start(t, s, Options{})
	type candidate struct{ d Draw }
	var all []candidate
	for _, draws := range collect(t, dir) {
		for _, d := range draws {
			all = append(all, candidate{d})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.d.LogDensity, a.d.LogDensity) })
	for name, got := range map[string][]Best{"best": r.Best, "new": r.NewBest} {
		seen := make(map[string]bool)
		k := 0
		for _, c := range all {
			var set []int
			for _, p := range c.d.Parts {
				set = append(set, p.Ingredient)
			}
			if key := fmt.Sprint(set); seen[key] || name == "new" && s.IsKnownSet(set) {
				continue
			} else {
				seen[key] = true
			}
			if k == len(got) {
				break
			}
			if b := got[k]; b.Chain != c.d.Chain || b.Draw != c.d.Draw || b.Score != 1 {
				t.Fatalf("%s, %d: draw %d of chain %d with score %v, want draw %d of chain %d", name, k, b.Draw, b.Chain, b.Score, c.d.Draw, c.d.Chain)
			}
			k++
		}
		if k != 100 {
			t.Errorf("%s: %d found", name, k)
		}
	}
	if r.Score != nil || r.Baseline != nil {
		t.Error("there is a score without a property")
	}
}

// What comes of a seed is what came of it before: the draws, what the chains met, and
// each figure of them.
func TestResultAsBefore(t *testing.T) {
	var got bytes.Buffer
	for _, kernel := range []string{"balanced", "tempered"} {
		s := smallSpec(t, mcmc.Settings{Kernel: kernel, Chains: 2, Warmup: 200, Draws: 300, Thin: 1, Seed: 4})
		dir, r := start(t, s, Options{Workers: 1})
		sum := fnv.New64a()
		fmt.Fprint(sum, collect(t, dir))
		fmt.Fprintf(&got, "%s\ndraws %x\nmoves %+v\nlaw %v %v\nunlisted %+v\nnotes %q\niterations %d\n", kernel, sum.Sum64(), r.Tally, r.Variation, r.ExpectedVariation, r.Unlisted, r.Notes, r.Timing.Iterations)
		for _, c := range r.Chains {
			fmt.Fprintf(&got, "chain %d %+v\n", c.StartTries, c.Tally)
			if c.Ladder != nil {
				fmt.Fprintf(&got, "ladder %+v\n", *c.Ladder)
			}
		}
		for _, n := range r.Sizes {
			fmt.Fprintf(&got, "%+v\n", n)
		}
		for _, x := range append([]Statistic{r.IngredientCount, r.LogDensity, *r.Score}, r.Properties...) {
			fmt.Fprintf(&got, "%+v\n", x)
		}
		for _, i := range r.Inclusion {
			fmt.Fprintf(&got, "%+v\n", i)
		}
		for _, b := range append(r.Best[:20:20], r.NewBest[:20]...) {
			fmt.Fprintf(&got, "%+v\n", b)
		}
		fmt.Fprintf(&got, "random %v ± %v of %d\n", float64(r.Baseline.Random), float64(r.Baseline.RandomSE), len(r.Baseline.LogScores))
	}
	golden.Compare(t, "testdata/result.txt", got.Bytes())
}

// The baseline's mean is within 4.5 standard errors of the exact one, found by
// enumeration: a false alarm in 150,000 seeds.
func TestBaseline(t *testing.T) {
	property := func(x *mcmc.Composition) float64 { return float64(x.Amount(0)*x.Amount(0)) / 36 }
	s := newSpec(t, 5, 6, mcmc.Table(map[int]float64{1: 1, 2: 3, 4: 2}),
		mcmc.Settings{Kernel: "naive", Chains: 1, Draws: 100_000, Thin: 1, Seed: 2}, mcmc.Objective{Name: "first", Property: mcmc.ScoreFunc(property), Weight: 0.5})
	b, err := newBaseline(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	// The score is x_0/6. Given n, each ingredient has 6/5 units on average.
	if z := (float64(b.Random) - 1.0/5) / float64(b.RandomSE); math.Abs(z) > 4.5 || len(b.LogScores) != 10_000 || !(float64(b.RandomSE) > 0) {
		t.Errorf("the mean of %d is %v ± %v, want 0.2", len(b.LogScores), float64(b.Random), float64(b.RandomSE))
	}
	squares := 0.0
	for _, score := range b.LogScores {
		squares += (math.Exp(score) - float64(b.Random)) * (math.Exp(score) - float64(b.Random))
	}
	if want := math.Sqrt(squares / 9999 / 10_000); !near(float64(b.RandomSE), want) {
		t.Errorf("its standard error is %v, want %v", float64(b.RandomSE), want)
	}
	for draws, want := range map[int]int{1: 100, 5000: 500, 99_990: 9999, 1 << 40: 10_000} {
		settings := mcmc.Settings{Chains: 1, Draws: draws, Thin: 1}
		if got := baselineSize(&settings); got != want {
			t.Errorf("%d draws: %d, want %d", draws, got, want)
		}
	}
}

// TestFindsAreInTheShortlist runs tempered chains and looks at what is best:
// finds among it, each with the scores that its composition has, in order, one
// of each set; and what is said to be drawn is that draw.
func TestFindsAreInTheShortlist(t *testing.T) {
	s := smallSpec(t, mcmc.Settings{Kernel: "tempered", Chains: 1, Warmup: 100, Draws: 600, Thin: 2, Seed: 4})
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Start(t.Context(), s, NewDirectoryStore(dir), Options{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := Open(context.Background(), NewDirectoryStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	draws := make(map[[2]int][]mcmc.Part)
	for d, err := range made.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		draws[[2]int{d.Chain, d.Draw}] = slices.Clone(d.Parts)
	}
	found := 0
	for name, list := range map[string][]Best{"best": r.Best, "new": r.NewBest} {
		if !slices.IsSortedFunc(list, Best.Compare) {
			t.Errorf("%s is not in order", name)
		}
		sets := make(map[string]bool)
		for _, b := range list {
			x, err := mcmc.NewComposition(s.Target.Space().N(), b.Parts...)
			if err != nil {
				t.Fatal(err)
			}
			want, err := s.Target.LogScore(x)
			if err != nil || math.Abs(want-b.LogScore) > 1e-9 {
				t.Errorf("%s: %v scores %v, and not %v; %v", name, x, want, b.LogScore, err)
			}
			scores, err := s.Target.AppendScores(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			for k, y := range scores {
				if math.Abs(y-b.Scores[k]) > 1e-9*y {
					t.Errorf("%s: %v has scores %v, and not %v", name, x, scores, b.Scores)
				}
			}
			if key := fmt.Sprint(b.ingredientSet()); sets[key] {
				t.Errorf("%s has the set %s twice", name, key)
			} else {
				sets[key] = true
			}
			if name == "new" && s.IsKnownSet(b.ingredientSet()) {
				t.Errorf("%v is known", x)
			}
			if b.Found {
				found++
			} else if parts := draws[[2]int{b.Chain, b.Draw}]; !slices.Equal(parts, b.Parts) {
				t.Errorf("%s: draw %d of chain %d is %v, and not %v", name, b.Draw, b.Chain, parts, b.Parts)
			}
		}
	}
	if found == 0 {
		t.Error("nothing was found on the way")
	}
	// What is not in the book is the best of all that is not, finds too.
	fresh := slices.DeleteFunc(slices.Clone(r.Best), func(b Best) bool { return b.Known })
	if len(fresh) == 0 || len(r.NewBest) < len(fresh) || !reflect.DeepEqual(r.NewBest[:len(fresh)], fresh) {
		t.Errorf("of the best %v is not in the book, and %v is called new", fresh, r.NewBest)
	} else if !slices.ContainsFunc(r.NewBest[len(fresh):], func(b Best) bool { return b.Found }) {
		t.Error("nothing that was found is new beyond the best of all")
	}
}
