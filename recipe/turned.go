package recipe

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/fault"
)

// turned is whether a table has a row for each ingredient and a column for each recipe:
// its first column with a name is called as ingredients are, no other name means anything,
// and the columns behind it hold amounts. What is given of a column says that it is not.
func (t *table) turned(o Options) bool {
	first := slices.IndexFunc(t.header, func(name string) bool { return name != "" })
	if first < 0 || first+2 >= len(t.header) || !means(t.header[first], IngredientColumn) || t.profile[first].amounts > 0 {
		return false
	}
	for name := range o.Columns {
		if slices.Contains(t.header, Name(name)) {
			return false
		}
	}
	for i := first + 1; i < len(t.header); i++ {
		if p := &t.profile[i]; meansRecipes(t.header[i]) || p.amounts == 0 {
			return false
		}
	}
	return true
}

// turn returns a turned table with its rows as columns: the wide form.
func (t *table) turn(l Layout, units *Units) (*table, error) {
	first := slices.IndexFunc(t.header, func(name string) bool { return name != "" })
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
	t.note(t.places[first], "column "+fault.Quote(t.header[first])+" names the ingredients, and each column behind it is a recipe", "")
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
