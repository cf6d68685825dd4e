package mcmc

import (
	"context"
	"errors"
	"fmt"
	"kir/internal/browsersched"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Stream runs chains of a sampler and passes each draw to sink, with the chain and the draw counted
// from 0. A draw is the state after every Thin iterations since warm-up. The draws of one chain
// come in order. Different chains call sink at the same time, from different goroutines. The state
// belongs to the chain and must not be kept or changed.
//
// Workers is the number of chains that run at once, or 0 for one a core. It does not affect the
// draws.
//
// Stream ignores the kernel in the settings and uses that of the sampler.
//
// It returns the tallies of the chains after warm-up. The first error, of a property or of sink,
// ends the run, and so does the end of ctx.
func Stream(ctx context.Context, s Sampler, o Settings, workers int, sink func(chain, draw int, x *State) error) ([]Tally, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Draws == AutoDraws {
		return nil, &SettingsError{"draws", fmt.Sprintf("draws is %d", o.Draws), "it must be at least 1"}
	}
	if s == nil {
		return nil, errors.New("there is no sampler to make chains")
	}
	if sink == nil {
		return nil, errors.New("there is no sink to hand the draws to")
	}
	tallies := make([]Tally, o.Chains)
	g, ctx := errgroup.WithContext(ctx)
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g.SetLimit(workers)
	for index := range o.Chains {
		g.Go(func() error {
			c, err := s.NewChain(o.Seed, index)
			if err != nil {
				return err
			}
			c.SetWorkers(workers / o.Chains)
			if err := advanceInContext(ctx, c.Warm, o.Warmup); err != nil {
				return err
			}
			c.EndWarmup()
			for draw := range o.Draws {
				if err := advanceInContext(ctx, c.Advance, o.Thin); err != nil {
					return err
				}
				if err := sink(index, draw, c.State); err != nil {
					return err
				}
			}
			tallies[index] = c.Tally()
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return tallies, nil
}

// advanceInContext makes iterations and checks at intervals whether the context has ended.
func advanceInContext(ctx context.Context, advance func(iterations int) error, iterations int) error {
	const stride = 1024
	for ; iterations > 0; iterations -= stride {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		if err := advance(min(stride, iterations)); err != nil {
			return err
		}
	}
	return nil
}
