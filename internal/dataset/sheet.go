package dataset

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// maxSheetFileBytes is the maximum size of a file that ReadSheet reads.
const maxSheetFileBytes = 128 << 20

// A Sheet is a table of numbers with a name for each row and each column.
type Sheet struct {
	File    string      // name of the file
	Columns []string    // names of the columns of numbers, from the header
	Rows    []string    // names of the rows, from the first column
	Values  [][]float64 // numbers by row and column

	// Notes are the reader's interpretations of what the table leaves open.
	Notes []Note

	fileContent []byte // content of the file, which is read again to find the position of an error
}

// ReadSheet reads a sheet from CSV or a workbook, as for [Read]. The parameter file is the name of
// the file in messages. A fault in the file is an [*Error] or an [*inputerr.Errors].
func ReadSheet(r io.Reader, file string) (*Sheet, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSheetFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSheetFileBytes {
		return nil, &Error{File: file, Message: fmt.Sprintf("the file has more than %d bytes", maxSheetFileBytes), Hint: "is it the right one?"}
	}
	s := &Sheet{File: file, fileContent: data}
	t, err := s.openTable()
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
			faults.add(t.errorAtField(0, "a row without a name", "name it, or remove it"))
		case twice:
			faults.add(t.errorAtField(0, fmt.Sprintf("%s is there twice: first on line %d", inputerr.Quote(name), first), "remove one of the rows"))
		}
		seen[name] = t.rows.Line(0)
		values := make([]float64, len(s.Columns))
		for k := range values {
			text, ok := NormalizeName(t.row[k+1]), false
			plain := text
			if t.profiles[k+1].firstAffix == "" { // 5 % may be 0.05, or 5
				plain = t.plainCell(k+1, text)
			}
			if values[k], ok = measure.ParseNumber(plain); !ok {
				faults.add(t.errorAtField(k+1, fmt.Sprintf("%s of %s is %s, not a finite number", inputerr.Quote(s.Columns[k]), inputerr.Quote(name), inputerr.Quote(text)), "write a number such as 0.05"))
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

// openTable reads the header of the table from the content of the file. The first column needs no
// name.
func (s *Sheet) openTable() (*table, error) {
	t, err := newTable(bytes.NewReader(s.fileContent), s.File, Layout{}, measure.DefaultUnits(), func(string) bool { return false })
	if err != nil {
		return nil, unwrapFatal(err)
	}
	t.reportedUnnamed = map[int]bool{0: true}
	t.dropProfiles()
	return t, nil
}

// ErrorAt returns an error with the position of a cell. row and column are indices into Values.
// Column −1 is the column of the names, and row −1 is the header.
func (s *Sheet) ErrorAt(row, column int, format string, args ...any) *Error {
	bad := &Error{File: s.File, Message: fmt.Sprintf(format, args...)}
	t, err := s.openTable()
	if err != nil {
		return bad
	}
	if row < 0 {
		return t.errorInHeader(column+1, bad.Message, "")
	}
	for range row + 1 {
		if err := t.nextRow(); err != nil {
			return bad
		}
	}
	return t.errorAtField(column+1, bad.Message, "")
}

// Column returns the index in Columns of the column with a given name. It returns an error that
// lists the columns if there is none.
func (s *Sheet) Column(name string) (int, error) {
	at := slices.Index(s.Columns, name)
	if at < 0 {
		e := s.ErrorAt(-1, -1, "no column is called %s", inputerr.Quote(name))
		e.Hint = "there are " + inputerr.List(s.Columns, 8)
		return 0, e
	}
	return at, nil
}

// RowsOf returns the index in Rows of each ingredient. The rows must be named after exactly these
// ingredients, in any order; otherwise RowsOf returns an error.
func (s *Sheet) RowsOf(ingredients []string) ([]int, error) {
	return s.matchNames(ingredients, s.Rows, func(k int) (row, column int) { return k, -1 })
}

// ColumnsOf returns the index in Columns of each ingredient. The columns must be named after
// exactly these ingredients, in any order; otherwise ColumnsOf returns an error.
func (s *Sheet) ColumnsOf(ingredients []string) ([]int, error) {
	return s.matchNames(ingredients, s.Columns, func(k int) (row, column int) { return -1, k })
}

// matchNames returns, for each wanted name, the index of this name in names. It returns an error if
// the two lists do not have the same elements. cell returns the position of the k-th of names in
// the sheet.
func (s *Sheet) matchNames(wanted, names []string, cell func(k int) (row, column int)) ([]int, error) {
	index := make(map[string]int, len(names))
	known := make(map[string]bool, len(wanted))
	for _, name := range wanted {
		known[name] = true
	}
	for k, name := range names {
		if !known[name] {
			row, column := cell(k)
			e := s.ErrorAt(row, column, "%s is not one of the problem's ingredients", inputerr.Quote(name))
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
