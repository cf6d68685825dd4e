package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/pareto"
	"kir/mcmc"
)

// An Objective is one of several losses that a trade-off minimises at the same time. A loss is a number that is
// better the smaller it is.
type Objective struct {
	Name          string
	Score         mcmc.Property // property whose log score is −loss
	LossMagnitude float64       // magnitude of the two numbers of which the loss is the difference, see [pareto.MergeTies]; 0 for other losses
}

// Loss returns the loss of x; lower is better.
func (o *Objective) Loss(x *mcmc.Composition) float64 { return -o.Score.LogScore(x) }

// TradeOptions are the options of [TradeOff].
type TradeOptions struct {
	Lines   int    // approximate number of lines (see mcmc.Scorer) to score
	Seed    uint64 // seed of all random choices
	Workers int    // number of searches that run at the same time, 0 for all cores; affects only the duration

	Starts      []*mcmc.Composition // compositions to start from, as in [Options]
	Least, Most []int               // least and greatest amount of each ingredient, as in [Options]
	Refuse      func(ingredients []int) bool

	Steps    *Steps // how processes share the search; nil where one process makes it
	StepName string // beginning of the names of the steps

	SkipRandomVolumes bool // whether to skip the computation of RandomVolumes
}

// A TradeOffResult holds the front that [TradeOff] found, that is, the best compromises between the losses, and
// measures of the front.
type TradeOffResult struct {
	Front []FrontMember // best compromises found: no other composition found is better in one loss and at least as good in every other; sorted by the first loss, then by the other losses

	Ideal     []float64 // item k is the least value of loss k on the front
	Nadir     []float64 // item k is the greatest value of loss k on the front
	Reference []float64 // point that bounds the hypervolumes: a value of each loss that is worse than on the front

	// Volume is the hypervolume of the front: the part of the box from Ideal to Reference, in the space of
	// losses, that the front dominates. It is a fraction of the box.
	Volume        float64
	SearchVolumes []float64 // hypervolume that each independent search reached, as a fraction of the box
	// RandomVolumes holds, for comparison, the hypervolumes of samples of random compositions, as fractions of
	// the box.
	RandomVolumes []float64
	RandomSize    int // number of random compositions in each sample

	Lines        int64 // number of scored lines (see [mcmc.Scorer])
	Compositions int64 // number of compositions on the scored lines
}

// A FrontMember is a composition on a front of [TradeOff], with its losses.
type FrontMember struct {
	Parts      []mcmc.Part // used ingredients and their amounts, in ascending order of ingredients
	Conditions []int32     // item c is the index of the value of condition c; nil without conditions
	Losses     []float64   // item k is the value of loss k
}

// The budget of a trade-off is shared among independent searches, the search for the best composition of each loss,
// and lines through the compositions found. Differences between the independent searches show the error of a single
// search.
const (
	independentSearches    = 4
	independentBudgetShare = 0.5
	extremesBudgetShare    = 0.2
	randomSampleSize       = 2500 // number of random compositions in each sample with which a front is compared
)

// TradeOff searches for the best compromises between several losses, called the front. A composition belongs to
// the front if no other composition is better in one loss and at least as good in every other. Only
// compositions that the target permits are considered.
//
// Independent searches make walks. Each step of a walk scores a line: all divisions of the joint amount of two
// ingredients; see [mcmc.Scorer]. Each walk has a corner, which is a point in the space of losses. The walk
// minimises the greatest of the losses after subtracting the corner and scaling by the width of a gap of the
// front (a weighted Chebyshev distance; Steuer and Choo 1983). Unlike a weighted sum of losses or a product of
// scores, this distance makes every point of a front the best for some corner, whatever the shape of the front.
// The next walk aims at the widest gap. Every composition on every scored line is compared with the front so
// far, not only the compositions that the walk visits. In the end the search scores each line through each
// composition found, as long as the budget lasts.
//
// The result depends on the target, the objectives and the seed, not on the number of workers. TradeOff fails
// with an error that wraps [mcmc.ErrNoStart] if there is no composition to start from.
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
	workers := Options{Workers: o.Workers}
	each := int64(float64(o.Lines) * independentBudgetShare / independentSearches)
	n := t.Space().N()
	found, err := runSteps(ctx, o.Steps, workers.workerCount(), o.StepName+"/search=", n, independentSearches, func(ctx context.Context, k int) (*frontResult, error) {
		w, err := all.newFrontWalker(uint64(1 + k))
		if err != nil {
			return nil, err
		}
		err = w.explore(ctx, each)
		return w.result(), err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	r := &TradeOffResult{RandomSize: randomSampleSize}
	for _, f := range found {
		r.Lines += f.Lines
		r.Compositions += f.Splits
	}
	joint, err := RunStep(ctx, o.Steps, o.StepName+"/joint", n, func(ctx context.Context) (*frontResult, error) {
		return all.improveFronts(ctx, found, int64(o.Lines)-r.Lines)
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	r.Lines += joint.Lines
	r.Compositions += joint.Splits
	last := newParetoArchive(objectives)
	last.members = joint.Members
	r.Front = last.mergedFront()
	return r, r.setHypervolumes(ctx, all, found)
}

// A frontResult is what a part of [TradeOff] has found.
type frontResult struct {
	Members       []FrontMember // members of the archive, in its order
	Lines, Splits int64         // numbers of lines scored, and of compositions on them
}

// result returns what the walks have found.
func (w *frontWalker) result() *frontResult {
	return &frontResult{w.archive.members, w.lineCount, w.splitCount}
}

func (r *frontResult) check(n int) error {
	for _, m := range r.Members {
		if err := (&Found{Parts: m.Parts}).check(n); err != nil {
			return err
		}
	}
	return nil
}

// improveFronts joins what the independent searches found, and continues from there. It scores about the given
// number of lines.
func (t *frontSearch) improveFronts(ctx context.Context, found []*frontResult, lines int64) (*frontResult, error) {
	o := t.options
	last, err := t.newFrontWalker(0)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		for _, m := range f.Members {
			last.archive.offer(m.Losses, m.Parts, m.Conditions)
		}
	}
	if err := last.searchExtremes(ctx, int(float64(o.Lines)*extremesBudgetShare)); err != nil {
		return nil, err
	}
	// If the lines through all compositions found have been scored, walks use the rest of the budget.
	least := int64(o.Lines / 10)
	for until := max(lines, last.lineCount+least); last.lineCount < until; {
		if err := last.scoreLinesAroundFront(ctx, until); err != nil {
			return nil, err
		}
		if err := last.explore(ctx, min(last.lineCount+least, until)); err != nil {
			return nil, err
		}
	}
	return last.result(), nil
}

// setHypervolumes computes the ideal and nadir points, the reference point and the hypervolumes of the result.
func (r *TradeOffResult) setHypervolumes(ctx context.Context, all *frontSearch, found []*frontResult) error {
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
	for _, f := range found {
		r.SearchVolumes = append(r.SearchVolumes, share(lossesOf(f.Members)))
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

// A frontSearch holds the data that all parts of [TradeOff] share and do not change: the target, the losses,
// the limits and the starts.
type frontSearch struct {
	target     *mcmc.Target // target without objectives, for rules and bounds
	objectives []Objective
	options    TradeOptions
	limits     *amountLimits

	startCandidates []FrontMember // compositions to start from
	seedLossRanges  []float64     // item k is the range of loss k among startCandidates
}

// lossesAt returns the losses of the composition x. ok is false unless all losses are finite.
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

// allowsComposition reports whether the composition x satisfies the rules, the limits of amounts and the
// permitted numbers of ingredients.
func (t *frontSearch) allowsComposition(x *mcmc.Composition) bool {
	if !t.limits.allowsIngredientCount(x.UsedCount()) || !t.limits.allowsAllAmounts(x) || t.refusesIngredients(x.Parts()) {
		return false
	}
	score, err := t.target.LogScore(x)
	return err == nil && !math.IsInf(score, -1)
}

// refusesIngredients reports whether the set of ingredients must not be suggested; see [Options.Refuse].
func (t *frontSearch) refusesIngredients(parts []mcmc.Part) bool {
	s := searcher{options: Options{Refuse: t.options.Refuse}}
	return s.refusesIngredients(parts)
}

// randomFrontSeeds is the number of random compositions from which [TradeOff] starts.
const randomFrontSeeds = 200

// prepareSeeds finds the compositions from which walks start, and computes the range of each loss among them.
func (t *frontSearch) prepareSeeds(ctx context.Context) error {
	take := func(x *mcmc.Composition) {
		if y, ok := t.limits.repairAmounts(x); ok {
			x = y
		}
		if score, err := t.target.LogScore(x); err != nil || math.IsInf(score, -1) || !t.limits.allowsIngredientCount(x.UsedCount()) {
			return
		}
		if p, ok := t.lossesAt(x); ok {
			t.startCandidates = append(t.startCandidates, FrontMember{x.Parts(), x.AppendConditions(nil), p})
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
	if len(t.startCandidates) == 0 {
		x, _, err := mcmc.StartState(t.target, r)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		take(x.Composition)
	}
	if len(t.startCandidates) == 0 {
		return fmt.Errorf("search: %w: nothing has a value of each objective", mcmc.ErrNoStart)
	}
	ideal, nadir := pareto.Bounds(lossesOf(t.startCandidates))
	for d := range ideal {
		t.seedLossRanges = append(t.seedLossRanges, max(nadir[d]-ideal[d], float64(1e-9*math.Abs(nadir[d])), 1e-300))
	}
	return nil
}

// maxFrontLines is the greatest number of lines that [TradeOff] scores at effort 1. The product of the number
// of lines and the total is at most maxFrontSplits, but minFrontLines lines are always scored.
const maxFrontLines, maxFrontSplits, minFrontLines = 100_000, 40_000_000, 4000

// FrontLineBudget returns the number of lines that [TradeOff] should score. A line has up to total+1
// compositions. The larger the total, the fewer lines are scored.
func FrontLineBudget(total int, effort float64) int {
	return max(int(effort*float64(min(maxFrontLines, max(maxFrontSplits/total, minFrontLines)))), 1)
}

// ExtrapolatingIndices returns the indices of the compositions in list that are unlike all known compositions:
// their distance from each known composition is greater than [Comparison.Reach].
func ExtrapolatingIndices(list [][]mcmc.Part, known []*mcmc.Composition, d *Distance) []int {
	entries := make([]Entry, len(list))
	for k := range list {
		entries[k].Parts = list[k]
	}
	c := new(Comparison)
	c.computeDistances(entries, CompareOptions{Distance: d, Known: known})
	return c.ExtrapolatingEntries
}
