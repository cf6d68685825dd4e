package problem

import (
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
)

// A Search is how much looking for the best stands beside the sampling.
type Search struct {
	// Effort is the share of the usual budget, see [search.Budget]; 0: none.
	Effort float64
	// AnyDoses lets compositions be offered outside the doses of the book.
	AnyDoses bool
}

// MaxEffort bounds the effort.
const MaxEffort = schema.MaxEffort

// readSearch reads
//
//	search: {effort: 1, doses: book}
//
// effort, if it is not nil, stands instead of what is written.
func readSearch(n *yaml.Node, effort *float64) (Search, error) {
	s := Search{Effort: 1}
	if n != nil && n.Kind != yaml.Null {
		if n.Kind == yaml.Number {
			return s, yaml.Hint(n.Errorf("the search is %s", n.Describe()), "write {effort: %s}", n.Text)
		}
		f, err := schema.Search.Fields(n)
		if err != nil {
			return s, err
		}
		if v := f["effort"]; v != nil {
			if s.Effort, err = v.Weight("the effort"); err != nil {
				return s, err
			}
			if s.Effort > MaxEffort {
				return s, yaml.Hint(v.Errorf("the effort is %v", s.Effort), "it must be from 0, for no search, to %d", MaxEffort)
			}
		}
		if v := f["doses"]; v != nil {
			if v.Kind != yaml.Text || v.Text != "book" && v.Text != "any" {
				return s, yaml.Hint(v.Errorf("doses is %s", v.Describe()), "write book, to offer no amount below or above those that the recipes have of an ingredient, or any")
			}
			s.AnyDoses = v.Text == "any"
		}
	}
	if effort != nil {
		s.Effort = *effort
	}
	return s, nil
}

// yamlMap returns the search as the problem file would say it.
func (s Search) yamlMap() yaml.Map {
	doses := "book"
	if s.AnyDoses {
		doses = "any"
	}
	var out yaml.Map
	out.Set("effort", s.Effort)
	out.Set("doses", doses)
	return out
}
