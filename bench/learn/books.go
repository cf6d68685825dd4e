package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kir/internal/dataset"
	"kir/model"
)

// total is that of all compositions here.
const total = 1000

// A source is where a book comes from.
type source struct {
	name        string
	file        string // below the experiments, or with a leading / below the project
	ingredients string // a table of them, in the same place; may be empty
	label       string
	classes     bool
	columns     []string // of ingredients, in a wide table; nil: all but labels and what is ignored
	ignored     []string
	rest        string                                    // the ingredient that fills up to 100; may be empty
	keep        func(row func(column string) string) bool // which rows; nil: all
}

func sources() []source {
	metals := func(first string) []string { return []string{first, "Fe", "Co", "Ta", "Mn", "Cu"} }
	mix := []string{"Cement (kg/m3)", "Fly Ash (kg/m3)", "Slag (kg/m3)", "Water (kg/m3)", "HRWR (kg/m3)", "Fine Aggregate (kg/m3)", "Coarse Aggregates (kg/m3)"}
	after28 := func(row func(string) string) bool { return row("Time") == "28" }
	elements := strings.Split("Al Co Fe Ni Si Cr Mn Nb Mo Ti Cu C V Zr B Nd Sn Li Mg Zn Sc Ta Hf W Re Ca Y Pd", " ")
	atRoom := func(row func(string) string) bool { return strings.TrimSuffix(row("temperature °C"), ".0") == "25" }
	measured := func(label string) func(func(string) string) bool {
		return func(row func(string) string) bool { return row(label) != "NA" }
	}
	shampoo := func(name, label string, classes bool) source {
		return source{name: name, file: "shampoo.csv", label: label, classes: classes, rest: "Water", keep: measured(label),
			ignored: []string{"ID", "Stability_Test", "Turbidity_NTU", "Turbidity_Error", "Viscosity", "Rheology_Type"}}
	}
	return []source{
		{name: "plate 3851", file: "oer_plate_3851.csv", label: "overpotential", columns: metals("Ni")},
		{name: "plate 3860", file: "oer_plate_3860.csv", label: "overpotential", columns: metals("Sn")},
		{name: "films", file: "photo_wf3.csv", label: "degradation", columns: []string{"WF3", "P3HT", "PCBM", "oIDTBR"}},
		shampoo("turbidity", "Turbidity_NTU", false),
		{name: "strength", file: "boxcrete.csv", label: "Strength (Mean)", columns: mix, keep: after28},
		{name: "warming", file: "boxcrete.csv", label: "GWP", columns: mix, keep: after28},
		{name: "perovskite", file: "perovskite.csv", label: "Instability index", columns: []string{"CsPbI", "FAPbI", "MAPbI"}},
		{name: "electrolytes", file: "electrolytes.csv", label: "lce"},
		{name: "hardness", file: "alloys.csv", label: "hardness HV", columns: elements, keep: atRoom},
		{name: "yield", file: "alloys.csv", label: "yield strength MPa", columns: elements, keep: atRoom},
		{name: "elongation", file: "alloys.csv", label: "elongation %", columns: elements, keep: atRoom},
		{name: "liking", file: "/examples/spritz/trials.csv", label: "liking"},
		{name: "haze", file: "/examples/spritz/trials.csv", label: "haze"},
		{name: "fragrance", file: "/examples/fragrance/formulas.csv", ingredients: "/examples/fragrance/ingredients.csv", label: "rating"},
		{name: "taste", file: "/examples/cocktails/recipes.csv", ingredients: "/examples/cocktails/kinds.csv", label: "taste", classes: true},
		{name: "timing", file: "/examples/cocktails/recipes.csv", ingredients: "/examples/cocktails/kinds.csv", label: "timing", classes: true},
		shampoo("stability", "Stability_Test", true),
		shampoo("rheology", "Rheology_Type", true),
	}
}

// A known is a book as models learn from it.
type known struct {
	name        string
	data        *model.Data
	ingredients *dataset.Ingredients
}

// read reads the book. It is nil if its table is not there.
func (s *source) read(ctx context.Context, directory, root string) (*known, error) {
	at := func(file string) string {
		if inside, ok := strings.CutPrefix(file, "/"); ok {
			return filepath.Join(root, inside)
		}
		return filepath.Join(directory, file)
	}
	if !strings.HasPrefix(s.file, "/") && directory == "" {
		return nil, nil
	}
	text, err := os.ReadFile(at(s.file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if text, err = s.prepare(text); err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	o := dataset.Options{Labels: []string{s.label}}
	if s.ingredients != "" {
		if o.Ingredients, err = dataset.ReadIngredientsFile(ctx, at(s.ingredients), dataset.Layout{}); err != nil {
			return nil, err
		}
	}
	b, err := dataset.Read(bytes.NewReader(text), s.file, o)
	if err != nil {
		return nil, err
	}
	return s.labelledRecipes(b)
}

// labelledRecipes returns what is known of a label.
func (s *source) labelledRecipes(b *dataset.Book) (*known, error) {
	label, ok := b.Label(s.label)
	if !ok {
		return nil, fmt.Errorf("%s has no label %q", s.file, s.label)
	}
	k := &known{name: s.name, ingredients: b.Ingredients, data: &model.Data{Label: s.label, Ingredients: b.Ingredients.Names, Total: total}}
	var numbers []float64
	if !s.classes {
		var err error
		if numbers, err = label.Numbers(); err != nil {
			return nil, err
		}
	}
	for r := range b.Recipes {
		if label.ClassOf[r] < 0 {
			continue
		}
		amounts, err := b.Closure(r, total)
		if err != nil {
			return nil, err
		}
		row := make([]model.Part, len(amounts))
		for p, part := range b.Recipes[r].Parts {
			row[p] = model.Part{Ingredient: part.Ingredient, Amount: int32(amounts[p])}
		}
		k.data.Rows = append(k.data.Rows, row)
		if s.classes {
			k.data.Classes = append(k.data.Classes, label.Value(r))
		} else {
			k.data.Numbers = append(k.data.Numbers, numbers[r])
		}
	}
	return k, nil
}

// prepare leaves the rows and columns of a wide table that are asked for, and adds the
// ingredient that fills up to 100. Rows without a recipe's name are given a number.
func (s *source) prepare(text []byte) ([]byte, error) {
	if s.columns == nil && s.keep == nil && s.rest == "" {
		return text, nil
	}
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil {
		return nil, err
	}
	header := rows[0]
	columns := s.columns
	if columns == nil {
		for _, name := range header {
			if name != s.label && !slices.Contains(s.ignored, name) {
				columns = append(columns, name)
			}
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	head := append([]string{"recipe"}, columns...)
	if s.rest != "" {
		head = append(head, s.rest)
	}
	written := [][]string{append(head, s.label)}
	for n, row := range rows[1:] {
		cell := func(column string) string {
			at := slices.Index(header, column)
			if at < 0 {
				return ""
			}
			return row[at]
		}
		if s.keep != nil && !s.keep(cell) || cell(s.label) == "" {
			continue
		}
		cells := []string{fmt.Sprintf("r%d", n+1)}
		rest := 100.0
		for _, c := range columns {
			cells = append(cells, cell(c))
			if s.rest != "" {
				v, err := strconv.ParseFloat(cell(c), 64)
				if err != nil {
					return nil, err
				}
				rest -= v
			}
		}
		if s.rest != "" {
			cells = append(cells, strconv.FormatFloat(rest, 'f', 4, 64))
		}
		written = append(written, append(cells, cell(s.label)))
	}
	if err := w.WriteAll(written); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
