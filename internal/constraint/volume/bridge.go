package volume

import (
	"context"
	"kir/internal/browsersched"
	"math"

	"golang.org/x/sync/errgroup"
)

// measureSizeRatios measures the ratios |X_{n+1}|/|X_n| of neighbouring sizes, where |X_n| is the number of
// compositions of n ingredients that keep all rules. The members of the populations keep moving under the rules,
// and between moves a split and a merge are tried. The measurement ends when all relevant ratios are precise
// enough, or the effort is spent.
func (m *measurement) measureSizeRatios(ctx context.Context) error {
	spent := int64(0)
	for _, w := range m.sizes {
		spent += w.moveCount()
	}
	cost := 1 + len(m.rules.terms)/(termsOfMove*len(m.rules.amounts)) // relative cost of a move, which grows with the terms per ingredient
	done := 0
	for tries := firstRoundTries; ; {
		chosen := m.bridgedSizes(done == 0)
		if len(chosen) == 0 {
			return nil
		}
		spent += int64(len(chosen)) * groupCount * populationSize * int64(tries) * movesBetweenTries
		if done > 0 && float64(spent)*float64(cost) > m.options.MaxMillionMoves*1e6 {
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
		// The variance falls in proportion to the tries. The 10 % allow for the error of the error, about a
		// fifth. The error is infinite or NaN while some group has had no success.
		more := float64(float64(done) * (float64(short*short) - 1) * 1.1)
		if tries = 3 * done; more < float64(tries) {
			tries = max(int(more), done/4)
		}
	}
}

// termsOfMove is the number of terms per ingredient whose update takes as long as the rest of a move.
const termsOfMove = 64

// movesBetweenTries is the number of moves between tries of a split and a merge. Moves are needed because the
// splits and merges that a composition allows change slowly.
const movesBetweenTries = 4

// bridgedSizes returns the indices of the sizes whose ratios to a neighbouring size are measured. After the
// first round bridgedSizes returns only the relevant sizes.
func (m *measurement) bridgedSizes(first bool) []int {
	var chosen []int
	for k := range m.sizes {
		if (m.areNeighbours(k) || k > 0 && m.areNeighbours(k-1)) && (first || m.isRelevant(k)) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}

// trySizeChanges moves each composition of the size at index k under the rules. Between moves trySizeChanges
// tries splits and merges and counts the successes. logRatio estimates the ratio of neighbouring sizes from the
// counts.
func (m *measurement) trySizeChanges(ctx context.Context, k, tries int) error {
	up, down := m.areNeighbours(k), k > 0 && m.areNeighbours(k-1)
	walker := newWalker(m.rules)
	for _, g := range m.sizes[k].groups {
		before := walker.moveCount
		for at := range g.members {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
			walker.load(g.members[at])
			for range tries {
				for range movesBetweenTries {
					walker.makeMove(g.random, math.Inf(1))
				}
				if up && walker.splitKeepsRules(g.random) {
					g.splits++
				}
				if down && walker.mergeKeepsRules(g.random) {
					g.merges++
				}
			}
			walker.store(&g.members[at])
			g.tries += int64(tries)
		}
		g.moveCount += walker.moveCount - before
	}
	return nil
}

// ratioError returns the largest standard error of the log of a ratio between the counts of two relevant sizes.
func (m *measurement) ratioError() float64 {
	joined := m.joinEstimates()
	worst := 0.0
	for a := range m.sizes {
		for b := range a {
			if joined[a] != nil && joined[b] != nil && m.isRelevant(a) && m.isRelevant(b) {
				worst = max(worst, jackknifeDifference(joined[a].withoutGroup, joined[b].withoutGroup))
			}
		}
	}
	return worst
}
