package main

import (
	"context"
	"errors"
	"fmt"

	"kir/internal/fault"
	"kir/internal/problem"
	"kir/internal/run"
	"kir/mcmc"
)

// explainFailure tells of a property that failed in a run with the names of the
// ingredients, and how to go on if it is a program, which can be mended without
// the problem being another one.
func explainFailure(ctx context.Context, err error, p *problem.Problem, store run.Store) error {
	var score *mcmc.ScoreError
	err = p.Explain(err)
	if !errors.As(err, &score) {
		return err
	}
	if _, none := run.Open(ctx, store); none != nil {
		return err
	}
	for k := range p.Properties {
		if w := &p.Properties[k]; w.Name == score.Objective && w.Kind == "program" {
			return fmt.Errorf("%w; the draws so far are kept: mend the program and go on with kir resume %s", err, store.Location())
		}
	}
	return err
}

// inputError turns what the user can mend by other arguments into an error of
// input.
func inputError(err error) error {
	var (
		exists     *run.ExistsError
		busy       *run.BusyError
		changed    *run.ChangedError
		noRun      *run.NotRunError
		unfinished *run.UnfinishedError
		bounds     *run.BoundsError
		state      *run.StateError
	)
	if errors.As(err, &exists) || errors.As(err, &busy) || errors.As(err, &changed) || errors.As(err, &noRun) || errors.As(err, &unfinished) || errors.As(err, &bounds) || errors.As(err, &state) {
		return &fault.Error{Message: err.Error(), Err: err}
	}
	return err
}
