package view

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often than a program does: the heap of these tests is small, and
// collecting it takes up to a sixth of their time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
