package config

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// WhichIngredients returns the indices of the ingredients that the node n names, and a description of them. The
// node is one name, a list of names, or a mapping {attribute: value}. A star in a name matches any text.
func (d *Data) WhichIngredients(n *yaml.Node) (of []int, text string, err error) {
	switch n.Kind {
	case yaml.Mapping:
		return d.ingredientsByAttribute(n)
	case yaml.Sequence:
		if len(n.Items) == 0 {
			return nil, "", yaml.Hint(n.Errorf("the rule names no ingredient"), "name at least one")
		}
		var names []string
		for _, item := range n.Items {
			some, name, err := d.WhichIngredients(item)
			if err != nil {
				return nil, "", err
			}
			of = append(of, some...)
			names = append(names, name)
		}
		const shown = 4
		text = strings.Join(names[:min(len(names), shown)], ", ")
		if len(names) > shown {
			text += fmt.Sprintf(" and %d more", len(names)-shown)
		}
		slices.Sort(of)
		return slices.Compact(of), text, nil
	}
	name, err := n.Str("an ingredient")
	if err != nil {
		return nil, "", err
	}
	name = dataset.NormalizeName(name)
	names := d.IngredientNames
	if i := slices.Index(names, name); i >= 0 {
		of, err = d.restrictToBlock(n, []int{i}, name)
		return of, name, err
	}
	if strings.Contains(name, "*") {
		pattern := starNameToPattern(name)
		for i, other := range names {
			if ok, _ := path.Match(pattern, strings.ReplaceAll(strings.ToLower(other), "/", "\x00")); ok {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return nil, "", yaml.Hint(n.Errorf("no ingredient matches %s", n.Describe()), "a star matches any text; case does not matter")
		}
		of, err = d.restrictToBlock(n, of, name)
		return of, name, err
	}
	if parts := strings.Split(name, ","); len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(names, dataset.NormalizeName(part)) }) {
		return nil, "", yaml.Hint(n.Errorf("there is no ingredient %s", n.Describe()), "write a list: [%s]", name)
	}
	return nil, "", yaml.SuggestName(n.Errorf("there is no ingredient %s", n.Describe()), name, "there are", names, 8)
}

// starNameToPattern converts a name with stars to a pattern of [path.Match]. It escapes other characters that are
// special in patterns.
func starNameToPattern(name string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(strings.ToLower(name), "/", "\x00") {
		if strings.ContainsRune(`\?[]`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ingredientsByAttribute returns the ingredients that a mapping such as {group: citrus} names. In this example
// they are the ingredients whose attribute group has the value citrus.
func (d *Data) ingredientsByAttribute(n *yaml.Node) (of []int, text string, err error) {
	if len(n.Entries) != 1 {
		return nil, "", yaml.Hint(n.Errorf("ingredients are chosen by %s", inputerr.Count(len(n.Entries), "attribute")), "choose them by one, such as {group: citrus}")
	}
	key, value := n.Entries[0].Key, n.Entries[0].Value
	of, name, err := d.IngredientsByValue(key, value)
	if err != nil {
		return nil, "", err
	}
	text = key.Text + " " + name
	of, err = d.restrictToBlock(n, of, text)
	return of, text, err
}

// IngredientsByValue returns the indices of the ingredients whose attribute has a certain value. The node key
// has the name of the attribute.
func (d *Data) IngredientsByValue(key, value *yaml.Node) (of []int, name string, err error) {
	attribute, err := d.Attribute(key, key.Text)
	if err != nil {
		return nil, "", err
	}
	if name, err = value.Str("the value of " + inputerr.Quote(key.Text)); err != nil {
		return nil, "", err
	}
	name = dataset.NormalizeName(name)
	var values []string
	for i, v := range attribute.Values {
		if v == name {
			of = append(of, i)
		}
		if v != "" && !slices.Contains(values, v) && len(values) < 1000 {
			values = append(values, v)
		}
	}
	if len(of) == 0 {
		return nil, "", yaml.SuggestName(value.Errorf("no ingredient has %s %s", key.Text, value.Describe()), name, "there are", values, 12)
	}
	return of, name, nil
}

// Attribute returns the attribute of the ingredients that has the given name.
func (d *Data) Attribute(at *yaml.Node, name string) (*dataset.Attribute, error) {
	if len(d.Constituents) == 0 && (d.Attributes == nil || len(d.Attributes.Attributes) == 0) {
		return nil, yaml.Hint(at.Errorf("the ingredients have no attribute %s", inputerr.Quote(name)), "give them attributes in a CSV file: ingredients: ingredients.csv")
	}
	names := slices.Sorted(maps.Keys(d.Constituents))
	if d.Attributes != nil {
		if a, ok := d.Attributes.Attribute(name); ok {
			return a, nil
		}
		for k := range d.Attributes.Attributes {
			names = append(names, d.Attributes.Attributes[k].Name)
		}
	}
	return nil, yaml.SuggestName(at.Errorf("the ingredients have no attribute %s", inputerr.Quote(name)), name, "they have", names, 12)
}

// isConstituent reports whether a name is that of a constituent, of which the recipe has the mean as its share.
func (d *Data) isConstituent(name string) bool {
	return d.Constituents[dataset.NormalizeName(name)] != nil
}

// AttributeNumbers returns one number for each ingredient: its value of an attribute or its share of a
// constituent. A missing number is an error.
func (d *Data) AttributeNumbers(at *yaml.Node, name string) ([]float64, error) {
	if shares := d.Constituents[dataset.NormalizeName(name)]; shares != nil {
		return shares, nil
	}
	a, err := d.Attribute(at, name)
	if err != nil {
		return nil, err
	}
	return KnownNumbers(d.Attributes, a, fmt.Sprintf("the problem uses on line %d", at.Line))
}

// KnownNumbers returns the value of the attribute a for each ingredient. A missing number is an error. The
// parameter needs is the end of the error message; it tells what the number is needed for.
func KnownNumbers(in *dataset.Ingredients, a *dataset.Attribute, needs string) ([]float64, error) {
	values, err := a.Numbers()
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if math.IsNaN(v) {
			line, column := a.CellPosition(i)
			return nil, &inputerr.Error{File: in.File, Line: line, Column: column, Cell: a.CellAddress(i),
				Message: fmt.Sprintf("%s has no %s, which %s", inputerr.Quote(in.Names[i]), a.Name, needs), Hint: "write a number"}
		}
	}
	return values, nil
}
