package dataset

import (
	"slices"
	"strings"
)

// spreadWords are words in the name of a column, in lower case, which mean that the numbers are
// standard deviations or errors of the numbers of another column.
var spreadWords = [...]string{
	"sd", "std", "stdev", "stddev", "std dev", "std. dev.", "standard deviation", "error", "err", "std error", "standard error", "se", "sem", "±", "+/-", "uncertainty",
}

// meanNameOfSpread returns, for the name of a column of standard deviations, the name of the column
// of the values themselves: "stars" for "stars sd", "stars ±" or "sd of stars". It returns an empty
// name for other columns.
func meanNameOfSpread(header string) string {
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

// meanSuffixPattern matches the end of the name of a column of means, such as (mean).
var meanSuffixPattern = lazyPattern(`(?i)[\s_]*(?:\((?:mean|average|avg)\)|[\s_](?:mean|average|avg))\s*$`)

// plainHeaderKey returns the name of a column in lower case, without brackets and underscores.
// meanNameOfSpread returns names in this form.
func plainHeaderKey(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.NewReplacer("_", " ", "(", " ", ")", " ", "[", " ", "]", " ").Replace(NormalizeName(text)))), " ")
}

// unitNameKey returns the key of a column with a name and a unit.
func unitNameKey(unit, name string) string { return unit + "\x00" + name }

// meanKeysOfSpread returns the keys under which a [meanIndex] may hold the column whose standard
// deviations the column header holds. It returns none if the name of the column header does not say
// standard deviations.
func meanKeysOfSpread(header string) (keys []string) {
	if said := meanNameOfSpread(header); said != "" {
		keys = append(keys, said)
	}
	if name, unit := SplitHeaderUnit(header); unit != "" { // "strength sd (MPa)"
		if said := meanNameOfSpread(name); said != "" {
			keys = append(keys, unitNameKey(unit, said))
		}
	}
	return keys
}

// meanKeys returns the keys under which a column of values is found: its name with and without its
// unit, and without a final word such as mean.
func meanKeys(header string) []string {
	header = strings.TrimSpace(meanSuffixPattern().ReplaceAllString(header, ""))
	base, unit := SplitHeaderUnit(header)
	keys := []string{plainHeaderKey(header)}
	if base != header {
		keys = append(keys, plainHeaderKey(base))
	}
	if unit != "" {
		for _, name := range slices.Clone(keys) {
			keys = append(keys, unitNameKey(unit, name))
		}
	}
	return keys
}

// isSpreadOf reports whether the names of two columns say that the column spread holds the standard
// deviations of the column mean.
func isSpreadOf(spread, mean string) bool {
	known := meanKeys(mean)
	return slices.ContainsFunc(meanKeysOfSpread(spread), func(key string) bool { return slices.Contains(known, key) })
}

// A meanIndex maps the keys of columns of values, see meanKeys, to the indices of the columns in
// ascending order.
type meanIndex map[string][]int

// add adds a column with its index and its name.
func (x meanIndex) add(column int, name string) {
	for _, key := range meanKeys(name) {
		if list := x[key]; len(list) == 0 || list[len(list)-1] != column {
			x[key] = append(list, column)
		}
	}
}

// findFirstFree returns the first column that is stored under any of the keys, is not excluded, and
// for which free reports true. It returns −1 if there is none. It removes columns that are not free
// from the beginnings of the lists.
func (x meanIndex) findFirstFree(keys []string, excluded int, free func(column int) bool) int {
	found := -1
	for _, key := range keys {
		list := x[key]
		for len(list) > 0 && !free(list[0]) {
			list = list[1:]
		}
		x[key] = list
		for _, column := range list {
			if column != excluded && free(column) {
				if found < 0 || column < found {
					found = column
				}
				break
			}
		}
	}
	return found
}

// SpreadLabels returns, for each label, the index of the label that holds the standard deviations of its
// values, or −1 if there is none. It finds the pairs by their names, such as "stars" and "stars
// sd".
func (b *Book) SpreadLabels() []int {
	of, index := make([]int, len(b.Labels)), make(meanIndex)
	for k := range b.Labels {
		of[k] = -1
		index.add(k, b.Labels[k].Name)
	}
	for l := range b.Labels {
		keys := meanKeysOfSpread(b.Labels[l].Name)
		if len(keys) == 0 || !b.Labels[l].IsMeasurement() {
			continue
		}
		free := func(k int) bool { return of[k] < 0 }
		for k := index.findFirstFree(keys, l, free); k >= 0; k = index.findFirstFree(keys, l, free) {
			of[k] = l
		}
	}
	return of
}
