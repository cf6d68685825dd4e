package sheet

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// hostile are texts that a spreadsheet would run, or read as something else.
var hostile = []string{
	"=1+1", "+1", "-1", "@SUM(A1)", `=cmd|' /C calc'!A0`, "\t=1", " =1", "\r=1", "＝1", "=HYPERLINK(\"http://x\",\"y\")", "'=1", "a\n=1", "a,b", `"`,
}

func TestSafe(t *testing.T) {
	for _, text := range hostile {
		safe := SafeCell(text)
		if strings.ContainsAny(strings.TrimLeft(safe, " \t\r\n")[:1], "=+-@") || strings.HasPrefix(safe, "＝") {
			t.Errorf("%q is written as %q", text, safe)
		}
	}
	for _, text := range []string{"Gin", "1 cl", "a=b", "É", "", "50-50"} {
		if SafeCell(text) != text {
			t.Errorf("%q is written as %q", text, SafeCell(text))
		}
	}
}

// TestWrite: what is written is read back, in both forms, and no cell is a formula.
func TestWrite(t *testing.T) {
	s := &Sheet{Name: "recipes, percent"}
	s.AddRow("name", "amount", "of", "exact")
	for _, text := range hostile {
		s.AddRow(text, 12.5, nil, Decimal("1.50"))
	}
	var b bytes.Buffer
	if err := WriteCSV(&b, s); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
	if err != nil || len(rows) != len(s.Rows) {
		t.Fatal(len(rows), err)
	}
	for k, row := range rows[1:] {
		if row[0] != strings.ReplaceAll(SafeCell(hostile[k]), "\r\n", "\n") && row[0] != SafeCell(hostile[k]) || row[1] != "12.5" || row[2] != "" || row[3] != "1.50" {
			t.Errorf("%q", row)
		}
	}
	b.Reset()
	if err := WriteWorkbook(&b, s, &Sheet{Name: "figures", Rows: [][]any{{strings.Repeat("x", 99)}, {1}}}); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if got := book.GetSheetList(); len(got) != 2 || got[0] != s.Name {
		t.Errorf("sheets %q", got)
	}
	// The first row and column stand, the heads are bold, and columns are as wide as
	// what is in them, within bounds.
	panes, err := book.GetPanes(s.Name)
	if err != nil || !panes.Freeze || panes.XSplit != 1 || panes.YSplit != 1 || panes.TopLeftCell != "B2" {
		t.Errorf("the panes are %+v, %v", panes, err)
	}
	for at, bold := range map[string]bool{"A1": true, "D1": true, "A2": false} {
		style, err := book.GetCellStyle(s.Name, at)
		if err != nil {
			t.Fatal(err)
		}
		if style, err := book.GetStyle(style); err != nil || (style.Font != nil && style.Font.Bold) != bold {
			t.Errorf("%s is of the style %+v, %v", at, style, err)
		}
	}
	for k, name := range []string{"B", "C", "D"} {
		if got, err := book.GetColWidth(s.Name, name); err != nil || got != float64(len(s.Rows[0][k+1].(string))+2) {
			t.Errorf("column %s is %v wide, %v", name, got, err)
		}
	}
	if got, err := book.GetColWidth("figures", "A"); err != nil || got != maxColumnWidth+2 {
		t.Errorf("a long text is %v wide, %v", got, err)
	}
	if value, err := book.GetCellValue(s.Name, "D2"); err != nil || value != "1.5" {
		t.Errorf("an exact number is %q, %v", value, err)
	}
	for name, bad := range map[string]*Sheet{"a name that none may have": {Name: "a:b"}, "a number that is none": {Name: "a", Rows: [][]any{{Decimal("x")}}}, "more columns than there may be": {Name: "a", Rows: [][]any{slices.Repeat([]any{"x"}, 20_000)}}} {
		if err := WriteWorkbook(io.Discard, s, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for k, text := range hostile {
		at, _ := excelize.CoordinatesToCellName(1, k+2)
		formula, err := book.GetCellFormula(s.Name, at)
		if err != nil || formula != "" {
			t.Errorf("%s is the formula %q, %v", at, formula, err)
		}
		kind, err := book.GetCellType(s.Name, at)
		if err != nil || kind != excelize.CellTypeInlineString && kind != excelize.CellTypeSharedString {
			t.Errorf("%s is of type %v, %v", at, kind, err)
		}
		value, err := book.GetCellValue(s.Name, at)
		if err != nil || strings.TrimSpace(value) != strings.TrimSpace(strings.ReplaceAll(text, "\r", "\n")) && value != text {
			t.Errorf("%s is %q, want %q, %v", at, value, text, err)
		}
	}
}
