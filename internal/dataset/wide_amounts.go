package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// A columnGuess is what the reader makes of a column of numbers of the wide form.
type columnGuess struct {
	role   Role
	reason string // why it is not an ingredient, or why it is one in spite of its name; empty for a plain ingredient
	isOpen bool   // the name allows either
	isSum  bool   // it is left out as the sum of others, and would else be an ingredient
}

// Evidence that a column of numbers holds the amounts of an ingredient, as logarithms of odds.
const (
	plainNumbers   = 1  // a column of numbers about which nothing else is known
	materialName   = 3  // its name has the word of a material, such as water
	elementName    = 2  // or is a chemical formula
	zeroAmounts    = 1  // some recipes do not use it
	amountUnit     = 2  // its name has a unit of amounts
	oddUnit        = -3 // its name has one, where few others have
	percentUnit    = 1  // or of shares, which results may have, too
	otherUnit      = -6 // its unit is not one of amounts
	unknownUnit    = -3 // or is unknown
	missingUnit    = -3 // it has no unit, where others have one
	headingFor     = 3  // it stands under a heading of materials
	headingAgainst = -5 // or of conditions or results
	setName        = -5 // its name is that of a condition
	ambiguousName  = -3 // or of a condition or a result
	describingName = -4 // or of a judgement
	resultName     = -3 // or has the word of a result
	meanOrRepeat   = -6 // it is one of several measurements, or their mean
	sumName        = -6 // its name says that it adds up others
	batchName      = -4 // or how much of a batch was made
	ratioName      = -8 // or that it is a ratio of two others, such as w/c
)

// guessAmounts decides for all columns of numbers together whether they are amounts, and why. The parameter recipe is
// the index of the column of names, or −1.
func (c *columnReader) guessAmounts(recipe int) {
	c.numberGuesses = make(map[int]columnGuess)
	c.findPercentBesideTraces()
	var columns []amountColumn
	otherwise := make(map[int]columnGuess) // by index of a column of the table: what it is if it holds no amounts
	for i := range c.header {
		p := &c.profiles[i]
		if i == recipe || c.header[i] == "" || len(p.firstValues) == 0 || p.amountCount == 0 && !p.isRest() || !c.mayBeAmounts(i) {
			continue
		}
		column, guess := c.weighColumn(i)
		otherwise[i] = guess
		columns = append(columns, column)
	}
	c.weighMeans(columns, otherwise)
	if c.options.Ingredients != nil {
		for _, column := range columns {
			c.numberGuesses[column.field] = columnGuess{role: IngredientColumn}
			if column.evidence <= 0 {
				c.numberGuesses[column.field] = otherwise[column.field]
			}
		}
		return
	}
	sums := markPartSums(columns)
	c.leaveOutSecondRests(columns)
	chosen := chooseAmounts(columns, sums...)
	for _, s := range sums {
		if guess, ok := c.guessPartSum(s, columns, chosen); ok {
			otherwise[columns[s.column].field] = guess
		}
	}
	c.hasEmptyRest = slices.ContainsFunc(columns, func(a amountColumn) bool { return a.leavesNothing }) || slices.ContainsFunc(sums, func(s partSum) bool { return s.hasRest })
	sum := slices.IndexFunc(columns, func(column amountColumn) bool { return column.isSum })
	if sum >= 0 {
		c.wholeName = c.header[columns[sum].field]
	}
	for k, column := range columns {
		guess := c.guessOfChoice(&column, chosen[k], sum >= 0 && k > sum, otherwise[column.field])
		if guess.role == LabelColumn && !column.isFixed && guess.isOpen && len(columns) <= maxJointColumns {
			if share := shareWith(columns, chosen, k); share > 0 {
				guess.reason += fmt.Sprintf(" (as an ingredient it would be %s %% of a recipe)", strconv.FormatFloat(roundShare(float64(100*share)), 'f', -1, 64))
			}
		}
		c.numberGuesses[column.field] = guess
	}
}

// minMoneyColumns is the least number of columns of sums of money that are the amounts of a portfolio and no prices.
const minMoneyColumns = 4

// findSumsOfMoney makes sums of money the amounts, as in a portfolio, if there are many columns of them that are not called
// prices or costs. It adds a note.
func (c *columnReader) findSumsOfMoney() {
	if c.options.Ingredients != nil {
		return
	}
	var columns []int
	for i := range c.profiles {
		if p := &c.profiles[i]; p.isNumeric() && p.firstAffix != "" && p.firstAffix != "%" && !IsCostName(c.header[i]) {
			columns = append(columns, i)
		}
	}
	if len(columns) < minMoneyColumns {
		return
	}
	c.moneySign = c.profiles[columns[0]].firstAffix
	for _, i := range columns {
		p := &c.profiles[i]
		if p.firstAffix != c.moneySign {
			continue
		}
		p.firstAffix, p.amountCount = "", p.numberCount
	}
	c.addDoubtfulNote(c.headerPlaces[columns[0]], fmt.Sprintf("sums of money in %s, such as those of %s, are taken as amounts", inputerr.Quote(c.moneySign), inputerr.Quote(c.header[columns[0]])))
}

// findPercentBesideTraces makes the amounts without a unit percentages if units stand only in the names of traces, such as
// Sr (ppm), and of conditions and results. It adds a note.
func (c *columnReader) findPercentBesideTraces() {
	if c.amountUnit != nil || c.columnUnits != nil || c.options.Ingredients != nil {
		return
	}
	trace, plain := -1, -1
	for i, name := range c.header {
		base, unit := c.splitNameAndUnit(name)
		isMaterial := isFormula(base) || ingredientWord.isIn(wordsOf(base))
		switch {
		case !isMaterial:
		case unit == nil && c.profiles[i].unitCount > 0:
			return // units stand in the cells
		case unit == nil:
			plain = max(plain, i)
		case unit.Kind != measure.Percent || unit.Size.Float64() >= 1:
			return
		default:
			trace = max(trace, i)
		}
	}
	if trace < 0 || plain < 0 {
		return
	}
	c.amountUnit, _ = c.units.Lookup("%")
	c.addDoubtfulNote(c.headerPlaces[plain], fmt.Sprintf("amounts without a unit, such as those of %s, are taken in %%, beside %s", inputerr.Quote(c.header[plain]), inputerr.Quote(c.header[trace])))
}

// leaveOutSecondRests takes the columns that make up the rest of a whole which they do not state for no amounts if another
// column states the whole: a recipe has one rest, and the others are dried off.
func (c *columnReader) leaveOutSecondRests(columns []amountColumn) {
	states := slices.ContainsFunc(columns, func(a amountColumn) bool { return a.restWhole > 0 })
	for i := range columns {
		column := &columns[i]
		p := &c.profiles[column.field]
		if _, given := c.givenRoles[column.field]; !states || given || !p.isRest() || column.restWhole > 0 || p.amountCount > 0 {
			continue
		}
		column.isFixed, column.evidence = true, otherUnit
		c.secondRests = append(c.secondRests, column.field)
	}
}

// hasRest reports whether a column makes up the rest of each recipe.
func (c *columnReader) hasRest() bool {
	return slices.ContainsFunc(c.profiles, func(p columnProfile) bool { return p.isRest() })
}

// guessOfChoice returns the guess about a column from the choice of all columns. behindSum reports whether the column
// stands behind the sum of the chosen ones, and otherwise is the guess for a column that is not chosen.
func (c *columnReader) guessOfChoice(column *amountColumn, isChosen, behindSum bool, otherwise columnGuess) columnGuess {
	switch {
	case isChosen && column.standsApart:
		return columnGuess{role: IngredientColumn, reason: "is taken as an ingredient, although other columns stand between it and the others"}
	case isChosen && column.isAddition:
		return columnGuess{role: IngredientColumn, reason: "is taken as an ingredient added on top: the others make up the whole without it"}
	case isChosen && column.evidence < 0 && !column.isFixed:
		return columnGuess{role: IngredientColumn, reason: "is taken as an ingredient: only with it do all recipes have the same total"}
	case isChosen:
		return columnGuess{role: IngredientColumn}
	case column.isSum:
		return columnGuess{role: IgnoredColumn, reason: "is left out: it is the sum of the amounts", isSum: true}
	case behindSum && (column.evidence > 0 || otherwise.isOpen):
		return columnGuess{role: LabelColumn, reason: "comes after the total and is taken as a result or condition"}
	case column.evidence > 0:
		guess := columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient: only without it do all recipes have the same total"}
		if isSumName(c.header[column.field]) {
			guess.role = IgnoredColumn
		}
		return guess
	}
	return otherwise
}

// weighMeans weighs against the columns of repeated measurements and of their means. A mean must be called so, because
// three columns may be in that relation by coincidence.
func (c *columnReader) weighMeans(columns []amountColumn, otherwise map[int]columnGuess) {
	means, repeats := findMeans(columns)
	for k := range means {
		if !meanWord.isIn(wordsOf(c.header[columns[k].field])) {
			delete(means, k)
		}
	}
	for k := range columns {
		column := &columns[k]
		switch {
		case column.isFixed:
		case means[k]:
			column.evidence += meanOrRepeat
			otherwise[column.field] = columnGuess{role: LabelColumn, reason: "is the mean of the columns beside it and is taken as a result"}
		case repeats[k] && hasNear(means, k):
			column.evidence += meanOrRepeat
			otherwise[column.field] = columnGuess{role: LabelColumn, reason: "is taken as a result: it is one of several measurements, and a column beside it is their mean"}
		}
	}
}

// hasNear reports whether one of the indices is at most maxRepeats from k.
func hasNear(indices map[int]bool, k int) bool {
	for i := k - maxRepeats; i <= k+maxRepeats; i++ {
		if indices[i] {
			return true
		}
	}
	return false
}

// roundShare rounds a percentage to two figures.
func roundShare(percent float64) float64 {
	if percent >= 10 {
		return math.Round(percent)
	}
	return math.Round(float64(10*percent)) / 10
}

// shareWith returns the mean share of a recipe that a column would have if it were chosen as well.
func shareWith(columns []amountColumn, chosen []bool, k int) float64 {
	total, rows := 0.0, 0
	for r, v := range columns[k].values {
		sum := v
		for i, in := range chosen {
			if in && i != k {
				sum += columns[i].values[r]
			}
		}
		if sum > 0 && !math.IsNaN(sum) {
			total += float64(v / sum)
			rows++
		}
	}
	if rows == 0 {
		return 0
	}
	return total / float64(rows)
}

// mayBeAmounts reports whether the choice of amounts looks at a column. Of those whose role is given it also looks at the
// ones that are no ingredients, as such a column may be the sum of the amounts.
func (c *columnReader) mayBeAmounts(i int) bool {
	p := &c.profiles[i]
	role, given := c.givenRoles[i]
	switch {
	case given && role != LabelColumn && role != IgnoredColumn:
		return role == IngredientColumn
	case p.isNumeric() && p.firstAffix != "" && p.firstAffix != "%":
		return false // sums of money
	}
	if _, is := c.meanBySpread[i]; is {
		return false
	}
	if _, is := c.spreadByMean[i]; is && 2*p.amountCount >= p.filledCount {
		return false
	}
	return true
}

// weighColumn returns the evidence about one column of numbers, and its guess if it is not an ingredient.
func (c *columnReader) weighColumn(i int) (column amountColumn, otherwise columnGuess) {
	name, p := c.header[i], &c.profiles[i]
	base, unit := c.splitNameAndUnit(name)
	column = amountColumn{field: i, values: p.firstValues, cells: p.firstValues}
	if of := cmp.Or(unit, c.unitFromElsewhere(i)); of != nil {
		column.kind = of.Kind
		column.values = scaled(p.firstValues, of.Size.Float64())
	}
	column.isNamedTotal = hasSumWord(name)
	column.isGrandTotal = column.isNamedTotal && !compositionHeading.isIn(wordsOf(base))
	if unit != nil && unit.Kind == measure.Mass && c.hasRest() && (indifferentWord.isIn(wordsOf(base)) || weightWord.isIn(wordsOf(base))) {
		column.isNamedTotal = true // what the rest makes up
	}
	column.isTotal = column.isNamedTotal || !slices.ContainsFunc(p.firstValues, func(v float64) bool {
		return !(math.Abs(v-100) <= 0.5 || math.Abs(v-1) <= 0.005 || math.Abs(v-1000) <= 5)
	})
	role, given := c.givenRoles[i]
	if given && role != IngredientColumn {
		column.isFixed, column.evidence = true, otherUnit
		return column, otherwise
	}
	if p.isRest() {
		text := p.onlyText
		rest, ok := c.restTexts[text]
		if !ok {
			rest, _, _ = measure.ParseQuantity(text, c.decimal, c.units)
		}
		if column.restWhole = rest.Amount.Float64(); column.kind != measure.Unitless {
			column.restWhole = baseValue(rest, c.units)
		}
	}
	if given || p.isRest() || c.isGivenIngredient(name) || c.elementsFrom > 0 && i >= c.elementsFrom {
		column.isFixed, column.evidence = true, materialName
		return column, otherwise
	}
	column.evidence, column.isFixed, otherwise = c.weighAgainst(i)
	if column.isFixed || column.evidence <= unlikelyEvidence {
		return column, otherwise
	}
	switch {
	case ingredientWord.isIn(wordsOf(base)):
		column.evidence, column.isMaterial = column.evidence+materialName, true
	case isFormula(base):
		column.evidence, column.isMaterial = column.evidence+elementName, true
	}
	if c.sectionAt(i) == compositionSection {
		column.evidence += headingFor
	}
	if slices.Contains(p.firstValues, 0) {
		column.evidence += zeroAmounts
	}
	switch {
	case unit != nil && !unit.Kind.IsPercent() && c.fewHaveUnits():
		column.evidence += oddUnit
	case unit != nil && !unit.Kind.IsPercent():
		column.evidence += amountUnit
	case unit != nil:
		column.evidence += percentUnit
	}
	return column, otherwise
}

// weighAgainst returns the evidence of a column's name, unit and numbers that it does not hold amounts.
func (c *columnReader) weighAgainst(i int) (evidence float64, isFixed bool, guess columnGuess) {
	name, p := c.nameWithUnit(i), &c.profiles[i]
	base, unit := c.splitNameAndUnit(name)
	plain := p.isMostlyNumeric() && p.firstAffix == ""
	origin := GuessOrigin(name, false)
	if unit != nil && (isFormula(base) || origin == SetOrMeasured) || origin == SetOrMeasured && ingredientWord.isIn(wordsOf(base)) {
		origin = UnknownOrigin // Rh is rhodium here and no humidity, and a pH adjuster no pH
	}
	switch {
	case c.elementsFrom > 0:
		return otherUnit, true, columnGuess{role: LabelColumn, reason: "is taken as a result or condition: the amounts are those of the formulas"}
	case p.negativeCount > 1:
		return otherUnit, true, columnGuess{role: LabelColumn, reason: "holds numbers below 0 and is taken as a result or condition"}
	case 2*(p.amountCount+p.remainderCount) < p.filledCount:
		return otherUnit, true, columnGuess{role: LabelColumn, reason: "holds few numbers and is taken as a result or condition"}
	case plain && p.holdsYears():
		return otherUnit, true, columnGuess{role: LabelColumn, reason: "holds years and is taken as a result or condition"}
	case p.isRowNumbering() && !isJudgement(name):
		return otherUnit, true, columnGuess{role: IgnoredColumn, reason: "numbers the rows and is left out"}
	case unit == nil && shareOfPattern().MatchString(name):
		return unknownUnit, false, columnGuess{role: LabelColumn, reason: "is a share of something else and is taken as a result or condition", isOpen: true}
	case unit == nil && c.hasUnknownUnit(name):
		return unknownUnit, false, columnGuess{role: LabelColumn, reason: "has a unit that kir does not know and is taken as a result or condition", isOpen: true}
	case hasPropertyUnit(name), unit == nil && c.hasOtherUnit(name):
		return otherUnit, false, columnGuess{role: LabelColumn, reason: "has a unit that no amount has and is taken as a result or condition"}
	case plain && (unit == nil || hasBracketedUnit(name)) && ratioPattern().MatchString(name) && !c.hasLetters():
		return ratioName, false, columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient, because of its name"}
	case p.isMostlyNumeric() && hasSumWord(name):
		return sumName, false, columnGuess{role: IgnoredColumn, reason: "is left out: by its name it is a total"}
	case plain && unit == nil && c.amountUnit == nil && c.hasUnitCells():
		return missingUnit, false, columnGuess{role: LabelColumn, reason: "has no unit that kir knows, while the amounts have one, and is taken as a result or condition"}
	case plain && batchWord.isIn(wordsOf(base)):
		return batchName, false, columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient, because of its name"}
	case c.sectionAt(i) == setSection || c.sectionAt(i) == resultSection:
		return headingAgainst, false, columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient, because of the heading above it"}
	case origin == SetInTrial || origin == MeasuredInTrial:
		return setName, false, columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient, because of its name"}
	case describesRecipe(name):
		return describingName, false, columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient, because of its name"}
	case origin == SetOrMeasured:
		return ambiguousName, false, columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient, because of its name", isOpen: true}
	case resultWord.isIn(wordsOf(name)) && !ingredientWord.isIn(wordsOf(name)):
		return resultName, false, columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient, because of its name", isOpen: true}
	}
	return plainNumbers, false, columnGuess{role: LabelColumn, reason: "is taken as a result or condition, not as an ingredient", isOpen: true}
}

// fewHaveUnits reports whether few of the columns of plain numbers have a unit of amounts in their names, so that one is
// rather a condition, such as a dose of a detergent.
func (c *columnReader) fewHaveUnits() bool {
	if c.unitShareKnown {
		return c.unitsAreFew
	}
	with, without := 0, 0
	for i, name := range c.header {
		p := &c.profiles[i]
		if p.amountCount == 0 || 2*p.amountCount < p.filledCount || !p.isNumeric() {
			continue
		}
		base, unit := c.splitNameAndUnit(name)
		switch {
		case unit != nil && !unit.Kind.IsPercent():
			with++
		case unit == nil && !hasBracketedUnit(name) && GuessOrigin(base, false) == UnknownOrigin && !describesRecipe(name):
			without++
		}
	}
	c.unitShareKnown, c.unitsAreFew = true, 3*with < without
	return c.unitsAreFew
}

// unitFromElsewhere returns the unit of the amounts of a column whose name has none: that of its row, or of all rows, in
// a transposed table; else nil.
func (c *columnReader) unitFromElsewhere(i int) *measure.Unit {
	if i < len(c.columnUnits) && c.columnUnits[i] != "" {
		unit, _ := c.units.Lookup(c.columnUnits[i])
		return unit
	}
	return c.amountUnit
}

// nameWithUnit returns the name of a column, with the unit of its row behind it in a transposed table.
func (c *columnReader) nameWithUnit(i int) string {
	name := c.header[i]
	if i < len(c.columnUnits) && c.columnUnits[i] != "" && !hasBracketedUnit(name) {
		name += " (" + c.columnUnits[i] + ")"
	}
	return name
}

// hasOtherUnit reports whether a column's name has a known unit that is none of amounts.
func (c *columnReader) hasOtherUnit(name string) bool {
	_, unit := SplitHeaderUnit(name)
	_, isAmount := c.units.Lookup(unit)
	return !isAmount && hasNonAmountUnit(name)
}

// hasUnknownUnit reports whether a column's name ends in brackets with a short text in capitals, such as GU, that is no
// unit of amounts.
func (c *columnReader) hasUnknownUnit(name string) bool {
	_, unit := SplitHeaderUnit(name)
	_, isAmount := c.units.Lookup(unit)
	return !isAmount && !hasNonAmountUnit(name) && hasBracketedUnit(name) && len(unit) <= maxUnitBytes && unit != strings.ToLower(unit)
}

// maxUnitBytes is the maximum length of a text in brackets that is taken for an unknown unit, such as GU, if it has a
// capital letter.
const maxUnitBytes = 4

// ratioPattern matches the names of ratios, such as w/c or a/agl, with a unit from elsewhere behind them.
var ratioPattern = lazyPattern(`^(?i)[\pL]{1,4}[/:][\pL]{1,6}(?:\s*\(.*\))?$`)

// letteredPattern matches the name of a factor of a design with its letter, such as D:Talc.
var letteredPattern = lazyPattern(`^[A-Z]:`)

// hasLetters reports whether several columns are called after the letters of the factors of a design.
func (c *columnReader) hasLetters() bool {
	lettered := 0
	for _, name := range c.header {
		if letteredPattern().MatchString(name) {
			lettered++
		}
	}
	return lettered >= minSummedColumns
}

// shareOfPattern matches the name of a column of shares of something else than a recipe, such as Wine (% removed).
var shareOfPattern = lazyPattern(`[([]\s*%\s+\pL[^)\]]*[)\]]$`)

// scaled returns numbers in another unit.
func scaled(values []float64, by float64) []float64 {
	if by == 1 {
		return values
	}
	all := make([]float64, len(values))
	for r, v := range values {
		all[r] = float64(v * by)
	}
	return all
}

// isFormula reports whether a text is surely a chemical formula, such as C, SiO2 or Na2CO3. A name in capitals alone, such
// as CON or BSF10, is one only if it is an oxide or has one or two letters.
func isFormula(text string) bool {
	text = strings.TrimSpace(text)
	_, ok := parseFormula(text)
	if !ok || strings.ToUpper(text) != text {
		return ok
	}
	letters := strings.Trim(text, "0123456789.")
	return len(letters) <= 2 || strings.ContainsAny(text, "0123456789") && strings.Contains(text, "O") || text == "KOH"
}
