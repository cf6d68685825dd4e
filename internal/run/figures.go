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

// figures reads the draws of a complete run, chain by chain, and computes its results. All results
// come from here, whether a run has just ended or was resumed, extended or merged.
func figures(ctx context.Context, spec *Spec, store Store, m *Manifest, workers int) (*Result, error) {
	read, err := readChains(ctx, spec, store, m, workers)
	if err != nil {
		return nil, err
	}
	r := &Result{Settings: spec.Settings, Baseline: read.baseline, Best: read.best, New: read.fresh}
	if m.Auto != nil {
		r.Auto = *m.Auto
	}
	for c := range read.chains {
		r.addChain(c, read)
	}
	r.Rates, r.Moves = ratesOf(r.Tally.Accepted, r.Tally.Updated, r.Tally.Iterations), movesOf(r.Tally)
	r.setLadders()
	if spec.Known != nil {
		for k, b := range r.Best {
			r.Best[k].Known = spec.Known(b.set())
		}
	}
	r.Timing.Iterations = int64(spec.Settings.Chains) * spec.Settings.Iterations()
	r.Timing.IterationsPerSecond = number.Number(r.Timing.Iterations) / r.Timing.Seconds
	if err := r.summarize(spec, read.chains, workers); err != nil {
		return nil, err
	}
	if r.Unlisted.Count > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("The %d ingredients that are used most often are listed. The draws use %d more, which kir draws prints.", MostInclusion, r.Unlisted.Count))
	}
	return r, nil
}

// chainsRead is what the draws of a complete run contain, and the baseline to compare them with.
type chainsRead struct {
	states      []*state     // by chain
	parts       [][]PartFile // by chain
	chains      []*chainFigures
	baseline    *Baseline
	best, fresh []Best
}

// readChains reads the draws of all chains. It returns an error if a chain is damaged or not
// complete.
func readChains(ctx context.Context, spec *Spec, store Store, m *Manifest, workers int) (*chainsRead, error) {
	stored, err := listParts(ctx, store, "draws/")
	if err != nil {
		return nil, err
	}
	states, damage, err := loadStates(ctx, store, m)
	if err != nil {
		return nil, err
	}
	read := &chainsRead{states: states, parts: make([][]PartFile, spec.Settings.Chains), chains: make([]*chainFigures, spec.Settings.Chains)}
	resolve := newResolver(m)
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
		if s == nil || m.isOpenEnded() || s.Draws != spec.Settings.Draws || len(stored[c]) != s.Parts {
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
			read.addBest(c, f, s, spec)
			read.chains[c] = f
			return err
		})
	}
	return read, g.Wait()
}

// addBest joins the best draws of a chain with those of all. A composition that a chain visited
// between draws is not a draw and is stored with its state. The overall best do not depend on the
// order of the chains.
func (r *chainsRead) addBest(chain int, f *chainFigures, s *state, spec *Spec) {
	r.best = bestOfLists(r.best, withChain(chain, f.best.best, false), withChain(chain, s.Best, true))
	if spec.Known != nil {
		r.fresh = bestOfLists(r.fresh, withChain(chain, f.fresh.best, false), withChain(chain, s.unknownBest(spec.Known), true))
	}
	f.best, f.fresh, s.Best, s.Fresh = shortlist{}, shortlist{}, nil, nil
}

// addChain adds the counts and files of a chain.
func (r *Result) addChain(chain int, read *chainsRead) {
	s := read.states[chain]
	r.inverse.join(read.chains[chain].inverse)
	r.Parts = append(r.Parts, read.parts[chain]...)
	r.Chains = append(r.Chains, ChainResult{Chain: chain, Starts: s.Tries, Rates: ratesOf(s.Tally.Accepted, s.Tally.Updated, s.Tally.Iterations), Tally: s.Tally, Ladder: s.Ladder})
	r.Tally.Add(s.Tally)
	r.Timing.Seconds = max(r.Timing.Seconds, number.Number(s.Seconds))
}

// summarize computes the statistics of all chains together. They do not depend on the number of
// workers.
func (r *Result) summarize(spec *Spec, chains []*chainFigures, workers int) error {
	var g errgroup.Group
	// The statistics of many draws are computed one after another, to save memory.
	g.SetLimit(workers)
	if len(chains) > sideBySide {
		g.SetLimit(1)
	}
	statistic := func(to *Statistic, name string, of func(f *chainFigures) **diagnose.Series) {
		g.Go(func() error {
			var series []*diagnose.Series
			for _, f := range chains {
				series = append(series, *of(f))
				*of(f) = nil
			}
			*to = newStatistic(name, series)
			return nil
		})
	}
	statistic(&r.Used, "used", func(f *chainFigures) **diagnose.Series { return &f.used })
	statistic(&r.LogDensity, "log_density", func(f *chainFigures) **diagnose.Series { return &f.density })
	if spec.hasObjectives() {
		r.Score = new(Statistic)
		statistic(r.Score, "score", func(f *chainFigures) **diagnose.Series { return &f.score })
	}
	r.Properties = make([]Statistic, len(spec.properties()))
	for k, name := range spec.properties() {
		statistic(&r.Properties[k], name, func(f *chainFigures) **diagnose.Series { return &f.scores[k] })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	slowest := r.withholdErrors()
	g.Go(func() (err error) {
		r.Inclusion, r.Unlisted, err = newInclusion(spec.Ingredients, chains, slowest)
		return err
	})
	g.Go(func() (err error) {
		r.Conditions, err = newConditionShares(spec, chains, slowest)
		return err
	})
	g.Go(func() error { return r.setSizes(spec.Target, chains, slowest) })
	return g.Wait()
}

// withChain returns the list with the chain's number set, either all of it or only the compositions
// that are not draws.
func withChain(chain int, list []Best, found bool) (of []Best) {
	for _, b := range list {
		if b.Found || !found {
			b.Chain = chain
			of = append(of, b)
		}
	}
	return of
}

// chainFigures accumulates the statistics of one chain draw by draw, in memory that does not grow
// with their number.
type chainFigures struct {
	objectives []mcmc.Objective
	draws      int

	used, density *diagnose.Series
	score         *diagnose.Series // of the product of the properties to their weights; nil without any
	scores        []*diagnose.Series
	sizes         *diagnose.Histogram
	presence      *diagnose.Presence
	values        valuePresence
	inverse       logMean   // of 1/Π_k y_k^c_k
	best, fresh   shortlist // of all sets of ingredients, and of those not in the book
}

// seriesLength returns the number of draws of each chain that a series keeps for quantiles and R-hat.
// It is all of them, up to a limit that bounds the memory for all chains.
func seriesLength(chains int) int {
	return min(1<<17, max(1<<12, 1<<19/chains), max(1<<6, 1<<22/chains))
}

func newChainFigures(s *Spec) *chainFigures {
	chains := s.Settings.Chains
	limit := seriesLength(chains)
	series := func() *diagnose.Series { return diagnose.NewSeries(limit, chains) }
	_, most := s.Target.Law().Support()
	f := &chainFigures{
		objectives: s.Target.Objectives(),
		used:       series(),
		density:    series(),
		sizes:      diagnose.NewHistogram(most+1, chains),
		presence:   diagnose.NewPresence(s.Target.Space().N(), chains),
		values:     newValuePresence(s.Conditions, chains),
	}
	for range f.objectives {
		f.scores = append(f.scores, series())
	}
	if s.hasObjectives() {
		f.score = series()
	}
	f.fresh.known = s.Known
	return f
}

// add adds a draw.
func (f *chainFigures) add(d *Draw) {
	f.used.Add(float64(len(d.Parts)))
	f.density.Add(d.LogDensity)
	for k, y := range d.Scores {
		f.scores[k].Add(y)
	}
	logScore := LogScore(f.objectives, d.Scores)
	if f.score != nil {
		f.score.Add(portable.Exp(logScore))
		f.inverse.add(-logScore)
	}
	f.sizes.Add(len(d.Parts))
	f.presence.Next()
	for _, p := range d.Parts {
		f.presence.Add(p.Ingredient, p.Amount)
	}
	f.values.add(d.Conditions)
	f.best.offer(d, logScore)
	if f.fresh.known != nil {
		f.fresh.offer(d, logScore)
	}
	f.draws++
}
