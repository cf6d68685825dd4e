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

// A learntObjective is a property of recipes whose label, that is, a measured quantity, is learnt
// from measurements.
type learntObjective struct {
	name             string            // name of the property
	label            string            // name of the measured label
	weight           float64           // exponent of the desirability in the product of all desirabilities; 0 if the property is not an objective
	learningSettings *compile.Learning // settings in the problem file for learning the label

	direction config.Direction // whether high numbers, low numbers or numbers between two bounds are better
	lowBound  float64          // least good number; only for the direction [config.Between]
	highBound float64          // greatest good number; only for the direction [config.Between]

	trainingRowCount int              // number of measurements that the model is learnt from
	minMeasured      float64          // least measured number
	maxMeasured      float64          // greatest measured number
	warp             *warp            // converts measured numbers to the scores that the model fits; nil for classes
	modelValueSign   float64          // −1 if the model's values fall when the label rises, otherwise 1
	model            Surrogate        // model of the label; nil if there are too few measurements
	intervalWidening float64          // factor that widens prediction intervals, from the outcome of earlier batches; see setIntervalWidening
	modelOwner       *learntObjective // earlier objective with the same label, whose model this objective uses too; nil if this objective has its own model
}

// minMeasurements is the least number of measurements from which a model can be learnt.
const minMeasurements = 4

// newLearntObjective returns the objective of a property, without a model.
func newLearntObjective(property *compile.Property) *learntObjective {
	o := &learntObjective{name: property.Name, label: property.Learning.Label, weight: property.Weight, learningSettings: property.Learning, modelValueSign: 1}
	o.direction, o.lowBound, o.highBound = property.Learning.Direction()
	return o
}

// learnObjective fits a model of a property to the trials whose label was measured. The list
// earlier has the objectives that were learnt before. If one of them has the same label and
// settings, both objectives share one model.
func (c *Campaign) learnObjective(ctx context.Context, property *compile.Property, earlier []*learntObjective, seed uint64) (*learntObjective, error) {
	o := newLearntObjective(property)
	if at := slices.IndexFunc(earlier, func(b *learntObjective) bool {
		return b.modelOwner == nil && canShareModel(b.learningSettings, property.Learning)
	}); at >= 0 {
		b := earlier[at]
		o.trainingRowCount, o.minMeasured, o.maxMeasured, o.warp, o.modelValueSign, o.model, o.modelOwner = b.trainingRowCount, b.minMeasured, b.maxMeasured, b.warp, b.modelValueSign, b.model, b
		return o, nil
	}
	numbers, classes, err := c.measuredValues(property.Learning)
	if err != nil {
		return nil, err
	}
	data := &model.Data{Label: o.label, Ingredients: c.Problem.Ingredients, Total: c.Problem.Total, Features: property.Learning.Features}
	spreads, err := property.Learning.Spreads(c.Problem.Book)
	if err != nil {
		return nil, err
	}
	var recipes []recipe
	var rows []int // of the recipes, in the book
	var values, sd []float64
	for k, t := range c.trials {
		switch {
		case property.Learning.Numeric && !math.IsNaN(numbers[k]):
			recipes, values = append(recipes, t.recipe), append(values, numbers[k])
			if spreads != nil {
				sd = append(sd, spreads[k])
			}
		case !property.Learning.Numeric && classes[k] != "":
			recipes, rows, data.Classes = append(recipes, t.recipe), append(rows, k), append(data.Classes, classes[k])
		}
	}
	o.trainingRowCount = len(recipes)
	if property.Learning.Numeric {
		return o, o.learnNumbers(ctx, recipes, values, sd, c.Problem.ModelInputCount(), c.Problem.Total)
	}
	if o.trainingRowCount < minMeasurements {
		return o, nil
	}
	data.Rows = amountRows(recipes)
	c.Problem.AddConditions(data, rows)
	ensemble, err := newForestEnsemble(ctx, data, property.Learning.Want, seed)
	if errors.Is(err, errNothingToLearn) {
		return o, nil
	}
	if err != nil {
		return nil, err
	}
	o.model = ensemble
	return o, nil
}

// learnNumbers fits a Gaussian process to measured numbers. The slice measurementSD has the
// standard deviation of each measurement, or NaN if unknown. A nil slice means that all are
// unknown.
func (o *learntObjective) learnNumbers(ctx context.Context, recipes []recipe, values, measurementSD []float64, variables, total int) error {
	if len(values) == 0 {
		return nil
	}
	o.minMeasured, o.maxMeasured = slices.Min(values), slices.Max(values)
	if len(values) < minMeasurements || o.minMeasured == o.maxMeasured {
		return nil
	}
	o.warp = newWarp(values, o.learningSettings.Log)
	if o.direction == config.Minimize {
		o.modelValueSign = -1 // so that the greatest values are always the best, also when rows are thinned
	}
	scores := make([]float64, len(values))
	for k, v := range values {
		scores[k] = float64(o.modelValueSign * o.warp.score(v))
	}
	spreads := make([]float64, len(measurementSD))
	for k, s := range measurementSD {
		spreads[k] = o.warp.scoreSD(values[k], s)
	}
	g, err := newGaussianProcess(ctx, recipes, scores, spreads, variables, total)
	if err != nil {
		return err
	}
	o.model = g
	return nil
}

// canShareModel reports whether two properties with the settings a and b can use the same model.
func canShareModel(a, b *compile.Learning) bool {
	if a.Label != b.Label || a.Numeric != b.Numeric || a.Log != b.Log || a.SDLabel != b.SDLabel {
		return false
	}
	if (a.FailureValues == nil) != (b.FailureValues == nil) || a.FailureValues != nil && !slices.Equal(*a.FailureValues, *b.FailureValues) {
		return false
	}
	return a.Numeric || a.Want.String() == b.Want.String() && reflect.DeepEqual(a.Features, b.Features)
}

// amountRows returns the amounts of each recipe as a row of training data, without conditions.
func amountRows(recipes []recipe) [][]model.Part {
	rows := make([][]model.Part, len(recipes))
	for k, x := range recipes {
		for _, p := range x.parts {
			rows[k] = append(rows[k], model.Part{Ingredient: int32(p.Ingredient), Amount: int32(p.Amount)})
		}
	}
	return rows
}

// measuredValues returns the measured value of a label in each trial. A numeric label has numbers,
// and a missing number is NaN. Any other label has classes, and a missing class is empty.
func (c *Campaign) measuredValues(learning *compile.Learning) (numbers []float64, classes []string, err error) {
	numbers, classes = make([]float64, len(c.trials)), make([]string, len(c.trials))
	for k := range numbers {
		numbers[k] = math.NaN()
	}
	if c.Problem.Book == nil {
		return numbers, classes, nil
	}
	l, ok := c.Problem.Book.Label(learning.Label)
	if !ok || len(l.Classes) == 0 {
		return numbers, classes, nil
	}
	if learning.Numeric {
		numbers, _, err = learning.Measured(l)
		return numbers, classes, err
	}
	for k := range classes {
		classes[k] = l.Value(k)
	}
	return numbers, classes, nil
}

// labelValue converts a value v of the model to a number in the unit of the label.
func (o *learntObjective) labelValue(v float64) float64 {
	return o.warp.value(float64(o.modelValueSign * v))
}

// desirability maps a number v of the label linearly to a desirability. The worst measured number
// has the desirability 0, and the best has 1. Worse numbers than the worst also have 0, and better
// numbers than the best have more than 1.
func (o *learntObjective) desirability(v float64) float64 {
	log := o.learningSettings.Log
	v, least, greatest := logOrSame(v, log), logOrSame(o.minMeasured, log), logOrSame(o.maxMeasured, log)
	d := (v - least) / (greatest - least)
	if o.direction == config.Minimize {
		d = (greatest - v) / (greatest - least)
	}
	return max(d, 0)
}

// predictedDesirability returns the desirability of a value v of the model, where v is:
//
//   - the probability of a wanted class, if the label has classes; see
//     [learntObjective.classDesirability]
//   - a score of [warp], if the label is numeric
//
// If numbers between two bounds are good, the desirability is the probability that a measurement
// lies within the bounds.
func (o *learntObjective) predictedDesirability(v float64) float64 {
	switch {
	case !o.learningSettings.Numeric:
		return o.classDesirability(min(max(v, 0), 1))
	case o.direction != config.Between:
		return o.desirability(o.labelValue(v))
	}
	v = float64(o.modelValueSign * v)
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
// p. The result is p, except that it is 1 − p if the limit bounds the probability only from above.
func (o *learntObjective) classDesirability(p float64) float64 {
	switch l := o.learningSettings.Limit; {
	case l == nil || math.IsInf(l.Most, 1):
		return p
	case math.IsInf(l.Least, -1):
		return 1 - p
	}
	return 1
}

// measuredDesirability returns the desirability of a measurement. The measurement is the number if
// the label is numeric, and otherwise the class.
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

// predict returns the predicted measurement of recipe x and the interval that contains it with a
// probability of 90 %. The ends of the interval are equally far from the prediction in scores of
// [warp.intervalScore].
func (o *learntObjective) predict(x recipe) Prediction {
	mean, sd := o.model.Predict(x)
	if !o.learningSettings.Numeric {
		return Prediction{Value: mean, Low: max(mean-float64(coverageNormalQuantile*sd), 0), High: min(mean+float64(coverageNormalQuantile*sd), 1)}
	}
	noise := o.model.Noise()
	half := float64(coverageNormalQuantile * o.model.IntervalScale() * o.intervalWidening * math.Sqrt(float64(sd*sd)+float64(noise*noise)))
	value := o.labelValue(mean)
	score := o.warp.intervalScore(value)
	return Prediction{Value: value, Low: o.warp.intervalValue(score - half), High: o.warp.intervalValue(score + half)}
}

// summarizeModel returns how well the model of this objective predicts.
func (o *learntObjective) summarizeModel() ModelSummary {
	m := ModelSummary{Label: o.label, Kind: NoModel, Rows: o.trainingRowCount}
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

// labelNoise returns the standard deviation of one measurement in the unit of the label, for
// measured values near the best.
func (o *learntObjective) labelNoise() float64 {
	top := o.warp.scores[len(o.warp.scores)-1]
	if o.direction == config.Minimize {
		top = o.warp.scores[0]
	}
	half := o.model.Noise()
	return float64(math.Abs(o.warp.value(top+half)-o.warp.value(top-half)) / 2)
}

// summarizeModels returns, for each label, how well the model of the label predicts.
func (ch *batchOptimizer) summarizeModels() []ModelSummary {
	models := []ModelSummary{}
	for _, o := range ch.objectives {
		if !slices.ContainsFunc(models, func(m ModelSummary) bool { return m.Label == o.label }) {
			models = append(models, o.summarizeModel())
		}
	}
	return models
}
