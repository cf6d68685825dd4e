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

// NewEnding ends the names of unfinished files, which are being written or were when a process was
// killed: NAME.DIGITS.new.
const NewEnding = ".new"

// A Dir is a directory in which kir keeps files. It need not exist yet. The path to it may contain
// links; below it kir follows none. Names are paths with slashes.
//
// kir writes a file whole under another name and then renames it. So at any moment the file has
// either its old or its new content. The new content has reached the disk when the call returns.
type Dir struct {
	Path string

	// Mode is the mode of written files; 0 means 0o644.
	Mode fs.FileMode

	// Step is called before each system call that changes something, and its error replaces that
	// call's. It is for tests, and nil otherwise.
	Step func(call, path string) error
}

// Create creates a file with data. If anything of that name exists, it is left unchanged and the
// error is [fs.ErrExist].
func Create(path string, data []byte) error { return parentDir(path).Create(filepath.Base(path), data) }

// Replace makes data the content of a file, whether or not it exists. It replaces a link itself,
// not the link's target.
func Replace(path string, data []byte) error {
	return parentDir(path).Replace(filepath.Base(path), data)
}

// Read reads a file of at most most bytes that kir has written. It does not follow a link.
func Read(path string, most int64) ([]byte, error) {
	return parentDir(path).Read(filepath.Base(path), most)
}

// parentDir returns the directory of a path.
func parentDir(path string) *Dir { return &Dir{Path: filepath.Dir(path)} }

// Join returns the path of a file.
func (d *Dir) Join(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }

func (d *Dir) runStep(call, path string) error {
	if d.Step == nil {
		return nil
	}
	return d.Step(call, path)
}

// withPath adds the path of the file to an error.
func withPath(err error, path string) error {
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

// operationVerb describes a system call in words, for a message.
func operationVerb(op string) string {
	switch op {
	case "openat", "stat", "lstat", "statat", "lstatat":
		return "open"
	case "unlinkat":
		return "remove"
	}
	return strings.TrimSuffix(op, "at")
}

// openParent opens the directory that contains a name, and creates it if make is set. Nothing below
// the Dir may be a link.
func (d *Dir) openParent(name string, make bool) (*os.Root, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: d.Join(name), Err: fs.ErrInvalid}
	}
	if make {
		if err := d.makePath(); err != nil {
			return nil, err
		}
	}
	// Opening a pipe would wait for a writer.
	if info, err := os.Stat(d.Path); err != nil {
		return nil, withPath(err, d.Join(name))
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

// openSubdirectory opens a directory of r, whose name is at.
func (d *Dir) openSubdirectory(r *os.Root, part, at string, make bool) (*os.Root, error) {
	info, err := r.Lstat(part)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := d.runStep("mkdir", d.Join(at)); err != nil {
			return nil, err
		}
		if err := r.Mkdir(part, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, withPath(err, d.Join(at))
		}
		if err := d.sync(r, path.Dir(at)); err != nil {
			return nil, err
		}
		info, err = r.Lstat(part)
	}
	if err != nil {
		return nil, withPath(err, d.Join(at))
	}
	if !info.IsDir() {
		return nil, notDirectoryError(d.Join(at), info.Mode())
	}
	next, err := r.OpenRoot(part)
	if err != nil {
		return nil, withPath(err, d.Join(at))
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(info, is) {
		return nil, errors.Join(cmp.Or(err, notDirectoryError(d.Join(at), fs.ModeSymlink)), next.Close())
	}
	return next, nil
}

// makePath creates the directory itself, and those above it. Each has reached the disk when it
// returns.
func (d *Dir) makePath() error {
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

// MakeDir creates the directory of a name.
func (d *Dir) MakeDir(name string) error {
	r, err := d.openParent(name, true)
	if err != nil {
		return err
	}
	return r.Close()
}

// sync waits until all files created, renamed and removed in the directory of that name have
// reached the disk.
func (d *Dir) sync(r *os.Root, name string) error { return d.syncPath(r, d.Join(name)) }

func (d *Dir) syncPath(r *os.Root, path string) error {
	if err := d.runStep("sync", path); err != nil {
		return err
	}
	f, err := r.Open(".")
	if err != nil {
		return withPath(err, path)
	}
	defer f.Close()
	// Some file systems cannot sync directories, and need not.
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return withPath(err, path)
	}
	return nil
}

// Create creates a file with data. If anything of that name exists, it is left unchanged and the
// error is [fs.ErrExist]. If several processes create one file, one of them succeeds.
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
	err = d.link(r, filled, name)
	if err == nil {
		err = d.sync(r, path.Dir(name))
	}
	// The new link decides success, whatever becomes of the temporary file.
	return cmp.Or(err, d.remove(r, path.Join(path.Dir(name), filled)))
}

// link gives a complete file its name, unless the name is taken.
func (d *Dir) link(r *os.Root, filled, name string) error {
	if err := d.runStep("link", d.Join(name)); err != nil {
		return err
	}
	base, beside := path.Base(name), path.Join(path.Dir(name), filled)
	err := r.Link(filled, base)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return errors.Join(withPath(err, d.Join(name)), d.remove(r, beside))
	}
	// Some file systems have no links. There, two processes that finish a file at the same instant
	// cannot be distinguished.
	if _, there := r.Lstat(base); there == nil {
		return errors.Join(&fs.PathError{Op: "create", Path: d.Join(name), Err: fs.ErrExist}, d.remove(r, beside))
	}
	return withPath(r.Rename(filled, base), d.Join(name))
}

// Replace makes data the content of a file, whether or not it exists. It replaces a link itself,
// not the link's target.
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
		return errors.Join(withPath(err, d.Join(name)), d.remove(r, path.Join(path.Dir(name), filled)))
	}
	return d.sync(r, path.Dir(name))
}

// writeNewFile writes data to a new file beside a name. It returns the new file's name once the
// data has reached the disk.
func (d *Dir) writeNewFile(r *os.Root, name string, data []byte) (filled string, err error) {
	at := d.Join(name)
	if err := d.runStep("create", at); err != nil {
		return "", err
	}
	f, filled, err := newTempFile(r, path.Base(name))
	if err != nil {
		return "", withPath(err, at)
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
		return "", errors.Join(withPath(err, at), d.remove(r, path.Join(path.Dir(name), filled)))
	}
	return filled, nil
}

// newTempFile creates an empty file with a unique name that begins with base.
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

// Remove removes a file. It is no error if the file does not exist.
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
		return withPath(err, d.Join(name))
	}
	return nil
}

// Open opens a file to read. The error for anything but a regular file is [ErrNotRegular].
func (d *Dir) Open(name string) (*os.File, error) {
	r, err := d.openParent(name, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	base, at := path.Base(name), d.Join(name)
	info, err := r.Lstat(base)
	if err != nil {
		return nil, withPath(err, at)
	}
	if !info.Mode().IsRegular() {
		return nil, NotRegularError(at, info.Mode())
	}
	f, err := openRegular(at, func() (*os.File, error) { return r.OpenFile(base, os.O_RDONLY|openNonblocking, 0) }, info)
	return f, withPath(err, at)
}

// Read reads a file of at most so many bytes.
func (d *Dir) Read(name string, most int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: a failure to close loses nothing
	data, err := readAll(f, d.Join(name), most)
	return data, withPath(err, d.Join(name))
}

// ReadPart reads so many bytes of a file from an offset on, or fewer if the file ends.
func (d *Dir) ReadPart(name string, offset, length int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: a failure to close loses nothing
	data, err := io.ReadAll(io.NewSectionReader(f, offset, length))
	return data, withPath(err, d.Join(name))
}

// An Entry is a file of a directory.
type Entry struct {
	Name string // relative to the directory
	fs.FileInfo
}

// Walk returns the files below the directory whose names begin with a prefix, by name. It also
// returns the names of unfinished files. An entry that is neither a file nor a directory is among
// the files, with its mode.
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
	return files, unfinished, withDirPath(err, d)
}

// withDirPath makes an error's path start from the Dir's path.
func withDirPath(err error, d *Dir) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return withPath(err, d.Join(of.Path))
	}
	return err
}
