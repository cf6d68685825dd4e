package testmode

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much a test binary's heap grows, in percent, before the garbage collector runs.
const gcPercent = 400

// CollectRarely makes the garbage collector run a fourth as often as by default, unless GOGC is set
// or the race detector needs the memory. Test binaries have small heaps, on which the collector
// spends up to a fifth of the processor time. Call it from TestMain.
func CollectRarely() {
	if os.Getenv("GOGC") == "" && !RaceDetector {
		debug.SetGCPercent(gcPercent)
	}
}
