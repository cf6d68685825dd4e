package serve

import (
	"fmt"
	"math"
	"testing"

	"kir/internal/compile"
	"kir/rule"
)

// What a rule has become is written key by key: what is not bounded any more is left
// out, and what did not change is not touched.
func TestAmends(t *testing.T) {
	c := &compile.ConflictError{Set: rule.Set{Name: func(i int) string { return fmt.Sprintf("i%d", i) }}}
	inf := math.Inf(1)
	for _, w := range []struct {
		was, is rule.Rule
		want    string
	}{
		{rule.Amount{Min: 2, Max: 9, Step: 3}, rule.Amount{Min: 1, Max: 9, Step: 3}, "amount min 1;"},
		{rule.Amount{Min: 2, Max: 9, Step: 3}, rule.Amount{Min: 2, Max: 10}, "amount max 10;amount step <nil>;"},
		{rule.Amount{Min: 2, Max: 9, Step: 3}, rule.Amount{}, "amount min <nil>;amount max <nil>;amount step <nil>;"},
		{rule.Group{Used: &rule.Range{Min: 1, Max: 2}}, rule.Group{Used: &rule.Range{Min: 0, Max: 2}}, "group used [0 2];"},
		{rule.Group{Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 3, Max: 4}}, rule.Group{Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 3, Max: 7}}, "group total [3 7];"},
		{rule.Group{Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 3, Max: 4}}, rule.Group{Total: &rule.Range{Min: 3, Max: 4}}, "group used <nil>;"},
		{rule.Group{Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 3, Max: 4}}, rule.Group{Used: &rule.Range{Min: 1, Max: 2}}, "group total <nil>;"},
		{rule.Limit{Min: 1, Max: 2}, rule.Limit{Min: 0.5, Max: 2}, "limit min 0.5;"},
		{rule.Limit{Min: 1, Max: 2}, rule.Limit{Min: -inf, Max: 3}, "limit min <nil>;limit max 3;"},
		{rule.Limit{Min: 1, Max: 2}, rule.Limit{Min: 1, Max: inf}, "limit max <nil>;"},
		{rule.Near{Changes: new(1)}, rule.Near{Changes: new(2)}, "near changes 2;"},
		{rule.Near{Distance: new(4)}, rule.Near{Distance: new(6)}, "near distance 6;"},
		{rule.Require{Of: []int{1, 2}}, rule.Require{Of: []int{2}}, "require  i2;"},
		{rule.Exclude{Of: []int{1, 2, 3}}, rule.Exclude{Of: []int{1, 3}}, "exclude  [i1 i3];"},
	} {
		all, ok := fieldChanges(c, 4, w.was, w.is)
		got := ""
		for _, a := range all {
			if a.Place != 4 {
				t.Errorf("the place is %d", a.Place)
			}
			got += fmt.Sprintf("%s %s %v;", a.Kind, a.Key, a.Value)
		}
		if !ok || got != w.want {
			t.Errorf("from %+v to %+v: %q, want %q", w.was, w.is, got, w.want)
		}
	}
	if _, ok := fieldChanges(c, 0, rule.Need{}, rule.Need{}); ok {
		t.Error("a need is amended")
	}
}
