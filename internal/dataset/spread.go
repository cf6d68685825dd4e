package dataset

import (
	"slices"
	"strings"
)

// spreadWords are the lower-case words with which a header marks its numbers as the standard
// deviations, or the errors, of another column's.
var spreadWords = [...]string{
	"sd", "std", "stdev", "stddev", "std dev", "std. dev.", "standard deviation", "error", "err", "std error", "standard error", "se", "sem", "±", "+/-", "uncertainty",
}

// spreadOf returns the name of the column whose standard deviations a column of that name has:
// "stars" for "stars sd", "stars ±", "sd of stars" and the like. It is empty if there is none.
func spreadOf(header string) string {
	name := strings.ToLower(strings.NewReplacer("_", " ", "(", " ", ")", " ").Replace(NormalizeName(header)))
	name = strings.Join(strings.Fields(name), " ")
	for _, word := range spreadWords {
		if base, ok := strings.CutSuffix(name, word); ok && (strings.HasSuffix(base, " ") || word == "±" || word == "+/-") {
			return strings.TrimSpace(base)
		}
		for _, before := range []string{word + " of ", word + " "} {
			if base, ok := strings.CutPrefix(name, before); ok {
				return base
			}
		}
	}
	return ""
}

// meanAtEnd matches the end of a column's name whose numbers are means.
var meanAtEnd = pattern(`(?i)[\s_]*(?:\((?:mean|average|avg)\)|[\s_](?:mean|average|avg))\s*$`)

// plainHeader returns a column's name in the form in which columns of standard deviations refer to
// it.
func plainHeader(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.NewReplacer("_", " ", "(", " ", ")", " ", "[", " ", "]", " ").Replace(NormalizeName(text)))), " ")
}

// unitNameKey returns the key of a name whose numbers have a unit.
func unitNameKey(unit, name string) string { return unit + "\x00" + name }

// spreadKeys returns the keys of the columns whose standard deviations a column of that name may
// have: their names, or names in a unit. It returns none if the column has no standard deviations.
func spreadKeys(header string) (keys []string) {
	if said := spreadOf(header); said != "" {
		keys = append(keys, said)
	}
	if name, unit := SplitHeaderUnit(header); unit != "" { // "strength sd (MPa)"
		if said := spreadOf(name); said != "" {
			keys = append(keys, unitNameKey(unit, said))
		}
	}
	return keys
}

// meanKeys returns the keys of a column under which columns of standard deviations may find it.
func meanKeys(header string) []string {
	header = strings.TrimSpace(meanAtEnd().ReplaceAllString(header, ""))
	base, unit := SplitHeaderUnit(header)
	keys := []string{plainHeader(header)}
	if base != header {
		keys = append(keys, plainHeader(base))
	}
	if unit != "" {
		for _, name := range slices.Clone(keys) {
			keys = append(keys, unitNameKey(unit, name))
		}
	}
	return keys
}

// isSpread reports whether a column of one name has the standard deviations of a column of another
// name, ignoring units.
func isSpread(header, of string) bool {
	known := meanKeys(of)
	return slices.ContainsFunc(spreadKeys(header), func(key string) bool { return slices.Contains(known, key) })
}

// A meanIndex maps keys to columns, in order. Assigned columns are removed.
type meanIndex map[string][]int

// add adds a column.
func (x meanIndex) add(column int, name string) {
	for _, key := range meanKeys(name) {
		if list := x[key]; len(list) == 0 || list[len(list)-1] != column {
			x[key] = append(list, column)
		}
	}
}

// findFree returns the first free column under some keys other than not; −1 if there is none.
func (x meanIndex) findFree(keys []string, not int, free func(column int) bool) int {
	found := -1
	for _, key := range keys {
		list := x[key]
		for len(list) > 0 && !free(list[0]) {
			list = list[1:]
		}
		x[key] = list
		for _, column := range list {
			if column != not && free(column) {
				if found < 0 || column < found {
					found = column
				}
				break
			}
		}
	}
	return found
}

// Spreads returns for each label the index of the label with its standard deviations, found by
// name, such as "stars sd" for stars; −1 where there is none.
func (b *Book) Spreads() []int {
	of, index := make([]int, len(b.Labels)), make(meanIndex)
	for k := range b.Labels {
		of[k] = -1
		index.add(k, b.Labels[k].Name)
	}
	for l := range b.Labels {
		keys := spreadKeys(b.Labels[l].Name)
		if len(keys) == 0 || !b.Labels[l].IsMeasurement() {
			continue
		}
		free := func(k int) bool { return of[k] < 0 }
		for k := index.findFree(keys, l, free); k >= 0; k = index.findFree(keys, l, free) {
			of[k] = l
		}
	}
	return of
}
