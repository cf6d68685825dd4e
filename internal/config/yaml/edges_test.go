package yaml

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/inputerr"
	"kir/internal/testonly/golden"
)

// TestEditorAnywhere keeps what each node of texts of many forms becomes when it is
// set, added to and removed, so that where each of them begins and ends is seen.
func TestEditorAnywhere(t *testing.T) {
	kept := golden.Open(t)
	for _, text := range []string{
		"a: \"x\\\" # y\" # c\nb: 'it''s ]' # d\nc: [\"]\", '}', p'q, \"a\\\\\"] # e\nd: {k: [1, {l: 2}], 'm n': \"\"} # f\n",
		"# head\na: |\n  one\n\n  two\n\n# tail\nb: >-\n    three\n      four\nc: |2\n   five\nd: x\n",
		"list:\n- 1\n- - 2\n  - 3 # in\n- k: 4\n  l:\n    - 5\n    -\n    - ~\n\n# end",
		"é: ü # ö\nß: [ä, {ñ: 1}]\n\"q\": null\nn: Null # none\nt: ~\nu:\n",
		"{a: 1,\n  # b ] is\n  b: [2, # two\n    3],\n  c: {}, d: [] }\n",
		"k: a\n  b\nl: - 1\n",
		"a: {b: {c: {d: [1, 2, 3]}}}\ne: [[1, 2], [3, [4]]]",
		"a: it's\nb: [it's, a#b, #c\n 2]\nc: {x: it's}",
		"a: |+\n  keep\n\n\nb: >\n  fold\n  ed",
	} {
		root, err := Parse("p.yaml", []byte(text))
		if err != nil {
			kept.CheckText(t, text, err.Error())
			continue
		}
		var walk func(n *Node, path []any)
		walk = func(n *Node, path []any) {
			edit := func(how string, change func(e *Editor) error) {
				e, err := NewEditor("p.yaml", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				e.Order = []string{"z", "a", "b", "new", "c"}
				err = change(e)
				said := string(e.Text())
				if err != nil {
					said = err.Error()
					if string(e.Text()) != text {
						t.Errorf("%q, %v, %s: %v, and it is %q", text, path, how, err, e.Text())
					}
				}
				kept.CheckText(t, fmt.Sprintf("%.20q %v %s", text, path, how), said)
			}
			if len(path) > 0 {
				edit("set", func(e *Editor) error { return e.Set("s, t", path...) })
				edit("remove", func(e *Editor) error { return e.Remove(path...) })
				edit("append", func(e *Editor) error { return e.Append(Map{{Key: "y", Value: 2.5}}, path...) })
			}
			edit("new", func(e *Editor) error { return e.Set([]any{true, "no"}, append(slices.Clip(path), "new")...) })
			edit("new list", func(e *Editor) error { return e.Append("-1", append(slices.Clip(path), "new")...) })
			for _, entry := range n.Entries {
				walk(entry.Value, append(slices.Clip(path), entry.Key.Text))
			}
			for k, item := range n.Items {
				walk(item, append(slices.Clip(path), k))
			}
		}
		walk(root, nil)
	}
}

// TestWithinAll keeps where each character of texts of many forms stands.
func TestWithinAll(t *testing.T) {
	kept := golden.Open(t)
	for _, text := range []string{"a: plain", "a: 'quoted'", "a: \"q\"", "a: \"\\t\"", "a: |\n  one\n  zwö\n\n    three\n", "a: |2\n    in\n  out", "a: >\n  x\n  y\n", "a: é x", "  a: [b]", "a: |-\n  x\n", "a: |\n\n  x", "a:\n  below"} {
		root, err := Parse("p.yaml", []byte(text))
		if err != nil {
			kept.CheckText(t, text, err.Error())
			continue
		}
		n := root.Get("a")
		said := ""
		for k := range len([]rune(n.Text)) + 2 {
			line, column, ok := n.CharacterPlace(k)
			said += fmt.Sprintf("%d:%d %t, ", line, column, ok)
		}
		kept.CheckText(t, text, said)
	}
	for _, n := range []*Node{{Text: "x"}, {Line: 1, Text: "x", fileContents: []byte("x")}, {Line: 1, Column: 1, Text: "x", fileContents: []byte("x")}, {Line: 1, Column: 2, Text: "x", fileContents: []byte("x")}, {Line: 2, Column: 1, Text: "x", fileContents: []byte("x")}} {
		line, column, ok := n.CharacterPlace(0)
		kept.CheckText(t, fmt.Sprintf("%d:%d", n.Line, n.Column), fmt.Sprintf("%d:%d %t", line, column, ok))
	}
}

// TestNodes: what stands alone is a list of itself, what has no place gets one, and
// what was meant is offered.
func TestNodes(t *testing.T) {
	root, err := Parse("p.yaml", []byte("a: [1, 2]\nb: {c: d}\ne: ~\n"))
	if err != nil {
		t.Fatal(err)
	}
	if all := root.Get("a").ItemsOrSelf(); len(all) != 2 || all[1].Text != "2" {
		t.Errorf("the list has %v", all)
	}
	for _, key := range []string{"b", "e"} {
		if all := root.Get(key).ItemsOrSelf(); len(all) != 1 || all[0] != root.Get(key) {
			t.Errorf("%s is %v", key, all)
		}
	}
	at := root.Get("b")
	cause := errors.New("broken")
	if err := at.PlaceError(cause); err.Error() != "p.yaml:2:4: broken" || !errors.Is(err, cause) {
		t.Error(err)
	}
	for _, err := range []error{context.Canceled, fmt.Errorf("b: %w", context.DeadlineExceeded), &inputerr.Error{Message: "x"}} {
		if got := at.PlaceError(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	for name, want := range map[string]string{"aple": `p.yaml:2:4: x: did you mean "apple"?`, "zzz": `p.yaml:2:4: x: there are "apple", "pear" and 1 more`} {
		if got := SuggestName(at.Errorf("x"), name, "there are", []string{"apple", "pear", "plum"}, 2); got.Error() != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	var m Map
	m.CopyKeys(root, "e", "none", "b", "a")
	text, err := Marshal(m)
	if want := "e: null\nb:\n  c: d\na:\n- 1\n- 2\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSizes: what is read is bounded, and the bound itself is still read.
func TestSizes(t *testing.T) {
	padded := func(n int) []byte { return []byte("a: 1\n#" + strings.Repeat("x", n-6)) }
	if _, err := Parse("p.yaml", padded(MaxBytes)); err != nil {
		t.Error(err)
	}
	if _, err := Parse("p.yaml", padded(MaxBytes+1)); err == nil || !strings.Contains(err.Error(), fmt.Sprint("of ", MaxBytes+1, " bytes is too large: the most is ", MaxBytes)) {
		t.Error(err)
	}
}

// TestFilesFail: why a file is not read is said where it is named, or of its path.
func TestFilesFail(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"s.csv": "name,apple,pear\nlime,1,2\nrum,3,4\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := Files{Dir: dir, OnRead: func(string, []byte, int64) {}}
	said := func(err error) string { return strings.ReplaceAll(fmt.Sprint(err), dir, "DIR") }
	named := func(name string) *Node {
		return &Node{File: "p.yaml", Line: 3, Column: 5, Kind: Text, Text: name}
	}
	for _, c := range []struct{ got, want string }{
		{said(files.Read(t.Context(), named("."), "the sheet", nil)), `p.yaml:3:5: ".": this is a directory: paths are relative to the problem file; looked for DIR`},
		{said(func() error { _, err := files.ReadFile(t.Context(), dir, 10); return err }()), "DIR: this is a directory: name a file"},
		{said(func() error { _, err := files.ReadFile(t.Context(), filepath.Join(dir, "none"), 10); return err }()), "DIR/none: there is no such file: check the path"},
		{said(func() error { _, err := files.ReadFile(t.Context(), filepath.Join(dir, "s.csv", "x"), 10); return err }()), "DIR/s.csv/x: the file cannot be opened: stat DIR/s.csv/x: not a directory"},
		{said(func() error {
			ctx, cancel := context.WithCancel(t.Context())
			return files.Read(ctx, named("s.csv"), "it", func(r io.Reader, _ string) error {
				cancel()
				_, err := io.ReadAll(r)
				return err
			})
		}()), "context canceled"},
	} {
		if c.got != c.want {
			t.Errorf("it says\n%s\nnot\n%s", c.got, c.want)
		}
	}
}
