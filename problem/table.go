package problem

import (
	"fmt"
	"io"
	"strings"

	"kir/fault"
	"kir/recipe"
)

// tableAt reads where a table is and how it is to be read: the name of a file,
// or {file: recipes.xlsx, sheet: Drinks, encoding: windows-1252, delimiter:
// semicolon, decimal: comma, columns: {rating: label}}, of which all but file may
// be missing. columns are for recipes alone.
func tableAt(n *node, recipes bool) (file *node, layout recipe.Layout, err error) {
	if n.kind != mapping {
		return n, layout, nil
	}
	known := []string{"file", "sheet", "encoding", "delimiter", "decimal"}
	if recipes {
		known = append(known, "columns")
	}
	f, err := n.fields("a table", known...)
	if err != nil {
		return nil, layout, err
	}
	if f["file"] == nil {
		return nil, layout, hint(n.errorf("the table has no file"), "write {file: recipes.csv}")
	}
	for key, to := range map[string]*string{"sheet": &layout.Sheet, "encoding": &layout.Encoding, "delimiter": &layout.Delimiter} {
		if v := f[key]; v != nil {
			if *to, err = v.str("the " + key); err != nil {
				return nil, layout, err
			}
		}
	}
	if v := f["decimal"]; v != nil {
		text, err := v.str("the decimal mark")
		if err != nil {
			return nil, layout, err
		}
		if layout.Decimal, err = recipe.ParseDecimal(text); err != nil {
			return nil, layout, v.errorf("%v", err)
		}
	}
	if v := f["columns"]; v != nil {
		if v.kind != mapping {
			return nil, layout, hint(v.errorf("columns are %s", v.shown()), "write what each is, such as {rating: label}")
		}
		layout.Columns = make(map[string]recipe.Role)
		for _, e := range v.entries {
			text, err := e.value.str("what " + fault.Quote(e.key.text) + " is")
			if err != nil {
				return nil, layout, err
			}
			if layout.Columns[recipe.Name(e.key.text)], err = recipe.ParseRole(text); err != nil {
				return nil, layout, e.value.errorf("%v", err)
			}
		}
	}
	return f["file"], layout, nil
}

// readIngredientsFile reads the file of ingredients that a node names.
func (l *loader) readIngredientsFile(n *node, layout recipe.Layout) error {
	err := l.readNamed(n, "the file of ingredients", func(r io.Reader, path string) (err error) {
		l.ingredients, err = recipe.ReadIngredients(r, path, layout)
		return err
	})
	if err != nil {
		return err
	}
	l.tellGuesses("ingredients", n.text, layout, l.ingredients.Guessed, l.ingredients.Notes)
	return nil
}

// tellGuesses warns of what was understood of a table without being said, and
// gives the line that settles what may well be wrong.
func (l *loader) tellGuesses(key, file string, said, guessed recipe.Layout, notes []recipe.Note) {
	for _, n := range notes {
		l.problem.Warnings = append(l.problem.Warnings, n.String()+".")
	}
	if guess := guessed.YAML(); guess != "" {
		l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("To settle what is guessed of the %s, write, or write otherwise: %s", key, recipe.TableYAML(key, file, said.With(guessed))))
	}
	for _, n := range notes {
		if strings.HasPrefix(n.Settle, "units:") {
			l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("To give a size of your own, write %s", n.Settle))
		}
	}
}
