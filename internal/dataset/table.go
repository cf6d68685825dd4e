package dataset

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A table is a sequence of rows under a header that names the columns.
type table struct {
	*source
	header          []string                    // names of the columns
	byName          map[string]int              // by name: index of the column
	headerWidth     int                         // number of cells in the header row, including empty cells at the end
	headerPlaces    []tablefile.Place           // position of each cell of the header
	row             []string                    // the current row, as long as the header; valid until nextRow
	profiles        []columnProfile             // by column: summary of the first rows
	profiledLines   []int                       // lines of the rows whose numbers the profiles keep
	profiledTexts   [][]string                  // cells of these rows, each as long as the header; set by firstTexts
	totalRowLine    int                         // line of a last row that is the sum or the mean of all others; 0 if there is none
	totalRowKind    string                      // what it is, such as: the sum of all others
	totalRowName    string                      // name in that row
	sections        []section                   // by column: what the heading above it says; nil if there are no headings
	headerTexts     []string                    // cells of the header row, as the file has them
	groupRow        []string                    // the row above the header, which may name groups of columns; nil if there is none
	groupWidths     []int                       // by cell of groupRow: number of columns that the merged cell covers; 0 if it is not merged
	elementsFrom    int                         // index of the first column of elements, if the table had formulas; else 0
	formulasIn      int                         // index of the column that has the formulas, if elementsFrom is not 0
	sumColumn       int                         // index of a column with the sum of a recipe's amounts, in the wide form; −1 if there is none
	isTurned        bool                        // whether the rows of the file are the columns of this table
	columnUnits     []string                    // text of the unit of each column, if the table was transposed and had units in a column or in headings; else nil
	amountUnit      *measure.Unit               // unit of the amounts whose names have none, as the corner of a transposed table or amounts in ppm tell; nil if there is none
	unitNames       []bool                      // by column: whether the name has a unit; set by hasOddUnit
	unitNameCount   int                         // number of columns whose name has a unit
	writtenNames    []string                    // names of the columns without the units of that row; nil if there is none
	unitRowLine     int                         // line of a row with the units of the columns; 0 if there is none
	includedTotal   string                      // name in a row of sums or means that the layout includes as a recipe
	decimalMarks    decimalMarkCounts           // what the numbers reveal about the decimal mark
	decimal         measure.Decimal             // decimal mark of the numbers in text cells
	leftOut         []LeftOutRow                // rows below the header that are left out
	sumLabels       map[string]bool             // names of labels that are left out as the sums of recipes
	restTexts       map[string]measure.Quantity // by text of a cell that means the rest: the rest, with its whole
	sumNames        map[string]bool             // names of rows of the long form that are the sum of each recipe, by their amounts
	moneySign       string                      // currency of the amounts, if they are sums of money; else empty
	limitNames      map[string]bool             // set of the names of pairs of rows with least and greatest amounts; set by isLimitName
	reportedUnnamed map[int]bool                // indices of columns whose missing name has been reported
	inMemory        bool                        // whether the rows were read before, as those of a transposed table

	allowsFootnotes bool   // whether a row with text in one cell may be shorter than the header
	shortRowErr     *Error // error to report if the current row, which is too short, is no footnote; else nil
}

// hasSingleCell reports whether the table has at least three columns and exactly one cell of the
// row has text.
func (t *table) hasSingleCell(row []string) bool {
	return countFilled(row) == 1 && len(t.header) > 2
}

// newTable opens a file, finds the table in it and reads the header. The names in the header are
// distinct. They are empty only for columns without content. means reports whether a name is one
// that the header is likely to have.
func newTable(r io.Reader, file string, l Layout, units *measure.Units, means func(name string) bool) (*table, error) {
	suits := func(row []string) bool { return slices.ContainsFunc(row, means) }
	s, err := openSource(r, file, l, func(s *tablefile.Sheet) int { return firstWith(s, suits) })
	if err != nil {
		return nil, err
	}
	return s.readTable(l, units, suits)
}

// readTable finds the header of the table in a source, reads it and profiles the columns. suits
// reports whether a row looks like the header.
func (s *source) readTable(l Layout, units *measure.Units, suits func(row []string) bool) (*table, error) {
	t := &table{source: s}
	s.withoutLines, s.unknownTexts = linesOf(l.Without), l.Unknown
	above, err := t.findHeader(suits, units)
	if err != nil {
		return nil, err
	}
	if err := t.readHeader(above); err != nil {
		return nil, err
	}
	t.findSections()
	t.addGroupUnits(units)
	t.readUnitRow(units)
	if err := t.buildProfiles(units); err != nil {
		return nil, err
	}
	t.nameFirstColumn()
	t.chooseDecimalMark(l.Decimal)
	return t, nil
}

// firstColumnName is the name of a first column of texts that the file does not name.
const firstColumnName = "column 1"

// nameFirstColumn names the first column firstColumnName if it has no name and mostly texts.
func (t *table) nameFirstColumn() {
	if len(t.header) == 0 || t.header[0] != "" {
		return
	}
	if _, taken := t.byName[firstColumnName]; taken || 4*t.profiles[0].amountCount > t.profiles[0].filledCount || 10*t.profiles[0].filledCount < 9*len(t.profiledLines) || t.profiles[0].filledCount == 0 {
		return
	}
	t.header[0], t.byName[firstColumnName] = firstColumnName, 0
}

// readHeader skips the rows above the header, reads the header and checks the names of the columns.
// The argument above is the number of rows with text to skip.
func (t *table) readHeader(above int) error {
	for k := 0; ; {
		row, err := t.rows.Next()
		switch {
		case err == io.EOF:
			return t.errorAtPlace(tablefile.Place{Line: 1, Column: 1}, "the file is empty", "begin with a row that names the columns")
		case err != nil:
			return err
		case tablefile.IsBlank(row):
			continue
		}
		t.row = row
		if k++; k > above {
			break
		}
		t.groupRow, t.groupWidths = append(t.groupRow[:0], row...), t.groupWidths[:0]
		for i := range row {
			t.groupWidths = append(t.groupWidths, t.rows.ColumnsCovered(i))
		}
		if k == 1 {
			t.addNote(t.place(0), inputerr.Count(above, "row")+" above the header "+isOrAre(above)+" left out", "")
		}
	}
	for _, text := range t.row {
		t.headerTexts = append(t.headerTexts, strings.Clone(strings.TrimSpace(text)))
	}
	row := t.joinGroups(t.row)
	t.headerWidth = len(row)
	for len(row) > 0 && strings.TrimSpace(row[len(row)-1]) == "" {
		row = row[:len(row)-1]
	}
	if len(row) > tablefile.MaxColumns {
		return t.errorAtField(0, fmt.Sprintf("the table has more than %d columns", tablefile.MaxColumns), "is it the right file?")
	}
	t.byName = make(map[string]int, len(row))
	for i, text := range row {
		name := strings.Clone(NormalizeName(text))
		t.headerPlaces = append(t.headerPlaces, t.place(i))
		first, ok := t.byName[name]
		if ok && name != "" {
			return t.errorAtField(i, fmt.Sprintf("two columns are called %s: numbers %d and %d", inputerr.Quote(name), first+1, i+1), "remove one or give it another name")
		}
		if len(name) > tablefile.MaxCellBytes {
			return t.errorAtField(i, fmt.Sprintf("the name is longer than %d bytes", tablefile.MaxCellBytes), "is it the right file?")
		}
		if !ok {
			t.byName[name] = i
		}
		t.header = append(t.header, name)
	}
	return nil
}

// isOrAre returns the verb for n things: "is" for one and "are" for any other number.
func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// findColumn returns the index of the first column with a name, regardless of case, or −1.
func (t *table) findColumn(name string) int {
	return slices.IndexFunc(t.header, func(other string) bool { return strings.EqualFold(name, other) })
}

// findUniqueColumn returns the index of the column with a name, regardless of case, or −1. It
// returns an error if two columns have the name in different case.
func (t *table) findUniqueColumn(name string) (int, error) {
	first := t.findColumn(name)
	for i := first + 1; first >= 0 && i < len(t.header); i++ {
		if strings.EqualFold(name, t.header[i]) {
			return 0, t.errorInHeader(i, fmt.Sprintf("two columns are called %s: numbers %d and %d", inputerr.Quote(name), first+1, i+1), "remove one or give it another name")
		}
	}
	return first, nil
}

// nextFilledRow returns the next row that is neither empty nor left out by the layout, which names a row by the line of its
// given field. [tablefile.Rows] describes the errors.
func (t *table) nextFilledRow(field int) ([]string, error) {
	for {
		if err := browsersched.Err(t.ctx); err != nil {
			return nil, err
		}
		row, err := t.rows.Next()
		if err != nil {
			return nil, err
		}
		if tablefile.IsBlank(row) {
			continue
		}
		line := t.rows.Line(field)
		if !t.isLeftOutByLine(line) {
			return row, nil
		}
		t.noteLeftOut(line, outByLayout)
	}
}

// nextRow reads the next row that is neither empty nor the row of sums. [tablefile.Rows] describes the
// errors.
func (t *table) nextRow() error {
	for {
		if err := browsersched.Err(t.ctx); err != nil {
			return err
		}
		row, err := t.rows.Next()
		if err != nil {
			return err
		}
		if line := t.place(0).Line; tablefile.IsBlank(row) || t.totalRowLine > 0 && line == t.totalRowLine || t.unitRowLine > 0 && line == t.unitRowLine {
			continue
		}
		if t.isLeftOutByLine(t.place(0).Line) {
			t.noteLeftOut(t.place(0).Line, outByLayout)
			continue
		}
		if t.repeatsHeader(row) {
			t.noteLeftOut(t.place(0).Line, outAsHeader)
			continue
		}
		t.row = row
		for len(row) > len(t.header) && strings.TrimSpace(row[len(row)-1]) == "" {
			row = row[:len(row)-1]
		}
		for t.allowsShortRows && len(row) < len(t.header) {
			row = append(row, "")
		}
		row = t.fillRight(row)
		t.row = row
		for i, text := range row {
			if len(text) > tablefile.MaxCellBytes {
				return t.errorAtField(i, fmt.Sprintf("the cell is longer than %d bytes", tablefile.MaxCellBytes), "look for a quote that is opened and never closed, or shorten it")
			}
			if i < t.headerWidth && (i >= len(t.header) || t.header[i] == "") && strings.TrimSpace(text) != "" && !t.reportedUnnamed[i] {
				if t.reportedUnnamed == nil {
					t.reportedUnnamed = make(map[int]bool)
				}
				t.reportedUnnamed[i] = i < len(t.header) // otherwise the row is too long
				return withFixes(t.errorAtField(i, fmt.Sprintf("column %d has no name and holds %s", i+1, inputerr.Quote(text)), "name the column, or empty it"), rowStage, rowFix(t.place(0).Line))
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
			return withFixes(t.errorAtField(len(t.header), message, hint), rowStage, rowFix(t.place(0).Line))
		}
		short := withFixes(t.errorAtField(len(row), message, "add "+inputerr.List(t.header[len(row):], 12)+", or a "+t.delimiterName()+" for each that is empty"), rowStage, rowFix(t.place(0).Line))
		if t.allowsFootnotes && t.hasSingleCell(row) {
			t.shortRowErr, t.row = short, append(slices.Clip(row), make([]string, len(t.header)-len(row))...)
			return nil
		}
		return short
	}
}

// delimiterName returns the name of the delimiter, or "cell" for a workbook.
func (t *table) delimiterName() string {
	for _, d := range tablefile.Delimiters {
		if d.Mark == t.delimiter {
			return d.Name
		}
	}
	return "cell"
}

// place returns the position of a field of the current row, given its index.
func (t *table) place(field int) tablefile.Place { return t.rows.Place(field) }

// isNumber reports whether a workbook stores a field of the current row as a number and not as
// text.
func (t *table) isNumber(field int) bool { return t.rows.IsNumber(field) }

// decimalOf returns the decimal mark with which a field of the current row is to be read.
func (t *table) decimalOf(field int) measure.Decimal {
	if t.allowsShortRows && t.isNumber(field) {
		return measure.DecimalPoint
	}
	return t.decimal
}

// errorAtField returns an error with the position of a field of the current row.
func (t *table) errorAtField(field int, message, hint string) *Error {
	return t.errorAtPlace(t.place(field), message, hint)
}

// errorInHeader returns an error with the position of a field of the header.
func (t *table) errorInHeader(field int, message, hint string) *Error {
	return t.errorAtPlace(t.headerPlaces[field], message, hint)
}

// errorAtPlace returns an error with a given position in the file.
func (t *table) errorAtPlace(p tablefile.Place, message, hint string) *Error {
	return &Error{File: t.file, Line: p.Line, Column: p.Column, Cell: p.Cell, Message: message, Hint: hint}
}

// addNote adds a note about an interpretation. setting is the text that confirms the interpretation
// in a problem file; it is empty if the interpretation is almost certainly right.
func (t *table) addNote(p tablefile.Place, message, setting string) {
	t.addNoteOnce(Note{File: t.file, Line: p.Line, Column: p.Column, Cell: p.Cell, Message: message, Setting: setting})
}

// columnText begins a sentence about a column of the table, which is a row of the file if the table was transposed.
func (t *table) columnText(i int) string {
	if t.isTurned {
		return "row " + inputerr.Quote(t.header[i])
	}
	return "column " + inputerr.Quote(t.header[i])
}

// addNoteOnce adds a note unless an equal note was added before, since a transposed table is read
// twice.
func (t *table) addNoteOnce(n Note) {
	if t.notedSet == nil {
		t.notedSet = make(map[Note]bool)
	}
	for ; t.notedCount < len(t.notes); t.notedCount++ {
		t.notedSet[t.notes[t.notedCount]] = true
	}
	if !t.notedSet[n] {
		t.notes = append(t.notes, n)
	}
}

// addDoubtfulNote adds a note about an interpretation that may well be wrong and that only a change
// of the table can correct.
func (t *table) addDoubtfulNote(p tablefile.Place, message string) {
	t.addNoteOnce(Note{File: t.file, Line: p.Line, Column: p.Column, Cell: p.Cell, Message: message, Doubtful: true})
}

// readRows calls read for each row below the header, until the end or until enough errors are
// recorded. It records faulty rows in f. It returns an error only if the machine failed or the
// context ended.
func (t *table) readRows(f *faults, read func()) error {
	for _, e := range t.brokenCells {
		f.add(e)
	}
	for !f.isFull() {
		err := t.nextRow()
		fatal := (tablefile.FatalError{})
		bad := (*Error)(nil)
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &fatal):
			f.add(fatal.Err)
			f.hasUnreadableRow = true
			return nil
		case errors.As(err, &bad):
			f.add(bad)
			f.hasUnreadableRow = true
		case err != nil:
			return err
		default:
			read()
		}
	}
	return nil
}

// fillRight copies the texts of merged cells of a row to the columns that they cover, as for one
// remark on several results. Numbers, which may be the sum of the columns, columns without a name,
// and remarks that stand alone in their row stay as they are.
func (t *table) fillRight(row []string) []string {
	if t.sheet == "" {
		return row // a text file has no merged cells
	}
	isCopied := false
	for i := range row {
		covers := t.rows.ColumnsCovered(i)
		if covers < 2 || t.hasSingleCell(row) {
			continue
		}
		if _, isNumber := measure.ParseNumber(strings.TrimSpace(row[i])); isNumber || t.rows.IsNumber(i) {
			continue
		}
		for k := i + 1; k < min(i+covers, len(row), len(t.header)); k++ {
			if t.header[k] == "" || strings.TrimSpace(row[k]) != "" {
				continue
			}
			if !isCopied {
				row, isCopied = slices.Clone(row), true
			}
			row[k] = row[i]
		}
	}
	return row
}
