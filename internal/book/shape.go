package book

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// A Shape is what a reader took the parts of a table to be, so that they can be shown
// where they stand.
type Shape struct {
	// Sheet is the sheet of a workbook that was read.
	Sheet string

	// Header is the line of the header, and Columns are what its columns were taken for,
	// by field. Of a turned table they are its rows, and Lines where each stands.
	Header  int
	Columns []Column
	Lines   []int

	// Named is the field of the ingredients' names in a turned table.
	Named int

	// Left are the lines of rows that were left out below the header, the first of them.
	Left []int
}

// maxLeftOut is how many rows that were left out are kept in mind.
const maxLeftOut = 1000

// noteLeftOut keeps in mind that the row at a line is left out.
func (t *table) noteLeftOut(line int) {
	if len(t.left) < maxLeftOut {
		t.left = append(t.left, line)
	}
}

// shapeOf returns what the parts of a table were taken to be. before is the table as it
// stood in the file if it was turned, else nil.
func shapeOf(t *table, columns []Column, before *table) *Shape {
	s := &Shape{Sheet: t.sheet, Columns: columns, Left: t.left}
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

// A Preview is the beginning of a table as it stands in its file.
type Preview struct {
	Sheets []string // of a workbook
	Sheet  string   // the one that is looked at
	Lines  []int    // of the rows
	Rows   [][]string
	More   bool // the table goes on
}

// ReadPreview looks at the first rows of a table without asking what they mean. Texts are cut
// to so many bytes, as characters permit. What is wrong in a row ends the look, and
// reading the table reports it; only a file that is no table is an error.
func ReadPreview(r io.Reader, file string, l Layout, rows, columns, bytes int) (*Preview, error) {
	s, err := openSource(r, file, l, DefaultUnits(), func(row []string) bool { return slices.ContainsFunc(row, isRecipeHeader) })
	if err != nil {
		return nil, plainError(err)
	}
	p := &Preview{Sheets: s.sheets, Sheet: s.sheet}
	for {
		row, err := s.rows.next()
		if err != nil {
			// Whoever reads all of the table reports what is wrong.
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

// truncate shortens a text to so many bytes, and marks that.
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
