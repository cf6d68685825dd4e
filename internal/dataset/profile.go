package dataset

import (
	"math"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A columnProfile summarises the first rows of one column.
type columnProfile struct {
	filledCount       int             // number of cells with text, except dashes
	unknownCount      int             // number of cells that mark an unknown value, such as n/a
	amountCount       int             // number of cells that can be parsed as amounts
	remainderCount    int             // number of cells that mark the remainder of a recipe, such as q.s. 100
	numberCount       int             // number of cells that hold a number, possibly with a currency or a percent sign
	firstAffix        string          // text beside the first number, such as % or €; empty if there is none
	affixCount        int             // number of the numbers other than bare zeros
	hasMixedAffixes   bool            // whether a later number has another affix than firstAffix
	markedNumberCount int             // number of cells that are a number with a mark, such as <5 or 85 ± 6
	spreadCount       int             // number of cells with a standard deviation behind the number, such as 85 ± 6
	failedCount       int             // number of cells that mark a failed recipe, such as unstable; n/a counts in unknownCount
	distinctTexts     map[string]bool // set of the texts; nil once a text has occurred twice
	allDistinct       bool            // whether no text occurs twice
	unitCount         int             // number of amounts with a unit behind the number
	negativeCount     int             // number of cells that hold a number below 0
	firstValues       []float64       // numbers of the first maxValueRows rows; 0 for an empty cell, NaN for other text
	valuesWithComma   []rowValue      // numbers of firstValues that are others if the comma is the decimal mark
	exampleText       string          // first text that does not mark an unknown value
	bracketCount      int             // number of cells that hold a number in brackets, as accountants write one below 0
	onlyText          string          // the text of all cells that have one; empty if they have several
	hasSeveralTexts   bool            // whether they have several
}

// isNumeric reports whether the column has numbers, and all cells that do not mark unknown values
// are numbers with the same affix.
func (p *columnProfile) isNumeric() bool {
	if 2*p.bracketCount >= p.filledCount && p.bracketCount > 0 {
		return p.numberCount+p.bracketCount == p.filledCount-p.unknownCount && !p.hasMixedAffixes
	}
	return p.numberCount > 0 && p.numberCount == p.filledCount-p.unknownCount && !p.hasMixedAffixes
}

// isRest reports whether some cells of the column mark the remainder of a recipe, and most others are amounts.
func (p *columnProfile) isRest() bool {
	return p.remainderCount > 0 && 2*(p.amountCount+p.remainderCount) > p.filledCount
}

// isMostlyNumeric reports whether most cells of the column are numbers, possibly with a mark such
// as <. There must be at least minNumbers such cells. At most half as many cells may be neither
// numbers nor marks of unknown values or failures. isMostlyNumeric also holds if isNumeric does.
func (p *columnProfile) isMostlyNumeric() bool {
	numbers := p.numberCount + p.markedNumberCount
	return p.isNumeric() || numbers >= minNumbers && numbers >= 2*(p.filledCount-p.unknownCount-p.failedCount-numbers)
}

// minNumbers is the minimum number of numeric cells in a mostly numeric column.
const minNumbers = 3

// Patterns of the marks that people write before and behind numbers, to show precision or to refer
// to a remark. The text behind ± belongs to the mark.
var (
	marksBeforePattern = lazyPattern(`^[<>≤≥~≈=*†‡(]+\s*`)
	marksBehindPattern = lazyPattern(`\s*(?:[?!*†‡¹²³+)]+|(?:±|\+/-).*)$`)
)

// A rowValue is the number of a column in a row.
type rowValue struct {
	row   int
	value float64
}

// bracketPattern matches a number in brackets. Group 1 is the number.
var bracketPattern = lazyPattern(`^\(\s*([0-9][0-9.,]*\s*%?)\s*\)$`)

// withoutBrackets returns a cell with a number in brackets as one below 0 if most cells of the column are so. Any other text
// stays as it is.
func (p *columnProfile) withoutBrackets(text string) string {
	if p.bracketCount == 0 || 2*p.bracketCount < p.filledCount {
		return text
	}
	return bracketPattern().ReplaceAllString(text, "-$1")
}

// isMarkedNumber reports whether a text is a number, possibly with marks before or behind it, such
// as <5 or 85 ± 6.
func isMarkedNumber(text string) bool {
	n, _ := parseAffixedNumber(strings.TrimSpace(marksBehindPattern().ReplaceAllString(marksBeforePattern().ReplaceAllString(text, ""), "")))
	_, isMarked := parseMarkedNumber(text)
	return n != (measure.Numeral{}) || isMarked
}

// isRowNumbering reports whether a column numbers the rows, from 1 or from a number above 100 on. One row may hold
// another text.
func (p *columnProfile) isRowNumbering() bool {
	next, numbered := 1.0, 0
	if i := slices.IndexFunc(p.firstValues, func(v float64) bool { return v != 0 && !math.IsNaN(v) }); i >= 0 && p.firstValues[i] > minSerialNumber && p.firstValues[i] == math.Trunc(p.firstValues[i]) {
		next = p.firstValues[i]
	}
	for _, v := range p.firstValues {
		if v == next {
			next++
			numbered++
		}
	}
	return numbered >= minEvidenceRows && numbered+1 >= min(p.filledCount, maxValueRows) || p.isRowOrder()
}

// isRowOrder reports whether a column has each of the numbers from 1 on once, as the random order of trials.
func (p *columnProfile) isRowOrder() bool {
	seen := make([]bool, len(p.firstValues))
	for _, v := range p.firstValues {
		if !(v >= 1 && v <= float64(len(seen))) || v != math.Trunc(v) || seen[int(v)-1] {
			return false
		}
		seen[int(v)-1] = true
	}
	return len(seen) >= minEvidenceRows && len(seen) < maxValueRows
}

// holdsYears reports whether all numbers of a column are years.
func (p *columnProfile) holdsYears() bool {
	const first, last = 1950, 2050
	years := 0
	for _, v := range p.firstValues {
		if v == 0 {
			continue
		}
		if !(v >= first && v <= last) || v != math.Trunc(v) {
			return false
		}
		years++
	}
	return years >= minEvidenceRows
}

// minSerialNumber is a number below all those at which the numbers of batches begin.
const minSerialNumber = 100

const (
	maxProfileRows  = 1000 // number of first rows that a profile summarises
	maxValueRows    = 200  // number of first rows whose numbers a profile keeps
	minEvidenceRows = 5    // minimum number of rows from which the reader draws conclusions, such as that all sums are equal
)

// A decimalMarkCounts counts what the numbers in text cells reveal about the decimal mark of the
// table.
type decimalMarkCounts struct {
	pointOnlyCount      int             // number of numbers that are valid only with a decimal point, such as 1.5
	commaOnlyCount      int             // number of numbers that are valid only with a decimal comma, such as 1,5
	ambiguousPointCount int             // number of ambiguous numbers with a point, such as 1.500
	ambiguousCommaCount int             // number of ambiguous numbers with a comma, such as 1,500
	commaExample        string          // the first number that is valid only with a decimal comma
	ambiguousExample    string          // the first ambiguous number
	commaPlace          tablefile.Place // position of commaExample
	ambiguousPlace      tablefile.Place // position of ambiguousExample
}

// buildProfiles computes the profiles of the columns from the first rows of the table. It skips
// faulty rows, because reading the whole table reports them. It returns an error only if the
// context has ended.
func (t *table) buildProfiles(units *measure.Units) error {
	t.profiles = make([]columnProfile, len(t.header))
	t.profiledLines, t.profiledTexts, t.decimalMarks, t.totalRowLine = nil, nil, decimalMarkCounts{}, 0
	for i := range t.profiles {
		t.profiles[i].distinctTexts, t.profiles[i].allDistinct = make(map[string]bool), true
	}
	head, units := t.firstRows(), units.WithoutHints()
	started, rows := false, 0
	for row := range readableRows(head, math.MaxInt) {
		if rows == maxProfileRows {
			break
		}
		if err := browsersched.Err(t.ctx); err != nil {
			return err
		}
		if !started {
			started = head.Place(0).Line == t.headerPlaces[0].Line
			continue
		}
		if tablefile.IsBlank(row) || t.repeatsHeader(row) || len(row) < len(t.header) && !t.allowsShortRows || t.unitRowLine > 0 && head.Place(0).Line == t.unitRowLine {
			continue
		}
		if t.isSummaryRow(row) || t.isLeftOutByLine(head.Place(0).Line) {
			continue
		}
		if t.hasSingleCell(row) {
			continue // perhaps a footnote
		}
		if rows < maxValueRows {
			t.profiledLines = append(t.profiledLines, head.Place(0).Line)
		}
		for i := range t.header {
			text := ""
			if i < len(row) {
				text = strings.TrimSpace(row[i])
			}
			t.profiles[i].addCell(t, text, head, i, rows, units)
		}
		rows++
	}
	return nil
}

// wrapRows makes the table yield its rows through wrap, and profiles its columns anew.
func (t *table) wrapRows(wrap func(tablefile.Rows) tablefile.Rows, units *measure.Units) error {
	first := t.firstRows
	t.rows, t.firstRows = wrap(t.rows), func() tablefile.Rows { return wrap(first()) }
	err := t.buildProfiles(units)
	t.correctValues()
	return err
}

// maxInitials is the maximum length of a text in capitals that is taken for initials and not for one of a unit.
const maxInitials = 3

// dropProfiles releases the parts of the profiles that are not needed once the columns have been
// interpreted.
func (t *table) dropProfiles() {
	t.firstRows, t.profiledLines, t.profiledTexts = nil, nil, nil
	for i := range t.profiles {
		t.profiles[i].distinctTexts, t.profiles[i].firstValues, t.profiles[i].valuesWithComma = nil, nil, nil
	}
}

// addCell adds a cell to the profile. text is the content of the cell. row is the number of
// profiled rows before the current row of head, and field is the index of the cell.
func (p *columnProfile) addCell(t *table, text string, head tablefile.Rows, field, row int, units *measure.Units) {
	value := 0.0
	defer func() {
		if value < 0 {
			p.negativeCount++
		}
		if row < maxValueRows {
			p.firstValues = append(p.firstValues, value)
		}
	}()
	if text == "" || isDash(text) {
		return
	}
	p.filledCount++
	if t.isUnknown(text) {
		p.unknownCount++
	} else if p.exampleText == "" {
		p.exampleText = strings.Clone(text)
	}
	switch {
	case p.onlyText == "" && !p.hasSeveralTexts:
		p.onlyText = strings.Clone(text)
	case text != p.onlyText:
		p.onlyText, p.hasSeveralTexts = "", true
	}
	if p.allDistinct {
		if p.distinctTexts[text] {
			p.allDistinct, p.distinctTexts = false, nil
		} else {
			p.distinctTexts[strings.Clone(text)] = true
		}
	}
	if strings.HasPrefix(text, "(") && bracketPattern().MatchString(text) {
		p.bracketCount++
	}
	if head.IsNumber(field) {
		if f, ok := measure.ParseNumber(text); ok {
			p.amountCount++
			p.countNumber("", f == 0)
			value = f
			return
		}
	}
	n, affix := parseAffixedNumber(text)
	if n != (measure.Numeral{}) {
		f, _ := measure.ParseNumber(n.WithPoint)
		p.countNumber(affix, affix == "" && n.WithPoint != "" && f == 0)
		if affix == "" || affix == "%" {
			p.amountCount++
		}
		if affix == "%" {
			p.unitCount++
		}
		countDecimalMark(&t.decimalMarks, n.DecimalMark(), n.IsAmbiguous(), text, head, field)
		if value = n.Value(); n.IsAmbiguous() && row < maxValueRows {
			p.valuesWithComma = append(p.valuesWithComma, rowValue{row, measure.Numeral{WithComma: n.WithComma}.Value()})
		}
		return
	}
	if isMarkedNumber(text) {
		p.markedNumberCount++
		if m, ok := parseMarkedNumber(text); ok {
			if plain := notePattern().ReplaceAllString(text, ""); m.spread == "" && !m.bound && plain != text {
				p.amountCount++ // an amount, too, may have the mark of a footnote
			}
			if m.spread != "" {
				p.spreadCount++
			}
			n, _ := parseAffixedNumber(m.value)
			countDecimalMark(&t.decimalMarks, n.DecimalMark(), n.IsAmbiguous(), m.value, head, field)
			if m.bound {
				p.amountCount++
				value = n.Value()
				return
			}
		}
	} else if IsFailureMark(text) && !t.isUnknown(text) {
		p.failedCount++
	}
	for _, d := range []measure.Decimal{measure.DecimalPoint, measure.DecimalComma} {
		if d == measure.DecimalComma && !strings.ContainsAny(text, ".,") {
			break // without a mark it reads as before
		}
		if q, message, _ := measure.ParseQuantity(text, d, units); message == "" {
			countDecimalMark(&t.decimalMarks, q.DecimalMark, q.IsAmbiguous, text, head, field)
			if q.IsRemainder {
				p.remainderCount++
				break
			}
			if q.Reading == measure.ImpliedOneReading && len(text) <= maxInitials && text != strings.ToLower(text) {
				break // the initials of a person, such as LB
			}
			p.amountCount++
			value = baseValue(q, units)
			if q.IsAmbiguous && d == measure.DecimalPoint && row < maxValueRows {
				if q, message, _ := measure.ParseQuantity(text, measure.DecimalComma, units); message == "" {
					p.valuesWithComma = append(p.valuesWithComma, rowValue{row, baseValue(q, units)})
				}
			}
			if t.isUnknown(text) {
				value = math.NaN() // n. b. says that a number is not known, or that it is left to taste
			}
			if q.Unit != "" {
				p.unitCount++
			}
			return
		}
	}
	value = math.NaN()
}

// baseValue returns an amount in the base unit of its kind.
func baseValue(q measure.Quantity, units *measure.Units) float64 {
	if unit, ok := units.Lookup(q.Unit); ok {
		return float64(q.Amount.Float64() * unit.Size.Float64())
	}
	return q.Amount.Float64()
}

// isDash reports whether the text of a cell is a dash, which people write for an empty cell.
func isDash(text string) bool { return text == "-" || text == "–" || text == "—" }

// isUnknown reports whether the text of a cell in a column of numbers marks an unknown value, by itself or as the layout
// says.
func (t *table) isUnknown(text string) bool { return isUnknownMark(text) || t.isListedUnknown(text) }

// isListedUnknown reports whether the layout lists a text for values that are not known.
func (t *table) isListedUnknown(text string) bool {
	return slices.ContainsFunc(t.unknownTexts, func(other string) bool { return NormalizeName(other) == NormalizeName(text) })
}

// isUnknownMark reports whether the text of a cell in a column of numbers marks an unknown value,
// such as n/a. In a column of texts it may be a value.
func isUnknownMark(text string) bool { return unknownWord.includes(strings.ToLower(text)) }

// countNumber counts a number with a given affix, which is empty if there is none. A bare zero goes with any affix.
func (p *columnProfile) countNumber(affix string, isBareZero bool) {
	p.numberCount++
	if isBareZero {
		return
	}
	if p.affixCount++; p.affixCount == 1 {
		p.firstAffix = affix
	}
	p.hasMixedAffixes = p.hasMixedAffixes || affix != p.firstAffix
}

// affixes are the currencies and the percent sign that may stand beside a number.
var affixes = []string{"%", "€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF"}

// parseAffixedNumber parses a number that may have a currency or a percent sign before or behind
// it, the affix. It returns the zero numeral if the text is not such a number.
func parseAffixedNumber(text string) (n measure.Numeral, affix string) {
	if n = measure.ParseNumeral(text); n != (measure.Numeral{}) {
		return n, ""
	}
	for _, a := range affixes {
		if rest, ok := strings.CutSuffix(text, a); ok {
			return measure.ParseNumeral(strings.TrimSpace(rest)), a
		}
		if rest, ok := strings.CutPrefix(text, a); ok {
			return measure.ParseNumeral(strings.TrimSpace(rest)), a
		}
	}
	return measure.Numeral{}, ""
}

// countDecimalMark counts what a number in a field of the current row of head reveals about the
// decimal mark. The parameter shown is the only decimal mark with which the number is valid, or
// AnyDecimal. ambiguous reports that the number has different values with the two marks.
func countDecimalMark(m *decimalMarkCounts, shown measure.Decimal, ambiguous bool, text string, head tablefile.Rows, field int) {
	switch {
	case shown == measure.DecimalPoint:
		m.pointOnlyCount++
	case shown == measure.DecimalComma:
		if m.commaOnlyCount++; m.commaOnlyCount == 1 {
			m.commaExample, m.commaPlace = strings.Clone(text), head.Place(field)
		}
	}
	if ambiguous {
		if strings.Contains(text, ",") {
			m.ambiguousCommaCount++
		} else {
			m.ambiguousPointCount++
		}
		if m.ambiguousExample == "" {
			m.ambiguousExample, m.ambiguousPlace = strings.Clone(text), head.Place(field)
		}
	}
}

// chooseDecimalMark sets the decimal mark of text cells to the given mark. If given is AnyDecimal,
// it chooses the mark without which some number would be invalid. If different numbers need
// different marks, each number is read with its own mark, and ambiguous numbers are errors. If no
// number decides, it chooses the comma in a file with semicolons between columns, and otherwise the
// point. But if ambiguous numbers have a comma in some cells and a point in others, it chooses
// none.
func (t *table) chooseDecimalMark(given measure.Decimal) {
	defer t.correctValues()
	m := &t.decimalMarks
	undecided := m.ambiguousCommaCount + m.ambiguousPointCount
	t.decimal = given
	if given != measure.AnyDecimal {
		return
	}
	ask := func(p tablefile.Place, message string) {
		t.guessedLayout.Decimal = t.decimal
		t.addNote(p, message, Layout{Decimal: t.decimal}.YAML())
	}
	switch {
	case m.commaOnlyCount > 0 && m.pointOnlyCount > 0:
		t.addNote(m.commaPlace, "some numbers have a decimal comma, such as "+inputerr.Quote(m.commaExample)+", and others a point: each is read as it shows", "")
		return
	case m.commaOnlyCount > 0:
		t.decimal = measure.DecimalComma
		message := "the comma is read as the decimal mark, as in " + inputerr.Quote(m.commaExample)
		if undecided > 0 {
			ask(m.ambiguousPlace, message+", so "+inputerr.Quote(m.ambiguousExample)+" is "+plainFormOf(m.ambiguousExample, measure.DecimalComma)+", not "+plainFormOf(m.ambiguousExample, measure.DecimalPoint))
			return
		}
		t.addNote(m.commaPlace, message, "")
	case m.pointOnlyCount > 0 || undecided == 0:
		t.decimal = measure.DecimalPoint
		if m.ambiguousCommaCount > 0 {
			t.addNote(m.ambiguousPlace, "the comma is read as the mark between thousands, as in "+inputerr.Quote(m.ambiguousExample)+", since other numbers have a decimal point", "")
		}
	case m.ambiguousCommaCount > 0 && m.ambiguousPointCount > 0:
		return // no number decides: all ambiguous ones are errors
	case t.delimiter == ';':
		t.decimal = measure.DecimalComma
		ask(m.ambiguousPlace, inputerr.Quote(m.ambiguousExample)+" is read as "+plainFormOf(m.ambiguousExample, measure.DecimalComma)+": with semicolons between columns the decimal mark is taken to be the comma")
	default:
		t.decimal = measure.DecimalPoint
		switch {
		case m.ambiguousCommaCount > 0:
			ask(m.ambiguousPlace, inputerr.Quote(m.ambiguousExample)+" is read as "+plainFormOf(m.ambiguousExample, measure.DecimalPoint)+": the comma is taken to stand between thousands")
		case m.ambiguousPointCount > 0 && t.delimiter != ',':
			ask(m.ambiguousPlace, inputerr.Quote(m.ambiguousExample)+" is read as "+plainFormOf(m.ambiguousExample, measure.DecimalPoint)+": the point is taken for the decimal mark, and no number shows that it is")
		}
	}
}

// correctValues reads the numbers in the profiles with a decimal comma, if that is the decimal mark of the table.
func (t *table) correctValues() {
	if t.decimal != measure.DecimalComma {
		return
	}
	for i := range t.profiles {
		for _, v := range t.profiles[i].valuesWithComma {
			t.profiles[i].firstValues[v.row] = v.value
		}
	}
}

// plainFormOf returns the plain form of the number at the beginning of a text, read with the
// decimal mark d. If there is no number, it returns the text in quotes.
func plainFormOf(text string, d measure.Decimal) string {
	if plain := measure.FirstNumeral(text).PlainForm(d); plain != "" {
		return plain
	}
	return inputerr.Quote(text)
}

// plainCell returns the text of a cell. In a numeric column it converts a number to plain form,
// such as 1.5, and a dash or a mark of an unknown value to an empty text. It returns any other text
// unchanged.
func (t *table) plainCell(field int, text string) string {
	p := &t.profiles[field]
	text = p.withoutBrackets(text)
	if !p.isNumeric() {
		return text
	}
	if isDash(text) || t.isUnknown(text) {
		return ""
	}
	return t.stripAffix(field, text)
}

// plainLabelCell returns the text of a cell of a label, converted as by plainCell. It also converts
// the numbers of a mostly numeric column. In such a column n/a marks a failed recipe and stays.
func (t *table) plainLabelCell(field int, text string) string {
	text = t.profiles[field].withoutBrackets(text)
	if t.isListedUnknown(text) {
		return ""
	}
	if p := &t.profiles[field]; p.isNumeric() || p.hasMixedAffixes || !p.isMostlyNumeric() {
		return t.plainCell(field, text)
	}
	if isDash(text) || isUnknownMark(text) && !IsFailureMark(text) {
		return ""
	}
	if m, ok := parseMarkedNumber(text); ok {
		text = m.value
	}
	return t.stripAffix(field, text)
}

// stripAffix removes the affix of the column from a cell and returns the number in plain form. It
// returns any other text unchanged.
func (t *table) stripAffix(field int, text string) string {
	n, affix := parseAffixedNumber(text)
	if affix != t.profiles[field].firstAffix {
		return text
	}
	if plain := n.PlainForm(t.decimalOf(field)); plain != "" {
		return plain
	}
	return text
}

// SameNumber reports whether two texts are equal or stand for the same number, such as 1.5, 1,5 and
// 1.5 %. The decimal marks may differ. One of the numbers may lack a currency or percent sign, but
// two different signs make the numbers different.
func SameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, plainX := measure.ParseNumber(a)
	y, plainY := measure.ParseNumber(b)
	if plainX && plainY {
		return x == y
	}
	n, besideA := parseAffixedNumber(a)
	m, besideB := parseAffixedNumber(b)
	if besideA != besideB && besideA != "" && besideB != "" {
		return false
	}
	for _, one := range []string{n.WithPoint, n.WithComma} {
		for _, other := range []string{m.WithPoint, m.WithComma} {
			x, okX := measure.ParseNumber(one)
			y, okY := measure.ParseNumber(other)
			if okX && okY && x == y {
				return true
			}
		}
	}
	return false
}
