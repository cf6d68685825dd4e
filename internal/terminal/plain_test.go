package terminal

import (
	"errors"
	"io"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
)

// Lines fit, and nothing but spaces is lost.
func TestWrap(t *testing.T) {
	for _, text := range []string{
		"", "a", "Which compositions of 2 to 5 out of 63 ingredients suit best: taste Fresh; timing All day?",
		strings.Repeat("long", 50) + " and short", "  spaces   here ", "レモンジュース レモンジュース", "a " + strings.Repeat("b", 20) + " c",
	} {
		lines := Wrap(text, 20)
		for _, line := range lines {
			if Width(line) > 20 || strings.TrimSpace(line) != line {
				t.Errorf("%q has the line %q", text, line)
			}
		}
		if got, want := strings.Join(strings.Fields(strings.Join(lines, "")), ""), strings.Join(strings.Fields(text), ""); got != want {
			t.Errorf("%q is wrapped as %q", text, lines)
		}
	}
}

// No character of a file acts on a terminal.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"Crème de cassis": "Crème de cassis", "a\x1b[31m": `a\x1b[31m`, "\u202egnp": `\u202egnp`, "a\nb": `a\nb`, "レモン": "レモン", "\u00a0": `\u00a0`,
	} {
		if got := EscapeControls(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}

// Columns of text are flush left and bounded, those of numbers flush right.
func TestTable(t *testing.T) {
	table := NewTable(1, "name", "n", "what")
	table.SetMaxWidth(2, 5)
	table.Row("a", 1, "one two")
	table.Row("b\n", 20, "x")
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	if want := "name   n  what\na      1  one\n          two\nb\\n   20  x\n"; b.String() != want {
		t.Errorf("the table is %q, want %q", b.String(), want)
	}
}

// In JSON, which lets them stand, what a terminal obeys is escaped, and nothing else.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": "é\u001b b"}`: `{"a": "é\u001b b"}`,
		"\"\x7e\x7f\u0085\"": `"~\u007f\u0085"`,
		"\"a\u202eb\"":       `"a\u202eb"`,
	} {
		if got := string(EscapeJSON([]byte(text))); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// A printer's lines, headings, tables and texts from files, bars of every length, and
// nothing after the first error.
func TestPrinter(t *testing.T) {
	var b strings.Builder
	for _, style := range []Style{{}, {Color: true}, {ASCII: true}} {
		p := NewPrinter(&b, style)
		p.Heading("Of %d", 3)
		p.Line("%s and %s", p.Bold("bold"), p.Warn("warned"))
		text := "A text of a file\x1b[31m that is longer than a line, so that it is broken, and goes on for so long that there are three lines of it, each as long as it may be and no longer."
		p.Wrapped(0, text)
		p.Wrapped(4, text)
		p.WrappedHanging(4, text)
		p.WrappedHanging(2, "one line")
		table := NewTable(1, "name", "n")
		table.Row("a", 10)
		p.Table(table)
		words := NewTable(1, "text", "figure", "another")
		words.Row("a", "1", "22,333")
		words.Row("bbbbb", "1,234,567", "4")
		p.Table(words)
		for k := range 18 {
			p.Line("%s|", p.Bar(float64(k)/32, 4))
		}
		p.Line("%s|%s|", p.Bar(1, 4), p.Bar(0.1, 10))
		if p.Err != nil {
			t.Fatal(p.Err)
		}
	}
	for _, width := range []int{1, 2, 4, 5, 6} {
		b.WriteString(Pad("レモン", width) + "|" + Pad("lemon", width) + "|\n")
	}
	golden.Compare(t, "testdata/printer.txt", []byte(b.String()))

	full := &fullAfter{left: 2}
	p := NewPrinter(full, Style{})
	p.Line("one")
	p.Table(NewTable(1, "two"))
	p.Line("three")
	p.Table(NewTable(1, "four"))
	if !errors.Is(p.Err, io.ErrShortWrite) || full.tried != 3 {
		t.Errorf("after %d writes it is %v", full.tried, p.Err)
	}
	q := NewPrinter(&fullAfter{}, Style{})
	if q.Table(NewTable(1, "one")); !errors.Is(q.Err, io.ErrShortWrite) {
		t.Error(q.Err)
	}
}

// fullAfter takes so many writes.
type fullAfter struct{ left, tried int }

func (w *fullAfter) Write(text []byte) (int, error) {
	w.tried++
	if w.left--; w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(text), nil
}
