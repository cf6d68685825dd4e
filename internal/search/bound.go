package search

import (
	"context"
	"errors"
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
	nanosecondBudget int64 // time for bounds before the search, and again after the search, in units of about a nanosecond
}

// newBoundTracker returns the tracker that bounds the scores of the target t, for a search with options o.
func (q *Question) newBoundTracker(t *mcmc.Target, o Options) *boundTracker {
	c := &boundTracker{limits: newAmountLimits(t, o.Least, o.Most), options: o}
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
		if err := c.bounder.Run(ctx, 0); err != nil {
			return nil, err
		}
		c.nanosecondBudget *= 2
		return c.scoredCandidates(), nil
	}
	if err := c.bounder.Run(ctx, c.nanosecondBudget); err != nil {
		return nil, err
	}
	return c.scoredCandidates(), nil
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

// boundAfterSearch continues to compute bounds after a search, given the compositions that the search found. It
// returns the bound. It also returns a list: the compositions that were scored to find the bound, followed by
// the given compositions.
func (c *boundTracker) boundAfterSearch(ctx context.Context, candidates []Found) (*Bound, []Found, error) {
	out := &Bound{UpperLogScore: math.Inf(1), BestLogScore: math.Inf(-1), OnlyKnownDoses: c.options.Least != nil || c.options.Most != nil}
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
	if c.bounder != nil {
		c.bounder.UpdateIncumbent(out.BestLogScore)
		if err := c.bounder.Run(ctx, c.nanosecondBudget); err != nil {
			return nil, nil, err
		}
		met := c.scoredCandidates()
		if len(met) > 0 {
			out.BestLogScore = max(out.BestLogScore, met[0].LogScore)
		}
		candidates = slices.Concat(met, candidates)
		c.setProved(out)
	}
	return out, candidates, nil
}

// setProved sets b.UpperLogScore and b.Proved to what the computation of bounds has found so far.
func (c *boundTracker) setProved(b *Bound) {
	b.UpperLogScore, b.Proved = c.bounder.UpperBound(), c.bounder.IsOptimal()
}

// raiseBestScore raises b.BestLogScore to the best score on a shortlist, whose entries may be better than the
// compositions that the search found. It returns b, or nil if nothing was found.
func (c *boundTracker) raiseBestScore(b *Bound, entries []Entry) *Bound {
	for _, e := range entries {
		b.BestLogScore = max(b.BestLogScore, e.LogScore)
	}
	if c.bounder != nil {
		c.bounder.UpdateIncumbent(b.BestLogScore)
		c.setProved(b)
	}
	if math.IsInf(b.BestLogScore, -1) {
		return nil
	}
	return b
}
