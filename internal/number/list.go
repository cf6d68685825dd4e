package number

import "strings"

// JoinAnd joins texts as "a, b and c".
func JoinAnd(texts []string) string { return joinWithLast(texts, " and ") }

// JoinOr joins texts as "a, b or c".
func JoinOr(texts []string) string { return joinWithLast(texts, " or ") }

func joinWithLast(texts []string, last string) string {
	n := len(texts)
	if n < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:n-1], ", ") + last + texts[n-1]
}
