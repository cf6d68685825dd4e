// Package browser_test looks at what kir shows in a browser: the reports of runs, and the
// page of kir serve as a person goes through it. Without Chromium and the fonts, the tests
// are skipped.
package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program is kir, as it stands beside this module.
var program string

func TestMain(m *testing.M) { os.Exit(withProgram(m)) }

// withProgram runs the tests with a kir that is built for them.
func withProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kir")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "kir")
	build := exec.Command("go", append(append([]string{"build"}, buildFlags...), "-o", program, "./cmd/kir")...)
	build.Dir = filepath.Join("..", "..") // where its own go.mod says what it is built of
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n%s", build, err, out)
		return 1
	}
	return m.Run()
}

// kirDoes runs the command and returns what it printed.
func kirDoes(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("kir %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// example is the path of a problem of the examples.
func example(name string) string { return filepath.Join("..", "..", "examples", name, "problem.yaml") }

// serveProblem runs kir serve of a problem until the test ends and returns its address.
func serveProblem(t *testing.T, file string) string {
	t.Helper()
	return served(t, "", file)
}

// served runs kir serve in a directory until the test ends and returns its address. It must
// end well.
func served(t *testing.T, dir string, args ...string) string {
	t.Helper()
	address, _ := servedUntil(t, dir, args...)
	return address
}

// servedUntil is served, and returns what kills the program at once.
func servedUntil(t *testing.T, dir string, args ...string) (address string, kill func()) {
	t.Helper()
	address, _, kill = servedBy(t, dir, args...)
	return address, kill
}

// servedBy is servedUntil, and returns the process.
func servedBy(t *testing.T, dir string, args ...string) (address string, by *os.Process, kill func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	command := exec.CommandContext(ctx, program, append([]string{"serve", "--no-open"}, args...)...)
	command.Dir = dir
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 20 * time.Second
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		t.Helper()
		killed = true
		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = command.Wait() // it was killed
	}
	t.Cleanup(func() {
		cancel()
		if killed {
			return
		}
		// An error that is the cancelling alone says nothing of how the program ended.
		if err := command.Wait(); command.ProcessState.ExitCode() != 0 {
			t.Errorf("kir serve ends with %v: %v\n%s", command.ProcessState, err, stderr.String())
		}
	})
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if _, rest, ok := strings.Cut(line, "http://"); ok {
			go io.Copy(io.Discard, lines) // until the program ends
			return "http://" + strings.Fields(rest)[0], command.Process, kill
		}
		if err != nil {
			t.Fatalf("kir serve prints no address: %v\n%s", err, stderr.String())
		}
	}
}
