package serve

import (
	"context"
	"runtime"
	"testing"
	"time"

	"kir/mcmc"
)

// isClaimed reports whether some work needs the processors.
func isClaimed(g *processorGate) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.free != nil
}

// TestChainsYield: while two works need the processors, the chains make their first draws and wait;
// they go on when both works have ended.
func TestChainsYield(t *testing.T) {
	space, err := mcmc.NewSpace(4, 6)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Table(map[int]float64{1: 1, 3: 1}))
	if err != nil {
		t.Fatal(err)
	}
	gate := new(processorGate)
	releaseFirst, releaseSecond := gate.claim(), gate.claim()
	c := newDrawingChains(target, gate)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.drawUntilDone(ctx, "balanced", 1, nil) }()
	first := drawsBeforeYielding(runtime.GOMAXPROCS(0)) / len(c.traces)
	await := func(least int) {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for _, tr := range c.traces {
			for tr.drawCount() < least {
				if time.Now().After(deadline) {
					t.Fatalf("a chain has %d draws, and never %d", tr.drawCount(), least)
				}
				time.Sleep(time.Millisecond)
			}
		}
	}
	waiting := func() {
		t.Helper()
		time.Sleep(50 * time.Millisecond)
		for k, tr := range c.traces {
			if n := tr.drawCount(); n > first+16 {
				t.Errorf("chain %d has %d draws beside work that needs the processors", k, n)
			}
		}
	}
	await(first)
	waiting()
	releaseFirst()
	waiting()
	releaseSecond()
	await(10 * first)

	// Work that begins later stops the chains again, and the end of their context ends them.
	defer gate.claim()()
	cancel()
	if err := <-ended; err == nil {
		t.Error("the chains were not ended")
	}
}

// TestComputationClaims: the choice of a batch and the report on a campaign make the chains wait
// until they end.
func TestComputationClaims(t *testing.T) {
	s := asking(t)
	s.ctx = t.Context()
	claimed, finish := make(chan bool), make(chan struct{})
	s.startComputation(choosingActivity, func(context.Context) error {
		claimed <- isClaimed(&s.processors)
		<-finish
		return nil
	})
	if !<-claimed {
		t.Error("the chains draw beside the choice of a batch")
	}
	close(finish)
	s.runningWork.Wait()
	if isClaimed(&s.processors) {
		t.Error("the chains wait for a choice that has ended")
	}
}
