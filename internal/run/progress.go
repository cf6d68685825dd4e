package run

import (
	"math"
	"slices"
	"sync"
	"time"

	"kir/internal/diagnose"
)

// progressTime is the time from one progress event to the next.
const progressTime = 250 * time.Millisecond

// liveRest is how many times as long as a look at the draws so far it takes at least to the
// next one, so that looking costs little of the run.
const liveRest = 25

// A Progress says how far a run is. Looking at it changes nothing in the run.
type Progress struct {
	Elapsed time.Duration // in this session
	Done    float64       // share of all iterations
	Chains  []ChainProgress
	// Left is about how long chains and search take still, 0 where nobody knows. If AtMost,
	// it is known of the time alone that the run may take: how long the chains are to be, of
	// which Done is a share, is known when the figures have been looked at for the first time.
	Left   time.Duration
	AtMost bool
	// Search is the share of the search for the best, which comes after the chains;
	// then Chains is empty.
	Search float64

	// Draws is the length of the shortest chain when RHat, the largest of all
	// statistics', and ESS, the smallest, were computed. RHat and ESS are NaN
	// as long as they are not determined. ESS of a run of [mcmc.AutoDraws] is no larger than
	// that of the worst figure when all were looked at promises.
	Draws     int
	RHat, ESS float64

	// Wanted is how many independent draws each figure is to have, of a run of
	// [mcmc.AutoDraws]; else 0.
	Wanted int
	// Best is the best that the chains have met so far, of every 64th iteration: at most
	// five, of different sets of ingredients, the best first. Their Score is that of
	// weights 1.
	Best []Best
}

// ChainProgress says how far a chain is.
type ChainProgress struct {
	Done     float64 // share of the iterations
	Warmup   bool    // whether it is in warm-up
	Rate     float64 // iterations a second since the event before
	Accepted float64 // share of the iterations after warm-up; NaN before the first segment of them
}

// watch reports progress until the function that it returns is called.
func (s *session) watch() (end func()) {
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
		p := Progress{Elapsed: now.Sub(s.begun), Done: s.done()}
		for k, c := range s.chains {
			n, kept := c.published.iterations.Load(), c.published.kept.Load()
			p.Chains = append(p.Chains, ChainProgress{
				Done:     c.share(),
				Warmup:   n < s.warmup.Load(),
				Rate:     float64(n-last[k]) / now.Sub(lastTime).Seconds(),
				Accepted: float64(c.published.accepted.Load()) / float64(kept),
			})
			last[k] = n
		}
		lastTime = now
		if auto := s.manifest.Auto; auto != nil {
			p.Wanted = auto.Wanted
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
	// Chains in the middle of a long segment must not hold up the rest.
	var looked time.Time
	var took time.Duration
	endLive := every(progressTime, func() {
		if time.Since(looked) < liveRest*took {
			return
		}
		begun := time.Now()
		draws, rhat, ess := s.live(&z)
		looked, took = time.Now(), time.Since(begun)
		live.Lock()
		live.draws, live.rhat, live.ess = draws, rhat, ess
		live.Unlock()
	})
	endTell := every(progressTime, tell)
	return func() {
		endLive()
		endTell()
		tell()
	}
}

// timeLeft is about how long chains and search take still, given the iterations that were made
// before this session and whether the number of draws was not known then.
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

// boundESS is the effective sample size, given that of the statistics: no larger than what
// the worst of all figures had when they were looked at, as it grows with the iterations.
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

// every does something from time to time until the function that it returns is
// called and has returned.
func every(d time.Duration, do func()) (end func()) {
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

// live returns the largest R-hat and the smallest effective sample size of all
// statistics so far, NaN where none is determined.
func (s *session) live(z *diagnose.Summarizer) (draws int, rhat, ess float64) {
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

// metLength is how many of the best so far are shown.
const metLength = 5

// A bestSoFar is what a chain met that is worth a look while it runs: it has a lock of its
// own, so that whoever looks does not wait for the end of a segment.
type bestSoFar struct {
	mu   sync.Mutex
	list []Best // the best first
}

// updateBestSoFar takes the state of a chain if it is among the best so far. It takes no random
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
	b.Parts, b.Scores = x.Composition.Parts(), x.AppendScores(nil)
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

// collectBestSoFar returns the best that the chains met.
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
