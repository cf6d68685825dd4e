// Command kir samples sparse composition ratios: recipes, fragrances, formulations, portfolios,
// anything that divides a total among a few of many possible ingredients.
//
// Usage:
//
//	kir sample PROBLEM    make new compositions
//	kir check PROBLEM     check a problem without sampling
//	kir show RUN          print the results of a run
//	kir help              print all commands
//
// Results go to stdout, progress and messages to stderr. The exit status is 0 on success, 1 on
// failure, 2 for bad usage or bad input, and 130 for an interrupted run that can be resumed.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

func main() { os.Exit(runMain(context.Background())) }

// runMain runs the program and returns its exit status.
func runMain(ctx context.Context) int {
	// When the Go runtime gives up, out of memory or because of a bug, end the process by a signal.
	// Its own exit status would be 2, that of bad input.
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(ctx, endSignals()...)
	// The first signal ends the work in order. After that a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	return reportError(execute(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr)
}
