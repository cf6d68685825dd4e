package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"kir/internal/inputerr"
)

// A Column is the interpretation of a column of a table of recipes.
type Column struct {
	Name string
	Role Role

	// Unit is the unit that the column's name gives for the amounts in the column; nil if the name
	// gives no unit.
	Unit *Unit

	// Ingredient is the name of the ingredient whose amounts the column holds, in the wide form.
	// Otherwise it is empty.
	Ingredient string
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
	options       Options
	units         *Units
	givenRoles    map[int]Role        // by column: the role that the options give
	columnByRole  map[Role]int        // the column of each role that only one column can have
	columns       []Column            // by column of the table: the interpretation so far
	numberGuesses map[int]columnGuess // wide form: what each column of numbers is taken for
	meanBySpread  map[int]int         // wide form: by column of standard deviations, the column of the means
	spreadByMean  map[int]int         // wide form: by column of means, the column of their standard deviations

	hasPercentNames func() bool // cached result of mostNamesArePercent
	hasUnitCells    func() bool // cached result of mostAmountsHaveUnits
	baseNames       []string    // by column: the name without its unit; filled at the first call of guessColumn
}

// readColumns interprets the columns of a table of recipes. long reports whether the table has the
// long form.
func readColumns(t *table, o Options, units *Units) (columns []Column, long bool, err error) {
	c := &columnReader{table: t, options: o, units: units, givenRoles: make(map[int]Role), columnByRole: make(map[Role]int), columns: make([]Column, len(t.header))}
	c.hasPercentNames, c.hasUnitCells = sync.OnceValue(c.mostNamesArePercent), sync.OnceValue(c.mostAmountsHaveUnits)
	for i, name := range t.header {
		c.columns[i] = Column{Name: name, Role: IgnoredColumn}
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
		// Two names with a role make the form long; a single one may be a coincidence.
		in, at := c.guessColumn(IngredientColumn), c.guessColumn(AmountColumn)
		if in >= 0 && at < 0 {
			at = c.guessAmountByUnit()
		}
		if in >= 0 && at < 0 {
			at = c.guessAmountByChanges()
		}
		long = in >= 0 && at >= 0 && 2*c.profiles[in].amountCount <= c.profiles[in].filledCount // a few names, such as Mg, are units, too
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
		if _, ok := parseNumber(name); ok && p.filledCount > 0 && p.amountCount == p.filledCount {
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
				return c.errorInHeader(i, "a second column is to be the "+string(role), "name one")
			}
			c.columnByRole[role] = i
		}
	}
	for _, text := range c.options.Labels {
		if _, ok := c.byName[NormalizeName(text)]; c.options.LabelsOptional && !ok {
			continue
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
		if r == IngredientColumn && c.profiles[i].filledCount > 0 && c.profiles[i].amountCount == 0 {
			named = append(named, i)
		}
	}
	if len(named) == 1 {
		c.columnByRole[IngredientColumn] = named[0]
	}
	return nil
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
			if role == AmountColumn && c.profiles[i].filledCount > 0 && c.profiles[i].amountCount == 0 {
				continue
			}
			c.columnByRole[role] = i
			return i
		}
	}
	return -1
}

// guessAmountByUnit assigns the role AmountColumn to the only column that holds amounts and is
// named after a unit. It returns that column, or −1 if there are none or several.
func (c *columnReader) guessAmountByUnit() int {
	found := -1
	for i, name := range c.header {
		if u, ok := c.units.Lookup(name); !ok || u.Name == "to taste" || c.profiles[i].amountCount == 0 || c.hasUniqueRole(i) {
			continue
		}
		if _, given := c.givenRoles[i]; given {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	if found >= 0 {
		c.columnByRole[AmountColumn] = found
	}
	return found
}

// guessRecipeByTexts assigns the role RecipeColumn to the first column of text without another role in which some texts
// are repeated or missing, with a note.
func (c *columnReader) guessRecipeByTexts() {
	for i, name := range c.header {
		p := &c.profiles[i]
		_, given := c.givenRoles[i]
		if given || name == "" || c.hasUniqueRole(i) || p.filledCount == 0 || p.amountCount > 0 || p.allDistinct && p.filledCount == len(c.profiledLines) {
			continue
		}
		c.columnByRole[RecipeColumn] = i
		c.noteGuessedRole(i, RecipeColumn, "column "+inputerr.Quote(name)+" is taken as the recipe")
		return
	}
}

// guessAmountByChanges assigns the role AmountColumn to the only column of numbers that differs between most rows of a
// table in the long form: labels stay the same within a recipe. It returns that column, or −1 if there are none or
// several.
func (c *columnReader) guessAmountByChanges() int {
	found := -1
	for i, name := range c.header {
		p := &c.profiles[i]
		_, given := c.givenRoles[i]
		if given || name == "" || c.hasUniqueRole(i) || p.filledCount == 0 || p.amountCount < p.filledCount || p.isRowNumbering() {
			continue
		}
		changes := 0
		for r := 1; r < len(p.firstValues); r++ {
			if p.firstValues[r] != p.firstValues[r-1] {
				changes++
			}
		}
		if 2*changes < len(p.firstValues) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	if found >= 0 {
		c.columnByRole[AmountColumn] = found
		c.noteGuessedRole(found, AmountColumn, "column "+inputerr.Quote(c.header[found])+" is taken as the amount")
	}
	return found
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
	_, given := c.givenRoles[0]
	if p := &c.profiles[0]; role == RecipeColumn && column == 0 && !given && (p.amountCount < p.filledCount || len(c.profiledLines) > 1) && p.allDistinct && c.header[0] != "" {
		hint = "say which it is, as in " + Layout{Columns: map[string]Role{c.header[0]: RecipeColumn}}.YAML() + "; " + hint
	}
	if p := &c.profiles[0]; role == RecipeColumn && column == 0 && !given && !p.allDistinct && p.amountCount == 0 && len(c.profiledLines) >= minEvidenceRows && c.header[0] != "" {
		hint = fmt.Sprintf("where several rows are of one %s, call the recipes by their rows with %s; %s", inputerr.Quote(c.header[0]),
			Layout{Columns: map[string]Role{c.header[0]: LabelColumn}}.YAML(), hint)
	}
	return withoutAmounts(c.errorInHeader(column, "no column is called "+inputerr.Quote(string(role)), hint))
}

// assignLongRoles sets the roles and units of the columns of a table in the long form.
func (c *columnReader) assignLongRoles() error {
	c.guessColumn(IngredientColumn)
	if c.guessColumn(AmountColumn) < 0 && c.guessAmountByUnit() < 0 {
		c.guessAmountByChanges()
	}
	c.guessColumn(UnitColumn)
	if c.guessColumn(RecipeColumn) < 0 {
		c.guessRecipeByTexts()
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
			return c.errorInHeader(i, "column "+inputerr.Quote(c.header[i])+" cannot be a label", "a label is another column than that")
		}
		c.columns[i].Role = r
		if _, given := c.givenRoles[i]; !given && !strings.EqualFold(c.header[i], string(r)) {
			taken = append(taken, fmt.Sprintf("%s as the %s", inputerr.Quote(c.header[i]), r))
			first = min(first, i)
		}
	}
	if len(taken) > 0 {
		c.addNote(c.headerPlaces[first], "columns are taken by their names: "+strings.Join(taken, ", "), "")
	}
	amount := c.columnByRole[AmountColumn]
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
			return c.errorInHeader(i, "column "+inputerr.Quote(name)+" cannot be an ingredient in the long form", "the ingredients are those in column "+inputerr.Quote(c.header[c.columnByRole[IngredientColumn]]))
		default:
			c.columns[i].Role = LabelColumn
		}
	}
	return nil
}
