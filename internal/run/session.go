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
	// workerTurnTime is the time that a worker goroutine runs one chain. Afterwards the worker
	// takes the waiting chain that has made the fewest iterations.
	workerTurnTime = 100 * time.Millisecond
	// interruptGraceTime is the time that chains have, after a run is interrupted, to reach the end
	// of their current segment. Then the draws made until then are stored, and a chain within a
	// segment repeats the segment when the run is resumed.
	interruptGraceTime = 2 * time.Second
	// maxConcurrentChains is the largest number of chains of a session that are advanced in turn,
	// so that all have about as many iterations. If a session has more chains, it finishes one
	// after another. The number also limits how many chains are started before anything is stored,
	// as a check.
	maxConcurrentChains = 64
	// sequentialChainsIngredients is the number of ingredients from which a session finishes one
	// chain after another, to save memory.
	sequentialChainsIngredients = 100_000
	// maxWaitingReplicas is the largest number of replicas of a tempered chain that wait for an
	// external program at once. All chains together have at most maxConcurrentChains waiting
	// replicas.
	maxWaitingReplicas = 16
)

// Options control how a run is executed. The results of a run do not depend on its options.
type Options struct {
	// Workers is the number of chains that run at once. The value 0 stands for the number of
	// processor cores. If external programs score properties, 0 stands for the number of all chains
	// and replicas of tempered chains, at most 64.
	Workers int
	// Interval is the longest time after which a chain stores its new draws; 0 stands for 20
	// seconds.
	Interval time.Duration
	// Progress, if not nil, receives the progress of the run a few times a second, and once at the
	// end of the run. Calls do not overlap.
	Progress func(Progress)
	// Shard selects the chains to run.
	Shard Shard

	isTask bool // whether the chain is run as a task; see [RunTask]
}

// defaultStoreInterval is the longest time after which a chain stores its new draws if [Options]
// sets no interval.
const defaultStoreInterval = 20 * time.Second

// storeInterval returns the longest time after which a chain stores its new draws.
func (o *Options) storeInterval() time.Duration {
	if o.Interval > 0 {
		return o.Interval
	}
	return defaultStoreInterval
}

// session is the work of one process on a run or on one shard of a run, from its start to its end.
type session struct {
	ctx                context.Context // context of storage operations; it is never cancelled, so that every file that is begun is completed
	spec               *Spec
	sampler            mcmc.Sampler
	store              Store
	manifest           *Manifest
	layout             *partLayout
	options            Options
	chains             []*chain       // chains of the run or, for a shard, of the shard
	manifestExists     bool           // whether the manifest is known to be in the store
	storedPartsByChain map[int][]File // maps the number of a chain to the chain's files of draws when the session began

	hasObjectives bool // whether a property has a positive weight

	startTime      time.Time
	earlierSeconds float64 // seconds that earlier sessions of the run took

	// isPlanned tells that several processes share a run of mcmc.AutoDraws, in rounds; see [Tasks].
	// The session then ends with the round.
	isPlanned bool

	abandonSegments atomic.Bool // set when chains must stop within their segments
	deadlinePassed  atomic.Bool // set when the time limit of a run is over that has not determined its number of draws yet

	resumedIterations  int          // largest number of iterations since warm-up that a chain had when the session began; 0 if the number of draws is fixed
	warmupIterations   atomic.Int64 // number of warm-up iterations of each chain; the largest possible number while it is not determined
	expectedIterations atomic.Int64 // number of iterations of each chain, warm-up included; an estimate while it is not determined

	lastStoppingCheck atomic.Pointer[stoppingCheck] // result of the last [session.checkStopping]; nil before the first check

	mu            sync.Mutex
	waitingChains []*chain   // unfinished chains that no worker is running
	busyError     *BusyError // error of a chain that another process works on; nil if there is none
	notes         []string   // messages about the run for the user
}

func newSession(ctx context.Context, spec *Spec, store Store, options Options) (*session, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if err := options.Shard.check(); err != nil {
		return nil, err
	}
	sampler, err := spec.sampler()
	if err != nil {
		return nil, err
	}
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
		if spec.Target.HasBatchProperty() && len(spec.Ingredients) < sequentialChainsIngredients {
			options.Workers = max(options.Workers, min(maxWaitingReplicas*spec.Settings.Chains, maxConcurrentChains))
		}
	}
	own := *spec
	spec = &own // settings of draws and thin may come to be others
	s := &session{
		ctx: context.WithoutCancel(ctx), spec: spec, sampler: sampler, store: store,
		layout: newPartLayout(spec.propertyNames(), spec.Conditions, spec.Ingredients), options: options, startTime: time.Now(), hasObjectives: spec.hasObjectives(),
	}
	from, to := options.Shard.Chains(spec.Settings.Chains)
	for index := from; index < to; index++ {
		s.chains = append(s.chains, &chain{session: s, index: index, partCount: -1})
	}
	s.manifest, err = newManifest(spec)
	if err != nil {
		return nil, err
	}
	s.warmupIterations.Store(int64(spec.Settings.Warmup))
	s.expectedIterations.Store(spec.Settings.Iterations())
	s.startFirstRound()
	return s, nil
}

// tryChainStarts draws the first state of each chain of the session, or of the first
// maxConcurrentChains chains. If that is impossible, the run fails before anything is stored.
func (s *session) tryChainStarts(ctx context.Context) error {
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for _, c := range s.chains[:min(len(s.chains), maxConcurrentChains)] {
		g.Go(func() error {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
			return c.drawFirstState()
		})
	}
	return g.Wait()
}

// lock locks a run in a directory for this process. Processes that work on different shards share
// the lock; it then only excludes processes that work on the whole run. In buckets and on file
// systems without locks, lock does nothing. There, if two processes work on one chain, the second
// fails when it stores a file of draws that exists already.
func (s *session) lock() (unlock func(), err error) {
	unlock = func() {}
	d, ok := s.store.(*directoryStore)
	if !ok {
		return unlock, nil
	}
	if err := d.dir.MakeDir(lockFileName); err != nil {
		return unlock, fmt.Errorf("making a directory for the run: %w; name another place", err)
	}
	// A process that only checks whether the run is busy holds the lock for an instant.
	l, err := d.dir.Lock(lockFileName, s.options.Shard.Count > 0, maxLockWait)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return unlock, nil
	case err != nil:
		return unlock, err
	case l == nil:
		return unlock, &BusyError{Dir: s.store.Location(), Chain: -1}
	}
	if s.options.Shard.Count == 0 {
		if err := d.removeUnfinished(); err != nil {
			return unlock, errors.Join(s.storageError(err), l.Close())
		}
	}
	return func() { l.Close() }, nil // nothing can be done about a lock that stays
}

const (
	lockFileName = "state/lock"
	maxLockWait  = 300 * time.Millisecond
)

// lockHeld reports whether a process holds the lock on the run in a store. The result known is
// false if lockHeld cannot tell: in a bucket, in memory, and on a file system without locks.
func lockHeld(store Store) (held, known bool) {
	d, ok := store.(*directoryStore)
	if !ok {
		return false, false
	}
	return d.dir.Locked(lockFileName)
}

// listStoredParts sets s.storedPartsByChain, the list of stored files of draws.
func (s *session) listStoredParts() (err error) {
	prefix := "draws/"
	if len(s.chains) == 1 {
		prefix = chainPrefix(s.chains[0].index)
	}
	s.storedPartsByChain, err = listParts(s.ctx, s.store, prefix)
	return err
}

// elapsedSeconds returns the time in seconds that this session and all earlier sessions of the run
// have taken.
func (s *session) elapsedSeconds() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.earlierSeconds + time.Since(s.startTime).Seconds()
}

// addNote adds a note for the user to the notes of the session.
func (s *session) addNote(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// storageError wraps an error of a file operation in a [StorageError]. It returns other errors
// unchanged.
func (s *session) storageError(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) || errors.As(err, &link) {
		return &StorageError{Dir: s.resumeLocation(), Err: err}
	}
	return err
}

// resumeLocation returns the location from which the run can be resumed, or "" if the run cannot be
// resumed.
func (s *session) resumeLocation() string {
	if _, gone := s.store.(*memoryStore); gone || !s.manifestExists {
		return ""
	}
	return s.store.Location()
}

// runChains runs all chains of the session to their end. If ctx ends before, it returns an
// [InterruptedError].
func (s *session) runChains(ctx context.Context) error {
	err := s.makeAllDraws(ctx)
	if err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, errAbandoned)) {
		return &InterruptedError{Dir: s.resumeLocation(), DoneShare: s.doneShare(), Err: ctx.Err()}
	}
	return s.storageError(err)
}

// makeAllDraws runs the workers until all chains of the session have made and stored their draws,
// or until an error occurs or ctx ends.
func (s *session) makeAllDraws(ctx context.Context) error {
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	forget := context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(interruptGraceTime):
			s.abandonSegments.Store(true)
		}
	})
	defer forget() // or ctx would keep the session

	watch := s.reportProgress()
	failures := s.runWorkers(work, cancel)
	var rounds error
	for s.isDrawCountOpen() && !s.isPlanned && s.busyError == nil && work.Err() == nil && rounds == nil {
		if rounds = s.startNextRound(); rounds == nil {
			failures = s.runWorkers(work, cancel)
		}
	}
	// Store the draws so far, however the work ended.
	var store errgroup.Group
	store.SetLimit(s.options.Workers)
	for _, c := range s.chains {
		if rounds == nil && c.markovChain != nil && c.segmentStart != nil && !c.finished && !c.failed {
			store.Go(c.storeProgress)
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
	if s.busyError != nil {
		return s.busyError
	}
	return nil
}

// runWorkers runs the worker goroutines until no unfinished chain is left to run. Item k of the
// result is the error of worker k. A worker that fails calls cancel, which must cancel ctx.
func (s *session) runWorkers(ctx context.Context, cancel func()) (failures []error) {
	s.waitingChains = nil
	for _, c := range s.chains {
		c.roundFinished = false
		if !c.finished {
			s.waitingChains = append(s.waitingChains, c)
		}
	}
	failures = make([]error, min(s.options.Workers, len(s.chains)))
	var workers sync.WaitGroup
	for k := range failures {
		workers.Go(func() {
			if failures[k] = s.runWorker(ctx); failures[k] != nil {
				cancel()
			}
		})
	}
	workers.Wait()
	return failures
}

// runWorker runs waiting chains, each for a short time, until no chain waits.
func (s *session) runWorker(ctx context.Context) error {
	for {
		c := s.takeNextChain(ctx)
		if c == nil {
			return nil
		}
		err := c.runUntil(ctx, time.Now().Add(workerTurnTime))
		if errors.Is(err, errAbandoned) {
			return nil // and its draws are stored
		}
		if busy := (*BusyError)(nil); errors.As(err, &busy) {
			// Leave the chain to the other process and continue with the rest.
			c.failed = true
			s.mu.Lock()
			s.busyError = busy
			s.mu.Unlock()
			continue
		}
		if err != nil {
			c.failed = true
			return err
		}
		s.checkTimeLimit()
		if !c.finished && !c.roundFinished {
			s.mu.Lock()
			s.waitingChains = append(s.waitingChains, c)
			s.mu.Unlock()
		}
	}
}

// takeNextChain takes a chain from the list of waiting chains. It returns nil if no chain waits or
// ctx has ended.
//
// Usually takeNextChain takes the chain with the fewest iterations, so that all chains advance at
// the same pace and R-hat is known early. With many chains or ingredients, memory matters more.
// Then takeNextChain takes the chain with the most iterations, so that few chains are begun and
// unfinished.
func (s *session) takeNextChain(ctx context.Context) *chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waitingChains) == 0 || ctx.Err() != nil || s.deadlinePassed.Load() {
		return nil
	}
	deep := len(s.chains) > maxConcurrentChains || len(s.spec.Ingredients) >= sequentialChainsIngredients
	next := 0
	for k, c := range s.waitingChains {
		was, is := s.waitingChains[next].publishedCounts.iterations.Load(), c.publishedCounts.iterations.Load()
		if deep && is > was || !deep && is < was {
			next = k
		}
	}
	c := s.waitingChains[next]
	s.waitingChains = slices.Delete(s.waitingChains, next, next+1)
	return c
}

// doneShare returns the share of the iterations of all chains that are made, in 0..1.
func (s *session) doneShare() float64 {
	sum := 0.0
	for _, c := range s.chains {
		sum += c.doneShare()
	}
	return sum / float64(max(1, len(s.chains)))
}

// doneShare returns the share of the chain's iterations that are made, in 0..1.
func (c *chain) doneShare() float64 {
	return min(1, float64(c.publishedCounts.iterations.Load())/float64(c.session.expectedIterations.Load()))
}

// newDamagedPartError returns an error that names a damaged file of draws and says what to do.
func newDamagedPartError(store Store, name string, err error) error {
	return fmt.Errorf("%s: %w; remove it, and the parts of the chain after it, and kir resume makes them again", store.Path(name), err)
}
