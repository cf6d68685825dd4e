package main

import (
	"encoding/json"
	"fmt"
	"io"

	"kir/report"
)

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func printModel(w io.Writer, m *report.Model, dir string, asJSON bool) error {
	if asJSON {
		data, err := m.JSON()
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	return m.WriteText(w, dir, textStyle(w))
}

// teller returns what prints messages of a run that goes on.
func teller(w io.Writer, quiet bool) func(string) {
	return func(message string) {
		if !quiet {
			fmt.Fprintln(w, "kir: "+report.Plain(message))
		}
	}
}
