// Package sheet writes tables for spreadsheets, as CSV and as .xlsx workbooks. No text in them runs
// as a formula.
package sheet

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/xuri/excelize/v2"

	"kir/internal/dataset"
)

// A Sheet is a table whose first row has the names of its columns. Cells are
// strings, whole numbers, float64, [Decimal], or nil for nothing.
type Sheet struct {
	Name string
	Rows [][]any
}

// A Decimal is a formatted number, such as 12.50.
type Decimal string

// Add appends a row.
func (s *Sheet) Add(cells ...any) { s.Rows = append(s.Rows, cells) }

// Safe returns a text as a cell of a CSV file. A text that begins like a formula gets an apostrophe
// in front, so that no spreadsheet runs it. [dataset.NormalizeName] removes the apostrophe again.
// Characters that act on a terminal are escaped by [Escaped].
func Safe(text string) string {
	if text = Escaped(text); dataset.IsFormula(text) || text != "" && strings.ContainsAny(text[:1], "\t\r\n") {
		return "'" + text
	}
	return text
}

// Escaped returns a text with the characters escaped that act on a terminal and are forbidden in
// workbooks. These are control characters except tabs and line ends, and characters that change the
// direction of text.
func Escaped(text string) string {
	acts := func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) || unicode.Is(unicode.Bidi_Control, r)
	}
	if !strings.ContainsFunc(text, acts) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if acts(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// CSV writes a sheet as CSV in UTF-8. Numbers have the fewest digits that identify them.
func CSV(w io.Writer, s *Sheet) error {
	out := csv.NewWriter(w)
	for _, row := range s.Rows {
		cells := make([]string, len(row))
		for k, cell := range row {
			switch v := cell.(type) {
			case nil:
			case string:
				cells[k] = Safe(v)
			case float64:
				cells[k] = strconv.FormatFloat(v, 'g', -1, 64)
			default:
				cells[k] = fmt.Sprint(v)
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// maxColumnWidth bounds the width of a column, in characters.
const maxColumnWidth = 40

// Workbook writes sheets as an .xlsx workbook with frozen first rows and columns. Texts are text
// cells, which never run.
func Workbook(w io.Writer, sheets ...*Sheet) (err error) {
	book := excelize.NewFile()
	defer func() {
		if closed := book.Close(); err == nil {
			err = closed
		}
	}()
	bold, err := book.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return err
	}
	for k, s := range sheets {
		if k == 0 {
			err = book.SetSheetName(book.GetSheetName(0), s.Name)
		} else {
			_, err = book.NewSheet(s.Name)
		}
		if err != nil {
			return err
		}
		if err := fill(book, s, bold); err != nil {
			return err
		}
	}
	_, err = book.WriteTo(w)
	return err
}

// fill writes the cells of a sheet of a workbook.
func fill(book *excelize.File, s *Sheet, bold int) error {
	out, err := book.NewStreamWriter(s.Name)
	if err != nil {
		return err
	}
	widths := make(map[int]int)
	for _, row := range s.Rows {
		for k, cell := range row {
			if text, ok := cell.(string); ok {
				widths[k+1] = max(widths[k+1], min(len([]rune(text)), maxColumnWidth))
			}
		}
	}
	for k, width := range widths {
		if err := out.SetColWidth(k, k, float64(width+2)); err != nil {
			return err
		}
	}
	if err := out.SetPanes(&excelize.Panes{Freeze: true, XSplit: 1, YSplit: 1, TopLeftCell: "B2", ActivePane: "bottomRight"}); err != nil {
		return err
	}
	for k, row := range s.Rows {
		cells := slices.Clone(row)
		for c, cell := range cells {
			switch v := cell.(type) {
			case string:
				cells[c] = Escaped(v)
			case Decimal:
				if cells[c], err = strconv.ParseFloat(string(v), 64); err != nil {
					return err
				}
			}
		}
		var style []excelize.RowOpts
		if k == 0 {
			style = append(style, excelize.RowOpts{StyleID: bold})
		}
		at, err := excelize.CoordinatesToCellName(1, k+1)
		if err != nil {
			return err
		}
		if err := out.SetRow(at, cells, style...); err != nil {
			return err
		}
	}
	return out.Flush()
}
