package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// A Series is a table of numbers over time: a row for each time, and a column for each observed
// quantity.
type Series struct {
	File    string
	Columns []string    // names, without the first column's
	Times   []string    // the first column's cells
	Values  [][]float64 // by time and column; NaN where a cell is empty
	Percent bool        // the numbers have a percent sign and were divided by 100

	// Notes are the reader's interpretations of what the table leaves open. Guessed is the layout
	// that settles those that may well be wrong.
	Notes   []Note
	Guessed Layout

	rows [][]place
	head []place
}

// ReadSeries reads a series, from CSV or a workbook as [Read] does. columns are names that a header
// is likely to have. Numbers may have a sign, brackets around negative ones, and a percent sign or
// a currency. A fault in the file is an [*Error] or a [*inputerr.Errors].
func ReadSeries(r io.Reader, file string, l Layout, columns []string) (*Series, error) {
	t, err := newTable(r, file, l, DefaultUnits(), func(name string) bool { return slices.Contains(columns, NormalizeName(name)) })
	if err != nil {
		return nil, plainError(err)
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
	s.Columns, s.head = slices.Clone(t.header[1:]), slices.Clone(t.places)
	t.dropProfiles()
	var faults faults
	plain := (*Error)(nil) // the first number without a percent sign, if others have one
	err = t.readRows(&faults, func() {
		values, places := make([]float64, len(s.Columns)), make([]place, len(s.Columns)+1)
		places[0] = t.place(0)
		for k := range values {
			places[k+1] = t.place(k + 1)
			v, percent, ok := t.readSigned(k + 1)
			if !ok {
				faults.add(t.errorAt(k+1, fmt.Sprintf("%s is not a number", inputerr.Quote(NormalizeName(t.row[k+1]))), "write a number such as 0.05 or 5 %, or leave the cell empty"))
			}
			if values[k], s.Percent = v, s.Percent || percent; !percent && v != 0 && !math.IsNaN(v) && plain == nil {
				plain = t.errorAt(k+1, fmt.Sprintf("%s has no percent sign, and other numbers have one", inputerr.Quote(NormalizeName(t.row[k+1]))), "write all of them with it, or none")
			}
		}
		s.Times = append(s.Times, strings.Clone(NormalizeName(t.row[0])))
		s.Values, s.rows = append(s.Values, values), append(s.rows, places)
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
	s.Notes, s.Guessed = t.notes, t.settling
	return s, nil
}

// readSigned parses a field of the current row as a number: NaN if it is empty.
func (t *table) readSigned(field int) (v float64, percent, ok bool) {
	text := strings.ReplaceAll(NormalizeName(t.row[field]), "−", "-")
	if text == "" || isDash(text) || isUnknown(text) || strings.EqualFold(text, "null") {
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
	n, affix := parseFigure(text)
	v, ok = number(n.plainForm(t.decimalOf(field)))
	if percent = affix == "%"; percent {
		v /= 100
	}
	return float64(sign * v), percent, ok
}

// ErrorAt returns an error at a cell. Columns are counted from 0 behind the times, whose column is
// −1. Row −1 is the header.
func (s *Series) ErrorAt(row, column int, message, hint string) *Error {
	p := s.head[column+1]
	if row >= 0 {
		p = s.rows[row][column+1]
	}
	return &Error{File: s.File, Line: p.line, Column: p.column, Cell: p.cell, Message: message, Hint: hint}
}
