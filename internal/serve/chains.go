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
	liveChainCount       = 4         // number of Markov chains that draw recipes while the page is open
	liveWarmupIterations = 400       // number of iterations that each chain makes before its first draw
	liveThinning         = 8         // number of iterations of a chain from one draw to the next
	maxLiveDraws         = 1_000_000 // number of draws of all chains together after which the chains stop
	minKeptDraws         = 1024      // number of draws of each chain that are always kept; see [drawTrace]
)

// drawsBeforeYielding returns the number of draws of all chains together after which the chains
// pause while other work needs the processors. On a single processor, as in a browser, each draw
// delays that work, so that fewer are made first.
func drawsBeforeYielding(processors int) int {
	if processors == 1 {
		return 1024
	}
	return 4096
}

// A keptDraw is a recipe that a Markov chain has drawn.
type keptDraw struct {
	parts      []mcmc.Part // ingredients and their amounts in units
	conditions []int32     // item k is the index of the value of condition k
	logDensity float64     // log density of the target distribution at the recipe, up to a constant
	logScore   float64     // Σ_k c_k·log y_k, where objective k has the weight c_k and the score y_k
}

// A drawTrace keeps evenly spaced draws of one Markov chain. When it has 2·[minKeptDraws] draws, it
// drops every second draw and doubles keepInterval.
type drawTrace struct {
	mu           sync.Mutex
	keepInterval int // distance between two kept draws: one in keepInterval draws is kept
	drawsSeen    int // number of draws made so far
	draws        []keptDraw
}

// add counts a draw and, if it is one of the evenly spaced draws to keep, keeps a copy of the
// chain's state x.
func (t *drawTrace) add(x *mcmc.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drawsSeen++; (t.drawsSeen-1)%t.keepInterval != 0 {
		return
	}
	t.draws = append(t.draws, keptDraw{x.Composition.Parts(), x.Composition.AppendConditions(nil), x.LogDensity(), x.LogScore()})
	if len(t.draws) >= 2*minKeptDraws {
		half := make([]keptDraw, 0, 2*minKeptDraws)
		for k := 0; k < len(t.draws); k += 2 {
			half = append(half, t.draws[k])
		}
		t.draws, t.keepInterval = half, 2*t.keepInterval
	}
}

// A chains value has the Markov chains that draw recipes of the current step for the open page.
type drawingChains struct {
	target            *mcmc.Target   // distribution from which the chains draw
	traces            []*drawTrace   // item c has the kept draws of chain c
	reusableDrawCount atomic.Int64   // number of draws of the previous step that are possible in this step
	gate              *processorGate // other work, for which the chains pause
}

// newDrawingChains returns chains that have no draws yet. They pause for the work of the gate.
func newDrawingChains(t *mcmc.Target, gate *processorGate) *drawingChains {
	c := &drawingChains{target: t, gate: gate}
	for range liveChainCount {
		c.traces = append(c.traces, &drawTrace{keepInterval: 1})
	}
	return c
}

// draws returns the kept draws: element [c][k] is draw k of chain c. All chains have the same
// number of draws in the result. The result drawCount is the number of draws that all chains have
// made together.
func (c *drawingChains) draws() (kept [][]keptDraw, drawCount int) {
	least := math.MaxInt
	for _, t := range c.traces {
		t.mu.Lock()
		kept = append(kept, t.draws[:len(t.draws):len(t.draws)])
		drawCount += t.drawsSeen
		t.mu.Unlock()
		least = min(least, len(kept[len(kept)-1]))
	}
	for k := range kept {
		kept[k] = kept[k][:least]
	}
	return kept, drawCount
}

// drawUntilDone draws until ctx ends or there are enough draws.
//
// The slice previousDraws has draws of the previous step. If some of them are possible in the
// target distribution, the chains start from these draws. Each start is chosen in proportion to the
// ratio of the new density to the old density (sampling importance resampling, Rubin 1987). After a
// small change of the problem, the chains therefore start close to the target distribution.
//
// Otherwise each chain starts from a new random recipe; see [mcmc.StartState].
func (c *drawingChains) drawUntilDone(ctx context.Context, kernel string, seed uint64, previousDraws []keptDraw) error {
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
	starts, weights := c.reusableDraws(previousDraws)
	c.reusableDrawCount.Store(int64(len(starts)))
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
	enough := drawsBeforeYielding(runtime.GOMAXPROCS(0))
	for w := range workers {
		g.Go(func() error {
			for made := 0; made < maxLiveDraws/len(c.traces); {
				for k := w; k < len(turns); k += workers {
					if err := turns[k].takeTurn(ctx); err != nil {
						return err
					}
				}
				made = turns[w].trace.drawCount()
				if made*len(c.traces) < enough {
					continue
				}
				if err := c.gate.wait(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// drawCount returns the number of draws that the chain has made.
func (t *drawTrace) drawCount() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.drawsSeen
}

// reusableDraws returns the draws of the previous step that have a positive density under the
// target, and the importance weight of each of these draws.
func (c *drawingChains) reusableDraws(previousDraws []keptDraw) (starts []keptDraw, weights []float64) {
	var logs []float64
	for _, d := range previousDraws {
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

// startState returns the initial state of a chain. The state is one of the starts, chosen at random
// in proportion to the weights. If there are no starts, it is a new random state; see
// [mcmc.StartState].
func (c *drawingChains) startState(r *mcmc.Rand, starts []keptDraw, weights []float64) (*mcmc.State, error) {
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
	trace    *drawTrace
	tally    mcmc.Tally
	warmedUp bool // whether the chain has finished or begun its warm-up
}

// takeTurn makes a few draws and adds them to the trace. Before the first draw it makes the
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
