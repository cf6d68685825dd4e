package config

import (
	"context"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/rule"
)

// RequireKind has ingredients that are always used.
var RequireKind = ConstraintKind{
	Key: schema.NewKey("require", schema.Ingredients(), "", "always used", "{require: [Gin]}"),
	New: func(*Kinds) Constraint { return new(require) },
	Fields: typedFields(func(r rule.Require, name func(int) string) []RuleField {
		return ingredientFields(r.Of, name)
	}),
}

type require struct{ justIngredients }

func (r *require) Compile(_ context.Context, d *Data) ([]Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	return singleDemand("require "+text, rule.Require{Of: of}), err
}

// ExcludeKind has ingredients that are never used.
var ExcludeKind = ConstraintKind{
	Key: schema.NewKey("exclude", schema.Ingredients(), "", "never used", "{exclude: [Egg]}"),
	New: func(*Kinds) Constraint { return new(exclude) },
	Fields: typedFields(func(r rule.Exclude, name func(int) string) []RuleField {
		return ingredientFields(r.Of, name)
	}),
}

type exclude struct{ justIngredients }

func (r *exclude) Compile(_ context.Context, d *Data) ([]Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	return singleDemand("exclude "+text, rule.Exclude{Of: of}), err
}

// justIngredients is a value that names ingredients and has no keys.
type justIngredients struct{ Of Ingredients }

func (*justIngredients) Sections() schema.Sections { return nil }

func (r *justIngredients) Decode(n *yaml.Node) error {
	r.Of = n
	return nil
}

// ingredientFields returns the field that names the ingredients of a rule.
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

// NeverKind has ingredients of which at most one is used.
var NeverKind = ConstraintKind{
	Key: schema.NewKey("never", schema.Ingredients(), "", "at most one of them", "{never: [Milk, Lemon juice]}"),
	New: func(*Kinds) Constraint { return new(never) },
}

type never struct{ justIngredients }

func (r *never) Compile(_ context.Context, d *Data) ([]Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	if err != nil {
		return nil, err
	}
	if len(of) < 2 {
		return nil, yaml.Hint(r.Of.Errorf("never names %s", inputerr.Count(len(of), "ingredient")), "name two or more, at most one of them is used then; to use none, write exclude")
	}
	return singleDemand("never "+text, rule.Group{Of: of, Used: &rule.Range{Min: 0, Max: 1}}), nil
}

// NeedsKind has an ingredient with which one of others must be used.
var NeedsKind = ConstraintKind{
	Key: schema.NewKey("needs", schema.Link("needs"), "", "with one ingredient comes one of others", "{needs: {if: Egg white, then: [Lemon juice, Lime juice]}}"),
	New: func(*Kinds) Constraint { return new(needs) },
}

type needs struct{ If, Then Ingredients }

func (r *needs) Sections() schema.Sections {
	return schema.Sections{{
		Name: "needs", ID: "needs", About: "The ingredients that must come along with one.",
		Keys: []schema.Key{
			key("if", schema.Ingredients(), "", "one ingredient", "{if: Milk, then: Sugar}", asNode(&r.If)),
			key("then", schema.Ingredients(), "", "where it is used, at least one of these is, too", "{if: Milk, then: [Gin, Sugar]}", asNode(&r.Then)),
		},
		Required: []string{"if", "then"},
		Mistakes: map[string]string{
			"used": "write needs: {if: Egg white, then: [Lemon juice]}; for other rules behind a condition, if: {used: Milk, then: {exclude: [Lemon juice]}}",
		},
	}}
}

func (r *needs) Decode(n *yaml.Node) error {
	if err := n.Require("needs", "write {if: Egg white, then: [Lemon juice, Lime juice]}", "if", "then"); err != nil {
		return err
	}
	return r.Sections()[0].Decode(n)
}

func (r *needs) Compile(_ context.Context, d *Data) ([]Demand, error) {
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
	return singleDemand(name+" needs "+text, rule.Need{If: first[0], Then: then}), nil
}
