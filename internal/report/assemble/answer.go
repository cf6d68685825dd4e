package assemble

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/compile"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/search"
	"kir/mcmc"
)

// Answer returns the answer of a run and the entries of its shortlist, or nil and no entries if
// there was no search.
func Answer(ctx context.Context, p *compile.Problem, a *search.Answer) (*report.Answer, []report.Best, error) {
	if a == nil {
		return nil, nil, nil
	}
	models, err := newPredictors(p)
	if err != nil {
		return nil, nil, err
	}
	list, err := newEntries(p, a, models)
	if err != nil {
		return nil, nil, err
	}
	out := &report.Answer{Comparison: *a.Comparison, OptimismCheck: a.OptimismCheck, Effort: a.Effort, Evaluations: a.Evaluations, Compositions: a.Compositions}
	out.Bound = newBound(a.Bound)
	if out.Objectives, err = summarizeObjectives(ctx, p, list, models); err != nil {
		return nil, nil, err
	}
	setExpectedValues(p, out, list)
	gradeAnswer(p, out)
	out.Warnings = append(extrapolationWarnings(a.Comparison.ExtrapolatingEntries, len(list)), a.Notes...)
	return out, list, nil
}

// setExpectedValues sets the expected value of each objective with a trained model and of each prediction
// in the list. The expected value is closer to that of random compositions than the prediction is:
// a search chooses compositions that are partly best by luck.
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

// unaskedAnswer returns the answer to a problem without objectives.
func unaskedAnswer() *report.Answer {
	unknown := report.UnknownNumber()
	none := search.NoScores()
	return &report.Answer{
		Headline: "There are no objectives, so no recipe is better than another.", Grade: report.NoObjectives,
		Verdict: []string{}, Warnings: []string{}, Objectives: []report.ObjectiveSummary{},
		Comparison: search.Comparison{Shortlist: none, Random: none, Known: none, RandomShareBelow: unknown, KnownShareBelow: unknown, MedianDistance: unknown, KnownMedianDistance: unknown, Reach: unknown},
	}
}

// randomCompositionCount is the number of random compositions from which an objective's mean for
// random compositions is estimated. The standard error of the estimate is 1/22 of the standard
// deviation over the compositions.
const randomCompositionCount = 500

// summarizeObjectives summarises each objective with a positive weight for the shortlist, for
// random compositions and for the known recipes.
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
	for range randomCompositionCount {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		x, err := prior.Draw(r)
		if err != nil {
			return nil, fmt.Errorf("drawing random compositions: %w", err)
		}
		for k := range out {
			out[k].Random += report.Number(of[k](x) / randomCompositionCount)
		}
	}
	return out, nil
}

// labelMean returns the mean of the label of a property's model over the known recipes that have
// the label. For a class it returns the share of these recipes that are in the wanted class.
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
