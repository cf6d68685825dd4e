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
	// outsideSampleSize is the number of random compositions that are drawn to see how often amounts exceed
	// those of the known recipes.
	outsideSampleSize = 200
	// trialIterations determines how long a trial search is: as long as the search after a run of this number
	// of iterations; see [search.LineBudget].
	trialIterations = 20_000
)

// A searchTrial is the result of a short search, made to find out whether a change of the problem helps.
type searchTrial struct {
	Setting string  `json:"setting"` // the change that was tried
	Mean    float64 `json:"mean"`    // mean score of the shortlist
	Random  float64 `json:"random"`  // mean score of random compositions under the same rules
	Checked float64 `json:"checked"` // mean score of a shortlist by models that were trained on the other half of the recipes; 0 without such models
	Far     int     `json:"far"`     // number of entries of the shortlist that are unlike all recipes on which the models were trained
}

// A drawTrial is the result of a short run of chains, made to find out whether other weights of the objectives
// help.
type drawTrial struct {
	Setting   string  `json:"setting"` // the weights that were tried
	MeanScore float64 `json:"mean"`    // mean score of the draws, computed with the present weights of the objectives
	// best score of the draws, computed with the present weights of the objectives
	BestScore float64       `json:"best"`
	RHat      report.Number `json:"rhat"`
}

// An offer is a suggestion to the user to change the problem, with the results of the trials that support it.
type offer struct {
	Text   string        `json:"text"`
	Trials []searchTrial `json:"trials,omitempty"` // results of trial searches
	Draws  []drawTrial   `json:"draws,omitempty"`  // results of trial runs of chains
}

// runOfferTrial calls the function trial and returns the offer that it makes, if any. It hides an error of
// trial, unless the context has ended.
func runOfferTrial(ctx context.Context, trial func() (*offer, error)) (*offer, error) {
	o, err := trial()
	if err != nil {
		return nil, ctx.Err()
	}
	return o, nil
}

// findOffers returns suggestions to change a problem. It tries each change in a short run where possible. It
// returns an error only if the unchanged problem fails or the context ends.
func findOffers(ctx context.Context, p *compile.Problem) (offers []offer, err error) {
	for _, text := range p.Hints(ctx) {
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
		func() (*offer, error) { return offerKnownAmounts(ctx, p, as) },
	} {
		o, err := runOfferTrial(ctx, trial)
		if err != nil {
			return offers, err
		}
		if o != nil {
			offers = append(offers, *o)
		}
	}
	return offers, nil
}

// offerEffort makes a longer trial search. It suggests more effort if the shortlist becomes better.
func offerEffort(ctx context.Context, p *compile.Problem, as *searchTrial) (*offer, error) {
	more, err := trySearch(ctx, p, "effort 4", 4)
	if err != nil || more == nil || more.Mean <= 1.02*as.Mean {
		return nil, err
	}
	return &offer{"A search 4 times as long finds better recipes: run kir sample with --effort 4, or write search: {effort: 4} in the problem file.", []searchTrial{*as, *more}, nil}, nil
}

// offerKnownAmounts makes a trial search with amounts within the ranges of the known recipes. It does so only
// if many random compositions exceed these ranges.
func offerKnownAmounts(ctx context.Context, p *compile.Problem, as *searchTrial) (*offer, error) {
	if p.Book == nil || p.IsWithinBook() {
		return nil, nil
	}
	outside, err := p.OutsideShare(ctx, outsideSampleSize)
	if err != nil || outside == 0 {
		return nil, err
	}
	within, err := tryKnownAmounts(ctx, p)
	if err != nil || within == nil {
		return nil, err
	}
	text := fmt.Sprintf("%.0f %% of random recipes have amounts beyond those of your recipes, where models only guess. ", 100*outside)
	if within.Far < as.Far || within.Checked >= as.Checked {
		text += `To keep to the amounts of your recipes, add amount: {of: "*", within: book} (book: your known recipes) to the constraints.`
	} else {
		text += "In a trial, keeping to the amounts of your recipes made the suggestions no better."
	}
	return &offer{text, []searchTrial{*as, *within}, nil}, nil
}

// maxSingleWeights is the greatest number of objectives for which trials raise the weight of one objective at a
// time.
const maxSingleWeights = 4

// offerWeights makes trial runs with greater weights, for all objectives together and for one objective at a
// time. It suggests the weights whose draws have the best scores. The chains of their trial must agree, and the
// scores must be a tenth better than with the present weights.
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
	all := []candidate{{"as it is", 1, names}, {"weights × 3", 3, names}, {"weights × 10", 10, names}, {"weights × 30", 30, names}}
	if 1 < len(names) && len(names) <= maxSingleWeights {
		for _, name := range names {
			all = append(all, candidate{name + " × 10", 10, []string{name}})
		}
	}
	o := &offer{}
	best, least := 0, 0.0
	var advice string
	for k, c := range all {
		weights := make([]float64, len(p.Properties))
		var byWeight []string // weights to write, such as "weight: 10"
		of := make(map[string][]string)
		for q, w := range p.Properties {
			weights[q] = w.Weight
			if slices.Contains(c.of, w.Name) {
				weights[q] = float64(weights[q] * c.factor)
				text := fmt.Sprintf("weight: %g", weights[q])
				if of[text] == nil {
					byWeight = append(byWeight, text)
				}
				of[text] = append(of[text], w.Name)
			}
		}
		t, err := run.TryWeights(ctx, p.Target, weights)
		if err != nil {
			return nil, err
		}
		o.Draws = append(o.Draws, drawTrial{c.setting, t.MeanScore, t.BestScore, report.Number(t.RHat)})
		if k == 0 {
			least = float64(1.1 * t.MeanScore)
		} else if t.MeanScore > max(least, o.Draws[best].MeanScore) && t.Agrees() {
			best = k
			for q, text := range byWeight {
				byWeight[q] = text + " under " + number.JoinAnd(of[text])
			}
			advice = strings.Join(byWeight, ", ")
		}
	}
	if best == 0 {
		return nil, nil
	}
	means := number.Scores(o.Draws[best].MeanScore, o.Draws[0].MeanScore)
	o.Text = fmt.Sprintf("For draws (recipes drawn at random, better ones more often) that score %s on average instead of %s, but are more alike, write %s. The suggestions do not depend on weights.", means[0], means[1], advice)
	return o, nil
}

// tryKnownAmounts makes a trial search with amounts within the ranges of the known recipes.
func tryKnownAmounts(ctx context.Context, p *compile.Problem) (_ *searchTrial, err error) {
	bounded, err := compile.Load(ctx, p.File, compile.Options{AddWithinBook: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bounded.Close()) }()
	return trySearch(ctx, bounded, "known amounts", 1)
}

// trySearch makes a trial search and returns its result, which names the change tried by the text setting. It
// returns nil if no objective has a positive weight.
func trySearch(ctx context.Context, p *compile.Problem, setting string, effort float64) (*searchTrial, error) {
	q, err := p.SearchQuestion()
	if err != nil {
		return nil, err
	}
	q.Effort = effort
	a, err := q.Answer(ctx, search.RunContext{Iterations: trialIterations, Seed: p.Sampler.Seed})
	if err != nil || a == nil {
		return nil, err
	}
	t := &searchTrial{Setting: setting, Far: len(a.Comparison.ExtrapolatingEntries), Random: float64(a.Comparison.Random.Mean)}
	if len(a.Entries) > 0 {
		t.Mean = float64(a.Comparison.Shortlist.Mean)
	}
	if a.OptimismCheck != nil {
		t.Checked = float64(a.OptimismCheck.Checked)
	}
	return t, nil
}

// writeOffers prints the suggestions as text.
func writeOffers(w io.Writer, offers []offer) error {
	if len(offers) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\nChanges to consider\n")
	checked := false // whether the result of a test on halves of the recipes is printed
	for _, o := range offers {
		b.WriteString("  " + terminal.EscapeControls(o.Text) + "\n")
		for _, t := range o.Trials {
			scores := number.Scores(t.Mean, t.Random)
			fmt.Fprintf(&b, "    %-16s random recipes score %s, suggestions %s", terminal.EscapeControls(t.Setting)+":", scores[1], scores[0])
			if t.Checked > 0 {
				fmt.Fprintf(&b, ", in the test %s", number.Score(t.Checked, 1))
				checked = true
			}
			if t.Far > 0 {
				fmt.Fprintf(&b, "; %d unlike any of your recipes", t.Far)
			}
			b.WriteString("\n")
		}
		var means, bests []float64
		for _, t := range o.Draws {
			means, bests = append(means, t.MeanScore), append(bests, t.BestScore)
		}
		meansText, bestsText := number.Scores(means...), number.Scores(bests...)
		for k, t := range o.Draws {
			fmt.Fprintf(&b, "    %-16s draws %s on average, the best %s; R-hat %s\n", terminal.EscapeControls(t.Setting)+":", meansText[k], bestsText[k], number.Fixed(t.RHat, 2))
		}
		if len(o.Draws) > 0 {
			fmt.Fprintf(&b, "    Trials of %d steps.\n", run.WeightTrialIterations)
		}
	}
	if checked {
		b.WriteString("  Test: models of half your recipes choose, and models of the other half judge.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
