package recipe

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// checkRefusal checks that an error of a reader has a place and can be shown.
func checkRefusal(t *testing.T, err error, file string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an *Error", err)
	}
	lines := strings.Count(file, "\n") + 1
	if e.Line < 1 || e.Line > lines || e.Column < 1 || e.Message == "" {
		t.Errorf("%v: is at %d:%d of %d lines", err, e.Line, e.Column, lines)
	}
	if e.Line <= lines {
		line := strings.Split(file, "\n")[e.Line-1]
		if e.Column > utf8.RuneCountInString(line)+1 {
			t.Errorf("%v: column %d of %d", err, e.Column, utf8.RuneCountInString(line))
		}
	}
	if text := err.Error(); !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		t.Errorf("%q cannot be shown on a terminal", text)
	}
}

func FuzzRead(f *testing.F) {
	for _, bad := range badBooks {
		f.Add(bad.file, "taste")
	}
	f.Add("recipe,taste,Gin\nKir,a,1\n", "taste")
	f.Add("recipe,ingredient,amount,unit,taste\nKir,Gin,1,cl,a\nKir,Rye,2,Dashes,a\n", "")
	f.Fuzz(func(t *testing.T, file, label string) {
		var o Options
		if label != "" {
			o.Labels = []string{label}
		}
		book, err := Read(strings.NewReader(file), "book.csv", o)
		if err != nil {
			checkRefusal(t, err, file)
			return
		}
		checkBook(t, book)
		for r := range book.Recipes {
			if set := setOf(book.Recipes[r]); len(book.Nearest(set, 1)) != 1 {
				t.Errorf("nothing is near to recipe %d itself", r)
			} else if k, ok := book.Known(set); !ok || k > r {
				t.Errorf("recipe %d is known as %d, %v", r, k, ok)
			}
		}
		for i := range book.Labels {
			if _, err := book.Labels[i].Numbers(); err != nil {
				checkRefusal(t, err, file)
			}
		}
	})
}

func FuzzReadIngredients(f *testing.F) {
	f.Add("name,cost\nGin,3\nRye,\n")
	f.Add("\ufeffcost,name\r\n\"3\",\"Gin, dry\"\r\n")
	f.Fuzz(func(t *testing.T, file string) {
		in, err := ReadIngredients(strings.NewReader(file), "list.csv", Layout{})
		if err != nil {
			checkRefusal(t, err, file)
			return
		}
		for _, a := range in.Attributes {
			if len(a.Values) != in.Len() {
				t.Errorf("%s has %d values for %d ingredients", a.Name, len(a.Values), in.Len())
			}
			if _, err := a.Numbers(); err != nil {
				checkRefusal(t, err, file)
			}
			for i := range in.Len() {
				if line, column := a.Place(i); line < 2 || column < 1 {
					t.Errorf("%s of %s is at %d:%d", a.Name, in.Names[i], line, column)
				}
			}
		}
	})
}
