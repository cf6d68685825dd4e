//go:build !js

// Package browsersched lets a web page be served during long work in a browser. A program in a
// browser has only one thread, so the page must otherwise wait until all goroutines are blocked.
package browsersched

import "context"

// Err returns ctx.Err(). In a browser, Err first lets the page's requests be handled, at most every
// 30 milliseconds. Long work calls Err instead of ctx.Err().
func Err(ctx context.Context) error { return ctx.Err() }
