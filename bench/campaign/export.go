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
}

// export writes tables of recipes, without conditions and second objectives.
func export(w io.Writer, oracles []*oracle, seeds []uint64) error {
	lines := json.NewEncoder(w)
	for _, o := range oracles {
		e := exported{Name: o.name, Ingredients: o.ingredients, Total: o.total, Most: o.most, Starts: make(map[uint64][]int)}
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
			e.Worth = append(e.Worth, worth)
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
