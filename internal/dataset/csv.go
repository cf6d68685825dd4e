package dataset

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

// longestRow bounds the memory of a single row, in bytes of the file. A quote that is never closed
// ends there and not at the end of the file.
const longestRow = 4 << 20

// errLongRow is returned when a row is longer than longestRow.
var errLongRow = errors.New("row too long")

// A lookbackReader reads ahead for a CSV reader and keeps the text of the current row. Positions in
// characters are computed from that text.
type lookbackReader struct {
	r     io.Reader
	text  []byte // text[start:] is unfinished
	start int
	base  int64    // the offset of text[start] in the input
	line  int      // the line of text[start], from 1
	last  textSpot // the last computed spot: most requests are in order, and a row may be long
	err   error    // the error that ended the input, except io.EOF
}

// A textSpot is a byte in the unfinished text with its line, its column in characters, and the
// beginning of its line. Line 0 means no spot.
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

// discard drops the text before an offset in the input.
func (t *lookbackReader) discard(offset int64) {
	n := int(offset - t.base)
	t.line += bytes.Count(t.text[t.start:t.start+n], []byte{'\n'})
	t.start += n
	t.base = offset
	t.last = textSpot{}
}

// startSpot returns the last computed spot if suits is set, else the first one.
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

// offsetOf returns the position of a byte in the unfinished text, given its line in the file and
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
	file     string
	lookback *lookbackReader
	csv      *csv.Reader
	lines    int  // lines of the file before the text
	lossy    bool // the text was in another encoding than UTF-8
	row      []string
	started  bool
}

// newCSVRows returns the rows of a text in UTF-8 that begins after the first
// lines of its file.
func newCSVRows(text io.Reader, file string, delimiter rune, lines int, lossy bool) *csvRows {
	c := &csvRows{file: file, lookback: &lookbackReader{r: text, line: 1 + lines}, lossy: lossy}
	c.csv = newCSVReader(bufio.NewReaderSize(c.lookback, 1<<16), delimiter)
	c.lines = lines
	return c
}

func newCSVReader(r io.Reader, delimiter rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma = delimiter
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	c.TrimLeadingSpace = delimiter != '\t' // trimming would take the next tab for space
	return c
}

func (c *csvRows) next() ([]string, error) {
	c.lookback.discard(c.csv.InputOffset())
	row, err := c.csv.Read()
	c.row = row
	var parse *csv.ParseError
	switch {
	case c.lookback.err == errLongRow:
		return nil, fatalError{c.errorIn(c.lookback.line, 1, fmt.Sprintf("a row is longer than %d MiB", longestRow>>20), "look for a quote that is opened and never closed")}
	case c.lookback.err != nil:
		return nil, fmt.Errorf("%s: %w", c.file, c.lookback.err)
	case errors.As(err, &parse):
		return nil, c.quoteError(parse)
	case err != nil:
		return nil, err
	}
	text := c.lookback.textBefore(c.csv.InputOffset())
	if at := invalidByte(text, c.lossy); at >= 0 {
		line, column := c.lookback.position(at)
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

// invalidByte returns the position of the first byte that is not UTF-8. If the text had another
// encoding, it looks for the character that replaces unreadable ones. It returns −1 if there is
// none.
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

// quoteError describes the fault of a quote.
func (c *csvRows) quoteError(parse *csv.ParseError) error {
	at := c.offsetOf(parse.Line, parse.Column)
	text := c.lookback.text[c.lookback.start:]
	message, hint := "a quote inside a field that is not in quotes", "put the whole field in quotes and write each quote inside it twice"
	if errors.Is(parse.Err, csv.ErrQuote) {
		message, hint = "text after the quote that ends the field", "write each quote inside a field twice"
		if at == len(text) {
			message, hint = "a quote is opened here and never closed", "close it, or write a quote that belongs to the text twice within quotes"
			at = openQuote(text)
		}
	}
	line, column := c.lookback.position(at)
	e := c.errorIn(line, column, message, hint)
	e.Err = parse.Err
	return e
}

// openQuote returns the position of the quote that is still open at the end of the text.
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
		line, column := c.lookback.position(c.offsetOf(c.csv.FieldPos(field)))
		return place{line: line, column: column}
	}
	text := c.lookback.textBefore(c.csv.InputOffset())
	line, column := c.lookback.position(len(bytes.TrimRight(text, "\r\n")))
	return place{line: line, column: column}
}

// offsetOf returns the position of a byte in the unfinished text, given its line in the text and
// its column in bytes.
func (c *csvRows) offsetOf(line, column int) int { return c.lookback.offsetOf(line+c.lines, column) }

func (c *csvRows) line(field int) int {
	line, _ := c.csv.FieldPos(field)
	return line + c.lines
}

func (c *csvRows) isNumber(int) bool { return false }

// errorIn returns an error at a position in the file.
func (c *csvRows) errorIn(line, column int, message, hint string) *Error {
	return &Error{File: c.file, Line: line, Column: column, Message: message, Hint: hint}
}
