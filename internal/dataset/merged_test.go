package dataset

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"kir/internal/tablefile"

	"github.com/xuri/excelize/v2"
)

// mergedBook is a workbook of one sheet with merged ranges, as .xlsx and, the cells of the ranges covered, as .ods.
func mergedBook(t *testing.T, rows [][]any, ranges ...string) map[string][]byte {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(inSheets("A", rows)))
	if err != nil {
		t.Fatal(err)
	}
	covered, spans := make(map[[2]int]bool), make(map[[2]int]string)
	for _, ref := range ranges {
		first, last, _ := strings.Cut(ref, ":")
		if err := f.MergeCell("A", first, last); err != nil {
			t.Fatal(err)
		}
		m, err := tablefile.ParseMergedRange(ref)
		if err != nil {
			t.Fatal(err)
		}
		for r := m.Top; r <= m.Bottom; r++ {
			for c := m.Left; c <= m.Right; c++ {
				covered[[2]int{r, c}] = true
			}
		}
		delete(covered, [2]int{m.Top, m.Left})
		spans[[2]int{m.Top, m.Left}] = fmt.Sprintf(` table:number-rows-spanned="%d" table:number-columns-spanned="%d"`, m.Bottom-m.Top+1, m.Right-m.Left+1)
	}
	var xlsx bytes.Buffer
	if err := f.Write(&xlsx); err != nil {
		t.Fatal(err)
	}
	var content strings.Builder
	for r, row := range rows {
		content.WriteString("<table:table-row>")
		for c, value := range row {
			switch v := value.(type) {
			case nil:
				if covered[[2]int{r, c}] {
					content.WriteString("<table:covered-table-cell/>")
				} else {
					content.WriteString("<table:table-cell/>")
				}
			case string:
				fmt.Fprintf(&content, `<table:table-cell%s office:value-type="string"><text:p>%s</text:p></table:table-cell>`, spans[[2]int{r, c}], v)
			default:
				fmt.Fprintf(&content, `<table:table-cell%s office:value-type="float" office:value="%v"><text:p>%[2]v</text:p></table:table-cell>`, spans[[2]int{r, c}], v)
			}
		}
		content.WriteString("</table:table-row>")
	}
	return map[string][]byte{"book.xlsx": xlsx.Bytes(), "book.ods": inRows(t, content.String())}
}

// A merged cell counts for all rows that it covers, and not for rows that are empty but for it. What stood in one cell
// for several amounts is refused.
func TestMergedCells(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		rows   [][]any
		ranges []string
		check  func(b *Book) string // says what is wrong
		err    string
	}{
		{name: "a recipe and its rating over its rows",
			rows: [][]any{{"Winter list"}, {}, {"drink", "ingredient", "amount", "unit", "rating", "glass"},
				{"A", "Gin", 4, "cl", 7, "tall"}, {nil, "Lime", 2, "cl", nil, nil}, {"B", "Gin", 5, "cl", 8, "tall"}, {nil, "Rum", 1, "cl", nil, nil}, {nil, "Lime", 1, "cl", nil, nil}},
			ranges: []string{"A1:F2", "A4:A5", "E4:E5", "A6:A8", "E6:E8"},
			check: func(b *Book) string {
				if len(b.Recipes) != 2 || len(b.Recipes[1].Parts) != 3 || len(b.Labels) != 2 || b.Labels[0].Value(1) != "8" || b.Labels[1].Value(0) != "tall" {
					return fmt.Sprintf("%+v, %+v", b.Recipes, b.Labels)
				}
				for _, n := range b.Notes {
					if strings.Contains(n.Message, "belongs to the one above") {
						return "it notes rows without a name, though the file says whose they are"
					}
				}
				return ""
			}},
		{name: "a block of trials over its recipes",
			rows:   [][]any{{"block", "recipe", "Gin", "Lime", "liking"}, {"one", "A", 60, 40, 7}, {nil, "B", 70, 30, 6}, {nil, "C", 50, 50, 5}, {"two", "D", 20, 80, 4}, {nil, "E", nil, 60, 3}, {"* all tasted"}},
			ranges: []string{"A2:A4", "A5:A6", "C5:C6", "A7:E7"},
			check: func(b *Book) string {
				if len(b.Recipes) != 5 || b.Labels[0].Name != "block" || b.Labels[0].Value(2) != "one" || b.Labels[0].Value(4) != "two" || b.Recipes[4].Parts[0].Amount.String() != "20" {
					return fmt.Sprintf("%+v, %+v", b.Recipes, b.Labels)
				}
				return ""
			}},
		{name: "a header of two rows",
			rows:   [][]any{{"recipe", "Composition (g)", nil, "gloss", nil}, {nil, "Resin", "Solvent", "mean", "shine"}, {"A", 10, 20, 7, 3}, {"B", 20, 10, 6, 4}, {"C", 15, 15, 5, 5}},
			ranges: []string{"A1:A2", "B1:C1", "D1:E1"},
			check: func(b *Book) string {
				if len(b.Recipes) != 3 || b.Recipes[0].Name != "A" || b.Ingredients.Len() != 2 || b.Recipes[0].Parts[0].Unit == nil || b.Recipes[0].Parts[0].Unit.Name != "g" || len(b.Labels) != 2 {
					return fmt.Sprintf("%+v, %+v", b.Recipes, b.Labels)
				}
				return ""
			}},
		{name: "a group ends with its merged cell",
			rows:   [][]any{{nil, "Composition (wt%)", nil, nil, "notes"}, {"recipe", "Cu", "Sn", "Zn", "liking"}, {"A", 90, 5, 5, 5}, {"B", 80, 10, 10, 4}, {"C", 70, 15, 15, 3}},
			ranges: []string{"B1:C1"},
			check: func(b *Book) string {
				if got := fmt.Sprint(b.Shape.Columns); !strings.Contains(got, "Sn (wt%)") || strings.Contains(got, "Zn (wt%)") {
					return got
				}
				return ""
			}},
		{name: "a row of units below a merged header",
			rows:   [][]any{{"recipe", "Gin", "Lime", "liking"}, {nil, "g", "g", nil}, {"A", 60, 40, 7}, {"B", 70, 30, 6}, {"C", 50, 50, 5}},
			ranges: []string{"A1:A2", "D1:D2"},
			check: func(b *Book) string {
				if len(b.Recipes) != 3 || b.Recipes[0].Parts[0].Unit == nil || b.Recipes[0].Parts[0].Unit.Name != "g" {
					return fmt.Sprintf("%+v", b.Recipes)
				}
				return ""
			}},
		{name: "one remark on several results",
			rows:   [][]any{{"recipe", "Gin", "Lime", "liking", "haze"}, {"A", 60, 40, 7, 1}, {"B", 70, 30, "failed", nil}, {"C", 50, 50, 5, nil}, {"D", 40, 60, 5, 3}},
			ranges: []string{"D3:E3", "D4:E4"},
			check: func(b *Book) string {
				if len(b.Labels) != 2 || b.Labels[0].Value(1) != "failed" || b.Labels[1].Value(1) != "failed" || b.Labels[1].Value(2) != "" {
					return fmt.Sprintf("%+v", b.Labels)
				}
				return ""
			}},
		{name: "names over two columns",
			rows:   [][]any{{"recipe", nil, "Gin", "Lime", "liking"}, {"A", nil, 60, 40, 7}, {"B", nil, 70, 30, 6}, {"C", nil, 50, 50, 5}},
			ranges: []string{"A1:B1", "A2:B2", "A3:B3", "A4:B4"},
			check: func(b *Book) string {
				if len(b.Recipes) != 3 || b.Recipes[2].Name != "C" {
					return fmt.Sprintf("%+v", b.Recipes)
				}
				return ""
			}},
		{name: "an amount over two ingredients",
			rows:   [][]any{{"drink", "ingredient", "amount", "unit"}, {"A", "Gin", 4, "cl"}, {nil, "Lime", nil, "cl"}, {"B", "Gin", 5, "cl"}, {nil, "Rum", 1, "cl"}},
			ranges: []string{"A2:A3", "C2:C3"}, err: `C3: the amount of "Lime" is in one cell with that above: split the merged cell`},
		{name: "an amount over two rows of a turned table",
			rows:   [][]any{{"Ingredient", "A", "B"}, {"Gin", 60, 50}, {"Lime", nil, 30}, {"Soda", 40, 20}},
			ranges: []string{"B2:B3"}, err: `B3: the amount of "Lime" is in one cell with that above`},
	} {
		for file, data := range mergedBook(t, test.rows, test.ranges...) {
			b, err := Read(bytes.NewReader(data), file, Options{})
			switch {
			case test.err != "":
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s, %s: %v, want %q", test.name, file, err, test.err)
				}
			case err != nil:
				t.Errorf("%s, %s: %v", test.name, file, err)
			default:
				if wrong := test.check(b); wrong != "" {
					t.Errorf("%s, %s: %s", test.name, file, wrong)
				}
			}
		}
	}
}

// What merged cells cover is bounded by the cells that are there, whatever a file says.
func TestMergedCellsAreBounded(t *testing.T) {
	t.Parallel()
	merges := func(rows string, refs ...string) []byte {
		var list strings.Builder
		for _, ref := range refs {
			fmt.Fprintf(&list, `<mergeCell ref="%s"/>`, ref)
		}
		return withPart(t, sheetPart, strings.NewReader(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`+rows+`</sheetData><mergeCells>`+list.String()+`</mergeCells></worksheet>`))
	}
	const few = `<row r="1"><c r="A1" t="inlineStr"><is><t>recipe</t></is></c><c r="B1" t="inlineStr"><is><t>Gin</t></is></c></row>`
	row := func(r int) string { return fmt.Sprintf(`<row r="%d">%s</row>`, r, text(fmt.Sprint("C", r), "a")) }
	w, err := tablefile.OpenWorkbook(t.Context(), bytes.NewReader(merges(few+row(3), "A1:A1048576", "B1:XFD1048576", "ZZ1:ZZ9")), "book.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.ReadNamedSheet("A")
	if want := [][]string{{"recipe", "Gin"}, nil, {"recipe", "Gin", "a"}}; err != nil || len(s.Cells) != 3 || !reflect.DeepEqual(s.Cells[0], want[0]) || s.Cells[2][0] != "recipe" {
		t.Errorf("got %q, %v", s.Cells, err)
	}
	var many strings.Builder
	many.WriteString(few)
	var overlapping []string
	for r := 2; r <= 2000; r++ {
		many.WriteString(row(r))
		overlapping = append(overlapping, fmt.Sprintf("A1:A%d", 1048576-r))
	}
	begun := time.Now()
	for file, test := range map[string]struct {
		data    []byte
		message string
	}{
		"overlapping.xlsx": {merges(many.String(), overlapping...), "has merged cells that cover more than 1048576 others"},
		"nowhere.xlsx":     {merges(few, "A1:nowhere"), `it has merged cells "A1:nowhere"`},
		"many.xlsx":        {merges(few, strings.Split(strings.Repeat("A1:A2,", tablefile.MaxMergedRanges+1), ",")...), "more than 65536 ranges"},
		"many.ods":         {inRows(t, strings.Repeat(`<table:table-row>`+strings.Repeat(`<table:table-cell table:number-columns-spanned="2" office:value-type="string"><text:p>a</text:p></table:table-cell>`, 16)+`</table:table-row>`, tablefile.MaxMergedRanges/16+1)), "more than 65536 ranges"},
		"rows.ods": {inRows(t, `<table:table-row><table:table-cell table:number-rows-spanned="16777216" office:value-type="string"><text:p>recipe</text:p></table:table-cell><table:table-cell table:number-rows-spanned="16777216" office:value-type="string"><text:p>Gin</text:p></table:table-cell></table:table-row>`+
			`<table:table-row table:number-rows-repeated="900000"><table:table-cell table:number-columns-repeated="2"/><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>`), "has merged cells that cover more than 1048576 others"},
	} {
		if _, err := Read(bytes.NewReader(test.data), file, Options{}); err == nil || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: %v, want %q", file, err, test.message)
		}
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it takes %v", took)
	}
}
