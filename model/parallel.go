package model

import (
	"context"
	"sync"
	"sync/atomic"
)

// inParallel runs n tasks, k = 0, …, n − 1, on the given number of goroutines. Each goroutine calls
// worker once, and then calls the returned function with the k of each of its tasks. At the first
// error, inParallel stops and returns the error.
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
