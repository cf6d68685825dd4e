package dataset

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/measure"
	"kir/internal/tablefile"
)

// Evidence that a row is the header, as logarithms of odds. Those about cells are in proportion to the cells that
// meet the condition.
const (
	fullRowEvidence     = 6  // the row has as many cells with text as the fullest row
	contrastEvidence    = 6  // a cell is a text, and those below it are mostly numbers
	knownNamesEvidence  = 3  // a cell names a material, a condition or a result
	usualNameEvidence   = 2  // one of the cells has a usual name of a column, such as recipe
	numberCellsEvidence = -8 // a cell is a number
	repeatsEvidence     = -6 // a cell repeats another one
	firstRowEvidence    = 4  // no row stands above it, and none has more cells with text
	laterRowEvidence    = -1 // a row stands above it
)

const (
	maxHeaderSearchRows = 20                      // number of first rows with text among which the header is searched
	maxContrastRows     = 3 * maxHeaderSearchRows // number of first rows with text whose numbers tell a header from what is below
	minHeaderCells      = 2                       // fewest cells with text of the header of a table with more columns
)

// A headRow is one of the first rows with text of a table.
type headRow struct {
	texts   []string
	isUnits bool // whether the row names units
}

// readHead returns the first rows with text, at most maxContrastRows.
func (t *table) readHead(units *measure.Units) (head []headRow, err error) {
	rows := t.firstRows()
	for len(head) < maxContrastRows {
		row, err := rows.Next()
		if bad := (*Error)(nil); errors.As(err, &bad) || err == io.EOF {
			break // reading the whole table reports a fault
		} else if err != nil {
			return nil, err
		}
		if tablefile.IsBlank(row) {
			continue
		}
		h := headRow{isUnits: t.isUnitRow(tablefile.WithoutFilled(rows, row), units)}
		for _, text := range row {
			h.texts = append(h.texts, strings.Clone(strings.TrimSpace(text)))
		}
		head = append(head, h)
	}
	return head, nil
}

// findHeader returns the number of rows with text above the header: above that of the first rows which has most evidence.
// suits reports whether a row has a usual name of a column.
func (t *table) findHeader(suits func(row []string) bool, units *measure.Units) (above int, err error) {
	head, err := t.readHead(units)
	if err != nil || len(head) == 0 {
		return 0, err
	}
	widest, fullest := 0, 0
	for _, h := range head {
		widest = max(widest, len(h.texts))
		fullest = max(fullest, countFilled(h.texts))
	}
	if fullest < minHeaderCells {
		return 0, nil
	}
	below := make([]columnBelow, widest)
	most := math.Inf(-1)
	for k, h := range slices.Backward(head) {
		names := h.texts
		if k > 0 && countFilled(head[k-1].texts) > 1 && !head[k-1].isUnits {
			names = fillFrom(names, head[k-1].texts)
		}
		filled, contrast, numbers := 0, 0, 0
		for i, text := range names {
			if text == "" {
				continue
			}
			filled++
			if isNumberText(text) {
				numbers++
			} else if b := below[i]; 2*b.numbers > b.filled {
				contrast++
			}
		}
		for i, text := range h.texts {
			below[i].add(text)
		}
		if k >= maxHeaderSearchRows || h.isUnits && k > 0 || fullest > minHeaderCells && countFilled(h.texts) < minHeaderCells {
			continue
		}
		share := 1 / float64(filled)
		evidence := float64(fullRowEvidence*filled)/float64(fullest) + float64(contrastEvidence*contrast)/float64(fullest) +
			float64(numberCellsEvidence*float64(numbers)*share) + float64(repeatsEvidence*float64(filled-countDistinct(names))*share) +
			float64(knownNamesEvidence*shareOfKnown(names)) + float64(laterRowEvidence*k)
		if k == 0 && filled == fullest {
			evidence += firstRowEvidence
		}
		if suits(names) {
			evidence += usualNameEvidence
		}
		if evidence >= most {
			above, most = k, evidence
		}
	}
	return above, nil
}

// A columnBelow counts the cells of a column below a row.
type columnBelow struct{ filled, numbers int }

// add counts a cell.
func (b *columnBelow) add(text string) {
	if text == "" {
		return
	}
	if b.filled++; isNumberText(text) {
		b.numbers++
	}
}

// fillFrom returns the texts of a row, and those of the row above it where it has none and that has a text which is no
// number.
func fillFrom(row, above []string) []string {
	all := slices.Clone(row)
	for i, text := range above {
		if i == len(all) {
			all = append(all, "")
		}
		if all[i] == "" && !isNumberText(text) {
			all[i] = text
		}
	}
	return all
}

// isNumberText reports whether a text is a number, perhaps with a currency or a percent sign.
func isNumberText(text string) bool {
	n, _ := parseAffixedNumber(text)
	return n != (measure.Numeral{})
}

// countFilled returns the number of texts that are not blank.
func countFilled(texts []string) (filled int) {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			filled++
		}
	}
	return filled
}

// countDistinct returns the number of different texts that are not empty.
func countDistinct(texts []string) int {
	distinct := make(map[string]bool)
	for _, text := range texts {
		if text != "" {
			distinct[text] = true
		}
	}
	return len(distinct)
}

// ageUnder matches the name of a column that says only when or at what something was measured, such as 7 d or 28 days.
var ageUnder = lazyPattern(`(?i)^[0-9][0-9.,]*\s*(?:d|h|min|s|wks?|weeks?|days?|months?|hours?|hrs?|tage?|wochen?|std|jours?|j|días?|dias?|giorni|gg|dagen|dygn|dni|godz|°\s?[CF])\.?$`)

// joinGroups returns the header with the names of the row above it, where that names columns or groups of columns: a
// column without a name takes the one above it, and two columns of one name, or those called after an age such as 28 d,
// take the name of their group, too. A group reaches as far as the next one.
func (t *table) joinGroups(row []string) []string {
	if countFilled(t.groupRow) < 2 {
		return row // none, or a title
	}
	names := trimmed(row)
	for len(names) < len(t.groupRow) {
		names = append(names, "")
	}
	count := make(map[string]int)
	for _, name := range names {
		count[NormalizeName(name)]++
	}
	group := ""
	for i, name := range names {
		above := ""
		if i < len(t.groupRow) {
			above = strings.TrimSpace(t.groupRow[i])
		}
		if above != "" {
			group = above
		}
		switch {
		case name == "":
			names[i] = above
		case group != "" && (count[NormalizeName(name)] > 1 || ageUnder().MatchString(name)):
			names[i] = group + " " + name
		}
	}
	return names
}

// trimmed returns texts without the spaces around them.
func trimmed(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strings.TrimSpace(text)
	}
	return all
}

// repeatsHeader reports whether a row is the header again, or the row above it, as on the next page of a print.
func (t *table) repeatsHeader(row []string) bool {
	return repeats(row, t.headerTexts) || repeats(row, t.groupRow)
}

// repeats reports whether a row has the same texts as another one with two texts or more.
func repeats(row, other []string) bool {
	same := 0
	for i := range max(len(row), len(other)) {
		a, b := "", ""
		if i < len(row) {
			a = strings.TrimSpace(row[i])
		}
		if i < len(other) {
			b = strings.TrimSpace(other[i])
		}
		if a != b {
			return false
		}
		if a != "" {
			same++
		}
	}
	return same > 1
}
