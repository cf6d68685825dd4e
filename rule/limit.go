package rule

import (
	"errors"
	"fmt"
	"math"
)

// A Limit bounds a mean over the composition: Min ≤ Σ_i f_i·x_i / M ≤ Max; or,
// over some ingredients alone, Min ≤ Σ_{i∈Of} f_i·x_i / Σ_{i∈Of} x_i ≤ Max, which
// holds where none of them is used.
//
// Factors and bounds are taken to as many decimals as fit sums of them into 62
// bits, at most 9, so that whether a composition keeps the limit does not
// depend on the order in which it is summed.
type Limit struct {
	Attribute string    // what the mean is of, where it has a name
	Factors   []float64 // one for each ingredient
	Of        []int     // nil for all
	Min, Max  float64   // −Inf and +Inf where there is no bound
}

func (r Limit) words(s *Set) string {
	text := "limit"
	if r.Attribute != "" {
		text += " of " + r.Attribute
	}
	if r.Of != nil {
		text += " in " + s.namesOf(r.Of)
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

// checkBounds says what is wrong with the bounds of a mean or a ratio.
func checkBounds(what string, least, most float64) error {
	switch {
	case math.IsNaN(least) || math.IsNaN(most):
		return errors.New("has a bound that is not a number")
	case least > most:
		return fmt.Errorf("asks for a %s of at least %v and at most %v", what, least, most)
	}
	return nil
}

// boundWords says the bounds that there are.
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
