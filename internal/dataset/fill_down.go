package dataset

import (
	"slices"
	"strings"

	"kir/internal/measure"
	"kir/internal/tablefile"
)

// filledRows yields the rows of a table in which a recipe stands in the first of its trials alone: the others have empty
// cells in its columns, which the first one fills.
type filledRows struct {
	tablefile.Rows
	name    int      // index of the column of names
	columns []int    // indices of the columns that are filled, name among them
	last    []string // the texts of the columns in the last row with a name
	numbers []bool   // whether a workbook stores them as numbers
	filled  bool     // whether the current row is filled
}

func (f *filledRows) Next() ([]string, error) {
	row, err := f.Rows.Next()
	f.filled = false
	if err != nil || len(row) <= f.name {
		return row, err
	}
	if strings.TrimSpace(row[f.name]) != "" {
		f.last, f.numbers = f.last[:0], f.numbers[:0]
		for _, i := range f.columns {
			text := ""
			if i < len(row) {
				text = strings.Clone(row[i])
			}
			f.last, f.numbers = append(f.last, text), append(f.numbers, f.Rows.IsNumber(i))
		}
		return row, nil
	}
	if len(f.last) == 0 || !isContinued(row, f.columns) {
		return row, nil
	}
	row = slices.Clone(row)
	for k, i := range f.columns {
		for len(row) <= i {
			row = append(row, "")
		}
		row[i] = f.last[k]
	}
	f.filled = true
	return row, nil
}

func (f *filledRows) IsNumber(field int) bool {
	if k := slices.Index(f.columns, field); k >= 0 && f.filled {
		return f.numbers[k]
	}
	return f.Rows.IsNumber(field)
}

// isContinued reports whether a row has two cells with text or more, and none in some columns.
func isContinued(row []string, columns []int) bool {
	for _, i := range columns {
		if i < len(row) && strings.TrimSpace(row[i]) != "" {
			return false
		}
	}
	return countFilled(row) >= 2
}

// fillDown fills the cells of rows that continue a recipe, with a note, if the table has such rows: one in four at least
// has no name, and all of those have no cells in the same columns, two columns of numbers or more, and numbers in others.
// It reports whether it does.
func (t *table) fillDown(units *measure.Units) (bool, error) {
	first := t.firstTexts()
	name := slices.IndexFunc(t.profiles[:min(len(t.profiles), maxRecipeColumns)], func(p columnProfile) bool {
		return p.filledCount > 0 && p.filledCount < len(t.profiledLines) && p.amountCount == 0
	})
	if name < 0 || len(first) == 0 || first[0][name] == "" || t.header[name] == "" {
		return false, nil
	}
	continued := 0
	fills, empty := make([]bool, len(t.header)), make([]bool, len(t.header))
	for i := range empty {
		empty[i] = true
	}
	for _, row := range first {
		if row[name] == "" {
			continued++
		}
		for i, text := range row {
			if row[name] == "" {
				empty[i] = empty[i] && text == ""
			} else {
				fills[i] = fills[i] || text != ""
			}
		}
	}
	var columns []int
	amounts, others := 0, 0
	for i := range t.header {
		isAmounts := t.profiles[i].amountCount > 0
		switch {
		case empty[i] && fills[i]:
			columns = append(columns, i)
			if isAmounts {
				amounts++
			}
		case isAmounts:
			others++
		}
	}
	if 4*continued < len(first) || amounts < minSummedColumns || others == 0 {
		return false, nil
	}
	return true, t.wrapRows(func(r tablefile.Rows) tablefile.Rows { return &filledRows{Rows: r, name: name, columns: columns} }, units)
}
