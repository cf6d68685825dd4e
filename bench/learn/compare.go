package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
)

// A comparison is what is to be compared.
type comparison struct {
	directory, root string
	books, models   []string
	splits          int
	python          string
	seed            uint64
	each            bool

	folds, rounds int   // of cross-validation, in place of halves and few rows; 0: none
	sizes         []int // how many rows of each book are cross-validated, one after another
}

// parts returns the books that a book is compared as, with their splits: itself, or as many
// rows of it as each size asks for.
func (c *comparison) parts(k *known) (books []*known, splits [][]split) {
	if c.folds == 0 {
		return []*known{k}, [][]split{splitsOf(len(k.data.Rows), c.seed)}
	}
	for n, size := range c.sizes {
		if n > 0 && c.sizes[n-1] >= len(k.data.Rows) {
			break // all rows were compared
		}
		some := k.some(size, c.seed)
		some.name = fmt.Sprintf("%s, %d", k.name, len(some.data.Rows))
		books = append(books, some)
		splits = append(splits, foldsOf(len(some.data.Rows), c.folds, c.rounds, c.seed))
	}
	return books, splits
}

// A measure is what came of a model on one split.
type measure struct {
	rmse, loss, r2, held float64 // loss: CRPS, or log loss of classes
	optimism             float64 // see optimism; 0 for classes
}

// extremeShare is the share of the rows whose predictions optimism compares: one in so many.
const extremeShare = 50

// optimism returns by how much the most extreme predictions are too extreme, in standard deviations
// of the numbers. It is the mean over the highest predictions, which are too high if it is above 0,
// and the lowest, which are then too low. A search chooses such recipes.
func optimism(f []forecast, numbers []float64, sd float64) float64 {
	order := make([]int, len(f))
	for r := range order {
		order[r] = r
	}
	predicted := func(r int) float64 { return numbers[r] + f[r].Error }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(predicted(a), predicted(b)) })
	n := max(1, len(f)/extremeShare)
	sum := 0.0
	for k := range n {
		sum += f[order[len(f)-1-k]].Error - f[order[k]].Error
	}
	return sum / float64(2*n) / sd
}

// measured returns the measures of forecasts of rows; numbers is nil for classes.
func measured(f []forecast, numbers []float64) (m measure) {
	n := float64(len(f))
	mean := 0.0
	for _, y := range numbers {
		mean += y / n
	}
	squares, all := 0.0, 0.0
	for r, v := range f {
		squares += v.Error * v.Error
		m.loss += v.Loss / n
		if v.Held {
			m.held += 1 / n
		}
		if numbers != nil {
			all += (numbers[r] - mean) * (numbers[r] - mean)
		}
	}
	m.rmse = math.Sqrt(squares / n)
	if all > 0 {
		m.r2 = 1 - squares/all
		m.optimism = optimism(f, numbers, math.Sqrt(all/n))
	}
	return m
}

// A result is what came of all models on one book, by model and split.
type result struct {
	book    string
	rows    int
	learnt  int // rows
	classes bool
	of      map[string][]measure

	source string                // the book that the rows are of
	folds  int                   // so many splits make one measure
	dealt  map[string][]forecast // of the splits that no measure has yet, by model
	labels map[string][]float64  // of the same rows
}

// newResult returns the result of a book before any model.
func newResult(k *known, source string, learnt, folds int) *result {
	return &result{
		book: k.name, source: source, rows: len(k.data.Rows), learnt: learnt, classes: k.data.Classes != nil, folds: folds,
		of: make(map[string][]measure), dealt: make(map[string][]forecast), labels: make(map[string][]float64),
	}
}

// add adds the forecasts of a model on its next split. numbers is nil for classes.
func (r *result) add(model string, split int, f []forecast, numbers []float64) {
	r.dealt[model], r.labels[model] = append(r.dealt[model], f...), append(r.labels[model], numbers...)
	if (split+1)%r.folds == 0 {
		r.of[model] = append(r.of[model], measured(r.dealt[model], r.labels[model]))
		r.dealt[model], r.labels[model] = nil, nil
	}
}

// results are those of all books, and the models in their order.
type results struct {
	books  []*result
	models []string
}

// wanted says whether a name is among those that are asked for.
func wanted(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

func (c *comparison) compare(ctx context.Context) (*results, error) {
	var books []*known
	splits := make(map[string][]split)
	sourceOf := make(map[string]string)
	var found []string
	for _, s := range sources() {
		if !wanted(c.books, s.name) {
			continue
		}
		found = append(found, s.name)
		k, err := s.read(ctx, c.directory, c.root)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		if k == nil {
			fmt.Fprintf(os.Stderr, "%s is left out: there is no %s. Name the directory of the tables with -experiments or %s.\n", s.name, s.file, directoryVariable)
			continue
		}
		parts, dealt := c.parts(k)
		for n, part := range parts {
			books = append(books, part)
			sourceOf[part.name] = s.name
			if splits[part.name] = dealt[n]; c.splits > 0 {
				splits[part.name] = dealt[n][:min(c.splits, len(dealt[n]))]
			}
		}
	}
	for _, name := range c.books {
		if !slices.Contains(found, name) {
			return nil, fmt.Errorf("there is no book %q", name)
		}
	}
	out := &results{}
	var all []learner
	for _, l := range learners() {
		if wanted(c.models, l.name) || l.name == today {
			all = append(all, l)
			out.models = append(out.models, l.name)
		}
	}
	at := make(map[string]int)
	for b, k := range books {
		at[k.name] = b
		r := newResult(k, sourceOf[k.name], len(splits[k.name][0].Train), max(1, c.folds))
		for n, s := range splits[k.name] {
			train, test := part(k.data, s.Train), part(k.data, s.Test)
			for _, l := range all {
				f, err := l.learn(ctx, k, train, test, c.seed+uint64(n))
				if err != nil {
					return nil, fmt.Errorf("%s on %s: %w", l.name, k.name, err)
				}
				if f == nil {
					continue // not for such labels
				}
				r.add(l.name, n, f, test.Numbers)
				if c.each {
					fmt.Fprintf(os.Stderr, "%s, split %d, %s: %+v\n", k.name, n, l.name, measured(f, test.Numbers))
				}
			}
		}
		fmt.Fprintf(os.Stderr, "%s done: %d rows, %s\n", k.name, len(k.data.Rows), describe(k.ingredients))
		out.books = append(out.books, r)
	}
	if err := c.addSklearn(ctx, out, books, splits, at); err != nil {
		return nil, err
	}
	return out, nil
}

// addSklearn adds the models of Python, if they are asked for and there.
func (c *comparison) addSklearn(ctx context.Context, out *results, books []*known, splits map[string][]split, at map[string]int) error {
	var names []string
	for _, name := range sklearnModels() {
		if wanted(c.models, name) {
			names = append(names, name)
		}
	}
	if c.python == "" || len(names) == 0 {
		return nil
	}
	if err := sklearnReady(ctx, c.python); err != nil {
		fmt.Fprintf(os.Stderr, "scikit-learn is left out: %v\n", err)
		return nil
	}
	out.models = append(out.models, names...)
	together := len(names) == len(sklearnModels())
	if together {
		out.models = append(out.models, sklearnMean)
	}
	sums := make(map[string][][]forecast) // by book and split, over the models so far
	return askSklearn(ctx, c.python, names, books, splits, func(book, model string, n int, f []forecast) {
		r := out.books[at[book]]
		numbers := part(books[at[book]].data, splits[book][n].Test).Numbers
		r.add(model, n, f, numbers)
		if !together || numbers == nil {
			return
		}
		if sums[book] == nil {
			sums[book] = make([][]forecast, len(splits[book]))
		}
		sums[book][n] = addForecasts(sums[book][n], f, 1/float64(len(names)))
		if model == names[len(names)-1] {
			r.add(sklearnMean, n, sums[book][n], numbers)
		}
	})
}

// sklearnMean is the name of the mean of scikit-learn's predictions.
const sklearnMean = "sklearn mean"

// addForecasts returns sum and by times the errors of f. Of a mean of predictions nothing else is
// known: the loss is not a number.
func addForecasts(sum, f []forecast, by float64) []forecast {
	if sum == nil {
		sum = make([]forecast, len(f))
	}
	for r := range f {
		sum[r].Error += by * f[r].Error
		sum[r].Loss = math.NaN()
	}
	return sum
}
