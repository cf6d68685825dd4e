package terminal

import (
	"strings"
	"unicode"
)

// unquotedShellMarks lists the characters, besides letters and digits, that have no special meaning
// in a POSIX shell.
const unquotedShellMarks = "_-=./:@%+,"

// ShellWord returns text as one word for a POSIX shell. The word is in single quotes if it has
// special characters.
func ShellWord(text string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(unquotedShellMarks, r)
	}
	if text != "" && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
