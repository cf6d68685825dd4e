// Command formulation measures how soon kir answers formulation problems that nobody tuned
// it for, and what its answer is then worth:
//
//	go build -o /tmp/kir ./cmd/kir
//	go run -C bench ./formulation -kir /tmp/kir            # the five problems made here
//	go run -C bench ./formulation -kir /tmp/kir -examples  # and the examples
//	go run -C bench ./formulation -write DIR               # the problems alone
//
// Examples are measured without their sampler and search settings. A problem is measured by
// the processor time of the program, half of which is the time that it takes on two idle
// cores where both have work.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	program := flag.String("kir", "", "the program to measure")
	dir := flag.String("write", "", "instead: write the problems into this directory")
	examples := flag.Bool("examples", false, "measure the examples, too")
	only := flag.String("only", "", "the problems to measure, separated by commas")
	flag.Parse()
	if err := run(*program, *dir, *only, *examples); err != nil {
		fmt.Fprintln(os.Stderr, "formulation:", err)
		os.Exit(1)
	}
}

// run measures or writes the problems.
func run(program, dir, only string, examples bool) (err error) {
	if dir != "" {
		for _, t := range trades {
			if err := t.write(filepath.Join(dir, t.name)); err != nil {
				return err
			}
		}
		return nil
	}
	if program == "" {
		return fmt.Errorf("-kir names the program to measure")
	}
	work, err := os.MkdirTemp("", "formulation")
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.RemoveAll(work); err == nil {
			err = gone
		}
	}()
	wanted := func(name string) bool {
		return only == "" || strings.Contains(","+only+",", ","+name+",")
	}
	var files []string
	for _, t := range trades {
		if !wanted(t.name) {
			continue
		}
		place := filepath.Join(work, t.name)
		if err := t.write(place); err != nil {
			return err
		}
		files = append(files, filepath.Join(place, "problem.yaml"))
	}
	if examples {
		found, err := filepath.Glob("../examples/*/problem.yaml")
		if err != nil {
			return err
		}
		for _, f := range found {
			name := filepath.Base(filepath.Dir(f))
			if !wanted(name) {
				continue
			}
			place := filepath.Join(work, name)
			if err := os.CopyFS(place, os.DirFS(filepath.Dir(f))); err != nil {
				return err
			}
			file := filepath.Join(place, "problem.yaml")
			if err := withoutSettings(file); err != nil {
				return err
			}
			files = append(files, file)
		}
	}
	fmt.Print(header)
	for _, f := range files {
		m, err := measure(program, f, filepath.Join(work, "runs", filepath.Base(filepath.Dir(f))))
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		fmt.Print(m)
	}
	return nil
}

// settings are the lines of a problem file that say how it is sampled.
var settings = regexp.MustCompile(`(?m)^(sampler|search):.*\n(?:[ \t]+.*\n)*`)

// withoutSettings takes them out of a file.
func withoutSettings(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, settings.ReplaceAll(text, nil), 0o666)
}
