package assemble

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/compile"
	"kir/internal/portable"
	"kir/internal/run"
	"kir/mcmc"

	"golang.org/x/sync/errgroup"
)

// gatherLimits limits the data that are collected from a run's draws for a report. So time and
// memory are bounded for runs of any length. Reports say from how many draws each statistic was
// computed.
type gatherLimits struct {
	maxExaminedDraws     int // largest number of examined draws of all chains together; if there are more, evenly spaced draws are examined
	maxRankedDraws       int // approximate largest number of examined draws of all chains from which rank plots are made
	maxPooledDraws       int // largest number of examined draws from which a diverse shortlist is selected
	maxPooledParts       int // largest number of ingredients in all draws from which a diverse shortlist is selected
	maxSummedIngredients int // largest number of ingredients whose amounts are summed; the most frequent are chosen
	maxPairedIngredients int // largest number of ingredients of which all pairs are counted; the most frequent are chosen

	maxBatches         int // largest number of batches of all chains; a batch holds consecutive draws and serves to estimate standard errors
	maxBatchesPerChain int // largest number of batches of one chain
}

// defaultGatherLimits returns the limits for reports; tests use lower ones.
func defaultGatherLimits() gatherLimits {
	return gatherLimits{
		maxExaminedDraws: 1 << 19, maxRankedDraws: 1 << 16, maxPooledDraws: 1 << 15, maxPooledParts: 1 << 21,
		maxSummedIngredients: run.MaxListedIngredients, maxPairedIngredients: 100, maxBatches: 80, maxBatchesPerChain: 20,
	}
}

// maxTracePoints is the largest number of points in a chain's trace plot.
const maxTracePoints = 200

// gatheredDraws holds the data for a report that were collected in one pass over a run's draws.
type gatheredDraws struct {
	examinedStride int // draws 0, examinedStride, 2·examinedStride, ... of each chain are examined
	drawsPerChain  int // number of examined draws of each chain

	series          []statisticSeries     // values of each statistic at evenly spaced draws
	logScores       [][]float64           // item k holds the log scores of the examined draws of chain k; nil if no property has a positive weight
	bestBySet       []run.Best            // best examined draw of each set of ingredients
	thinDraws       [][]*mcmc.Composition // item k holds evenly spaced draws of chain k, to be displayed as points
	batches         []*drawBatch          // counts of ingredients in batches of draws
	slotIngredients []int                 // item k is the index of the k-th most frequent ingredient
	pairedSlotCount int                   // number of ingredients, the most frequent ones, of which all pairs are counted
}

// statisticSeries holds values of one statistic at evenly spaced draws of each chain.
type statisticSeries struct {
	name          string      // name of the statistic
	stride        int         // every stride-th draw of a chain has a value
	valuesByChain [][]float64 // item k holds the values in chain k
}

// evenStride returns the least stride for which the items 0, stride, 2·stride, ... of n items are
// at most limit items.
func evenStride(n, limit int) int { return (n + limit - 1) / max(1, limit) }

// gatherDraws reads the draws of a complete run and collects the data for a report. The parameter
// inclusion holds the shares of the draws that use each ingredient, from the run's result. The
// result does not depend on the number of workers.
func gatherDraws(ctx context.Context, p *compile.Problem, r *run.Run, inclusion []run.Inclusion, l gatherLimits) (*gatheredDraws, error) {
	s := p.Sampler
	g := &gatheredDraws{}
	perChain := max(1, l.maxExaminedDraws/s.Chains)
	g.examinedStride = evenStride(s.Draws, perChain)
	g.drawsPerChain = (s.Draws + g.examinedStride - 1) / g.examinedStride
	g.slotIngredients = mostFrequentIngredients(inclusion, l.maxSummedIngredients)
	g.pairedSlotCount = min(len(g.slotIngredients), l.maxPairedIngredients)

	c := &drawCollector{gatheredDraws: g, problem: p, slotPlusOne: make([]int32, len(p.Ingredients))}
	for slot, i := range g.slotIngredients {
		c.slotPlusOne[i] = int32(slot + 1)
	}
	for _, w := range p.Properties {
		c.hasObjectives = c.hasObjectives || w.Weight > 0
	}
	c.rankStride = evenStride(g.drawsPerChain, max(maxTracePoints, l.maxRankedDraws/s.Chains))
	ranked := (g.drawsPerChain + c.rankStride - 1) / c.rankStride
	names := []string{"used", "log_density"}
	for _, w := range p.Properties {
		names = append(names, w.Name)
	}
	for _, name := range names {
		d := statisticSeries{name: name, stride: g.examinedStride * c.rankStride, valuesByChain: make([][]float64, s.Chains)}
		for chain := range d.valuesByChain {
			d.valuesByChain[chain] = make([]float64, 0, ranked)
		}
		g.series = append(g.series, d)
	}
	if c.hasObjectives {
		g.logScores = make([][]float64, s.Chains)
	}
	_, most := p.Target.Law().Support()
	c.candidateStride = evenStride(g.drawsPerChain, max(1, min(l.maxPooledDraws, l.maxPooledParts/most)/s.Chains))
	c.candidatesByChain = make([][]run.Best, s.Chains)
	c.thinStride = evenStride(g.drawsPerChain, max(1, maxThinDraws/s.Chains))
	g.thinDraws = make([][]*mcmc.Composition, s.Chains)

	// A batch belongs to one goroutine, and so do all chains of one batch.
	groups := min(s.Chains, l.maxBatches)
	c.batchesPerGroup = min(l.maxBatchesPerChain, max(1, l.maxBatches/groups), g.drawsPerChain)
	g.batches = make([]*drawBatch, groups*c.batchesPerGroup)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for group := range groups {
		work.Go(func() error {
			from, to := group*s.Chains/groups, (group+1)*s.Chains/groups
			for k := range c.batchesPerGroup {
				g.batches[group*c.batchesPerGroup+k] = newDrawBatch((to-from)*(g.drawsPerChain/c.batchesPerGroup+1), len(g.slotIngredients), g.pairedSlotCount)
			}
			for chain := from; chain < to; chain++ {
				if err := c.collectChain(ctx, r, chain, g.batches[group*c.batchesPerGroup:(group+1)*c.batchesPerGroup]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	g.bestBySet = run.DistinctBest(slices.Concat(c.candidatesByChain...))
	return g, nil
}

// mostFrequentIngredients returns the indices of the ingredients that draws use most often, from
// the most to the least frequent. It returns at most limit ingredients, and none that no draw uses.
func mostFrequentIngredients(inclusion []run.Inclusion, limit int) []int {
	var all []run.Inclusion
	for _, i := range inclusion {
		if i.Probability > 0 {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b run.Inclusion) int { return cmp.Compare(b.Probability, a.Probability) })
	slots := make([]int, min(len(all), limit))
	for k := range slots {
		slots[k] = all[k].Index
	}
	return slots
}

// drawCollector reads the draws of chains and adds them to its gatheredDraws. Two chains may be
// read at the same time if their draws are counted in different batches.
type drawCollector struct {
	*gatheredDraws
	problem           *compile.Problem
	slotPlusOne       []int32      // item i is k+1 if ingredient i is the k-th most frequent ingredient, counted from 0, and 0 if it is not among the most frequent
	hasObjectives     bool         // whether a property has a positive weight
	rankStride        int          // every rankStride-th examined draw is used for rank plots
	candidateStride   int          // every candidateStride-th examined draw is a candidate for a diverse shortlist
	batchesPerGroup   int          // number of batches of each group of chains that share batches
	candidatesByChain [][]run.Best // item k holds the candidates from chain k for a diverse shortlist

	thinStride int // every thinStride-th examined draw is displayed as a point
}

// collectChain reads the examined draws of a chain. It counts the ingredients of the first draws in
// the first of the given batches, and so on.
func (c *drawCollector) collectChain(ctx context.Context, r *run.Run, chain int, batches []*drawBatch) error {
	at := 0 // among those looked at
	for d, err := range r.ThinnedDraws(ctx, chain, c.examinedStride) {
		if err != nil {
			return err
		}
		if at%4096 == 0 && browsersched.Err(ctx) != nil {
			return ctx.Err()
		}
		logScore := run.LogScore(c.problem.Target.Objectives(), d.Scores)
		if c.hasObjectives {
			c.logScores[chain] = append(c.logScores[chain], logScore)
		}
		if at%c.rankStride == 0 {
			c.appendToSeries(chain, d)
		}
		if at%c.candidateStride == 0 {
			c.addCandidate(chain, d, logScore)
		}
		if at%c.thinStride == 0 {
			x, err := c.problem.Target.Space().Composition(d.Parts, d.Conditions)
			if err != nil {
				return err
			}
			c.thinDraws[chain] = append(c.thinDraws[chain], x)
		}
		c.countInBatch(batches[at*len(batches)/c.drawsPerChain], d)
		at++
	}
	return nil
}

// appendToSeries appends a draw's values of all statistics to the series.
func (c *drawCollector) appendToSeries(chain int, d *run.Draw) {
	add := func(k int, v float64) {
		c.series[k].valuesByChain[chain] = append(c.series[k].valuesByChain[chain], v)
	}
	add(0, float64(len(d.Parts)))
	add(1, d.LogDensity)
	for k, y := range d.Scores {
		add(2+k, y)
	}
}

// addCandidate adds a draw to the candidates for a diverse shortlist, unless a known recipe has the
// same set of ingredients.
func (c *drawCollector) addCandidate(chain int, d *run.Draw, logScore float64) {
	if c.problem.Book != nil {
		if _, known := c.problem.Book.RecipeWithSet(ingredientSet(d.Parts)); known {
			return
		}
	}
	c.candidatesByChain[chain] = append(c.candidatesByChain[chain], run.Best{
		Chain: chain, Draw: d.Draw, Score: portable.Exp(logScore), LogScore: logScore, LogDensity: d.LogDensity,
		Scores: slices.Clone(d.Scores), Parts: slices.Clone(d.Parts),
	})
}

// countInBatch adds a draw to a batch of draws and counts its ingredients.
func (c *drawCollector) countInBatch(b *drawBatch, d *run.Draw) {
	word, bit := b.draws/64, uint64(1)<<(b.draws%64)
	for _, part := range d.Parts {
		slot := int(c.slotPlusOne[part.Ingredient]) - 1
		if slot < 0 {
			continue
		}
		b.drawsUsing[slot]++
		b.unitSums[slot] += int64(part.Amount)
		if slot < len(b.presence) {
			b.presence[slot][word] |= bit
		}
	}
	b.draws++
}
