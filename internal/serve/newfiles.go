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

// A newFiles value records which files were created in a directory, so that they can be removed
// after an error.
type newFiles struct {
	dir          string   // path of the directory
	hidesPaths   bool     // whether errors name no paths; see [SetupOptions]
	createdDir   bool     // whether the directory was created
	createdFiles []string // paths of the created files
}

// makeDirectory creates the directory. It returns an error if the directory exists.
func (w *newFiles) makeDirectory() error {
	if err := os.Mkdir(w.dir, 0o777); errors.Is(err, fs.ErrExist) {
		return &inputerr.Error{Message: "there is a directory " + inputerr.Quote(w.dir) + " already", Hint: "try again; kir then uses " + inputerr.Quote(filepath.Base(unusedName(filepath.Dir(w.dir), filepath.Base(w.dir), "")))}
	} else if err != nil {
		return w.unwritableError(w.dir, err)
	}
	w.createdDir = true
	return nil
}

// createFile creates a file with the given data. It returns an error if the file exists.
func (w *newFiles) createFile(name string, data []byte) error {
	path := filepath.Join(w.dir, name)
	if err := file.Create(path, data); errors.Is(err, fs.ErrExist) {
		return &inputerr.Error{Message: "there is a file " + inputerr.Quote(path) + " already", Hint: "rename it; " + inputerr.Quote(unusedName(w.dir, strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name))) + " is free"}
	} else if err != nil {
		return w.unwritableError(path, err)
	}
	w.createdFiles = append(w.createdFiles, path)
	return nil
}

// removeAll removes all created files and, if makeDirectory created the directory, the directory.
func (w *newFiles) removeAll() (err error) {
	for _, path := range w.createdFiles {
		err = errors.Join(err, os.Remove(path))
	}
	if w.createdDir {
		err = errors.Join(err, os.Remove(w.dir))
	}
	return err
}

// unwritableError returns the error for a file that cannot be written. Its message says that no
// problem was made.
func (w *newFiles) unwritableError(path string, err error) error {
	if w.hidesPaths {
		return &inputerr.Error{Message: "the problem cannot be stored", Hint: "nothing was made; make room in the browser's storage, and try again", Err: err}
	}
	return &inputerr.Error{Message: inputerr.Quote(path) + " cannot be written: " + err.Error(), Hint: "nothing was made; make room, or start kir serve in a directory that can be written", Err: err}
}
