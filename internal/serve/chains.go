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
	liveChains = 4
	liveWarmup = 400       // iterations
	liveThin   = 8         // iterations from one draw to the next
	mostLive   = 1_000_000 // limit on the draws of all chains; by then the run has ended or takes long
	keptDraws  = 1024      // draws kept of each chain
	firstDraws = 4096      // draws of all chains before they leave the processors to the run
)

// A keptDraw is a draw of a trace.
type keptDraw struct {
	parts      []mcmc.Part
	conditions []int32
	logDensity float64
	logScore   float64 // Σ_k c_k·log y_k
}

// A trace has draws of a chain, evenly spaced. When it is full it drops every second one.
type trace struct {
	mu    sync.Mutex
	every int
	seen  int
	kept  []keptDraw
}

func (t *trace) add(x *mcmc.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen++; (t.seen-1)%t.every != 0 {
		return
	}
	t.kept = append(t.kept, keptDraw{x.Composition.Parts(), x.Composition.AppendConditions(nil), x.LogDensity(), x.LogScore()})
	if len(t.kept) >= 2*keptDraws {
		half := make([]keptDraw, 0, 2*keptDraws)
		for k := 0; k < len(t.kept); k += 2 {
			half = append(half, t.kept[k])
		}
		t.kept, t.every = half, 2*t.every
	}
}

// chains draw from a target while the page is open.
type chains struct {
	target *mcmc.Target
	traces []*trace
	reused atomic.Int64 // number of the previous step's draws that were suitable as starts

	// processorFree is closed once no other work needs the processors.
	processorFree chan struct{}
}

// newChains returns chains without draws.
func newChains(t *mcmc.Target) *chains {
	c := &chains{target: t, processorFree: make(chan struct{})}
	for range liveChains {
		c.traces = append(c.traces, &trace{every: 1})
	}
	return c
}

// draws returns the kept draws, the same number of each chain. made is the number of draws
// made.
func (c *chains) draws() (kept [][]keptDraw, made int) {
	least := math.MaxInt
	for _, t := range c.traces {
		t.mu.Lock()
		kept = append(kept, t.kept[:len(t.kept):len(t.kept)])
		made += t.seen
		t.mu.Unlock()
		least = min(least, len(kept[len(kept)-1]))
	}
	for k := range kept {
		kept[k] = kept[k][:least]
	}
	return kept, made
}

// run draws until ctx ends or there are enough draws. If draws of the previous law fit this
// one, the chains start at some of them. These are resampled in proportion to the ratio of the
// two densities (sampling importance resampling, Rubin 1987). So a small change does not need
// a new warm-up. Otherwise the chains start at exact draws of the law of n.
func (c *chains) run(ctx context.Context, kernel string, seed uint64, before []keptDraw) error {
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
	c.reused.Store(int64(len(starts)))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)))
	// The chains take turns, so that all have draws even with fewer cores.
	turns := make([]*liveChain, len(c.traces))
	for index := range turns {
		r := mcmc.NewRand(seed, "page", uint64(index))
		turns[index] = &liveChain{kernel: k, rand: r, trace: c.traces[index]}
		if turns[index].state, err = c.start(r, starts, weights); err != nil {
			return err
		}
	}
	workers := min(len(turns), max(1, runtime.GOMAXPROCS(0)))
	for w := range workers {
		g.Go(func() error {
			for made := 0; made < mostLive/len(c.traces); {
				for k := w; k < len(turns); k += workers {
					if err := turns[k].turn(ctx); err != nil {
						return err
					}
				}
				made = turns[w].trace.count()
				if made*len(c.traces) < firstDraws {
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

func (t *trace) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

// reusableDraws returns the draws of another law that have a density under this one, with
// their importance weights.
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

// start returns the initial state of a chain.
func (c *chains) start(r *mcmc.Rand, starts []keptDraw, weights []float64) (*mcmc.State, error) {
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

// A liveChain is a chain with its kernel, random numbers and trace.
type liveChain struct {
	kernel mcmc.Kernel
	state  *mcmc.State
	rand   *mcmc.Rand
	trace  *trace
	tally  mcmc.Tally
	warm   bool
}

// turn makes a few draws and adds them to the trace.
func (l *liveChain) turn(ctx context.Context) error {
	if !l.warm {
		l.warm = true
		learner, learns := l.kernel.(mcmc.Learner)
		for range liveWarmup / liveThin {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
			advance := l.kernel.Advance
			if learns {
				advance = learner.Warm
			}
			if err := advance(l.rand, l.state, liveThin, &l.tally); err != nil {
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
		if err := l.kernel.Advance(l.rand, l.state, liveThin, &l.tally); err != nil {
			return err
		}
		l.trace.add(l.state)
	}
	return nil
}
