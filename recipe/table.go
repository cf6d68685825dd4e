package recipe

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"kir/fault"
)

// longestRow bounds the memory that a single row may take, in bytes of the file.
// An opened quote that is never closed ends there and not at the end of the file.
const longestRow = 4 << 20

// errLongRow is returned when a row is longer than longestRow.
var errLongRow = errors.New("row too long")

// A tap reads ahead for a CSV reader and keeps what the reader has not finished
// with: the text of the current row, from which positions in characters are
// worked out.
type tap struct {
	r     io.Reader
	text  []byte // text[start:] has not been finished with
	start int
	base  int64 // the offset of text[start] in the input
	line  int   // the line of text[start], from 1
	err   error // the error that ended the input, if not its end
}

// Read implements io.Reader.
func (t *tap) Read(p []byte) (int, error) {
	if t.start > 0 {
		t.text = t.text[:copy(t.text, t.text[t.start:])]
		t.start = 0
	}
	if len(t.text) > longestRow {
		t.err = errLongRow
		return 0, t.err
	}
	n, err := t.r.Read(p)
	t.text = append(t.text, p[:n]...)
	if err != nil && err != io.EOF {
		t.err = err
	}
	return n, err
}

// finish forgets the text before an offset in the input.
func (t *tap) finish(offset int64) {
	n := int(offset - t.base)
	t.line += bytes.Count(t.text[t.start:t.start+n], []byte{'\n'})
	t.start += n
	t.base = offset
}

// until returns the unfinished text before an offset in the input.
func (t *tap) until(offset int64) []byte {
	return t.text[t.start : t.start+int(offset-t.base)]
}

// at returns where in the unfinished text a byte is, by its line in the file and
// its column in bytes, from 1.
func (t *tap) at(line, column int) int {
	i := t.start
	for l := t.line; l < line; l++ {
		next := bytes.IndexByte(t.text[i:], '\n')
		if next < 0 {
			break
		}
		i += next + 1
	}
	return min(i-t.start+column-1, len(t.text)-t.start)
}

// position returns the line and the column in characters of a byte in the
// unfinished text.
func (t *tap) position(at int) (line, column int) {
	before := t.text[t.start : t.start+at]
	line = t.line + bytes.Count(before, []byte{'\n'})
	column = utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return line, column
}

// A table is a CSV file whose first row names the columns.
type table struct {
	file   string
	tap    *tap
	csv    *csv.Reader
	header []string
	row    []string // the current row, as long as the header; valid until next
}

// newTable reads the header. Its names are not empty and differ from each other.
func newTable(r io.Reader, file string) (*table, error) {
	t := &table{file: file}
	start := make([]byte, 3)
	n, err := io.ReadFull(r, start)
	start = start[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return nil, t.errorIn(1, 1, "the file is in UTF-16", "save it as CSV in UTF-8")
	}
	start = bytes.TrimPrefix(start, []byte("\xef\xbb\xbf"))
	t.tap = &tap{r: io.MultiReader(bytes.NewReader(start), r), line: 1}
	t.csv = csv.NewReader(bufio.NewReaderSize(t.tap, 1<<16))
	t.csv.FieldsPerRecord = -1
	t.csv.ReuseRecord = true
	t.csv.TrimLeadingSpace = true

	switch err := t.next(); {
	case err == io.EOF:
		return nil, t.errorIn(1, 1, "the file is empty", "begin with a row that names the columns")
	case err != nil:
		return nil, err
	}
	if text := t.row[0]; len(t.row) == 1 && strings.ContainsAny(text, ";\t|") {
		return nil, t.errorAt(0, "the header is a single column "+fault.Quote(text), "separate columns by commas")
	}
	for i, text := range t.row {
		if strings.Contains(text, "\r") {
			return nil, t.errorAt(i, "a carriage return within the header", "end each line with LF, or with CR and LF")
		}
	}
	header := make([]string, len(t.row))
	seen := make(map[string]int)
	for i, text := range t.row {
		name := Name(text)
		if name == "" {
			return nil, t.errorAt(i, "column "+fmt.Sprint(i+1)+" has no name", "name it, or remove it from every row")
		}
		if first, ok := seen[name]; ok {
			return nil, t.errorAt(i, fmt.Sprintf("two columns are called %s: numbers %d and %d", fault.Quote(name), first+1, i+1), "remove one or give it another name")
		}
		seen[name] = i
		header[i] = name
	}
	t.header = header
	return t, nil
}

// find returns the column with one of the names that have a meaning, in
// whatever case, or -1.
func (t *table) find(name string) int {
	for i, other := range t.header {
		if strings.EqualFold(name, other) {
			return i
		}
	}
	return -1
}

// findOnly is find, and an error if a second column has the name in another case.
func (t *table) findOnly(name string) (int, error) {
	first := t.find(name)
	for i := first + 1; first >= 0 && i < len(t.header); i++ {
		if strings.EqualFold(name, t.header[i]) {
			return 0, t.errorAt(i, fmt.Sprintf("two columns are called %s: numbers %d and %d", fault.Quote(name), first+1, i+1), "remove one or give it another name")
		}
	}
	return first, nil
}

// next reads the next row. It returns io.EOF at the end of the file, an *Error
// for a row that is wrong, and another error if the file cannot be read.
func (t *table) next() error {
	t.tap.finish(t.csv.InputOffset())
	row, err := t.csv.Read()
	var parse *csv.ParseError
	switch {
	case t.tap.err == errLongRow:
		return t.errorIn(t.tap.line, 1, fmt.Sprintf("a row is longer than %d MiB", longestRow>>20), "look for a quote that is opened and never closed")
	case t.tap.err != nil:
		return fmt.Errorf("%s: %w", t.file, t.tap.err)
	case errors.As(err, &parse):
		return t.quoteError(parse)
	case err != nil:
		return err
	}
	text := t.tap.until(t.csv.InputOffset())
	if !utf8.Valid(text) {
		at := 0
		for {
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		line, column := t.tap.position(at)
		return t.errorIn(line, column, fmt.Sprintf("byte 0x%02x is not valid in UTF-8", text[at]), "save the file as UTF-8")
	}
	if t.header != nil && len(row) != len(t.header) {
		message := fmt.Sprintf("the row has %s and the header %s", fault.Count(len(row), "column"), fault.Count(len(t.header), "column"))
		if len(row) > len(t.header) {
			t.row = row
			return t.errorAt(len(t.header), message, "put text that has a comma in it in quotes, or remove what is too much")
		}
		line, column := t.tap.position(len(bytes.TrimRight(text, "\r\n")))
		return t.errorIn(line, column, message, "add "+fault.List(t.header[len(row):], 12)+", or a comma for each that is empty")
	}
	t.row = row
	return nil
}

// quoteError says what is wrong with a quote.
func (t *table) quoteError(parse *csv.ParseError) error {
	at := t.tap.at(parse.Line, parse.Column)
	text := t.tap.text[t.tap.start:]
	message, hint := "a quote inside a field that is not in quotes", "put the whole field in quotes and write each quote inside it twice"
	if errors.Is(parse.Err, csv.ErrQuote) {
		message, hint = "text after the quote that ends the field", "write each quote inside a field twice"
		if at == len(text) {
			message, hint = "a quote is opened here and never closed", "close it, or write a quote that belongs to the text twice within quotes"
			at = openQuote(text)
		}
	}
	line, column := t.tap.position(at)
	e := t.errorIn(line, column, message, hint)
	e.Err = parse.Err
	return e
}

// openQuote returns where the quote stands that is open at the end of the text.
func openQuote(text []byte) int {
	open, at := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '"':
		case !open:
			open, at = true, i
		case i+1 < len(text) && text[i+1] == '"':
			i++
		default:
			open = false
		}
	}
	return at
}

// position returns the line and the column in characters where a field of the
// current row begins.
func (t *table) position(field int) (line, column int) {
	return t.tap.position(t.tap.at(t.csv.FieldPos(field)))
}

// errorAt is an error in a field of the current row.
func (t *table) errorAt(field int, message, hint string) *Error {
	line, column := t.position(field)
	return t.errorIn(line, column, message, hint)
}

// errorIn is an error at a place in the file.
func (t *table) errorIn(line, column int, message, hint string) *Error {
	return &Error{File: t.file, Line: line, Column: column, Message: message, Hint: hint}
}

// readFile opens a file and reads it under its path. That there is no such file,
// that it may not be read and that it is a directory are [*Error]s.
func readFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	file, err := os.Open(path)
	if err != nil {
		e := &Error{File: path, Err: err, Message: "cannot be opened", Hint: err.Error()}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.Message, e.Hint = "no such file", ""
		case errors.Is(err, fs.ErrPermission):
			e.Message, e.Hint = "no permission to read it", ""
		}
		return none, e
	}
	defer file.Close() // read only: nothing can be lost by it
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return none, &Error{File: path, Message: "is a directory", Hint: "name a CSV file"}
	}
	return read(file)
}
