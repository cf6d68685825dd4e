package rule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kir/internal/count"
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

	overrides []func(*Conditions) // changes that no rule says
}

// maxSize bounds N and M.
const maxSize = 1<<31 - 1

// Conditions writes the rules out. It fails with an [*Error] for a rule that is
// none.
func (s Set) Conditions() (*Conditions, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	c := newConditions(s.Ingredients, s.Total)
	for k, r := range s.Rules {
		if r != nil {
			c.rule = k
			if r.conditions(c); c.tooLarge {
				return nil, &Error{k, errors.New("needs numbers above 2⁶²: take factors of fewer digits, or a smaller total")}
			}
		}
	}
	c.bound()
	for _, override := range s.overrides {
		override(c)
	}
	c.index()
	return c, nil
}

func (s *Set) check() error {
	if s.Ingredients < 1 || s.Ingredients > maxSize || s.Total < 1 || s.Total > maxSize {
		return fmt.Errorf("%w: %d ingredients and a total of %d; both must be from 1 to %d", count.ErrInvalid, s.Ingredients, s.Total, maxSize)
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

// members says what is wrong with the ingredients that a rule names.
func (s *Set) members(of ...int) error {
	for _, i := range of {
		if i < 0 || i >= s.Ingredients {
			return fmt.Errorf("names ingredient %d and they go from 0 to %d", i, s.Ingredients-1)
		}
	}
	return nil
}

func (s *Set) name(ingredient int) string {
	if s.Name != nil {
		return s.Name(ingredient)
	}
	return "ingredient " + strconv.Itoa(ingredient)
}

// names joins the names of ingredients, of many only the first few.
func (s *Set) names(of []int) string {
	texts := make([]string, len(of))
	for k, i := range of {
		texts[k] = s.name(i)
	}
	return andList(texts)
}

// text is what a rule is called in a sentence.
func (s *Set) text(k int) string {
	if s.Text != nil {
		return s.Text(k)
	}
	return strconv.Quote(s.Words(k))
}

// Words says a rule in the names of the ingredients, such as "amount of Gin min
// 20".
func (s *Set) Words(k int) string { return s.Rules[k].words(s) }

// of names the ingredients that a rule is about.
func (s *Set) of(of []int) string {
	const most = 4
	var names []string
	for _, i := range of[:min(len(of), most)] {
		names = append(names, s.name(i))
	}
	text := strings.Join(names, ", ")
	if len(of) > most {
		text += fmt.Sprintf(" and %d more", len(of)-most)
	}
	return text
}

// sizes returns the numbers of used ingredients that are asked for and can be,
// rising.
func (s *Set) sizes() []int {
	most := min(s.Ingredients, s.Total)
	if s.Used == nil {
		all := make([]int, most)
		for k := range all {
			all[k] = k + 1
		}
		return all
	}
	sizes := slices.DeleteFunc(slices.Clone(s.Used), func(n int) bool { return n < 1 || n > most })
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// with returns the set with another rule in the place of one; nil drops it.
func (s Set) with(k int, r Rule) Set {
	s.Rules = slices.Clone(s.Rules)
	s.Rules[k] = r
	return s
}

// only returns the set with all rules dropped but some.
func (s Set) only(rules []int) Set {
	kept := make([]Rule, len(s.Rules))
	for _, k := range rules {
		kept[k] = s.Rules[k]
	}
	s.Rules = kept
	return s
}

// orList joins texts as "a, b or c".
func orList(texts []string) string { return list(texts, " or ") }

// andList joins texts as "a, b and c", of many only the first few.
func andList(texts []string) string {
	const many = 8
	if len(texts) > many {
		texts = append(slices.Clone(texts[:many-1]), fmt.Sprintf("%d more", len(texts)-many+1))
	}
	return list(texts, " and ")
}

func list(texts []string, last string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + last + texts[len(texts)-1]
}
