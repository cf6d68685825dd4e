package run

import (
	"math"
	"slices"
	"sync"
	"time"

	"kir/internal/diagnose"
)

// progressTime is the time between progress events.
const progressTime = 250 * time.Millisecond

// liveRest is the least time between two computations of the live statistics, in units of the
// computation's own time. So they cost little of the run.
const liveRest = 25

// A Progress is the progress of a run. Reading it does not affect the run.
type Progress struct {
	Elapsed time.Duration // in this session
	Done    float64       // share of all iterations
	Chains  []ChainProgress
	// Left estimates the remaining time of chains and search, 0 if unknown. If AtMost is set, only
	// the time limit of the run is known. The length of the chains, of which Done is a share, is
	// known only after the statistics were first checked.
	Left   time.Duration
	AtMost bool
	// Search is the completed share of the search, which follows the chains. Chains is empty then.
	Search float64

	// Draws is the length of the shortest chain when RHat and ESS were computed. RHat is the
	// largest R-hat of all statistics, and ESS the smallest effective sample size. Both are NaN
	// while undetermined. In a run of [mcmc.AutoDraws] ESS does not exceed the value projected from
	// the worst statistic at the last check.
	Draws     int
	RHat, ESS float64

	// WantedESS is the effective sample size that each statistic must reach in a run of
	// [mcmc.AutoDraws]; else 0.
	WantedESS int
	// Best are the best compositions so far, taken from every 64th iteration: at most five, with
	// different sets of ingredients, the best first. Their Score has all weights 1.
	Best []Best
}

// ChainProgress says how far a chain is.
type ChainProgress struct {
	Done     float64 // share of the iterations
	Warmup   bool    // whether it is in warm-up
	Rate     float64 // iterations a second since the event before
	Accepted float64 // share of the iterations after warm-up; NaN before the first segment of them
}

// reportProgress reports progress until the returned function is called.
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
		p := Progress{Elapsed: now.Sub(s.begun), Done: s.doneShare()}
		for k, c := range s.chains {
			n, kept := c.published.iterations.Load(), c.published.kept.Load()
			p.Chains = append(p.Chains, ChainProgress{
				Done:     c.doneShare(),
				Warmup:   n < s.warmup.Load(),
				Rate:     float64(n-last[k]) / now.Sub(lastTime).Seconds(),
				Accepted: float64(c.published.accepted.Load()) / float64(kept),
			})
			last[k] = n
		}
		lastTime = now
		if auto := s.manifest.Auto; auto != nil {
			p.WantedESS = auto.Wanted
		}
		p.Best = s.collectBestSoFar()
		p.Left, p.AtMost = s.timeLeft(before, auto)
		live.Lock()
		p.Draws, p.RHat, p.ESS = live.draws, live.rhat, live.ess
		live.Unlock()
		p.ESS = s.boundESS(p.ESS)
		report(p)
	}

	var z diagnose.Summarizer
	// Chains within a long segment must not delay the others.
	var looked time.Time
	var took time.Duration
	endLive := callEvery(progressTime, func() {
		if time.Since(looked) < liveRest*took {
			return
		}
		begun := time.Now()
		draws, rhat, ess := s.summarizeSoFar(&z)
		looked, took = time.Now(), time.Since(begun)
		live.Lock()
		live.draws, live.rhat, live.ess = draws, rhat, ess
		live.Unlock()
	})
	endTell := callEvery(progressTime, tell)
	return func() {
		endLive()
		endTell()
		tell()
	}
}

// timeLeft estimates the remaining time of chains and search. Its arguments are the iterations made
// before this session, and whether the number of draws was unknown then.
func (s *session) timeLeft(before int64, auto bool) (left time.Duration, atMost bool) {
	made, all, each := int64(0), int64(len(s.chains))*s.length.Load(), int64(1)
	for _, c := range s.chains {
		made += c.published.iterations.Load()
	}
	seconds := 0.0
	if auto {
		each, atMost = autoLines, s.checked.Load() == nil
	}
	if made > before && !atMost {
		work := float64(max(all-made, 0)) + float64(s.searchShare(all, each)*float64(all))
		seconds = work * time.Since(s.begun).Seconds() / float64(made-before)
	}
	if most := s.manifest.Auto; auto && most.Seconds > 0 {
		rest := max(most.Seconds-s.seconds(), 0)
		if atMost || rest < seconds {
			seconds = rest
		}
	}
	return time.Duration(seconds * float64(time.Second)), atMost
}

// boundESS limits the effective sample size of the statistics to that of the worst statistic at the
// last check, scaled by the iterations since.
func (s *session) boundESS(ess float64) float64 {
	c := s.checked.Load()
	if c == nil {
		return ess
	}
	made := int64(math.MaxInt64)
	for _, chain := range s.chains {
		made = min(made, chain.published.iterations.Load())
	}
	made -= s.warmup.Load()
	return min(ess, c.ess*float64(made)/float64(c.iterations)) // NaN if ess is
}

// callEvery calls do at intervals until the returned function is called and has returned.
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

// summarizeSoFar returns the largest R-hat and the smallest effective sample size of all statistics so far,
// NaN if undetermined.
func (s *session) summarizeSoFar(z *diagnose.Summarizer) (draws int, rhat, ess float64) {
	for _, c := range s.chains {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	rhat, ess = math.NaN(), math.NaN()
	var all [][]*diagnose.Series
	for k, c := range s.chains {
		if len(c.live) == 0 {
			return 0, rhat, ess
		}
		for n, s := range c.live {
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

// metLength is the number of best compositions displayed.
const metLength = 5

// A bestSoFar holds the best composition that a chain has met while it runs. It has its own lock,
// so readers do not wait for the end of a segment.
type bestSoFar struct {
	mu   sync.Mutex
	list []Best // the best first
}

// updateBestSoFar records the state of a chain if it is among the best so far. It makes no random
// choice and changes no draw.
func (c *chain) updateBestSoFar() {
	s := c.session
	if s.options.Progress == nil || !s.hasObjectives {
		return
	}
	x := c.walk.State
	score := x.LogScore()
	list := c.bestSoFar.list // nobody else changes it
	if len(list) == metLength && score <= list[metLength-1].LogScore || math.IsInf(score, -1) {
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
	list = Distinct(append(slices.Clone(list), b))
	c.bestSoFar.mu.Lock()
	defer c.bestSoFar.mu.Unlock()
	c.bestSoFar.list = list[:min(len(list), metLength)]
}

// collectBestSoFar returns the best compositions that the chains have met.
func (s *session) collectBestSoFar() []Best {
	var all []Best
	for _, c := range s.chains {
		c.bestSoFar.mu.Lock()
		all = append(all, withChain(c.index, c.bestSoFar.list, false)...)
		c.bestSoFar.mu.Unlock()
	}
	all = Distinct(all)
	return all[:min(len(all), metLength)]
}
