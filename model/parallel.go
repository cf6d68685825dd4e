package model

import (
	"context"
	"sync"
	"sync/atomic"
)

// inParallel calls a function for each of 0..n-1 once, on several goroutines. Each goroutine uses
// its own function, which worker returns. inParallel stops at the first error and returns it.
func inParallel(ctx context.Context, workers, n int, worker func() func(int) error) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for range min(workers, n) {
		group.Go(func() {
			do := worker()
			for {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				err := context.Cause(ctx)
				if err == nil {
					err = do(k)
				}
				if err != nil {
					once.Do(func() { first = err; cancel(err) })
					return
				}
			}
		})
	}
	group.Wait()
	return first
}
