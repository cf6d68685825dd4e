// Package inputerr describes what is wrong in an input: where, what, and what
// would be right. It is how every reader of files reports bad input, so that
// commands can tell it from failures of the machine and print it in one way.
package inputerr

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// An Error is something wrong in an input. Failures of the machine, a disk
// that cannot be read, are other errors.
type Error struct {
	// File is the name under which the file was read; empty for an input that
	// is no file, such as a flag.
	File string

	// Line and Column count from 1, the column in characters (code points). Line
	// is 0 if the file as a whole is meant.
	Line, Column int

	// Cell is where it stands in a workbook, sheet and cell, such as Drinks!C4.
	// It is shown instead of line and column.
	Cell string

	// Message says what is wrong. Text from the file is quoted in it and its
	// control characters are escaped.
	Message string

	// Hint says what would be right. It may be empty.
	Hint string

	// Err is the error behind this one, or nil.
	Err error
}

// Error returns "file:line:column: message: hint", without what is unknown, or
// "file:sheet!cell: message: hint". A name that does not print is quoted.
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

// quoteUnprintable returns a name as it is, or quoted if it would act on the screen.
func quoteUnprintable(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Unwrap returns the error behind this one.
func (e *Error) Unwrap() error { return e.Err }

// Quote makes text from an input fit to be shown: in quotes, on one line,
// control characters escaped, and no longer than a line.
func Quote(text string) string {
	const longest = 60
	for i := range text {
		if i > longest {
			return strconv.Quote(text[:i]) + "..."
		}
	}
	return strconv.Quote(text)
}

// List quotes at most that many of the names, and says how many there are more.
func List(names []string, most int) string {
	var b strings.Builder
	for i, name := range names {
		if i == most {
			b.WriteString(" and " + strconv.Itoa(len(names)-most) + " more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Quote(name))
	}
	return b.String()
}

// Count returns "1 unit", "2 units".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Nearest returns the name that a mistyped text most likely stands for: the one
// with the smallest edit distance, letters' case aside, if that is at most a
// third of the longer one's length; the first of equals. Two neighbouring letters that
// have changed places are one edit.
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

// isTransposition says whether two texts differ in that two neighbouring letters have changed
// places.
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

// DidYouMean turns a near name into a hint, and into nothing where there is none.
func DidYouMean(text string, names []string) string {
	if name, ok := Nearest(text, names); ok {
		return "did you mean " + Quote(name) + "?"
	}
	return ""
}
