package tablefile

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/xuri/excelize/v2"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// Limits on a workbook, in addition to the limits on its parts in archive.go.
const (
	maxWorkbookBytes = 32 << 20 // maximum size of the file
	MaxCells         = 1 << 22  // maximum number of cells in a sheet, including empty cells between others
	MaxSheets        = 1000     // maximum number of sheets
	maxFormulaMisses = 2000     // maximum number of cells that are checked for a formula and have none
)

// A Sheet is one sheet of a workbook. It stores the rows up to the last row with text.
type Sheet struct {
	Name        string            // name of the sheet
	Cells       [][]string        // texts by row and field, from 0
	NumberCells map[[2]int]bool   // set of the {row, field} of cells that are numbers
	BrokenCells []*inputerr.Error // errors of cells whose formula has no result, at most maxBrokenCells

	FilledCells    map[[2]int]bool // set of the {row, field} of cells that repeat a merged cell above
	CoveredColumns map[[2]int]int  // by {row, field} of a merged cell: number of columns that it covers
}

// placeOf returns the position of a cell, given its row and field from 0.
func (s *Sheet) placeOf(row, field int) Place {
	return Place{Line: row + 1, Column: field + 1, Cell: cellName(s.Name, row, field)}
}

// Rows returns the rows of the sheet, beginning with the first row.
func (s *Sheet) Rows() Rows {
	return &MemoryRows{Cells: s.Cells, PlaceOf: s.placeOf, NumberCells: s.NumberCells, FilledCells: s.FilledCells, coveredColumns: s.CoveredColumns}
}

// cellName returns the address of a cell as spreadsheets write it, such as Drinks!C4. row and field
// count from 0.
func cellName(sheet string, row, field int) string {
	column := ""
	for n := field + 1; n > 0; n = (n - 1) / 26 {
		column = string(rune('A'+(n-1)%26)) + column
	}
	if strings.ContainsFunc(sheet, func(r rune) bool { return r < '0' || r == '\'' || r > '9' && r < 'A' || r == 0x7f }) {
		quoted := strconv.Quote(sheet)
		sheet = "'" + strings.ReplaceAll(quoted[1:len(quoted)-1], "'", "''") + "'"
	}
	return sheet + "!" + column + strconv.Itoa(row+1)
}

// A Workbook is an opened file with sheets, in the format .xlsx or OpenDocument.
type Workbook struct {
	Ctx            context.Context                   // reading stops when ctx ends
	File           string                            // name of the file, for messages
	Names          []string                          // names of the sheets, in order
	ReadNamedSheet func(name string) (*Sheet, error) // reads the sheet with a given name
}

// An officeBook is an opened .xlsx file.
type officeBook struct {
	*Workbook
	book               *excelize.File  // the file as the library reads it
	unresolvedFormulas map[[2]int]bool // set of positions {row, field}, from 0, at which some sheet has a formula without a result
	formulaMissCount   int             // number of positions in unresolvedFormulas at which a sheet that was read has no formula

	mergedRanges map[string][]MergedRange // by name of the sheet: its merged cells
}

// OpenWorkbook reads and opens a workbook, and determines whether it is an .xlsx or an OpenDocument
// file. A fault in the file is an [*inputerr.Error]. The parameter file is the name of the file in messages.
func OpenWorkbook(ctx context.Context, r io.Reader, file string) (w *Workbook, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxWorkbookBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	bad := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &inputerr.Error{File: file, Message: "this workbook cannot be read: " + strings.ToValidUTF8(err.Error(), "\uFFFD"), Hint: "save it anew as .xlsx, or as CSV", Err: err}
	}
	if len(data) > maxWorkbookBytes {
		return nil, &inputerr.Error{File: file, Message: fmt.Sprintf("the workbook has more than %d MiB", maxWorkbookBytes>>20), Hint: "save the sheet as CSV"}
	}
	w = &Workbook{Ctx: ctx, File: file}
	content := data // for a flat file
	if archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
		if !isOpenDocument(archive) {
			if err := w.openOffice(data, bad); err != nil {
				return nil, err
			}
			return w, nil
		}
		if content, err = openDocument(archive); err != nil {
			return nil, bad(err)
		}
	} else if !IsFlatDocument(data) {
		return nil, bad(err)
	}
	if err := w.readDocument(content); err != nil {
		return nil, bad(err)
	}
	return w, nil
}

// openOffice opens an .xlsx file, given its content. bad turns a failure of the library into an
// error about the file.
func (w *Workbook) openOffice(data []byte, bad func(error) error) (err error) {
	checked, err := checkArchive(w.Ctx, data)
	if err != nil {
		return bad(err)
	}
	defer recoverError(&err, bad)
	// All parts are kept in memory, never in temporary files: they are bounded.
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{UnzipSizeLimit: maxUnpackedBytes, UnzipXMLSizeLimit: maxUnpackedBytes})
	if err != nil {
		return bad(err)
	}
	o := &officeBook{Workbook: w, book: book, unresolvedFormulas: checked.unresolvedFormulas, mergedRanges: checked.mergedRanges}
	w.Names, w.ReadNamedSheet = book.GetSheetList(), o.readSheet
	return nil
}

// recoverError recovers from a panic and sets *err to an error about the file. The library expects
// files that spreadsheets write, and may panic on other files. recoverError must be called by
// defer.
func recoverError(err *error, bad func(error) error) {
	if p := recover(); p != nil {
		*err = bad(fmt.Errorf("it is not put together as workbooks are: %v", p))
	}
}

// Errorf returns an error about the workbook as a whole, with a hint and a formatted message.
func (w *Workbook) Errorf(hint, format string, args ...any) *inputerr.Error {
	return &inputerr.Error{File: w.File, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// readSheet reads a sheet. Each cell becomes the number or the text that the file stores for it.
// The number format only determines whether a number is a percentage or a date, or has a unit.
func (w *officeBook) readSheet(name string) (s *Sheet, err error) {
	bad := func(err error) error {
		if w.Ctx.Err() != nil {
			return w.Ctx.Err()
		}
		e := w.Errorf("save the workbook anew as .xlsx, or as CSV", "sheet %s cannot be read: %s", inputerr.Quote(name), strings.ToValidUTF8(err.Error(), "\uFFFD"))
		e.Err = err
		return e
	}
	defer recoverError(&err, bad)
	held, err := w.book.Rows(name)
	if err != nil {
		return nil, bad(err)
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	shown, err := w.book.Rows(name)
	if err != nil {
		return nil, bad(err)
	}
	defer func() { err = errors.Join(err, shown.Close()) }()
	s = &Sheet{Name: name, NumberCells: make(map[[2]int]bool)}
	cells, text := 0, 0
	for row := 0; held.Next() && shown.Next(); row++ {
		if err := browsersched.Err(w.Ctx); err != nil {
			return nil, err
		}
		values, err := held.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return nil, bad(err)
		}
		texts, err := shown.Columns()
		if err != nil {
			return nil, bad(err)
		}
		if cells += 1 + len(values); cells > MaxCells {
			return nil, w.Errorf("remove what is far from the table, or save the sheet as CSV", "sheet %s has more than %d cells", inputerr.Quote(name), MaxCells)
		}
		for _, value := range values {
			text += len(value)
		}
		if text > maxSheetTextBytes {
			return nil, w.Errorf("remove what is far from the table, or save the sheet as CSV", "the cells of sheet %s have more than %d MiB of text", inputerr.Quote(name), maxSheetTextBytes>>20)
		}
		s.Cells = append(s.Cells, values)
		for field := range values {
			text := ""
			if field < len(texts) {
				text = texts[field]
			}
			open := w.unresolvedFormulas[[2]int{row, field}]
			if values[field] == "" && text == "" && !open {
				continue
			}
			value, exact := CellText(values[field], text)
			values[field] = value
			if exact {
				s.NumberCells[[2]int{row, field}] = true
			}
			if value == "" && open {
				if err := w.recordMissingResult(s, row, field); err != nil {
					return nil, bad(err)
				}
			}
		}
	}
	if err := errors.Join(held.Error(), shown.Error()); err != nil {
		return nil, bad(err)
	}
	for len(s.Cells) > 0 && IsBlank(s.Cells[len(s.Cells)-1]) {
		s.Cells = s.Cells[:len(s.Cells)-1]
	}
	left := maxFilledCells
	if err := s.fillMerged(w.mergedRanges[name], &left); err != nil {
		return nil, w.Errorf("split the merged cells, or save the sheet as CSV", "sheet %s %v", inputerr.Quote(name), err)
	}
	return s, nil
}

// recordMissingResult records an error for an empty cell if the cell has a formula whose result is
// not in the file. It fails if too many cells that it checks have no formula.
func (w *officeBook) recordMissingResult(s *Sheet, row, field int) error {
	if len(s.BrokenCells) >= maxBrokenCells {
		return nil
	}
	address, err := excelize.CoordinatesToCellName(field+1, row+1)
	if err != nil {
		return err
	}
	formula, err := w.book.GetCellFormula(s.Name, address)
	if err != nil {
		return err
	}
	if formula == "" {
		if w.formulaMissCount++; w.formulaMissCount > maxFormulaMisses {
			return errors.New("too many of its formulas have no result in the file")
		}
	}
	if formula != "" {
		p := s.placeOf(row, field)
		s.BrokenCells = append(s.BrokenCells, &inputerr.Error{File: w.File, Line: p.Line, Column: p.Column, Cell: p.Cell,
			Message: "the formula " + inputerr.Quote("="+formula) + " has no result in the file", Hint: "open the workbook in a spreadsheet and save it"})
	}
	return nil
}

// CellText returns the content of a cell as text, and whether the content is a number. value is the
// stored text, and shown is the text that a spreadsheet displays.
func CellText(value, shown string) (text string, exact bool) {
	f, ok := measure.ParseNumber(value)
	shown = strings.TrimSpace(shown)
	if !ok || shown == "" {
		return value, false
	}
	plain := formatSpreadsheetNumber(f)
	if shown == plain {
		return plain, true
	}
	if shown == value {
		return value, false // 1.500 is text: as a number it would be stored as 1.5
	}
	if strings.HasSuffix(shown, "%") {
		return formatSpreadsheetNumber(float64(f*100)) + "%", true
	}
	first := strings.IndexFunc(shown, func(r rune) bool { return r >= '0' && r <= '9' })
	if first < 0 {
		return plain, true
	}
	near := func(g float64) bool { return math.Abs(g-f) <= 0.5+float64(0.1*math.Abs(f)) }
	q, message, _ := measure.ParseQuantity(shown[first:], measure.DecimalPoint, displayUnits())
	if message == "" && near(float64(q.Amount.Float64()*sign(f))) {
		if q.Unit != "" {
			return plain + " " + q.Unit, true
		}
		return plain, true
	}
	if strings.ContainsAny(shown, "/:") || strings.Count(shown, "-") > 1 || measure.IsDate(shown) {
		if when, err := excelize.ExcelDateToTime(f, false); err == nil {
			return when.Format("2006-01-02"), false
		}
	}
	return plain, true
}

// displayUnits returns the units that a number format may display behind a number.
var displayUnits = sync.OnceValue(func() *measure.Units { return measure.DefaultUnits().WithoutHints() })

// sign returns −1 for a number below 0 and 1 otherwise.
func sign(f float64) float64 {
	if f < 0 {
		return -1
	}
	return 1
}

// formatSpreadsheetNumber formats a number with at most 15 digits, as spreadsheets show it. It uses
// an exponent only for very large and very small numbers.
func formatSpreadsheetNumber(f float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	if err != nil || math.Abs(short) >= 1e21 || short != 0 && math.Abs(short) < 1e-9 {
		return strconv.FormatFloat(f, 'g', 15, 64)
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}
