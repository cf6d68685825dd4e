package tablefile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"kir/internal/inputerr"
)

// MaxRowBytes is the maximum length of a row, in bytes of the file. It limits the memory of a row
// whose quote is never closed.
const MaxRowBytes = 4 << 20

// errLongRow says that a row is longer than maxRowBytes.
var errLongRow = errors.New("row too long")

// A lookbackReader passes a text to a CSV reader and keeps the text of the current row. It computes
// positions in characters, which the CSV reader gives in bytes.
type lookbackReader struct {
	input       io.Reader // the text to read
	buffer      []byte    // text read so far, from the current row on; the bytes before rowStart are not needed any more
	rowStart    int       // index in buffer of the first byte of the current row
	startOffset int64     // offset of the current row from the beginning of the input, in bytes
	startLine   int       // line of the file, from 1, on which the current row begins
	lastSpot    textSpot  // last position computed in the current row; most positions are requested in ascending order
	err         error     // the error that ended the input; nil for io.EOF
}

// A textSpot is the position of a byte in the current row. byteIndex counts bytes from the
// beginning of the row. line is the line of the file, and column counts characters in the line;
// both are from 1. lineBegin is the byte index at which the line begins. If line is 0, the spot is
// not set.
type textSpot struct{ byteIndex, line, column, lineBegin int }

// Read implements [io.Reader]. It returns errLongRow if the current row is longer than maxRowBytes.
func (t *lookbackReader) Read(p []byte) (int, error) {
	if t.rowStart > 0 {
		t.buffer = t.buffer[:copy(t.buffer, t.buffer[t.rowStart:])]
		t.rowStart = 0
	}
	if len(t.buffer) > MaxRowBytes {
		t.err = errLongRow
		return 0, t.err
	}
	n, err := t.input.Read(p)
	t.buffer = append(t.buffer, p[:n]...)
	if err != nil && err != io.EOF {
		t.err = err
	}
	return n, err
}

// discard drops the text before an offset from the beginning of the input, in bytes. The text at
// the offset is the beginning of the next row.
func (t *lookbackReader) discard(offset int64) {
	n := int(offset - t.startOffset)
	t.startLine += bytes.Count(t.buffer[t.rowStart:t.rowStart+n], []byte{'\n'})
	t.rowStart += n
	t.startOffset = offset
	t.lastSpot = textSpot{}
}

// startSpot returns the position from which a search begins: the last computed position if useLast
// is set and there is one, otherwise the beginning of the current row.
func (t *lookbackReader) startSpot(useLast bool) textSpot {
	if useLast && t.lastSpot.line > 0 {
		return t.lastSpot
	}
	return textSpot{line: t.startLine, column: 1}
}

// textBefore returns the text of the current row before an offset from the beginning of the input,
// in bytes.
func (t *lookbackReader) textBefore(offset int64) []byte {
	return t.buffer[t.rowStart : t.rowStart+int(offset-t.startOffset)]
}

// offsetOf returns the index of a byte from the beginning of the current row. line is the line of
// the byte in the file and column its column in bytes, both from 1.
func (t *lookbackReader) offsetOf(line, column int) int {
	from := t.startSpot(t.lastSpot.line <= line)
	text := t.buffer[t.rowStart:]
	for ; from.line < line; from.line++ {
		next := bytes.IndexByte(text[from.lineBegin:], '\n')
		if next < 0 {
			break
		}
		from.lineBegin += next + 1
	}
	return min(from.lineBegin+column-1, len(text))
}

// position returns the line in the file and the column in characters, both from 1, of a byte. at is
// the index of the byte from the beginning of the current row.
func (t *lookbackReader) position(at int) (line, column int) {
	to := t.startSpot(t.lastSpot.byteIndex <= at)
	between := t.buffer[t.rowStart+to.byteIndex : t.rowStart+at]
	if n := bytes.Count(between, []byte{'\n'}); n > 0 {
		between = between[bytes.LastIndexByte(between, '\n')+1:]
		to.line, to.column, to.lineBegin = to.line+n, 1, at-len(between)
	}
	to.byteIndex, to.column = at, to.column+utf8.RuneCount(between)
	t.lastSpot = to
	return to.line, to.column
}

// csvRows reads the rows of a CSV file. It implements [Rows].
type csvRows struct {
	file        string // name of the file, for messages
	lookback    *lookbackReader
	reader      *csv.Reader
	linesBefore int      // number of lines of the file before the text that reader reads
	transcoded  bool     // whether the text was decoded from another encoding than UTF-8
	row         []string // the current row
	headerRead  bool     // whether the first row has been read
}

// NewCSVRows returns the rows of a UTF-8 text that follows the first lines of its file. The
// parameter lines is the number of these lines. transcoded reports whether the text was decoded
// from another encoding.
func NewCSVRows(text io.Reader, file string, delimiter rune, lines int, transcoded bool) *csvRows {
	c := &csvRows{file: file, lookback: &lookbackReader{input: text, startLine: 1 + lines}, transcoded: transcoded}
	c.reader = newCSVReader(bufio.NewReaderSize(c.lookback, 1<<16), delimiter)
	c.linesBefore = lines
	return c
}

// newCSVReader returns a CSV reader that allows rows of different lengths and reuses the slice of a
// row.
func newCSVReader(r io.Reader, delimiter rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma = delimiter
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	c.TrimLeadingSpace = delimiter != '\t' // trimming would take the next tab for space
	return c
}

func (c *csvRows) Next() ([]string, error) {
	c.lookback.discard(c.reader.InputOffset())
	row, err := c.reader.Read()
	c.row = row
	var parse *csv.ParseError
	switch {
	case c.lookback.err == errLongRow:
		return nil, FatalError{c.errorAtPosition(c.lookback.startLine, 1, fmt.Sprintf("a row is longer than %d MiB", MaxRowBytes>>20), "look for a quote that is opened and never closed")}
	case c.lookback.err != nil:
		return nil, fmt.Errorf("%s: %w", c.file, c.lookback.err)
	case errors.As(err, &parse):
		return nil, c.quoteError(parse)
	case err != nil:
		return nil, err
	}
	text := c.lookback.textBefore(c.reader.InputOffset())
	if at := indexInvalidByte(text, c.transcoded); at >= 0 {
		line, column := c.lookback.position(at)
		if c.transcoded {
			return nil, c.encodingError(line, column, "a character that its encoding does not have")
		}
		return nil, c.encodingError(line, column, fmt.Sprintf("byte 0x%02x is not valid in UTF-8", text[at]))
	}
	if !c.headerRead {
		c.headerRead = true
		for i, name := range row {
			if strings.Contains(name, "\r") {
				p := c.Place(i)
				return nil, FatalError{c.errorAtPosition(p.Line, p.Column, "a carriage return within the header", "end each line with LF, or with CR and LF")}
			}
		}
	}
	return row, nil
}

// indexInvalidByte returns the index of the first byte that is not valid UTF-8, or −1. If
// transcoded is set, it returns the index of the first U+FFFD instead, which the decoder writes for
// an unreadable character.
func indexInvalidByte(text []byte, transcoded bool) int {
	if transcoded {
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

// quoteError turns an error of the CSV reader about a quote into an [*inputerr.Error] with the position and
// a hint.
func (c *csvRows) quoteError(parse *csv.ParseError) error {
	at := c.offsetOf(parse.Line, parse.Column)
	text := c.lookback.buffer[c.lookback.rowStart:]
	message, hint := "a quote inside a field that is not in quotes", "put the whole field in quotes and write each quote inside it twice"
	if errors.Is(parse.Err, csv.ErrQuote) {
		message, hint = "text after the quote that ends the field", "write each quote inside a field twice"
		if at == len(text) {
			message, hint = "a quote is opened here and never closed", "close it, or write a quote that belongs to the text twice within quotes"
			at = indexOpenQuote(text)
		}
	}
	line, column := c.lookback.position(at)
	e := c.errorAtPosition(line, column, message, hint)
	e.Err = parse.Err
	return e
}

// indexOpenQuote returns the index of the quote that is still open at the end of a text.
func indexOpenQuote(text []byte) int {
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

func (c *csvRows) Place(field int) Place {
	if field < len(c.row) {
		line, column := c.lookback.position(c.offsetOf(c.reader.FieldPos(field)))
		return Place{Line: line, Column: column}
	}
	text := c.lookback.textBefore(c.reader.InputOffset())
	line, column := c.lookback.position(len(bytes.TrimRight(text, "\r\n")))
	return Place{Line: line, Column: column}
}

// offsetOf returns the index of a byte from the beginning of the current row. line and column are
// those that the CSV reader gives: the line in the text and the column in bytes, both from 1.
func (c *csvRows) offsetOf(line, column int) int {
	return c.lookback.offsetOf(line+c.linesBefore, column)
}

func (c *csvRows) Line(field int) int {
	line, _ := c.reader.FieldPos(min(field, len(c.row)-1)) // a row may be shorter than the header
	return line + c.linesBefore
}

func (c *csvRows) IsNumber(int) bool { return false }

func (c *csvRows) IsFilled(int) bool { return false }

func (c *csvRows) ColumnsCovered(int) int { return 0 }

// ErrEncoding is the cause of an error about a text that its encoding does not have.
var ErrEncoding = errors.New("the text is in another encoding")

// encodingError returns an error about the encoding of the file, whose cause is ErrEncoding.
func (c *csvRows) encodingError(line, column int, message string) *inputerr.Error {
	e := c.errorAtPosition(line, column, message, "save the file as UTF-8, or say what encoding it has")
	e.Err = ErrEncoding
	return e
}

// errorAtPosition returns an error at a line and a column, in characters, of the file.
func (c *csvRows) errorAtPosition(line, column int, message, hint string) *inputerr.Error {
	return &inputerr.Error{File: c.file, Line: line, Column: column, Message: message, Hint: hint}
}
