package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A lockedText is text that goroutines write.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (t *lockedText) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *lockedText) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.b.Reset()
	return t.b.String()
}

// Work that takes longer than a second is named, and again every fifteen; what is done
// sooner is not, nor anything once it has ended.
func TestDoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text lockedText
		d := newSpinner(t.Context(), &text, false)
		after := func(pause time.Duration, want string) {
			t.Helper()
			time.Sleep(pause)
			synctest.Wait()
			if got := text.take(); got != want {
				t.Errorf("it says %q, not %q", got, want)
			}
		}
		d.beginWork("one")
		after(900*time.Millisecond, "")
		d.beginWork("two")
		after(900*time.Millisecond, "")
		after(200*time.Millisecond, "kir: two ...\n")
		after(14*time.Second, "")
		after(time.Second, "kir: two (for 16s) ...\n")
		d.printMessage("a word")
		after(0, "kir: a word\n")
		d.beginWork("three\x1b[2J")
		after(2*time.Second, "kir: three\\x1b[2J ...\n")
		d.endWork()
		after(time.Minute, "")

		quiet := newSpinner(t.Context(), &text, true)
		quiet.beginWork("one")
		quiet.printMessage("a word")
		after(time.Minute, "")
	})
}

// patient returns a context in which nothing is said of what takes long: how long that
// is follows from the machine.
func patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, messageDelayKey{}, time.Hour)
}
