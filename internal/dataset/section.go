package dataset

import (
	"strings"

	"kir/internal/measure"
)

// A section is what the heading above some columns, or in a row of its own above the rows of a transposed table, says
// of them.
type section int

const (
	noSection          section = iota // there is no heading, or it does not tell
	compositionSection                // amounts of ingredients
	setSection                        // what is set for a trial
	resultSection                     // what is measured in a trial
)

// sectionOf tells by its words what a heading says of what stands below it.
func sectionOf(heading string) section {
	name, unit := SplitHeaderUnit(NormalizeName(heading))
	words := wordsOf(name)
	of, isAmount := measure.UsualUnits().Lookup(unit)
	switch {
	case isAmount && !of.Kind.IsPercent() && !resultHeading.isIn(words) && !resultWord.isIn(words):
		return compositionSection
	case setHeading.isIn(words):
		return setSection
	case resultHeading.isIn(words) || resultWord.isIn(words):
		return resultSection
	case compositionHeading.isIn(words) || ingredientWord.isIn(words):
		return compositionSection
	case processWord.isIn(words):
		return setSection
	}
	return noSection
}

// unitOfHeading returns the unit of amounts in a heading, such as g/kg in Ingredients (g/kg as fed); empty if there is none.
func unitOfHeading(heading string, units *measure.Units) string {
	open, end := strings.LastIndexByte(heading, '('), strings.LastIndexByte(heading, ')')
	if open < 0 || end < open || sectionOf(heading) == resultSection || sectionOf(heading) == setSection {
		return ""
	}
	return amountUnitAt(heading[open+1:end], units)
}

// findSections sets the sections of the columns from the row above the header, if that names groups of columns. A group
// reaches as far as the next one.
func (t *table) findSections() {
	groups := trimmed(t.groupRow)
	if countFilled(groups) < 2 {
		return // none, or a title
	}
	t.sections = make([]section, len(t.header))
	in := noSection
	for i := range t.header {
		if i < len(groups) && groups[i] != "" {
			if in = sectionOf(groups[i]); strings.EqualFold(NormalizeName(groups[i]), t.header[i]) {
				in = noSection // the name of a column with a single heading
			}
		}
		t.sections[i] = in
	}
}

// sectionAt returns the section of a column.
func (t *table) sectionAt(i int) section {
	if i < len(t.sections) {
		return t.sections[i]
	}
	return noSection
}

// origin returns what a section says of whether the values below it are set or measured.
func (s section) origin() Origin {
	switch s {
	case setSection:
		return SetInTrial
	case resultSection:
		return MeasuredInTrial
	}
	return UnknownOrigin
}
