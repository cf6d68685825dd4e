package book

import (
	"io"
	"strings"
)

// What a table may hold. Spreadsheets end far below.
const (
	mostColumns = 1 << 18
	longestCell = 1 << 16 // bytes
)

// rows are the rows of a table, from whatever file.
type rows interface {
	// next returns the next row, which is valid until the one after it. At the
	// end the error is io.EOF. An *Error is a row that is wrong, after which the
	// next one can be read; a fatalError is one after which nothing can. Other
	// errors are failures of the machine.
	next() ([]string, error)

	// place returns where a field of the current row begins; where the row ends
	// if there is no such field.
	place(field int) place

	// line is the line on which a field of the current row begins; quicker than
	// place.
	line(field int) int

	// isNumber is whether a field of the current row holds a number by itself, not
	// as text: its decimal mark is the point.
	isNumber(field int) bool
}

// A place is where something stands in a file.
type place struct {
	line, column int
	cell         string // in a workbook
}

// A fatalError is one that ends the reading of a table.
type fatalError struct{ bad *Error }

func (e fatalError) Error() string { return e.bad.Error() }
func (e fatalError) Unwrap() error { return e.bad }

// memoryRows are rows that are held in memory.
type memoryRows struct {
	cells   [][]string
	placeOf func(row, field int) place
	exacts  map[[2]int]bool // the fields that are exact
	at      int             // the row after the current one
}

func (l *memoryRows) next() ([]string, error) {
	if l.at == len(l.cells) {
		return nil, io.EOF
	}
	l.at++
	return l.cells[l.at-1], nil
}

func (l *memoryRows) place(field int) place { return l.placeOf(l.at-1, field) }

func (l *memoryRows) line(field int) int { return l.place(field).line }

func (l *memoryRows) isNumber(field int) bool { return l.exacts[[2]int{l.at - 1, field}] }

// isBlank is whether a row has no text.
func isBlank(row []string) bool {
	for _, text := range row {
		if strings.TrimSpace(text) != "" {
			return false
		}
	}
	return true
}
