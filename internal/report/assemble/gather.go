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

// limits bound the data gathered from a run's draws, and so time and memory for any length. Each
// displayed figure names the number of draws behind it.
type limits struct {
	drawsExamined int // draws of all chains together: all of them, or evenly spaced ones
	ranked        int // of these, those that enter the rank plots
	pooled        int // of these, those that the diverse shortlist is chosen from
	poolParts     int // parts of all of the pooled ones together
	slots         int // ingredients whose amounts are followed, the most frequent ones
	paired        int // of these, those that are looked at in pairs

	// Chains are cut into batches of consecutive draws for standard errors.
	batches        int // of all chains
	batchesOfChain int
}

// defaultLimits are the limits of reports.
func defaultLimits() limits {
	return limits{
		drawsExamined: 1 << 19, ranked: 1 << 16, pooled: 1 << 15, poolParts: 1 << 21,
		slots: run.MostInclusion, paired: 100, batches: 80, batchesOfChain: 20,
	}
}

// mostTraced is the number of points in a chain's trace.
const mostTraced = 200

// gathered holds the data from one pass over a run's draws.
type gathered struct {
	stride        int // draws from one that is looked at to the next
	drawsPerChain int // draws of each chain that are looked at

	series     []seriesDraws
	scores     [][]float64           // log score, by chain; nil if no property counts
	bestOfSets []run.Best            // distinct sets of ingredients, each with its best draw
	shownDraws [][]*mcmc.Composition // by chain: draws to be shown behind a trade-off, evenly spaced
	batches    []*batch
	slots      []int // ingredients that batches follow, the most frequent first
	paired     int   // how many of these in pairs, too
}

// seriesDraws are the draws of one statistic, of every chain.
type seriesDraws struct {
	name   string
	stride int         // draws from one to the next
	chains [][]float64 // by chain
}

// strideFor returns the distance of evenly spaced draws, at most most of n.
func strideFor(n, most int) int { return (n + most - 1) / max(1, most) }

// gather reads the draws of a complete run. inclusion, from the run's result, shows which
// ingredients are frequent. The result does not depend on the number of workers.
func gather(ctx context.Context, p *compile.Problem, r *run.Run, inclusion []run.Inclusion, l limits) (*gathered, error) {
	s := p.Sampler
	g := &gathered{}
	perChain := max(1, l.drawsExamined/s.Chains)
	g.stride = strideFor(s.Draws, perChain)
	g.drawsPerChain = (s.Draws + g.stride - 1) / g.stride
	g.slots = frequent(inclusion, l.slots)
	g.paired = min(len(g.slots), l.paired)

	c := &collector{gathered: g, problem: p, slotOf: make([]int32, len(p.Ingredients))}
	for slot, i := range g.slots {
		c.slotOf[i] = int32(slot + 1)
	}
	for _, w := range p.Properties {
		c.weighs = c.weighs || w.Weight > 0
	}
	c.rankStride = strideFor(g.drawsPerChain, max(mostTraced, l.ranked/s.Chains))
	ranked := (g.drawsPerChain + c.rankStride - 1) / c.rankStride
	names := []string{"used", "log_density"}
	for _, w := range p.Properties {
		names = append(names, w.Name)
	}
	for _, name := range names {
		d := seriesDraws{name: name, stride: g.stride * c.rankStride, chains: make([][]float64, s.Chains)}
		for chain := range d.chains {
			d.chains[chain] = make([]float64, 0, ranked)
		}
		g.series = append(g.series, d)
	}
	if c.weighs {
		g.scores = make([][]float64, s.Chains)
	}
	_, most := p.Target.Law().Support()
	c.poolStride = strideFor(g.drawsPerChain, max(1, min(l.pooled, l.poolParts/most)/s.Chains))
	c.bestOfChains = make([][]run.Best, s.Chains)
	c.shownStride = strideFor(g.drawsPerChain, max(1, shownDraws/s.Chains))
	g.shownDraws = make([][]*mcmc.Composition, s.Chains)

	// A batch belongs to one goroutine, and so do all chains of one batch.
	groups := min(s.Chains, l.batches)
	c.perGroup = min(l.batchesOfChain, max(1, l.batches/groups), g.drawsPerChain)
	g.batches = make([]*batch, groups*c.perGroup)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for group := range groups {
		work.Go(func() error {
			from, to := group*s.Chains/groups, (group+1)*s.Chains/groups
			for k := range c.perGroup {
				g.batches[group*c.perGroup+k] = newBatch((to-from)*(g.drawsPerChain/c.perGroup+1), len(g.slots), g.paired)
			}
			for chain := from; chain < to; chain++ {
				if err := c.chain(ctx, r, chain, g.batches[group*c.perGroup:(group+1)*c.perGroup]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	g.bestOfSets = run.Distinct(slices.Concat(c.bestOfChains...))
	return g, nil
}

// frequent returns at most most ingredients that some draw uses, from the most to the least
// frequent.
func frequent(inclusion []run.Inclusion, most int) []int {
	var all []run.Inclusion
	for _, i := range inclusion {
		if i.Probability > 0 {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b run.Inclusion) int { return cmp.Compare(b.Probability, a.Probability) })
	slots := make([]int, min(len(all), most))
	for k := range slots {
		slots[k] = all[k].Index
	}
	return slots
}

// collector reads chains, each by itself.
type collector struct {
	*gathered
	problem      *compile.Problem
	slotOf       []int32 // by ingredient: its slot and 1, or 0
	weighs       bool    // a property counts
	rankStride   int     // among the draws that are looked at
	poolStride   int
	perGroup     int
	bestOfChains [][]run.Best // by chain

	shownStride int // among the draws that are looked at
}

// chain reads the draws of a chain and cuts them into the given batches.
func (c *collector) chain(ctx context.Context, r *run.Run, chain int, batches []*batch) error {
	at := 0 // among those looked at
	for d, err := range r.Thinned(ctx, chain, c.stride) {
		if err != nil {
			return err
		}
		if at%4096 == 0 && browsersched.Err(ctx) != nil {
			return ctx.Err()
		}
		logScore := run.LogScore(c.problem.Target.Objectives(), d.Scores)
		if c.weighs {
			c.scores[chain] = append(c.scores[chain], logScore)
		}
		if at%c.rankStride == 0 {
			c.append(chain, d)
		}
		if at%c.poolStride == 0 {
			c.offer(chain, d, logScore)
		}
		if at%c.shownStride == 0 {
			x, err := c.problem.Target.Space().Composition(d.Parts, d.Conditions)
			if err != nil {
				return err
			}
			c.shownDraws[chain] = append(c.shownDraws[chain], x)
		}
		c.count(batches[at*len(batches)/c.drawsPerChain], d)
		at++
	}
	return nil
}

// append adds a draw to the series.
func (c *collector) append(chain int, d *run.Draw) {
	add := func(k int, v float64) {
		c.series[k].chains[chain] = append(c.series[k].chains[chain], v)
	}
	add(0, float64(len(d.Parts)))
	add(1, d.LogDensity)
	for k, y := range d.Scores {
		add(2+k, y)
	}
}

// offer adds a draw to the candidates for the diverse shortlist, unless a known recipe has its set
// of ingredients.
func (c *collector) offer(chain int, d *run.Draw, logScore float64) {
	if c.problem.Book != nil {
		if _, known := c.problem.Book.RecipeWithSet(setOf(d.Parts)); known {
			return
		}
	}
	c.bestOfChains[chain] = append(c.bestOfChains[chain], run.Best{
		Chain: chain, Draw: d.Draw, Score: portable.Exp(logScore), LogScore: logScore, LogDensity: d.LogDensity,
		Scores: slices.Clone(d.Scores), Parts: slices.Clone(d.Parts),
	})
}

// count adds a draw to a batch.
func (c *collector) count(b *batch, d *run.Draw) {
	word, bit := b.draws/64, uint64(1)<<(b.draws%64)
	for _, part := range d.Parts {
		slot := int(c.slotOf[part.Ingredient]) - 1
		if slot < 0 {
			continue
		}
		b.used[slot]++
		b.amounts[slot] += int64(part.Amount)
		if slot < len(b.present) {
			b.present[slot][word] |= bit
		}
	}
	b.draws++
}
