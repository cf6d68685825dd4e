package constraint

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"kir/internal/testonly/golden"
	"kir/rule"
)

// TestSlacksStay keeps how far compositions are from the bounds of rules of all kinds.
func TestSlacksStay(t *testing.T) {
	kept := golden.Open(t)
	inf := math.Inf(1)
	x := []rule.Part{{Ingredient: 0, Amount: 3}, {Ingredient: 2, Amount: 7}}
	for name, r := range map[string]rule.Rule{
		"require": rule.Require{Of: []int{0, 1, 2}}, "exclude": rule.Exclude{Of: []int{1, 2}}, "amount": rule.Amount{Of: []int{0, 1, 2}, Min: 2, Max: 6, Step: 2}, "steps": rule.Amount{Of: []int{0, 2}, Step: 4}, "group": rule.Group{Of: []int{0, 2, 3}, Used: &rule.Range{Min: 1, Max: 3}, Total: &rule.Range{Min: 4, Max: 9}}, "need": rule.Need{If: 0, Then: []int{1, 3}}, "need, met": rule.Need{If: 0, Then: []int{2}}, "need of what is not used": rule.Need{If: 1, Then: []int{2}},
		"limit": rule.Limit{Factors: []float64{1, 2, 3, 4}, Min: 2, Max: 2.5}, "limit above": rule.Limit{Factors: []float64{1, 2, 3, 4}, Min: 2.5, Max: inf}, "limit below": rule.Limit{Factors: []float64{1, 2, 3, 4}, Min: -inf, Max: 2.4}, "ratio": rule.Ratio{Of: []int{0}, To: []int{2, 3}, Min: 0.25, Max: 0.5}, "ratio to nothing": rule.Ratio{Of: []int{0}, To: []int{1}, Min: 0.25, Max: inf}, "near": rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 5}, {Ingredient: 1, Amount: 5}}, Changes: new(1), Distance: new(6)}, "near by changes": rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 5}, {Ingredient: 1, Amount: 5}}, Changes: new(3)},
		"if": rule.If{Used: []int{0}, Then: rule.Amount{Of: []int{2}, Max: 6}}, "if not": rule.If{Used: []int{1}, Then: rule.Amount{Of: []int{2}, Max: 6}}, "if unused": rule.If{Unused: []int{1, 3}, Then: rule.Limit{Factors: []float64{1, 2, 3, 4}, Min: 2, Max: 2.5}},
	} {
		said := ""
		for _, s := range Slacks(r, x, 10) {
			said += fmt.Sprintf("%+v %.9g; ", s, s.Room())
		}
		kept.CheckText(t, name, said)
	}
}

// A bound that is a decimal number is kept by what is exactly on it, in whatever
// order it is summed.
func TestLimitAtItsBound(t *testing.T) {
	s := rule.Set{Ingredients: 3, Total: 10, Rules: []rule.Rule{rule.Limit{Factors: []float64{0.1, 0.2, 0.7}, Min: 0.3, Max: 0.3}}}
	c, err := FromRules(s)
	if err != nil {
		t.Fatal(err)
	}
	on := []rule.Part{{Ingredient: 0, Amount: 5}, {Ingredient: 1, Amount: 3}, {Ingredient: 2, Amount: 2}} // 0.5 + 0.6 + 1.4 = 2.5
	if c.AreKeptBy(on) {
		t.Errorf("a mean of 0.25 keeps 0.3")
	}
	on = []rule.Part{{Ingredient: 0, Amount: 4}, {Ingredient: 1, Amount: 4}, {Ingredient: 2, Amount: 2}} // 0.4 + 0.8 + 1.4 = 2.6
	if c.AreKeptBy(on) {
		t.Errorf("a mean of 0.26 keeps 0.3")
	}
	on = []rule.Part{{Ingredient: 0, Amount: 5}, {Ingredient: 1, Amount: 2}, {Ingredient: 2, Amount: 3}} // 0.5 + 0.4 + 2.1 = 3.0
	if !c.AreKeptBy(on) {
		t.Errorf("a mean of 0.3 does not keep 0.3")
	}
	if slack := Slacks(s.Rules[0], on, 10)[0]; slack.Value != 0.3 || slack.Room() != 0 {
		t.Errorf("at its bound the limit has the mean %v and the room %v", slack.Value, slack.Room())
	}
}

// A rule of a kind of one's own is refused, behind a condition as well.
func TestRulesOfOtherKinds(t *testing.T) {
	type own struct{ rule.Require }
	for _, r := range []rule.Rule{own{}, &rule.Require{}, rule.If{Used: []int{0}, Then: own{}}} {
		_, err := FromRules(rule.Set{Ingredients: 2, Total: 3, Rules: []rule.Rule{nil, r}})
		if bad, is := errors.AsType[*rule.Error](err); !is || bad.Rule != 1 {
			t.Errorf("%T: %v", r, err)
		}
		if slacks := Slacks(r, nil, 3); slacks != nil {
			t.Errorf("%T: %v", r, slacks)
		}
	}
}

// TestNearAsItIsLeft: a bound that is left out is none, so that recipes near one may differ in
// what is not bounded.
func TestNearAsItIsLeft(t *testing.T) {
	set := rule.Set{Ingredients: 3, Total: 10}
	recipe := []rule.Part{{Ingredient: 0, Amount: 4}, {Ingredient: 1, Amount: 6}}
	other := []rule.Part{{Ingredient: 1, Amount: 9}, {Ingredient: 2, Amount: 1}}
	for _, c := range []struct {
		near rule.Near
		want bool
	}{{rule.Near{Recipe: recipe}, true}, {rule.Near{Recipe: recipe, Changes: new(2)}, true}, {rule.Near{Recipe: recipe, Changes: new(1)}, false}, {rule.Near{Recipe: recipe, Distance: new(4)}, true}, {rule.Near{Recipe: recipe, Distance: new(3)}, false}} {
		set.Rules = []rule.Rule{c.near}
		conditions, err := FromRules(set)
		if err != nil {
			t.Fatal(err)
		}
		if got := conditions.AreKeptBy(other); got != c.want {
			t.Errorf("%+v: %v", c.near, got)
		}
	}
}
