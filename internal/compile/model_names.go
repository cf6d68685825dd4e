package compile

import (
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/ensemble"
)

// sourceByName finds the source of a model input by the name of the input. The name is that of an ingredient,
// of a group of ingredients or of a numeric attribute, or it is "used". It may begin with words such as "share
// of", which kir train adds. If no name matches exactly, differences of case, and between underscores and
// spaces, are ignored.
func (b *inputMapping) sourceByName(name string) (s ensemble.Source, known bool, err error) {
	clean := dataset.NormalizeName(name)
	if i := findName(b.IngredientNames, clean); i >= 0 {
		return b.measureSource(b.defaultMeasure, []int{i}), true, nil
	}
	if strings.EqualFold(clean, "used") {
		return b.measureSource("count", indicesUpTo(len(b.IngredientNames))), true, nil
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

// findName returns the index of the name in names. If names does not have the name, it compares the names after
// [normalizeName], and returns the index of the first match. It returns −1 if there is no match.
func findName(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return slices.IndexFunc(names, func(other string) bool { return normalizeName(other) == normalizeName(name) })
}

// normalizeName returns a name in lower case, with spaces instead of underscores.
func normalizeName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", " ")) }

// indicesUpTo returns the indices from 0 to n − 1.
func indicesUpTo(n int) []int {
	of := make([]int, n)
	for i := range of {
		of[i] = i
	}
	return of
}
