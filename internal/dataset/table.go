package dataset

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
)

// A table is a sequence of rows under a header that names the columns.
type table struct {
	*source
	header  []string
	byName  map[string]int // the header's columns
	width   int            // length of the header without empty names at its end, which are not columns
	places  []place        // positions of the header's names
	row     []string       // the current row, as long as the header; valid until next
	profile []profile
	lines   []int // lines of the rows whose numbers the profiles keep, and the last of these rows
	last    []string
	summed  int    // line of a row that is the sum of the others; 0 if there is none
	sum     string // the name of that row
	// included is that row's name if the layout includes it.
	included     string
	marking      markCounts
	decimal      Decimal      // decimal mark of text cells
	leftOutLines []int        // lines of rows below the header that are left out
	unnamed      map[int]bool // columns with a note that they have no name

	footnotes   bool   // rows of one cell may be too short
	shortRowErr *Error // the error of the current row if it is too short and not a footnote
}

// hasSingleCell reports whether a row of three columns or more has a single cell that is not empty.
func (t *table) hasSingleCell(row []string) bool {
	filled := 0
	for _, text := range row {
		if strings.TrimSpace(text) != "" {
			filled++
		}
	}
	return filled == 1 && len(t.header) > 2
}

// newTable opens a file and reads the header. The header's names are distinct, and empty only in
// columns without content. means reports whether a name in the header has a meaning.
func newTable(r io.Reader, file string, l Layout, units *Units, means func(name string) bool) (*table, error) {
	suits := func(row []string) bool { return slices.ContainsFunc(row, means) }
	s, err := openSource(r, file, l, suits)
	if err != nil {
		return nil, err
	}
	return s.readTable(l, units, suits)
}

// readTable reads the header of a source.
func (s *source) readTable(l Layout, units *Units, suits func(row []string) bool) (*table, error) {
	t := &table{source: s}
	above, err := t.findHeader(suits)
	if err != nil {
		return nil, err
	}
	if err := t.readHeader(above); err != nil {
		return nil, err
	}
	if err := t.buildProfiles(units); err != nil {
		return nil, err
	}
	t.chooseDecimal(l.Decimal)
	return t, nil
}

// findHeader returns the number of rows with text above the header. The header is the first row,
// with two exceptions. First, if that row has one or two cells of many, it is a later row that has
// names with a meaning or, without any, the first with more cells and no number. Second, if the
// first row has gaps, it is the second row if that has more cells and no number.
func (t *table) findHeader(suits func(row []string) bool) (above int, err error) {
	head := t.firstRows()
	first, seen, texts, gaps := 0, 0, 0, false
	for seen < titleRows {
		row, err := head.next()
		if bad := (*Error)(nil); errors.As(err, &bad) {
			break // reading the whole table reports that
		} else if err == io.EOF {
			break
		} else if err != nil {
			return 0, err
		}
		filled, numbers := 0, 0
		for _, text := range row {
			if text = strings.TrimSpace(text); text != "" {
				filled++
				if n, _ := parseFigure(text); n != (numeral{}) {
					numbers++
				}
			}
		}
		if filled == 0 {
			continue
		}
		seen++
		if seen == 1 {
			first = filled
			if gaps = first > 2 || suits(row); gaps && filled == len(row) {
				return 0, nil
			}
			continue
		}
		if gaps {
			if filled > first && numbers == 0 {
				return 1, nil
			}
			return 0, nil
		}
		if filled > first && suits(row) {
			return seen - 1, nil
		}
		if texts == 0 && filled > 2 && numbers == 0 {
			texts = seen
		}
	}
	return max(texts-1, 0), nil
}

// readHeader skips the rows above the header and reads the header.
func (t *table) readHeader(above int) error {
	for k := 0; ; {
		row, err := t.rows.next()
		switch {
		case err == io.EOF:
			return t.errorIn(place{line: 1, column: 1}, "the file is empty", "begin with a row that names the columns")
		case err != nil:
			return err
		case isBlank(row):
			continue
		}
		t.row = row
		if k++; k > above {
			break
		}
		if k == 1 {
			t.addNote(t.place(0), inputerr.Count(above, "row")+" above the header "+verbFor(above)+" left out", "")
		}
	}
	row := t.row
	t.width = len(row)
	for len(row) > 0 && strings.TrimSpace(row[len(row)-1]) == "" {
		row = row[:len(row)-1]
	}
	if len(row) > mostColumns {
		return t.errorAt(0, fmt.Sprintf("the table has more than %d columns", mostColumns), "is it the right file?")
	}
	t.byName = make(map[string]int, len(row))
	for i, text := range row {
		name := strings.Clone(NormalizeName(text))
		t.places = append(t.places, t.place(i))
		first, ok := t.byName[name]
		if ok && name != "" {
			return t.errorAt(i, fmt.Sprintf("two columns are called %s: numbers %d and %d", inputerr.Quote(name), first+1, i+1), "remove one or give it another name")
		}
		if len(name) > longestCell {
			return t.errorAt(i, fmt.Sprintf("the name is longer than %d bytes", longestCell), "is it the right file?")
		}
		if !ok {
			t.byName[name] = i
		}
		t.header = append(t.header, name)
	}
	return nil
}

func verbFor(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// find returns the column with one of the names that have a meaning, regardless of case, or −1.
func (t *table) find(name string) int {
	return slices.IndexFunc(t.header, func(other string) bool { return strings.EqualFold(name, other) })
}

// findUnique is find, but returns an error if a second column has the name in another case.
func (t *table) findUnique(name string) (int, error) {
	first := t.find(name)
	for i := first + 1; first >= 0 && i < len(t.header); i++ {
		if strings.EqualFold(name, t.header[i]) {
			return 0, t.errorInHeader(i, fmt.Sprintf("two columns are called %s: numbers %d and %d", inputerr.Quote(name), first+1, i+1), "remove one or give it another name")
		}
	}
	return first, nil
}

// next reads the next row that is not empty; for its errors see rows.
func (t *table) next() error {
	for {
		if err := browsersched.Err(t.ctx); err != nil {
			return err
		}
		row, err := t.rows.next()
		if err != nil {
			return err
		}
		if isBlank(row) || t.summed > 0 && t.place(0).line == t.summed {
			continue
		}
		t.row = row
		for len(row) > len(t.header) && strings.TrimSpace(row[len(row)-1]) == "" {
			row = row[:len(row)-1]
		}
		for t.allowsShortRows && len(row) < len(t.header) {
			row = append(row, "")
		}
		t.row = row
		for i, text := range row {
			if len(text) > longestCell {
				return t.errorAt(i, fmt.Sprintf("the cell is longer than %d bytes", longestCell), "look for a quote that is opened and never closed, or shorten it")
			}
			if i < t.width && (i >= len(t.header) || t.header[i] == "") && strings.TrimSpace(text) != "" && !t.unnamed[i] {
				if t.unnamed == nil {
					t.unnamed = make(map[int]bool)
				}
				t.unnamed[i] = i < len(t.header) // otherwise the row is too long
				return t.errorAt(i, fmt.Sprintf("column %d has no name and holds %s", i+1, inputerr.Quote(text)), "name the column, or empty it")
			}
		}
		if t.shortRowErr = nil; len(row) == len(t.header) {
			return nil
		}
		message := fmt.Sprintf("the row has %s and the header %s", inputerr.Count(len(row), "column"), inputerr.Count(len(t.header), "column"))
		if len(row) > len(t.header) {
			hint := "put text that has a comma in it in quotes, or remove what is too much"
			if t.delimiter != ',' {
				hint = "remove what is too much, or name the columns"
			}
			return t.errorAt(len(t.header), message, hint)
		}
		short := t.errorAt(len(row), message, "add "+inputerr.List(t.header[len(row):], 12)+", or a "+t.delimiterName()+" for each that is empty")
		if t.footnotes && t.hasSingleCell(row) {
			t.shortRowErr, t.row = short, append(slices.Clip(row), make([]string, len(t.header)-len(row))...)
			return nil
		}
		return short
	}
}

// delimiterName returns the name of the delimiter.
func (t *table) delimiterName() string {
	for _, d := range delimiters {
		if d.mark == t.delimiter {
			return d.name
		}
	}
	return "cell"
}

// place returns the position of a field of the current row.
func (t *table) place(field int) place { return t.rows.place(field) }

// isNumber reports whether a field of the current row is a number, not text.
func (t *table) isNumber(field int) bool { return t.rows.isNumber(field) }

// decimalOf returns the decimal mark of a field of the current row.
func (t *table) decimalOf(field int) Decimal {
	if t.allowsShortRows && t.isNumber(field) {
		return DecimalPoint
	}
	return t.decimal
}

// errorAt returns an error at a field of the current row.
func (t *table) errorAt(field int, message, hint string) *Error {
	return t.errorIn(t.place(field), message, hint)
}

// errorInHeader returns an error at a field of the header.
func (t *table) errorInHeader(field int, message, hint string) *Error {
	return t.errorIn(t.places[field], message, hint)
}

// errorIn returns an error at a position in the file.
func (t *table) errorIn(p place, message, hint string) *Error {
	return &Error{File: t.file, Line: p.line, Column: p.column, Cell: p.cell, Message: message, Hint: hint}
}

// addNote records an interpretation. settle is empty if it is almost certainly right.
func (t *table) addNote(p place, message, settle string) {
	t.addNoteOnce(Note{File: t.file, Line: p.line, Column: p.column, Cell: p.cell, Message: message, Setting: settle})
}

// addNoteOnce adds a note unless it is already there: a transposed table is read twice.
func (t *table) addNoteOnce(n Note) {
	if t.noted == nil {
		t.noted = make(map[Note]bool)
	}
	for ; t.notedTo < len(t.notes); t.notedTo++ {
		t.noted[t.notes[t.notedTo]] = true
	}
	if !t.noted[n] {
		t.notes = append(t.notes, n)
	}
}

// addDoubt notes an interpretation that may well be wrong and that only a change of the table
// settles.
func (t *table) addDoubt(p place, message string) {
	t.addNoteOnce(Note{File: t.file, Line: p.line, Column: p.column, Cell: p.cell, Message: message, Doubtful: true})
}

// readRows reads the rows to the end, or until there are enough errors. It returns only failures of
// the machine.
func (t *table) readRows(f *faults, read func()) error {
	for _, e := range t.broken {
		f.add(e)
	}
	for !f.isFull() {
		err := t.next()
		fatal := (fatalError{})
		bad := (*Error)(nil)
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &fatal):
			f.add(fatal.err)
			f.broken = true
			return nil
		case errors.As(err, &bad):
			f.add(bad)
			f.broken = true
		case err != nil:
			return err
		default:
			read()
		}
	}
	return nil
}
