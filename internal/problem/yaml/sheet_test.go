package yaml

import (
	"errors"
	"slices"
	"testing"

	"kir/internal/fault"
)

// A sheet holds finite decimal numbers, and what is wrong has a place and a way out.
func TestSheet(t *testing.T) {
	s, err := parseSheet("f.csv", []byte("\xef\xbb\xbfname,a,\"b\nc\"\r\nx, 1 ,-.5e-3\r\n\r\ny,+3E2,0\r\n"))
	if err != nil || !slices.Equal(s.Columns, []string{"a", "b\nc"}) || !slices.Equal(s.Rows, []string{"x", "y"}) || !slices.Equal(s.Values[0], []float64{1, -0.0005}) || !slices.Equal(s.Values[1], []float64{300, 0}) {
		t.Errorf("%+v, %v", s, err)
	}
	if e := s.ErrorIn(1, 0, "x"); e.Line != 5 || e.Column != 3 {
		t.Errorf("3E2 is at %d:%d", e.Line, e.Column)
	}
	if e := s.ErrorIn(-1, -1, "x"); e.Line != 1 || e.Column != 1 {
		t.Errorf("the first name is at %d:%d", e.Line, e.Column)
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
	for _, number := range []string{"", "inf", "NaN", "0x1p3", "1_0", "1e999", "-", "1,5e"} {
		if _, err := parseSheet("f.csv", []byte("name,a\nx,\""+number+"\"\n")); err == nil || err.Error() != "f.csv:2:3: \"a\" of \"x\" is "+fault.Quote(number)+", not a finite number: write a number such as 0.05" {
			t.Errorf("%q: %v", number, err)
		}
	}
	for text, want := range map[string]string{
		"":                   "f.csv:1:1: the file is empty: it needs a header and a row for each name",
		"name\nx\n":          "f.csv:1:1: there are no columns of numbers: the first column holds names, and numbers follow",
		"name,a\n":           "f.csv:1:1: there is no row below the header: add one for each name",
		"name,a,\nx,1,2\n":   "f.csv:1:8: column 3 has no name: name it, or remove it",
		"name,a,a\nx,1,2\n":  `f.csv:1:8: two columns are called "a": numbers 2 and 3: remove one`,
		"name,a\nx,1,2\n":    "f.csv:2:5: the row has 3 columns and the header 2 columns: each row has a name and a number for each column",
		"name,a\nx\n":        "f.csv:2:1: the row has 1 column and the header 2 columns: each row has a name and a number for each column",
		"name,a\n ,1\n":      "f.csv:2:2: a row without a name: name it, or remove it",
		"name,a\nx,1\nx,2\n": `f.csv:3:1: "x" is there twice: first on line 2: remove one of the rows`,
		"name,a\né,\xff\n":   "f.csv:2:3: byte 0xff is not valid in UTF-8: save the file as UTF-8",
		"name,a\né\"x,1\n":   `f.csv:2:2: this is not CSV that can be read: bare " in non-quoted-field: put a field with a comma or a quote in quotes, and write each quote inside it twice`,
	} {
		if _, err := parseSheet("f.csv", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q\nis %v\nnot %s", text, err, want)
		}
	}
}

func FuzzSheet(f *testing.F) {
	f.Add([]byte("name,a,b\nx,1,2\ny,3,4\n"))
	f.Add([]byte("\xef\xbb\xbfname,\"a\nb\"\r\nx,1e-3\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSheet("f.csv", data)
		if err != nil {
			var bad *fault.Error
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
			return
		}
		if len(s.Rows) != len(s.Values) || len(s.Values[0]) != len(s.Columns) {
			t.Fatal("the sheet has no shape")
		}
		if e := s.ErrorIn(len(s.Rows)-1, len(s.Columns)-1, "x"); e.Line < 1 || e.Column < 1 {
			t.Fatalf("the last cell is at %d:%d", e.Line, e.Column)
		}
	})
}
