package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// readUnitRow looks for a row of units directly below the header, such as mol% and °C. Its units become part of the
// columns' names, as in "Tg (°C)", and the row is left out.
func (t *table) readUnitRow(units *measure.Units) {
	head := t.firstRows()
	started := false
	for row := range readableRows(head, math.MaxInt) {
		if tablefile.IsBlank(row) {
			continue
		}
		if !started {
			started = head.Place(0).Line == t.headerPlaces[0].Line
			continue
		}
		if row = tablefile.WithoutFilled(head, row); t.isUnitRow(row, units) {
			t.unitRowLine, t.writtenNames = head.Place(0).Line, slices.Clone(t.header)
			t.nameByUnits(row, head)
			t.addUnits(row, units, head.Place(0), "the row below the header gives the units")
		}
		return
	}
}

// nameByUnits gives the columns without a name behind one with a name, for which a row of units has a unit, the name before
// them with that unit: the amounts of a recipe may stand there in another unit.
func (t *table) nameByUnits(row []string, head tablefile.Rows) {
	for i := 1; i < min(len(row), len(t.header)+1); i++ {
		unit := bareUnit(row[i])
		if i < len(t.header) && t.header[i] != "" || t.writtenNames[i-1] == "" || unit == "" || isDash(unit) {
			continue
		}
		name := t.writtenNames[i-1] + " (" + unit + ")"
		if _, taken := t.byName[name]; taken {
			continue
		}
		if i == len(t.header) {
			t.header, t.writtenNames, t.headerPlaces = append(t.header, ""), append(t.writtenNames, ""), append(t.headerPlaces, head.Place(i))
			t.headerWidth = max(t.headerWidth, i+1)
		}
		t.header[i], t.byName[name] = name, i
	}
}

const (
	minUnitCells     = 2  // fewest units in a row of units
	maxUnitCellBytes = 14 // longest text that may be an unknown unit in it
)

// isUnitRow reports whether a row names the units of the columns: units in two cells or more, the word unit in the first
// perhaps, and in at most half as many cells short texts, which may be units, too.
func (t *table) isUnitRow(row []string, units *measure.Units) bool {
	count, unknown := 0, 0
	for i, text := range row {
		text = strings.TrimSpace(text)
		switch {
		case text == "" || isDash(text):
		case isUnitText(text, units):
			count++
		case i == 0 && limitWord.includes(strings.ToLower(strings.Trim(text, " .:()[]"))):
		case len(text) <= maxUnitCellBytes && !isNumberText(text):
			unknown++
		default:
			return false
		}
	}
	return count >= minUnitCells && 2*unknown <= count
}

// isUnitText reports whether a text is a unit, with or without brackets.
func isUnitText(text string, units *measure.Units) bool {
	text = bareUnit(text)
	lower := strings.ToLower(text)
	if _, ok := units.Lookup(text); ok || setUnit.includes(lower) || ambiguousUnit.includes(lower) {
		return true
	}
	if unit, of, ok := strings.Cut(text, " "); ok && len(of) <= maxUnitCellBytes && !strings.ContainsAny(of, "0123456789") && unit != strings.ToUpper(of) {
		if _, ok := units.Lookup(unit); ok && (unit == "%" || strings.ToLower(unit) == unit) && strings.Contains(of, ".") {
			return true // such as % o. f., of the flour
		}
	}
	known := headerUnits()
	left, right, per := strings.Cut(text, "/")
	return slices.Contains(known, text) || per && slices.Contains(known, strings.TrimRight(left, "²³23^")) && (slices.Contains(known, strings.TrimRight(right, "²³23^")) || perWord().MatchString(right))
}

// perWord matches what an amount may be of, as in mg/tablet.
var perWord = lazyPattern(`^\pL{3,10}\.?$`)

// bareUnit returns a unit without brackets around it.
func bareUnit(text string) string {
	text = strings.TrimSpace(text)
	for _, pair := range []string{"()", "[]"} {
		if inner, ok := strings.CutPrefix(text, pair[:1]); ok && strings.HasSuffix(inner, pair[1:]) {
			return strings.TrimSpace(strings.TrimSuffix(inner, pair[1:]))
		}
	}
	return text
}

// addGroupUnits adds the units of the groups above the header, as in Composition (wt%), to the names of the columns below
// them that have none. A group ends with its merged cell, or else where the next one begins.
func (t *table) addGroupUnits(units *measure.Units) {
	groups := 0
	for _, text := range t.groupRow {
		if text = strings.TrimSpace(text); text != "" {
			groups++
		}
		if text != "" && text[0] >= '0' && text[0] <= '9' {
			return // such as a batch size
		}
	}
	if groups < 2 && (len(t.groupRow) == 0 || strings.TrimSpace(t.groupRow[0]) != "") {
		return // a title
	}
	row := make([]string, len(t.header))
	unit, end := "", len(row)
	for i := range row {
		if i < len(t.groupRow) && strings.TrimSpace(t.groupRow[i]) != "" {
			group := NormalizeName(t.groupRow[i])
			if end = len(row); t.groupWidths[i] > 0 {
				end = i + t.groupWidths[i]
			}
			_, unit = SplitHeaderUnit(group)
			if isUnitText(group, units) {
				unit = bareUnit(group)
			}
			unit = amountUnitAt(unit, units)
		}
		if i < end {
			row[i] = unit
		}
	}
	t.addUnits(row, units, t.headerPlaces[0], "the row above the header gives units")
}

// amountUnitAt returns the unit of amounts with which a text begins, as in wt.% unless noted; empty if there is none.
func amountUnitAt(text string, units *measure.Units) string {
	for text != "" {
		if _, ok := units.Lookup(text); ok {
			return text
		}
		at := strings.LastIndexByte(text, ' ')
		text = strings.TrimRight(text[:max(at, 0)], " ,;")
	}
	return ""
}

// hasBracketedUnit reports whether a column's name has a unit in brackets at its end.
func hasBracketedUnit(name string) bool {
	_, unit := SplitHeaderUnit(name)
	return unit != "" && (strings.HasSuffix(name, ")") || strings.HasSuffix(name, "]"))
}

// hasKnownUnit reports whether a column's name has a known unit in brackets at its end.
func hasKnownUnit(name string, units *measure.Units) bool {
	_, unit := SplitHeaderUnit(name)
	return hasBracketedUnit(name) && isUnitText(unit, units)
}

// addUnits adds the units of a row to the columns' names that have none, with a note.
func (t *table) addUnits(row []string, units *measure.Units, at tablefile.Place, message string) {
	example := ""
	for i, name := range t.header {
		if i >= len(row) || name == "" {
			continue
		}
		unit := bareUnit(scalePattern().ReplaceAllString(row[i], ""))
		if amount := amountUnitAt(unit, units); amount != "" && isUnitText(unit, units) {
			unit = amount
		}
		if hasKnownUnit(name, units) || isUnitText(name, units) && !isFormula(name) || unit == "" || isDash(unit) || i == 0 && limitWord.includes(strings.ToLower(unit)) {
			continue
		}
		if !mayBeUnit(unit) {
			continue // such as the load of a hardness
		}
		with := name + " (" + unit + ")"
		if _, taken := t.byName[with]; taken {
			continue
		}
		delete(t.byName, name)
		t.header[i], t.byName[with] = with, i
		if example == "" {
			example = fmt.Sprintf(": column %s is %s", inputerr.Quote(name), inputerr.Quote(with))
		}
	}
	if example != "" {
		t.addNote(at, message+example, "")
	}
}
