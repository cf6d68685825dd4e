package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"kir/internal/bound"
	"kir/internal/browsersched"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// A Question holds everything that a search for the best compositions of a problem needs.
type Question struct {
	Target *mcmc.Target // distribution of compositions that a run samples, with the weights of its objectives

	// Effort multiplies the number of lines to score; see [LineBudget]. With an effort of 0 nothing is
	// searched, and the shortlist consists of compositions found before.
	Effort float64

	// Known lists the known recipes.
	Known []*mcmc.Composition
	// KnownScores returns one score for each known recipe: the product Π_k y_k of the scores of the objectives,
	// predicted by models that were not trained on the recipe. The score is NaN without such a model. If
	// KnownScores is nil, the target scores the known recipes.
	KnownScores func() ([]float64, error)

	// Least and Most hold the least and the greatest amount of each ingredient in suggestions; nil means no
	// limit. If no composition is found within the limits Least, Most and LacksAlwaysUsed, the search runs
	// again without them.
	Least, Most []int
	// LacksAlwaysUsed reports whether a set of ingredients misses an ingredient that all known recipes have.
	// Such a set must not be suggested. Nil means no limit.
	LacksAlwaysUsed func(ingredients []int) bool
	Always          []int // indices of the ingredients that all known recipes have; nil means no limit

	// HalfTargets returns two targets with all weights 1, whose models were trained on different halves of the recipes.
	// HalfTargets is nil if no model was trained.
	HalfTargets func(ctx context.Context, seed uint64) (own, other *mcmc.Target, err error)

	Niche  Niche
	Refuse func(ingredients []int) bool // reports whether a set of ingredients must not be suggested; see [Options]

	// AllObjectivesStated means that no objective was learnt from data, so every difference of scores is real.
	AllObjectivesStated bool

	// BoundProblem holds the rules, and the terms of the score from which upper bounds of the score are
	// computed. Package search sets its other fields. If BoundProblem is nil, no upper bounds are computed.
	BoundProblem *bound.Problem
}

// RunContext describes the sampling run of the problem for which a [Question] is answered.
type RunContext struct {
	Iterations int64 // total number of iterations of all chains
	Seed       uint64
	Workers    int
	Found      []Found // best compositions that the chains visited; their log scores are without weights, see [UnweightedTarget]

	Steps *Steps // how processes share the search; nil where one process makes it

	stepName string // beginning of the names of the steps

	LinesScored *atomic.Int64 // counter of the lines scored so far; see [Options]
}

// RunFigures holds what a [RunContext] has from the draws of a run.
type RunFigures struct {
	Iterations int64
	Found      []Found
}

func (r *RunFigures) check(n int) error { return checkFound(r.Found, n) }

// ExpectedLines estimates how many lines (see [mcmc.Scorer]) will be scored to answer the question. Progress
// reports use the number.
func (q *Question) ExpectedLines(b RunContext) int {
	each := LineBudget(b.Iterations, q.Effort)
	if q.HalfTargets != nil {
		return each + 2*(each/optimismBudgetDivisor)
	}
	return each
}

// An Answer holds the best compositions found for a problem, and what is known about their quality.
type Answer struct {
	Effort        float64
	Evaluations   int64          // number of lines (see mcmc.Scorer) and single compositions scored by the search, the shortlist and the optimism check
	Compositions  int64          // number of compositions on the scored lines
	Entries       []Entry        // shortlist, from best to worst
	Comparison    *Comparison    // comparison of the shortlist with known and random compositions
	Bound         *Bound         // upper bound of the scores; nil if nothing was searched or found
	OptimismCheck *OptimismCheck // check of the predicted scores; nil if no objective was learnt from data, or nothing was searched
	Notes         []string       // reasons why parts of the answer are missing
	Seconds       float64        // duration of the search; all other fields are equal for equal questions and seeds
}

const (
	maxAnswerEntries      = 20   // greatest number of recipes on the shortlist of an answer
	comparedRandomCount   = 1000 // number of random compositions with which a shortlist is compared
	optimismBudgetDivisor = 8    // the optimism check searches twice, each time with the budget of the main search divided by this number
)

// Answer searches for the best compositions. It makes a shortlist from the compositions found and from the
// compositions that the chains visited. It compares the shortlist with known and random compositions. The
// result depends only on the question, the seed and the visited compositions, not on the number of workers. It
// is nil if no objective has a positive weight, because all compositions are then equally good.
func (q *Question) Answer(ctx context.Context, b RunContext) (*Answer, error) {
	begun := time.Now()
	b.stepName = "search"
	a, err := q.answerWithinLimits(ctx, b)
	if err == nil && a != nil && len(a.Entries) == 0 && (q.Least != nil || q.LacksAlwaysUsed != nil) {
		wide := *q
		wide.Least, wide.Most, wide.LacksAlwaysUsed, wide.Always = nil, nil, nil, nil
		b.stepName = "search-any-amounts"
		if a, err = wide.answerWithinLimits(ctx, b); err == nil && len(a.Entries) > 0 {
			a.Notes = append(a.Notes, "Nothing was found within the amounts of the known recipes, so amounts may be of any size.")
		}
	}
	if err != nil || a == nil {
		return nil, err
	}
	a.Seconds = time.Since(begun).Seconds()
	return a, nil
}

// answerWithinLimits searches like [Question.Answer], but never drops the limits Least and Most of the
// question, even if nothing is found within them.
func (q *Question) answerWithinLimits(ctx context.Context, b RunContext) (*Answer, error) {
	plain, err := UnweightedTarget(q.Target)
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
	if q.LacksAlwaysUsed != nil {
		refuse = func(set []int) bool { return q.LacksAlwaysUsed(set) || q.Refuse != nil && q.Refuse(set) }
	}
	kind.Common = distance.isCommon
	o := Options{
		Evaluations: LineBudget(b.Iterations, q.Effort), Seed: b.Seed, Workers: b.Workers, LinesScored: b.LinesScored,
		Steps: b.Steps, StepName: b.stepName,
		Starts: q.Known, Least: q.Least, Most: q.Most, Niche: kind, Refuse: refuse,
		DiverseCount: maxAnswerEntries, Distance: distance, MinDistance: float64(MinDistanceShare * typical),
	}
	list := ListOptions{MaxEntries: maxAnswerEntries, Exact: q.AllObjectivesStated, Distance: distance, MinDistance: o.MinDistance, Least: q.Least, Most: q.Most, Refuse: refuse, Known: q.Known}
	for _, w := range q.Target.Objectives() {
		list.Weight = max(list.Weight, w.Weight)
	}
	o.slots = semaphore.NewWeighted(int64(o.workerCount()))
	a := &Answer{Effort: q.Effort}
	found := &foundCompositions{candidates: b.Found}
	var parts []func(ctx context.Context) error
	if o.Evaluations > 0 {
		c := q.newBoundTracker(plain, o)
		if o.FeasibleStarts, err = c.startsByBounding(ctx); err != nil {
			return nil, err
		}
		parts = append(parts, func(ctx context.Context) (err error) {
			if b.Steps.isIn(b.stepName + "-check-") {
				return ErrStepsMissing
			}
			found, err = searchAndBound(ctx, plain, o, c, b.Found)
			return err
		})
	}
	if half := o; half.Evaluations/optimismBudgetDivisor > 0 && q.HalfTargets != nil {
		half.Evaluations /= optimismBudgetDivisor
		parts = append(parts, func(ctx context.Context) error {
			if b.Steps.isIn(b.stepName + "/") {
				return ErrStepsMissing
			}
			return a.checkOptimism(ctx, q, half, list)
		})
	}
	if err := runIndependent(ctx, o.workerCount(), parts...); err != nil {
		return nil, err
	}
	a.Evaluations += found.evaluations
	a.Compositions += found.compositions
	candidates, bounded := found.candidates, found.bounded
	l, err := Shortlist(ctx, plain, candidates, list)
	if err != nil {
		return nil, err
	}
	a.Entries = l.Entries
	if bounded != nil {
		a.Bound = bounded.raiseBestScore(l.Entries)
	}
	a.Evaluations += l.Evaluations
	a.Compositions += l.Compositions
	compare := CompareOptions{RandomCount: comparedRandomCount, Seed: b.Seed, Distance: distance, Known: q.Known}
	if q.KnownScores != nil {
		if compare.KnownScores, err = q.KnownScores(); err != nil {
			return nil, err
		}
	}
	if a.Comparison, err = Compare(ctx, plain, a.Entries, compare); err != nil {
		return nil, err
	}
	return a, nil
}

// foundCompositions is what a search and the computation of bounds have found.
type foundCompositions struct {
	candidates                []Found
	bounded                   *boundResult
	evaluations, compositions int64 // numbers of lines and of compositions scored; see [Answer]
}

// searchAndBound searches for the best compositions, and then continues to compute an upper bound of the scores.
func searchAndBound(ctx context.Context, t *mcmc.Target, o Options, c *boundTracker, visited []Found) (*foundCompositions, error) {
	r, err := bestWithFallbackStarts(ctx, t, o, visited)
	if err != nil {
		return nil, err
	}
	candidates := slices.Concat(r.Diverse, r.Archive.Best(), visited)
	bounded, err := c.boundOf(ctx, candidates)
	if err != nil {
		return nil, err
	}
	return &foundCompositions{slices.Concat(bounded.Candidates, candidates), bounded, r.Evaluations, r.Compositions}, nil
}

// bestWithFallbackStarts calls [Best]. If Best finds no composition to start from, a second call of Best starts
// from compositions that the chains visited.
func bestWithFallbackStarts(ctx context.Context, t *mcmc.Target, o Options, found []Found) (*Result, error) {
	r, err := Best(ctx, t, o)
	if !errors.Is(err, mcmc.ErrNoStart) || len(found) == 0 {
		return r, err
	}
	for _, f := range found[:min(len(found), randomSeedCount)] {
		x, err := t.Space().Composition(f.Parts, f.Conditions)
		if err != nil {
			return nil, err
		}
		o.Starts = append(slices.Clip(o.Starts), x)
	}
	return Best(ctx, t, o)
}

// distanceSampleSize is the number of random compositions from which a typical distance is computed if the
// known recipes do not differ.
const distanceSampleSize = 100

// typicalDistance returns the median distance between two known recipes. If this is 0 or unknown, it returns
// the median distance between two random compositions.
func (q *Question) typicalDistance(ctx context.Context, t *mcmc.Target, d *Distance, seed uint64) (float64, error) {
	if typical := d.Typical(q.Known); typical > 0 {
		return typical, nil
	}
	prior, r := mcmc.NewPrior(t), mcmc.NewRand(seed, "search distance", 0)
	var all []*mcmc.Composition
	for range distanceSampleSize {
		if err := browsersched.Err(ctx); err != nil {
			return 0, err
		}
		x, err := prior.Draw(r)
		if err != nil {
			return 0, fmt.Errorf("search: %w", err)
		}
		all = append(all, x.Clone()) // the next draw overwrites x
	}
	return max(d.Typical(all), 0), nil
}

// checkOptimism sets a.OptimismCheck, which compares predicted scores with independent predictions. To this
// end, models trained on one half of the recipes make a shortlist, and models trained on the other half score
// it. If that is impossible, checkOptimism adds a note to a.Notes, for example because a class of recipes
// occurs in one half only.
func (a *Answer) checkOptimism(ctx context.Context, q *Question, o Options, l ListOptions) error {
	own, other, err := q.HalfTargets(ctx, o.Seed)
	if err == nil {
		a.OptimismCheck, err = checkOptimismBothWays(ctx, own, other, o, l)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if IsStepError(err) {
		return err
	}
	if err != nil {
		a.Notes = append(a.Notes, fmt.Sprintf("The models' promise could not be checked on halves of the recipes: %v.", err))
		return nil
	}
	a.Evaluations += a.OptimismCheck.Evaluations
	a.Compositions += a.OptimismCheck.Compositions
	return nil
}

// checkOptimismBothWays calls [CheckOptimism] twice, with the targets a and b in both roles, and returns the
// average. With few recipes a single call depends much on chance.
func checkOptimismBothWays(ctx context.Context, a, b *mcmc.Target, o Options, l ListOptions) (*OptimismCheck, error) {
	names := [2]string{o.StepName + "-check-1", o.StepName + "-check-2"}
	targets := [2]*mcmc.Target{a, b}
	var checks [2]*OptimismCheck
	var parts []func(ctx context.Context) error
	for k := range checks {
		other := 1 - k
		parts = append(parts, func(ctx context.Context) (err error) {
			if o.Steps.isIn(names[other] + "/") {
				return ErrStepsMissing
			}
			o, l := o.named(names[k]), l
			l.Distance = o.Distance
			checks[k], err = CheckOptimism(ctx, targets[k], targets[other], o, l)
			return err
		})
	}
	if err := runIndependent(ctx, o.workerCount(), parts...); err != nil {
		return nil, err
	}
	p, q := checks[0], checks[1]
	both := &OptimismCheck{
		Predicted:       number.Number((p.Predicted + q.Predicted) / 2),
		Checked:         number.Number((p.Checked + q.Checked) / 2),
		RandomPredicted: number.Number((p.RandomPredicted + q.RandomPredicted) / 2),
		RandomChecked:   number.Number((p.RandomChecked + q.RandomChecked) / 2),
		Evaluations:     p.Evaluations + q.Evaluations,
		Compositions:    p.Compositions + q.Compositions,
	}
	both.setRemainingGains()
	return both, nil
}

// Score returns Π_k y_k, the product of the scores of the objectives. The field LogScore must be without
// weights; see [UnweightedTarget].
func (f *Found) Score() float64 { return portable.Exp(f.LogScore) }
