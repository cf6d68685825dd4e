package inputerr

import (
	"errors"
	"strings"
	"testing"
)

func TestError(t *testing.T) {
	for _, c := range []struct {
		e    Error
		want string
	}{
		{Error{File: "a.csv", Line: 2, Column: 3, Message: "wrong", Hint: "mend it"}, "a.csv:2:3: wrong: mend it"},
		{Error{File: "a.csv", Line: 2, Message: "wrong"}, "a.csv:2: wrong"},
		{Error{File: "a.csv", Column: 3, Message: "wrong"}, "a.csv: wrong"},
		{Error{File: "a\n\x1b[31m.xlsx", Cell: "Drinks\u202e!C4", Message: "wrong"}, `"a\n\x1b[31m.xlsx":"Drinks\u202e!C4": wrong`},
		{Error{Message: "--total is 0", Hint: "it must be at least 1"}, "--total is 0: it must be at least 1"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	cause := errors.New("cause")
	if !errors.Is(&Error{Err: cause}, cause) {
		t.Error("the error behind it is lost")
	}
}

// TestErrors: one error is itself, and of several each has a line.
func TestErrors(t *testing.T) {
	a, b := &Error{File: "a.csv", Line: 2, Message: "wrong"}, &Error{File: "a.csv", Line: 4, Message: "missing", Hint: "add it"}
	for _, c := range []struct {
		all  []*Error
		more bool
		want string
	}{
		{[]*Error{a}, false, "a.csv:2: wrong"},
		{[]*Error{a}, true, "a.csv:2: wrong\nthese are the first 1: there may be more"},
		{[]*Error{a, b}, false, "a.csv:2: wrong\na.csv:4: missing: add it"},
		{[]*Error{a, b}, true, "a.csv:2: wrong\na.csv:4: missing: add it\nthese are the first 2: there may be more"},
	} {
		err := Join(c.all, c.more)
		if err.Error() != c.want {
			t.Errorf("%q, want %q", err, c.want)
		}
		for _, one := range c.all {
			if !errors.Is(err, one) {
				t.Errorf("%v is not among %v", one, err)
			}
		}
	}
	if err := Join(nil, true); err != nil {
		t.Errorf("of none: %v", err)
	}
	if err := Join([]*Error{a}, false); err != error(a) {
		t.Errorf("one is %#v", err)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"amount", "ingredients", "taste", "uniform"}
	for text, want := range map[string]string{
		"amnt": "amount", "tatse": "taste", "TASTE": "taste", "unifrom": "uniform", "ingredient": "ingredients",
		"colour": "", "x": "", strings.Repeat("a", 100): "",
	} {
		if got, _ := Nearest(text, names); got != want {
			t.Errorf("%q is nearest to %q, want %q", text, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"Gin":                    `"Gin"`,
		"\x1b[31m":               `"\x1b[31m"`,
		"a\nb":                   `"a\nb"`,
		strings.Repeat("é", 100): `"` + strings.Repeat("é", 31) + `"...`,
	} {
		if got := Quote(text); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
	}
	if got, want := List([]string{"a", "b", "c"}, 2), `"a", "b" and 1 more`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBounds: how far a name may be from what was typed, how long what is quoted may be,
// and how many names are listed, to the letter.
func TestBounds(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, c := range []struct {
		text  string
		names []string
		want  string
	}{
		{"a", []string{"b"}, "b"}, {"a", []string{"bc"}, ""}, {"abcd", []string{"xbcd", "axcd"}, "xbcd"}, {"abcd", []string{"xycd"}, ""}, {"abcde", []string{"xycde"}, "xycde"}, {"abcde", []string{"xyzde"}, ""},
		{"abcde", []string{"xycde", "xbcde"}, "xbcde"}, {"abcde", []string{"abc"}, "abc"}, {"abc", []string{"abcde"}, "abcde"}, {"abcde", []string{"ab"}, ""}, {"ab", []string{"abcde"}, ""}, {"abcdefgh", []string{"xyzdefgh"}, "xyzdefgh"},
		{long + "b", []string{long + "c"}, long + "c"}, {long + "bb", []string{long + "bc"}, ""}, {strings.Repeat("é", 64), []string{strings.Repeat("é", 63)}, strings.Repeat("é", 63)}, {"GIN", []string{"rum", "gni"}, "gni"}, {"shwo", []string{"sow", "show"}, "show"}, {"ab", []string{"ba"}, "ba"}, {"abcd", []string{"badc"}, ""}, {"abcd", []string{"dbca"}, ""}, {"GINS", []string{"gin"}, "gin"},
	} {
		got, found := Nearest(c.text, c.names)
		if got != c.want || found != (c.want != "") {
			t.Errorf("%q of %q is %q, %v, want %q", c.text, c.names, got, found, c.want)
		}
		hint := ""
		if c.want != "" {
			hint = "did you mean " + Quote(c.want) + "?"
		}
		if got := DidYouMean(c.text, c.names); got != hint {
			t.Errorf("%q is told %q", c.text, got)
		}
	}
	for n, want := range map[int]string{60: `"` + strings.Repeat("a", 60) + `"`, 61: `"` + strings.Repeat("a", 61) + `"`, 62: `"` + strings.Repeat("a", 61) + `"...`} {
		if got := Quote(strings.Repeat("a", n)); got != want {
			t.Errorf("%d letters are quoted as %s", n, got)
		}
	}
	for want, c := range map[string]struct {
		names []string
		most  int
	}{"": {nil, 2}, `"a"`: {[]string{"a"}, 1}, `"a", "b"`: {[]string{"a", "b"}, 2}, `"a" and 1 more`: {[]string{"a", "b"}, 1}, ` and 2 more`: {[]string{"a", "b"}, 0}} {
		if got := List(c.names, c.most); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if Count(0, "unit") != "0 units" || Count(1, "unit") != "1 unit" || Count(2, "unit") != "2 units" {
		t.Error("units are counted otherwise")
	}
}
