package serve

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"kir/internal/browsersched"
	"kir/internal/portable"
	"kir/mcmc"
)

const (
	chainCount           = 4         // number of Markov chains that draw while the page is open
	liveWarmupIterations = 400       // number of warm-up iterations of each chain
	liveThinning         = 8         // number of iterations from one draw to the next
	maxLiveDraws         = 1_000_000 // maximum number of draws of all chains together
	maxKeptDraws         = 1024      // number of draws that are kept of each chain; up to twice as many before thinning
	drawsBeforeYielding  = 4096      // number of draws of all chains together, after which the chains wait until the run has finished
)

// A keptDraw is a recipe that a Markov chain drew.
type keptDraw struct {
	parts      []mcmc.Part // ingredients and their amounts in units
	conditions []int32     // by condition: the index of the value
	logDensity float64     // log density under the target distribution, up to a constant
	logScore   float64     // Σ_k c_k·log y_k, where objective k has the weight c_k and the score y_k
}

// A trace keeps evenly spaced draws of one Markov chain. When the trace is full, it drops every
// second draw.
type trace struct {
	mu        sync.Mutex
	interval  int // one in interval draws is kept
	drawsSeen int // number of draws made so far
	draws     []keptDraw
}

// add keeps a copy of the chain's state x, unless x falls between two kept draws.
func (t *trace) add(x *mcmc.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drawsSeen++; (t.drawsSeen-1)%t.interval != 0 {
		return
	}
	t.draws = append(t.draws, keptDraw{x.Composition.Parts(), x.Composition.AppendConditions(nil), x.LogDensity(), x.LogScore()})
	if len(t.draws) >= 2*maxKeptDraws {
		half := make([]keptDraw, 0, 2*maxKeptDraws)
		for k := 0; k < len(t.draws); k += 2 {
			half = append(half, t.draws[k])
		}
		t.draws, t.interval = half, 2*t.interval
	}
}

// A chains value has the Markov chains that draw recipes of the current step while the page is
// open.
type chains struct {
	target        *mcmc.Target // distribution to draw from
	traces        []*trace     // by chain: the kept draws
	reusableCount atomic.Int64 // number of the previous step's draws that were suitable as starts

	// processorFree is closed once no other work needs the processors.
	processorFree chan struct{}
}

// newChains returns chains that have no draws yet.
func newChains(t *mcmc.Target) *chains {
	c := &chains{target: t, processorFree: make(chan struct{})}
	for range chainCount {
		c.traces = append(c.traces, &trace{interval: 1})
	}
	return c
}

// draws returns the kept draws by chain, with equally many draws for each chain. The result made is
// the number of draws made by all chains.
func (c *chains) draws() (kept [][]keptDraw, made int) {
	least := math.MaxInt
	for _, t := range c.traces {
		t.mu.Lock()
		kept = append(kept, t.draws[:len(t.draws):len(t.draws)])
		made += t.drawsSeen
		t.mu.Unlock()
		least = min(least, len(kept[len(kept)-1]))
	}
	for k := range kept {
		kept[k] = kept[k][:least]
	}
	return kept, made
}

// drawUntilDone draws until ctx ends or there are enough draws. The parameter before has draws of
// the previous step. If some of these draws are possible in the new distribution, the chains start
// from them. The starts are resampled in proportion to the ratio of the two densities (sampling
// importance resampling, Rubin 1987), so a small change of the problem needs no new warm-up.
// Otherwise the chains start from exact draws of the distribution of the number of ingredients.
func (c *chains) drawUntilDone(ctx context.Context, kernel string, seed uint64, before []keptDraw) error {
	if kernel == "tempered" {
		kernel = "balanced" // the kernel that moves a single state
	}
	k, err := mcmc.NewKernel(kernel, c.target)
	if errors.Is(err, mcmc.ErrReducible) {
		k, err = mcmc.NewKernel("balanced", c.target)
	}
	if err != nil {
		return err
	}
	starts, weights := c.reusableDraws(before)
	c.reusableCount.Store(int64(len(starts)))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)))
	// The chains take turns, so that all have draws even with fewer cores.
	turns := make([]*liveChain, len(c.traces))
	for index := range turns {
		r := mcmc.NewRand(seed, "page", uint64(index))
		turns[index] = &liveChain{kernel: k, rand: r, trace: c.traces[index]}
		if turns[index].state, err = c.startState(r, starts, weights); err != nil {
			return err
		}
	}
	workers := min(len(turns), max(1, runtime.GOMAXPROCS(0)))
	for w := range workers {
		g.Go(func() error {
			for made := 0; made < maxLiveDraws/len(c.traces); {
				for k := w; k < len(turns); k += workers {
					if err := turns[k].takeTurn(ctx); err != nil {
						return err
					}
				}
				made = turns[w].trace.drawCount()
				if made*len(c.traces) < drawsBeforeYielding {
					continue
				}
				select {
				case <-c.processorFree:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// drawCount returns the number of draws made so far.
func (t *trace) drawCount() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.drawsSeen
}

// reusableDraws returns the draws of another distribution that have a positive density under the
// target, and their importance weights.
func (c *chains) reusableDraws(before []keptDraw) (starts []keptDraw, weights []float64) {
	var logs []float64
	for _, d := range before {
		x, err := c.target.Space().Composition(d.parts, d.conditions)
		if err != nil || c.target.Space().Contains(x) != nil {
			continue
		}
		score, err := c.target.LogScore(x)
		if density := score + c.target.LogLaw(len(d.parts)); err == nil && density > math.Inf(-1) {
			starts = append(starts, d)
			logs = append(logs, density-d.logDensity)
		}
	}
	if len(logs) == 0 {
		return nil, nil
	}
	top := slices.Max(logs)
	for _, v := range logs {
		weights = append(weights, portable.Exp(v-top))
	}
	return starts, weights
}

// startState returns the initial state of a chain. The state is one of the given draws, chosen in
// proportion to the weights, or a new exact draw if there are none.
func (c *chains) startState(r *mcmc.Rand, starts []keptDraw, weights []float64) (*mcmc.State, error) {
	if len(starts) == 0 {
		x, _, err := mcmc.StartState(c.target, r)
		return x, err
	}
	from := starts[r.Categorical(weights)]
	x, err := c.target.Space().Composition(from.parts, from.conditions)
	if err != nil {
		return nil, err
	}
	return mcmc.NewState(c.target, x)
}

// A liveChain is one running Markov chain.
type liveChain struct {
	kernel   mcmc.Kernel
	state    *mcmc.State
	rand     *mcmc.Rand
	trace    *trace
	tally    mcmc.Tally
	warmedUp bool // whether the warm-up has been done
}

// takeTurn makes a few draws and adds the draws to the trace. The first turn also makes the
// warm-up.
func (l *liveChain) takeTurn(ctx context.Context) error {
	if !l.warmedUp {
		l.warmedUp = true
		learner, learns := l.kernel.(mcmc.Learner)
		for range liveWarmupIterations / liveThinning {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
			advance := l.kernel.Advance
			if learns {
				advance = learner.Warm
			}
			if err := advance(l.rand, l.state, liveThinning, &l.tally); err != nil {
				return err
			}
		}
		if learns {
			learner.EndWarmup(l.state)
		}
	}
	const draws = 16
	for range draws {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		if err := l.kernel.Advance(l.rand, l.state, liveThinning, &l.tally); err != nil {
			return err
		}
		l.trace.add(l.state)
	}
	return nil
}
