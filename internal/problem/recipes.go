package problem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/mcmc"
)

// readRecipes reads the book, whose ingredients join those that were read.
func (s *shelf) readRecipes(ctx context.Context, root *yaml.Node) error {
	n := root.Get("recipes")
	if n == nil {
		for _, key := range []string{"labels", "units"} {
			if f := root.Get(key); f != nil {
				return yaml.Hint(f.Errorf("%s are of recipes, and the problem has none", key), "add recipes: a CSV file, or remove this")
			}
		}
		return nil
	}
	options := book.Options{Ingredients: s.attributes}
	labels, labelAt, err := labelsOf(root)
	if err != nil {
		return err
	}
	options.Labels = labels
	file, layout, err := tableAt(n, true)
	if err != nil {
		return err
	}
	options.Layout = layout
	if s.units, err = unitsOf(root.Get("units")); err != nil {
		return err
	}
	options.Units = s.units
	var known *book.Book
	for {
		err = s.files.Read(ctx, file, "the file of recipes", func(r io.Reader, path string) (err error) {
			known, err = book.Read(r, path, options)
			return err
		})
		var bad *fault.Error
		missing := (*book.NoLabelError)(nil)
		if !errors.As(err, &missing) || !errors.As(err, &bad) || labelAt[missing.Name] == nil {
			break
		}
		// What else is wrong is told, too: the label is done without.
		if err := s.bad.add(yaml.Hint(labelAt[missing.Name].Errorf("the recipes have no label %s", fault.Quote(missing.Name)), "%s", bad.Hint)); err != nil {
			return err
		}
		options.Labels = slices.DeleteFunc(options.Labels, func(name string) bool { return name == missing.Name })
	}
	if err != nil {
		return err
	}
	s.book = known
	s.warnGuesses("recipes", file.Text, layout, known.Guessed, known.Notes)
	s.attributes = known.Ingredients
	s.names = known.Ingredients.Names
	s.recipes = make([][]mcmc.Part, len(known.Recipes))
	for r := range known.Recipes {
		amounts, err := known.Closure(r, s.total)
		if err != nil {
			return err
		}
		for k, p := range known.Recipes[r].Parts {
			s.recipes[r] = append(s.recipes[r], mcmc.Part{Ingredient: int(p.Ingredient), Amount: amounts[k]})
		}
	}
	return nil
}

// maxAlike is of how many groups of names that are alike a warning tells.
const maxAlike = 5

// warnAlike warns of ingredients that may be one, spelt in two ways. Both
// are kept: it is not for a reader to say which are one.
func (s *shelf) warnAlike() {
	if s.attributes == nil {
		return // they are only counted
	}
	groups := book.Alike(s.names)
	for _, names := range groups[:min(len(groups), maxAlike)] {
		quoted := make([]string, len(names))
		for k, name := range names {
			quoted[k] = fault.Quote(name)
		}
		s.warn(fmt.Sprintf("%s are taken for different ingredients. If they are one, spell it in one way.", strings.Join(quoted, " and ")))
	}
	if more := len(groups) - maxAlike; more > 0 {
		s.warn(fmt.Sprintf("%d more groups of ingredients differ in case or space only.", more))
	}
}

// labelsOf returns the label columns that the problem names, and where: under
// labels, and in the properties that learn one.
func labelsOf(root *yaml.Node) (names []string, at map[string]*yaml.Node, err error) {
	at = make(map[string]*yaml.Node)
	add := func(n *yaml.Node, what string) error {
		name, err := n.Str(what)
		if err != nil {
			return err
		}
		if name = book.Name(name); at[name] == nil {
			names = append(names, name)
			at[name] = n
		}
		return nil
	}
	if n := root.Get("properties"); n != nil {
		for _, p := range n.Entries {
			for _, kind := range []string{"learn", "forest", "process"} {
				if f := p.Value.Get(kind); f != nil && f.Get("label") != nil && f.Get("file") == nil {
					if err := add(f.Get("label"), "the label"); err != nil {
						return nil, nil, err
					}
				}
			}
		}
	}
	if n := root.Get("labels"); n != nil {
		items, err := n.List("labels")
		if err != nil {
			return nil, nil, err
		}
		for _, item := range items {
			if err := add(item, "a label"); err != nil {
				return nil, nil, err
			}
		}
	}
	return names, at, nil
}

// unitsOf returns the book's units: the usual ones, and those that the problem
// adds or sizes otherwise.
func unitsOf(n *yaml.Node) (*book.Units, error) {
	if n == nil {
		return nil, nil
	}
	if n.Kind != yaml.Mapping {
		return nil, yaml.Hint(n.Errorf("units are %s", n.Shown()), "write the size of each, such as {dash: 0.1 cl}")
	}
	units := book.DefaultUnits()
	for _, e := range n.Entries {
		size, err := e.Value.Str("the size of " + fault.Quote(e.Key.Text))
		if err != nil {
			return nil, err
		}
		if units, err = units.With(e.Key.Text, size); err != nil {
			return nil, yaml.Hint(e.Value.Errorf("the size of %s is not understood", fault.Quote(e.Key.Text)), "%v", err)
		}
	}
	return units, nil
}
