package dataset

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
	maxCells         = 1 << 22  // maximum number of cells in a sheet, including empty cells between others
	maxSheets        = 1000     // maximum number of sheets
	maxFormulaMisses = 2000     // maximum number of cells that are checked for a formula and have none
)

// A sheet is one sheet of a workbook. It stores the rows up to the last row with text.
type sheet struct {
	name        string            // name of the sheet
	cells       [][]string        // texts by row and field, from 0
	numberCells map[[2]int]bool   // set of the {row, field} of cells that are numbers
	brokenCells []*inputerr.Error // errors of cells whose formula has no result, at most maxBrokenCells

	filledCells    map[[2]int]bool // set of the {row, field} of cells that repeat a merged cell above
	coveredColumns map[[2]int]int  // by {row, field} of a merged cell: number of columns that it covers
}

// placeOf returns the position of a cell, given its row and field from 0.
func (s *sheet) placeOf(row, field int) place {
	return place{line: row + 1, column: field + 1, cell: cellName(s.name, row, field)}
}

// rows returns the rows of the sheet, beginning with the first row.
func (s *sheet) rows() rows {
	return &memoryRows{cells: s.cells, placeOf: s.placeOf, numberCells: s.numberCells, filledCells: s.filledCells, coveredColumns: s.coveredColumns}
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

// A workbook is an opened file with sheets, in the format .xlsx or OpenDocument.
type workbook struct {
	ctx            context.Context                   // reading stops when ctx ends
	file           string                            // name of the file, for messages
	names          []string                          // names of the sheets, in order
	readNamedSheet func(name string) (*sheet, error) // reads the sheet with a given name
}

// An officeBook is an opened .xlsx file.
type officeBook struct {
	*workbook
	book               *excelize.File  // the file as the library reads it
	unresolvedFormulas map[[2]int]bool // set of positions {row, field}, from 0, at which some sheet has a formula without a result
	formulaMissCount   int             // number of positions in unresolvedFormulas at which a sheet that was read has no formula

	mergedRanges map[string][]mergedRange // by name of the sheet: its merged cells
}

// openWorkbook reads and opens a workbook, and determines whether it is an .xlsx or an OpenDocument
// file. A fault in the file is an [*inputerr.Error]. The parameter file is the name of the file in messages.
func openWorkbook(ctx context.Context, r io.Reader, file string) (w *workbook, err error) {
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
	w = &workbook{ctx: ctx, file: file}
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
	} else if !isFlatDocument(data) {
		return nil, bad(err)
	}
	if err := w.readDocument(content); err != nil {
		return nil, bad(err)
	}
	return w, nil
}

// openOffice opens an .xlsx file, given its content. bad turns a failure of the library into an
// error about the file.
func (w *workbook) openOffice(data []byte, bad func(error) error) (err error) {
	checked, err := checkArchive(w.ctx, data)
	if err != nil {
		return bad(err)
	}
	defer recoverError(&err, bad)
	// All parts are kept in memory, never in temporary files: they are bounded.
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{UnzipSizeLimit: maxUnpackedBytes, UnzipXMLSizeLimit: maxUnpackedBytes})
	if err != nil {
		return bad(err)
	}
	o := &officeBook{workbook: w, book: book, unresolvedFormulas: checked.unresolvedFormulas, mergedRanges: checked.mergedRanges}
	w.names, w.readNamedSheet = book.GetSheetList(), o.readSheet
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

// errorf returns an error about the workbook as a whole, with a hint and a formatted message.
func (w *workbook) errorf(hint, format string, args ...any) *inputerr.Error {
	return &inputerr.Error{File: w.file, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// readSheet reads a sheet. Each cell becomes the number or the text that the file stores for it.
// The number format only determines whether a number is a percentage or a date, or has a unit.
func (w *officeBook) readSheet(name string) (s *sheet, err error) {
	bad := func(err error) error {
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		e := w.errorf("save the workbook anew as .xlsx, or as CSV", "sheet %s cannot be read: %s", inputerr.Quote(name), strings.ToValidUTF8(err.Error(), "\uFFFD"))
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
	s = &sheet{name: name, numberCells: make(map[[2]int]bool)}
	cells, text := 0, 0
	for row := 0; held.Next() && shown.Next(); row++ {
		if err := browsersched.Err(w.ctx); err != nil {
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
		if cells += 1 + len(values); cells > maxCells {
			return nil, w.errorf("remove what is far from the table, or save the sheet as CSV", "sheet %s has more than %d cells", inputerr.Quote(name), maxCells)
		}
		for _, value := range values {
			text += len(value)
		}
		if text > maxSheetTextBytes {
			return nil, w.errorf("remove what is far from the table, or save the sheet as CSV", "the cells of sheet %s have more than %d MiB of text", inputerr.Quote(name), maxSheetTextBytes>>20)
		}
		s.cells = append(s.cells, values)
		for field := range values {
			text := ""
			if field < len(texts) {
				text = texts[field]
			}
			open := w.unresolvedFormulas[[2]int{row, field}]
			if values[field] == "" && text == "" && !open {
				continue
			}
			value, exact := cellText(values[field], text)
			values[field] = value
			if exact {
				s.numberCells[[2]int{row, field}] = true
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
	for len(s.cells) > 0 && isBlank(s.cells[len(s.cells)-1]) {
		s.cells = s.cells[:len(s.cells)-1]
	}
	left := maxFilledCells
	if err := s.fillMerged(w.mergedRanges[name], &left); err != nil {
		return nil, w.errorf("split the merged cells, or save the sheet as CSV", "sheet %s %v", inputerr.Quote(name), err)
	}
	return s, nil
}

// recordMissingResult records an error for an empty cell if the cell has a formula whose result is
// not in the file. It fails if too many cells that it checks have no formula.
func (w *officeBook) recordMissingResult(s *sheet, row, field int) error {
	if len(s.brokenCells) >= maxBrokenCells {
		return nil
	}
	address, err := excelize.CoordinatesToCellName(field+1, row+1)
	if err != nil {
		return err
	}
	formula, err := w.book.GetCellFormula(s.name, address)
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
		s.brokenCells = append(s.brokenCells, &inputerr.Error{File: w.file, Line: p.line, Column: p.column, Cell: p.cell,
			Message: "the formula " + inputerr.Quote("="+formula) + " has no result in the file", Hint: "open the workbook in a spreadsheet and save it"})
	}
	return nil
}

// cellText returns the content of a cell as text, and whether the content is a number. value is the
// stored text, and shown is the text that a spreadsheet displays.
func cellText(value, shown string) (text string, exact bool) {
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
