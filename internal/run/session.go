package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"kir/internal/browsersched"
	"kir/mcmc"
)

const (
	// turnTime is the time that a worker spends on a chain before it looks for one that is further
	// behind.
	turnTime = 100 * time.Millisecond
	// graceTime is the time that an interrupted chain has to reach the end of its segment. After
	// that the draws so far are stored, and the chain repeats the segment when it continues.
	graceTime = 2 * time.Second
	// sideBySide is the most chains that run side by side, and that are started before anything is
	// stored.
	sideBySide = 64
	// manyIngredients is the number of ingredients from which chains do not run side by side.
	manyIngredients = 100_000
	// waitingReplicas is the most replicas of each chain that wait for a program at once. All
	// chains together have at most sideBySide.
	waitingReplicas = 16
)

// Options control the execution of a run. They do not affect its results.
type Options struct {
	// Workers is the number of chains that run at once. 0 stands for one a core. If chains wait for
	// a program, it stands for all chains, with the replicas of tempered ones.
	Workers int
	// Interval is the longest time that a chain works without storing its draws; 0 stands for 30
	// seconds.
	Interval time.Duration
	// Progress, if not nil, receives the progress of the run a few times a second, and once at its
	// end. Calls do not overlap.
	Progress func(Progress)
	// Shard selects the chains to run.
	Shard Shard
}

// partTime is the longest time that a chain works without storing its draws.
const partTime = 30 * time.Second

func (o *Options) interval() time.Duration {
	if o.Interval > 0 {
		return o.Interval
	}
	return partTime
}

// session is one process that works on the chains of a run or of a shard.
type session struct {
	ctx      context.Context // for storage: what is begun is stored, whatever ends
	spec     *Spec
	sampler  mcmc.Sampler
	store    Store
	manifest *Manifest
	table    *table
	options  Options
	chains   []*chain       // of the shard
	exists   bool           // the run is: its manifest was written or read
	stored   map[int][]File // parts, by chain, when the session began

	hasObjectives bool // a property counts

	begun          time.Time
	earlierSeconds float64 // seconds that earlier sessions took

	abandon        atomic.Bool // set when segments are to be given up
	deadlinePassed atomic.Bool // set when the time of a run whose draws are not known is over

	reached int          // iterations since warm-up that a chain had when the session began, while holding
	warmup  atomic.Int64 // iterations of a chain; while these are not known, the most
	length  atomic.Int64 // iterations of a chain, warm-up included; while holding, as is expected

	checked atomic.Pointer[stoppingCheck] // the last look at the figures, while holding

	mu            sync.Mutex
	waitingChains []*chain   // unfinished and with no worker
	busy          *BusyError // a chain that another process works on
	notes         []string
}

func newSession(ctx context.Context, spec *Spec, store Store, options Options) (*session, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if err := options.Shard.check(); err != nil {
		return nil, err
	}
	sampler, err := spec.Settings.Sampler(spec.Target)
	if err != nil {
		return nil, err
	}
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
		if spec.Target.HasBatchProperty() && len(spec.Ingredients) < manyIngredients {
			options.Workers = max(options.Workers, min(waitingReplicas*spec.Settings.Chains, sideBySide))
		}
	}
	own := *spec
	spec = &own // settings of draws and thin may come to be others
	s := &session{
		ctx: context.WithoutCancel(ctx), spec: spec, sampler: sampler, store: store,
		table: newTable(spec.properties(), spec.Conditions, spec.Ingredients), options: options, begun: time.Now(), hasObjectives: spec.hasObjectives(),
	}
	from, to := options.Shard.Chains(spec.Settings.Chains)
	for index := from; index < to; index++ {
		s.chains = append(s.chains, &chain{session: s, index: index, parts: -1})
	}
	s.manifest, err = newManifest(spec)
	if err != nil {
		return nil, err
	}
	s.warmup.Store(int64(spec.Settings.Warmup))
	s.length.Store(spec.Settings.Iterations())
	s.startFirstRound()
	return s, nil
}

// tryStarts draws the first states of some chains, so that an impossible run fails before anything
// is stored.
func (s *session) tryStarts(ctx context.Context) error {
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for _, c := range s.chains[:min(len(s.chains), sideBySide)] {
		g.Go(func() error {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
			return c.start()
		})
	}
	return g.Wait()
}

// lock locks a run in a directory for this process. A shard takes a shared lock, which keeps other
// processes from locking the whole run. In buckets, and where there are no locks, the second
// process fails when it stores a part that exists already.
func (s *session) lock() (unlock func(), err error) {
	unlock = func() {}
	d, ok := s.store.(*directory)
	if !ok {
		return unlock, nil
	}
	if err := d.dir.MakeDir(lockName); err != nil {
		return unlock, fmt.Errorf("making a directory for the run: %w; name another place", err)
	}
	// A process that only checks whether the run is busy holds the lock for an instant.
	l, err := d.dir.Lock(lockName, s.options.Shard.Count > 0, lockPatience)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return unlock, nil
	case err != nil:
		return unlock, err
	case l == nil:
		return unlock, &BusyError{Dir: s.store.Location(), Chain: -1}
	}
	if s.options.Shard.Count == 0 {
		if err := d.clean(); err != nil {
			return unlock, errors.Join(s.storageError(err), l.Close())
		}
	}
	return func() { l.Close() }, nil // nothing can be done about a lock that stays
}

const (
	lockName     = "state/lock"
	lockPatience = 300 * time.Millisecond
)

// lockHeld reports whether a process is working on the run in a store. known is false where that
// cannot be determined, as in buckets and where there are no locks.
func lockHeld(store Store) (held, known bool) {
	d, ok := store.(*directory)
	if !ok {
		return false, false
	}
	return d.dir.Locked(lockName)
}

// listStored records the stored parts.
func (s *session) listStored() (err error) {
	prefix := "draws/"
	if len(s.chains) == 1 {
		prefix = chainPrefix(s.chains[0].index)
	}
	s.stored, err = listParts(s.ctx, s.store, prefix)
	return err
}

// seconds returns the run's duration so far.
func (s *session) seconds() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.earlierSeconds + time.Since(s.begun).Seconds()
}

// note records a note for the user.
func (s *session) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// storageError turns errors of files, which come from the store, into a [StorageError].
func (s *session) storageError(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) || errors.As(err, &link) {
		return &StorageError{Dir: s.resumable(), Err: err}
	}
	return err
}

// resumable returns the location from which the run can be resumed, or "" if it cannot.
func (s *session) resumable() string {
	if _, gone := s.store.(*memory); gone || !s.exists {
		return ""
	}
	return s.store.Location()
}

// run works until all chains of the session are finished.
func (s *session) run(ctx context.Context) error {
	err := s.work(ctx)
	if err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, errAbandoned)) {
		return &InterruptedError{Dir: s.resumable(), Done: s.doneShare(), Err: ctx.Err()}
	}
	return s.storageError(err)
}

// work lets the workers make all draws.
func (s *session) work(ctx context.Context) error {
	work, cancel := context.WithCancel(ctx)
	defer cancel()
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

	watch := s.reportProgress()
	failures := s.runWorkers(work, cancel)
	var rounds error
	for s.isOpenEnded() && s.busy == nil && work.Err() == nil && rounds == nil {
		if rounds = s.startNextRound(); rounds == nil {
			failures = s.runWorkers(work, cancel)
		}
	}
	// Store the draws so far, however the work ended.
	var store errgroup.Group
	store.SetLimit(s.options.Workers)
	for _, c := range s.chains {
		if rounds == nil && c.walk != nil && c.begun != nil && !c.finished && !c.lost {
			store.Go(c.store)
		}
	}
	err := store.Wait()
	watch()
	// The error that stopped the others is more informative than theirs.
	for _, failure := range failures {
		if failure != nil {
			return failure
		}
	}
	if err = cmp.Or(rounds, err); err != nil || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	if s.busy != nil {
		return s.busy
	}
	return nil
}

// runWorkers runs the workers on all unfinished chains. A worker that fails calls cancel, which is
// to cancel ctx.
func (s *session) runWorkers(ctx context.Context, cancel func()) (failures []error) {
	s.waitingChains = nil
	for _, c := range s.chains {
		c.atEnd = false
		if !c.finished {
			s.waitingChains = append(s.waitingChains, c)
		}
	}
	failures = make([]error, min(s.options.Workers, len(s.chains)))
	var workers sync.WaitGroup
	for k := range failures {
		workers.Go(func() {
			if failures[k] = s.worker(ctx); failures[k] != nil {
				cancel()
			}
		})
	}
	workers.Wait()
	return failures
}

// worker repeatedly takes the chain that is furthest behind, until none is left.
func (s *session) worker(ctx context.Context) error {
	for {
		c := s.nextChain(ctx)
		if c == nil {
			return nil
		}
		err := c.runUntil(ctx, time.Now().Add(turnTime))
		if errors.Is(err, errAbandoned) {
			return nil // and its draws are stored
		}
		if busy := (*BusyError)(nil); errors.As(err, &busy) {
			// Leave the chain to the other process and continue with the rest.
			c.lost = true
			s.mu.Lock()
			s.busy = busy
			s.mu.Unlock()
			continue
		}
		if err != nil {
			c.lost = true
			return err
		}
		s.checkTime()
		if !c.finished && !c.atEnd {
			s.mu.Lock()
			s.waitingChains = append(s.waitingChains, c)
			s.mu.Unlock()
		}
	}
}

// nextChain returns the waiting chain with the fewest iterations, or nil if none waits or the
// ctx has ended. Other workers may still hold chains, but no more chains than there are such
// workers.
//
// A few chains run side by side so that R-hat is known early. With many chains or ingredients,
// memory matters more. Then nextChain returns the chain with the most iterations, so that few
// chains are begun and unfinished.
func (s *session) nextChain(ctx context.Context) *chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waitingChains) == 0 || ctx.Err() != nil || s.deadlinePassed.Load() {
		return nil
	}
	deep := len(s.chains) > sideBySide || len(s.spec.Ingredients) >= manyIngredients
	next := 0
	for k, c := range s.waitingChains {
		was, is := s.waitingChains[next].published.iterations.Load(), c.published.iterations.Load()
		if deep && is > was || !deep && is < was {
			next = k
		}
	}
	c := s.waitingChains[next]
	s.waitingChains = slices.Delete(s.waitingChains, next, next+1)
	return c
}

// doneShare returns the completed share of all iterations.
func (s *session) doneShare() float64 {
	sum := 0.0
	for _, c := range s.chains {
		sum += c.doneShare()
	}
	return sum / float64(max(1, len(s.chains)))
}

// doneShare returns the completed doneShare of the chain's iterations.
func (c *chain) doneShare() float64 {
	return min(1, float64(c.published.iterations.Load())/float64(c.session.length.Load()))
}

// damagedPart returns an error that names the damaged part and the remedy.
func damagedPart(store Store, name string, err error) error {
	return fmt.Errorf("%s: %w; remove it, and the parts of the chain after it, and kir resume makes them again", store.Path(name), err)
}
