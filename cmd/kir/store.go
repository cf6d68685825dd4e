package main

import (
	"context"
	"os"
	"path/filepath"

	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/run"
	"kir/internal/run/bucket"
)

// openStore returns the place where a run is stored. The location that the user gives is a bucket or a
// directory.
func openStore(location string) (run.Store, error) {
	if !bucket.IsBucket(location) {
		if info, err := os.Stat(location); err == nil && !info.IsDir() {
			return nil, &inputerr.Error{File: location, Message: "this is a file, not the directory of a run", Hint: "name a directory; kir sample writes one"}
		}
		return run.NewDirectoryStore(location), nil
	}
	store, err := bucket.Open(location)
	if err != nil {
		return nil, &inputerr.Error{Message: err.Error(), Err: err}
	}
	return store, nil
}

// openRun opens the run that is stored at a location.
func openRun(ctx context.Context, location string) (*run.Run, error) {
	store, err := openStore(location)
	if err != nil {
		return nil, err
	}
	r, err := run.Open(ctx, store)
	return r, toInputError(err)
}

// createFile writes a new file, completely or not at all. The directory of the file must exist. If the file
// exists, the error is fs.ErrExist.
func createFile(path string, data []byte) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	return file.Create(path, data)
}

// replaceFile writes a file, completely or not at all, and replaces an existing file. The directory of the file
// must exist.
func replaceFile(path string, data []byte) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	return file.Replace(path, data)
}
