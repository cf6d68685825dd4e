package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// An example is a problem file with the commands that suit it besides check and sample.
type example struct {
	name     string // its outputs' first directory in the list
	problem  string // its path in examples
	score    string // table that kir score reads, beside the problem
	tradeoff bool
	campaign bool
	sample   []string // flags that it needs besides those of all
}

var examples = []example{
	{name: "bar", problem: "bar/problem.yaml"},
	{name: "cocktails", problem: "cocktails/problem.yaml", score: "recipes.csv", campaign: true},
	{name: "cocktails-bar", problem: "cocktails/bar.yaml"},
	{name: "document", problem: "document/problem.yaml"},
	{name: "fragrance", problem: "fragrance/problem.yaml", score: "formulas.csv"},
	{name: "ifra", problem: "ifra/problem.yaml", sample: []string{"--warmup", "100"}},
	{name: "lotion", problem: "lotion/problem.yaml"},
	{name: "portfolio", problem: "portfolio/problem.yaml"},
	{name: "frontier", problem: "portfolio/frontier.yaml", tradeoff: true},
	{name: "spritz", problem: "spritz/problem.yaml", score: "trials.csv", campaign: true},
}

const seeds = 3

// A bench runs one build of kir and keeps the hashes of what it prints and writes.
type bench struct {
	program string
	hashes  map[string]string // by the name of the output
	keep    string            // directory of the outputs as they are hashed; none if empty
}

// run runs all commands on an example, in a copy of the examples that they may write to.
func (b *bench) run(ctx context.Context, dir string, e example) error {
	dir, problem := filepath.Join(dir, filepath.Dir(e.problem)), filepath.Base(e.problem)
	// A working tree may have counts that were kept there; a commit has none.
	if err := os.RemoveAll(filepath.Join(dir, ".kir-cache")); err != nil {
		return err
	}
	commands := [][]string{{"check", problem}, {"check", problem, "--json"}}
	if e.score != "" {
		commands = append(commands, []string{"score", problem, e.score, "--csv"})
	}
	if e.tradeoff {
		commands = append(commands, []string{"tradeoff", problem, "--json"})
	}
	if e.campaign {
		commands = append(commands, []string{"next", problem, "--json"},
			[]string{"campaign", problem}, []string{"campaign", problem, "--html"})
	}
	for _, args := range commands {
		if err := b.command(ctx, dir, e.name+"/"+strings.ReplaceAll(strings.Join(args, "_"), problem, "problem"), args); err != nil {
			return err
		}
	}
	if e.campaign {
		if err := b.files(dir, e.name, "*.batch-*"); err != nil {
			return err
		}
	}
	for seed := range seeds {
		run := "run-" + strconv.Itoa(seed+1)
		args := append([]string{"sample", problem, "--draws", "300", "--effort", "0.05", "--seed", strconv.Itoa(seed + 1), "--quiet", "-o", run}, e.sample...)
		if err := b.command(ctx, dir, e.name+"/"+run+"/sample", args); err != nil {
			return err
		}
		if err := b.command(ctx, dir, e.name+"/"+run+"/show_--csv", []string{"show", run, "--csv"}); err != nil {
			return err
		}
		for _, pattern := range []string{"draws/chain=*/part-*.parquet", "summary.json", "report.html"} {
			if err := b.files(dir, e.name, filepath.Join(run, pattern)); err != nil {
				return err
			}
		}
	}
	return b.messages(ctx, dir, problem, e.name)
}

var topKey = regexp.MustCompile(`(?m)^([a-z_]+):(.*(?:\n(?:[ #-].*)?)*)`)

// messages keeps what kir check says when the value of a key at the top of the file is
// replaced by a text that is none.
func (b *bench) messages(ctx context.Context, dir, problem, name string) error {
	text, err := os.ReadFile(filepath.Join(dir, problem))
	if err != nil {
		return err
	}
	for _, at := range topKey.FindAllSubmatchIndex(text, -1) {
		broken := string(text[:at[4]]) + " [?, {a: 1.5.1}]\n" + string(text[at[5]:])
		if err := os.WriteFile(filepath.Join(dir, "broken.yaml"), []byte(broken), 0o644); err != nil {
			return err
		}
		if err := b.command(ctx, dir, name+"/broken/"+string(text[at[2]:at[3]]), []string{"check", "broken.yaml"}); err != nil {
			return err
		}
	}
	return nil
}

// command keeps a command's output, its messages and its exit status.
func (b *bench) command(ctx context.Context, dir, name string, args []string) error {
	var out bytes.Buffer
	c := exec.CommandContext(ctx, b.program, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &out
	c.Env = append(os.Environ(), "NO_COLOR=1", "COLUMNS=120", "GOMAXPROCS=2")
	if err := c.Run(); err != nil {
		if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) {
			return err
		}
		fmt.Fprintf(&out, "%v\n", err)
	}
	text := progress.ReplaceAll(out.Bytes(), nil)
	return b.keepOutput(name, withoutTimes(bytes.ReplaceAll(text, []byte(dir), nil)))
}

// files keeps the files that match a pattern, of which there must be one.
func (b *bench) files(dir, name, pattern string) error {
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("no file %s: %w", pattern, err)
	}
	for _, path := range paths {
		contents, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".json":
			if contents, err = withoutMachine(contents); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		case ".html":
			contents = withoutTimes(contents)
		}
		short, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := b.keepOutput(name+"/"+filepath.ToSlash(short), contents); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) keepOutput(name string, contents []byte) error {
	sum := sha256.Sum256(contents)
	b.hashes[name] = hex.EncodeToString(sum[:])
	if b.keep == "" {
		return nil
	}
	path := filepath.Join(b.keep, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, contents, 0o644)
}

// progress are lines that kir prints where work takes more than a second.
var progress = regexp.MustCompile(`(?m)^kir: .* \.\.\.\n`)

var times = regexp.MustCompile(`<data value="[^"]*" data-of="/timing/[^<]*</data>|"timing":\{[^}]*\}|[0-9][0-9.,]* (ns|µs|ms|s|seconds?|minutes?|a second)\b`)

// withoutTimes leaves out how long something took.
func withoutTimes(text []byte) []byte { return times.ReplaceAll(text, []byte("TIME")) }

// withoutMachine leaves out of a JSON document how long it took, and by what it was written.
func withoutMachine(text []byte) ([]byte, error) {
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	for _, key := range []string{"timing", "checksum", "version"} {
		delete(document, key)
	}
	return json.MarshalIndent(document, "", "  ")
}
