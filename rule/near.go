package rule

import (
	"errors"
	"fmt"
)

// A Near bounds how much a composition x differs from a recipe r, in two ways. Changes bounds the number of
// ingredients that x adds to the recipe or leaves out, Σ_i |[x_i > 0] − [r_i > 0]|. Distance bounds the number
// of units that must move to other ingredients to turn the recipe into x, ½·Σ_i |x_i − r_i|.
type Near struct {
	Name     string // name of the recipe; may be empty
	Recipe   []Part // used ingredients of the recipe and their amounts, which sum to the total if Distance is not nil
	Changes  *int   // greatest number of ingredients added or left out; nil for no bound
	Distance *int   // greatest number of units moved; nil for no bound
}

func (r Near) describe(s *Set) string {
	text := "near " + r.Name
	if r.Name == "" {
		text = "near a recipe of " + s.joinNames(r.ingredients())
	}
	if r.Changes != nil {
		text += fmt.Sprintf(" changes %d", *r.Changes)
	}
	if r.Distance != nil {
		text += fmt.Sprintf(" distance %d", *r.Distance)
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
	case r.Changes != nil && *r.Changes < 0 || r.Distance != nil && *r.Distance < 0:
		return errors.New("has a negative bound")
	case r.Distance != nil && sum != s.Total:
		return fmt.Errorf("is near a recipe of %d units, and the total is %d", sum, s.Total)
	}
	return s.checkIngredients(r.ingredients()...)
}
