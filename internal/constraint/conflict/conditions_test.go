package conflict

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/testonly/golden"
	"kir/rule"
)

// TestConditionsStay keeps what rules of all kinds are written out as, which sums
// they are, what of them is counted, and what is said where they cannot hold.
func TestConditionsStay(t *testing.T) {
	kept := golden.Open(t)
	groups := func(all []count.Group) (said string) {
		for _, g := range all {
			said += fmt.Sprint(" ", g.Members)
			for _, r := range []*count.Range{g.Used, g.Total} {
				if r != nil {
					said += fmt.Sprint(*r)
				}
			}
		}
		return said
	}
	written := func(s rule.Set) string {
		c, err := constraint.FromRules(s)
		if err != nil {
			return err.Error()
		}
		said := fmt.Sprintf("%d of %d, %d required, %+v%s %+v %v; of rules %v %v %v", len(c.Amounts), c.Total, c.RequiredCount, c.Amounts, groups(c.Groups), c.Dependences, c.GroupsOf, c.GroupRules, c.DependenceRules, c.SumRules)
		for _, s := range c.Sums {
			said += fmt.Sprintf("\n%d to %d: %+v", s.Min, s.Max, s.Terms)
			for a := range min(c.Total, 12) + 1 {
				for k := range s.Terms {
					said += fmt.Sprint(" ", s.Terms[k].ValueAt(a))
				}
			}
		}
		said += "\nkept"
		for n := range min(s.Ingredients, 5) + 1 {
			if e := constraint.NewEnumeration(c, []int{n}); e.CandidateBound() < 5000 {
				kept, ok, _ := c.CountFeasible(t.Context(), n)
				said += fmt.Sprintf(" %d %t,", kept, ok)
			} else {
				said += fmt.Sprintf(" of %.9g,", e.CandidateBound())
			}
		}
		space, ok := c.CountableSpace()
		whole, err := c.FullSpace()
		return said + fmt.Sprintf("\ncounted %t%s; %v %+v; not %+v; rules not %v", ok, groups(space.Groups), err, whole.Sums, c.UncountedSums(), c.UncountedRules())
	}
	explained := func(s rule.Set) string {
		c, err := Explain(t.Context(), s)
		if err != nil || c == nil {
			return fmt.Sprintf("\n%v, no conflict", err)
		}
		said := fmt.Sprintf("\n%v %t %v %v %d %d: %s", c.Rules, c.InvolvesUsedCounts, c.Kind, c.Ingredients, c.Sum, c.Limit, c.Cause)
		for _, c := range c.Changes {
			said += fmt.Sprintf("\n%d by %d: %s", c.Rule, c.BoundChange, c.Text)
		}
		return said + "\n" + c.FixText() + "\n" + c.Error()
	}
	random := rand.New(rand.NewPCG(20261127, 3))
	all := ""
	for k := range 400 {
		s := randomSet(random)
		said := written(s) + explained(s)
		if k < 24 {
			kept.CheckText(t, fmt.Sprint("random ", k), said)
		}
		all += said
		if k%25 == 24 {
			sum := sha256.Sum256([]byte(all))
			kept.CheckText(t, fmt.Sprint("up to ", k), fmt.Sprintf("%x", sum[:8]))
		}
	}
	inf := math.Inf(1)
	for name, s := range map[string]rule.Set{
		"steps in common":      {Ingredients: 3, Total: 60, Rules: []rule.Rule{rule.Amount{Of: []int{0, 1}, Step: 4}, rule.Amount{Of: []int{0}, Step: 6}, rule.Amount{Of: []int{1}, Step: 7, Min: 15}, rule.Amount{Of: []int{2}, Step: 40}, rule.Amount{Of: []int{2}, Min: 30, Max: 59}}},
		"no step in common":    {Ingredients: 2, Total: 10, Rules: []rule.Rule{rule.Amount{Of: []int{0}, Step: 7}, rule.Amount{Of: []int{0}, Step: 3}, rule.Require{Of: []int{1}}}},
		"excluded and bounded": {Ingredients: 3, Total: 10, Rules: []rule.Rule{rule.Exclude{Of: []int{1}}, rule.Amount{Of: []int{1, 2}, Min: 2, Max: 4}, rule.Need{If: 1, Then: []int{2}}}},
		"one limit":            {Ingredients: 3, Total: 10, Rules: []rule.Rule{rule.Limit{Factors: []float64{0.1, 2.5, -3}, Min: -1, Max: 1.25}}},
		"an open limit":        {Ingredients: 3, Total: 10, Rules: []rule.Rule{rule.Limit{Factors: []float64{1, 2, 3}, Min: 2, Max: inf}, rule.Limit{Factors: []float64{1, 2, 3}, Min: -inf, Max: 2.5}}},
		"fine factors":         {Ingredients: 2, Total: 1000, Rules: []rule.Rule{rule.Limit{Factors: []float64{1e-9, 1}, Min: -inf, Max: 0.5}}},
		"factors too fine":     {Ingredients: 2, Total: 1 << 30, Rules: []rule.Rule{rule.Limit{Factors: []float64{1.2345678901234567, 987654321.123456789}, Min: 0.1234567890123, Max: 5}}},
		"a ratio to itself":    {Ingredients: 3, Total: 10, Rules: []rule.Rule{rule.Ratio{Of: []int{0, 1}, To: []int{1, 2}, Min: 0.5, Max: 2}}},
		"nested":               {Ingredients: 4, Total: 10, Rules: []rule.Rule{rule.If{Used: []int{0}, Unused: []int{1}, Then: rule.If{Used: []int{2}, Then: rule.Group{Of: []int{2, 3}, Total: &rule.Range{Min: 3, Max: 7}, Used: &rule.Range{Min: 1, Max: 1}}}}, rule.If{Used: []int{3}, Then: rule.Amount{Of: []int{0, 3}, Min: 2, Max: 5, Step: 2}}}},
		"near":                 {Ingredients: 4, Total: 10, Rules: []rule.Rule{rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 4}, {Ingredient: 1, Amount: 6}}, Changes: new(1), Distance: new(3)}, rule.If{Used: []int{2}, Then: rule.Near{Recipe: []rule.Part{{Ingredient: 2, Amount: 10}}, Changes: new(0)}}}},
		"looked at":            {Ingredients: 3, Total: 1449},
		"too many":             {Ingredients: 3, Total: 1450, Rules: []rule.Rule{rule.Require{Of: []int{0}}}},
		"too many of steps":    {Ingredients: 4, Total: 9000, Rules: []rule.Rule{rule.Amount{Of: []int{0, 1, 2}, Step: 6}, rule.Exclude{Of: []int{3}}}},
		"nothing":              {Ingredients: 2, Total: 3},
		"none used":            {Ingredients: 2, Total: 3, Used: []int{0, 4}},
		"groups that cross":    {Ingredients: 5, Total: 10, Rules: []rule.Rule{rule.Group{Of: []int{0, 1, 2}, Used: &rule.Range{Min: 1, Max: 2}}, rule.Group{Of: []int{2, 3}, Total: &rule.Range{Min: 2, Max: 5}}, rule.Group{Of: []int{4}, Used: &rule.Range{Min: 0, Max: 0}}, rule.Group{Of: []int{0, 1, 2, 3, 4}, Total: &rule.Range{Min: 0, Max: 10}}}},
	} {
		kept.CheckText(t, name, written(s)+explained(s))
	}
	for _, sum := range []count.Sum{{}, {Min: -3, Max: 5, Terms: []count.Term{{Ingredient: 1, PerUnit: 2, PerUse: -1}, {Ingredient: 0, PerUnit: -1}}}} {
		kept.CheckText(t, fmt.Sprintf("sum %+v", sum), fmt.Sprintf("%+v", constraint.FromCountSum(sum)))
	}
}
