package serve

import (
	"cmp"
	"math"
	"net/http"
	"slices"

	"kir/internal/portable"
	"kir/internal/report"
)

const (
	// maxMapDraws is the maximum number of draws that the map shows.
	maxMapDraws = 1500
	// maxMapIngredients is the maximum number of ingredients from which the axes of the map are
	// computed.
	maxMapIngredients = 120
	// zeroReplacement is the amount, in units, that replaces an amount of 0, because 0 has no
	// logarithm.
	zeroReplacement = 0.5
)

// A PCAMap shows draws and known recipes as points in a plane. The axes are the first two principal
// components of the centred log-ratios (Aitchison 1983, "Principal component analysis of
// compositional data"). Amounts of 0 are replaced by half a unit.
type PCAMap struct {
	Points    []Point       `json:"points"`
	Explained report.Number `json:"explained"` // share of the variance that the two axes explain
	Left      []string      `json:"left"`      // names of the ingredients that are most typical of recipes on the left side
	Right     []string      `json:"right"`     // names of the ingredients that are most typical of recipes on the right side
	Lower     []string      `json:"lower"`     // names of the ingredients that are most typical of recipes at the bottom
	Upper     []string      `json:"upper"`     // names of the ingredients that are most typical of recipes at the top

	Conditions []MapCondition `json:"conditions,omitempty"` // conditions that the page offers for colouring the points
}

// A MapCondition is a condition that the page offers for colouring the points of a map.
type MapCondition struct {
	Name   string   `json:"name"`
	Number bool     `json:"number"` // whether the values are numbers
	Texts  []string `json:"texts"`  // item k is value k of the condition as a text
}

// A Point is a recipe on a [PCAMap].
type Point struct {
	X               float64       `json:"x"`             // coordinate on the first principal component
	Y               float64       `json:"y"`             // coordinate on the second principal component
	Score           report.Number `json:"score"`         // score of the recipe divided by the highest score on the map; unknown if the problem forbids the recipe
	Name            string        `json:"name"`          // name of a known recipe; empty for a draw
	Text            string        `json:"text"`          // the recipe in words
	ConditionValues []int32       `json:"set,omitempty"` // item k is the index of the recipe's value of condition k of the map
}

// respondWithMap responds with the [PCAMap] of the current step.
func (s *Session) respondWithMap(r *http.Request) (any, error) {
	_, p, kept, err := s.waitForDraws(r.Context())
	if err != nil {
		return nil, err
	}
	all := slices.Concat(kept...)
	every := max(1, (len(all)+maxMapDraws-1)/maxMapDraws)
	var rows []keptDraw
	for k := 0; k < len(all); k += every {
		rows = append(rows, all[k])
	}
	draws := len(rows)
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	for _, x := range known {
		score, err := p.Target.LogScore(x)
		if err != nil {
			score = math.Inf(-1)
		}
		rows = append(rows, keptDraw{parts: x.Parts(), conditions: x.AppendConditions(nil), logScore: score})
	}
	out := &PCAMap{Points: []Point{}, Explained: report.UnknownNumber()}
	if draws < 3 {
		return out, nil
	}
	top := math.Inf(-1)
	for _, x := range rows {
		top = max(top, x.logScore)
	}
	axes, at := principalComponents(rows, draws, len(p.Ingredients))
	if axes == nil {
		return out, nil
	}
	out.Explained = report.Number(axes.explainedVariance)
	for k := range p.Conditions {
		of := MapCondition{Name: p.Conditions[k].Name, Number: p.Conditions[k].Numbers != nil}
		for v := range p.Conditions[k].Len() {
			of.Texts = append(of.Texts, p.Conditions[k].Text(v))
		}
		out.Conditions = append(out.Conditions, of)
	}
	for k, x := range rows {
		point := Point{X: at[k][0], Y: at[k][1], Score: report.UnknownNumber(), Text: recipeText(p, x), ConditionValues: x.conditions}
		if x.logScore > math.Inf(-1) {
			point.Score = report.Number(portable.Exp(x.logScore - top))
		}
		if k >= draws {
			point.Name = p.Book.Recipes[k-draws].Name
		}
		out.Points = append(out.Points, point)
	}
	for a, ends := range [2][2]*[]string{{&out.Left, &out.Right}, {&out.Lower, &out.Upper}} {
		for e, to := range ends {
			*to = []string{}
			for _, i := range axes.extremeIngredients(a, e == 1) {
				*to = append(*to, p.Ingredients[i])
			}
		}
	}
	return out, nil
}

// A principalAxes has the first two principal components of recipes.
type principalAxes struct {
	ingredientIndices []int        // indices of the ingredients that are used to compute the axes
	loadings          [2][]float64 // loadings[a][k] is the coefficient, on axis a, of the log-ratio of the ingredient ingredientIndices[k]
	explainedVariance float64      // share of the variance that the two axes explain
}

// extremeIngredients returns the indices of at most three ingredients that are most typical of
// recipes at the upper or lower end of an axis.
func (x *principalAxes) extremeIngredients(axis int, upper bool) []int {
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

// principalComponents computes the first two principal components of draws, and the coordinates of
// all rows on these axes. The draws are the first drawCount rows; the other rows are known recipes.
// The axes are nil if there are fewer than three ingredients or no variance.
func principalComponents(rows []keptDraw, drawCount, ingredientCount int) (*principalAxes, [][2]float64) {
	order := ingredientsByVariation(rows[:drawCount], ingredientCount)
	if len(order) < 3 {
		return nil, nil
	}
	m := len(order)
	ratios := logRatios(rows, order, ingredientCount)
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
	at := make([][2]float64, len(rows))
	for r, row := range ratios {
		at[r] = [2]float64{portable.Dot(row, loadings[0]), portable.Dot(row, loadings[1])}
	}
	return &principalAxes{order, loadings, (values[m-1] + values[m-2]) / trace}, at
}

// ingredientsByVariation returns the indices of the ingredients that are used to compute the map.
// Ingredients that about half of the rows contain come first. Ingredients that few or nearly all
// rows contain come last.
func ingredientsByVariation(rows []keptDraw, ingredientCount int) (order []int) {
	uses := make([]int, ingredientCount)
	for _, x := range rows {
		for _, part := range x.parts {
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
func logRatios(rows []keptDraw, ingredients []int, ingredientCount int) [][]float64 {
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
		for _, part := range x.parts {
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
