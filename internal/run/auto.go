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

// A run of [mcmc.AutoDraws] has rounds. In each, every chain reaches twice as many iterations after
// warm-up as in the round before. Then the displayed statistics are computed from the draws so far,
// and the run stops if they are good enough. Until then the draws are buffered in memory and in the
// states. When there would be too many, every second one is dropped and thin is doubled. At the
// stop, draws and thin become those of the run. From then on it equals a run that was started with
// them.
//
// The warm-up has rounds, too, each as long as all those before it. It ends after the first round
// in which the chains' memories rest on enough independent states, and at the latest where the
// settings end it. The memories are used from the end of the warm-up on.
const (
	firstWarmup  = 2 * segmentIterations // iterations of a chain
	enoughLearnt = 100                   // independent states of each chain; see [mcmc.LearntESS]

	firstRound   = segmentIterations // iterations of a chain
	mostHeld     = 1 << 13           // draws of a chain, a power of two
	leastHeld    = 1 << 11
	heldEntries  = 1 << 20           // ingredients of the draws of a chain, about
	heldOfAll    = 1 << 16           // draws of all chains
	mostAutoThin = segmentIterations // so that segments begin where they do in a run of that thin
)

// An Auto holds the time limit of a run of [mcmc.AutoDraws], and the reason why it stopped.
type Auto struct {
	Seconds float64 `json:"seconds,omitempty"` // after which its chains stop; 0: never
	Wanted  int     `json:"wanted"`            // independent draws of each figure
	Stop    Stop    `json:"stop,omitempty"`    // empty as long as they go on
	Draws   int     `json:"draws,omitempty"`   // of a chain, at the stop

	// Warmup is the most warm-up iterations of a chain. Warmed is the actual number; 0 while it is
	// unknown, and if Warmup is no longer than the first round.
	Warmup int `json:"warmup,omitempty"`
	Warmed int `json:"warmed,omitempty"`
}

// A Stop is the reason why a run of [mcmc.AutoDraws] stopped.
type Stop string

// The reasons to stop.
const (
	StopEnough Stop = "enough" // all figures are good enough
	StopTime   Stop = "time"   // the time was over
	StopMost   Stop = "most"   // it has as many iterations as such a run has at most
)

// isOpenEnded reports whether the number of draws is still unknown.
func (s *session) isOpenEnded() bool { return s.manifest.isOpenEnded() }

// isOpenEnded reports whether the number of draws of the run is still unknown.
func (m *Manifest) isOpenEnded() bool { return m.Auto != nil && m.Auto.Stop == "" }

// maxBufferedDraws returns the most buffered draws of a chain: a power of two that depends on the
// spec.
func maxBufferedDraws(spec *Spec) int {
	used := 0.0 // on average
	lo, hi := spec.Target.Law().Support()
	for n := lo; n <= hi; n++ {
		used += float64(float64(n) * spec.Target.Law().P(n))
	}
	most := mostHeld
	for most > leastHeld && (float64(float64(most)*used) > heldEntries || most*spec.Settings.Chains > heldOfAll) {
		most /= 2
	}
	return most
}

// warmupLength returns the number of warm-up iterations of a chain, or their maximum while that is
// unknown.
func (m *Manifest) warmupLength() int {
	if m.Auto != nil && m.Auto.Warmed > 0 {
		return m.Auto.Warmed
	}
	return m.Settings.Warmup
}

// isWarmupOpen reports whether the length of the warm-up is still unknown.
func (s *session) isWarmupOpen() bool { return s.manifest.isWarmupOpen() }

func (m *Manifest) isWarmupOpen() bool {
	return m.isOpenEnded() && m.Auto.Warmed == 0 && m.Auto.Warmup > firstWarmup
}

// setWarmup starts a round of warm-up that ends after the given iterations.
func (s *session) setWarmup(iterations int) {
	s.spec.Settings.Warmup, s.spec.Settings.Draws = iterations, 0
	s.warmup.Store(int64(s.manifest.Auto.Warmup)) // for all that is known
}

// nextWarmup is called when every chain has finished a round of warm-up.
func (s *session) nextWarmup() error {
	iterations, most := s.spec.Settings.Warmup, s.manifest.Auto.Warmup
	if iterations < most {
		var walks []*mcmc.Chain
		for _, c := range s.chains {
			walks = append(walks, c.walk)
		}
		switch learnt := mcmc.LearntESS(walks); {
		case math.IsNaN(learnt):
			s.setWarmup(most)
			return nil
		case learnt < enoughLearnt:
			s.setWarmup(min(2*iterations, most))
			return nil
		}
	}
	s.manifest.Auto.Warmed = iterations
	if err := s.replaceManifest(); err != nil {
		return err
	}
	s.setRound(firstRound)
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

// setRound starts a round of the given number of iterations.
func (s *session) setRound(iterations int) {
	settings := &s.spec.Settings
	settings.Thin = max(1, iterations/maxBufferedDraws(s.spec))
	settings.Draws = iterations / settings.Thin
	settings.Warmup = s.manifest.warmupLength()
	s.warmup.Store(int64(settings.Warmup))
	s.length.Store(settings.Iterations())
}

// roundIterations returns the number of iterations of the current round.
func (s *session) roundIterations() int { return s.spec.Settings.Draws * s.spec.Settings.Thin }

// lastRoundLength is the length of the last round.
func (s *session) lastRoundLength() int { return maxBufferedDraws(s.spec) * mostAutoThin }

// adoptAuto adopts the settings in the manifest of a run of [mcmc.AutoDraws].
func (s *session) adoptAuto(old *Manifest) {
	if old.Auto == nil || s.manifest.Auto == nil && old.Auto.Stop == "" {
		return
	}
	auto := *old.Auto
	if s.manifest.Auto != nil {
		s.spec.Settings.Warmup = s.manifest.Auto.Warmup
		s.spec.Settings.Draws, s.spec.Settings.Thin = old.Settings.Draws, old.Settings.Thin
	}
	if auto.Stop != "" && s.spec.Settings.Warmup == auto.Warmup {
		s.spec.Settings.Warmup = old.Settings.Warmup
	}
	s.manifest.Auto, s.manifest.Settings = &auto, s.spec.Settings
	s.manifest.Run = s.manifest.identity()
	s.warmup.Store(int64(s.manifest.warmupLength()))
	s.length.Store(s.spec.Settings.Iterations())
	s.startFirstRound()
}

// startFirstRound starts the first round of a run.
func (s *session) startFirstRound() {
	if s.isOpenEnded() {
		s.setRound(firstRound)
	}
	if s.isWarmupOpen() {
		s.setWarmup(firstWarmup)
	}
}

// planRounds finds the round that the states of an unfinished run are in: the first that no chain
// has passed.
func (s *session) planRounds() error {
	if !s.isOpenEnded() {
		return nil
	}
	iterations := firstRound
	states, _, err := loadStates(s.ctx, s.store, s.manifest)
	if err != nil {
		return err
	}
	warmed := 0
	for _, from := range states {
		if from != nil {
			s.reached = max(s.reached, from.At*max(1, from.Thin))
			warmed = max(warmed, from.Warm)
		}
	}
	if s.isWarmupOpen() {
		warmup := firstWarmup
		for warmup < warmed {
			warmup *= 2
		}
		s.setWarmup(min(warmup, s.manifest.Auto.Warmup))
		return nil
	}
	for iterations < s.reached {
		iterations *= 2
	}
	s.setRound(iterations)
	return nil
}

// startNextRound is called when every chain has finished the round, or the time is over.
func (s *session) startNextRound() error {
	if s.isWarmupOpen() {
		return s.nextWarmup()
	}
	if s.isTimeOver() && slices.ContainsFunc(s.chains, func(c *chain) bool { return c.walk == nil || c.draws < s.spec.Settings.Draws }) {
		// All chains end where the furthest of them is, with equal lengths.
		reached := max(firstRound, s.reached)
		for _, c := range s.chains {
			reached = max(reached, c.draws*s.spec.Settings.Thin)
		}
		s.spec.Settings.Draws = reached / s.spec.Settings.Thin
		return s.fixLength(StopTime)
	}
	enough, ahead, err := s.checkStopping()
	if err != nil {
		return err
	}
	iterations := s.roundIterations()
	switch {
	case enough:
		return s.fixLength(StopEnough)
	case iterations >= s.lastRoundLength():
		return s.fixLength(StopMost)
	case s.isTimeOver():
		return s.fixLength(StopTime)
	}
	thin := s.spec.Settings.Thin
	s.setRound(2 * iterations)
	s.length.Store(s.warmup.Load() + int64(min(float64(s.lastRoundLength()), max(2, ahead)*float64(iterations))))
	if s.spec.Settings.Thin == thin {
		return nil
	}
	// No state may be older than the point from which others have a larger thin.
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for _, c := range s.chains {
		g.Go(c.store)
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, c := range s.chains {
		c.thinTo(s.spec.Settings.Thin)
	}
	return nil
}

// fixLength makes the round's draws and thin those of the run.
func (s *session) fixLength(why Stop) error {
	s.manifest.Settings = s.spec.Settings
	s.manifest.Auto.Stop, s.manifest.Auto.Draws = why, s.spec.Settings.Draws
	if err := s.replaceManifest(); err != nil {
		return err
	}
	s.deadlinePassed.Store(false)
	s.length.Store(s.spec.Settings.Iterations())
	return nil
}

// isTimeOver reports whether the run has used its time limit, less the time of the search that
// follows.
func (s *session) isTimeOver() bool {
	auto := s.manifest.Auto
	if auto == nil || auto.Seconds <= 0 {
		return false
	}
	made := int64(0)
	for _, c := range s.chains {
		made += c.published.iterations.Load()
	}
	return s.seconds()*(1+s.searchShare(made, autoLines)) >= auto.Seconds
}

// searchShare estimates the duration of the search as a share of that of the chains, whose total
// iterations are given.
func (s *session) searchShare(made, each int64) float64 {
	q := s.spec.Question
	if q == nil || made == 0 {
		return 0
	}
	lines := made
	if s.spec.Settings.Kernel == "tempered" {
		lines *= usualRungs
	}
	return float64(q.ExpectedLines(search.RunContext{Iterations: each * lines})) / float64(lines)
}

// usualRungs is the approximate number of lines in an iteration of a tempered chain.
const usualRungs = 8

// checkTime makes the chains end when the time is over. The draws do not depend on it, since the
// length of the warm-up depends only on what was learnt.
func (s *session) checkTime() {
	if s.isOpenEnded() && !s.isWarmupOpen() && s.isTimeOver() {
		s.deadlinePassed.Store(true)
	}
}

// thinTo keeps every draw of a chain with a larger thin. Compositions visited at dropped draws
// count as visited on the way to the next draw.
func (c *chain) thinTo(thin int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	step := thin / c.buffered.thin
	if step == 1 {
		return
	}
	c.buffered.thinTo(thin)
	c.draws /= step
	c.from.At /= step
	for _, l := range []*shortlist{&c.best, &c.fresh} {
		renumberBest(l.best, step)
	}
	if c.live != nil {
		c.live = nil
		c.startFollowing()
	}
}

// renumberBest renumbers the best compositions of a chain for a larger thin.
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

// storeBuffered stores the buffered draws that no part has, once their number is known.
func (c *chain) storeBuffered() error {
	h := c.buffered
	if h == nil || c.session.isOpenEnded() {
		return nil
	}
	c.buffered = nil
	for d := c.stored; d < h.draws(); d++ {
		if c.part == nil {
			c.part = c.session.table.newPart(c.session.manifest.Run, c.index)
		}
		ingredients, amounts := h.parts(d)
		if err := c.part.appendDraw(d, h.density[d], ingredients, amounts, h.conditionsOf(d), h.scoresOf(d)); err != nil {
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

// stopNote returns a note on why a run stopped.
func (s *session) stopNote() string {
	auto := s.manifest.Auto
	if auto == nil || auto.Draws != s.manifest.Settings.Draws {
		return "" // it has been made longer
	}
	dir := terminal.ShellWord(s.store.Location())
	switch auto.Stop {
	case StopTime:
		return fmt.Sprintf("The chains stopped when their time, %v, was over, before every figure was known to have %d independent draws: for more, `kir resume %s --draws %d`.", auto.TimeLimit(), auto.Wanted, dir, 4*s.manifest.Settings.Draws)
	case StopMost:
		return fmt.Sprintf("The chains stopped at %d iterations, the most that draws: auto makes, before every figure had %d independent draws.", s.roundIterations(), auto.Wanted)
	}
	return ""
}

// SettingsAsStarted returns the settings that the run was started with, including [mcmc.AutoDraws].
func (m *Manifest) SettingsAsStarted() mcmc.Settings {
	s := m.Settings
	if m.Auto != nil {
		s.Warmup, s.Draws, s.Thin = m.Auto.Warmup, mcmc.AutoDraws, 1
	}
	return s
}

// TimeLimit returns the run's time limit.
func (a *Auto) TimeLimit() time.Duration { return time.Duration(a.Seconds * float64(time.Second)) }
