package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"kir/internal/problem"
	"kir/internal/search"
	"kir/internal/terminal"
)

const (
	// delay is how long work may take before kir says what it is.
	delay = time.Second
	// reminder is how long the same work may then go on in silence.
	reminder = 15 * time.Second
)

// A spinner says on stderr what takes long: the work, once it has taken a second, and
// every now and then that it still goes on. Its methods may be called from several
// goroutines, and messages written through it do not mix with its own.
type spinner struct {
	w     io.Writer
	quiet bool
	delay time.Duration

	mu    sync.Mutex
	what  string
	since time.Time
	timer *time.Timer
	round int // of begin and end: what a timer of an earlier one has to say is past
}

// newSpinner returns one that writes to w, or nothing if it is to be quiet.
func newSpinner(ctx context.Context, w io.Writer, quiet bool) *spinner {
	d := &spinner{w: w, quiet: quiet, delay: delay}
	if p, ok := ctx.Value(delayKey{}).(time.Duration); ok {
		d.delay = p
	}
	return d
}

// delayKey is that of another patience in a context: tests that compare what is
// written have none that a slow machine could wear out.
type delayKey struct{}

// hasOwnDelay reports whether a context has a patience of its own. Then the time by which chains
// stop unless another is asked for does not count either.
func hasOwnDelay(ctx context.Context) bool { return ctx.Value(delayKey{}) != nil }

// begin says that other work begins.
func (d *spinner) begin(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	if d.quiet {
		return
	}
	d.what, d.since = what, time.Now()
	d.wait(d.delay)
}

// end says that the work is done.
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
	d.round++
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *spinner) wait(pause time.Duration) {
	round := d.round
	d.timer = time.AfterFunc(pause, func() { d.remind(round) })
}

// remind says what is being done.
func (d *spinner) remind(round int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.round != round {
		return
	}
	since := ""
	if took := time.Since(d.since).Round(time.Second); took >= reminder {
		since = fmt.Sprintf(" (for %s)", took)
	}
	fmt.Fprintf(d.w, "kir: %s%s ...\n", terminal.Plain(d.what), since)
	d.wait(reminder)
}

// firstRecipesPrinter returns what prints the first recipes that are found; nil if d is to be quiet.
func firstRecipesPrinter(d *spinner, quiet bool) func(*problem.Problem, []search.Found) {
	if quiet {
		return nil
	}
	return func(p *problem.Problem, best []search.Found) {
		d.tell(bestLine(best[0].Score(), best[0].Parts, p))
	}
}
