package paper

import (
	"fmt"
	"math/big"
	"strings"
)

// newCountTable returns Table 1 of the paper, recomputed as C(N, n)·C(M−1, n−1).
func newCountTable() CountTable {
	t := CountTable{Ingredients: 50, Total: 5}
	for k, printed := range publishedCounts {
		n := int64(k + 1)
		sets := new(big.Int).Binomial(int64(t.Ingredients), n)
		cuts := new(big.Int).Binomial(int64(t.Total)-1, n-1)
		t.Rows = append(t.Rows, Count{N: k + 1, Count: sets.Mul(sets, cuts).String(), Paper: printed})
	}
	return t
}

// listDifferences lists the points in which the data used here, or the reading of the paper, differ from the
// paper. The result c of the cocktail experiment may be nil.
func listDifferences(c *Cocktails) []Difference {
	all := []Difference{
		{
			What:  "naive sampler",
			Paper: "candidates uniform on X; its rates are those of units thrown into ingredients, without the Hastings correction",
			Here:  "candidates uniform on X",
			Why:   "the exact rates of a uniform candidate are far from the paper’s, those of the other are within the paper’s standard error",
		},
		{
			What:  "target c",
			Paper: "a law with modes at 15 and 20",
			Here:  "∝ exp(−0.5 (n−15)²) + 2 exp(−0.5 (n−20)²)",
			Why:   "its formula was not available to us",
		},
		{
			What:  "discarded iterations, large",
			Paper: "not available to us",
			Here:  "10,000, as for the small setting",
			Why:   "starts are exact draws from the target here, so that nothing depends on it",
		},
		{
			What:  "start of a sequence",
			Paper: "not available to us",
			Here:  "drawn from the target (from the law of n, where there are properties)",
			Why:   "every state of the sequence then follows the target, and its rates have no bias",
		},
		{
			What:  "rates not shown in the column of the paper",
			Paper: "not available to us",
			Here:  "exact and measured only",
			Why:   "we had the accepted rates of the small setting and the updated rates of gibbs",
		},
	}
	if c == nil {
		return all
	}
	var ours, theirs []string
	for _, l := range c.Law {
		if l.Recipes > 0 || l.Paper > 0 {
			ours = append(ours, fmt.Sprintf("%d of %d", l.Recipes, l.N))
			theirs = append(theirs, fmt.Sprintf("%d of %d", l.Paper, l.N))
		}
	}
	return append(all,
		Difference{
			What:  "number of ingredients, N",
			Paper: fmt.Sprint(publishedIngredients),
			Here:  fmt.Sprint(c.Ingredients),
			Why:   "the source has 66 names, three of them second spellings, which are one ingredient here; merging one of them would give 65",
		},
		Difference{
			What:  "law of n: drinks of n ingredients",
			Paper: strings.Join(theirs, ", "),
			Here:  strings.Join(ours, ", "),
			Why:   "counted from the same 69 drinks; one that has four ingredients in the source must have been counted as five",
		},
		Difference{
			What:  "total, M",
			Paper: "not available to us",
			Here:  fmt.Sprintf("%d units, of 0.1 %% each", c.Total),
			Why:   "fine enough for a dash to be a unit",
		},
		Difference{
			What:  "sizes of units",
			Paper: "not available to us",
			Here:  "dash 0.09 cl, bar spoon and tea spoon 0.5 cl, drop 0.005 cl, splash 0.25 cl, a whole egg 5 cl",
			Why:   "none of them is a standard; 191 of the 223 amounts are in centilitres",
		},
		Difference{
			What:  "labels of taste",
			Paper: "Bittersweet, Boozy, Fresh, Salty, Sour, Sweet, Unknown",
			Here:  strings.Join(c.Tastes, ", "),
			Why:   "the paper’s seven, with the spelling of the paper",
		},
		Difference{
			What:  "forests",
			Paper: "random forests; their options were not available to us",
			Here:  "100 trees, grown out, √N ingredients tried at a node",
			Why:   "the standard definition",
		},
	)
}
