package volume

import (
	"context"
	"kir/internal/browsersched"
	"math"

	"golang.org/x/sync/errgroup"
)

// measureSizeRatios measures the ratios |X_{n+1}|/|X_n| of neighbouring sizes, where |X_n| is the number of
// compositions of n ingredients that keep all rules. The members of the populations keep moving under the rules,
// and between moves splits and merges are tried. A split gives some units of a used ingredient to an absent
// ingredient; a merge gives all units of a used ingredient to another used ingredient. The measurement ends when
// all relevant ratios are precise enough, or the effort is spent.
func (m *measurement) measureSizeRatios(ctx context.Context) error {
	spent := int64(0)
	for _, w := range m.sizes {
		spent += w.moveCount()
	}
	cost := 1 + len(m.rules.terms)/(termsPerMove*len(m.rules.allowedAmounts)) // relative cost of a move, which grows with the terms per ingredient
	done := 0
	for tries := firstRoundTries; ; {
		chosen := m.sizesToTry(done == 0)
		if len(chosen) == 0 {
			return nil
		}
		spent += int64(len(chosen)) * populationCount * populationSize * int64(tries) * movesBetweenTries
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
		// fifth. The error is infinite or NaN while some population has had no success.
		more := float64(float64(done) * (float64(short*short) - 1) * 1.1)
		if tries = 3 * done; more < float64(tries) {
			tries = max(int(more), done/4)
		}
	}
}

// termsPerMove is the number of terms per ingredient at which updating the sums takes half of the time of a move.
const termsPerMove = 64

// movesBetweenTries is the number of random moves of a composition between two tries of changing the number of
// ingredients (see [walker.splitKeepsRules]). Without moves, successive tries would give nearly the same answer.
const movesBetweenTries = 4

// sizesToTry returns the indices of the sizes for which the next round tries splits and merges (see
// [walker.splitKeepsRules]). In the first round, sizesToTry returns all sizes that have a neighbouring size. In
// later rounds, sizesToTry returns only those that are relevant.
func (m *measurement) sizesToTry(first bool) []int {
	var chosen []int
	for k := range m.sizes {
		if (m.areNeighbours(k) || k > 0 && m.areNeighbours(k-1)) && (first || m.isRelevant(k)) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}

// trySizeChanges moves each composition of the size at index k under the rules. Between moves trySizeChanges
// tries to split an ingredient in two and to merge two ingredients into one, and counts the successes; the
// parameter tries is the number of tries for each composition. From these counts logRatio estimates the ratio of
// neighbouring sizes.
func (m *measurement) trySizeChanges(ctx context.Context, k, tries int) error {
	up, down := m.areNeighbours(k), k > 0 && m.areNeighbours(k-1)
	walker := newWalker(m.rules)
	for _, g := range m.sizes[k].populations {
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

// ratioError returns the largest standard error of log(|X_m|/|X_n|) over all pairs of relevant sizes m and n,
// where |X_n| is the number of compositions of n ingredients.
func (m *measurement) ratioError() float64 {
	joined := m.joinEstimates()
	worst := 0.0
	for a := range m.sizes {
		for b := range a {
			if joined[a] != nil && joined[b] != nil && m.isRelevant(a) && m.isRelevant(b) {
				worst = max(worst, jackknifeDifference(joined[a].withoutPopulation, joined[b].withoutPopulation))
			}
		}
	}
	return worst
}
