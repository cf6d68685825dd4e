package campaign

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/model"
)

// A learntObjective is a property whose label the campaign learns from measurements.
type learntObjective struct {
	name     string
	label    string
	weight   float64
	learning *compile.Learning

	direction config.Direction // which numbers are better
	low, high float64          // bounds for config.Between

	rows            int
	least, greatest float64 // range of the measured numbers
	warp            *warp   // for numeric labels
	sign            float64 // −1 if the values of the model fall as the label rises, else 1
	model           Surrogate
	sharedWith      *learntObjective // the objective whose model it shares; nil: it has its own
}

// fewestMeasured is the least number of measurements to learn a model from.
const fewestMeasured = 4

// learn fits the model of a property to the trials that have its label. If an earlier
// objective learns the same, both share one model. So the model that checks a limit also
// predicts the label.
func (c *Campaign) learn(ctx context.Context, w *compile.Property, before []*learntObjective, seed uint64) (*learntObjective, error) {
	o := &learntObjective{name: w.Name, label: w.Learning.Label, weight: w.Weight, learning: w.Learning, sign: 1}
	o.direction, o.low, o.high = w.Learning.Direction()
	if at := slices.IndexFunc(before, func(b *learntObjective) bool { return b.sharedWith == nil && shareModel(b.learning, w.Learning) }); at >= 0 {
		b := before[at]
		o.rows, o.least, o.greatest, o.warp, o.sign, o.model, o.sharedWith = b.rows, b.least, b.greatest, b.warp, b.sign, b.model, b
		return o, nil
	}
	numbers, classes, err := c.measuredOf(w.Learning)
	if err != nil {
		return nil, err
	}
	data := &model.Data{Label: o.label, Ingredients: c.Problem.Ingredients, Total: c.Problem.Total, Features: w.Learning.Features}
	spreads, err := w.Learning.Spreads(c.Problem.Book)
	if err != nil {
		return nil, err
	}
	var recipes []recipe
	var rows []int // of the recipes, in the book
	var values, sd []float64
	for k, t := range c.trials {
		switch {
		case w.Learning.Numeric && !math.IsNaN(numbers[k]):
			recipes, values = append(recipes, t.recipe), append(values, numbers[k])
			if spreads != nil {
				sd = append(sd, spreads[k])
			}
		case !w.Learning.Numeric && classes[k] != "":
			recipes, rows, data.Classes = append(recipes, t.recipe), append(rows, k), append(data.Classes, classes[k])
		}
	}
	o.rows = len(recipes)
	if w.Learning.Numeric {
		return o, o.learnNumbers(ctx, recipes, values, sd, c.Problem.CodedIngredients(), c.Problem.Total)
	}
	if o.rows < fewestMeasured {
		return o, nil
	}
	data.Rows = rowsOf(recipes)
	c.Problem.AddConditions(data, rows)
	ensemble, err := newForestEnsemble(ctx, data, w.Learning.Want, seed)
	if errors.Is(err, errNotYet) {
		return o, nil
	}
	if err != nil {
		return nil, err
	}
	o.model = ensemble
	return o, nil
}

// learnNumbers fits a Gaussian process to the scores of numeric values. sd has the standard
// deviations of the measurements: NaN where one is unknown, nil if all are.
func (o *learntObjective) learnNumbers(ctx context.Context, recipes []recipe, values, sd []float64, ingredients, total int) error {
	if len(values) == 0 {
		return nil
	}
	o.least, o.greatest = slices.Min(values), slices.Max(values)
	if len(values) < fewestMeasured || o.least == o.greatest {
		return nil
	}
	o.warp = newWarp(values, o.learning.Log)
	if o.direction == config.Minimize {
		o.sign = -1 // so that the greatest values are always the best, also when rows are thinned
	}
	scores := make([]float64, len(values))
	for k, v := range values {
		scores[k] = float64(o.sign * o.warp.score(v))
	}
	spreads := make([]float64, len(sd))
	for k, s := range sd {
		spreads[k] = o.warp.scoreSD(values[k], s)
	}
	g, err := newGaussianProcess(ctx, recipes, scores, spreads, ingredients, total)
	if err != nil {
		return err
	}
	o.model = g
	return nil
}

// shareModel reports whether one model serves two properties.
func shareModel(a, b *compile.Learning) bool {
	if a.Label != b.Label || a.Numeric != b.Numeric || a.Log != b.Log || a.SD != b.SD {
		return false
	}
	if (a.Failures == nil) != (b.Failures == nil) || a.Failures != nil && !slices.Equal(*a.Failures, *b.Failures) {
		return false
	}
	return a.Numeric || a.Want.String() == b.Want.String() && reflect.DeepEqual(a.Features, b.Features)
}

// rowsOf converts recipes to rows of model data, without conditions.
func rowsOf(recipes []recipe) [][]model.Part {
	rows := make([][]model.Part, len(recipes))
	for k, x := range recipes {
		for _, p := range x.parts {
			rows[k] = append(rows[k], model.Part{Ingredient: int32(p.Ingredient), Amount: int32(p.Amount)})
		}
	}
	return rows
}

// measuredOf returns the values of a label by trial: numbers, NaN where missing, or classes,
// empty where missing.
func (c *Campaign) measuredOf(of *compile.Learning) (numbers []float64, classes []string, err error) {
	numbers, classes = make([]float64, len(c.trials)), make([]string, len(c.trials))
	for k := range numbers {
		numbers[k] = math.NaN()
	}
	if c.Problem.Book == nil {
		return numbers, classes, nil
	}
	l, ok := c.Problem.Book.Label(of.Label)
	if !ok || len(l.Classes) == 0 {
		return numbers, classes, nil
	}
	if of.Numeric {
		numbers, _, err = of.Measured(l)
		return numbers, classes, err
	}
	for k := range classes {
		classes[k] = l.Value(k)
	}
	return numbers, classes, nil
}

// labelValue converts a value of the model to the label's unit.
func (o *learntObjective) labelValue(v float64) float64 { return o.warp.value(float64(o.sign * v)) }

// desirability maps a number of the label linearly: 0 at the worst measured value or beyond, 1
// at the best, and above 1 beyond the best.
func (o *learntObjective) desirability(v float64) float64 {
	log := o.learning.Log
	v, least, greatest := logOrSame(v, log), logOrSame(o.least, log), logOrSame(o.greatest, log)
	d := (v - least) / (greatest - least)
	if o.direction == config.Minimize {
		d = (greatest - v) / (greatest - least)
	}
	return max(d, 0)
}

// predictedDesirability returns the desirability of a value of the model. For bounds it is the
// probability that a measurement lies within them. For a class it is the desirability of that
// probability.
func (o *learntObjective) predictedDesirability(v float64) float64 {
	switch {
	case !o.learning.Numeric:
		return o.classDesirability(min(max(v, 0), 1))
	case o.direction != config.Between:
		return o.desirability(o.labelValue(v))
	}
	v = float64(o.sign * v)
	noise := max(o.model.Noise(), 1e-3)
	share := 1.0
	if !math.IsInf(o.low, -1) {
		_, below := gaussian((o.warp.score(o.low) - v) / noise)
		share -= below
	}
	if !math.IsInf(o.high, 1) {
		_, below := gaussian((v - o.warp.score(o.high)) / noise)
		share -= below
	}
	return max(share, 0)
}

// classDesirability returns the desirability of a trial that has the class with probability p.
// It is p, or 1 − p if the limit only bounds the probability from above.
func (o *learntObjective) classDesirability(p float64) float64 {
	switch l := o.learning.Limit; {
	case l == nil || math.IsInf(l.Most, 1):
		return p
	case math.IsInf(l.Least, -1):
		return 1 - p
	}
	return 1
}

// measuredDesirability returns the desirability of a measurement, either a number or a class.
func (o *learntObjective) measuredDesirability(number float64, class string) float64 {
	switch {
	case !o.learning.Numeric:
		of := 0.0
		if o.learning.Want.Has(class) {
			of = 1
		}
		return o.classDesirability(of)
	case o.direction != config.Between:
		if o.least == o.greatest {
			return 1
		}
		return o.desirability(number)
	}
	if o.low <= number && number <= o.high {
		return 1
	}
	return 0
}

// optimisticDesirability returns the desirability of a recipe that turns out a standard
// deviation better than predicted. The search maximises it.
func (o *learntObjective) optimisticDesirability(x recipe) float64 {
	mean, sd := o.model.Predict(x)
	if o.direction == config.Between || !o.learning.Numeric && o.learning.Limit != nil {
		return max(o.predictedDesirability(mean-sd), o.predictedDesirability(mean), o.predictedDesirability(mean+sd))
	}
	return o.predictedDesirability(mean + sd)
}

// predict returns the prediction of a measurement of a recipe.
func (o *learntObjective) predict(x recipe) Prediction {
	mean, sd := o.model.Predict(x)
	if !o.learning.Numeric {
		return Prediction{Value: mean, Low: max(mean-float64(coverageNormal*sd), 0), High: min(mean+float64(coverageNormal*sd), 1)}
	}
	noise := o.model.Noise()
	half := float64(coverageNormal * o.model.IntervalScale() * math.Sqrt(float64(sd*sd)+float64(noise*noise)))
	a, b := o.labelValue(mean-half), o.labelValue(mean+half)
	return Prediction{Value: o.labelValue(mean), Low: min(a, b), High: max(a, b)}
}

// describe summarises how well the model predicts.
func (o *learntObjective) describe() ModelSummary {
	m := ModelSummary{Label: o.label, Kind: NoModel, Rows: o.rows}
	if o.model == nil {
		return m
	}
	m.Kind = "forest"
	if o.warp != nil {
		m.Kind = "Gaussian process"
		noise := o.noise()
		m.Noise = &noise
	}
	if r2 := o.model.R2(); !math.IsNaN(r2) {
		m.R2 = &r2
	}
	return m
}

// noise returns the standard deviation of one measurement in the label's unit, near the best
// measured values.
func (o *learntObjective) noise() float64 {
	top := o.warp.scores[len(o.warp.scores)-1]
	if o.direction == config.Minimize {
		top = o.warp.scores[0]
	}
	half := o.model.Noise()
	return float64(math.Abs(o.warp.value(top+half)-o.warp.value(top-half)) / 2)
}

// describe summarises the model of each label.
func (ch *batchOptimizer) describe() []ModelSummary {
	models := []ModelSummary{}
	for _, o := range ch.objectives {
		if !slices.ContainsFunc(models, func(m ModelSummary) bool { return m.Label == o.label }) {
			models = append(models, o.describe())
		}
	}
	return models
}
