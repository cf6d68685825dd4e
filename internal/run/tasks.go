package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	goals, err := s.chainGoals(ctx)
	if err != nil || len(goals) > 0 || s.spec.Question == nil {
		return chainTasksOf(goals), s.storageError(err)
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
		goal, err := parseChainGoal(name)
		if err == nil && goal.chain >= spec.Settings.Chains {
			err = fmt.Errorf("the run has %d chains", spec.Settings.Chains)
		}
		if err != nil {
			return &TaskError{store.Location(), name, err}
		}
		o.Shard, o.isTask = Shard{goal.chain + 1, spec.Settings.Chains}, true
		err = runRound(ctx, spec, store, o, goal)
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
		_, err = s.searchInSteps(ctx, steps)
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
