package number

import (
	"strings"
	"testing"
)

// TestJoin: lists of any length are written as a sentence has them.
func TestJoin(t *testing.T) {
	for list, want := range map[string][2]string{
		"": {"", ""}, "a": {"a", "a"}, "a b": {"a and b", "a or b"}, "a b c d": {"a, b, c and d", "a, b, c or d"},
	} {
		texts := strings.Fields(list)
		if got := [2]string{JoinAnd(texts), JoinOr(texts)}; got != want {
			t.Errorf("%q is written as %q, want %q", texts, got, want)
		}
	}
}
