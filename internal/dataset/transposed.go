package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
)

// isTransposed reports whether a table has a row for each ingredient and a column for each recipe.
// Only the first column's name may have a meaning, and the columns behind it must hold amounts. One
// more sign is needed: the first column is given as that of the ingredients, or named so; or the
// others add up to 100 or 1; or an ingredient makes up the remainder of several columns. Columns of
// text may stand between them if both a name and the amounts are such signs. Any other role given
// to a column rules it out.
func (t *table) isTransposed(o Options) bool {
	first := t.firstNamed()
	if first < 0 || first+2 >= len(t.header) || 2*t.profile[first].amounts > t.profile[first].filled {
		return false
	}
	given := false
	for name, role := range o.Columns {
		if i, ok := t.byName[NormalizeName(name)]; ok && i == first && role == IngredientColumn {
			given = true
		} else if ok {
			return false
		}
	}
	amounts := 0
	for i := first + 1; i < len(t.header); i++ {
		if isRecipeHeader(t.header[i]) {
			return false
		} else if t.profile[i].amounts > 0 {
			amounts++
		}
	}
	named := given || matchesRole(t.header[first], IngredientColumn)
	divided := amounts > 1 && !matchesRole(t.header[first], RecipeColumn) && (t.rowsToWhole(first) > 0 || t.isRestOfSeveral(first))
	if amounts < len(t.header)-first-1 {
		return named && divided
	}
	return named || divided
}

// isRestOfSeveral reports whether a row marks the remainder in several columns.
func (t *table) isRestOfSeveral(first int) bool {
	for r := range t.profile[first].values {
		rests := 0
		for _, p := range t.profile[first+1:] {
			if p.remainders > 0 && p.amounts+p.remainders == p.filled && math.IsNaN(p.values[r]) {
				rests++
			}
		}
		if rests > 1 {
			return true
		}
	}
	return false
}

// firstNamed returns the first column with a name; −1 if there is none.
func (t *table) firstNamed() int {
	return slices.IndexFunc(t.header, func(name string) bool { return name != "" })
}

// rowsToWhole returns after how many rows the columns behind the first come closest to adding up to
// a whole each, 100 or 1, within 1/200 of it; 0 if they never do. It is also 0 if each of these rows
// adds up to the whole, or no cell of them is 0: columns of an experiment's levels may add up by
// coincidence.
func (t *table) rowsToWhole(first int) (rows int) {
	for _, whole := range []float64{100, 1} {
		sums := make([]float64, len(t.header))
		best := math.Inf(1)
		alike, sparse := true, false // for the rows so far
		for r := range t.profile[first].values {
			across, off, most := 0.0, 0.0, 0.0
			for i := first + 1; i < len(sums); i++ {
				if t.profile[i].amounts == 0 {
					continue
				}
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

// transposedOptions returns the options for a transposed table: rows below those that add up to 100
// or 1 are not ingredients.
func (t *table) transposedOptions(o Options, before *table) Options {
	columns := make(map[string]Role)
	for name, role := range o.Columns {
		if _, ok := before.byName[NormalizeName(name)]; !ok {
			columns[name] = role
		}
	}
	given := o.Layout
	given.Columns = columns
	rows := before.rowsToWhole(before.firstNamed())
	if rows == 0 && before.isRestOfSeveral(before.firstNamed()) {
		rows = max(slices.IndexFunc(t.header, isSumName)-1, 0) // with a remainder, only its name identifies a total
	}
	if rows > 0 {
		for i, name := range t.header[min(rows+1, len(t.header)):] {
			if _, ok := given.Columns[name]; ok || t.profile[rows+1+i].amounts == 0 {
				continue
			}
			role, taken := LabelColumn, "a label"
			if isSumName(name) {
				role, taken = IgnoredColumn, "a sum and left out"
			}
			settle := Layout{Columns: map[string]Role{name: role}}
			given.setColumn(name, role)
			t.settling.setColumn(name, role)
			p := t.places[rows+1+i]
			t.notes = append(t.notes, Note{File: t.file, Line: p.line, Column: p.column, Cell: p.cell, Setting: settle.YAML(), AmbiguousColumn: name, AssumedRole: role,
				Message: "row " + inputerr.Quote(name) + " stands below the rows that add up to a whole and is taken as " + taken})
		}
	}
	o.Layout = given
	return o
}

// transpose returns the table with its rows as columns: the wide form.
func (t *table) transpose(l Layout, units *Units) (*table, error) {
	first := t.firstNamed()
	named := slices.Clone(t.header)
	named[first] = string(RecipeColumn)
	var cells [][]string
	var places [][]place
	exacts := make(map[[2]int]bool)
	var kept []int
	for i := first; i < len(t.header); i++ {
		if p := &t.profile[i]; i > first && p.amounts == 0 {
			if p.filled > 0 {
				t.addNote(t.places[i], "column "+inputerr.Quote(t.header[i])+" holds text such as "+inputerr.Quote(p.example)+" and is left out", "")
			}
			continue
		}
		kept, cells, places = append(kept, i), append(cells, []string{named[i]}), append(places, []place{t.places[i]})
	}
	for {
		if err := browsersched.Err(t.ctx); err != nil {
			return nil, err
		}
		row, err := t.rows.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if isBlank(row) {
			continue
		}
		if remark := NormalizeName(row[min(first, len(row)-1)]); t.hasSingleCell(row) && remarkPattern().MatchString(remark) {
			t.addDoubt(t.rows.place(first), fmt.Sprintf(footnoteNote, inputerr.Quote(remark)))
			continue
		}
		at := len(cells[0])
		if (at+1)*len(cells) > mostCells {
			return nil, t.errorIn(t.rows.place(0), fmt.Sprintf("the table has more than %d cells", mostCells), "write a row for each recipe")
		}
		if len(row) > len(t.header) && !isBlank(row[len(t.header):]) {
			return nil, t.errorIn(t.rows.place(len(t.header)), "the row is longer than the header", "name the recipe, or empty the cell")
		}
		for i, from := range kept {
			text := ""
			if from < len(row) {
				text = strings.Clone(row[from])
				if t.rows.isNumber(from) {
					exacts[[2]int{i, at}] = true
				}
			}
			cells[i], places[i] = append(cells[i], text), append(places[i], t.rows.place(from))
		}
	}
	message, settle := "column "+inputerr.Quote(t.header[first])+" names the ingredients, and each column behind it is a recipe", ""
	if _, given := l.Columns[t.header[first]]; !given && !matchesRole(t.header[first], IngredientColumn) {
		ask := Layout{Columns: map[string]Role{t.header[first]: IngredientColumn}}
		t.settling, settle = t.settling.Merge(ask), ask.YAML()
	}
	t.addNote(t.places[first], message, settle)
	where := func(row, field int) place { return places[row][min(field, len(places[row])-1)] }
	s := *t.source
	s.rows = &memoryRows{cells: cells, placeOf: where, exacts: exacts}
	s.firstRows = func() rows { return &memoryRows{cells: cells, placeOf: where, exacts: exacts} }
	s.allowsShortRows = true
	w := &table{source: &s}
	if err := w.readHeader(0); err != nil {
		return nil, err
	}
	if err := w.buildProfiles(units); err != nil {
		return nil, err
	}
	w.chooseDecimal(l.Decimal)
	return w, nil
}
