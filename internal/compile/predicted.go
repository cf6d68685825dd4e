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

// HasPredictedLimits reports whether the problem limits what a property predicts.
func (p *Problem) HasPredictedLimits() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Predicted != nil })
}

// LimitsOf returns the limits of what a property predicts, in words.
func (p *Problem) LimitsOf(property string) (limits []string) {
	for _, r := range p.Rules {
		if r.Predicted != nil && r.Predicted.Property == property {
			limits = append(limits, r.Predicted.Text)
		}
	}
	return limits
}

// A sureLimit is a limit of the probability that a measurement is within bounds.
type sureLimit struct {
	text        string
	probability mcmc.Property // the probability, as a score
}

// A LimitProbability is the probability that a measurement of a composition keeps a limit.
type LimitProbability struct {
	Limit       string
	Probability float64
}

// SureLimitProbabilities returns, for each limit with the key sure, the probability for a composition.
func (p *Problem) SureLimitProbabilities(x *mcmc.Composition) (all []LimitProbability) {
	for _, l := range p.sureLimits {
		all = append(all, LimitProbability{l.text, portable.Exp(l.probability.LogScore(x))})
	}
	return all
}

// A valueScale describes the value of a property that limits and trade-offs use. The judged value is the
// one that desirabilities score; the shown value has the unit of the file and of reports.
type valueScale struct {
	// asProperty returns a property that scores the judged value by d.
	asProperty func(d *property.Desirability) (mcmc.Property, error)
	scale      float64 // shown value divided by judged value
	width      float64 // typical difference between judged values of compositions
	slack      float64 // rounding error of a judged value

	valueName string   // short name of the value
	unit      string   // unit of shown values; empty for shares
	notation  notation // how bounds are written

	value func(x *mcmc.Composition) float64 // the judged value

	// calibration converts the probability that d judges to the shown one; nil: they are equal.
	calibration *model.Calibration

	// boundProbability returns, as a score, the probability that a measurement is within bounds; nil if no
	// model gives it.
	boundProbability func(least, most float64) (mcmc.LineProperty, error)
}

// A notation is how a bound of a value is written.
type notation int

const (
	asNumber  notation = iota
	asShare            // from 0 to 1, or in percent: 0.4 or "40%"
	asPercent          // only in percent, because values are shown in percent while tables have shares
)

// Names of values, as in docs/rules.md.
const (
	expectedWords   = "the expected number"
	chanceWords     = "the chance of the class"
	modelWords      = "the model's number"
	blendWords      = "the mean"
	shareWords      = "the share"
	formulaWords    = "the formula's value"
	returnWords     = "the year's return"
	volatilityWords = "the year's volatility"
	ratioWords      = "the return divided by the volatility"
	scoreWords      = "the score"
)

// valueScaleOf returns the value scale of a property.
func valueScaleOf(w *Property) (*valueScale, error) {
	if w.valueScale != nil {
		return w.valueScale()
	}
	of, ok := w.property.(mcmc.LineProperty)
	if _, waits := w.property.(mcmc.BatchProperty); !ok || waits {
		return nil, fmt.Errorf("what a %s answers cannot be limited", w.Kind)
	}
	return scoreScale(of), nil
}

// scoreScale returns the value scale of the score itself.
func scoreScale(of mcmc.LineProperty) *valueScale {
	return &valueScale{
		asProperty: func(d *property.Desirability) (mcmc.Property, error) {
			return property.NewScoreTransform(of, portable.Exp, d), nil
		},
		scale: 1, width: 0.05, valueName: scoreWords,
		value: func(x *mcmc.Composition) float64 { return portable.Exp(of.LogScore(x)) },
	}
}

// forestScale returns the value scale of a forest: the expected number, or the calibrated chance of the
// wanted class.
func forestScale(f *model.Forest, w *learntModel) (*valueScale, error) {
	l, err := amountForestScale(f, w)
	return l.joinConditions(w.conditions), err
}

// amountForestScale is forestScale of the amounts of all ingredients, with those of conditions.
func amountForestScale(f *model.Forest, w *learntModel) (*valueScale, error) {
	if !f.Numeric() {
		score, err := f.Score(w.want)
		if err != nil {
			return nil, err
		}
		return chanceScale(w, property.NewForest(score, 0))
	}
	r := predictorRange(f)
	score, err := f.Score(model.Maximize().WithScale(r.least, r.greatest))
	if err != nil {
		return nil, err
	}
	l := r.scaleOf(property.NewForest(score, 0), func(y float64) float64 { return r.least + float64(y*(r.greatest-r.least)) })
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

// learntScale returns the value scale of a learnt model, as forestScale does for a forest.
func learntScale(m *model.Learned, w *learntModel) (*valueScale, error) {
	l, err := amountLearntScale(m, w)
	return l.joinConditions(w.conditions), err
}

// amountLearntScale is learntScale of the amounts of all ingredients, with those of conditions.
func amountLearntScale(m *model.Learned, w *learntModel) (*valueScale, error) {
	if !m.Numeric() {
		score, err := m.Score(w.want)
		if err != nil {
			return nil, err
		}
		return chanceScale(w, property.NewLearned(score.Bare(), 0))
	}
	r := predictorRange(m)
	l := &valueScale{} // a limit shows the number, but the model's mean is that of logarithms
	if !m.Options().Log {
		score, err := m.Score(model.Maximize().WithScale(r.least, r.greatest))
		if err != nil {
			return nil, err
		}
		l = r.scaleOf(property.NewLearned(score.Bare(), 0), func(y float64) float64 { return r.least + float64(y*(r.greatest-r.least)) })
	}
	l.scale = 1
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

// setPredictor sets the value to what a model predicts.
func (l *valueScale) setPredictor(m Predictor) {
	l.valueName, l.unit = expectedWords, UnitOf(m)
	l.value = func(x *mcmc.Composition) float64 { return m.Predict(x.Amounts()).Value }
}

// A valueRange is a range that a model's expected number cannot leave.
type valueRange struct{ least, greatest, width float64 }

func predictorRange(m Predictor) valueRange {
	least, greatest := m.Range()
	width := greatest - least
	return valueRange{least - float64(2*width), greatest + float64(2*width), width / 20}
}

// scaleOf returns the value scale of a score. value converts the score to the value in the range.
func (r valueRange) scaleOf(of mcmc.LineProperty, value func(y float64) float64) *valueScale {
	return &valueScale{
		asProperty: func(d *property.Desirability) (mcmc.Property, error) {
			return property.NewScoreTransform(of, func(logScore float64) float64 { return value(portable.Exp(logScore)) }, d), nil
		},
		scale: 1, width: r.width, slack: float64(1e-7 * r.width),
	}
}

// chanceScale returns the value scale of a stated probability. It shows the chance after calibration on
// held-out recipes.
func chanceScale(w *learntModel, stated mcmc.LineProperty) (*valueScale, error) {
	c, err := w.heldOutCalibration()
	if err != nil {
		return nil, err
	}
	l := scoreScale(stated)
	l.valueName, l.notation, l.calibration = chanceWords, asShare, c
	return l, nil
}

// toJudged converts a shown bound to a judged one. With least it returns the least probability whose
// calibrated value reaches v, otherwise the greatest whose calibrated value does not exceed v. It returns
// ±Inf if all or no probabilities do. Calibration is monotone.
func (l *valueScale) toJudged(v float64, least bool) float64 {
	if l.calibration == nil || math.IsInf(v, 0) {
		return v
	}
	reached := func(p float64) bool {
		shown := l.calibration.Value(p)
		return shown > v || least && shown == v
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
			if least {
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

// judgedText returns the shown form of a judged value, with its unit.
func (l *valueScale) judgedText(v float64) string {
	if l.calibration != nil {
		v = l.calibration.Value(v)
	}
	if l.notation == asShare {
		return strconv.FormatFloat(float64(100*v), 'g', 4, 64) + " %"
	}
	return strings.TrimSpace(strconv.FormatFloat(float64(v*l.scale), 'g', 4, 64) + " " + l.unit)
}

// shownValue returns the shown value of a composition, except that shares are from 0 to 1.
func (l *valueScale) shownValue(x *mcmc.Composition) float64 {
	v := l.value(x)
	switch {
	case l.calibration != nil:
		return l.calibration.Value(v)
	case l.notation == asShare:
		return v
	}
	return float64(l.scale * v)
}

// withSlack sets the rounding error of a computed value, and returns the scale as [Property] has it.
func (l *valueScale) withSlack() func() (*valueScale, error) {
	l.slack = float64(1e-9 * l.width)
	return func() (*valueScale, error) { return l, nil }
}

// readBound reads a bound of the value of a property named of, and converts it to a judged value.
func (l *valueScale) readBound(n *yaml.Node, what, of string) (float64, error) {
	is := "the limit bounds " + l.valueName + " of " + inputerr.Quote(of)
	if n.Kind != yaml.Text {
		v, err := n.Float(what)
		switch {
		case err != nil:
			return 0, err
		case l.notation == asPercent:
			return 0, yaml.Hint(n.Errorf("%s is %s, and %s, in percent", what, n.Describe(), is), "write it with a percent sign, such as %q", percentText(v))
		case l.notation == asShare && v > 1 && v <= 100:
			return 0, yaml.Hint(n.Errorf("%s is %s, and %s, from 0 to 1", what, n.Describe(), is), "write %q or %v", percentText(v), v/100)
		case l.notation == asShare && (v < 0 || v > 1):
			return 0, yaml.Hint(n.Errorf("%s is %s, and %s, from 0 to 1", what, n.Describe(), is), `write one such as 0.9 or "90%%"`)
		case l.notation == asShare:
			return v, nil
		}
		return v / l.scale, nil
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(n.Text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	switch {
	case !percent || err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, yaml.Hint(n.Errorf("%s is %s", what, n.Describe()), "write a number")
	case l.notation == asShare && (v < 0 || v > 100):
		return 0, yaml.Hint(n.Errorf("%s is %s, and %s", what, n.Describe(), is), "write 0 to 100 %%")
	case l.notation != asNumber:
		return v / 100, nil
	case l.unit == "%":
		return v / l.scale, nil
	case l.unit != "":
		return 0, yaml.Hint(n.Errorf("%s is %s, and %s, in %s", what, n.Describe(), is, l.unit), "write a number without a percent sign")
	}
	return 0, yaml.Hint(n.Errorf("%s is %s, and %s", what, n.Describe(), is), "write a number without a percent sign")
}

// percentText writes a number of percent.
func percentText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + "%" }

// minRelativeSlack is the least relative rounding error of a value.
const minRelativeSlack = 1e-12

// widen widens a bound by the rounding error of a value.
func (l *valueScale) widen(bound, sign float64) float64 {
	if math.IsInf(bound, 0) {
		return bound
	}
	return bound + float64(sign*max(l.slack, float64(minRelativeSlack*math.Abs(bound))))
}

// readBounds reads the bounds of a property's value as judged values.
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

// makeBound returns the bound of the target for a limit.
func (p *Problem) makeBound(l *config.PredictedLimit) (*mcmc.Bound, *shownLimit, error) {
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
		p.sureLimits = append(p.sureLimits, sureLimit{l.Text, of})
		v = scoreScale(of)
		v.valueName, v.notation = "the probability of a measurement within", asShare
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
	least, most = v.toJudged(least, true), v.toJudged(most, false)
	if math.IsInf(least, 1) || math.IsInf(most, -1) {
		return nil, nil, yaml.Hint(l.At.Errorf("no recipe keeps the %s", l.Text), "the model's chances, corrected by held-out recipes, lie between %s and %s: loosen the limit", v.judgedText(0), v.judgedText(1))
	}
	hard, err := property.HardBounds(v.widen(least, -1), v.widen(most, 1))
	if err != nil {
		return nil, nil, l.At.PlaceError(err)
	}
	soft, err := property.SoftBounds(least, most, v.width)
	if err != nil {
		return nil, nil, l.At.PlaceError(err)
	}
	b := &mcmc.Bound{Name: l.Text}
	if b.Property, err = v.asProperty(hard); err != nil {
		return nil, nil, l.At.PlaceError(err)
	}
	if b.Toward, err = v.asProperty(soft); err != nil {
		return nil, nil, l.At.PlaceError(err)
	}
	return b, shown, nil
}

// A shownLimit is a bound of the target in the form shown to the user.
type shownLimit struct {
	*valueScale
	subject     string  // what is bounded, as the subject of "is"
	least, most float64 // judged values
}

// slackOf returns the shown value of a composition with its bounds.
func (l *shownLimit) slackOf(x *mcmc.Composition) *constraint.Slack {
	v, scale, unit := l.shownValue(x), l.scale, l.unit
	if l.notation == asShare {
		v, scale, unit = float64(100*v), 100, "%"
	}
	return &constraint.Slack{Value: v, Min: float64(l.least * scale), Max: float64(l.most * scale), Unit: unit, Ingredient: -1}
}

// applyPredictedLimits adds the limits of predictions to the target, and checks that some composition keeps
// all of them.
func (p *Problem) applyPredictedLimits(ctx context.Context, s *readContext) error {
	free := p.Target
	var limits []*config.PredictedLimit
	for _, r := range p.Rules {
		l := r.Predicted
		if l == nil {
			continue
		}
		b, v, err := p.makeBound(l)
		if err != nil {
			return err
		}
		if b == nil {
			if err := p.learnLimit(l); err != nil {
				return err
			}
			continue
		}
		if p.Target, err = p.Target.WithBounds(*b); err != nil {
			return l.At.PlaceError(err)
		}
		limits, p.limits = append(limits, l), append(p.limits, v)
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
		least, most, err := p.limits[k].searchRange(ctx, s, free)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return yaml.Hint(l.At.Errorf("no recipe was found that keeps the %s", l.Text), "loosen the limit or another constraint")
		}
		return yaml.Hint(l.At.Errorf("no recipe was found that keeps the %s", l.Text),
			"among the recipes that a search found, %s lies between %s and %s; others may exist: loosen the limit or another constraint", p.limits[k].valueScale.valueName, p.limits[k].judgedText(least), p.limits[k].judgedText(most))
	}
	return yaml.Hint(limits[0].At.Errorf("no recipe was found that keeps all limits of what is predicted, and each alone can be kept"), "loosen one of them")
}

// searchRange searches for the least and the greatest judged value.
func (l *valueScale) searchRange(ctx context.Context, s *readContext, t *mcmc.Target) (least, most float64, err error) {
	var ends [2]float64
	for k, sign := range []float64{-1, 1} {
		steep, err := l.asProperty(property.Exponential(sign / l.width))
		if err != nil {
			return 0, 0, err
		}
		target, err := t.WithObjectives(mcmc.Objective{Name: "value", Property: steep, Weight: 1})
		if err != nil {
			return 0, 0, err
		}
		found, err := search.Best(ctx, target, search.Options{Evaluations: spanLines, Seed: 1, Workers: s.workers})
		if err != nil {
			return 0, 0, err
		}
		ends[k] = float64(sign * found.Archive.Best()[0].LogScore * l.width)
	}
	return ends[0], ends[1], nil
}

// A LearntLimit is a limit of what a campaign's model predicts of a property.
type LearntLimit struct {
	Property    string  // name of the property
	Least, Most float64 // bounds of the expected number, or of the chance of the wanted class; ±Inf if none
	Sure        float64 // probability with which a measurement must be within the bounds; NaN: the expectation must be
}

// learnLimit adds an objective for a limit of a property that a campaign learns: that a trial keeps the
// limit.
func (p *Problem) learnLimit(l *config.PredictedLimit) error {
	w := p.propertyNamed(l.Property)
	of := *w.Learning
	v := &valueScale{scale: 1, valueName: chanceWords, notation: asShare}
	if of.Numeric {
		v = &valueScale{scale: 1, valueName: expectedWords}
		_, v.unit = dataset.SplitHeaderUnit(of.Label)
	}
	least, most, err := v.readBounds(l, w.Name)
	if err != nil {
		return err
	}
	limit := &LearntLimit{Property: w.Name, Least: least, Most: most, Sure: math.NaN()}
	if l.Sure != nil {
		if !of.Numeric {
			return yaml.Hint(l.Sure.Errorf("%s does not predict how a measurement varies", inputerr.Quote(l.Property)), "remove sure, or limit a number that is learnt from recipes")
		}
		if limit.Sure, err = (&valueScale{scale: 1, valueName: "the probability of a measurement within", notation: asShare}).readBound(l.Sure, "sure", w.Name); err != nil {
			return err
		}
	}
	if of.Numeric {
		of.Want = model.Between(limit.Least, limit.Most)
	}
	of.Limit = limit
	p.Properties = append(slices.Clip(p.Properties), Property{Name: l.Text, Kind: w.Kind, Weight: 1, About: l.Text, Learning: &of, at: l.At, resolved: yaml.Map{}})
	return nil
}
