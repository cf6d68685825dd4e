package compile

import (
	"math"
	"strings"
	"testing"

	"kir/mcmc"
)

// Sizes that the rules leave nothing of, those whose counts are known roughly, and
// those that are too rare to be measured are told; what is known well is not.
func TestShareWarnings(t *testing.T) {
	none := math.Inf(-1)
	measured := func(counted ...bool) (shares []mcmc.UncountedRuleShare) {
		for k, c := range counted {
			shares = append(shares, mcmc.UncountedRuleShare{N: k + 1, Counted: c})
		}
		return shares
	}
	const left, rough, rare = "Sparsity asks for recipes of", "kir could only estimate", "kir leaves out numbers"
	for _, c := range []struct {
		name              string
		law, logs, errors []float64
		shares            []mcmc.UncountedRuleShare
		says              []string // what the warnings begin with
		holds             []string // in them
		none              bool
	}{
		{name: "all is known", law: []float64{0, 0.25, 0.75}, logs: []float64{none, 3, 5}, errors: []float64{0, 0, 0}},
		{name: "measured well", law: []float64{0, 0.25, 0.75}, logs: []float64{none, 3, 5}, errors: []float64{0, 0.01, 0.01}, shares: measured(true, true)},
		{name: "just well enough", law: []float64{0, 0.5, 0.5}, logs: []float64{none, 3, 5}, errors: []float64{0, 0.025, 0.025}, shares: measured(true, true)},
		{name: "measured badly", law: []float64{0, 0.25, 0.75}, logs: []float64{none, 3, 5}, errors: []float64{0, 0.02, 0.02}, shares: measured(true, true),
			says: []string{rough}, holds: []string{"(1 ingredient: 25 ± 2 %)"}},
		{name: "badly where it matters", law: []float64{0, 0.0005, 0.25, 0.7495}, logs: []float64{none, 3, 5, 5}, errors: []float64{0, 0.0005, 0.05, 0.05}, shares: measured(true, true, true),
			says: []string{rough}, holds: []string{"(2 ingredients: 25 ± 5 %; 3 ingredients: 75 ± 5 %)"}},
		{name: "sizes left out", law: []float64{0, 0.2, 0.3, 0.5}, logs: []float64{none, none, none, 4}, errors: make([]float64, 4),
			says: []string{left}, holds: []string{"of 1 or 2 ingredients"}},
		{name: "a size that the law leaves out", law: []float64{0, 0, 1}, logs: []float64{none, none, 4}, errors: make([]float64, 3)},
		{name: "too rare to be measured", law: []float64{0, 1e-10, 1 - 2e-10, 1e-10}, logs: []float64{none, none, 5, none}, errors: make([]float64, 4), shares: measured(false, true, false),
			says: []string{rare}, holds: []string{"make up 2e-08 %"}},
		{name: "none found, and too rare", law: []float64{0, 0.4, 1e-10, 0.6}, logs: []float64{none, none, none, 5}, errors: make([]float64, 4), shares: measured(true, false, true),
			says: []string{left, rare}, holds: []string{"of 1 ingredient,", "make up 1e-08 %"}},
		{name: "nothing is left", law: []float64{0, 1}, logs: []float64{none, none}, errors: make([]float64, 2), none: true},
	} {
		got, some := ingredientCountWarnings(c.law, c.logs, c.errors, c.shares)
		if some == c.none || len(got) != len(c.says) {
			t.Errorf("%s: some %t, %q", c.name, some, got)
			continue
		}
		for k, w := range got {
			if !strings.HasPrefix(w, c.says[k]) || !strings.Contains(w, c.holds[k]) {
				t.Errorf("%s: %q does not begin with %q and say %q", c.name, w, c.says[k], c.holds[k])
			}
		}
	}
}
