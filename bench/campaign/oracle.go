package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kir/internal/campaign"
	"kir/internal/dataset"
	"kir/internal/measure"
	"kir/mcmc"
)

// An oracle answers with what was measured of the recipes of a table, and of no others.
type oracle struct {
	name        string
	ingredients []string
	total       int
	most        int // ingredients in a recipe
	minimize    bool
	recipes     [][]mcmc.Part // different ones, by ingredient
	values      []float64     // means over the measurements of each; NaN: all of them failed
	best        float64       // the greatest worth
	order       []int         // the worst first
	anywhere    bool          // whether campaigns begin with recipes of the whole table, not of its worse half
	second      *second       // of a trade-off; nil: there is none

	conditions []condition
	settings   [][]any // by recipe: the value of each condition, a float64 or a string
}

// A table is where an oracle is read from.
type table struct {
	name     string // empty: that of the file
	file     string
	columns  []string // of ingredients; nil: the long form, or all that package dataset takes for such
	from, to int      // or a range of columns
	label    string
	minimize bool
	total    int
	rest     float64 // what the amounts leave of this is an ingredient; 0: they are all
	keep     map[string]string
	failures bool // a row without a label is a trial that failed

	conditions []condition // columns of what was set beside the recipe

	second  string                          // of a trade-off: another label
	greater bool                            // whether that is the better the greater it is
	prices  []float64                       // or the price of each ingredient, the smaller the better
	price   func(ingredient string) float64 // the same by name
}

// tables are the known ones of a directory of experiments.
var tables = []table{
	{file: "oer_plate_3851.csv", columns: []string{"Ni", "Fe", "Co", "Ta", "Mn", "Cu"}, label: "overpotential", minimize: true, total: 10},
	{file: "oer_plate_3860.csv", columns: []string{"Sn", "Fe", "Co", "Ta", "Mn", "Cu"}, label: "overpotential", minimize: true, total: 10},
	{file: "photo_wf3.csv", columns: []string{"WF3", "P3HT", "PCBM", "oIDTBR"}, label: "degradation", minimize: true, total: 1000},
	{file: "boxcrete.csv", columns: []string{"Cement (kg/m3)", "Fly Ash (kg/m3)", "Slag (kg/m3)", "Water (kg/m3)", "HRWR (kg/m3)", "MRWR (kg/m3)", "Fine Aggregate (kg/m3)", "Coarse Aggregates (kg/m3)"},
		label: "Strength (Mean)", total: 1000, keep: map[string]string{"Time": "28"}},
	{file: "shampoo.csv", from: 1, to: 19, label: "Turbidity_NTU", minimize: true, total: 1000, rest: 100, failures: true},
	{file: "perovskite.csv", columns: []string{"CsPbI", "FAPbI", "MAPbI"}, label: "Instability index", minimize: true, total: 1000},
	{file: "electrolytes.csv", label: "lce", total: 1000},
	{name: "alloys hardness", file: "alloys.csv", from: 1, to: 29, label: "hardness HV", total: 1000},
	{name: "alloys strength at 25 °C", file: "alloys.csv", from: 1, to: 29, label: "yield strength MPa", total: 1000, keep: map[string]string{"temperature °C": "25.0"}},
	{name: "alloys elongation at 25 °C", file: "alloys.csv", from: 1, to: 29, label: "elongation %", total: 1000, keep: map[string]string{"temperature °C": "25.0"}},
}

// underConditions are tables whose trials set more than amounts. A batch has two values of one of these conditions.
var underConditions = []table{
	{file: "alloys.csv", from: 1, to: 29, label: "yield strength MPa", total: 1000,
		conditions: []condition{{name: "method"}, {name: "test"}, {name: "temperature °C", number: true, alike: 2}}},
	{file: "boxcrete.csv", columns: []string{"Cement (kg/m3)", "Fly Ash (kg/m3)", "Slag (kg/m3)", "Water (kg/m3)", "HRWR (kg/m3)", "MRWR (kg/m3)", "Fine Aggregate (kg/m3)", "Coarse Aggregates (kg/m3)"},
		label: "Strength (Mean)", total: 1000,
		conditions: []condition{{name: "Temp (C)", number: true}, {name: "Time", number: true, alike: 2}}},
}

// readOracle reads one of the tables of a directory, and its second objective if it has one.
func readOracle(ctx context.Context, dir string, t table) (*oracle, error) {
	o, err := readFirst(ctx, dir, t)
	if err == nil && (t.second != "" || t.prices != nil || t.price != nil) {
		o.second, err = readSecond(ctx, dir, t, o)
	}
	return o, err
}

// readFirst reads the first objective of a table.
func readFirst(ctx context.Context, dir string, t table) (*oracle, error) {
	path := filepath.Join(dir, t.file)
	if t.columns == nil && t.to == 0 {
		return readBook(ctx, path, t)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(file)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	header := rows[0]
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	columns := t.columns
	if columns == nil {
		columns = header[t.from:t.to]
	}
	at := func(name string) (int, error) {
		if k := slices.Index(header, name); k >= 0 {
			return k, nil
		}
		return 0, fmt.Errorf("%s has no column %s", path, name)
	}
	label, err := at(t.label)
	if err != nil {
		return nil, err
	}
	o := newOracle(t, columns)
	add := o.adder()
rows:
	for _, row := range rows[1:] {
		for name, want := range t.keep {
			k, err := at(name)
			if err != nil {
				return nil, err
			}
			if row[k] != want {
				continue rows
			}
		}
		amounts, sum := make([]float64, len(o.ingredients)), 0.0
		for i, name := range columns {
			k, err := at(name)
			if err != nil {
				return nil, err
			}
			if amounts[i], err = strconv.ParseFloat(row[k], 64); err != nil {
				amounts[i] = 0
			}
			sum += amounts[i]
		}
		if t.rest > 0 {
			amounts[len(amounts)-1] = t.rest - sum
		}
		v, err := strconv.ParseFloat(row[label], 64)
		if err != nil {
			if !t.failures {
				continue
			}
			v = math.NaN()
		}
		setting := make([]any, len(t.conditions))
		for c, of := range t.conditions {
			k, err := at(of.name)
			if err != nil {
				return nil, err
			}
			if setting[c], err = of.value(row[k]); err != nil {
				continue rows
			}
		}
		if err := add(amounts, setting, v); err != nil {
			return nil, err
		}
	}
	return o, o.finish()
}

func newOracle(t table, ingredients []string) *oracle {
	o := &oracle{name: strings.TrimSuffix(filepath.Base(t.file), filepath.Ext(t.file)), total: t.total, minimize: t.minimize, conditions: t.conditions}
	if t.name != "" {
		o.name = t.name
	}
	if t.conditions != nil {
		o.name += " under conditions"
	}
	for _, name := range ingredients {
		name, _, _ = strings.Cut(name, " (")
		o.ingredients = append(o.ingredients, name)
	}
	if t.rest > 0 {
		o.ingredients = append(o.ingredients, "rest")
	}
	return o
}

// readBook reads any table of recipes with a label.
func readBook(ctx context.Context, path string, t table) (*oracle, error) {
	b, err := dataset.ReadFile(ctx, path, dataset.Options{Labels: []string{t.label}})
	if err != nil {
		return nil, err
	}
	l, _ := b.Label(t.label)
	numbers, err := l.Numbers()
	if err != nil {
		return nil, err
	}
	o := newOracle(t, b.Ingredients.Names)
	o.ingredients = b.Ingredients.Names
	add := o.adder()
	for k, r := range b.Recipes {
		if math.IsNaN(numbers[k]) && !t.failures {
			continue
		}
		amounts := make([]float64, len(o.ingredients))
		for _, p := range r.Parts {
			amounts[p.Ingredient], _ = p.Base().Float64()
		}
		if err := add(amounts, nil, numbers[k]); err != nil {
			return nil, err
		}
	}
	return o, o.finish()
}

// adder returns what adds a measured recipe.
func (o *oracle) adder() func(amounts []float64, setting []any, value float64) error {
	at := make(map[string]int)
	var counts []int
	return func(amounts []float64, setting []any, value float64) error {
		var parts []dataset.Part
		for i, v := range amounts {
			if v <= 0 {
				continue
			}
			a, err := measure.ParseAmount(strconv.FormatFloat(v, 'f', 9, 64))
			if err != nil {
				return err
			}
			if !a.IsZero() {
				parts = append(parts, dataset.Part{Ingredient: int32(i), Amount: a})
			}
		}
		units, err := dataset.Closure(parts, o.total)
		if err != nil {
			return err
		}
		var x []mcmc.Part
		for k, p := range parts {
			x = append(x, mcmc.Part{Ingredient: int(p.Ingredient), Amount: units[k]})
		}
		o.most = max(o.most, len(x))
		key := fmt.Sprint(x, setting)
		k, known := at[key]
		if !known {
			k = len(o.recipes)
			at[key] = k
			o.recipes, o.values, counts = append(o.recipes, x), append(o.values, math.NaN()), append(counts, 0)
			o.settings = append(o.settings, setting)
		}
		if !math.IsNaN(value) {
			if counts[k] == 0 {
				o.values[k] = 0
			}
			counts[k]++
			o.values[k] += (value - o.values[k]) / float64(counts[k])
		}
		return nil
	}
}

// worth is a value as more is better; −∞ of a failure.
func (o *oracle) worth(k int) float64 {
	switch {
	case math.IsNaN(o.values[k]):
		return math.Inf(-1)
	case o.minimize:
		return -o.values[k]
	}
	return o.values[k]
}

// finish ranks the recipes.
func (o *oracle) finish() error {
	if len(o.recipes) < 60 {
		return fmt.Errorf("%s has %d different recipes, too few to choose among", o.name, len(o.recipes))
	}
	for k := range o.recipes {
		o.order = append(o.order, k)
	}
	slices.SortStableFunc(o.order, func(a, b int) int {
		switch x, y := o.worth(a), o.worth(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return a - b
	})
	o.best = o.worth(o.order[len(o.order)-1])
	return nil
}

// allowed returns the recipes of the oracle as those that a batch may have.
func (o *oracle) allowed() []campaign.AllowedRecipe {
	all := make([]campaign.AllowedRecipe, len(o.recipes))
	for k, x := range o.recipes {
		all[k] = campaign.AllowedRecipe{Parts: x, Conditions: o.named(k)}
	}
	return all
}
