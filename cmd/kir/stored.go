package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kir/internal/run/bucket"
	"kir/internal/terminal"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/mcmc"
)

// problemFileOf returns the path of the problem file of a run. It first tries the path relative to the
// directory of the run, because both may have been moved together. Then it tries the original path.
func problemFileOf(r *run.Run) (string, error) {
	path := r.Manifest.Problem
	if path == "" {
		return "", &inputerr.Error{File: r.Dir, Message: "the run does not know where its problem file is", Hint: "name it with --problem"}
	}
	if !filepath.IsAbs(path) && !bucket.IsBucket(r.Dir) {
		path = filepath.Join(r.Dir, path)
	}
	if _, err := os.Stat(path); err != nil && r.Manifest.Place != "" {
		path = r.Manifest.Place
	}
	return path, nil
}

// loadProblemOfRun loads the problem of a run, with the given settings. It reads the first of these that is
// available:
//   - The file at path, if path is not empty.
//   - The original problem file.
//   - The copy of the problem in the run. Its data files must be at their original paths.
func loadProblemOfRun(ctx context.Context, r *run.Run, path string, settings mcmc.Settings, workers int, d *spinner) (*compile.Problem, error) {
	defer d.endWork()
	o := compile.Options{
		Progress:        d.beginWork,
		Workers:         workers,
		Effort:          r.Manifest.Effort,
		CacheCounts:     true, // the command that began the run has stored them, if they took long
		OverrideSampler: func(s *mcmc.Settings) { *s = settings },
	}
	if r.Manifest.Auto != nil && settings.Draws == mcmc.AutoDraws {
		limit := r.Manifest.Auto.TimeLimit()
		o.Time = &limit
	}
	if path == "" {
		var err error
		if path, err = problemFileOf(r); err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if o.Text, err = r.Problem(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
	}
	p, err := compile.Load(ctx, path, o)
	if err != nil && (o.Text != nil || errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("the problem of the run: %w; say where it is with --problem", err)
	}
	if err != nil {
		return nil, fmt.Errorf("the problem of the run: %w", err)
	}
	if o.Text != nil {
		// The other inputs and the target show whether the draws are the same.
		p.Inputs[0] = compile.Input(r.Manifest.Inputs[0])
	}
	return p, nil
}

// summarizeRun makes the summary of a complete run and, if page is true, the HTML page of the run.
func summarizeRun(ctx context.Context, dir, file string, workers int, page bool, d *spinner) (m *report.Model, err error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	r, err := run.Open(ctx, store)
	if err != nil {
		return nil, toInputError(err)
	}
	if err := r.CheckComplete(); err != nil {
		return nil, toInputError(err)
	}
	p, err := loadProblemOfRun(ctx, r, file, r.Manifest.SettingsAsStarted(), workers, d)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	spec, err := newSpec(p, dir)
	if err != nil {
		return nil, err
	}
	result, err := run.Merge(ctx, spec, store, run.Options{Workers: workers})
	if err != nil {
		return nil, toInputError(explainFailure(ctx, err, p, store))
	}
	steps, err := run.StoredSteps(ctx, spec, store)
	if err != nil {
		return nil, toInputError(err)
	}
	return writeReport(ctx, p, store, result, steps, page)
}

// readStoredSummary reads the summary of a run. The result why is not empty if the summary must be made again:
// it is missing, was changed, or does not fit the stored draws. Then why gives the reason.
func readStoredSummary(ctx context.Context, store run.Store, printMessage func(string)) (m *report.Model, why string, err error) {
	m, err = report.Read(ctx, store)
	if errors.Is(err, report.ErrNoSummary) {
		return nil, "the summary is made of the draws, as there is none", nil
	}
	damage := err
	if err != nil && !errors.Is(err, run.ErrDamaged) {
		return nil, "", err
	}
	r, err := run.Open(ctx, store)
	if none := (*run.NotRunError)(nil); errors.As(err, &none) {
		if damage == nil {
			printMessage("there is no run beside this summary, and nothing that says whether it is of its draws")
		}
		return m, "", damage
	}
	if err == nil {
		err = checkRunComplete(r, printMessage)
	}
	if err != nil {
		return nil, "", toInputError(err)
	}
	if damage != nil {
		return nil, damage.Error() + "; it is made again", nil
	}
	parts, err := r.Parts(ctx)
	if err != nil {
		return nil, "", err
	}
	if !slices.Equal(parts, m.Parts) {
		return m, "summary.json was made of other draws than those that are there, and is made again", nil
	}
	return m, "", nil
}

// checkRunComplete returns an error unless the run has all its draws. It prints a message for each damaged
// state of a chain, because a complete run does not need the states.
func checkRunComplete(r *run.Run, printMessage func(string)) error {
	s, err := r.Status()
	if err != nil {
		return err
	}
	for _, damage := range s.DamagedStates() {
		printMessage(fmt.Sprintf("%v; kir resume %s makes it again", damage, terminal.ShellWord(r.Dir)))
	}
	return r.CheckComplete()
}

// readRunSummary returns the summary of a run. If the stored summary cannot be used, it prints a message and
// makes the summary again.
func readRunSummary(c *cobra.Command, dir string) (*report.Model, error) {
	ctx := c.Context()
	tell := newLogger(c.ErrOrStderr(), false)
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	m, why, err := readStoredSummary(ctx, store, tell)
	if err != nil {
		return nil, err
	}
	if why != "" {
		tell(why)
		return summarizeRun(ctx, dir, "", 0, m == nil || slices.Contains(m.Files, view.PageName), newSpinner(c.Context(), c.ErrOrStderr(), false))
	}
	_, err = refreshPage(ctx, store, m, tell)
	return m, err
}

// refreshPage makes the HTML page of a run again if there is one and it does not fit the stored draws. made
// reports whether it was made again.
func refreshPage(ctx context.Context, store run.Store, m *report.Model, printMessage func(string)) (made bool, err error) {
	if !slices.Contains(m.Files, view.PageName) {
		return false, nil
	}
	if fresh, err := view.PageIsFresh(ctx, store, m); err != nil || fresh {
		return false, err
	}
	printMessage("report.html was not made of the draws that are there, and is made again")
	if err := view.SavePage(ctx, store, m); err != nil {
		return false, fmt.Errorf("writing the report: %w", err)
	}
	return true, nil
}
