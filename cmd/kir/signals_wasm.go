//go:build js || wasip1

package main

import (
	"os"
	"syscall"
)

// endings are the signals that end the work in order. WebAssembly has no SIGHUP.
func endings() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
