package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// formulaColumn returns the column of a table whose texts are chemical formulas of two elements or more in nine of ten
// rows, such as the names of alloys; −1 if there is none.
func (t *table) formulaColumn() int {
	rows := t.firstRows()
	counts, filled := make([]int, len(t.header)), make([]int, len(t.header))
	started := false
	for seen := 0; seen < maxValueRows; {
		row, err := rows.Next()
		if err != nil {
			break
		}
		if !started {
			started = rows.Place(0).Line == t.headerPlaces[0].Line
			continue
		}
		seen++
		if t.hasSingleCell(row) {
			continue // perhaps a footnote
		}
		for i, text := range row[:min(len(row), len(t.header))] {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			filled[i]++
			if elements, ok := parseFormula(text); ok && len(elements) > 1 {
				counts[i]++
			}
		}
	}
	for i, n := range counts {
		if n >= minNumbers && 10*n >= 9*filled[i] {
			return i
		}
	}
	return -1
}

// expandFormulas returns the table with a column for each element of the formulas in a column: the wide form. The
// amounts are numbers of atoms.
func (t *table) expandFormulas(column int, l Layout, units *measure.Units) (*table, error) {
	cells := [][]string{nil}
	places := [][]tablefile.Place{t.headerPlaces}
	exacts := make(map[[2]int]bool)
	elementColumns := make(map[string]int)
	header := append([]string(nil), t.header...)
	var formulas [][]elementAmount
	t.allowsFootnotes = true
	for {
		if err := browsersched.Err(t.ctx); err != nil {
			return nil, err
		}
		err := t.nextRow()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if t.hasSingleCell(t.row) {
			t.addNote(t.place(0), fmt.Sprintf(footnoteFormat, inputerr.Quote(strings.TrimSpace(strings.Join(t.row, "")))), "")
			t.noteLeftOut(t.place(0).Line, outAsHeading)
			continue
		}
		text := strings.TrimSpace(t.row[column])
		elements, ok := parseFormula(text)
		if !ok && text != "" {
			return nil, withFixes(t.errorAtField(column, inputerr.Quote(text)+" is no chemical formula, as the others in this column are", "write it as Al0.5CoCrFeNi, or leave the row out"), headerStage, rowFix(t.place(0).Line))
		}
		for _, e := range elements {
			if _, known := elementColumns[e.symbol]; !known {
				name := e.symbol
				if _, taken := t.byName[name]; taken {
					return nil, t.errorInHeader(t.byName[name], "a column is called "+inputerr.Quote(name)+", as an element in the formulas of "+inputerr.Quote(t.header[column]), "remove one of the two")
				}
				elementColumns[name] = len(header)
				header = append(header, name)
			}
		}
		if (len(cells)+1)*len(header) > tablefile.MaxCells {
			return nil, t.errorAtField(0, fmt.Sprintf("the table has more than %d cells", tablefile.MaxCells), "write a column for each element")
		}
		row, at := make([]string, len(t.header)), make([]tablefile.Place, len(t.header))
		for i := range row {
			row[i], at[i] = strings.Clone(t.row[i]), t.place(i)
			if t.isNumber(i) {
				exacts[[2]int{len(cells), i}] = true
			}
		}
		cells, places, formulas = append(cells, row), append(places, at), append(formulas, elements)
	}
	cells[0] = header
	for r, elements := range formulas {
		row := append(cells[r+1], make([]string, len(header)-len(t.header))...)
		for _, e := range elements {
			i := elementColumns[e.symbol]
			row[i], exacts[[2]int{r + 1, i}] = e.atoms, true
		}
		cells[r+1] = row
	}
	t.addNote(t.headerPlaces[column], fmt.Sprintf("column %s holds chemical formulas: the ingredients are their %s, in numbers of atoms",
		inputerr.Quote(t.header[column]), inputerr.Count(len(elementColumns), "element")), "")
	for r := range places { // the elements stand where the formula does
		places[r] = append(slices.Clone(places[r]), places[r][column])
	}
	w, err := t.withGrid(&grid{cells: cells, places: places, exact: exacts}, l, units)
	if err == nil {
		w.elementsFrom, w.formulasIn = len(t.header), column
	}
	return w, err
}
