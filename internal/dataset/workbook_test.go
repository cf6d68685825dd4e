package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

const sheetPart = "xl/worksheets/sheet1.xml"

// withPart is a workbook with another content of a part, or one part more.
func withPart(t testing.TB, name string, content io.Reader) []byte {
	t.Helper()
	return withParts(t, map[string]io.Reader{name: content})
}

// withParts is withPart for several.
func withParts(t testing.TB, parts map[string]io.Reader) []byte {
	t.Helper()
	data := inSheets("A", [][]any{{"recipe", "ingredient", "amount"}, {"A", "Gin", 1}})
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name string, content io.Reader) {
		part, err := w.Create(name)
		if err == nil {
			_, err = io.Copy(part, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range r.File {
		if _, ok := parts[f.Name]; ok {
			continue
		}
		part, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		add(f.Name, part)
		part.Close()
	}
	for name, content := range parts {
		if content == nil {
			continue
		}
		add(name, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inSheet is the XML of a sheet.
func inSheet(rows string) io.Reader {
	return strings.NewReader(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + rows + `</sheetData></worksheet>`)
}

// text is a cell of text.
func text(at, s string) string {
	return `<c r="` + at + `" t="inlineStr"><is><t>` + s + `</t></is></c>`
}

const goodRow = `<row r="1"><c r="A1" t="inlineStr"><is><t>recipe</t></is></c><c r="B1" t="inlineStr"><is><t>Gin</t></is></c></row>`

// repeated reads as a text over and over, n times in all.
func repeated(text string, n int) io.Reader {
	many := strings.Repeat(text, 1000)
	readers := make([]io.Reader, 0, n/1000)
	for range n / 1000 {
		readers = append(readers, strings.NewReader(many))
	}
	return io.MultiReader(readers...)
}

// Workbooks that were made to do harm, or were damaged, are refused within time
// and memory, and say why.
func TestWorkbookRefuses(t *testing.T) {
	around := func(head string, body io.Reader, tail string) io.Reader {
		return io.MultiReader(strings.NewReader(head), body, strings.NewReader(tail))
	}
	var far strings.Builder
	for r := range 257 {
		fmt.Fprintf(&far, `<row r="%d">%s</row>`, r+1, text(fmt.Sprint("XFD", r+1), "a"))
	}
	const begin, end = `<worksheet><sheetData>`, `</sheetData></worksheet>`
	for _, test := range []struct {
		name, message string
		data          []byte
	}{
		{"not an archive", "this workbook cannot be read", []byte("PK\x03\x04 and no more")},
		{"no workbook", "", withPart(t, "xl/workbook.xml", nil)},
		{"old Excel", "an old Excel file", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")},
		{"OpenDocument", "OpenDocument", withPart(t, "mimetype", strings.NewReader("application/vnd.oasis.opendocument.spreadsheet"))},
		{"unpacks to 100 MB", "unpacks to more than 64 MiB", withPart(t, "xl/media/a.png", repeated(strings.Repeat("a", 1000), 100_000))},
		{"a sheet of 70 MB of space", "unpacks to more than 64 MiB", withPart(t, sheetPart, around(begin, repeated(strings.Repeat(" ", 1000), 70_000), end))},
		{"a sheet that breaks off", "unexpected EOF", withPart(t, sheetPart, strings.NewReader(begin+goodRow+`<row r="2"><c r="A2"`))},
		{"a sheet that is no XML", "syntax error", withPart(t, sheetPart, strings.NewReader("<a></b>"))},
		{"elements in elements", "nested too deeply", withPart(t, sheetPart, repeated("<a>", 100_000))},
		{"too many elements", "too many elements", withPart(t, sheetPart, around(begin, repeated("<c/>", 5_000_000), end))},
		{"too many shared texts", "too many elements", withPart(t, "xl/sharedStrings.xml", around("<sst>", repeated("<si/>", 2_000_000), "</sst>"))},
		{"a shared text of 9 MB", "a text longer than 262144 bytes", withPart(t, "xl/sharedStrings.xml", around("<sst><si><t>", repeated("a", 9_000_000), "</t></si></sst>"))},
		{"a shared text of 9 MB in runs", "a text longer than 262144 bytes", withPart(t, "xl/sharedStrings.xml", around("<sst><si>", repeated("<r><t>"+strings.Repeat("a", 1000)+"</t></r>", 9000), "</si></sst>"))},
		{"a cell of 9 MB", "a text longer than 262144 bytes", withPart(t, sheetPart, around(begin+`<row r="1"><c r="A1" t="inlineStr"><is><t>`, repeated("a", 9_000_000), `</t></is></c></row>`+end))},
		{"a shared text all over a row", "a row has 16000 texts", withParts(t, map[string]io.Reader{
			"xl/sharedStrings.xml": around(`<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>`, repeated("a", 200_000), "</t></si></sst>"),
			sheetPart:              around(begin+`<row r="1">`, repeated(`<c t="s"><v>0</v></c>`, 16000), `</row>`+end),
		})},
		{"a shared text all over a sheet", "have more than 64 MiB of text", withParts(t, map[string]io.Reader{
			"xl/sharedStrings.xml": around(`<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>`, repeated("a", 200_000), "</t></si></sst>"),
			sheetPart:              around(begin, repeated(`<row><c t="s"><v>0</v></c></row>`, 1000), end),
		})},
		{"an element of 1 MB", "longer than 65536 bytes", withPart(t, "xl/styles.xml", around("<styleSheet ", repeated(`a="" `, 200_000), "/>"))},
		{"rows out of order", "row 1 comes after row 2", withPart(t, sheetPart, inSheet(`<row r="2"></row><row r="1"></row>`))},
		{"cells out of order", "out of order", withPart(t, sheetPart, inSheet(`<row r="1">`+text("B1", "a")+text("A1", "b")+`</row>`))},
		{"a cell in another row", `cell "A3" stands in row 1`, withPart(t, sheetPart, inSheet(`<row r="1">`+text("A3", "a")+`</row>`))},
		{"a row too far down", "no row", withPart(t, sheetPart, inSheet(`<row r="99999999"></row>`))},
		{"a cell too far right", "", withPart(t, sheetPart, inSheet(`<row r="1">`+text("ZZZZ1", "a")+`</row>`))},
		{"few cells far apart", "has more than 4194304 cells", withPart(t, sheetPart, inSheet(far.String()))},
		{"an empty workbook", "the workbook is empty", inSheets("A", [][]any{})},
		{"an empty formula", "has no result", inSheets("A", [][]any{{"recipe", "Gin"}, {"A", formula("1+1")}})},
	} {
		t.Run(test.name, func(t *testing.T) {
			isRefused(t, test.data, "book.xlsx", Options{}, test.message)
		})
	}
}

// isRefused fails unless a spreadsheet is refused with a message of one line, within a minute and
// 2,500 MiB of allocations.
func isRefused(t *testing.T, data []byte, name string, o Options, message string) {
	t.Helper()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	book, err := Read(bytes.NewReader(data), name, o)
	if err == nil {
		t.Fatalf("it was read: %v", flatten(book))
	}
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), message) || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
		t.Errorf("got %v, want an *Error with %q", err, message)
	}
	runtime.ReadMemStats(&after)
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 2500 {
		t.Errorf("%d MiB were allocated", used)
	}
}

// A cell in the last corner of a sheet is no harm.
func TestWorkbookFarCell(t *testing.T) {
	data := withPart(t, sheetPart, inSheet(goodRow+`<row r="2">`+text("A2", "A")+`<c r="B2"><v>1</v></c></row><row r="1048576"><c r="XFD1048576" s="0"/></row>`))
	book, err := Read(bytes.NewReader(data), "book.xlsx", Options{})
	if err != nil || len(book.Recipes) != 1 {
		t.Fatalf("got %v", err)
	}
	if r := book.Recipes[0]; r.Line != 2 || r.Column != 1 || r.cellAddress != "A!A2" {
		t.Errorf("the recipe stands at %d:%d, %s", r.Line, r.Column, r.cellAddress)
	}
}
