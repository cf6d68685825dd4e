package problem

import (
	"context"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/rule"
)

var requireKind = ruleKind{
	Key: newKey("require", schema.Ingredients(), "", "always used", "{require: [Gin]}"),
	read: func(_ context.Context, s *readContext, n *yaml.Node, _ fields) ([]Rule, error) {
		of, text, err := s.ingredientsOf(n)
		return singleRule("require "+text, rule.Require{Of: of}), err
	},
	ruleFields: typedFields(func(r rule.Require, name func(int) string) []RuleField {
		return ingredientFields(r.Of, name)
	}),
}

var excludeKind = ruleKind{
	Key: newKey("exclude", schema.Ingredients(), "", "never used", "{exclude: [Egg]}"),
	read: func(_ context.Context, s *readContext, n *yaml.Node, _ fields) ([]Rule, error) {
		of, text, err := s.ingredientsOf(n)
		return singleRule("exclude "+text, rule.Exclude{Of: of}), err
	},
	ruleFields: typedFields(func(r rule.Exclude, name func(int) string) []RuleField {
		return ingredientFields(r.Of, name)
	}),
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

var neverKind = ruleKind{
	Key: newKey("never", schema.Ingredients(), "", "at most one of them", "{never: [Milk, Lemon juice]}"),
	read: func(_ context.Context, s *readContext, n *yaml.Node, _ fields) ([]Rule, error) {
		of, text, err := s.ingredientsOf(n)
		if err != nil {
			return nil, err
		}
		if len(of) < 2 {
			return nil, yaml.Hint(n.Errorf("never names %s", inputerr.Count(len(of), "ingredient")), "name two or more, at most one of them is used then; to use none, write exclude")
		}
		return singleRule("never "+text, rule.Group{Of: of, Used: &rule.Range{Min: 0, Max: 1}}), nil
	},
}

var needsKind = ruleKind{
	Key: newKey("needs", schema.Link("needs"), "", "with one ingredient comes one of others", "{needs: {if: Egg white, then: [Lemon juice, Lime juice]}}"),
	Sections: schema.Sections{{
		Name: "needs", ID: "needs", About: "The ingredients that must come along with one.",
		Keys: []schema.Key{
			newKey("if", schema.Ingredients(), "", "one ingredient", "{if: Milk, then: Sugar}"),
			newKey("then", schema.Ingredients(), "", "where it is used, at least one of these is, too", "{if: Milk, then: [Gin, Sugar]}"),
		},
		Required: []string{"if", "then"},
		Mistakes: map[string]string{
			"used": "write needs: {if: Egg white, then: [Lemon juice]}; for other rules behind a condition, if: {used: Milk, then: {exclude: [Lemon juice]}}",
		},
	}},
	read: readNeeds,
}

func readNeeds(_ context.Context, s *readContext, n *yaml.Node, f fields) ([]Rule, error) {
	if err := n.Require("needs", "write {if: Egg white, then: [Lemon juice, Lime juice]}", "if", "then"); err != nil {
		return nil, err
	}
	first, name, err := s.ingredientsOf(f["if"])
	if err != nil {
		return nil, err
	}
	if len(first) != 1 {
		return nil, yaml.Hint(f["if"].Errorf("the rule begins with %s", inputerr.Count(len(first), "ingredient")), "write a rule for each")
	}
	then, text, err := s.ingredientsOf(f["then"])
	if err != nil {
		return nil, err
	}
	return singleRule(name+" needs "+text, rule.Need{If: first[0], Then: then}), nil
}
