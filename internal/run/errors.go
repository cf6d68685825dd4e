package run

import (
	"errors"
	"fmt"

	"kir/internal/terminal"
)

// ErrComplete is returned by [Resume] when the run has all its draws.
var ErrComplete = errors.New("the run is complete: there is nothing to resume")

// ErrTimeLimit is returned where processes are to share a run that has a time limit. The result of such
// a run depends on the speed of the machine.
var ErrTimeLimit = errors.New("processes cannot share a run with a time limit")

// An ExistsError is returned when a new run is to be made in a directory that exists and is not
// empty. A new run never overwrites anything.
type ExistsError struct{ Dir string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s exists already: name another directory, or go on with `kir resume %[1]s`", terminal.ShellWord(e.Dir))
}

// A NotRunError is returned for a directory that holds no run.
type NotRunError struct {
	Dir string
	Err error // error that tells what is missing or damaged
}

func (e *NotRunError) Error() string {
	return fmt.Sprintf("%s is not the directory of a run: %v", terminal.ShellWord(e.Dir), e.Err)
}

func (e *NotRunError) Unwrap() error { return e.Err }

// A BusyError is returned if another process is working on the run.
type BusyError struct {
	Dir   string
	Chain int // chain that both processes worked on; −1 if it is not known
}

func (e *BusyError) Error() string {
	if e.Chain >= 0 {
		return fmt.Sprintf("another process is working on chain %d of %s, and is ahead: leave it to that one; nothing is lost", e.Chain, terminal.ShellWord(e.Dir))
	}
	return fmt.Sprintf("another process is working on %s: wait until it ends", terminal.ShellWord(e.Dir))
}

// A ChangedError is returned if the spec for resuming a run differs from the spec at the start of
// the run.
type ChangedError struct {
	Dir    string
	What   string // what has changed, such as "the input recipes.csv"
	Was    string // description of What at the start of the run
	Now    string // description of What now
	Advice string // advice on how to proceed
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s cannot be resumed: %s changed from %s to %s; %s", terminal.ShellWord(e.Dir), e.What, e.Was, e.Now, e.Advice)
}

// An InterruptedError is returned for an interrupted run, and tells how to continue the run.
type InterruptedError struct {
	Dir           string  // location to resume the run from; empty if nothing was stored
	DoneShare     float64 // share of the work done, from 0 to 1
	HowToContinue string  // how to continue, if not with the command kir resume
	Err           error   // error of the context that was cancelled
}

func (e *InterruptedError) Error() string {
	way := e.HowToContinue
	switch {
	case way != "":
	case e.Dir == "":
		return "interrupted: nothing was stored"
	default:
		way = fmt.Sprintf("go on with `kir resume %s`", terminal.ShellWord(e.Dir))
	}
	return fmt.Sprintf("interrupted with %.0f %% done: %s", 100*e.DoneShare, way)
}

func (e *InterruptedError) Unwrap() error { return e.Err }

// A StorageError is returned if the run's files could not be written, as on a full disk. If the run
// had begun, it can be resumed from the files on disk.
type StorageError struct {
	Dir string // location to resume the run from; empty if the run was not begun
	Err error  // error that names the file
}

func (e *StorageError) Error() string {
	if e.Dir == "" {
		return fmt.Sprintf("the run could not be begun: %v", e.Err)
	}
	return fmt.Sprintf("the run stopped: %v; once that is put right, go on with `kir resume %s`", e.Err, terminal.ShellWord(e.Dir))
}

func (e *StorageError) Unwrap() error { return e.Err }

// A StateError is returned if a chain's state file is damaged. The results of a run need the state
// file for counts that the draws do not contain.
type StateError struct {
	Dir string
	Err error // error that names the file and the damage
}

func (e *StateError) Error() string {
	return fmt.Sprintf("%v: the draws are whole, and `kir resume %s` makes it again", e.Err, terminal.ShellWord(e.Dir))
}

func (e *StateError) Unwrap() error { return e.Err }

// An UnfinishedError is returned for an unfinished run, and tells whether a process is working on
// the run.
type UnfinishedError struct {
	Dir    string
	Active bool // whether a process is working on the run
}

func (e *UnfinishedError) Error() string {
	if e.Active {
		return fmt.Sprintf("the run in %s is still going: `kir status %[1]s` says how far it is", terminal.ShellWord(e.Dir))
	}
	return fmt.Sprintf("the run in %s is not finished: go on with `kir resume %[1]s`", terminal.ShellWord(e.Dir))
}
