package terminal

import (
	"strings"
	"unicode"
)

// unquotedShellMarks has all characters that need no quotation marks in a POSIX shell, apart from
// letters and digits.
const unquotedShellMarks = "_-=./:@%+,"

// ShellWord returns text in a form that a POSIX shell reads as one word. If text is empty or has
// special characters, the form has single quotation marks.
func ShellWord(text string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(unquotedShellMarks, r)
	}
	if text != "" && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
