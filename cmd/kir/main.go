// Command kir samples sparse composition ratios: recipes, fragrances,
// formulations, portfolios, anything that divides a whole among a few of many
// possible ingredients.
//
// Usage:
//
//	kir sample PROBLEM    make new compositions
//	kir check PROBLEM     check a problem without sampling
//	kir show RUN          what a run found
//	kir help              all commands
//
// Results go to stdout, progress and messages to stderr. The exit status is 0
// when all is done, 1 when it failed, 2 for bad usage or bad input, and 130 when it
// was interrupted and can be resumed.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

func main() { os.Exit(runMain(context.Background())) }

// runMain is the program, and returns its exit status.
func runMain(ctx context.Context) int {
	// What the runtime gives up for, out of memory or a mistake in here, ends the
	// process by a signal: its own exit status would be 2, that of bad input.
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(ctx, endSignals()...)
	// The first signal ends the work in order. From then on a second one ends
	// the program at once.
	context.AfterFunc(ctx, stop)
	return exitStatus(execute(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr)
}
