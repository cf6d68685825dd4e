package fault

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
