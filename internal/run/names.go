package run

import (
	"strconv"
	"strings"
)

// Limits on the number of ingredients for which names that follow a rule, such as "item1", "item2",
// ..., are stored as the rule. Whoever reads the rule makes all names, so there is an upper limit.
const (
	minNumberedNames = 10_000
	maxNumberedNames = 10_000_000
)

// NumberedNames is the rule that ingredient i is named by a prefix and the number i+1. A run with a
// million such ingredients stores only the rule.
type NumberedNames struct {
	Prefix string `json:"prefix"`
	Count  int    `json:"count"`
}

// detectNumberedNames returns the rule that the names follow, or nil if they follow no such rule.
// It also returns nil if the number of names is not between minNumberedNames and maxNumberedNames.
func detectNumberedNames(names []string) *NumberedNames {
	if len(names) < minNumberedNames || len(names) > maxNumberedNames {
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

// indexOf returns the index of the ingredient with the given name, or −1 if there is none.
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
