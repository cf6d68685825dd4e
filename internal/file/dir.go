package file

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// NewEnding is the ending of the names of unfinished files, such as NAME.DIGITS.new. An unfinished
// file is being written, or was left by a process that was killed.
const NewEnding = ".new"

// A Dir is a directory in which kir keeps files. The directory need not exist yet. The path of the
// directory may contain links, but below the directory kir follows no links. Names of files are
// paths with slashes, relative to the directory.
//
// A file is written whole under another name and then renamed. So at any moment the file has either
// its old or its new content. The new content has reached the disk when the call returns.
type Dir struct {
	Path string // path of the directory

	// Mode holds the permissions of the files that are written; 0 means 0o644.
	Mode fs.FileMode

	// Step is for tests, and nil otherwise. It is called before each system call that changes a
	// file or a directory. If Step returns an error, the system call is not made and counts as
	// failed with this error.
	Step func(call, path string) error
}

// Create creates a file with the given data. If the path already exists, Create changes nothing and
// the error is [fs.ErrExist].
func Create(path string, data []byte) error { return parentDir(path).Create(filepath.Base(path), data) }

// Replace writes a file with the given data. If the file exists, it is replaced. If the path is a
// link, the link itself is replaced and not its target.
func Replace(path string, data []byte) error {
	return parentDir(path).Replace(filepath.Base(path), data)
}

// Read reads a file that kir has written, of at most maxBytes bytes. It does not follow a link.
func Read(path string, maxBytes int64) ([]byte, error) {
	return parentDir(path).Read(filepath.Base(path), maxBytes)
}

// parentDir returns the directory that contains a file, given the path of the file.
func parentDir(path string) *Dir { return &Dir{Path: filepath.Dir(path)} }

// Join returns the path of the file with the given name.
func (d *Dir) Join(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }

// runStep calls d.Step, if it is set.
func (d *Dir) runStep(call, path string) error {
	if d.Step == nil {
		return nil
	}
	return d.Step(call, path)
}

// withErrorPath returns the error with its path replaced by the given path, and with the system
// call replaced by a verb such as "open".
func withErrorPath(err error, path string) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return &fs.PathError{Op: operationVerb(of.Op), Path: path, Err: of.Err}
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return &fs.PathError{Op: operationVerb(link.Op), Path: path, Err: link.Err}
	}
	return err
}

// operationVerb returns the verb, such as "remove", that describes a system call such as "unlinkat"
// in messages.
func operationVerb(op string) string {
	switch op {
	case "openat", "stat", "lstat", "statat", "lstatat":
		return "open"
	case "unlinkat":
		return "remove"
	}
	return strings.TrimSuffix(op, "at")
}

// openParent opens the directory that contains the file with the given name. If create is true,
// openParent creates missing directories. If a directory between the Dir and the file is a link,
// openParent fails.
func (d *Dir) openParent(name string, create bool) (*os.Root, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: d.Join(name), Err: fs.ErrInvalid}
	}
	if create {
		if err := d.makeDirectories(); err != nil {
			return nil, err
		}
	}
	// Opening a pipe would wait for a writer.
	if info, err := os.Stat(d.Path); err != nil {
		return nil, withErrorPath(err, d.Join(name))
	} else if !info.IsDir() {
		return nil, notDirectoryError(d.Path, info.Mode())
	}
	r, err := os.OpenRoot(d.Path)
	if err != nil {
		return nil, err
	}
	at := ""
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if part == "." {
			break
		}
		at = path.Join(at, part)
		next, err := d.openSubdirectory(r, part, at, create)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		r = next
	}
	return r, nil
}

// openSubdirectory opens the subdirectory of parent with the name subName. The parameter relPath is
// the path of the subdirectory relative to the Dir, for errors. If create is true, a missing
// subdirectory is created.
func (d *Dir) openSubdirectory(parent *os.Root, subName, relPath string, create bool) (*os.Root, error) {
	info, err := parent.Lstat(subName)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := d.runStep("mkdir", d.Join(relPath)); err != nil {
			return nil, err
		}
		if err := parent.Mkdir(subName, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, withErrorPath(err, d.Join(relPath))
		}
		if err := d.syncDirectory(parent, path.Dir(relPath)); err != nil {
			return nil, err
		}
		info, err = parent.Lstat(subName)
	}
	if err != nil {
		return nil, withErrorPath(err, d.Join(relPath))
	}
	if !info.IsDir() {
		return nil, notDirectoryError(d.Join(relPath), info.Mode())
	}
	next, err := parent.OpenRoot(subName)
	if err != nil {
		return nil, withErrorPath(err, d.Join(relPath))
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(info, is) {
		return nil, errors.Join(cmp.Or(err, notDirectoryError(d.Join(relPath), fs.ModeSymlink)), next.Close())
	}
	return next, nil
}

// makeDirectories creates the directory d.Path and all missing directories above it. The new
// directories have reached the disk when makeDirectories returns.
func (d *Dir) makeDirectories() error {
	var missing []string
	for at := filepath.Clean(d.Path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		if err := d.runStep("mkdir", at); err != nil {
			return err
		}
		if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		above, err := os.OpenRoot(filepath.Dir(at))
		if err != nil {
			return err
		}
		err = d.syncDirectoryAt(above, filepath.Dir(at))
		if err = errors.Join(err, above.Close()); err != nil {
			return err
		}
	}
	return nil
}

// MakeDir creates the directory that contains the file with the given name.
func (d *Dir) MakeDir(name string) error {
	r, err := d.openParent(name, true)
	if err != nil {
		return err
	}
	return r.Close()
}

// syncDirectory waits until all changes in the open directory r have reached the disk: files that
// were created, renamed or removed. The parameter name is the name of the directory, for errors.
func (d *Dir) syncDirectory(r *os.Root, name string) error { return d.syncDirectoryAt(r, d.Join(name)) }

// syncDirectoryAt is like [Dir.sync], but is given the path of the directory for errors instead of
// its name.
func (d *Dir) syncDirectoryAt(r *os.Root, path string) error {
	if err := d.runStep("sync", path); err != nil {
		return err
	}
	f, err := r.Open(".")
	if err != nil {
		return withErrorPath(err, path)
	}
	defer f.Close()
	// Some file systems cannot sync directories, and need not.
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return withErrorPath(err, path)
	}
	return nil
}

// Create creates a file with the given data. If the name already exists, Create changes nothing and
// the error is [fs.ErrExist]. If several processes create the same file, exactly one of them
// succeeds.
func (d *Dir) Create(name string, data []byte) error {
	r, err := d.openParent(name, true)
	if err != nil {
		return err
	}
	defer r.Close()
	base := path.Base(name)
	if _, err := r.Lstat(base); err == nil {
		return &fs.PathError{Op: "create", Path: d.Join(name), Err: fs.ErrExist}
	}
	filled, err := d.writeNewFile(r, name, data)
	if err != nil {
		return err
	}
	err = d.linkUnlessTaken(r, filled, name)
	if err == nil {
		err = d.syncDirectory(r, path.Dir(name))
	}
	// The new link decides success, whatever becomes of the temporary file.
	return cmp.Or(err, d.removeIn(r, path.Join(path.Dir(name), filled)))
}

// linkUnlessTaken gives a complete temporary file its final name, unless a file with that name
// exists. The parameter tempName is the name of the temporary file.
func (d *Dir) linkUnlessTaken(r *os.Root, tempName, name string) error {
	if err := d.runStep("link", d.Join(name)); err != nil {
		return err
	}
	base, beside := path.Base(name), path.Join(path.Dir(name), tempName)
	err := r.Link(tempName, base)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return errors.Join(withErrorPath(err, d.Join(name)), d.removeIn(r, beside))
	}
	// Some file systems have no links. There, two processes that finish a file at the same instant
	// cannot be distinguished.
	if _, there := r.Lstat(base); there == nil {
		return errors.Join(&fs.PathError{Op: "create", Path: d.Join(name), Err: fs.ErrExist}, d.removeIn(r, beside))
	}
	return withErrorPath(r.Rename(tempName, base), d.Join(name))
}

// Replace writes a file with the given data. If the file exists, it is replaced. If the name is a
// link, the link itself is replaced and not its target.
func (d *Dir) Replace(name string, data []byte) error {
	r, err := d.openParent(name, true)
	if err != nil {
		return err
	}
	defer r.Close()
	filled, err := d.writeNewFile(r, name, data)
	if err != nil {
		return err
	}
	if err := d.runStep("rename", d.Join(name)); err != nil {
		return err
	}
	if err := r.Rename(filled, path.Base(name)); err != nil {
		return errors.Join(withErrorPath(err, d.Join(name)), d.removeIn(r, path.Join(path.Dir(name), filled)))
	}
	return d.syncDirectory(r, path.Dir(name))
}

// writeNewFile writes data to a new temporary file, in the directory r of the file with the given
// name. It returns the name of the temporary file once the data have reached the disk.
func (d *Dir) writeNewFile(r *os.Root, name string, data []byte) (tempName string, err error) {
	at := d.Join(name)
	if err := d.runStep("create", at); err != nil {
		return "", err
	}
	f, tempName, err := newTempFile(r, path.Base(name))
	if err != nil {
		return "", withErrorPath(err, at)
	}
	write := func() error {
		if err := d.runStep("write", at); err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := f.Chmod(cmp.Or(d.Mode, 0o644)); err != nil {
			return err
		}
		if err := d.runStep("sync", at); err != nil {
			return err
		}
		return f.Sync()
	}
	err = write()
	if err = cmp.Or(err, f.Close()); err != nil {
		return "", errors.Join(withErrorPath(err, at), d.removeIn(r, path.Join(path.Dir(name), tempName)))
	}
	return tempName, nil
}

// newTempFile creates an empty file with a unique name that begins with base and ends with
// [NewEnding].
func newTempFile(r *os.Root, base string) (f *os.File, name string, err error) {
	const tries = 10_000
	for range tries {
		name = fmt.Sprintf("%s.%d%s", base, rand.Uint32(), NewEnding)
		f, err = r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, name, err
}

// Remove removes a file. Removing a file that does not exist is no error.
func (d *Dir) Remove(name string) error {
	r, err := d.openParent(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return d.removeIn(r, name)
}

// removeIn removes a file from the open directory r.
func (d *Dir) removeIn(r *os.Root, name string) error {
	if err := d.runStep("remove", d.Join(name)); err != nil {
		return err
	}
	if err := r.Remove(path.Base(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return withErrorPath(err, d.Join(name))
	}
	return nil
}

// Open opens a regular file for reading. If the name is not that of a regular file, the error wraps
// [ErrNotRegular].
func (d *Dir) Open(name string) (*os.File, error) {
	r, err := d.openParent(name, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	base, at := path.Base(name), d.Join(name)
	info, err := r.Lstat(base)
	if err != nil {
		return nil, withErrorPath(err, at)
	}
	if !info.Mode().IsRegular() {
		return nil, NotRegularError(at, info.Mode())
	}
	f, err := openRegular(at, func() (*os.File, error) { return r.OpenFile(base, os.O_RDONLY|openNonblocking, 0) }, info)
	return f, withErrorPath(err, at)
}

// Read reads a file of at most maxBytes bytes. For a larger file the error wraps [ErrTooLong].
func (d *Dir) Read(name string, maxBytes int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: a failure to close loses nothing
	data, err := readAll(f, d.Join(name), maxBytes)
	return data, withErrorPath(err, d.Join(name))
}

// ReadPart reads length bytes of a file from an offset on, or fewer where the file ends.
func (d *Dir) ReadPart(name string, offset, length int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: a failure to close loses nothing
	data, err := io.ReadAll(io.NewSectionReader(f, offset, length))
	return data, withErrorPath(err, d.Join(name))
}

// An Entry is a file found by [Dir.Walk], with its name and properties.
type Entry struct {
	Name string // path with slashes, relative to the directory
	fs.FileInfo
}

// Walk returns the files below the directory whose names begin with a prefix, sorted by name. The
// result files also contains entries that are not regular files, such as links, but no directories.
// The result unfinished has the names of unfinished files; see [NewEnding].
func (d *Dir) Walk(prefix string) (files []Entry, unfinished []string, err error) {
	within := path.Dir(prefix + "x") // the directory of all names with the prefix
	r, err := d.openParent(path.Join(within, "x"), false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // nothing has been made yet
	}
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	err = fs.WalkDir(r.FS(), ".", func(at string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && at != "." {
			return nil // it has just been removed
		}
		if err != nil || at == "." {
			return err
		}
		name := path.Join(within, at)
		begins := strings.HasPrefix(name, prefix)
		switch {
		case e.IsDir():
			if !begins && !strings.HasPrefix(prefix, name+"/") {
				return fs.SkipDir
			}
			return nil
		case !begins:
			return nil
		case strings.HasSuffix(name, NewEnding):
			unfinished = append(unfinished, name)
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			files = append(files, Entry{name, info})
		}
		return err
	})
	slices.SortFunc(files, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return files, unfinished, withFullErrorPath(err, d)
}

// withFullErrorPath makes the path in an error, which is relative to the directory d, a full
// path.
func withFullErrorPath(err error, d *Dir) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return withErrorPath(err, d.Join(of.Path))
	}
	return err
}
