package compile

import (
	"errors"
	"strings"
	"testing"

	"kir/internal/inputerr"
)

func TestContradictionsAreExplained(t *testing.T) {
	for _, c := range []struct {
		name, rules string
		says        []string
	}{
		{"a need", "  - needs: {if: Gin, then: [Cassis]}\n  - exclude: Cassis\n  - require: Gin\n  - exclude: Vermouth\n",
			[]string{`6:5: `, `"Gin needs Cassis", "never use Cassis" and "always use Gin" together (line 6, line 7, line 8)`, "do not exclude Cassis or do not require Gin"}},
		{"a limit alone", "  - exclude: Cassis\n  - limit: {attribute: abv, min: 46}\n", []string{`7:5: `, `"abv: at least 46 (mean over the recipe)"`, "from 46 to 45"}},
		{"a limit and a dose", "  - require: Gin\n  - amount: {of: Gin, min: 10}\n  - limit: {attribute: abv, max: 15}\n", []string{"from 15 to 20"}},
		{"groups that cross", "  - group: {of: [Gin, Cassis], used: [2, 2]}\n  - group: {of: [Cassis, Campari], used: [0, 1]}\n  - require: Campari\n", []string{"line 6, line 7, line 8"}},
		{"the same rule twice", "  - amount: {of: Gin, max: 4}\n  - require: Gin\n  - amount: {of: Gin, max: 4}\n  - limit: {attribute: abv, max: 10}\n  - amount: {of: Gin, min: 4}\n  - group: {of: [Gin, Cassis], total: [14, 14]}\n",
			[]string{"line 9"}},
		{"two limits on one attribute", "  - limit: {attribute: abv, min: 28.4, max: 41.4}\n  - limit: {attribute: abv, min: 6.7, max: 8.1}\n",
			[]string{`lower the min of "abv: 28.4 to 41.4 (mean over the recipe)" from 28.4 to 8.1 or raise the max of "abv: 6.7 to 8.1 (mean over the recipe)" from 8.1 to 28.4`}},
		{"with the sparsity", "  - needs: {if: Gin, then: [Cassis]}\n  - needs: {if: Cassis, then: [Campari]}\n  - needs: {if: Campari, then: [Vermouth]}\n  - needs: {if: Vermouth, then: [Champagne]}\n  - require: Gin\n",
			[]string{"the sparsity on line 4", "do not require Gin or allow 5 used ingredients"}},
	} {
		_, err := loadRules(t, headBook, c.rules)
		var bad *inputerr.Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: the error is %v, not one of input", c.name, err)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the message does not say %q: %v", c.name, want, err)
			}
		}
	}
}
