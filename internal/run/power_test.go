package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"kir/internal/file"
	"kir/internal/testonly/testmode"
)

// A journal knows what has not reached the disk: the contents of files and the
// entries of directories since these were synced.
type journal struct {
	dirty   map[string]bool // files, by the names that they will have, and whether they have them
	entries []entry
	made    []string // directories
	settles func()   // what holds once the call that was begun is made
}

type entry struct {
	call, dir string
	undo      func()
}

// begin takes down a call that is about to be made.
func (j *journal) begin(call, path string) {
	j.settle()
	before, err := os.ReadFile(path)
	restore := func() { os.WriteFile(path, before, 0o644) }
	if err != nil {
		restore = func() { os.Remove(path) }
	}
	switch call {
	case "write":
		j.dirty[path] = false
	case "sync":
		j.settles = func() {
			delete(j.dirty, path)
			j.entries = slices.DeleteFunc(j.entries, func(e entry) bool { return e.dir == path })
		}
	case "mkdir":
		j.made = append(j.made, path)
		restore = func() { os.RemoveAll(path) }
		fallthrough
	case "link", "rename", "remove":
		if _, dirty := j.dirty[path]; dirty {
			j.dirty[path] = true
		}
		j.entries = append(j.entries, entry{call, filepath.Dir(path), restore})
	}
}

func (j *journal) settle() {
	if j.settles != nil {
		j.settles()
	}
	j.settles = nil
}

// cut is a power cut: what was not synced is lost, all of it or some.
func (j *journal) cut(r *rand.Rand) {
	j.settle()
	all := r.IntN(2) == 0
	for _, path := range slices.Sorted(maps.Keys(j.dirty)) {
		files, _ := filepath.Glob(path + ".*" + file.NewEnding)
		if j.dirty[path] {
			files = append(files, path)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				os.Truncate(file, r.Int64N(info.Size()+1))
			}
		}
	}
	for _, e := range slices.Backward(j.entries) {
		if all || r.IntN(2) == 0 {
			e.undo()
		}
	}
	j.entries, j.dirty = nil, make(map[string]bool)
}

// What a run that ends well made, and the directories above it, has reached the disk.
func TestAllReachesTheDisk(t *testing.T) {
	root := t.TempDir()
	j := &journal{dirty: make(map[string]bool)}
	disk := &badDisk{journal: j}
	if err := work(t, filepath.Join(root, "new", "deep", "run"), disk.open); err != nil {
		t.Fatal(err)
	}
	j.settle()
	for path := range j.dirty {
		t.Errorf("%s is not on the disk", path)
	}
	for _, e := range j.entries {
		if e.call != "remove" {
			t.Errorf("the %s in %s is not on the disk", e.call, e.dir)
		}
	}
	made := make(map[string]bool)
	for _, dir := range j.made {
		made[dir] = true
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && path != root && !made[path] {
			t.Errorf("%s was made in passing, and may not be on the disk", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// faultKinds are what happens at a call.
var faultKinds = []string{"EIO", "EMFILE", "disk full", "killed", "power cut"}

// A badDisk fails from a call on, in one of the ways.
type badDisk struct {
	journal *journal
	kind    string
	at      int // the call; 0: none
	calls   int
}

func (b *badDisk) open(path string) Store {
	return newDirectory(path, func(call, path string) error {
		b.calls++
		fails := b.at > 0 && b.calls >= b.at
		err := &fs.PathError{Op: call, Path: path, Err: syscall.EIO}
		switch {
		case !fails:
		case b.kind == "EIO" && b.calls == b.at:
			return err
		case b.kind == "EMFILE" && b.calls == b.at:
			err.Err = syscall.EMFILE
			return err
		case b.kind == "disk full" && slices.Contains([]string{"create", "write", "mkdir"}, call):
			err.Err = syscall.ENOSPC
			if left, _ := filepath.Glob(path + ".*" + file.NewEnding); call == "write" && len(left) > 0 {
				os.WriteFile(left[0], []byte("PAR1 and no more"), 0o644) // a short write
			}
			return err
		case b.kind == "killed" || b.kind == "power cut":
			return err
		}
		b.journal.begin(call, path)
		return nil
	})
}

// faultCount is the number of faults: the table of faults in bench/RESULTS.md has it.
const faultCount = "KIR_FAULTS"

// One fault after the other, at random calls and in all ways: whatever was done to a
// run, doing the same again completes it to what it would have been. KIR_FAULTS says
// how many, and the test how many of each kind there were.
func TestFaultAfterFault(t *testing.T) {
	wanted := testmode.Pick(60, 20)
	if text := os.Getenv(faultCount); text != "" {
		var err error
		if wanted, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "whole")
	clean := badDisk{journal: &journal{dirty: make(map[string]bool)}}
	if err := work(t, dir, clean.open); err != nil {
		t.Fatal(err)
	}
	want := outcomeOf(t, faultSpec(t, 700), dir)
	views := viewsOf(t, dir)
	r := rand.New(rand.NewPCG(22, 7))
	done, by, runs := 0, make(map[string]int), 0
	for ; done < wanted; runs++ {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("run", runs))
		j := &journal{dirty: make(map[string]bool)}
		history := ""
		for range 10 {
			disk := &badDisk{journal: j, kind: faultKinds[r.IntN(len(faultKinds))], at: 1 + r.IntN(clean.calls/2)}
			err := work(t, dir, disk.open)
			if disk.calls < disk.at {
				break // it came to its end before
			}
			done++
			by[disk.kind]++
			history += fmt.Sprintf("; %s at call %d: %v", disk.kind, disk.at, err)
			if err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(history)
			}
			if disk.kind == "power cut" {
				j.cut(r)
			}
		}
		if err := work(t, dir, NewDirectoryStore); err != nil {
			t.Fatalf("going on: %v, after%s", err, history)
		}
		outcomeOf(t, faultSpec(t, 700), dir).same(t, want)
		if got := viewsOf(t, dir); got != views {
			t.Errorf("the views are\n%s\nwant\n%s", got, views)
		}
		tidy(t, dir)
		if t.Failed() {
			t.Fatal("after" + history)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d faults in %d runs: %v; no draw lost or changed, no other figure", done, runs, by)
}

// viewsOf reads what work writes of a run, and the figures again.
func viewsOf(t *testing.T, dir string) string {
	t.Helper()
	r, err := Merge(context.Background(), faultSpec(t, 700), NewDirectoryStore(dir), Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, view := range []string{"summary.json", "report.html"} {
		data, err := os.ReadFile(filepath.Join(dir, view))
		if is := fmt.Sprint(r.Parts, r.IngredientCount); err != nil || string(data) != is {
			t.Errorf("%s says %q, the draws %q: %v", view, data, is, err)
		}
	}
	return fmt.Sprint(r.IngredientCount, r.LogDensity, r.Sizes)
}
