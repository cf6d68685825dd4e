//go:build !js

// Package browsersched lets others in during long work where a program has one thread: in a browser
// nothing that a page asks is heard until all that runs waits for something.
package browsersched

import "context"

// Err returns ctx.Err(). In a browser it first lets the page in, some times a second: it
// stands wherever long work looks whether it is to end.
func Err(ctx context.Context) error { return ctx.Err() }
