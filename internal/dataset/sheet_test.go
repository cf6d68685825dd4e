package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kir/internal/inputerr"
)

// A sheet holds finite decimal numbers, and what is wrong has a place and a way out.
func TestSheet(t *testing.T) {
	read := func(text string) (*Sheet, error) { return ReadSheet(strings.NewReader(text), "f.csv") }
	s, err := read("\xef\xbb\xbfname,a,\"b\nc\"\r\nx, 1 ,-.5e-3\r\n\r\ny,+3E2,0\r\n")
	if err != nil || !slices.Equal(s.Columns, []string{"a", "b\nc"}) || !slices.Equal(s.Rows, []string{"x", "y"}) || !slices.Equal(s.Values[0], []float64{1, -0.0005}) || !slices.Equal(s.Values[1], []float64{300, 0}) {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, c := range []struct {
		err  *Error
		want string
	}{{s.ErrorAt(1, 0, "x"), "f.csv:5:3: x"}, {s.ErrorAt(-1, -1, "x"), "f.csv:1:1: x"}, {s.ErrorAt(0, -1, "x"), "f.csv:3:1: x"}, {s.ErrorAt(5, 0, "x"), "f.csv: x"}} {
		if c.err.Error() != c.want {
			t.Errorf("it is %v, want %s", c.err, c.want)
		}
	}
	if at, err := s.Column("b\nc"); at != 1 || err != nil {
		t.Errorf("b is column %d, %v", at, err)
	}
	if _, err := s.Column("c"); err == nil || err.Error() != `f.csv:1:1: no column is called "c": there are "a", "b\nc"` {
		t.Error(err)
	}
	if at, err := s.RowsOf([]string{"y", "x"}); !slices.Equal(at, []int{1, 0}) || err != nil {
		t.Errorf("the rows are %v, %v", at, err)
	}
	if at, err := s.ColumnsOf([]string{"b\nc", "a"}); !slices.Equal(at, []int{1, 0}) || err != nil {
		t.Errorf("the columns are %v, %v", at, err)
	}
	for want, err := range map[string]error{
		`f.csv:5:1: "y" is not one of the problem's ingredients: did you mean "x"?`:        second(s.RowsOf([]string{"x"})),
		`f.csv: "gin" of the problem's ingredients is not there: add it`:                   second(s.RowsOf([]string{"x", "y", "gin"})),
		`f.csv:1:8: "b\nc" is not one of the problem's ingredients: did you mean "b\ncs"?`: second(s.ColumnsOf([]string{"a", "b\ncs"})),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("it says %v, not %s", err, want)
		}
	}
	for _, number := range []string{"", "inf", "NaN", "0x1p3", "1_0", "1e999", "-", "1,5e", "5 %"} {
		if _, err := read("name,a\nx,\"" + number + "\"\n"); err == nil || err.Error() != "f.csv:2:3: \"a\" of \"x\" is "+inputerr.Quote(number)+", not a finite number: write a number such as 0.05" {
			t.Errorf("%q: %v", number, err)
		}
	}
	for text, want := range map[string]string{
		"":                      "f.csv:1:1: the file is empty: begin with a row that names the columns",
		"name\nx\n":             "f.csv:1:1: there are no columns of numbers: the first column holds names, and numbers follow",
		"name,a\n":              "f.csv:1:1: there is no row below the header: add one for each name",
		"name,a,,b\nx,1,2,3\n":  "f.csv:1:8: column 3 has no name: name it, or remove it",
		"name,a,a\nx,1,2\n":     `f.csv:1:8: two columns are called "a": numbers 2 and 3: remove one or give it another name`,
		"name,a\nx,1,2\n":       "f.csv:2:5: the row has 3 columns and the header 2 columns: put text that has a comma in it in quotes, or remove what is too much",
		"name,a\nx\n":           `f.csv:2:2: the row has 1 column and the header 2 columns: add "a", or a comma for each that is empty`,
		"name,a\n ,1\n":         "f.csv:2:2: a row without a name: name it, or remove it",
		"name,a\nx,1\nx,2\n":    `f.csv:3:1: "x" is there twice: first on line 2: remove one of the rows`,
		"name,a\nx,1\né,\xff\n": "f.csv:3:3: byte 0xff is not valid in UTF-8: save the file as UTF-8, or say what encoding it has",
		"name,a\né\"x,1\n":      `f.csv:2:2: a quote inside a field that is not in quotes: put the whole field in quotes and write each quote inside it twice`,
	} {
		if _, err := read(text); err == nil || err.Error() != want {
			t.Errorf("%q\nis %v\nnot %s", text, err, want)
		}
	}
	// The corner may be empty, as pandas writes it; a last row may be the sum of the others.
	for text, want := range map[string]string{
		",a,b\nx,1,2\ny,3,4\n":                   "[x y] [a b] [[1 2] [3 4]]",
		",a\nx,1\n":                              "[x] [a] [[1]]",
		"name;a;b\nx;1,5;2\ny;0,25;4\n":          "[x y] [a b] [[1.5 2] [0.25 4]]",
		"name\ta\nx\t1\n":                        "[x] [a] [[1]]",
		"name,a\nx,1\ny,2\nz,3\n":                "[x y z] [a] [[1] [2] [3]]",
		"name,a,b\nx,1,10\ny,2,20\nTotal,3,30\n": "[x y Total] [a b] [[1 10] [2 20] [3 30]]",
	} {
		s, err := read(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := fmt.Sprint(s.Rows, s.Columns, s.Values); got != want {
			t.Errorf("%q\nis %s\nnot %s", text, got, want)
		}
	}
}

func second(_ []int, err error) error { return err }

func FuzzSheet(f *testing.F) {
	f.Add([]byte("name,a,b\nx,1,2\ny,3,4\n"))
	f.Add([]byte("\xef\xbb\xbfname,\"a\nb\"\r\nx,1e-3\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSheet(strings.NewReader(string(data)), "f.csv")
		if err != nil {
			if !errors.As(err, new(*Error)) && !errors.As(err, new(*inputerr.Errors)) {
				t.Fatal(err)
			}
			return
		}
		if len(s.Rows) != len(s.Values) || len(s.Values[0]) != len(s.Columns) {
			t.Fatal("the sheet has no shape")
		}
		if e := s.ErrorAt(len(s.Rows)-1, len(s.Columns)-1, "x"); e.Line < 1 || e.Column < 1 {
			t.Fatalf("the last cell is at %d:%d", e.Line, e.Column)
		}
	})
}
