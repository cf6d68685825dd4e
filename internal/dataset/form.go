package dataset

import (
	"math"
	"slices"
	"strings"

	"kir/internal/portable"
)

// Evidence that a table has a row for each ingredient and a column for each recipe, against a row for each recipe, as
// logarithms of odds.
const (
	namedEvidence  = 8 // the name of the first column is that of a column of ingredients; or of recipes, against it
	wordEvidence   = 8 // all texts of the first column name materials, conditions or results, and no name of a column does
	seriesEvidence = 4 // all names of columns are a series, such as F1, F2, F3, and no texts of the first column are
	scaleEvidence  = 4 // numbers differ by the row alone, and not by the column
	sumsEvidence   = 6 // a row within the table is the sum of those above it; or a column of those before it, against it
	rowsEvidence   = 4 // against it, since most tables have a row for each recipe
)

// doubtfulEvidence is the evidence against a form below which kir asks.
const doubtfulEvidence = 4

const (
	minFormRows     = 2 // fewest rows of a table with a column for each recipe
	minFormColumns  = 2 // fewest such columns
	minSeriesLength = 2 // fewest names of a series
)

// A formReader weighs the two ways in which a table with a column of names may hold recipes.
type formReader struct {
	*table
	first   int        // index of the column of names
	rows    [][]string // the first rows below the header
	numbers []int      // indices of the columns of numbers behind first that may be recipes
}

// newFormReader reads the first rows of a table.
func newFormReader(t *table, first int) *formReader {
	f := &formReader{table: t, first: first, rows: t.firstTexts()}
	for i := first + 1; i < len(t.header); i++ {
		if t.profiles[i].amountCount > 0 && !t.isNoRecipe(i) {
			f.numbers = append(f.numbers, i)
		}
	}
	return f
}

// firstTexts returns the cells of the rows whose numbers the profiles keep, each as long as the header.
func (t *table) firstTexts() [][]string {
	if t.profiledTexts != nil {
		return t.profiledTexts
	}
	head := t.firstRows()
	var all [][]string
	for row := range readableRows(head, math.MaxInt) {
		if len(all) == len(t.profiledLines) {
			break
		}
		if len(row) == 0 || head.Place(0).Line != t.profiledLines[len(all)] {
			continue
		}
		texts := make([]string, len(t.header))
		for i := range min(len(row), len(texts)) {
			texts[i] = strings.Clone(strings.TrimSpace(row[i]))
		}
		all = append(all, texts)
	}
	t.profiledTexts = all
	return all
}

// turned returns the evidence that each column of numbers is a recipe.
func (f *formReader) turned() (evidence float64) {
	if len(f.rows) < minFormRows || len(f.numbers) < minFormColumns {
		return math.Inf(-1)
	}
	var names, heads []string
	for _, row := range f.rows {
		names = append(names, row[f.first])
	}
	for _, i := range f.numbers {
		heads = append(heads, f.header[i])
	}
	switch {
	case matchesRole(f.header[f.first], IngredientColumn):
		evidence += namedEvidence
	case matchesRole(f.header[f.first], RecipeColumn):
		evidence -= namedEvidence
	}
	evidence -= rowsEvidence
	namesInSeries, headsInSeries := shareInSeries(names), shareInSeries(heads)
	evidence += float64(wordEvidence * (min(shareOfKnown(names), 1-namesInSeries) - min(shareOfKnown(heads), 1-headsInSeries))) // P1 is no phosphorus
	evidence += float64(seriesEvidence * (headsInSeries - namesInSeries))
	evidence += float64(scaleEvidence * f.scaleByRow())
	if f.hasSumRow() {
		evidence += sumsEvidence
	}
	if f.hasSumColumn() {
		evidence -= sumsEvidence
	}
	return evidence
}

// hasSumRow reports whether a row, but for the last one, is the sum of several rows directly above it in all columns of
// numbers.
func (f *formReader) hasSumRow() bool {
	rows := min(len(f.rows), len(f.profiles[f.numbers[0]].firstValues))
	return hasRunSum(rows-1, len(f.numbers), func(row, column int) float64 {
		return f.profiles[f.numbers[column]].firstValues[row]
	})
}

// hasSumColumn reports whether a column is the sum of several columns directly before it in all rows.
func (f *formReader) hasSumColumn() bool {
	rows := min(len(f.rows), len(f.profiles[f.numbers[0]].firstValues))
	return hasRunSum(len(f.numbers), rows, func(column, row int) float64 {
		return f.profiles[f.numbers[column]].firstValues[row]
	})
}

const (
	minFormSummands = 3   // fewest lines of numbers that a sum adds up
	maxFormLines    = 120 // number of first lines among which a sum is searched
)

// hasRunSum reports whether one of some lines of numbers is the sum of several directly before it, at all of its places.
// A line must have numbers above 0 at two places or more, and they must not all be the same.
func hasRunSum(lines, places int, value func(line, place int) float64) bool {
	if places < 2 {
		return false
	}
	for at := minFormSummands; at < min(lines, maxFormLines); at++ {
		differ, positive := false, 0
		for k := range places {
			v := value(at, k)
			differ = differ || v != value(at, 0)
			if v > 0 {
				positive++
			}
		}
		if positive < 2 || 10*positive < 7*places || !differ && !isRoundWhole(value(at, 0)) {
			continue
		}
		sums := make([]float64, places)
		for from := at - 1; from >= 0; from-- {
			equal, exceeds := true, false
			for k := range places {
				sums[k] += value(from, k)
				whole := value(at, k)
				if whole == 0 {
					continue // a column of something else, such as of costs
				}
				equal = equal && math.Abs(sums[k]-whole) <= float64(partSumTolerance*whole)
				exceeds = exceeds || !(sums[k] <= float64((1+partSumTolerance)*whole))
			}
			if equal && at-from >= minFormSummands {
				return true
			}
			if exceeds {
				break
			}
		}
	}
	return false
}

// maxKnownNames is the number of first names that shareOfKnown looks at.
const maxKnownNames = 300

// shareOfKnown returns the share of the first names that are known for materials, conditions, results or sums.
func shareOfKnown(names []string) float64 {
	known, all := 0, 0
	for _, name := range names[:min(len(names), maxKnownNames)] {
		if name == "" {
			continue
		}
		all++
		words := wordsOf(name)
		if ingredientWord.isIn(words) || resultWord.isIn(words) || isFormula(name) || describesRecipe(name) || hasSumWord(name) || GuessOrigin(name, false) != UnknownOrigin || hasNonAmountUnit(name) {
			known++
		}
	}
	return float64(known) / float64(max(all, 1))
}

// seriesPattern matches the parts of the names of a series in which they differ: numbers, or a single letter.
var seriesPattern = lazyPattern(`[0-9]+|^\pL$`)

// shareInSeries returns the share of names that are a series, such as F1, F2 and F3, or A, B and C.
func shareInSeries(names []string) float64 {
	counts := make(map[string]int)
	seen := make(map[string]bool)
	all, most := 0, 0
	for _, name := range names {
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		all++
		if form := seriesPattern().ReplaceAllString(name, "#"); form != name {
			counts[form]++
			most = max(most, counts[form])
		}
	}
	if most < minSeriesLength {
		return 0
	}
	return float64(most) / float64(all)
}

// scaleByRow compares how much the numbers differ between rows and between columns, by the variances of the means of their
// logarithms: 1 if they differ between rows alone, −1 if between columns alone.
func (f *formReader) scaleByRow() float64 {
	byRow, byColumn := make([]meanOfLogs, len(f.rows)), make([]meanOfLogs, len(f.numbers))
	for r := range f.rows {
		for k, i := range f.numbers {
			if r >= len(f.profiles[i].firstValues) {
				continue
			}
			if v := f.profiles[i].firstValues[r]; v > 0 {
				byRow[r].add(portable.Log(v))
				byColumn[k].add(portable.Log(v))
			}
		}
	}
	rows, columns := varianceOfMeans(byRow), varianceOfMeans(byColumn)
	if rows+columns == 0 {
		return 0
	}
	few := min(1, float64(min(len(f.rows), len(f.numbers))-1)/4) // of few rows or columns the means differ by chance
	return float64(few * (rows - columns) / (rows + columns))
}

// A meanOfLogs is a sum of logarithms and their number.
type meanOfLogs struct {
	sum   float64
	count int
}

func (m *meanOfLogs) add(log float64) { m.sum, m.count = m.sum+log, m.count+1 }

// varianceOfMeans returns the variance of the means that have a number.
func varianceOfMeans(all []meanOfLogs) float64 {
	all = slices.DeleteFunc(slices.Clone(all), func(m meanOfLogs) bool { return m.count == 0 })
	mean, variance := 0.0, 0.0
	for _, m := range all {
		mean += m.sum / float64(m.count) / float64(len(all))
	}
	for _, m := range all {
		d := m.sum/float64(m.count) - mean
		variance += float64(d*d) / float64(len(all))
	}
	return variance
}
