package compile

import (
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/ensemble"
)

// findByName finds an input by its name: an ingredient, a numeric attribute, "used", or one of these after
// the words that kir train puts before them. If no name matches exactly, it ignores case, and underscores
// equal spaces.
func (b *inputMapping) findByName(name string) (s ensemble.Source, known bool, err error) {
	clean := dataset.NormalizeName(name)
	if i := findName(b.Names, clean); i >= 0 {
		return b.measureSource(b.amounts, []int{i}), true, nil
	}
	if strings.EqualFold(clean, "used") {
		return b.measureSource("count", allIndexes(len(b.Names))), true, nil
	}
	for _, c := range [...]struct{ words, measure string }{
		{"presence of ", "presence"}, {"share of ", "share"}, {"percent of ", "percent"}, {"units of ", "units"},
		{"count of ", "count"}, {"total of ", b.amounts}, {"", b.amounts},
	} {
		rest, ok := strings.CutPrefix(normalizeName(clean), c.words)
		if !ok {
			continue
		}
		if i := findName(b.Names, rest); i >= 0 {
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
				s, err := b.meanSource(b.at, a.Name)
				return s, true, err
			}
		}
	}
	return s, false, nil
}

// groupByWords returns the ingredients of a group such as "family citrus": those whose attribute family is
// citrus.
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

// findName returns the index of a name, or of one with the same normalised form, or −1.
func findName(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return slices.IndexFunc(names, func(other string) bool { return normalizeName(other) == normalizeName(name) })
}

// normalizeName returns a name in lower case, with spaces instead of underscores.
func normalizeName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", " ")) }

func allIndexes(n int) []int {
	of := make([]int, n)
	for i := range of {
		of[i] = i
	}
	return of
}
