package measure

import (
	"context"
	"kir/internal/yield"
	"math"

	"golang.org/x/sync/errgroup"
)

// bridge measures the ratios between neighbouring sizes: populations go on
// under the rules, and now and then a split and a merge are tried. Rounds follow
// until the ratios that matter are known, or the effort is spent.
func (m *measurement) bridge(ctx context.Context) error {
	spent := int64(0)
	for _, w := range m.sizes {
		spent += w.moves()
	}
	cost := 1 + len(m.rules.terms)/(termsOfMove*len(m.rules.amounts)) // of a move
	done := 0
	for tries := firstTries; ; {
		chosen := m.bridgedSizes(done == 0)
		if len(chosen) == 0 {
			return nil
		}
		spent += int64(len(chosen)) * groups * population * int64(tries) * movesBetweenTries
		if done > 0 && float64(spent)*float64(cost) > m.options.Effort*1e6 {
			return nil
		}
		work, ctx := errgroup.WithContext(ctx)
		work.SetLimit(m.options.Workers)
		for _, k := range chosen {
			work.Go(func() error { return m.trySizeChanges(ctx, k, tries) })
		}
		if err := work.Wait(); err != nil {
			return err
		}
		done += tries
		short := m.ratioError() / m.options.RatioError
		if short <= 1 {
			return nil
		}
		// Variances fall as tries add up; the error is known to a fifth or so. It is
		// infinite, or not known at all, where some part has met nothing yet.
		more := float64(float64(done) * (float64(short*short) - 1) * 1.1)
		if tries = 3 * done; more < float64(tries) {
			tries = max(int(more), done/4)
		}
	}
}

// termsOfMove is how many terms of an ingredient are as much work as all else that a
// move is.
const termsOfMove = 64

// movesBetweenTries is how many moves lie between tries: what a composition allows changes
// slowly.
const movesBetweenTries = 4

// bridgedSizes returns the indexes of the sizes whose ratios are measured: those
// that have a neighbour, and after the first round those that matter.
func (m *measurement) bridgedSizes(first bool) []int {
	var chosen []int
	for k := range m.sizes {
		if (m.areNeighbours(k) || k > 0 && m.areNeighbours(k-1)) && (first || m.isRelevant(k)) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}

// trySizeChanges makes moves of each composition of a size, and tries to change its size.
func (m *measurement) trySizeChanges(ctx context.Context, k, tries int) error {
	up, down := m.areNeighbours(k), k > 0 && m.areNeighbours(k-1)
	walker := newWalker(m.rules)
	for _, g := range m.sizes[k].groups {
		before := walker.moves
		for at := range g.members {
			if err := yield.Err(ctx); err != nil {
				return err
			}
			walker.load(g.members[at])
			for range tries {
				for range movesBetweenTries {
					walker.move(g.rand, math.Inf(1))
				}
				if up && walker.split(g.rand) {
					g.splits++
				}
				if down && walker.merge(g.rand) {
					g.merges++
				}
			}
			walker.store(&g.members[at])
			g.tries += int64(tries)
		}
		g.moves += walker.moves - before
	}
	return nil
}

// ratioError returns the largest standard error of a log ratio between sizes
// that matter.
func (m *measurement) ratioError() float64 {
	joined := m.join()
	worst := 0.0
	for a := range m.sizes {
		for b := range a {
			if joined[a] != nil && joined[b] != nil && m.isRelevant(a) && m.isRelevant(b) {
				worst = max(worst, jackknife(joined[a].without, joined[b].without))
			}
		}
	}
	return worst
}
