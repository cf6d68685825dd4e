package config

import (
	"context"
	"fmt"
	"io"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// ReadTableNode decodes the file name and the layout of a table. The node n is a file name, or a mapping in
// which only the key file is required:
//
//	{file: recipes.xlsx, sheet: Drinks, encoding: windows-1252, delimiter: semicolon, decimal: comma, columns: {rating: label}}
//
// If recipes is true, the mapping may have the keys of a table of recipes, such as columns.
func ReadTableNode(n *yaml.Node, recipes bool) (file *yaml.Node, layout dataset.Layout, err error) {
	if n.Kind != yaml.Mapping {
		return n, layout, nil
	}
	section := schema.Table
	if recipes {
		section = schema.RecipeTable
	}
	f, err := section.Fields(n)
	if err != nil {
		return nil, layout, err
	}
	if err := n.Require("the table", "write {file: recipes.csv}", "file"); err != nil {
		return nil, layout, err
	}
	for key, to := range map[string]*string{"sheet": &layout.Sheet, "encoding": &layout.Encoding, "delimiter": &layout.Delimiter} {
		if v := f[key]; v != nil {
			if *to, err = v.Str("the " + key); err != nil {
				return nil, layout, err
			}
		}
	}
	if v := f["decimal"]; v != nil {
		text, err := v.Str("the decimal mark")
		if err != nil {
			return nil, layout, err
		}
		if layout.Decimal, err = measure.ParseDecimal(text); err != nil {
			return nil, layout, v.Errorf("%v", err)
		}
	}
	if v := f["columns"]; v != nil {
		if v.Kind != yaml.Mapping {
			return nil, layout, yaml.Hint(v.Errorf("columns are %s", v.Describe()), "write what each is, such as {rating: label}")
		}
		layout.Columns = make(map[string]dataset.Role)
		for _, e := range v.Entries {
			text, err := e.Value.Str("what " + inputerr.Quote(e.Key.Text) + " is")
			if err != nil {
				return nil, layout, err
			}
			if layout.Columns[dataset.NormalizeName(e.Key.Text)], err = dataset.ParseRole(text); err != nil {
				return nil, layout, e.Value.Errorf("%v", err)
			}
		}
	}
	if v := f["names"]; v != nil {
		if v.Kind != yaml.Mapping {
			return nil, layout, yaml.Hint(v.Errorf("names are %s", v.Describe()), "write which ingredient each is, such as {Campri: Campari}")
		}
		layout.Names = make(map[string]string)
		for _, e := range v.Entries {
			if layout.Names[dataset.NormalizeName(e.Key.Text)], err = e.Value.Str("which ingredient " + inputerr.Quote(e.Key.Text) + " is"); err != nil {
				return nil, layout, err
			}
		}
	}
	for _, list := range []struct {
		key, item, example string
		to                 *[]string
	}{
		{"without", "a recipe", "[Total]", &layout.Without},
		{"including", "a recipe", "[Total]", &layout.Including},
		{"unknown", "a text", "[gelled]", &layout.Unknown},
	} {
		v := f[list.key]
		if v == nil {
			continue
		}
		if v.Kind != yaml.Sequence {
			return nil, layout, yaml.Hint(v.Errorf("%s is %s", list.key, v.Describe()), "write a list, such as %s", list.example)
		}
		for _, item := range v.Items {
			text, err := item.Str(list.item)
			if err != nil {
				return nil, layout, err
			}
			*list.to = append(*list.to, dataset.NormalizeName(text))
		}
	}
	return f["file"], layout, nil
}

// ReadSheet reads the table of numbers in the file that the node n names. It adds warnings about guesses that
// it had to make. The parameter what names the table in errors.
func (d *Data) ReadSheet(ctx context.Context, n *yaml.Node, what string) (t *dataset.Sheet, err error) {
	err = d.Files.Read(ctx, n, what, func(r io.Reader, path string) error {
		t, err = dataset.ReadSheet(r, path)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, note := range t.Notes {
		d.Warn(note.String() + ".")
	}
	return t, nil
}

// WarnGuesses adds warnings about guesses that were made when a table was read. It suggests lines for the
// problem file that make the uncertain guesses explicit.
func (d *Data) WarnGuesses(key, file string, said, guessed dataset.Layout, notes []dataset.Note) {
	for _, n := range notes {
		d.Warn(n.String() + ".")
	}
	if guess := guessed.YAML(); guess != "" {
		d.Warn(fmt.Sprintf("To settle what is guessed of the %s, write, or write otherwise: %s", key, dataset.TableYAML(key, file, said.Merge(guessed))))
	}
	for _, n := range notes {
		if strings.HasPrefix(n.Setting, "units:") {
			d.Warn(fmt.Sprintf("To give a size of your own, write %s", n.Setting))
		}
	}
}
