package dataset

import (
	"errors"
	"io"
	"math"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
)

// A profile summarises the first rows of a column.
type profile struct {
	filled        int             // number of cells with text
	unknown       int             // those that mark an unknown value
	amounts       int             // those that can be parsed as amounts
	remainders    int             // those that mark the remainder of a recipe
	numbers       int             // those that are numbers with at most an affix
	affix         string          // the text beside all numbers, such as % or €
	mixed         bool            // numbers have different affixes
	markedNumbers int             // other cells: a number with a mark, such as <5 or 85 ± 6
	failed        int             // those that mark a failed recipe
	seen          map[string]bool // the distinct texts
	allDistinct   bool            // no text occurs twice
	units         int             // amounts with a unit behind them
	negative      int             // numbers below 0
	values        []float64       // numbers of the first rows, 0 for an empty cell
	example       string
}

// isNumeric reports whether all known values of a column are numbers.
func (p *profile) isNumeric() bool {
	return p.numbers > 0 && p.numbers == p.filled-p.unknown && !p.mixed
}

// isMostlyNumeric reports whether a column is numeric, even if some cells are not numbers. Numbers,
// with or without a mark, must be at least twice as many as the other known cells.
func (p *profile) isMostlyNumeric() bool {
	numbers := p.numbers + p.markedNumbers
	return p.isNumeric() || numbers >= fewestNumbers && numbers >= 2*(p.filled-p.unknown-p.failed-numbers)
}

// fewestNumbers is the least number of numbers in a numeric column that has other cells, too.
const fewestNumbers = 3

// marks are what people write beside numbers to show precision or to refer to a remark. Text behind
// ± belongs to the mark.
var (
	marksBefore = pattern(`^[<>≤≥~≈=*†‡(\[]+\s*`)
	marksBehind = pattern(`\s*(?:[?!*†‡¹²³+)\]]+|(?:±|\+/-).*)$`)
)

// isRough reports whether a text is a number with such marks.
func isRough(text string) bool {
	n, _ := parseFigure(strings.TrimSpace(marksBehind().ReplaceAllString(marksBefore().ReplaceAllString(text, ""), "")))
	return n != (numeral{})
}

// isRowNumbering reports whether a column numbers the rows from 1 on. One row may have another
// text.
func (p *profile) isRowNumbering() bool {
	next := 1
	for _, v := range p.values {
		if v == float64(next) {
			next++
		}
	}
	return next > fewestRows && next >= min(p.filled, sumRows)
}

const (
	profileRows = 1000 // number of rows that are profiled
	sumRows     = 200  // number of rows whose numbers are kept
	fewestRows  = 5    // number of rows needed to conclude that their sums are equal
)

// A markCounts counts what the numbers in text cells reveal about their decimal mark.
type markCounts struct {
	point, comma         int // numbers that are valid with only one mark
	twoWaysPoint         int // such as 1.500
	twoWaysComma         int // such as 1,500
	example, undecided   string
	placed, undecidedsAt place
}

// buildProfiles fills in the profiles of the columns from the table's first rows. It skips faulty
// rows: reading the whole table reports them. An error ends the reading.
func (t *table) buildProfiles(units *Units) error {
	t.profile = make([]profile, len(t.header))
	for i := range t.profile {
		t.profile[i].seen, t.profile[i].allDistinct = make(map[string]bool), true
	}
	head, units := t.firstRows(), units.withoutHints()
	for started, rows := false, 0; rows < profileRows; {
		if err := browsersched.Err(t.ctx); err != nil {
			return err
		}
		row, err := head.next()
		if bad := (*Error)(nil); errors.As(err, &bad) {
			if errors.As(err, new(fatalError)) {
				return nil
			}
			continue
		} else if err == io.EOF || err != nil {
			return nil // reading the whole table fails again and reports it
		}
		if !started {
			started = head.place(0).line == t.places[0].line
			continue
		}
		if isBlank(row) || len(row) < len(t.header) && !t.allowsShortRows {
			continue
		}
		if t.hasSingleCell(row) {
			continue // perhaps a footnote
		}
		if rows < sumRows {
			t.lines = append(t.lines, head.place(0).line)
			t.last = append(t.last[:0], row...)
		}
		for i := range t.header {
			text := ""
			if i < len(row) {
				text = strings.TrimSpace(row[i])
			}
			t.profile[i].add(t, text, head, i, rows, units)
		}
		rows++
	}
	return nil
}

// dropProfiles drops the data that is not needed once the columns are determined.
func (t *table) dropProfiles() {
	t.firstRows, t.lines, t.last = nil, nil, nil
	for i := range t.profile {
		t.profile[i].seen, t.profile[i].values = nil, nil
	}
}

// add adds a cell to the profile.
func (p *profile) add(t *table, text string, head rows, field, row int, units *Units) {
	value := 0.0
	defer func() {
		if value < 0 {
			p.negative++
		}
		if row < sumRows {
			p.values = append(p.values, value)
		}
	}()
	if text == "" || isDash(text) {
		return
	}
	p.filled++
	if isUnknown(text) {
		p.unknown++
	} else if p.example == "" {
		p.example = strings.Clone(text)
	}
	if p.allDistinct {
		if p.seen[text] {
			p.allDistinct, p.seen = false, nil
		} else {
			p.seen[strings.Clone(text)] = true
		}
	}
	if head.isNumber(field) {
		if f, ok := number(text); ok {
			p.amounts++
			p.countFigure("")
			value = f
			return
		}
	}
	n, affix := parseFigure(text)
	if n != (numeral{}) {
		p.countFigure(affix)
		if affix == "" || affix == "%" {
			p.amounts++
		}
		if affix == "%" {
			p.units++
		}
		countMark(&t.marking, n.decimalMark(), n.isAmbiguous(), text, head, field)
		if f, ok := number(n.point); ok {
			value = f
		} else if f, ok := number(n.comma); ok {
			value = f
		}
		return
	}
	if isRough(text) {
		p.markedNumbers++
	} else if IsFailure(text) && !isUnknown(text) {
		p.failed++
	}
	for _, d := range []Decimal{DecimalPoint, DecimalComma} {
		if d == DecimalComma && !strings.ContainsAny(text, ".,") {
			break // without a mark it reads as before
		}
		if q, message, _ := parseQuantity(text, d, units); message == "" {
			countMark(&t.marking, q.mark, q.twoWay, text, head, field)
			if q.isRest {
				p.remainders++
				break
			}
			p.amounts++
			value = q.amount.Float64()
			if q.unit != "" {
				p.units++
			}
			return
		}
	}
	value = math.NaN()
}

// isDash reports whether a cell is a dash, which means nothing.
func isDash(text string) bool { return text == "-" || text == "–" || text == "—" }

// isUnknown reports whether a cell marks an unknown number. Among texts it may be a value.
func isUnknown(text string) bool {
	switch strings.ToLower(text) {
	case "n/a", "#n/a", "n.a.", "na", "nan", "?", "k. a.", "k.a.":
		return true
	}
	return false
}

// countFigure counts a number with an affix.
func (p *profile) countFigure(affix string) {
	if p.numbers++; p.numbers == 1 {
		p.affix = affix
	}
	p.mixed = p.mixed || affix != p.affix
}

// affixes are the texts that may stand beside the number of a price or a share.
var affixes = []string{"%", "€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF"}

// parseFigure parses a number with at most an affix beside it. It returns the zero numeral if the
// text is not one.
func parseFigure(text string) (n numeral, affix string) {
	if n = parseNumeral(text); n != (numeral{}) {
		return n, ""
	}
	for _, a := range affixes {
		if rest, ok := strings.CutSuffix(text, a); ok {
			return parseNumeral(strings.TrimSpace(rest)), a
		}
		if rest, ok := strings.CutPrefix(text, a); ok {
			return parseNumeral(strings.TrimSpace(rest)), a
		}
	}
	return numeral{}, ""
}

// countMark counts what a number reveals about the decimal mark.
func countMark(m *markCounts, shows Decimal, twoWays bool, text string, head rows, field int) {
	switch {
	case shows == DecimalPoint:
		m.point++
	case shows == DecimalComma:
		if m.comma++; m.comma == 1 {
			m.example, m.placed = strings.Clone(text), head.place(field)
		}
	}
	if twoWays {
		if strings.Contains(text, ",") {
			m.twoWaysComma++
		} else {
			m.twoWaysPoint++
		}
		if m.undecided == "" {
			m.undecided, m.undecidedsAt = strings.Clone(text), head.place(field)
		}
	}
}

// chooseDecimal determines the decimal mark of text cells. A given mark applies. Otherwise it is
// the mark without which some number would be invalid. If both are needed, each number is read with
// its own mark, and ambiguous numbers are errors. If neither is, the delimiter decides: commas go
// with semicolons.
func (t *table) chooseDecimal(given Decimal) {
	m := &t.marking
	undecided := m.twoWaysComma + m.twoWaysPoint
	t.decimal = given
	if given != AnyDecimal {
		return
	}
	ask := func(p place, message string) {
		t.settling.Decimal = t.decimal
		t.addNote(p, message, Layout{Decimal: t.decimal}.YAML())
	}
	switch {
	case m.comma > 0 && m.point > 0:
		t.addNote(m.placed, "some numbers have a decimal comma, such as "+inputerr.Quote(m.example)+", and others a point: each is read as it shows", "")
		return
	case m.comma > 0:
		t.decimal = DecimalComma
		message := "the comma is read as the decimal mark, as in " + inputerr.Quote(m.example)
		if undecided > 0 {
			ask(m.undecidedsAt, message+", so "+inputerr.Quote(m.undecided)+" is "+parseNumberIn(m.undecided, DecimalComma))
			return
		}
		t.addNote(m.placed, message, "")
	case m.point > 0 || undecided == 0:
		t.decimal = DecimalPoint
		if m.twoWaysComma > 0 {
			t.addNote(m.undecidedsAt, "the comma is read as the mark between thousands, as in "+inputerr.Quote(m.undecided)+", since other numbers have a decimal point", "")
		}
	case m.twoWaysComma > 0 && m.twoWaysPoint > 0:
		return // no number decides: all ambiguous ones are errors
	case t.delimiter == ';':
		t.decimal = DecimalComma
		ask(m.undecidedsAt, inputerr.Quote(m.undecided)+" is read as "+parseNumberIn(m.undecided, DecimalComma)+": with semicolons between columns the decimal mark is taken to be the comma")
	default:
		t.decimal = DecimalPoint
		switch {
		case m.twoWaysComma > 0:
			ask(m.undecidedsAt, inputerr.Quote(m.undecided)+" is read as "+parseNumberIn(m.undecided, DecimalPoint)+": the comma is taken to stand between thousands")
		case m.twoWaysPoint > 0 && t.delimiter != ',':
			ask(m.undecidedsAt, inputerr.Quote(m.undecided)+" is read as "+parseNumberIn(m.undecided, DecimalPoint)+": the point is taken for the decimal mark, and no number shows that it is")
		}
	}
}

// parseNumberIn returns the number at the beginning of a text, in plain form.
func parseNumberIn(text string, d Decimal) string {
	if plain := parseNumeral(numeralPattern().FindString(text)).plainForm(d); plain != "" {
		return plain
	}
	return inputerr.Quote(text)
}

// plainFigure returns a cell of a numeric column as a plain number. A cell that marks an unknown
// value becomes empty; any other text stays.
func (t *table) plainFigure(field int, text string) string {
	p := &t.profile[field]
	if !p.isNumeric() {
		return text
	}
	if isDash(text) || isUnknown(text) {
		return ""
	}
	return t.withoutAffix(field, text)
}

// labelFigure is [table.plainFigure] for a label, also if some cells of a numeric column are not
// numbers. In it n/a marks a failed recipe.
func (t *table) labelFigure(field int, text string) string {
	if p := &t.profile[field]; p.isNumeric() || p.mixed || !p.isMostlyNumeric() {
		return t.plainFigure(field, text)
	}
	if isDash(text) || isUnknown(text) && !IsFailure(text) {
		return ""
	}
	return t.withoutAffix(field, text)
}

// withoutAffix returns a cell with its column's common affix as a plain number, and any other text
// unchanged.
func (t *table) withoutAffix(field int, text string) string {
	n, affix := parseFigure(text)
	if affix != t.profile[field].affix {
		return text
	}
	if plain := n.plainForm(t.decimalOf(field)); plain != "" {
		return plain
	}
	return text
}

// SameFigure reports whether two texts are the same number, whatever their format and affix, such
// as 1.5, 1,5 and 1.5 %; or the same text.
func SameFigure(a, b string) bool {
	if a == b {
		return true
	}
	x, plainX := number(a)
	y, plainY := number(b)
	if plainX && plainY {
		return x == y
	}
	n, besideA := parseFigure(a)
	m, besideB := parseFigure(b)
	if besideA != besideB && besideA != "" && besideB != "" {
		return false
	}
	for _, one := range []string{n.point, n.comma} {
		for _, other := range []string{m.point, m.comma} {
			x, okX := number(one)
			y, okY := number(other)
			if okX && okY && x == y {
				return true
			}
		}
	}
	return false
}
