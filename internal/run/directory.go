package run

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// newEnding ends the names of files that are being written.
const newEnding = ".new"

// directory is a Store in a file system.
type directory struct {
	path string

	// step is told of each call of the system that changes something, before it
	// is made; its error is that call's. For tests, and nil else.
	step func(call, path string) error
}

// Directory returns the store in a directory, which need not be there yet.
func Directory(path string) Store { return &directory{path: path} }

// Location returns the path of the directory.
func (d *directory) Location() string { return d.path }

// Path returns the path of a file.
func (d *directory) Path(name string) string { return d.join(name) }

func (d *directory) join(name string) string {
	return filepath.Join(d.path, filepath.FromSlash(name))
}

func (d *directory) before(call, path string) error {
	if d.step == nil {
		return nil
	}
	return d.step(call, path)
}

// Create fills a new file and links it to its name, which fails if there is one.
func (d *directory) Create(_ context.Context, name string, data []byte) error {
	path := d.join(name)
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	filled, err := d.fill(path, data)
	if err != nil {
		return err
	}
	err = d.link(filled, path)
	if err == nil {
		err = d.sync(filepath.Dir(path))
	}
	// The link is what counts.
	return cmp.Or(err, d.remove(filled))
}

// link gives a file that has been filled its name, unless that is taken.
func (d *directory) link(filled, path string) error {
	if err := d.before("link", path); err != nil {
		return err
	}
	err := os.Link(filled, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, d.removeIf(err != nil, filled))
	}
	// Some file systems have no links. There, two processes that end a part in the
	// same instant are not told from one another.
	if _, there := os.Lstat(path); there == nil {
		return errors.Join(&fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}, d.remove(filled))
	}
	return os.Rename(filled, path)
}

func (d *directory) removeIf(wanted bool, path string) error {
	if !wanted {
		return nil
	}
	return d.remove(path)
}

// Replace fills a new file and renames it.
func (d *directory) Replace(_ context.Context, name string, data []byte) error {
	path := d.join(name)
	filled, err := d.fill(path, data)
	if err != nil {
		return err
	}
	if err := d.before("rename", path); err != nil {
		return err
	}
	if err := os.Rename(filled, path); err != nil {
		return errors.Join(err, d.remove(filled))
	}
	return d.sync(filepath.Dir(path))
}

// fill writes data to a new file beside a path, and returns its name once it has
// reached the disk.
func (d *directory) fill(path string, data []byte) (filled string, err error) {
	if err := d.makeParent(path); err != nil {
		return "", err
	}
	if err := d.before("create", path); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+newEnding)
	if err != nil {
		return "", err
	}
	write := func() error {
		if err := d.before("write", path); err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := f.Chmod(0o644); err != nil {
			return err
		}
		if err := d.before("sync", path); err != nil {
			return err
		}
		return f.Sync()
	}
	err = write()
	if err = cmp.Or(err, f.Close()); err != nil {
		return "", errors.Join(err, d.remove(f.Name()))
	}
	return f.Name(), nil
}

// makeParent makes the directory of a path, and those above it, each of which has
// reached the disk when it returns.
func (d *directory) makeParent(path string) error {
	var missing []string
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		if err := d.before("mkdir", at); err != nil {
			return err
		}
		if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := d.sync(filepath.Dir(at)); err != nil {
			return err
		}
	}
	return nil
}

// sync waits until what was created, renamed and removed in a directory has
// reached the disk.
func (d *directory) sync(path string) error {
	if err := d.before("sync", path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// Some file systems cannot sync directories, and need not.
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

func (d *directory) remove(path string) error {
	if err := d.before("remove", path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remove removes a file.
func (d *directory) Remove(_ context.Context, name string) error { return d.remove(d.join(name)) }

// Read reads a file or a part of it.
func (d *directory) Read(_ context.Context, name string, offset, length int64) ([]byte, error) {
	if offset == 0 && length < 0 {
		return os.ReadFile(d.join(name))
	}
	f, err := os.Open(d.join(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if length < 0 {
		length = 1<<63 - 1 - offset
	}
	return io.ReadAll(io.NewSectionReader(f, offset, length))
}

// List walks the directory. Files that are being written, or were when a process
// was killed, are not listed.
func (d *directory) List(_ context.Context, prefix string) ([]File, error) {
	files, _, err := d.walk(prefix)
	return files, err
}

// walk returns the files, and those that are being written.
func (d *directory) walk(prefix string) (files []File, unfinished []string, err error) {
	root := d.join(prefix)
	if !strings.HasSuffix(prefix, "/") {
		root = filepath.Dir(root)
	}
	if prefix == "" {
		root = d.path
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		relative, err := filepath.Rel(d.path, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(relative)
		if !strings.HasPrefix(name, prefix) {
			return nil
		}
		if strings.HasSuffix(name, newEnding) {
			unfinished = append(unfinished, path)
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed a moment ago
		}
		if err == nil {
			files = append(files, File{name, info.Size()})
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // nothing has been made yet
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, unfinished, err
}

// clean removes what processes that were killed were writing. Nobody else may be
// at work.
func (d *directory) clean() error {
	_, unfinished, err := d.walk("")
	for _, path := range unfinished {
		err = errors.Join(err, d.remove(path))
	}
	return err
}

// emptyDirectory says whether a directory holds nothing but what a process that
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
		if !lock && !strings.HasSuffix(e.Name(), newEnding) {
			return false
		}
	}
	return true
}
