//go:build js || wasip1

package main

import (
	"os"
	"syscall"
)

// endSignals returns the operating system signals at which kir stops and saves its work. WebAssembly has no
// SIGHUP.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
