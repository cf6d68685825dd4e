package terminal

import (
	"strings"
	"testing"
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
		if got := Plain(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}

// Columns of text are flush left and bounded, those of numbers flush right.
func TestTable(t *testing.T) {
	table := NewTable(1, "name", "n", "what")
	table.Widest(2, 5)
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
		if got := string(JSON([]byte(text))); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
