//go:build !js && !wasip1

package main

import (
	"os"
	"syscall"
)

// endSignals returns the signals after which kir ends its work in order.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} }
