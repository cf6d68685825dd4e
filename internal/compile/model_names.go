package compile

import (
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/ensemble"
)

// sourceByName finds the source of an input by the name of the input. The name can be that of an ingredient,
// of a group of ingredients or of a numeric attribute, or "used". Words that kir train puts before a name,
// such as "share of", may precede it. If no name matches exactly, upper and lower case are equal, and so are
// underscores and spaces.
func (b *inputMapping) sourceByName(name string) (s ensemble.Source, known bool, err error) {
	clean := dataset.NormalizeName(name)
	if i := findName(b.IngredientNames, clean); i >= 0 {
		return b.measureSource(b.defaultMeasure, []int{i}), true, nil
	}
	if strings.EqualFold(clean, "used") {
		return b.measureSource("count", allIndexes(len(b.IngredientNames))), true, nil
	}
	for _, c := range [...]struct{ words, measure string }{
		{"presence of ", "presence"}, {"share of ", "share"}, {"percent of ", "percent"}, {"units of ", "units"},
		{"count of ", "count"}, {"total of ", b.defaultMeasure}, {"", b.defaultMeasure},
	} {
		rest, ok := strings.CutPrefix(normalizeName(clean), c.words)
		if !ok {
			continue
		}
		if i := findName(b.IngredientNames, rest); i >= 0 {
			return b.measureSource(c.measure, []int{i}), true, nil
		}
		if of := b.groupByWords(rest); of != nil {
			return b.measureSource(c.measure, of), true, nil
		}
	}
	if b.Attributes != nil {
		for k := range b.Attributes.Attributes {
			a := &b.Attributes.Attributes[k]
			if normalizeName(strings.TrimPrefix(normalizeName(clean), "mean of ")) == normalizeName(a.Name) {
				s, err := b.meanSource(b.node, a.Name)
				return s, true, err
			}
		}
	}
	return s, false, nil
}

// groupByWords returns the indices of the ingredients in a group such as "family citrus": the ingredients
// whose attribute family has the value citrus. It returns nil if there is no such group.
func (b *inputMapping) groupByWords(words string) (of []int) {
	if b.Attributes == nil {
		return nil
	}
	for k := range b.Attributes.Attributes {
		a := &b.Attributes.Attributes[k]
		value, ok := strings.CutPrefix(words, normalizeName(a.Name)+" ")
		for i, v := range a.Values {
			if ok && v != "" && normalizeName(v) == value {
				of = append(of, i)
			}
		}
		if of != nil {
			return of
		}
	}
	return nil
}

// findName returns the index of a name in names. If there is none, it returns the index of the first name
// that is equal after [normalizeName], or −1.
func findName(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return slices.IndexFunc(names, func(other string) bool { return normalizeName(other) == normalizeName(name) })
}

// normalizeName returns a name in lower case, with spaces instead of underscores.
func normalizeName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", " ")) }

// allIndexes returns the indices from 0 to n − 1.
func allIndexes(n int) []int {
	of := make([]int, n)
	for i := range of {
		of[i] = i
	}
	return of
}
