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

// Directory returns the store in a directory, which need not be there yet. What is in it
// under the name of a file of a run and is no regular file is [file.ErrNotRegular], to read
// and, where it is a link to a directory, to write.
func Directory(path string) Store { return newDirectory(path, nil) }

// newDirectory is Directory with a step, see [file.Dir].
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

// List lists the files. Those that are being written, or were when a process was killed,
// are left out.
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

// clean removes what processes that were killed were writing. Nobody else may be
// at work.
func (d *directory) clean() error {
	_, unfinished, err := d.dir.Walk("")
	for _, name := range unfinished {
		err = errors.Join(err, d.dir.Remove(name))
	}
	return err
}

// emptyDirectory reports whether a directory holds nothing but what a process that
// was killed in its first moments leaves.
func emptyDirectory(path string) bool {
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
