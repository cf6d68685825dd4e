package number

import "strings"

// JoinAnd joins texts as "a, b and c".
func JoinAnd(texts []string) string { return joinWithLast(texts, " and ") }

// JoinOr joins texts as "a, b or c".
func JoinOr(texts []string) string { return joinWithLast(texts, " or ") }

// joinWithLast joins texts with commas, and with lastSeparator before the last text.
func joinWithLast(texts []string, lastSeparator string) string {
	n := len(texts)
	if n < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:n-1], ", ") + lastSeparator + texts[n-1]
}
