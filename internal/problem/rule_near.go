package problem

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/rule"
)

var nearKind = ruleKind{
	Key: newKey("near", schema.Link("near"), "", "how far from a recipe", "{near: {recipe: Negroni, changes: 2}}"),
	Sections: schema.Sections{{
		Name: "near", ID: "near", About: "How far from a recipe a composition may be.",
		Keys: []schema.Key{
			newKey("recipe", schema.Either(schema.Text("recipe"), schema.MapOf("ingredients", schema.Units(1), schema.Object{"minProperties": 1})), "", "a known recipe, or one of your own", "{recipe: {Gin: 600, Lemon juice: \"30%\", Sugar: 100}, changes: 1}"),
			newKey("changes", schema.Integer(0, math.MaxInt32), "any", "how many ingredients may come or go; a swap is two", "{recipe: Negroni, changes: 2}"),
			newKey("distance", schema.Units(0), "any", "how much may change hands", "{recipe: Negroni, distance: \"40%\"}"),
		},
		Required:     []string{"recipe"},
		AtLeastOneOf: []string{"changes", "distance"},
		Mistakes: map[string]string{
			"max":     "write changes: how many ingredients may come or go, or distance",
			"of":      "write recipe: the name of a known one",
			"within":  `write changes: 3, or distance: "20%"`,
			"swaps":   "a swap is two changes, one that goes and one that comes: write changes: 2",
			"recipes": "write a rule for each recipe",
		},
	}},
	read: readNear,
	ruleFields: typedFields(func(n rule.Near, _ func(int) string) []RuleField {
		return []RuleField{{"changes", optionalBound(n.Changes), false}, {"distance", optionalBound(n.Distance), true}}
	}),
}

// readNear reads how far a composition may be from a recipe: how many ingredients are added or removed, and
// how many units differ.
//
//	near: {recipe: Negroni, changes: 3, distance: "20%"}
//
// The recipe is a known one, closed to the total, or a mapping of ingredients to units.
func readNear(_ context.Context, s *readContext, n *yaml.Node, f fields) (_ []Rule, err error) {
	if err := s.refuseInBlock(n, "a recipe is"); err != nil {
		return nil, err
	}
	if err := n.Require("near", "write {recipe: Negroni, changes: 3}", "recipe"); err != nil {
		return nil, err
	}
	var r rule.Near
	if r.Name, r.Recipe, err = readNearRecipe(s, f["recipe"]); err != nil {
		return nil, err
	}
	words := ""
	if v := f["changes"]; v != nil {
		changes, err := v.Whole("changes", 0, len(s.names))
		if err != nil {
			return nil, err
		}
		r.Changes = &changes
		words += fmt.Sprintf(" changes %d", changes)
	}
	if v := f["distance"]; v != nil {
		distance, err := readUnits(s.total, v, "the distance", 0)
		if err != nil {
			return nil, err
		}
		r.Distance = &distance
		words += fmt.Sprintf(" distance %d", distance)
		sum := 0
		for _, p := range r.Recipe {
			sum += p.Amount
		}
		if sum != s.total {
			return nil, yaml.Hint(f["recipe"].Errorf("the recipe has %s of a total of %d, and a distance is between compositions of one total", inputerr.Count(sum, "unit"), s.total), "write amounts that add up to %d, or changes alone", s.total)
		}
	}
	if words == "" {
		return nil, yaml.Hint(n.Errorf("the rule bounds nothing"), "add changes: how many ingredients may come or go, or distance: how many units, or what percentage, may change hands")
	}
	return singleRule("near "+r.Name+words, r), nil
}

// readNearRecipe reads the name of a known recipe, or ingredients with units.
func readNearRecipe(s *readContext, n *yaml.Node) (name string, parts []rule.Part, err error) {
	if n.Kind == yaml.Mapping {
		for _, e := range n.Entries {
			of, _, err := s.ingredientsOf(e.Key.Scalar(e.Key.Text))
			if err != nil {
				return "", nil, err
			}
			amount, err := readUnits(s.total, e.Value, "the amount of "+e.Key.Text, 1)
			if err != nil {
				return "", nil, err
			}
			if len(of) != 1 || slices.ContainsFunc(parts, func(p rule.Part) bool { return p.Ingredient == of[0] }) {
				return "", nil, yaml.Hint(e.Key.Errorf("%s is not one ingredient, or is there twice", inputerr.Quote(e.Key.Text)), "write each ingredient of the recipe once")
			}
			parts = append(parts, rule.Part{Ingredient: of[0], Amount: amount})
		}
		if len(parts) == 0 {
			return "", nil, yaml.Hint(n.Errorf("the recipe has no ingredients"), "write {Gin: 300, Campari: 300, Sweet Vermouth: 400}")
		}
		return "a recipe", parts, nil
	}
	if name, err = n.Str("the recipe"); err != nil {
		return "", nil, err
	}
	if s.book == nil {
		return "", nil, yaml.Hint(n.Errorf("the problem has no recipes to be near to"), "add recipes: a CSV file, or write the recipe's amounts: {Gin: 300, Campari: 300, Sweet Vermouth: 400}")
	}
	name = dataset.NormalizeName(name)
	var names []string
	for r, known := range s.book.Recipes {
		if known.Name == name {
			return name, s.recipes[r], nil
		}
		names = append(names, known.Name)
	}
	return "", nil, yaml.SuggestName(n.Errorf("there is no recipe %s", n.Describe()), name, "there are", names, 8)
}

// optionalBound returns *most, or nil if most is nil.
func optionalBound(most *int) any {
	if most == nil {
		return nil
	}
	return *most
}
