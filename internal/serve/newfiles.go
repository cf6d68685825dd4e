package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kir/internal/file"
	"kir/internal/inputerr"
)

// newFiles are the files that were created in a directory, and whether the directory was, too.
type newFiles struct {
	dir     string
	made    bool
	created []string
}

// makeDirectory makes the directory, which must not exist.
func (w *newFiles) makeDirectory() error {
	if err := os.Mkdir(w.dir, 0o777); errors.Is(err, fs.ErrExist) {
		return &inputerr.Error{Message: "there is a directory " + inputerr.Quote(w.dir) + " already", Hint: "try again, which takes " + inputerr.Quote(filepath.Base(freeName(filepath.Dir(w.dir), filepath.Base(w.dir), "")))}
	} else if err != nil {
		return unwritableError(w.dir, err)
	}
	w.made = true
	return nil
}

// create writes a file, which must not exist.
func (w *newFiles) create(name string, data []byte) error {
	path := filepath.Join(w.dir, name)
	if err := file.Create(path, data); errors.Is(err, fs.ErrExist) {
		return &inputerr.Error{Message: "there is a file " + inputerr.Quote(path) + " already", Hint: "rename it; " + inputerr.Quote(freeName(w.dir, strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name))) + " is free"}
	} else if err != nil {
		return unwritableError(path, err)
	}
	w.created = append(w.created, path)
	return nil
}

// remove removes what was created.
func (w *newFiles) remove() (err error) {
	for _, path := range w.created {
		err = errors.Join(err, os.Remove(path))
	}
	if w.made {
		err = errors.Join(err, os.Remove(w.dir))
	}
	return err
}
