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
	// firstMessageDelay is how long work must take before kir prints what it is doing.
	firstMessageDelay = time.Second
	// reminderInterval is the time between two messages that the same work continues.
	reminderInterval = 15 * time.Second
)

// A spinner tells the user on stderr about slow work. It prints the name of the work after a second, and later
// prints reminders that the work continues. Several goroutines may call its methods. Messages of
// [spinner.printMessage] and reports do not mix.
type spinner struct {
	w            io.Writer
	quiet        bool
	observer     workObserver // receives notes on work in place of w; may be nil
	messageDelay time.Duration

	mu          sync.Mutex
	currentWork string    // name of the current work
	workStart   time.Time // when the current work began
	timer       *time.Timer
	generation  int // number of calls of beginWork and endWork; a timer set before the latest of these calls prints nothing
}

// newSpinner returns a spinner that writes to w, or that writes nothing if quiet is true.
func newSpinner(ctx context.Context, w io.Writer, quiet bool) *spinner {
	d := &spinner{w: w, quiet: quiet, observer: observerOf(ctx), messageDelay: firstMessageDelay}
	if p, ok := ctx.Value(messageDelayKey{}).(time.Duration); ok {
		d.messageDelay = p
	}
	return d
}

// messageDelayKey is the context key of a delay that replaces [firstMessageDelay]. Tests that compare output
// set a long delay, because otherwise a slow machine would print more messages.
type messageDelayKey struct{}

// hasCustomDelay reports whether the context sets the delay of messages, which only tests do. The default time
// limit of chains is then off, too.
func hasCustomDelay(ctx context.Context) bool { return ctx.Value(messageDelayKey{}) != nil }

// beginWork tells the spinner that new work with the given name begins. Any earlier work has then ended.
func (d *spinner) beginWork(workName string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancelReminder()
	if d.observer != nil {
		d.observer(workName, 0)
		return
	}
	if d.quiet {
		return
	}
	d.currentWork, d.workStart = workName, time.Now()
	d.scheduleReminder(d.messageDelay)
}

// endWork tells the spinner that the current work has ended.
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

// remind prints the name of the current work, unless other work has begun or this work has ended since the
// timer was set. The argument generation is the value of the field when the timer was set.
func (d *spinner) remind(generation int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.generation != generation {
		return
	}
	since := ""
	if took := time.Since(d.workStart).Round(time.Second); took >= reminderInterval {
		since = fmt.Sprintf(" (for %s)", took)
	}
	fmt.Fprintf(d.w, "kir: %s%s ...\n", terminal.EscapeControls(d.currentWork), since)
	d.scheduleReminder(reminderInterval)
}
