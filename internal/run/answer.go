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

// answer looks for the best beside a complete run. It follows from the question,
// the seed and the draws, and so is made again, like all figures, whenever a run
// is resumed, extended or merged; nothing of it is stored with the draws.
func (s *session) answer(ctx context.Context, r *Result) (*search.Answer, error) {
	spec := s.spec
	b := search.RunContext{Iterations: scoredLines(r), Seed: spec.Settings.Seed, Workers: s.options.Workers, LinesScored: new(atomic.Int64)}
	if expected := spec.Question.ExpectedLines(b); s.options.Progress != nil && expected > 0 {
		begun := time.Now()
		defer every(progressTime, func() {
			p := Progress{
				Elapsed: time.Since(s.begun), Done: 1, RHat: math.NaN(), ESS: math.NaN(),
				Search: min(1, float64(b.LinesScored.Load())/float64(expected)), Best: s.collectBestSoFar(),
			}
			if p.Search > 0 {
				p.Left = time.Duration(float64(time.Since(begun)) * (1 - p.Search) / p.Search)
			}
			s.options.Progress(p)
		})()
	}
	plain, err := search.Plain(spec.Target)
	if err != nil {
		return nil, err
	}
	// The best of all sets of ingredients and the best of new ones overlap.
	seen := r.Best
	if r.New != nil {
		seen = Distinct(append(append([]Best{}, r.Best...), r.New...))
	}
	for _, best := range seen {
		b.Found = append(b.Found, search.Found{Parts: best.Parts, LogScore: LogScore(plain.Objectives(), best.Scores)})
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

// autoLines is how many times as long as beside chains of a number of draws the search is
// beside those of [mcmc.AutoDraws], as if their warm-up were never short: see [search.Budget].
const autoLines = 8

// scoredLines returns about how many lines the chains of a run have scored: one an
// iteration, and of tempered chains at least one a replica.
func scoredLines(r *Result) int64 {
	each := int64(1)
	if ladder := r.Chains[0].Ladder; ladder != nil {
		if each = int64(len(ladder.Rungs)); ladder.Learnt != nil {
			each += int64(len(ladder.Learnt.Rungs)) - 1
		}
	}
	if r.Auto.Stop != "" {
		// Short chains would leave the search too little of what it needs.
		each *= autoLines
	}
	iterations := r.Timing.Iterations
	if r.Auto.Warmed > 0 {
		// So would a short warm-up.
		iterations += int64(len(r.Chains)) * int64(r.Auto.Warmup-r.Auto.Warmed)
	}
	return iterations * each
}
