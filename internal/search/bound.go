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

// A Bound is an upper bound of the log score of every composition that may be suggested.
type Bound struct {
	Above  float64 // it is proved; +Inf: no bound is known
	Best   float64 // the best that was found
	Proved bool    // they are the same, but for a hundred-millionth of the score
	Doses  bool    // recipes outside the doses of the known ones were left out

	// Open names the terms of the score that have no known upper bound. If there are any, there is
	// no bound.
	Open []string
}

// boundSteps is the number of steps, of about a nanosecond, that bounding may take for each
// searched line, plus those of stepsOf.
const boundSteps = 15_000

// stepsOf returns the number of steps that bounding may take for each searched line. For each such
// line a run scores four more in its chains. So bounding takes less than a third of a run whose
// lines are slow, such as those scored by a process.
func stepsOf(p *bound.Problem) int64 {
	steps := int64(boundSteps)
	for _, part := range p.Factors {
		steps += part.LineCost * 5 / 4
	}
	return steps
}

// A boundTracker runs a bounder next to a search.
type boundTracker struct {
	bounder *bound.Bounder // nil where nothing is bounded
	parts   []bound.Factor
	doses   *doses
	o       Options
	work    int64 // before the search, and again after it
}

// newBoundTracker makes the tracker for a search with these options.
func (q *Question) newBoundTracker(t *mcmc.Target, o Options) *boundTracker {
	c := &boundTracker{doses: newDoses(t, o.Least, o.Most), o: o}
	if q.Bounding == nil {
		return c
	}
	c.work = int64(o.Evaluations) * stepsOf(q.Bounding) / 2
	p := *q.Bounding
	p.Sizes, p.Least, p.Most, p.Always = c.doses.sizes, o.Least, o.Most, q.Always
	c.parts = p.Factors
	if !t.HasBatchProperty() {
		p.MaxEnumerated = o.Evaluations / 2
	} else if slices.ContainsFunc(p.Factors, bound.Factor.IsUnbounded) {
		return c // it would be asked for nothing
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
			return math.Inf(-1), nil // a chain that meets it says so
		}
		return score, err
	}
	c.bounder = bound.New(&p)
	return c
}

// boundBefore bounds for the time of half the work, and returns the compositions that the bounder
// met.
func (c *boundTracker) boundBefore(ctx context.Context) ([]Found, error) {
	if c.bounder == nil {
		return nil, nil
	}
	if !slices.ContainsFunc(c.parts, func(p bound.Factor) bool { return p.Linear != nil || p.MaxOverForms != nil }) {
		// No box leads to a composition, so the search must come first. But if there are few
		// compositions, all are checked now.
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

// candidates returns the compositions that the bounder met, the best first.
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

// boundAfter continues with the compositions that a search found. It returns the bound and all
// compositions found.
func (c *boundTracker) boundAfter(ctx context.Context, candidates []Found) (*Bound, []Found, error) {
	out := &Bound{Above: math.Inf(1), Best: math.Inf(-1), Doses: c.o.Least != nil || c.o.Most != nil}
	for _, p := range c.parts {
		if p.IsUnbounded() {
			out.Open = append(out.Open, p.Name)
		}
	}
	s := &searcher{o: c.o}
	for _, f := range candidates {
		if f.LogScore > out.Best && c.doses.allowsSize(len(f.Parts)) && !s.refuses(f.Parts) &&
			!slices.ContainsFunc(f.Parts, func(p mcmc.Part) bool { return !c.doses.allows(p.Ingredient, int32(p.Amount)) }) {
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

// setProved sets the proved bound.
func (c *boundTracker) setProved(b *Bound) {
	b.Above, b.Proved = c.bounder.UpperBound(), c.bounder.IsOptimal()
}

// updateBound accounts for a shortlist that may have improved on the compositions found. It returns
// nil if nothing was found.
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
