package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/search"
	"kir/internal/terminal"
)

const (
	// outsideDraws is the number of random compositions that show whether doses exceed those of the
	// known recipes.
	outsideDraws = 200
	// trialIterations is the number of chain iterations for which a trial search has the budget: it
	// scores a quarter as many lines, see [search.Budget].
	trialIterations = 20_000
)

// A trial is the result of a short search.
type trial struct {
	Setting string  `json:"setting"`
	Mean    float64 `json:"mean"`    // of the shortlist's scores
	Random  float64 `json:"random"`  // of random compositions under the same rules
	Checked float64 `json:"checked"` // of a shortlist, by models of the other half of the recipes; 0 if there are none
	Far     int     `json:"far"`     // entries that the models have seen nothing like
}

// A drawTrial is the result of a short run of chains with other weights.
type drawTrial struct {
	Setting string        `json:"setting"`
	Mean    float64       `json:"mean"` // score of the draws, of the objectives as they are
	Best    float64       `json:"best"`
	RHat    report.Number `json:"rhat"`
}

// An offer is a suggested change of the problem, with the trials behind it.
type offer struct {
	Text   string      `json:"text"`
	Trials []trial     `json:"trials,omitempty"`
	Draws  []drawTrial `json:"draws,omitempty"`
}

// tryOffer returns the offer that results from a trial, if any. A failed trial gives no offer and
// no error, except for the end of the context.
func tryOffer(ctx context.Context, trial func() (*offer, error)) (*offer, error) {
	o, err := trial()
	if err != nil {
		return nil, ctx.Err()
	}
	return o, nil
}

// offersOf returns suggested changes of a problem, after trying them where possible. An error comes
// from the unchanged problem or the context.
func offersOf(ctx context.Context, p *compile.Problem) (offers []offer, err error) {
	for _, text := range p.Hints() {
		offers = append(offers, offer{Text: text})
	}
	if p.RunsPrograms() || len(p.Properties) == 0 {
		return offers, nil // programs are started by a run only
	}
	as, err := trySearch(ctx, p, "as it is", 1)
	if err != nil || as == nil {
		return offers, err
	}
	for _, trial := range []func() (*offer, error){
		func() (*offer, error) { return offerWeights(ctx, p) },
		func() (*offer, error) { return offerEffort(ctx, p, as) },
		func() (*offer, error) { return offerBookAmounts(ctx, p, as) },
	} {
		o, err := tryOffer(ctx, trial)
		if err != nil {
			return offers, err
		}
		if o != nil {
			offers = append(offers, *o)
		}
	}
	return offers, nil
}

// offerEffort tries a longer search.
func offerEffort(ctx context.Context, p *compile.Problem, as *trial) (*offer, error) {
	more, err := trySearch(ctx, p, "effort 4", 4)
	if err != nil || more == nil || more.Mean <= 1.02*as.Mean {
		return nil, err
	}
	return &offer{"More search finds better ones: --effort 4, or search: {effort: 4}.", []trial{*as, *more}, nil}, nil
}

// offerBookAmounts tries doses within those of the known recipes, if many random compositions
// exceed them.
func offerBookAmounts(ctx context.Context, p *compile.Problem, as *trial) (*offer, error) {
	if p.Book == nil || p.IsWithinBook() {
		return nil, nil
	}
	outside, err := p.OutsideShare(ctx, outsideDraws)
	if err != nil || outside == 0 {
		return nil, err
	}
	within, err := tryBookAmounts(ctx, p)
	if err != nil || within == nil {
		return nil, err
	}
	text := fmt.Sprintf("%.0f %% of random compositions have doses that no recipe has, and the models know nothing of those. ", 100*outside)
	if within.Far < as.Far || within.Checked >= as.Checked {
		text += `Keep them within the book: add amount: {of: "*", within: book} to the constraints.`
	} else {
		text += "Kept within the book by a rule the shortlist was no better in a trial."
	}
	return &offer{text, []trial{*as, *within}, nil}, nil
}

// maxSingleWeights is the most objectives whose weights are raised one at a time.
const maxSingleWeights = 4

// offerWeights tries greater weights, for all objectives and for one at a time. It offers those
// with the best scores of draws among those whose chains agree, if the scores are a tenth better
// than with the present weights.
func offerWeights(ctx context.Context, p *compile.Problem) (*offer, error) {
	var names []string // of the objectives that count
	for _, w := range p.Properties {
		if w.Weight > 0 {
			names = append(names, w.Name)
		}
	}
	type candidate struct {
		setting string
		factor  float64
		of      []string
	}
	all := []candidate{{"as it is", 1, names}, {"3 times", 3, names}, {"10 times", 10, names}, {"30 times", 30, names}}
	if 1 < len(names) && len(names) <= maxSingleWeights {
		for _, name := range names {
			all = append(all, candidate{"10 times " + name, 10, []string{name}})
		}
	}
	o := &offer{}
	best, least := 0, 0.0
	var lines string
	for k, c := range all {
		weights := make([]float64, len(p.Properties))
		var of []string
		for q, w := range p.Properties {
			weights[q] = w.Weight
			if slices.Contains(c.of, w.Name) {
				weights[q] = float64(weights[q] * c.factor)
				of = append(of, fmt.Sprintf("%s {…, weight: %g}", w.Name, weights[q]))
			}
		}
		t, err := run.TryWeights(ctx, p.Target, weights)
		if err != nil {
			return nil, err
		}
		o.Draws = append(o.Draws, drawTrial{c.setting, t.Mean, t.Best, report.Number(t.RHat)})
		if k == 0 {
			least = float64(1.1 * t.Mean)
		} else if t.Mean > max(least, o.Draws[best].Mean) && t.Agrees() {
			best, lines = k, strings.Join(of, ", ")
		}
	}
	if best == 0 {
		return nil, nil
	}
	means := number.Scores(o.Draws[best].Mean, o.Draws[0].Mean)
	o.Text = fmt.Sprintf("For draws that score %s on average instead of %s, and differ less, write %s. The search does not depend on weights.", means[0], means[1], lines)
	return o, nil
}

// tryBookAmounts tries the problem with the doses of the known recipes.
func tryBookAmounts(ctx context.Context, p *compile.Problem) (_ *trial, err error) {
	bounded, err := compile.Load(ctx, p.File, compile.Options{WithinBook: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bounded.Close()) }()
	return trySearch(ctx, bounded, "within the book", 1)
}

// trySearch makes a short search. It returns nil if no property counts.
func trySearch(ctx context.Context, p *compile.Problem, setting string, effort float64) (*trial, error) {
	q, err := p.SearchQuestion()
	if err != nil {
		return nil, err
	}
	q.Effort = effort
	a, err := q.Answer(ctx, search.RunContext{Iterations: trialIterations, Seed: p.Sampler.Seed})
	if err != nil || a == nil {
		return nil, err
	}
	t := &trial{Setting: setting, Far: len(a.Comparison.Extrapolates), Random: float64(a.Comparison.Random.Mean)}
	if len(a.Entries) > 0 {
		t.Mean = float64(a.Comparison.Shortlist.Mean)
	}
	if a.OptimismCheck != nil {
		t.Checked = float64(a.OptimismCheck.Checked)
	}
	return t, nil
}

// writeOffers prints offers for a person.
func writeOffers(w io.Writer, offers []offer) error {
	if len(offers) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\nWorth a thought\n")
	for _, o := range offers {
		b.WriteString("  " + terminal.Plain(o.Text) + "\n")
		for _, t := range o.Trials {
			scores := number.Scores(t.Mean, t.Random)
			fmt.Fprintf(&b, "    %-16s shortlist %s, random %s", terminal.Plain(t.Setting)+":", scores[0], scores[1])
			if t.Checked > 0 {
				fmt.Fprintf(&b, "; by models of the other half of the recipes %s", number.Score(t.Checked, 1))
			}
			if t.Far > 0 {
				fmt.Fprintf(&b, "; %d far from all recipes", t.Far)
			}
			b.WriteString("\n")
		}
		var means, bests []float64
		for _, t := range o.Draws {
			means, bests = append(means, t.Mean), append(bests, t.Best)
		}
		meansText, bestsText := number.Scores(means...), number.Scores(bests...)
		for k, t := range o.Draws {
			fmt.Fprintf(&b, "    %-16s draws %s on average, the best %s; R-hat %s\n", terminal.Plain(t.Setting)+":", meansText[k], bestsText[k], number.Fixed(t.RHat, 2))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
