package problem

import (
	"context"

	"kir/internal/fault"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
	"kir/rule"
)

var requireKind = ruleKind{
	Key: key("require", schema.Ingredients(), "", "always used", "{require: [Gin]}"),
	read: func(_ context.Context, s *shelf, n *yaml.Node, _ fields) ([]Rule, error) {
		of, text, err := s.ingredientsOf(n)
		return one("require "+text, rule.Require{Of: of}), err
	},
	says: saysOf(func(r rule.Require, name func(int) string) []Said {
		return saidOf(r.Of, name)
	}),
}

var excludeKind = ruleKind{
	Key: key("exclude", schema.Ingredients(), "", "never used", "{exclude: [Egg]}"),
	read: func(_ context.Context, s *shelf, n *yaml.Node, _ fields) ([]Rule, error) {
		of, text, err := s.ingredientsOf(n)
		return one("exclude "+text, rule.Exclude{Of: of}), err
	},
	says: saysOf(func(r rule.Exclude, name func(int) string) []Said {
		return saidOf(r.Of, name)
	}),
}

// saidOf says which ingredients a rule is about.
func saidOf(of []int, name func(int) string) []Said {
	names := []any{}
	for _, i := range of {
		names = append(names, name(i))
	}
	if len(names) == 1 {
		return []Said{{Value: names[0]}}
	}
	return []Said{{Value: names}}
}

var neverKind = ruleKind{
	Key: key("never", schema.Ingredients(), "", "at most one of them", "{never: [Milk, Lemon juice]}"),
	read: func(_ context.Context, s *shelf, n *yaml.Node, _ fields) ([]Rule, error) {
		of, text, err := s.ingredientsOf(n)
		if err != nil {
			return nil, err
		}
		if len(of) < 2 {
			return nil, yaml.Hint(n.Errorf("never names %s", fault.Count(len(of), "ingredient")), "name two or more, at most one of them is used then; to use none, write exclude")
		}
		return one("never "+text, rule.Group{Of: of, Used: &rule.Range{Min: 0, Max: 1}}), nil
	},
}

var needsKind = ruleKind{
	Key: key("needs", schema.Link("needs"), "", "with one ingredient comes one of others", "{needs: {if: Egg white, then: [Lemon juice, Lime juice]}}"),
	Sections: schema.Sections{{
		Name: "needs", ID: "needs", About: "The ingredients that must come along with one.",
		Keys: []schema.Key{
			key("if", schema.Ingredients(), "", "one ingredient", "{if: Milk, then: Sugar}"),
			key("then", schema.Ingredients(), "", "where it is used, at least one of these is, too", "{if: Milk, then: [Gin, Sugar]}"),
		},
		Need: []string{"if", "then"},
		Nearly: map[string]string{
			"used": "write needs: {if: Egg white, then: [Lemon juice]}; for other rules behind a condition, if: {used: Milk, then: {exclude: [Lemon juice]}}",
		},
	}},
	read: readNeeds,
}

func readNeeds(_ context.Context, s *shelf, n *yaml.Node, f fields) ([]Rule, error) {
	if err := n.Require("needs", "write {if: Egg white, then: [Lemon juice, Lime juice]}", "if", "then"); err != nil {
		return nil, err
	}
	first, name, err := s.ingredientsOf(f["if"])
	if err != nil {
		return nil, err
	}
	if len(first) != 1 {
		return nil, yaml.Hint(f["if"].Errorf("the rule begins with %s", fault.Count(len(first), "ingredient")), "write a rule for each")
	}
	then, text, err := s.ingredientsOf(f["then"])
	if err != nil {
		return nil, err
	}
	return one(name+" needs "+text, rule.Need{If: first[0], Then: then}), nil
}
