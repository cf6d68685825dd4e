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

// An Objective is one of several losses that a trade-off minimises at once.
type Objective struct {
	Name          string
	Score         mcmc.Property // property whose log score is −loss
	LossMagnitude float64       // if the loss is a difference of two figures, their magnitude, see [pareto.MergeTies]; otherwise 0
}

// Loss returns the loss of x; lower is better.
func (o *Objective) Loss(x *mcmc.Composition) float64 { return -o.Score.LogScore(x) }

// TradeOptions are the options of [TradeOff].
type TradeOptions struct {
	Lines   int    // approximate number of lines (see mcmc.Scorer) to score
	Seed    uint64 // seed of all random choices
	Workers int    // number of searches that run at the same time, 0 for all cores; affects only the duration

	Starts      []*mcmc.Composition // compositions to start from, as in [Options]
	Least, Most []int               // limits of amounts, as in [Options]
	Refuse      func(ingredients []int) bool

	SkipRandomVolumes bool // whether to leave out the hypervolumes of random compositions
}

// A TradeOffResult holds the front that [TradeOff] found, and measures of the front.
type TradeOffResult struct {
	Front []FrontMember // compositions of which no other beats any in all losses, sorted by the first loss, then by the other losses

	Ideal, Nadir []float64 // by loss: the least and the greatest value on the front
	Reference    []float64 // reference point of the hypervolumes

	// Volume is the hypervolume of the front. Searches holds the hypervolume found by each independent search.
	// Random holds the hypervolumes of as many samples of RandomSize random compositions. All are fractions of the
	// box from the ideal point to the reference point.
	Volume        float64
	SearchVolumes []float64
	RandomVolumes []float64
	RandomSize    int

	Lines, Compositions int64 // numbers of scored lines (see mcmc.Scorer), and of compositions on these lines
}

// A FrontMember is a composition on a front, with its losses.
type FrontMember struct {
	Parts      []mcmc.Part // used ingredients and their amounts, in ascending order of ingredients
	Conditions []int32     // by condition: the index of its value; nil without conditions
	Losses     []float64
}

// The budget of a trade-off is shared among independent searches, the search for the best composition of each loss,
// and lines through the compositions found. Differences between the independent searches show the error of a single
// search.
const (
	independentSearches    = 4
	independentBudgetShare = 0.5
	extremesBudgetShare    = 0.2
	randomSampleSize       = 2500 // number of compositions in a random sample
)

// TradeOff searches for the front of several losses: the compositions that no other composition beats in all losses
// at once, among those to which the target gives density.
//
// Independent searches walk from line to line (see [mcmc.Scorer]). Each walk has a corner, which is a point in the
// space of losses. The walk minimises the greatest of the losses after subtracting the corner and scaling by the
// width of a gap of the front (a weighted Chebyshev distance; Steuer and Choo 1983). Unlike a weighted sum of
// losses or a product of scores, this distance makes every point of a front the best for some corner, whatever the
// shape of the front. The next walk aims at the widest gap. Every composition on every scored line is compared with
// the front so far, not only the compositions that the walk visits. In the end the search scores each line through
// each composition found, as long as the budget lasts.
//
// The result depends on the target, the objectives and the seed, not on the number of workers. TradeOff fails with
// an error that wraps [mcmc.ErrNoStart] if there is no composition to start from.
func TradeOff(ctx context.Context, t *mcmc.Target, objectives []Objective, o TradeOptions) (*TradeOffResult, error) {
	if len(objectives) < 2 || o.Lines < 1 {
		return nil, fmt.Errorf("search: a trade-off of %d losses with %d lines", len(objectives), o.Lines)
	}
	plain, err := t.WithObjectives()
	if err != nil {
		return nil, err
	}
	all := &frontSearch{target: plain, objectives: objectives, options: o, limits: newAmountLimits(plain, o.Least, o.Most)}
	if err := all.prepareSeeds(ctx); err != nil {
		return nil, err
	}
	found := make([]*frontWalker, independentSearches)
	g, within := errgroup.WithContext(ctx)
	workers := Options{Workers: o.Workers}
	g.SetLimit(workers.workerCount())
	each := int64(float64(o.Lines) * independentBudgetShare / independentSearches)
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
	r := &TradeOffResult{RandomSize: randomSampleSize}
	for _, w := range found {
		for _, m := range w.archive.members {
			last.archive.offer(m.Losses, m.Parts, m.Conditions)
		}
		r.Lines += w.lineCount
		r.Compositions += w.splitCount
	}
	if err := last.searchExtremes(ctx, int(float64(o.Lines)*extremesBudgetShare)); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	// If the lines through all compositions found have been scored, walks use the rest of the budget.
	least := int64(o.Lines / 10)
	for until := max(int64(o.Lines)-r.Lines, last.lineCount+least); last.lineCount < until; {
		if err := last.polishFront(ctx, until); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		if err := last.explore(ctx, min(last.lineCount+least, until)); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
	}
	r.Lines += last.lineCount
	r.Compositions += last.splitCount
	r.Front = last.archive.mergedFront()
	return r, r.setHypervolumes(ctx, all, found)
}

// setHypervolumes computes the ideal and reference points and the hypervolumes of r.
func (r *TradeOffResult) setHypervolumes(ctx context.Context, all *frontSearch, found []*frontWalker) error {
	r.Ideal, r.Nadir = pareto.Bounds(lossesOf(r.Front))
	r.Reference = pareto.HypervolumeReference(r.Ideal, r.Nadir)
	share := func(points [][]float64) float64 {
		scaled := pareto.ScaleLosses(points, r.Ideal, r.Reference)
		one := make([]float64, len(r.Ideal))
		for d := range one {
			one[d] = 1
		}
		if len(one) > 3 && len(scaled) > maxHypervolumePoints {
			var some [][]float64
			for _, k := range pareto.SelectSpread(scaled, maxHypervolumePoints) {
				some = append(some, scaled[k])
			}
			scaled = some
		}
		return pareto.Hypervolume(scaled, one)
	}
	r.Volume = share(lossesOf(r.Front))
	for _, w := range found {
		r.SearchVolumes = append(r.SearchVolumes, share(lossesOf(w.archive.members)))
	}
	// The front contains all that the searches found, but its hypervolume may be computed from a selection.
	r.Volume = max(r.Volume, slices.Max(r.SearchVolumes))
	if all.options.SkipRandomVolumes {
		return nil
	}
	prior, rand := mcmc.NewPrior(all.target), mcmc.NewRand(all.options.Seed, "search trade random", 0)
	for range independentSearches {
		var points [][]float64
		for k := range randomSampleSize {
			if k&255 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			x, err := prior.Draw(rand)
			if err != nil {
				return fmt.Errorf("search: %w", err)
			}
			if y, ok := all.limits.repairAmounts(x); ok {
				x = y // random amounts rarely lie within the ranges of known recipes
			}
			if !all.allowsComposition(x) {
				continue
			}
			p, ok := all.lossesAt(x)
			if ok {
				points = append(points, p)
			}
		}
		kept := points[:0]
		for _, k := range pareto.NonDominated(points) {
			kept = append(kept, slices.Clone(points[k]))
		}
		r.RandomVolumes = append(r.RandomVolumes, share(kept))
	}
	return nil
}

// maxHypervolumePoints is the greatest number of points from which a hypervolume of four losses is computed,
// because the time grows steeply with the number of points.
const maxHypervolumePoints = 120

func lossesOf(members []FrontMember) [][]float64 {
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
	options    TradeOptions
	limits     *amountLimits

	seeds          []FrontMember // compositions to start from
	seedLossRanges []float64     // by loss: its range among the seeds
}

// lossesAt returns the losses of x. ok is false unless all losses are finite.
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

// allowsComposition reports whether x may be suggested: it satisfies rules, bounds, and limits of amounts and sizes.
func (t *frontSearch) allowsComposition(x *mcmc.Composition) bool {
	if !t.limits.allowsSize(x.Used()) || !t.limits.allowsAllAmounts(x) || t.refusesIngredients(x.Parts()) {
		return false
	}
	score, err := t.target.LogScore(x)
	return err == nil && !math.IsInf(score, -1)
}

func (t *frontSearch) refusesIngredients(parts []mcmc.Part) bool {
	s := searcher{options: Options{Refuse: t.options.Refuse}}
	return s.refusesIngredients(parts)
}

// randomFrontSeeds is the number of random compositions among the seeds of a search for a front.
const randomFrontSeeds = 200

// prepareSeeds finds the seeds and computes the range of each loss among the seeds.
func (t *frontSearch) prepareSeeds(ctx context.Context) error {
	take := func(x *mcmc.Composition) {
		if y, ok := t.limits.repairAmounts(x); ok {
			x = y
		}
		if score, err := t.target.LogScore(x); err != nil || math.IsInf(score, -1) || !t.limits.allowsSize(x.Used()) {
			return
		}
		if p, ok := t.lossesAt(x); ok {
			t.seeds = append(t.seeds, FrontMember{x.Parts(), x.AppendConditions(nil), p})
		}
	}
	for _, x := range t.options.Starts {
		x, err := withDefaultConditions(t.target, x)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		take(x)
	}
	prior, r := mcmc.NewPrior(t.target), mcmc.NewRand(t.options.Seed, "search trade", 0)
	for range randomFrontSeeds {
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
		t.seedLossRanges = append(t.seedLossRanges, max(nadir[d]-ideal[d], float64(1e-9*math.Abs(nadir[d])), 1e-300))
	}
	return nil
}

// maxFrontLines is the greatest number of lines that a search for a front scores at effort 1. The number of lines
// times the total is at most maxFrontSplits, unless this leaves fewer than minFrontLines lines.
const maxFrontLines, maxFrontSplits, minFrontLines = 100_000, 40_000_000, 4000

// FrontLineBudget returns the number of lines to score in a search for a front. The larger the total, the more
// compositions a line has, so the fewer lines are scored.
func FrontLineBudget(total int, effort float64) int {
	return max(int(effort*float64(min(maxFrontLines, max(maxFrontSplits/total, minFrontLines)))), 1)
}

// ExtrapolatingIndices returns the indices of the compositions in list that lie further than [Comparison.Reach] from all
// known compositions.
func ExtrapolatingIndices(list [][]mcmc.Part, known []*mcmc.Composition, d *Distance) []int {
	entries := make([]Entry, len(list))
	for k := range list {
		entries[k].Parts = list[k]
	}
	c := new(Comparison)
	c.computeDistances(entries, CompareOptions{Distance: d, Known: known})
	return c.ExtrapolatingEntries
}
