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
	// patience is how long work may take before kir says what it is.
	patience = time.Second
	// reminder is how long the same work may then go on in silence.
	reminder = 15 * time.Second
)

// A doing says on stderr what takes long: the work, once it has taken a second, and
// every now and then that it still goes on. Its methods may be called from several
// goroutines, and messages written through it do not mix with its own.
type doing struct {
	w        io.Writer
	quiet    bool
	patience time.Duration

	mu    sync.Mutex
	what  string
	since time.Time
	timer *time.Timer
	round int // of begin and end: what a timer of an earlier one has to say is past
}

// newDoing returns one that writes to w, or nothing if it is to be quiet.
func newDoing(ctx context.Context, w io.Writer, quiet bool) *doing {
	d := &doing{w: w, quiet: quiet, patience: patience}
	if p, ok := ctx.Value(patienceKey{}).(time.Duration); ok {
		d.patience = p
	}
	return d
}

// patienceKey is that of another patience in a context: tests that compare what is
// written have none that a slow machine could wear out.
type patienceKey struct{}

// unhurried says whether a context has a patience of its own. Then the time by which chains
// stop unless another is asked for does not count either.
func unhurried(ctx context.Context) bool { return ctx.Value(patienceKey{}) != nil }

// begin says that other work begins.
func (d *doing) begin(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	if d.quiet {
		return
	}
	d.what, d.since = what, time.Now()
	d.wait(d.patience)
}

// end says that the work is done.
func (d *doing) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
}

// tell prints a message.
func (d *doing) tell(message string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	teller(d.w, d.quiet)(message)
}

func (d *doing) stop() {
	d.round++
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *doing) wait(pause time.Duration) {
	round := d.round
	d.timer = time.AfterFunc(pause, func() { d.remind(round) })
}

// remind says what is being done.
func (d *doing) remind(round int) {
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

// firstOf returns what prints the first recipes that are found; nil if d is to be quiet.
func firstOf(d *doing, quiet bool) func(*problem.Problem, []search.Found) {
	if quiet {
		return nil
	}
	return func(p *problem.Problem, best []search.Found) {
		d.tell(bestLine(best[0].Score(), best[0].Parts, p))
	}
}
