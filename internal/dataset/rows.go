package dataset

import (
	"io"
	"strings"
)

// Limits on a table. Spreadsheets end far below them.
const (
	mostColumns = 1 << 18
	longestCell = 1 << 16 // bytes
)

// rows yields the rows of a table, from any kind of file.
type rows interface {
	// next returns the next row, which is valid until the following call. At the end the error is
	// io.EOF. After an *Error, which is a faulty row, the next row can be read. After a fatalError
	// none can. Other errors are failures of the machine.
	next() ([]string, error)

	// place returns the position of a field of the current row; the end of the row if there is no
	// such field.
	place(field int) place

	// line returns the line of a field of the current row; it is faster than place.
	line(field int) int

	// isNumber reports whether a field of the current row is a number, not text: its decimal mark
	// is the point.
	isNumber(field int) bool
}

// A place is a position in a file.
type place struct {
	line, column int
	cell         string // address in a workbook
}

// A fatalError is a fault that ends the reading of a table.
type fatalError struct{ err *Error }

func (e fatalError) Error() string { return e.err.Error() }
func (e fatalError) Unwrap() error { return e.err }

// memoryRows are rows held in memory.
type memoryRows struct {
	cells   [][]string
	placeOf func(row, field int) place
	exacts  map[[2]int]bool // the fields that are exact numbers
	nextRow int             // index of the row after the current one
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

func (l *memoryRows) isNumber(field int) bool { return l.exacts[[2]int{l.nextRow - 1, field}] }

// isBlank reports whether a row has no text.
func isBlank(row []string) bool {
	for _, text := range row {
		if strings.TrimSpace(text) != "" {
			return false
		}
	}
	return true
}
