package run

import (
	"math"
	"slices"
	"sync"
	"time"

	"kir/internal/diagnose"
)

// progressInterval is the time between two calls of the function Progress of [Options].
const progressInterval = 250 * time.Millisecond

// displayRestFactor limits how often the statistics displayed during a run are computed. If a
// computation takes the time t, the next one begins at least displayRestFactor·t later. So the
// computation slows the run down only little.
const displayRestFactor = 25

// A Progress is the progress of a run at one moment.
type Progress struct {
	Elapsed   time.Duration // time since the start of this session
	DoneShare float64       // share of the iterations of all chains that are made
	Chains    []ChainProgress
	// TimeLeft estimates the remaining time of the chains and the search; 0 if it is unknown. A run
	// of [mcmc.AutoDraws] has no estimate until its statistics are checked for the first time.
	// Until then TimeLeft is the rest of the run's time limit, and DoneShare is not reliable.
	TimeLeft    time.Duration
	LeftIsLimit bool // LeftIsLimit reports whether TimeLeft is only the rest of the run's time limit.
	// SearchDoneShare is the share of the search that is done. The search begins after the chains
	// have ended. During the search, Chains is empty.
	SearchDoneShare float64

	// Draws is the number of draws of the shortest chain when RHat and ESS were computed.
	Draws int
	// RHat is the largest R-hat of all statistics; NaN while it cannot be computed.
	RHat float64
	// ESS is the smallest effective sample size of all statistics; NaN while it cannot be computed.
	// In a run of [mcmc.AutoDraws] it is at most that of the worst statistic at the last check,
	// multiplied by the growth of the number of draws since.
	ESS float64

	// WantedESS is the effective sample size that each statistic must reach in a run of
	// [mcmc.AutoDraws]; 0 in other runs.
	WantedESS int
	// Best holds the compositions of highest score so far, the best first: at most five, with
	// different sets of ingredients. Only every 64th iteration is considered. The field Score of
	// each is computed with all weights 1.
	Best []Best
}

// ChainProgress is the progress of one chain.
type ChainProgress struct {
	DoneShare           float64 // share of the chain's iterations that are made
	InWarmup            bool    // whether the chain is in warm-up
	IterationsPerSecond float64 // iterations per second since the previous report
	AcceptedShare       float64 // share of accepted proposals after warm-up; NaN before the first segment after warm-up
}

// reportProgress calls [Options].Progress at intervals until the returned function is called.
func (s *session) reportProgress() (end func()) {
	report := s.options.Progress
	if report == nil {
		return func() {}
	}
	var live struct {
		sync.Mutex
		draws     int
		rhat, ess float64
	}
	live.rhat, live.ess = math.NaN(), math.NaN()
	last := make([]int64, len(s.chains))
	before := int64(0)
	for k, c := range s.chains {
		last[k] = c.publishedCounts.iterations.Load()
		before += last[k]
	}
	auto := s.isDrawCountOpen() // while nobody writes it
	lastTime := time.Now()
	tell := func() {
		now := time.Now()
		p := Progress{Elapsed: now.Sub(s.startTime), DoneShare: s.doneShare()}
		for k, c := range s.chains {
			n, kept := c.publishedCounts.iterations.Load(), c.publishedCounts.afterWarmup.Load()
			p.Chains = append(p.Chains, ChainProgress{
				DoneShare:           c.doneShare(),
				InWarmup:            n < s.warmupIterations.Load(),
				IterationsPerSecond: float64(n-last[k]) / now.Sub(lastTime).Seconds(),
				AcceptedShare:       float64(c.publishedCounts.accepted.Load()) / float64(kept),
			})
			last[k] = n
		}
		lastTime = now
		if auto := s.manifest.Auto; auto != nil {
			p.WantedESS = auto.WantedESS
		}
		p.Best = s.collectBestSoFar()
		p.TimeLeft, p.LeftIsLimit = s.estimateTimeLeft(before, auto)
		live.Lock()
		p.Draws, p.RHat, p.ESS = live.draws, live.rhat, live.ess
		live.Unlock()
		p.ESS = s.capESS(p.ESS)
		report(p)
	}

	var z diagnose.Summarizer
	// Chains within a long segment must not delay the others.
	var looked time.Time
	var took time.Duration
	endLive := callEvery(progressInterval, func() {
		if time.Since(looked) < displayRestFactor*took {
			return
		}
		begun := time.Now()
		draws, rhat, ess := s.summarizeSoFar(&z)
		looked, took = time.Now(), time.Since(begun)
		live.Lock()
		live.draws, live.rhat, live.ess = draws, rhat, ess
		live.Unlock()
	})
	endTell := callEvery(progressInterval, tell)
	return func() {
		endLive()
		endTell()
		tell()
	}
}

// estimateTimeLeft estimates the remaining time of the chains and the search. The parameter
// earlierIterations is the number of iterations made before this session. The parameter openEnded
// says whether the run had to determine its number of draws when the session began. The result
// isLimit says that left is only the rest of the time limit.
func (s *session) estimateTimeLeft(earlierIterations int64, openEnded bool) (left time.Duration, isLimit bool) {
	made, all, each := int64(0), int64(len(s.chains))*s.expectedIterations.Load(), int64(1)
	for _, c := range s.chains {
		made += c.publishedCounts.iterations.Load()
	}
	seconds := 0.0
	if openEnded {
		each, isLimit = autoSearchFactor, s.lastStoppingCheck.Load() == nil
	}
	if made > earlierIterations && !isLimit {
		work := float64(max(all-made, 0)) + float64(s.relativeSearchTime(all, each)*float64(all))
		seconds = work * time.Since(s.startTime).Seconds() / float64(made-earlierIterations)
	}
	if most := s.manifest.Auto; openEnded && most.Seconds > 0 {
		rest := max(most.Seconds-s.elapsedSeconds(), 0)
		if isLimit || rest < seconds {
			seconds = rest
		}
	}
	return time.Duration(seconds * float64(time.Second)), isLimit
}

// capESS returns the smaller of two effective sample sizes. One is ess. The other is the smallest
// effective sample size of a statistic at the last [session.checkStopping], multiplied by the
// growth of the number of iterations since.
func (s *session) capESS(ess float64) float64 {
	c := s.lastStoppingCheck.Load()
	if c == nil {
		return ess
	}
	made := int64(math.MaxInt64)
	for _, chain := range s.chains {
		made = min(made, chain.publishedCounts.iterations.Load())
	}
	made -= s.warmupIterations.Load()
	return min(ess, c.minESS*float64(made)/float64(c.iterations)) // NaN if ess is
}

// callEvery calls do at intervals of length d, in a goroutine. The returned function ends the
// calls, and waits for a call that is still running.
func callEvery(d time.Duration, do func()) (end func()) {
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				do()
			}
		}
	})
	return func() {
		close(done)
		watcher.Wait()
	}
}

// summarizeSoFar returns the largest R-hat and the smallest effective sample size of all statistics
// that are displayed during a run. Either is NaN if it cannot be computed. The result draws is the
// number of draws of the shortest chain.
func (s *session) summarizeSoFar(z *diagnose.Summarizer) (draws int, rhat, ess float64) {
	for _, c := range s.chains {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	rhat, ess = math.NaN(), math.NaN()
	var all [][]*diagnose.Series
	for k, c := range s.chains {
		if len(c.displayedSeries) == 0 {
			return 0, rhat, ess
		}
		for n, s := range c.displayedSeries {
			if k == 0 {
				all = append(all, nil)
			}
			all[n] = append(all[n], s)
		}
	}
	for _, series := range all {
		live := z.Live(series)
		draws = live.Draws
		if live.RHatErr == nil && !(live.RHat <= rhat) {
			rhat = live.RHat
		}
		if live.ESSErr == nil && !(live.ESS >= ess) {
			ess = live.ESS
		}
	}
	return draws, rhat, ess
}

// bestSoFarLength is the largest number of compositions that are displayed as the best during a
// run.
const bestSoFarLength = 5

// A bestSoFar holds the compositions of highest score that a running chain has met, for display
// during the run. It has its own lock, so that reading it does not wait for the end of a segment.
type bestSoFar struct {
	mu   sync.Mutex
	best []Best // compositions of highest score, the best first
}

// updateBestSoFar adds the chain's current composition to the compositions displayed during the
// run, if its score is high enough. It uses no random numbers and does not change the chain.
func (c *chain) updateBestSoFar() {
	s := c.session
	if s.options.Progress == nil || !s.hasObjectives {
		return
	}
	x := c.markovChain.State
	score := x.LogScore()
	list := c.bestSoFar.best // nobody else changes it
	if len(list) == bestSoFarLength && score <= list[bestSoFarLength-1].LogScore || math.IsInf(score, -1) {
		return
	}
	b := newBest(0, score, x.LogDensity())
	b.Parts, b.Scores, b.Conditions = x.Composition.Parts(), x.AppendScores(nil), x.Composition.AppendConditions(nil)
	b.Score = 1
	for k, w := range x.Target().Objectives() {
		if w.Weight > 0 {
			b.Score = float64(b.Score * b.Scores[k])
		}
	}
	list = DistinctBest(append(slices.Clone(list), b))
	c.bestSoFar.mu.Lock()
	defer c.bestSoFar.mu.Unlock()
	c.bestSoFar.best = list[:min(len(list), bestSoFarLength)]
}

// collectBestSoFar returns the best compositions that the chains of the session have met, the best
// first.
func (s *session) collectBestSoFar() []Best {
	var all []Best
	for _, c := range s.chains {
		c.bestSoFar.mu.Lock()
		all = append(all, bestWithChain(c.index, c.bestSoFar.best, false)...)
		c.bestSoFar.mu.Unlock()
	}
	all = DistinctBest(all)
	return all[:min(len(all), bestSoFarLength)]
}
