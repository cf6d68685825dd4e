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

// An Objective is one of the objectives of a trade-off.
type Objective struct {
	Name  string
	Score mcmc.Property // whose log score is the loss times −1
	Size  float64       // of the figures that the loss is a difference of, see [pareto.MergeTies]; 0: it is none
}

// Loss returns the loss of a composition; lower is better.
func (o *Objective) Loss(x *mcmc.Composition) float64 { return -o.Score.LogScore(x) }

// TradeOptions are the options of [TradeOff].
type TradeOptions struct {
	Lines   int    // that are scored, about: the budget
	Seed    uint64 // of all random choices
	Workers int    // searches made at once; it changes nothing but the time. 0: all cores

	Starts      []*mcmc.Composition // to begin from, as in [Options]
	Least, Most []int               // doses, as in [Options]
	Refuse      func(ingredients []int) bool

	NoRandom bool // nothing is compared with random compositions
}

// A TradeOffResult is what [TradeOff] found.
type TradeOffResult struct {
	Front []Member // none of which another beats, by the first loss and then the others

	Ideal, Nadir []float64 // the least and the greatest of each loss on the front
	Reference    []float64 // of the hypervolumes

	// Volume is the hypervolume of the front. Searches are those of independent searches, and
	// Random those of as many samples of RandomSize random compositions. All are shares of the box
	// from the ideal to the reference.
	Volume     float64
	Searches   []float64
	Random     []float64
	RandomSize int

	Lines, Compositions int64 // that were scored; a composition is a split of a line
}

// A Member is a composition of a front.
type Member struct {
	Parts      []mcmc.Part // by ingredient
	Conditions []int32     // by condition, the index of its value; nil without conditions
	Losses     []float64
}

// The shares of the budget: independent searches, which also show the error of one of them, the
// best of each loss, and the moves from all compositions found.
const (
	tradeSearches = 4
	searchesShare = 0.5
	endsShare     = 0.2
	randomSize    = 2500 // compositions of a random sample
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
	all := &frontSearch{target: plain, objectives: objectives, o: o, doses: newDoses(plain, o.Least, o.Most)}
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
	// If all neighbours are known, more walks use the rest of the budget.
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

// measure computes the hypervolumes.
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
	// The front has all compositions of the searches, unless it was thinned to be measured.
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
			if y, ok := all.doses.repair(x); ok {
				x = y // random recipes hardly ever have the doses of known ones
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

// mostMeasured is the most points of four losses in a hypervolume. More take too long.
const mostMeasured = 120

func lossesOf(members []Member) [][]float64 {
	out := make([][]float64, len(members))
	for k, m := range members {
		out[k] = m.Losses
	}
	return out
}

// frontSearch holds the constant data that the walkers of a search for a front share.
type frontSearch struct {
	target     *mcmc.Target // without objectives
	objectives []Objective
	o          TradeOptions
	doses      *doses

	seeds []Member  // to begin from
	width []float64 // of each loss, among the seeds
}

// lossesAt returns the losses of a composition, and whether all are numbers.
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

// allows reports whether a composition may be suggested: it keeps rules, bounds, doses and sizes.
func (t *frontSearch) allows(x *mcmc.Composition) bool {
	if !t.doses.allowsSize(x.Used()) || !t.doses.allowsAll(x) || t.refuses(x.Parts()) {
		return false
	}
	score, err := t.target.LogScore(x)
	return err == nil && !math.IsInf(score, -1)
}

func (t *frontSearch) refuses(parts []mcmc.Part) bool {
	s := searcher{o: Options{Refuse: t.o.Refuse}}
	return s.refuses(parts)
}

// tradeSeeds is the number of random compositions that a search starts from.
const tradeSeeds = 200

// prepare makes the seeds and measures the spread of each loss among them.
func (t *frontSearch) prepare(ctx context.Context) error {
	take := func(x *mcmc.Composition) {
		if y, ok := t.doses.repair(x); ok {
			x = y
		}
		if score, err := t.target.LogScore(x); err != nil || math.IsInf(score, -1) || !t.doses.allowsSize(x.Used()) {
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

// The lines of a search for a front at effort 1, the most splits that it scores, and the fewest
// lines.
const tradeLines, tradeSplits, fewestTradeLines = 100_000, 40_000_000, 4000

// TradeBudget returns the number of lines of a search for a front: fewer where lines are long.
func TradeBudget(total int, effort float64) int {
	return max(int(effort*float64(min(tradeLines, max(tradeSplits/total, fewestTradeLines)))), 1)
}

// Extrapolating returns the compositions that lie further from all known ones than these lie from
// each other, see [Comparison].
func Extrapolating(list [][]mcmc.Part, known []*mcmc.Composition, d *Distance) []int {
	entries := make([]Entry, len(list))
	for k := range list {
		entries[k].Parts = list[k]
	}
	c := new(Comparison)
	c.computeDistances(entries, CompareOptions{Distance: d, Known: known})
	return c.Extrapolates
}
