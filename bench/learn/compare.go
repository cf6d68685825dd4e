package main

import (
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
}

// A measure is what came of a model on one split.
type measure struct {
	rmse, loss, r2, held float64 // loss: CRPS, or log loss of classes
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
}

// results are those of all books, and the models in their order.
type results struct {
	books  []result
	models []string
}

// wanted says whether a name is among those that are asked for.
func wanted(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

func (c *comparison) compare(ctx context.Context) (*results, error) {
	var books []*known
	splits := make(map[string][]split)
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
		books = append(books, k)
		splits[s.name] = splitsOf(len(k.data.Rows), c.seed)
		if c.splits > 0 {
			splits[s.name] = splits[s.name][:min(c.splits, len(splits[s.name]))]
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
		r := result{book: k.name, rows: len(k.data.Rows), learnt: len(splits[k.name][0].Train), classes: k.data.Classes != nil, of: make(map[string][]measure)}
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
				m := measured(f, test.Numbers)
				r.of[l.name] = append(r.of[l.name], m)
				if c.each {
					fmt.Fprintf(os.Stderr, "%s, split %d, %s: %+v\n", k.name, n, l.name, m)
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
	return askSklearn(ctx, c.python, names, books, splits, func(book, model string, n int, f []forecast) {
		b := at[book]
		var numbers []float64
		if d := books[b].data; d.Numbers != nil {
			numbers = part(d, splits[book][n].Test).Numbers
		}
		out.books[b].of[model] = append(out.books[b].of[model], measured(f, numbers))
	})
}
