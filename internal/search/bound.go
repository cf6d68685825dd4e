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

// A Bound is what no composition that may be offered scores more than, as logarithms.
type Bound struct {
	Above  float64 // it is proved; +Inf: no bound is known
	Best   float64 // the best that was found
	Proved bool    // they are the same, but for a hundred-millionth of the score
	Doses  bool    // recipes outside the doses of the known ones were left out

	// Open are the parts that may be anything as far as the bound knows: then there is none.
	Open []string
}

// boundSteps is how many steps of a nanosecond, about, bounding may take for each line that
// is searched, beside what stepsOf adds.
const boundSteps = 15_000

// stepsOf returns how many steps bounding may take for each line that is searched. For each a
// run scores four more, of chains: so it takes less than a third of a run whose lines take long,
// as those of processes do.
func stepsOf(p *bound.Problem) int64 {
	steps := int64(boundSteps)
	for _, part := range p.Factors {
		steps += part.LineCost * 5 / 4
	}
	return steps
}

// A boundTracker is a bounder beside a search.
type boundTracker struct {
	bounder *bound.Bounder // nil where nothing is bounded
	parts   []bound.Factor
	doses   *doses
	o       Options
	work    int64 // before the search, and again after it
}

// newBoundTracker makes a ceiling of what a search with these options looks for.
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

// boundBefore bounds for as long as half of the work takes, and returns what it has met.
func (c *boundTracker) boundBefore(ctx context.Context) ([]Found, error) {
	if c.bounder == nil {
		return nil, nil
	}
	if !slices.ContainsFunc(c.parts, func(p bound.Factor) bool { return p.Linear != nil || p.MaxOverForms != nil }) {
		// Nothing leads from a box to a composition: what the search finds comes first. But all
		// are looked at if they are few.
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

// candidates returns what the bounder has met, the best first.
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

// boundAfter goes on with what a search has found, and returns the bound and all that was found.
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

// setProved sets what is proved.
func (c *boundTracker) setProved(b *Bound) {
	b.Above, b.Proved = c.bounder.UpperBound(), c.bounder.IsOptimal()
}

// updateBound takes into account that a shortlist may have bettered what was found. It returns
// nil if nothing was.
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
