package problem

import (
	"context"
	"fmt"
	"math"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/rule"
)

var groupKind = ruleKind{
	Key: newKey("group", schema.Link("group"), "", "how many of a group, and how much of it", "{group: {of: [Gin, Vodka], used: [1, 1], total: [\"30%\", \"70%\"]}}"),
	Sections: schema.Sections{{
		Name: "group", ID: "group",
		About: "Bounds on several ingredients taken together.",
		Keys: []schema.Key{
			newKey("of", schema.Ingredients(), "", "the members", "{of: [Gin, Vodka], used: [1, 1]}"),
			newKey("used", schema.Pair(schema.Integer(0, math.MaxInt32)), "any", "how many of them are used, least and greatest", "{of: {family: spirit}, used: [1, 2]}"),
			newKey("total", schema.Pair(schema.Units(0)), "any", "what they add up to, least and greatest", "{of: {family: spirit}, total: [\"20%\", 700]}"),
		},
		Required:     []string{"of"},
		AtLeastOneOf: []string{"used", "total"},
		Mistakes: map[string]string{
			"exactly":   "write the number twice: used: [2, 2]",
			"min":       `write the least and the greatest: total: ["30%", "70%"], or used: [1, 2]`,
			"max":       `write the least and the greatest: total: ["30%", "70%"], or used: [1, 2]`,
			"ratio":     "a ratio is a rule of its own: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
			"attribute": "a mean is a limit: limit: {attribute: abv, of: [Gin, Vodka], max: 25}",
		},
	}},
	read: readGroup,
	ruleFields: typedFields(func(g rule.Group, _ func(int) string) []RuleField {
		return []RuleField{{"used", rangeValue(g.Used), false}, {"total", rangeValue(g.Total), true}}
	}),
}

func rangeValue(r *rule.Range) any {
	if r == nil {
		return nil
	}
	return []any{r.Min, r.Max}
}

func readGroup(_ context.Context, s *readContext, n *yaml.Node, f fields) ([]Rule, error) {
	of, text, err := ingredientsUnder(s, n, f, "group")
	if err != nil {
		return nil, err
	}
	c := rule.Group{Of: of}
	words := ""
	if v := f["used"]; v != nil {
		items, err := readPair(v, "used", "[1, 2]")
		if err != nil {
			return nil, err
		}
		r := &rule.Range{}
		if r.Min, err = items[0].Whole("the least number used", 0, math.MaxInt32); err != nil {
			return nil, err
		}
		if r.Max, err = items[1].Whole("the greatest number used", 0, math.MaxInt32); err != nil {
			return nil, err
		}
		if r.Min > r.Max {
			return nil, yaml.Hint(v.Errorf("the rule contradicts itself: used from %d to %d", r.Min, r.Max), "write the smaller number first")
		}
		if r.Min > len(of) {
			return nil, yaml.Hint(v.Errorf("the rule contradicts itself: at least %d used of %s", r.Min, inputerr.Count(len(of), "ingredient")), "lower it to %d", len(of))
		}
		c.Used = r
		words += fmt.Sprintf(" used %d to %d", r.Min, r.Max)
	}
	if v := f["total"]; v != nil {
		items, err := readPair(v, "total", `["30%", "70%"]`)
		if err != nil {
			return nil, err
		}
		r := &rule.Range{}
		if r.Min, err = readUnits(s.total, items[0], "the least total", 0); err != nil {
			return nil, err
		}
		if r.Max, err = readUnits(s.total, items[1], "the greatest total", 0); err != nil {
			return nil, err
		}
		if r.Min > r.Max {
			return nil, yaml.Hint(v.Errorf("the rule contradicts itself: a total from %d to %d units", r.Min, r.Max), "write the smaller number first")
		}
		c.Total = r
		words += fmt.Sprintf(" total %d to %d", r.Min, r.Max)
	}
	if words == "" {
		return nil, yaml.Hint(n.Errorf("the rule bounds nothing"), "add used or total")
	}
	return singleRule("group "+text+words, c), nil
}
