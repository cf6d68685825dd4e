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
	// maxMapDraws is the maximum number of draws that the map shows. maxMapIngredients is the
	// maximum number of ingredients from which the map is computed.
	maxMapDraws, maxMapIngredients = 1500, 120
	// zeroReplacement is the amount, in units of the total, that replaces an amount of 0 before
	// logarithms are taken.
	zeroReplacement = 0.5
)

// A PCAMap shows draws and known recipes in two dimensions. The axes are the first two principal
// components of the centred log-ratios (Aitchison 1983, "Principal component analysis of
// compositional data"). Amounts of 0 are replaced by half a unit.
type PCAMap struct {
	Points    []Point       `json:"points"`
	Explained report.Number `json:"explained"` // share of the variance that the two axes explain
	Left      []string      `json:"left"`      // ingredients that are most typical of recipes on the left side
	Right     []string      `json:"right"`     // ingredients that are most typical of recipes on the right side
	Lower     []string      `json:"lower"`     // ingredients that are most typical of recipes at the bottom
	Upper     []string      `json:"upper"`     // ingredients that are most typical of recipes at the top

	Conditions []MapCondition `json:"conditions,omitempty"` // conditions by which the points may be coloured
}

// A MapCondition is a condition by which the points of a map may be coloured.
type MapCondition struct {
	Name   string   `json:"name"`
	Number bool     `json:"number"` // whether the values are numbers
	Texts  []string `json:"texts"`  // by index of the value: the value as a text
}

// A Point is a recipe on a [PCAMap].
type Point struct {
	X               float64       `json:"x"`             // coordinate on the first principal component
	Y               float64       `json:"y"`             // coordinate on the second principal component
	Score           report.Number `json:"score"`         // score divided by the highest score on the map; unknown if the problem forbids the recipe
	Name            string        `json:"name"`          // name of a known recipe; empty for a draw
	Text            string        `json:"text"`          // the recipe in words
	ConditionValues []int32       `json:"set,omitempty"` // by condition of the map: the index of the recipe's value
}

// answerMap responds with the [PCAMap] of the current step.
func (s *Session) answerMap(r *http.Request) (any, error) {
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

// A principalAxes has the first two principal components.
type principalAxes struct {
	ingredients       []int        // indices of the ingredients from which the axes are computed
	loadings          [2][]float64 // by axis and ingredient: the coefficient of the ingredient's log-ratio
	explainedVariance float64      // share of the variance that the two axes explain
}

// extremeIngredients returns the indices of at most three ingredients that are most typical of the
// upper or lower end of an axis.
func (x *principalAxes) extremeIngredients(axis int, upper bool) []int {
	order := make([]int, len(x.ingredients))
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
			out = append(out, x.ingredients[k])
		}
	}
	return out
}

// principalComponents computes the first two principal components of the draws, and the coordinates
// of all rows on these axes. The draws are the first drawCount rows. The axes are nil if there are
// fewer than three ingredients or no variance.
func principalComponents(rows []keptDraw, drawCount, n int) (*principalAxes, [][2]float64) {
	order := variedIngredients(rows[:drawCount], n)
	if len(order) < 3 {
		return nil, nil
	}
	m := len(order)
	ratios := logRatios(rows, order, n)
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

// variedIngredients returns the indices of the ingredients for the map. Ingredients that about half
// of the rows use come first. Ingredients that few or nearly all rows use come last.
func variedIngredients(rows []keptDraw, n int) (order []int) {
	uses := make([]int, n)
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

// logRatios returns the centred log-ratios of the given ingredients, by row. The parameter n is the
// number of all ingredients.
func logRatios(rows []keptDraw, ingredients []int, n int) [][]float64 {
	place := make([]int, n)
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

// centreColumns subtracts from each column the mean of the column's first drawCount rows.
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

// scatterMatrix returns the sum over the rows of the outer product of each row with itself. Each
// row has m numbers.
func scatterMatrix(rows [][]float64, m int) [][]float64 {
	sum := make([][]float64, m)
	for i := range sum {
		sum[i] = make([]float64, m)
	}
	for _, row := range rows {
		for i, v := range row {
			portable.AddScaled(sum[i], v, row)
		}
	}
	return sum
}

// withFixedSign returns the vector, or its negative if the element with the largest absolute value
// is negative. The same draws then always give the same map.
func withFixedSign(vector []float64) (out []float64) {
	sign, largest := 1.0, 0.0
	for _, v := range vector {
		if math.Abs(v) > largest {
			largest, sign = math.Abs(v), math.Copysign(1, v)
		}
	}
	for _, v := range vector {
		out = append(out, float64(sign*v))
	}
	return out
}
