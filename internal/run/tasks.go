package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kir/internal/search"
	"kir/internal/terminal"
)

// A Task is a part of the work of a run that one process can do. Tasks of one list do not depend on
// each other. A task may be done at any time after it was listed, any number of times, and by
// several processes at once.
type Task struct {
	Name string   `json:"name"` // such as chain=0012/draws=100000; see [RunTask]
	Kind TaskKind `json:"kind"`
}

// A TaskKind says what a task makes.
type TaskKind string

// The kinds of tasks.
const (
	TaskChain    TaskKind = "chain"     // the draws of a chain, up to a length
	TaskFigures  TaskKind = "figures"   // what the search needs of all draws
	TaskSearch   TaskKind = "search"    // a step of the search for the best compositions
	TaskTradeOff TaskKind = "trade-off" // a step of the search for a trade-off
)

// Prepare makes a new run in a store, and leaves all its work to tasks. If the store holds the same
// run already, Prepare does nothing. A run whose processes share the work has no time limit.
func Prepare(ctx context.Context, spec *Spec, store Store, o Options) error {
	s, err := newSharedSession(ctx, spec, store, o)
	if err != nil {
		return err
	}
	if err := s.tryChainStarts(ctx); err != nil {
		return err
	}
	if d, ok := s.store.(*directoryStore); ok {
		if err := d.dir.MakeDir(lockFileName); err != nil {
			return fmt.Errorf("making a directory for the run: %w; name another place", err)
		}
	}
	return s.storageError(s.createOrJoin(true))
}

// newSharedSession returns a session of a run whose processes share the work. The time limit of a
// run of [mcmc.AutoDraws] is dropped: its result would depend on the speed of the machines.
func newSharedSession(ctx context.Context, spec *Spec, store Store, o Options) (*session, error) {
	own := *spec
	own.TimeLimit = 0
	s, err := newSession(ctx, &own, store, o)
	if err == nil {
		s.isPlanned = true
	}
	return s, err
}

// openSharedSession is [newSharedSession] for a run that is in the store.
func openSharedSession(ctx context.Context, spec *Spec, store Store, o Options) (*session, error) {
	s, err := newSharedSession(ctx, spec, store, o)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(s.ctx, s.store)
	if err != nil {
		return nil, err
	}
	if m.isDrawCountOpen() && m.Auto.Seconds > 0 {
		return nil, ErrTimeLimit
	}
	s.manifestExists = true
	s.adoptAutoSettings(m)
	return s, m.checkSameRun(store.Location(), s.manifest)
}

// Tasks returns the tasks that can be done now. If there are none, all work of the run is done but
// for what [Merge] does.
//
// A run of [mcmc.AutoDraws] has rounds; see Auto. When the chains have reached the end of a round,
// Tasks decides from the stored draws whether there is another. All processes come to the same
// decision. The last decision, the length of the run, is stored by the first process that takes it.
func Tasks(ctx context.Context, spec *Spec, store Store, o Options) ([]Task, error) {
	s, err := openSharedSession(ctx, spec, store, o)
	if err != nil {
		return nil, err
	}
	tasks, err := s.chainTasks(ctx)
	if err != nil || len(tasks) > 0 || s.spec.Question == nil {
		return tasks, s.storageError(err)
	}
	steps := s.steps("")
	switch _, err = s.searchInSteps(ctx, steps); {
	case errors.Is(err, search.ErrStepsMissing):
		return stepTasks(steps), nil
	case err != nil:
		return nil, s.storageError(err)
	}
	return nil, nil
}

// stepTasks returns the tasks of steps that are missing.
func stepTasks(steps *search.Steps) (tasks []Task) {
	for _, name := range steps.Missing() {
		kind := TaskSearch
		switch {
		case name == figuresStep:
			kind = TaskFigures
		case strings.HasPrefix(name, "trade-off"):
			kind = TaskTradeOff
		}
		tasks = append(tasks, Task{name, kind})
	}
	return tasks
}

// TradeOffTasks returns the tasks of the search for a trade-off. The function find must make this
// search by the given steps. The tasks depend on no others.
func TradeOffTasks(ctx context.Context, spec *Spec, store Store, find func(*search.Steps) error) ([]Task, error) {
	s, err := openSharedSession(ctx, spec, store, Options{})
	if err != nil {
		return nil, err
	}
	steps := s.steps("")
	if err := find(steps); !errors.Is(err, search.ErrStepsMissing) {
		return nil, err
	}
	return stepTasks(steps), nil
}

// StoredSteps returns the steps of a run's search for a trade-off, as tasks have stored them. Steps
// that are missing are computed.
func StoredSteps(ctx context.Context, spec *Spec, store Store) (*search.Steps, error) {
	s, err := openSharedSession(ctx, spec, store, Options{})
	if err != nil {
		return nil, err
	}
	steps := s.steps("")
	steps.All = true
	return steps, nil
}

// RunTask does the task of the given name. It does nothing if the task is done. Only tasks that
// [Tasks] has listed may be done. The function findTradeOff makes the search for a trade-off by the
// given steps.
func RunTask(ctx context.Context, spec *Spec, store Store, o Options, name string, findTradeOff func(*search.Steps) error) error {
	if strings.HasPrefix(name, "chain=") {
		chain, length, isWarmup, err := parseChainTask(name)
		if err == nil && chain >= spec.Settings.Chains {
			err = fmt.Errorf("the run has %d chains", spec.Settings.Chains)
		}
		if err != nil {
			return &TaskError{store.Location(), name, err}
		}
		o.Shard, o.isTask = Shard{chain + 1, spec.Settings.Chains}, true
		err = runRound(ctx, spec, store, o, length, isWarmup)
		if errors.As(err, new(*BusyError)) {
			return nil // another process does the same task, and is ahead
		}
		if errors.Is(err, errNotListed) {
			return &TaskError{store.Location(), name, err}
		}
		return err
	}
	if !isStepName(name) {
		return &TaskError{store.Location(), name, errNotListed}
	}
	s, err := openSharedSession(ctx, spec, store, o)
	if err != nil {
		return err
	}
	steps := s.steps(name)
	if strings.HasPrefix(name, "trade-off") {
		err = findTradeOff(steps)
	} else {
		if s.spec.Question == nil {
			return &TaskError{store.Location(), name, errors.New("the run has no search")}
		}
		var status *Status
		if status, err = readStatus(s.ctx, s.store, s.manifest); err == nil && !status.Complete() {
			return &TaskError{store.Location(), name, errors.New("the draws come first")}
		}
		if err == nil {
			_, err = s.searchInSteps(ctx, steps)
		}
	}
	if err != nil && !errors.Is(err, search.ErrStepsMissing) {
		if ctx.Err() != nil {
			return &InterruptedError{Dir: store.Location(), HowToContinue: "go on with the same command", Err: ctx.Err()}
		}
		return s.storageError(err)
	}
	if _, err := (stepFiles{s}).LoadStep(s.ctx, name); err != nil {
		return &TaskError{store.Location(), name, errNotListed}
	}
	return nil
}

// chainTask returns the name of the task that brings a chain to a length. In a run that has not
// determined its number of draws, the length is a number of iterations: in the warm-up, or after it.
func chainTask(chain int, unit string, length int) Task {
	return Task{fmt.Sprintf("chain=%04d/%s=%d", chain, unit, length), TaskChain}
}

// Units of the length in the name of a chain's task.
const (
	unitWarmup     = "warmup"
	unitIterations = "steps"
	unitDraws      = "draws"
)

// parseChainTask parses the name of a chain's task. The length is −1 for a number of draws, which
// the run's settings have.
func parseChainTask(name string) (chain, length int, isWarmup bool, err error) {
	first, second, ok := strings.Cut(name, "/")
	unit, number, ok2 := strings.Cut(second, "=")
	chain, err = strconv.Atoi(strings.TrimPrefix(first, "chain="))
	length, err2 := strconv.Atoi(number)
	if !ok || !ok2 || err != nil || err2 != nil || chain < 0 || length < 1 || chainTask(chain, unit, length).Name != name {
		return 0, 0, false, errors.New("there is no such task")
	}
	switch unit {
	case unitDraws:
		return chain, -1, false, nil
	case unitWarmup, unitIterations:
		return chain, length, unit == unitWarmup, nil
	}
	return 0, 0, false, errors.New("there is no such task")
}

// chainTasks returns the tasks of the chains that are not at the end of the current round or, if the
// number of draws is determined, not at the end of the run.
func (s *session) chainTasks(ctx context.Context) (tasks []Task, err error) {
	var states []*state
	if s.isDrawCountOpen() {
		if states, _, err = loadStates(s.ctx, s.store, s.manifest); err != nil {
			return nil, err
		}
		s.resumeRoundFrom(states)
	}
	for s.isDrawCountOpen() {
		isWarmup := s.isWarmupLengthOpen()
		length, unit := s.roundIterations(), unitIterations
		if isWarmup {
			length, unit = s.spec.Settings.Warmup, unitWarmup
		}
		for index, from := range states {
			if from == nil || !from.hasReached(length, isWarmup) {
				tasks = append(tasks, chainTask(index, unit, length))
			}
		}
		if len(tasks) > 0 {
			return tasks, nil
		}
		if err := s.decideRound(ctx, states); err != nil {
			return nil, err
		}
	}
	status, err := readStatus(s.ctx, s.store, s.manifest)
	if err != nil {
		return nil, err
	}
	return status.tasksUpTo(s.manifest.Settings.Draws), nil
}

// tasksUpTo returns the tasks of the chains that lack draws, or whose state is damaged.
func (s *Status) tasksUpTo(draws int) (tasks []Task) {
	for index := range s.Chains {
		if c := &s.Chains[index]; !c.Done || !c.hasState || c.Bytes != c.expectedBytes {
			tasks = append(tasks, chainTask(index, unitDraws, draws))
		}
	}
	return tasks
}

// ChainTasks returns the tasks of chains that can be done now, as [Tasks] does. It needs no problem, but
// it knows only those of a run with a number of draws.
func (r *Run) ChainTasks() ([]Task, error) {
	if r.Manifest.isDrawCountOpen() {
		return nil, nil
	}
	status, err := r.status()
	if err != nil {
		return nil, err
	}
	return status.tasksUpTo(r.Manifest.Settings.Draws), nil
}

// hasReached reports whether the chain of a state has made so many iterations of the warm-up, or
// after it.
func (s *state) hasReached(iterations int, isWarmup bool) bool {
	if isWarmup {
		return s.Warm >= iterations || s.At > 0
	}
	return s.Thin == 0 || s.At*s.Thin >= iterations
}

// decideRound restores all chains from the stored states, which have reached the end of a round, and
// starts the next round or determines the number of draws.
func (s *session) decideRound(ctx context.Context, states []*state) error {
	for k, c := range s.chains {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.partCount = 0
		from := *states[k]
		if err := c.restore(&from); err != nil {
			return fmt.Errorf("%s: %w: %w", stateName(k), ErrDamaged, err)
		}
	}
	err := s.startNextRound()
	for _, c := range s.chains {
		c.markovChain, c.buffered, c.segmentStart, c.segmentState = nil, nil, nil, state{}
	}
	return err
}

// runRound runs the chains of a shard up to a length: a number of iterations in the warm-up, or after
// it, of a run that has not determined its number of draws. A length of −1, and any length after the
// number is determined, is the end of the run. Chains that are there already are left alone.
func runRound(ctx context.Context, spec *Spec, store Store, o Options, length int, isWarmup bool) error {
	s, err := openSharedSession(ctx, spec, store, o)
	if err != nil {
		return err
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.listStoredParts(); err != nil {
		return s.storageError(err)
	}
	if s.isDrawCountOpen() {
		switch isOpen := s.isWarmupLengthOpen(); {
		case length < 0 || !s.isRoundLength(length, isWarmup) || isOpen && !isWarmup:
			return errNotListed
		case isWarmup && !isOpen:
			return nil // the warm-up has ended
		case isWarmup:
			s.startWarmupRound(length)
		default:
			s.startDrawRound(length)
		}
		var left []*chain
		for _, c := range s.chains {
			from, err := loadState(s.ctx, s.store, s.manifest, c.index)
			if err == nil && from.hasReached(length, isWarmup) {
				continue
			}
			if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
				return s.storageError(err)
			}
			left = append(left, c)
		}
		s.chains = left
	}
	if len(s.chains) == 0 {
		return nil
	}
	err = s.runChains(ctx)
	var interrupted *InterruptedError
	if errors.As(err, &interrupted) {
		interrupted.HowToContinue = "go on with the same command"
	}
	return err
}

// isRoundLength reports whether a round of a run of [mcmc.AutoDraws] can end at so many iterations.
func (s *session) isRoundLength(iterations int, isWarmup bool) bool {
	first, last := firstRoundIterations, s.lastRoundIterations()
	if isWarmup {
		first, last = firstWarmupIterations, s.manifest.Auto.MaxWarmupIterations
	}
	return iterations == last || iterations >= first && iterations < last && iterations%first == 0 && (iterations/first)&(iterations/first-1) == 0
}

// runAutoShard makes the draws of one shard of a run of [mcmc.AutoDraws]. At the end of each round it
// waits until the chains of the other shards have reached it.
func runAutoShard(ctx context.Context, spec *Spec, store Store, o Options) error {
	from, to := o.Shard.Chains(spec.Settings.Chains)
	whole := o
	whole.Shard = Shard{}
	wait := minRoundWait
	for {
		s, err := openSharedSession(ctx, spec, store, whole)
		if err != nil {
			return err
		}
		tasks, err := s.chainTasks(ctx)
		if err != nil {
			return s.storageError(err)
		}
		length, isWarmup, own := 0, false, false
		for _, t := range tasks {
			chain, l, warmup, err := parseChainTask(t.Name)
			if err != nil {
				return err
			}
			if from <= chain && chain < to {
				length, isWarmup, own = l, warmup, true
			}
		}
		switch {
		case own:
			if err := runRound(ctx, spec, store, o, length, isWarmup); err != nil {
				return err
			}
			wait = minRoundWait
			continue
		case !s.isDrawCountOpen():
			return nil
		}
		select {
		case <-ctx.Done():
			return &InterruptedError{Dir: store.Location(), DoneShare: math.NaN(), HowToContinue: "go on with the same command", Err: ctx.Err()}
		case <-time.After(wait):
			wait = min(2*wait, maxRoundWait)
		}
	}
}

// A shard that has finished a round looks after these times whether the other shards have.
const (
	minRoundWait = 250 * time.Millisecond
	maxRoundWait = 10 * time.Second
)

// fixedLengthName is the name of the file with the manifest of a run of [mcmc.AutoDraws] that has
// determined its number of draws. A process that is late may overwrite the manifest with an older
// one, but not this file.
const fixedLengthName = "state/length.json"

// storeFixedLength stores the manifest of a run that has determined its number of draws.
func (s *session) storeFixedLength() error {
	data, err := s.manifest.encode()
	if err != nil {
		return err
	}
	if err := s.store.Create(s.ctx, fixedLengthName, data); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// steps returns the steps of the searches of the run. The parameter only names the one step to
// compute, if any.
func (s *session) steps(only string) *search.Steps {
	return &search.Steps{Store: stepFiles{s}, Only: only}
}

// searchInSteps searches for the best compositions by steps, after the draws of all chains are
// stored.
func (s *session) searchInSteps(ctx context.Context, steps *search.Steps) (*search.Answer, error) {
	b, err := search.RunStep(ctx, steps, figuresStep, s.spec.Target.Space().N(), func(ctx context.Context) (*search.RunFigures, error) {
		r, err := computeFigures(ctx, s.spec, s.store, s.manifest, s.options.Workers)
		if err != nil {
			return nil, err
		}
		return s.runFigures(r)
	})
	if err != nil {
		return nil, err
	}
	return s.spec.Question.Answer(ctx, search.RunContext{Iterations: b.Iterations, Found: b.Found, Seed: s.spec.Settings.Seed, Workers: s.options.Workers, Steps: steps})
}

// figuresStep is the name of the step that computes what the search needs of the draws.
const figuresStep = "figures"

// stepFiles stores the results of steps as files of a run.
type stepFiles struct{ session *session }

// fileName returns the name of the file of a step. The steps of a search depend on the draws and on
// the effort, so their files lie in a directory whose name identifies these.
func (f stepFiles) fileName(name string) string {
	m := f.session.manifest
	settings, effort := m.Settings, 0.0
	if strings.HasPrefix(name, "trade-off") {
		settings.Draws, settings.Thin, settings.Warmup = 0, 0, 0 // it does not depend on the draws
	}
	if q := f.session.spec.Question; q != nil {
		effort = q.Effort
	}
	key := hexSHA256(fmt.Appendf(nil, "%s %d %d %d %v", m.Run, settings.Draws, settings.Thin, settings.Warmup, effort))
	return "steps/" + key[:16] + "/" + name + ".kir"
}

// LoadStep returns the result of a step.
func (f stepFiles) LoadStep(ctx context.Context, name string) ([]byte, error) {
	file := f.fileName(name)
	data, err := ReadWhole(ctx, f.session.store, file, maxStateBytes)
	if err != nil {
		return nil, err
	}
	if data, err = openSealed(stepHeader, data); err == nil {
		data, err = inflate(data, maxStepBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w; remove it, and it is made again", f.session.store.Path(file), ErrDamaged, err)
	}
	return data, nil
}

// SaveStep stores the result of a step, unless it is there.
func (f stepFiles) SaveStep(ctx context.Context, name string, result []byte) error {
	if len(result) > maxStepBytes {
		return fmt.Errorf("the step %s found more than %d bytes, which is too much to share: make the search with kir merge alone", name, maxStepBytes)
	}
	data, err := sealBinary(stepHeader, result)
	if err != nil {
		return err
	}
	if err := f.session.store.Create(context.WithoutCancel(ctx), f.fileName(name), data); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// maxStepBytes is the largest uncompressed size of the result of a step. A composition takes a byte
// at least, and 56 in memory.
const maxStepBytes = 16 << 20

// stepHeader is the first line of the file of a step.
const stepHeader = "kir step 1\n"

// isStepName reports whether a name can be that of a step, and so the name of a file.
func isStepName(name string) bool {
	return name != "" && !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789=-") != ""
	})
}

// errNotListed is the error of a task that [Tasks] has not listed.
var errNotListed = errors.New("it is no task of the run, or others come first")

// A TaskError is returned for a task that a run does not have, or not yet.
type TaskError struct {
	Dir  string
	Task string
	Err  error
}

func (e *TaskError) Error() string {
	return fmt.Sprintf("the task %q of %s cannot be done: %v; `kir tasks %[2]s` lists what is left to do", e.Task, terminal.ShellWord(e.Dir), e.Err)
}

func (e *TaskError) Unwrap() error { return e.Err }
