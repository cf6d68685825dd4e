package config

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

// NearKind is the kind of constraint that keeps compositions near to one recipe. It bounds the number of
// ingredients that are added or removed, and the number of units that differ.
var NearKind = ConstraintKind{
	Key: schema.NewKey("near", schema.Link("near"), "", "bounds the difference from a recipe", "{near: {recipe: Negroni, changes: 2}}"),
	New: func(*Kinds) Constraint { return new(nearRule) },
	Fields: fieldsForRuleType(func(n rule.Near, _ func(int) string) []RuleField {
		return []RuleField{{"changes", dereferenceOrNil(n.Changes), false}, {"distance", dereferenceOrNil(n.Distance), true}}
	}),
}

// A nearRule is the value of a constraint that keeps compositions near to a recipe:
//
//	near: {recipe: Negroni, changes: 3, distance: "20%"}
//
// The recipe is the name of a known recipe, or a mapping from ingredients to units.
type nearRule struct {
	Recipe   *yaml.Node
	Changes  *yaml.Node // YAML node of the maximum number of ingredients that are added or removed
	Distance Units

	node *yaml.Node
}

func (r *nearRule) Sections() schema.Sections {
	return schema.Sections{{
		Name: "near", ID: "near", About: "`near` bounds the difference from a recipe.",
		Keys: []schema.Key{
			newKey("recipe", schema.Either(schema.Text("recipe"), schema.MapOf("ingredients", schema.Units(1), schema.Object{"minProperties": 1})), "", "the name of a known recipe, or the amounts of any recipe", "{recipe: {Gin: 600, Lemon juice: \"30%\", Sugar: 100}, changes: 1}", nodeReader(&r.Recipe)),
			newKey("changes", schema.Integer(0, math.MaxInt32), "any", "greatest number of ingredients added or removed; a swap counts as two", "{recipe: Negroni, changes: 2}", nodeReader(&r.Changes)),
			newKey("distance", schema.Units(0), "any", "greatest total amount moved between ingredients", "{recipe: Negroni, distance: \"40%\"}", nodeReader(&r.Distance)),
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
	}}
}

func (r *nearRule) Decode(n *yaml.Node) error {
	r.node = n
	if err := n.Require("near", "write {recipe: Negroni, changes: 3}", "recipe"); err != nil {
		return err
	}
	return r.Sections()[0].Decode(n)
}

func (r *nearRule) Compile(_ context.Context, d *Data) (_ []Demand, err error) {
	if err := d.RefuseInBlock(r.node, "a recipe is"); err != nil {
		return nil, err
	}
	var near rule.Near
	if near.Name, near.Recipe, err = d.readNearRecipe(r.Recipe); err != nil {
		return nil, err
	}
	words := ""
	if r.Changes != nil {
		changes, err := r.Changes.Whole("changes", 0, len(d.IngredientNames))
		if err != nil {
			return nil, err
		}
		near.Changes = &changes
		if words = "no ingredient added or left out"; changes > 0 {
			words = fmt.Sprintf("at most %s added or left out", inputerr.Count(changes, "ingredient"))
		}
	}
	if r.Distance != nil {
		distance, err := d.ReadUnits(r.Distance, "the distance", 0)
		if err != nil {
			return nil, err
		}
		near.Distance = &distance
		if words != "" {
			words += ", "
		}
		words += "at most " + d.amountText(distance) + " moved to other ingredients"
		sum := 0
		for _, p := range near.Recipe {
			sum += p.Amount
		}
		if sum != d.Total {
			return nil, yaml.Hint(r.Recipe.Errorf("the recipe has %s of a total of %d, and a distance is between compositions of one total", inputerr.Count(sum, "unit"), d.Total), "write amounts that add up to %d, or changes alone", d.Total)
		}
	}
	if words == "" {
		return nil, yaml.Hint(r.node.Errorf("the rule bounds nothing"), "add changes: how many ingredients may come or go, or distance: how many units, or what percentage, may change hands")
	}
	return singleRuleDemand("near "+near.Name+": "+words, near), nil
}

// readNearRecipe returns the recipe that the node n describes. The node is the name of a known recipe, or a
// mapping from ingredients to units.
func (d *Data) readNearRecipe(n *yaml.Node) (name string, parts []rule.Part, err error) {
	if n.Kind == yaml.Mapping {
		for _, e := range n.Entries {
			of, _, err := d.WhichIngredients(e.Key.Scalar(e.Key.Text))
			if err != nil {
				return "", nil, err
			}
			amount, err := d.ReadUnits(e.Value, "the amount of "+e.Key.Text, 1)
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
	if d.Book == nil {
		return "", nil, yaml.Hint(n.Errorf("the problem has no recipes to be near to"), "add recipes: a CSV file, or write the recipe's amounts: {Gin: 300, Campari: 300, Sweet Vermouth: 400}")
	}
	name = dataset.NormalizeName(name)
	var names []string
	for r, known := range d.Book.Recipes {
		if known.Name == name {
			return name, d.Recipes[r], nil
		}
		names = append(names, known.Name)
	}
	return "", nil, yaml.SuggestName(n.Errorf("there is no recipe %s", n.Describe()), name, "there are", names, 8)
}

// dereferenceOrNil returns *bound, or nil if bound is nil.
func dereferenceOrNil(bound *int) any {
	if bound == nil {
		return nil
	}
	return *bound
}
