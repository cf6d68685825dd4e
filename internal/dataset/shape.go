package dataset

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// A Shape is how a reader interpreted the parts of a table, so that they can be displayed in place.
type Shape struct {
	// Sheet is the sheet that was read, for a workbook.
	Sheet string

	// Header is the line of the header, and Columns are the interpretations of its columns, by
	// field. For a transposed table they are its rows, and Lines are the rows' lines.
	Header  int
	Columns []Column
	Lines   []int

	// Named is the field of the ingredients' names in a transposed table.
	Named int

	// Left are the lines of the first rows below the header that were left out.
	Left []int
}

// maxLeftOut bounds the recorded rows that were left out.
const maxLeftOut = 1000

// noteLeftOut records that the row at a line is left out.
func (t *table) noteLeftOut(line int) {
	if len(t.leftOutLines) < maxLeftOut {
		t.leftOutLines = append(t.leftOutLines, line)
	}
}

// shapeOf returns the interpretation of a table's parts. before is the table as in the file if it
// was transposed, else nil.
func shapeOf(t *table, columns []Column, before *table) *Shape {
	s := &Shape{Sheet: t.sheet, Columns: columns, Left: t.leftOutLines}
	if t.summed > 0 {
		s.Left = append(s.Left, t.summed)
	}
	if before == nil {
		s.Header = t.places[0].line
		return s
	}
	s.Header, s.Named = before.places[0].line, before.firstNamed()
	for _, p := range t.places {
		s.Lines = append(s.Lines, p.line)
	}
	return s
}

// A Preview is the beginning of a table as it is in its file.
type Preview struct {
	Sheets []string // sheets of a workbook
	Sheet  string   // the previewed sheet
	Lines  []int    // lines of the rows
	Rows   [][]string
	More   bool // the table has more rows
}

// ReadPreview reads the first rows of a table without interpreting them. It cuts texts to so many
// bytes, at a character. It ends at a faulty row, which reading the table reports. Only a file that
// is not a table is an error.
func ReadPreview(r io.Reader, file string, l Layout, rows, columns, bytes int) (*Preview, error) {
	s, err := openSource(r, file, l, func(row []string) bool { return slices.ContainsFunc(row, isRecipeHeader) })
	if err != nil {
		return nil, plainError(err)
	}
	p := &Preview{Sheets: s.sheets, Sheet: s.sheet}
	for {
		row, err := s.rows.next()
		if err != nil {
			// Reading the whole table reports the fault.
			p.More = p.More || err != io.EOF && !errors.As(err, new(*Error))
			return p, nil
		}
		if isBlank(row) {
			continue
		}
		if len(p.Rows) == rows {
			p.More = true
			return p, nil
		}
		texts := make([]string, min(len(row), columns))
		for i := range texts {
			texts[i] = truncate(strings.TrimSpace(row[i]), bytes)
		}
		p.Rows, p.Lines = append(p.Rows, texts), append(p.Lines, s.rows.line(0))
	}
}

// truncate cuts a text to so many bytes and marks the cut.
func truncate(text string, most int) string {
	if len(text) <= most {
		return strings.Clone(text)
	}
	text = text[:most]
	for len(text) > 0 && text[len(text)-1]&0xC0 == 0x80 {
		text = text[:len(text)-1]
	}
	if n := len(text); n > 0 && text[n-1] >= 0xC0 {
		text = text[:n-1]
	}
	return strings.ToValidUTF8(text, "") + "…"
}
