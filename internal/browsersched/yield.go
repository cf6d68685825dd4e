//go:build !js

// Package browsersched lets a web page respond while long work runs in a browser. A program in a
// browser has only one thread. Without this package the page would have to wait until all
// goroutines are blocked.
package browsersched

import "context"

// Err returns ctx.Err(). In a browser, Err first lets the page handle its waiting events, at most
// once in 30 milliseconds. Long work calls Err often, instead of ctx.Err().
func Err(ctx context.Context) error { return ctx.Err() }
