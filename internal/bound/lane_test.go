package bound

import (
	"bytes"
	"context"
	"encoding/gob"
	"math/rand/v2"
	"reflect"
	"testing"

	"golang.org/x/sync/errgroup"
)

// newMadeOpen draws a problem that keeps many boxes open: several tables of steps and ratios.
func newMadeOpen(t *testing.T, seed uint64) *made {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 4))
	m := newMade(t, r, 8, 30, 4, int(seed%2), 3, int(seed%3)/2)
	if seed%2 == 1 {
		m.cut()
	}
	m.SoloWork = 1
	return m
}

// onProcessors returns a Spread that computes at most the given number of lanes at the same time.
func onProcessors(workers int) Spread {
	return func(ctx context.Context, _, count int, compute func(ctx context.Context, lane int) (*LaneResult, error)) ([]*LaneResult, error) {
		results := make([]*LaneResult, count)
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(max(1, workers))
		for k := range results {
			g.Go(func() (err error) {
				results[k], err = compute(ctx, k)
				return err
			})
		}
		return results, g.Wait()
	}
}

// stored is a [Spread] whose lanes run one after another, the last first, and whose results are encoded
// and decoded. The function change may change a result.
func stored(t *testing.T, change func(round, lane int, r *LaneResult)) Spread {
	return func(ctx context.Context, round, count int, compute func(ctx context.Context, lane int) (*LaneResult, error)) ([]*LaneResult, error) {
		results := make([]*LaneResult, count)
		for k := count - 1; k >= 0; k-- {
			r, err := compute(ctx, k)
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(r); err != nil {
				t.Fatal(err)
			}
			results[k] = new(LaneResult)
			if err := gob.NewDecoder(&b).Decode(results[k]); err != nil {
				t.Fatal(err)
			}
			if change != nil {
				change(round, k, results[k])
			}
		}
		return results, nil
	}
}

// Rounds come to the same with any number of workers, and with results that are stored in between.
func TestRoundsAreTheSameAnywhere(t *testing.T) {
	rounds := 0
	for seed := range uint64(20) {
		var all []*Bounder
		for _, spread := range []Spread{onProcessors(1), onProcessors(5), stored(t, nil)} {
			b := New(&newMadeOpen(t, seed).Problem)
			for range 3 {
				if err := b.Run(t.Context(), 5e6, spread); err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, b)
		}
		for _, b := range all[1:] {
			if b.Standing() != all[0].Standing() || b.Work() != all[0].Work() || !reflect.DeepEqual(b.Candidates(), all[0].Candidates()) || len(b.openBoxHeap) != len(all[0].openBoxHeap) {
				t.Errorf("seed %d: %v after %d boxes and %v after %d", seed, b.Standing(), len(b.openBoxHeap), all[0].Standing(), len(all[0].openBoxHeap))
			}
		}
		rounds += all[0].roundCount
	}
	if rounds < 100 {
		t.Errorf("%d rounds are too few to compare", rounds)
	}
}

// Rounds bound what enumeration finds, and close.
func TestRoundsAreNeverBelow(t *testing.T) {
	rounds, closed := 0, 0
	const problems = 30
	for seed := range uint64(problems) {
		m := newMadeOpen(t, seed)
		best := m.best(t)
		b := New(&m.Problem)
		for range 100 {
			if err := b.Run(t.Context(), 2e6, onProcessors(2)); err != nil {
				t.Fatal(err)
			}
			if b.UpperBound() < best-scoreTolerance {
				t.Fatalf("seed %d: bounded by %v, and the best is %v\n%s", seed, b.UpperBound(), best, m.text)
			}
			if b.IsOptimal() {
				closed++
				break
			}
		}
		rounds += b.roundCount
	}
	if rounds < 100 || closed < problems {
		t.Errorf("%d rounds, %d of %d closed", rounds, closed, problems)
	}
}

// A lane that loses its first box is noticed by comparing with enumeration.
func TestALostBoxIsNoticed(t *testing.T) {
	below := 0
	for seed := range uint64(30) {
		m := newMadeOpen(t, seed)
		best := m.best(t)
		b := New(&m.Problem)
		lose := stored(t, func(_, _ int, r *LaneResult) {
			r.Boxes = r.Boxes[min(1, len(r.Boxes)):]
			r.Candidates, r.Incumbent = nil, b.incumbent
		})
		for range 100 {
			if err := b.Run(t.Context(), 2e6, lose); err != nil {
				t.Fatal(err)
			}
		}
		if b.UpperBound() < best-scoreTolerance {
			below++
		}
	}
	if below == 0 {
		t.Error("no bound is below the best")
	}
}
