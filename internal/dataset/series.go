package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A Series is a table of numbers over time. It has a row for each time and a column for each
// observed quantity.
type Series struct {
	File    string      // name of the file
	Columns []string    // names of the columns behind the first one
	Times   []string    // cells of the first column, one for each row
	Values  [][]float64 // numbers by row and by column of Columns; NaN where the cell is empty
	Percent bool        // whether the numbers have a percent sign in the file; then Values are divided by 100

	// Notes are the reader's interpretations of what the table leaves open. Guessed is a layout
	// with those guesses that may well be wrong.
	Notes         []Note
	GuessedLayout Layout

	cellPlaces   [][]tablefile.Place // positions of the cells by row and field, including the first column
	headerPlaces []tablefile.Place   // positions of the names of the columns, including the first column
}

// ReadSeries reads a series from CSV or a workbook, as [Read] does. The parameter columns lists
// names by which the header row can be recognised. A number may have a sign, or be in brackets if
// it is negative, and may have a percent sign or a currency. A fault in the file is an [*Error] or
// an [*inputerr.Errors].
func ReadSeries(r io.Reader, file string, l Layout, columns []string) (*Series, error) {
	t, err := newTable(r, file, l, measure.DefaultUnits(), func(name string) bool { return slices.Contains(columns, NormalizeName(name)) })
	if err != nil {
		return nil, unwrapFatal(err)
	}
	s := &Series{File: file}
	if len(t.header) < 2 {
		return nil, t.errorInHeader(0, "there is no column of numbers", "the first column holds dates, and a column for each asset follows")
	}
	for k, name := range t.header[1:] {
		if name == "" {
			return nil, t.errorInHeader(k+1, fmt.Sprintf("column %d has no name", k+2), "name it, or remove it")
		}
	}
	s.Columns, s.headerPlaces = slices.Clone(t.header[1:]), slices.Clone(t.headerPlaces)
	t.dropProfiles()
	var faults faults
	plain := (*Error)(nil) // the first number without a percent sign, if others have one
	err = t.readRows(&faults, func() {
		values, places := make([]float64, len(s.Columns)), make([]tablefile.Place, len(s.Columns)+1)
		places[0] = t.place(0)
		for k := range values {
			places[k+1] = t.place(k + 1)
			v, percent, ok := t.readSignedNumber(k + 1)
			if !ok {
				faults.add(t.errorAtField(k+1, fmt.Sprintf("%s is not a number", inputerr.Quote(NormalizeName(t.row[k+1]))), "write a number such as 0.05 or 5 %, or leave the cell empty"))
			}
			if values[k], s.Percent = v, s.Percent || percent; !percent && v != 0 && !math.IsNaN(v) && plain == nil {
				plain = t.errorAtField(k+1, fmt.Sprintf("%s has no percent sign, and other numbers have one", inputerr.Quote(NormalizeName(t.row[k+1]))), "write all of them with it, or none")
			}
		}
		s.Times = append(s.Times, strings.Clone(NormalizeName(t.row[0])))
		s.Values, s.cellPlaces = append(s.Values, values), append(s.cellPlaces, places)
	})
	if err != nil {
		return nil, err
	}
	if s.Percent && plain != nil {
		faults.add(plain)
	}
	if err := faults.join(); err != nil {
		return nil, err
	}
	s.Notes, s.GuessedLayout = t.notes, t.guessedLayout
	return s, nil
}

// readSignedNumber parses the number in a field of the current row. An empty field is NaN. percent
// reports that the number had a percent sign and was divided by 100. ok is false if the text is not
// a number.
func (t *table) readSignedNumber(field int) (v float64, percent, ok bool) {
	text := strings.ReplaceAll(NormalizeName(t.row[field]), "−", "-")
	if text == "" || isDash(text) || isUnknownMark(text) || strings.EqualFold(text, "null") {
		return math.NaN(), false, true
	}
	sign := 1.0
	if inner, ok := strings.CutPrefix(text, "("); ok {
		// Accountants put negative numbers in brackets, the percent sign within or behind.
		if a, b, closed := strings.Cut(inner, ")"); closed {
			text, sign = a+strings.TrimSpace(b), -1
		}
	}
	if rest, ok := strings.CutPrefix(text, "-"); ok && sign > 0 {
		text, sign = strings.TrimSpace(rest), -1
	}
	n, affix := parseAffixedNumber(text)
	v, ok = measure.ParseNumber(n.PlainForm(t.decimalOf(field)))
	if percent = affix == "%"; percent {
		v /= 100
	}
	return float64(sign * v), percent, ok
}

// ErrorAt returns an error with the position of a cell. row and column are indices into Values.
// Column −1 is the column of the times, and row −1 is the header.
func (s *Series) ErrorAt(row, column int, message, hint string) *Error {
	p := s.headerPlaces[column+1]
	if row >= 0 {
		p = s.cellPlaces[row][column+1]
	}
	return &Error{File: s.File, Line: p.Line, Column: p.Column, Cell: p.Cell, Message: message, Hint: hint}
}
