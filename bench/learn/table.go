package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// A value is a mean and its standard error.
type value struct{ mean, se float64 }

// meanOf returns the mean of numbers and its standard error, as if they were
// independent: the halves of a book are not quite.
func meanOf(numbers []float64) value {
	n := float64(len(numbers))
	sum, squares := 0.0, 0.0
	for _, v := range numbers {
		sum += v
	}
	mean := sum / n
	for _, v := range numbers {
		squares += (v - mean) * (v - mean)
	}
	if n < 2 {
		return value{mean, 0}
	}
	return value{mean, math.Sqrt(squares / (n - 1) / n)}
}

// percentAbove returns by how many per cent a measure of a model is above that of the model base, in the
// mean over splits of the logarithm of their ratio, and its error.
func (r *result) percentAbove(model, base string, of func(measure) float64) (value, bool) {
	var logs []float64
	for n, m := range r.of[model] {
		if n < len(r.of[base]) && !math.IsNaN(of(m)) {
			logs = append(logs, math.Log(of(m)/of(r.of[base][n])))
		}
	}
	if len(logs) == 0 {
		return value{}, false
	}
	v := meanOf(logs)
	return value{100 * math.Expm1(v.mean), 100 * math.Exp(v.mean) * v.se}, true
}

// overBest returns by how many per cent a measure is above that of scikit-learn's model that is
// best on this book, as percentAbove does.
func (r *result) overBest(model string, of func(measure) float64) (value, bool) {
	best, least := "", math.Inf(1)
	for _, name := range append(sklearnModels(), sklearnMean) {
		if v, ok := r.percentAbove(name, today, of); ok && v.mean < least {
			best, least = name, v.mean
		}
	}
	return r.percentAbove(model, best, of)
}

// mean returns the mean of a measure over the splits.
func (r *result) mean(model string, of func(measure) float64) (value, bool) {
	var all []float64
	for _, m := range r.of[model] {
		if v := of(m); !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return value{}, false
	}
	return meanOf(all), true
}

// A column is a measure that a table shows.
type column struct {
	title   string
	classes bool // of classes, else of numbers
	digits  int
	of      func(r *result, model string) (value, bool)
}

func columns() []column {
	rmse := func(m measure) float64 { return m.rmse }
	loss := func(m measure) float64 { return m.loss }
	over := func(of func(measure) float64) func(*result, string) (value, bool) {
		return func(r *result, model string) (value, bool) { return r.percentAbove(model, today, of) }
	}
	mean := func(of func(measure) float64) func(*result, string) (value, bool) {
		return func(r *result, model string) (value, bool) { return r.mean(model, of) }
	}
	return []column{
		{"RMSE, % above " + today, false, 0, over(rmse)},
		{"RMSE, % above scikit-learn's best", false, 0, func(r *result, model string) (value, bool) { return r.overBest(model, rmse) }},
		{"CRPS, % above " + today, false, 0, over(loss)},
		{"R²", false, 2, mean(func(m measure) float64 { return m.r2 })},
		{"interval of 90 % holds, %", false, 0, mean(func(m measure) float64 { return 100*m.held + 0*m.loss })}, // not a number without a law
		{"best 2 % are too good, SD", false, 2, mean(func(m measure) float64 { return m.optimism })},
		{"log loss, % above " + today, true, 0, over(loss)},
		{"log loss", true, 2, mean(loss)},
	}
}

// text is the value as a cell of a table.
func (v value) text(digits int) string {
	return fmt.Sprintf("%.*f ± %.*f", digits, v.mean, max(digits, 1), v.se)
}

// tables returns a table a measure, with a row a book.
func (r *results) tables() string {
	var b strings.Builder
	for _, c := range columns() {
		fmt.Fprintf(&b, "%s\n\n| book | rows, learnt | %s |\n| --- | ---: |%s\n", c.title, strings.Join(r.models, " | "), strings.Repeat(" ---: |", len(r.models)))
		over := make([][]float64, len(r.models))
		for k := range r.books {
			book := r.books[k]
			if book.classes != c.classes {
				continue
			}
			fmt.Fprintf(&b, "| %s | %d, %d |", book.book, book.rows, book.learnt)
			for m, model := range r.models {
				v, ok := c.of(book, model)
				if !ok {
					b.WriteString(" – |")
					continue
				}
				over[m] = append(over[m], v.mean)
				fmt.Fprintf(&b, " %s |", v.text(c.digits))
			}
			b.WriteString("\n")
		}
		b.WriteString("| mean | |")
		for _, all := range over {
			if len(all) == 0 {
				b.WriteString(" – |")
				continue
			}
			fmt.Fprintf(&b, " %s |", meanOf(all).text(c.digits))
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// summary returns a row a model, of means over the books and their errors.
func (r *results) summary() string {
	var b strings.Builder
	head, line := "| model |", "| --- |"
	for _, c := range columns() {
		head += " " + c.title + " |"
		line += " ---: |"
	}
	fmt.Fprintf(&b, "%s\n%s\n", head, line)
	for _, model := range r.models {
		fmt.Fprintf(&b, "| %s |", model)
		for _, c := range columns() {
			all := r.bySource(&c, model)
			if len(all) == 0 {
				b.WriteString(" – |")
				continue
			}
			fmt.Fprintf(&b, " %s |", meanOf(all).text(c.digits))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// bySource returns a column's values of a model, one a source: of several parts of it, their mean.
func (r *results) bySource(c *column, model string) (means []float64) {
	bySource := make(map[string][]float64)
	var sources []string
	for _, book := range r.books {
		if book.classes != c.classes {
			continue
		}
		if v, ok := c.of(book, model); ok {
			if bySource[book.source] == nil {
				sources = append(sources, book.source)
			}
			bySource[book.source] = append(bySource[book.source], v.mean)
		}
	}
	for _, name := range sources {
		means = append(means, meanOf(bySource[name]).mean)
	}
	return means
}

const (
	from = "<!-- made by go run -C bench ./learn -->\n"
	to   = "<!-- end of bench/learn -->\n"
)

// write puts a text between the marks of a document.
func write(path, text string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(data), from)
	_, after, ends := strings.Cut(rest, to)
	if !ok || !ends {
		return fmt.Errorf("%s has no place for the table, between %q and %q", path, from, to)
	}
	return os.WriteFile(path, []byte(before+from+text+to+after), 0o666)
}
