// Package sheet writes tables for spreadsheets, as CSV files and as .xlsx workbooks. A spreadsheet
// runs none of the texts as a formula.
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

// A Sheet is a table whose first row holds the names of the columns. A cell is a string, a whole
// number, a float64, a [Decimal], or nil if it is empty.
type Sheet struct {
	Name string  // name of the sheet in a workbook
	Rows [][]any // cells by row and column
}

// A Decimal is a number as formatted text, such as 12.50. A workbook stores it as a number.
type Decimal string

// AddRow appends a row of cells.
func (s *Sheet) AddRow(cells ...any) { s.Rows = append(s.Rows, cells) }

// SafeCell returns a text as a cell of a CSV file. If the text begins like a formula, SafeCell puts an
// apostrophe in front, so that no spreadsheet runs the text. [dataset.NormalizeName] removes the
// apostrophe again. SafeCell also escapes characters as [EscapeControls] does.
func SafeCell(text string) string {
	if text = EscapeControls(text); dataset.IsFormula(text) || text != "" && strings.ContainsAny(text[:1], "\t\r\n") {
		return "'" + text
	}
	return text
}

// EscapeControls returns a text in which some characters are escaped, as \x1b for example: control
// characters except tabs and line ends, and characters that change the direction of text. These
// characters act on a terminal or are forbidden in workbooks.
func EscapeControls(text string) string {
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

// WriteCSV writes a sheet as WriteCSV in UTF-8. It writes a float64 with the fewest digits that identify the
// number.
func WriteCSV(w io.Writer, s *Sheet) error {
	out := csv.NewWriter(w)
	for _, row := range s.Rows {
		cells := make([]string, len(row))
		for k, cell := range row {
			switch v := cell.(type) {
			case nil:
			case string:
				cells[k] = SafeCell(v)
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

// maxColumnWidth is the maximum width of a column in a workbook, in characters, without the margin.
const maxColumnWidth = 40

// WriteWorkbook writes sheets as an .xlsx workbook. The first row and the first column of each sheet are
// frozen. Strings are written as text cells, which never run as formulas.
func WriteWorkbook(w io.Writer, sheets ...*Sheet) (err error) {
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
		if err := writeCells(book, s, bold); err != nil {
			return err
		}
	}
	_, err = book.WriteTo(w)
	return err
}

// writeCells writes the cells of s to the sheet of the same name in a workbook. The parameter bold is the
// style of the first row.
func writeCells(book *excelize.File, s *Sheet, bold int) error {
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
				cells[c] = EscapeControls(v)
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
