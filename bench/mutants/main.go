// Command mutants asks whether the tests notice small changes of the code. It
// draws changes by chance, makes each in an overlay of the tree, and runs the
// tests of the package that is changed, then of those that import it most
// closely, then of the command, until one fails:
//
//	go test -p 1 -json ./... >times.json
//	go run -C bench ./mutants -times ../times.json -n 300 -seed 1 -o ../mutants.jsonl
//	go run -C bench ./mutants -times ../times.json -again ../mutants.jsonl -o ../again.jsonl
//
// A file is drawn in proportion to its lines, and a change uniformly among those
// of the file. What does not build is drawn anew. It takes a minute for each: a
// draw is shared out with -files, which leaves out those of other files but counts
// them, so that the shares are of one draw.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A mutant is a change and what came of it.
type mutant struct {
	edit
	Text    string  `json:"text"` // of the line
	Outcome outcome `json:"outcome"`
	By      string  `json:"by,omitempty"` // the package and the test that noticed
	Seconds float64 `json:"seconds"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func do(ctx context.Context) error {
	n := flag.Int("n", 300, "how many changes that build")
	seed := flag.Uint64("seed", 1, "of the draw")
	name := flag.String("o", "mutants.jsonl", "where each is written, a line of JSON; those that are there already are not tried again")
	again := flag.String("again", "", "try those of this file that were not caught")
	times := flag.String("times", "", "what go test -json ./... has written")
	slow := flag.Duration("slow", 4*time.Second, "tests that take longer are asked after the others of their package, and only for changes in it")
	skip := flag.String("skip", "TestDocuments|TestLinks|TestManPages|TestCommandsShown|TestHouse|TestModulePath", "tests that are not run")
	most := flag.Int("importers", 3, "how many packages beside its own and the command's are tested; -1: its own alone")
	match := flag.String("files", "", "try only the changes in files that this regular expression matches")
	root := flag.String("root", "..", "the directory of the module that is changed")
	flag.Parse()
	mine, err := regexp.Compile(*match)
	if err != nil {
		return err
	}
	h, err := newHouse(ctx, *root)
	if err != nil {
		return err
	}
	h.skip, h.most, h.command = *skip, *most, h.module+"/cmd/kir"
	if err := h.learn(*times, *slow); err != nil {
		return err
	}
	files, packages, err := h.sources()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(*name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer out.Close()
	before := make(map[edit]mutant)
	for d := json.NewDecoder(out); ; {
		var m mutant
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", *name, err)
		}
		before[m.edit] = m
	}
	var next func() (edit, error)
	if *again != "" {
		next, err = notCaught(*again)
	} else {
		next, err = draw(h.root, files, *seed)
	}
	if err != nil {
		return err
	}
	counts := make(map[outcome]int)
	for tried := 0; tried < *n; {
		e, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !mine.MatchString(e.File) && *again == "" {
			if builds, err := h.builds(ctx, e, packages[e.File]); err != nil {
				return err
			} else if builds {
				tried++
			}
			continue
		}
		m, known := before[e]
		if !known {
			m = mutant{edit: e, Text: line(h.root, e)}
			begin := time.Now()
			if m.Outcome, m.By, err = h.try(ctx, e, packages[e.File]); err != nil {
				return err
			}
			m.Seconds = time.Since(begin).Round(time.Second / 10).Seconds()
		}
		counts[m.Outcome]++
		if m.Outcome != unbuilt {
			tried++
		}
		if known {
			continue
		}
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	fmt.Println(counts)
	return out.Close()
}

// draw returns a source of changes, none of them twice.
func draw(root string, files []string, seed uint64) (func() (edit, error), error) {
	var all [][]edit
	var lines []int
	total := 0
	for _, f := range files {
		src, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			return nil, err
		}
		edits, err := edits(f, src)
		if err != nil {
			return nil, err
		}
		all, lines = append(all, edits), append(lines, bytes.Count(src, []byte("\n")))
		total += lines[len(lines)-1]
	}
	random, drawn := rand.New(rand.NewPCG(seed, 0)), make(map[edit]bool)
	return func() (edit, error) {
		for range 1_000_000 {
			i, at := 0, random.IntN(total)
			for ; at >= lines[i]; i++ {
				at -= lines[i]
			}
			if len(all[i]) == 0 {
				continue
			}
			if e := all[i][random.IntN(len(all[i]))]; !drawn[e] {
				drawn[e] = true
				return e, nil
			}
		}
		return edit{}, io.EOF
	}, nil
}

// notCaught returns a source of the changes of a file of results that no test
// noticed.
func notCaught(name string) (func() (edit, error), error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(src))
	return func() (edit, error) {
		for {
			var m mutant
			if err := d.Decode(&m); err != nil {
				return edit{}, err
			}
			if m.Outcome == survived {
				return m.edit, nil
			}
		}
	}, nil
}

// line returns the line of a change.
func line(root string, e edit) string {
	src, _ := os.ReadFile(filepath.Join(root, e.File)) // what was read before
	lines := strings.Split(string(src), "\n")
	return strings.TrimSpace(lines[min(e.Line, len(lines))-1])
}
