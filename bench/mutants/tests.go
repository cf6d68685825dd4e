package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"kir/internal/testonly/testmode"
)

// A listed package is what go list tells of it.
type listed struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Deps                               []string
	Module                             struct{ Path, Dir string }
}

// A house is the packages of the module and what their tests need.
type house struct {
	packages map[string]*listed
	root     string // the module's directory
	module   string
	usual    map[string]time.Duration // how long a package's quick tests take, one after another
	slow     map[string][]string      // those of a package that take long
	longer   map[string]time.Duration // how long these take
	skip     string                   // tests that are not run
	command  string                   // the package whose tests are asked last
	most     int                      // how many importers' tests are asked
	set      *token.FileSet           // of what is checked
	imports  types.Importer           // nil until it is needed
}

// outcome is what came of a mutant.
type outcome string

const (
	caught   outcome = "caught"
	hung     outcome = "caught by its time"
	survived outcome = "not caught"
	unbuilt  outcome = "does not build"
	gone     outcome = "is no more"
)

// newHouse lists the packages of the module in a directory.
func newHouse(ctx context.Context, root string) (*house, error) {
	list := exec.CommandContext(ctx, "go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Deps,Module", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	h := &house{packages: make(map[string]*listed), usual: make(map[string]time.Duration), slow: make(map[string][]string), longer: make(map[string]time.Duration)}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return h, nil
		} else if err != nil {
			return nil, err
		}
		h.packages[p.ImportPath], h.root, h.module = p, p.Module.Dir, p.Module.Path
	}
}

// forTests are the packages that serve tests alone.
var forTests = []string{"internal/testonly/golden", "internal/testonly/stattest", "internal/testonly/kernelbench"}

// sources returns the files that are changed, from the root of the module, in
// order: those that ship.
func (h *house) sources() (files []string, packages map[string]string, err error) {
	packages = make(map[string]string)
	for path, p := range h.packages {
		rest := strings.TrimPrefix(path, h.module+"/")
		if slices.Contains(forTests, rest) || strings.HasPrefix(rest+"/", "examples/") {
			continue
		}
		for _, f := range p.GoFiles {
			name, err := filepath.Rel(h.root, filepath.Join(p.Dir, f))
			if err != nil {
				return nil, nil, err
			}
			files, packages[name] = append(files, name), path
		}
	}
	slices.Sort(files)
	return files, packages, nil
}

// asked returns the packages whose tests are run for a change in one, in order:
// its own, those that import it most closely, and the command.
func (h *house) asked(changed string) []string {
	distance := map[string]int{changed: 0}
	for queue := []string{changed}; len(queue) > 0; queue = queue[1:] {
		for path, p := range h.packages {
			if _, known := distance[path]; known || strings.HasPrefix(path+"/", h.module+"/examples/") {
				continue
			}
			if slices.Contains(p.Imports, queue[0]) || slices.Contains(p.TestImports, queue[0]) || slices.Contains(p.XTestImports, queue[0]) {
				distance[path] = distance[queue[0]] + 1
				queue = append(queue, path)
			}
		}
	}
	var near []string
	for path := range distance {
		if p := h.packages[path]; path != changed && path != h.command && len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			near = append(near, path)
		}
	}
	slices.SortFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(len(h.packages[a].Deps), len(h.packages[b].Deps)), cmp.Compare(a, b))
	})
	if h.most < 0 {
		return []string{changed}
	}
	near = near[:min(h.most, len(near))]
	if _, above := distance[h.command]; above && changed != h.command {
		near = append(near, h.command)
	}
	return append([]string{changed}, near...)
}

// try says what comes of a change, and which test noticed it.
func (h *house) try(ctx context.Context, e edit, changed string) (outcome, string, error) {
	if builds, err := h.builds(ctx, e, changed); errors.Is(err, errGone) {
		return gone, "", nil
	} else if err != nil || !builds {
		return unbuilt, "", err
	}
	src, err := h.source(e)
	if err != nil {
		return "", "", err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(dir)
	mutant, overlay := filepath.Join(dir, filepath.Base(e.File)), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(mutant, src, 0o666); err != nil {
		return "", "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(h.root, e.File): mutant}})
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		return "", "", err
	}
	for _, round := range h.rounds(changed) {
		timeout := 4*round.usual + 2*time.Minute
		if testmode.Enabled() {
			timeout = 30 * time.Minute
		}
		args := []string{"test", "-count=1", "-vet=off", "-failfast", "-overlay", overlay, "-timeout", timeout.String()}
		report, err := run(ctx, h.root, "go", append(append(args, round.flags...), round.path)...)
		switch {
		case ctx.Err() != nil:
			return "", "", ctx.Err()
		case bytes.Contains(report, []byte("panic: test timed out")):
			return hung, round.path, nil
		case err != nil:
			return caught, round.path + " " + failed(report), nil
		}
	}
	return survived, "", nil
}

// A round is tests of one package.
type round struct {
	path  string
	usual time.Duration // without a change
	flags []string
}

// rounds returns what is run for a change in a package: its own quick tests, its
// slow ones, and the quick ones of the others that are asked.
func (h *house) rounds(changed string) []round {
	quick := func(path string) round {
		return round{path, h.usual[path], []string{"-skip", strings.Join(append([]string{h.skip}, whole(h.slow[path])...), "|")}}
	}
	rounds := []round{quick(changed)}
	if slow := h.slow[changed]; len(slow) > 0 {
		rounds = append(rounds, round{changed, h.longer[changed], []string{"-run", strings.Join(whole(slow), "|"), "-skip", h.skip}})
	}
	for _, path := range h.asked(changed)[1:] {
		rounds = append(rounds, quick(path))
	}
	return rounds
}

// whole returns patterns that only these names match.
func whole(names []string) []string {
	var patterns []string
	for _, n := range names {
		patterns = append(patterns, "^"+n+"$")
	}
	return patterns
}

// learn reads how long the tests take without a change, as go test -json writes
// it. Those above a time are slow.
func (h *house) learn(name string, slow time.Duration) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(src)); ; {
		var event struct {
			Action, Package, Test string
			Elapsed               float64
		}
		if err := d.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		took := time.Duration(event.Elapsed * float64(time.Second))
		switch {
		case event.Action == "fail":
			return fmt.Errorf("%s: %s %s fails without a change", name, event.Package, event.Test)
		case event.Action != "pass" || event.Test == "" || strings.Contains(event.Test, "/"):
		case took > slow:
			h.slow[event.Package] = append(h.slow[event.Package], event.Test)
			h.longer[event.Package] += took
		default:
			h.usual[event.Package] += took
		}
	}
}

// run runs a command in a directory, and ends all that it has started when it is done.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 10 * time.Second
	out, err := command.CombinedOutput()
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // what a test left behind
	}
	return out, err
}

// failedTest is the line that names a test that failed, the innermost first.
var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// failed returns the name of the test that noticed.
func failed(report []byte) string {
	all := failedTest.FindAllSubmatch(report, -1)
	if len(all) == 0 {
		return "ended"
	}
	return string(all[len(all)-1][1])
}
