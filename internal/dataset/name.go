package dataset

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"kir/internal/measure"
	"kir/internal/tablefile"

	"golang.org/x/text/unicode/norm"
)

// NormalizeName returns a name in the form that a [Book] stores. It removes surrounding space and the
// apostrophe of [EscapeCell], replaces line ends by line feeds, and converts the text to Unicode
// normalization form C. Thus two names that look the same (è as one character, or as e and an accent)
// become equal. A normalized name stays as it is. All names that are read or written are normalized:
// names of recipes, ingredients, attributes, labels and classes, and ids. Names of ingredients are
// then compared without regard to case and to the amount of space between words.
func NormalizeName(text string) string {
	text = strings.TrimSpace(text)
	if strings.ContainsRune(text, '\r') {
		text = lineFeedReplacer.Replace(text)
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

// lineFeedReplacer replaces every line end by a line feed.
var lineFeedReplacer = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// IsFormula reports whether a spreadsheet may take a text for a formula. This is so if the first
// character after space is one of = + - @, of usual or full width.
func IsFormula(text string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	return strings.ContainsRune("=+-@＝＋－＠", r)
}

// EscapeCell returns a name as the text of a cell that no spreadsheet runs as a formula. If the
// name may be taken for a formula and is not a number, EscapeCell puts an apostrophe in front.
// [NormalizeName] removes the apostrophe again.
func EscapeCell(name string) string {
	if !IsFormula(name) {
		return name
	}
	if _, ok := measure.ParseNumber(name); ok {
		return name
	}
	return "'" + name
}

// CheckCell checks whether a text can be written to a cell of a table and read back. If not,
// message states the fault and hint says what to write instead. Otherwise both are empty.
func CheckCell(text string) (message, hint string) {
	if !utf8.ValidString(text) {
		return "is no text in UTF-8", "write it in UTF-8"
	}
	if n := len(EscapeCell(text)); n > tablefile.MaxCellBytes {
		return fmt.Sprintf("has %d bytes; a cell can hold at most %d", n, tablefile.MaxCellBytes), "shorten it"
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return fmt.Sprintf("has the control character %U", r), "leave it out"
		}
	}
	return "", ""
}

// maxCaseSensitiveLetters is the maximum number of letters of a name whose case is significant, as
// in Co and CO.
const maxCaseSensitiveLetters = 2

// spellingKey returns a key that is equal for all spellings of an ingredient's name. The key has
// single spaces between words. It is in lower case unless the name has at most
// maxCaseSensitiveLetters letters.
func spellingKey(name string) string {
	if strings.ContainsFunc(name, unicode.IsSpace) {
		name = strings.Join(strings.Fields(name), " ")
	}
	letters := 0
	for _, r := range name {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if letters <= maxCaseSensitiveLetters {
		return name
	}
	return strings.ToLower(name)
}

// SpellingVariants returns the groups of two or more names that differ only in case or in the space
// between words, and so are probably spellings of one ingredient. The names in each group are in
// the order of the argument. The groups are in the order of their second names.
func SpellingVariants(names []string) [][]string {
	group := make(map[string]int, len(names)) // by folded name: 1 + the index of the only such name, or −1 − the index of the group
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
