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

// gatherLimits limits the data that are gathered from a run's draws, and so bounds time and memory
// for runs of any length. Each displayed statistic names the number of draws behind it.
type gatherLimits struct {
	drawsExamined     int // limit on the examined draws of all chains together; if there are more draws, evenly spaced draws are examined
	rankedDraws       int // approximate limit on the examined draws that enter the rank plots
	pooledDraws       int // limit on the examined draws from which a diverse shortlist is chosen
	pooledParts       int // limit on the ingredients of all pooled draws together
	ingredients       int // limit on the ingredients whose amounts are followed; the most frequent are chosen
	pairedIngredients int // limit on the ingredients that are compared in pairs; the most frequent are chosen

	// Draws are cut into batches of consecutive draws to estimate standard errors. The field
	// batches limits the batches of all chains, and batchesPerChain those of one chain.
	batches         int // of all chains
	batchesPerChain int
}

// defaultGatherLimits returns the limits that reports use.
func defaultGatherLimits() gatherLimits {
	return gatherLimits{
		drawsExamined: 1 << 19, rankedDraws: 1 << 16, pooledDraws: 1 << 15, pooledParts: 1 << 21,
		ingredients: run.MaxListedIngredients, pairedIngredients: 100, batches: 80, batchesPerChain: 20,
	}
}

// maxTracePoints is the largest number of points in a chain's trace plot.
const maxTracePoints = 200

// gatheredDraws holds the data from one pass over a run's draws.
type gatheredDraws struct {
	stride        int // every stride-th draw of a chain is examined
	drawsPerChain int // number of examined draws of each chain

	series          []statisticSeries
	logScores       [][]float64           // by chain: log scores of the draws; nil if no property has a positive weight
	bestBySet       []run.Best            // distinct sets of ingredients, each with the best draw that uses it
	tradeoffDraws   [][]*mcmc.Composition // by chain: evenly spaced draws to be shown behind a trade-off
	batches         []*drawBatch
	slotIngredients []int // by slot: the ingredient; slots are numbered from the most frequent ingredient on
	pairedCount     int   // number of slots whose ingredients are compared in pairs
}

// statisticSeries holds values of one statistic at evenly spaced draws of each chain.
type statisticSeries struct {
	name          string
	stride        int         // every stride-th draw of a chain has a value
	valuesByChain [][]float64 // values by chain
}

// evenStride returns the least stride such that every stride-th of n draws gives at most limit
// draws.
func evenStride(n, limit int) int { return (n + limit - 1) / max(1, limit) }

// gatherDraws reads the draws of a complete run. The parameter inclusion, from the run's result, shows
// which ingredients are frequent. The result does not depend on the number of workers.
func gatherDraws(ctx context.Context, p *compile.Problem, r *run.Run, inclusion []run.Inclusion, l gatherLimits) (*gatheredDraws, error) {
	s := p.Sampler
	g := &gatheredDraws{}
	perChain := max(1, l.drawsExamined/s.Chains)
	g.stride = evenStride(s.Draws, perChain)
	g.drawsPerChain = (s.Draws + g.stride - 1) / g.stride
	g.slotIngredients = mostFrequent(inclusion, l.ingredients)
	g.pairedCount = min(len(g.slotIngredients), l.pairedIngredients)

	c := &drawCollector{gatheredDraws: g, problem: p, slotNumber: make([]int32, len(p.Ingredients))}
	for slot, i := range g.slotIngredients {
		c.slotNumber[i] = int32(slot + 1)
	}
	for _, w := range p.Properties {
		c.hasObjectives = c.hasObjectives || w.Weight > 0
	}
	c.rankStride = evenStride(g.drawsPerChain, max(maxTracePoints, l.rankedDraws/s.Chains))
	ranked := (g.drawsPerChain + c.rankStride - 1) / c.rankStride
	names := []string{"used", "log_density"}
	for _, w := range p.Properties {
		names = append(names, w.Name)
	}
	for _, name := range names {
		d := statisticSeries{name: name, stride: g.stride * c.rankStride, valuesByChain: make([][]float64, s.Chains)}
		for chain := range d.valuesByChain {
			d.valuesByChain[chain] = make([]float64, 0, ranked)
		}
		g.series = append(g.series, d)
	}
	if c.hasObjectives {
		g.logScores = make([][]float64, s.Chains)
	}
	_, most := p.Target.Law().Support()
	c.poolStride = evenStride(g.drawsPerChain, max(1, min(l.pooledDraws, l.pooledParts/most)/s.Chains))
	c.poolByChain = make([][]run.Best, s.Chains)
	c.tradeoffStride = evenStride(g.drawsPerChain, max(1, maxTradeoffDraws/s.Chains))
	g.tradeoffDraws = make([][]*mcmc.Composition, s.Chains)

	// A batch belongs to one goroutine, and so do all chains of one batch.
	groups := min(s.Chains, l.batches)
	c.batchesPerGroup = min(l.batchesPerChain, max(1, l.batches/groups), g.drawsPerChain)
	g.batches = make([]*drawBatch, groups*c.batchesPerGroup)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for group := range groups {
		work.Go(func() error {
			from, to := group*s.Chains/groups, (group+1)*s.Chains/groups
			for k := range c.batchesPerGroup {
				g.batches[group*c.batchesPerGroup+k] = newBatch((to-from)*(g.drawsPerChain/c.batchesPerGroup+1), len(g.slotIngredients), g.pairedCount)
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
	g.bestBySet = run.DistinctBest(slices.Concat(c.poolByChain...))
	return g, nil
}

// mostFrequent returns the ingredients that draws use most often, from the most to the least
// frequent. The parameter limit is the largest number of ingredients. Ingredients that no draw uses
// are left out.
func mostFrequent(inclusion []run.Inclusion, limit int) []int {
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

// drawCollector reads the draws of chains into its gatheredDraws. Chains that share no batch may be
// read concurrently.
type drawCollector struct {
	*gatheredDraws
	problem         *compile.Problem
	slotNumber      []int32 // by ingredient: its slot plus 1, or 0 if the ingredient has no slot
	hasObjectives   bool    // whether a property has a positive weight
	rankStride      int     // every rankStride-th examined draw enters the rank plots
	poolStride      int
	batchesPerGroup int
	poolByChain     [][]run.Best // by chain: candidates for a diverse shortlist

	tradeoffStride int // every tradeoffStride-th examined draw is shown behind a trade-off
}

// collectChain reads the examined draws of a chain and divides them among the given batches.
func (c *drawCollector) collectChain(ctx context.Context, r *run.Run, chain int, batches []*drawBatch) error {
	at := 0 // among those looked at
	for d, err := range r.ThinnedDraws(ctx, chain, c.stride) {
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
		if at%c.poolStride == 0 {
			c.offerToPool(chain, d, logScore)
		}
		if at%c.tradeoffStride == 0 {
			x, err := c.problem.Target.Space().Composition(d.Parts, d.Conditions)
			if err != nil {
				return err
			}
			c.tradeoffDraws[chain] = append(c.tradeoffDraws[chain], x)
		}
		c.countInBatch(batches[at*len(batches)/c.drawsPerChain], d)
		at++
	}
	return nil
}

// appendToSeries appends the values of a draw to the series of all statistics.
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

// offerToPool adds a draw to the candidates for a diverse shortlist, unless a known recipe has the
// same set of ingredients.
func (c *drawCollector) offerToPool(chain int, d *run.Draw, logScore float64) {
	if c.problem.Book != nil {
		if _, known := c.problem.Book.RecipeWithSet(ingredientSet(d.Parts)); known {
			return
		}
	}
	c.poolByChain[chain] = append(c.poolByChain[chain], run.Best{
		Chain: chain, Draw: d.Draw, Score: portable.Exp(logScore), LogScore: logScore, LogDensity: d.LogDensity,
		Scores: slices.Clone(d.Scores), Parts: slices.Clone(d.Parts),
	})
}

// countInBatch counts the ingredients of a draw in a batch.
func (c *drawCollector) countInBatch(b *drawBatch, d *run.Draw) {
	word, bit := b.draws/64, uint64(1)<<(b.draws%64)
	for _, part := range d.Parts {
		slot := int(c.slotNumber[part.Ingredient]) - 1
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
