//go:build linux

package compile

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"kir/internal/dataset"
	"kir/internal/testonly/testmode"
)

// threadTime is the processor time that the current thread has taken.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// wideTable writes a table of recipes whose rows begin with a name.
func wideTable(header func(i int) string, cell func(row, i int) string, rows, columns int) string {
	var b strings.Builder
	b.WriteString("recipe")
	for i := range columns {
		b.WriteString("," + header(i))
	}
	for r := range rows {
		fmt.Fprintf(&b, "\nr%d", r)
		for i := range columns {
			b.WriteString("," + cell(r, i))
		}
	}
	return b.String() + "\n"
}

// labelTable is a wide table of three ingredients and n labels.
func labelTable(n int, header func(i int) string, cell func(row, i int) string) string {
	gins := []string{"Gin", "Rum", "Lime"}
	return wideTable(func(i int) string {
		if i < len(gins) {
			return gins[i]
		}
		return header(i - len(gins))
	}, func(r, i int) string {
		if i < len(gins) {
			return fmt.Sprint(1 + (r+i)%7)
		}
		return cell(r, i-len(gins))
	}, 12, n+len(gins))
}

// mixed is a number of a cell.
func mixed(r, i int) string { return fmt.Sprint((r*7 + i*3) % 10) }

// called are headers that follow from their numbers.
func called(format string) func(i int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// worded is a text of a cell.
func worded(r, i int) string {
	text := ""
	for k, at := 0, r*13+i; k < 6; k++ {
		text, at = text+string(rune('a'+(at*7+k*3)%26)), at/3
	}
	return text
}

// rowsOf writes a table of n rows.
func rowsOf(header string, n int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range n {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

// workbookOf is a workbook with a sheet of a CSV text, so often.
func workbookOf(sheets int, text string) string {
	f := excelize.NewFile()
	for s := range sheets {
		name := fmt.Sprint("Sheet", s+1)
		if _, err := f.NewSheet(name); err != nil {
			panic(err)
		}
		w, err := f.NewStreamWriter(name)
		if err != nil {
			panic(err)
		}
		for r, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var cells []any
			for _, cell := range strings.Split(line, ",") {
				cells = append(cells, cell)
			}
			if err := w.SetRow(fmt.Sprint("A", r+1), cells); err != nil {
				panic(err)
			}
		}
		if err := w.Flush(); err != nil {
			panic(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		panic(err)
	}
	return b.String()
}

// documentOf is an OpenDocument file in one piece with a sheet of a CSV text.
func documentOf(text string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet><table:table table:name="Sheet1">`)
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		b.WriteString("<table:table-row>")
		for _, cell := range strings.Split(line, ",") {
			b.WriteString(`<table:table-cell office:value-type="string"><text:p>` + cell + `</text:p></table:table-cell>`)
		}
		b.WriteString("</table:table-row>")
	}
	return b.String() + "</table:table></office:spreadsheet></office:body></office:document>"
}

// A sizedTable is a table of any size that makes much work of little text. often is whether it is
// read in the short form of the tests, too: in each of these a step was quadratic.
type sizedTable struct {
	name, file string
	often      bool
	text       func(n int) string
}

func sizedTables() []sizedTable {
	columns := func(header func(i int) string) func(n int) string {
		return func(n int) string { return wideTable(header, mixed, 6, n) }
	}
	labels := func(header func(i int) string, cell func(r, i int) string) func(n int) string {
		return func(n int) string { return labelTable(n, header, cell) }
	}
	long := func(row func(i, n int) string) func(n int) string {
		return func(n int) string {
			return rowsOf("recipe,ingredient,amount,unit", n, func(i int) string { return row(i, n) })
		}
	}
	return []sizedTable{
		{"columns", "x.csv", true, columns(called("c%d"))},
		{"columns in percent", "x.csv", true, columns(called("c%dx %%"))},
		{"columns with units", "x.csv", false, columns(called("c%d (ml)"))},
		{"columns of which some have units", "x.csv", true, columns(func(i int) string { return fmt.Sprint("c", i) + []string{"", " (ml)", " (ml)"}[i%3] })},
		{"columns called alike", "x.csv", false, columns(func(i int) string { return "abcdefgh" + string(rune(0x4e00+i)) })},
		{"columns without zeros", "x.csv", true, func(n int) string {
			return wideTable(called("c%d"), func(r, i int) string { return fmt.Sprint(1 + (r*7+i*3)%10) }, 12, n)
		}},
		{"columns that decrease", "x.csv", true, func(n int) string {
			return wideTable(called("c%d"), func(r, i int) string {
				if i == 0 {
					return "1e12"
				}
				return []string{"0", "0.5"}[min(i%50, 1)]
			}, 12, n)
		}},
		{"few amounts", "x.csv", false, func(n int) string {
			return wideTable(called("c%d"), func(r, i int) string { return []string{"", "1"}[min(1, max(0, 1-(i*31+r*17)%97))] }, 40, n)
		}},
		{"labels", "x.csv", true, labels(called("rating%d score"), mixed)},
		{"labels and their standard deviations", "x.csv", true, labels(func(i int) string { return fmt.Sprint("rating", i/2, []string{" score", " score sd"}[i%2]) }, mixed)},
		{"standard deviations of nothing", "x.csv", true, labels(called("of%d sd"), mixed)},
		{"labels in units", "x.csv", true, labels(called("s%d (MPa)"), mixed)},
		{"labels of text", "x.csv", true, labels(called("t%d"), worded)},
		{"dates", "x.csv", false, labels(called("t%d"), func(r, i int) string { return fmt.Sprintf("2020-%02d-%02d", 1+i%12, 1+r%28) })},
		{"numbers below 0", "x.csv", true, labels(called("t%d"), func(r, i int) string { return fmt.Sprint(-1 - (r+i)%10) })},
		{"rows", "x.csv", false, func(n int) string {
			return wideTable(func(i int) string { return []string{"Gin", "Rum", "Lime", "rating"}[i] }, mixed, n, 4)
		}},
		{"a rest of many", "x.csv", true, func(n int) string {
			return wideTable(called("c%d"), func(r, i int) string {
				if i == r {
					return "q.s."
				}
				return []string{"0", "0.001"}[min(i%7, 1)]
			}, 6, n)
		}},
		{"long", "x.csv", false, long(func(i, n int) string { return fmt.Sprintf("r%d,i%d,%d,cl", i/5, i%50, 1+i%7) })},
		{"many names", "x.csv", false, long(func(i, n int) string { return fmt.Sprintf("r%d,ingredient%s%d,%d,cl", i/5, worded(0, i), i, 1+i%7) })},
		{"names a letter apart", "x.csv", true, long(func(i, n int) string { return fmt.Sprintf("r,abcdefgh%c,1,cl", rune(0x4e00+i)) })},
		{"one recipe", "x.csv", true, long(func(i, n int) string { return fmt.Sprintf("r,ingredient%c,%d,cl", rune(0x4e00+i), 1+i%7) })},
		{"units that do not mix", "x.csv", true, long(func(i, n int) string {
			return fmt.Sprintf("r,i%d,1,%s", i, []string{"dash", "ml", "g"}[min(2, (i+n/2-1)/(n/2))])
		})},
		{"unknown units", "x.csv", false, long(func(i, n int) string { return fmt.Sprintf("r%d,i%d,1,xy", i/5, i%50) })},
		{"labels that change", "x.csv", true, func(n int) string {
			text := "recipe,ingredient,amount"
			for i := range n {
				text += fmt.Sprint(",l", i)
			}
			for r := range 6 {
				text += fmt.Sprintf("\nr%d,i%d,1", r/3, r) + strings.Repeat(fmt.Sprint(",", r), n)
			}
			return text + "\n"
		}},
		{"turned", "x.csv", false, func(n int) string {
			return "ingredient" + strings.TrimPrefix(wideTable(called("c%d"), func(r, i int) string { return []string{"50", "20", "20", "10"}[r] }, 4, n), "recipe")
		}},
		{"turned with many results", "x.csv", true, func(n int) string {
			return rowsOf("ingredient,a,b,c", n+3, func(i int) string {
				return fmt.Sprintf("i%d,", i) + []string{"50,60,20", "40,20,70", "10,20,10", "5,6,7"}[min(3, i)]
			})
		}},
		{"prices", "x.csv", false, func(n int) string {
			return strings.Replace(rowsOf("date"+strings.Repeat(",", n), 12, func(r int) string {
				text := fmt.Sprintf("2020-%02d-01", r+1)
				for i := range n {
					text += fmt.Sprint(",", 100+(r*7+i)%10)
				}
				return text
			}), strings.Repeat(",", n), func() string {
				text := ""
				for i := range n {
					text += fmt.Sprint(",a", i)
				}
				return text
			}(), 1)
		}},
		{"workbook of columns", "x.xlsx", false, func(n int) string { return workbookOf(1, wideTable(called("c%d"), mixed, 3, n)) }},
		{"workbook of sheets", "x.xlsx", false, func(n int) string { return workbookOf(n/64, wideTable(called("c%d"), mixed, 6, 20)) }},
		{"document of columns", "x.fods", false, func(n int) string { return documentOf(wideTable(called("c%d"), mixed, 3, n)) }},
	}
}

// TestDraftIsLinear: what becomes of a table takes time in proportion to its size, whatever is in it.
// A step that is quadratic takes 16 times as long for four times as much; 6.25 is 2.5 a doubling.
func TestDraftIsLinear(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n := testmode.Pick(2000, 400)
	for _, c := range sizedTables() {
		if !c.often && !testmode.Enabled() {
			continue
		}
		took := func(n int) time.Duration {
			table := tableFrom(c.file, c.text(n))
			began := threadTime(t)
			d := &Draft{Table: c.file}
			if err := d.ReadTable(table, dataset.Options{}); err == nil {
				d.FindIngredientsSheets(table)
				d.Questions()
				d.Targets()
				d.OfferedBounds()
				if d.Book != nil {
					d.Book.Misspellings()
				}
				_, _ = d.Write() // what is too large to be written is refused
			}
			return threadTime(t) - began
		}
		// What disturbs the measurement makes it longer, so the least of several counts.
		var ratios []float64
		for range 3 {
			ratios = append(ratios, float64(took(4*n))/float64(took(n)))
			if slices.Min(ratios) < 6.25 {
				break
			}
		}
		if slices.Min(ratios) >= 6.25 {
			t.Errorf("%s: four times as much takes %.3v times as long", c.name, ratios)
		}
	}
}
