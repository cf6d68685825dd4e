package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCIRunsTheREADME: .ci/run runs the two commands that the README has for a clone, as
// they are printed there, each a line of its own, before it sets KIR_LONG.
func TestCIRunsTheREADME(t *testing.T) {
	text := func(name string) string {
		t.Helper()
		data, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var printed []string
	all, _ := blocks(text("README.md"))
	for _, b := range all {
		for line := range strings.Lines(b.text) {
			if strings.HasPrefix(line, "go run ") || strings.HasPrefix(line, "go test ") {
				printed = append(printed, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	if len(printed) != 2 {
		t.Errorf("README.md prints %q, want one go run and one go test", printed)
	}
	script, _, sets := strings.Cut(text(".ci/run"), "KIR_LONG=1")
	if !sets {
		t.Error(".ci/run never runs the long tests: it does not set KIR_LONG=1")
	}
	var lines []string
	for line := range strings.Lines(script) {
		lines = append(lines, strings.TrimSpace(line))
	}
	for _, command := range printed {
		if !slices.Contains(lines, command) {
			t.Errorf("before it sets KIR_LONG=1, .ci/run has no line %q, which README.md prints", command)
		}
	}
	if !strings.Contains(text(".github/workflows/nightly.yml"), "KIR_LONG=1 go test -race ") {
		t.Error("nightly.yml does not run the long tests under the race detector: it lacks KIR_LONG=1 go test -race")
	}
}
