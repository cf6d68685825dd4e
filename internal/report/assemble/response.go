package assemble

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
	"kir/model"
)

// Constants of responses, which show how a prediction changes with an amount.
const (
	maxResponses        = 6   // largest number of ingredients whose responses are reported
	maxTriedIngredients = 24  // largest number of ingredients whose responses are computed
	responsePointCount  = 13  // number of amounts of an ingredient, beside the amount in the recipe
	minOneWayShare      = 0.5 // least share of a response's total change by which rises must exceed falls for the response to count as rising, or falls exceed rises for it to count as falling
)

// A responseComputer computes how a model's prediction changes with the amounts in a dense composition.
type responseComputer struct {
	ingredientNames []string
	totalUnits      int
	maxAmounts      []int32 // by ingredient: largest amount in a known recipe
	predict         func(x []int32) (report.ResponsePoint, error)
	importances     []report.Importance // features of the model, the most important first
}

// computeResponses returns how the prediction at a recipe changes with the amount of an ingredient,
// while the other ingredients keep their proportions. It returns the responses of the ingredients
// that change the prediction most, the largest change first.
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
	var all []report.Response
	for _, i := range tried[:min(len(tried), maxTriedIngredients)] {
		r, err := q.computeResponse(recipe, i)
		if err != nil {
			return nil, err
		}
		if r.Swing > 0 {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b report.Response) int { return cmp.Compare(b.Swing, a.Swing) })
	return all[:min(len(all), maxResponses)], nil
}

// computeResponse varies the amount of ingredient i from 0 to its largest amount in a known recipe.
// The swing of the response is 0 if the prediction does not change.
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
	case share > minOneWayShare:
		r.Sign = 1
	case share < -minOneWayShare:
		r.Sign = -1
	}
	return r, nil
}

// replaceAmount returns a recipe with another amount of ingredient i, while the other ingredients
// keep their proportions. The largest of these ingredients gets the units that are left by
// rounding. The result is nil if the recipe has no other ingredient to take the rest.
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

// addResponses adds to the models in a report how they respond to changes of the first entry of the
// shortlist.
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

// maxConditionPoints is the largest number of values of a condition at which a response is
// computed, roughly: the value in the recipe comes in addition.
const maxConditionPoints = 25

// computeConditionResponses returns how a prediction at a recipe changes with each condition that
// has several values.
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

// spreadIndices returns indices of n values: all of them, or evenly spread indices if there are
// many. The first, the last and the index own are always included.
func spreadIndices(n, own int) []int {
	var at []int
	for k := range n {
		if n <= maxConditionPoints || k == own || k == n-1 || k*(maxConditionPoints-1)/(n-1) != (k-1)*(maxConditionPoints-1)/(n-1) || k == 0 {
			at = append(at, k)
		}
	}
	return at
}

func nonZeroParts(x []int32) (parts []mcmc.Part) {
	for i, v := range x {
		if v > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: int(v)})
		}
	}
	return parts
}

// addTrainingResponses adds to a report on training how the model responds to changes of a training
// recipe. For a number it is the recipe with the largest label. For classes it is the recipe with
// the highest predicted probability of the commonest class.
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
