package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kir"
	"kir/problem"
)

// failed tells of a property that failed in a run with the names of the
// ingredients, and how to go on if it is a program, which can be mended without
// the problem being another one.
func failed(err error, p *problem.Problem, dir string) error {
	var score *kir.ScoreError
	if !errors.As(err, &score) {
		return err
	}
	err = p.Explain(err)
	if _, missing := os.Stat(filepath.Join(dir, "manifest.json")); missing != nil {
		return err
	}
	for k := range p.Properties {
		if w := &p.Properties[k]; w.Name == score.Wish && w.Kind == "program" {
			return fmt.Errorf("%w; the draws so far are kept: mend the program and go on with kir resume %s", err, dir)
		}
	}
	return err
}
