package run

import (
	"math"
	"slices"
	"sync"
	"time"

	"kir/internal/diagnose"
)

// progressInterval is the time between two calls of [Options].Progress.
const progressInterval = 250 * time.Millisecond

// liveRestFactor is the least time between two computations of the live statistics, as a multiple
// of the duration of the computation. So the computation slows the run down only little.
const liveRestFactor = 25

// A Progress is the progress of a run at one moment.
type Progress struct {
	Elapsed   time.Duration // time since the start of this session
	DoneShare float64       // share of the iterations of all chains that are made
	Chains    []ChainProgress
	// TimeLeft estimates the remaining time of the chains and the search; 0 if it is unknown. AtMost
	// says that TimeLeft is only the rest of the run's time limit. A run of [mcmc.AutoDraws] has no
	// better estimate before its statistics are first checked, and Done is then not reliable
	// either.
	TimeLeft    time.Duration
	LeftIsLimit bool
	// SearchDoneShare is the share of the search that is done. The search follows the chains, and Chains is
	// empty then.
	SearchDoneShare float64

	// Draws is the length of the shortest chain when RHat and ESS were computed. RHat is the
	// largest R-hat of all statistics, and ESS the smallest effective sample size. Both are NaN
	// while they cannot be computed. In a run of [mcmc.AutoDraws] ESS is at most the effective
	// sample size of the worst statistic at the last check, scaled by the number of draws since.
	Draws     int
	RHat, ESS float64

	// WantedESS is the effective sample size that each statistic must reach in a run of
	// [mcmc.AutoDraws]; 0 in other runs.
	WantedESS int
	// Best holds at most five best compositions so far, taken from every 64th iteration, with
	// different sets of ingredients, the best first. The field Score of each is computed with all
	// weights 1.
	Best []Best
}

// ChainProgress is the progress of one chain.
type ChainProgress struct {
	DoneShare           float64 // share of the chain's iterations that are made
	InWarmup            bool    // whether the chain is in warm-up
	IterationsPerSecond float64 // iterations per second since the previous report
	AcceptedShare       float64 // share of accepted proposals after warm-up; NaN before the first segment after warm-up
}

// reportProgress reports progress at intervals until the returned function is called.
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
		last[k] = c.published.iterations.Load()
		before += last[k]
	}
	auto := s.isOpenEnded() // while nobody writes it
	lastTime := time.Now()
	tell := func() {
		now := time.Now()
		p := Progress{Elapsed: now.Sub(s.startTime), DoneShare: s.doneShare()}
		for k, c := range s.chains {
			n, kept := c.published.iterations.Load(), c.published.afterWarmup.Load()
			p.Chains = append(p.Chains, ChainProgress{
				DoneShare:           c.doneShare(),
				InWarmup:            n < s.warmupIterations.Load(),
				IterationsPerSecond: float64(n-last[k]) / now.Sub(lastTime).Seconds(),
				AcceptedShare:       float64(c.published.accepted.Load()) / float64(kept),
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
		p.ESS = s.limitESS(p.ESS)
		report(p)
	}

	var z diagnose.Summarizer
	// Chains within a long segment must not delay the others.
	var looked time.Time
	var took time.Duration
	endLive := callEvery(progressInterval, func() {
		if time.Since(looked) < liveRestFactor*took {
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

// estimateTimeLeft estimates the remaining time of the chains and the search. The parameter before
// is the number of iterations made before this session, and auto says whether the number of draws
// was unknown when the session began. The result atMost says that left is only the rest of the time
// limit.
func (s *session) estimateTimeLeft(before int64, auto bool) (left time.Duration, atMost bool) {
	made, all, each := int64(0), int64(len(s.chains))*s.expectedIterations.Load(), int64(1)
	for _, c := range s.chains {
		made += c.published.iterations.Load()
	}
	seconds := 0.0
	if auto {
		each, atMost = autoSearchFactor, s.lastStoppingCheck.Load() == nil
	}
	if made > before && !atMost {
		work := float64(max(all-made, 0)) + float64(s.relativeSearchTime(all, each)*float64(all))
		seconds = work * time.Since(s.startTime).Seconds() / float64(made-before)
	}
	if most := s.manifest.Auto; auto && most.Seconds > 0 {
		rest := max(most.Seconds-s.elapsedSeconds(), 0)
		if atMost || rest < seconds {
			seconds = rest
		}
	}
	return time.Duration(seconds * float64(time.Second)), atMost
}

// limitESS limits an effective sample size to that of the worst statistic at the last stopping
// check, scaled by the iterations since the check.
func (s *session) limitESS(ess float64) float64 {
	c := s.lastStoppingCheck.Load()
	if c == nil {
		return ess
	}
	made := int64(math.MaxInt64)
	for _, chain := range s.chains {
		made = min(made, chain.published.iterations.Load())
	}
	made -= s.warmupIterations.Load()
	return min(ess, c.minESS*float64(made)/float64(c.iterations)) // NaN if ess is
}

// callEvery calls do at intervals in a goroutine. The returned function ends the calls and waits
// for a running call.
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

// summarizeSoFar returns the largest R-hat and the smallest effective sample size of all live
// statistics, NaN where they cannot be computed. The result draws is the length of the shortest
// chain.
func (s *session) summarizeSoFar(z *diagnose.Summarizer) (draws int, rhat, ess float64) {
	for _, c := range s.chains {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	rhat, ess = math.NaN(), math.NaN()
	var all [][]*diagnose.Series
	for k, c := range s.chains {
		if len(c.liveSeries) == 0 {
			return 0, rhat, ess
		}
		for n, s := range c.liveSeries {
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

// bestSoFarLength is the largest number of best compositions that are displayed during a run.
const bestSoFarLength = 5

// A bestSoFar holds the best compositions that a running chain has met. It has its own lock, so
// readers do not wait for the end of a segment.
type bestSoFar struct {
	mu   sync.Mutex
	best []Best // compositions found, the best first
}

// updateBestSoFar adds the state of a chain to the chain's best compositions, if it is good enough.
// It makes no random choice and changes no draw.
func (c *chain) updateBestSoFar() {
	s := c.session
	if s.options.Progress == nil || !s.hasObjectives {
		return
	}
	x := c.walk.State
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
