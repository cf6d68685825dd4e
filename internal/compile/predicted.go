package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/constraint"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/portable"
	"kir/internal/search"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// HasPredictedLimits reports whether a rule of the problem limits the prediction of a property.
func (p *Problem) HasPredictedLimits() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Predicted != nil })
}

// LimitsOf returns the texts of the rules that limit the prediction of the property with the given name.
func (p *Problem) LimitsOf(property string) (limits []string) {
	for _, r := range p.Rules {
		if r.Predicted != nil && r.Predicted.Property == property {
			limits = append(limits, r.Predicted.Text)
		}
	}
	return limits
}

// A probabilityLimit is a rule that requires a minimum probability that a measurement is within bounds.
type probabilityLimit struct {
	text                string        // text of the rule
	probabilityProperty mcmc.Property // property whose score is the probability
}

// A LimitProbability is the probability that a measurement of a composition keeps a limit.
type LimitProbability struct {
	Limit       string // text of the rule with the limit
	Probability float64
}

// SureLimitProbabilities returns one probability for each rule that requires a minimum probability (key
// "sure"). It is the probability that a measurement of the composition x keeps the limit of the rule.
func (p *Problem) SureLimitProbabilities(x *mcmc.Composition) (all []LimitProbability) {
	for _, l := range p.probabilityLimits {
		all = append(all, LimitProbability{l.text, portable.Exp(l.probabilityProperty.LogScore(x))})
	}
	return all
}

// A valueScale describes the value of a property for limits and trade-offs. The value has two forms. The scored
// value is the number that a [property.Desirability] maps to a score. The shown value is the same quantity in
// the unit of the problem file and of reports.
type valueScale struct {
	// asProperty returns a property that scores a composition by applying the desirability d to its scored
	// value.
	asProperty    func(d *property.Desirability) (mcmc.Property, error)
	shownFactor   float64 // shown value divided by scored value
	typicalSpread float64 // typical difference between scored values of compositions
	roundingError float64 // upper bound of the rounding error of a scored value

	valueName string   // name of the value in messages
	shownUnit string   // unit of shown values; empty for shares and for numbers without a unit
	notation  notation // how the problem file writes a bound of the value

	scoredValue func(x *mcmc.Composition) float64 // returns the scored value of a composition

	// calibration converts the scored probability of a class to the shown probability. If it is nil, the two
	// probabilities are equal.
	calibration *model.Calibration

	// boundProbability returns a property whose score is the probability that a measurement is from least to
	// most. It is nil if no model predicts how measurements vary.
	boundProbability func(least, most float64) (mcmc.LineProperty, error)
}

// A notation tells how a problem file writes a bound of a value.
type notation int

const (
	numberNotation  notation = iota // a number
	shareNotation                   // a number from 0 to 1, or a percentage: 0.4 or "40%"
	percentNotation                 // a percentage only; tables have shares, but shown values are in percent
)

// Names of the values that can be limited, in messages and in docs/rules.md.
const (
	expectedNumberName = "the expected number"
	classChanceName    = "the chance of the class"
	modelNumberName    = "the model's number"
	blendMeanName      = "the mean"
	groupShareName     = "the share"
	formulaValueName   = "the formula's value"
	yearReturnName     = "the year's return"
	yearVolatilityName = "the year's volatility"
	returnRatioName    = "the return divided by the volatility"
	scoreName          = "the score"
)

// valueScaleOf returns the value scale of a property. It returns an error if the score takes too long to
// compute for a limit, as the score of a program does.
func valueScaleOf(w *Property) (*valueScale, error) {
	if w.newValueScale != nil {
		return w.newValueScale()
	}
	of, ok := w.mcmcProperty.(mcmc.LineProperty)
	if _, waits := w.mcmcProperty.(mcmc.BatchProperty); !ok || waits {
		return nil, fmt.Errorf("what a %s answers cannot be limited", w.Kind)
	}
	return scoreValueScale(of), nil
}

// scoreValueScale returns the value scale of a property whose value is the score itself.
func scoreValueScale(of mcmc.LineProperty) *valueScale {
	return &valueScale{
		asProperty: func(d *property.Desirability) (mcmc.Property, error) {
			return property.NewScoreTransform(of, portable.Exp, d), nil
		},
		shownFactor: 1, typicalSpread: 0.05, valueName: scoreName,
		scoredValue: func(x *mcmc.Composition) float64 { return portable.Exp(of.LogScore(x)) },
	}
}

// forestValueScale returns the value scale of the forest of a property. The value is the expected number, or the
// calibrated probability of the wanted class.
func forestValueScale(f *model.Forest, w *learntModel) (*valueScale, error) {
	l, err := forestValueScaleOfAmounts(f, w)
	return l.withConditions(w.conditionEncoder), err
}

// forestValueScaleOfAmounts is like [forestValueScale], but its compositions already include the amounts that encode
// conditions; see [Setting.Codes].
func forestValueScaleOfAmounts(f *model.Forest, w *learntModel) (*valueScale, error) {
	if !f.Numeric() {
		score, err := f.Score(w.wantedValues)
		if err != nil {
			return nil, err
		}
		return classChanceValueScale(w, property.NewForest(score, 0))
	}
	r := predictorRange(f)
	score, err := f.Score(model.Maximize().WithScale(r.least, r.greatest))
	if err != nil {
		return nil, err
	}
	l := r.newValueScale(property.NewForest(score, 0), func(y float64) float64 { return r.least + float64(y*(r.greatest-r.least)) })
	l.setPredictor(f)
	l.boundProbability = func(least, most float64) (mcmc.LineProperty, error) {
		score, err := f.Score(model.Between(least, most))
		if err != nil {
			return nil, err
		}
		return property.NewForest(score, 0), nil
	}
	return l, nil
}

// learntValueScale returns the value scale of a learnt model. The value is the expected number, or the calibrated
// probability of the wanted class.
func learntValueScale(m *model.LearnedModel, w *learntModel) (*valueScale, error) {
	l, err := learntValueScaleOfAmounts(m, w)
	return l.withConditions(w.conditionEncoder), err
}

// learntValueScaleOfAmounts is like [learntValueScale], but its compositions already include the amounts that encode
// conditions; see [Setting.Codes].
func learntValueScaleOfAmounts(m *model.LearnedModel, w *learntModel) (*valueScale, error) {
	if !m.Numeric() {
		score, err := m.Score(w.wantedValues)
		if err != nil {
			return nil, err
		}
		return classChanceValueScale(w, property.NewLearned(score.Uncalibrated(), 0))
	}
	r := predictorRange(m)
	l := &valueScale{} // a limit shows the number, but the model's mean is that of logarithms
	if !m.Options().Log {
		score, err := m.Score(model.Maximize().WithScale(r.least, r.greatest))
		if err != nil {
			return nil, err
		}
		l = r.newValueScale(property.NewLearned(score.Uncalibrated(), 0), func(y float64) float64 { return r.least + float64(y*(r.greatest-r.least)) })
	}
	l.shownFactor = 1
	l.setPredictor(m)
	l.boundProbability = func(least, most float64) (mcmc.LineProperty, error) {
		score, err := m.Score(model.Between(least, most))
		if err != nil {
			return nil, err
		}
		return property.NewLearned(score, 0), nil
	}
	return l, nil
}

// setPredictor makes the prediction of the model m the value of the scale.
func (l *valueScale) setPredictor(m Predictor) {
	l.valueName, l.shownUnit = expectedNumberName, UnitOf(m)
	l.scoredValue = func(x *mcmc.Composition) float64 { return m.Predict(x.Amounts()).Value }
}

// A valueRange is a range that contains every number that a model predicts. typicalSpread is the typical
// difference between predicted numbers.
type valueRange struct{ least, greatest, typicalSpread float64 }

// predictorRange returns the range of the numbers that a model predicts. It is the range of the numbers in the
// training data, extended on each side by twice its width.
func predictorRange(m Predictor) valueRange {
	least, greatest := m.Range()
	width := greatest - least
	return valueRange{least - float64(2*width), greatest + float64(2*width), width / 20}
}

// newValueScale returns the value scale of a model. The score of scoreProperty is a transformed prediction; the
// function value converts the score back to the predicted number.
func (r valueRange) newValueScale(scoreProperty mcmc.LineProperty, value func(y float64) float64) *valueScale {
	return &valueScale{
		asProperty: func(d *property.Desirability) (mcmc.Property, error) {
			return property.NewScoreTransform(scoreProperty, func(logScore float64) float64 { return value(portable.Exp(logScore)) }, d), nil
		},
		shownFactor: 1, typicalSpread: r.typicalSpread, roundingError: float64(1e-7 * r.typicalSpread),
	}
}

// classChanceValueScale returns the value scale of the probability of a class. The score of the property
// uncalibrated is the probability that the model predicts. Shown probabilities are calibrated on held-out
// recipes.
func classChanceValueScale(w *learntModel, uncalibrated mcmc.LineProperty) (*valueScale, error) {
	c, err := w.heldOutCalibration()
	if err != nil {
		return nil, err
	}
	l := scoreValueScale(uncalibrated)
	l.valueName, l.notation, l.calibration = classChanceName, shareNotation, c
	return l, nil
}

// scoredBound converts a bound v of shown values to a bound of scored values. If isMinimum is true, it returns
// the least probability whose calibrated value is at least v. Otherwise it returns the greatest probability
// whose calibrated value is at most v. It returns −Inf or +Inf if all or no probabilities qualify. The
// calibration must be monotone.
func (l *valueScale) scoredBound(v float64, isMinimum bool) float64 {
	if l.calibration == nil || math.IsInf(v, 0) {
		return v
	}
	reached := func(p float64) bool {
		shown := l.calibration.Value(p)
		return shown > v || isMinimum && shown == v
	}
	switch {
	case reached(0):
		return math.Inf(-1)
	case !reached(1):
		return math.Inf(1)
	}
	low, high := 0.0, 1.0
	for {
		middle := float64((low + high) / 2)
		switch {
		case !(low < middle && middle < high):
			if isMinimum {
				return high
			}
			return low
		case reached(middle):
			high = middle
		default:
			low = middle
		}
	}
}

// shownText returns the shown value, as text with its unit, that belongs to the scored value v.
func (l *valueScale) shownText(v float64) string {
	if l.calibration != nil {
		v = l.calibration.Value(v)
	}
	if l.notation == shareNotation {
		return strconv.FormatFloat(float64(100*v), 'g', 4, 64) + " %"
	}
	return strings.TrimSpace(strconv.FormatFloat(float64(v*l.shownFactor), 'g', 4, 64) + " " + l.shownUnit)
}

// shownValue returns the shown value of a composition. A share is from 0 to 1 and not in percent.
func (l *valueScale) shownValue(x *mcmc.Composition) float64 {
	v := l.scoredValue(x)
	switch {
	case l.calibration != nil:
		return l.calibration.Value(v)
	case l.notation == shareNotation:
		return v
	}
	return float64(l.shownFactor * v)
}

// setRoundingError sets roundingError to a small fraction of typicalSpread. It returns a function that returns
// l, for the field newValueScale of a [Property].
func (l *valueScale) setRoundingError() func() (*valueScale, error) {
	l.roundingError = float64(1e-9 * l.typicalSpread)
	return func() (*valueScale, error) { return l, nil }
}

// readBound reads a bound of shown values from the node n and converts it to a bound of scored values. In
// errors, the parameter what names the bound and of names the property.
func (l *valueScale) readBound(n *yaml.Node, what, of string) (float64, error) {
	is := "the limit bounds " + l.valueName + " of " + inputerr.Quote(of)
	if n.Kind != yaml.Text {
		v, err := n.Float(what)
		switch {
		case err != nil:
			return 0, err
		case l.notation == percentNotation:
			return 0, yaml.Hint(n.Errorf("%s is %s, and %s, in percent", what, n.Describe(), is), "write it with a percent sign, such as %q", percentText(v))
		case l.notation == shareNotation && v > 1 && v <= 100:
			return 0, yaml.Hint(n.Errorf("%s is %s, and %s, from 0 to 1", what, n.Describe(), is), "write %q or %v", percentText(v), v/100)
		case l.notation == shareNotation && (v < 0 || v > 1):
			return 0, yaml.Hint(n.Errorf("%s is %s, and %s, from 0 to 1", what, n.Describe(), is), `write one such as 0.9 or "90%%"`)
		case l.notation == shareNotation:
			return v, nil
		}
		return v / l.shownFactor, nil
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(n.Text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	switch {
	case !percent || err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, yaml.Hint(n.Errorf("%s is %s", what, n.Describe()), "write a number")
	case l.notation == shareNotation && (v < 0 || v > 100):
		return 0, yaml.Hint(n.Errorf("%s is %s, and %s", what, n.Describe(), is), "write 0 to 100 %%")
	case l.notation != numberNotation:
		return v / 100, nil
	case l.shownUnit == "%":
		return v / l.shownFactor, nil
	case l.shownUnit != "":
		return 0, yaml.Hint(n.Errorf("%s is %s, and %s, in %s", what, n.Describe(), is, l.shownUnit), "write a number without a percent sign")
	}
	return 0, yaml.Hint(n.Errorf("%s is %s, and %s", what, n.Describe(), is), "write a number without a percent sign")
}

// percentText returns the text of a percentage: 30 becomes 30%.
func percentText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + "%" }

// minRelativeRoundingError is the least rounding error that is assumed for a scored value, divided by the
// value.
const minRelativeRoundingError = 1e-12

// widenBound moves a bound outward by the rounding error of the scored value: upward if sign is 1, downward if
// sign is −1.
func (l *valueScale) widenBound(bound, sign float64) float64 {
	if math.IsInf(bound, 0) {
		return bound
	}
	return bound + float64(sign*max(l.roundingError, float64(minRelativeRoundingError*math.Abs(bound))))
}

// readBounds reads the bounds of the limit l and converts them to bounds of scored values. A missing bound is
// ±Inf. The parameter of is the name of the property in errors.
func (v *valueScale) readBounds(l *config.PredictedLimit, of string) (least, most float64, err error) {
	least, most = math.Inf(-1), math.Inf(1)
	if l.Least != nil {
		if least, err = v.readBound(l.Least, "min", of); err != nil {
			return 0, 0, err
		}
	}
	if l.Most != nil {
		if most, err = v.readBound(l.Most, "max", of); err != nil {
			return 0, 0, err
		}
	}
	if least > most {
		return 0, 0, yaml.Hint(l.At.Errorf("the rule contradicts itself: min is %s and max %s", l.Least.Describe(), l.Most.Describe()), "swap them")
	}
	return least, most, nil
}

// newPredictedBound converts the limit l of a prediction to a bound of the target. It also returns the limit in
// the form for users. It returns nil if a campaign will learn the property.
func (p *Problem) newPredictedBound(l *config.PredictedLimit) (*mcmc.Bound, *shownLimit, error) {
	w := p.propertyNamed(l.Property)
	if w == nil {
		e := l.NameNode.Errorf("there is no property %s", inputerr.Quote(l.Property))
		var names []string
		for _, w := range p.Properties {
			names = append(names, w.Name)
		}
		if names == nil {
			return nil, nil, yaml.Hint(e, "add it under properties, with weight: 0 if it is only limited; for a column of the ingredients write attribute instead")
		}
		return nil, nil, yaml.SuggestName(e, l.Property, "there are", names, 12)
	}
	if w.Learning != nil {
		return nil, nil, nil
	}
	v, err := valueScaleOf(w)
	if err != nil {
		return nil, nil, yaml.Hint(l.NameNode.Errorf("%v", err), "limit something else, or let the property itself be 0 for what is forbidden")
	}
	least, most, err := v.readBounds(l, w.Name)
	if err != nil {
		return nil, nil, err
	}
	if l.Sure != nil {
		if v.boundProbability == nil {
			return nil, nil, yaml.Hint(l.Sure.Errorf("%s does not predict how a measurement varies", inputerr.Quote(l.Property)), "remove sure, or limit a number that is learnt from recipes")
		}
		of, err := v.boundProbability(least, most)
		if err != nil {
			return nil, nil, l.At.PlaceError(err)
		}
		p.probabilityLimits = append(p.probabilityLimits, probabilityLimit{l.Text, of})
		v = scoreValueScale(of)
		v.valueName, v.notation = "the probability of a measurement within", shareNotation
		most = math.Inf(1)
		if least, err = v.readBound(l.Sure, "sure", w.Name); err != nil {
			return nil, nil, err
		}
	}
	shown := &shownLimit{valueScale: v, subject: w.Name, least: least, most: most}
	switch {
	case l.Sure != nil:
		shown.subject = "the chance of " + w.Name + " within the limit"
	case w.Class != "":
		shown.subject = "the chance of " + w.Class
	}
	if v.asProperty == nil {
		return nil, nil, yaml.Hint(l.At.Errorf("the logarithm of %s is learnt, whose mean is not that of the number", inputerr.Quote(l.Property)), `add sure: "50%%", so that the number is as likely within the bounds as not`)
	}
	least, most = v.scoredBound(least, true), v.scoredBound(most, false)
	if math.IsInf(least, 1) || math.IsInf(most, -1) {
		return nil, nil, yaml.Hint(l.At.Errorf("no recipe keeps the %s", l.Text), "the model's chances, corrected by held-out recipes, lie between %s and %s: loosen the limit", v.shownText(0), v.shownText(1))
	}
	hard, err := property.HardBounds(v.widenBound(least, -1), v.widenBound(most, 1))
	if err != nil {
		return nil, nil, l.At.PlaceError(err)
	}
	soft, err := property.SoftBounds(least, most, v.typicalSpread)
	if err != nil {
		return nil, nil, l.At.PlaceError(err)
	}
	b := &mcmc.Bound{Name: l.Text}
	if b.Property, err = v.asProperty(hard); err != nil {
		return nil, nil, l.At.PlaceError(err)
	}
	if b.Guide, err = v.asProperty(soft); err != nil {
		return nil, nil, l.At.PlaceError(err)
	}
	return b, shown, nil
}

// A shownLimit is a limit of a prediction, in the form that users see.
type shownLimit struct {
	*valueScale
	subject     string  // what is limited, such as "cost", as the subject of a sentence
	least, most float64 // bounds of the scored value
}

// slackOf returns the shown value of the composition x, together with the bounds of the limit.
func (l *shownLimit) slackOf(x *mcmc.Composition) *constraint.Slack {
	v, scale, unit := l.shownValue(x), l.shownFactor, l.shownUnit
	if l.notation == shareNotation {
		v, scale, unit = float64(100*v), 100, "%"
	}
	return &constraint.Slack{Value: v, Min: float64(l.least * scale), Max: float64(l.most * scale), Unit: unit, Ingredient: -1}
}

// applyPredictedLimits adds the limits of predictions to the target. It returns an error if it finds no
// composition that keeps all the limits.
func (p *Problem) applyPredictedLimits(ctx context.Context, s *readContext) error {
	free := p.Target
	var limits []*config.PredictedLimit
	for _, r := range p.Rules {
		l := r.Predicted
		if l == nil {
			continue
		}
		b, v, err := p.newPredictedBound(l)
		if err != nil {
			return err
		}
		if b == nil {
			if err := p.addLearntLimit(l); err != nil {
				return err
			}
			continue
		}
		if p.Target, err = p.Target.WithBounds(*b); err != nil {
			return l.At.PlaceError(err)
		}
		limits, p.shownLimits = append(limits, l), append(p.shownLimits, v)
	}
	if len(limits) == 0 {
		return nil
	}
	s.reportProgress("looking for a recipe that keeps what is limited")
	_, _, err := mcmc.StartState(p.Target, mcmc.NewRand(p.Sampler.Seed, "recipe within limits", 0))
	if !errors.Is(err, mcmc.ErrNoStart) {
		return p.Explain(err)
	}
	for k, l := range limits {
		one, err := free.WithBounds(p.Target.Bounds()[k])
		if err != nil {
			return l.At.PlaceError(err)
		}
		if _, _, err := mcmc.StartState(one, mcmc.NewRand(p.Sampler.Seed, "recipe within limits", 1)); err == nil {
			continue
		}
		least, most, err := p.shownLimits[k].searchScoredRange(ctx, s, free)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return yaml.Hint(l.At.Errorf("no recipe was found that keeps the %s", l.Text), "loosen the limit or another constraint")
		}
		return yaml.Hint(l.At.Errorf("no recipe was found that keeps the %s", l.Text),
			"among the recipes that a search found, %s lies between %s and %s; others may exist: loosen the limit or another constraint", p.shownLimits[k].valueScale.valueName, p.shownLimits[k].shownText(least), p.shownLimits[k].shownText(most))
	}
	return yaml.Hint(limits[0].At.Errorf("no recipe was found that keeps all limits of what is predicted, and each alone can be kept"), "loosen one of them")
}

// searchScoredRange searches for the least and the greatest scored value of the compositions of the target t.
func (l *valueScale) searchScoredRange(ctx context.Context, s *readContext, t *mcmc.Target) (least, most float64, err error) {
	var ends [2]float64
	for k, sign := range []float64{-1, 1} {
		steep, err := l.asProperty(property.Exponential(sign / l.typicalSpread))
		if err != nil {
			return 0, 0, err
		}
		target, err := t.WithObjectives(mcmc.Objective{Name: "value", Property: steep, Weight: 1})
		if err != nil {
			return 0, 0, err
		}
		found, err := search.Best(ctx, target, search.Options{Evaluations: rangeSearchLines, Seed: 1, Workers: s.workerCount})
		if err != nil {
			return 0, 0, err
		}
		ends[k] = float64(sign * found.Archive.Best()[0].LogScore * l.typicalSpread)
	}
	return ends[0], ends[1], nil
}

// A LearntLimit is a limit of the prediction of a model that a campaign learns.
type LearntLimit struct {
	Property       string  // name of the property whose prediction is limited
	Least, Most    float64 // bounds of the expected number, or of the probability of the wanted class; ±Inf if there is no bound
	MinProbability float64 // least probability that a measurement is within the bounds; NaN if only the expected value must be within the bounds
}

// addLearntLimit adds an objective for a limit of a property that a campaign learns. The objective is to keep
// the limit.
func (p *Problem) addLearntLimit(l *config.PredictedLimit) error {
	w := p.propertyNamed(l.Property)
	of := *w.Learning
	v := &valueScale{shownFactor: 1, valueName: classChanceName, notation: shareNotation}
	if of.Numeric {
		v = &valueScale{shownFactor: 1, valueName: expectedNumberName}
		_, v.shownUnit = dataset.SplitHeaderUnit(of.Label)
	}
	least, most, err := v.readBounds(l, w.Name)
	if err != nil {
		return err
	}
	limit := &LearntLimit{Property: w.Name, Least: least, Most: most, MinProbability: math.NaN()}
	if l.Sure != nil {
		if !of.Numeric {
			return yaml.Hint(l.Sure.Errorf("%s does not predict how a measurement varies", inputerr.Quote(l.Property)), "remove sure, or limit a number that is learnt from recipes")
		}
		if limit.MinProbability, err = (&valueScale{shownFactor: 1, valueName: "the probability of a measurement within", notation: shareNotation}).readBound(l.Sure, "sure", w.Name); err != nil {
			return err
		}
	}
	if of.Numeric {
		of.Want = model.Between(limit.Least, limit.Most)
	}
	of.Limit = limit
	p.Properties = append(slices.Clip(p.Properties), Property{Name: l.Text, Kind: w.Kind, Weight: 1, About: l.Text, Learning: &of, node: l.At, resolvedValue: yaml.Map{}})
	return nil
}
