//go:build unix

package yaml

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody writes to, or not to the end, is given up with the context.
func TestPipes(t *testing.T) {
	files := Files{OnRead: func(string, []byte, int64) {}}
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

// What is read is told with its hash, in whole, and what is too long is refused; the
// error of whoever reads is handed on.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	var taken []string
	files := Files{Dir: dir, OnRead: func(name string, sum []byte, bytes int64) {
		taken = append(taken, fmt.Sprintf("%s %x %d", name, sum, bytes))
	}}
	sum := fmt.Sprintf("a.csv %x 10", sha256.Sum256([]byte("0123456789")))
	for largest, fine := range map[int64]bool{9: false, 10: true, 11: true} {
		taken = nil
		text, err := files.ReadFile(t.Context(), filepath.Join(dir, "a.csv"), largest)
		if fine && (string(text) != "0123456789" || err != nil || !slices.Equal(taken, []string{sum})) || !fine && (err == nil || taken != nil || !strings.Contains(err.Error(), fmt.Sprintf("more than %d bytes", largest))) {
			t.Errorf("at most %d: %q, %v, %v", largest, text, err, taken)
		}
	}
	named := func(yaml string) *Node {
		root, err := Parse("p.yaml", []byte("file: "+yaml+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return root.Get("file")
	}
	taken = nil
	four := make([]byte, 4)
	if err := files.Read(t.Context(), named("a.csv"), "the file", func(r io.Reader, path string) error {
		if path != filepath.Join(dir, "a.csv") {
			t.Errorf("the path is %s", path)
		}
		_, err := io.ReadFull(r, four)
		return err
	}); err != nil || string(four) != "0123" || !slices.Equal(taken, []string{sum}) {
		t.Errorf("%q, %v, %v", four, err, taken)
	}
	taken = nil
	broken := errors.New("no table")
	if err := files.Read(t.Context(), named(filepath.Join(dir, "a.csv")), "the file", func(io.Reader, string) error { return broken }); !errors.Is(err, broken) || taken != nil {
		t.Errorf("%v, %v", err, taken)
	}
	files.Allow = func(path string) error { return errors.New("it is elsewhere") }
	for yaml, says := range map[string]string{"[1]": "p.yaml:1:7: the file is a list", "a.csv": `p.yaml:1:7: "a.csv": it is elsewhere: name a file beside the problem`} {
		if err := files.Read(t.Context(), named(yaml), "the file", nil); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v", yaml, err)
		}
	}
	files.Allow = nil
	if err := files.Read(t.Context(), named("b.csv"), "the file", nil); err == nil || err.Error() != `p.yaml:1:7: "b.csv": there is no such file: paths are relative to the problem file; looked for `+filepath.Join(dir, "b.csv") {
		t.Error(err)
	}
}
