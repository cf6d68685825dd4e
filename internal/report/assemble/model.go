// Package assemble computes the data of reports: on a finished run, whose draws it reads once, on a
// problem before sampling, and on a trained model.
package assemble

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
)

// Model computes the report on the finished run in a store. It reads all draws once. The parameter
// trade is the Pareto front of the problem, or nil if the problem does not ask for one.
func Model(ctx context.Context, p *compile.Problem, store run.Store, r *run.Result, trade *compile.TradeOff, version string) (*report.Model, error) {
	settled := *p
	settled.Sampler, p = r.Settings, &settled
	m := &report.Model{
		Version:    version,
		Problem:    newReportProblem(p),
		Sampler:    p.Sampler,
		Rates:      r.Rates,
		Moves:      r.Moves,
		Chains:     r.Chains,
		Ladders:    r.Ladders,
		LogZ:       r.LogZ,
		Sparsity:   r.Sizes,
		Variation:  r.Variation,
		Expected:   r.ExpectedVariation,
		Statistics: map[string]run.Statistic{"used": r.IngredientCount, "log_density": r.LogDensity},
		Properties: newReportProperties(p),
		Again:      report.Reproduction{Command: reproductionCommand(p), Problem: string(p.Resolved)},
		Timing:     r.Timing,
	}
	if r.Auto.Stop != "" {
		m.Auto = &r.Auto
	}
	for _, in := range p.Inputs {
		m.Inputs = append(m.Inputs, run.Input(in))
	}
	m.Question = questionText(m)
	for _, s := range r.Properties {
		m.Statistics[s.Name] = s
	}

	made, err := run.Open(ctx, store)
	if err != nil {
		return nil, err
	}
	g, err := gatherDraws(ctx, p, made, r.Inclusion, defaultGatherLimits())
	if err != nil {
		return nil, fmt.Errorf("reading the draws: %w", err)
	}
	m.Conditions = r.Conditions
	if m.Inclusion, err = inclusionWithBookUse(p, r, g); err != nil {
		return nil, err
	}
	probabilities := make([]float64, len(r.Inclusion))
	for k, i := range r.Inclusion {
		probabilities[k] = float64(i.Probability)
	}
	m.Pairs = newPairs(p, g, probabilities, r.Unlisted)
	m.Plots = newPlots(g, m.Statistics)
	nan := report.Number(math.NaN())
	m.Score = report.Comparison{Draws: nan, DrawsMCSE: nan, DrawsESS: nan, Baseline: run.Baseline{Random: nan, RandomSE: nan}, Histogram: newScoreHistogram(g, r.Baseline)}
	if r.Score != nil {
		m.Score.Draws, m.Score.DrawsMCSE, m.Score.DrawsESS = r.Score.Mean, r.Score.SEMean, r.Score.ESSBulk
	}
	if b := r.Baseline; b != nil {
		m.Score.Baseline = *b
	}

	if m.Answer, m.Best, err = Answer(ctx, p, r.Answer); err != nil {
		return nil, fmt.Errorf("the answer: %w", err)
	}
	if m.Answer == nil {
		if m.Best, err = shortlistOfDraws(p, m, r, g); err != nil {
			return nil, fmt.Errorf("the shortlist: %w", err)
		}
		if !m.HasWeights() {
			m.Answer = answerWithoutObjectives()
		}
	}

	if m.BestKnown, err = BestKnown(p, m.Best); err != nil {
		return nil, fmt.Errorf("the best known recipe: %w", err)
	}

	var untraded []string
	switch {
	case trade == nil:
	case trade.Err != nil: // the draws are made, and are as good without it
		untraded = []string{fmt.Sprintf("The trade-off could not be found: %v.", trade.Err)}
	default:
		if m.Tradeoff, err = Tradeoff(p, trade, 0, slices.Concat(g.thinDraws...)); err != nil {
			return nil, fmt.Errorf("the trade-off: %w", err)
		}
	}
	if err := addResponses(p, m); err != nil {
		return nil, fmt.Errorf("the responses: %w", err)
	}
	if err := addHeldOut(p, m); err != nil {
		return nil, fmt.Errorf("the held-out recipes: %w", err)
	}
	points, err := newRecipePoints(p, m, slices.Concat(g.thinDraws...))
	if err != nil {
		return nil, fmt.Errorf("the map of recipes: %w", err)
	}
	m.Map, m.Ternary = points.newMap(), points.newTernary()

	m.Draws, m.Grade = runVerdict(p, r)
	m.Draws, m.Grade = lowerGradeByLadders(m.Draws, m.Grade, m.Ladders)
	m.Draws = appendNearlyRandom(p, m.Draws, m.Grade, r)
	m.Verdict = m.Draws
	if m.Answer != nil {
		m.Verdict = m.Answer.Headline + " " + m.Draws
	}
	m.Warnings = append([]string{}, p.Warnings...)
	if m.Answer != nil {
		m.Answer.Warnings = append(forestWarnings(p), m.Answer.Warnings...)
		m.Warnings = append(m.Warnings, m.Answer.Warnings...)
	} else {
		m.Warnings = append(m.Warnings, forestWarnings(p)...)
	}
	m.Warnings = append(m.Warnings, runWarnings(p, r)...)
	m.Warnings = append(m.Warnings, ladderWarnings(m.Ladders)...)
	m.Warnings = append(m.Warnings, r.Notes...)
	m.Warnings = append(m.Warnings, untraded...)
	m.Files = []string{report.SummaryName, "problem.yaml", "run.json", "draws/"}
	m.Parts = r.Parts
	return m, nil
}

// shortlistOfDraws returns the shortlist of a run without a search: the best draw of each set of
// ingredients or, without objectives, a diverse selection of draws.
func shortlistOfDraws(p *compile.Problem, m *report.Model, r *run.Result, g *gatheredDraws) ([]report.Best, error) {
	best := r.Best
	if p.Book != nil {
		best = r.NewBest
	}
	if m.HasWeights() {
		return newReportBests(p, best)
	}
	return DiverseList(p, slices.Concat(best, g.bestBySet))
}

// reproductionCommand returns a command line that repeats the run from the problem file, whatever
// flags the run was started with.
func reproductionCommand(p *compile.Problem) string {
	s := p.Sampler
	return fmt.Sprintf("kir sample %s --kernel %s --chains %d --warmup %d --draws %d --thin %d --seed %d",
		terminal.ShellWord(filepath.Base(p.File)), s.Kernel, s.Chains, s.Warmup, s.Draws, s.Thin, s.Seed)
}
