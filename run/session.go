package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"kir"
)

const (
	// turnTime is how long a worker stays with a chain before it looks for
	// one that is further behind.
	turnTime = 100 * time.Millisecond
	// graceTime is how long an interrupted chain may take to come to the end
	// of its segment. If it takes longer its last checkpoint has to do.
	graceTime = 2 * time.Second
)

// session is one process working on a run.
type session struct {
	spec     *Spec
	kernel   kir.Kernel
	dir      *directory
	manifest *Manifest
	options  Options
	chains   []*chain

	begun  time.Time
	before float64 // seconds that earlier sessions took

	stop    atomic.Bool // set when no further segment is to begin
	abandon atomic.Bool // set when segments are to be given up

	saving sync.Mutex // held by who makes a checkpoint

	mu       sync.Mutex
	waiting  []*chain // unfinished and with no worker
	baseline *Baseline
	measured bool // somebody measures the baseline, or has
	notes    []string
}

func newSession(spec *Spec, dir *directory, options Options) (*session, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	kernel, err := kir.NewKernel(spec.Settings.Kernel, spec.Target)
	if err != nil {
		return nil, err
	}
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	s := &session{spec: spec, kernel: kernel, dir: dir, options: options, begun: time.Now()}
	for index := range spec.Settings.Chains {
		s.chains = append(s.chains, &chain{session: s, index: index, savedAt: -1})
	}
	return s, nil
}

// eachChain does something with all chains, on all workers.
func (s *session) eachChain(do func(c *chain) error) error {
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for _, c := range s.chains {
		g.Go(func() error { return do(c) })
	}
	return g.Wait()
}

// lock takes the run for this process.
func (s *session) lock() (*flock.Flock, error) {
	l := flock.New(s.dir.join(lockName))
	locked, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, errors.Join(&BusyError{Dir: s.dir.path}, l.Close())
	}
	return l, nil
}

// close closes the files of draws that are open.
func (s *session) close() {
	for _, c := range s.chains {
		if c.out != nil {
			c.out.close() // what counts has been synced; the rest is written again
		}
	}
}

// seconds returns how long the run has taken so far.
func (s *session) seconds() float64 { return s.before + time.Since(s.begun).Seconds() }

// note keeps something that the user should know.
func (s *session) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// run works until all chains are finished, and completes the run.
func (s *session) run(ctx context.Context) (*Result, error) {
	result, err := s.work(ctx)
	if err == nil {
		err = s.complete(result)
	}
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, errAbandoned)):
		return nil, &InterruptedError{Dir: s.dir.path, Done: s.done(), Err: ctx.Err()}
	case errors.As(err, &path) || errors.As(err, &link):
		return nil, &StorageError{Dir: s.dir.path, Err: err}
	}
	return nil, err
}

// work lets the workers make all draws, and returns what they amount to.
func (s *session) work(ctx context.Context) (*Result, error) {
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(work, func() { s.stop.Store(true) })
	ended := make(chan struct{})
	defer close(ended)
	forget := context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(graceTime):
			s.abandon.Store(true)
		}
	})
	defer forget() // or ctx would keep the session

	for _, c := range s.chains {
		if !c.finished {
			s.waiting = append(s.waiting, c)
		}
	}
	watch := s.watch()
	var workers sync.WaitGroup
	failures := make([]error, s.options.Workers)
	for k := range failures {
		workers.Go(func() {
			if failures[k] = s.worker(work); failures[k] != nil {
				cancel()
			}
		})
	}
	workers.Wait()
	watch()

	// What made the others stop says more than that they were stopped.
	for _, err := range failures {
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errAbandoned) {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		// Chains that were given up within a segment keep the checkpoint
		// that they have.
		for _, c := range s.chains {
			if !c.finished && !c.lost {
				if err := c.save(); err != nil {
					return nil, err
				}
			}
		}
		return nil, ctx.Err()
	}
	r, err := s.result()
	if err == nil && r.Unlisted.Count > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("The %d ingredients that are used most often are listed. The draws use %d others, which kir draws prints.", MostInclusion, r.Unlisted.Count))
	}
	return r, err
}

// worker takes the chain that is furthest behind, again and again, until none
// is left; then it measures the baseline unless another does.
func (s *session) worker(ctx context.Context) error {
	for {
		c := s.take()
		if c == nil {
			break
		}
		err := c.turn(time.Now().Add(turnTime))
		if err != nil {
			c.lost = true
			return err
		}
		if !c.finished {
			s.mu.Lock()
			s.waiting = append(s.waiting, c)
			s.mu.Unlock()
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	mine := !s.measured
	s.measured = true
	s.mu.Unlock()
	if !mine {
		return nil
	}
	baseline, err := newBaseline(ctx, s.spec)
	s.baseline = baseline
	return err
}

// manyIngredients is from how many on a worker stays with its chain.
const manyIngredients = 100_000

// take returns the waiting chain that has made the fewest iterations, or nil if
// none waits or the session stops. Where there is none others may be at work,
// but on no more chains than there are other workers.
//
// Chains go on side by side so that R-hat can be told while they run. With many
// ingredients memory counts for more: the chain that has made most iterations
// goes on, and so few chains are begun and not finished.
func (s *session) take() *chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 || s.stop.Load() {
		return nil
	}
	next := 0
	for k, c := range s.waiting {
		was, is := s.waiting[next].published.iterations.Load(), c.published.iterations.Load()
		if many := len(s.spec.Ingredients) >= manyIngredients; many && is > was || !many && is < was {
			next = k
		}
	}
	c := s.waiting[next]
	s.waiting = append(s.waiting[:next], s.waiting[next+1:]...)
	return c
}

// done returns the share of the iterations that have been made.
func (s *session) done() float64 {
	sum := 0.0
	for _, c := range s.chains {
		sum += c.share()
	}
	return sum / float64(len(s.chains))
}

// share returns the share of the chain's iterations that have been made.
func (c *chain) share() float64 {
	settings := &c.session.spec.Settings
	return float64(c.published.iterations.Load()) / (float64(settings.Warmup) + float64(settings.Draws)*float64(settings.Thin))
}

// complete keeps the result and says that the run is complete.
func (s *session) complete(r *Result) error {
	data, err := seal(resultKind, r)
	if err != nil {
		return err
	}
	if err := s.dir.replace(resultName, data, false); err != nil {
		return err
	}
	s.manifest.Status = Complete
	if err := s.manifest.write(s.dir); err != nil {
		return err
	}
	// Nothing needs what the last checkpoints replaced.
	for _, c := range s.chains {
		if err := os.Remove(s.dir.join(previous(checkpointName(c.index)))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
