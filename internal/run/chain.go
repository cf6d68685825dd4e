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

// errAbandoned is returned when a segment was stopped before its end.
var errAbandoned = errors.New("abandoned within a segment")

// A chain is one chain of a session. It belongs to the worker that took it from the session's
// queue.
type chain struct {
	session *session
	index   int

	mu       sync.Mutex // held during a segment, and by who looks at the figures
	walk     *mcmc.Chain
	finished bool // all draws are stored
	atEnd    bool // of the round
	lost     bool // it failed, and cannot be stored

	warm  int    // iterations of warm-up made
	ended bool   // its warm-up has ended
	draws int    // made since
	begun []byte // the chain where the last segment began,
	from  state  // which is at these Warm and At
	whole bool   // that segment was made to its end

	buffered *bufferedDraws // the draws as long as their number is not known, else nil
	part     *partWriter    // draws that have not been stored, or nil
	stored   int            // draws in parts
	parts    int
	bytes    int64 // of these

	scores      []float64
	updated     int64     // when scores were computed
	best, fresh shortlist // of draws and finds, for a chain that searches
	live        []*diagnose.Series

	bestSoFar      bestSoFar
	untilBestSoFar int // iterations until the next look at what is met
	saved          time.Time
	published      progressPoint
}

// progressPoint is the progress that a chain publishes.
type progressPoint struct {
	iterations atomic.Int64
	kept       atomic.Int64 // iterations since the end of warm-up
	accepted   atomic.Int64 // among these
}

// start draws the chain's first state.
func (c *chain) start() (err error) {
	s := c.session
	c.walk, err = s.sampler.NewChain(s.spec.Settings.Seed, c.index)
	if err != nil {
		return err
	}
	c.walk.SetWorkers(s.options.Workers / len(s.chains))
	c.warm, c.draws, c.ended = 0, 0, false
	if s.spec.Settings.Warmup == 0 {
		c.endWarmup()
	}
	if s.isOpenEnded() {
		c.buffered = &bufferedDraws{thin: s.spec.Settings.Thin}
	}
	c.best, c.fresh = shortlist{}, shortlist{known: s.spec.Known}
	return nil
}

// begin restores the chain from its state, or starts it anew.
func (c *chain) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session
	c.saved = time.Now()
	files := s.stored[c.index]
	if err := checkOrder(c.index, files); err != nil {
		return err
	}
	c.parts = len(files)
	for _, f := range files {
		c.bytes += f.Size
	}
	from, err := loadState(s.ctx, s.store, s.manifest, c.index)
	switch {
	case err == nil && from.Parts == c.parts && from.Bytes == c.bytes:
		c.stored = from.Draws
	case err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, fs.ErrNotExist):
		for _, f := range files {
			n, err := storedDraws(s.ctx, s.store, f, s.manifest, c.index)
			if errors.Is(err, ErrDamaged) {
				return damagedPart(s.store, f.Name, err)
			}
			if err != nil {
				return err
			}
			c.stored += n
		}
	default:
		return err
	}
	if c.stored > s.spec.Settings.Draws {
		return fmt.Errorf("%w: chain %d has %d draws of %d", ErrDamaged, c.index, c.stored, s.spec.Settings.Draws)
	}
	if err == nil && from.Thin == 0 && from.At > c.stored {
		// The missing draws are made again.
		err = fmt.Errorf("%s: %w: %d of its draws are missing", stateName(c.index), ErrDamaged, from.Draws-c.stored)
	}
	if err == nil {
		if err = c.restore(from); err == nil {
			return nil
		}
		err = fmt.Errorf("%s: %w: %w", stateName(c.index), ErrDamaged, err)
	}
	if errors.Is(err, ErrDamaged) {
		s.note("Chain %d was made anew from its start, as its state could not be used: %v", c.index, err)
	}
	if c.walk != nil {
		return nil // it was started to see whether it can
	}
	return c.start()
}

// restore sets the chain to a stored state.
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
	c.walk, c.warm, c.draws, c.ended = walk, from.Warm, from.At, from.Warm == s.manifest.warmupLength() && !from.Open
	c.best, c.fresh = shortlist{best: from.Best}, shortlist{known: s.spec.Known, best: from.unknownBest(s.spec.Known)}
	c.from, c.begun = *from, from.Walk
	c.finished = !s.isOpenEnded() && from.Draws == s.spec.Settings.Draws && c.stored == from.Draws
	c.publish()
	return nil
}

// iterations returns the number of iterations made.
func (c *chain) iterations() int64 {
	return int64(c.warm) + int64(c.draws)*int64(c.session.spec.Settings.Thin)
}

// watchIterations is the number of iterations in a segment between checks whether to abandon it.
const watchIterations = 64

// advanceWatched makes iterations, and stops early if the session stops.
func (c *chain) advanceWatched(iterations int, advance func(int) error) error {
	for left := iterations; left > 0; left -= watchIterations {
		if err := browsersched.Err(c.session.ctx); err != nil {
			return err
		}
		if c.session.abandon.Load() {
			return errAbandoned
		}
		if err := advance(min(left, watchIterations)); err != nil {
			return err
		}
		if c.untilBestSoFar -= min(left, watchIterations); c.untilBestSoFar <= 0 {
			c.updateBestSoFar()
			c.untilBestSoFar = watchIterations
		}
	}
	return nil
}

// advanceSegment makes the next advanceSegment.
func (c *chain) advanceSegment() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	settings := &c.session.spec.Settings
	if c.begun, err = c.walk.MarshalBinary(); err != nil {
		return err
	}
	c.from.Warm, c.from.At, c.from.Open, c.whole = c.warm, c.draws, !c.ended, false
	if c.warm == settings.Warmup && !c.ended {
		c.endWarmup() // this was not known to be its end
	}
	if err := c.walk.Refresh(); err != nil {
		return err
	}
	if c.warm == settings.Warmup {
		err := c.sample(min(segmentDraws(settings), settings.Draws-c.draws))
		c.whole = err == nil && c.draws%segmentDraws(settings) == 0
		return err
	}
	n := min(segmentIterations, settings.Warmup-c.warm)
	if err := c.advanceWatched(n, c.walk.Warm); err != nil {
		return err
	}
	if c.warm += n; c.warm == settings.Warmup && !c.session.isWarmupOpen() {
		c.endWarmup()
	}
	c.whole = true
	return nil
}

// endWarmup fixes the chain's tuning.
func (c *chain) endWarmup() {
	c.walk.EndWarmup()
	c.ended = true
}

// sample makes draws from a freshly refreshed state, and adds those not stored yet to the part.
func (c *chain) sample(draws int) error {
	thin := c.session.spec.Settings.Thin
	c.updated = -1
	searches := c.session.spec.hasObjectives() && c.walk.Search(c.leastVisitedScore())
	for range draws {
		if err := c.advanceWatched(thin, c.walk.Advance); err != nil {
			return err
		}
		x := c.walk.State
		if u := c.walk.Updated(); u != c.updated {
			c.updated = u
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
		if c.session.isOpenEnded() {
			c.buffered.add(x, c.scores)
		} else if c.draws >= c.stored {
			if c.part == nil {
				c.part = c.session.table.newPart(c.session.manifest.Run, c.index)
			}
			if err := c.part.add(c.draws, x, c.scores); err != nil {
				return err
			}
		}
		for k, s := range c.live {
			switch k {
			case 0:
				s.Add(float64(x.Composition.Used()))
			case 1:
				s.Add(x.LogDensity())
			default:
				s.Add(c.scores[k-2])
			}
		}
		c.draws++
	}
	return nil
}

// leastVisitedScore is the least log score of interest for visited compositions.
func (c *chain) leastVisitedScore() float64 {
	if c.fresh.known == nil {
		return c.best.leastScore()
	}
	return min(c.best.leastScore(), c.fresh.leastScore())
}

// offerDraw offers a draw, and the compositions visited on the way to it, to the shortlist. Then it
// sets the bar for the next.
func (c *chain) offerDraw(x *mcmc.State) error {
	lists := []*shortlist{&c.best}
	if c.fresh.known != nil {
		lists = append(lists, &c.fresh)
	}
	if err := c.walk.DrainVisited(func(f mcmc.VisitedState) error {
		for _, l := range lists {
			if err := l.offerFind(x.Target(), c.draws, f); err != nil {
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
			l.offer(&Draw{Draw: c.draws, LogDensity: x.LogDensity(), Scores: c.scores, Conditions: x.Composition.AppendConditions(nil), Parts: x.Composition.Parts()}, logScore)
		}
	}
	c.walk.Search(c.leastVisitedScore())
	return nil
}

// publish makes the chain's progress visible to other goroutines.
func (c *chain) publish() {
	c.published.iterations.Store(c.iterations())
	if c.ended {
		tally := c.walk.Tally()
		c.published.kept.Store(tally.Iterations)
		c.published.accepted.Store(tally.Accepted)
	}
}

// runUntil makes segments until the given time, the end of ctx, or the chain's end.
func (c *chain) runUntil(ctx context.Context, until time.Time) error {
	if c.parts < 0 {
		c.parts = 0
		if err := c.begin(); err != nil {
			return err
		}
		if c.finished {
			c.walk = nil
			return nil
		}
		c.initLiveStatistics()
	}
	if err := c.storeBuffered(); err != nil {
		return err
	}
	settings := &c.session.spec.Settings
	for ctx.Err() == nil {
		if c.warm < settings.Warmup || c.draws < settings.Draws {
			if err := c.advanceSegment(); err != nil {
				return err
			}
			c.publish()
		}
		if c.warm == settings.Warmup && c.draws == settings.Draws {
			if c.session.isOpenEnded() {
				c.atEnd = true
				return nil
			}
			return c.finish()
		}
		now := time.Now()
		if c.part != nil && c.part.isFull() || now.Sub(c.saved) >= c.session.options.interval() {
			if err := c.store(); err != nil {
				return err
			}
		}
		if now.After(until) {
			return nil
		}
	}
	return nil
}

// initLiveStatistics sets up the data for the statistics displayed during a run.
func (c *chain) initLiveStatistics() {
	const mostFollowed = 64
	if c.session.options.Progress == nil || len(c.session.chains) > mostFollowed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.startFollowing()
}

// startFollowing is follow with the lock held.
func (c *chain) startFollowing() {
	const kept = 1 << 11
	for range 2 + len(c.session.spec.Target.Objectives()) {
		c.live = append(c.live, diagnose.NewSeries(kept, 1))
	}
	if c.buffered == nil {
		return
	}
	for d := range c.buffered.draws() {
		c.live[0].Add(float64(c.buffered.ingredientCount(d)))
		c.live[1].Add(c.buffered.density[d])
		for k, y := range c.buffered.scoresOf(d) {
			c.live[2+k].Add(y)
		}
	}
}

// store ends the part and then writes the state. It is called after a segment, or after one was
// abandoned. In that case it writes the state at the segment's start, with the count of the draws
// since.
func (c *chain) store() error {
	s := c.session
	if err := c.storeBuffered(); err != nil {
		return err
	}
	if err := c.storePart(); err != nil {
		return err
	}
	if c.draws < c.stored {
		// The chain is repeating draws up to the end of the parts. Its counts cover fewer draws
		// than are stored, so they must not be written as the counts of all.
		return nil
	}
	to := c.from
	to.Walk = c.begun
	if c.whole {
		var err error
		if to.Walk, err = c.walk.MarshalBinary(); err != nil {
			return err
		}
		to.Warm, to.At, to.Open = c.warm, c.draws, !c.ended
	}
	to.Run, to.Chain, to.Shard = s.manifest.Run, c.index, s.options.Shard
	to.Draws, to.Parts, to.Bytes = c.stored, c.parts, c.bytes
	if s.isOpenEnded() {
		to.Held, to.Thin = c.buffered.encode(to.At), c.buffered.thin
	}
	to.Tries, to.Tally, to.Ladder = c.walk.Tries, c.walk.Tally(), c.walk.Ladder()
	to.Best = c.best.best
	to.Fresh = c.fresh.missingFrom(to.Best)
	to.Seconds, to.Saved = s.seconds(), time.Now()
	if err := to.save(s.ctx, s.store); err != nil {
		return err
	}
	c.saved = time.Now()
	return nil
}

// storePart ends the part and writes it.
func (c *chain) storePart() error {
	s := c.session
	if c.part == nil || c.part.draws == 0 {
		return nil
	}
	data, err := c.part.close()
	if err != nil {
		return err
	}
	err = s.store.Create(s.ctx, partName(c.index, c.parts), data)
	if errors.Is(err, fs.ErrExist) {
		return &BusyError{Dir: s.store.Location(), Chain: c.index}
	}
	if err != nil {
		return err
	}
	c.stored += c.part.draws
	c.parts++
	c.bytes += int64(len(data))
	c.part = nil
	return nil
}

// finish stores the remaining draws, and frees memory that is no longer needed while other chains
// run.
func (c *chain) finish() error {
	if err := c.store(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.walk, c.part, c.buffered, c.begun, c.from = nil, nil, nil, nil, state{}
	c.finished = true
	return nil
}
