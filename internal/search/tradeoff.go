package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/internal/browsersched"
	"kir/internal/pareto"
	"kir/mcmc"
)

// An Objective is one of several losses to minimise at once.
type Objective struct {
	Name  string
	Score mcmc.Property // property whose log score is −loss
	Size  float64       // magnitude of the figures of which the loss is a difference, see [pareto.MergeTies]; 0 if it is no difference
}

// Loss returns the loss of x; lower is better.
func (o *Objective) Loss(x *mcmc.Composition) float64 { return -o.Score.LogScore(x) }

// TradeOptions are the options of [TradeOff].
type TradeOptions struct {
	Lines   int    // approximate number of lines to score
	Seed    uint64 // seed of all random choices
	Workers int    // searches that run at the same time; affects only the duration; 0 for all cores

	Starts      []*mcmc.Composition // compositions to start from, as in [Options]
	Least, Most []int               // limits of amounts, as in [Options]
	Refuse      func(ingredients []int) bool

	NoRandom bool // leave out the hypervolumes of random compositions
}

// A TradeOffResult is the front that [TradeOff] found, and measures of it.
type TradeOffResult struct {
	Front []Member // compositions that no other beats in all losses, sorted by the first loss and then the others

	Ideal, Nadir []float64 // least and greatest value of each loss on the front
	Reference    []float64 // reference point of the hypervolumes

	// Volume is the hypervolume of the front. Searches holds that of each independent search, and Random that of as
	// many samples of RandomSize random compositions. All are fractions of the box from the ideal to the reference.
	Volume     float64
	Searches   []float64
	Random     []float64
	RandomSize int

	Lines, Compositions int64 // numbers of scored lines, and of their splits
}

// A Member is a composition on a front, with its losses.
type Member struct {
	Parts      []mcmc.Part // amounts, in increasing order of ingredients
	Conditions []int32     // index of the value of each condition; nil without conditions
	Losses     []float64
}

// The budget is shared among independent searches, the search for the best of each loss, and moves from the
// compositions found. Differences between the independent searches show the error of one.
const (
	tradeSearches = 4
	searchesShare = 0.5
	endsShare     = 0.2
	randomSize    = 2500 // number of compositions in a random sample
)

// TradeOff searches for the compositions that no other beats in all of several losses at once,
// among those to which the target gives density.
//
// Independent searches walk from line to line. Each walk has a corner in the space of losses. It
// minimises the greatest of the losses, each less the corner's and scaled by a gap of the front (a
// weighted Chebyshev distance; Steuer and Choo 1983). Unlike a weighted sum of losses or a product
// of scores, this makes every point of a front the best for some corner, whatever the front's
// shape. The next walk takes the widest gap. Every split of every scored line is compared with the
// front so far, not only the splits that the walk takes. In the end the search scores each line
// through each composition found, as long as the budget lasts.
//
// The result depends on the target, the objectives and the seed, not on the number of workers. It fails
// with an error that wraps [mcmc.ErrNoStart] if there is no composition to start from.
func TradeOff(ctx context.Context, t *mcmc.Target, objectives []Objective, o TradeOptions) (*TradeOffResult, error) {
	if len(objectives) < 2 || o.Lines < 1 {
		return nil, fmt.Errorf("search: a trade-off of %d losses with %d lines", len(objectives), o.Lines)
	}
	plain, err := t.WithObjectives()
	if err != nil {
		return nil, err
	}
	all := &frontSearch{target: plain, objectives: objectives, o: o, limits: newAmountLimits(plain, o.Least, o.Most)}
	if err := all.prepare(ctx); err != nil {
		return nil, err
	}
	found := make([]*frontWalker, tradeSearches)
	g, within := errgroup.WithContext(ctx)
	workers := Options{Workers: o.Workers}
	g.SetLimit(workers.workers())
	each := int64(float64(o.Lines) * searchesShare / tradeSearches)
	for k := range found {
		g.Go(func() (err error) {
			if found[k], err = all.newFrontWalker(uint64(1 + k)); err != nil {
				return err
			}
			return found[k].explore(within, each)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	last, err := all.newFrontWalker(0)
	if err != nil {
		return nil, err
	}
	r := &TradeOffResult{RandomSize: randomSize}
	for _, w := range found {
		for _, m := range w.archive.members {
			last.archive.offer(m.Losses, m.Parts, m.Conditions)
		}
		r.Lines += w.lines
		r.Compositions += w.splits
	}
	if err := last.searchEnds(ctx, int(float64(o.Lines)*endsShare)); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	// If the lines through all compositions found have been scored, walks use the rest of the budget.
	least := int64(o.Lines / 10)
	for until := max(int64(o.Lines)-r.Lines, last.lines+least); last.lines < until; {
		if err := last.polish(ctx, until); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		if err := last.explore(ctx, min(last.lines+least, until)); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
	}
	r.Lines += last.lines
	r.Compositions += last.splits
	r.Front = last.archive.merged()
	return r, r.measure(ctx, all, found)
}

// measure computes the hypervolumes of r.
func (r *TradeOffResult) measure(ctx context.Context, all *frontSearch, found []*frontWalker) error {
	r.Ideal, r.Nadir = pareto.Bounds(lossesOf(r.Front))
	r.Reference = pareto.Reference(r.Ideal, r.Nadir)
	share := func(points [][]float64) float64 {
		scaled := pareto.Scaled(points, r.Ideal, r.Reference)
		one := make([]float64, len(r.Ideal))
		for d := range one {
			one[d] = 1
		}
		if len(one) > 3 && len(scaled) > mostMeasured {
			var some [][]float64
			for _, k := range pareto.SelectSpread(scaled, mostMeasured) {
				some = append(some, scaled[k])
			}
			scaled = some
		}
		return pareto.Hypervolume(scaled, one)
	}
	r.Volume = share(lossesOf(r.Front))
	for _, w := range found {
		r.Searches = append(r.Searches, share(lossesOf(w.archive.members)))
	}
	// The front contains all that the searches found, but its hypervolume may be computed from a selection.
	r.Volume = max(r.Volume, slices.Max(r.Searches))
	if all.o.NoRandom {
		return nil
	}
	prior, rand := mcmc.NewPrior(all.target), mcmc.NewRand(all.o.Seed, "search trade random", 0)
	for range tradeSearches {
		var points [][]float64
		for k := range randomSize {
			if k&255 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			x, err := prior.Draw(rand)
			if err != nil {
				return fmt.Errorf("search: %w", err)
			}
			if y, ok := all.limits.repair(x); ok {
				x = y // random amounts rarely lie within the ranges of known recipes
			}
			if !all.allows(x) {
				continue
			}
			p, ok := all.lossesAt(x)
			if ok {
				points = append(points, p)
			}
		}
		kept := points[:0]
		for _, k := range pareto.Minimal(points) {
			kept = append(kept, slices.Clone(points[k]))
		}
		r.Random = append(r.Random, share(kept))
	}
	return nil
}

// mostMeasured is the greatest number of points from which a hypervolume of four losses is computed, because the time
// grows steeply.
const mostMeasured = 120

func lossesOf(members []Member) [][]float64 {
	out := make([][]float64, len(members))
	for k, m := range members {
		out[k] = m.Losses
	}
	return out
}

// A frontSearch holds the constant data that all walkers of a search for a front share.
type frontSearch struct {
	target     *mcmc.Target // target without objectives, for rules and bounds
	objectives []Objective
	o          TradeOptions
	limits     *amountLimits

	seeds []Member  // compositions to start from
	width []float64 // range of each loss among the seeds
}

// lossesAt returns the losses of x. ok is false unless all are finite.
func (t *frontSearch) lossesAt(x *mcmc.Composition) ([]float64, bool) {
	out := make([]float64, len(t.objectives))
	for d := range t.objectives {
		out[d] = t.objectives[d].Loss(x)
		if math.IsNaN(out[d]) || math.IsInf(out[d], 0) {
			return nil, false
		}
	}
	return out, true
}

// allows reports whether x may be suggested: it satisfies rules, bounds, and limits of amounts and sizes.
func (t *frontSearch) allows(x *mcmc.Composition) bool {
	if !t.limits.allowsSize(x.Used()) || !t.limits.allowsAll(x) || t.refuses(x.Parts()) {
		return false
	}
	score, err := t.target.LogScore(x)
	return err == nil && !math.IsInf(score, -1)
}

func (t *frontSearch) refuses(parts []mcmc.Part) bool {
	s := searcher{o: Options{Refuse: t.o.Refuse}}
	return s.refuses(parts)
}

// tradeSeeds is the number of random compositions from which walks start.
const tradeSeeds = 200

// prepare finds the seeds and measures the range of each loss among them.
func (t *frontSearch) prepare(ctx context.Context) error {
	take := func(x *mcmc.Composition) {
		if y, ok := t.limits.repair(x); ok {
			x = y
		}
		if score, err := t.target.LogScore(x); err != nil || math.IsInf(score, -1) || !t.limits.allowsSize(x.Used()) {
			return
		}
		if p, ok := t.lossesAt(x); ok {
			t.seeds = append(t.seeds, Member{x.Parts(), x.AppendConditions(nil), p})
		}
	}
	for _, x := range t.o.Starts {
		x, err := withConditions(t.target, x)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		take(x)
	}
	prior, r := mcmc.NewPrior(t.target), mcmc.NewRand(t.o.Seed, "search trade", 0)
	for range tradeSeeds {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		x, err := prior.Draw(r)
		if errors.Is(err, mcmc.ErrNoStart) {
			break
		}
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		take(x.Clone())
	}
	if len(t.seeds) == 0 {
		x, _, err := mcmc.StartState(t.target, r)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		take(x.Composition)
	}
	if len(t.seeds) == 0 {
		return fmt.Errorf("search: %w: nothing has a value of each objective", mcmc.ErrNoStart)
	}
	ideal, nadir := pareto.Bounds(lossesOf(t.seeds))
	for d := range ideal {
		t.width = append(t.width, max(nadir[d]-ideal[d], float64(1e-9*math.Abs(nadir[d])), 1e-300))
	}
	return nil
}

// tradeLines is the number of lines of a search for a front at effort 1. tradeSplits is the greatest number of splits
// that it scores, and fewestTradeLines the least number of lines.
const tradeLines, tradeSplits, fewestTradeLines = 100_000, 40_000_000, 4000

// TradeBudget returns the number of lines to score in a search for a front. Lines of a larger total have more splits,
// so there are fewer of them.
func TradeBudget(total int, effort float64) int {
	return max(int(effort*float64(min(tradeLines, max(tradeSplits/total, fewestTradeLines)))), 1)
}

// Extrapolating returns the indices of the compositions in list that lie further than [Comparison.Reach] from all
// known ones.
func Extrapolating(list [][]mcmc.Part, known []*mcmc.Composition, d *Distance) []int {
	entries := make([]Entry, len(list))
	for k := range list {
		entries[k].Parts = list[k]
	}
	c := new(Comparison)
	c.computeDistances(entries, CompareOptions{Distance: d, Known: known})
	return c.Extrapolates
}
