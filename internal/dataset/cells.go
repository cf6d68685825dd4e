package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// Cells holds the cells of the requested columns of a table.
type Cells struct {
	File string

	// Text holds the cells by row and requested column. A cell is empty also where the table has no
	// such column.
	Text [][]string

	// Notes are the reader's interpretations of what the table leaves open. Guessed is the layout
	// that settles those that may well be wrong.
	Notes   []Note
	Guessed Layout

	places [][]place
}

// ReadCells reads the named columns of a table. All of required must exist, and one of any unless
// it is empty. The file may be CSV or a workbook, as for [Read]. All of the layout except Columns
// applies. Columns of other names are left out, with a note. A fault in the file is an [*Error] or
// a [*inputerr.Errors].
func ReadCells(r io.Reader, file string, l Layout, required, any []string) (*Cells, error) {
	names := slices.Concat(required, any)
	t, err := newTable(r, file, l, DefaultUnits(), func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(NormalizeName(name), n) })
	})
	if err != nil {
		return nil, plainError(err)
	}
	columns := make([]int, len(names))
	some := len(any) == 0
	for k, name := range names {
		if columns[k], err = t.findUnique(name); err != nil {
			return nil, err
		}
		if columns[k] < 0 && k < len(required) {
			return nil, t.errorInHeader(0, "no column is called "+inputerr.Quote(name), "the table has the columns "+strings.Join(names, ", "))
		}
		some = some || k >= len(required) && columns[k] >= 0
	}
	if !some {
		return nil, t.errorInHeader(0, "no column is called "+strings.Join(any, " or "), "the table has the columns "+strings.Join(names, ", "))
	}
	for i, name := range t.header {
		if name != "" && !slices.Contains(columns, i) {
			t.addNote(t.places[i], "column "+inputerr.Quote(name)+" is left out", "")
		}
	}
	t.dropProfiles()
	c := &Cells{File: file}
	var faults faults
	err = t.readRows(&faults, func() {
		text, places := make([]string, len(columns)), make([]place, len(columns))
		for k, i := range columns {
			places[k] = t.place(max(i, 0))
			if i >= 0 {
				text[k] = strings.Clone(t.plainFigure(i, NormalizeName(t.row[i])))
			}
		}
		c.Text, c.places = append(c.Text, text), append(c.places, places)
	})
	if err != nil {
		return nil, err
	}
	if err := faults.join(); err != nil {
		return nil, err
	}
	c.Notes, c.Guessed = t.notes, t.settling
	return c, nil
}

// Number returns a cell as a number, and false if it is empty. If the cell is not a number, the
// error is an [*Error] with its position.
func (c *Cells) Number(row, column int) (v float64, ok bool, err error) {
	text := c.Text[row][column]
	if text == "" {
		return 0, false, nil
	}
	if v, ok = number(text); !ok {
		return 0, false, c.ErrorAt(row, column, fmt.Sprintf("%s is not a number", inputerr.Quote(text)), "write a number, or leave the cell empty")
	}
	return v, true, nil
}

// Line returns the line of a row.
func (c *Cells) Line(row int) int { return c.places[row][0].line }

// ErrorAt returns an error at a cell.
func (c *Cells) ErrorAt(row, column int, message, hint string) *Error {
	p := c.places[row][column]
	return &Error{File: c.File, Line: p.line, Column: p.column, Cell: p.cell, Message: message, Hint: hint}
}
