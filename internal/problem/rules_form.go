package problem

import (
	"fmt"
	"slices"

	"kir/internal/fault"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
)

// nearly are keys that people write and that are none, by kind, and what is meant.
var nearly = map[string]map[string]string{
	"amount": {
		"exactly":   "write min and max alike: amount: {of: Gin, min: 30, max: 30}",
		"equals":    "write min and max alike: amount: {of: Gin, min: 30, max: 30}",
		"ratio":     "a ratio is a rule of its own: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
		"to":        "a ratio is a rule of its own: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
		"total":     `what several take together is a group: group: {of: [Gin, Vodka], total: ["30%", "70%"]}`,
		"used":      "how many are used is a group: group: {of: [Gin, Vodka], used: [1, 1]}",
		"attribute": "a mean is a limit: limit: {attribute: abv, max: 25}",
	},
	"group": {
		"exactly":   "write the number twice: used: [2, 2]",
		"min":       `write the least and the greatest: total: ["30%", "70%"], or used: [1, 2]`,
		"max":       `write the least and the greatest: total: ["30%", "70%"], or used: [1, 2]`,
		"ratio":     "a ratio is a rule of its own: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
		"attribute": "a mean is a limit: limit: {attribute: abv, of: [Gin, Vodka], max: 25}",
	},
	"limit": {
		"exactly": "write min and max alike: limit: {attribute: abv, min: 20, max: 20}",
		"in":      "write of: limit: {attribute: cost, of: {phase: oil}, max: 12}",
		"file":    "a table of limits is limits: {file: limits.csv}",
	},
	"ratio": {
		"exactly": "write min and max alike: ratio: {of: Gin, to: Vermouth, min: 2, max: 2}",
		"between": "write min and max: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
	},
	"near": {
		"max":     "write changes: how many ingredients may come or go, or distance",
		"of":      "write recipe: the name of a known one",
		"within":  `write changes: 3, or distance: "20%"`,
		"swaps":   "a swap is two changes, one that goes and one that comes: write changes: 2",
		"recipes": "write a rule for each recipe",
	},
	"if": {
		"if":         "write used: if: {used: Milk, then: {exclude: [Lemon juice]}}",
		"not":        "write unused: if: {unused: Milk, then: {require: [Cream]}}",
		"exclude":    "write it behind then: if: {used: Milk, then: {exclude: [Lemon juice]}}",
		"require":    "write it behind then: if: {used: Milk, then: {require: [Sugar]}}",
		"else":       "write a second rule: if: {unused: Milk, then: {require: [Cream]}}",
		"ingredient": "write used: if: {used: Milk, then: {exclude: [Lemon juice]}}",
	},
	"needs": {
		"used": "write needs: {if: Egg white, then: [Lemon juice]}; for other rules behind a condition, if: {used: Milk, then: {exclude: [Lemon juice]}}",
	},
	"a blend": {
		"minimize": "write smaller: {from: 2, to: 10}: what scores 1, and what scores 0",
		"maximize": "write larger: {from: 2, to: 10}: what scores 0, and what scores 1",
		"min":      "write larger: {from: 2, to: 10}; for a bound that must hold, a rule: limit: {attribute: cost, min: 2}",
		"max":      "write smaller: {from: 2, to: 10}; for a bound that must hold, a rule: limit: {attribute: cost, max: 12}",
		"between":  "write range: [2, 10]",
	},
	"a sparsity law": {
		"mean":    "write {normal: {mean: 4, sd: 1}}",
		"sd":      "write {normal: {mean: 4, sd: 1}}",
		"rate":    "write {exponential: {rate: 0.5}}",
		"min":     "write {uniform: [2, 5]}",
		"max":     "write {uniform: [2, 5]}",
		"exactly": "write {uniform: [4, 4]}",
		"fixed":   "write {uniform: [4, 4]}",
		"poisson": "write {normal: {mean: 4, sd: 2}}, or a table",
	},
	"block": {
		"min": "a block adds up to one total; for a range write group: {of: ..., total: [600, 700]}",
		"max": "a block adds up to one total; for a range write group: {of: ..., total: [600, 700]}",
	},
}

// fields reads what stands under the key of a kind, and shows the right form of
// what is nearly right.
func fields(n *yaml.Node, s *schema.Section) (map[string]*yaml.Node, error) {
	kind, known, form := s.Name, s.Names(), schema.Rule.Form(s.Name)
	if n.Kind != yaml.Mapping {
		return nil, yaml.Hint(n.Errorf("%s is %s", kind, n.Shown()), "write %s", form)
	}
	f, err := nearlyFields(n, s)
	if bad, ok := err.(*fault.Error); ok {
		switch key := unknown(n, known); {
		case nearly[kind][key] != "":
		case fault.DidYouMean(key, known) == "":
			bad.Hint = fmt.Sprintf("it has %s: %s", fault.List(known, 8), form)
		default:
			bad.Hint += " Write, for example, " + form
		}
	}
	return f, err
}

// nearlyFields reads the keys of a section, and says what is meant by those that people
// write and that it has not.
func nearlyFields(n *yaml.Node, s *schema.Section) (map[string]*yaml.Node, error) {
	for _, e := range n.Entries {
		if way := nearly[s.Name][e.Key.Text]; way != "" && !slices.Contains(s.Names(), e.Key.Text) {
			return nil, yaml.Hint(e.Key.Errorf("%s has no key %s", s.Name, fault.Quote(e.Key.Text)), "%s", way)
		}
	}
	return s.Fields(n)
}

// unknown returns the first key that is not known.
func unknown(n *yaml.Node, known []string) string {
	for _, e := range n.Entries {
		if !slices.Contains(known, e.Key.Text) {
			return e.Key.Text
		}
	}
	return ""
}

// nearlyRule shows the right form of rules that are nearly one: without their
// kind, or with a part outside of it.
func (s *shelf) nearlyRule(item *yaml.Node, kinds []string) error {
	if item.Kind != yaml.Mapping {
		return yaml.Hint(item.Errorf("a rule is %s", item.Shown()), "write its kind and what it says, such as require: [Gin]")
	}
	if item.Get("if") != nil && item.Get("then") != nil {
		return yaml.Hint(item.Get("then").Errorf("then stands beside if"), "write it within: if: {used: Milk, then: {exclude: [Lemon juice]}}")
	}
	if len(item.Entries) != 1 || slices.Contains(kinds, item.Entries[0].Key.Text) {
		return nil
	}
	key, v := item.Entries[0].Key, item.Entries[0].Value
	if bound := key.Text; bound == "min" || bound == "max" || bound == "exactly" {
		name, figure := "cost", "12"
		if len(v.Entries) == 1 {
			name, figure = v.Entries[0].Key.Text, v.Entries[0].Value.Text
		} else if v.Kind == yaml.Text {
			name = v.Text
		}
		if bound == "exactly" {
			bound = "min: " + figure + ", max"
		}
		return yaml.Hint(key.Errorf("a rule has no kind %s", fault.Quote(key.Text)), "for a mean write limit: {attribute: %s, %s: %s}; for amounts, amount: {of: Gin, %s: 30}", name, bound, figure, key.Text)
	}
	if s.attributes != nil {
		if a, ok := s.attributes.Attribute(key.Text); ok {
			return yaml.Hint(key.Errorf("%s is an attribute and no kind of rule", fault.Quote(key.Text)), "for its mean write limit: {attribute: %s, max: 12}", a.Name)
		}
	}
	if i := slices.Index(s.names, key.Text); i >= 0 {
		return yaml.Hint(key.Errorf("%s is an ingredient and no kind of rule", fault.Quote(key.Text)), "for its amount write amount: {of: %s, min: 20, max: 40}", s.names[i])
	}
	return nil
}
