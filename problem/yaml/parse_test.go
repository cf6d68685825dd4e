package yaml

import (
	"errors"
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
