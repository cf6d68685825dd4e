package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the files of a run; see the package's documentation.
const (
	problemName  = "problem.yaml"
	manifestName = "manifest.json"
	resultName   = "result"
	lockName     = "lock"
)

func drawsName(chain int) string      { return fmt.Sprintf("draws-%d.parquet", chain) }
func partialName(chain int) string    { return drawsName(chain) + ".partial" }
func checkpointName(chain int) string { return fmt.Sprintf("checkpoint-%d", chain) }

// previous is the name of what a file was before it was replaced.
func previous(name string) string { return name + ".old" }

// A file is what a run needs of an [os.File].
type file interface {
	io.Writer
	io.Seeker
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// directory is where a run keeps its files.
type directory struct {
	path string
	// open opens a file for writing. It is [openFile] but for tests.
	open func(path string, flag int) (file, error)
}

func openFile(path string, flag int) (file, error) { return os.OpenFile(path, flag, 0o666) }

func (d *directory) join(name string) string { return filepath.Join(d.path, name) }

// replace makes data the contents of a file, so that whatever happens the file
// holds all of what it held or all of data, and on return data has reached the
// disk. If keep is set, what the file held is kept under its [previous] name.
func (d *directory) replace(name string, data []byte, keep bool) error {
	path := d.join(name)
	err := d.fill(path+".new", data)
	if err != nil {
		os.Remove(path + ".new")
		return err
	}
	if keep {
		if err := os.Rename(path, d.join(previous(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return d.sync()
}

// fill writes a file and waits until it has reached the disk.
func (d *directory) fill(path string, data []byte) error {
	f, err := d.open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// sync waits until what was created, renamed and removed in the directory has
// reached the disk.
func (d *directory) sync() error { return syncDirectory(d.path) }

func syncDirectory(path string) error {
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

// WriteFile makes data the contents of a file in the directory of a run, so
// that at any moment the file holds all of what it held before or all of data.
func WriteFile(dir, name string, data []byte) error {
	d := directory{path: dir, open: openFile}
	return d.replace(name, data, false)
}
