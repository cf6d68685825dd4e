package config

import (
	"context"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/rule"
)

// RequireKind is the kind of constraint that lists ingredients. Every composition must use all of them.
var RequireKind = ConstraintKind{
	Key: schema.NewKey("require", schema.Ingredients(), "", "ingredients that every recipe uses", "{require: [Gin]}"),
	New: func(*Kinds) Constraint { return new(requireRule) },
	Fields: fieldsForRuleType(func(r rule.Require, name func(int) string) []RuleField {
		return ingredientFields(r.Of, name)
	}),
}

type requireRule struct{ ingredientsValue }

func (r *requireRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	return singleRuleDemand("always use "+text, rule.Require{Of: of}), err
}

// ExcludeKind is the kind of constraint that lists ingredients. No composition may use any of them.
var ExcludeKind = ConstraintKind{
	Key: schema.NewKey("exclude", schema.Ingredients(), "", "ingredients that no recipe uses", "{exclude: [Egg]}"),
	New: func(*Kinds) Constraint { return new(excludeRule) },
	Fields: fieldsForRuleType(func(r rule.Exclude, name func(int) string) []RuleField {
		return ingredientFields(r.Of, name)
	}),
}

type excludeRule struct{ ingredientsValue }

func (r *excludeRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	return singleRuleDemand("never use "+text, rule.Exclude{Of: of}), err
}

// An ingredientsValue is the value of a constraint that consists of a list of ingredients.
type ingredientsValue struct{ Of Ingredients }

func (*ingredientsValue) Sections() schema.Sections { return nil }

func (r *ingredientsValue) Decode(n *yaml.Node) error {
	r.Of = n
	return nil
}

// ingredientFields returns a single field that has the names of the given ingredients. The field has no key.
func ingredientFields(of []int, name func(int) string) []RuleField {
	names := []any{}
	for _, i := range of {
		names = append(names, name(i))
	}
	if len(names) == 1 {
		return []RuleField{{Value: names[0]}}
	}
	return []RuleField{{Value: names}}
}

// NeverKind is the kind of constraint that lists ingredients. A composition may use at most one of them.
var NeverKind = ConstraintKind{
	Key: schema.NewKey("never", schema.Ingredients(), "", "a recipe uses at most one of these ingredients", "{never: [Milk, Lemon juice]}"),
	New: func(*Kinds) Constraint { return new(neverRule) },
}

type neverRule struct{ ingredientsValue }

func (r *neverRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	if err != nil {
		return nil, err
	}
	if len(of) < 2 {
		return nil, yaml.Hint(r.Of.Errorf("never names %s", inputerr.Count(len(of), "ingredient")), "name two or more, at most one of them is used then; to use none, write exclude")
	}
	return singleRuleDemand("at most one of "+text, rule.Group{Of: of, Used: &rule.Range{Min: 0, Max: 1}}), nil
}

// NeedsKind is the kind of constraint that applies to compositions with a certain ingredient. Such a
// composition must also use at least one of several other ingredients.
var NeedsKind = ConstraintKind{
	Key: schema.NewKey("needs", schema.Link("needs"), "", "recipes with one ingredient must use one of several others", "{needs: {if: Egg white, then: [Lemon juice, Lime juice]}}"),
	New: func(*Kinds) Constraint { return new(needsRule) },
}

type needsRule struct{ If, Then Ingredients }

func (r *needsRule) Sections() schema.Sections {
	return schema.Sections{{
		Name: "needs", ID: "needs", About: "A recipe that uses one ingredient must also use one of several others.",
		Keys: []schema.Key{
			newKey("if", schema.Ingredients(), "", "the ingredient that requires others", "{if: Milk, then: Sugar}", nodeReader(&r.If)),
			newKey("then", schema.Ingredients(), "", "a recipe with that ingredient uses at least one of these", "{if: Milk, then: [Gin, Sugar]}", nodeReader(&r.Then)),
		},
		Required: []string{"if", "then"},
		Mistakes: map[string]string{
			"used": "write needs: {if: Egg white, then: [Lemon juice]}; for other rules behind a condition, if: {used: Milk, then: {exclude: [Lemon juice]}}",
		},
	}}
}

func (r *needsRule) Decode(n *yaml.Node) error {
	if err := n.Require("needs", "write {if: Egg white, then: [Lemon juice, Lime juice]}", "if", "then"); err != nil {
		return err
	}
	return r.Sections()[0].Decode(n)
}

func (r *needsRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	first, name, err := d.WhichIngredients(r.If)
	if err != nil {
		return nil, err
	}
	if len(first) != 1 {
		return nil, yaml.Hint(r.If.Errorf("the rule begins with %s", inputerr.Count(len(first), "ingredient")), "write a rule for each")
	}
	then, text, err := d.WhichIngredients(r.Then)
	if err != nil {
		return nil, err
	}
	return singleRuleDemand(name+" needs "+anyOfText(text, len(then)), rule.Need{If: first[0], Then: then}), nil
}
