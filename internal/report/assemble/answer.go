package assemble

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/search"
	"kir/mcmc"
)

// Answer returns the answer of a run's search for a report, and the entries of the shortlist. If
// there was no search, it returns nil and no entries.
func Answer(ctx context.Context, p *compile.Problem, a *search.Answer) (*report.Answer, []report.Best, error) {
	if a == nil {
		return nil, nil, nil
	}
	models, err := newPredictors(p)
	if err != nil {
		return nil, nil, err
	}
	list, err := newShortlistEntries(p, a, models)
	if err != nil {
		return nil, nil, err
	}
	out := &report.Answer{Comparison: *a.Comparison, OptimismCheck: a.OptimismCheck, Effort: a.Effort, Evaluations: a.Evaluations, Compositions: a.Compositions}
	out.Bound = newBound(a.Bound)
	if out.Objectives, err = summarizeObjectives(ctx, p, list, models); err != nil {
		return nil, nil, err
	}
	if len(out.Objectives) == 1 && out.Objectives[0].Unit == "score" && !p.HasPredictedLimits() {
		out.Objectives[0].Random = a.Comparison.Random.Mean // the score is that of the objective, so one sample serves both
	}
	setExpectedValues(p, out, list)
	gradeAnswer(p, out, list)
	out.Warnings = append(extrapolationWarnings(a.Comparison.ExtrapolatingEntries, len(list)), a.Notes...)
	return out, list, nil
}

// setExpectedValues sets the expected values in an answer and in the entries of its list. An
// expected value is a prediction, corrected because the search selects compositions whose
// predictions are too high by chance. It lies between the mean of random compositions and the
// prediction.
func setExpectedValues(p *compile.Problem, a *report.Answer, list []report.Best) {
	if a.OptimismCheck == nil || a.OptimismCheck.ExpectedRemainingGain == nil {
		return
	}
	for k := range a.Objectives {
		w := &a.Objectives[k]
		of := slices.IndexFunc(p.Properties, func(q compile.Property) bool { return q.Name == w.Name })
		if !p.Properties[of].IsChecked() {
			continue
		}
		left := func(v report.Number) report.Number {
			return w.Random + report.Number(*a.OptimismCheck.ExpectedRemainingGain*(v-w.Random))
		}
		expected := left(w.Shortlist)
		w.Expected = &expected
		for _, b := range list {
			q, ok := b.Predicted[w.Name]
			if !ok {
				continue
			}
			expected := left(q.Value)
			q.Expected, q.Low, q.High = &expected, q.Low+expected-q.Value, q.High+expected-q.Value
			q.Limited = len(p.LimitsOf(w.Name)) > 0
			b.Predicted[w.Name] = q
		}
	}
}

// answerWithoutObjectives returns the answer to a problem without objectives: no recipe is better
// than another.
func answerWithoutObjectives() *report.Answer {
	unknown := report.UnknownNumber()
	none := search.NoScores()
	return &report.Answer{
		Headline: "There are no objectives, so no recipe is better than another.", Grade: report.NoObjectives,
		Verdict: []string{}, Warnings: []string{}, Objectives: []report.ObjectiveSummary{},
		Comparison: search.Comparison{Shortlist: none, Random: none, Known: none, RandomShareBelow: unknown, KnownShareBelow: unknown, MedianDistance: unknown, KnownMedianDistance: unknown, Reach: unknown},
	}
}

// randomCompositionCount is the number of random compositions from which the mean of each objective
// for random compositions is estimated. The standard error of the mean is 1/22 of the standard
// deviation between compositions.
const randomCompositionCount = 500

// summarizeObjectives computes, for each objective with a positive weight, the means over the
// shortlist, over random compositions and over the known recipes.
func summarizeObjectives(ctx context.Context, p *compile.Problem, list []report.Best, models []predictor) ([]report.ObjectiveSummary, error) {
	out := []report.ObjectiveSummary{}
	var of []func(x *mcmc.Composition) float64
	for k, w := range p.Properties {
		if w.Weight == 0 {
			continue
		}
		promise := report.ObjectiveSummary{Name: w.Name, Unit: "score", Known: report.UnknownNumber()}
		if w.Model != nil {
			quality := w.Model.Quality()
			promise.Strength = quality.Strength().String()
		}
		scored, in := func(x *mcmc.Composition) float64 { return portable.Exp(p.Target.Objectives()[k].Property.LogScore(x)) },
			func(b report.Best) report.Number { return b.Scores[w.Name] }
		if at := slices.IndexFunc(models, func(m predictor) bool { return m.Name == w.Name }); at >= 0 {
			promise.Unit = "value"
			if w.Class != "" {
				promise.Unit = "probability"
			}
			scored = models[at].predictValue
			in = func(b report.Best) report.Number { return b.Predicted[w.Name].Value }
			if w.Model != nil {
				promise.Known = labelMean(p, w)
			}
		}
		of = append(of, scored)
		for _, b := range list {
			promise.Shortlist += in(b) / report.Number(len(list))
		}
		if len(list) == 0 {
			promise.Shortlist = report.UnknownNumber()
		}
		out = append(out, promise)
	}
	prior, r := mcmc.NewPrior(p.Target), mcmc.NewRand(p.Sampler.Seed, "wishes of random compositions", 0)
	for x, err := range prior.DrawsToScore(ctx, r, randomCompositionCount) {
		if err != nil {
			return nil, fmt.Errorf("drawing random compositions: %w", err)
		}
		for k := range out {
			out[k].Random += report.Number(of[k](x) / randomCompositionCount)
		}
	}
	return out, nil
}

// labelMean returns the mean of a label over the known recipes that have the label. The label is
// the one that the property's model predicts. If the model predicts a class, labelMean returns the
// share of these recipes that are in the wanted class.
func labelMean(p *compile.Problem, w compile.Property) report.Number {
	if p.Book == nil {
		return report.UnknownNumber()
	}
	label, ok := p.Book.Label(w.Model.Label())
	if !ok {
		return report.UnknownNumber()
	}
	values := make([]float64, len(label.ClassOf))
	if w.Class != "" {
		for r := range values {
			values[r] = w.ClassMembership(label, r)
		}
	} else {
		var err error
		if values, err = label.Numbers(); err != nil {
			return report.UnknownNumber() // the model is from a file, and this is another label of that name
		}
	}
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return report.Number(sum / float64(n))
}
