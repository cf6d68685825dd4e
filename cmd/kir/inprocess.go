package main

import (
	"context"
	"io"

	"kir/internal/run"
)

// A workObserver receives what a command does while it runs in the process of another one, as the
// tools of kir mcp do. The number done is the completed fraction, or 0 while it is unknown. The
// function may be called from several goroutines.
type workObserver func(what string, done float64)

// workObserverKey is the context key of a [workObserver].
type workObserverKey struct{}

// observerOf returns the observer of a context, or nil.
func observerOf(ctx context.Context) workObserver {
	o, _ := ctx.Value(workObserverKey{}).(workObserver)
	return o
}

// resultTextKey is the context key of a writer. A command that prints its result as JSON writes the
// text of the result there, so that whoever runs the command gets both at once.
type resultTextKey struct{}

// writeResult prints the result of a command as JSON or as text; see also [resultTextKey].
func writeResult(ctx context.Context, w io.Writer, asJSON bool, writeJSON, writeText func(io.Writer) error) error {
	if !asJSON {
		return writeText(w)
	}
	if text, ok := ctx.Value(resultTextKey{}).(io.Writer); ok {
		if err := writeText(text); err != nil {
			return err
		}
	}
	return writeJSON(w)
}

// jsonOf returns a function that writes v with [writeJSON].
func jsonOf(v any) func(io.Writer) error { return func(w io.Writer) error { return writeJSON(w, v) } }

// chainsShare is the fraction of the work of a run that its chains are taken for; the search for
// the best recipes is the rest.
const chainsShare = 0.8

// doneShare returns the completed fraction of a run.
func doneShare(r run.Progress) float64 {
	if r.Chains == nil {
		return chainsShare + float64((1-chainsShare)*r.SearchDoneShare)
	}
	return float64(chainsShare * r.DoneShare)
}
