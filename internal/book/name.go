package book

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Name returns a name as books hold it: without space around it, and in Unicode
// normalization form C, so that two spellings that look the same (è as one
// character, or as e and an accent) are one. Names of recipes, ingredients,
// attributes, labels and their classes all go through it. Nothing else is
// changed. Ingredients whose names differ in case, or in the space within them, are one.
func Name(text string) string {
	text = strings.TrimSpace(text)
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return norm.NFC.String(text)
		}
	}
	return text
}

// caseMatters is up to how many letters a name has in which case may tell one thing
// from another: Co and CO.
const caseMatters = 2

// foldName writes the name of an ingredient as that of all that are the same: with one
// space between words, and without the case of letters, unless they are one or two.
func foldName(name string) string {
	if strings.ContainsFunc(name, unicode.IsSpace) {
		name = strings.Join(strings.Fields(name), " ")
	}
	letters := 0
	for _, r := range name {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if letters <= caseMatters {
		return name
	}
	return strings.ToLower(name)
}

// Alike returns the groups of names that differ in case, or in the space
// within them, and in nothing else: probably one thing, spelt in two ways. Both
// the groups and the names in each are in the order of names.
func Alike(names []string) [][]string {
	group := make(map[string]int, len(names)) // by folded name: 1 + the first name's place, or −1 − the group's
	var groups [][]string
	for k, name := range names {
		folded := strings.ToLower(strings.Join(strings.Fields(name), " "))
		switch g := group[folded]; {
		case g == 0:
			group[folded] = k + 1
		case g > 0:
			group[folded] = -1 - len(groups)
			groups = append(groups, []string{names[g-1], name})
		default:
			groups[-1-g] = append(groups[-1-g], name)
		}
	}
	return groups
}
