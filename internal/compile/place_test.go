package compile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestPlaces: each rule of a conflict knows the item of the file that it is of, whatever
// comes of the items before it, and whether it is all that the item says.
func TestPlaces(t *testing.T) {
	for rules, want := range map[string]string{
		"  - require: Gin\n  - exclude: Gin\n": "0 true, 1 true",
		"  - block: {of: [Cassis, Campari], total: 2, rules: [{exclude: Campari}, {amount: {of: Cassis, max: 2}}]}\n  - require: Gin\n  - exclude: Gin\n":                                                             "0 false, 0 false, 0 false, 1 true, 2 true",
		"  - constituents: {file: constituents.csv}\n  - limits: {file: limits.csv}\n  - require: Gin\n  - exclude: Gin\n":                                                                                            "1 false, 1 false, 1 false, 2 true, 3 true",
		"  - amount: {of: [Gin, Cassis], min: 2, stock: 9}\n  - if: {used: Gin, then: [{exclude: Campari}, {require: Vermouth}]}\n  - if: {used: Gin, then: {exclude: Cassis}}\n  - require: Gin\n  - exclude: Gin\n": "0 false, 0 false, 0 false, 1 false, 1 false, 2 true, 3 true, 4 true",
	} {
		_, err := loadRules(t, headBook, rules)
		var c *ConflictError
		if !errors.As(err, &c) {
			t.Errorf("%s: %v is no conflict", rules, err)
			continue
		}
		var got []string
		for _, r := range c.ProblemRules {
			got = append(got, fmt.Sprint(r.ConstraintIndex, " ", r.IsOnlyRuleOfItem))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: the rules are of %s, not of %s", rules, got, want)
		}
	}
}
