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

// NewEnding is the ending of the names of unfinished files, NAME.DIGITS.new. Such a file is being
// written, or was being written when a process was killed.
const NewEnding = ".new"

// A Dir is a directory in which kir keeps files. The directory need not exist yet. Its path may
// contain links; below the directory kir follows no links. Names of files are paths with slashes,
// relative to the directory.
//
// kir writes a file whole under another name and then renames the file. So at any moment the file
// has either its old or its new content. The new content has reached the disk when the call
// returns.
type Dir struct {
	Path string

	// Mode holds the permissions of written files; 0 means 0o644.
	Mode fs.FileMode

	// Step is called before each system call that changes something. If Step returns an error, the
	// system call is left out and fails with this error. Step is for tests, and nil otherwise.
	Step func(call, path string) error
}

// Create creates a file with the given data. If anything of that name exists, Create leaves it
// unchanged and the error is [fs.ErrExist].
func Create(path string, data []byte) error { return parentDir(path).Create(filepath.Base(path), data) }

// Replace writes data as the content of a file, which it creates if needed. If the path is a link,
// the link itself is replaced and not its target.
func Replace(path string, data []byte) error {
	return parentDir(path).Replace(filepath.Base(path), data)
}

// Read reads a file that kir has written. The file may have at most maxBytes bytes. Read does not
// follow a link.
func Read(path string, maxBytes int64) ([]byte, error) {
	return parentDir(path).Read(filepath.Base(path), maxBytes)
}

// parentDir returns the directory that contains a path.
func parentDir(path string) *Dir { return &Dir{Path: filepath.Dir(path)} }

// Join returns the path of the file with the given name.
func (d *Dir) Join(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }

func (d *Dir) runStep(call, path string) error {
	if d.Step == nil {
		return nil
	}
	return d.Step(call, path)
}

// replaceErrorPath returns the error with the given path as the path of the file.
func replaceErrorPath(err error, path string) error {
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

// operationVerb returns a verb for a system call, for messages.
func operationVerb(op string) string {
	switch op {
	case "openat", "stat", "lstat", "statat", "lstatat":
		return "open"
	case "unlinkat":
		return "remove"
	}
	return strings.TrimSuffix(op, "at")
}

// openParent opens the directory that contains the file with the given name. If make is set,
// openParent creates the directory where needed. No directory on the way below the Dir may be a
// link.
func (d *Dir) openParent(name string, make bool) (*os.Root, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: d.Join(name), Err: fs.ErrInvalid}
	}
	if make {
		if err := d.makeDirectories(); err != nil {
			return nil, err
		}
	}
	// Opening a pipe would wait for a writer.
	if info, err := os.Stat(d.Path); err != nil {
		return nil, replaceErrorPath(err, d.Join(name))
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
		next, err := d.openSubdirectory(r, part, at, make)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		r = next
	}
	return r, nil
}

// openSubdirectory opens the subdirectory of r that is called part. The parameter at is the path of
// the subdirectory relative to the Dir. If make is set, a missing subdirectory is created.
func (d *Dir) openSubdirectory(r *os.Root, part, at string, make bool) (*os.Root, error) {
	info, err := r.Lstat(part)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := d.runStep("mkdir", d.Join(at)); err != nil {
			return nil, err
		}
		if err := r.Mkdir(part, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, replaceErrorPath(err, d.Join(at))
		}
		if err := d.sync(r, path.Dir(at)); err != nil {
			return nil, err
		}
		info, err = r.Lstat(part)
	}
	if err != nil {
		return nil, replaceErrorPath(err, d.Join(at))
	}
	if !info.IsDir() {
		return nil, notDirectoryError(d.Join(at), info.Mode())
	}
	next, err := r.OpenRoot(part)
	if err != nil {
		return nil, replaceErrorPath(err, d.Join(at))
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(info, is) {
		return nil, errors.Join(cmp.Or(err, notDirectoryError(d.Join(at), fs.ModeSymlink)), next.Close())
	}
	return next, nil
}

// makeDirectories creates the directory of the Dir and missing directories above it. All of them
// have reached the disk when makeDirectories returns.
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
		err = d.syncPath(above, filepath.Dir(at))
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

// sync waits until all changes of the entries of the open directory r have reached the disk. The
// parameter name is the name of the directory, for errors.
func (d *Dir) sync(r *os.Root, name string) error { return d.syncPath(r, d.Join(name)) }

func (d *Dir) syncPath(r *os.Root, path string) error {
	if err := d.runStep("sync", path); err != nil {
		return err
	}
	f, err := r.Open(".")
	if err != nil {
		return replaceErrorPath(err, path)
	}
	defer f.Close()
	// Some file systems cannot sync directories, and need not.
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return replaceErrorPath(err, path)
	}
	return nil
}

// Create creates a file with the given data. If anything of that name exists, Create leaves it
// unchanged and the error is [fs.ErrExist]. If several processes create one file, exactly one of
// them succeeds.
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
		err = d.sync(r, path.Dir(name))
	}
	// The new link decides success, whatever becomes of the temporary file.
	return cmp.Or(err, d.remove(r, path.Join(path.Dir(name), filled)))
}

// linkUnlessTaken gives a complete file its final name, unless the name is taken. The parameter
// filled is the temporary name of the file.
func (d *Dir) linkUnlessTaken(r *os.Root, filled, name string) error {
	if err := d.runStep("link", d.Join(name)); err != nil {
		return err
	}
	base, beside := path.Base(name), path.Join(path.Dir(name), filled)
	err := r.Link(filled, base)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return errors.Join(replaceErrorPath(err, d.Join(name)), d.remove(r, beside))
	}
	// Some file systems have no links. There, two processes that finish a file at the same instant
	// cannot be distinguished.
	if _, there := r.Lstat(base); there == nil {
		return errors.Join(&fs.PathError{Op: "create", Path: d.Join(name), Err: fs.ErrExist}, d.remove(r, beside))
	}
	return replaceErrorPath(r.Rename(filled, base), d.Join(name))
}

// Replace writes data as the content of a file, which it creates if needed. If the name is a link,
// the link itself is replaced and not its target.
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
		return errors.Join(replaceErrorPath(err, d.Join(name)), d.remove(r, path.Join(path.Dir(name), filled)))
	}
	return d.sync(r, path.Dir(name))
}

// writeNewFile writes data to a new temporary file in the directory of the file with the given
// name. It returns the name of the temporary file once the data have reached the disk.
func (d *Dir) writeNewFile(r *os.Root, name string, data []byte) (filled string, err error) {
	at := d.Join(name)
	if err := d.runStep("create", at); err != nil {
		return "", err
	}
	f, filled, err := newTempFile(r, path.Base(name))
	if err != nil {
		return "", replaceErrorPath(err, at)
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
		return "", errors.Join(replaceErrorPath(err, at), d.remove(r, path.Join(path.Dir(name), filled)))
	}
	return filled, nil
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
	return d.remove(r, name)
}

func (d *Dir) remove(r *os.Root, name string) error {
	if err := d.runStep("remove", d.Join(name)); err != nil {
		return err
	}
	if err := r.Remove(path.Base(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return replaceErrorPath(err, d.Join(name))
	}
	return nil
}

// Open opens a regular file to read. For anything else the error is [ErrNotRegular].
func (d *Dir) Open(name string) (*os.File, error) {
	r, err := d.openParent(name, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	base, at := path.Base(name), d.Join(name)
	info, err := r.Lstat(base)
	if err != nil {
		return nil, replaceErrorPath(err, at)
	}
	if !info.Mode().IsRegular() {
		return nil, NotRegularError(at, info.Mode())
	}
	f, err := openRegular(at, func() (*os.File, error) { return r.OpenFile(base, os.O_RDONLY|openNonblocking, 0) }, info)
	return f, replaceErrorPath(err, at)
}

// Read reads a file of at most maxBytes bytes. For a larger file the error wraps [ErrTooLong].
func (d *Dir) Read(name string, maxBytes int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: a failure to close loses nothing
	data, err := readAll(f, d.Join(name), maxBytes)
	return data, replaceErrorPath(err, d.Join(name))
}

// ReadPart reads length bytes of a file from an offset on, or fewer if the file ends before.
func (d *Dir) ReadPart(name string, offset, length int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: a failure to close loses nothing
	data, err := io.ReadAll(io.NewSectionReader(f, offset, length))
	return data, replaceErrorPath(err, d.Join(name))
}

// An Entry is a file below a directory, as [Dir.Walk] finds it.
type Entry struct {
	Name string // path with slashes, relative to the directory
	fs.FileInfo
}

// Walk returns the files below the directory whose names begin with a prefix, sorted by name.
// Unfinished files, see [NewEnding], are returned separately, by their names. An entry that is
// neither a file nor a directory is among the files, with its mode.
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
	return files, unfinished, prependDirToErrorPath(err, d)
}

// prependDirToErrorPath puts the path of the Dir before the path in an error.
func prependDirToErrorPath(err error, d *Dir) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return replaceErrorPath(err, d.Join(of.Path))
	}
	return err
}
