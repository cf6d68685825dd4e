package compile

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// readIngredients reads the key ingredients of the problem file. Without this key the recipes define the
// ingredients.
func (s *loader) readIngredients(ctx context.Context, root *yaml.Node) error {
	n := root.Get("ingredients")
	if n == nil {
		if root.Get("recipes") == nil {
			return yaml.Hint(root.Errorf("the problem has neither recipes nor ingredients"), "add recipes: a CSV file, or ingredients: a CSV file, a list of names, or {count: 2000}")
		}
		return nil
	}
	switch n.Kind {
	case yaml.Text:
		if err := s.readIngredientsFile(ctx, n, dataset.Layout{}); err != nil {
			return err
		}
	case yaml.Sequence:
		names := make([]string, len(n.Items))
		for k, item := range n.Items {
			name, err := item.Str("an ingredient")
			if err != nil {
				return err
			}
			names[k] = name
		}
		if len(names) == 0 {
			return yaml.Hint(n.Errorf("the list of ingredients is empty"), "name at least one")
		}
		in, err := dataset.NewIngredients(names...)
		if err != nil {
			return n.Errorf("%v", err)
		}
		s.Attributes = in
	case yaml.Mapping:
		if n.Get("file") != nil {
			file, layout, err := config.ReadTableNode(n, false)
			if err != nil {
				return err
			}
			if err := s.readIngredientsFile(ctx, file, layout); err != nil {
				return err
			}
			break
		}
		meant := func(e yaml.Entry) bool { return slices.Contains(append(schema.Table.Names(), "count"), e.Key.Text) }
		if len(n.Entries) > 0 && !slices.ContainsFunc(n.Entries, meant) {
			var names []string
			for _, e := range n.Entries {
				names = append(names, e.Key.Text)
			}
			return yaml.Hint(n.Errorf("the ingredients are a mapping of %s", inputerr.List(names, 4)), "write a list of names: [%s], a CSV file, or {count: 2000}", strings.Join(names[:min(len(names), 4)], ", "))
		}
		f, err := schema.CountedIngredients.Fields(n)
		if err != nil {
			return err
		}
		if f["count"] == nil {
			return yaml.Hint(n.Errorf("the ingredients have no count"), "write {count: 2000}")
		}
		if root.Get("recipes") != nil {
			return yaml.Hint(n.Errorf("counted ingredients have no names that recipes could use"), "leave the ingredients out, list their names, or name a CSV file")
		}
		count, err := f["count"].Whole("the count", 1, schema.MaxIngredients)
		if err != nil {
			return err
		}
		s.IngredientNames = numberedIngredientNames(count)
		return nil
	case yaml.Number:
		return yaml.Hint(n.Errorf("the ingredients are %s", n.Describe()), "for so many without names write {count: %s}; else a CSV file or a list of names", n.Text)
	default:
		return yaml.Hint(n.Errorf("the ingredients are %s", n.Describe()), "write a CSV file, a list of names, or {count: 2000}")
	}
	s.IngredientNames = s.Attributes.Names
	return nil
}

// readIngredientsFile reads the ingredients file that a node names.
func (s *loader) readIngredientsFile(ctx context.Context, n *yaml.Node, layout dataset.Layout) error {
	err := s.Files.Read(ctx, n, "the file of ingredients", func(r io.Reader, path string) (err error) {
		s.Attributes, err = dataset.ReadIngredients(r, path, layout)
		return err
	})
	if err != nil {
		return err
	}
	s.IngredientsPath = n.Text
	s.WarnGuesses("ingredients", n.Text, layout, s.Attributes.GuessedLayout, s.Attributes.Notes)
	return nil
}

// numberedIngredientNames returns names for count ingredients of which the problem file gives only the number.
func numberedIngredientNames(count int) []string {
	names := make([]string, count)
	for k := range names {
		names[k] = "ingredient " + strconv.Itoa(k+1)
	}
	return names
}
