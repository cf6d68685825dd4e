package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestNumbersInText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{rhatText(1.0004), "1.000"},
		{rhatText(1.0102), "1.0102"}, // 1.010 would not be above 1.01
		{rhatText(1.01000004), "1.01000004"},
		{rhatText(1.01), "1.010"},
		{rhatText(1.3), "1.300"},
		{rhatText(math.NaN()), "?"},
		{rhatText(math.Inf(1)), "+Inf"},
		{errorText(0.00123), "0.0012"},
		{errorText(0.0000123), "0.000012"},
		{errorText(1.23e-9), "1.2e-09"},
		{errorText(12.3), "12"},
		{errorText(1234), "1234"},
		{errorText(1e9), "1e+09"},
		{errorText(0), "0"},
		{errorText(math.NaN()), "?"},
		{short(-12345.6), "-12346"},
		{short(1.23456), "1.235"},
		{short(1e8), "1e+08"},
		{short(math.NaN()), "?"},
		{scoreText(1.0219231, 2000), "1.021923"},
		{scoreText(0.9512, 1), "0.951"},
		{scoreText(0.9512, 30), "0.9512"},
		{scoreText(3e-7, 2000), "3e-07"},
		{scoreText(math.NaN(), 2000), "?"},
		{unitsOf("1"), "1 unit"},
		{unitsOf("1.5"), "1.5 units"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// A command is broken into lines between flags alone, and is the same if a shell
// puts it together.
func TestCommandInText(t *testing.T) {
	const flags = " --kernel balanced --chains 4 --warmup 100000 --draws 2000000 --thin 10 --seed 18446744073709551615"
	for _, file := range []string{"problem.yaml", "'my own problem with a long name --kernel of words that no line has room for.yaml'", "'it'\\''s.yaml'"} {
		var b bytes.Buffer
		p := &printer{w: &b}
		p.command("kir sample " + file + flags)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) < 2 {
			t.Errorf("%s is not broken", file)
		}
		if !strings.Contains(lines[0], file) {
			t.Errorf("the file is broken: %s", lines[0])
		}
		for k, l := range lines {
			if k > 0 && stringWidth(l) > textWidth {
				t.Errorf("a line of %d columns: %s", stringWidth(l), l)
			}
		}
		if got := strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "\\\n", "")), " "); got != "kir sample "+file+flags {
			t.Errorf("it is put together as %s", got)
		}
	}
}

// What stands among the best is not shown again, and keeps its number.
func TestShortlistsShowOnce(t *testing.T) {
	m := &Model{Properties: []Property{{Weight: 1}}}
	for k := range 12 {
		m.Best = append(m.Best, Best{Chain: k % 3, Draw: k})
	}
	m.Diverse = []Best{m.Best[0], {Chain: 1, Draw: 99}, m.Best[2], m.Best[8], {Chain: 0, Draw: 77}}
	places := func(list []placed) string {
		var all []int
		for _, p := range list {
			all = append(all, p.Place)
		}
		return fmt.Sprint(all)
	}
	if best, various := m.shortlists(6, 6); places(best) != "[0 1 2 3 4 5]" || places(various) != "[1 3 4]" {
		t.Errorf("%s and %s", places(best), places(various))
	}
	if best, various := m.shortlists(10, 1); places(best) != "[0 1 2 3 4 5 6 7 8 9]" || places(various) != "[1]" {
		t.Errorf("%s and %s", places(best), places(various))
	}
	m.Properties = nil // nothing counts, so nothing is best
	if best, various := m.shortlists(6, 6); len(best) != 0 || places(various) != "[0 1 2 3 4]" {
		t.Errorf("%s and %s", places(best), places(various))
	}
}
