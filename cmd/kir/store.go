package main

import (
	"context"

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
