package main

import (
	"context"
	"path/filepath"

	"kir/fault"
	"kir/run"
	"kir/run/bucket"
)

// storeAt returns the store of a run at a location that the user named: a bucket
// or a directory.
func storeAt(location string) (run.Store, error) {
	if !bucket.Is(location) {
		return run.Directory(location), nil
	}
	store, err := bucket.Open(location)
	if err != nil {
		return nil, &fault.Error{Message: err.Error(), Err: err}
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

// writeNew writes a file that must not exist, whole or not at all; else the error is
// fs.ErrExist.
func writeNew(path string, data []byte) error {
	return run.Directory(filepath.Dir(path)).Create(context.Background(), filepath.Base(path), data)
}

// writeOver writes a file, whole or not at all, whether or not it exists.
func writeOver(path string, data []byte) error {
	return run.Directory(filepath.Dir(path)).Replace(context.Background(), filepath.Base(path), data)
}
