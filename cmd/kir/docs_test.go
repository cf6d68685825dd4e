package main

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"kir/internal/compile"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/testonly/golden"
	"kir/internal/testonly/testmode"
)

// notRun are the blocks that are not executed: how they begin, and why.
var notRun = []struct{ begins, why string }{
	// Other programs.

	{"gh attestation verify ", "a release that is not there"},
	{"kir serve\n", "it runs until it is ended: TestBeginWithBar goes through it"},
	{"kir serve examples/cocktails/bar.yaml", "it runs until it is ended: TestServeInBrowser steers it"},
	{"go run ./cmd/kir check examples/ifra/problem.yaml", "two minutes: the example has its own test"},
	{"python3 bench/models/", "Python and Node: bench/models has its own test of what they recorded"},
	{"properties:\n  rating: {model:", "a model that is not there: TestKinds of package compile reads one"},
	{"rating: {model:", "a model that is not there: TestKinds of package compile reads one"},
	{"features: {x0", "keys of a model: the tests of package compile read them"},
	{"liking: {preference:", "pairs that are not there: the tests of package compile read some"},
	{"pair,choice,", "a table of pairs: the tests of package compile read some"},
	{"SELECT ", "DuckDB"},
	{"import polars", "Python"},
	{"import pandas", "Python"},
	{"import numpy", "Python: python/tests/test_problem.py reads such a file"},
	{"kir sample problem.yaml -o RUN --chains 64 --tasks", "a loop over the tasks: testdata/script/tasks.txtar has one"},
	{"kir tasks RUN --run ", "an excerpt of the list: testdata/script/tasks.txtar has one"},
	{"kir sample problem.yaml -o RUN --chains 64 --draws 100000 --shard", "a shard of sixteen, and a cluster: testdata/script/shards.txtar and examples/scale/test-slurm.sh run some"},
	{"kir sample problem.yaml -o 's3://", "a bucket: examples/scale/test-s3.sh runs it"},
	{"KIR=PROGRAM ", "BoFire and BayBE: python/tests/test_tutorials.py runs kir's side"},
	{"go run ./cmd/kir sample examples/scorer/", "scikit-learn: the example has its own test"},
	// What takes minutes or hours. Tests and folders they name are looked for.
	{"go test ", "the tests themselves"},
	{"KIR_", "the tests themselves, for hours"},
	{"go run -C bench ", "minutes"},
	{"scripts/site ", "half a minute, and a browser to see it: TestSite of bench walks through it"},
	{"bench/", "minutes, and other programs"},
	// What is shown and is no input or output of a command.
	{"cmd/kir  ", "the order of packages: TestHouse checks it"},
	{"run/draws/", "names of files"},
	{"{\"format\":\"kir forest\"", "an excerpt of a file"},
	{"[{\"Gin\":", "lines of a protocol: the example's test has them"},
	{"constraints:\n  - require: [Gin]  ", "rules one by one: TestDocumentedRules of package compile"},
	{"no recipe of 20 units", "a message: the tests of package compile have it"},
	{"Gin   ", "ways to write ingredients: TestAgree of the schema reads them"},
}

// fewDraws are commands that are run with few draws, since they take long. Those of a
// console, whose output is shown, are run as they are.
var fewDraws = []string{"examples/fragrance/", "examples/lotion/", "examples/spritz/", "examples/cocktails/problem.yaml --quiet"}

// longDocuments are run with KIR_LONG alone: each takes a second of processor time or more.
var longDocuments = []string{
	"README.md", // whose commands .ci/run runs
	"docs/conditions.md", "docs/extending.md", "docs/start.md", "docs/tradeoff.md", "examples/README.md", "examples/bar/README.md",
	"examples/cocktails/README.md", "examples/fragrance/README.md", "examples/ifra/README.md", "examples/lotion/README.md",
	"examples/portfolio/README.md", "examples/spritz/README.md",
}

// A block is a piece of a document that is set as code.
type block struct {
	line   int    // of its text in the document, from 1
	kind   string // the word behind the fence, or empty
	file   string // the name under which the comment above it says that it is kept
	text   string
	fenced bool
}

var fileComment = regexp.MustCompile(`^<!-- file: (\S+) -->$`)

// blocks returns the blocks of a document, and its text without them.
func blocks(document string) (all []block, prose string) {
	lines := strings.Split(document, "\n")
	var rest strings.Builder
	for i := 0; i < len(lines); i++ {
		indent := "    "
		if i > 0 && strings.HasPrefix(strings.TrimLeft(lines[i], " "), "func ") {
			indent = "       " // in an item of a list
		}
		switch {
		case strings.HasPrefix(lines[i], "```"):
			b := block{line: i + 2, kind: strings.TrimPrefix(lines[i], "```"), fenced: true}
			if m := fileComment.FindStringSubmatch(lines[max(i-1, 0)]); m != nil {
				b.file = m[1]
			}
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				b.text += lines[i] + "\n"
			}
			all = append(all, b)
		case strings.HasPrefix(lines[i], indent) && i > 0 && lines[i-1] == "":
			b := block{line: i + 1}
			for ; i < len(lines) && (strings.HasPrefix(lines[i], indent) || lines[i] == ""); i++ {
				b.text += strings.TrimPrefix(lines[i], indent) + "\n"
			}
			i--
			b.text = strings.TrimRight(b.text, "\n") + "\n"
			all = append(all, b)
		default:
			rest.WriteString(lines[i] + "\n")
		}
	}
	return all, rest.String()
}

// documents returns the documents, by their paths from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*.md", "examples/*/*.md", "bench/*.md"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[strings.TrimPrefix(filepath.ToSlash(file), "../../")] = string(text)
		}
	}
	return all
}

// TestDocuments executes what the documents show: commands, problems and parts of
// problems, and compares what is shown of the output. A block that is of none of
// these kinds stands in notRun, with the reason.
func TestDocuments(t *testing.T) {
	if testmode.RaceDetector {
		t.Skip(".ci/run has it without the race detector, under which it takes minutes")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[string]bool)
	looked, documents := 0, documents(t)
	for path, text := range documents {
		t.Run(path, func(t *testing.T) {
			if !testmode.Enabled() && slices.Contains(longDocuments, path) {
				t.Skip("it takes long: set KIR_LONG=1")
			}
			looked++
			d := &document{path: path, root: root, dir: t.TempDir(), used: used}
			d.furnish(t, text)
			all, _ := blocks(text)
			changed := text
			for _, b := range all {
				if shown := d.run(t, b); shown != b.text {
					changed = strings.Replace(changed, b.text, shown, 1)
				}
			}
			if golden.Updates() && changed != text {
				if err := os.WriteFile(filepath.Join(root, path), []byte(changed), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	for _, n := range notRun {
		if looked == len(documents) && !used[n.begins] {
			t.Errorf("no document has a block that begins with %q: take it from notRun", n.begins)
		}
	}
}

// A document is one whose blocks are executed in a directory of its own.
type document struct {
	path, root, dir string
	used            map[string]bool // of notRun
}

// run executes a block and returns it with the output that it should show.
func (d *document) run(t *testing.T, b block) string {
	t.Helper()
	place := fmt.Sprintf("%s:%d", d.path, b.line)
	if b.file != "" {
		if err := os.WriteFile(filepath.Join(d.dir, b.file), []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		return b.text
	}
	for _, n := range notRun {
		if strings.HasPrefix(b.text, n.begins) {
			d.used[n.begins] = true
			d.lookForFiles(t, place, b.text)
			return b.text
		}
	}
	switch first, _, _ := strings.Cut(b.text, "\n"); {
	case (d.path == "docs/python.md" || d.path == "docs/coming-from.md") && (b.kind == "python" || b.kind == "text"):
		// python/tests/test_documents.py runs kir's and compares what they print.
	case d.path == "docs/mcp.md" && (b.kind == "json" || b.kind == "text"):
		// TestMCPDocument starts kir as the one says, and compares the other.
	case b.kind == "console":
		return d.session(t, place, b.text)
	case strings.HasPrefix(first, "kir ") || strings.HasPrefix(first, "go run ./cmd/kir "):
		for _, command := range commands(b.text) {
			if d.skipped(command) {
				continue
			}
			for _, l := range fewDraws {
				if strings.Contains(command, l) {
					command = strings.Replace(command, " sample ", " sample --draws 100 --warmup 100 --thin 1 --effort 0 ", 1)
				}
			}
			if out, err := d.shell(command); err != nil {
				t.Errorf("%s: %s: %v\n%s", place, command, err, out)
			}
		}
	case strings.HasPrefix(first, "import \"kir\"") || strings.HasPrefix(first, "func "):
		if err := parsesAsGo(b.text); err != nil {
			t.Errorf("%s: %v", place, err)
		}
	case strings.HasPrefix(first, "recipe,"):
		if err := os.WriteFile(filepath.Join(d.dir, "shown.csv"), []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := d.shell("kir init shown.csv -o shown.yaml"); err != nil {
			t.Errorf("%s: %v\n%s", place, err, out)
		}
	case strings.TrimSuffix(b.text, "\n") == schema.Modeline(schema.FileName):
		// As kir init writes it.
	case strings.HasPrefix(first, "# yaml-language-server"), problemWords.MatchString(first):
		d.problem(t, place, b.text)
	case strings.ContainsAny(b.text, "∝Σ√Π·≤−∞κ²→"):
		// A formula.
	default:
		t.Errorf("%s: nothing knows how to execute this block: make it a command, a problem or a console, or give a reason in notRun:\n%s", place, b.text)
	}
	return b.text
}

// skipped says whether a command of a block is one that is not run.
func (d *document) skipped(command string) bool {
	for _, n := range notRun {
		if strings.HasPrefix(command, n.begins) {
			d.used[n.begins] = true
			return true
		}
	}
	return false
}

// commands returns the commands of a block: lines, or several that end with a
// backslash. What stands behind three spaces is a remark.
func commands(text string) []string {
	var all []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		command, _, _ := strings.Cut(strings.TrimRight(line, "\n"), "   ")
		if command != "" {
			all = append(all, command)
		}
	}
	return all
}

// shell runs a command as a user's shell does, and returns what it prints: on
// stdout, or if it fails on stderr.
func (d *document) shell(command string) (string, error) {
	command = strings.ReplaceAll(command, "go run ./cmd/kir", "kir")
	c := exec.Command("sh", "-c", command)
	c.Dir = d.dir
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return stderr.String(), err
	}
	return stdout.String(), nil
}

// session runs the commands of a console, lines that begin with $, and compares
// what they print with what follows. A line of three dots stands for any lines. It
// returns the session as it should be.
func (d *document) session(t *testing.T, place, text string) string {
	t.Helper()
	var should strings.Builder
	for _, part := range strings.SplitAfter("\n"+text, "\n$ ")[1:] {
		part = strings.TrimSuffix(part, "$ ")
		command, shown, _ := strings.Cut(part, "\n")
		got, _ := d.shell(command)
		got = trimLines(got)
		pattern := regexp.QuoteMeta(strings.TrimRight(shown, "\n"))
		pattern = `(?s)^` + regexp.MustCompile(`(?m)^\\\.\\\.\\\.$`).ReplaceAllLiteralString(pattern, `.*`) + `\n*$`
		fresh := shown
		if !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("%s: %s prints\n%s\nand not, as is shown,\n%s", place, command, got, shown)
			fresh = got
			if before, ok := strings.CutSuffix(strings.TrimRight(shown, "\n"), "\n..."); ok {
				lines := strings.SplitAfter(got, "\n")
				fresh = strings.Join(lines[:min(len(lines), 1+strings.Count(before, "\n"))], "") + "...\n"
			}
		}
		fmt.Fprintf(&should, "$ %s\n%s", command, fresh)
	}
	return should.String()
}

// trimLines takes spaces from the ends of lines, which documents do not have.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
	}
	return strings.Join(lines, "\n")
}

var (
	goTest   = regexp.MustCompile(`go test [^#\n]*`)
	runTests = regexp.MustCompile(`-run '?\^?(\w+)`)
	inBench  = regexp.MustCompile(`go (?:run|test) -C bench[^#\n]* \./([\w/]+)`)
	path     = regexp.MustCompile(`(?:\./|\b)(?:examples|docs|bench|internal|cmd|mcmc|model|rule|property)(?:/[\w.-]+)*`)
)

// lookForFiles checks the files, packages and tests that commands name that are not
// run.
func (d *document) lookForFiles(t *testing.T, place, text string) {
	t.Helper()
	for _, name := range path.FindAllString(text, -1) {
		name = strings.TrimSuffix(name, "/...")
		if _, err := os.Stat(filepath.Join(d.root, name)); err != nil && !strings.HasSuffix(name, ".png") {
			t.Errorf("%s: %v", place, err)
		}
	}
	for _, m := range inBench.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(d.root, "bench", m[1])); err != nil {
			t.Errorf("%s: %v", place, err)
		}
	}
	for _, command := range goTest.FindAllString(text, -1) {
		if m := runTests.FindStringSubmatch(command); m != nil && m[1] != "" {
			out, err := exec.Command("grep", "-rqE", `^func Test\w*`+strings.TrimPrefix(m[1], "Test"), "--include=*_test.go", d.root).CombinedOutput()
			if err != nil {
				t.Errorf("%s: there is no test %s (%v) %s", place, m[1], err, out)
			}
		}
	}
}

// parsesAsGo says whether a block is Go: a file, a declaration, or an import and
// what stands in a function.
func parsesAsGo(text string) error {
	imports, body, _ := strings.Cut(text, "\n\n")
	if strings.HasPrefix(text, "func ") {
		imports, body = "", "_ = "+strings.TrimRight(text, "\n")+" { return }\n"
		body = regexp.MustCompile(`func \w+\(`).ReplaceAllString(body, "func(")
	}
	body = strings.ReplaceAll(body, "{ ... }", "{ return nil }")
	_, err := parser.ParseFile(token.NewFileSet(), "shown.go", "package p\n"+imports+"\nfunc f() {\n"+body+"}\n", 0)
	return err
}

// problemWords are what a problem, or a part of one, begins with: a key of the file,
// a wish, or a rule.
var problemWords = regexp.MustCompile(`^(?:(?:` + strings.Join(schema.Problem.Names(), "|") + `):|\w+: +\{(?:` + strings.Join(compile.Schema().Property().Names(), "|") + `):|- (?:` + strings.Join(compile.Schema().Rule().Names(), "|") + `):)`)

// problem reads a problem. A part of one is put into the problem of the example
// that the document is about, or else of the pantry.
func (d *document) problem(t *testing.T, place, text string) {
	t.Helper()
	n, err := yaml.Parse(place, []byte(text))
	if err != nil {
		t.Error(err)
		return
	}
	dir := filepath.Join(d.dir, "pantry")
	if example := filepath.Join(d.root, filepath.Dir(d.path)); strings.HasPrefix(d.path, "examples/") {
		dir = filepath.Join(d.dir, "example")
		if err := os.CopyFS(dir, os.DirFS(example)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	} else if strings.Contains(text, "trials.csv") {
		dir = filepath.Join(d.dir, "spritz")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(d.root, "examples/spritz"))); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	if n.Get("total") == nil {
		switch first := n; {
		case n.Kind == yaml.Sequence:
			text = "constraints:\n" + indented(text)
		case !slices.Contains(schema.Problem.Names(), first.Entries[0].Key.Text):
			text = "properties:\n" + indented(text)
		}
		base, err := os.ReadFile(filepath.Join(dir, "problem.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		text = merged(t, string(base), text)
	}
	path := filepath.Join(dir, "shown.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Load(compile.AllowPrograms(context.Background()), path, compile.Options{})
	if err != nil {
		t.Errorf("%s: %v", place, err)
		return
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// merged returns a problem with the keys of another instead of its own.
func merged(t *testing.T, base, over string) string {
	t.Helper()
	b, err := yaml.Parse("problem.yaml", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	o, err := yaml.Parse("shown.yaml", []byte(over))
	if err != nil {
		t.Fatal(err)
	}
	var out yaml.Map
	for _, e := range b.Entries {
		if o.Get(e.Key.Text) == nil {
			out.Set(e.Key.Text, e.Value.Plain())
		}
	}
	text, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + over
}
