package run

import (
	"context"
	"fmt"

	"sync"

	"golang.org/x/sync/errgroup"

	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// computeFigures computes the results of a complete run from its stored draws, chain by chain. It
// is the only function that does so, whether the run has just ended or was resumed, extended or
// merged.
func computeFigures(ctx context.Context, spec *Spec, store Store, m *Manifest, workers int) (*Result, error) {
	read, err := readChains(ctx, spec, store, m, workers)
	if err != nil {
		return nil, err
	}
	r := &Result{Settings: spec.Settings, Baseline: read.baseline, Best: read.best, NewBest: read.unknownBest}
	if m.Auto != nil {
		r.Auto = *m.Auto
	}
	for c := range read.chains {
		r.addChain(c, read)
	}
	r.Rates, r.Moves = newRates(r.Tally.Accepted, r.Tally.Updated, r.Tally.Iterations), newMoves(r.Tally)
	r.setLadders()
	if spec.IsKnownSet != nil {
		for k, b := range r.Best {
			r.Best[k].Known = spec.IsKnownSet(b.ingredientSet())
		}
	}
	r.Timing.Iterations = int64(spec.Settings.Chains) * spec.Settings.Iterations()
	r.Timing.IterationsPerSecond = number.Number(r.Timing.Iterations) / r.Timing.Seconds
	if err := r.summarize(spec, read.chains, workers); err != nil {
		return nil, err
	}
	if r.Unlisted.Count > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("The %d ingredients that are used most often are listed. The draws use %d more, which kir draws prints.", MaxListedIngredients, r.Unlisted.Count))
	}
	return r, nil
}

// runContents holds what was read from the files of a complete run, and the scores of random
// compositions for comparison.
type runContents struct {
	states      []*state        // item k is the stored state of chain k
	parts       [][]PartFile    // item k lists the files of draws of chain k
	chains      []*chainFigures // item k holds the statistics of the draws of chain k
	baseline    *Baseline
	best        []Best // compositions of highest score of all chains
	unknownBest []Best // compositions of highest score whose set of ingredients no known recipe has
}

// readChains reads the draws and state files of all chains. It returns an error if a chain is
// damaged or not complete.
func readChains(ctx context.Context, spec *Spec, store Store, m *Manifest, workers int) (*runContents, error) {
	stored, err := listParts(ctx, store, "draws/")
	if err != nil {
		return nil, err
	}
	states, damage, err := loadStates(ctx, store, m)
	if err != nil {
		return nil, err
	}
	read := &runContents{states: states, parts: make([][]PartFile, spec.Settings.Chains), chains: make([]*chainFigures, spec.Settings.Chains)}
	resolve := newIngredientFinder(m)
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	var mu sync.Mutex
	g.Go(func() (err error) {
		read.baseline, err = newBaseline(within, spec)
		return err
	})
	for c := range read.chains {
		s := states[c]
		if damage[c] != nil {
			return nil, &StateError{Dir: store.Location(), Err: damage[c]}
		}
		if s == nil || m.isDrawCountOpen() || s.Draws != spec.Settings.Draws || len(stored[c]) != s.Parts {
			return nil, &UnfinishedError{Dir: store.Location()}
		}
		g.Go(func() (err error) {
			f := newChainFigures(spec)
			read.parts[c], err = readChain(within, store, m, stored[c], c, resolve, 1, func(d *Draw) bool {
				f.add(d)
				return true
			})
			mu.Lock()
			defer mu.Unlock()
			read.mergeBestOfChain(c, f, s, spec)
			read.chains[c] = f
			return err
		})
	}
	return read, g.Wait()
}

// mergeBestOfChain merges the best compositions of a chain into those of all chains. Compositions
// that the chain visited between draws are taken from the chain's stored state, since no draw
// contains them. The result does not depend on the order in which chains are merged.
func (r *runContents) mergeBestOfChain(chain int, f *chainFigures, s *state, spec *Spec) {
	r.best = mergeBest(r.best, bestWithChain(chain, f.best.entries, false), bestWithChain(chain, s.Best, true))
	if spec.IsKnownSet != nil {
		r.unknownBest = mergeBest(r.unknownBest, bestWithChain(chain, f.unknownBest.entries, false), bestWithChain(chain, s.unknownBest(spec.IsKnownSet), true))
	}
	f.best, f.unknownBest, s.Best, s.Fresh = shortlist{}, shortlist{}, nil, nil
}

// addChain adds the counts and the files of a chain to the result.
func (r *Result) addChain(chain int, read *runContents) {
	s := read.states[chain]
	r.meanInverseScore.join(read.chains[chain].meanInverseScore)
	r.Parts = append(r.Parts, read.parts[chain]...)
	r.Chains = append(r.Chains, ChainResult{Chain: chain, StartTries: s.Tries, Rates: newRates(s.Tally.Accepted, s.Tally.Updated, s.Tally.Iterations), Tally: s.Tally, Ladder: s.Ladder})
	r.Tally.Add(s.Tally)
	r.Timing.Seconds = max(r.Timing.Seconds, number.Number(s.Seconds))
}

// summarize computes the statistics of all chains together. The statistics do not depend on the
// number of workers.
func (r *Result) summarize(spec *Spec, chains []*chainFigures, workers int) error {
	var g errgroup.Group
	// The statistics of many draws are computed one after another, to save memory.
	g.SetLimit(workers)
	if len(chains) > maxConcurrentChains {
		g.SetLimit(1)
	}
	statistic := func(to *Statistic, name string, of func(f *chainFigures) **diagnose.Series) {
		g.Go(func() error {
			var series []*diagnose.Series
			for _, f := range chains {
				series = append(series, *of(f))
				*of(f) = nil
			}
			*to = summarizeSeries(name, series)
			return nil
		})
	}
	statistic(&r.IngredientCount, "used", func(f *chainFigures) **diagnose.Series { return &f.ingredientCount })
	statistic(&r.LogDensity, "log_density", func(f *chainFigures) **diagnose.Series { return &f.logDensity })
	if spec.hasObjectives() {
		r.Score = new(Statistic)
		statistic(r.Score, "score", func(f *chainFigures) **diagnose.Series { return &f.totalScore })
	}
	r.Properties = make([]Statistic, len(spec.propertyNames()))
	for k, name := range spec.propertyNames() {
		statistic(&r.Properties[k], name, func(f *chainFigures) **diagnose.Series { return &f.propertyScores[k] })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	slowest := r.withholdStandardErrors()
	g.Go(func() (err error) {
		r.Inclusion, r.Unlisted, err = newInclusion(spec.Ingredients, chains, slowest)
		return err
	})
	g.Go(func() (err error) {
		r.Conditions, err = newConditionShares(spec, chains, slowest)
		return err
	})
	g.Go(func() error { return r.compareSizesWithLaw(spec.Target, chains, slowest) })
	return g.Wait()
}

// bestWithChain returns the compositions of the list, with the given number as their chain. If
// visitedOnly is true, it returns only compositions that a tempered chain visited between draws.
func bestWithChain(chain int, list []Best, visitedOnly bool) (of []Best) {
	for _, b := range list {
		if b.Found || !visitedOnly {
			b.Chain = chain
			of = append(of, b)
		}
	}
	return of
}

// chainFigures computes the statistics of one chain, one draw after the other, in memory that does
// not grow with the number of draws.
type chainFigures struct {
	objectives []mcmc.Objective
	draws      int // number of draws added

	ingredientCount, logDensity *diagnose.Series
	totalScore                  *diagnose.Series    // series of the product Π_k y_k^c_k of all properties; nil if no property has a positive weight
	propertyScores              []*diagnose.Series  // item k is the series of the scores of property k
	sizeHistogram               *diagnose.Histogram // number of draws for each number of ingredients
	presence                    *diagnose.Presence  // number of draws that use each ingredient, and sums of its amounts
	values                      valuePresence       // number of draws with each value of each condition
	meanInverseScore            logMean             // mean of 1/Π_k y_k^c_k
	best                        shortlist           // draws of highest score
	unknownBest                 shortlist           // draws of highest score whose set of ingredients no known recipe has
}

// seriesLength returns the number of values that a [diagnose.Series] of each chain keeps for
// quantiles and R-hat. The number is smaller for many chains, so that the memory of all chains is
// bounded. Up to this number a series keeps the value of every draw.
func seriesLength(chains int) int {
	return min(1<<17, max(1<<12, 1<<19/chains), max(1<<6, 1<<22/chains))
}

func newChainFigures(s *Spec) *chainFigures {
	chains := s.Settings.Chains
	limit := seriesLength(chains)
	series := func() *diagnose.Series { return diagnose.NewSeries(limit, chains) }
	_, most := s.Target.Law().Support()
	f := &chainFigures{
		objectives:      s.Target.Objectives(),
		ingredientCount: series(),
		logDensity:      series(),
		sizeHistogram:   diagnose.NewHistogram(most+1, chains),
		presence:        diagnose.NewPresence(s.Target.Space().N(), chains),
		values:          newValuePresence(s.Conditions, chains),
	}
	for range f.objectives {
		f.propertyScores = append(f.propertyScores, series())
	}
	if s.hasObjectives() {
		f.totalScore = series()
	}
	f.unknownBest.isExcludedSet = s.IsKnownSet
	return f
}

// add adds a draw to all statistics.
func (f *chainFigures) add(d *Draw) {
	f.ingredientCount.Add(float64(len(d.Parts)))
	f.logDensity.Add(d.LogDensity)
	for k, y := range d.Scores {
		f.propertyScores[k].Add(y)
	}
	logScore := LogScore(f.objectives, d.Scores)
	if f.totalScore != nil {
		f.totalScore.Add(portable.Exp(logScore))
		f.meanInverseScore.add(-logScore)
	}
	f.sizeHistogram.Add(len(d.Parts))
	f.presence.Next()
	for _, p := range d.Parts {
		f.presence.Add(p.Ingredient, p.Amount)
	}
	f.values.add(d.Conditions)
	f.best.offer(d, logScore)
	if f.unknownBest.isExcludedSet != nil {
		f.unknownBest.offer(d, logScore)
	}
	f.draws++
}
