package run

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/file"
)

// directory is a Store in a file system.
type directory struct{ dir file.Dir }

// Directory returns the store in a directory, which need not exist yet. Reading a file that is not
// regular fails with [file.ErrNotRegular]. Writing fails with it if a link to a directory has the
// file's name.
func Directory(path string) Store { return newDirectory(path, nil) }

// newDirectory is [Directory] with a hook for each step, see [file.Dir].
func newDirectory(path string, step func(call, path string) error) *directory {
	return &directory{file.Dir{Path: path, Step: step}}
}

// Location returns the path of the directory.
func (d *directory) Location() string { return d.dir.Path }

// Path returns the path of a file.
func (d *directory) Path(name string) string { return d.dir.Join(name) }

// Create makes a file, unless there is one.
func (d *directory) Create(_ context.Context, name string, data []byte) error {
	return d.dir.Create(name, data)
}

// Replace makes a file, whether or not there is one.
func (d *directory) Replace(_ context.Context, name string, data []byte) error {
	return d.dir.Replace(name, data)
}

// Remove removes a file.
func (d *directory) Remove(_ context.Context, name string) error { return d.dir.Remove(name) }

// Read reads a part of a file.
func (d *directory) Read(_ context.Context, name string, offset, length int64) ([]byte, error) {
	if length < 0 {
		length = math.MaxInt64 - offset
	}
	return d.dir.ReadPart(name, offset, length)
}

// List lists the files. It leaves out files that are being written, or were when a process was
// killed.
func (d *directory) List(_ context.Context, prefix string) (files []File, err error) {
	entries, _, err := d.dir.Walk(prefix)
	for _, e := range entries {
		if !e.Mode().IsRegular() {
			return nil, file.NotRegularError(d.dir.Join(e.Name), e.Mode())
		}
		files = append(files, File{e.Name, e.Size()})
	}
	return files, err
}

// clean removes the unfinished files of killed processes. No other process may be working on the
// run.
func (d *directory) clean() error {
	_, unfinished, err := d.dir.Walk("")
	for _, name := range unfinished {
		err = errors.Join(err, d.dir.Remove(name))
	}
	return err
}

// isUnusedDirectory reports whether a directory is empty, or contains only the files that a process
// killed at its start leaves.
func isUnusedDirectory(path string) bool {
	entries, err := os.ReadDir(path)
	if err != nil {
		return false
	}
	for _, e := range entries {
		lock := false
		if e.Name() == "state" {
			rest, err := os.ReadDir(filepath.Join(path, e.Name()))
			lock = err == nil && !slices.ContainsFunc(rest, func(e fs.DirEntry) bool { return e.Name() != "lock" })
		}
		if !lock && !strings.HasSuffix(e.Name(), file.NewEnding) {
			return false
		}
	}
	return true
}
