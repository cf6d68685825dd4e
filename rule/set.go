package rule

import (
	"fmt"
	"strconv"
	"strings"
)

// A Set is a list of rules that a composition must satisfy all together. The compositions have Total units, and
// the ingredients have the indices 0 to Ingredients−1. Nil rules are ignored.
type Set struct {
	Ingredients int // N, the number of ingredients
	Total       int // M, the units of a composition
	Rules       []Rule

	// Used lists the permitted numbers of used ingredients. A nil Used permits all numbers.
	Used []int

	// Name returns the name of an ingredient for messages. If Name is nil, the names are "ingredient 0" and so on.
	Name func(ingredient int) string

	// Text returns the text by which messages refer to a rule, given the index of the rule. If Text is nil,
	// messages quote a description of the rule.
	Text func(rule int) string

	// Amount returns the text of a number of units for messages, such as "20 %". If Amount is nil, messages give the
	// number alone.
	Amount func(units int) string
}

// maxCount is the greatest permitted number of ingredients, and the greatest permitted number of units of a
// composition.
const maxCount = 1<<31 - 1

// Check returns an [*Error] for the first invalid rule. It returns another error if the number of ingredients
// or the total is out of range.
func (s *Set) Check() error {
	if s.Ingredients < 1 || s.Ingredients > maxCount || s.Total < 1 || s.Total > maxCount {
		return fmt.Errorf("rule: %d ingredients and a total of %d; both must be from 1 to %d", s.Ingredients, s.Total, maxCount)
	}
	for k, r := range s.Rules {
		if r == nil {
			continue
		}
		if err := r.check(s); err != nil {
			return &Error{k, err}
		}
	}
	return nil
}

// checkIngredients returns an error if an index in ingredients is not the index of an ingredient.
func (s *Set) checkIngredients(ingredients ...int) error {
	for _, i := range ingredients {
		if i < 0 || i >= s.Ingredients {
			return fmt.Errorf("names ingredient %d and they go from 0 to %d", i, s.Ingredients-1)
		}
	}
	return nil
}

// NameOf returns the name of an ingredient for messages.
func (s *Set) NameOf(ingredient int) string {
	if s.Name != nil {
		return s.Name(ingredient)
	}
	return "ingredient " + strconv.Itoa(ingredient)
}

// TextOf returns the text by which a sentence refers to the rule with index k of the set.
func (s *Set) TextOf(k int) string {
	if s.Text != nil {
		return s.Text(k)
	}
	return strconv.Quote(s.Describe(k))
}

// AmountText returns the text of a number of units for messages.
func (s *Set) AmountText(units int) string {
	if s.Amount != nil {
		return s.Amount(units)
	}
	return strconv.Itoa(units)
}

// Describe returns a description in words of the rule with index k, with the names of its ingredients, such as
// "amount of Gin min 20".
func (s *Set) Describe(k int) string { return s.Rules[k].describe(s) }

// joinNames returns the names of the ingredients, separated by commas. It writes the first four names, and
// instead of the other names how many there are.
func (s *Set) joinNames(ingredients []int) string {
	const most = 4
	var names []string
	for _, i := range ingredients[:min(len(ingredients), most)] {
		names = append(names, s.NameOf(i))
	}
	text := strings.Join(names, ", ")
	if len(ingredients) > most {
		text += fmt.Sprintf(" and %d more", len(ingredients)-most)
	}
	return text
}
