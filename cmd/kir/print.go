package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"kir/internal/report"
	"kir/internal/report/view"
	"kir/internal/terminal"
)

func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(terminal.EscapeJSON(b.Bytes()))
	return err
}

func printSummary(ctx context.Context, w io.Writer, m *report.Model, dir string, asJSON bool) error {
	return writeResult(ctx, w, asJSON, func(w io.Writer) error {
		data, err := m.JSON()
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}, func(w io.Writer) error { return view.Text(w, m, dir, textStyle(w)) })
}

// newLogger returns a function that prints messages about the progress of the work to w. The function prints
// nothing if quiet is true.
func newLogger(w io.Writer, quiet bool) func(string) {
	return func(message string) {
		if !quiet {
			fmt.Fprintln(w, "kir: "+terminal.EscapeControls(message))
		}
	}
}
