package yaml

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"kir/fault"
)

func FuzzParse(f *testing.F) {
	f.Add("total: 5\nsparsity: {table: {2: 1}}\n")
	f.Add("a: [{b: 'c'}, !!int 3, *x]\n? k\n: v\n")
	f.Fuzz(func(t *testing.T, yaml string) {
		if _, err := Parse("p.yaml", []byte(yaml)); err != nil {
			var bad *fault.Error
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
		line, column, ok := n.Within(strings.IndexByte(n.Text, 'x'))
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
