package main

import (
	"context"
	"errors"
	"fmt"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/run"
	"kir/mcmc"
)

// explainFailure adds the names of the ingredients to the error of a property that failed during a run. If the
// property is an external program, it also adds how to continue the run, since the user can mend the program
// without changing the problem.
func explainFailure(ctx context.Context, err error, p *compile.Problem, store run.Store) error {
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

// toInputError marks an error as an input error if the user can avoid it by other arguments. It returns other
// errors unchanged.
func toInputError(err error) error {
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
		return &inputerr.Error{Message: err.Error(), Err: err}
	}
	return err
}
