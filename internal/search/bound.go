package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/bound"
	"kir/mcmc"
	"kir/rule"
)

// A Bound is an upper bound of the score of all compositions that may be suggested.
type Bound struct {
	UpperLogScore  float64 // upper bound of the log score, which no composition exceeds; +Inf if none is known
	BestLogScore   float64 // log score of the best composition found
	Proved         bool    // whether no composition is better than the best found, up to 10⁻⁸ of the score: BestLogScore equals UpperLogScore
	OnlyKnownDoses bool    // whether the bound holds only for compositions with amounts within the ranges of the known recipes

	// UnboundedTerms names the factors of the score whose upper bounds are unknown. With such factors there is
	// no upper bound of the score.
	UnboundedTerms []string
}

// baseBoundNanosecondsPerLine is the time that the computation of bounds may take for each line that the search scores. The
// unit is about a nanosecond. The function boundNanosecondsPerLine adds to this time for terms that are slow to
// score.
const baseBoundNanosecondsPerLine = 15_000

// usualMinSharedBound is the usual value of [Steps.MinSharedBound], two minutes. A lane of a round then takes half a
// second, longer than most problems take to be read.
const usualMinSharedBound = 120_000_000_000

// boundNanosecondsPerLine returns the time that the computation of bounds may take for each line that the search
// scores. The unit is about a nanosecond. A run scores four more lines in its chains for each line of the
// search. Hence bounds take less than a third of a run whose lines are slow to score, for example by an
// external program.
func boundNanosecondsPerLine(p *bound.Problem) int64 {
	steps := int64(baseBoundNanosecondsPerLine)
	for _, part := range p.Factors {
		steps += part.LineWork * 5 / 4
	}
	return steps
}

// A boundTracker computes an upper bound of the scores of all compositions, partly before and partly after a
// search.
type boundTracker struct {
	bounder          *bound.Bounder // computes the bounds; nil if the scores are not bounded
	factors          []bound.Factor
	limits           *amountLimits
	options          Options
	ingredients      int   // number of ingredients
	isBegun          bool  // whether bounds were computed before the search, by this process
	isShared         bool  // whether the lanes of the bounder's rounds are steps of the search
	nanosecondBudget int64 // time for bounds before the search, and again after the search, in units of about a nanosecond
}

// newBoundTracker returns the tracker that bounds the scores of the target t, for a search with options o.
func (q *Question) newBoundTracker(t *mcmc.Target, o Options) *boundTracker {
	c := &boundTracker{limits: newAmountLimits(t, o.Least, o.Most), options: o, ingredients: t.Space().N()}
	if q.BoundProblem == nil {
		return c
	}
	c.nanosecondBudget = int64(o.Evaluations) * boundNanosecondsPerLine(q.BoundProblem) / 2
	p := *q.BoundProblem
	p.AllowedUsedCounts, p.MinAmounts, p.MaxAmounts, p.RequiredIngredients = c.limits.allowedIngredientCounts, o.Least, o.Most, q.Always
	c.factors = p.Factors
	if !t.HasBatchProperty() {
		p.MaxEnumerated = o.Evaluations / 2
	} else if slices.ContainsFunc(p.Factors, bound.Factor.IsUnbounded) {
		return c // no bound can come of a factor without one
	}
	s := &searcher{target: t, options: o}
	p.Score = func(parts []rule.Part) (float64, error) {
		own := make([]mcmc.Part, len(parts))
		for k, p := range parts {
			own[k] = mcmc.Part(p)
		}
		if s.refusesIngredients(own) {
			return math.Inf(-1), nil
		}
		x, err := mcmc.NewComposition(t.Space().N(), own...)
		if err != nil {
			return 0, err
		}
		score, err := t.LogScore(x)
		if bad := (*mcmc.ScoreError)(nil); errors.As(err, &bad) {
			return math.Inf(-1), nil // a chain that visits the composition reports the error
		}
		return score, err
	}
	c.bounder = bound.New(&p)
	c.isShared = o.Steps != nil && 2*c.nanosecondBudget >= cmp.Or(o.Steps.MinSharedBound, usualMinSharedBound)
	return c
}

// boundBeforeSearch computes bounds before the search, in at most half of the time for bounds. It returns the
// compositions whose scores it has computed on the way.
func (c *boundTracker) boundBeforeSearch(ctx context.Context) ([]Found, error) {
	if c.bounder == nil {
		return nil, nil
	}
	if !slices.ContainsFunc(c.factors, func(p bound.Factor) bool { return p.Linear != nil || p.MaxOverForms != nil }) {
		// The factors give no hint of a good composition, so the bounder must wait for the search. Only if the rules
		// leave few compositions does the bounder check all of them first.
		if err := c.bounder.Run(ctx, 0, c.spread()); err != nil {
			return nil, err
		}
		c.nanosecondBudget *= 2
		return c.scoredCandidates(), nil
	}
	if err := c.bounder.Run(ctx, c.nanosecondBudget, c.spread()); err != nil {
		return nil, err
	}
	return c.scoredCandidates(), nil
}

// spread returns how the bounder computes the lanes of its rounds: as steps of the search, or each by one of the
// workers of this process.
func (c *boundTracker) spread() bound.Spread {
	steps := c.options.Steps
	if !c.isShared {
		steps = nil
	}
	return func(ctx context.Context, round, count int, compute func(ctx context.Context, lane int) (*bound.LaneResult, error)) ([]*bound.LaneResult, error) {
		name := fmt.Sprintf("%s/bound/round=%02d/lane=", c.options.StepName, round)
		all, err := runSteps(ctx, steps, c.options.workerCount(), name, c.ingredients, count, func(ctx context.Context, k int) (r *laneStep, err error) {
			err = c.options.withSlot(ctx, func() error {
				own, err := compute(ctx, k)
				r = (*laneStep)(own)
				return err
			})
			return r, err
		})
		if err != nil {
			return nil, err
		}
		results := make([]*bound.LaneResult, count)
		for k, s := range all {
			results[k] = (*bound.LaneResult)(s)
			if err := c.bounder.Check(results[k]); err != nil {
				return nil, &stepStoreError{fmt.Sprintf("%s%02d", name, k), fmt.Errorf("its result is damaged: %w", err)}
			}
		}
		return results, nil
	}
}

// A laneStep is the result of a lane of the bounder, as a step of the search.
type laneStep bound.LaneResult

// check does nothing: [bound.Bounder.Check] needs the bounder.
func (*laneStep) check(int) error { return nil }

// boundStep returns the result of a part of the bounding, as a step of the search. If lanes are steps, too, they
// come before.
func (c *boundTracker) boundStep(ctx context.Context, name string, compute func(ctx context.Context) (*boundResult, error)) (*boundResult, error) {
	s := c.options.Steps
	name = c.options.StepName + "/" + name
	if c.isShared && s.Only != name && !s.All {
		stored, err := s.isStored(ctx, name)
		if err == nil && !stored {
			_, err = compute(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return RunStep(ctx, s, name, c.ingredients, compute)
}

// scoredCandidates returns the compositions whose scores were computed to find bounds, from best to worst.
func (c *boundTracker) scoredCandidates() (list []Found) {
	for _, f := range c.bounder.Candidates() {
		g := Found{LogScore: f.LogScore}
		for _, p := range f.Parts {
			g.Parts = append(g.Parts, mcmc.Part(p))
		}
		list = append(list, g)
	}
	return list
}

// A boundResult is what bounding has found, before and after a search.
type boundResult struct {
	Bound      Bound
	Candidates []Found        // compositions that were scored to find the bound, from best to worst
	Standing   bound.Standing // what is proved of all compositions; the open bound is +Inf if nothing is bounded
}

func (r *boundResult) check(n int) error { return checkFound(r.Candidates, n) }

// startsByBounding returns the result of [boundTracker.boundBeforeSearch], as a step of the search.
func (c *boundTracker) startsByBounding(ctx context.Context) ([]Found, error) {
	if c.bounder == nil {
		return nil, nil
	}
	r, err := c.boundStep(ctx, "bound=before", func(ctx context.Context) (*boundResult, error) {
		found, err := c.boundBeforeSearch(ctx)
		c.isBegun = true
		return &boundResult{Candidates: found}, err
	})
	if err != nil {
		return nil, err
	}
	return r.Candidates, nil
}

// boundOf returns the result of [boundTracker.boundAfterSearch], as a step of the search.
func (c *boundTracker) boundOf(ctx context.Context, candidates []Found) (*boundResult, error) {
	if c.bounder == nil {
		return c.boundAfterSearch(ctx, candidates)
	}
	return c.boundStep(ctx, "bound=after", func(ctx context.Context) (*boundResult, error) {
		if !c.isBegun { // another process did it
			if _, err := c.boundBeforeSearch(ctx); err != nil {
				return nil, err
			}
		}
		return c.boundAfterSearch(ctx, candidates)
	})
}

// boundAfterSearch continues to compute bounds after a search, given the compositions that the search found.
func (c *boundTracker) boundAfterSearch(ctx context.Context, candidates []Found) (*boundResult, error) {
	r := &boundResult{Bound: Bound{BestLogScore: math.Inf(-1), OnlyKnownDoses: c.options.Least != nil || c.options.Most != nil}}
	out := &r.Bound
	for _, p := range c.factors {
		if p.IsUnbounded() {
			out.UnboundedTerms = append(out.UnboundedTerms, p.Name)
		}
	}
	s := &searcher{options: c.options}
	for _, f := range candidates {
		if f.LogScore > out.BestLogScore && c.limits.allowsIngredientCount(len(f.Parts)) && !s.refusesIngredients(f.Parts) &&
			!slices.ContainsFunc(f.Parts, func(p mcmc.Part) bool { return !c.limits.allowsAmount(p.Ingredient, int32(p.Amount)) }) {
			out.BestLogScore = f.LogScore
		}
	}
	r.Standing = bound.Standing{OpenBound: math.Inf(1)}
	if c.bounder != nil {
		c.bounder.UpdateIncumbent(out.BestLogScore)
		if err := c.bounder.Run(ctx, c.nanosecondBudget, c.spread()); err != nil {
			return nil, err
		}
		r.Candidates = c.scoredCandidates()
		if len(r.Candidates) > 0 {
			out.BestLogScore = max(out.BestLogScore, r.Candidates[0].LogScore)
		}
		r.Standing = c.bounder.Standing()
	}
	return r, nil
}

// raiseBestScore raises the best score to the best on a shortlist, whose entries may be better than the
// compositions that the search found. It returns the bound, or nil if nothing was found.
func (r *boundResult) raiseBestScore(entries []Entry) *Bound {
	b := r.Bound
	for _, e := range entries {
		b.BestLogScore = max(b.BestLogScore, e.LogScore)
	}
	if math.IsInf(b.BestLogScore, -1) {
		return nil
	}
	standing := r.Standing
	standing.Incumbent = max(standing.Incumbent, b.BestLogScore)
	b.UpperLogScore, b.Proved = standing.UpperBound(), standing.IsOptimal()
	return &b
}
