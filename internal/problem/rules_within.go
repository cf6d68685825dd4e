package problem

import (
	"fmt"

	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/rule"
)

// withinRule reads the rule that amounts are within those of the known recipes:
//
//	amount: {of: "*", within: book}
//
// Each ingredient has, where it is used, at least the least and at most the
// greatest amount that a recipe has of it. What no recipe uses has no amount that
// is within, and is left out.
func withinRule(s *shelf, n *yaml.Node, f fields) ([]Rule, error) {
	if err := s.ofWhole(n, "the doses of the known recipes are"); err != nil {
		return nil, err
	}
	for _, key := range []string{"min", "max", "step", "stock", "batch"} {
		if f[key] != nil {
			return nil, yaml.Hint(f[key].Errorf("%s stands beside within", key), "write it in an amount of its own: both hold")
		}
	}
	if v := f["within"]; v.Kind != yaml.Text || v.Text != "book" {
		return nil, yaml.Hint(v.Errorf("within is %s", v.Shown()), "write book, for the amounts that the known recipes have")
	}
	if s.book == nil {
		return nil, yaml.Hint(f["within"].Errorf("the book is of recipes, and the problem has none"), "add recipes: a CSV file, or write min and max")
	}
	of, text, err := ingredientsUnder(s, n, f, "amount")
	if err != nil {
		return nil, err
	}
	least, most := make([]int, len(s.names)), make([]int, len(s.names))
	for _, parts := range s.recipes[:s.given] {
		for _, p := range parts {
			i := p.Ingredient
			if least[i] == 0 || p.Amount < least[i] {
				least[i] = p.Amount
			}
			most[i] = max(most[i], p.Amount)
		}
	}
	r := Rule{Text: "amount of " + text + " within the book"}
	var unused []int
	for _, i := range of {
		if most[i] == 0 {
			unused = append(unused, i)
			continue
		}
		name := s.names[i]
		r.add(rule.Amount{Of: []int{i}, Min: least[i], Max: most[i]}, fmt.Sprintf("amount of %s min %d max %d as in the book", name, least[i], most[i]))
	}
	if len(unused) == len(of) {
		return nil, yaml.Hint(f["of"].Errorf("no recipe uses %s", text), "write min and max, or exclude")
	}
	if len(unused) > 0 {
		var names []string
		for _, i := range unused {
			names = append(names, s.names[i])
		}
		r.add(rule.Exclude{Of: unused}, "exclude "+fault.List(names, 4)+", which no recipe in the book uses")
		s.warn(fmt.Sprintf("No recipe uses %s: within the book there is no amount of them, and they are left out.", fault.List(names, 8)))
	}
	return []Rule{r}, nil
}

// withinAll returns the rule for all ingredients, as if it stood in the file.
func withinAll(at *yaml.Node) *yaml.Node {
	block := func(entries ...yaml.Entry) *yaml.Node {
		n := at.Scalar("")
		n.Kind, n.Entries = yaml.Mapping, entries
		return n
	}
	all := block(yaml.Entry{Key: at.Scalar("of"), Value: at.Scalar("*")}, yaml.Entry{Key: at.Scalar("within"), Value: at.Scalar("book")})
	return block(yaml.Entry{Key: at.Scalar("amount"), Value: all})
}
