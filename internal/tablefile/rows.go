package tablefile

import (
	"io"
	"strings"

	"kir/internal/inputerr"
)

// Limits on a table. The tables of spreadsheets are much smaller.
const (
	MaxColumns   = 1 << 18 // maximum number of columns
	MaxCellBytes = 1 << 16 // maximum number of bytes of a cell

	maxBrokenCells = 20 // maximum number of cells without a result that are reported
)

// Rows yields the rows of a table one after the other, from any kind of file.
type Rows interface {
	// Next returns the next row, which is valid until the following call. At the end the error is
	// io.EOF. An [*inputerr.Error] means that this row is faulty and that the following row can be read.
	// After a [FatalError] no further row can be read. Other errors are failures of the machine.
	Next() ([]string, error)

	// Place returns the position of a field of the current row, given its index. If there is no
	// such field, it returns the position of the end of the row.
	Place(field int) Place

	// Line returns the line in the file, from 1, of a field of the current row. It is faster than
	// Place.
	Line(field int) int

	// IsNumber reports whether a workbook stores a field of the current row as a number and not as
	// text. The decimal mark of such a number is the point.
	IsNumber(field int) bool

	// IsFilled reports whether a field of the current row repeats a merged cell above it.
	IsFilled(field int) bool

	// ColumnsCovered returns the number of columns of the merged cell that begins in a field of the
	// current row, or 0 if the cell is not merged.
	ColumnsCovered(field int) int
}

// A Place is a position in a file.
type Place struct {
	Line, Column int    // from 1; the column is counted in characters, or in cells of a workbook
	Cell         string // address of the cell in a workbook, such as Drinks!C4; empty for other files
}

// A FatalError is a fault after which no further row of the table can be read.
type FatalError struct{ Err *inputerr.Error }

func (e FatalError) Error() string { return e.Err.Error() }
func (e FatalError) Unwrap() error { return e.Err }

// MemoryRows yields rows that are held in memory.
type MemoryRows struct {
	Cells       [][]string                 // texts by row and field
	PlaceOf     func(row, field int) Place // returns the position of a cell
	NumberCells map[[2]int]bool            // set of the {row, field} of cells that are numbers
	nextRow     int                        // index of the row after the current one

	FilledCells    map[[2]int]bool // set of the {row, field} of cells that repeat a merged cell above
	coveredColumns map[[2]int]int  // by {row, field} of a merged cell: number of columns that it covers
}

func (l *MemoryRows) Next() ([]string, error) {
	if l.nextRow == len(l.Cells) {
		return nil, io.EOF
	}
	l.nextRow++
	return l.Cells[l.nextRow-1], nil
}

func (l *MemoryRows) Place(field int) Place { return l.PlaceOf(l.nextRow-1, field) }

func (l *MemoryRows) Line(field int) int { return l.Place(field).Line }

func (l *MemoryRows) IsNumber(field int) bool { return l.NumberCells[[2]int{l.nextRow - 1, field}] }

func (l *MemoryRows) IsFilled(field int) bool { return l.FilledCells[[2]int{l.nextRow - 1, field}] }

func (l *MemoryRows) ColumnsCovered(field int) int {
	return l.coveredColumns[[2]int{l.nextRow - 1, field}]
}

// IsBlank reports whether all cells of a row are empty or space.
func IsBlank(row []string) bool {
	for _, text := range row {
		if strings.TrimSpace(text) != "" {
			return false
		}
	}
	return true
}

// Truncate cuts a text to at most limit bytes, at a character, and appends … if it cut anything.
func Truncate(text string, limit int) string {
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
