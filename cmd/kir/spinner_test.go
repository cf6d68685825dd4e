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
		d.begin("one")
		after(900*time.Millisecond, "")
		d.begin("two")
		after(900*time.Millisecond, "")
		after(200*time.Millisecond, "kir: two ...\n")
		after(14*time.Second, "")
		after(time.Second, "kir: two (for 16s) ...\n")
		d.tell("a word")
		after(0, "kir: a word\n")
		d.begin("three\x1b[2J")
		after(2*time.Second, "kir: three\\x1b[2J ...\n")
		d.end()
		after(time.Minute, "")

		quiet := newSpinner(t.Context(), &text, true)
		quiet.begin("one")
		quiet.tell("a word")
		after(time.Minute, "")
	})
}

// patient returns a context in which nothing is said of what takes long: how long that
// is follows from the machine.
func patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, delayKey{}, time.Hour)
}
