package problem

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"kir/fault"
	"kir/recipe"
)

// ingredientsOf reads which ingredients a rule is about: a name, a list of
// names, in which a star matches any text, or a value of an attribute. text is
// how messages call them.
func (l *loader) ingredientsOf(n *node) (of []int, text string, err error) {
	switch n.kind {
	case mapping:
		return l.withAttribute(n)
	case sequence:
		if len(n.items) == 0 {
			return nil, "", hint(n.errorf("the rule names no ingredient"), "name at least one")
		}
		var names []string
		for _, item := range n.items {
			some, name, err := l.ingredientsOf(item)
			if err != nil {
				return nil, "", err
			}
			of = append(of, some...)
			names = append(names, name)
		}
		const most = 4
		text = strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			text += fmt.Sprintf(" and %d more", len(names)-most)
		}
		slices.Sort(of)
		return slices.Compact(of), text, nil
	}
	name, err := n.str("an ingredient")
	if err != nil {
		return nil, "", err
	}
	name = recipe.Name(name)
	names := l.problem.Ingredients
	if i := slices.Index(names, name); i >= 0 {
		return []int{i}, name, nil
	}
	if strings.Contains(name, "*") {
		pattern := starPattern(name)
		for i, other := range names {
			if ok, _ := path.Match(pattern, strings.ReplaceAll(strings.ToLower(other), "/", "\x00")); ok {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return nil, "", hint(n.errorf("no ingredient matches %s", n.shown()), "a star matches any text; case does not matter")
		}
		return of, name, nil
	}
	e := n.errorf("there is no ingredient %s", n.shown())
	if near := fault.DidYouMean(name, names); near != "" {
		return nil, "", hint(e, "%s", near)
	}
	return nil, "", hint(e, "there are %s", fault.List(names, 8))
}

// starPattern turns a name with stars into a pattern of package path, which
// takes other characters for more than themselves.
func starPattern(name string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(strings.ToLower(name), "/", "\x00") {
		if strings.ContainsRune(`\?[]`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// withAttribute reads {group: citrus}: the ingredients with that value.
func (l *loader) withAttribute(n *node) (of []int, text string, err error) {
	if len(n.entries) != 1 {
		return nil, "", hint(n.errorf("ingredients are chosen by %s", fault.Count(len(n.entries), "attribute")), "choose them by one, such as {group: citrus}")
	}
	e := n.entries[0]
	attribute, err := l.attribute(e.key, e.key.text)
	if err != nil {
		return nil, "", err
	}
	value, err := e.value.str("the value of " + fault.Quote(e.key.text))
	if err != nil {
		return nil, "", err
	}
	value = recipe.Name(value)
	var values []string
	for i, v := range attribute.Values {
		if v == value {
			of = append(of, i)
		}
		if v != "" && !slices.Contains(values, v) && len(values) < 1000 {
			values = append(values, v)
		}
	}
	if len(of) == 0 {
		err := e.value.errorf("no ingredient has %s %s", e.key.text, e.value.shown())
		if near := fault.DidYouMean(value, values); near != "" {
			return nil, "", hint(err, "%s", near)
		}
		return nil, "", hint(err, "there are %s", fault.List(values, 12))
	}
	return of, e.key.text + " " + value, nil
}

// attribute returns a column of the ingredients file.
func (l *loader) attribute(at *node, name string) (*recipe.Attribute, error) {
	if l.ingredients == nil || len(l.ingredients.Attributes) == 0 {
		return nil, hint(at.errorf("the ingredients have no attribute %s", fault.Quote(name)), "give them attributes in a CSV file: ingredients: ingredients.csv")
	}
	if a, ok := l.ingredients.Attribute(name); ok {
		return a, nil
	}
	var names []string
	for k := range l.ingredients.Attributes {
		names = append(names, l.ingredients.Attributes[k].Name)
	}
	e := at.errorf("the ingredients have no attribute %s", fault.Quote(name))
	if near := fault.DidYouMean(name, names); near != "" {
		return nil, hint(e, "%s", near)
	}
	return nil, hint(e, "they have %s", fault.List(names, 12))
}

// attributeNumbers returns an attribute as numbers, none of them missing.
func (l *loader) attributeNumbers(at *node, name string) ([]float64, error) {
	a, err := l.attribute(at, name)
	if err != nil {
		return nil, err
	}
	values, err := a.Numbers()
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if math.IsNaN(v) {
			line, column := a.Place(i)
			return nil, &fault.Error{File: l.ingredients.File, Line: line, Column: column,
				Message: fmt.Sprintf("%s has no %s, which the problem uses on line %d", fault.Quote(l.problem.Ingredients[i]), name, at.line), Hint: "write a number"}
		}
	}
	return values, nil
}
