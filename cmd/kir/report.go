package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/report/figure"
	"kir/internal/report/view"
	"kir/internal/terminal"
)

func newReportCommand() *cobra.Command {
	var out, figures string
	c := &cobra.Command{
		Use:   "report RUN [-o FILE] [--figures DIR]",
		Short: "Write the report of a run as one HTML file",
		Long: `Write the report of a finished run as one HTML file that needs no other files. Its only
script sorts and filters tables; without scripts the page is complete. kir sample writes
the report, too. Use kir report after kir sample --no-report, to write it elsewhere, or
to export figures.

--figures writes each figure of the report as SVG and PNG.`,
		Example: `  kir report runs/fresh-all-day-cocktails-1
  kir report runs/fresh-all-day-cocktails-1 -o cocktails.html --figures figures`,
		Args:              requireOneArg("run directory"),
		ValidArgsFunction: completeRunDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[0]
			if err := checkPageName(out); err != nil {
				return err
			}
			store, err := openStore(dir)
			if err != nil {
				return err
			}
			m, err := readRunSummary(c, dir)
			if err != nil {
				return err
			}
			path := out
			if path == "" {
				path = store.Path(view.PageName)
				if !slices.Contains(m.Files, view.PageName) {
					m.Files = append([]string{view.PageName}, m.Files...)
					err = m.Save(c.Context(), store)
				}
				if err == nil {
					err = view.SavePage(c.Context(), store, m)
				}
			} else {
				var b bytes.Buffer
				if err = view.Page(&b, m); err == nil {
					err = savePage(c.Context(), path, b.Bytes())
				}
			}
			if err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
			written := []string{path}
			if figures != "" {
				files, err := saveFigures(c.Context(), view.Figures(m), figures)
				if err != nil {
					return fmt.Errorf("writing the figures: %w", err)
				}
				written = append(written, files...)
			}
			for _, path := range written {
				fmt.Fprintln(c.OutOrStdout(), terminal.EscapeControls(path))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "HTML `FILE` to write (default: report.html in the run's directory)")
	c.Flags().StringVar(&figures, "figures", "", "write each figure into this `DIR`, as SVG and PNG")
	must(c.MarkFlagFilename("output", "html"))
	must(c.MarkFlagDirname("figures"))
	return c
}

// checkPageName returns an error if the path does not have the extension of an HTML page.
func checkPageName(path string) error {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case "", ".html", ".htm":
		return nil
	default:
		return &inputerr.Error{File: path, Message: "the report is an HTML page, and not " + inputerr.Quote(ext), Hint: "name a file ending in .html; a browser prints it as PDF"}
	}
}

// savePage writes a page to a file, completely or not at all. It returns an error if the file exists and is not
// a page that kir has written.
func savePage(ctx context.Context, path string, page []byte) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &inputerr.Error{File: path, Message: "this is a directory", Hint: "name a file, such as report.html"}
	}
	if ours, err := isReplaceable(ctx, path, view.IsPage); err != nil {
		return err
	} else if !ours {
		return &inputerr.Error{File: path, Message: "the file is there already, and is not a report", Hint: "name another with -o", Err: fs.ErrExist}
	}
	return replaceFile(path, page)
}

// isReplaceable reports whether a file may be written: it does not exist, or the function isOurs returns true
// for the beginning of the file.
func isReplaceable(ctx context.Context, path string, isOurs func(begin []byte) bool) (bool, error) {
	f, err := file.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close() // read only: nothing can be lost by it
	begin, err := io.ReadAll(io.LimitReader(f, 1<<12))
	return err == nil && isOurs(begin), err
}

// saveFigures writes the drawings of a report into a directory and returns the paths of the files. It writes
// nothing if it would overwrite a picture that kir has not written. It takes a PNG for its own if the SVG of
// the same name is.
func saveFigures(ctx context.Context, figures []*figure.Figure, dir string) ([]string, error) {
	for _, f := range figures {
		path := filepath.Join(dir, f.Name)
		ours, err := isReplaceable(ctx, path+".svg", figure.IsFigure)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(path + ".svg"); err != nil {
			_, err = os.Lstat(path + ".png")
			ours = errors.Is(err, fs.ErrNotExist)
		}
		if !ours {
			return nil, &inputerr.Error{File: path, Message: "the picture is there already, and is not a figure of a report", Hint: "name another directory with --figures", Err: fs.ErrExist}
		}
	}
	var files []string
	for _, f := range figures {
		saved, err := figure.Save(f, dir, file.Replace)
		if err != nil {
			return nil, err
		}
		files = append(files, saved...)
	}
	return files, nil
}
