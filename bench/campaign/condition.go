package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kir/internal/config"
)

// A condition is a column of a table of what a trial set beside the recipe.
type condition struct {
	name   string
	number bool
	alike  int // the most values of it that a batch has; 0: any number
}

// value reads a cell. An empty cell of a category is a category of its own.
func (c condition) value(cell string) (any, error) {
	cell = strings.TrimSpace(cell)
	if c.number {
		return strconv.ParseFloat(cell, 64)
	}
	return cmp.Or(cell, "not known"), nil
}

// named returns the conditions of a recipe by name.
func (o *oracle) named(k int) map[string]any {
	if len(o.conditions) == 0 {
		return nil
	}
	named := make(map[string]any)
	for c, of := range o.conditions {
		named[of.name] = o.settings[k][c]
	}
	return named
}

// valuesOf returns the different values of condition c, ascending.
func (o *oracle) valuesOf(c int) []any {
	var all []any
	for k := range o.recipes {
		if v := o.settings[k][c]; !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b any) int {
		if o.conditions[c].number {
			return cmp.Compare(a.(float64), b.(float64))
		}
		return cmp.Compare(a.(string), b.(string))
	})
	return all
}

// section returns the conditions, and what is alike in a batch, as a problem file has them.
func (o *oracle) section() string {
	if len(o.conditions) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("conditions:\n")
	for c, of := range o.conditions {
		var values []string
		for _, v := range o.valuesOf(c) {
			text := fmt.Sprint(v)
			if !of.number {
				text = strconv.Quote(text)
			}
			values = append(values, text)
		}
		fmt.Fprintf(&b, "  %q: {values: [%s]}\n", of.name, strings.Join(values, ", "))
	}
	return b.String()
}

// alike returns how many values of each condition a batch may have.
func (o *oracle) alike() (all []config.BatchValueLimit) {
	for _, of := range o.conditions {
		if of.alike > 0 {
			all = append(all, config.BatchValueLimit{Condition: of.name, Values: of.alike})
		}
	}
	return all
}

// fits reports whether a batch with a further recipe has no more values of a condition than it may.
func (o *oracle) fits(batch []int, k int) bool {
	for c, of := range o.conditions {
		if of.alike == 0 {
			continue
		}
		values := []any{o.settings[k][c]}
		for _, j := range batch {
			if v := o.settings[j][c]; !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > of.alike {
			return false
		}
	}
	return true
}

// features returns the conditions of a recipe as numbers from 0 to 1: a number as a share of its range, a category as
// one number for each.
func (o *oracle) features(k int) (x []float64) {
	for c, of := range o.conditions {
		values := o.valuesOf(c)
		if of.number {
			least, greatest := values[0].(float64), values[len(values)-1].(float64)
			x = append(x, (o.settings[k][c].(float64)-least)/max(greatest-least, 1e-9))
			continue
		}
		for _, v := range values {
			is := 0.0
			if v == o.settings[k][c] {
				is = 1
			}
			x = append(x, is)
		}
	}
	return x
}

// limits returns the most values that a batch has of each condition, 0 for any number.
func (o *oracle) limits() []int {
	all := []int{}
	for _, of := range o.conditions {
		all = append(all, of.alike)
	}
	return all
}
