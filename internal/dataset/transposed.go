package dataset

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// isTransposed reports whether the table has a row for each ingredient and a column for each recipe: whether the options
// say so, or the evidence of a [formReader] does. The table is not transposed if the options give any other role to one of
// its columns, or a column behind the first has a name such as recipe, amount or ml.
func (t *table) isTransposed(o Options, units *measure.Units) bool {
	first := t.firstNamedColumn()
	if first < 0 || first+2 >= len(t.header) || 2*t.profiles[first].amountCount > t.profiles[first].filledCount {
		return false
	}
	given := false
	for name, role := range o.Columns {
		if i, ok := t.byName[NormalizeName(name)]; ok && i == first && role == IngredientColumn {
			given = true
		} else if ok {
			return false
		}
	}
	for _, name := range t.header[first+1:] {
		if _, isUnit := units.Lookup(name); isRecipeHeader(name) && !(matchesRole(name, IngredientColumn) && matchesRole(t.header[first], IngredientColumn)) || isUnit && name == strings.ToLower(name) {
			return false
		}
	}
	if given {
		return true
	}
	if t.hasBlocks {
		return true
	}
	f := newFormReader(t, first)
	evidence := f.turned()
	if evidence <= 0 && evidence > -doubtfulEvidence {
		t.addFormNote(first, RecipeColumn, fmt.Sprintf("each row is taken as a recipe, such as %s, and not each column, such as %s", inputerr.Quote(f.rows[0][first]), inputerr.Quote(t.header[f.numbers[0]])))
	}
	return evidence > 0
}

// addFormNote adds a note about the form of the table, which is another one if a column names the ingredients. assumed is
// the role that the column has now.
func (t *table) addFormNote(column int, assumed Role, message string) {
	p := t.headerPlaces[column]
	t.addNoteOnce(Note{File: t.file, Line: p.Line, Column: p.Column, Cell: p.Cell, Message: message, Doubtful: true,
		AmbiguousColumn: t.header[column], AssumedRole: assumed, LikelyRole: IngredientColumn})
}

// firstNamedColumn returns the index of the column that would hold the names of the ingredients in a transposed table: of
// the first columns with texts in nearly all rows, one whose name has the role of ingredients, or else the first in which
// all texts differ, or else the first column with a name. It returns −1 if no column has a name.
func (t *table) firstNamedColumn() int {
	distinct := -1
	for i := range min(len(t.header), maxNameColumns) {
		p := &t.profiles[i]
		if t.header[i] == "" || 4*p.amountCount > p.filledCount || 10*p.filledCount < 9*len(t.profiledLines) || len(t.profiledLines) == 0 {
			continue
		}
		if matchesRole(t.header[i], IngredientColumn) && t.mostlyDiffer(i) {
			return i
		}
		if distinct < 0 && p.allDistinct {
			distinct = i
		}
	}
	if distinct >= 0 {
		return distinct
	}
	return slices.IndexFunc(t.header, func(name string) bool { return name != "" })
}

// mostlyDiffer reports whether nine in ten of the texts of a column occur once.
func (t *table) mostlyDiffer(i int) bool {
	distinct := make(map[string]bool)
	rows := t.firstTexts()
	for _, row := range rows {
		distinct[row[i]] = true
	}
	return 10*len(distinct) >= 9*len(rows)
}

// maxNameColumns is the number of first columns among which that of the names of the ingredients is searched.
const maxNameColumns = 6

// isNoRecipe reports whether the name of a column of a transposed table says that it describes the ingredients or other
// columns, as a price or a mean does.
func (t *table) isNoRecipe(i int) bool {
	name := t.header[i]
	if t.hasBlocks {
		return false
	}
	what, _ := summaryOf(name)
	if words := wordsOf(yearlyPattern().ReplaceAllString(name, "")); len(words) == 1 && costWord.includes(words[0]) {
		return true
	}
	return name == "" || strings.HasPrefix(name, "%") || t.writtenNames != nil && t.writtenNames[i] == "" || t.holdsUnits(i, measure.UsualUnits()) || what != "" || strings.Contains(name, "/") && isUnitText(name, measure.UsualUnits()) || t.hasOddUnit(i) || attributeName.includes(strings.ToLower(name))
}

// holdsUnits reports whether a column is called after units, or has units of two kinds or more, and little else.
func (t *table) holdsUnits(i int, units *measure.Units) bool {
	if matchesRole(t.header[i], UnitColumn) {
		return true
	}
	if t.profiles[i].numberCount > 0 {
		return false
	}
	filled, known := 0, make(map[string]int)
	for _, row := range t.firstTexts() {
		if text := row[i]; text != "" && !isDash(text) {
			filled++
			if isUnitText(text, units) {
				known[text]++
			}
		}
	}
	count := 0
	for _, n := range known {
		count += n
	}
	return len(known) > 1 && 4*count >= 3*filled
}

// hasOddUnit reports whether the name of a column has a unit, as those of densities and prices have, while most others
// have none.
func (t *table) hasOddUnit(i int) bool {
	if t.unitNames == nil {
		t.unitNames = make([]bool, len(t.header))
		for k, name := range t.header {
			_, unit := SplitHeaderUnit(name)
			if t.unitNames[k] = unit != "" && isUnitText(unit, measure.UsualUnits()); t.unitNames[k] {
				t.unitNameCount++
			}
		}
	}
	return t.unitNames[i] && 2*t.unitNameCount <= len(t.header)
}

// transposedOptions returns the options for reading t, the transposed form of the table before. A
// row of before that follows the rows which add up to 100 or 1 is not an ingredient, but a label or
// a sum. A row that the layout leaves out by its name is ignored.
func (t *table) transposedOptions(o Options, before *table) Options {
	columns := make(map[string]Role)
	for name, role := range o.Columns {
		if _, ok := before.byName[NormalizeName(name)]; !ok {
			columns[name] = role
		}
	}
	given := o.Layout
	given.Columns, given.Without = columns, nil
	for _, name := range o.Without {
		i, isRow := t.byName[NormalizeName(name)]
		if _, isRecipe := before.byName[NormalizeName(name)]; isRow && i > 0 && !isRecipe {
			columns[t.header[i]] = IgnoredColumn
		} else {
			given.Without = append(given.Without, name)
		}
	}
	o.Layout = given
	return o
}

// transpose reads the table to its end and returns it with rows and columns exchanged: a table in
// the wide form.
func (t *table) transpose(l Layout, units *measure.Units) (*table, error) {
	first := t.firstNamedColumn()
	named := slices.Clone(t.header)
	if t.writtenNames != nil {
		named = slices.Clone(t.writtenNames)
	}
	named[first] = string(RecipeColumn)
	var cells [][]string
	var places [][]tablefile.Place
	exacts, filled := make(map[[2]int]bool), make(map[[2]int]bool)
	var kept []int
	unitColumn, rowUnits := -1, []string{""}
	in, sections := noSection, []section{noSection}
	sectionUnit, hasUnits := "", false
	asides := make(map[int]map[int]string) // by column: texts by index of the ingredient's column in the result
	for i := first; i < len(t.header); i++ {
		if i > first && unitColumn < 0 && t.holdsUnits(i, units) {
			unitColumn = i
			continue
		}
		if p := &t.profiles[i]; i > first && (p.amountCount == 0 || t.isNoRecipe(i)) {
			reason := asideReason(t.header[i])
			switch {
			case p.filledCount == 0:
			case reason != "":
				t.addNote(t.headerPlaces[i], "column "+inputerr.Quote(t.header[i])+" has "+reason+", by its name, and is no recipe: it is left out", "")
			case p.amountCount == 0:
				t.addNote(t.headerPlaces[i], "column "+inputerr.Quote(t.header[i])+" holds text such as "+inputerr.Quote(p.exampleText)+" and is left out", "")
			default:
				t.addNote(t.headerPlaces[i], "column "+inputerr.Quote(t.header[i])+" is no recipe, by its name, and is left out", "")
			}
			if t.header[i] != "" && p.filledCount > 0 && (p.amountCount == 0 || reason != "") {
				asides[i] = make(map[int]string)
			}
			continue
		}
		kept, cells, places = append(kept, i), append(cells, []string{named[i]}), append(places, []tablefile.Place{t.headerPlaces[i]})
	}
	for {
		row, err := t.nextFilledRow(first)
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if remark := strings.TrimSpace(strings.Join(row, " ")); t.hasSingleCell(row) {
			in, sectionUnit = sectionOf(remark), unitOfHeading(remark, units)
			t.addNote(t.rows.Place(first), fmt.Sprintf(footnoteFormat, inputerr.Quote(remark)), "")
			continue
		}
		if strings.TrimSpace(row[min(first, len(row)-1)]) == "" && !slices.ContainsFunc(row, func(text string) bool { return isNumberText(strings.TrimSpace(text)) }) {
			t.noteLeftOut(t.rows.Line(first), outAsEmpty)
			t.addDoubtfulNote(t.rows.Place(first), "a row of texts without a name is left out")
			continue
		}
		at := len(cells[0])
		if (at+1)*len(cells) > tablefile.MaxCells {
			return nil, t.errorAtPlace(t.rows.Place(0), fmt.Sprintf("the table has more than %d cells", tablefile.MaxCells), "write a row for each recipe")
		}
		if len(row) > len(t.header) && !tablefile.IsBlank(row[len(t.header):]) {
			return nil, withFixes(t.errorAtPlace(t.rows.Place(len(t.header)), "the row is longer than the header", "name the recipe, or empty the cell"), headerStage, rowFix(t.rows.Place(first).Line))
		}
		rowUnit := ""
		if unitColumn >= 0 && unitColumn < len(row) {
			rowUnit = strings.Clone(bareUnit(row[unitColumn]))
		}
		if rowUnit == "" {
			rowUnit = sectionUnit
		}
		hasUnits = hasUnits || rowUnit != ""
		rowUnits, sections = append(rowUnits, rowUnit), append(sections, in)
		for from, texts := range asides {
			if from < len(row) {
				if text := t.asideText(from, row[from]); text != "" {
					texts[at] = text
				}
			}
		}
		for i, from := range kept {
			text := ""
			if from < len(row) {
				text = strings.Clone(row[from])
				if t.rows.IsNumber(from) {
					exacts[[2]int{i, at}] = true
				}
				if t.rows.IsFilled(from) && from > first {
					filled[[2]int{i, at}] = true
				}
			}
			cells[i], places[i] = append(cells[i], text), append(places[i], t.rows.Place(from))
		}
	}
	message, settle := "column "+inputerr.Quote(t.header[first])+" names the ingredients, and each column behind it is a recipe, such as "+inputerr.Quote(cells[min(1, len(cells)-1)][0]), ""
	if _, given := l.Columns[t.header[first]]; !given && !matchesRole(t.header[first], IngredientColumn) {
		ask := Layout{Columns: map[string]Role{t.header[first]: IngredientColumn}}
		t.guessedLayout, settle = t.guessedLayout.Merge(ask), ask.YAML()
	}
	for _, from := range slices.Sorted(maps.Keys(asides)) {
		t.addAside(t.header[from], asides[from])
	}
	p := t.headerPlaces[first]
	note := Note{File: t.file, Line: p.Line, Column: p.Column, Cell: p.Cell, Message: message, Setting: settle}
	if settle != "" {
		note.AmbiguousColumn, note.AssumedRole, note.LikelyRole = t.header[first], IngredientColumn, RecipeColumn
	}
	t.addNoteOnce(note)
	w, err := t.withGrid(&grid{cells, places, exacts, filled}, l, units)
	if err == nil {
		w.isTurned, w.sections = true, sections
		_, unit := SplitHeaderUnit(t.header[first])
		w.amountUnit, _ = units.Lookup(amountUnitAt(unit, units))
		if hasUnits {
			w.columnUnits = rowUnits
		}
	}
	return w, err
}
