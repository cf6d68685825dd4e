package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// assignWideRoles sets the roles, ingredients and units of the columns of a table in the wide form.
func (c *columnReader) assignWideRoles() error {
	recipe, err := c.findRecipeColumn()
	if err != nil {
		return err
	}
	if recipe >= 0 {
		c.columns[recipe].Role = RecipeColumn
		if c.givenRoles[recipe] == LabelColumn {
			return withFixes(c.errorInHeader(recipe, "column "+inputerr.Quote(c.header[recipe])+" cannot be a label", "a label is another column than that"), headerStage, roleFix(c.header[recipe], RecipeColumn))
		}
	}
	c.findSpreadColumns(recipe)
	c.findSumsOfMoney()
	c.findRestTexts()
	c.findTotalRow(recipe)
	c.guessAmounts(recipe)
	if err := c.setWideRoles(recipe); err != nil {
		return err
	}
	c.shareUnit()
	c.noteUnitsInNames()
	c.sumColumn = slices.IndexFunc(c.columns, func(column Column) bool {
		return column.Role == IgnoredColumn && (hasSumWord(column.Name) || column.Name != "" && column.Name == c.wholeName)
	})
	if !slices.ContainsFunc(c.columns, func(c Column) bool { return c.Role == IngredientColumn }) {
		return &noAmountsError{c.noIngredientError(recipe)}
	}
	return nil
}

// setWideRoles sets the roles of all columns except the column recipe.
func (c *columnReader) setWideRoles(recipe int) error {
	for i, name := range c.header {
		if i == recipe || name == "" {
			continue
		}
		if err := browsersched.Err(c.ctx); err != nil {
			return err
		}
		role, given := c.givenRoles[i]
		if !given {
			var err error
			if role, err = c.guessWideRole(i); err != nil {
				return err
			}
		}
		if c.columns[i].Role = role; role == IngredientColumn {
			c.setIngredientColumn(i)
		}
	}
	return nil
}

// setIngredientColumn sets the ingredient and the unit of column i from the name of the column.
func (c *columnReader) setIngredientColumn(i int) {
	name := c.header[i]
	c.columns[i].Ingredient = name
	if c.options.Ingredients != nil {
		if _, ok := c.options.Ingredients.Index(name); ok {
			return
		}
	}
	if c.columns[i].Ingredient, c.columns[i].Unit = c.splitNameAndUnit(name); c.columns[i].Unit == nil {
		c.columns[i].Unit = c.unitFromElsewhere(i)
	}
}

// shareUnit gives the columns of amounts without a unit the unit of the others, if all of these have the same, with a
// note.
func (c *columnReader) shareUnit() {
	var unit *measure.Unit
	var without []string
	first, amounts := -1, 0
	for i, column := range c.columns {
		if column.Role == IngredientColumn {
			amounts++
		}
		switch {
		case column.Role != IngredientColumn:
		case column.Unit == nil && c.profiles[i].unitCount > 0:
			return // units stand in the cells
		case column.Unit == nil:
			if without = append(without, column.Name); first < 0 {
				first = i
			}
		case unit != nil && *unit != *column.Unit && !(unit.Kind == column.Unit.Kind && unit.Kind.IsPercent()):
			return
		case unit == nil:
			unit = column.Unit
		}
	}
	if unit == nil || first < 0 || c.options.Ingredients != nil || c.amountUnit != nil || 2*len(without) > amounts {
		return
	}
	for i := range c.columns {
		if column := &c.columns[i]; column.Role == IngredientColumn && column.Unit == nil {
			column.Unit = unit
		}
	}
	asked := slices.IndexFunc(without, func(name string) bool { return c.options.Columns[name] != IngredientColumn })
	if asked < 0 {
		return
	}
	p := c.headerPlaces[c.byName[without[asked]]]
	c.notes = append(c.notes, Note{File: c.file, Line: p.Line, Column: p.Column, Cell: p.Cell, Doubtful: true, AmbiguousColumn: without[asked], AssumedRole: IngredientColumn,
		Message: fmt.Sprintf("%s without a unit, such as %s, %s taken in %s, as the others are", inputerr.Count(len(without), "column"), inputerr.Quote(without[asked]), isOrAre(len(without)), inputerr.Quote(unit.Name))})
}

// noteUnitsInNames adds a note if the names of some columns contain units.
func (c *columnReader) noteUnitsInNames() {
	var inUnits []string
	first := 0
	for i, column := range c.columns {
		if column.Unit != nil {
			if inUnits = append(inUnits, column.Name); len(inUnits) == 1 {
				first = i
			}
		}
	}
	if len(inUnits) > 0 {
		c.addNote(c.headerPlaces[first], fmt.Sprintf("units stand in the names of %s: %s is the ingredient %s in %s", inputerr.Count(len(inUnits), "column"),
			inputerr.Quote(inUnits[0]), inputerr.Quote(c.columns[first].Ingredient), inputerr.Quote(c.columns[first].Unit.Name)), "")
	}
}

// A noAmountsError says that a table has no column of amounts. It is not returned by [Read].
type noAmountsError struct{ err error }

func (e *noAmountsError) Error() string { return e.err.Error() }

// noIngredientError returns the error that the table has no column of amounts. recipe is the index
// of the column of the names of the recipes, or −1.
func (c *columnReader) noIngredientError(recipe int) error {
	fixes := c.sheetFixes()
	for i, name := range c.header { // an answer may have taken away the last amounts
		if role, given := c.givenRoles[i]; given && role != IngredientColumn && c.profiles[i].amountCount > 0 {
			fixes = append(fixes, roleFix(name, IngredientColumn))
		}
	}
	if slices.ContainsFunc(c.profiles, func(p columnProfile) bool { return p.negativeCount > 0 }) {
		return withFixes(c.errorInHeader(max(recipe, 0), "the table has numbers below 0, and no column of amounts", "a table of recipes says how much of each ingredient there is, and amounts are 0 or more"), headerStage, fixes...)
	}
	return withFixes(c.errorInHeader(max(recipe, 0), "the header names no ingredient", longFormHint+"; the wide form has recipe and a column for each ingredient"), headerStage, fixes...)
}

// findSpreadColumns finds pairs of columns of which one holds the standard deviations of the other,
// by their names. It sets meanBySpread and spreadByMean. recipe is the index of the column to
// ignore.
func (c *columnReader) findSpreadColumns(recipe int) {
	c.meanBySpread, c.spreadByMean = make(map[int]int), make(map[int]int)
	if !slices.ContainsFunc(c.header, func(name string) bool { return meanNameOfSpread(name) != "" }) {
		return // the usual case; computing the keys of all columns takes long
	}
	index := make(meanIndex)
	for k, name := range c.header {
		if k != recipe && name != "" {
			index.add(k, name)
		}
	}
	free := func(k int) bool { _, taken := c.spreadByMean[k]; return !taken }
	for i, name := range c.header {
		if i == recipe || meanNameOfSpread(name) == "" {
			continue
		}
		if k := index.findFirstFree(meanKeysOfSpread(name), i, free); k >= 0 {
			c.meanBySpread[i], c.spreadByMean[k] = k, i
		}
	}
}

// splitNameAndUnit splits the name of a column in the wide form into the name of an ingredient and
// a unit. unit is nil if the name has no unit. A percent sign at the end is a unit only if the name
// before it is a given ingredient or, without given ingredients, if the names of most columns of
// amounts end in a percent sign.
func (c *columnReader) splitNameAndUnit(name string) (base string, unit *measure.Unit) {
	if base, unit = splitUnit(name, c.units); unit != nil {
		return base, unit
	}
	base, ok := cutPercent(name)
	if !ok {
		return name, nil
	}
	if in := c.options.Ingredients; in != nil {
		if _, ok := in.find(base); !ok {
			return name, nil
		}
	} else if !c.hasPercentNames() {
		return name, nil
	}
	unit, _ = c.units.Lookup("%")
	return base, unit
}

// mostNamesArePercent reports whether the names of most columns of amounts end in a percent sign.
func (c *columnReader) mostNamesArePercent() bool {
	amounts, percents := 0, 0
	for i := range c.profiles {
		if p := &c.profiles[i]; p.filledCount > 0 && p.amountCount == p.filledCount {
			amounts++
			if _, ok := cutPercent(c.header[i]); ok {
				percents++
			}
		}
	}
	return percents > 1 && 2*percents > amounts
}

// findRecipeColumn returns the index of the column of the names of the recipes, in the wide form.
// It returns −1 if there is no such column, so that each recipe is called by its row.
func (c *columnReader) findRecipeColumn() (int, error) {
	if i, ok := c.columnByRole[RecipeColumn]; ok {
		return i, nil
	}
	named := func(i int) bool {
		return c.profiles[i].filledCount > 0 && c.profiles[i].amountCount < c.profiles[i].filledCount
	}
	if i := c.formulasIn; c.elementsFrom > 0 && c.profiles[i].allDistinct {
		return i, nil
	}
	if i := c.guessColumn(RecipeColumn); i >= 0 && c.listsRepeatedNames(i) {
		delete(c.columnByRole, RecipeColumn)
		c.givenRoles[i] = LabelColumn
		if names := c.firstDistinctNames(); names >= 0 {
			c.noteGuessedRole(i, LabelColumn, fmt.Sprintf("several rows have the same %s, so each row is a recipe, called by %s, and the column is taken as a result or condition", inputerr.Quote(c.header[i]), inputerr.Quote(c.header[names])))
			return names, nil
		}
		return c.nameByRows(i), nil
	} else if i >= 0 {
		c.addNote(c.headerPlaces[i], "column "+inputerr.Quote(c.header[i])+" is taken as the names of the recipes", "")
		return i, nil
	}
	if (c.header[0] == "" || c.header[0] == firstColumnName) && named(0) {
		c.header[0] = string(RecipeColumn)
		c.columns[0].Name = c.header[0]
		c.addNote(c.headerPlaces[0], "the first column, which has no name, is taken as the names of the recipes", "")
		return 0, nil
	}
	if i := c.firstDistinctNames(); i >= 0 {
		c.noteGuessedRole(i, RecipeColumn, "column "+inputerr.Quote(c.header[i])+" is taken as the names of the recipes")
		return i, nil
	}
	if !c.resemblesRole(0) && c.listsRepeatedNames(0) {
		return c.nameByRows(0), nil
	}
	if c.listsUnnamedTrials() {
		c.addNote(c.headerPlaces[0], "no column names the recipes: each is called by its row, such as "+inputerr.Quote(rowName(c.profiledLines[0])), "")
		return -1, nil
	}
	return 0, c.missingColumnError(RecipeColumn)
}

// listsUnnamedTrials reports whether the table seems to list trials without names. Such a table has
// at least minEvidenceRows rows, at least two columns of amounts only, and no text in the first
// column that may be a name.
func (c *columnReader) listsUnnamedTrials() bool {
	_, given := c.givenRoles[0]
	if len(c.profiledLines) < minEvidenceRows || !given && c.profiles[0].amountCount < c.profiles[0].filledCount {
		return false
	}
	amounts := 0
	for i := range c.header {
		if _, given := c.givenRoles[i]; !given && c.resemblesRole(i) {
			return false
		}
		if p := &c.profiles[i]; p.filledCount > 0 && p.amountCount == p.filledCount {
			amounts++
		}
	}
	return amounts > 1
}

// minWideAmountColumns is the minimum number of columns with only amounts in a wide table whose
// first column repeats names.
const minWideAmountColumns = 4

// firstDistinctNames returns the first of the first three columns that holds a different text in each row, other than a
// date, or else the first column if it holds different dates, or different numbers and its name says that it numbers the
// rows; −1 if there is none.
func (c *columnReader) firstDistinctNames() int {
	rows := c.firstTexts()
	dates, sparse := -1, -1
	if len(c.header) < 2 {
		return -1
	}
	for i := range min(maxRecipeColumns, len(c.header)) {
		_, given := c.givenRoles[i]
		p := &c.profiles[i]
		if given || c.header[i] == "" || !p.allDistinct || 2*p.amountCount > p.filledCount || p.filledCount == 0 || c.hasUniqueRole(i) || c.resemblesRole(i) {
			continue
		}
		if 10*p.filledCount < 9*len(c.profiledLines) {
			if i == 0 {
				sparse = i
			}
			continue
		}
		if slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" && !dateTextPattern().MatchString(row[i]) }) {
			return i
		}
		if i == 0 {
			dates = i
		}
	}
	if at := max(dates, sparse); at >= 0 {
		return at
	}
	_, given := c.givenRoles[0]
	if p := &c.profiles[0]; !given && p.isNumeric() && p.firstAffix == "" && p.allDistinct && (isRowNumber(c.header[0]) || p.isRowNumbering() && c.header[0] != "") {
		return 0
	}
	return -1
}

// maxRecipeColumns is the number of first columns among which that of the recipes' names is searched, if no name tells.
const maxRecipeColumns = 3

// dateTextPattern matches a date in numbers, perhaps with a time.
var dateTextPattern = lazyPattern(`^[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}(?:[T ].*)?$`)

// nameByRows makes the column that holds the shared names of several rows a label, with a note, and returns −1: each row is
// a recipe and named by its row.
func (c *columnReader) nameByRows(i int) int {
	c.noteGuessedRole(i, LabelColumn, fmt.Sprintf("several rows have the same %s, so each row is a recipe, called by its row such as %s, and the column is taken as a result or condition", inputerr.Quote(c.header[i]), inputerr.Quote(rowName(c.profiledLines[0]))))
	c.givenRoles[i] = LabelColumn
	return -1
}

// listsRepeatedNames reports whether the table seems to list trials of which several share a name in column i, such as
// those measured at several ages. Such a column has texts, some of them repeated, and the table has at least
// minWideAmountColumns columns with only amounts.
func (c *columnReader) listsRepeatedNames(i int) bool {
	p := &c.profiles[i]
	if _, given := c.givenRoles[i]; given || c.header[i] == "" || p.allDistinct || p.amountCount > 0 || p.filledCount < len(c.profiledLines) || len(c.profiledLines) < minEvidenceRows {
		return false
	}
	amounts := 0
	for k := range c.header {
		if p := &c.profiles[k]; p.filledCount > 0 && p.amountCount == p.filledCount {
			amounts++
		}
	}
	return amounts >= minWideAmountColumns
}

// rowName returns the name of a recipe that has no name in the table, such as row 7. The parameter
// line is the row in a spreadsheet, or the line in a text file.
func rowName(line int) string { return fmt.Sprint("row ", line) }

// linesOf returns the lines of the names that rowName makes among names, as keys.
func linesOf(names []string) map[int]bool {
	lines := make(map[int]bool)
	for _, name := range names {
		if line, ok := strings.CutPrefix(NormalizeName(name), "row "); ok {
			if n, ok := parseCount(line); ok {
				lines[n] = false
			}
		}
	}
	return lines
}

// isLeftOutByLine reports whether the layout leaves out the row at a line of the file.
func (t *table) isLeftOutByLine(line int) bool {
	if t.inMemory {
		return false
	}
	_, out := t.withoutLines[line]
	if out {
		t.withoutLines[line] = true
	}
	return out
}

// resemblesRole reports whether the name of a column is nearly the name of a role, and so may be
// misspelt.
func (c *columnReader) resemblesRole(column int) bool {
	_, ok := inputerr.Nearest(c.header[column], []string{string(RecipeColumn), string(IngredientColumn), string(AmountColumn), "ingredients"})
	return ok
}

// guessWideRole returns the role of column i in the wide form, for a column whose role was not
// given. It adds a note about the guess unless the column is an ingredient.
func (c *columnReader) guessWideRole(i int) (Role, error) {
	name, p := c.header[i], &c.profiles[i]
	if c.isGivenIngredient(name) {
		return IngredientColumn, nil
	}
	if c.isMeanOrSpread(i) {
		return LabelColumn, nil
	}
	switch {
	case slices.Contains(c.secondRests, i):
		c.noteGuessedRole(i, IgnoredColumn, c.columnText(i)+" is left out: another ingredient makes up the rest of each recipe already")
		return IgnoredColumn, nil
	case p.isRest() && p.amountCount == 0 && c.hasEmptyRest:
		c.noteGuessedRole(i, IgnoredColumn, c.columnText(i)+" is left out, as what dries off would be: the others make up the total without it")
		return IgnoredColumn, nil
	case p.filledCount == 0 || p.isRest():
		return IngredientColumn, nil
	case p.amountCount == 0 && p.filledCount > 0 && measure.MeansFillUp(p.exampleText):
		return IngredientColumn, nil
	case p.amountCount == 0 && p.numberCount < p.filledCount:
		return c.roleOfText(i)
	case p.isNumeric() && p.firstAffix != "" && p.firstAffix != "%":
		c.addNote(c.headerPlaces[i], fmt.Sprintf("%s holds sums of money such as %s and is taken as a result", c.columnText(i), inputerr.Quote(p.exampleText)), "")
		return LabelColumn, nil
	}
	guess, ok := c.numberGuesses[i]
	if !ok {
		return IngredientColumn, nil
	}
	if guess.reason != "" {
		c.noteGuessedRole(i, guess.role, c.columnText(i)+" "+guess.reason)
		note := &c.notes[len(c.notes)-1]
		if note.IsLikely = !guess.isOpen; guess.isSum {
			note.LikelyRole = IngredientColumn
		}
	}
	return guess.role, nil
}

// isGivenIngredient reports whether the name of a column, with or without a unit, is one of the
// ingredients that the options give.
func (c *columnReader) isGivenIngredient(name string) bool {
	in := c.options.Ingredients
	if in == nil {
		return false
	}
	base, _ := c.splitNameAndUnit(name)
	for _, text := range []string{name, base} {
		if _, ok := in.Index(text); ok {
			return true
		}
	}
	return false
}

// isMeanOrSpread reports whether column i holds the standard deviations of another column, or
// another column holds those of column i. In either case it adds a note that column i is a label.
func (c *columnReader) isMeanOrSpread(i int) bool {
	p := &c.profiles[i]
	if of, is := c.meanBySpread[i]; is {
		c.noteGuessedRole(i, LabelColumn, fmt.Sprintf("%s is taken as a label: by its name it holds the standard deviations of %s", c.columnText(i), inputerr.Quote(c.header[of])))
		return true
	}
	if k, is := c.spreadByMean[i]; is && 2*p.amountCount >= p.filledCount {
		c.noteGuessedRole(i, LabelColumn, fmt.Sprintf("%s is taken as a label: %s holds its standard deviations", c.columnText(i), c.columnText(k)))
		return true
	}
	return false
}

// roleOfText returns the role of column i, which holds text: LabelColumn, with a note. It returns
// an error if the name of the column may be a misspelt role of the long form.
func (c *columnReader) roleOfText(i int) (Role, error) {
	name, p := c.header[i], &c.profiles[i]
	if c.resemblesRole(i) {
		return "", withFixes(c.errorInHeader(i, fmt.Sprintf("%s holds text such as %s and no amounts", c.columnText(i), inputerr.Quote(p.exampleText)),
			longFormHint+"; a list in one cell is not read"), headerStage, roleFix(name, LabelColumn), roleFix(name, IngredientColumn))
	}
	if p.allDistinct && p.filledCount == len(c.profiledLines) && p.filledCount >= minEvidenceRows && isRowNumber(name) {
		c.noteGuessedRole(i, IgnoredColumn, c.columnText(i)+" only identifies the rows and is left out")
		return IgnoredColumn, nil
	}
	c.addNote(c.headerPlaces[i], fmt.Sprintf("%s holds text such as %s and is taken as a result or condition", c.columnText(i), inputerr.Quote(p.exampleText)), "")
	return LabelColumn, nil
}

// noteGuessedRole adds a note about the role that the reader guessed for a column, and adds the
// role to guessedLayout.
func (c *columnReader) noteGuessedRole(column int, role Role, message string) {
	settle := Layout{Columns: map[string]Role{c.header[column]: role}}
	c.guessedLayout.setColumn(c.header[column], role)
	p := c.headerPlaces[column]
	c.notes = append(c.notes, Note{File: c.file, Line: p.Line, Column: p.Column, Cell: p.Cell, Message: message, Setting: settle.YAML(), AmbiguousColumn: c.header[column], AssumedRole: role})
}

// mostAmountsHaveUnits reports whether most columns of amounts have a unit in each cell or in the
// name of the column.
func (c *columnReader) mostAmountsHaveUnits() bool {
	amounts, units := 0, 0
	for i := range c.profiles {
		if p := &c.profiles[i]; p.filledCount > 0 && p.amountCount == p.filledCount {
			_, unit := c.splitNameAndUnit(c.header[i])
			if unit == nil && (hasNonAmountUnit(c.header[i]) || describesRecipe(c.header[i])) {
				continue
			}
			if amounts++; unit != nil || p.unitCount == p.filledCount {
				units++
			}
		}
	}
	return units > 1 && 2*units > amounts
}

// hasNonAmountUnit reports whether the name of a column contains a known unit of something other
// than an amount, such as of a strength or a length.
func hasNonAmountUnit(name string) bool {
	plain, unit := SplitHeaderUnit(name)
	if slices.Contains(affixes, unit) && !hasBracketedUnit(name) {
		return false // bonds in EUR are no price
	}
	left, right, per := strings.Cut(unit, "/")
	if per {
		right, _, _ = strings.Cut(right, " ") // such as oz/cwt binder
	}
	known := append(headerUnits(), "in", "ft", "C", "F") // known units that outside brackets are also words or letters
	return plain != name && unit != "" && (slices.Contains(known, left) && (!per || slices.Contains(known, right)))
}

// findTotalRow finds out whether the last row is the sum of all other rows in each column of amounts
// that it fills, or is called a mean and is that in half of them. Such a row is not a recipe and is left out, unless the layout includes it. recipe
// is the index of the column of the names, or −1.
func (c *columnReader) findTotalRow(recipe int) {
	rows := len(c.profiledLines)
	if rows < minEvidenceRows {
		return
	}
	r := rows - 1
	columns, sums, means := 0, 0, 0
	for i := range c.profiles {
		p := &c.profiles[i]
		if i == recipe || p.filledCount == 0 || p.amountCount < p.filledCount || p.firstValues[r] == 0 {
			continue
		}
		sum := 0.0
		for _, v := range p.firstValues {
			sum += v
		}
		v := p.firstValues[r]
		if math.Abs(sum-float64(2*v)) <= 1e-9*sum {
			sums++
		}
		if m := (sum - v) / float64(r); math.Abs(m-v) <= meanTolerance(v) {
			means++
		}
		columns++
	}
	name := rowName(c.profiledLines[r])
	if recipe >= 0 {
		name = NormalizeName(c.firstTexts()[r][recipe])
	}
	what, kind := "adds up all others", "the sum of all others"
	if words := wordsOf(name); means >= 3 && 2*means >= columns && len(words) > 0 && meanWord.includes(words[0]) {
		what, kind = "is the mean of all others", "the mean of all others"
	} else if columns < 3 || sums < columns {
		return
	}
	same := func(other string) bool { return NormalizeName(other) == name }
	if slices.ContainsFunc(c.options.Including, same) {
		c.includedTotal = name
		return
	}
	c.totalRowLine, c.totalRowName, c.totalRowKind = c.profiledLines[r], name, kind
	if !slices.ContainsFunc(c.options.Without, same) {
		n := Note{File: c.file, Line: c.totalRowLine, Column: 1, QuestionableRow: name, RowLeftOut: true, Doubtful: true, Message: "a row that " + what + " is left out"}
		if name != "" {
			n.Message += ": including: [" + YAMLText(name) + "] takes it in"
		}
		c.notes = append(c.notes, n)
	}
	for i := range c.profiles {
		c.profiles[i].firstValues = c.profiles[i].firstValues[:r]
	}
}
