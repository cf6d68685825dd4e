package rule

import (
	"errors"
	"fmt"
	"math"
)

// A Near bounds how far a composition is from a recipe: by how many ingredients
// come or go, which is Σ_i |[x_i > 0] − [r_i > 0]|, and by how many units change
// hands, which is half of Σ_i |x_i − r_i|.
type Near struct {
	Name     string // of the recipe, where it has one
	Recipe   []Part // of the total, if Distance bounds
	Changes  int    // the most ingredients that come or go; −1 for no bound
	Distance int    // the most units that change hands; −1 for no bound
}

func (r Near) words(s *Set) string {
	text := "near " + r.Name
	if r.Name == "" {
		text = "near a recipe of " + s.of(r.ingredients())
	}
	if r.Changes >= 0 {
		text += fmt.Sprintf(" changes %d", r.Changes)
	}
	if r.Distance >= 0 {
		text += fmt.Sprintf(" distance %d", r.Distance)
	}
	return text
}

func (r Near) ingredients() []int {
	of := make([]int, len(r.Recipe))
	for k, p := range r.Recipe {
		of[k] = p.Ingredient
	}
	return of
}

func (r Near) check(s *Set) error {
	sum, seen := 0, make(map[int]bool)
	for _, p := range r.Recipe {
		if p.Amount < 1 || p.Amount > s.Total || seen[p.Ingredient] {
			return fmt.Errorf("has %d units of ingredient %d, or has it twice", p.Amount, p.Ingredient)
		}
		seen[p.Ingredient] = true
		sum += p.Amount
	}
	switch {
	case len(r.Recipe) == 0:
		return errors.New("is near nothing")
	case r.Changes < -1 || r.Distance < -1:
		return errors.New("has a negative bound")
	case r.Distance >= 0 && sum != s.Total:
		return fmt.Errorf("is near a recipe of %d units, and the total is %d", sum, s.Total)
	}
	return s.members(r.ingredients()...)
}

// conditions uses that of r ingredients, of which u are used beside v others,
// r − u + v come or go, and that units that change hands are those of the recipe
// that are left: M − Σ_i min(x_i, r_i).
func (r Near) conditions(c *Conditions) {
	if r.Changes >= 0 {
		s := Sum{Min: math.MinInt64, Max: int64(r.Changes - len(r.Recipe))}
		for i := range c.Amounts {
			s.Terms = append(s.Terms, Term{Ingredient: i, Whole: 1})
		}
		for _, p := range r.Recipe {
			s.Terms[p.Ingredient].Whole = -1
		}
		c.addSum(s)
	}
	if r.Distance >= 0 {
		s := Sum{Min: int64(c.Total - r.Distance), Max: math.MaxInt64}
		for _, p := range r.Recipe {
			s = s.add(Term{Ingredient: p.Ingredient, PerUnit: 1, Cap: p.Amount})
		}
		c.addSum(s)
	}
}

func (r Near) slacks(parts []Part, _ int) []Slack {
	common, units, away := 0, 0, 0
	for _, p := range r.Recipe {
		a := amountOf(parts, p.Ingredient)
		if a > 0 {
			common++
		}
		units += p.Amount
		away += max(p.Amount-a, 0)
	}
	var out []Slack
	add := func(v, most int, unit string) {
		if most >= 0 {
			out = append(out, Slack{Value: float64(v), Min: math.Inf(-1), Max: float64(most), Unit: unit, Ingredient: -1})
		}
	}
	add(len(r.Recipe)+len(parts)-2*common, r.Changes, "changes")
	add(away, r.Distance, "units")
	return out
}

func (r Near) knobs(s *Set) []knob {
	var out []knob
	if r.Changes >= 0 {
		out = bound(out, "changes", r.Changes, s.Ingredients-r.Changes, 1, func(to int) Rule { r := r; r.Changes = to; return r })
	}
	if r.Distance >= 0 {
		out = bound(out, "distance", r.Distance, s.Total-r.Distance, 1, func(to int) Rule { r := r; r.Distance = to; return r })
	}
	return out
}
