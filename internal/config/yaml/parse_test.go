package yaml

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"kir/internal/inputerr"
	"kir/internal/testonly/golden"
)

func FuzzParse(f *testing.F) {
	f.Add("total: 5\nsparsity: {table: {2: 1}}\n")
	f.Add("a: [{b: 'c'}, !!int 3, *x]\n? k\n: v\n")
	f.Fuzz(func(t *testing.T, yaml string) {
		if _, err := Parse("p.yaml", []byte(yaml)); err != nil {
			var bad *inputerr.Error
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
		}
	})
}

// TestWithin: a character of a text has a place in the file if it stands there
// as it is.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		yaml         string
		line, column int // of the x in the text; 0 if it cannot be told
	}{
		{"a: 1x\n", 1, 5},
		{"a: '1x'\n", 1, 6},
		{"a: \"1x\"\n", 1, 6},
		{"a: \"\\u0031x\"\n", 0, 0},
		{"a: 'it''s x'\n", 0, 0},
		{"b: 2\na: |\n  1\n  2x\n", 4, 4},
		{"b: 2\na: |\r\n  1\r\n  2x\r\n", 4, 4},
		{"b: 2\na: >\n  1\n  2x\n", 0, 0},
		{"b: 2\na: 1\n  x\n", 0, 0},
		{"\xef\xbb\xbfa: 1x\n", 1, 5},
	} {
		root, err := Parse("p.yaml", []byte(c.yaml))
		if err != nil {
			t.Fatal(err)
		}
		n := root.Get("a")
		line, column, ok := n.CharacterPlace(strings.IndexByte(n.Text, 'x'))
		if ok != (c.line > 0) || line != c.line || column != c.column {
			t.Errorf("%q: the x is at %d:%d, %v", c.yaml, line, column, ok)
		}
	}
}

// What is read is written back as it is: numbers that are whole as such, and all
// else as the kind of thing that it is.
func TestPlain(t *testing.T) {
	const text = `a: 1
b: -3
c: 1.5
d: 1e12
e: 9007199254740991
f: 9007199254740992.0
g: true
h: False
i: [x, 2, [3.25]]
j: {k: "7", l: null}
m: |
  two
  lines
`
	root, err := Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := Map{{Key: "a", Value: int64(1)}, {Key: "b", Value: int64(-3)}, {Key: "c", Value: 1.5}, {Key: "d", Value: int64(1e12)},
		{Key: "e", Value: int64(9007199254740991)}, {Key: "f", Value: 9007199254740992.0}, {Key: "g", Value: true}, {Key: "h", Value: false},
		{Key: "i", Value: []any{"x", int64(2), []any{3.25}}}, {Key: "j", Value: Map{{Key: "k", Value: "7"}, {Key: "l", Value: nil}}}, {Key: "m", Value: "two\nlines\n"}}
	if got := root.Plain(); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%#v\nwant\n%#v", got, want)
	}
}

// Lists and mappings nest 32 deep, and no deeper.
func TestDepth(t *testing.T) {
	for depth, want := range map[int]bool{1: true, 31: true, 32: true, 33: false, 40: false} {
		for _, text := range []string{"a: " + strings.Repeat("[", depth-1) + "1" + strings.Repeat("]", depth-1), strings.Repeat("{a: ", depth) + "1" + strings.Repeat("}", depth)} {
			if _, err := Parse("p.yaml", []byte(text)); (err == nil) != want {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// TestValues keeps what is said of values that are not what is asked for.
func TestValues(t *testing.T) {
	kept := golden.Open(t)
	for _, text := range []string{"3", "-3", "0", "10", "11", "1.5", "1e3", "010", "-07", "0x10", ".inf", "-.inf", ".nan", "18446744073709551615", "18446744073709551616", "true", "no", "~", "text", "'3'", "''", "' '", "[1, 2]", "[]", "{a: 1}", "{}", "|\n  a\n  b", "2001-01-01"} {
		root, err := Parse("p.yaml", []byte("v: "+text+"\n"))
		if err != nil {
			kept.CheckText(t, text+" parsed", err.Error())
			continue
		}
		n := root.Get("v")
		f, errF := n.Float("the v")
		w, errW := n.Weight("the v")
		i, errI := n.Whole("the v", 0, 10)
		u, errU := n.Uint64("the v")
		s, errS := n.Str("the v")
		l, errL := n.List("the v")
		fields, errM := n.Fields("the v", "a", "b")
		said := fmt.Sprintf("%s %v; %v %v; %v %v; %v %v; %v %v; %q %v; %d %v; %d %v; %v", n.Describe(), n.Kind, f, errF, w, errW, i, errI, u, errU, s, errS, len(l), errL, len(fields), errM, n.Require("the v", "write it", "a"))
		kept.CheckText(t, text, said)
	}
	for _, text := range []string{"", "\n# nothing\n", "a: 1\na: 2\n", "a: 1\n---\nb: 2\n", "a: &x 1\n", "a: *x\n", "a: !!int 1\n", "? a\n: 1\n", "<<: {a: 1}\n", "- 1\n- {b: 2}\n", "a: [1, 2\n", "\ta: 1\n", "a: {bc: 1, abd: 2}\n", "1: 2\n", "a: 'x\n"} {
		root, err := Parse("p.yaml", []byte(text))
		said := fmt.Sprint(err)
		if err == nil {
			said = fmt.Sprintf("%v %s %v", root.Kind, root.Describe(), root.Plain())
			if a := root.Get("a"); a != nil && a.Kind == Mapping {
				_, err := a.Fields("an a", "abc", "xyz")
				said += fmt.Sprint(err)
			}
		}
		kept.CheckText(t, fmt.Sprintf("%q", text), said)
	}
}

// TestEditor keeps what texts become when they are edited.
func TestEditor(t *testing.T) {
	kept := golden.Open(t)
	const all = "# top\nname: x # the name\nlist: # of all\n  - a # first\n  - {b: 1, c: [2, 3]} # second\n\n  - d: 'it''s'\n    e: \"q\\\"\"\nmap:\n  k: |\n    two\n    lines\n  l: ~\n  m: {}\nflow: {a: 1, b: [x, y], c: 'z'}\n# rest:\n#   - one\nlast: 3\n"
	edits := map[string]func(e *Editor) error{
		"set name": func(e *Editor) error { return e.Set("y: z", "name") }, "set new": func(e *Editor) error { return e.Set(1.5, "new") }, "set deep": func(e *Editor) error { return e.Set(true, "deep", "er", "est") }, "set in list": func(e *Editor) error { return e.Set("A", "list", 0) },
		"set in flow in list": func(e *Editor) error { return e.Set(7, "list", 1, "c", 1) }, "set map in list": func(e *Editor) error { return e.Set("f", "list", 2, "e") }, "set text": func(e *Editor) error { return e.Set("one", "map", "k") }, "set null": func(e *Editor) error { return e.Set([]any{"a", 2}, "map", "l") }, "set into null": func(e *Editor) error { return e.Set(1, "map", "l", "n") },
		"set into empty": func(e *Editor) error { return e.Set(1, "map", "m", "n") }, "set in flow": func(e *Editor) error { return e.Set(Map{{Key: "q", Value: 1}}, "flow", "b") }, "set new in flow": func(e *Editor) error { return e.Set("w", "flow", "d") }, "set in no list": func(e *Editor) error { return e.Set("w", "name", 0) }, "set beyond": func(e *Editor) error { return e.Set("w", "list", 9) },
		"append": func(e *Editor) error { return e.Append("e", "list") }, "append map": func(e *Editor) error {
			return e.Append(Map{{Key: "f", Value: Map{{Key: "g", Value: "h i"}}}}, "list")
		}, "append in flow": func(e *Editor) error { return e.Append("z", "flow", "b") }, "append new": func(e *Editor) error { return e.Append("n", "more") }, "append new in flow": func(e *Editor) error { return e.Append("n", "flow", "more") },
		"append to null": func(e *Editor) error { return e.Append("n", "map", "l") }, "append to text": func(e *Editor) error { return e.Append("n", "name") }, "append commented": func(e *Editor) error { return e.Append("n", "rest") }, "append deep": func(e *Editor) error { return e.Append("n", "x", "y") }, "append deeper": func(e *Editor) error { return e.Append("n", "map", "x", "y") },
		"remove": func(e *Editor) error { return e.Remove("name") }, "remove first": func(e *Editor) error { return e.Remove("list", 0) }, "remove second": func(e *Editor) error { return e.Remove("list", 1) }, "remove third": func(e *Editor) error { return e.Remove("list", 2) }, "remove in flow": func(e *Editor) error { return e.Remove("flow", "a") }, "remove middle in flow": func(e *Editor) error { return e.Remove("flow", "b") },
		"remove last in flow": func(e *Editor) error { return e.Remove("flow", "c") }, "remove in list in flow": func(e *Editor) error { return e.Remove("list", 1, "c", 0) }, "remove text": func(e *Editor) error { return e.Remove("map", "k") }, "remove last": func(e *Editor) error { return e.Remove("last") }, "remove none": func(e *Editor) error { return e.Remove("none") }, "remove nowhere": func(e *Editor) error { return e.Remove("none", "a") },
		"all of list": func(e *Editor) error {
			return errors.Join(e.Remove("list", 2), e.Remove("list", 1), e.Remove("list", 0))
		}, "all of flow": func(e *Editor) error {
			return errors.Join(e.Remove("flow", "a"), e.Remove("flow", "b"), e.Remove("flow", "c"), e.Set(1, "flow", "d"))
		}, "two": func(e *Editor) error {
			return errors.Join(e.Append("e", "list"), e.Append("f", "list"), e.Set(2, "list", 3))
		},
	}
	for name, edit := range edits {
		for _, text := range []string{all, "\xef\xbb\xbf" + strings.ReplaceAll(strings.TrimSuffix(all, "\n"), "\n", "\r\n")} {
			e, err := NewEditor("p.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			err = edit(e)
			said := strings.ReplaceAll(string(e.Text()), "\r\n", "\n")
			if text != all {
				if said = strings.TrimPrefix(said, "\xef\xbb\xbf"); strings.Count(string(e.Text()), "\n") != strings.Count(string(e.Text()), "\r\n") {
					t.Errorf("%s: the ends of lines differ", name)
				}
				name += ", CRLF"
			}
			kept.CheckText(t, name, fmt.Sprintf("%v\n%s", err, said))
		}
	}
}
