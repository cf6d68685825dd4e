package rule

import (
	"errors"
	"fmt"
	"math"
)

// A Limit bounds the mean of an attribute over the composition: Min ≤ Σ_i f_i·x_i / M ≤ Max. f_i is the
// attribute of ingredient i, x_i its units, and M the total. If Of is set, it bounds the mean over the listed
// ingredients: Min ≤ Σ_{i∈Of} f_i·x_i / Σ_{i∈Of} x_i ≤ Max. If none of the listed ingredients is used, the rule
// is satisfied.
//
// Factors and bounds are rounded to at most 9 decimal places, or fewer if their sums would exceed 62 bits.
// Hence whether a composition satisfies the limit does not depend on the order of summation.
type Limit struct {
	Attribute string    // name of the attribute whose mean is bounded; may be empty
	Factors   []float64 // item i is f_i, the value of the attribute for ingredient i
	Of        []int     // indices of the ingredients over which the mean is taken; nil for all
	Min, Max  float64   // bounds of the mean; −Inf and +Inf mean no bound
}

func (r Limit) describe(s *Set) string {
	text := "limit"
	if r.Attribute != "" {
		text += " of " + r.Attribute
	}
	if r.Of != nil {
		text += " in " + s.joinNames(r.Of)
	}
	return text + boundWords(r.Min, r.Max)
}

func (r Limit) check(s *Set) error {
	if len(r.Factors) != s.Ingredients {
		return fmt.Errorf("has %d factors for %d ingredients", len(r.Factors), s.Ingredients)
	}
	for i, f := range r.Factors {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("has the factor %v for ingredient %d", f, i)
		}
	}
	if err := checkBounds("mean", r.Min, r.Max); err != nil {
		return err
	}
	return s.checkIngredients(r.Of...)
}

// checkBounds checks the lower bound least and the upper bound most of a mean or ratio. It returns an error if
// a bound is NaN, or if no number satisfies both bounds. The error calls the bounded quantity by the text in
// what.
func checkBounds(what string, least, most float64) error {
	switch {
	case math.IsNaN(least) || math.IsNaN(most):
		return errors.New("has a bound that is not a number")
	case least > most:
		return fmt.Errorf("asks for a %s of at least %v and at most %v", what, least, most)
	}
	return nil
}

// boundWords returns the finite bounds as text, such as " min 2 max 3".
func boundWords(least, most float64) string {
	text := ""
	if !math.IsInf(least, -1) {
		text += fmt.Sprintf(" min %v", least)
	}
	if !math.IsInf(most, 1) {
		text += fmt.Sprintf(" max %v", most)
	}
	return text
}
