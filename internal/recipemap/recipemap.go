// Package recipemap places recipes in a plane, so that similar recipes lie near each other.
package recipemap

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

const (
	// maxMapIngredients is the maximum number of ingredients from which the axes are computed.
	maxMapIngredients = 120
	// zeroReplacement is the amount, in units, that replaces an amount of 0, because 0 has no
	// logarithm.
	zeroReplacement = 0.5
)

// Axes are the first two principal components of recipes.
type Axes struct {
	ingredientIndices []int        // indices of the ingredients that are used to compute the axes
	loadings          [2][]float64 // loadings[a][k] is the coefficient, on axis a, of the log-ratio of the ingredient ingredientIndices[k]
	ExplainedVariance float64      // share of the variance that the two axes explain
}

// ExtremeIngredients returns the indices of at most three ingredients that are most typical of
// recipes at the upper or lower end of an axis.
func (x *Axes) ExtremeIngredients(axis int, upper bool) []int {
	order := make([]int, len(x.ingredientIndices))
	for k := range order {
		order[k] = k
	}
	sign := 1.0
	if upper {
		sign = -1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(float64(sign*x.loadings[axis][a]), float64(sign*x.loadings[axis][b]))
	})
	var out []int
	for _, k := range order[:min(3, len(order))] {
		if sign*x.loadings[axis][k] < -0.1 {
			out = append(out, x.ingredientIndices[k])
		}
	}
	return out
}

// Place computes the first two principal components of draws, and the coordinates of all recipes on
// these axes. The draws are the first drawCount recipes. The parameter ingredientCount is the number
// of ingredients of the problem. The axes are nil if the draws use fewer than three ingredients or
// do not differ.
//
// The components are those of the centred log-ratios (Aitchison 1983, "Principal component analysis
// of compositional data"). Amounts of 0 are replaced by half a unit.
func Place(recipes [][]mcmc.Part, drawCount, ingredientCount int) (*Axes, [][2]float64) {
	if drawCount == 0 {
		return nil, nil
	}
	order := ingredientsByVariation(recipes[:drawCount], ingredientCount)
	if len(order) < 3 {
		return nil, nil
	}
	m := len(order)
	ratios := logRatios(recipes, order, ingredientCount)
	centreColumns(ratios, drawCount)
	covariance := scatterMatrix(ratios[:drawCount], m)
	trace := 0.0
	for i := range m {
		trace += covariance[i][i]
	}
	if trace == 0 {
		return nil, nil
	}
	values, vectors := portable.Eigen(covariance)
	var loadings [2][]float64
	for a := range loadings {
		loadings[a] = withFixedSign(vectors[m-1-a])
	}
	at := make([][2]float64, len(recipes))
	for r, row := range ratios {
		at[r] = [2]float64{portable.Dot(row, loadings[0]), portable.Dot(row, loadings[1])}
	}
	return &Axes{order, loadings, (values[m-1] + values[m-2]) / trace}, at
}

// ingredientsByVariation returns the indices of the ingredients that are used to compute the map.
// Ingredients that about half of the rows contain come first. Ingredients that few or nearly all
// rows contain come last.
func ingredientsByVariation(rows [][]mcmc.Part, ingredientCount int) (order []int) {
	uses := make([]int, ingredientCount)
	for _, x := range rows {
		for _, part := range x {
			uses[part.Ingredient]++
		}
	}
	for i, u := range uses {
		if u > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(uses[b]*(len(rows)-uses[b]), uses[a]*(len(rows)-uses[a]))
	})
	return order[:min(len(order), maxMapIngredients)]
}

// logRatios returns one list for each row: the centred log-ratios of the given ingredients. The
// parameter ingredientCount is the number of all ingredients.
func logRatios(rows [][]mcmc.Part, ingredients []int, ingredientCount int) [][]float64 {
	place := make([]int, ingredientCount)
	for i := range place {
		place[i] = -1
	}
	for k, i := range ingredients {
		place[i] = k
	}
	m := len(ingredients)
	ratios := make([][]float64, len(rows))
	for r, x := range rows {
		row := make([]float64, m)
		ratios[r] = row
		for k := range row {
			row[k] = portable.Log(zeroReplacement)
		}
		for _, part := range x {
			if k := place[part.Ingredient]; k >= 0 {
				row[k] = portable.Log(float64(part.Amount))
			}
		}
		mean := 0.0
		for _, v := range row {
			mean += v / float64(m)
		}
		for k := range row {
			row[k] -= mean
		}
	}
	return ratios
}

// centreColumns subtracts a mean from each column. The mean is that of the first drawCount rows of
// the column.
func centreColumns(rows [][]float64, drawCount int) {
	for k := range rows[0] {
		mean := 0.0
		for r := range drawCount {
			mean += rows[r][k] / float64(drawCount)
		}
		for _, row := range rows {
			row[k] -= mean
		}
	}
}

// scatterMatrix returns the sum, over the rows, of the outer product of the row with itself. Each
// row has columnCount numbers.
func scatterMatrix(rows [][]float64, columnCount int) [][]float64 {
	sum := make([][]float64, columnCount)
	for i := range sum {
		sum[i] = make([]float64, columnCount)
	}
	for _, row := range rows {
		for i, v := range row {
			portable.AddScaled(sum[i], v, row)
		}
	}
	return sum
}

// withFixedSign returns the vector or its negative, so that the element with the largest absolute
// value is positive. The same draws then always give the same map.
func withFixedSign(vector []float64) (signed []float64) {
	sign, largest := 1.0, 0.0
	for _, v := range vector {
		if math.Abs(v) > largest {
			largest, sign = math.Abs(v), math.Copysign(1, v)
		}
	}
	for _, v := range vector {
		signed = append(signed, float64(sign*v))
	}
	return signed
}
