package dataset

import (
	"fmt"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A markedNumber is a number of a label that people write with something beside it.
type markedNumber struct {
	value  string // the number, as the table writes it
	spread string // its standard deviation, as the table writes it; empty if there is none
	bound  bool   // the value is a bound of the number, as in <5
}

var (
	boundPattern  = lazyPattern(`^[<>≤≥]\s*`)
	spreadPattern = lazyPattern(`^(.*\d\s*%?)\s*(?:(?:±|\+/-|\+-)\s*([0-9.,]+)\s*%?|\(\s*(?:±\s*)?([0-9.,]+)\s*\))$`)
	notePattern   = lazyPattern(`\s*[*†‡#¹²³ᵃᵇᶜ]+\)?$|\s+\(?[a-f]{1,3}\)?$`)

	// halfMarkPattern matches a mark of a school with a tendency, such as 2- or 3+.
	halfMarkPattern = lazyPattern(`^[0-9]{1,2}\s*[+−-]$`)

	// lettersPattern matches the letters behind a mean and its standard deviation that tell which means differ, as in
	// 186.4 ± 4.1ab.
	lettersPattern = lazyPattern(`(±.*\d)\s*[a-h]{1,4}$`)
)

// parseMarkedNumber parses a number with a bound's sign before it, a standard deviation behind it, as in 85 ± 6 or
// 85 (6), or the mark of a footnote, as in 12.5*.
func parseMarkedNumber(text string) (m markedNumber, ok bool) {
	text = strings.TrimSpace(text)
	plain := notePattern().ReplaceAllString(lettersPattern().ReplaceAllString(text, "$1"), "")
	if halfMarkPattern().MatchString(plain) {
		plain = strings.TrimRight(plain, " +−-")
	}
	if b := boundPattern().FindString(plain); b != "" {
		m.bound, plain = true, plain[len(b):]
	} else if s := spreadPattern().FindStringSubmatch(plain); s != nil {
		plain, m.spread = strings.TrimSpace(s[1]), s[2]+s[3]
		if measure.ParseNumeral(m.spread) == (measure.Numeral{}) {
			return markedNumber{}, false
		}
	}
	if n, _ := parseAffixedNumber(plain); n == (measure.Numeral{}) || plain == text {
		return markedNumber{}, false
	}
	m.value = plain
	return m, true
}

// spreadSuffix is what the name of the label with the standard deviations in the cells of another has behind that of the
// other.
const spreadSuffix = " sd"

// spreadLabel returns the name of the label with the standard deviations that stand in the cells of another.
func spreadLabel(name string) string { return name + spreadSuffix }

// cell returns the value of the label in the current row of t.
func (l *labelColumn) cell(t *table) string {
	text := NormalizeName(t.row[l.column])
	if !l.holdsSpreads {
		return t.plainLabelCell(l.column, text)
	}
	m, ok := parseMarkedNumber(text)
	if !ok {
		return ""
	}
	if plain := measure.ParseNumeral(m.spread).PlainForm(t.decimalOf(l.column)); plain != "" {
		return plain
	}
	return m.spread
}

// countMark counts a number with a mark in the current row of t, for a note.
func (l *labelColumn) countMark(t *table) {
	text := NormalizeName(t.row[l.column])
	if m, ok := parseMarkedNumber(text); ok && !l.holdsSpreads && t.profiles[l.column].isMostlyNumeric() {
		at := func() tablefile.Place { return t.place(l.column) }
		switch {
		case m.bound:
			l.bounds.increment(at, text)
		case m.spread != "":
			l.spreads.increment(at, text)
		default:
			l.marks.increment(at, text)
		}
	}
}

// noteMarks notes how numbers with marks are read. It asks whether bounds are numbers, unless isGiven reports that the
// user has named the column as a label.
func (l *labelColumn) noteMarks(t *table, isGiven bool) {
	name := inputerr.Quote(l.Name)
	if n := l.bounds; n.count > 0 {
		note := Note{File: t.file, Line: n.firstPlace.Line, Column: n.firstPlace.Column, Cell: n.firstPlace.Cell,
			Message: fmt.Sprintf("%s of %s such as %s: each is read as exactly the number in it", inputerr.Count(n.count, "cell"), name, inputerr.Quote(n.example))}
		if !isGiven {
			note.Doubtful, note.AmbiguousColumn, note.AssumedRole, note.LikelyRole = true, l.Name, LabelColumn, IgnoredColumn
		}
		t.addNoteOnce(note)
	}
	if n := l.spreads; n.count > 0 {
		t.addNote(n.firstPlace, fmt.Sprintf("%s of %s such as %s: what stands behind the number is its standard deviation, in %s", inputerr.Count(n.count, "cell"), name, inputerr.Quote(n.example), inputerr.Quote(spreadLabel(l.Name))), "")
	}
	if n := l.marks; n.count > 0 {
		t.addNote(n.firstPlace, fmt.Sprintf("%s of %s such as %s: the mark is left out", inputerr.Count(n.count, "cell"), name, inputerr.Quote(n.example)), "")
	}
}
