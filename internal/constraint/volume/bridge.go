package volume

import (
	"context"
	"kir/internal/browsersched"
	"math"

	"golang.org/x/sync/errgroup"
)

// bridge measures the ratios between neighbouring sizes. Populations keep moving under the rules,
// and at intervals a split and a merge are tried. Rounds follow until the relevant ratios are known
// well enough, or the effort is spent.
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
		// Variances fall as tries add up, and the error is known to about a fifth. It is infinite
		// or undefined where some group has met no success yet.
		more := float64(float64(done) * (float64(short*short) - 1) * 1.1)
		if tries = 3 * done; more < float64(tries) {
			tries = max(int(more), done/4)
		}
	}
}

// termsOfMove is the number of terms of an ingredient that cost as much as the rest of a move.
const termsOfMove = 64

// movesBetweenTries is the number of moves between tries. The splits and merges that a composition
// allows change slowly.
const movesBetweenTries = 4

// bridgedSizes returns the indexes of the sizes whose ratios are measured: those with a neighbour
// and, after the first round, only relevant ones.
func (m *measurement) bridgedSizes(first bool) []int {
	var chosen []int
	for k := range m.sizes {
		if (m.areNeighbours(k) || k > 0 && m.areNeighbours(k-1)) && (first || m.isRelevant(k)) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}

// trySizeChanges moves each composition of size k under the rules. Between moves it tries to split
// or merge ingredients, and counts the successes. The counts give the ratio of the numbers of
// compositions of neighbouring sizes.
func (m *measurement) trySizeChanges(ctx context.Context, k, tries int) error {
	up, down := m.areNeighbours(k), k > 0 && m.areNeighbours(k-1)
	walker := newWalker(m.rules)
	for _, g := range m.sizes[k].groups {
		before := walker.moves
		for at := range g.members {
			if err := browsersched.Err(ctx); err != nil {
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

// ratioError returns the largest standard error of a log ratio between relevant sizes.
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
