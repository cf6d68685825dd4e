package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// A full file system ends the run with the name of the file, and once there is
// room the run goes on; where mounting one is allowed.
func TestFullFileSystem(t *testing.T) {
	mount := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(mount, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, testmode.Pick("size=600k", "size=200k")); err != nil {
		t.Skip("mounting is not allowed here: ", err)
	}
	defer syscall.Unmount(mount, 0)
	s := newSpec(t, 2000, 100, mcmc.Uniform(17, 24), mcmc.Settings{Kernel: "balanced", Chains: 2, Draws: testmode.Pick(60_000, 20_000), Thin: 1, Seed: 1})
	whole, _ := start(t, s, Options{})
	want := outcomeOf(t, s, whole)
	dir := filepath.Join(mount, "run")
	_, err := Start(context.Background(), s, NewDirectoryStore(dir), Options{Interval: time.Millisecond})
	var path *fs.PathError
	if !errors.As(err, new(*StorageError)) || !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &path) || !strings.Contains(err.Error(), path.Path) {
		t.Fatalf("the error is %v", err)
	}
	if err := syscall.Mount("", mount, "tmpfs", syscall.MS_REMOUNT, "size=50m"); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil {
		t.Fatal(err)
	}
	outcomeOf(t, s, dir).same(t, want)
}
