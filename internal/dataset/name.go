package dataset

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// NormalizeName returns a name in the form that books store. It removes surrounding space and the
// apostrophe of [EscapeCell], ends lines with line feeds, and converts to Unicode normalization
// form C. So two spellings that look the same (è as one character, or as e and an accent) are
// equal. It changes nothing else, and normalizing twice changes nothing more. Names of recipes,
// ingredients, attributes, labels and their classes, and ids all pass through it when read and when
// written. Ingredients whose names differ only in case, or in the space within them, are one.
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

// lineFeeds unifies line ends.
var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// IsFormula reports whether a spreadsheet may run a text. Such a text begins, after space, with one
// of the characters = + - @, of the usual or of full width.
func IsFormula(text string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	return strings.ContainsRune("=+-@＝＋－＠", r)
}

// EscapeCell returns a name as the cell of a file, which no spreadsheet runs as a formula. A name
// that could be a formula, and is not a number, gets an apostrophe before it. [NormalizeName]
// converts the cell back to the name.
func EscapeCell(name string) string {
	if !IsFormula(name) {
		return name
	}
	if _, ok := number(name); ok {
		return name
	}
	return "'" + name
}

// CheckCell checks that a text can be a cell of a table which is read again. If not, it returns the
// fault and how to write the text instead; else empty texts.
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

// maxCaseSensitive is the greatest number of letters of names in which case may be significant,
// such as Co and CO.
const maxCaseSensitive = 2

// foldName returns the key of an ingredient's name, which is equal for all of its spellings: with
// one space between words and, unless the name has only one or two letters, without case.
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

// SpellingVariants returns the groups of names that differ only in case or in the space within
// them. They are probably two spellings of one ingredient. The groups and the names in each are in
// the order of names.
func SpellingVariants(names []string) [][]string {
	group := make(map[string]int, len(names)) // by folded name: 1 + the first name's index, or −1 − the group's
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
