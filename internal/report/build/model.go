// Package build makes the model of a report: of a finished run, whose draws are
// read once, of a problem before it is sampled, and of a forest.
package build

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/problem"
	"kir/internal/report"
	"kir/internal/run"
)

// Model returns what there is to say of the finished run in a directory. It reads
// all draws once.
func Model(ctx context.Context, p *problem.Problem, store run.Store, r *run.Result, version string) (*report.Model, error) {
	settled := *p
	settled.Sampler, p = r.Settings, &settled
	m := &report.Model{
		Version:    version,
		Problem:    problemOf(p),
		Sampler:    p.Sampler,
		Rates:      rates(r.Moves.Accepted, r.Moves.Updated, r.Moves.Iterations),
		Moves:      movesOf(r),
		Variation:  report.Number(r.Variation),
		Expected:   report.Number(r.Expected),
		Statistics: map[string]report.Statistic{"used": statistic(r.Used), "log_density": statistic(r.LogDensity)},
		Properties: propertiesOf(p),
		Again:      report.Again{Command: command(p), Problem: string(p.Resolved)},
		Timing:     report.Timing{Seconds: report.Number(r.Timing.Seconds), IterationsPerSecond: report.Number(r.Timing.IterationsPerSecond)},
	}
	if r.Auto.Stop != "" {
		m.Auto = &r.Auto
	}
	for _, in := range p.Inputs {
		m.Inputs = append(m.Inputs, run.Input(in))
	}
	for k, c := range r.Chains {
		m.Chains = append(m.Chains, report.Chain{Chain: k, Starts: c.Tries, Rates: rates(c.Tally.Accepted, c.Tally.Updated, c.Tally.Iterations)})
	}
	m.Ladders, m.LogZ = laddersOf(r)
	for _, s := range r.Sizes {
		size := report.Size{N: s.N, Target: report.Number(s.Target), Observed: report.Number(s.Observed), MCSE: report.Number(s.MCSE), LawSE: report.Number(s.LawSE)}
		size.Share = shareOf(p.Target.Space(), s.N)
		m.Sparsity = append(m.Sparsity, size)
	}
	m.Question = question(m)
	for _, s := range r.Properties {
		m.Statistics[s.Name] = statistic(s)
	}

	made, err := run.Open(ctx, store)
	if err != nil {
		return nil, err
	}
	g, err := gather(ctx, p, made, r.Inclusion, standard())
	if err != nil {
		return nil, fmt.Errorf("reading the draws: %w", err)
	}
	if m.Inclusion, err = inclusionOf(p, r, g); err != nil {
		return nil, err
	}
	probabilities := make([]float64, len(r.Inclusion))
	for k, i := range r.Inclusion {
		probabilities[k] = i.Probability
	}
	m.Pairs = newPairs(p, g, probabilities, r.Unlisted)
	m.Plots = newPlots(g, m.Statistics)
	nan := report.Number(math.NaN())
	m.Score = report.Comparison{Draws: nan, DrawsMCSE: nan, DrawsESS: nan, Random: nan, RandomSE: nan, Histogram: newHistogram(g, r.Baseline)}
	if r.Score != nil {
		m.Score.Draws, m.Score.DrawsMCSE, m.Score.DrawsESS = report.Number(r.Score.Mean), report.Number(r.Score.SEMean), report.Number(r.Score.ESSBulk)
	}
	if b := r.Baseline; b != nil {
		m.Score.Random, m.Score.RandomSE, m.Score.RandomSize = report.Number(b.Mean), report.Number(b.SE), len(b.LogScores)
	}

	if m.Answer, m.Best, err = Answer(ctx, p, r.Answer); err != nil {
		return nil, fmt.Errorf("the answer: %w", err)
	}
	if m.Answer == nil {
		if m.Best, err = unsearched(p, m, r, g); err != nil {
			return nil, fmt.Errorf("the shortlist: %w", err)
		}
		if !m.Weighs() {
			m.Answer = unasked()
		}
	} else {
		m.Timing.SearchSeconds = report.Number(r.Answer.Seconds)
	}

	var untraded []string
	if len(p.Trade) > 0 && p.Search.Effort > 0 {
		of := TradeOptions{Between: p.Trade, Effort: p.Search.Effort, Seed: p.Sampler.Seed, Draws: made}
		if m.Tradeoff, err = Tradeoff(ctx, p, of); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // the draws are made, and are as good without it
			m.Tradeoff, untraded = nil, []string{fmt.Sprintf("The trade-off could not be found: %v.", err)}
		}
	}
	if err := addResponses(p, m); err != nil {
		return nil, fmt.Errorf("the responses: %w", err)
	}

	m.Draws, m.Grade = verdict(p, r)
	m.Draws, m.Grade = judged(m.Draws, m.Grade, m.Ladders)
	m.Draws = beside(p, m.Draws, m.Grade, r)
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

// unsearched returns the shortlist of a run without a search: the best draw of each
// set of ingredients, or where nothing is wished for sets that differ.
func unsearched(p *problem.Problem, m *report.Model, r *run.Result, g *gathered) ([]report.Best, error) {
	best := r.Best
	if p.Book != nil {
		best = r.New
	}
	if m.Weighs() {
		return bestsOf(p, best)
	}
	return Differing(p, slices.Concat(best, g.pool))
}

// movesOf says what each move of a kernel that mixes several did.
func movesOf(r *run.Result) []report.Move {
	moves := []report.Move{}
	for _, t := range r.Moves.Moves {
		if t.Tried > 0 {
			moves = append(moves, report.Move{Name: t.Name, Tried: t.Tried, Rates: rates(t.Accepted, t.Updated, t.Tried)})
		}
	}
	return moves
}

// command returns a command line that makes the same run from the problem file,
// whatever flags this run was started with.
func command(p *problem.Problem) string {
	s := p.Sampler
	return fmt.Sprintf("kir sample %s --kernel %s --chains %d --warmup %d --draws %d --thin %d --seed %d",
		shellQuote(filepath.Base(p.File)), s.Kernel, s.Chains, s.Warmup, s.Draws, s.Thin, s.Seed)
}

// shellQuote makes text one word of a POSIX shell.
func shellQuote(text string) string {
	if text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-") == "" && text[0] != '-' {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func rates(accepted, updated, iterations int64) report.Rates {
	return report.Rates{Accepted: report.Number(float64(accepted) / float64(iterations)), Updated: report.Number(float64(updated) / float64(iterations))}
}

func statistic(s run.Statistic) report.Statistic {
	out := report.Statistic{
		Mean: report.Number(s.Mean), SD: report.Number(s.SD), Q5: report.Number(s.Q5), Median: report.Number(s.Median), Q95: report.Number(s.Q95),
		MCSEMean: report.Number(s.SEMean), MCSEQ5: report.Number(s.SEQ5), MCSEMedian: report.Number(s.SEMedian), MCSEQ95: report.Number(s.SEQ95),
		ESSMean: report.Number(s.ESSMean), ESSBulk: report.Number(s.ESSBulk), ESSTail: report.Number(s.ESSTail), Rhat: report.Number(s.RHat), Nested: report.Number(s.NestedRHat),
	}
	names := map[string]string{
		"Mean": "mean", "SD": "sd", "Q5": "q5", "Median": "median", "Q95": "q95",
		"SEMean": "mcse_mean", "SEQ5": "mcse_q5", "SEMedian": "mcse_median", "SEQ95": "mcse_q95",
		"ESSMean": "ess_mean", "ESSBulk": "ess_bulk", "ESSTail": "ess_tail", "RHat": "rhat",
	}
	for _, u := range s.Undefined {
		if name, ok := names[u.Figure]; ok {
			if out.Why == nil {
				out.Why = make(map[string]string)
			}
			out.Why[name] = u.Err.Error()
		}
	}
	return out
}
