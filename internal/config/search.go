package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// A Search has the settings of the search for the best recipes.
type Search struct {
	// Effort is a multiple of the default number of lines that the search scores. A line is all ways in which
	// two ingredients of a composition can share their joint amount. 0 means no search.
	Effort float64
	// AnyDoses allows suggestions with amounts outside the ranges that the ingredients have in the known recipes.
	AnyDoses bool
}

// MaxEffort is the maximum of [Search.Effort].
const MaxEffort = schema.MaxEffort

// decodeSearch decodes the settings of the search:
//
//	search: {effort: 1, doses: book}
func decodeSearch(n *yaml.Node) (Search, error) {
	s := Search{Effort: 1}
	if n == nil || n.Kind == yaml.Null {
		return s, nil
	}
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
	return s, nil
}

// YAML returns the settings in the form of a problem file.
func (s Search) YAML() yaml.Map {
	doses := "book"
	if s.AnyDoses {
		doses = "any"
	}
	var out yaml.Map
	out.Set("effort", s.Effort)
	out.Set("doses", doses)
	return out
}
