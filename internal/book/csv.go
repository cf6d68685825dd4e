package book

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// longestRow bounds the memory that a single row may take, in bytes of the file.
// An opened quote that is never closed ends there and not at the end of the file.
const longestRow = 4 << 20

// errLongRow is returned when a row is longer than longestRow.
var errLongRow = errors.New("row too long")

// A lookbackReader reads ahead for a CSV reader and keeps what the reader has not finished
// with: the text of the current row, from which positions in characters are
// worked out.
type lookbackReader struct {
	r     io.Reader
	text  []byte // text[start:] has not been finished with
	start int
	base  int64    // the offset of text[start] in the input
	line  int      // the line of text[start], from 1
	last  textSpot // worked out last, as most are in order and a row may be long
	err   error    // the error that ended the input, if not its end
}

// A textSpot is a byte in the unfinished text, its line and column in characters, and
// where that line begins. That of line 0 is none.
type textSpot struct{ at, line, column, begin int }

// Read implements io.Reader.
func (t *lookbackReader) Read(p []byte) (int, error) {
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

// discard forgets the text before an offset in the input.
func (t *lookbackReader) discard(offset int64) {
	n := int(offset - t.base)
	t.line += bytes.Count(t.text[t.start:t.start+n], []byte{'\n'})
	t.start += n
	t.base = offset
	t.last = textSpot{}
}

// startSpot returns the spot that was worked out last if it suits, and else the first one.
func (t *lookbackReader) startSpot(suits bool) textSpot {
	if suits && t.last.line > 0 {
		return t.last
	}
	return textSpot{line: t.line, column: 1}
}

// textBefore returns the unfinished text before an offset in the input.
func (t *lookbackReader) textBefore(offset int64) []byte {
	return t.text[t.start : t.start+int(offset-t.base)]
}

// offsetOf returns where in the unfinished text a byte is, by its line in the file and
// its column in bytes, from 1.
func (t *lookbackReader) offsetOf(line, column int) int {
	from := t.startSpot(t.last.line <= line)
	text := t.text[t.start:]
	for ; from.line < line; from.line++ {
		next := bytes.IndexByte(text[from.begin:], '\n')
		if next < 0 {
			break
		}
		from.begin += next + 1
	}
	return min(from.begin+column-1, len(text))
}

// position returns the line and the column in characters of a byte in the
// unfinished text.
func (t *lookbackReader) position(at int) (line, column int) {
	to := t.startSpot(t.last.at <= at)
	between := t.text[t.start+to.at : t.start+at]
	if n := bytes.Count(between, []byte{'\n'}); n > 0 {
		between = between[bytes.LastIndexByte(between, '\n')+1:]
		to.line, to.column, to.begin = to.line+n, 1, at-len(between)
	}
	to.at, to.column = at, to.column+utf8.RuneCount(between)
	t.last = to
	return to.line, to.column
}

// csvRows are the rows of a CSV file.
type csvRows struct {
	file    string
	tap     *lookbackReader
	csv     *csv.Reader
	lines   int  // of the file before the text
	lossy   bool // the text was in another encoding than UTF-8
	row     []string
	started bool
}

// newCSVRows returns the rows of a text in UTF-8 that begins after the first
// lines of its file.
func newCSVRows(text io.Reader, file string, delimiter rune, lines int, lossy bool) *csvRows {
	c := &csvRows{file: file, tap: &lookbackReader{r: text, line: 1 + lines}, lossy: lossy}
	c.csv = newCSVReader(bufio.NewReaderSize(c.tap, 1<<16), delimiter)
	c.lines = lines
	return c
}

func newCSVReader(r io.Reader, delimiter rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma = delimiter
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	c.TrimLeadingSpace = delimiter != '\t' // it would take the next tab for space
	return c
}

func (c *csvRows) next() ([]string, error) {
	c.tap.discard(c.csv.InputOffset())
	row, err := c.csv.Read()
	c.row = row
	var parse *csv.ParseError
	switch {
	case c.tap.err == errLongRow:
		return nil, fatalError{c.errorIn(c.tap.line, 1, fmt.Sprintf("a row is longer than %d MiB", longestRow>>20), "look for a quote that is opened and never closed")}
	case c.tap.err != nil:
		return nil, fmt.Errorf("%s: %w", c.file, c.tap.err)
	case errors.As(err, &parse):
		return nil, c.quoteError(parse)
	case err != nil:
		return nil, err
	}
	text := c.tap.textBefore(c.csv.InputOffset())
	if at := invalidByte(text, c.lossy); at >= 0 {
		line, column := c.tap.position(at)
		if c.lossy {
			return nil, c.errorIn(line, column, "a character that its encoding does not have", "save the file as UTF-8, or say what it is with encoding, such as encoding: windows-1250")
		}
		return nil, c.errorIn(line, column, fmt.Sprintf("byte 0x%02x is not valid in UTF-8", text[at]), "save the file as UTF-8, or say what it is with encoding, such as encoding: windows-1252")
	}
	if !c.started {
		c.started = true
		for i, name := range row {
			if strings.Contains(name, "\r") {
				p := c.place(i)
				return nil, fatalError{c.errorIn(p.line, p.column, "a carriage return within the header", "end each line with LF, or with CR and LF")}
			}
		}
	}
	return row, nil
}

// invalidByte returns where a text has a byte that is not UTF-8 or, if it was in
// another encoding, the character that stands for what could not be read; −1 if
// there is none.
func invalidByte(text []byte, lossy bool) int {
	if lossy {
		return bytes.Index(text, []byte("\ufffd"))
	}
	if utf8.Valid(text) {
		return -1
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}

// quoteError says what is wrong with a quote.
func (c *csvRows) quoteError(parse *csv.ParseError) error {
	at := c.offsetOf(parse.Line, parse.Column)
	text := c.tap.text[c.tap.start:]
	message, hint := "a quote inside a field that is not in quotes", "put the whole field in quotes and write each quote inside it twice"
	if errors.Is(parse.Err, csv.ErrQuote) {
		message, hint = "text after the quote that ends the field", "write each quote inside a field twice"
		if at == len(text) {
			message, hint = "a quote is opened here and never closed", "close it, or write a quote that belongs to the text twice within quotes"
			at = openQuote(text)
		}
	}
	line, column := c.tap.position(at)
	e := c.errorIn(line, column, message, hint)
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

func (c *csvRows) place(field int) place {
	if field < len(c.row) {
		line, column := c.tap.position(c.offsetOf(c.csv.FieldPos(field)))
		return place{line: line, column: column}
	}
	text := c.tap.textBefore(c.csv.InputOffset())
	line, column := c.tap.position(len(bytes.TrimRight(text, "\r\n")))
	return place{line: line, column: column}
}

// offsetOf returns where in the unfinished text a byte is, by its line in the text and
// its column in bytes.
func (c *csvRows) offsetOf(line, column int) int { return c.tap.offsetOf(line+c.lines, column) }

func (c *csvRows) line(field int) int {
	line, _ := c.csv.FieldPos(field)
	return line + c.lines
}

func (c *csvRows) isNumber(int) bool { return false }

// errorIn is an error at a place in the file.
func (c *csvRows) errorIn(line, column int, message, hint string) *Error {
	return &Error{File: c.file, Line: line, Column: column, Message: message, Hint: hint}
}
