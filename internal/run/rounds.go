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
)

// A chainGoal is a length to which a task brings a chain.
type chainGoal struct {
	chain  int
	unit   lengthUnit
	length int
}

// A lengthUnit is the unit of a [chainGoal]. A run that has not determined its number of draws counts
// iterations: in the warm-up, or after it.
type lengthUnit string

// The units of a goal, as they stand in the names of tasks.
const (
	unitWarmup     lengthUnit = "warmup"
	unitIterations lengthUnit = "steps"
	unitDraws      lengthUnit = "draws"
)

func (g chainGoal) task() Task {
	return Task{fmt.Sprintf("chain=%04d/%s=%d", g.chain, g.unit, g.length), TaskChain}
}

// chainTasksOf returns the tasks with the given goals.
func chainTasksOf(goals []chainGoal) (tasks []Task) {
	for _, g := range goals {
		tasks = append(tasks, g.task())
	}
	return tasks
}

// parseChainGoal parses the name of a chain's task.
func parseChainGoal(name string) (g chainGoal, err error) {
	first, second, _ := strings.Cut(name, "/")
	unit, number, _ := strings.Cut(second, "=")
	chain, err := strconv.Atoi(strings.TrimPrefix(first, "chain="))
	length, err2 := strconv.Atoi(number)
	g = chainGoal{chain, lengthUnit(unit), length}
	isUnit := g.unit == unitWarmup || g.unit == unitIterations || g.unit == unitDraws
	if err != nil || err2 != nil || !isUnit || chain < 0 || length < 1 || g.task().Name != name {
		return chainGoal{}, errors.New("there is no such task")
	}
	return g, nil
}

// chainGoals returns the goals of the chains that are not at the end of the current round or, if the
// number of draws is determined, not at the end of the run.
func (s *session) chainGoals(ctx context.Context) (goals []chainGoal, err error) {
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
				goals = append(goals, chainGoal{index, unit, length})
			}
		}
		if len(goals) > 0 {
			return goals, nil
		}
		if err := s.decideRound(ctx, states); err != nil {
			return nil, err
		}
	}
	status, err := readStatus(s.ctx, s.store, s.manifest)
	if err != nil {
		return nil, err
	}
	return status.goalsUpTo(s.manifest.Settings.Draws), nil
}

// goalsUpTo returns the goals of the chains that lack draws, or whose state is damaged.
func (s *Status) goalsUpTo(draws int) (goals []chainGoal) {
	for index := range s.Chains {
		if c := &s.Chains[index]; !c.Done || !c.hasState || c.Bytes != c.expectedBytes {
			goals = append(goals, chainGoal{index, unitDraws, draws})
		}
	}
	return goals
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
	return chainTasksOf(status.goalsUpTo(r.Manifest.Settings.Draws)), nil
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

// runRound runs the chains of a shard up to the length of a goal. If the run has determined its number
// of draws, this is the end of the run. Chains that are there already are left alone.
func runRound(ctx context.Context, spec *Spec, store Store, o Options, goal chainGoal) error {
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
		length, isWarmup := goal.length, goal.unit == unitWarmup
		switch isOpen := s.isWarmupLengthOpen(); {
		case goal.unit == unitDraws || !s.isRoundLength(length, isWarmup) || isOpen && !isWarmup:
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
		goals, err := s.chainGoals(ctx)
		if err != nil {
			return s.storageError(err)
		}
		own := slices.IndexFunc(goals, func(g chainGoal) bool { return from <= g.chain && g.chain < to })
		switch {
		case own >= 0: // all goals of a round have one length
			if err := runRound(ctx, spec, store, o, goals[own]); err != nil {
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
