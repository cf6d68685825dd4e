package run

import (
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"kir/internal/search"
	"kir/internal/terminal"
	"kir/mcmc"
)

// Lengths of a run of [mcmc.AutoDraws], which has rounds. In each round every chain reaches twice
// as many iterations after warm-up as in the round before. Then the displayed statistics are
// computed from the draws made until then, and the run stops if the statistics are good enough.
// Until the run stops, the draws are buffered in memory and in the states. When the buffer of a
// chain would be too long, every second draw is dropped and thin is doubled. When the run stops,
// the current draws and thin become the draws and thin of the run. From then on the run equals a
// run that was started with these settings.
//
// The warm-up has rounds, too. Each round is as long as all rounds before it. The warm-up ends
// after the first round in which the memories of the chains rest on enough independent states, and
// at the latest at the number of iterations in the settings. The chains use their memories from the
// end of the warm-up on.
const (
	firstWarmupIterations = 2 * segmentIterations // number of iterations of a chain in the first round of the warm-up
	minLearntESS          = 100                   // least effective number of states that the memory of each chain must rest on before the warm-up ends; see [mcmc.WarmupESS]

	firstRoundIterations        = segmentIterations // number of iterations of a chain in the first round after the warm-up
	maxBufferCapacity           = 1 << 13           // largest number of buffered draws of a chain; a power of two
	minBufferCapacity           = 1 << 11           // smallest limit on the buffered draws of a chain
	maxBufferedIngredients      = 1 << 20           // approximate limit on the ingredients in the buffered draws of a chain
	maxBufferedDrawsOfAllChains = 1 << 16           // limit on the buffered draws of all chains together
	maxAutoThin                 = segmentIterations // largest thin; it makes segments begin where they begin in a run that is started with the same thin
)

// An Auto holds the time limit of a run of [mcmc.AutoDraws], and the reason why the run stopped.
type Auto struct {
	Seconds   float64 `json:"seconds,omitempty"` // time limit of the chains in seconds; 0: none
	WantedESS int     `json:"wanted"`            // effective sample size that every statistic must reach
	Stop      Stop    `json:"stop,omitempty"`    // reason why the run stopped; empty while the run has not stopped
	Draws     int     `json:"draws,omitempty"`   // number of draws of each chain when the run stopped

	// MaxWarmupIterations is the largest number of warm-up iterations of a chain.
	MaxWarmupIterations int `json:"warmup,omitempty"`
	// WarmupIterations is the actual number of warm-up iterations of a chain. It is 0 while the number is
	// unknown, and where Warmup is at most the length of the first round.
	WarmupIterations int `json:"warmed,omitempty"`
}

// A Stop is the reason why a run of [mcmc.AutoDraws] stopped.
type Stop string

// The reasons to stop.
const (
	StopEnough        Stop = "enough" // all statistics are good enough
	StopTime          Stop = "time"   // the time limit was reached
	StopMaxIterations Stop = "most"   // the run reached the largest number of iterations of a run of [mcmc.AutoDraws]
)

// isOpenEnded reports whether the number of draws of the session's run is still unknown.
func (s *session) isOpenEnded() bool { return s.manifest.isOpenEnded() }

// isOpenEnded reports whether the number of draws of the run is still unknown.
func (m *Manifest) isOpenEnded() bool { return m.Auto != nil && m.Auto.Stop == "" }

// maxBufferedDraws returns the largest number of buffered draws of a chain: a power of two that
// depends on the spec.
func maxBufferedDraws(spec *Spec) int {
	used := 0.0 // on average
	lo, hi := spec.Target.Law().Support()
	for n := lo; n <= hi; n++ {
		used += float64(float64(n) * spec.Target.Law().P(n))
	}
	most := maxBufferCapacity
	for most > minBufferCapacity && (float64(float64(most)*used) > maxBufferedIngredients || most*spec.Settings.Chains > maxBufferedDrawsOfAllChains) {
		most /= 2
	}
	return most
}

// warmupLength returns the number of warm-up iterations of a chain, or the maximum while the number
// is unknown.
func (m *Manifest) warmupLength() int {
	if m.Auto != nil && m.Auto.WarmupIterations > 0 {
		return m.Auto.WarmupIterations
	}
	return m.Settings.Warmup
}

// isWarmupOpen reports whether the length of the warm-up is still unknown.
func (s *session) isWarmupOpen() bool { return s.manifest.isWarmupOpen() }

func (m *Manifest) isWarmupOpen() bool {
	return m.isOpenEnded() && m.Auto.WarmupIterations == 0 && m.Auto.MaxWarmupIterations > firstWarmupIterations
}

// startWarmupRound starts a round of warm-up that ends after the given iterations.
func (s *session) startWarmupRound(iterations int) {
	s.spec.Settings.Warmup, s.spec.Settings.Draws = iterations, 0
	s.warmupIterations.Store(int64(s.manifest.Auto.MaxWarmupIterations)) // for all that is known
}

// finishWarmupRound ends the warm-up or starts its next round. It is called when every chain has
// finished a round of warm-up.
func (s *session) finishWarmupRound() error {
	iterations, most := s.spec.Settings.Warmup, s.manifest.Auto.MaxWarmupIterations
	if iterations < most {
		var walks []*mcmc.Chain
		for _, c := range s.chains {
			walks = append(walks, c.walk)
		}
		switch learnt := mcmc.WarmupESS(walks); {
		case math.IsNaN(learnt):
			s.startWarmupRound(most)
			return nil
		case learnt < minLearntESS:
			s.startWarmupRound(min(2*iterations, most))
			return nil
		}
	}
	s.manifest.Auto.WarmupIterations = iterations
	if err := s.replaceManifest(); err != nil {
		return err
	}
	s.startRound(firstRoundIterations)
	return nil
}

// replaceManifest overwrites the stored manifest.
func (s *session) replaceManifest() error {
	data, err := s.manifest.encode()
	if err != nil {
		return err
	}
	return s.store.Replace(s.ctx, manifestName, data)
}

// startRound starts the round in which every chain reaches the given number of iterations after
// warm-up.
func (s *session) startRound(iterations int) {
	settings := &s.spec.Settings
	settings.Thin = max(1, iterations/maxBufferedDraws(s.spec))
	settings.Draws = iterations / settings.Thin
	settings.Warmup = s.manifest.warmupLength()
	s.warmupIterations.Store(int64(settings.Warmup))
	s.expectedIterations.Store(settings.Iterations())
}

// roundIterations returns the number of iterations after warm-up that a chain has at the end of the
// current round.
func (s *session) roundIterations() int { return s.spec.Settings.Draws * s.spec.Settings.Thin }

// lastRoundIterations returns the number of iterations after warm-up at which a run of
// [mcmc.AutoDraws] stops in any case.
func (s *session) lastRoundIterations() int { return maxBufferedDraws(s.spec) * maxAutoThin }

// adoptAutoSettings takes over the settings in the stored manifest of a run of [mcmc.AutoDraws].
func (s *session) adoptAutoSettings(old *Manifest) {
	if old.Auto == nil || s.manifest.Auto == nil && old.Auto.Stop == "" {
		return
	}
	auto := *old.Auto
	if s.manifest.Auto != nil {
		s.spec.Settings.Warmup = s.manifest.Auto.MaxWarmupIterations
		s.spec.Settings.Draws, s.spec.Settings.Thin = old.Settings.Draws, old.Settings.Thin
	}
	if auto.Stop != "" && s.spec.Settings.Warmup == auto.MaxWarmupIterations {
		s.spec.Settings.Warmup = old.Settings.Warmup
	}
	s.manifest.Auto, s.manifest.Settings = &auto, s.spec.Settings
	s.manifest.Run = s.manifest.identity()
	s.warmupIterations.Store(int64(s.manifest.warmupLength()))
	s.expectedIterations.Store(s.spec.Settings.Iterations())
	s.startFirstRound()
}

// startFirstRound starts the first round of a run.
func (s *session) startFirstRound() {
	if s.isOpenEnded() {
		s.startRound(firstRoundIterations)
	}
	if s.isWarmupOpen() {
		s.startWarmupRound(firstWarmupIterations)
	}
}

// resumeRound continues an unfinished run in the round that its stored states are in: the first
// round that no chain has passed.
func (s *session) resumeRound() error {
	if !s.isOpenEnded() {
		return nil
	}
	iterations := firstRoundIterations
	states, _, err := loadStates(s.ctx, s.store, s.manifest)
	if err != nil {
		return err
	}
	warmed := 0
	for _, from := range states {
		if from != nil {
			s.resumedIterations = max(s.resumedIterations, from.At*max(1, from.Thin))
			warmed = max(warmed, from.Warm)
		}
	}
	if s.isWarmupOpen() {
		warmup := firstWarmupIterations
		for warmup < warmed {
			warmup *= 2
		}
		s.startWarmupRound(min(warmup, s.manifest.Auto.MaxWarmupIterations))
		return nil
	}
	for iterations < s.resumedIterations {
		iterations *= 2
	}
	s.startRound(iterations)
	return nil
}

// startNextRound stops the run or starts its next round. It is called when every chain has finished
// the current round, or when the time limit is reached.
func (s *session) startNextRound() error {
	if s.isWarmupOpen() {
		return s.finishWarmupRound()
	}
	if s.isTimeOver() && slices.ContainsFunc(s.chains, func(c *chain) bool { return c.walk == nil || c.drawsMade < s.spec.Settings.Draws }) {
		// All chains end where the furthest of them is, with equal lengths.
		reached := max(firstRoundIterations, s.resumedIterations)
		for _, c := range s.chains {
			reached = max(reached, c.drawsMade*s.spec.Settings.Thin)
		}
		s.spec.Settings.Draws = reached / s.spec.Settings.Thin
		return s.fixRunLength(StopTime)
	}
	enough, ahead, err := s.checkStopping()
	if err != nil {
		return err
	}
	iterations := s.roundIterations()
	switch {
	case enough:
		return s.fixRunLength(StopEnough)
	case iterations >= s.lastRoundIterations():
		return s.fixRunLength(StopMaxIterations)
	case s.isTimeOver():
		return s.fixRunLength(StopTime)
	}
	thin := s.spec.Settings.Thin
	s.startRound(2 * iterations)
	s.expectedIterations.Store(s.warmupIterations.Load() + int64(min(float64(s.lastRoundIterations()), max(2, ahead)*float64(iterations))))
	if s.spec.Settings.Thin == thin {
		return nil
	}
	// No state may be older than the point from which others have a larger thin.
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for _, c := range s.chains {
		g.Go(c.storeProgress)
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, c := range s.chains {
		c.thinTo(s.spec.Settings.Thin)
	}
	return nil
}

// fixRunLength makes draws and thin of the current round the draws and thin of the run, and records
// why the run stopped.
func (s *session) fixRunLength(why Stop) error {
	s.manifest.Settings = s.spec.Settings
	s.manifest.Auto.Stop, s.manifest.Auto.Draws = why, s.spec.Settings.Draws
	if err := s.replaceManifest(); err != nil {
		return err
	}
	s.deadlinePassed.Store(false)
	s.expectedIterations.Store(s.spec.Settings.Iterations())
	return nil
}

// isTimeOver reports whether the run has used up its time limit, with the expected time of the
// final search reserved.
func (s *session) isTimeOver() bool {
	auto := s.manifest.Auto
	if auto == nil || auto.Seconds <= 0 {
		return false
	}
	made := int64(0)
	for _, c := range s.chains {
		made += c.published.iterations.Load()
	}
	return s.elapsedSeconds()*(1+s.relativeSearchTime(made, autoSearchFactor)) >= auto.Seconds
}

// relativeSearchTime estimates the duration of the search relative to the duration of the chains.
// The parameter made is the number of iterations of all chains. The parameter each is
// [autoSearchFactor] in a run of [mcmc.AutoDraws], and 1 in other runs.
func (s *session) relativeSearchTime(made, each int64) float64 {
	q := s.spec.Question
	if q == nil || made == 0 {
		return 0
	}
	lines := made
	if s.spec.Settings.Kernel == "tempered" {
		lines *= typicalRungs
	}
	return float64(q.ExpectedLines(search.RunContext{Iterations: each * lines})) / float64(lines)
}

// typicalRungs is the approximate number of lines that a tempered chain scores in an iteration. A
// line is the set of all ways to divide the joint amount of two ingredients.
const typicalRungs = 8

// checkTimeLimit makes the chains end when the time limit is reached. The time limit never ends the
// warm-up, since the length of the warm-up may depend only on what the chains have learnt.
func (s *session) checkTimeLimit() {
	if s.isOpenEnded() && !s.isWarmupOpen() && s.isTimeOver() {
		s.deadlinePassed.Store(true)
	}
}

// thinTo drops the buffered draws that a chain with a larger thin would not have made. A
// composition that was visited at a dropped draw counts as visited on the way to the next kept
// draw.
func (c *chain) thinTo(thin int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	step := thin / c.buffered.thin
	if step == 1 {
		return
	}
	c.buffered.thinTo(thin)
	c.drawsMade /= step
	c.segmentState.At /= step
	for _, l := range []*shortlist{&c.best, &c.unknownBest} {
		renumberBest(l.entries, step)
	}
	if c.liveSeries != nil {
		c.liveSeries = nil
		c.startLiveSeries()
	}
}

// renumberBest adapts the draw numbers of a chain's best compositions to a thin that is larger by
// the factor step. The best compositions at dropped draws are marked as found between draws.
func renumberBest(list []Best, step int) {
	for k := range list {
		b := &list[k]
		if (b.Draw+1)%step != 0 {
			b.Found = true
		}
		b.Draw = (b.Draw+step)/step - 1
	}
	slices.SortFunc(list, Best.Compare)
}

// storeBufferedDraws moves the buffered draws that are not stored yet into parts, once the number
// of draws is known.
func (c *chain) storeBufferedDraws() error {
	h := c.buffered
	if h == nil || c.session.isOpenEnded() {
		return nil
	}
	c.buffered = nil
	for d := c.drawsStored; d < h.count(); d++ {
		if c.part == nil {
			c.part = c.session.layout.newPartWriter(c.session.manifest.Run, c.index)
		}
		ingredients, amounts := h.partsOf(d)
		if err := c.part.appendDraw(d, h.logDensities[d], ingredients, amounts, h.conditionsOf(d), h.scoresOf(d)); err != nil {
			return err
		}
		if c.part.isFull() {
			if err := c.storePart(); err != nil {
				return err
			}
		}
	}
	return nil
}

// stopNote returns a note for the user on why the run stopped; empty if there is nothing to say.
func (s *session) stopNote() string {
	auto := s.manifest.Auto
	if auto == nil || auto.Draws != s.manifest.Settings.Draws {
		return "" // it has been made longer
	}
	dir := terminal.ShellWord(s.store.Location())
	switch auto.Stop {
	case StopTime:
		return fmt.Sprintf("The chains stopped when their time, %v, was over, before every figure was known to have %d independent draws: for more, `kir resume %s --draws %d`.", auto.TimeLimit(), auto.WantedESS, dir, 4*s.manifest.Settings.Draws)
	case StopMaxIterations:
		return fmt.Sprintf("The chains stopped at %d iterations, the most that draws: auto makes, before every figure had %d independent draws.", s.roundIterations(), auto.WantedESS)
	}
	return ""
}

// SettingsAsStarted returns the settings that the run was started with, with Draws as
// [mcmc.AutoDraws] if the run was started so.
func (m *Manifest) SettingsAsStarted() mcmc.Settings {
	s := m.Settings
	if m.Auto != nil {
		s.Warmup, s.Draws, s.Thin = m.Auto.MaxWarmupIterations, mcmc.AutoDraws, 1
	}
	return s
}

// TimeLimit returns the time limit of the run's chains; 0: none.
func (a *Auto) TimeLimit() time.Duration { return time.Duration(a.Seconds * float64(time.Second)) }
