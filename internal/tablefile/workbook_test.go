package tablefile

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// The content of a merged cell is copied to the rows below that have other cells, as a number if it is one, and over no
// content of their own.
func TestFillMerged(t *testing.T) {
	t.Parallel()
	s := &Sheet{Cells: [][]string{{"1.5", "a", "x"}, {"", "", "y"}, {"", "b"}, nil, {"own", "", "z"}, {"", "", "", "w"}}, NumberCells: map[[2]int]bool{{0, 0}: true}}
	left := 100
	if err := s.fillMerged([]MergedRange{{0, 0, 5, 1}, {9, 0, 10, 0}}, &left); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"1.5", "a", "x"}, {"1.5", "", "y"}, {"", "b"}, nil, {"own", "", "z"}, {"1.5", "", "", "w"}}
	if !reflect.DeepEqual(s.Cells, want) || !s.NumberCells[[2]int{5, 0}] || s.NumberCells[[2]int{4, 0}] || !s.FilledCells[[2]int{1, 0}] || len(s.FilledCells) != 2 || s.CoveredColumns[[2]int{0, 0}] != 2 || left != 95 {
		t.Errorf("got %q, numbers %v, filled %v, covered %v, %d left", s.Cells, s.NumberCells, s.FilledCells, s.CoveredColumns, left)
	}
}

func TestCellText(t *testing.T) {
	for _, test := range []struct {
		value, shown, text string
		exact              bool
	}{
		{"4.5", "4.5", "4.5", true}, {"4.5", "5", "4.5", true}, {"4.5", "4.50", "4.5", true}, {"1E-3", "0.001", "0.001", true},
		{"0.30000000000000004", "0.3", "0.3", true}, {"0.4", "40%", "40%", true}, {"0.14", "14%", "14%", true}, {"0.07", "7%", "7%", true}, {"0.333", "33%", "33.3%", true},
		{"1234.5", "1,234.50", "1234.5", true}, {"3.5", "€3.50", "3.5", true}, {"4", "4.0 cl", "4 cl", true}, {"1.5", "1 1/2", "1.5", true},
		{"45323", "2/1/24", "2024-02-01", false}, {"45323", "01-Feb-24", "2024-02-01", false}, {"45323", "1/2", "2024-02-01", false}, {"0.5", "12:00", "1899-12-30", false},
		{"1.500", "1.500", "1.500", false}, {"Gin", "Gin", "Gin", false}, {"", "", "", false}, {"-2", "(2)", "-2", true}, {"2", "", "2", false},
		{"5", "five", "5", true}, {"1e22", "x", "1e+22", true}, {"1e21", "x", "1e+21", true}, {"1e20", "x", "100000000000000000000", true}, {"1e-10", "x", "1e-10", true}, {"1e-9", "x", "0.000000001", true}, {"-0.5", "-1/2", "-0.5", true}, {"0", "-", "0", true}, {"0.4", "0.4000", "0.4", true},
		{"-45323", "2/1/24", "-45323", true}, {"12", "1 l", "12", true}, {"10", "10.6 g", "10 g", true}, {"10", "11.6 g", "10", true}, {"45323", "2024-02-01 00:00", "2024-02-01", false}, {"45323.25", "1-2-24", "2024-02-01", false},
	} {
		if got, exact := CellText(test.value, test.shown); got != test.text || exact != test.exact {
			t.Errorf("%q shown as %q is %q, %v, want %q, %v", test.value, test.shown, got, exact, test.text, test.exact)
		}
	}
}

func TestCellName(t *testing.T) {
	for want, at := range map[string][2]int{"A!A1": {0, 0}, "A!Z2": {1, 25}, "A!AA10": {9, 26}, "A!XFD1048576": {1048575, 16383}} {
		if got := cellName("A", at[0], at[1]); got != want {
			t.Errorf("%v is %s, want %s", at, got, want)
		}
	}
	if got := cellName("it's\n", 0, 0); got != `'it''s\n'!A1` {
		t.Errorf("got %s", got)
	}
}

// TestFormulaAmongEmpty: cells that are empty are not looked through for each formula without a
// result, and such a formula is found wherever it stands.
func TestFormulaAmongEmpty(t *testing.T) {
	f := excelize.NewFile()
	w, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	style, err := f.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		t.Fatal(err)
	}
	empty := make([]any, 2000)
	for i := range empty {
		empty[i] = excelize.Cell{StyleID: style}
	}
	empty[0], empty[1] = "x", excelize.Cell{Formula: "1+1"}
	for row, cells := range [][]any{{"recipe", "Gin", "Rum"}, empty, empty} {
		if err := w.SetRow(fmt.Sprint("A", row+1), cells); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	book, err := OpenWorkbook(t.Context(), bytes.NewReader(b.Bytes()), "a.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	s, err := book.ReadNamedSheet("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.BrokenCells) != 2 || s.BrokenCells[0].Cell != "Sheet1!B2" || !strings.Contains(s.BrokenCells[1].Error(), "=1+1") {
		t.Errorf("without a result are %v", s.BrokenCells)
	}
	open, err := checkArchive(t.Context(), b.Bytes())
	if err != nil || len(open.unresolvedFormulas) != 2 {
		t.Errorf("asked for a formula are %v, %v", open, err)
	}
}
