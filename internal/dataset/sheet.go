package dataset

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// mostSheetBytes bounds the file of a sheet.
const mostSheetBytes = 128 << 20

// A Sheet is a table of numbers whose rows begin with a name.
type Sheet struct {
	File    string
	Columns []string    // names in the header
	Rows    []string    // names at the beginnings of rows
	Values  [][]float64 // by row and column

	// Notes are the reader's interpretations of what the table leaves open.
	Notes []Note

	data []byte // the file, for positions
}

// ReadSheet reads a sheet from a table, which may be CSV or a workbook, as for [Read]. A fault in
// the file is an [*Error] or a [*inputerr.Errors].
func ReadSheet(r io.Reader, file string) (*Sheet, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostSheetBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > mostSheetBytes {
		return nil, &Error{File: file, Message: fmt.Sprintf("the file has more than %d bytes", mostSheetBytes), Hint: "is it the right one?"}
	}
	s := &Sheet{File: file, data: data}
	t, err := s.open()
	if err != nil {
		return nil, err
	}
	if len(t.header) < 2 {
		return nil, t.errorInHeader(0, "there are no columns of numbers", "the first column holds names, and numbers follow")
	}
	if k := slices.Index(t.header[1:], ""); k >= 0 {
		return nil, t.errorInHeader(k+1, fmt.Sprintf("column %d has no name", k+2), "name it, or remove it")
	}
	s.Columns = t.header[1:]
	seen := make(map[string]int)
	var faults faults
	err = t.readRows(&faults, func() {
		name := NormalizeName(t.row[0])
		first, twice := seen[name]
		switch {
		case name == "":
			faults.add(t.errorAt(0, "a row without a name", "name it, or remove it"))
		case twice:
			faults.add(t.errorAt(0, fmt.Sprintf("%s is there twice: first on line %d", inputerr.Quote(name), first), "remove one of the rows"))
		}
		seen[name] = t.rows.line(0)
		values := make([]float64, len(s.Columns))
		for k := range values {
			text, ok := NormalizeName(t.row[k+1]), false
			plain := text
			if t.profile[k+1].affix == "" { // 5 % may be 0.05, or 5
				plain = t.plainFigure(k+1, text)
			}
			if values[k], ok = number(plain); !ok {
				faults.add(t.errorAt(k+1, fmt.Sprintf("%s of %s is %s, not a finite number", inputerr.Quote(s.Columns[k]), inputerr.Quote(name), inputerr.Quote(text)), "write a number such as 0.05"))
			}
		}
		s.Rows, s.Values = append(s.Rows, strings.Clone(name)), append(s.Values, values)
	})
	if err != nil {
		return nil, err
	}
	if err := faults.join(); err != nil {
		return nil, err
	}
	if len(s.Rows) == 0 {
		return nil, t.errorInHeader(0, "there is no row below the header", "add one for each name")
	}
	s.Notes = t.notes
	return s, nil
}

// open opens the table, whose first column needs no name.
func (s *Sheet) open() (*table, error) {
	t, err := newTable(bytes.NewReader(s.data), s.File, Layout{}, DefaultUnits(), func(string) bool { return false })
	if err != nil {
		return nil, plainError(err)
	}
	t.unnamed = map[int]bool{0: true}
	t.dropProfiles()
	return t, nil
}

// ErrorIn returns an error at a cell. Columns are counted from 0 behind the names, whose column is
// −1. Row −1 is the header.
func (s *Sheet) ErrorIn(row, column int, format string, args ...any) *Error {
	bad := &Error{File: s.File, Message: fmt.Sprintf(format, args...)}
	t, err := s.open()
	if err != nil {
		return bad
	}
	if row < 0 {
		return t.errorInHeader(column+1, bad.Message, "")
	}
	for range row + 1 {
		if err := t.next(); err != nil {
			return bad
		}
	}
	return t.errorAt(column+1, bad.Message, "")
}

// Column returns the index of a column.
func (s *Sheet) Column(name string) (int, error) {
	at := slices.Index(s.Columns, name)
	if at < 0 {
		e := s.ErrorIn(-1, -1, "no column is called %s", inputerr.Quote(name))
		e.Hint = "there are " + inputerr.List(s.Columns, 8)
		return 0, e
	}
	return at, nil
}

// RowsOf returns the row of each of the problem's ingredients, which must be those of the sheet in
// any order.
func (s *Sheet) RowsOf(ingredients []string) ([]int, error) {
	return s.matchNames(ingredients, s.Rows, func(k int) (row, column int) { return k, -1 })
}

// ColumnsOf is [Sheet.RowsOf] for columns.
func (s *Sheet) ColumnsOf(ingredients []string) ([]int, error) {
	return s.matchNames(ingredients, s.Columns, func(k int) (row, column int) { return -1, k })
}

// matchNames returns the index in there of each wanted name. cell returns the position of the
// sheet's k-th name.
func (s *Sheet) matchNames(wanted, there []string, cell func(k int) (row, column int)) ([]int, error) {
	index := make(map[string]int, len(there))
	known := make(map[string]bool, len(wanted))
	for _, name := range wanted {
		known[name] = true
	}
	for k, name := range there {
		if !known[name] {
			row, column := cell(k)
			e := s.ErrorIn(row, column, "%s is not one of the problem's ingredients", inputerr.Quote(name))
			if e.Hint = inputerr.DidYouMean(name, wanted); e.Hint == "" {
				e.Hint = "remove it, or add it to the problem"
			}
			return nil, e
		}
		index[name] = k
	}
	at := make([]int, len(wanted))
	for k, name := range wanted {
		place, ok := index[name]
		if !ok {
			return nil, &Error{File: s.File, Message: inputerr.Quote(name) + " of the problem's ingredients is not there", Hint: "add it"}
		}
		at[k] = place
	}
	return at, nil
}
