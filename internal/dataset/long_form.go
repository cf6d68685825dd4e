package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
)

// Evidence that a table has a row for each ingredient of a recipe, against a row for each recipe, as logarithms of odds.
const (
	longFormEvidence   = -10 // most tables have a row for each recipe
	ingredientEvidence = 9   // a column of texts has a usual name of ingredients
	otherNameEvidence  = -3  // or one of other names of ingredients, such as INCI, beside which their own may stand
	amountEvidence     = 6   // a column of numbers has a usual name of amounts
	unitNameEvidence   = 3   // or is called after a unit of amounts
	unitCellsEvidence  = 2   // or has units in its cells
	recipeEvidence     = 4   // a column has a usual name of recipes
	materialsEvidence  = 6   // all texts of the ingredients' column name materials
	recurrenceEvidence = 4   // most of them occur in several rows
	namesEvidence      = -4  // they are a series, such as F1, F2, F3
	groupsEvidence     = 4   // the rows of a recipe stand together, and there are two or more on average
	blanksEvidence     = 3   // only the first row of a recipe has its name
	closureEvidence    = 5   // the amounts of each recipe add up to the same
	apartEvidence      = -10 // the rows of each recipe stand apart
	twiceEvidence      = -10 // all ingredients stand in a recipe twice
	attributeEvidence  = -6  // an ingredient has the same amount in all recipes, as it has a density
	sameAmountEvidence = -6  // all amounts of a recipe are the same
	otherAmounts       = -2  // against each other column of numbers that change within a recipe
	maxOtherAmounts    = 4
)

// A longForm names the columns of a table that has a row for each ingredient of a recipe.
type longForm struct {
	recipe, ingredient, amount int
	evidence                   float64 // logarithm of the odds
}

// findLongForm returns the columns of the long form with most evidence among those that the roles found so far allow.
// The evidence is −Inf if there are none.
func (c *columnReader) findLongForm() longForm {
	best := longForm{-1, -1, -1, math.Inf(-1)}
	second := best // the best with another column of amounts
	rows := c.firstTexts()
	candidates := func(role Role, suits func(i int) bool) (all []int) {
		if i, ok := c.columnByRole[role]; ok {
			return []int{i}
		}
		for i := range min(len(c.header), maxLongColumns) {
			_, given := c.givenRoles[i]
			if !given && c.header[i] != "" && !c.hasUniqueRole(i) && c.profiles[i].filledCount > 0 && suits(i) {
				all = append(all, i)
			}
		}
		return all
	}
	filled := func(i int) int { return c.profiles[i].filledCount }
	ingredients := candidates(IngredientColumn, func(i int) bool {
		return matchesRole(c.header[i], IngredientColumn) && 2*c.profiles[i].amountCount <= filled(i) || 4*c.profiles[i].amountCount <= filled(i) && 10*filled(i) >= 9*len(c.profiledLines)
	})
	amounts := candidates(AmountColumn, func(i int) bool {
		p := &c.profiles[i]
		name := c.header[i]
		if matchesRole(name, AmountColumn) && (p.amountCount+p.remainderCount > 0 || p.numberCount > 0) {
			return true
		}
		if _, isUnit := c.units.Lookup(name); !isUnit && (GuessOrigin(name, false) != UnknownOrigin || c.hasOtherUnit(name) || describesRecipe(name)) {
			return false // a condition or a result
		}
		return 2*(p.amountCount+p.remainderCount) > filled(i) && 4*filled(i) >= 3*len(c.profiledLines) && !p.isRowNumbering()
	})
	recipes := candidates(RecipeColumn, func(i int) bool {
		return 2*(c.profiles[i].amountCount+c.profiles[i].remainderCount) <= filled(i) || matchesRole(c.header[i], RecipeColumn) || isRowNumber(c.header[i])
	})
	for _, recipe := range recipes {
		groups := groupRows(rows, recipe)
		for _, ingredient := range ingredients {
			for _, amount := range amounts {
				if recipe == ingredient || recipe == amount || ingredient == amount {
					continue
				}
				f := longForm{recipe, ingredient, amount, 0}
				if f.evidence = c.weighLongForm(rows, groups, f); f.evidence > best.evidence {
					if f.amount != best.amount {
						second = best
					}
					best = f
				} else if f.amount != best.amount && f.evidence > second.evidence {
					second = f
				}
			}
		}
	}
	if second.evidence >= best.evidence {
		best.amount, best.evidence = -1, math.Inf(-1)
	}
	return best
}

// maxLongColumns is the number of first columns among which those of the long form are searched.
const maxLongColumns = 24

// weighLongForm returns the evidence for a choice of columns of the long form. Item r of groups is the number of the
// recipe of row r.
func (c *columnReader) weighLongForm(rows [][]string, groups []int, f longForm) float64 {
	if len(groups) == 0 {
		return math.Inf(-1)
	}
	evidence := float64(longFormEvidence)
	if matchesRole(c.header[f.recipe], RecipeColumn) {
		evidence += recipeEvidence
	}
	if matchesRole(c.header[f.ingredient], IngredientColumn) {
		evidence += ingredientEvidence
	}
	if attributeName.includes(strings.ToLower(c.header[f.ingredient])) {
		evidence += otherNameEvidence
	}
	name := c.header[f.amount]
	_, isUnit := c.units.Lookup(name)
	_, unit := splitUnit(name, c.units)
	switch p := &c.profiles[f.amount]; {
	case matchesRole(name, AmountColumn):
		evidence += amountEvidence
	case isUnit:
		evidence += unitNameEvidence
	case unit != nil || 2*p.unitCount > p.filledCount:
		evidence += unitCellsEvidence
	}
	var names []string
	distinct := make(map[string]bool)
	for _, row := range rows {
		if name := row[f.ingredient]; name != "" {
			names = append(names, name)
			distinct[name] = true
		}
	}
	inSeries := shareInSeries(names) // N1 is no nitrogen
	evidence += float64(materialsEvidence*min(shareOfMaterials(names), 1-inSeries)) + float64(namesEvidence*inSeries) + float64(recurrenceEvidence*(1-float64(len(distinct))/float64(max(len(names), 1))))
	recipes := slices.Max(groups) + 1
	if 2*recipes <= len(groups) {
		evidence += groupsEvidence
	}
	if recipes == len(groups) {
		evidence -= groupsEvidence
	}
	blanks := 0
	for _, row := range rows {
		if row[f.recipe] == "" {
			blanks++
		}
	}
	if blanks > 0 && recipes+blanks == len(rows) {
		evidence += blanksEvidence
	}
	evidence += c.weighRecipes(rows, groups, f)
	if len(distinct) < len(names) && c.isAttribute(rows, f.ingredient, f.amount) {
		evidence += attributeEvidence
	}
	others := 0
	for i := range c.header {
		p := &c.profiles[i]
		if i != f.recipe && i != f.ingredient && i != f.amount && p.filledCount == len(c.profiledLines) && p.amountCount == p.filledCount && c.changesWithin(rows, groups, i) {
			others++
		}
	}
	return evidence + float64(otherAmounts*min(others, maxOtherAmounts))
}

// weighRecipes returns the evidence of the amounts and the ingredients of each recipe.
func (c *columnReader) weighRecipes(rows [][]string, groups []int, f longForm) (evidence float64) {
	recipes := slices.Max(groups) + 1
	sums := make([]float64, recipes)
	sizes := make([]int, recipes)
	twice, same, runs := 0, 0, 0
	seen := make(map[string]bool)
	values := c.profiles[f.amount].firstValues
	before := -1
	for r, g := range groups {
		key := fmt.Sprint(g, " ", rows[r][f.ingredient])
		if seen[key] {
			twice++
		}
		seen[key] = true
		if sizes[g]++; r < len(values) {
			sums[g] += values[r]
			if before == g && values[r] == values[r-1] {
				same++
			}
		}
		if g != before {
			runs++
		}
		before = g
	}
	evidence = float64(twiceEvidence*float64(twice)/float64(len(rows))) + float64(apartEvidence*float64(runs-recipes)/float64(len(rows)))
	if inner := len(rows) - recipes; inner > 0 {
		evidence += float64(sameAmountEvidence * float64(same) / float64(inner))
	}
	if slices.Contains(sizes, 1) || recipes < 3 {
		return evidence
	}
	median := slices.Sorted(slices.Values(sums))[recipes/2]
	near := 0
	for _, sum := range sums {
		if math.Abs(sum-median) <= float64(sumTolerance*median) {
			near++
		}
	}
	if 10*near >= 9*recipes {
		evidence += closureEvidence
	}
	return evidence
}

// groupRows returns the number of the recipe of each row: rows with one text in the column of names belong together, and
// so does a row without a text with the row above. It is nil if the first row has no text.
func groupRows(rows [][]string, recipe int) (groups []int) {
	if len(rows) == 0 || rows[0][recipe] == "" {
		return nil
	}
	number := make(map[string]int)
	for r, row := range rows {
		name := row[recipe]
		if name == "" {
			groups = append(groups, groups[r-1])
			continue
		}
		if _, ok := number[name]; !ok {
			number[name] = len(number)
		}
		groups = append(groups, number[name])
	}
	return groups
}

// changesWithin reports whether a column has several texts in most recipes that have several rows, of which there are
// three at least.
func (c *columnReader) changesWithin(rows [][]string, groups []int, i int) bool {
	first := make(map[int]string)
	several, changed := make(map[int]bool), make(map[int]bool)
	for r, g := range groups {
		text, ok := first[g]
		switch {
		case !ok:
			first[g] = rows[r][i]
		case rows[r][i] != "":
			several[g] = true
			changed[g] = changed[g] || rows[r][i] != text
		default:
			several[g] = true
		}
	}
	changes := 0
	for _, is := range changed {
		if is {
			changes++
		}
	}
	return len(several) >= 3 && 2*changes > len(several)
}

// shareOfMaterials returns the share of texts that name materials.
func shareOfMaterials(names []string) float64 {
	materials := 0
	for _, name := range names {
		if ingredientWord.isIn(wordsOf(name)) || isFormula(name) {
			materials++
		}
	}
	return float64(materials) / float64(max(len(names), 1))
}

// minSumRecipes is the least number of recipes whose last row is the sum of the others before kir takes it for that.
const minSumRecipes = 3

// findSumNames finds the name of the last row of each recipe if that is the same in all of them, and its amount is the
// sum of the others.
func (c *columnReader) findSumNames() {
	rows := c.firstTexts()
	groups := groupRows(rows, c.columnByRole[RecipeColumn])
	ingredient, values := c.columnByRole[IngredientColumn], c.profiles[c.columnByRole[AmountColumn]].firstValues
	name, recipes := "", 0
	for r := 0; r < len(groups); {
		end, sum := r, 0.0
		for ; end < len(groups) && groups[end] == groups[r]; end++ {
			if end >= len(values) {
				return
			}
			sum += float64(values[end] * c.rowUnitSize(rows[end]))
		}
		last := float64(values[end-1] * c.rowUnitSize(rows[end-1]))
		if end < len(groups) || recipes < minSumRecipes || rows[end-1][ingredient] == name { // else the last recipe is cut off
			if name != "" && rows[end-1][ingredient] != name || end-r < minSummedColumns || !(math.Abs(sum-last-last) <= float64(sumTolerance*last)) {
				return
			}
		}
		if end < len(groups) || recipes < minSumRecipes {
			name = rows[end-1][ingredient]
		}
		recipes++
		r = end
	}
	if recipes >= minSumRecipes && name != "" {
		c.sumNames = map[string]bool{NormalizeName(name): true}
	}
}

// rowUnitSize returns the size of the unit in the column of units of a row; 1 if there is none.
func (c *columnReader) rowUnitSize(row []string) float64 {
	if i, ok := c.columnByRole[UnitColumn]; ok {
		if unit, ok := c.units.Lookup(row[i]); ok {
			return unit.Size.Float64()
		}
	}
	return 1
}

// leaveOutAttributes leaves out the columns of the long form that describe the rows of a recipe and not the recipe, with
// a note: those that change within most recipes.
func (c *columnReader) leaveOutAttributes() {
	rows := c.firstTexts()
	groups := groupRows(rows, c.columnByRole[RecipeColumn])
	for i := range c.columns {
		_, given := c.givenRoles[i]
		if given || c.columns[i].Role != LabelColumn {
			continue
		}
		what := "changes within a recipe"
		switch {
		case isRowNumber(c.header[i]) && numbersRecipes(rows, groups, i):
			what = "numbers the recipes"
		case !c.changesWithin(rows, groups, i):
			continue
		case c.isAttribute(rows, c.columnByRole[IngredientColumn], i):
			what = "says the same of an ingredient in all recipes"
		}
		c.columns[i].Role = IgnoredColumn
		c.addNote(c.headerPlaces[i], "column "+inputerr.Quote(c.header[i])+" "+what+" and is left out", "")
	}
}

// numbersRecipes reports whether a column has the numbers 1, 2, 3 ... in the first row of each recipe.
func numbersRecipes(rows [][]string, groups []int, i int) bool {
	for r, g := range groups {
		if (r == 0 || g != groups[r-1]) && rows[r][i] != strconv.Itoa(g+1) {
			return false
		}
	}
	return len(groups) > 0
}

// isAttribute reports whether a column has the same text in all rows of an ingredient.
func (c *columnReader) isAttribute(rows [][]string, ingredient, i int) bool {
	of := make(map[string]string)
	for _, row := range rows {
		name := strings.ToLower(row[ingredient])
		if text, ok := of[name]; ok && text != row[i] {
			return false
		}
		of[name] = row[i]
	}
	return true
}
