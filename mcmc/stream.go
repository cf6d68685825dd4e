package mcmc

import (
	"context"
	"errors"
	"fmt"
	"kir/internal/browsersched"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Stream runs several chains of a sampler and calls sink with each draw. The arguments of sink are
// the index of the chain and the index of the draw, both from 0, and the state. After warm-up, the
// state after every Thin iterations is a draw. The draws of one chain arrive in order. Different
// chains call sink concurrently. The state belongs to the chain; sink must not keep or change it.
//
// The argument workers is the number of chains that run at the same time; 0 stands for the number
// of cores. It does not affect the draws. Stream uses the kernel of the sampler and ignores the
// kernel in the settings.
//
// Stream returns the tally of each chain since warm-up. The run ends early at the first error of a
// property or of sink, and when ctx ends.
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

// advanceInContext calls advance several times, until the given number of iterations is made.
// Before each call it checks ctx, and returns the error of ctx if ctx has ended.
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
