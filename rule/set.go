package rule

import (
	"fmt"
	"strconv"
	"strings"
)

// A Set is rules that hold together, on compositions of Total units over the
// ingredients 0 to Ingredients−1. A rule that is nil is none.
type Set struct {
	Ingredients int // N
	Total       int // M
	Rules       []Rule

	// Used lists the numbers of used ingredients that are asked for, those to
	// which the law of n gives weight. nil stands for all.
	Used []int

	// Name names an ingredient in what is said; nil gives "ingredient 0".
	Name func(ingredient int) string

	// Text is what a rule is called; nil gives its words in quotation marks.
	Text func(rule int) string
}

// maxSize bounds N and M.
const maxSize = 1<<31 - 1

// Check says, as an [*Error], which rule is none.
func (s *Set) Check() error {
	if s.Ingredients < 1 || s.Ingredients > maxSize || s.Total < 1 || s.Total > maxSize {
		return fmt.Errorf("rule: %d ingredients and a total of %d; both must be from 1 to %d", s.Ingredients, s.Total, maxSize)
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

// checkIngredients says what is wrong with the ingredients that a rule names.
func (s *Set) checkIngredients(of ...int) error {
	for _, i := range of {
		if i < 0 || i >= s.Ingredients {
			return fmt.Errorf("names ingredient %d and they go from 0 to %d", i, s.Ingredients-1)
		}
	}
	return nil
}

// NameOf names an ingredient.
func (s *Set) NameOf(ingredient int) string {
	if s.Name != nil {
		return s.Name(ingredient)
	}
	return "ingredient " + strconv.Itoa(ingredient)
}

// TextOf is what a rule is called in a sentence.
func (s *Set) TextOf(k int) string {
	if s.Text != nil {
		return s.Text(k)
	}
	return strconv.Quote(s.Words(k))
}

// Words says a rule in the names of the ingredients, such as "amount of Gin min
// 20".
func (s *Set) Words(k int) string { return s.Rules[k].words(s) }

// namesOf names the ingredients that a rule is about.
func (s *Set) namesOf(of []int) string {
	const most = 4
	var names []string
	for _, i := range of[:min(len(of), most)] {
		names = append(names, s.NameOf(i))
	}
	text := strings.Join(names, ", ")
	if len(of) > most {
		text += fmt.Sprintf(" and %d more", len(of)-most)
	}
	return text
}
