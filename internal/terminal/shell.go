package terminal

import (
	"strings"
	"unicode"
)

// shellPlain are the characters besides letters and digits that no POSIX shell takes for something else.
const shellPlain = "_-=./:@%+,"

// ShellWord returns text as one word of a POSIX shell: in single quotes, unless it needs none.
func ShellWord(text string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(shellPlain, r)
	}
	if text != "" && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
