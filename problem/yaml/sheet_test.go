package yaml

import (
	"errors"
	"testing"

	"kir/fault"
)

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
