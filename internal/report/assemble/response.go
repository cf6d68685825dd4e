package assemble

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
	"kir/model"
)

// Constants for responses. A response shows how a prediction changes with the amount of one
// ingredient.
const (
	maxReportedResponses = 6   // largest number of ingredients whose responses are reported
	maxComputedResponses = 24  // largest number of ingredients for which responses are computed
	responsePointCount   = 13  // number of evenly spaced amounts for which a response is computed; the amount in the recipe is added
	minMonotoneShare     = 0.5 // least value of |rises − falls| / (rises + falls) at which a response counts as rising or as falling; rises and falls are sums of changes from one amount to the next
)

// A responseComputer computes responses: how a model's prediction changes with the amount of one
// ingredient. Recipes are slices whose item i is the amount of ingredient i.
type responseComputer struct {
	ingredientNames []string                                      // names of the ingredients
	totalUnits      int                                           // number of units in a recipe
	maxAmounts      []int32                                       // item i is the largest amount of ingredient i in a known recipe
	predict         func(x []int32) (report.ResponsePoint, error) // returns the model's prediction for a recipe; called by several goroutines at once
	importances     []report.Importance                           // features of the model, the most important first
}

// computeResponses returns how the prediction changes with the amount of each ingredient, starting
// from a recipe. It returns at most maxReportedResponses ingredients, those that change the
// prediction most, the largest change first.
func (q *responseComputer) computeResponses(recipe []int32) ([]report.Response, error) {
	var tried []int
	for i, v := range recipe {
		if v > 0 {
			tried = append(tried, i)
		}
	}
	slices.SortStableFunc(tried, func(a, b int) int { return cmp.Compare(recipe[b], recipe[a]) })
	for _, feature := range q.importances {
		if i := slices.Index(q.ingredientNames, feature.Feature); i >= 0 && !slices.Contains(tried, i) {
			tried = append(tried, i)
		}
	}
	all := make([]report.Response, min(len(tried), maxComputedResponses))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range all {
		g.Go(func() (err error) {
			all[k], err = q.computeResponse(recipe, tried[k])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r report.Response) bool { return !(r.Swing > 0) })
	slices.SortStableFunc(all, func(a, b report.Response) int { return cmp.Compare(b.Swing, a.Swing) })
	return all[:min(len(all), maxReportedResponses)], nil
}

// computeResponse varies the amount of ingredient i in a recipe, from 0 to its largest amount in a
// known recipe, and predicts. If the prediction does not change, the field Swing of the response is
// 0.
func (q *responseComputer) computeResponse(recipe []int32, i int) (report.Response, error) {
	r := report.Response{Ingredient: q.ingredientNames[i], Amount: int(recipe[i])}
	most := max(q.maxAmounts[i], recipe[i])
	amounts := []int32{recipe[i]}
	for k := range responsePointCount {
		amounts = append(amounts, int32(math.Round(float64(most)*float64(k)/(responsePointCount-1))))
	}
	slices.Sort(amounts)
	up, down := 0.0, 0.0
	low, high := math.Inf(1), math.Inf(-1)
	for _, amount := range slices.Compact(amounts) {
		x := replaceAmount(recipe, i, amount, int32(q.totalUnits))
		if x == nil {
			continue // nothing else is there to take the rest
		}
		p, err := q.predict(x)
		if err != nil {
			return r, err
		}
		p.Amount = int(amount)
		v := float64(p.Value)
		if n := len(r.Points); n > 0 {
			by := v - float64(r.Points[n-1].Value)
			up, down = up+max(by, 0), down+max(-by, 0)
		}
		low, high = min(low, v), max(high, v)
		r.Points = append(r.Points, p)
	}
	if len(r.Points) < 2 || !(high > low) || math.IsInf(high-low, 1) {
		return r, nil
	}
	r.Swing = report.Number(high - low)
	switch share := (up - down) / (up + down); {
	case share > minMonotoneShare:
		r.Sign = 1
	case share < -minMonotoneShare:
		r.Sign = -1
	}
	return r, nil
}

// replaceAmount returns a recipe in which ingredient i has the given amount. The other ingredients
// keep their proportions; the largest of them also gets the units left over by rounding. The
// parameter total is the number of units of the recipe. The result is nil if the recipe has no
// other ingredient.
func replaceAmount(recipe []int32, i int, amount, total int32) []int32 {
	x := make([]int32, len(recipe))
	x[i] = amount
	rest, left, largest := int64(total-recipe[i]), total-amount, -1
	if rest == 0 && left > 0 {
		return nil
	}
	for k, v := range recipe {
		if k == i || v == 0 {
			continue
		}
		share := int32(int64(v) * int64(total-amount) / rest)
		x[k] = share
		left -= share
		if largest < 0 || v > recipe[largest] {
			largest = k
		}
	}
	if left > 0 {
		x[largest] += left
	}
	return x
}

// addResponses adds responses to each model in a report: how its prediction changes if the first
// entry of the shortlist is changed.
func addResponses(p *compile.Problem, m *report.Model) error {
	if len(m.Best) == 0 {
		return nil
	}
	models, err := newPredictors(p)
	if err != nil {
		return err
	}
	recipe := make([]int32, len(p.Ingredients))
	for i, name := range p.Ingredients {
		recipe[i] = int32(m.Best[0].Recipe[name])
	}
	known, err := p.KnownRecipes()
	if err != nil {
		return err
	}
	most := make([]int32, len(recipe))
	for _, x := range known {
		for _, part := range x.Parts() {
			most[part.Ingredient] = max(most[part.Ingredient], int32(part.Amount))
		}
	}
	var conditions []int32
	for _, c := range p.Conditions {
		conditions = append(conditions, int32(c.Index(m.Best[0].Conditions[c.Name])))
	}
	for k := range m.Properties {
		w := &m.Properties[k]
		at := slices.IndexFunc(models, func(q predictor) bool { return q.Name == w.Name })
		if w.Forest == nil || at < 0 {
			continue
		}
		q := &responseComputer{ingredientNames: p.Ingredients, totalUnits: p.Total, maxAmounts: most, importances: w.Forest.Importances, predict: func(x []int32) (report.ResponsePoint, error) {
			c, err := p.Target.Space().Composition(nonZeroParts(x), conditions)
			if err != nil {
				return report.ResponsePoint{}, err
			}
			v := models[at].predict(c)
			if v.Class != "" {
				v.Value, v.Low, v.High = toPercent(v.Value), toPercent(v.Low), toPercent(v.High)
			}
			return report.ResponsePoint{Value: v.Value, Low: v.Low, High: v.High}, nil
		}}
		w.Forest.Unit = models[at].Unit
		if models[at].Class != "" {
			w.Forest.Unit = "%"
		}
		w.Forest.At, w.Forest.Total = "the first suggestion", p.Total
		if w.Forest.Responses, err = q.computeResponses(recipe); err != nil {
			return err
		}
		if w.Forest.ConditionResponses, err = computeConditionResponses(p, &models[at], recipe, conditions); err != nil {
			return err
		}
	}
	return nil
}

// maxConditionPoints is the approximate number of values of a condition at which predictions are
// computed. The value in the recipe is added.
const maxConditionPoints = 25

// computeConditionResponses returns how a prediction changes with each condition that has several
// values, starting from a recipe. Item i of recipe is the amount of ingredient i, and item k of
// conditions is the index of the value of condition k.
func computeConditionResponses(p *compile.Problem, of *predictor, recipe, conditions []int32) (all []report.ConditionResponse, err error) {
	for k := range p.Conditions {
		c := &p.Conditions[k]
		if c.Len() < 2 {
			continue
		}
		r := report.ConditionResponse{Condition: c.Name, Unit: c.Unit, At: c.Value(int(conditions[k]))}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range spreadIndices(c.Len(), int(conditions[k])) {
			at := slices.Clone(conditions)
			at[k] = int32(v)
			x, err := p.Target.Space().Composition(nonZeroParts(recipe), at)
			if err != nil {
				return nil, err
			}
			q := of.predict(x)
			if q.Class != "" {
				q.Value, q.Low, q.High = toPercent(q.Value), toPercent(q.Low), toPercent(q.High)
			}
			low, high = min(low, float64(q.Value)), max(high, float64(q.Value))
			r.Points = append(r.Points, report.ConditionResponsePoint{At: c.Value(v), Value: q.Value, Low: q.Low, High: q.High})
		}
		if high > low && !math.IsInf(high-low, 1) {
			r.Swing = report.Number(high - low)
			all = append(all, r)
		}
	}
	return all, nil
}

// spreadIndices returns evenly spread indices of n values, or all indices if there are few. The
// first, the last and the index own are always included.
func spreadIndices(n, own int) []int {
	var at []int
	for k := range n {
		if n <= maxConditionPoints || k == own || k == n-1 || k*(maxConditionPoints-1)/(n-1) != (k-1)*(maxConditionPoints-1)/(n-1) || k == 0 {
			at = append(at, k)
		}
	}
	return at
}

// nonZeroParts returns the ingredients with positive amounts. Item i of x is the amount of
// ingredient i.
func nonZeroParts(x []int32) (parts []mcmc.Part) {
	for i, v := range x {
		if v > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: int(v)})
		}
	}
	return parts
}

// addTrainingResponses adds responses to a report on a trained model: how its prediction changes if
// a training recipe is changed. For a numeric label it is the recipe with the largest label. For
// classes it is the recipe with the highest predicted probability of the most common class.
func addTrainingResponses(t *report.Training, m *model.LearnedModel) (err error) {
	names, total := m.Ingredients(), m.Total()
	most := make([]int32, len(names))
	var best []int32
	highest := math.Inf(-1)
	class := 0
	var score *model.LearnedScore
	if c := m.Quality().Classes; c != nil {
		class = max(slices.Index(m.Classes(), c.Majority), 0)
		if score, err = m.Score(model.AnyOf(m.Classes()[class])); err != nil {
			return err
		}
		t.Unit, t.At = "%", "the recipe that is surest "+c.Majority
	} else if !m.Numeric() {
		return nil
	} else {
		t.Unit, t.At = compile.UnitOf(m), "the recipe with the largest "+t.Label
	}
	measured := m.NumericLabels()
	for r, parts := range m.Compositions() {
		x := make([]int32, len(names))
		sum := int32(0)
		for _, part := range parts {
			x[part.Ingredient] = part.Amount
			most[part.Ingredient] = max(most[part.Ingredient], part.Amount)
			sum += part.Amount
		}
		value := 0.0
		if measured != nil {
			value = measured[r]
		} else {
			value = m.Shares(x)[class]
		}
		if int(sum) == total && value > highest {
			highest, best = value, x
		}
	}
	if best == nil {
		return nil
	}
	q := &responseComputer{ingredientNames: names, totalUnits: total, maxAmounts: most, importances: t.Importances, predict: func(x []int32) (report.ResponsePoint, error) {
		if measured == nil {
			unknown := report.UnknownNumber()
			p := score.UncalibratedAt(x)
			if c := score.Calibration(); c != nil {
				chance := c.Chance(p)
				return report.ResponsePoint{Value: toPercent(report.Number(chance.Value)), Low: toPercent(report.Number(chance.Low)), High: toPercent(report.Number(chance.High))}, nil
			}
			return report.ResponsePoint{Value: toPercent(report.Number(p)), Low: unknown, High: unknown}, nil
		}
		v := m.Predict(x)
		return report.ResponsePoint{Value: report.Number(v.Value), Low: report.Number(v.Low), High: report.Number(v.High)}, nil
	}}
	t.Total = total
	t.Responses, err = q.computeResponses(best)
	return err
}
