package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// A Column is the interpretation of a column of a table of recipes.
type Column struct {
	Name string
	Role Role

	// Unit is the unit that the column's name gives for the amounts in the column; nil if the name
	// gives no unit.
	Unit *measure.Unit

	// Ingredient is the name of the ingredient whose amounts the column holds, in the wide form.
	// Otherwise it is empty.
	Ingredient string

	// Heading says whether the heading above the column is of what is set or of what is measured.
	Heading Origin
}

// longFormHint is the hint that describes the columns of the long form.
const longFormHint = "the long form has the columns recipe, ingredient, amount and perhaps unit and labels"

// isRecipeHeader reports whether a column name suggests that the table is a table of recipes.
func isRecipeHeader(name string) bool {
	return matchesRole(name, RecipeColumn) || matchesRole(name, IngredientColumn) || matchesRole(name, AmountColumn)
}

// matchesRole reports whether a column name is a usual name for a role, regardless of case and of a unit behind it.
func matchesRole(name string, r Role) bool {
	name, _ = SplitHeaderUnit(NormalizeName(name))
	name = strings.ToLower(name)
	return name == string(r) || slices.Contains(roleWords[r], name)
}

// A columnReader determines the roles of the columns of a table of recipes.
type columnReader struct {
	*table
	options                     Options
	units                       *measure.Units
	givenRoles                  map[int]Role        // by column: the role that the options give
	columnByRole                map[Role]int        // the column of each role that only one column can have
	columns                     []Column            // by column of the table: the interpretation so far
	unitsAreFew, unitShareKnown bool                // cached result of fewHaveUnits
	wholeName                   string              // name of the column that is the sum of the amounts; empty if there is none
	secondRests                 []int               // columns that make up the rest where another one does so
	hasEmptyRest                bool                // whether the amounts make up the total of each recipe without the one that makes up the rest
	numberGuesses               map[int]columnGuess // wide form: what each column of numbers is taken for
	meanBySpread                map[int]int         // wide form: by column of standard deviations, the column of the means
	spreadByMean                map[int]int         // wide form: by column of means, the column of their standard deviations

	hasPercentNames func() bool // cached result of mostNamesArePercent
	hasUnitCells    func() bool // cached result of mostAmountsHaveUnits
	baseNames       []string    // by column: the name without its unit; filled at the first call of guessColumn
}

// readColumns interprets the columns of a table of recipes. long reports whether the table has the
// long form.
func readColumns(t *table, o Options, units *measure.Units) (columns []Column, long bool, err error) {
	c := &columnReader{table: t, options: o, units: units, givenRoles: make(map[int]Role), columnByRole: make(map[Role]int), columns: make([]Column, len(t.header))}
	c.hasPercentNames, c.hasUnitCells = sync.OnceValue(c.mostNamesArePercent), sync.OnceValue(c.mostAmountsHaveUnits)
	for i, name := range t.header {
		c.columns[i] = Column{Name: name, Role: IgnoredColumn, Heading: c.sectionAt(i).origin()}
	}
	if err := c.checkHeader(); err != nil {
		return nil, false, err
	}
	if err := c.applyGivenRoles(); err != nil {
		return nil, false, err
	}
	for _, r := range []Role{RecipeColumn, IngredientColumn, AmountColumn, UnitColumn} {
		if _, ok := c.columnByRole[r]; ok {
			continue
		}
		i, err := c.findUniqueColumn(string(r))
		if err != nil {
			return nil, false, err
		}
		if role, given := c.givenRoles[i]; i >= 0 && (!given || role == LabelColumn) {
			c.columnByRole[r] = i
		}
	}
	_, ingredient := c.columnByRole[IngredientColumn]
	_, amount := c.columnByRole[AmountColumn]
	if long = ingredient || amount; !long {
		f := c.findLongForm()
		if long = f.evidence > 0; long {
			c.columnByRole[RecipeColumn], c.columnByRole[IngredientColumn], c.columnByRole[AmountColumn] = f.recipe, f.ingredient, f.amount
		} else if f.evidence > -doubtfulEvidence && (matchesRole(c.header[f.ingredient], IngredientColumn) || matchesRole(c.header[f.amount], AmountColumn)) {
			c.addFormNote(f.ingredient, LabelColumn, fmt.Sprintf("each row is taken as a recipe, and not as an ingredient of one, such as %s", inputerr.Quote(c.profiles[f.ingredient].exampleText)))
		}
	}
	if long {
		return c.columns, true, c.assignLongRoles()
	}
	return c.columns, false, c.assignWideRoles()
}

// checkHeader returns an error if the first row looks like the rows below it rather than like names
// of columns. This is so if one field is a number above numbers, and another field is a text that
// occurs below it again.
func (c *columnReader) checkHeader() error {
	if len(c.options.Columns) > 0 || slices.ContainsFunc(c.header, isRecipeHeader) {
		return nil
	}
	figure, text := -1, -1
	for i, name := range c.header {
		p := &c.profiles[i]
		if _, ok := measure.ParseNumber(name); ok && p.filledCount > 0 && p.amountCount == p.filledCount {
			figure = max(figure, i)
		} else if p.distinctTexts[strings.TrimSpace(name)] && name != "" {
			text = max(text, i)
		}
	}
	if figure < 0 || text < 0 {
		return nil
	}
	return c.errorInHeader(figure, fmt.Sprintf("the first row holds %s and %s, as rows below it do, and no names of columns", inputerr.Quote(c.header[text]), inputerr.Quote(c.header[figure])),
		"add a row above it, such as recipe, ingredient, amount, unit")
}

// applyGivenRoles records the roles that the options give to columns. It returns an error if a
// named column does not exist, or if two given roles contradict each other.
func (c *columnReader) applyGivenRoles() error {
	find := func(text, what string) (int, error) {
		name := NormalizeName(text)
		if i, ok := c.byName[name]; ok {
			return i, nil
		}
		hint := inputerr.DidYouMean(name, c.header)
		if hint == "" {
			hint = "the columns are " + inputerr.List(c.header, 12)
		}
		e := c.errorInHeader(0, "no column is called "+inputerr.Quote(name)+", which is to be "+what, hint)
		e.Err = &MissingColumnError{Name: name}
		return 0, e
	}
	for _, name := range slices.Sorted(maps.Keys(c.options.Columns)) {
		role := c.options.Columns[name]
		i, err := find(name, "what is given as columns: {"+name+": "+string(role)+"}")
		if err != nil {
			return err
		}
		c.givenRoles[i] = role
		if role == RecipeColumn || role == AmountColumn || role == UnitColumn {
			if _, ok := c.columnByRole[role]; ok {
				other := c.header[c.columnByRole[role]]
				return withFixes(c.errorInHeader(i, "a second column is to be the "+string(role)+", beside "+inputerr.Quote(other), "name one"), headerStage,
					roleFix(other, LabelColumn), roleFix(c.header[i], LabelColumn))
			}
			c.columnByRole[role] = i
		}
	}
	for _, text := range c.options.Labels {
		if _, ok := c.byName[NormalizeName(text)]; c.options.LabelsOptional && !ok {
			continue
		}
		if _, ok := c.byName[NormalizeName(text)]; !ok {
			if of, isSpread := strings.CutSuffix(NormalizeName(text), spreadSuffix); isSpread && c.hasSpreads(of) {
				continue // the standard deviations stand in the cells of another label
			}
		}
		i, err := find(text, "a label")
		if err != nil {
			return err
		}
		if r, ok := c.givenRoles[i]; ok && r != LabelColumn {
			return c.errorInHeader(i, "column "+inputerr.Quote(c.header[i])+" cannot be a label and the "+string(r), "remove one of the two")
		}
		c.givenRoles[i] = LabelColumn
	}
	// In the long form, the one column given as ingredient holds names. If it holds amounts, the
	// form is wide.
	var named []int
	for i, r := range c.givenRoles {
		if p := &c.profiles[i]; r == IngredientColumn && p.filledCount > 0 && p.amountCount == 0 && (p.onlyText == "" || p.filledCount == 1) {
			named = append(named, i)
		}
	}
	if len(named) == 1 {
		c.columnByRole[IngredientColumn] = named[0]
	}
	return nil
}

// hasSpreads reports whether a column has a name and standard deviations in its cells.
func (t *table) hasSpreads(name string) bool {
	i, ok := t.byName[name]
	return ok && t.profiles[i].spreadCount > 0
}

// guessColumn returns the column of a role that only one column can have. If none is known, it
// assigns the role to the first column whose name, without a unit, is the role's name or one of its
// roleWords. It returns −1 if there is no such column.
func (c *columnReader) guessColumn(role Role) int {
	if i, ok := c.columnByRole[role]; ok {
		return i
	}
	for i := len(c.baseNames); i < len(c.header); i++ {
		base, unit := splitUnit(c.header[i], c.units)
		if cut, ok := cutPercent(c.header[i]); ok && unit == nil {
			base = cut
		}
		c.baseNames = append(c.baseNames, base)
	}
	for _, word := range append([]string{string(role)}, roleWords[role]...) {
		for i, base := range c.baseNames {
			if _, given := c.givenRoles[i]; given || !strings.EqualFold(base, word) || c.hasUniqueRole(i) {
				continue
			}
			if p := &c.profiles[i]; role == RecipeColumn && base != c.header[i] && 2*p.amountCount > p.filledCount {
				continue // such as how much was made of a mix, in g
			}
			if role == AmountColumn && c.profiles[i].filledCount > 0 && c.profiles[i].amountCount == 0 {
				continue
			}
			c.columnByRole[role] = i
			return i
		}
	}
	return -1
}

// guessUnitColumn assigns the role UnitColumn to the column with a usual name of units, or else to the first one in which
// nearly all texts are units, with a note.
func (c *columnReader) guessUnitColumn() {
	if c.guessColumn(UnitColumn) >= 0 {
		return
	}
	rows := c.firstTexts()
	for i, name := range c.header {
		_, given := c.givenRoles[i]
		if p := &c.profiles[i]; given || name == "" || c.hasUniqueRole(i) || p.numberCount > 0 {
			continue
		}
		filled, units := 0, 0
		for _, row := range rows {
			if row[i] == "" {
				continue
			}
			filled++
			if _, ok := c.units.Lookup(row[i]); ok {
				units++
			}
		}
		if units > 1 && 10*units >= 9*filled && 2*filled >= len(rows) {
			c.columnByRole[UnitColumn] = i
			c.noteGuessedRole(i, UnitColumn, "column "+inputerr.Quote(name)+" is taken as the unit")
			return
		}
	}
}

// suggestsRole reports whether the name of a column tells that it has a role of the long form.
func (c *columnReader) suggestsRole(i int, r Role) bool {
	name := c.header[i]
	if matchesRole(name, r) {
		return true
	}
	_, isUnit := c.units.Lookup(name)
	return r == AmountColumn && isUnit
}

// hasUniqueRole reports whether a column has a role that only one column can have.
func (c *columnReader) hasUniqueRole(column int) bool {
	for _, i := range c.columnByRole {
		if i == column {
			return true
		}
	}
	return false
}

// missingColumnError returns the error that the table has no column with a given role.
func (c *columnReader) missingColumnError(role Role) error {
	hint := longFormHint + "; the wide form has recipe and a column for each ingredient"
	column := 0
	for i, other := range c.header {
		if _, ok := inputerr.Nearest(other, []string{string(role)}); ok && other != "" && !c.hasUniqueRole(i) {
			column, hint = i, "is it "+inputerr.Quote(other)+"? "+hint
			break
		}
	}
	var fixes []Fix
	if column > 0 {
		fixes = append(fixes, roleFix(c.header[column], role))
	}
	if role == RecipeColumn {
		for i, name := range c.header {
			p := &c.profiles[i]
			if _, given := c.givenRoles[i]; !given && name != "" && !c.hasUniqueRole(i) && p.filledCount > 0 && p.allDistinct && (i == 0 || p.amountCount == 0) {
				fixes = append(fixes, roleFix(name, RecipeColumn))
			}
		}
		if i := c.firstNamedColumn(); i >= 0 {
			turn := roleFix(c.header[i], IngredientColumn)
			turn.Effect = "reads each column as a recipe"
			fixes = append(fixes, turn)
		}
		if c.header[0] != "" {
			byRow := roleFix(c.header[0], LabelColumn)
			byRow.Effect = "calls the recipes by their rows"
			fixes = append(fixes, byRow)
		}
	}
	for i, name := range c.header {
		p := &c.profiles[i]
		if _, given := c.givenRoles[i]; given || name == "" || c.hasUniqueRole(i) || p.filledCount == 0 {
			continue
		}
		if role == AmountColumn && 2*p.amountCount > p.filledCount || role == IngredientColumn && p.amountCount == 0 {
			fixes = append(fixes, roleFix(name, role))
		}
	}
	return withFixes(c.errorInHeader(column, "no column is called "+inputerr.Quote(string(role)), hint), headerStage, append(fixes, c.sheetFixes()...)...)
}

// sheetFixes returns the settings that read another sheet of the workbook.
func (c *columnReader) sheetFixes() (fixes []Fix) {
	for _, name := range c.sheets {
		if name != c.sheet {
			fixes = append(fixes, Fix{Layout: Layout{Sheet: name}, Effect: "reads another sheet"})
		}
	}
	return fixes
}

// assignLongRoles sets the roles and units of the columns of a table in the long form.
func (c *columnReader) assignLongRoles() error {
	if f := c.findLongForm(); !math.IsInf(f.evidence, -1) {
		c.columnByRole[RecipeColumn], c.columnByRole[IngredientColumn], c.columnByRole[AmountColumn] = f.recipe, f.ingredient, f.amount
	}
	if amount, ok := c.columnByRole[AmountColumn]; ok {
		if _, unit := SplitHeaderUnit(c.header[amount]); unit == "" || !isUnitText(unit, c.units) {
			c.guessUnitColumn()
		}
	}
	var taken []string
	first := len(c.header)
	for _, r := range []Role{RecipeColumn, IngredientColumn, AmountColumn, UnitColumn} {
		i, ok := c.columnByRole[r]
		if !ok {
			if r == UnitColumn {
				continue
			}
			return c.missingColumnError(r)
		}
		if c.givenRoles[i] == LabelColumn {
			return withFixes(c.errorInHeader(i, "column "+inputerr.Quote(c.header[i])+" cannot be a label", "a label is another column than that"), headerStage, roleFix(c.header[i], r))
		}
		c.columns[i].Role = r
		if _, given := c.givenRoles[i]; !given && !c.suggestsRole(i, r) {
			c.noteGuessedRole(i, r, fmt.Sprintf("column %s is taken as the %s", inputerr.Quote(c.header[i]), r))
		} else if !given && !strings.EqualFold(c.header[i], string(r)) {
			taken = append(taken, fmt.Sprintf("%s as the %s", inputerr.Quote(c.header[i]), r))
			first = min(first, i)
		}
	}
	if len(taken) > 0 {
		c.addNote(c.headerPlaces[first], "columns are taken by their names: "+strings.Join(taken, ", "), "")
	}
	amount := c.columnByRole[AmountColumn]
	if p := &c.profiles[amount]; p.isNumeric() && p.firstAffix != "" && p.firstAffix != "%" {
		c.moneySign = p.firstAffix
	}
	c.findSumNames()
	if _, unit := splitUnit(c.header[amount], c.units); unit != nil {
		c.columns[amount].Unit = unit
	} else if _, percent := cutPercent(c.header[amount]); percent {
		c.columns[amount].Unit, _ = c.units.Lookup("%")
	} else if unit, ok := c.units.Lookup(c.header[amount]); ok {
		c.columns[amount].Unit = unit
	}
	for i, name := range c.header {
		switch role, given := c.givenRoles[i]; {
		case c.hasUniqueRole(i) || name == "" || role == IgnoredColumn:
		case given && role == IngredientColumn:
			return withFixes(c.errorInHeader(i, "column "+inputerr.Quote(name)+" cannot be an ingredient in the long form", "the ingredients are those in column "+inputerr.Quote(c.header[c.columnByRole[IngredientColumn]])),
				headerStage, roleFix(name, LabelColumn), roleFix(name, IgnoredColumn))
		default:
			c.columns[i].Role = LabelColumn
		}
	}
	c.leaveOutAttributes()
	return nil
}
