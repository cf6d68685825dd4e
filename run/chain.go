package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"kir"
	"kir/run/drawfile"
)

// errAbandoned is returned when a segment was given up in the middle.
var errAbandoned = errors.New("abandoned within a segment")

// A chain is one chain of a session, with its file of draws. It belongs to
// whoever took it from the session's queue.
type chain struct {
	session *session
	index   int

	mu       sync.Mutex // held during a segment, and by who looks at the figures
	walk     *kir.Chain
	recorder *recorder
	out      *output
	warm     int         // iterations of warm-up done
	finished bool        // the file of draws has its final name
	result   ChainResult // once it is finished
	lost     bool        // stopped within a segment

	saved     time.Time // when the last checkpoint was written
	saveTime  time.Duration
	savedAt   int64 // iterations then, or −1
	published progressPoint
}

// progressPoint is what a chain publishes for others to see.
type progressPoint struct {
	iterations atomic.Int64
	kept       atomic.Int64 // iterations since the end of warm-up
	accepted   atomic.Int64 // among these
}

// start draws the chain's first state.
func (c *chain) start() (err error) {
	s := c.session
	c.walk, err = kir.NewChain(s.spec.Target, s.kernel, s.spec.Settings.Seed, c.index)
	if err != nil {
		return err
	}
	c.walk.SetWorkers(s.options.Workers / s.spec.Settings.Chains)
	if s.spec.Settings.Warmup == 0 {
		c.walk.EndWarmup()
	}
	return nil
}

// schema returns what the chain's file of draws is made of.
func (c *chain) schema() drawfile.Schema {
	spec := c.session.spec
	return drawfile.Schema{
		Chain:       int32(c.index),
		Total:       spec.Target.Space().Total(),
		Properties:  spec.properties(),
		Ingredients: spec.Ingredients,
	}
}

// begin makes the file of draws of a chain that starts anew.
func (c *chain) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	out, err := c.session.dir.openOutput(partialName(c.index), 0)
	if err != nil {
		return err
	}
	c.out = out
	w, err := drawfile.NewWriter(out, c.schema())
	if err != nil {
		return err
	}
	c.recorder = newRecorder(c.session.spec, w)
	return nil
}

// resume takes the chain to the newest checkpoint that can be used, or else
// starts it anew. It returns how long the run had taken by then.
func (c *chain) resume() (seconds float64, err error) {
	dir := c.session.dir
	// A file of draws that was finished goes on from the last checkpoint, too:
	// what that lacks of the file is less than a segment.
	partial, final := dir.join(partialName(c.index)), dir.join(drawsName(c.index))
	if _, err := os.Stat(partial); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(final, partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	name := checkpointName(c.index)
	for _, name := range []string{name, previous(name)} {
		var p checkpoint
		err := unseal(dir.join(name), checkpointKind, &p)
		if err == nil {
			err = c.restore(&p)
		}
		switch {
		case err == nil:
			return p.Seconds, nil
		case errors.Is(err, errDamaged):
			c.session.note("%s cannot be used, and chain %d goes on from an earlier state: %v", name, c.index, err)
		case !errors.Is(err, fs.ErrNotExist):
			return 0, err
		}
	}
	return 0, c.start()
}

// restore takes the chain, which is new, to a checkpoint. It fails with
// errDamaged if the checkpoint or the file of draws is not what it was.
func (c *chain) restore(p *checkpoint) error {
	s := c.session
	damaged := func(err error) error { return fmt.Errorf("%w: %w", errDamaged, err) }
	settings := &s.spec.Settings
	if p.Run != s.manifest.Run || p.Chain != c.index {
		return damaged(errors.New("it belongs to another run or chain"))
	}
	if p.Warm > settings.Warmup || p.Draws > settings.Draws || p.Draws%segmentDraws(settings) != 0 || p.Draws > 0 && p.Warm < settings.Warmup {
		return damaged(errors.New("it does not stand between two segments"))
	}
	name := s.dir.join(partialName(c.index))
	info, err := os.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || info.Size() < p.Offset {
		return damaged(fmt.Errorf("%s is shorter than the %d bytes that it relies on", name, p.Offset))
	}
	walk, err := kir.RestoreChain(s.spec.Target, s.kernel, p.State)
	if err != nil {
		return damaged(err)
	}
	recorder := newRecorder(s.spec, nil)
	if err := recorder.load(p); err != nil {
		return damaged(err)
	}
	out, err := s.dir.openOutput(partialName(c.index), p.Offset)
	if err != nil {
		return err
	}
	recorder.writer, err = drawfile.RestoreWriter(out, c.schema(), p.File)
	if err == nil && (recorder.writer.Offset() != p.Offset || recorder.writer.Draws() != int64(p.Draws)) {
		err = drawfile.ErrState
	}
	if err != nil {
		return cmp.Or(out.close(), damaged(err))
	}
	walk.SetWorkers(s.options.Workers / settings.Chains)
	c.walk, c.recorder, c.out, c.warm = walk, recorder, out, p.Warm
	c.saved, c.savedAt = time.Now(), c.iterations()
	c.publish()
	return nil
}

// iterations returns how many have been made.
func (c *chain) iterations() int64 {
	if c.recorder == nil {
		return 0
	}
	return int64(c.warm) + int64(c.recorder.draws)*int64(c.session.spec.Settings.Thin)
}

// done says whether all draws have been made.
func (c *chain) done() bool { return c.recorder.draws == c.session.spec.Settings.Draws }

// watchIterations is how many iterations go by in a segment before it looks
// whether it is to be given up.
const watchIterations = 64

// segment makes the next segment.
func (c *chain) segment() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	settings := &c.session.spec.Settings
	if err := c.walk.Refresh(); err != nil {
		return err
	}
	if c.warm < settings.Warmup {
		n := min(segmentIterations, settings.Warmup-c.warm)
		for left := n; left > 0; left -= watchIterations {
			if c.session.abandon.Load() {
				return errAbandoned
			}
			if err := c.walk.Warm(min(left, watchIterations)); err != nil {
				return err
			}
		}
		if c.warm += n; c.warm == settings.Warmup {
			c.walk.EndWarmup()
		}
		return nil
	}
	n := min(segmentDraws(settings), settings.Draws-c.recorder.draws)
	return c.recorder.sample(c.walk, n, settings.Thin, &c.session.abandon)
}

// tail says whether what is left to do is no whole segment.
func (c *chain) tail() bool {
	settings := &c.session.spec.Settings
	return c.warm == settings.Warmup && settings.Draws-c.recorder.draws < segmentDraws(settings)
}

// publish lets others see how far the chain is.
func (c *chain) publish() {
	tally := c.walk.Tally()
	c.published.iterations.Store(c.iterations())
	if c.warm == c.session.spec.Settings.Warmup {
		c.published.kept.Store(tally.Iterations)
		c.published.accepted.Store(tally.Accepted)
	}
}

// turn makes segments until a time has come, the session stops, or the chain is
// finished.
func (c *chain) turn(until time.Time) error {
	if c.recorder == nil {
		if err := c.begin(); err != nil {
			return err
		}
		c.saved = time.Now()
	}
	for !c.session.stop.Load() {
		if c.tail() {
			return c.finish()
		}
		if err := c.segment(); err != nil {
			return err
		}
		c.publish()
		now := time.Now()
		if now.Sub(c.saved) >= c.interval() {
			if err := c.save(); err != nil {
				return err
			}
		}
		if now.After(until) {
			return nil
		}
	}
	return nil
}

// interval returns the time from one checkpoint to the next.
func (c *chain) interval() time.Duration {
	if set := c.session.options.Checkpoint; set > 0 {
		return set
	}
	return max(defaultCheckpoint, checkpointCost*c.saveTime)
}

// save writes a checkpoint, unless there is one of here.
func (c *chain) save() error {
	if c.recorder == nil || c.savedAt == c.iterations() {
		return nil
	}
	start := time.Now()
	if err := c.out.sync(); err != nil {
		return err
	}
	// One at a time, for the memory that it takes.
	c.session.saving.Lock()
	defer c.session.saving.Unlock()
	p := checkpoint{
		Run:     c.session.manifest.Run,
		Chain:   c.index,
		Warm:    c.warm,
		Seconds: c.session.seconds(),
	}
	var err error
	if p.State, err = c.walk.MarshalBinary(); err != nil {
		return err
	}
	if err := c.recorder.save(&p); err != nil {
		return err
	}
	data, err := seal(checkpointKind, &p)
	if err != nil {
		return err
	}
	if err := c.session.dir.replace(checkpointName(c.index), data, true); err != nil {
		return err
	}
	c.saved, c.saveTime, c.savedAt = time.Now(), time.Since(start), c.iterations()
	return nil
}

// finish writes the last checkpoint, makes the draws that are left, and gives
// the file of draws its final name.
func (c *chain) finish() error {
	if err := c.save(); err != nil {
		return err
	}
	if !c.done() {
		if err := c.segment(); err != nil {
			return err
		}
	}
	c.publish()
	c.result = ChainResult{Tries: c.walk.Tries, Tally: c.walk.Tally(), Ladder: c.walk.Ladder()}
	if err := c.recorder.writer.Close(); err != nil {
		return err
	}
	if err := cmp.Or(c.out.sync(), c.out.close()); err != nil {
		return err
	}
	dir := c.session.dir
	if err := os.Rename(dir.join(partialName(c.index)), dir.join(drawsName(c.index))); err != nil {
		return err
	}
	if err := dir.sync(); err != nil {
		return err
	}
	// What is not needed any more is let go of, as others still run.
	c.mu.Lock()
	c.walk, c.recorder.writer, c.out = nil, nil, nil
	c.mu.Unlock()
	c.finished = true
	return nil
}
