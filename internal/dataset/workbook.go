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
)

// Limits on a workbook: its file, and the cells of a sheet, including the empty ones between them.
// archive.go bounds its parts.
const (
	largestWorkbook = 32 << 20
	mostCells       = 1 << 22
	mostSheets      = 1000
	mostAsked       = 2000 // number of cells that are checked for a formula and have none
)

// A sheet is one sheet of a workbook. It stores only the rows up to the last one with text.
type sheet struct {
	name   string
	cells  [][]string
	exacts map[[2]int]bool
	broken []*Error // errors of unreadable cells
}

// placeOf returns the position of a cell.
func (s *sheet) placeOf(row, field int) place {
	return place{line: row + 1, column: field + 1, cell: cellName(s.name, row, field)}
}

// rows returns the sheet's rows, from the first one.
func (s *sheet) rows() rows { return &memoryRows{cells: s.cells, placeOf: s.placeOf, exacts: s.exacts} }

// cellName returns the address of a cell as spreadsheets write it, such as Drinks!C4.
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

// A workbook is a file of sheets: .xlsx or OpenDocument.
type workbook struct {
	ctx   context.Context // ends the reading
	file  string
	names []string                          // names of the sheets
	read  func(name string) (*sheet, error) // reads one sheet
}

// An officeBook is an .xlsx file.
type officeBook struct {
	*workbook
	book     *excelize.File
	formulas map[[2]int]bool // cells in any sheet with a formula but no result
	asked    int             // number of cells checked for a formula in vain
}

// openWorkbook opens a workbook. Any fault in it is an *Error.
func openWorkbook(ctx context.Context, r io.Reader, file string) (w *workbook, err error) {
	data, err := io.ReadAll(io.LimitReader(r, largestWorkbook+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	bad := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &Error{File: file, Message: "this workbook cannot be read: " + strings.ToValidUTF8(err.Error(), "\uFFFD"), Hint: "save it anew as .xlsx, or as CSV", Err: err}
	}
	if len(data) > largestWorkbook {
		return nil, &Error{File: file, Message: fmt.Sprintf("the workbook has more than %d MiB", largestWorkbook>>20), Hint: "save the sheet as CSV"}
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

// openOffice opens an .xlsx file.
func (w *workbook) openOffice(data []byte, bad func(error) error) (err error) {
	formulas, err := checkArchive(w.ctx, data)
	if err != nil {
		return bad(err)
	}
	defer recoverError(&err, bad)
	// All parts are kept in memory, never in temporary files: they are bounded.
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{UnzipSizeLimit: largestParts, UnzipXMLSizeLimit: largestParts})
	if err != nil {
		return bad(err)
	}
	o := &officeBook{workbook: w, book: book, formulas: formulas}
	w.names, w.read = book.GetSheetList(), o.readSheet
	return nil
}

// recoverError turns a panic into an error. The library expects files that spreadsheets write, and
// a hostile file may break it.
func recoverError(err *error, bad func(error) error) {
	if p := recover(); p != nil {
		*err = bad(fmt.Errorf("it is not put together as workbooks are: %v", p))
	}
}

// errorf returns an error about the workbook as a whole.
func (w *workbook) errorf(hint, format string, args ...any) *Error {
	return &Error{File: w.file, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// readSheet reads a sheet: each cell as the number or the text that it stores. The number format
// only determines whether a number is a percentage, a date, or has a unit.
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
	s = &sheet{name: name, exacts: make(map[[2]int]bool)}
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
		if cells += 1 + len(values); cells > mostCells {
			return nil, w.errorf("remove what is far from the table, or save the sheet as CSV", "sheet %s has more than %d cells", inputerr.Quote(name), mostCells)
		}
		for _, value := range values {
			text += len(value)
		}
		if text > largestTexts {
			return nil, w.errorf("remove what is far from the table, or save the sheet as CSV", "the cells of sheet %s have more than %d MiB of text", inputerr.Quote(name), largestTexts>>20)
		}
		s.cells = append(s.cells, values)
		for field := range values {
			text := ""
			if field < len(texts) {
				text = texts[field]
			}
			open := w.formulas[[2]int{row, field}]
			if values[field] == "" && text == "" && !open {
				continue
			}
			value, exact := cellText(values[field], text)
			values[field] = value
			if exact {
				s.exacts[[2]int{row, field}] = true
			}
			if value == "" && open {
				if err := w.checkFormula(s, row, field); err != nil {
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
	return s, nil
}

// checkFormula records a cell that is empty only because its formula has not been computed.
func (w *officeBook) checkFormula(s *sheet, row, field int) error {
	if len(s.broken) >= mostErrors {
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
		if w.asked++; w.asked > mostAsked {
			return errors.New("too many of its formulas have no result in the file")
		}
	}
	if formula != "" {
		p := s.placeOf(row, field)
		s.broken = append(s.broken, &Error{File: w.file, Line: p.line, Column: p.column, Cell: p.cell,
			Message: "the formula " + inputerr.Quote("="+formula) + " has no result in the file", Hint: "open the workbook in a spreadsheet and save it"})
	}
	return nil
}

// cellText returns the content of a cell as text, given its value and its displayed text, and
// whether it is a number.
func cellText(value, shown string) (text string, exact bool) {
	f, ok := number(value)
	shown = strings.TrimSpace(shown)
	if !ok || shown == "" {
		return value, false
	}
	plain := exactNumber(f)
	if shown == plain {
		return plain, true
	}
	if shown == value {
		return value, false // 1.500 is text: as a number it would be stored as 1.5
	}
	if strings.HasSuffix(shown, "%") {
		return exactNumber(float64(f*100)) + "%", true
	}
	first := strings.IndexFunc(shown, func(r rune) bool { return r >= '0' && r <= '9' })
	if first < 0 {
		return plain, true
	}
	near := func(g float64) bool { return math.Abs(g-f) <= 0.5+float64(0.1*math.Abs(f)) }
	q, message, _ := parseQuantity(shown[first:], DecimalPoint, shownUnits())
	if message == "" && near(float64(q.amount.Float64()*sign(f))) {
		if q.unit != "" {
			return plain + " " + q.unit, true
		}
		return plain, true
	}
	if strings.ContainsAny(shown, "/:") || strings.Count(shown, "-") > 1 || datePattern().MatchString(shown) {
		if when, err := excelize.ExcelDateToTime(f, false); err == nil {
			return when.Format("2006-01-02"), false
		}
	}
	return plain, true
}

// shownUnits are the units in which a number may be displayed.
var shownUnits = sync.OnceValue(func() *Units { return DefaultUnits().withoutHints() })

func sign(f float64) float64 {
	if f < 0 {
		return -1
	}
	return 1
}

// exactNumber formats a number with the 15 digits that spreadsheets show, without an exponent.
func exactNumber(f float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	if err != nil || math.Abs(short) >= 1e21 || short != 0 && math.Abs(short) < 1e-9 {
		return strconv.FormatFloat(f, 'g', 15, 64)
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}
