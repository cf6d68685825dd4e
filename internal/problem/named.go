package problem

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

// ingredientsOf reads the ingredients of a rule: a name or a list of names, in which a star matches any
// text, or a value of an attribute. text describes them for messages.
func (s *readContext) ingredientsOf(n *yaml.Node) (of []int, text string, err error) {
	switch n.Kind {
	case yaml.Mapping:
		return s.ingredientsByAttribute(n)
	case yaml.Sequence:
		if len(n.Items) == 0 {
			return nil, "", yaml.Hint(n.Errorf("the rule names no ingredient"), "name at least one")
		}
		var names []string
		for _, item := range n.Items {
			some, name, err := s.ingredientsOf(item)
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
	names := s.names
	if i := slices.Index(names, name); i >= 0 {
		of, err = s.restrictToBlock(n, []int{i}, name)
		return of, name, err
	}
	if strings.Contains(name, "*") {
		pattern := starPattern(name)
		for i, other := range names {
			if ok, _ := path.Match(pattern, strings.ReplaceAll(strings.ToLower(other), "/", "\x00")); ok {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return nil, "", yaml.Hint(n.Errorf("no ingredient matches %s", n.Describe()), "a star matches any text; case does not matter")
		}
		of, err = s.restrictToBlock(n, of, name)
		return of, name, err
	}
	if parts := strings.Split(name, ","); len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(names, dataset.NormalizeName(part)) }) {
		return nil, "", yaml.Hint(n.Errorf("there is no ingredient %s", n.Describe()), "write a list: [%s]", name)
	}
	return nil, "", yaml.SuggestName(n.Errorf("there is no ingredient %s", n.Describe()), name, "there are", names, 8)
}

// starPattern converts a name with stars to a pattern of package path. It escapes other characters that are
// special there.
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

// ingredientsByAttribute reads {group: citrus}: the ingredients whose attribute has that value.
func (s *readContext) ingredientsByAttribute(n *yaml.Node) (of []int, text string, err error) {
	if len(n.Entries) != 1 {
		return nil, "", yaml.Hint(n.Errorf("ingredients are chosen by %s", inputerr.Count(len(n.Entries), "attribute")), "choose them by one, such as {group: citrus}")
	}
	key, value := n.Entries[0].Key, n.Entries[0].Value
	of, name, err := s.ingredientsByValue(key, value)
	if err != nil {
		return nil, "", err
	}
	text = key.Text + " " + name
	of, err = s.restrictToBlock(n, of, text)
	return of, text, err
}

// ingredientsByValue returns the ingredients that have a value of an attribute.
func (s *readContext) ingredientsByValue(key, value *yaml.Node) (of []int, name string, err error) {
	attribute, err := s.attribute(key, key.Text)
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

// attribute returns an attribute of the ingredients by name.
func (s *readContext) attribute(at *yaml.Node, name string) (*dataset.Attribute, error) {
	if len(s.constituents) == 0 && (s.attributes == nil || len(s.attributes.Attributes) == 0) {
		return nil, yaml.Hint(at.Errorf("the ingredients have no attribute %s", inputerr.Quote(name)), "give them attributes in a CSV file: ingredients: ingredients.csv")
	}
	names := slices.Sorted(maps.Keys(s.constituents))
	if s.attributes != nil {
		if a, ok := s.attributes.Attribute(name); ok {
			return a, nil
		}
		for k := range s.attributes.Attributes {
			names = append(names, s.attributes.Attributes[k].Name)
		}
	}
	return nil, yaml.SuggestName(at.Errorf("the ingredients have no attribute %s", inputerr.Quote(name)), name, "they have", names, 12)
}

// attributeNumbers returns a numeric attribute. A missing value is an error.
func (s *readContext) attributeNumbers(at *yaml.Node, name string) ([]float64, error) {
	if shares := s.constituents[dataset.NormalizeName(name)]; shares != nil {
		return shares, nil
	}
	a, err := s.attribute(at, name)
	if err != nil {
		return nil, err
	}
	return knownNumbers(s.attributes, a, fmt.Sprintf("the problem uses on line %d", at.Line))
}

// knownNumbers returns a numeric attribute. A missing value is an error, and needs says who needs it.
func knownNumbers(in *dataset.Ingredients, a *dataset.Attribute, needs string) ([]float64, error) {
	values, err := a.Numbers()
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if math.IsNaN(v) {
			line, column := a.Place(i)
			return nil, &inputerr.Error{File: in.File, Line: line, Column: column, Cell: a.Cell(i),
				Message: fmt.Sprintf("%s has no %s, which %s", inputerr.Quote(in.Names[i]), a.Name, needs), Hint: "write a number"}
		}
	}
	return values, nil
}

// A group is the ingredients with one value of an attribute.
type group struct {
	value   string
	members []int32
}

// groups returns the ingredients grouped by their values of an attribute, in the order of the values.
// Ingredients without a value are left out.
func groups(attribute *dataset.Attribute) []group {
	of := make(map[string][]int32)
	for i, v := range attribute.Values {
		if v != "" {
			of[v] = append(of[v], int32(i))
		}
	}
	var groups []group
	for _, v := range slices.Sorted(maps.Keys(of)) {
		groups = append(groups, group{v, of[v]})
	}
	return groups
}
