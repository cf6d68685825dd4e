package dataset

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// checkRefusal checks that an error of a reader has a place and can be shown.
func checkRefusal(t *testing.T, err error, file string) {
	t.Helper()
	var several *inputerr.Errors
	if errors.As(err, &several) {
		for _, e := range several.All {
			checkRefusal(t, e, file)
		}
		return
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an *Error", err)
	}
	lines := strings.Count(file, "\n") + 1
	if strings.IndexByte(file, 0) >= 0 || strings.HasPrefix(file, "\xff\xfe") || strings.HasPrefix(file, "\xfe\xff") {
		lines = math.MaxInt // it may be UTF-16, which has other lines
	}
	if e.Line < 1 || e.Line > lines || e.Column < 1 || e.Message == "" {
		t.Errorf("%v: is at %d:%d of %d lines", err, e.Line, e.Column, lines)
	}
	if lines < math.MaxInt && e.Line <= lines {
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
			if set := setOf(book.Recipes[r]); len(book.NearestRecipes(set, 1)) != 1 {
				t.Errorf("nothing is near to recipe %d itself", r)
			} else if k, ok := book.RecipeWithSet(set); !ok || k > r {
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

// FuzzReadFile reads files of any kind: text in any encoding, workbooks.
// Its corpus holds tables of each kind.
func FuzzReadFile(f *testing.F) {
	for _, test := range wildTables {
		if !bytes.HasPrefix(test.data, []byte("PK")) {
			f.Add(test.data, "book"+filepath.Ext(test.file), false)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, file string, ingredients bool) {
		if !utf8.ValidString(file) {
			return
		}
		if ingredients {
			if in, err := ReadIngredients(bytes.NewReader(data), file, Layout{}); err != nil {
				checkShown(t, err)
			} else if in.Len() == 0 {
				t.Error("there are no ingredients")
			}
			return
		}
		book, err := Read(bytes.NewReader(data), file, Options{})
		if err != nil {
			checkShown(t, err)
			return
		}
		checkBook(t, book)
		for _, n := range book.Notes {
			if n.Message == "" || !utf8.ValidString(n.String()) {
				t.Errorf("a note says %q", n.String())
			}
		}
		// What settles the guesses can be read back, and leads to the same book.
		settled, err := Read(bytes.NewReader(data), file, Options{Layout: book.GuessedLayout})
		if err != nil {
			t.Errorf("settled with %s: %v", book.GuessedLayout.YAML(), err)
		} else if !slices.Equal(sameBook(book), sameBook(settled)) {
			t.Errorf("settled with %s it is another book", book.GuessedLayout.YAML())
		}
	})
}

// checkShown checks that each error can be shown on a line.
func checkShown(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an *Error", err)
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !utf8.ValidString(line) || line == "" {
			t.Errorf("%q cannot be shown", line)
		}
	}
}

// FuzzQuantity checks what is read of a cell against its parts: a fraction, a
// range and a unit mean what they mean apart.
func FuzzQuantity(f *testing.F) {
	for _, text := range []string{"1", "1.5", "1,5", "1.234,5", "½", "1 ½", "1/2", "1-1/2", "2–3 cl", "about 2", "to taste", "1e-3", "-0", "1 234", "a pinch", "02-Jan", "1/0"} {
		f.Add(text)
	}
	units := measure.DefaultUnits()
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []measure.Decimal{measure.AnyDecimal, measure.DecimalPoint, measure.DecimalComma} {
			q, message, _ := measure.ParseQuantity(text, d, units)
			if message != "" {
				continue
			}
			if q.Unit != "" {
				if _, ok := units.Lookup(q.Unit); !ok {
					t.Errorf("%q has the unit %q, which there is not", text, q.Unit)
				}
			}
			if a, err := measure.ScanAmount(strings.TrimSpace(text)); err == nil && d != measure.DecimalComma && a != q.Amount {
				if n := measure.ParseNumeral(strings.TrimSpace(text)); !n.IsAmbiguous() {
					t.Errorf("%q is %v, want %v", text, q.Amount, a)
				}
			}
			again, message, hint := measure.ParseQuantity(q.Amount.String()+" "+q.Unit, measure.DecimalPoint, units)
			if message != "" || again.Amount != q.Amount {
				t.Errorf("%q is %v %q and is read back as %v: %s: %s", text, q.Amount, q.Unit, again.Amount, message, hint)
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
				if line, column := a.CellPosition(i); line < 2 || column < 1 {
					t.Errorf("%s of %s is at %d:%d", a.Name, in.Names[i], line, column)
				}
			}
		}
	})
}
