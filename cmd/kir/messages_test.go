package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// messageDirs are where every error message has to be produced by some test.
var messageDirs = []string{"cmd/kir", "internal/compile"}

// A made error is a place where the code makes one.
type made struct {
	file       string // from the root of the module
	line       int
	text       string // of the message, as far as it is written there
	start, end position
}

type position struct{ line, column int }

func (p position) before(q position) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}

// makers returns all errors that the files of a directory make: what calls Errorf or
// errors.New, and what is written down as an error of package inputerr.
func makers(t *testing.T, dir string) (all []made) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if !makes(n) {
				return true
			}
			text := ""
			first := func(n ast.Node) bool {
				if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING && text == "" {
					text = strings.Trim(l.Value, "\"`")
				}
				return true
			}
			if call, is := n.(*ast.CallExpr); is {
				for _, a := range call.Args {
					ast.Inspect(a, first)
				}
			} else {
				ast.Inspect(n, first)
			}
			from, to := fset.Position(n.Pos()), fset.Position(n.End())
			all = append(all, made{
				file: dir + "/" + filepath.Base(name), line: from.Line, text: text,
				start: position{from.Line, from.Column}, end: position{to.Line, to.Column},
			})
			return true
		})
	}
	return all
}

// makes says whether a node makes an error.
func makes(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		f, is := n.Fun.(*ast.SelectorExpr)
		if !is {
			return false
		}
		of, _ := f.X.(*ast.Ident)
		return f.Sel.Name == "Errorf" || f.Sel.Name == "New" && of != nil && of.Name == "errors"
	case *ast.CompositeLit:
		of, is := n.Type.(*ast.SelectorExpr)
		if !is || of.Sel.Name != "Error" {
			return false
		}
		from, is := of.X.(*ast.Ident)
		return is && from.Name == "inputerr"
	}
	return false
}

// exempt is the list of messages that no test produces, each with why not: a file, the
// beginning of the message and the reason, separated by " | ".
const exempt = "testdata/unproduced.txt"

// coverProfile names profiles of the tests of what is in messageDirs, as a list of paths:
//
//	KIR_LONG=1 go test -coverpkg=./cmd/kir,./internal/compile -coverprofile=cover.out ./internal/compile/... ./cmd/kir
//	KIR_LONG=1 go test -C bench -coverpkg=$(go list ./internal/compile) -coverprofile=cover.out ./schema
//	KIR_COVERAGE=$PWD/cover.out:$PWD/bench/cover.out go test ./cmd/kir -run TestMessages
const coverProfile = "KIR_COVERAGE"

// TestMessages: every error message of the command and of package compile is produced
// by some test, as a profile that KIR_COVERAGE names has it, or is on the list of
// those that cannot be. Without a profile, it is only checked that the list is of
// messages that there are.
func TestMessages(t *testing.T) {
	var all []made
	for _, dir := range messageDirs {
		all = append(all, makers(t, dir)...)
	}
	if len(all) < 200 {
		t.Fatalf("only %d errors are made", len(all))
	}
	list, err := os.ReadFile(exempt)
	if err != nil {
		t.Fatal(err)
	}
	excused := make(map[made]bool)
	for line := range strings.Lines(string(list)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.SplitN(line, " | ", 3)
		if len(fields) != 3 || fields[2] == "" {
			t.Errorf("%s: %q is not a file, a message and a reason", exempt, line)
			continue
		}
		found := 0
		for _, m := range all {
			if m.file == fields[0] && strings.HasPrefix(m.text, fields[1]) {
				excused[m] = true
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s: %d messages of %s begin with %q", exempt, found, fields[0], fields[1])
		}
	}
	names := filepath.SplitList(os.Getenv(coverProfile))
	if len(names) == 0 {
		t.Skipf("%s names no profile", coverProfile)
	}
	covered := make(map[string][]stretch)
	for _, name := range names {
		stretches(t, name, covered)
	}
	produced := 0
	for _, m := range all {
		switch seen, known := m.seen(covered); {
		case !known && !excused[m]:
			t.Errorf("%s:%d: %q is made where no statement is counted", m.file, m.line, m.text)
		case seen && excused[m]:
			t.Errorf("%s:%d: %q is produced by a test, and on the list of %s", m.file, m.line, m.text, exempt)
		case !seen && !excused[m]:
			t.Errorf("%s:%d: no test produces %q", m.file, m.line, m.text)
		case seen:
			produced++
		}
	}
	t.Logf("of %d error messages %d are produced and %d excused", len(all), produced, len(excused))
}

// A stretch is a block of statements that are counted together.
type stretch struct {
	start, end position
	covered    bool
}

// stretches adds a profile to the blocks of each file, by its path from the root of the
// module.
func stretches(t *testing.T, name string, all map[string][]stretch) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var b stretch
		var statements, count int
		at := strings.LastIndexByte(lines.Text(), ':')
		if _, err := fmt.Sscanf(lines.Text()[at+1:], "%d.%d,%d.%d %d %d", &b.start.line, &b.start.column, &b.end.line, &b.end.column, &statements, &count); err != nil {
			continue // the mode
		}
		_, file, _ := strings.Cut(lines.Text()[:at], "/")
		b.covered = count > 0
		all[file] = append(all[file], b)
	}
}

// seen says whether the statement that makes an error was run, and whether that is
// known.
func (m made) seen(covered map[string][]stretch) (seen, known bool) {
	var inner *stretch // the innermost that holds it
	for k := range covered[m.file] {
		b := &covered[m.file][k]
		if m.start.before(b.start) || b.end.before(m.start) {
			continue
		}
		switch {
		case inner == nil || inner.start.before(b.start):
			inner = b
		case inner.start == b.start && inner.end == b.end: // of another package's tests
			inner = &stretch{b.start, b.end, inner.covered || b.covered}
		}
	}
	if inner == nil {
		return false, false
	}
	return inner.covered, true
}
