package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"kir/fault"
	"kir/problem"
	"kir/report"
	"kir/report/terminal"
	"kir/report/view"
	"kir/run"
)

func newReportCommand() *cobra.Command {
	var out, figures string
	c := &cobra.Command{
		Use:   "report RUN [-o FILE] [--figures DIR]",
		Short: "Write the report of a run as a page to look at, print and mail",
		Long: `Write the report of a finished run: one HTML file that needs no other, no network
and no scripts. kir sample writes it too; this is for runs made with --no-report,
for another place, and for the figures.

--figures writes each figure of the report as SVG and PNG.`,
		Example: `  kir report runs/fresh-all-day-cocktails-1
  kir report runs/fresh-all-day-cocktails-1 -o cocktails.html --figures figures`,
		Args:              one("run directory"),
		ValidArgsFunction: runDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[0]
			m, err := report.Read(dir)
			if errors.Is(err, report.ErrNoSummary) {
				// The run was interrupted between its last draw and the summary.
				m, err = summarize(c.Context(), dir)
			}
			if err != nil {
				return err
			}
			path := out
			if path == "" {
				path = filepath.Join(dir, view.PageName)
				if !slices.Contains(m.Files, view.PageName) {
					m.Files = append([]string{view.PageName}, m.Files...)
					err = m.Save(dir)
				}
				if err == nil {
					err = view.SavePage(dir, m)
				}
			} else {
				var b bytes.Buffer
				if err = view.Page(&b, m); err == nil {
					err = os.WriteFile(path, b.Bytes(), 0o666)
				}
			}
			if err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
			written := []string{path}
			if figures != "" {
				files, err := saveFigures(m, figures)
				if err != nil {
					return fmt.Errorf("writing the figures: %w", err)
				}
				written = append(written, files...)
			}
			for _, path := range written {
				fmt.Fprintln(c.OutOrStdout(), terminal.Plain(path))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file of the page (default: report.html in the run's directory)")
	c.Flags().StringVar(&figures, "figures", "", "directory to write each figure to, as SVG and PNG")
	must(c.MarkFlagFilename("output", "html"))
	must(c.MarkFlagDirname("figures"))
	return c
}

// summarize makes the summary of a run that has all its draws and no summary.
func summarize(ctx context.Context, dir string) (m *report.Model, err error) {
	r, err := run.Open(dir)
	if err != nil {
		return nil, inputError(err)
	}
	result, err := r.Result()
	if err != nil {
		return nil, inputError(err)
	}
	p, err := problemOfRun(ctx, r, problem.Sampler(r.Manifest.Settings), 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for k, in := range p.Inputs {
		if k >= len(r.Manifest.Inputs) || r.Manifest.Inputs[k] != in {
			return nil, &fault.Error{File: dir, Message: fmt.Sprintf("the input %s is not what the run was made of", fault.Quote(in.Path)), Hint: "put it back"}
		}
	}
	return conclude(ctx, p, dir, result, false)
}

// saveFigures writes the figures of a report and returns the files.
func saveFigures(m *report.Model, dir string) ([]string, error) {
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	var files []string
	for _, f := range view.Figures(m) {
		saved, err := f.Save(dir)
		if err != nil {
			return nil, err
		}
		files = append(files, saved...)
	}
	return files, nil
}
