// Hard measures every kernel where sampling is hard, on fourteen targets, beside the
// paper's Algorithm 2 in the same run:
//
//	go run -C bench ./hard -o RESULTS.md
//
// writes its table between two marks of a document; without -o it is printed. It
// takes about 15 minutes of one core, with -minutes 2 about two, and measures with
// -only portfolio,lattice the rows of these targets alone, for the table that is there.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == scorerMode {
		if err := scoreRecipes(os.Stdin, os.Stdout); err != nil {
			fail(err)
		}
		return
	}
	minutes := flag.Float64("minutes", 15, "about how many all targets take, of processor time")
	only := flag.String("only", "", "the targets to measure, separated by commas")
	out := flag.String("o", "", "the document that the table belongs in")
	root := flag.String("root", "..", "the directory of the project")
	best := flag.Float64("best", 0, "instead: look for the best of each target for so many seconds, and print its log score")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	if err := measureAll(context.Background(), *root, *out, *only, *best, *minutes/15); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "hard:", err)
	os.Exit(1)
}

// measureAll measures the targets that only names, all if it is empty, for a share of
// the full budget.
func measureAll(ctx context.Context, root, out, only string, best, share float64) error {
	var rows []row
	for _, s := range subjects {
		if only != "" && !named(only, s.key) {
			continue
		}
		if best > 0 {
			score, err := lookFor(ctx, root, s, best)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Printf("%s: %.12g, known %.12g\n", s.name, score, s.best)
			continue
		}
		fmt.Fprintf(os.Stderr, "%s\n", s.name)
		r, err := measure(ctx, root, s, full.times(share))
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintln(os.Stderr, r.note)
		if rows = append(rows, r); out != "" {
			if err := writeInto(out, r); err != nil {
				return err
			}
		}
	}
	if best > 0 {
		return nil
	}
	if len(rows) == 0 {
		return fmt.Errorf("there is no target %s: there are %s", only, strings.Join(keys(), ", "))
	}
	if out == "" {
		fmt.Print(table(rows))
	}
	return nil
}

// named says whether a list separated by commas has a key.
func named(list, key string) bool {
	for k := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(k) == key {
			return true
		}
	}
	return false
}

func keys() (all []string) {
	for _, s := range subjects {
		all = append(all, s.key)
	}
	return all
}
