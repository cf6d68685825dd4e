package recipe

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/fault"
)

// turned is whether a table has a row for each ingredient and a column for each recipe:
// no name but that of its first column means anything, the columns behind it hold amounts,
// and the first is given as that of the ingredients, or called as they are, or the others
// add up to 100 or 1. What else is given of a column says that it is not.
func (t *table) turned(o Options) bool {
	first := t.firstNamed()
	if first < 0 || first+2 >= len(t.header) || t.profile[first].amounts > 0 {
		return false
	}
	given := false
	for name, role := range o.Columns {
		if i := slices.Index(t.header, Name(name)); i == first && role == IngredientColumn {
			given = true
		} else if i >= 0 {
			return false
		}
	}
	for i := first + 1; i < len(t.header); i++ {
		if p := &t.profile[i]; meansRecipes(t.header[i]) || p.amounts == 0 {
			return false
		}
	}
	return given || means(t.header[first], IngredientColumn) || !means(t.header[first], RecipeColumn) && t.addUp(first) > 0
}

// firstNamed returns the first column with a name; -1 if there is none.
func (t *table) firstNamed() int {
	return slices.IndexFunc(t.header, func(name string) bool { return name != "" })
}

// addUp returns after how many rows the columns behind the first add up to a whole each, 100
// or 1, at best, and within 1/200 of it; 0 if they never do. It is also 0 where these rows
// add up to it by themselves, or leave nothing out: columns of an experiment's levels may
// add up so.
func (t *table) addUp(first int) (rows int) {
	for _, whole := range []float64{100, 1} {
		sums := make([]float64, len(t.header))
		best := math.Inf(1)
		alike, sparse := true, false // of the rows so far
		for r := range t.profile[first].values {
			across, off, most := 0.0, 0.0, 0.0
			for i := first + 1; i < len(sums); i++ {
				v := t.profile[i].values[r] / whole
				sums[i], across = sums[i]+v, across+v
				sparse = sparse || v == 0
				off, most = off+math.Abs(sums[i]-1), max(most, math.Abs(sums[i]-1))
			}
			alike = alike && math.Abs(across-1) <= 0.005
			if most <= 0.005 && off < best && r >= 2 && sparse && !alike {
				rows, best = r+1, off
			}
		}
		if rows > 0 {
			break
		}
	}
	return rows
}

// turnedOptions returns the options for a table that was turned: its rows below those that
// add up to 100 or 1 are no ingredients.
func (t *table) turnedOptions(o Options, before *table) Options {
	columns := make(map[string]Role)
	for name, role := range o.Columns {
		if !slices.Contains(before.header, Name(name)) {
			columns[name] = role
		}
	}
	given := o.Layout
	given.Columns = columns
	if rows := before.addUp(before.firstNamed()); rows > 0 {
		for i, name := range t.header[min(rows+1, len(t.header)):] {
			if _, ok := given.Columns[name]; ok || t.profile[rows+1+i].amounts == 0 {
				continue
			}
			role, taken := LabelColumn, "a label"
			if adds(name) {
				role, taken = IgnoredColumn, "a sum and left out"
			}
			settle := Layout{Columns: map[string]Role{name: role}}
			given, t.asks = given.With(settle), t.asks.With(settle)
			t.note(t.places[rows+1+i], "row "+fault.Quote(name)+" stands below the rows that add up to a whole and is taken as "+taken, settle.YAML())
		}
	}
	o.Layout = given
	return o
}

// turn returns a turned table with its rows as columns: the wide form.
func (t *table) turn(l Layout, units *Units) (*table, error) {
	first := t.firstNamed()
	named := slices.Clone(t.header)
	named[first] = string(RecipeColumn)
	var cells [][]string
	var places [][]place
	exacts := make(map[[2]int]bool)
	for i := range len(t.header) - first {
		cells, places = append(cells, []string{named[first+i]}), append(places, []place{t.places[first+i]})
	}
	for {
		row, err := t.rows.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if blank(row) {
			continue
		}
		at := len(cells[0])
		if (at+1)*len(cells) > mostCells {
			return nil, t.errorIn(t.rows.place(0), fmt.Sprintf("the table has more than %d cells", mostCells), "write a row for each recipe")
		}
		if len(row) > len(t.header) && !blank(row[len(t.header):]) {
			return nil, t.errorIn(t.rows.place(len(t.header)), "the row is longer than the header", "name the recipe, or empty the cell")
		}
		for i := range cells {
			text := ""
			if first+i < len(row) {
				text = strings.Clone(row[first+i])
				if t.rows.exact(first + i) {
					exacts[[2]int{i, at}] = true
				}
			}
			cells[i], places[i] = append(cells[i], text), append(places[i], t.rows.place(first+i))
		}
	}
	message, settle := "column "+fault.Quote(t.header[first])+" names the ingredients, and each column behind it is a recipe", ""
	if _, given := l.Columns[t.header[first]]; !given && !means(t.header[first], IngredientColumn) {
		ask := Layout{Columns: map[string]Role{t.header[first]: IngredientColumn}}
		t.asks, settle = t.asks.With(ask), ask.YAML()
	}
	t.note(t.places[first], message, settle)
	where := func(row, field int) place { return places[row][min(field, len(places[row])-1)] }
	s := *t.source
	s.rows = &listed{cells: cells, where: where, exacts: exacts}
	s.head = func() rows { return &listed{cells: cells, where: where, exacts: exacts} }
	s.ragged = true
	w := &table{source: &s}
	if err := w.readHeader(0); err != nil {
		return nil, err
	}
	w.look(units)
	w.chooseDecimal(l.Decimal)
	return w, nil
}
