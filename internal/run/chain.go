package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"kir/internal/browsersched"
	"kir/internal/diagnose"
	"kir/mcmc"
)

// errAbandoned is returned when a chain stopped within a segment, that is, within one of the
// sections of about a thousand iterations into which a chain's work is divided.
var errAbandoned = errors.New("abandoned within a segment")

// A chain is one Markov chain of the run, as a [session] works on it. A worker goroutine takes the
// chain from the session's list of waiting chains. So at most one worker runs the chain at a time.
type chain struct {
	session *session
	index   int // number of the chain in the run, from 0

	mu            sync.Mutex  // held while iterations are made, and while the displayed statistics are computed
	markovChain   *mcmc.Chain // the Markov chain itself; nil before the start and after the end
	finished      bool        // whether all draws of the chain are stored
	roundFinished bool        // whether the chain has reached the end of the current round; see [session.startNextRound]
	failed        bool        // whether the chain returned an error; then the progress of the chain cannot be stored

	warmupIterations int    // number of warm-up iterations made
	warmupEnded      bool   // whether the warm-up has ended
	drawsMade        int    // number of draws made since the warm-up
	segmentStart     []byte // encoded markovChain at the start of the last segment
	segmentState     state  // state that will be stored; it describes the chain at the start of the last segment
	segmentComplete  bool   // whether the last segment was completed rather than abandoned

	buffered    *bufferedDraws // draws made while the run has not determined its number of draws; otherwise nil
	part        *partWriter    // writer of the draws that are not in a stored file yet; nil if there are none
	drawsStored int            // number of draws in stored files
	partCount   int            // number of stored files of draws
	partBytes   int64          // total size of the stored files of draws, in bytes

	scores          []float64          // scores of all properties at the current state
	scoresVersion   int64              // value of [mcmc.Chain.ChangedCount] when scores was computed
	best            shortlist          // compositions of highest score that the chain has met
	unknownBest     shortlist          // compositions of highest score whose set of ingredients no known recipe has
	displayedSeries []*diagnose.Series // series of the statistics that are displayed during the run: number of ingredients, log density, and the score of each property

	bestSoFar       bestSoFar        // compositions of highest score, for display during the run
	untilBestUpdate int              // number of iterations until the next update of bestSoFar
	lastSaved       time.Time        // time when progress was last stored
	publishedCounts progressCounters // counts of iterations, for display during the run
}

// progressCounters are counts of a chain's iterations that other goroutines read while the chain
// runs.
type progressCounters struct {
	iterations  atomic.Int64 // number of iterations made, warm-up included
	afterWarmup atomic.Int64 // number of iterations since the end of warm-up
	accepted    atomic.Int64 // number of iterations since the end of warm-up whose proposal was accepted
}

// drawFirstState draws the chain's first state.
func (c *chain) drawFirstState() (err error) {
	s := c.session
	c.markovChain, err = s.sampler.NewChain(s.spec.Settings.Seed, c.index)
	if err != nil {
		return err
	}
	c.markovChain.SetWorkers(s.options.Workers / len(s.chains))
	c.warmupIterations, c.drawsMade, c.warmupEnded = 0, 0, false
	if s.spec.Settings.Warmup == 0 {
		c.endWarmup()
	}
	if s.isDrawCountOpen() {
		c.buffered = &bufferedDraws{thin: s.spec.Settings.Thin}
	}
	c.best, c.unknownBest = shortlist{}, shortlist{isExcludedSet: s.spec.IsKnownSet}
	return nil
}

// restoreOrStart restores the chain from its state file. If the file is missing or damaged,
// restoreOrStart starts the chain anew.
func (c *chain) restoreOrStart() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session
	c.lastSaved = time.Now()
	files := s.storedPartsByChain[c.index]
	if err := checkPartOrder(c.index, files); err != nil {
		return err
	}
	c.partCount = len(files)
	for _, f := range files {
		c.partBytes += f.Size
	}
	from, err := loadState(s.ctx, s.store, s.manifest, c.index)
	switch {
	case err == nil && from.Parts == c.partCount && from.Bytes == c.partBytes:
		c.drawsStored = from.Draws
	case err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, fs.ErrNotExist):
		for _, f := range files {
			n, err := readDrawCount(s.ctx, s.store, f, s.manifest, c.index)
			if errors.Is(err, ErrDamaged) {
				return newDamagedPartError(s.store, f.Name, err)
			}
			if err != nil {
				return err
			}
			c.drawsStored += n
		}
	default:
		return err
	}
	if c.drawsStored > s.spec.Settings.Draws {
		return fmt.Errorf("%w: chain %d has %d draws of %d", ErrDamaged, c.index, c.drawsStored, s.spec.Settings.Draws)
	}
	if err == nil && from.Thin == 0 && from.At > c.drawsStored {
		// The missing draws are made again.
		err = fmt.Errorf("%s: %w: %d of its draws are missing", stateName(c.index), ErrDamaged, from.Draws-c.drawsStored)
	}
	if err == nil {
		if err = c.restore(from); err == nil {
			return nil
		}
		err = fmt.Errorf("%s: %w: %w", stateName(c.index), ErrDamaged, err)
	}
	if errors.Is(err, ErrDamaged) {
		s.addNote("Chain %d was made anew from its start, as its state could not be used: %v", c.index, err)
	}
	if c.markovChain != nil {
		return nil // it was started to see whether it can
	}
	return c.drawFirstState()
}

// restore sets the chain to the given stored state.
func (c *chain) restore(from *state) error {
	s := c.session
	walk, err := s.sampler.RestoreChain(from.Walk)
	if err != nil {
		return err
	}
	if from.Thin > 0 {
		// The round, or the stop, has a larger thin than the state.
		step := s.spec.Settings.Thin / from.Thin
		from.buffered.thinTo(s.spec.Settings.Thin)
		from.At /= step
		renumberBest(from.Best, step)
		renumberBest(from.Fresh, step)
		c.buffered, from.Held, from.buffered, from.Thin = from.buffered, nil, nil, 0
	}
	walk.SetWorkers(s.options.Workers / len(s.chains))
	c.markovChain, c.warmupIterations, c.drawsMade, c.warmupEnded = walk, from.Warm, from.At, from.Warm == s.manifest.warmupLength() && !from.Open
	c.best, c.unknownBest = shortlist{entries: from.Best}, shortlist{isExcludedSet: s.spec.IsKnownSet, entries: from.unknownBest(s.spec.IsKnownSet)}
	c.segmentState, c.segmentStart = *from, from.Walk
	c.finished = !s.isDrawCountOpen() && from.Draws == s.spec.Settings.Draws && c.drawsStored == from.Draws
	c.publish()
	return nil
}

// iterations returns the number of iterations made, warm-up included.
func (c *chain) iterations() int64 {
	return int64(c.warmupIterations) + int64(c.drawsMade)*int64(c.session.spec.Settings.Thin)
}

// iterationsPerCheck is the number of iterations after which a chain checks whether it must stop
// within its segment.
const iterationsPerCheck = 64

// advanceInterruptibly makes the given number of iterations by calls of the function advance. It
// returns [errAbandoned] if the session tells its chains to stop within their segments.
func (c *chain) advanceInterruptibly(iterations int, advance func(int) error) error {
	for left := iterations; left > 0; left -= iterationsPerCheck {
		if err := browsersched.Err(c.session.ctx); err != nil {
			return err
		}
		if c.session.abandonSegments.Load() {
			return errAbandoned
		}
		if err := advance(min(left, iterationsPerCheck)); err != nil {
			return err
		}
		if c.untilBestUpdate -= min(left, iterationsPerCheck); c.untilBestUpdate <= 0 {
			c.updateBestSoFar()
			c.untilBestUpdate = iterationsPerCheck
		}
	}
	return nil
}

// advanceSegment makes the iterations of the next segment, in the warm-up or after it.
func (c *chain) advanceSegment() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	settings := &c.session.spec.Settings
	if c.segmentStart, err = c.markovChain.MarshalBinary(); err != nil {
		return err
	}
	c.segmentState.Warm, c.segmentState.At, c.segmentState.Open, c.segmentComplete = c.warmupIterations, c.drawsMade, !c.warmupEnded, false
	if c.warmupIterations == settings.Warmup && !c.warmupEnded {
		c.endWarmup() // this was not known to be its end
	}
	if err := c.markovChain.Refresh(); err != nil {
		return err
	}
	if c.warmupIterations == settings.Warmup {
		err := c.makeDraws(min(segmentDraws(settings), settings.Draws-c.drawsMade))
		c.segmentComplete = err == nil && c.drawsMade%segmentDraws(settings) == 0
		return err
	}
	n := min(segmentIterations, settings.Warmup-c.warmupIterations)
	if err := c.advanceInterruptibly(n, c.markovChain.Warm); err != nil {
		return err
	}
	if c.warmupIterations += n; c.warmupIterations == settings.Warmup && !c.session.isWarmupLengthOpen() {
		c.endWarmup()
	}
	c.segmentComplete = true
	return nil
}

// endWarmup ends the warm-up of the chain. From then on the chain no longer tunes its moves.
func (c *chain) endWarmup() {
	c.markovChain.EndWarmup()
	c.warmupEnded = true
}

// makeDraws makes draws, after the scores of the current composition were computed anew. Draws that
// no stored file contains are added to the buffer or to the part (file of draws) that is being
// written.
func (c *chain) makeDraws(draws int) error {
	thin := c.session.spec.Settings.Thin
	c.scoresVersion = -1
	searches := c.session.spec.hasObjectives() && c.markovChain.RecordVisited(c.minVisitedScore())
	for range draws {
		if err := c.advanceInterruptibly(thin, c.markovChain.Advance); err != nil {
			return err
		}
		x := c.markovChain.State
		if u := c.markovChain.ChangedCount(); u != c.scoresVersion {
			c.scoresVersion = u
			c.scores = x.AppendScores(c.scores[:0])
			if err := x.CheckScores(c.scores); err != nil {
				return err
			}
		}
		if searches {
			if err := c.offerDraw(x); err != nil {
				return err
			}
		}
		if c.session.isDrawCountOpen() {
			c.buffered.add(x, c.scores)
		} else if c.drawsMade >= c.drawsStored {
			if c.part == nil {
				c.part = c.session.layout.newPartWriter(c.session.manifest.Run, c.index)
			}
			if err := c.part.add(c.drawsMade, x, c.scores); err != nil {
				return err
			}
		}
		for k, s := range c.displayedSeries {
			switch k {
			case 0:
				s.Add(float64(x.Composition.UsedCount()))
			case 1:
				s.Add(x.LogDensity())
			default:
				s.Add(c.scores[k-2])
			}
		}
		c.drawsMade++
	}
	return nil
}

// minVisitedScore returns a log score. Compositions with lower log scores, visited between draws,
// cannot enter the shortlists.
func (c *chain) minVisitedScore() float64 {
	if c.unknownBest.isExcludedSet == nil {
		return c.best.minScore()
	}
	return min(c.best.minScore(), c.unknownBest.minScore())
}

// offerDraw offers the current draw to the shortlists, and also the compositions that a tempered
// chain visited since the previous draw. Then offerDraw raises the least log score at which the
// chain records visited compositions.
func (c *chain) offerDraw(x *mcmc.State) error {
	lists := []*shortlist{&c.best}
	if c.unknownBest.isExcludedSet != nil {
		lists = append(lists, &c.unknownBest)
	}
	if err := c.markovChain.DrainVisited(func(f mcmc.VisitedState) error {
		for _, l := range lists {
			if err := l.offerVisited(x.Target(), c.drawsMade, f); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	logScore := LogScore(x.Target().Objectives(), c.scores)
	for _, l := range lists {
		if !l.isRefused(logScore, x.LogDensity()) {
			l.offer(&Draw{Draw: c.drawsMade, LogDensity: x.LogDensity(), Scores: c.scores, Conditions: x.Composition.AppendConditions(nil), Parts: x.Composition.Parts()}, logScore)
		}
	}
	c.markovChain.RecordVisited(c.minVisitedScore())
	return nil
}

// publish makes the chain's progress visible to other goroutines.
func (c *chain) publish() {
	c.publishedCounts.iterations.Store(c.iterations())
	if c.warmupEnded {
		tally := c.markovChain.Tally()
		c.publishedCounts.afterWarmup.Store(tally.Iterations)
		c.publishedCounts.accepted.Store(tally.Accepted)
	}
}

// runUntil runs the chain, segment by segment, until the time until is reached, ctx ends, or the
// chain is finished.
func (c *chain) runUntil(ctx context.Context, until time.Time) error {
	if c.partCount < 0 {
		c.partCount = 0
		if err := c.restoreOrStart(); err != nil {
			return err
		}
		if c.finished {
			c.markovChain = nil
			return nil
		}
		c.initDisplayedSeries()
	}
	if err := c.storeBufferedDraws(); err != nil {
		return err
	}
	settings := &c.session.spec.Settings
	for ctx.Err() == nil {
		if c.warmupIterations < settings.Warmup || c.drawsMade < settings.Draws {
			if err := c.advanceSegment(); err != nil {
				return err
			}
			c.publish()
		}
		if c.warmupIterations == settings.Warmup && c.drawsMade == settings.Draws {
			if c.session.isDrawCountOpen() {
				c.roundFinished = true
				return nil
			}
			return c.finish()
		}
		now := time.Now()
		if c.part != nil && c.part.isFull() || now.Sub(c.lastSaved) >= c.session.options.storeInterval() {
			if err := c.storeProgress(); err != nil {
				return err
			}
		}
		if now.After(until) {
			return nil
		}
	}
	return nil
}

// initDisplayedSeries sets up the statistics that are displayed during a run, if progress is
// displayed and the session has at most 64 chains.
func (c *chain) initDisplayedSeries() {
	const mostFollowed = 64
	if c.session.options.Progress == nil || len(c.session.chains) > mostFollowed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.startDisplayedSeries()
}

// startDisplayedSeries creates the series behind the statistics displayed during a run, and adds
// the draws that are already buffered. The caller must hold c.mu.
func (c *chain) startDisplayedSeries() {
	const kept = 1 << 11
	for range 2 + len(c.session.spec.Target.Objectives()) {
		c.displayedSeries = append(c.displayedSeries, diagnose.NewSeries(kept, 1))
	}
	if c.buffered == nil {
		return
	}
	for d := range c.buffered.count() {
		c.displayedSeries[0].Add(float64(c.buffered.ingredientCount(d)))
		c.displayedSeries[1].Add(c.buffered.logDensities[d])
		for k, y := range c.buffered.scoresOf(d) {
			c.displayedSeries[2+k].Add(y)
		}
	}
}

// storeProgress stores first the draws in a new file and then the state of the chain. It is called
// after each segment that was completed or abandoned. If the segment was abandoned, the stored
// state is that at the start of the segment, while the stored counts include the draws made since.
func (c *chain) storeProgress() error {
	s := c.session
	if err := c.storeBufferedDraws(); err != nil {
		return err
	}
	if err := c.storePart(); err != nil {
		return err
	}
	if c.drawsMade < c.drawsStored {
		// The chain is repeating draws up to the end of the parts. Its counts cover fewer draws
		// than are stored, so they must not be written as the counts of all.
		return nil
	}
	to := c.segmentState
	to.Walk = c.segmentStart
	if c.segmentComplete {
		var err error
		if to.Walk, err = c.markovChain.MarshalBinary(); err != nil {
			return err
		}
		to.Warm, to.At, to.Open = c.warmupIterations, c.drawsMade, !c.warmupEnded
	}
	to.Run, to.Chain, to.Shard, to.Task = s.manifest.Run, c.index, s.options.Shard, s.options.isTask
	if to.Task {
		to.Shard = Shard{}
	}
	to.Draws, to.Parts, to.Bytes = c.drawsStored, c.partCount, c.partBytes
	if s.isDrawCountOpen() {
		to.Held, to.Thin = c.buffered.encode(to.At), c.buffered.thin
	}
	to.Tries, to.Tally, to.Ladder = c.markovChain.StartDraws, c.markovChain.Tally(), c.markovChain.Ladder()
	to.Best = c.best.entries
	to.Fresh = c.unknownBest.entriesMissingFrom(to.Best)
	to.Seconds, to.Saved = s.elapsedSeconds(), time.Now()
	if err := to.save(s.ctx, s.store); err != nil {
		return err
	}
	c.lastSaved = time.Now()
	return nil
}

// storePart writes the draws that are not stored yet to a new file of draws, a part.
func (c *chain) storePart() error {
	s := c.session
	if c.part == nil || c.part.draws == 0 {
		return nil
	}
	data, err := c.part.close()
	if err != nil {
		return err
	}
	err = s.store.Create(s.ctx, partName(c.index, c.partCount), data)
	if errors.Is(err, fs.ErrExist) {
		return &BusyError{Dir: s.store.Location(), Chain: c.index}
	}
	if err != nil {
		return err
	}
	c.drawsStored += c.part.draws
	c.partCount++
	c.partBytes += int64(len(data))
	c.part = nil
	return nil
}

// finish stores the remaining draws of the chain. It also frees the chain's memory, so that other
// chains can use the memory.
func (c *chain) finish() error {
	if err := c.storeProgress(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.markovChain, c.part, c.buffered, c.segmentStart, c.segmentState = nil, nil, nil, nil, state{}
	c.finished = true
	return nil
}
