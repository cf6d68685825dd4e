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

// storeAt returns the store at a location given by the user: a bucket or a directory.
func storeAt(location string) (run.Store, error) {
	if !bucket.IsBucket(location) {
		if info, err := os.Stat(location); err == nil && !info.IsDir() {
			return nil, &inputerr.Error{File: location, Message: "this is a file, not the directory of a run", Hint: "name a directory; kir sample writes one"}
		}
		return run.Directory(location), nil
	}
	store, err := bucket.Open(location)
	if err != nil {
		return nil, &inputerr.Error{Message: err.Error(), Err: err}
	}
	return store, nil
}

// openRun opens the run at a location.
func openRun(ctx context.Context, location string) (*run.Run, error) {
	store, err := storeAt(location)
	if err != nil {
		return nil, err
	}
	r, err := run.Open(ctx, store)
	return r, inputError(err)
}

// writeNew writes a new file, whole or not at all. If it exists, the error is fs.ErrExist. Its
// directory must exist.
func writeNew(path string, data []byte) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	return file.Create(path, data)
}

// writeOver is writeNew for a file that may exist.
func writeOver(path string, data []byte) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	return file.Replace(path, data)
}
