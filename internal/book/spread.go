package book

import (
	"regexp"
	"slices"
	"strings"
)

// spreadWords are how a header says that its numbers are the standard deviations, or the
// errors, of another column's, in lower case.
var spreadWords = [...]string{
	"sd", "std", "stdev", "stddev", "std dev", "std. dev.", "standard deviation", "error", "err", "std error", "standard error", "se", "sem", "±", "+/-", "uncertainty",
}

// spreadOf returns of whose numbers a column of that name has the standard deviations:
// "stars" of "stars sd", "stars ±", "sd of stars" and the like; empty if of none.
func spreadOf(header string) string {
	name := strings.ToLower(strings.NewReplacer("_", " ", "(", " ", ")", " ").Replace(Name(header)))
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

// meanAtEnd is how a column's name ends whose numbers are means.
var meanAtEnd = regexp.MustCompile(`(?i)[\s_]*(?:\((?:mean|average|avg)\)|[\s_](?:mean|average|avg))\s*$`)

// isSpread is whether a column of one name has the standard deviations of a column of
// another name, units left aside.
func isSpread(header, of string) bool {
	of = strings.TrimSpace(meanAtEnd.ReplaceAllString(of, ""))
	base, unit := HeadUnit(of)
	plain := func(text string) string {
		return strings.Join(strings.Fields(strings.ToLower(strings.NewReplacer("_", " ", "(", " ", ")", " ", "[", " ", "]", " ").Replace(Name(text)))), " ")
	}
	asked := []string{header}
	if name, own := HeadUnit(header); own != "" && own == unit {
		asked = append(asked, name) // "strength sd (MPa)"
	}
	return slices.ContainsFunc(asked, func(text string) bool {
		said := spreadOf(text)
		return said != "" && (said == plain(of) || said == plain(base))
	})
}

// SpreadOf returns the label that has the standard deviations of another one's numbers, by
// its name, such as "stars sd" of stars; nil if there is none.
func (b *Book) SpreadOf(label *Label) *Label {
	for k := range b.Labels {
		if l := &b.Labels[k]; l.Name != label.Name && l.Counted() && isSpread(l.Name, label.Name) {
			return l
		}
	}
	return nil
}
