package problem

import (
	"context"
	"fmt"
	"slices"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/property"
)

// maxFactors is the greatest number of pairs of ingredients that a problem may name.
const maxFactors = 1 << 22

var pairsKind = propertyKind{
	PropertyKind: config.PropertyKind{Key: newKey("pairs", schema.Link("pairs"), "", "what goes together, two by two", "{pairs: {lift: mean}}")},
	Sections:     pairsSections,
	read:         readPairs,
}

// pairsSections describe pairs, and pairs to favour or avoid.
var pairsSections = schema.Sections{
	{
		Name: "pairs", ID: "pairs",
		About: "How usual the pairs of a composition are in the book, and factors of your own.",
		Keys: []schema.Key{
			newKey("lift", schema.Choice("mean", "product", "none"), "`mean`, without recipes `none`", "how the lifts of the pairs count together", "{lift: product}"),
			newKey("smooth", schema.Above(0), "1", "how many recipes' worth of doubt pull lifts to 1", "{smooth: 2}"),
			newKey("favour", schema.List(schema.Link("pair to favour"), 0), "none", "pairs that are better", "{favour: [{of: [Gin, Lemon juice], factor: 2}]}"),
			newKey("avoid", schema.List(schema.Link("pair to avoid"), 0), "none", "pairs that are worse", "{avoid: [{of: [Milk, {family: citrus}], factor: 0.01}]}"),
		},
		Extra: []schema.Object{{"not": schema.Object{"required": []string{"lift", "smooth"}, "properties": schema.Object{"lift": schema.Object{"const": "none"}}}}},
	},
	pairSection("favour", schema.Above(1), "3", "A pair that is better than others."),
	pairSection("avoid", schema.Type{Words: "number, 0 to below 1", Schema: schema.Object{"type": "number", "minimum": 0, "exclusiveMaximum": 1}}, "0.1", "A pair that is worse than others; a factor of 0 forbids it."),
}

// pairSection returns the section of a pair to favour or to avoid.
func pairSection(name string, factor schema.Type, example, about string) *schema.Section {
	return &schema.Section{
		Name: "a pair to " + name, ID: "pair to " + name, About: about,
		Keys: []schema.Key{
			newKey("of", schema.Pair(schema.Ingredients()), "", "its two sides", "{of: [Gin, {family: citrus}], factor: "+example+"}"),
			newKey("factor", factor, "", "what the score of each pair of the two sides is multiplied by", "{of: [Gin, Sugar], factor: "+example+"}"),
		},
		Required: []string{"of", "factor"},
	}
}

// readPairs reads a property of how well pairs of ingredients go together.
func readPairs(_ context.Context, s *readContext, n *yaml.Node, f fields) (_ Property, err error) {
	o := property.PairsOptions{Ingredients: len(s.Names), Total: s.Total, Smooth: 1}
	lift := "none"
	if s.Book != nil {
		lift = "mean"
	}
	if v := f["lift"]; v != nil {
		if lift, err = v.Str("lift"); err != nil {
			return Property{}, err
		}
		lifts := []string{"mean", "product", "none"}
		if !slices.Contains(lifts, lift) {
			return Property{}, yaml.Hint(v.Errorf("lift is %s", v.Describe()), "write mean, product or none")
		}
		if lift != "none" && s.Book == nil {
			return Property{}, yaml.Hint(v.Errorf("lifts are counted in recipes, and the problem has none"), "add recipes: a CSV file, or write lift: none")
		}
	}
	o.Lift = map[string]property.Lift{"mean": property.MeanLift, "product": property.ProductLift}[lift]
	if v := f["smooth"]; v != nil {
		if o.Lift == property.NoLift {
			return Property{}, yaml.Hint(v.Errorf("smooth is for lifts, and there are none"), "remove it")
		}
		if o.Smooth, err = v.Float("smooth"); err != nil {
			return Property{}, err
		}
		if o.Smooth <= 0 {
			return Property{}, yaml.Hint(v.Errorf("smooth is %s", v.Describe()), "it must be above 0: 1 counts as a recipe more")
		}
	}
	about := map[string]string{"mean": "how usual the pairs are in the book, on average", "product": "how usual the pairs are in the book, multiplied", "none": "factors of pairs"}[lift]
	for _, key := range []string{"favour", "avoid"} {
		factors, err := pairFactors(s, f[key], key)
		if err != nil {
			return Property{}, err
		}
		o.Factors = append(o.Factors, factors...)
		if len(factors) > 0 {
			about += fmt.Sprintf("; %s to %s", inputerr.Count(len(factors), "pair"), key)
		}
	}
	if o.Lift == property.NoLift && len(o.Factors) == 0 {
		return Property{}, yaml.Hint(n.Errorf("there is nothing to score pairs by"), "add recipes to the problem, or favour or avoid pairs: [{of: [Gin, Lime juice], factor: 2}]")
	}
	if o.Lift != property.NoLift {
		for r := range s.Book.Recipes {
			o.Recipes = append(o.Recipes, ingredientsUsed(s.Recipes[r]))
		}
	}
	p, err := property.NewPairs(o)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	var resolved yaml.Map
	resolved.Set("lift", lift)
	if o.Lift != property.NoLift {
		resolved.Set("smooth", o.Smooth)
	}
	resolved.CopyKeys(n, "favour", "avoid")
	return Property{About: about, property: p, resolved: resolved}, nil
}

// pairFactors reads a list of pairs and their factors:
//
//	[{of: [Gin, Lime juice], factor: 2}, {of: [{family: citrus}, Cream], factor: 3}]
//
// Each of the two elements of a pair may stand for several ingredients. Each combination gets the factor
// once.
func pairFactors(s *readContext, n *yaml.Node, key string) ([]property.PairFactor, error) {
	if n == nil {
		return nil, nil
	}
	items, err := n.List(key)
	if err != nil {
		return nil, err
	}
	var factors []property.PairFactor
	for _, item := range items {
		f, err := pairsSections.ByID("pair to " + key).Fields(item)
		if err != nil {
			return nil, err
		}
		if err := item.Require("the pair", "write {of: [Gin, Lime juice], factor: 2}", "of", "factor"); err != nil {
			return nil, err
		}
		sides, err := f["of"].List("of")
		if err != nil {
			return nil, err
		}
		if len(sides) != 2 {
			return nil, yaml.Hint(f["of"].Errorf("a pair has two sides, not %d", len(sides)), "write a pair an entry")
		}
		factor, err := f["factor"].Weight("the factor")
		switch {
		case err != nil:
			return nil, err
		case key == "favour" && factor <= 1:
			return nil, yaml.Hint(f["factor"].Errorf("a factor of %v favours nothing", factor), "write one above 1, or write the pair under avoid")
		case key == "avoid" && factor >= 1:
			return nil, yaml.Hint(f["factor"].Errorf("a factor of %v avoids nothing", factor), "write one below 1, or write the pair under favour")
		}
		left, _, err := s.WhichIngredients(sides[0])
		if err != nil {
			return nil, err
		}
		right, _, err := s.WhichIngredients(sides[1])
		if err != nil {
			return nil, err
		}
		before := len(factors)
		if len(left)*len(right) > maxFactors-before {
			return nil, yaml.Hint(f["of"].Errorf("these are more than %d pairs", maxFactors), "name fewer")
		}
		for _, i := range left {
			for _, j := range right {
				// A pair that occurs in both orders counts once.
				_, iRight := slices.BinarySearch(right, i)
				_, jLeft := slices.BinarySearch(left, j)
				if i != j && !(i > j && iRight && jLeft) {
					factors = append(factors, property.PairFactor{I: i, J: j, Factor: factor})
				}
			}
		}
		if len(factors) == before {
			return nil, yaml.Hint(f["of"].Errorf("the pair is of one ingredient with itself"), "name two")
		}
	}
	return factors, nil
}
