//go:build unix

package yaml

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody writes to, or not to the end, is given up with the context.
func TestPipes(t *testing.T) {
	files := Files{Taken: func(string, []byte, int64) {}}
	for _, written := range []bool{false, true} {
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			_, err := files.ReadFile(ctx, pipe, 100)
			done <- err
		}()
		if written {
			w, err := syscall.Open(pipe, syscall.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Close(w)
			if _, err := syscall.Write(w, []byte("name: half")); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("written %t: %v", written, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("written %t: it hangs", written)
		}
	}
}
