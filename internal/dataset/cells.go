package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// Cells holds the texts of the requested columns of a table.
type Cells struct {
	File string

	// Text holds the cells, indexed by row and by requested column. A cell is empty if its column
	// does not exist in the table.
	Text [][]string

	// Notes are the reader's interpretations of what the table leaves open. Guessed is a layout
	// with those guesses that may well be wrong.
	Notes         []Note
	GuessedLayout Layout

	cellPlaces [][]tablefile.Place // by row and requested column: position of the cell
}

// ReadCells reads the named columns of a table. Every column in required must exist. At least one
// column in any must exist, unless any is empty. Columns of other names are left out, with a note.
// The file may be CSV or a workbook, as for [Read]. All fields of the layout except Columns apply.
// A fault in the file is an [*Error] or an [*inputerr.Errors].
func ReadCells(r io.Reader, file string, l Layout, required, any []string) (*Cells, error) {
	names := slices.Concat(required, any)
	t, err := newTable(r, file, l, measure.DefaultUnits(), func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(NormalizeName(name), n) })
	})
	if err != nil {
		return nil, unwrapFatal(err)
	}
	columns := make([]int, len(names))
	some := len(any) == 0
	for k, name := range names {
		if columns[k], err = t.findUniqueColumn(name); err != nil {
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
			t.addNote(t.headerPlaces[i], "column "+inputerr.Quote(name)+" is left out", "")
		}
	}
	t.dropProfiles()
	c := &Cells{File: file}
	var faults faults
	err = t.readRows(&faults, func() {
		text, places := make([]string, len(columns)), make([]tablefile.Place, len(columns))
		for k, i := range columns {
			places[k] = t.place(max(i, 0))
			if i >= 0 {
				text[k] = strings.Clone(t.plainCell(i, NormalizeName(t.row[i])))
			}
		}
		c.Text, c.cellPlaces = append(c.Text, text), append(c.cellPlaces, places)
	})
	if err != nil {
		return nil, err
	}
	if err := faults.join(); err != nil {
		return nil, err
	}
	c.Notes, c.GuessedLayout = t.notes, t.guessedLayout
	return c, nil
}

// Number returns the number in a cell. ok is false if the cell is empty. If the text is not a
// number, the error is an [*Error] with the position of the cell. column is an index into the
// requested columns.
func (c *Cells) Number(row, column int) (v float64, ok bool, err error) {
	text := c.Text[row][column]
	if text == "" {
		return 0, false, nil
	}
	if v, ok = measure.ParseNumber(text); !ok {
		return 0, false, c.ErrorAt(row, column, fmt.Sprintf("%s is not a number", inputerr.Quote(text)), "write a number, or leave the cell empty")
	}
	return v, true, nil
}

// Line returns the line in the file, counted from 1, of a row of Text.
func (c *Cells) Line(row int) int { return c.cellPlaces[row][0].Line }

// ErrorAt returns an error with the position of a cell. row and column are indices into Text.
func (c *Cells) ErrorAt(row, column int, message, hint string) *Error {
	p := c.cellPlaces[row][column]
	return &Error{File: c.File, Line: p.Line, Column: p.Column, Cell: p.Cell, Message: message, Hint: hint}
}
