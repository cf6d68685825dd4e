package run

import (
	"strconv"
	"strings"
)

// Limits on the number of ingredients whose names are stored as a rule. The upper limit exists
// because a reader of the rule generates all names.
const (
	minCountedNames = 10_000
	maxCountedNames = 10_000_000
)

// NumberedNames is the rule that all ingredients are named by a prefix and a number from 1 on. For a
// million ingredients without names of their own, only this rule is stored.
type NumberedNames struct {
	Prefix string `json:"prefix"`
	Count  int    `json:"count"`
}

// detectCountedNames returns the rule that the names follow, or nil if there is no such rule or the
// number of names is outside of the limits.
func detectCountedNames(names []string) *NumberedNames {
	if len(names) < minCountedNames || len(names) > maxCountedNames {
		return nil
	}
	prefix, ok := strings.CutSuffix(names[0], "1")
	if !ok {
		return nil
	}
	c := &NumberedNames{prefix, len(names)}
	for i, name := range names {
		if c.indexOf(name) != int32(i) {
			return nil
		}
	}
	return c
}

// name returns the name of the ingredient with index i.
func (c *NumberedNames) name(i int) string { return c.Prefix + strconv.Itoa(i+1) }

// indexOf returns the index of the ingredient with a name, or −1.
func (c *NumberedNames) indexOf(name string) int32 {
	digits, ok := strings.CutPrefix(name, c.Prefix)
	if !ok || digits == "" || digits[0] < '1' {
		return -1
	}
	n := 0
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' || n > c.Count {
			return -1
		}
		n = 10*n + int(d-'0')
	}
	if n > c.Count {
		return -1
	}
	return int32(n - 1)
}
