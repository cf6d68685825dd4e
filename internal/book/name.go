package book

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// NormalizeName returns a name as books hold it: without space around it, with line feeds between
// lines, in Unicode normalization form C, so that two spellings that look the same (è as one
// character, or as e and an accent) are one, and without the apostrophe of [EscapeCell]. Names of
// recipes, ingredients, attributes, labels and their classes, and ids all go through it, where
// they are read as where they are written. Nothing else is changed. The name of a name is
// itself. Ingredients whose names differ in case, or in the space within them, are one.
func NormalizeName(text string) string {
	text = strings.TrimSpace(text)
	if strings.ContainsRune(text, '\r') {
		text = lineFeeds.Replace(text)
	}
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			text = norm.NFC.String(text)
			break
		}
	}
	if rest, ok := strings.CutPrefix(text, "'"); ok && IsFormula(rest) {
		text = strings.TrimSpace(rest)
	}
	return text
}

// lineFeeds ends all lines alike.
var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// IsFormula reports whether a spreadsheet may run a text: it begins, after space, with one of
// the characters = + - @, of the usual or of full width.
func IsFormula(text string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	return strings.ContainsRune("=+-@＝＋－＠", r)
}

// EscapeCell returns a name as the cell of a file, which no spreadsheet runs as a formula: what
// could be one, and is no number, has an apostrophe before it. [NormalizeName] of the cell is the name.
func EscapeCell(name string) string {
	if !IsFormula(name) {
		return name
	}
	if _, ok := number(name); ok {
		return name
	}
	return "'" + name
}

// CheckCell says what is wrong with a text that cannot be a cell of a table which is read
// again, and how to write it instead; empty if it can.
func CheckCell(text string) (message, hint string) {
	if !utf8.ValidString(text) {
		return "is no text in UTF-8", "write it in UTF-8"
	}
	if n := len(EscapeCell(text)); n > longestCell {
		return fmt.Sprintf("has %d bytes; a cell can hold at most %d", n, longestCell), "shorten it"
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return fmt.Sprintf("has the control character %U", r), "leave it out"
		}
	}
	return "", ""
}

// maxCaseSensitive is up to how many letters a name has in which case may tell one thing
// from another: Co and CO.
const maxCaseSensitive = 2

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
	if letters <= maxCaseSensitive {
		return name
	}
	return strings.ToLower(name)
}

// SpellingVariants returns the groups of names that differ in case, or in the space
// within them, and in nothing else: probably one thing, spelt in two ways. Both
// the groups and the names in each are in the order of names.
func SpellingVariants(names []string) [][]string {
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
