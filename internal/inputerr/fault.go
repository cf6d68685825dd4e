// Package inputerr has the errors for faulty input. An error says where the fault is, what is wrong
// and what would be right. All readers of files report faults in their input with these errors.
// Commands can therefore distinguish faulty input from failures of the machine and print all faults
// in the same form.
package inputerr

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// An Error is a fault in an input. A failure of the machine, such as a disk that cannot be read, is
// not an Error.
type Error struct {
	// File is the name under which the file was read. It is empty if the input is not a file, for
	// example if it is a flag.
	File string

	// Line is the number of the line with the fault, counted from 1. It is 0 if the fault is in the
	// file as a whole.
	Line int

	// Column is the number of the character (code point) in the line at which the fault begins,
	// counted from 1. It is 0 if unknown.
	Column int

	// Cell is the sheet and the cell of the fault in a workbook, such as Drinks!C4. Messages show Cell
	// instead of Line and Column.
	Cell string

	// Message says what is wrong. Text from the file is quoted in the message, and control
	// characters are escaped.
	Message string

	// Hint says what would be right or how to correct the fault. It may be empty.
	Hint string

	// Err is the error that caused this error, or nil.
	Err error
}

// Error returns "file:line:column: message: hint", or "file:sheet!cell: message: hint" for a
// workbook. Unknown parts are left out. A file name with unprintable characters is quoted.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(quoteUnprintable(e.File))
		switch {
		case e.Cell != "":
			b.WriteString(":" + quoteUnprintable(e.Cell))
		case e.Line > 0:
			b.WriteString(":" + strconv.Itoa(e.Line))
			if e.Column > 0 {
				b.WriteString(":" + strconv.Itoa(e.Column))
			}
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString(": " + e.Hint)
	}
	return b.String()
}

// quoteUnprintable returns a name in quotation marks if the name contains unprintable characters.
// Any other name stays unchanged.
func quoteUnprintable(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Unwrap returns the error that caused this error, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Quote returns text from an input in quotation marks, for a message. It escapes control characters
// and cuts off text after about 60 bytes.
func Quote(text string) string { return quoteUpTo(text, 60) }

// QuoteSentence is like [Quote], but cuts off text only after about 200 bytes, for texts that kir writes about an
// input, such as the text of a constraint.
func QuoteSentence(text string) string { return quoteUpTo(text, 200) }

// quoteUpTo returns text in quotation marks. It cuts off text after about longest bytes.
func quoteUpTo(text string, longest int) string {
	for i := range text {
		if i > longest {
			return strconv.Quote(text[:i]) + "..."
		}
	}
	return strconv.Quote(text)
}

// List returns names in quotation marks, separated by commas, for a message. If there are more than
// maxNames names, List gives only the number of the remaining names.
func List(names []string, maxNames int) string {
	var b strings.Builder
	for i, name := range names {
		if i == maxNames {
			b.WriteString(" and " + strconv.Itoa(len(names)-maxNames) + " more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Quote(name))
	}
	return b.String()
}

// Count returns a number with a noun in the singular or plural, such as "1 unit" or "2 units".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Nearest returns the name that a mistyped text most likely means. It is the name with the smallest
// edit distance from text, ignoring case; of equally near names it is the first. The distance must
// be at most 1 or a third of the length of the longer text. Two neighbouring letters that are
// swapped count as one edit. The bool is false if no name is near enough.
func Nearest(text string, names []string) (string, bool) {
	const longest = 64 // bounds the work on hostile names
	length := utf8.RuneCountInString(text)
	if length > longest {
		return "", false
	}
	text = strings.ToLower(text)
	best, found, least := "", false, longest
	for _, name := range names {
		other := utf8.RuneCountInString(name)
		most := max(1, (max(length, other)+1)/3)
		if d := other - length; d > most || -d > most {
			continue
		}
		lower := strings.ToLower(name)
		d := levenshtein.ComputeDistance(text, lower)
		if d == 2 && isTransposition(text, lower) {
			d = 1
		}
		if d <= most && d < least {
			best, least, found = name, d, true
		}
	}
	return best, found
}

// isTransposition reports whether two texts differ only in that two neighbouring letters are
// swapped.
func isTransposition(text, other string) bool {
	a, b := []rune(text), []rune(other)
	if len(a) != len(b) {
		return false
	}
	k := 0
	for k < len(a) && a[k] == b[k] {
		k++
	}
	return k+1 < len(a) && a[k] == b[k+1] && a[k+1] == b[k] && slices.Equal(a[k+2:], b[k+2:])
}

// DidYouMean returns the hint "did you mean ...?" with the name nearest to text. The hint is empty
// if no name is near enough.
func DidYouMean(text string, names []string) string {
	if name, ok := Nearest(text, names); ok {
		return "did you mean " + Quote(name) + "?"
	}
	return ""
}
