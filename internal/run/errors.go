package run

import (
	"errors"
	"fmt"
	"strings"
)

// Quoted returns a location as one word of a shell, as commands are shown with.
func Quoted(location string) string {
	if !strings.ContainsAny(location, " \t\n?&;|<>()$*'\"`\\") {
		return location
	}
	return "'" + strings.ReplaceAll(location, "'", `'\''`) + "'"
}

// ErrComplete is returned by [Resume] when the run has all its draws.
var ErrComplete = errors.New("the run is complete: there is nothing to resume")

// ErrAutoShard is returned for a shard of a run of [mcmc.AutoDraws], which cannot know
// when the chains of the others are long enough.
var ErrAutoShard = errors.New("a shard cannot tell when the draws of all shards are enough")

// An ExistsError says that a run cannot be made in a directory because
// something of its name is there already. Nothing is ever overwritten.
type ExistsError struct{ Dir string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s exists already: name another directory, or go on with `kir resume %[1]s`", Quoted(e.Dir))
}

// A NotRunError says that a directory holds no run.
type NotRunError struct {
	Dir string
	Err error // what is missing or damaged
}

func (e *NotRunError) Error() string {
	return fmt.Sprintf("%s is not the directory of a run: %v", Quoted(e.Dir), e.Err)
}

func (e *NotRunError) Unwrap() error { return e.Err }

// A BusyError says that another process is working on the run.
type BusyError struct {
	Dir   string
	Chain int // that both worked on; −1 if it is not known
}

func (e *BusyError) Error() string {
	if e.Chain >= 0 {
		return fmt.Sprintf("another process is working on chain %d of %s, and is ahead: leave it to that one; nothing is lost", e.Chain, Quoted(e.Dir))
	}
	return fmt.Sprintf("another process is working on %s: wait until it ends", Quoted(e.Dir))
}

// A ChangedError says that what a run is to be resumed with is not what it was
// started with.
type ChangedError struct {
	Dir       string
	What      string // such as "the input recipes.csv"
	Was, Now  string
	WayToward string // what can be done
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s cannot be resumed: %s changed from %s to %s; %s", Quoted(e.Dir), e.What, e.Was, e.Now, e.WayToward)
}

// An InterruptedError says that a run was interrupted, and whether it can be resumed.
type InterruptedError struct {
	Dir  string  // empty: nothing was stored that could be
	Done float64 // share of the work done
	Way  string  // how to go on, if not with kir resume
	Err  error   // why: that of the context
}

func (e *InterruptedError) Error() string {
	way := e.Way
	switch {
	case way != "":
	case e.Dir == "":
		return "interrupted: nothing was stored"
	default:
		way = fmt.Sprintf("go on with `kir resume %s`", Quoted(e.Dir))
	}
	return fmt.Sprintf("interrupted with %.0f %% done: %s", 100*e.Done, way)
}

func (e *InterruptedError) Unwrap() error { return e.Err }

// A StorageError says that the run's files could not be written, as on a full
// disk. What is on disk can be resumed, once the run was begun.
type StorageError struct {
	Dir string // empty: the run was not begun
	Err error  // names the file
}

func (e *StorageError) Error() string {
	if e.Dir == "" {
		return fmt.Sprintf("the run could not be begun: %v", e.Err)
	}
	return fmt.Sprintf("the run stopped: %v; once that is put right, go on with `kir resume %s`", e.Err, Quoted(e.Dir))
}

func (e *StorageError) Unwrap() error { return e.Err }

// A StateError says that the file of a chain's state is damaged, where it is needed: for
// figures that its draws do not tell.
type StateError struct {
	Dir string
	Err error // which, and how
}

func (e *StateError) Error() string {
	return fmt.Sprintf("%v: the draws are whole, and `kir resume %s` makes it again", e.Err, Quoted(e.Dir))
}

func (e *StateError) Unwrap() error { return e.Err }

// An UnfinishedError says that a run has not been finished, and whether a process works
// on it.
type UnfinishedError struct {
	Dir    string
	Active bool
}

func (e *UnfinishedError) Error() string {
	if e.Active {
		return fmt.Sprintf("the run in %s is still going: `kir status %[1]s` says how far it is", Quoted(e.Dir))
	}
	return fmt.Sprintf("the run in %s is not finished: go on with `kir resume %[1]s`", Quoted(e.Dir))
}
