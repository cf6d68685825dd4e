package view

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
)

// A command is broken into lines between flags alone, and is the same if a shell
// puts it together.
func TestCommandInText(t *testing.T) {
	const flags = " --kernel balanced --chains 4 --warmup 100000 --draws 2000000 --thin 10 --seed 18446744073709551615"
	for _, file := range []string{"problem.yaml", "'my own problem with a long name --kernel of words that no line has room for.yaml'", "'it'\\''s.yaml'"} {
		var b bytes.Buffer
		writeCommand(terminal.NewPrinter(&b, terminal.Style{}), "kir sample "+file+flags)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) < 2 {
			t.Errorf("%s is not broken", file)
		}
		if !strings.Contains(lines[0], file) {
			t.Errorf("the file is broken: %s", lines[0])
		}
		for k, l := range lines {
			if k > 0 && terminal.Width(l) > terminal.MaxColumns {
				t.Errorf("a line of %d columns: %s", terminal.Width(l), l)
			}
		}
		if got := strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "\\\n", "")), " "); got != "kir sample "+file+flags {
			t.Errorf("it is put together as %s", got)
		}
	}
}

// Each figure of a ladder stands where it belongs.
func TestLadderText(t *testing.T) {
	m := cocktails(t).model
	rungs := []run.Rung{{Rejected: 0.125, MeanLogScore: -9.5, Forbidden: 0.25}, {Beta: 0.5, Rejected: 0.75, Barrier: 0.125, MeanLogScore: -2.5}, {Beta: 1, Rejected: report.Number(math.NaN()), Barrier: 0.875, MeanLogScore: -1.5}}
	m.Ladders = []run.Ladder{{Chain: 0, Scans: 4321, Restarts: 77, RoundTrips: 66, Barrier: 0.875, LogZ: run.Estimate{Value: -3.25, SE: 0.5}, Rungs: rungs,
		Learnt: &run.Leg{Steps: 1, Restarts: 99, RoundTrips: 88, Rejected: 0.375, Barrier: 0.375, LogZ: run.Estimate{Value: -3.5, SE: 0.25}}}}
	m.LogZ = &run.Estimate{Value: -3.125, SE: 0.625}
	text := checkText(t, m)
	for _, want := range []string{
		"    0      2        77           66   75.00 %  0.88  -3.250   0.5",
		"learnt      1        99           88   37.50 %  0.38  -3.500  0.25",
		"Learnt: a second",
		"  0   12.50 %  0.00            -9.5    25.00 %",
		"0.5   75.00 %  0.12            -2.5     0.00 %",
		"  1            0.88            -1.5     0.00 %",
		"In 4,321 scans a chain",
		"is -3.125 ±",
		"scans per second.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text[strings.Index(text, "Tempering"):])
		}
	}
}
