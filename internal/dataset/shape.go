package dataset

import (
	"errors"
	"io"
	"slices"
	"strings"

	"kir/internal/tablefile"
)

// A Shape says how the reader interpreted the parts of a table, so that a program can display the
// interpretation in the table.
type Shape struct {
	// Sheet is the name of the sheet that was read. It is empty if the file is not a workbook.
	Sheet string

	// HeaderLine is the line of the header, from 1.
	HeaderLine int

	// Columns are the interpretations of the columns, by index. In a transposed table they are the
	// interpretations of the rows.
	Columns []Column

	// RowLines are the lines of the rows that Columns interprets, if the table is transposed.
	RowLines []int

	// NameColumn is the index of the column that names the ingredients, if the table is transposed.
	NameColumn int

	// LeftOut are the rows below the header that were left out, at most about 1000.
	LeftOut []LeftOutRow
}

// A LeftOutRow is a row that is no part of a recipe.
type LeftOutRow struct {
	Line int    // line in the file, from 1
	Why  string // what it is instead, such as: a heading or a remark
}

// LeftOutAt returns why the row at a line was left out. ok is false if it was not.
func (s *Shape) LeftOutAt(line int) (why string, ok bool) {
	i := slices.IndexFunc(s.LeftOut, func(r LeftOutRow) bool { return r.Line == line })
	if i < 0 {
		return "", false
	}
	return s.LeftOut[i].Why, true
}

// Reasons why rows are left out.
const (
	outByLayout  = "left out by you"
	outAsHeading = "a heading or a remark"
	outAsHeader  = "the header again"
	outAsEmpty   = "a row without amounts"
	outAsSum     = "the sum of a recipe"
)

// maxLeftOut is the maximum number of left-out rows whose lines are recorded.
const maxLeftOut = 1000

// noteLeftOut records that the row at a line of the file is left out, and why.
func (t *table) noteLeftOut(line int, why string) {
	if len(t.leftOut) < maxLeftOut {
		t.leftOut = append(t.leftOut, LeftOutRow{line, why})
	}
}

// shapeOf returns the shape of a table. If the table was transposed, before is the table as in the
// file; otherwise before is nil.
func shapeOf(t *table, columns []Column, before *table) *Shape {
	s := &Shape{Sheet: t.sheet, Columns: slices.Clone(columns), LeftOut: t.leftOut}
	for i := range s.Columns {
		if s.Columns[i].Role == LabelColumn && t.sumLabels[s.Columns[i].Name] {
			s.Columns[i].Role = IgnoredColumn
		}
	}
	if t.totalRowLine > 0 {
		s.LeftOut = append(s.LeftOut, LeftOutRow{t.totalRowLine, t.totalRowKind})
	}
	if before == nil {
		s.HeaderLine = t.headerPlaces[0].Line
		return s
	}
	s.HeaderLine, s.NameColumn = before.headerPlaces[0].Line, before.firstNamedColumn()
	for _, p := range t.headerPlaces {
		s.RowLines = append(s.RowLines, p.Line)
	}
	return s
}

// A Preview is the beginning of a table as the file has it, without any interpretation.
type Preview struct {
	SheetNames  []string   // names of the sheets of a workbook
	Sheet       string     // name of the sheet that is previewed
	RowLines    []int      // line of each row in the file, from 1
	Rows        [][]string // texts of the cells, by row and field
	HasMoreRows bool       // whether the table has more rows
}

// ReadPreview reads the first rows of a table without interpreting them. The parameters rows,
// columns and bytes are the maximum numbers of rows, of cells in a row, and of bytes in a cell. A
// longer cell is cut at a character. The preview ends before a faulty row, which reading the whole
// table reports. It returns an error only if the file is not a table.
func ReadPreview(r io.Reader, file string, l Layout, rows, columns, bytes int) (*Preview, error) {
	s, err := openSource(r, file, l, weightOf)
	if err != nil {
		return nil, unwrapFatal(err)
	}
	p := &Preview{SheetNames: s.sheets, Sheet: s.sheet}
	for {
		row, err := s.rows.Next()
		if err != nil {
			// Reading the whole table reports the fault.
			p.HasMoreRows = p.HasMoreRows || err != io.EOF && !errors.As(err, new(*Error))
			return p, nil
		}
		if tablefile.IsBlank(row) {
			continue
		}
		if len(p.Rows) == rows {
			p.HasMoreRows = true
			return p, nil
		}
		texts := make([]string, min(len(row), columns))
		for i := range texts {
			texts[i] = tablefile.Truncate(strings.TrimSpace(row[i]), bytes)
		}
		p.Rows, p.RowLines = append(p.Rows, texts), append(p.RowLines, s.rows.Line(0))
	}
}
