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
	// firstMessageDelay is how long a piece of work must take before kir prints its name.
	firstMessageDelay = time.Second
	// reminderInterval is the time between reminders that the same work continues.
	reminderInterval = 15 * time.Second
)

// A spinner reports slow work on stderr. It prints the name of the work once the work has taken a second, and then
// reminders that the work continues. Its methods may be called from several goroutines. Messages printed by
// [spinner.printMessage] do not mix with the reports.
type spinner struct {
	w            io.Writer
	quiet        bool
	messageDelay time.Duration

	mu          sync.Mutex
	currentWork string    // name of the current work
	workStart   time.Time // when the current work began
	timer       *time.Timer
	generation  int // number of calls of beginWork and endWork; a timer of an earlier generation prints nothing
}

// newSpinner returns a spinner that writes to w, or that writes nothing if quiet is true.
func newSpinner(ctx context.Context, w io.Writer, quiet bool) *spinner {
	d := &spinner{w: w, quiet: quiet, messageDelay: firstMessageDelay}
	if p, ok := ctx.Value(messageDelayKey{}).(time.Duration); ok {
		d.messageDelay = p
	}
	return d
}

// messageDelayKey is the context key of a delay that replaces [firstMessageDelay]. Tests that compare output set
// it, so that a slow machine cannot change the output.
type messageDelayKey struct{}

// hasCustomDelay reports whether a context sets the delay of messages, as tests do. In this case the default time
// limit of chains does not apply either.
func hasCustomDelay(ctx context.Context) bool { return ctx.Value(messageDelayKey{}) != nil }

// beginWork ends the current work, if any, and starts a new piece of work with the name what.
func (d *spinner) beginWork(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancelReminder()
	if d.quiet {
		return
	}
	d.currentWork, d.workStart = what, time.Now()
	d.scheduleReminder(d.messageDelay)
}

// endWork ends the current work.
func (d *spinner) endWork() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancelReminder()
}

// printMessage prints a message, unless the spinner is quiet.
func (d *spinner) printMessage(message string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	newLogger(d.w, d.quiet)(message)
}

func (d *spinner) cancelReminder() {
	d.generation++
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *spinner) scheduleReminder(pause time.Duration) {
	round := d.generation
	d.timer = time.AfterFunc(pause, func() { d.remind(round) })
}

// remind prints the name of the current work, unless the work has ended or changed since the given generation.
func (d *spinner) remind(round int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.generation != round {
		return
	}
	since := ""
	if took := time.Since(d.workStart).Round(time.Second); took >= reminderInterval {
		since = fmt.Sprintf(" (for %s)", took)
	}
	fmt.Fprintf(d.w, "kir: %s%s ...\n", terminal.EscapeControls(d.currentWork), since)
	d.scheduleReminder(reminderInterval)
}
