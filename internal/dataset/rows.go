package dataset

import (
	"io"
	"strings"

	"kir/internal/inputerr"
)

// Limits on a table. The tables of spreadsheets are much smaller.
const (
	maxColumns   = 1 << 18 // maximum number of columns
	maxCellBytes = 1 << 16 // maximum number of bytes of a cell

	maxBrokenCells = 20 // maximum number of cells without a result that are reported
)

// rows yields the rows of a table one after the other, from any kind of file.
type rows interface {
	// next returns the next row, which is valid until the following call. At the end the error is
	// io.EOF. An [*inputerr.Error] means that this row is faulty and that the following row can be read.
	// After a fatalError no further row can be read. Other errors are failures of the machine.
	next() ([]string, error)

	// place returns the position of a field of the current row, given its index. If there is no
	// such field, it returns the position of the end of the row.
	place(field int) place

	// line returns the line in the file, from 1, of a field of the current row. It is faster than
	// place.
	line(field int) int

	// isNumber reports whether a workbook stores a field of the current row as a number and not as
	// text. The decimal mark of such a number is the point.
	isNumber(field int) bool

	// isFilled reports whether a field of the current row repeats a merged cell above it.
	isFilled(field int) bool

	// columnsCovered returns the number of columns of the merged cell that begins in a field of the
	// current row, or 0 if the cell is not merged.
	columnsCovered(field int) int
}

// A place is a position in a file.
type place struct {
	line, column int    // from 1; the column is counted in characters, or in cells of a workbook
	cell         string // address of the cell in a workbook, such as Drinks!C4; empty for other files
}

// A fatalError is a fault after which no further row of the table can be read.
type fatalError struct{ err *inputerr.Error }

func (e fatalError) Error() string { return e.err.Error() }
func (e fatalError) Unwrap() error { return e.err }

// memoryRows yields rows that are held in memory.
type memoryRows struct {
	cells       [][]string                 // texts by row and field
	placeOf     func(row, field int) place // returns the position of a cell
	numberCells map[[2]int]bool            // set of the {row, field} of cells that are numbers
	nextRow     int                        // index of the row after the current one

	filledCells    map[[2]int]bool // set of the {row, field} of cells that repeat a merged cell above
	coveredColumns map[[2]int]int  // by {row, field} of a merged cell: number of columns that it covers
}

func (l *memoryRows) next() ([]string, error) {
	if l.nextRow == len(l.cells) {
		return nil, io.EOF
	}
	l.nextRow++
	return l.cells[l.nextRow-1], nil
}

func (l *memoryRows) place(field int) place { return l.placeOf(l.nextRow-1, field) }

func (l *memoryRows) line(field int) int { return l.place(field).line }

func (l *memoryRows) isNumber(field int) bool { return l.numberCells[[2]int{l.nextRow - 1, field}] }

func (l *memoryRows) isFilled(field int) bool { return l.filledCells[[2]int{l.nextRow - 1, field}] }

func (l *memoryRows) columnsCovered(field int) int {
	return l.coveredColumns[[2]int{l.nextRow - 1, field}]
}

// isBlank reports whether all cells of a row are empty or space.
func isBlank(row []string) bool {
	for _, text := range row {
		if strings.TrimSpace(text) != "" {
			return false
		}
	}
	return true
}

// truncate cuts a text to at most limit bytes, at a character, and appends … if it cut anything.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return strings.Clone(text)
	}
	text = text[:limit]
	for len(text) > 0 && text[len(text)-1]&0xC0 == 0x80 {
		text = text[:len(text)-1]
	}
	if n := len(text); n > 0 && text[n-1] >= 0xC0 {
		text = text[:n-1]
	}
	return strings.ToValidUTF8(text, "") + "…"
}
