package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/bench/ehvi"
	"kir/internal/pareto"
	"kir/mcmc"
)

// trades are tables with two objectives: another label that is measured, or a price that is
// known of each recipe. The prices of the metals in oxygen evolution are about those of a kilogram in
// 2024, in euros; those of photo_wf3 and perovskite are invented. Other prices are the mean atomic mass of an
// alloy, and the share of the cement, of all that is not water in a shampoo, and of solvents and salts
// with fluorine.
var trades = []table{
	named(tables, "boxcrete.csv", func(t *table) { t.second = "GWP" }),
	named(tables, "oer_plate_3851.csv", func(t *table) { t.prices = []float64{16, 1, 26, 290, 2, 9} }),
	named(tables, "oer_plate_3860.csv", func(t *table) { t.prices = []float64{28, 1, 26, 290, 2, 9} }),
	named(tables, "photo_wf3.csv", func(t *table) { t.prices = []float64{9, 2, 5, 14} }),
	named(tables, "perovskite.csv", func(t *table) { t.prices = []float64{5, 3, 1} }),
	named(tables, "boxcrete.csv", func(t *table) { t.name, t.prices = "boxcrete and cement", []float64{1, 0, 0, 0, 0, 0, 0, 0} }),
	named(tables, "shampoo.csv", func(t *table) {
		t.name, t.failures = "shampoo and dose", false
		t.prices = append(slices.Repeat([]float64{1}, t.to-t.from), 0)
	}),
	named(tables, "electrolytes.csv", func(t *table) {
		t.name = "electrolytes and fluorine"
		t.price = func(ingredient string) float64 { return float64(min(strings.Count(ingredient, "F"), 1)) }
	}),
	named(tables, "alloys.csv", func(t *table) {
		t.name = "alloys hardness and mass"
		t.prices = []float64{26.98, 58.93, 55.85, 58.69, 28.09, 52.00, 54.94, 92.91, 95.95, 47.87, 63.55, 12.01, 50.94, 91.22,
			10.81, 144.24, 118.71, 6.94, 24.31, 65.38, 44.96, 180.95, 178.49, 183.84, 186.21, 40.08, 88.91, 106.42}
	}),
	named(tables, "alloys.csv", func(t *table) { t.name, t.second, t.greater = "alloys hardness and elongation", "elongation %", true }),
	named(tables, "alloys.csv", func(t *table) {
		t.name, t.label, t.second, t.greater = "alloys strength and elongation", "yield strength MPa", "elongation %", true
		t.keep = map[string]string{"temperature °C": "25.0"}
	}),
}

// named returns a table of some, changed.
func named(of []table, file string, change func(*table)) table {
	t := of[slices.IndexFunc(of, func(t table) bool { return t.file == file })]
	change(&t)
	return t
}

// A second objective of an oracle's recipes.
type second struct {
	prices  []float64 // by ingredient; nil: it is measured
	greater bool      // whether it is the better the greater it is
	values  []float64 // by recipe

	reference, ideal []float64 // of all recipes
	most             float64   // the hypervolume of all
}

// readSecond reads the second objective, and leaves of the recipes those that have it.
func readSecond(ctx context.Context, dir string, t table, o *oracle) (*second, error) {
	s := &second{prices: t.prices, greater: t.greater}
	if t.price != nil {
		for _, name := range o.ingredients {
			s.prices = append(s.prices, t.price(name))
		}
	}
	if s.prices != nil && len(s.prices) != len(o.ingredients) {
		return nil, fmt.Errorf("%s has %d ingredients and %d prices", o.name, len(o.ingredients), len(s.prices))
	}
	other := make(map[string]float64)
	if s.prices == nil {
		t.label = t.second
		of, err := readFirst(ctx, dir, t)
		if err != nil {
			return nil, err
		}
		for k, x := range of.recipes {
			other[fmt.Sprint(x)] = of.values[k]
		}
	}
	var recipes [][]mcmc.Part
	var values []float64
	for k, x := range o.recipes {
		v, ok := other[fmt.Sprint(x)]
		if s.prices != nil {
			for _, p := range x {
				v += s.prices[p.Ingredient] * float64(p.Amount) / float64(o.total)
			}
		} else if !ok || math.IsNaN(v) {
			continue
		}
		recipes, values, s.values = append(recipes, x), append(values, o.values[k]), append(s.values, v)
	}
	o.recipes, o.values, o.order, o.second = recipes, values, nil, s
	if err := o.finish(); err != nil {
		return nil, err
	}
	var all [][]float64
	for k := range o.recipes {
		all = append(all, o.losses(k))
	}
	var best [][]float64
	for _, k := range pareto.NonDominated(all) {
		best = append(best, all[k])
	}
	ideal, nadir := pareto.Bounds(best)
	s.ideal, s.reference = ideal, pareto.HypervolumeReference(ideal, nadir)
	s.most = pareto.Hypervolume(pareto.ScaleLosses(all, s.ideal, s.reference), []float64{1, 1})
	return s, nil
}

// expected is the arm of exact expected improvement of the hypervolume among all untried recipes.
func expected(_ context.Context, p *replay) ([]int, error) {
	var x, losses, pool [][]float64
	for _, k := range p.tried {
		x, losses = append(x, p.o.shares(k)), append(losses, p.o.losses(k))
	}
	var known []float64
	rest := p.untried()
	for _, k := range rest {
		pool = append(pool, p.o.shares(k))
		if p.o.second.prices != nil {
			known = append(known, p.o.losses(k)[1])
		}
	}
	chosen, err := ehvi.Choose(x, losses, pool, known, p.size)
	for n, k := range chosen {
		chosen[n] = rest[k]
	}
	return chosen, err
}

// asked returns the properties and the trade-off of the problem.
func (s *second) asked(way string) string {
	z := "{forest: {label: z, minimize: true}}"
	if s.greater {
		z = "{forest: {label: z, maximize: true}}"
	}
	if s.prices != nil {
		z = "{blend: {attribute: price, minimize: true}}"
	}
	return "properties:\n  y: {forest: {label: y, " + way + ": true}}\n  z: " + z + "\ntrade: [y, z]\n"
}

// ingredients returns the table of ingredients.
func (s *second) ingredients(o *oracle) string {
	var b strings.Builder
	b.WriteString("name,price\n")
	for i, name := range o.ingredients {
		price := 0.0
		if s.prices != nil {
			price = s.prices[i]
		}
		fmt.Fprintf(&b, "%q,%g\n", name, price)
	}
	return b.String()
}

// losses are how bad a recipe is in both objectives.
func (o *oracle) losses(k int) []float64 {
	z := o.second.values[k]
	if o.second.greater {
		z = -z
	}
	return []float64{-o.worth(k), z}
}

// scaledLosses returns the losses of some recipes from 0, the best of all, to 1, the reference of the table.
func (o *oracle) scaledLosses(recipes ...int) (points [][]float64) {
	for _, k := range recipes {
		points = append(points, o.losses(k))
	}
	return pareto.ScaleLosses(points, o.second.ideal, o.second.reference)
}

// adds is the share of the hypervolume of what was tried that a recipe adds.
func (o *oracle) adds(k int, tried []int) float64 {
	points, one := ehvi.LowerFront(o.scaledLosses(tried...)), []float64{1, 1}
	return pareto.VolumeGain(o.scaledLosses(k)[0], points, one) / max(pareto.Hypervolume(points, one), 1e-9)
}

// replayTrade makes one campaign for a trade-off: its regret is the share of the hypervolume
// of all recipes that what was tried does not have.
func replayTrade(ctx context.Context, p *replay, a arm, r *record) error {
	one := []float64{1, 1}
	note := func() {
		r.Regret = append(r.Regret, 1-pareto.Hypervolume(p.o.scaledLosses(p.tried...), one)/p.o.second.most)
		r.Closed = append(r.Closed, 1-r.Regret[len(r.Regret)-1]/max(r.Regret[0], 1e-9))
	}
	note()
	for range rounds(p.o, p.size) {
		more := 0.0
		for _, k := range p.untried() {
			more = max(more, p.o.adds(k, p.tried))
		}
		r.More = append(r.More, more)
		chosen, err := a.choose(ctx, p)
		if err != nil {
			return err
		}
		for _, k := range chosen {
			if !slices.Contains(p.tried, k) {
				p.tried = append(p.tried, k)
			}
		}
		note()
	}
	r.Left, r.Stop, r.Said, r.Came = p.left, p.stop, p.said, p.came
	return ctx.Err()
}
