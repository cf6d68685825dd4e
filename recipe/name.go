package recipe

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Name returns a name as books hold it: without space around it, and in Unicode
// normalization form C, so that two spellings that look the same (è as one
// character, or as e and an accent) are one. Names of recipes, ingredients,
// attributes, labels and their classes all go through it. Nothing else is
// changed: names that differ in case are different names.
func Name(text string) string {
	text = strings.TrimSpace(text)
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return norm.NFC.String(text)
		}
	}
	return text
}
