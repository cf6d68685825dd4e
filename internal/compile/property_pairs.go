package compile

import (
	"context"
	"fmt"
	"slices"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/property"
)

// maxPairFactors is the maximum number of pairs of ingredients for which a problem file may give a factor.
const maxPairFactors = 1 << 22

// pairsKind is the kind of property that scores pairs of ingredients.
var pairsKind = propertyKind{
	PropertyKind: config.PairsKind,
	compile:      withValueType(compilePairs),
}

// compilePairs makes a property that scores how well pairs of ingredients go together.
func compilePairs(_ context.Context, s *readContext, v *config.Pairs, n *yaml.Node) (Property, error) {
	lift, err := liftCombination(s, v)
	if err != nil {
		return Property{}, err
	}
	o := property.PairsOptions{
		Ingredients: len(s.IngredientNames), Total: s.Total, PseudoCount: v.Smooth.Or(1),
		Lift: map[string]property.LiftMode{"mean": property.MeanLift, "product": property.ProductLift}[lift],
	}
	if v.Smooth.Node != nil && o.Lift == property.NoLift {
		return Property{}, yaml.Hint(v.Smooth.Node.Errorf("smooth is for lifts, and there are none"), "remove it")
	}
	about := map[string]string{"mean": "how common its pairs of ingredients are in your recipes, on average", "product": "how common its pairs of ingredients are in your recipes, multiplied", "none": "pairs of ingredients"}[lift]
	for _, list := range []struct {
		key   string
		pairs []config.PairFactor
	}{{"favour", v.Favour}, {"avoid", v.Avoid}} {
		factors, err := pairFactors(s, list.pairs)
		if err != nil {
			return Property{}, err
		}
		o.Factors = append(o.Factors, factors...)
		if len(factors) > 0 {
			about += fmt.Sprintf("; %s to %s", inputerr.Count(len(factors), "pair"), list.key)
		}
	}
	if o.Lift == property.NoLift && len(o.Factors) == 0 {
		return Property{}, yaml.Hint(n.Errorf("there is nothing to score pairs by"), "add recipes to the problem, or favour or avoid pairs: [{of: [Gin, Lime juice], factor: 2}]")
	}
	if o.Lift != property.NoLift {
		for r := range s.Book.Recipes {
			o.Recipes = append(o.Recipes, usedIngredients(s.Recipes[r]))
		}
	}
	p, err := property.NewPairs(o)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	var resolved yaml.Map
	resolved.Set("lift", lift)
	if o.Lift != property.NoLift {
		resolved.Set("smooth", o.PseudoCount)
	}
	resolved.CopyKeys(n, "favour", "avoid")
	return Property{About: about, mcmcProperty: p, resolvedValue: resolved}, nil
}

// liftCombination returns the word that tells how the lifts of all pairs are combined: mean, product or none.
// The lift of a pair tells how much more often than by chance recipes have both ingredients.
func liftCombination(s *readContext, v *config.Pairs) (string, error) {
	if s.Book != nil {
		return v.Lift.Or("mean"), nil
	}
	lift := v.Lift.Or("none")
	if lift != "none" {
		return "", yaml.Hint(v.Lift.Node.Errorf("lifts are counted in recipes, and the problem has none"), "add recipes: a CSV file, or write lift: none")
	}
	return lift, nil
}

// pairFactors returns the factors that a problem file gives for pairs of ingredients. Each side of a pair may
// name several ingredients. Every combination of an ingredient on one side with an ingredient on the other then
// has the factor, once.
func pairFactors(s *readContext, pairs []config.PairFactor) ([]property.PairFactor, error) {
	var factors []property.PairFactor
	for _, pair := range pairs {
		left, _, err := s.WhichIngredients(pair.Sides.Value[0])
		if err != nil {
			return nil, err
		}
		right, _, err := s.WhichIngredients(pair.Sides.Value[1])
		if err != nil {
			return nil, err
		}
		before := len(factors)
		if len(left)*len(right) > maxPairFactors-before {
			return nil, yaml.Hint(pair.Sides.Node.Errorf("these are more than %d pairs", maxPairFactors), "name fewer")
		}
		for _, i := range left {
			for _, j := range right {
				// A pair that occurs in both orders counts once.
				_, iRight := slices.BinarySearch(right, i)
				_, jLeft := slices.BinarySearch(left, j)
				if i != j && !(i > j && iRight && jLeft) {
					factors = append(factors, property.PairFactor{I: i, J: j, Factor: pair.Factor.Value})
				}
			}
		}
		if len(factors) == before {
			return nil, yaml.Hint(pair.Sides.Node.Errorf("the pair is of one ingredient with itself"), "name two")
		}
	}
	return factors, nil
}
