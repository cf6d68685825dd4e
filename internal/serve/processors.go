package serve

import (
	"context"
	"sync"
)

// A processorGate keeps the drawing chains from delaying work that the user waits for, such as the
// run of a step or the choice of a batch. In a browser, where all work shares one processor, the
// chains would otherwise take most of it. The zero value has no work.
type processorGate struct {
	mu        sync.Mutex
	workCount int           // number of works that need the processors
	free      chan struct{} // closed when no work needs the processors any more; nil: none needs them
}

// claim says that a work needs the processors, until release is called. The function release must be
// called once.
func (g *processorGate) claim() (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.workCount++; g.workCount == 1 {
		g.free = make(chan struct{})
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.workCount--; g.workCount == 0 {
			close(g.free)
			g.free = nil
		}
	}
}

// wait returns when no work needs the processors, or with the error of ctx when ctx ends.
func (g *processorGate) wait(ctx context.Context) error {
	for {
		g.mu.Lock()
		free := g.free
		g.mu.Unlock()
		if free == nil {
			return ctx.Err()
		}
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
