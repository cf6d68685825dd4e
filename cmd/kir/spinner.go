package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"kir/internal/terminal"
)

const (
	// delay is the time before kir names the current work.
	delay = time.Second
	// reminder is the time between reminders for the same work.
	reminder = 15 * time.Second
)

// A spinner reports slow work on stderr: its name once it has taken a second, and then reminders
// that it continues. Its methods may be called from several goroutines. Messages written through it
// do not mix with its own.
type spinner struct {
	w     io.Writer
	quiet bool
	delay time.Duration

	mu         sync.Mutex
	work       string    // name of the current work
	since      time.Time // when it began
	timer      *time.Timer
	generation int // counts calls of begin and end; a timer of an earlier generation prints nothing
}

// newSpinner returns a spinner that writes to w, or to nothing if quiet is true.
func newSpinner(ctx context.Context, w io.Writer, quiet bool) *spinner {
	d := &spinner{w: w, quiet: quiet, delay: delay}
	if p, ok := ctx.Value(delayKey{}).(time.Duration); ok {
		d.delay = p
	}
	return d
}

// delayKey is the context key of another delay. Tests that compare output set it, so that a slow
// machine cannot change the output.
type delayKey struct{}

// hasOwnDelay reports whether a context sets its own delay. Then the default time limit of chains
// does not apply either.
func hasOwnDelay(ctx context.Context) bool { return ctx.Value(delayKey{}) != nil }

// begin starts a new piece of work.
func (d *spinner) begin(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	if d.quiet {
		return
	}
	d.work, d.since = what, time.Now()
	d.wait(d.delay)
}

// end ends the work.
func (d *spinner) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
}

// tell prints a message.
func (d *spinner) tell(message string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	logger(d.w, d.quiet)(message)
}

func (d *spinner) stop() {
	d.generation++
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *spinner) wait(pause time.Duration) {
	round := d.generation
	d.timer = time.AfterFunc(pause, func() { d.remind(round) })
}

// remind prints the current work.
func (d *spinner) remind(round int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.generation != round {
		return
	}
	since := ""
	if took := time.Since(d.since).Round(time.Second); took >= reminder {
		since = fmt.Sprintf(" (for %s)", took)
	}
	fmt.Fprintf(d.w, "kir: %s%s ...\n", terminal.Plain(d.work), since)
	d.wait(reminder)
}
