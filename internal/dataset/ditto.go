package dataset

import (
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// dittoRows yields rows in which a cell that says "the same as above", such as " or dito, holds what stands above it.
type dittoRows struct {
	tablefile.Rows
	above   []string     // texts of the last row
	numbers map[int]bool // set of the fields of above that a workbook stores as numbers
	repeats map[int]bool // set of the fields of the current row that repeat the one above
}

func (d *dittoRows) Next() ([]string, error) {
	row, err := d.Rows.Next()
	d.repeats = nil
	if err != nil {
		return row, err
	}
	for i, text := range row {
		if i >= len(d.above) || !isDitto(text) {
			continue
		}
		if d.repeats == nil {
			d.repeats, row = make(map[int]bool), slices.Clone(row)
		}
		row[i], d.repeats[i] = d.above[i], true
	}
	numbers := make(map[int]bool)
	for i, text := range row {
		if d.IsNumber(i) {
			numbers[i] = true
		}
		if i == len(d.above) {
			d.above = append(d.above, "")
		}
		if d.above[i] != text {
			d.above[i] = strings.Clone(text)
		}
	}
	d.above, d.numbers = d.above[:len(row)], numbers
	return row, nil
}

func (d *dittoRows) IsNumber(field int) bool {
	if d.repeats[field] {
		return d.numbers[field]
	}
	return d.Rows.IsNumber(field)
}

// fillDittos makes the table yield rows in which cells that say the same as the one above hold what stands there, if the
// first rows have such cells. It adds a note.
func (t *table) fillDittos(units *measure.Units) error {
	head := t.firstRows()
	for row := range readableRows(head, maxValueRows) {
		i := slices.IndexFunc(row, isDitto)
		if i < 0 {
			continue
		}
		p := head.Place(i)
		t.addNote(p, "cells with "+inputerr.Quote(strings.TrimSpace(row[i]))+" hold what stands above them", "")
		return t.wrapRows(func(r tablefile.Rows) tablefile.Rows { return &dittoRows{Rows: r} }, units)
	}
	return nil
}

// dittoPattern matches marks that say the same as the cell above, such as " and -”-.
var dittoPattern = lazyPattern(`^[-–—\s]*(?:["”“„″〃]|\'\'|,,|´´|\|\||//|II)[-–—\s]*$`)

// isDitto reports whether a cell says that it holds the same as the one above it.
func isDitto(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) < 16 && text != "" && (dittoWord.includes(strings.ToLower(text)) || dittoPattern().MatchString(text))
}
