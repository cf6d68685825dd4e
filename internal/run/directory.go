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

// directoryStore is a [Store] in a directory of a file system.
type directoryStore struct{ dir file.Dir }

// NewDirectoryStore returns the store in a directory, which need not exist yet. Reading a file that
// is not regular fails with [file.ErrNotRegular]. Writing fails with the same error if a link to a
// directory has the name of the file.
func NewDirectoryStore(path string) Store { return newDirectory(path, nil) }

// newDirectory is [NewDirectoryStore] with a function for tests, which is called before each step
// that writes; see the field Step of [file.Dir].
func newDirectory(path string, step func(call, path string) error) *directoryStore {
	return &directoryStore{file.Dir{Path: path, Step: step}}
}

// Location returns the path of the directory.
func (d *directoryStore) Location() string { return d.dir.Path }

// Path returns the path of a file of the run.
func (d *directoryStore) Path(name string) string { return d.dir.Join(name) }

// Create makes a file. It returns fs.ErrExist if the file exists.
func (d *directoryStore) Create(_ context.Context, name string, data []byte) error {
	return d.dir.Create(name, data)
}

// Replace makes a file, or replaces an existing file.
func (d *directoryStore) Replace(_ context.Context, name string, data []byte) error {
	return d.dir.Replace(name, data)
}

// Remove removes a file. If there is no such file, Remove does nothing.
func (d *directoryStore) Remove(_ context.Context, name string) error { return d.dir.Remove(name) }

// Read returns length bytes of a file from an offset on, or fewer where the file ends. If length is
// negative, Read returns everything from the offset on.
func (d *directoryStore) Read(_ context.Context, name string, offset, length int64) ([]byte, error) {
	if length < 0 {
		length = math.MaxInt64 - offset
	}
	return d.dir.ReadPart(name, offset, length)
}

// List returns the files whose names begin with a prefix. It leaves out unfinished files, which are
// still being written or were left by a killed process.
func (d *directoryStore) List(_ context.Context, prefix string) (files []File, err error) {
	entries, _, err := d.dir.Walk(prefix)
	for _, e := range entries {
		if !e.Mode().IsRegular() {
			return nil, file.NotRegularError(d.dir.Join(e.Name), e.Mode())
		}
		files = append(files, File{e.Name, e.Size()})
	}
	return files, err
}

// removeUnfinished removes the files that killed processes have left unfinished. It must be called
// only while no other process works on the run.
func (d *directoryStore) removeUnfinished() error {
	_, unfinished, err := d.dir.Walk("")
	for _, name := range unfinished {
		err = errors.Join(err, d.dir.Remove(name))
	}
	return err
}

// isUnusedDirectory reports whether a directory is empty, or contains only files that a process
// leaves behind when it is killed at the start of a run.
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
