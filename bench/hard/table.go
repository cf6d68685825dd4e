package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// A row is what was measured of one target.
type row struct {
	name   string
	speeds []speed // by kernel
	finds  []found // by finder
	ladder ladders
	note   string
}

const (
	head = "| target | Algorithm 2 | gibbs | naive | balanced | tempered | best: Algorithm 2 | balanced | tempered | Λ | round trips |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
	from = "<!-- made by go run -C bench ./hard -->\n"
	to   = "<!-- end -->\n"
)

// table returns rows as a table.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString(head)
	for _, r := range rows {
		b.WriteString(r.String())
	}
	return b.String()
}

func (r row) String() string {
	cells := []string{r.name, r.speeds[0].String()}
	for _, s := range r.speeds[1:] {
		cells = append(cells, s.over(r.speeds[0]))
	}
	for _, f := range r.finds {
		cells = append(cells, f.String())
	}
	barrier := fmt.Sprintf("%.1f", r.ladder.barrier)
	if r.ladder.legs > 0 {
		barrier += fmt.Sprintf(", learnt %.1f", r.ladder.learnt)
	}
	cells = append(cells, barrier, digits(r.ladder.roundTrips)+"/s")
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// String is the speed in draws a second.
func (s speed) String() string {
	switch {
	case s.none:
		return "–"
	case s.below:
		return "< " + digits(s.ess) + "/s"
	}
	return digits(s.ess) + "/s"
}

// over is the speed as a multiple of another, or by itself where either is not known or both
// are bounds.
func (s speed) over(t speed) string {
	switch {
	case s.none, t.none, s.below && t.below:
		return s.String()
	case s.below:
		return "< " + digits(s.ess/t.ess) + " ×"
	case t.below:
		return "> " + digits(s.ess/t.ess) + " ×"
	}
	return digits(s.ess/t.ess) + " ×"
}

func (f found) String() string {
	switch {
	case math.IsNaN(f.seconds):
		return "–"
	case f.late:
		return "> " + digits(f.seconds) + " s"
	}
	return digits(f.seconds) + " s"
}

// digits writes v with two digits, or as a whole number.
func digits(v float64) string {
	if v == 0 || v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.*f", max(0, 1-int(math.Floor(math.Log10(v)))), v)
}

// writeInto writes a row into the table of a document, where that of the same target
// gives way to it.
func writeInto(path string, r row) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), from)
	old, after, closed := strings.Cut(rest, to)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %q and %q for the table to stand between", path, from, to)
	}
	lines := make(map[string]string)
	for line := range strings.Lines(old) {
		lines[target(line)] = line
	}
	lines[r.name] = r.String()
	made := head
	for _, s := range subjects {
		made += lines[s.name]
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, slices.Concat([]byte(before+from), []byte(made), []byte(to+after)), info.Mode())
}

// target is the first cell of a row.
func target(line string) string {
	cells := strings.Split(line, "|")
	if len(cells) < 2 {
		return ""
	}
	return strings.TrimSpace(cells[1])
}
