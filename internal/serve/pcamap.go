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
	// mapDraws is the number of draws that the map shows. mapIngredients is the number of
	// ingredients that it is computed from, those that vary most.
	mapDraws, mapIngredients = 1500, 120
	// zeroReplacement replaces an amount of 0, in units, before taking logarithms.
	zeroReplacement = 0.5
)

// A PCAMap shows draws and known recipes in two dimensions: the principal components of their
// centred log-ratios (Aitchison 1983, "Principal component analysis of compositional data").
// Amounts of 0 are replaced by half a unit.
type PCAMap struct {
	Points    []Point       `json:"points"`
	Explained report.Number `json:"explained"` // share of the variance
	Left      []string      `json:"left"`      // ingredients that are most typical of the first axis's lower end
	Right     []string      `json:"right"`
	Lower     []string      `json:"lower"`
	Upper     []string      `json:"upper"`

	Conditions []MapCondition `json:"conditions,omitempty"` // that may colour the points
}

// A MapCondition is a condition that may colour the points of a map.
type MapCondition struct {
	Name   string   `json:"name"`
	Number bool     `json:"number"`
	Texts  []string `json:"texts"` // by index of the value
}

// A Point is a recipe on the map.
type Point struct {
	X     float64       `json:"x"`
	Y     float64       `json:"y"`
	Score report.Number `json:"score"` // as a share of the highest; unknown if the law forbids the recipe
	Name  string        `json:"name"`  // of a known recipe
	Text  string        `json:"text"`
	Set   []int32       `json:"set,omitempty"` // by condition of the map: the index of its value
}

// drawMap responds with the map of the current step.
func (s *Session) drawMap(r *http.Request) (any, error) {
	_, p, kept, err := s.waitForDraws(r.Context())
	if err != nil {
		return nil, err
	}
	all := slices.Concat(kept...)
	every := max(1, (len(all)+mapDraws-1)/mapDraws)
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
	out.Explained = report.Number(axes.explained)
	for k := range p.Conditions {
		of := MapCondition{Name: p.Conditions[k].Name, Number: p.Conditions[k].Numbers != nil}
		for v := range p.Conditions[k].Len() {
			of.Texts = append(of.Texts, p.Conditions[k].Text(v))
		}
		out.Conditions = append(out.Conditions, of)
	}
	for k, x := range rows {
		point := Point{X: at[k][0], Y: at[k][1], Score: report.UnknownNumber(), Text: recipeText(p, x), Set: x.conditions}
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

// axes are the first two principal components.
type axes struct {
	ingredients []int
	loadings    [2][]float64 // by axis, by ingredient
	explained   float64
}

// extremeIngredients returns at most 3 ingredients that are most typical of the upper or lower
// end of an axis.
func (x *axes) extremeIngredients(axis int, upper bool) []int {
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

// principalComponents computes the first two principal components from the first learn rows,
// and the coordinates of all rows. The axes are nil if there are no two components.
func principalComponents(rows []keptDraw, learn, n int) (*axes, [][2]float64) {
	order := variedIngredients(rows[:learn], n)
	if len(order) < 3 {
		return nil, nil
	}
	m := len(order)
	ratios := logRatios(rows, order, n)
	centreColumns(ratios, learn)
	covariance := scatterMatrix(ratios[:learn], m)
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
	return &axes{order, loadings, (values[m-1] + values[m-2]) / trace}, at
}

// variedIngredients returns the ingredients of the map, first those that neither few nor nearly all
// draws use.
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
	return order[:min(len(order), mapIngredients)]
}

// logRatios returns the centred log-ratios of the given ingredients, of n in all, in each row.
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

// centreColumns subtracts from each column its mean in the first learn rows.
func centreColumns(rows [][]float64, learn int) {
	for k := range rows[0] {
		mean := 0.0
		for r := range learn {
			mean += rows[r][k] / float64(learn)
		}
		for _, row := range rows {
			row[k] -= mean
		}
	}
}

// scatterMatrix returns the sum of the outer products of rows of m numbers with themselves.
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

// withFixedSign returns a vector or its negative: the one whose largest element is positive, so that
// the same draws always give the same map.
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
