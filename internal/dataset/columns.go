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

	// Unit is the unit of its amounts if the column's name has one; else nil.
	Unit *Unit

	// Ingredient is the ingredient of its amounts, in the wide form.
	Ingredient string
}

const longForm = "the long form has the columns recipe, ingredient, amount and perhaps unit and labels"

// isRecipeHeader reports whether a header name suggests a table of recipes.
func isRecipeHeader(name string) bool {
	return matchesRole(name, RecipeColumn) || matchesRole(name, IngredientColumn) || matchesRole(name, AmountColumn)
}

// matchesRole reports whether a header name suggests a role.
func matchesRole(name string, r Role) bool {
	name = strings.ToLower(NormalizeName(name))
	return name == string(r) || slices.Contains(roleWords[r], name)
}

// A columnReader determines the roles of the columns of a table of recipes.
type columnReader struct {
	*table
	options                       Options
	units                         *Units
	given                         map[int]Role // the roles that the options give
	taken                         map[Role]int // the columns of those roles that only one column can have
	columns                       []Column
	total                         int         // the wide form: the column that is the sum of those before it; 0 if there is none
	spreads                       map[int]int // the wide form: columns of standard deviations, with the columns that they describe
	spreadBy                      map[int]int // the inverse of spreads
	hasPercentNames, hasUnitCells func() bool // cached arePercentNames and areUnitCells
	bases                         []string    // names without their units, once takeGuess has needed them
}

// readColumns determines the columns, and whether the form is long.
func readColumns(t *table, o Options, units *Units) (columns []Column, long bool, err error) {
	c := &columnReader{table: t, options: o, units: units, given: make(map[int]Role), taken: make(map[Role]int), columns: make([]Column, len(t.header))}
	c.hasPercentNames, c.hasUnitCells = sync.OnceValue(c.arePercentNames), sync.OnceValue(c.areUnitCells)
	for i, name := range t.header {
		c.columns[i] = Column{Name: name, Role: IgnoredColumn}
	}
	if err := c.checkHeader(); err != nil {
		return nil, false, err
	}
	if err := c.readGiven(); err != nil {
		return nil, false, err
	}
	for _, r := range []Role{RecipeColumn, IngredientColumn, AmountColumn, UnitColumn} {
		if _, ok := c.taken[r]; ok {
			continue
		}
		i, err := c.findUnique(string(r))
		if err != nil {
			return nil, false, err
		}
		if role, given := c.given[i]; i >= 0 && (!given || role == LabelColumn) {
			c.taken[r] = i
		}
	}
	_, ingredient := c.taken[IngredientColumn]
	_, amount := c.taken[AmountColumn]
	if long = ingredient || amount; !long {
		// Two names with a role make the form long; a single one may be a coincidence.
		in, at := c.takeGuess(IngredientColumn), c.takeGuess(AmountColumn)
		if in >= 0 && at < 0 {
			at = c.amountByUnit()
		}
		long = in >= 0 && at >= 0 && 2*c.profile[in].amounts <= c.profile[in].filled // a few names, such as Mg, are units, too
	}
	if long {
		return c.columns, true, c.readLong()
	}
	return c.columns, false, c.readWide()
}

// checkHeader reports an error if the first row looks like the rows below it rather than like
// names: a number stands above numbers, and a text above the same text.
func (c *columnReader) checkHeader() error {
	if len(c.options.Columns) > 0 || slices.ContainsFunc(c.header, isRecipeHeader) {
		return nil
	}
	figure, text := -1, -1
	for i, name := range c.header {
		p := &c.profile[i]
		if _, ok := number(name); ok && p.filled > 0 && p.amounts == p.filled {
			figure = max(figure, i)
		} else if p.seen[strings.TrimSpace(name)] && name != "" {
			text = max(text, i)
		}
	}
	if figure < 0 || text < 0 {
		return nil
	}
	return c.errorInHeader(figure, fmt.Sprintf("the first row holds %s and %s, as rows below it do, and no names of columns", inputerr.Quote(c.header[text]), inputerr.Quote(c.header[figure])),
		"add a row above it, such as recipe, ingredient, amount, unit")
}

// readGiven applies the roles that the options give.
func (c *columnReader) readGiven() error {
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
		e.Err = &NoLabelError{Name: name}
		return 0, e
	}
	for _, name := range slices.Sorted(maps.Keys(c.options.Columns)) {
		role := c.options.Columns[name]
		i, err := find(name, "what is given as columns: {"+name+": "+string(role)+"}")
		if err != nil {
			return err
		}
		c.given[i] = role
		if role == RecipeColumn || role == AmountColumn || role == UnitColumn {
			if _, ok := c.taken[role]; ok {
				return c.errorInHeader(i, "a second column is to be the "+string(role), "name one")
			}
			c.taken[role] = i
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
		if r, ok := c.given[i]; ok && r != LabelColumn {
			return c.errorInHeader(i, "column "+inputerr.Quote(c.header[i])+" cannot be a label and the "+string(r), "remove one of the two")
		}
		c.given[i] = LabelColumn
	}
	// In the long form, the one column given as ingredient holds names. If it holds amounts, the
	// form is wide.
	var named []int
	for i, r := range c.given {
		if r == IngredientColumn && c.profile[i].filled > 0 && c.profile[i].amounts == 0 {
			named = append(named, i)
		}
	}
	if len(named) == 1 {
		c.taken[IngredientColumn] = named[0]
	}
	return nil
}

// takeGuess assigns a role to the first column whose name, without its unit, is the role's name or
// one of the role's words. It returns the column, or −1 if there is none.
func (c *columnReader) takeGuess(role Role) int {
	if i, ok := c.taken[role]; ok {
		return i
	}
	for i := len(c.bases); i < len(c.header); i++ {
		base, unit := splitUnit(c.header[i], c.units)
		if cut, ok := cutPercent(c.header[i]); ok && unit == nil {
			base = cut
		}
		c.bases = append(c.bases, base)
	}
	for _, word := range append([]string{string(role)}, roleWords[role]...) {
		for i, base := range c.bases {
			if _, given := c.given[i]; given || !strings.EqualFold(base, word) || c.isTaken(i) {
				continue
			}
			if role == AmountColumn && c.profile[i].filled > 0 && c.profile[i].amounts == 0 {
				continue
			}
			c.taken[role] = i
			return i
		}
	}
	return -1
}

// amountByUnit assigns the role of amounts to a column that is named after a unit and holds
// amounts, if there is exactly one.
func (c *columnReader) amountByUnit() int {
	found := -1
	for i, name := range c.header {
		if u, ok := c.units.Lookup(name); !ok || u.Name == "to taste" || c.profile[i].amounts == 0 || c.isTaken(i) {
			continue
		}
		if _, given := c.given[i]; given {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	if found >= 0 {
		c.taken[AmountColumn] = found
	}
	return found
}

func (c *columnReader) isTaken(column int) bool {
	for _, i := range c.taken {
		if i == column {
			return true
		}
	}
	return false
}

// missingColumnError returns the error that no column has a role.
func (c *columnReader) missingColumnError(role Role) error {
	hint := longForm + "; the wide form has recipe and a column for each ingredient"
	column := 0
	for i, other := range c.header {
		if _, ok := inputerr.Nearest(other, []string{string(role)}); ok && other != "" && !c.isTaken(i) {
			column, hint = i, "is it "+inputerr.Quote(other)+"? "+hint
			break
		}
	}
	_, given := c.given[0]
	if p := &c.profile[0]; role == RecipeColumn && column == 0 && !given && (p.amounts < p.filled || len(c.lines) > 1) && p.allDistinct && c.header[0] != "" {
		hint = "say which it is, as in " + Layout{Columns: map[string]Role{c.header[0]: RecipeColumn}}.YAML() + "; " + hint
	}
	if p := &c.profile[0]; role == RecipeColumn && column == 0 && !given && !p.allDistinct && p.amounts == 0 && len(c.lines) >= fewestRows && c.header[0] != "" {
		hint = fmt.Sprintf("where several rows are of one %s, call the recipes by their rows with %s; %s", inputerr.Quote(c.header[0]),
			Layout{Columns: map[string]Role{c.header[0]: LabelColumn}}.YAML(), hint)
	}
	return c.errorInHeader(column, "no column is called "+inputerr.Quote(string(role)), hint)
}

// readLong determines the columns of the long form.
func (c *columnReader) readLong() error {
	c.takeGuess(IngredientColumn)
	if c.takeGuess(AmountColumn) < 0 {
		c.amountByUnit()
	}
	c.takeGuess(RecipeColumn)
	c.takeGuess(UnitColumn)
	var taken []string
	first := len(c.header)
	for _, r := range []Role{RecipeColumn, IngredientColumn, AmountColumn, UnitColumn} {
		i, ok := c.taken[r]
		if !ok {
			if r == UnitColumn {
				continue
			}
			return c.missingColumnError(r)
		}
		if c.given[i] == LabelColumn {
			return c.errorInHeader(i, "column "+inputerr.Quote(c.header[i])+" cannot be a label", "a label is another column than that")
		}
		c.columns[i].Role = r
		if _, given := c.given[i]; !given && !strings.EqualFold(c.header[i], string(r)) {
			taken = append(taken, fmt.Sprintf("%s as the %s", inputerr.Quote(c.header[i]), r))
			first = min(first, i)
		}
	}
	if len(taken) > 0 {
		c.addNote(c.places[first], "columns are taken by their names: "+strings.Join(taken, ", "), "")
	}
	amount := c.taken[AmountColumn]
	if _, unit := splitUnit(c.header[amount], c.units); unit != nil {
		c.columns[amount].Unit = unit
	} else if _, percent := cutPercent(c.header[amount]); percent {
		c.columns[amount].Unit, _ = c.units.Lookup("%")
	} else if unit, ok := c.units.Lookup(c.header[amount]); ok {
		c.columns[amount].Unit = unit
	}
	for i, name := range c.header {
		switch role, given := c.given[i]; {
		case c.isTaken(i) || name == "" || role == IgnoredColumn:
		case given && role == IngredientColumn:
			return c.errorInHeader(i, "column "+inputerr.Quote(name)+" cannot be an ingredient in the long form", "the ingredients are those in column "+inputerr.Quote(c.header[c.taken[IngredientColumn]]))
		default:
			c.columns[i].Role = LabelColumn
		}
	}
	return nil
}
