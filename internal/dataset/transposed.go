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

// isTransposed reports whether the table has a row for each ingredient and a column for each recipe.
// The first column must hold names, and the columns behind it must hold amounts. No column behind it
// may have a name such as recipe, amount or ml. In addition, at least one of these must hold:
//
//   - The options give the first column the role of the ingredients, or its name suggests that role.
//   - The amounts in each column add up to 100 or 1, or a row marks the remainder in several columns.
//
// If some columns behind the first hold text, both must hold. The table is not transposed if the
// options give any other role to one of its columns.
func (t *table) isTransposed(o Options, units *Units) bool {
	first := t.firstNamedColumn()
	if first < 0 || first+2 >= len(t.header) || 2*t.profiles[first].amountCount > t.profiles[first].filledCount {
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
	amounts, texts := 0, 0
	isNamed := given || matchesRole(t.header[first], IngredientColumn)
	for i := first + 1; i < len(t.header); i++ {
		name := t.header[i]
		if matchesRole(name, UnitColumn) {
			texts++
			continue
		}
		if _, isUnit := units.Lookup(name); isRecipeHeader(name) || isUnit && name == strings.ToLower(name) {
			return false
		} else if t.profiles[i].amountCount > 0 {
			amounts++
		}
	}
	divided := amounts > 1 && !matchesRole(t.header[first], RecipeColumn) && (t.rowsToReachWhole(first) > 0 || t.hasRemainderRow(first))
	if amounts < len(t.header)-first-1-texts {
		return isNamed && divided
	}
	return isNamed || divided
}

// hasRemainderRow reports whether a row marks the remainder of a recipe, such as q.s. 100, in at
// least two columns behind the column first.
func (t *table) hasRemainderRow(first int) bool {
	isNamed := matchesRole(t.header[first], IngredientColumn)
	for r := range t.profiles[first].firstValues {
		rests := 0
		for _, p := range t.profiles[first+1:] {
			if p.remainderCount > 0 && (isNamed || p.amountCount+p.remainderCount == p.filledCount) && math.IsNaN(p.firstValues[r]) {
				rests++
			}
		}
		if rests > 1 {
			return true
		}
	}
	return false
}

// firstNamedColumn returns the index of the column that would hold the names of the ingredients in a transposed table:
// the first column with distinct texts whose name has the role of ingredients, or else the first column with a name. It
// returns −1 if no column has a name.
func (t *table) firstNamedColumn() int {
	for i, name := range t.header {
		if matchesRole(name, IngredientColumn) && t.profiles[i].allDistinct && t.profiles[i].amountCount == 0 {
			return i
		}
	}
	return slices.IndexFunc(t.header, func(name string) bool { return name != "" })
}

// rowsToReachWhole returns the number n of first rows which, in each column of amounts behind the
// column first, add up to 100, or else to 1 or to 1000, within 0.5 %. If several n qualify, it returns the n
// with the smallest deviation. It returns 0 if there is no such n. It also returns 0 if each of the
// n rows adds up to the whole as well, or if none of their cells is 0: the columns may then be
// levels of an experiment, whose sums are a coincidence. That does not matter if the name of the first
// column has the role of ingredients.
func (t *table) rowsToReachWhole(first int) (rows int) {
	if rows := t.rowsAboveSums(first); rows > 0 {
		return rows
	}
	named := matchesRole(t.header[first], IngredientColumn)
	for _, whole := range []float64{100, 1, 1000} {
		sums := make([]float64, len(t.header))
		best := math.Inf(1)
		alike, sparse := true, false // for the rows so far
		for r := range t.profiles[first].firstValues {
			across, off, most := 0.0, 0.0, 0.0
			for i := first + 1; i < len(sums); i++ {
				if t.profiles[i].amountCount == 0 || t.isNoRecipe(i) {
					continue
				}
				v := t.profiles[i].firstValues[r] / whole
				sums[i], across = sums[i]+v, across+v
				sparse = sparse || v == 0
				off, most = off+math.Abs(sums[i]-1), max(most, math.Abs(sums[i]-1))
			}
			alike = alike && math.Abs(across-1) <= 0.005
			if most <= 0.005 && off < best && r >= 2 && (named || sparse && !alike) {
				rows, best = r+1, off
			}
		}
		if rows > 0 {
			break
		}
	}
	return rows
}

// isNoRecipe reports whether the name of a column of a transposed table says that it describes the ingredients or other
// columns, as a price or a mean does.
func (t *table) isNoRecipe(i int) bool {
	what, sure := summaryOf(t.header[i])
	return t.header[i] == "" || matchesRole(t.header[i], UnitColumn) || what != "" && sure
}

// rowsAboveSums returns the number of first rows above a row with their sum in each column of amounts, of which there are
// three at least; 0 if there is none.
func (t *table) rowsAboveSums(first int) int {
	sums := make([]float64, len(t.header))
	for r := range t.profiles[first].firstValues {
		equal, others := 0, 0
		for i := first + 1; i < len(sums); i++ {
			if t.profiles[i].amountCount == 0 || t.isNoRecipe(i) {
				continue
			}
			if v := t.profiles[i].firstValues[r]; v > 0 && math.Abs(v-sums[i]) <= float64(sumTolerance*v) {
				equal++
			} else {
				others++
			}
			sums[i] += t.profiles[i].firstValues[r]
		}
		if r >= minSummedColumns && equal >= 3 && others == 0 {
			return r
		}
	}
	return 0
}

// transposedOptions returns the options for reading t, the transposed form of the table before. A
// row of before that follows the rows which add up to 100 or 1 is not an ingredient, but a label or
// a sum. A row that the layout leaves out by its name is ignored.
func (t *table) transposedOptions(o Options, before *table) Options {
	columns := make(map[string]Role)
	for name, role := range o.Columns {
		if _, ok := before.byName[NormalizeName(name)]; !ok {
			columns[name] = role
		}
	}
	given := o.Layout
	given.Columns, given.Without = columns, nil
	for _, name := range o.Without {
		i, isRow := t.byName[NormalizeName(name)]
		if _, isRecipe := before.byName[NormalizeName(name)]; isRow && i > 0 && !isRecipe {
			columns[t.header[i]] = IgnoredColumn
		} else {
			given.Without = append(given.Without, name)
		}
	}
	rows := before.rowsToReachWhole(before.firstNamedColumn())
	if rows == 0 && before.hasRemainderRow(before.firstNamedColumn()) {
		rows = max(slices.IndexFunc(t.header, isSumName)-1, 0) // with a remainder, only its name identifies a total
	}
	if rows > 0 {
		for i, name := range t.header[min(rows+1, len(t.header)):] {
			if _, ok := given.Columns[name]; ok || t.profiles[rows+1+i].amountCount == 0 {
				continue
			}
			role, taken := LabelColumn, "a label"
			if isSumName(name) {
				role, taken = IgnoredColumn, "a sum and left out"
			}
			settle := Layout{Columns: map[string]Role{name: role}}
			given.setColumn(name, role)
			t.guessedLayout.setColumn(name, role)
			p := t.headerPlaces[rows+1+i]
			t.notes = append(t.notes, Note{File: t.file, Line: p.line, Column: p.column, Cell: p.cell, Setting: settle.YAML(), AmbiguousColumn: name, AssumedRole: role,
				Message: "row " + inputerr.Quote(name) + " stands below the rows that add up to a whole and is taken as " + taken})
		}
	}
	o.Layout = given
	return o
}

// transpose reads the table to its end and returns it with rows and columns exchanged: a table in
// the wide form.
func (t *table) transpose(l Layout, units *Units) (*table, error) {
	first := t.firstNamedColumn()
	named := slices.Clone(t.header)
	named[first] = string(RecipeColumn)
	var cells [][]string
	var places [][]place
	exacts := make(map[[2]int]bool)
	var kept []int
	unitColumn, rowUnits := -1, []string{""}
	for i := first; i < len(t.header); i++ {
		if matchesRole(t.header[i], UnitColumn) && i > first {
			unitColumn = i
			continue
		}
		if p := &t.profiles[i]; i > first && (p.amountCount == 0 || t.isNoRecipe(i)) {
			if p.filledCount > 0 {
				t.addNote(t.headerPlaces[i], "column "+inputerr.Quote(t.header[i])+" holds text such as "+inputerr.Quote(p.exampleText)+" and is left out", "")
			}
			continue
		}
		kept, cells, places = append(kept, i), append(cells, []string{named[i]}), append(places, []place{t.headerPlaces[i]})
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
		if line := t.rows.place(first).line; t.isLeftOutByLine(line) {
			t.noteLeftOut(line)
			continue
		}
		if remark := strings.TrimSpace(strings.Join(row, " ")); t.hasSingleCell(row) {
			t.addDoubtfulNote(t.rows.place(first), fmt.Sprintf(footnoteFormat, inputerr.Quote(remark)))
			continue
		}
		at := len(cells[0])
		if (at+1)*len(cells) > maxCells {
			return nil, t.errorAtPlace(t.rows.place(0), fmt.Sprintf("the table has more than %d cells", maxCells), "write a row for each recipe")
		}
		if len(row) > len(t.header) && !isBlank(row[len(t.header):]) {
			return nil, withFixes(t.errorAtPlace(t.rows.place(len(t.header)), "the row is longer than the header", "name the recipe, or empty the cell"), headerStage, rowFix(t.rows.place(first).line))
		}
		rowUnit := ""
		if unitColumn >= 0 && unitColumn < len(row) {
			rowUnit = strings.Clone(bareUnit(row[unitColumn]))
		}
		rowUnits = append(rowUnits, rowUnit)
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
		t.guessedLayout, settle = t.guessedLayout.Merge(ask), ask.YAML()
	}
	t.addNote(t.headerPlaces[first], message, settle)
	where := func(row, field int) place { return places[row][min(field, len(places[row])-1)] }
	w, err := t.withCells(cells, where, exacts, l, units)
	if err == nil {
		_, unit := SplitHeaderUnit(t.header[first])
		w.amountUnit, _ = units.Lookup(unit)
		if unitColumn >= 0 {
			w.columnUnits = rowUnits
		}
	}
	return w, err
}

// withCells returns a table with the same notes whose cells, from the header on, are held in memory. where returns the
// place of a cell in the file. The keys of exacts are the rows and columns of the cells that are numbers and not text.
func (t *table) withCells(cells [][]string, where func(row, field int) place, exacts map[[2]int]bool, l Layout, units *Units) (*table, error) {
	s := *t.source
	s.rows = &memoryRows{cells: cells, placeOf: where, numberCells: exacts}
	s.firstRows = func() rows { return &memoryRows{cells: cells, placeOf: where, numberCells: exacts} }
	s.allowsShortRows = true
	w := &table{source: &s, inMemory: true, leftOutLines: t.leftOutLines}
	if err := w.readHeader(0); err != nil {
		return nil, err
	}
	if err := w.buildProfiles(units); err != nil {
		return nil, err
	}
	w.chooseDecimalMark(l.Decimal)
	return w, nil
}
