package problem

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"

	"kir/fault"
	"kir/property"
)

// mostFactors bounds how many pairs of ingredients a problem may name.
const mostFactors = 1 << 22

// pairs reads a property of how well ingredients go together.
func (l *loader) pairs(n *node) (Property, error) {
	f, err := n.fields("pairs", "lift", "smooth", "favour", "avoid")
	if err != nil {
		return Property{}, err
	}
	o := property.PairsOptions{Ingredients: len(l.problem.Ingredients), Total: l.problem.Total, Smooth: 1}
	lift := "none"
	if l.problem.Book != nil {
		lift = "mean"
	}
	if v := f["lift"]; v != nil {
		if lift, err = v.str("lift"); err != nil {
			return Property{}, err
		}
		lifts := []string{"mean", "product", "none"}
		if !slices.Contains(lifts, lift) {
			return Property{}, hint(v.errorf("lift is %s", v.shown()), "write mean, product or none")
		}
		if lift != "none" && l.problem.Book == nil {
			return Property{}, hint(v.errorf("lifts are counted in recipes, and the problem has none"), "add recipes: a CSV file, or write lift: none")
		}
	}
	o.Lift = map[string]property.Lift{"mean": property.MeanLift, "product": property.ProductLift}[lift]
	if v := f["smooth"]; v != nil {
		if o.Lift == property.NoLift {
			return Property{}, hint(v.errorf("smooth is for lifts, and there are none"), "remove it")
		}
		if o.Smooth, err = v.float("smooth"); err != nil {
			return Property{}, err
		}
		if o.Smooth <= 0 {
			return Property{}, hint(v.errorf("smooth is %s", v.shown()), "it must be above 0: 1 counts as a recipe more")
		}
	}
	about := map[string]string{"mean": "how usual the pairs are in the book, on average", "product": "how usual the pairs are in the book, multiplied", "none": "factors of pairs"}[lift]
	for _, key := range []string{"favour", "avoid"} {
		factors, err := l.pairFactors(f[key], key)
		if err != nil {
			return Property{}, err
		}
		o.Factors = append(o.Factors, factors...)
		if len(factors) > 0 {
			about += fmt.Sprintf("; %s to %s", fault.Count(len(factors), "pair"), key)
		}
	}
	if o.Lift == property.NoLift && len(o.Factors) == 0 {
		return Property{}, hint(n.errorf("there is nothing to score pairs by"), "add recipes to the problem, or favour or avoid pairs: [{of: [Gin, Lime juice], factor: 2}]")
	}
	if o.Lift != property.NoLift {
		for r := range l.problem.Book.Recipes {
			o.Recipes = append(o.Recipes, set(l.rows[r]))
		}
	}
	p, err := property.NewPairs(o)
	if err != nil {
		return Property{}, n.blame(err)
	}
	var s settings
	s.set("lift", lift)
	if o.Lift != property.NoLift {
		s.set("smooth", o.Smooth)
	}
	s.keep(f, "favour", "avoid")
	return Property{About: about, property: p, settings: yaml.MapSlice(s)}, nil
}

// pairFactors reads a list of pairs and their factors:
//
//	[{of: [Gin, Lime juice], factor: 2}, {of: [{family: citrus}, Cream], factor: 3}]
//
// A side may stand for several ingredients; each pair of the two sides gets the
// factor once.
func (l *loader) pairFactors(n *node, key string) ([]property.PairFactor, error) {
	if n == nil {
		return nil, nil
	}
	items, err := n.list(key)
	if err != nil {
		return nil, err
	}
	var factors []property.PairFactor
	for _, item := range items {
		f, err := item.fields("a pair to "+key, "of", "factor")
		if err != nil {
			return nil, err
		}
		for _, k := range []string{"of", "factor"} {
			if f[k] == nil {
				return nil, hint(item.errorf("the pair has no %s", k), "write {of: [Gin, Lime juice], factor: 2}")
			}
		}
		sides, err := f["of"].list("of")
		if err != nil {
			return nil, err
		}
		if len(sides) != 2 {
			return nil, hint(f["of"].errorf("a pair has two sides, not %d", len(sides)), "write a pair an entry")
		}
		factor, err := f["factor"].weight("the factor")
		switch {
		case err != nil:
			return nil, err
		case key == "favour" && factor <= 1:
			return nil, hint(f["factor"].errorf("a factor of %v favours nothing", factor), "write one above 1, or write the pair under avoid")
		case key == "avoid" && factor >= 1:
			return nil, hint(f["factor"].errorf("a factor of %v avoids nothing", factor), "write one below 1, or write the pair under favour")
		}
		left, _, err := l.ingredientsOf(sides[0])
		if err != nil {
			return nil, err
		}
		right, _, err := l.ingredientsOf(sides[1])
		if err != nil {
			return nil, err
		}
		before := len(factors)
		if len(left)*len(right) > mostFactors-before {
			return nil, hint(f["of"].errorf("these are more than %d pairs", mostFactors), "name fewer")
		}
		for _, i := range left {
			for _, j := range right {
				// A pair that stands on both sides in either order counts once.
				_, iRight := slices.BinarySearch(right, i)
				_, jLeft := slices.BinarySearch(left, j)
				if i != j && !(i > j && iRight && jLeft) {
					factors = append(factors, property.PairFactor{I: i, J: j, Factor: factor})
				}
			}
		}
		if len(factors) == before {
			return nil, hint(f["of"].errorf("the pair is of one ingredient with itself"), "name two")
		}
	}
	return factors, nil
}
