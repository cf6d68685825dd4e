package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
)

// readWide determines the columns of the wide form.
func (c *columnReader) readWide() error {
	recipe, err := c.wideRecipe()
	if err != nil {
		return err
	}
	if recipe >= 0 {
		c.columns[recipe].Role = RecipeColumn
		if c.given[recipe] == LabelColumn {
			return c.errorInHeader(recipe, "column "+inputerr.Quote(c.header[recipe])+" cannot be a label", "a label is another column than that")
		}
	}
	c.findSpreads(recipe)
	c.findSumRow(recipe)
	c.findTotal(recipe)
	guessed, err := c.setWideRoles(recipe)
	if err != nil {
		return err
	}
	c.findPartSums(guessed)
	guessed = slices.DeleteFunc(guessed, func(i int) bool { return c.columns[i].Role != IngredientColumn })
	c.findOdd(guessed)
	c.noteUnitNames()
	if !slices.ContainsFunc(c.columns, func(c Column) bool { return c.Role == IngredientColumn }) {
		return c.noIngredientError(recipe)
	}
	return nil
}

// setWideRoles sets the roles of all columns but that of the recipes' names. It returns the
// ingredients whose role was not given.
func (c *columnReader) setWideRoles(recipe int) (guessed []int, err error) {
	for i, name := range c.header {
		if i == recipe || name == "" {
			continue
		}
		if err := browsersched.Err(c.ctx); err != nil {
			return nil, err
		}
		role, given := c.given[i]
		if !given {
			if role, err = c.wideRole(i); err != nil {
				return nil, err
			}
			if role == IngredientColumn && c.options.Ingredients == nil {
				guessed = append(guessed, i)
			}
		}
		if c.columns[i].Role = role; role == IngredientColumn {
			c.setIngredient(i)
		}
	}
	return guessed, nil
}

// setIngredient sets the ingredient and the unit of a column from its name.
func (c *columnReader) setIngredient(i int) {
	name := c.header[i]
	c.columns[i].Ingredient = name
	if c.options.Ingredients != nil {
		if _, ok := c.options.Ingredients.Index(name); ok {
			return
		}
	}
	c.columns[i].Ingredient, c.columns[i].Unit = c.splitUnitName(name)
}

// noteUnitNames notes that names of columns contain units.
func (c *columnReader) noteUnitNames() {
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
		c.addNote(c.places[first], fmt.Sprintf("units stand in the names of %s: %s is the ingredient %s in %s", inputerr.Count(len(inUnits), "column"),
			inputerr.Quote(inUnits[0]), inputerr.Quote(c.columns[first].Ingredient), inputerr.Quote(c.columns[first].Unit.Name)), "")
	}
}

// noIngredientError returns the error for a table without a column of amounts.
func (c *columnReader) noIngredientError(recipe int) error {
	if slices.ContainsFunc(c.profile, func(p profile) bool { return p.negative > 0 }) {
		return c.errorInHeader(max(recipe, 0), "the table has numbers below 0, and no column of amounts", "a table of recipes says how much of each ingredient there is, and amounts are 0 or more")
	}
	return c.errorInHeader(max(recipe, 0), "the header names no ingredient", longForm+"; the wide form has recipe and a column for each ingredient")
}

// findSpreads finds the columns that hold the standard deviations of others, by their names.
func (c *columnReader) findSpreads(recipe int) {
	c.spreads, c.spreadBy = make(map[int]int), make(map[int]int)
	if !slices.ContainsFunc(c.header, func(name string) bool { return spreadOf(name) != "" }) {
		return // the usual case; computing the keys of all columns takes long
	}
	index := make(meanIndex)
	for k, name := range c.header {
		if k != recipe && name != "" {
			index.add(k, name)
		}
	}
	free := func(k int) bool { _, taken := c.spreadBy[k]; return !taken }
	for i, name := range c.header {
		if i == recipe || spreadOf(name) == "" {
			continue
		}
		if k := index.findFree(spreadKeys(name), i, free); k >= 0 {
			c.spreads[i], c.spreadBy[k] = k, i
		}
	}
}

// splitUnitName cuts the unit off a column's name in the wide form. A percent sign at the end is a
// unit only in two cases: the name before it is a given ingredient, or the names of most columns of
// amounts end so.
func (c *columnReader) splitUnitName(name string) (base string, unit *Unit) {
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

// arePercentNames reports whether the names of most columns of amounts end in a percent sign.
func (c *columnReader) arePercentNames() bool {
	amounts, percents := 0, 0
	for i := range c.profile {
		if p := &c.profile[i]; p.filled > 0 && p.amounts == p.filled {
			amounts++
			if _, ok := cutPercent(c.header[i]); ok {
				percents++
			}
		}
	}
	return percents > 1 && 2*percents > amounts
}

// wideRecipe returns the column of the recipes' names in the wide form, or −1 if they have none and
// are named by their rows.
func (c *columnReader) wideRecipe() (int, error) {
	if i, ok := c.taken[RecipeColumn]; ok {
		return i, nil
	}
	named := func(i int) bool { return c.profile[i].filled > 0 && c.profile[i].amounts < c.profile[i].filled }
	if i := c.takeGuess(RecipeColumn); i >= 0 {
		c.addNote(c.places[i], "column "+inputerr.Quote(c.header[i])+" is taken as the recipe", "")
		return i, nil
	}
	if c.header[0] == "" && named(0) {
		c.header[0] = string(RecipeColumn)
		c.columns[0].Name = c.header[0]
		c.addNote(c.places[0], "the first column, which has no name, is taken as the recipe", "")
		return 0, nil
	}
	if p := c.profile[0]; named(0) && p.amounts == 0 && p.allDistinct && len(c.header) > 1 && !c.nearRole(0) {
		if _, given := c.given[0]; !given {
			c.noteRole(0, RecipeColumn, "column "+inputerr.Quote(c.header[0])+" is taken as the recipe")
			return 0, nil
		}
	}
	if p := c.profile[0]; p.isNumeric() && p.affix == "" && p.allDistinct && len(c.header) > 1 && isRowNumber(c.header[0]) {
		if _, given := c.given[0]; !given {
			c.noteRole(0, RecipeColumn, "column "+inputerr.Quote(c.header[0])+" is taken as the recipe")
			return 0, nil
		}
	}
	if c.hasRepeatedNames() {
		c.noteRole(0, LabelColumn, fmt.Sprintf("several rows are of one %s, so each row is a recipe, called by its row such as %s, and the column is taken as a label", inputerr.Quote(c.header[0]), inputerr.Quote(rowName(c.lines[0]))))
		c.given[0] = LabelColumn
		return -1, nil
	}
	if c.hasNoNames() {
		c.addNote(c.places[0], "no column names the recipes: each is called by its row, such as "+inputerr.Quote(rowName(c.lines[0])), "")
		return -1, nil
	}
	return 0, c.missingColumnError(RecipeColumn)
}

// hasNoNames reports whether a table lists trials without names. It has several rows, two or more
// columns that hold only amounts, and no text in the first column that may be a name.
func (c *columnReader) hasNoNames() bool {
	_, given := c.given[0]
	if len(c.lines) < fewestRows || !given && c.profile[0].amounts < c.profile[0].filled {
		return false
	}
	amounts := 0
	for i := range c.header {
		if c.nearRole(i) {
			return false
		}
		if p := &c.profile[i]; p.filled > 0 && p.amounts == p.filled {
			amounts++
		}
	}
	return amounts > 1
}

// amountsOfWide is the number of columns with only amounts from which on a table is wide, whatever
// its first column is.
const amountsOfWide = 4

// hasRepeatedNames reports whether a table lists trials of which several share a name, such as
// those measured at several ages. The first column has texts, some of them repeated, and many
// others hold only amounts.
func (c *columnReader) hasRepeatedNames() bool {
	p := &c.profile[0]
	if _, given := c.given[0]; given || c.header[0] == "" || p.allDistinct || p.amounts > 0 || p.filled < len(c.lines) || len(c.lines) < fewestRows || c.nearRole(0) {
		return false
	}
	amounts := 0
	for i := range c.header {
		if p := &c.profile[i]; p.filled > 0 && p.amounts == p.filled {
			amounts++
		}
	}
	return amounts >= amountsOfWide
}

// rowName returns the name of a recipe without a name: its row in a spreadsheet, its line in a
// text.
func rowName(line int) string { return fmt.Sprint("row ", line) }

// nearRole reports whether a column's name may be a misspelt role.
func (c *columnReader) nearRole(column int) bool {
	_, ok := inputerr.Nearest(c.header[column], []string{string(RecipeColumn), string(IngredientColumn), string(AmountColumn), "ingredients"})
	return ok
}

// wideRole returns the role of a column of the wide form whose role was not given.
func (c *columnReader) wideRole(i int) (Role, error) {
	name, p := c.header[i], &c.profile[i]
	if c.isGivenIngredient(name) {
		return IngredientColumn, nil
	}
	if c.noteSpread(i) {
		return LabelColumn, nil
	}
	switch {
	case p.filled == 0 || p.remainders > 0 && 2*(p.amounts+p.remainders) > p.filled:
		return IngredientColumn, nil
	case p.amounts == 0 && p.filled > 0 && isFilling(p.example):
		return IngredientColumn, nil
	case p.amounts == 0 && p.numbers < p.filled:
		return c.textRole(i)
	case p.isNumeric() && p.affix != "" && p.affix != "%":
		c.addNote(c.places[i], fmt.Sprintf("column %s holds sums of money such as %s and is taken as a label", inputerr.Quote(name), inputerr.Quote(p.example)), "")
		return LabelColumn, nil
	}
	role, reason := c.numberRole(i)
	if role != IngredientColumn {
		c.noteRole(i, role, fmt.Sprintf("column %s %s", inputerr.Quote(name), reason))
	}
	return role, nil
}

// isGivenIngredient reports whether a column's name, with or without a unit, is an ingredient of the
// ingredients' file.
func (c *columnReader) isGivenIngredient(name string) bool {
	in := c.options.Ingredients
	if in == nil {
		return false
	}
	base, _ := c.splitUnitName(name)
	for _, text := range []string{name, base} {
		if _, ok := in.Index(text); ok {
			return true
		}
	}
	return false
}

// noteSpread reports whether a column holds the standard deviations of another, or another holds
// those of this one, and notes it.
func (c *columnReader) noteSpread(i int) bool {
	name, p := c.header[i], &c.profile[i]
	if of, is := c.spreads[i]; is {
		c.noteRole(i, LabelColumn, fmt.Sprintf("column %s is taken as a label: by its name it holds the standard deviations of %s", inputerr.Quote(name), inputerr.Quote(c.header[of])))
		return true
	}
	if k, is := c.spreadBy[i]; is && 2*p.amounts >= p.filled {
		c.noteRole(i, LabelColumn, fmt.Sprintf("column %s is taken as a label: column %s holds its standard deviations", inputerr.Quote(name), inputerr.Quote(c.header[k])))
		return true
	}
	return false
}

// textRole returns the role of a column of text: a label, but an error if its name is nearly that of
// a role of the long form.
func (c *columnReader) textRole(i int) (Role, error) {
	name, p := c.header[i], &c.profile[i]
	if c.nearRole(i) {
		return "", c.errorInHeader(i, fmt.Sprintf("column %s holds text such as %s and no amounts", inputerr.Quote(name), inputerr.Quote(p.example)),
			longForm+"; a list in one cell is not read; if it is a label, say so: "+Layout{Columns: map[string]Role{name: LabelColumn}}.YAML())
	}
	c.addNote(c.places[i], fmt.Sprintf("column %s holds text such as %s and is taken as a label", inputerr.Quote(name), inputerr.Quote(p.example)), "")
	return LabelColumn, nil
}

// numberRole returns the role of a column of numbers, and why it is not an ingredient.
func (c *columnReader) numberRole(i int) (role Role, reason string) {
	name, p := c.header[i], &c.profile[i]
	switch {
	case c.total > 0 && i == c.total:
		return IgnoredColumn, "holds numbers and is left out: it is the sum of those before it"
	case c.total > 0 && i > c.total:
		return LabelColumn, "stands behind the sum of the amounts and is taken as a label"
	case p.negative > 1:
		return LabelColumn, "holds numbers below 0 and is taken as a label"
	case 2*(p.amounts+p.remainders) < p.filled:
		return LabelColumn, "holds few amounts and is taken as a label"
	case p.isRowNumbering() && !isJudgement(name):
		return IgnoredColumn, "numbers the rows and is left out"
	case p.isNumeric() && p.affix == "" && isSumName(name):
		return IgnoredColumn, "is taken for a sum, for its name, and left out"
	case p.isNumeric() && p.affix == "" && c.hasUnitCells():
		if _, unit := c.splitUnitName(name); unit != nil {
			return IngredientColumn, ""
		}
		return LabelColumn, "holds numbers without a unit, where other columns have units, and is taken as a label"
	case hasPropertyUnit(name):
		return LabelColumn, "holds numbers in a unit that no amount has and is taken as a label"
	case describesRecipe(name):
		return LabelColumn, "holds numbers and is taken as a label, not as an ingredient, for its name"
	}
	return IngredientColumn, ""
}

// noteRole notes the role that was guessed for a column.
func (c *columnReader) noteRole(column int, role Role, message string) {
	settle := Layout{Columns: map[string]Role{c.header[column]: role}}
	c.settling.setColumn(c.header[column], role)
	p := c.places[column]
	c.notes = append(c.notes, Note{File: c.file, Line: p.line, Column: p.column, Cell: p.cell, Message: message, Setting: settle.YAML(), AmbiguousColumn: c.header[column], AssumedRole: role})
}

// areUnitCells reports whether most columns of amounts have a unit in each of their cells, or in
// their name.
func (c *columnReader) areUnitCells() bool {
	amounts, units := 0, 0
	for i := range c.profile {
		if p := &c.profile[i]; p.filled > 0 && p.amounts == p.filled {
			_, unit := c.splitUnitName(c.header[i])
			if unit == nil && (inOtherUnit(c.header[i]) || describesRecipe(c.header[i])) {
				continue
			}
			if amounts++; unit != nil || p.units == p.filled {
				units++
			}
		}
	}
	return units > 1 && 2*units > amounts
}

// inOtherUnit reports whether a column's name has a known unit in brackets that is not of an
// amount, such as of a strength or a length.
func inOtherUnit(name string) bool {
	plain, unit := SplitHeaderUnit(name)
	left, right, per := strings.Cut(unit, "/")
	if per {
		right, _, _ = strings.Cut(right, " ") // such as oz/cwt binder
	}
	known := append(headerUnitWords(), "in", "ft", "C", "F") // known units that outside brackets are also words or letters
	return plain != name && unit != "" && (slices.Contains(known, left) && (!per || slices.Contains(known, right)))
}

// findPartSums finds columns that are the sum of two or more behind them in all rows, or in 19 of
// 20, as the binder is of its components. They are not ingredients: their content would count
// twice.
func (c *columnReader) findPartSums(guessed []int) {
	below := make([]float64, len(c.lines)) // by row, how much numbers below 0 can reduce a sum
	for _, i := range guessed {
		for r, v := range c.profile[i].values {
			if v < 0 {
				below[r] -= v
			}
		}
	}
	for k, i := range guessed {
		p := &c.profile[i]
		rows := len(p.values)
		if rows < 2*fewestRows || p.filled < rows {
			continue
		}
		sum := make([]float64, rows)
		for n, j := range guessed[k+1:] {
			if j != i+1+n || c.columns[j].Unit != c.columns[i].Unit || exceedsWhole(sum, p.values, below) {
				break
			}
			others, several, differ := 0, false, false
			for r, v := range c.profile[j].values {
				several = several || v > 0 && sum[r] > 0
				sum[r] += v
				if !(v >= 0 && p.values[r] > 0 && math.Abs(sum[r]-p.values[r]) <= float64(roundedPart*p.values[r])) {
					others++
				}
				differ = differ || p.values[r] != p.values[0]
			}
			if n > 0 && 20*others <= rows && several && differ {
				where := ""
				if others > 0 {
					where = " in nearly all rows"
				}
				c.columns[i] = Column{Name: c.header[i], Role: IgnoredColumn}
				c.noteRole(i, IgnoredColumn, fmt.Sprintf("column %s is left out: it is the sum of the %d columns behind it%s", inputerr.Quote(c.header[i]), n+1, where))
				break
			}
		}
	}
}

// exceedsWhole reports whether sums of columns exceed those of a whole in so many rows that adding
// more columns cannot make them equal.
func exceedsWhole(sum, whole, below []float64) bool {
	over := 0
	for r, v := range whole {
		if !(v > 0 && sum[r]-below[r]-v <= float64(roundedPart*v)) {
			over++
		}
	}
	return 20*over > len(whole)
}

// roundedPart bounds the relative difference between a sum of a few rounded amounts and its written
// value.
const roundedPart = 0.005

// findSumRow finds a row that is the sum of all others in each numeric column that it fills, at the
// end of what may be a table of any recipes. It is not a recipe.
func (c *columnReader) findSumRow(recipe int) {
	rows := len(c.lines)
	if rows < fewestRows {
		return
	}
	r := rows - 1
	columns := 0
	for i := range c.profile {
		p := &c.profile[i]
		if i == recipe || p.filled == 0 || p.amounts < p.filled || p.values[r] == 0 {
			continue
		}
		sum := 0.0
		for _, v := range p.values {
			sum += v
		}
		if !(math.Abs(sum-float64(2*p.values[r])) <= 1e-9*sum) {
			return
		}
		columns++
	}
	if columns < 3 {
		return
	}
	name := rowName(c.lines[r])
	if recipe >= 0 {
		name = NormalizeName(c.last[min(recipe, len(c.last)-1)])
	}
	same := func(other string) bool { return NormalizeName(other) == name }
	if slices.ContainsFunc(c.options.Including, same) {
		c.included = name
		return
	}
	c.summed, c.sum = c.lines[r], name
	if !slices.ContainsFunc(c.options.Without, same) {
		n := Note{File: c.file, Line: c.summed, Column: 1, Row: name, Left: true, Doubtful: true, Message: "a row that adds up all others is left out"}
		if name != "" {
			n.Message += ": including: [" + YAMLText(name) + "] takes it in"
		}
		c.notes = append(c.notes, n)
	}
	for i := range c.profile {
		c.profile[i].values = c.profile[i].values[:r]
	}
}

// findTotal finds a column that is named as a sum or is 100 or 1 throughout, and is the sum of at
// least three before it. Neither it nor any column behind it is an ingredient.
func (c *columnReader) findTotal(recipe int) {
	rows := len(c.profile[0].values)
	if rows < fewestRows && !slices.ContainsFunc(c.profile, func(p profile) bool { return p.remainders > 0 }) {
		return
	}
	sum := make([]float64, rows)
	added := 0
	for i := range c.profile {
		p := &c.profile[i]
		role, given := c.given[i]
		if i == recipe || p.amounts+p.remainders == 0 || p.amounts+p.remainders < p.filled || given && role != IngredientColumn || describesRecipe(c.header[i]) {
			continue
		}
		total, called := added >= 3 && p.filled >= rows && !given, hasSumWord(c.header[i])
		for r, v := range p.values {
			total = total && (called || math.Abs(v-100) <= 0.5 || math.Abs(v-1) <= 0.005) && v > 0 && !(math.Abs(v-sum[r]) > 0.005*v)
			sum[r] += v
		}
		if added++; total {
			c.total = i
			return
		}
	}
}

// findOdd searches the guessed ingredients for one without which every row has the same sum, or
// which is the sum of the others. It is not an ingredient.
func (c *columnReader) findOdd(guessed []int) {
	var all []int
	for i, column := range c.columns {
		if column.Role == IngredientColumn && column.Unit == nil {
			all = append(all, i)
		} else if column.Role == IngredientColumn {
			return // amounts of several units do not add up
		}
	}
	if len(all) < 3 || len(guessed) == 0 {
		return
	}
	rows := len(c.profile[all[0]].values)
	if rows < fewestRows {
		return
	}
	sum := make([]float64, rows)
	for _, i := range all {
		for r, v := range c.profile[i].values {
			sum[r] += v
		}
	}
	i, why := -1, ""
	for _, apart := range []float64{1e-6, roundedSums} {
		if i, why = c.oddColumn(all, guessed, sum, apart); i >= 0 {
			break
		}
	}
	if i < 0 {
		return
	}
	role, taken := LabelColumn, "taken as a label, not as an ingredient"
	if isSumName(c.header[i]) {
		role, taken = IgnoredColumn, "left out"
	}
	c.columns[i] = Column{Name: c.header[i], Role: role}
	c.noteRole(i, role, fmt.Sprintf("column %s holds numbers and is %s: %s", inputerr.Quote(c.header[i]), taken, why))
}

// roundedSums bounds the relative difference between sums of rounded amounts.
const roundedSums = 0.025

// oddColumn returns the one column, and the reason, without which rows have nearly the same sum, or
// which is the sum of the others; −1 if there are none or several.
func (c *columnReader) oddColumn(all, guessed []int, sum []float64, apart float64) (odd int, why string) {
	same := func(value func(r int) float64) bool {
		for r := range sum {
			if !(math.Abs(value(r)-value(0)) <= apart*math.Abs(value(0))) {
				return false
			}
		}
		return true
	}
	level := same(func(r int) float64 { return sum[r] })
	odd = -1
	for _, i := range guessed {
		p := &c.profile[i]
		if p.filled < len(sum) {
			continue
		}
		isSum := true
		for r, v := range p.values {
			isSum = isSum && math.Abs(sum[r]-float64(2*v)) <= 1e-6*math.Abs(v)
		}
		found := ""
		switch {
		case isSum && (isSumName(c.header[i]) || len(all) > 3):
			found = "it is the sum of the others"
		case !level && same(func(r int) float64 { return sum[r] - p.values[r] }):
			found = "without it every row adds up to the same"
		default:
			continue
		}
		if odd >= 0 {
			return -1, ""
		}
		odd, why = i, found
	}
	return odd, why
}
