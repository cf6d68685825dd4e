package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"kir/internal/inputerr"
)

// ErrOutside is the error for a path that leads out of the directories of a [Confinement].
var ErrOutside = errors.New("outside of the allowed directories")

// A Confinement is a list of directories. Paths from a stranger may lead nowhere else: neither
// directly, nor by "..", nor by a link.
type Confinement struct {
	given []string // directories as they were given, absolute
	real  []string // the same directories without links
}

// NewConfinement returns the confinement to one or more directories, which must exist. Relative
// paths refer to the working directory.
func NewConfinement(first string, more ...string) (*Confinement, error) {
	c := new(Confinement)
	for _, dir := range append([]string{first}, more...) {
		given, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		real, err := filepath.EvalSymlinks(given)
		if err != nil {
			return nil, &inputerr.Error{File: dir, Message: "there is no such directory", Hint: "check the path", Err: err}
		}
		if info, err := os.Stat(real); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, notDirectoryError(dir, info.Mode())
		}
		c.given, c.real = append(c.given, given), append(c.real, real)
	}
	return c, nil
}

// Directories returns the directories, without links.
func (c *Confinement) Directories() []string { return c.real }

// outsideError returns the error for a path that leads out of the directories.
func outsideError(path string) error {
	return &inputerr.Error{File: path, Message: "this is outside of the directories that kir may use", Hint: "name a file in one of them", Err: ErrOutside}
}

// Resolve returns the path of an existing file or directory without links. A relative path refers
// to the first directory that has it. If the path leads out of the directories, the error wraps
// [ErrOutside], whether or not something is there.
func (c *Confinement) Resolve(path string) (string, error) {
	var missing error
	for _, at := range c.candidates(path) {
		if !c.containsText(at) {
			return "", outsideError(path)
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			missing = &inputerr.Error{File: path, Message: "there is no such file", Hint: "check the path", Err: err}
			continue
		}
		if _, _, ok := c.split(real); !ok {
			return "", outsideError(path)
		}
		return real, nil
	}
	return "", missing
}

// ResolveNew returns the path, without links, of a file or directory to be made. Directories above
// it may be missing. A relative path refers to the first directory. The error is that of
// [Confinement.Resolve].
func (c *Confinement) ResolveNew(path string) (string, error) {
	at := c.candidates(path)[0]
	if !c.containsText(at) {
		return "", outsideError(path)
	}
	if _, err := os.Lstat(at); err == nil {
		return c.Resolve(at)
	}
	above, rest := filepath.Dir(at), filepath.Base(at)
	for {
		if _, err := os.Lstat(above); err == nil || above == filepath.Dir(above) {
			break
		}
		above, rest = filepath.Dir(above), filepath.Join(filepath.Base(above), rest)
	}
	real, err := filepath.EvalSymlinks(above)
	if err != nil {
		return "", outsideError(path) // a link to nothing can lead anywhere
	}
	if _, _, ok := c.split(real); !ok {
		return "", outsideError(path)
	}
	return filepath.Join(real, rest), nil
}

// candidates returns the absolute paths that a path may mean, at least one.
func (c *Confinement) candidates(path string) []string {
	if filepath.IsAbs(path) {
		return []string{filepath.Clean(path)}
	}
	var all []string
	for _, dir := range c.given {
		all = append(all, filepath.Join(dir, path))
	}
	return all
}

// containsText reports whether an absolute path is within one of the directories, by its text alone.
func (c *Confinement) containsText(path string) bool {
	for _, dirs := range [][]string{c.given, c.real} {
		for _, dir := range dirs {
			if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// split splits a path without links into the directory that contains it, and the path from there.
func (c *Confinement) split(real string) (dir, name string, ok bool) {
	for _, dir := range c.real {
		if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
			return dir, rel, true
		}
	}
	return "", "", false
}

// check returns an error unless a path is that of a file within the directories.
func (c *Confinement) check(path string) error {
	_, _, err := c.locate(path)
	return err
}

// open opens a file within the directories for reading. The file is within them even if links change
// meanwhile.
func (c *Confinement) open(path string) (*os.File, error) {
	dir, name, err := c.locate(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() // an opened file stays open
	return root.OpenFile(name, os.O_RDONLY|openNonblocking, 0)
}

// locate returns the directory that contains a file, and the path of the file from there, without
// links.
func (c *Confinement) locate(path string) (dir, name string, err error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", "", err
	}
	if !c.containsText(at) {
		return "", "", outsideError(path)
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return "", "", withErrorPath(err, path) // without the target of a link
	}
	dir, name, ok := c.split(real)
	if !ok {
		return "", "", outsideError(path)
	}
	return dir, name, nil
}

// A confiner is a [Confinement], or nothing. A program that confines nothing, such as the page in a browser, has
// no Confinement linked in.
type confiner interface {
	check(path string) error
	open(path string) (*os.File, error)
}

// confinerKey is the context key of a [confiner].
type confinerKey struct{}

// Confine returns a context in which [Open] and [OpenInput] open only files within the directories
// of c. For other files the error wraps [ErrOutside].
func Confine(ctx context.Context, c *Confinement) context.Context {
	return context.WithValue(ctx, confinerKey{}, confiner(c))
}

// Unconfined returns a context in which [Open] opens any file, though ctx may be one of [Confine].
// It is for files whose contents reach nobody.
func Unconfined(ctx context.Context) context.Context {
	return context.WithValue(ctx, confinerKey{}, nil)
}

// confinerOf returns what confines a context, or nil.
func confinerOf(ctx context.Context) confiner {
	c, _ := ctx.Value(confinerKey{}).(confiner)
	return c
}
