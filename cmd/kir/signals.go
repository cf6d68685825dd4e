//go:build !js && !wasip1

package main

import (
	"os"
	"syscall"
)

// endSignals are the signals that end the work in order.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} }
