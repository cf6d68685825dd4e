package problem

import (
	"fmt"

	"kir/fault"
	"kir/rule"
)

// withinRule reads the rule that amounts are within those of the known recipes:
//
//	amount: {of: "*", within: book}
//
// Each ingredient has, where it is used, at least the least and at most the
// greatest amount that a recipe has of it. What no recipe uses has no amount that
// is within, and is left out.
func (l *loader) withinRule(n *node) (Rule, error) {
	f, err := n.fields("amount", "of", "within", "min", "max", "step")
	if err != nil {
		return Rule{}, err
	}
	for _, key := range []string{"min", "max", "step"} {
		if f[key] != nil {
			return Rule{}, hint(f[key].errorf("%s stands beside within", key), "write it in an amount of its own: both hold")
		}
	}
	if v := f["within"]; v.kind != text || v.text != "book" {
		return Rule{}, hint(v.errorf("within is %s", v.shown()), "write book, for the amounts that the known recipes have")
	}
	if l.problem.Book == nil {
		return Rule{}, hint(f["within"].errorf("the book is of recipes, and the problem has none"), "add recipes: a CSV file, or write min and max")
	}
	of, text, err := l.of(n, f, "amount")
	if err != nil {
		return Rule{}, err
	}
	least, most := make([]int, len(l.problem.Ingredients)), make([]int, len(l.problem.Ingredients))
	for _, parts := range l.rows {
		for _, p := range parts {
			i := p.Ingredient
			if least[i] == 0 || p.Amount < least[i] {
				least[i] = p.Amount
			}
			most[i] = max(most[i], p.Amount)
		}
	}
	r := Rule{Text: "amount of " + text + " within the book"}
	add := func(one rule.Rule, text string) {
		r.Rules, r.texts = append(r.Rules, one), append(r.texts, text)
	}
	var unused []int
	for _, i := range of {
		if most[i] == 0 {
			unused = append(unused, i)
			continue
		}
		name := l.problem.Ingredients[i]
		add(rule.Amount{Of: []int{i}, Min: least[i], Max: most[i]}, fmt.Sprintf("amount of %s min %d max %d as in the book", name, least[i], most[i]))
	}
	if len(unused) == len(of) {
		return Rule{}, hint(f["of"].errorf("no recipe uses %s", text), "write min and max, or exclude")
	}
	if len(unused) > 0 {
		var names []string
		for _, i := range unused {
			names = append(names, l.problem.Ingredients[i])
		}
		add(rule.Exclude{Of: unused}, "exclude "+fault.List(names, 4)+", which no recipe in the book uses")
		l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("No recipe uses %s: within the book there is no amount of them, and they are left out.", fault.List(names, 8)))
	}
	return r, nil
}

// withinAll returns the rule for all ingredients, as if it stood in the file.
func withinAll(at *node) *node {
	word := func(s string) *node {
		return &node{file: at.file, line: at.line, column: at.column, kind: text, text: s}
	}
	block := func(entries ...entry) *node {
		n := word("")
		n.kind, n.entries = mapping, entries
		return n
	}
	return block(entry{word("amount"), block(entry{word("of"), word("*")}, entry{word("within"), word("book")})})
}

// Within says whether amounts of all ingredients are kept within the book's by a
// rule.
func (p *Problem) Within() bool {
	for _, r := range p.Rules {
		if r.Text == "amount of * within the book" {
			return true
		}
	}
	return false
}
