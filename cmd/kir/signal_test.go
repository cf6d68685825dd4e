//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kir/internal/testonly/testmode"
)

// kirProcess returns the command, as another process in a directory.
func kirProcess(dir string, args ...string) (c *exec.Cmd, said *bytes.Buffer) {
	c = exec.Command(os.Args[0])
	c.Args, c.Dir, said = append([]string{"kir"}, args...), dir, new(bytes.Buffer)
	c.Stderr = said
	return c, said
}

const sharesProblem = `total: 20
ingredients: [Gin, Vodka, Campari, Lime]
sparsity: {uniform: [1, 3]}
properties:
  a b: {expression: 'share("Gin")'}
  a-b: {expression: 'share("Lime")'}
sampler: {warmup: 10, chains: 2, draws: 20000, kernel: balanced}
`

// The first signal ends whatever a command waits for, with the status of what was
// interrupted; and the draws of a run are saved.
func TestSignals(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "problem.yaml"), []byte(sharesProblem), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "many.yaml"), []byte(manyRules(10_000, 1000, 2, 10)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, pipe := range []string{"pipe", "pipe.csv", "pipe.yaml"} {
		if err := syscall.Mkfifo(filepath.Join(dir, pipe), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sample, said := kirProcess(dir, "sample", "problem.yaml", "-o", "run", "--no-report")
	if err := sample.Run(); err != nil {
		t.Fatal(err, said)
	}
	unread, blocked, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	defer blocked.Close()
	// ended signals a command that has had some time to begin. A process that had not begun to
	// listen is ended by the signal: another is given more.
	ended := func(line string, signal syscall.Signal, wait time.Duration) {
		for ; ; wait *= 4 {
			c, said := kirProcess(dir, strings.Fields(line)...)
			c.Stdout = blocked
			if err := c.Start(); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(wait)
			if err := c.Process.Signal(signal); err != nil {
				t.Errorf("kir %s: %v: %s", line, err, said)
			}
			late := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
			err := c.Wait()
			late.Stop()
			if c.ProcessState.ExitCode() == 130 {
				return
			}
			if c.ProcessState.Sys().(syscall.WaitStatus).Signal() != signal || wait > 10*time.Second {
				t.Errorf("kir %s ends with %v after %v: %s", line, err, signal, said)
				return
			}
			if err := os.RemoveAll(filepath.Join(dir, "long")); err != nil {
				t.Error(err)
			}
		}
	}
	// Those that wait for a pipe do so side by side.
	var waiting sync.WaitGroup
	for _, line := range []string{
		"draws run", "draws run --format jsonl",
		"init pipe.csv -o new.yaml", "train pipe.csv --label taste", "check pipe.yaml", "sample pipe.yaml -o never",
	} {
		waiting.Go(func() { ended(line, syscall.SIGTERM, 250*time.Millisecond) })
	}
	waiting.Wait()
	// Ten thousand rules have been read by then, and a run has kept draws.
	const begun = 700 * time.Millisecond
	ended("check many.yaml --no-cache", syscall.SIGTERM, begun)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		if err := os.RemoveAll(filepath.Join(dir, "long")); err != nil {
			t.Fatal(err)
		}
		ended("sample problem.yaml -o long --draws 2000000 --effort 0", signal, begun)
	}
	resume, said := kirProcess(dir, "status", "long", "--json")
	if out, err := resume.Output(); err != nil || bytes.Contains(out, []byte(`"draws": 0,`)) {
		t.Errorf("after a signal the draws are %s: %v: %s", out, err, said)
	}
}

// manyRules writes a problem of pairs of 200 ingredients of which at most one may be
// used.
func manyRules(rules, total, least, most int) string {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	fmt.Fprintf(&b, "total: %d\nsparsity: {uniform: [%d, %d]}\ningredients:\n", total, least, most)
	for i := range 200 {
		fmt.Fprintf(&b, "  - i%d\n", i)
	}
	b.WriteString("constraints:\n")
	for range rules {
		i, j := r.IntN(200), r.IntN(199)
		if j >= i {
			j++
		}
		fmt.Fprintf(&b, "  - never: [i%d, i%d]\n", i, j)
	}
	return b.String()
}

// Ten thousand rules are read, counted and tried in seconds of CPU: 1.9 s on an AMD EPYC,
// where it took more than 140 s when each composition was held against each rule.
func TestManyRules(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "many.yaml"), []byte(manyRules(10_000, 20, 1, 5)), 0o644); err != nil {
		t.Fatal(err)
	}
	c, said := kirProcess(dir, "check", "many.yaml", "--no-cache")
	late := time.AfterFunc(5*time.Minute, func() { c.Process.Kill() })
	defer late.Stop()
	if err := c.Run(); err != nil {
		t.Fatal(err, said)
	}
	const most = 30 * time.Second
	if took := c.ProcessState.UserTime() + c.ProcessState.SystemTime(); took > most && !testmode.RaceDetector {
		t.Errorf("kir check took %v of CPU, more than %v", took, most)
	}
}

// What the runtime gives up for does not look like bad input, which is status 2.
func TestPanics(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, said := kirProcess(dir, "check", "pipe.yaml")
	c.Args[0] = "kir-that-panics"
	if err := c.Run(); c.ProcessState.ExitCode() == 2 || !strings.Contains(said.String(), "panic: a mistake") {
		t.Errorf("it ends with %v: %s", err, said)
	}
}
