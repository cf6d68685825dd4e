package run

import (
	"strconv"
	"strings"
)

// leastCounted is the least number of ingredients whose names are stored as a rule. mostCounted is
// the largest number, since a reader of the rule generates all names.
const (
	leastCounted = 10_000
	mostCounted  = 10_000_000
)

// Counted is the rule for names that consist of a prefix and a number from 1 on. For a million
// ingredients without names of their own, only this rule is stored.
type Counted struct {
	Prefix string `json:"prefix"`
	Count  int    `json:"count"`
}

// countedNames returns the rule that many names follow, or nil.
func countedNames(names []string) *Counted {
	if len(names) < leastCounted || len(names) > mostCounted {
		return nil
	}
	prefix, ok := strings.CutSuffix(names[0], "1")
	if !ok {
		return nil
	}
	c := &Counted{prefix, len(names)}
	for i, name := range names {
		if c.find(name) != int32(i) {
			return nil
		}
	}
	return c
}

// name returns the name of an ingredient.
func (c *Counted) name(i int) string { return c.Prefix + strconv.Itoa(i+1) }

// find returns the ingredient with a name, or −1.
func (c *Counted) find(name string) int32 {
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
