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

// A learntObjective is a property of the problem whose label is learnt from measurements.
type learntObjective struct {
	name             string            // name of the property
	label            string            // name of the measured label
	weight           float64           // exponent of the desirability in the product of all desirabilities; 0: the property is not an objective
	learningSettings *compile.Learning // what the problem file says about learning the label

	direction           config.Direction // whether high numbers, low numbers or numbers between two bounds are better
	lowBound, highBound float64          // range of good numbers, only for the direction config.Between

	trainingRows             int              // number of measurements that the model is learnt from
	minMeasured, maxMeasured float64          // range of the measured numbers
	warp                     *warp            // converts measured numbers to the scores that the model fits; nil for classes
	valueSign                float64          // −1 if the model's values fall as the label rises, else 1
	model                    Surrogate        // nil if there are too few measurements
	sharedWith               *learntObjective // earlier objective that owns the shared model; nil: the model belongs to this objective
}

// minMeasurements is the least number of measurements from which a model can be learnt.
const minMeasurements = 4

// learnObjective fits a model of the property w to the trials whose label was measured. The
// parameter before has the objectives that were learnt earlier. If an earlier objective has the
// same label and settings, both objectives share one model.
func (c *Campaign) learnObjective(ctx context.Context, w *compile.Property, before []*learntObjective, seed uint64) (*learntObjective, error) {
	o := &learntObjective{name: w.Name, label: w.Learning.Label, weight: w.Weight, learningSettings: w.Learning, valueSign: 1}
	o.direction, o.lowBound, o.highBound = w.Learning.Direction()
	if at := slices.IndexFunc(before, func(b *learntObjective) bool {
		return b.sharedWith == nil && canShareModel(b.learningSettings, w.Learning)
	}); at >= 0 {
		b := before[at]
		o.trainingRows, o.minMeasured, o.maxMeasured, o.warp, o.valueSign, o.model, o.sharedWith = b.trainingRows, b.minMeasured, b.maxMeasured, b.warp, b.valueSign, b.model, b
		return o, nil
	}
	numbers, classes, err := c.measuredValues(w.Learning)
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
	o.trainingRows = len(recipes)
	if w.Learning.Numeric {
		return o, o.learnNumbers(ctx, recipes, values, sd, c.Problem.ModelInputCount(), c.Problem.Total)
	}
	if o.trainingRows < minMeasurements {
		return o, nil
	}
	data.Rows = modelRows(recipes)
	c.Problem.AddConditions(data, rows)
	ensemble, err := newForestEnsemble(ctx, data, w.Learning.Want, seed)
	if errors.Is(err, errNothingToLearn) {
		return o, nil
	}
	if err != nil {
		return nil, err
	}
	o.model = ensemble
	return o, nil
}

// learnNumbers fits a Gaussian process to measured numbers. The parameter sd has the standard
// deviation of each measurement, or NaN if unknown. A nil sd means that all are unknown.
func (o *learntObjective) learnNumbers(ctx context.Context, recipes []recipe, values, sd []float64, ingredients, total int) error {
	if len(values) == 0 {
		return nil
	}
	o.minMeasured, o.maxMeasured = slices.Min(values), slices.Max(values)
	if len(values) < minMeasurements || o.minMeasured == o.maxMeasured {
		return nil
	}
	o.warp = newWarp(values, o.learningSettings.Log)
	if o.direction == config.Minimize {
		o.valueSign = -1 // so that the greatest values are always the best, also when rows are thinned
	}
	scores := make([]float64, len(values))
	for k, v := range values {
		scores[k] = float64(o.valueSign * o.warp.score(v))
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

// canShareModel reports whether two properties can use the same model.
func canShareModel(a, b *compile.Learning) bool {
	if a.Label != b.Label || a.Numeric != b.Numeric || a.Log != b.Log || a.SDLabel != b.SDLabel {
		return false
	}
	if (a.FailureValues == nil) != (b.FailureValues == nil) || a.FailureValues != nil && !slices.Equal(*a.FailureValues, *b.FailureValues) {
		return false
	}
	return a.Numeric || a.Want.String() == b.Want.String() && reflect.DeepEqual(a.Features, b.Features)
}

// modelRows converts the amounts of recipes to rows of training data. The rows do not include
// conditions.
func modelRows(recipes []recipe) [][]model.Part {
	rows := make([][]model.Part, len(recipes))
	for k, x := range recipes {
		for _, p := range x.parts {
			rows[k] = append(rows[k], model.Part{Ingredient: int32(p.Ingredient), Amount: int32(p.Amount)})
		}
	}
	return rows
}

// measuredValues returns the measured values of a label, by trial. A numeric label has numbers,
// which are NaN where missing. Any other label has classes, which are empty where missing.
func (c *Campaign) measuredValues(of *compile.Learning) (numbers []float64, classes []string, err error) {
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

// labelValue converts a value v of the model to a number in the unit of the label.
func (o *learntObjective) labelValue(v float64) float64 {
	return o.warp.value(float64(o.valueSign * v))
}

// desirability maps a number v of the label linearly to a desirability. The worst measured number
// and anything worse have 0. The best measured number has 1, and better numbers have more than 1.
func (o *learntObjective) desirability(v float64) float64 {
	log := o.learningSettings.Log
	v, least, greatest := logOrSame(v, log), logOrSame(o.minMeasured, log), logOrSame(o.maxMeasured, log)
	d := (v - least) / (greatest - least)
	if o.direction == config.Minimize {
		d = (greatest - v) / (greatest - least)
	}
	return max(d, 0)
}

// predictedDesirability returns the desirability of a value v of the model. For an objective with
// two bounds, the desirability is the probability that a measurement lies within the bounds. For a
// class, v is a probability; see [learntObjective.classDesirability].
func (o *learntObjective) predictedDesirability(v float64) float64 {
	switch {
	case !o.learningSettings.Numeric:
		return o.classDesirability(min(max(v, 0), 1))
	case o.direction != config.Between:
		return o.desirability(o.labelValue(v))
	}
	v = float64(o.valueSign * v)
	noise := max(o.model.Noise(), 1e-3)
	share := 1.0
	if !math.IsInf(o.lowBound, -1) {
		_, below := normalPDFAndCDF((o.warp.score(o.lowBound) - v) / noise)
		share -= below
	}
	if !math.IsInf(o.highBound, 1) {
		_, below := normalPDFAndCDF((v - o.warp.score(o.highBound)) / noise)
		share -= below
	}
	return max(share, 0)
}

// classDesirability returns the desirability of a recipe that has a wanted class with probability
// p. The desirability is p, or 1 − p if the limit bounds the probability only from above.
func (o *learntObjective) classDesirability(p float64) float64 {
	switch l := o.learningSettings.Limit; {
	case l == nil || math.IsInf(l.Most, 1):
		return p
	case math.IsInf(l.Least, -1):
		return 1 - p
	}
	return 1
}

// measuredDesirability returns the desirability of a measurement, which is a number for a numeric
// label and a class otherwise.
func (o *learntObjective) measuredDesirability(number float64, class string) float64 {
	switch {
	case !o.learningSettings.Numeric:
		of := 0.0
		if o.learningSettings.Want.Has(class) {
			of = 1
		}
		return o.classDesirability(of)
	case o.direction != config.Between:
		if o.minMeasured == o.maxMeasured {
			return 1
		}
		return o.desirability(number)
	}
	if o.lowBound <= number && number <= o.highBound {
		return 1
	}
	return 0
}

// optimisticDesirability returns the desirability of a recipe x if its measurement turns out one
// standard deviation better than predicted. The search for candidates maximises this value.
func (o *learntObjective) optimisticDesirability(x recipe) float64 {
	mean, sd := o.model.Predict(x)
	if o.direction == config.Between || !o.learningSettings.Numeric && o.learningSettings.Limit != nil {
		return max(o.predictedDesirability(mean-sd), o.predictedDesirability(mean), o.predictedDesirability(mean+sd))
	}
	return o.predictedDesirability(mean + sd)
}

// predict returns the predicted measurement of a recipe with a 90 % interval.
func (o *learntObjective) predict(x recipe) Prediction {
	mean, sd := o.model.Predict(x)
	if !o.learningSettings.Numeric {
		return Prediction{Value: mean, Low: max(mean-float64(coverageNormalQuantile*sd), 0), High: min(mean+float64(coverageNormalQuantile*sd), 1)}
	}
	noise := o.model.Noise()
	half := float64(coverageNormalQuantile * o.model.IntervalScale() * math.Sqrt(float64(sd*sd)+float64(noise*noise)))
	a, b := o.labelValue(mean-half), o.labelValue(mean+half)
	return Prediction{Value: o.labelValue(mean), Low: min(a, b), High: max(a, b)}
}

// summarizeModel returns how well the model of this objective predicts.
func (o *learntObjective) summarizeModel() ModelSummary {
	m := ModelSummary{Label: o.label, Kind: NoModel, Rows: o.trainingRows}
	if o.model == nil {
		return m
	}
	m.Kind = "forest"
	if o.warp != nil {
		m.Kind = "Gaussian process"
		noise := o.labelNoise()
		m.Noise = &noise
	}
	if r2 := o.model.R2(); !math.IsNaN(r2) {
		m.R2 = &r2
	}
	return m
}

// labelNoise returns the standard deviation of one measurement, in the unit of the label, near the
// best measured values.
func (o *learntObjective) labelNoise() float64 {
	top := o.warp.scores[len(o.warp.scores)-1]
	if o.direction == config.Minimize {
		top = o.warp.scores[0]
	}
	half := o.model.Noise()
	return float64(math.Abs(o.warp.value(top+half)-o.warp.value(top-half)) / 2)
}

// summarizeModels returns how well the model of each label predicts.
func (ch *batchOptimizer) summarizeModels() []ModelSummary {
	models := []ModelSummary{}
	for _, o := range ch.objectives {
		if !slices.ContainsFunc(models, func(m ModelSummary) bool { return m.Label == o.label }) {
			models = append(models, o.summarizeModel())
		}
	}
	return models
}
