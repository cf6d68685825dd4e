package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/search"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// books is how many books of trials each row of the table is the mean of.
const books = 4

// TestGrades measures what the words for a model are worth: books of 200 trials whose
// liking has more and more noise, and at last none of the truth. The share of the
// gain is that of the true liking of twenty entries over random glasses, of what the
// best glass, of 95, has.
func TestGrades(t *testing.T) {
	var last float64
	for _, noise := range testmode.Pick([]float64{2, 10, 20, 30, 45, -1}, []float64{2, -1}) {
		words := make(map[model.Strength]int)
		var r2, gain, left float64
		doubtful := 0
		for seed := range uint64(books) {
			b := newBook(t, noise, seed, forestOf)
			words[b.strength]++
			r2 += b.r2 / books
			gain += b.gain / books
			left += b.left / books
			if b.left < 0.25 {
				doubtful++
			}
		}
		t.Logf("noise %3.0f: R² %5.2f, weak %d, fair %d, good %d; left %5.2f, doubtful %d; share of the gain %.2f", noise, r2, words[model.WeakStrength], words[model.Fair], words[model.Good], left, doubtful, gain)
		if noise == 2 && (words[model.WeakStrength] > 0 || gain < 0.5) || noise < 0 && (words[model.WeakStrength] < books || doubtful < books-1) || noise >= 0 && noise <= 20 && doubtful > 0 {
			t.Errorf("noise %v: %v, %d doubtful, share of the gain %.2f", noise, words, doubtful, gain)
		}
		last = gain
	}
	if last > 0.35 {
		t.Errorf("with labels that tell nothing %.2f of the gain is made", last)
	}
}

// TestExpected measures what is learnt by default beside a forest of best splits, and
// whether what is expected after selection comes true: the mean of what the shortlist of a
// book promises, what is expected of it, and what it has in truth. What is expected must not
// be above the truth, nor below it by more than 5 of the 43 that the best glass has above
// random ones, by more than two standard errors over the books: where it is at a bound, a
// false alarm in 40; seeds are fixed.
func TestExpected(t *testing.T) {
	for _, noise := range testmode.Pick([]float64{2, 10, 20, 30, 45}, []float64{10, 30}) {
		var forests, learnt, promised, expected moments
		for seed := range testmode.Pick(uint64(8), uint64(books)) {
			f, m := newBook(t, noise, seed, forestOf), newBook(t, noise, seed, learntOf)
			forests.add(f.found)
			learnt.add(m.found)
			promised.add(m.promised - m.found)
			expected.add(m.expected - m.found)
		}
		t.Logf("noise %2.0f: true liking %.1f ± %.1f of a forest, %.1f ± %.1f learnt; promised %+.1f ± %.1f above the truth, expected %+.1f ± %.1f", noise,
			forests.mean(), forests.se(), learnt.mean(), learnt.se(), promised.mean(), promised.se(), expected.mean(), expected.se())
		if gap := expected.mean(); gap > 2*expected.se() || gap < -5-2*expected.se() {
			t.Errorf("noise %v: what is expected is %.1f ± %.1f above the truth", noise, gap, expected.se())
		}
	}
}

// moments are a mean with its error.
type moments []float64

func (m *moments) add(v float64) { *m = append(*m, v) }

func (m moments) mean() (mean float64) {
	for _, v := range m {
		mean += v / float64(len(m))
	}
	return mean
}

func (m moments) se() float64 {
	sum := 0.0
	for _, v := range m {
		sum += (v - m.mean()) * (v - m.mean())
	}
	return math.Sqrt(sum / float64(len(m)-1) / float64(len(m)))
}

// graded is what came of a book.
type graded struct {
	strength       model.Strength
	r2, gain, left float64

	promised, expected, found float64 // mean liking of the shortlist
}

// A predictor is what was learnt of a book.
type predictor interface {
	Quality() model.Quality
	Predict(x []int32) model.Prediction
}

func forestOf(t *testing.T, d *model.Data, seed uint64) (mcmc.Property, predictor, error) {
	f, err := model.Grow(t.Context(), d, model.Options{Splits: model.BestSplits, Seed: seed, Trees: 100})
	if err != nil {
		return nil, nil, err
	}
	score, err := f.Score(model.Maximize())
	return property.NewForest(score, 0), f, err
}

func learntOf(t *testing.T, d *model.Data, seed uint64) (mcmc.Property, predictor, error) {
	m, err := model.Learn(t.Context(), d, model.LearnOptions{Forest: model.Options{Seed: seed, Trees: 100}})
	if err != nil {
		return nil, nil, err
	}
	score, err := m.Score(model.Maximize())
	return property.NewLearned(score, 0), m, err
}

// newBook makes trials, with labels of that noise or, if it is negative, shuffled
// ones, and searches what is learnt of them.
func newBook(t *testing.T, noise float64, seed uint64, learn func(*testing.T, *model.Data, uint64) (mcmc.Property, predictor, error)) graded {
	t.Helper()
	r := rand.New(rand.NewPCG(91, seed))
	truth := func(x []int32) float64 {
		amounts := make([]int, len(x))
		for i, a := range x {
			amounts[i] = int(a)
		}
		sum := 0.0
		const tastings = 30 // of a normal error of 2 each
		for k := range uint64(tastings) {
			liking, _, _ := labels(rand.New(rand.NewPCG(92, k)), amounts)
			sum += liking / tastings
		}
		return sum
	}
	data := &model.Data{Label: "liking", Total: glass}
	for _, i := range ingredients {
		data.Ingredients = append(data.Ingredients, i.name)
	}
	var known []*mcmc.Composition
	sizes := make(map[int]float64)
	for range trials {
		var parts []mcmc.Part
		var row []model.Part
		for i, ml := range trial(r) {
			if ml > 0 {
				parts = append(parts, mcmc.Part{Ingredient: i, Amount: ml})
				row = append(row, model.Part{Ingredient: int32(i), Amount: int32(ml)})
			}
		}
		x, err := mcmc.NewComposition(len(ingredients), parts...)
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, x)
		sizes[x.UsedCount()]++
		data.Rows = append(data.Rows, row)
		data.Numbers = append(data.Numbers, truth(x.Amounts())+max(noise, 0)*r.NormFloat64())
	}
	if noise < 0 {
		r.Shuffle(trials, func(a, b int) { data.Numbers[a], data.Numbers[b] = data.Numbers[b], data.Numbers[a] })
	}
	space, err := mcmc.NewSpace(len(ingredients), glass)
	if err != nil {
		t.Fatal(err)
	}
	target := func(d *model.Data) (*mcmc.Target, predictor, error) {
		wish, f, err := learn(t, d, seed)
		if err != nil {
			return nil, nil, err
		}
		of, err := mcmc.NewTarget(space, mcmc.Table(sizes), mcmc.Objective{Name: "liking", Property: wish, Weight: 1})
		return of, f, err
	}
	all, f, err := target(data)
	if err != nil {
		t.Fatal(err)
	}
	least, most := search.KnownAmountRanges(len(ingredients), known)
	q := &search.Question{Target: all, Effort: 1, Known: known, Least: least, Most: most, HalfTargets: func(_ context.Context, seed uint64) (own, other *mcmc.Target, err error) {
		one, two := data.SplitIntoHalves(seed)
		if own, _, err = target(one); err != nil {
			return nil, nil, err
		}
		other, _, err = target(two)
		return own, other, err
	}}
	a, err := q.Answer(t.Context(), search.RunContext{Iterations: 16_000, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	var found, random, promised, chance float64
	for _, e := range a.Entries {
		x, err := mcmc.NewComposition(len(ingredients), e.Parts...)
		if err != nil {
			t.Fatal(err)
		}
		found += truth(x.Amounts()) / float64(len(a.Entries))
		promised += f.Predict(x.Amounts()).Value / float64(len(a.Entries))
	}
	const draws = 300
	prior, stream := mcmc.NewPrior(all), mcmc.NewRand(seed, "grades", 0)
	for range draws {
		x, err := prior.Draw(stream)
		if err != nil {
			t.Fatal(err)
		}
		random += truth(x.Amounts()) / draws
		chance += f.Predict(x.Amounts()).Value / draws
	}
	quality := f.Quality()
	left := float64(a.OptimismCheck.RemainingGain)
	half := min(max(left, 0), 1)
	kept := math.Sqrt(2 * half / (1 + half)) // as reports have it
	return graded{quality.Strength(), quality.Numbers.R2, (found - random) / (95 - random), left, promised, chance + kept*(promised-chance), found}
}
