package run

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"kir/internal/number"
	"kir/internal/search"
)

// searchForBest searches for the compositions of highest score, after all chains of the run are
// complete. The answer depends only on the question, the seed and the draws. So the answer is not
// stored with the draws. Like all results, the answer is computed again whenever a run is resumed,
// extended or merged.
//
// If processes have shared the search, steps holds their results; otherwise it is nil.
func (s *session) searchForBest(ctx context.Context, r *Result, steps *search.Steps) (*search.Answer, error) {
	spec := s.spec
	figures, err := s.runFigures(r)
	if err != nil {
		return nil, err
	}
	b := search.RunContext{
		Iterations: figures.Iterations, Found: figures.Found, Seed: spec.Settings.Seed, Workers: s.options.Workers,
		Steps: steps, LinesScored: new(atomic.Int64),
	}
	if expected := spec.Question.ExpectedLines(b); s.options.Progress != nil && expected > 0 {
		begun := time.Now()
		defer callEvery(progressInterval, func() {
			p := Progress{
				Elapsed: time.Since(s.startTime), DoneShare: 1, RHat: math.NaN(), ESS: math.NaN(),
				SearchDoneShare: min(1, float64(b.LinesScored.Load())/float64(expected)), Best: s.collectBestSoFar(),
			}
			if p.SearchDoneShare > 0 {
				p.TimeLeft = time.Duration(float64(time.Since(begun)) * (1 - p.SearchDoneShare) / p.SearchDoneShare)
			}
			s.options.Progress(p)
		})()
	}
	a, err := spec.Question.Answer(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("looking for the best: %w", err)
	}
	if a != nil {
		r.Timing.SearchSeconds = number.Number(a.Seconds)
	}
	return a, nil
}

// runFigures returns what the search needs of the figures of all draws.
func (s *session) runFigures(r *Result) (*search.RunFigures, error) {
	f := &search.RunFigures{Iterations: estimateScoredLines(r)}
	plain, err := search.UnweightedTarget(s.spec.Target)
	if err != nil {
		return nil, err
	}
	// The best of all sets of ingredients and the best of new sets overlap.
	seen := r.Best
	if r.NewBest != nil {
		seen = DistinctBest(append(append([]Best{}, r.Best...), r.NewBest...))
	}
	for _, best := range seen {
		f.Found = append(f.Found, search.Found{Parts: best.Parts, LogScore: LogScore(plain.Objectives(), best.Scores)})
	}
	return f, nil
}

// autoSearchFactor is the factor by which the search after the chains is longer in a run of
// [mcmc.AutoDraws] than in a run with a fixed number of draws. The length of the search counts the
// warm-up in full: see [search.LineBudget].
const autoSearchFactor = 8

// estimateScoredLines estimates the number of lines that the chains of a run have scored; it
// determines the length of the search. A line is the set of all ways to divide the joint amount of
// two ingredients. A chain scores one line an iteration, and a tempered chain at least one for each
// of its temperatures. For a run of [mcmc.AutoDraws] the result is multiplied by
// [autoSearchFactor].
func estimateScoredLines(r *Result) int64 {
	each := int64(1)
	if ladder := r.Chains[0].Ladder; ladder != nil {
		if each = int64(len(ladder.Rungs)); ladder.Learnt != nil {
			each += int64(len(ladder.Learnt.Rungs)) - 1
		}
	}
	if r.Auto.Stop != "" {
		// Short chains would make the search too short.
		each *= autoSearchFactor
	}
	iterations := r.Timing.Iterations
	if r.Auto.WarmupIterations > 0 {
		// A short warm-up would make it too short as well.
		iterations += int64(len(r.Chains)) * int64(r.Auto.MaxWarmupIterations-r.Auto.WarmupIterations)
	}
	return iterations * each
}
