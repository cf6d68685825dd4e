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

// A Bound states how good any composition that may be suggested can be at most.
type Bound struct {
	Above  float64 // proven upper bound of the log score; +Inf if none is known
	Best   float64 // log score of the best composition found
	Proved bool    // whether Best equals Above, up to 10⁻⁸ of the score
	Doses  bool    // whether the bound covers only amounts within the ranges of known recipes

	// Open names the terms of the score without a known upper bound. If there are any, no bound exists.
	Open []string
}

// boundSteps is the time that bounding may take for each searched line, in steps of about a nanosecond. stepsOf adds
// to it.
const boundSteps = 15_000

// boundStepBudget returns the time that bounding may take for each searched line, in steps of about a nanosecond. A run
// scores four more lines in its chains for each searched one. So bounding takes less than a third of a run whose
// lines are slow, such as those scored by another program.
func boundStepBudget(p *bound.Problem) int64 {
	steps := int64(boundSteps)
	for _, part := range p.Factors {
		steps += part.LineCost * 5 / 4
	}
	return steps
}

// A boundTracker computes an upper bound of the scores before and after a search.
type boundTracker struct {
	bounder *bound.Bounder // nil if the scores are not bounded
	parts   []bound.Factor
	limits  *amountLimits
	o       Options
	work    int64 // time for bounding before the search, and again after it, in steps
}

// newBoundTracker returns the tracker for a search of the target t with options o.
func (q *Question) newBoundTracker(t *mcmc.Target, o Options) *boundTracker {
	c := &boundTracker{limits: newAmountLimits(t, o.Least, o.Most), o: o}
	if q.Bounding == nil {
		return c
	}
	c.work = int64(o.Evaluations) * boundStepBudget(q.Bounding) / 2
	p := *q.Bounding
	p.Sizes, p.Least, p.Most, p.Always = c.limits.sizes, o.Least, o.Most, q.Always
	c.parts = p.Factors
	if !t.HasBatchProperty() {
		p.MaxEnumerated = o.Evaluations / 2
	} else if slices.ContainsFunc(p.Factors, bound.Factor.IsUnbounded) {
		return c // no bound can come of a factor without one
	}
	s := &searcher{target: t, o: o}
	p.Score = func(parts []rule.Part) (float64, error) {
		own := make([]mcmc.Part, len(parts))
		for k, p := range parts {
			own[k] = mcmc.Part(p)
		}
		if s.refuses(own) {
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

// boundBefore computes bounds for half of the allotted time, before the search. It returns the compositions that the
// bounder scored meanwhile.
func (c *boundTracker) boundBefore(ctx context.Context) ([]Found, error) {
	if c.bounder == nil {
		return nil, nil
	}
	if !slices.ContainsFunc(c.parts, func(p bound.Factor) bool { return p.Linear != nil || p.MaxOverForms != nil }) {
		// The factors give no hint of a good composition, so the bounder must wait for the search. Only if the rules
		// leave few compositions does the bounder check all of them first.
		if err := c.bounder.Run(ctx, 0); err != nil {
			return nil, err
		}
		c.work *= 2
		return c.candidates(), nil
	}
	if err := c.bounder.Run(ctx, c.work); err != nil {
		return nil, err
	}
	return c.candidates(), nil
}

// candidates returns the compositions that the bounder scored, the best first.
func (c *boundTracker) candidates() (list []Found) {
	for _, f := range c.bounder.Candidates() {
		g := Found{LogScore: f.LogScore}
		for _, p := range f.Parts {
			g.Parts = append(g.Parts, mcmc.Part(p))
		}
		list = append(list, g)
	}
	return list
}

// boundAfter continues bounding, given the compositions that a search found. It returns the bound and those
// compositions joined with the bounder's own, the best first.
func (c *boundTracker) boundAfter(ctx context.Context, candidates []Found) (*Bound, []Found, error) {
	out := &Bound{Above: math.Inf(1), Best: math.Inf(-1), Doses: c.o.Least != nil || c.o.Most != nil}
	for _, p := range c.parts {
		if p.IsUnbounded() {
			out.Open = append(out.Open, p.Name)
		}
	}
	s := &searcher{o: c.o}
	for _, f := range candidates {
		if f.LogScore > out.Best && c.limits.allowsSize(len(f.Parts)) && !s.refuses(f.Parts) &&
			!slices.ContainsFunc(f.Parts, func(p mcmc.Part) bool { return !c.limits.allows(p.Ingredient, int32(p.Amount)) }) {
			out.Best = f.LogScore
		}
	}
	if c.bounder != nil {
		c.bounder.UpdateIncumbent(out.Best)
		if err := c.bounder.Run(ctx, c.work); err != nil {
			return nil, nil, err
		}
		met := c.candidates()
		if len(met) > 0 {
			out.Best = max(out.Best, met[0].LogScore)
		}
		candidates = slices.Concat(met, candidates)
		c.setProved(out)
	}
	return out, candidates, nil
}

// setProved sets b.Proved.
func (c *boundTracker) setProved(b *Bound) {
	b.Above, b.Proved = c.bounder.UpperBound(), c.bounder.IsOptimal()
}

// updateBound raises the best score in b to that of a shortlist, whose entries may improve on the compositions found.
// It returns nil if nothing was found.
func (c *boundTracker) updateBound(b *Bound, entries []Entry) *Bound {
	for _, e := range entries {
		b.Best = max(b.Best, e.LogScore)
	}
	if c.bounder != nil {
		c.bounder.UpdateIncumbent(b.Best)
		c.setProved(b)
	}
	if math.IsInf(b.Best, -1) {
		return nil
	}
	return b
}
