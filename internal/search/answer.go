package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"kir/internal/bound"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/yield"
	"kir/mcmc"
)

// A Question is what there is to know of a problem when its best is looked for.
type Question struct {
	Target *mcmc.Target // with weights as they are for the draws

	// Effort is how much is looked, see [Budget]; 0: the shortlist is of what is
	// found already.
	Effort float64

	// Known are the known recipes, and KnownScores returns Π_k y_k of each as the
	// models say that have not learnt from it, NaN where they cannot tell; nil: as
	// the target says.
	Known       []*mcmc.Composition
	KnownScores func() ([]float64, error)

	// Least and Most bound the amounts of each ingredient that are offered, and
	// Lacks says of a set that it has not what all known recipes have; nil: any.
	// Where nothing is found within them they are left alone.
	// Always are the ingredients without which it is not that.
	Least, Most []int
	Lacks       func(ingredients []int) bool
	Always      []int

	// Halves returns two targets whose models have learnt from different halves of
	// the recipes, with each weight 1; nil: nothing has been learnt.
	Halves func(ctx context.Context, seed uint64) (own, other *mcmc.Target, err error)

	Niche  Niche
	Refuse func(ingredients []int) bool // as in [Options]

	// Stated says that nothing which counts has learnt from data, so that each difference
	// of scores is one.
	Stated bool

	// Bounding has the conditions and the parts of the score, of which this package sets
	// the rest; nil: scores are not bounded.
	Bounding *bound.Problem
}

// RunContext is the run beside which a search stands.
type RunContext struct {
	Iterations int64 // of all chains
	Seed       uint64
	Workers    int
	Found      []Found // the best that the chains have seen; their LogScore is that of [Plain]

	LinesScored *atomic.Int64 // as in [Options]
}

// ExpectedLines returns about how many lines the walks of an answer will score.
func (q *Question) ExpectedLines(b RunContext) int {
	each := Budget(b.Iterations, q.Effort)
	if q.Halves != nil {
		return each + 2*(each/optimismShare)
	}
	return each
}

// An Answer is what a problem's reader wants to know: what is best, and how good
// that is.
type Answer struct {
	Effort        float64
	Evaluations   int64 // lines and compositions that were scored, of search, shortlist and promise
	Compositions  int64 // and their splits
	Entries       []Entry
	Comparison    *Comparison
	Bound         *Bound         // nil if nothing was searched, or nothing was found
	OptimismCheck *OptimismCheck // nil if nothing has been learnt or nothing was searched
	Notes         []string       // what could not be told, and why
	Seconds       float64        // it alone differs between equal runs
}

const (
	answerLength  = 20
	answerRandom  = 1000 // compositions to compare with
	optimismShare = 8    // either half is searched with an eighth of the budget
)

// Answer looks for the best, makes a shortlist of it and of what the chains have
// seen, and compares. It follows from the question, the seed and what the chains
// have seen, on any number of workers. It is nil if no property counts, as then
// nothing is better than anything else.
func (q *Question) Answer(ctx context.Context, b RunContext) (*Answer, error) {
	begun := time.Now()
	a, err := q.answer(ctx, b)
	if err == nil && a != nil && len(a.Entries) == 0 && (q.Least != nil || q.Lacks != nil) {
		wide := *q
		wide.Least, wide.Most, wide.Lacks, wide.Always = nil, nil, nil, nil
		if a, err = wide.answer(ctx, b); err == nil && len(a.Entries) > 0 {
			a.Notes = append(a.Notes, "Nothing was found within the doses of the known recipes, so that amounts are of any size.")
		}
	}
	if err != nil || a == nil {
		return nil, err
	}
	a.Seconds = time.Since(begun).Seconds()
	return a, nil
}

// answer is Answer within the bounds of the question.
func (q *Question) answer(ctx context.Context, b RunContext) (*Answer, error) {
	plain, err := Plain(q.Target)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(plain.Objectives(), func(w mcmc.Objective) bool { return w.Weight > 0 }) {
		return nil, nil
	}
	distance := NewDistance(plain.Space().N(), q.Known)
	typical, err := q.typicalDistance(ctx, plain, distance, b.Seed)
	if err != nil {
		return nil, err
	}
	refuse, kind := q.Refuse, q.Niche
	if q.Lacks != nil {
		refuse = func(set []int) bool { return q.Lacks(set) || q.Refuse != nil && q.Refuse(set) }
	}
	kind.Common = distance.common
	o := Options{
		Evaluations: Budget(b.Iterations, q.Effort), Seed: b.Seed, Workers: b.Workers, LinesScored: b.LinesScored,
		Starts: q.Known, Least: q.Least, Most: q.Most, Niche: kind, Refuse: refuse,
		Diverse: answerLength, Distance: distance, Apart: float64(ApartShare * typical),
	}
	list := ListOptions{Length: answerLength, Exact: q.Stated, Distance: distance, Apart: o.Apart, Least: q.Least, Most: q.Most, Refuse: refuse, Known: q.Known}
	for _, w := range q.Target.Objectives() {
		list.Weight = max(list.Weight, w.Weight)
	}
	a := &Answer{Effort: q.Effort}
	candidates := b.Found
	var c *boundTracker
	if o.Evaluations > 0 {
		c = q.newBoundTracker(plain, o)
		if o.Extra, err = c.boundBefore(ctx); err != nil {
			return nil, err
		}
		r, err := best(ctx, plain, o, b.Found)
		if err != nil {
			return nil, err
		}
		a.Evaluations, a.Compositions = r.Evaluations, r.Compositions
		candidates = slices.Concat(r.Diverse, r.Archive.Best(), b.Found)
		if a.Bound, candidates, err = c.boundAfter(ctx, candidates); err != nil {
			return nil, err
		}
	}
	l, err := Shortlist(ctx, plain, candidates, list)
	if err != nil {
		return nil, err
	}
	a.Entries = l.Entries
	if a.Bound != nil {
		a.Bound = c.updateBound(a.Bound, l.Entries)
	}
	a.Evaluations += l.Evaluations
	a.Compositions += l.Compositions
	compare := CompareOptions{Random: answerRandom, Seed: b.Seed, Distance: distance, Known: q.Known}
	if q.KnownScores != nil {
		if compare.KnownScores, err = q.KnownScores(); err != nil {
			return nil, err
		}
	}
	if a.Comparison, err = Compare(ctx, plain, a.Entries, compare); err != nil {
		return nil, err
	}
	if o.Evaluations /= optimismShare; o.Evaluations > 0 && q.Halves != nil {
		if err := a.checkOptimism(ctx, q, o, list); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// best is [Best], which begins at what the chains have seen if it finds nothing
// else to begin from.
func best(ctx context.Context, t *mcmc.Target, o Options, found []Found) (*Result, error) {
	r, err := Best(ctx, t, o)
	if !errors.Is(err, mcmc.ErrNoStart) || len(found) == 0 {
		return r, err
	}
	for _, f := range found[:min(len(found), randomSeeds)] {
		x, err := mcmc.NewComposition(t.Space().N(), f.Parts...)
		if err != nil {
			return nil, err
		}
		o.Starts = append(slices.Clip(o.Starts), x)
	}
	return Best(ctx, t, o)
}

// randomPairs is how many random compositions tell a typical distance where known
// ones do not.
const randomPairs = 100

// typicalDistance returns what two known recipes differ, or two random compositions if
// there are not two that differ.
func (q *Question) typicalDistance(ctx context.Context, t *mcmc.Target, d *Distance, seed uint64) (float64, error) {
	if typical := d.Typical(q.Known); typical > 0 {
		return typical, nil
	}
	prior, r := mcmc.NewPrior(t), mcmc.NewRand(seed, "search distance", 0)
	var all []*mcmc.Composition
	for range randomPairs {
		if err := yield.Err(ctx); err != nil {
			return 0, err
		}
		x, err := prior.Draw(r)
		if err != nil {
			return 0, fmt.Errorf("search: %w", err)
		}
		all = append(all, x.Clone()) // which holds until the next draw
	}
	return max(d.Typical(all), 0), nil
}

// checkOptimism checks what the models of each half promise by those of the other half. What
// cannot be checked, as where a class is in one half only, is noted.
func (a *Answer) checkOptimism(ctx context.Context, q *Question, o Options, l ListOptions) error {
	own, other, err := q.Halves(ctx, o.Seed)
	if err == nil {
		a.OptimismCheck, err = checkBoth(ctx, own, other, o, l)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.Notes = append(a.Notes, fmt.Sprintf("The models' promise could not be checked on halves of the recipes: %v.", err))
		return nil
	}
	a.Evaluations += a.OptimismCheck.Evaluations
	a.Compositions += a.OptimismCheck.Compositions
	return nil
}

// checkBoth is [Check] either way, and the mean of both: where the recipes are few
// much of what one half says is by chance.
func checkBoth(ctx context.Context, a, b *mcmc.Target, o Options, l ListOptions) (*OptimismCheck, error) {
	p, err := Check(ctx, a, b, o, l)
	if err != nil {
		return nil, err
	}
	q, err := Check(ctx, b, a, o, l)
	if err != nil {
		return nil, err
	}
	both := &OptimismCheck{
		Told:          number.Number((p.Told + q.Told) / 2),
		Checked:       number.Number((p.Checked + q.Checked) / 2),
		RandomTold:    number.Number((p.RandomTold + q.RandomTold) / 2),
		RandomChecked: number.Number((p.RandomChecked + q.RandomChecked) / 2),
		Evaluations:   p.Evaluations + q.Evaluations,
		Compositions:  p.Compositions + q.Compositions,
	}
	both.setRemaining()
	return both, nil
}

// Score returns Π_k y_k of an entry, of the properties that count, as they are.
func (f *Found) Score() float64 { return portable.Exp(f.LogScore) }
