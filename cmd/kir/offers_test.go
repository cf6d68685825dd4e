package main

import (
	"context"
	"errors"
	"testing"
)

// TestSuggest: a trial that fails ends in no offer and no error, one that was cancelled in the
// context's error.
func TestSuggest(t *testing.T) {
	failed := errors.New("no recipe was found to start from")
	ctx, cancel := context.WithCancel(t.Context())
	if o, err := runOfferTrial(ctx, func() (*offer, error) { return nil, failed }); o != nil || err != nil {
		t.Errorf("a trial that failed gives %v, %v", o, err)
	}
	if o, err := runOfferTrial(ctx, func() (*offer, error) { return &offer{Text: "better"}, nil }); o == nil || err != nil {
		t.Errorf("a trial gives %v, %v", o, err)
	}
	cancel()
	if o, err := runOfferTrial(ctx, func() (*offer, error) { return nil, failed }); o != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("a trial that was cancelled gives %v, %v", o, err)
	}
}
