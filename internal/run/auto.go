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

// Lengths of a run of [mcmc.AutoDraws], that is, a run that determines its number of draws itself.
//
// Such a run has rounds. In each round every chain reaches twice as many iterations after warm-up
// as in the round before. At the end of a round the displayed statistics are computed from all
// draws made since the warm-up. The run stops if the statistics are good enough.
//
// Until the run stops, the draws are buffered in memory and in the state files. When the buffer of
// a chain would be too long, every second draw is dropped, and thin (the number of iterations from
// one draw to the next) is doubled. When the run stops, the current number of draws and the current
// thin become those of the run. From then on the run equals a run that was started with these
// settings.
//
// The warm-up has rounds, too. Each round is as long as all rounds before it. During the warm-up
// each chain collects states from which the kernel learns. The warm-up ends after the first round
// in which the collected states are worth [minLearntESS] independent states, and at the latest at
// the number of iterations in the settings. The chains use what they have learnt from the end of
// the warm-up on.
const (
	firstWarmupIterations = 2 * segmentIterations // number of iterations of a chain in the first round of the warm-up
	minLearntESS          = 100                   // least effective number of independent states that each chain must have learnt from before the warm-up ends; see [mcmc.WarmupESS]

	firstRoundIterations        = segmentIterations // number of iterations of a chain in the first round after the warm-up
	maxBufferCapacity           = 1 << 13           // largest number of buffered draws of a chain; a power of two
	minBufferCapacity           = 1 << 11           // smallest limit on the buffered draws of a chain
	maxBufferedIngredients      = 1 << 20           // approximate limit on the ingredients in the buffered draws of a chain
	maxBufferedDrawsOfAllChains = 1 << 16           // limit on the buffered draws of all chains together
	maxAutoThin                 = segmentIterations // largest number of iterations from one draw to the next; the limit makes segments begin where they begin in a run that is started with the same thin
)

// An Auto holds the limits of a run of [mcmc.AutoDraws], that is, a run that determines its number
// of draws itself. It also says why and where the run stopped.
type Auto struct {
	Seconds   float64 `json:"seconds,omitempty"` // time limit of the chains in seconds; 0: none
	WantedESS int     `json:"wanted"`            // effective sample size that every statistic must reach
	Stop      Stop    `json:"stop,omitempty"`    // reason why the run stopped; empty while the run has not stopped
	Draws     int     `json:"draws,omitempty"`   // number of draws of each chain when the run stopped

	// MaxWarmupIterations is the largest number of warm-up iterations of a chain.
	MaxWarmupIterations int `json:"warmup,omitempty"`
	// WarmupIterations is the actual number of warm-up iterations of a chain. It is 0 while the
	// number is unknown, and also where MaxWarmupIterations is at most the length of the first
	// round.
	WarmupIterations int `json:"warmed,omitempty"`
}

// A Stop is the reason why a run of [mcmc.AutoDraws] stopped.
type Stop string

// The reasons to stop.
const (
	StopEnough        Stop = "enough" // all statistics are good enough
	StopTime          Stop = "time"   // the time limit was reached
	StopMaxIterations Stop = "most"   // the run reached its largest number of iterations, although some statistics are not good enough
)

// isDrawCountOpen reports whether the session's run has not determined its number of draws yet.
func (s *session) isDrawCountOpen() bool { return s.manifest.isDrawCountOpen() }

// isDrawCountOpen reports whether the run has not determined its number of draws yet; see
// [mcmc.AutoDraws].
func (m *Manifest) isDrawCountOpen() bool { return m.Auto != nil && m.Auto.Stop == "" }

// maxBufferedDraws returns the largest number of draws of a chain that are buffered before the run
// has determined its number of draws. The number is a power of two; it is smaller where there are
// many chains or many ingredients.
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

// warmupLength returns the number of warm-up iterations of a chain, or the largest possible number
// while the actual number is unknown.
func (m *Manifest) warmupLength() int {
	if m.Auto != nil && m.Auto.WarmupIterations > 0 {
		return m.Auto.WarmupIterations
	}
	return m.Settings.Warmup
}

// isWarmupLengthOpen reports whether the length of the warm-up is still unknown.
func (s *session) isWarmupLengthOpen() bool { return s.manifest.isWarmupLengthOpen() }

func (m *Manifest) isWarmupLengthOpen() bool {
	return m.isDrawCountOpen() && m.Auto.WarmupIterations == 0 && m.Auto.MaxWarmupIterations > firstWarmupIterations
}

// startWarmupRound starts a round of warm-up. The parameter iterations is the number of warm-up
// iterations that each chain has made at the end of the round.
func (s *session) startWarmupRound(iterations int) {
	s.spec.Settings.Warmup, s.spec.Settings.Draws = iterations, 0
	s.warmupIterations.Store(int64(s.manifest.Auto.MaxWarmupIterations)) // for all that is known
}

// finishWarmupRound ends the warm-up, or begins its next round, in which each chain makes as many
// iterations as in all rounds before. It is called when every chain has finished the current round
// of the warm-up.
func (s *session) finishWarmupRound() error {
	iterations, most := s.spec.Settings.Warmup, s.manifest.Auto.MaxWarmupIterations
	if iterations < most {
		var walks []*mcmc.Chain
		for _, c := range s.chains {
			walks = append(walks, c.markovChain)
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
	s.startDrawRound(firstRoundIterations)
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

// startDrawRound starts a round of draws. The parameter iterations is the number of iterations
// after warm-up that each chain has made at the end of the round.
func (s *session) startDrawRound(iterations int) {
	settings := &s.spec.Settings
	settings.Thin = max(1, iterations/maxBufferedDraws(s.spec))
	settings.Draws = iterations / settings.Thin
	settings.Warmup = s.manifest.warmupLength()
	s.warmupIterations.Store(int64(settings.Warmup))
	s.expectedIterations.Store(settings.Iterations())
}

// roundIterations returns the number of iterations after warm-up that each chain has made at the
// end of the current round.
func (s *session) roundIterations() int { return s.spec.Settings.Draws * s.spec.Settings.Thin }

// lastRoundIterations returns the number of iterations after warm-up at which a run of
// [mcmc.AutoDraws] stops even if its statistics are not good enough.
func (s *session) lastRoundIterations() int { return maxBufferedDraws(s.spec) * maxAutoThin }

// adoptAutoSettings copies the number of draws, thin and the length of the warm-up from the stored
// manifest of a run of [mcmc.AutoDraws] into the session.
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

// startFirstRound starts the first round of warm-up or, if the length of the warm-up is fixed, the
// first round of draws.
func (s *session) startFirstRound() {
	if s.isDrawCountOpen() {
		s.startDrawRound(firstRoundIterations)
	}
	if s.isWarmupLengthOpen() {
		s.startWarmupRound(firstWarmupIterations)
	}
}

// resumeRound continues an unfinished run in the first round whose end no chain has passed,
// according to the stored states.
func (s *session) resumeRound() error {
	if !s.isDrawCountOpen() {
		return nil
	}
	states, _, err := loadStates(s.ctx, s.store, s.manifest)
	if err != nil {
		return err
	}
	s.resumeRoundFrom(states)
	return nil
}

// resumeRoundFrom is [session.resumeRound] with the stored states of all chains.
func (s *session) resumeRoundFrom(states []*state) {
	iterations := firstRoundIterations
	warmed := 0
	for _, from := range states {
		if from != nil {
			s.resumedIterations = max(s.resumedIterations, from.At*max(1, from.Thin))
			warmed = max(warmed, from.Warm)
		}
	}
	if s.isWarmupLengthOpen() {
		warmup := firstWarmupIterations
		for warmup < warmed {
			warmup *= 2
		}
		s.startWarmupRound(min(warmup, s.manifest.Auto.MaxWarmupIterations))
		return
	}
	for iterations < s.resumedIterations {
		iterations *= 2
	}
	s.startDrawRound(iterations)
}

// startNextRound begins the next round, in which each chain makes as many iterations as in all
// rounds before, or stops the run. It is called when every chain has finished the current round, or
// when the time limit is reached.
func (s *session) startNextRound() error {
	if s.isWarmupLengthOpen() {
		return s.finishWarmupRound()
	}
	if s.isTimeOver() && slices.ContainsFunc(s.chains, func(c *chain) bool { return c.markovChain == nil || c.drawsMade < s.spec.Settings.Draws }) {
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
	s.startDrawRound(2 * iterations)
	s.expectedIterations.Store(s.warmupIterations.Load() + int64(min(float64(s.lastRoundIterations()), max(2, ahead)*float64(iterations))))
	if s.spec.Settings.Thin == thin || s.isPlanned {
		return nil // a chain that other processes continue takes the larger thin as it is restored
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

// fixRunLength stores the number of draws and thin of the current round as those of the run, and
// records why the run stopped.
func (s *session) fixRunLength(why Stop) error {
	s.manifest.Settings = s.spec.Settings
	s.manifest.Auto.Stop, s.manifest.Auto.Draws = why, s.spec.Settings.Draws
	if s.isPlanned {
		if err := s.storeFixedLength(); err != nil {
			return err
		}
	}
	if err := s.replaceManifest(); err != nil {
		return err
	}
	s.deadlinePassed.Store(false)
	s.expectedIterations.Store(s.spec.Settings.Iterations())
	return nil
}

// isTimeOver reports whether the chains must stop to keep the run's time limit. The expected time
// of the search that follows the chains counts as used.
func (s *session) isTimeOver() bool {
	auto := s.manifest.Auto
	if auto == nil || auto.Seconds <= 0 {
		return false
	}
	made := int64(0)
	for _, c := range s.chains {
		made += c.publishedCounts.iterations.Load()
	}
	return s.elapsedSeconds()*(1+s.relativeSearchTime(made, autoSearchFactor)) >= auto.Seconds
}

// relativeSearchTime estimates the duration of the search as a multiple of the duration of the
// chains. The parameter chainIterations is the number of iterations of all chains together. The
// parameter searchFactor is [autoSearchFactor] in a run of [mcmc.AutoDraws], and 1 in other runs.
func (s *session) relativeSearchTime(chainIterations, searchFactor int64) float64 {
	q := s.spec.Question
	if q == nil || chainIterations == 0 {
		return 0
	}
	lines := chainIterations
	if s.spec.Settings.Kernel == "tempered" {
		lines *= typicalRungCount
	}
	return float64(q.ExpectedLines(search.RunContext{Iterations: searchFactor * lines})) / float64(lines)
}

// typicalRungCount is the approximate number of temperatures of a tempered chain. In an iteration
// the chain scores about one line for each temperature. A line is the set of all ways to divide the
// joint amount of two ingredients.
const typicalRungCount = 8

// checkTimeLimit makes the chains end if the time limit is reached. The time limit never ends the
// warm-up, since the length of the warm-up must depend only on what the chains have learnt.
func (s *session) checkTimeLimit() {
	if s.isDrawCountOpen() && !s.isWarmupLengthOpen() && s.isTimeOver() {
		s.deadlinePassed.Store(true)
	}
}

// thinTo keeps only the buffered draws that the chain would have made with a larger thin, the
// number of iterations from one draw to the next. A composition of high score that was visited at a
// dropped draw then counts as visited on the way to the next kept draw.
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
	if c.displayedSeries != nil {
		c.displayedSeries = nil
		c.startDisplayedSeries()
	}
}

// renumberBest divides the draw numbers of a chain's best compositions by step, after thin (the
// number of iterations from one draw to the next) was multiplied by step. Compositions whose draw
// is dropped are marked as found between draws.
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

// storeBufferedDraws moves the buffered draws that are not stored yet into files of draws. It does
// nothing until the run has determined its number of draws.
func (c *chain) storeBufferedDraws() error {
	h := c.buffered
	if h == nil || c.session.isDrawCountOpen() {
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
		return fmt.Sprintf("Sampling stopped at the time limit (%v), before every estimate was worth %d independent draws. To continue: `kir resume %s --draws %d`.", auto.TimeLimit(), auto.WantedESS, dir, 4*s.manifest.Settings.Draws)
	case StopMaxIterations:
		return fmt.Sprintf("Sampling stopped at %d steps, the most that draws: auto makes, before every estimate was worth %d independent draws.", s.roundIterations(), auto.WantedESS)
	}
	return ""
}

// SettingsAsStarted returns the settings that the run was started with. If the run was started with
// Draws = [mcmc.AutoDraws], Draws has this value again.
func (m *Manifest) SettingsAsStarted() mcmc.Settings {
	s := m.Settings
	if m.Auto != nil {
		s.Warmup, s.Draws, s.Thin = m.Auto.MaxWarmupIterations, mcmc.AutoDraws, 1
	}
	return s
}

// TimeLimit returns the time limit of the run's chains; 0: none.
func (a *Auto) TimeLimit() time.Duration { return time.Duration(a.Seconds * float64(time.Second)) }
