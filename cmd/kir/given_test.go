//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kir/internal/testonly/testmode"
)

// inPlace are what somebody may have put in the place of a file, by making it at a path;
// whole is a file that is like the one it stands for.
var inPlace = map[string]func(path, whole string) error{
	"a named pipe":      func(path, _ string) error { return syscall.Mkfifo(path, 0o666) },
	"a link":            func(path, whole string) error { return os.Symlink(whole, path) },
	"a link to a pipe":  func(path, whole string) error { return os.Symlink(whole+".pipe", path) },
	"a link to zeros":   func(path, _ string) error { return os.Symlink("/dev/zero", path) },
	"a link to nothing": func(path, _ string) error { return os.Symlink(path+".none", path) },
	"a socket": func(path, _ string) error {
		l, err := net.Listen("unix", path)
		if err == nil {
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			err = l.Close()
		}
		return err
	},
	"a device": func(path, _ string) error {
		const zeros = 1<<8 | 5 // as on Linux
		if runtime.GOOS != "linux" {
			return syscall.EPERM
		}
		return syscall.Mknod(path, syscall.S_IFCHR|0o666, zeros)
	},
}

// TestGivenRuns: a device, a pipe, a socket or a link in the place of a file of a run, or a
// link in that of a directory, is refused at once and by that name, by each command that
// reads the file, and is not read by the others.
func TestGivenRuns(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	problem := strings.Replace(sharesProblem, "draws: 20000", "draws: 40", 1)
	if err := os.WriteFile("problem.yaml", []byte(problem), 0o644); err != nil {
		t.Fatal(err)
	}
	kir := func(line string) (status int, messages string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(patient(t.Context()), time.Minute)
		defer cancel()
		var out, said bytes.Buffer
		begun := time.Now()
		status = reportError(execute(ctx, strings.Fields(line), &out, &said), &said)
		if ctx.Err() != nil || out.Len() > 1<<22 {
			t.Errorf("kir %s takes %v and writes %d bytes", line, time.Since(begun), out.Len())
		}
		return status, said.String()
	}
	if status, said := kir("sample problem.yaml -o whole --effort 0.1"); status != 0 {
		t.Fatal(said)
	}
	const (
		show, report, compare = "show a", "report a -o page.html", "compare whole a"
		draws, status         = "draws a", "status a"
		resume, extend, merge = "resume a", "resume a --draws 60", "merge a"
		move, serve           = "sample a --exclude Lime -o moved", "serve a --no-open"
	)
	all := []string{show, report, compare, draws, status, resume, extend, merge, move}
	reading := []string{show, report, compare, resume}
	readers := map[string][]string{
		"run.json":     append(all, serve),
		"summary.json": reading,
		"report.html":  reading,
		"problem.yaml": {resume, extend},
		"state":        {show, report, compare, draws, status, resume, extend, merge},
		"draws":        {show, report, compare, draws, status, resume, extend, merge},
	}
	readers["state/chain=0001.kir"], readers["draws/chain=0001"] = readers["state"], readers["draws"]
	readers["draws/chain=0001/part-00000.parquet"] = readers["draws"]
	readers["state/lock"] = []string{resume, extend}
	for name, commands := range readers {
		lines := slices.Clone(commands)
		for _, line := range all {
			if !slices.Contains(commands, line) {
				lines = append(lines, line)
			}
		}
		for what, put := range inPlace {
			path := filepath.Join("a", filepath.FromSlash(name))
			whole := filepath.Join(dir, "whole", filepath.FromSlash(name))
			isDir := !strings.Contains(filepath.Base(name), ".") && name != "state/lock"
			if isDir && !strings.HasPrefix(what, "a link") {
				continue
			}
			if !testmode.Enabled() && what != "a named pipe" && what != "a link" {
				continue
			}
			for _, line := range lines {
				for _, left := range []string{"a", "page.html", "moved", "moved.yaml"} {
					if err := os.RemoveAll(left); err != nil {
						t.Fatal(err)
					}
				}
				pipe := whole + ".pipe"
				err := errors.Join(os.CopyFS("a", os.DirFS("whole")), os.RemoveAll(path), os.RemoveAll(pipe))
				if what == "a link to a pipe" {
					err = errors.Join(err, syscall.Mkfifo(pipe, 0o666))
				}
				if err := errors.Join(err, put(path, whole)); errors.Is(err, syscall.EPERM) {
					t.Logf("%s cannot be made here", what)
					break
				} else if err != nil {
					t.Fatal(err)
				}
				status, said := kir(line)
				refuses := slices.Contains(commands, line)
				// A link to nothing is nothing, to what only looks whether there is a run.
				if named := strings.Contains(said, ", not a regular file") || strings.Contains(said, ", not a directory"); refuses && (status != 2 || !named) {
					t.Errorf("%s as %s: kir %s ends with %d: %s", what, name, line, status, said)
				}
				if err := os.RemoveAll(pipe); err != nil {
					t.Fatal(err)
				}
				if now, err := os.Lstat(path); refuses && (err != nil || now.Mode().IsRegular()) {
					t.Errorf("%s as %s: kir %s put something in its place: %v", what, name, line, err)
				}
			}
		}
	}
}
