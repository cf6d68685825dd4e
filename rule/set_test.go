package rule

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestSetRefuses: an error names what is no rule by its number, and the least and most that is
// one is taken.
func TestSetRefuses(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		rule Rule
		says string // "" if it is a rule, of 3 ingredients and 5 units
	}{
		{Require{Of: []int{0}}, ""}, {Require{Of: []int{2}}, ""}, {Require{Of: []int{3}}, "names ingredient 3 and they go from 0 to 2"}, {Exclude{Of: []int{-1}}, "names ingredient -1 and"},
		{Amount{Of: []int{0}}, ""}, {Amount{Of: []int{0}, Min: 3, Max: 3, Step: 1}, ""}, {Amount{Of: []int{3}, Min: 1}, "names ingredient 3"},
		{Amount{Of: []int{0}, Min: -1}, "has a negative amount"}, {Amount{Of: []int{0}, Max: -1}, "has a negative amount"}, {Amount{Of: []int{0}, Step: -1}, "has a negative amount"},
		{Amount{Of: []int{0}, Min: 4, Max: 3}, "asks for amounts of at least 4 and at most 3"},
		{Group{Of: []int{0, 1}, Used: &Range{Min: 1, Max: 1}, Total: &Range{Min: 2, Max: 2}}, ""}, {Group{Of: []int{0}, Used: &Range{Min: 2, Max: 1}}, "asks for 2 to 1 used"},
		{Group{Of: []int{0}, Total: &Range{Min: 2, Max: 1}}, "asks for a total of 2 to 1"}, {Group{Of: []int{7}, Total: &Range{Min: 1, Max: 2}}, "names ingredient 7"},
		{Need{If: 0, Then: []int{1}}, ""}, {Need{If: 3, Then: []int{1}}, "names ingredient 3"}, {Need{If: 0, Then: []int{3}}, "names ingredient 3"},
		{Limit{Factors: []float64{1, 2, 3}, Min: 2, Max: 2}, ""}, {Limit{Factors: []float64{1, 2}, Min: 2, Max: inf}, "has 2 factors for 3 ingredients"},
		{Limit{Factors: []float64{1, nan, 3}, Min: 2, Max: inf}, "has the factor NaN for ingredient 1"}, {Limit{Factors: []float64{1, 1, inf}, Min: 2, Max: inf}, "has the factor +Inf for ingredient 2"},
		{Limit{Factors: []float64{1, 2, 3}, Min: nan, Max: 2}, "has a bound that is not a number"}, {Limit{Factors: []float64{1, 2, 3}, Min: 1, Max: nan}, "has a bound that is not a number"},
		{Limit{Factors: []float64{1, 2, 3}, Min: 3, Max: 2}, "asks for a mean of at least 3 and at most 2"},
		{Ratio{Of: []int{0}, To: []int{1}, Min: 0, Max: 0}, ""}, {Ratio{Of: []int{0}, To: []int{1}, Min: 2, Max: 1}, "asks for a ratio of at least 2 and at most 1"},
		{Ratio{Of: []int{0}, To: []int{1}, Min: inf, Max: inf}, "asks for a ratio from +Inf to +Inf"}, {Ratio{Of: []int{0}, To: []int{1}, Min: -2, Max: -1}, "asks for a ratio from -2 to -1"},
		{Ratio{To: []int{1}, Max: 1}, "is a ratio of nothing"}, {Ratio{Of: []int{1}, Max: 1}, "is a ratio of nothing"}, {Ratio{Of: []int{3}, To: []int{1}, Max: 1}, "names ingredient 3"}, {Ratio{Of: []int{1}, To: []int{3}, Max: 1}, "names ingredient 3"},
		{Near{Recipe: []Part{{Ingredient: 0, Amount: 5}}, Distance: new(0)}, ""}, {Near{Recipe: []Part{{Ingredient: 0, Amount: 3}}, Changes: new(0)}, ""}, {Near{Recipe: []Part{{Ingredient: 0, Amount: 3}}, Changes: new(0), Distance: new(0)}, "is near a recipe of 3 units, and the total is 5"},
		{Near{Changes: new(1)}, "is near nothing"}, {Near{Recipe: []Part{{Ingredient: 0, Amount: 5}}, Changes: new(-2), Distance: new(1)}, "has a negative bound"}, {Near{Recipe: []Part{{Ingredient: 0, Amount: 5}}, Changes: new(1), Distance: new(-2)}, "has a negative bound"},
		{Near{Recipe: []Part{{Ingredient: 0, Amount: 0}, {Ingredient: 1, Amount: 5}}, Changes: new(1)}, "has 0 units of ingredient 0, or has it twice"}, {Near{Recipe: []Part{{Ingredient: 0, Amount: 6}}, Changes: new(1)}, "has 6 units"}, {Near{Recipe: []Part{{Ingredient: 0, Amount: 2}, {Ingredient: 0, Amount: 3}}, Changes: new(1)}, "has 3 units of ingredient 0, or has it twice"},
		{Near{Recipe: []Part{{Ingredient: 3, Amount: 5}}, Changes: new(1)}, "names ingredient 3"},
		{If{Used: []int{0}, Then: Require{Of: []int{1}}}, ""}, {If{Unused: []int{0}, Then: Require{Of: []int{1}}}, ""}, {If{Used: []int{0}}, "has nothing behind its condition"}, {If{Then: Require{Of: []int{1}}}, "has no condition"},
		{If{Used: []int{3}, Then: Require{Of: []int{1}}}, "names ingredient 3"}, {If{Unused: []int{3}, Then: Require{Of: []int{1}}}, "names ingredient 3"}, {If{Used: []int{0}, Then: Require{Of: []int{4}}}, "has behind its condition what names ingredient 4"},
	} {
		err := (&Set{Ingredients: 3, Total: 5, Rules: []Rule{nil, c.rule}}).Check()
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.says)
		}
		if bad, is := errors.AsType[*Error](err); err != nil && (!is || bad.Rule != 1) {
			t.Errorf("%+v: %v is not of rule 1", c.rule, err)
		}
	}
	for _, c := range []struct {
		ingredients, total int
		fine               bool
	}{{1, 1, true}, {0, 1, false}, {1, 0, false}, {-1, 3, false}, {3, -1, false}, {maxSize, maxSize, true}, {maxSize + 1, 1, false}, {1, maxSize + 1, false}} {
		s := Set{Ingredients: c.ingredients, Total: c.total}
		if err := s.Check(); (err == nil) != c.fine {
			t.Errorf("%d ingredients and %d units: %v", c.ingredients, c.total, err)
		}
	}
}
