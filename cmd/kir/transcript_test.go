package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"kir/internal/testonly/golden"
	"kir/internal/testonly/testmode"
)

// timed is what differs between equal runs of a command.
var timed = regexp.MustCompile(`[0-9.,]+ seconds?\b|[0-9,.e+]+ iterations (a|per) second|[0-9,.]+ a second|"(seconds|iterations_per_second|search_seconds|heard_seconds_ago)": [0-9.e+-]+|\d+s ago|\b[0-9.]+ MB\b|"bytes": \d+|"checksum": "[0-9a-f]*"|"commit": "[0-9a-f]*",|trusted/[0-9a-f]+|\.\d+\.new|"modified": (true|false)|go1\.[0-9.]+[a-z0-9]*`)

// TestTranscripts: what commands say and end with, the files that they leave and what
// stands in those that are text, is what it was. The commands of testdata/transcripts
// are run one after the other in a directory with the files there.
func TestTranscripts(t *testing.T) {
	scripts, err := filepath.Abs("testdata/transcripts")
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	t.Setenv("NO_COLOR", "1")
	for _, script := range all {
		a, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range a.Files {
			path := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(dir)
		t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
		var said strings.Builder
		known := files(t, dir)
		for line := range strings.Lines(string(a.Comment)) {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			var out, messages bytes.Buffer
			args := words(line)
			status := reportError(execute(patient(t.Context()), args, &out, &messages), &messages)
			fmt.Fprintf(&said, "\n$ kir %s\n", line)
			for _, text := range []string{out.String(), messages.String()} {
				if strings.HasPrefix(text, "PK") {
					text = "a workbook\n"
				}
				text = strings.ReplaceAll(text, dir, "DIR")
				if text != "" && !strings.HasSuffix(text, "\n") {
					text += "\n"
				}
				said.WriteString(beginning(args, timed.ReplaceAllString(text, "#")))
			}
			if status != 0 {
				fmt.Fprintf(&said, "[%d]\n", status)
			}
			now := files(t, dir)
			for _, name := range now {
				if slices.Contains(known, name) {
					continue
				}
				said.WriteString("+ " + timed.ReplaceAllString(name, "#"))
				if ext := filepath.Ext(name); ext == ".yaml" || ext == ".csv" || ext == ".svg" {
					text, err := os.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&said, " %.12x", sha256.Sum256(text))
				}
				said.WriteString("\n")
			}
			known = now
		}
		golden.Compare(t, strings.TrimSuffix(script, ".txtar")+".txt", []byte(said.String()))
	}
}

// TestDamagedRuns: what commands say of a run of which a file is gone, cut or another's,
// and what they end with, is what it was.
func TestDamagedRuns(t *testing.T) {
	texts, err := filepath.Abs("testdata/damaged")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"p.yaml":    "name: A shelf\ningredients: shelf.csv\ntotal: 20\nsparsity: {uniform: [1, 3]}\nproperties: {y: {expression: \"0.2 + share('Gin')\"}}\nsampler: {kernel: accelerated, chains: 2, warmup: 20, draws: 30, seed: 5}\n",
		"shelf.csv": "name,kind,cost\nGin,spirit,20\nRum,spirit,18\nLime juice,juice,4\nSyrup,sugar,2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	do := func(line string) (status int, out, messages string) {
		var o, m bytes.Buffer
		status = reportError(execute(patient(t.Context()), words(line), &o, &m), &m)
		return status, timed.ReplaceAllString(o.String(), "#"), timed.ReplaceAllString(strings.ReplaceAll(m.String(), dir, "DIR"), "#")
	}
	for _, line := range []string{"sample p.yaml -o whole --effort 0.1", "sample p.yaml -o other --seed 6 --effort 0.1"} {
		if status, _, messages := do(line); status != 0 {
			t.Fatal(messages)
		}
	}
	lines := []string{"show a --best 1", "report a -o page.html", "draws a", "status a", "resume a --workers 1", "resume a --draws 40 --workers 1", "merge a --workers 1", "compare other a", "sample a --pin Gin -o moved"}
	fresh := func() {
		for _, left := range []string{"a", "page.html", "moved", "moved.yaml"} {
			if err := os.RemoveAll(left); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.CopyFS("a", os.DirFS("whole")); err != nil {
			t.Fatal(err)
		}
	}
	whole := make(map[string]string)
	for _, line := range lines {
		fresh()
		_, whole[line], _ = do(line)
	}
	names := []string{"run.json", "problem.yaml", "summary.json", "report.html", "state/chain=0001.kir", "draws/chain=0001/part-00000.parquet", "../p.yaml", "../shelf.csv"}
	ways := []string{"cut", "gone", "another", "a directory"}
	for _, how := range ways[:testmode.Pick(4, 1)] {
		var said strings.Builder
		for _, name := range names {
			if strings.HasPrefix(name, "../") && how == "another" {
				continue
			}
			for _, line := range lines {
				fresh()
				path := filepath.Join("a", name)
				data, err := os.ReadFile(path)
				if err == nil {
					err = os.Remove(path)
				}
				switch how {
				case "cut":
					err = errors.Join(err, os.WriteFile(path, data[:len(data)/2], 0o666))
				case "another":
					theirs, reading := os.ReadFile(filepath.Join("other", name))
					err = errors.Join(err, reading, os.WriteFile(path, theirs, 0o666))
				case "a directory":
					err = errors.Join(err, os.Mkdir(path, 0o777))
				}
				if err != nil {
					t.Fatal(err)
				}
				status, out, messages := do(line)
				prints := "something else"
				switch out {
				case "":
					prints = "nothing"
				case whole[line]:
					prints = "what it prints of the whole run"
				}
				fmt.Fprintf(&said, "%s is %s: kir %s: %d, it prints %s\n%s", name, how, line, status, prints, messages)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(name, "../") {
					if err := os.WriteFile(path, data, 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		golden.Compare(t, filepath.Join(texts, strings.ReplaceAll(how, " ", "-")+".txt"), []byte(said.String()))
	}
}

// beginning shortens what a command prints. How texts and summaries go on is compared
// whole where they are made, in internal/report/view, internal/report/assemble and
// internal/config/schema; of draws, which are printed here, the sum of the rest is kept.
func beginning(args []string, text string) string {
	const most = 14
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= most+4 {
		return text
	}
	rest := "… and more\n"
	if args[0] == "draws" {
		rest = fmt.Sprintf("… %d lines more, of the sum %.12x\n", len(lines)-most-1, sha256.Sum256([]byte(strings.Join(lines[most:], ""))))
	}
	return strings.Join(lines[:most], "") + rest
}

// words splits a command at its blanks but those between quotes.
func words(line string) (args []string) {
	for _, w := range regexp.MustCompile(`'[^']*'|[^\s']+`).FindAllString(line, -1) {
		args = append(args, strings.Trim(w, "'"))
	}
	return args
}

// files returns the names of the files of a directory, but those of caches.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err == nil && !e.IsDir() && !strings.Contains(name, ".kir-cache") {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}
