package rule_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"kir/rule"
)

// TestSetRefuses: an error names what is no rule by its number, and the least and most that is
// one is taken.
func TestSetRefuses(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		rule rule.Rule
		says string // "" if it is a rule, of 3 ingredients and 5 units
	}{
		{rule.Require{Of: []int{0}}, ""}, {rule.Require{Of: []int{2}}, ""}, {rule.Require{Of: []int{3}}, "names ingredient 3 and they go from 0 to 2"}, {rule.Exclude{Of: []int{-1}}, "names ingredient -1 and"},
		{rule.Amount{Of: []int{0}}, ""}, {rule.Amount{Of: []int{0}, Min: 3, Max: 3, Step: 1}, ""}, {rule.Amount{Of: []int{3}, Min: 1}, "names ingredient 3"},
		{rule.Amount{Of: []int{0}, Min: -1}, "has a negative amount"}, {rule.Amount{Of: []int{0}, Max: -1}, "has a negative amount"}, {rule.Amount{Of: []int{0}, Step: -1}, "has a negative amount"},
		{rule.Amount{Of: []int{0}, Min: 4, Max: 3}, "asks for amounts of at least 4 and at most 3"},
		{rule.Group{Of: []int{0, 1}, Used: &rule.Range{Min: 1, Max: 1}, Total: &rule.Range{Min: 2, Max: 2}}, ""}, {rule.Group{Of: []int{0}, Used: &rule.Range{Min: 2, Max: 1}}, "asks for 2 to 1 used"},
		{rule.Group{Of: []int{0}, Total: &rule.Range{Min: 2, Max: 1}}, "asks for a total of 2 to 1"}, {rule.Group{Of: []int{7}, Total: &rule.Range{Min: 1, Max: 2}}, "names ingredient 7"},
		{rule.Need{If: 0, Then: []int{1}}, ""}, {rule.Need{If: 3, Then: []int{1}}, "names ingredient 3"}, {rule.Need{If: 0, Then: []int{3}}, "names ingredient 3"},
		{rule.Limit{Factors: []float64{1, 2, 3}, Min: 2, Max: 2}, ""}, {rule.Limit{Factors: []float64{1, 2}, Min: 2, Max: inf}, "has 2 factors for 3 ingredients"},
		{rule.Limit{Factors: []float64{1, nan, 3}, Min: 2, Max: inf}, "has the factor NaN for ingredient 1"}, {rule.Limit{Factors: []float64{1, 1, inf}, Min: 2, Max: inf}, "has the factor +Inf for ingredient 2"},
		{rule.Limit{Factors: []float64{1, 2, 3}, Min: nan, Max: 2}, "has a bound that is not a number"}, {rule.Limit{Factors: []float64{1, 2, 3}, Min: 1, Max: nan}, "has a bound that is not a number"},
		{rule.Limit{Factors: []float64{1, 2, 3}, Min: 3, Max: 2}, "asks for a mean of at least 3 and at most 2"},
		{rule.Ratio{Of: []int{0}, To: []int{1}, Min: 0, Max: 0}, ""}, {rule.Ratio{Of: []int{0}, To: []int{1}, Min: 2, Max: 1}, "asks for a ratio of at least 2 and at most 1"},
		{rule.Ratio{Of: []int{0}, To: []int{1}, Min: inf, Max: inf}, "asks for a ratio from +Inf to +Inf"}, {rule.Ratio{Of: []int{0}, To: []int{1}, Min: -2, Max: -1}, "asks for a ratio from -2 to -1"},
		{rule.Ratio{To: []int{1}, Max: 1}, "is a ratio of nothing"}, {rule.Ratio{Of: []int{1}, Max: 1}, "is a ratio of nothing"}, {rule.Ratio{Of: []int{3}, To: []int{1}, Max: 1}, "names ingredient 3"}, {rule.Ratio{Of: []int{1}, To: []int{3}, Max: 1}, "names ingredient 3"},
		{rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 5}}, Distance: new(0)}, ""}, {rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 3}}, Changes: new(0)}, ""}, {rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 3}}, Changes: new(0), Distance: new(0)}, "is near a recipe of 3 units, and the total is 5"},
		{rule.Near{Changes: new(1)}, "is near nothing"}, {rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 5}}, Changes: new(-2), Distance: new(1)}, "has a negative bound"}, {rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 5}}, Changes: new(1), Distance: new(-2)}, "has a negative bound"},
		{rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 0}, {Ingredient: 1, Amount: 5}}, Changes: new(1)}, "has 0 units of ingredient 0, or has it twice"}, {rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 6}}, Changes: new(1)}, "has 6 units"}, {rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 2}, {Ingredient: 0, Amount: 3}}, Changes: new(1)}, "has 3 units of ingredient 0, or has it twice"},
		{rule.Near{Recipe: []rule.Part{{Ingredient: 3, Amount: 5}}, Changes: new(1)}, "names ingredient 3"},
		{rule.If{Used: []int{0}, Then: rule.Require{Of: []int{1}}}, ""}, {rule.If{Unused: []int{0}, Then: rule.Require{Of: []int{1}}}, ""}, {rule.If{Used: []int{0}}, "has nothing behind its condition"}, {rule.If{Then: rule.Require{Of: []int{1}}}, "has no condition"},
		{rule.If{Used: []int{3}, Then: rule.Require{Of: []int{1}}}, "names ingredient 3"}, {rule.If{Unused: []int{3}, Then: rule.Require{Of: []int{1}}}, "names ingredient 3"}, {rule.If{Used: []int{0}, Then: rule.Require{Of: []int{4}}}, "has behind its condition what names ingredient 4"},
	} {
		err := (&rule.Set{Ingredients: 3, Total: 5, Rules: []rule.Rule{nil, c.rule}}).Check()
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.says)
		}
		if bad, is := errors.AsType[*rule.Error](err); err != nil && (!is || bad.Rule != 1) {
			t.Errorf("%+v: %v is not of rule 1", c.rule, err)
		}
	}
	const maxSize = 1<<31 - 1
	for _, c := range []struct {
		ingredients, total int
		fine               bool
	}{{1, 1, true}, {0, 1, false}, {1, 0, false}, {-1, 3, false}, {3, -1, false}, {maxSize, maxSize, true}, {maxSize + 1, 1, false}, {1, maxSize + 1, false}} {
		s := rule.Set{Ingredients: c.ingredients, Total: c.total}
		if err := s.Check(); (err == nil) != c.fine {
			t.Errorf("%d ingredients and %d units: %v", c.ingredients, c.total, err)
		}
	}
}
