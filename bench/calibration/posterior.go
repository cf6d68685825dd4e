package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sync/errgroup"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/internal/run"
	"kir/internal/testonly/stattest"
	"kir/mcmc"
	"kir/property"
)

// drawMixture draws a mixture of topics from the prior, the sparsity law: the
// number of topics, which they are, and where the cuts between them fall.
func drawMixture(r *rand.Rand) []int {
	law, sum := fallingLaw(1), 0.0
	for n := 1; n <= len(topics); n++ {
		sum += law(n)
	}
	u, n := r.Float64()*sum, 1
	for ; n < len(topics) && u >= law(n); n++ {
		u -= law(n)
	}
	cuts := make([]bool, documentTotal)
	for _, at := range r.Perm(documentTotal - 1)[:n-1] {
		cuts[at+1] = true
	}
	x, used := make([]int, len(topics)), r.Perm(len(topics))[:n]
	at := 0
	for unit := range documentTotal {
		if cuts[unit] {
			at++
		}
		x[used[at]]++
	}
	return x
}

// drawWords draws the words of a document from a mixture: how often each.
func drawWords(r *rand.Rand, x []int, length int) []int {
	counts := make([]int, len(topics[0]))
	for range length {
		u, w := r.Float64(), 0
		for ; w < len(counts)-1; w++ {
			if u -= wordShare(x, w); u < 0 {
				break
			}
		}
		counts[w]++
	}
	return counts
}

const (
	// ranked is how many draws of a posterior the truth is ranked among.
	ranked = 19
	// rankedWords is how many words a document has.
	rankedWords = 20
)

// rankedThin is how many iterations lie between two draws that count as
// independent.
var rankedThin = map[string]int{"accelerated": 300, "balanced": 200, "gibbs": 300, "naive": 20_000, "tempered": 20}

// ranks is simulation-based calibration (Talts, Betancourt, Simpson, Vehtari and
// Gelman, 2018): mixtures are drawn from the prior and documents from the mixtures,
// kir draws from the posterior of each, and the mixture's rank among its draws is
// uniform on 0..ranked. It is returned for each of rankedNames, by number of runs;
// ties are broken at random. Everything goes through files: the problem's and the
// run's.
func ranks(ctx context.Context, kernel string, runs, workers int, seed uint64, weight float64) ([][]int, error) {
	dir, err := os.MkdirTemp("", "calibration")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	all := make([][]int, runs)
	var g errgroup.Group
	g.SetLimit(workers)
	for k := range runs {
		g.Go(func() (err error) {
			r := rand.New(rand.NewPCG(seed, uint64(k)))
			all[k], err = rankOf(ctx, r, filepath.Join(dir, strconv.Itoa(k)), kernel, weight)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	counts := make([][]int, len(rankedNames))
	for q := range counts {
		counts[q] = make([]int, ranked+1)
		for k := range all {
			counts[q][all[k][q]]++
		}
	}
	return counts, nil
}

// rankedNames are what is ranked.
var rankedNames = []string{"number of topics", "share of topic 1", "share of topic 5", "likelihood"}

// rankedFigures are the figures of a mixture, in the order of rankedNames.
func rankedFigures(x []int, likelihood func(x []int) float64) []float64 {
	return []float64{float64(used(x)), float64(x[0]), float64(x[4]), likelihood(x)}
}

// rankOf draws a mixture and a document and ranks the figures of the mixture among
// those of the document's posterior.
func rankOf(ctx context.Context, r *rand.Rand, dir, kernel string, weight float64) ([]int, error) {
	truth := drawMixture(r)
	s := documentOf("ranked", "", drawWords(r, truth, rankedWords), weight)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := s.write(dir)
	if err != nil {
		return nil, err
	}
	thin := rankedThin[kernel]
	p, err := compile.Load(ctx, path, compile.Options{OverrideSampler: func(settings *mcmc.Settings) {
		*settings = mcmc.Settings{Kernel: kernel, Chains: 1, Warmup: 5 * thin, Draws: ranked, Thin: thin, Seed: r.Uint64() >> 12}
	}})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	to := filepath.Join(dir, "run")
	if _, err := run.Start(ctx, specOf(p), run.NewDirectoryStore(to), run.Options{Workers: 1}); err != nil {
		return nil, err
	}
	made, err := run.Open(ctx, run.NewDirectoryStore(to))
	if err != nil {
		return nil, err
	}
	likelihood := s.law.Objectives[0].Score
	want := rankedFigures(truth, likelihood)
	below, equal := make([]int, len(want)), make([]int, len(want))
	for d, err := range made.Draws(ctx) {
		if err != nil {
			return nil, err
		}
		x := make([]int, len(topics))
		for _, part := range d.Parts {
			x[part.Ingredient] = part.Amount
		}
		for q, v := range rankedFigures(x, likelihood) {
			switch {
			case math.Abs(v-want[q]) <= 1e-12*math.Abs(want[q]):
				equal[q]++
			case v < want[q]:
				below[q]++
			}
		}
	}
	for q := range below {
		below[q] += r.IntN(equal[q] + 1)
	}
	return below, nil
}

// specOf is what to run of a problem.
func specOf(p *compile.Problem) *run.Spec {
	return &run.Spec{Name: p.Name, Ingredients: p.Ingredients, Target: p.Target, Settings: p.Sampler, ResolvedProblem: p.Resolved, Version: "calibration"}
}

// uniformRanks returns the p-value of ranks that are uniform, the smallest of all
// figures times their number.
func uniformRanks(counts [][]int) float64 {
	law := make([]float64, ranked+1)
	for k := range law {
		law[k] = 1 / float64(ranked+1)
	}
	least := 1.0
	for _, c := range counts {
		p, _ := stattest.TestLaw(c, law)
		least = min(least, p*float64(len(counts)))
	}
	return least
}

// jointWords is how many words a document of the joint test has, few so that
// mixture and document do not hold each other fast.
const jointWords = 8

// jointSteps is how many iterations a mixture moves between two documents: more
// with naive, which hits on a single topic once in 10,000.
func jointSteps(kernel string) int {
	if kernel == "naive" {
		return 500
	}
	return 5
}

// joint is Geweke's test (Getting it right, JASA 99, 2004): a document is drawn
// given the mixture and the mixture moved given the document, in turn. So it walks
// through the joint law of both, in which the mixture follows the prior and the
// words their mean over it. It returns how many standard errors the figure that is
// furthest off is off, of 22: the law of n, the mean share of each topic and the
// mean number of each word.
func joint(kernel string, turns int, seed uint64, weight float64) (z float64, at string, err error) {
	const chains = 4
	space, err := mcmc.NewSpace(len(topics), documentTotal)
	if err != nil {
		return 0, "", err
	}
	type figure struct {
		name   string
		want   float64
		chains [][]float64
	}
	var figures []*figure
	add := func(want float64, format string, args ...any) {
		figures = append(figures, &figure{fmt.Sprintf(format, args...), want, make([][]float64, chains)})
	}
	law, sum := fallingLaw(1), 0.0
	for n := 1; n <= len(topics); n++ {
		sum += law(n)
	}
	for n := 1; n <= len(topics); n++ {
		add(law(n)/sum, "%d topics", n)
	}
	for t := range topics {
		add(float64(documentTotal)/float64(len(topics)), "topic %d", t+1)
	}
	for w := range topics[0] {
		mean := 0.0
		for t := range topics {
			mean += topics[t][w] / float64(len(topics))
		}
		add(jointWords*mean, "word %d", w+1)
	}
	for c := range chains {
		r, moves := rand.New(rand.NewPCG(seed, uint64(c))), mcmc.NewRand(seed, "joint", uint64(c))
		x := drawMixture(r)
		for range turns {
			counts := drawWords(r, x, jointWords)
			if x, err = moved(kernel, space, moves, x, counts, weight); err != nil {
				return 0, "", err
			}
			row := make([]float64, 0, len(figures))
			for n := 1; n <= len(topics); n++ {
				row = append(row, 0)
				if used(x) == n {
					row[n-1] = 1
				}
			}
			for _, units := range x {
				row = append(row, float64(units))
			}
			for _, count := range counts {
				row = append(row, float64(count))
			}
			for k, v := range row {
				figures[k].chains[c] = append(figures[k].chains[c], v)
			}
		}
	}
	for _, f := range figures {
		s := diagnose.Summarize(f.chains)
		if err := s.ReasonFor("SEMean"); err != nil {
			return 0, "", fmt.Errorf("%s: %w", f.name, err)
		}
		if d := math.Abs(float64(s.Mean)-f.want) / float64(s.SEMean); d > z {
			z, at = d, f.name
		}
	}
	return z, at, nil
}

// moved is a mixture after some iterations of a kernel given a document.
func moved(kernel string, space *mcmc.Space, r *mcmc.Rand, x, counts []int, weight float64) ([]int, error) {
	rows, some := make([][]float64, len(topics)), []int{}
	for w, n := range counts {
		if n == 0 {
			continue
		}
		some = append(some, n)
		for t := range topics {
			rows[t] = append(rows[t], topics[t][w])
		}
	}
	words, err := property.NewDocument(rows, some, documentTotal)
	if err != nil {
		return nil, err
	}
	target, err := mcmc.NewTarget(space, mcmc.Exponential(1), mcmc.Objective{Name: "words", Property: words, Weight: weight})
	if err != nil {
		return nil, err
	}
	k, err := mcmc.NewKernel(kernel, target)
	if err != nil {
		return nil, err
	}
	var parts []mcmc.Part
	for t, units := range x {
		if units > 0 {
			parts = append(parts, mcmc.Part{Ingredient: t, Amount: units})
		}
	}
	composition, err := mcmc.NewComposition(len(x), parts...)
	if err != nil {
		return nil, err
	}
	state, err := mcmc.NewState(target, composition)
	if err != nil {
		return nil, err
	}
	var tally mcmc.Tally
	if err := k.Advance(r, state, jointSteps(kernel), &tally); err != nil {
		return nil, err
	}
	next := make([]int, len(x))
	for t := range next {
		next[t] = state.Composition.Amount(t)
	}
	return next, nil
}
