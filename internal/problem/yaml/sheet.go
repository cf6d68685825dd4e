package yaml

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kir/internal/book"
	"kir/internal/fault"
)

// What is read of a sheet is bounded, in bytes and in columns.
const (
	maxSheetBytes = 128 << 20
	maxColumns    = 1 << 18
)

// A Sheet is a CSV file of numbers: a header, and rows that begin with a name.
type Sheet struct {
	File    string
	Columns []string    // names in the header
	Rows    []string    // names at the beginnings of rows
	Values  [][]float64 // by row and column

	data []byte // the file, for places
}

// ReadSheet reads the sheet that a node names. what is how messages call that
// name.
func (s *Files) ReadSheet(ctx context.Context, n *Node, what string) (*Sheet, error) {
	var t *Sheet
	err := s.Read(ctx, n, what, func(r io.Reader, path string) error {
		data, err := io.ReadAll(io.LimitReader(r, maxSheetBytes+1))
		if err != nil {
			return err
		}
		if len(data) > maxSheetBytes {
			return &fault.Error{File: path, Message: fmt.Sprintf("the file has more than %d bytes", maxSheetBytes), Hint: "is it the right one?"}
		}
		t, err = parseSheet(path, data)
		return err
	})
	return t, err
}

// parseSheet reads a sheet from the contents of a file.
func parseSheet(file string, data []byte) (*Sheet, error) {
	t := &Sheet{File: file, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	if !utf8.Valid(t.data) {
		at := 0
		for {
			r, size := utf8.DecodeRune(t.data[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		line := 1 + bytes.Count(t.data[:at], []byte{'\n'})
		e := t.ErrorAt(line, at-bytes.LastIndexByte(t.data[:at], '\n'), "byte 0x%02x is not valid in UTF-8", t.data[at])
		return nil, Hint(e, "save the file as UTF-8")
	}
	line := 0
	for text := range bytes.Lines(t.data) {
		line++
		if bytes.Count(text, []byte{','}) >= maxColumns {
			return nil, t.ErrorAt(line, 1, "the line has more than %d columns", maxColumns)
		}
	}
	r := t.reader()
	header, err := r.Read()
	if err == io.EOF {
		return nil, Hint(t.ErrorAt(1, 1, "the file is empty"), "it needs a header and a row for each name")
	} else if err != nil {
		return nil, t.readError(err)
	}
	if t.Columns, err = t.names(r, header); err != nil {
		return nil, err
	}
	t.Columns = t.Columns[1:]
	width := len(header)
	seen := make(map[string]int)
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, t.readError(err)
		}
		if len(row) != width {
			line, column := r.FieldPos(len(row) - 1)
			e := t.ErrorAt(line, column, "the row has %s and the header %s", fault.Count(len(row), "column"), fault.Count(width, "column"))
			return nil, Hint(e, "each row has a name and a number for each column")
		}
		name := book.Name(row[0])
		line, column := r.FieldPos(0)
		if name == "" {
			return nil, Hint(t.ErrorAt(line, column, "a row without a name"), "name it, or remove it")
		}
		if first, ok := seen[name]; ok {
			return nil, Hint(t.ErrorAt(line, column, "%s is there twice: first on line %d", fault.Quote(name), first), "remove one of the rows")
		}
		seen[name] = line
		values := make([]float64, width-1)
		for k, text := range row[1:] {
			v, ok := number64(text)
			if !ok {
				line, column := r.FieldPos(k + 1)
				e := t.ErrorAt(line, column, "%s of %s is %s, not a finite number", fault.Quote(t.Columns[k]), fault.Quote(name), fault.Quote(text))
				return nil, Hint(e, "write a number such as 0.05")
			}
			values[k] = v
		}
		t.Rows = append(t.Rows, strings.Clone(name))
		t.Values = append(t.Values, values)
	}
	if len(t.Rows) == 0 {
		return nil, Hint(t.ErrorAt(1, 1, "there is no row below the header"), "add one for each name")
	}
	return t, nil
}

func (t *Sheet) reader() *csv.Reader {
	r := csv.NewReader(bytes.NewReader(t.data))
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	r.TrimLeadingSpace = true
	return r
}

// names returns the names in the header, which differ and, but for the first,
// are not empty.
func (t *Sheet) names(r *csv.Reader, header []string) ([]string, error) {
	names := make([]string, len(header))
	seen := make(map[string]int)
	for k, text := range header {
		names[k] = strings.Clone(book.Name(text))
		if k == 0 {
			continue
		}
		line, column := r.FieldPos(k)
		if names[k] == "" {
			return nil, Hint(t.ErrorAt(line, column, "column %d has no name", k+1), "name it, or remove it")
		}
		if first, ok := seen[names[k]]; ok {
			return nil, Hint(t.ErrorAt(line, column, "two columns are called %s: numbers %d and %d", fault.Quote(names[k]), first+1, k+1), "remove one")
		}
		seen[names[k]] = k
	}
	if len(names) < 2 {
		return nil, Hint(t.ErrorAt(1, 1, "there are no columns of numbers"), "the first column holds names, and numbers follow")
	}
	return names, nil
}

// number64 reads a finite decimal number.
func number64(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false // among them hexadecimal, underscores, infinities
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// readError says what is wrong with the CSV.
func (t *Sheet) readError(err error) error {
	bad := (*csv.ParseError)(nil)
	if !errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", t.File, err)
	}
	e := t.ErrorAt(bad.Line, bad.Column, "this is not CSV that can be read: %v", bad.Err)
	e.Err = err
	return Hint(e, "put a field with a comma or a quote in quotes, and write each quote inside it twice")
}

// ErrorAt returns an error at a line and a column in bytes from 1.
func (t *Sheet) ErrorAt(line, column int, format string, args ...any) *fault.Error {
	text := t.data
	for range line - 1 {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	column = 1 + utf8.RuneCount(text[:min(max(column-1, 0), len(text))])
	return &fault.Error{File: t.File, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// ErrorIn returns an error in a cell: of a row, and of a column counted from 0
// behind the names, whose own is −1. Row −1 is the header.
func (t *Sheet) ErrorIn(row, column int, format string, args ...any) *fault.Error {
	r := t.reader()
	for range row + 2 {
		if _, err := r.Read(); err != nil {
			return &fault.Error{File: t.File, Message: fmt.Sprintf(format, args...)}
		}
	}
	line, at := r.FieldPos(column + 1)
	return t.ErrorAt(line, at, format, args...)
}

// Column returns the index of a column.
func (t *Sheet) Column(name string) (int, error) {
	at := slices.Index(t.Columns, name)
	if at < 0 {
		e := t.ErrorAt(1, 1, "no column is called %s", fault.Quote(name))
		return 0, Hint(e, "there are %s", fault.List(t.Columns, 8))
	}
	return at, nil
}

// RowsOf returns the row of each of the problem's ingredients, which must be
// those of the sheet in any order.
func (t *Sheet) RowsOf(ingredients []string) ([]int, error) {
	return t.match(ingredients, t.Rows, func(k int) (row, column int) { return k, -1 })
}

// ColumnsOf is [Sheet.RowsOf] for columns.
func (t *Sheet) ColumnsOf(ingredients []string) ([]int, error) {
	return t.match(ingredients, t.Columns, func(k int) (row, column int) { return -1, k })
}

// match returns, for each of the names wanted, its place among those there.
// cell says where a name of the sheet stands.
func (t *Sheet) match(wanted, there []string, cell func(k int) (row, column int)) ([]int, error) {
	index := make(map[string]int, len(there))
	known := make(map[string]bool, len(wanted))
	for _, name := range wanted {
		known[name] = true
	}
	for k, name := range there {
		if !known[name] {
			row, column := cell(k)
			e := t.ErrorIn(row, column, "%s is not one of the problem's ingredients", fault.Quote(name))
			if near := fault.DidYouMean(name, wanted); near != "" {
				return nil, Hint(e, "%s", near)
			}
			return nil, Hint(e, "remove it, or add it to the problem")
		}
		index[name] = k
	}
	at := make([]int, len(wanted))
	for k, name := range wanted {
		place, ok := index[name]
		if !ok {
			return nil, Hint(&fault.Error{File: t.File, Message: fmt.Sprintf("%s of the problem's ingredients is not there", fault.Quote(name))}, "add it")
		}
		at[k] = place
	}
	return at, nil
}
