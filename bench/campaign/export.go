package main

import (
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
)

// An exported is a table as bench/peers reads it: a line of JSON.
type exported struct {
	Name        string           `json:"name"`
	Ingredients []string         `json:"ingredients"`
	Total       int              `json:"total"`
	Most        int              `json:"most"`   // ingredients in a recipe
	Units       [][]int          `json:"units"`  // of each recipe and ingredient
	Worth       []*float64       `json:"worth"`  // more is better; null: the recipe failed
	Starts      map[uint64][]int `json:"starts"` // by seed: the recipes that a campaign begins with

	Problem string               `json:"problem"` // the problem file of kir
	Stock   string               `json:"stock"`   // the ingredients.csv that it names; empty: none
	Results []map[string]float64 `json:"results"` // what is measured, by the labels of the problem file; null: the recipe failed

	// Of two objectives:
	Second []float64   `json:"second,omitempty"` // the worth by the second, more is better
	Prices []float64   `json:"prices,omitempty"` // of the ingredients; the second worth is less the mean price; none: it is measured
	Scaled [][]float64 `json:"scaled,omitempty"` // both losses, from 0, the best of all, to 1, the reference of the table
	Volume float64     `json:"volume,omitempty"` // the hypervolume of all of them

	// Of conditions, which are set beside the amounts:
	Conditions []exportedCondition `json:"conditions,omitempty"`
	Settings   [][]any             `json:"settings,omitempty"` // of each recipe and condition: a number or a text
	Features   [][]float64         `json:"features,omitempty"` // the same as numbers from 0 to 1, a column for each category
}

// An exportedCondition is a condition by name, and whether it is a number.
type exportedCondition struct {
	Name   string `json:"name"`
	Number bool   `json:"number"`
}

// export writes tables of recipes. How many values of a condition a batch may have is left out, as other programs have
// no such limit.
func export(w io.Writer, oracles []*oracle, seeds []uint64) error {
	lines := json.NewEncoder(w)
	for _, o := range oracles {
		e := exported{Name: o.name, Ingredients: o.ingredients, Total: o.total, Most: o.most, Starts: make(map[uint64][]int)}
		e.Problem, e.Stock = o.problem()
		for _, of := range o.conditions {
			e.Conditions = append(e.Conditions, exportedCondition{of.name, of.number})
		}
		if s := o.second; s != nil {
			e.Prices, e.Volume = s.prices, s.most
		}
		for k, x := range o.recipes {
			units := make([]int, len(o.ingredients))
			for _, p := range x {
				units[p.Ingredient] = p.Amount
			}
			e.Units = append(e.Units, units)
			var worth *float64
			if v := o.worth(k); !math.IsInf(v, 0) {
				worth = &v
			}
			e.Worth, e.Results = append(e.Worth, worth), append(e.Results, o.measured(k))
			if o.second != nil {
				e.Second, e.Scaled = append(e.Second, -o.losses(k)[1]), append(e.Scaled, o.scaledLosses(k)[0])
			}
			if len(o.conditions) > 0 {
				e.Settings, e.Features = append(e.Settings, o.settings[k]), append(e.Features, o.features(k))
			}
		}
		for _, seed := range seeds {
			e.Starts[seed] = o.start(rand.New(rand.NewPCG(seed, 7)))
		}
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	return nil
}
