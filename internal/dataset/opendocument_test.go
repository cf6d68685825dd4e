package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"kir/internal/measure"
	"kir/internal/tablefile"

	"github.com/xuri/excelize/v2"
)

// Names of parts and of namespaces of an OpenDocument spreadsheet.
const (
	odsMediaType = "application/vnd.oasis.opendocument.spreadsheet"
	odsContent   = "content.xml"
	odsManifest  = "META-INF/manifest.xml"

	officeNamespace = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
	tableNamespace  = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
	textNamespace   = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
)

// The beginning and the end of an OpenDocument spreadsheet's content.
const (
	documentHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<office:document-content xmlns:office="` + officeNamespace + `" xmlns:table="` + tableNamespace + `" xmlns:text="` + textNamespace + `" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" office:version="1.3"><office:automatic-styles/><office:body><office:spreadsheet>`
	documentTail = `<table:named-expressions/></office:spreadsheet></office:body></office:document-content>`
	blankBelow   = `<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>`
)

// packed is an archive of parts, each a name and a content.
func packed(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		part, err := w.Create(parts[i])
		if err == nil {
			_, err = part.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inDocument is an OpenDocument spreadsheet of sheets in XML.
func inDocument(t testing.TB, sheets string) []byte {
	t.Helper()
	return packed(t, "mimetype", odsMediaType, odsContent, documentHead+sheets+documentTail, odsManifest, "<manifest/>", "Pictures/a.png", "\x89PNG")
}

// inRows is one sheet of rows in XML.
func inRows(t testing.TB, rows string) []byte {
	t.Helper()
	return inDocument(t, `<table:table table:name="A">`+rows+`</table:table>`)
}

// day is how a date is read.
var day = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// asDocument is an .xlsx workbook as an office program saves it as OpenDocument.
func asDocument(t testing.TB, data []byte) []byte {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	quoted := func(text string) string {
		var b bytes.Buffer
		if err := xml.EscapeText(&b, []byte(text)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var out strings.Builder
	for _, name := range f.GetSheetList() {
		fmt.Fprintf(&out, `<table:table table:name="%s" table:style-name="ta1"><table:table-column table:number-columns-repeated="16384"/>`, quoted(name))
		rows, err := f.GetRows(name)
		if err != nil {
			t.Fatal(err)
		}
		for r := range rows {
			out.WriteString(`<table:table-row table:style-name="ro1">`)
			for c := range rows[r] {
				at, err := excelize.CoordinatesToCellName(c+1, r+1)
				if err != nil {
					t.Fatal(err)
				}
				kind, err := f.GetCellType(name, at)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := f.GetCellValue(name, at, excelize.Options{RawCellValue: true})
				if err != nil {
					t.Fatal(err)
				}
				made, err := f.GetCellFormula(name, at)
				if err != nil {
					t.Fatal(err)
				}
				seen := rows[r][c]
				text := "<text:p>" + quoted(seen) + "</text:p>"
				read, _ := tablefile.CellText(raw, seen)
				switch _, isNumber := measure.ParseNumber(raw); {
				case made != "":
					fmt.Fprintf(&out, `<table:table-cell table:formula="of:=%s"/>`, quoted(made))
				case seen == "":
					out.WriteString(`<table:table-cell table:style-name="ce1"/>`)
				case kind == excelize.CellTypeSharedString || kind == excelize.CellTypeInlineString || !isNumber:
					fmt.Fprintf(&out, `<table:table-cell office:value-type="string">%s</table:table-cell>`, text)
				case day.MatchString(read):
					fmt.Fprintf(&out, `<table:table-cell office:value-type="date" office:date-value="%sT00:00:00">%s</table:table-cell>`, read, text)
				case strings.HasSuffix(seen, "%"):
					fmt.Fprintf(&out, `<table:table-cell office:value-type="percentage" office:value="%s">%s</table:table-cell>`, raw, text)
				default:
					fmt.Fprintf(&out, `<table:table-cell office:value-type="float" office:value="%s">%s</table:table-cell>`, raw, text)
				}
			}
			out.WriteString(`<table:table-cell table:number-columns-repeated="16000"/></table:table-row>`)
		}
		out.WriteString(blankBelow + "</table:table>")
	}
	return inDocument(t, out.String())
}

// TestDocumentAsWorkbook: a table in an OpenDocument spreadsheet is the same book as in an .xlsx
// workbook, with the same notes, questions and errors.
func TestDocumentAsWorkbook(t *testing.T) {
	said := func(data []byte, o Options) []string {
		book, err := Read(bytes.NewReader(data), "book", o)
		if err != nil {
			return []string{err.Error()}
		}
		all := append(sameBook(book), book.GuessedLayout.YAML())
		for _, n := range book.Notes {
			all = append(all, n.String())
		}
		return all
	}
	tested := 0
	try := func(name string, data []byte, o Options) {
		if !bytes.HasPrefix(data, []byte("PK")) {
			return
		}
		tested++
		t.Run(name, func(t *testing.T) {
			if got, want := said(asDocument(t, data), o), said(data, o); !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
	for _, test := range wildTables {
		try(test.name, test.data, test.options)
	}
	for _, test := range badTables {
		try(test.name, test.data, Options{})
	}
	try("dates, percents and lines", inSheets("A", [][]any{{"recipe", "Gin", "Rum", "made on", "share"}, {"A", 1, 2, shown{45323, "yyyy-mm-dd"}, shown{0.25, "0%"}},
		{"B\nC", 1.5, true, shown{45324, "d/m/yy"}, shown{0.125, "0.0%"}}}), Options{})
	if tested < 8 {
		t.Errorf("%d workbooks were tried", tested)
	}
}

// TestDocumentCells: what office programs write of cells is read as they show it.
func TestDocumentCells(t *testing.T) {
	float := func(value, shown string) string {
		return `<table:table-cell office:value-type="float" office:value="` + value + `"><text:p>` + shown + `</text:p></table:table-cell>`
	}
	text := func(shown string) string {
		return `<table:table-cell office:value-type="string">` + shown + `</table:table-cell>`
	}
	for cell, want := range map[string]string{
		float("0.30000000000000004", "0.3"): "0.3",
		float("4", "4,0 cl"):                "4 cl",
		float("1234.5", "1.234,50 g"):       "1234.5 g",
		float("1234.5", "1.234,50"):         "1234.5",
		float("3.5", "3,50 €"):              "3.5",
		float("0.5", "1/2"):                 "0.5",
		`<table:table-cell office:value-type="percentage" office:value="0.125"><text:p>12,50 %</text:p></table:table-cell>`:                  "12.5%",
		`<table:table-cell office:value-type="percentage" office:value="0.125"/>`:                                                            "12.5%",
		`<table:table-cell office:value-type="currency" office:currency="EUR" office:value="3.5"><text:p>3,50 €</text:p></table:table-cell>`: "3.5",
		`<table:table-cell office:value-type="date" office:date-value="2026-02-01T12:00:00"><text:p>1. Feb 26</text:p></table:table-cell>`:   "2026-02-01",
		`<table:table-cell office:value-type="boolean" office:boolean-value="true"><text:p>WAHR</text:p></table:table-cell>`:                 "1",
		`<table:table-cell office:value-type="boolean" office:boolean-value="false"><text:p>FALSCH</text:p></table:table-cell>`:              "0",
		text("<text:p>dry\n   <text:span>white</text:span><text:s text:c=\"2\"/>wine</text:p>"):                                              "dry white  wine",
		text("<text:p>two</text:p><text:p>lines</text:p>"):                                                                                   "two\nlines",
		text("<office:annotation><text:p>a remark</text:p></office:annotation><text:p>Gin</text:p>"):                                         "Gin",
		text("<text:p>Gin<text:line-break/>&amp; <text:a>Tonic</text:a></text:p><draw:frame><text:p>no</text:p></draw:frame>"):               "Gin\n& Tonic",
		`<table:table-cell office:value-type="string" office:string-value="Rum"/>`:                                                           "Rum",
		`<table:table-cell table:formula="of:=&quot;&quot;" office:value-type="string"/>`:                                                    "",
		`<table:table-cell table:formula="of:=2*2" office:value-type="float" office:value="4"><text:p>4</text:p></table:table-cell>`:         "4",
		`<table:covered-table-cell office:value-type="string"><text:p>hidden below a merged cell</text:p></table:covered-table-cell>`:        "",
	} {
		w, err := tablefile.OpenWorkbook(t.Context(), bytes.NewReader(inRows(t, `<table:table-row>`+cell+text("<text:p>end</text:p>")+`</table:table-row>`)), "book.ods")
		if err != nil {
			t.Errorf("%s: %v", cell, err)
			continue
		}
		s, err := w.ReadNamedSheet("A")
		if err != nil || len(s.Cells) != 1 || len(s.Cells[0]) != 2 || s.Cells[0][0] != want || len(s.BrokenCells) > 0 {
			t.Errorf("%s is %q, %v, %v, want %q", cell, s.Cells, s.BrokenCells, err, want)
		}
	}
}

// TestDocumentRepeats: rows and cells that stand there many times are there as many times, and
// those with nothing in them take no room.
func TestDocumentRepeats(t *testing.T) {
	const cell = `<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>`
	rows := `<table:table-header-rows><table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="3"/></table:table-row></table:table-header-rows>` +
		`<table:table-row-group><table:table-rows><table:table-row table:number-rows-repeated="2"><table:table-cell/>` + strings.Replace(cell, "<table:table-cell", `<table:table-cell table:number-columns-repeated="2"`, 1) +
		`<table:table-cell table:number-columns-repeated="16381"/></table:table-row></table:table-rows></table:table-row-group>` +
		`<table:shapes><table:table-row>` + cell + `</table:table-row></table:shapes>` + blankBelow
	w, err := tablefile.OpenWorkbook(t.Context(), bytes.NewReader(inRows(t, rows)), "book.ods")
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.ReadNamedSheet("A")
	if want := [][]string{nil, nil, {"", "x", "x"}, {"", "x", "x"}}; err != nil || !reflect.DeepEqual(s.Cells, want) {
		t.Errorf("got %q, %v", s.Cells, err)
	}
	// In one piece, as .fods, and what is kept of other files is no sheet.
	flat := strings.ReplaceAll(documentHead, "document-content", "document") + `<table:table table:name="'file:///b.ods'#$A" table:style-name="ta_extref"><table:table-row>` + cell +
		`</table:table-row></table:table><table:table table:name="B"><table:table-row>` + cell + `</table:table-row></table:table>` + strings.ReplaceAll(documentTail, "document-content", "document")
	w, err = tablefile.OpenWorkbook(t.Context(), strings.NewReader(flat), "book.fods")
	if err != nil || !reflect.DeepEqual(w.Names, []string{"B"}) {
		t.Errorf("the sheets are %v, %v", w, err)
	}
}

// TestDocumentRefuses: spreadsheets that were made to do harm, or are none, are refused within
// time and memory, and say why.
func TestDocumentRefuses(t *testing.T) {
	const row = `<table:table-row table:number-rows-repeated="%d"><table:table-cell table:number-columns-repeated="%d" office:value-type="string"><text:p>%s</text:p></table:table-cell></table:table-row>`
	long := strings.Repeat("a", 200_000)
	for _, test := range []struct {
		name, message string
		data          []byte
	}{
		{"a text", "it is \"application/vnd.oasis.opendocument.text\", and no spreadsheet", packed(t, "mimetype", "application/vnd.oasis.opendocument.text", odsContent, "<a/>")},
		{"a password", "it has a password", packed(t, "mimetype", odsMediaType, odsContent, "\x01\x02", odsManifest, "<manifest><file-entry><encryption-data/></file-entry></manifest>")},
		{"a password around all", "it has a password", packed(t, "mimetype", odsMediaType, "encrypted-package", "\x01\x02", odsManifest, "<manifest><file-entry><encryption-data/></file-entry></manifest>")},
		{"no content", "without content.xml", packed(t, "mimetype", odsMediaType)},
		{"content twice", "is there twice", packed(t, "mimetype", odsMediaType, odsContent, "<a/>", odsContent, "<a/>")},
		{"no sheet", "the workbook is empty", inDocument(t, "")},
		{"an empty sheet", "the workbook is empty", inRows(t, blankBelow)},
		{"a million rows of text", "has more than 4194304 cells", inRows(t, fmt.Sprintf(row, 1_000_000, 16, "a"))},
		{"more rows than there are", "there is no row", inRows(t, fmt.Sprintf(row, 2_000_000, 1, "a"))},
		{"rows without number", "is \"99999999999999999999\"", inRows(t, `<table:table-row table:number-rows-repeated="99999999999999999999"/>`)},
		{"no rows", "is \"0\"", inRows(t, `<table:table-row table:number-rows-repeated="0"/>`)},
		{"nine in eighteen places", "there is no row", inRows(t, fmt.Sprintf(row, 999_999_999_999_999_999, 1, "a"))},
		{"more columns than there are", "there is no column", inRows(t, fmt.Sprintf(row, 1, 2_000_000, "a"))},
		{"blanks far out", "has more than 4194304 cells", inRows(t, strings.Repeat(`<table:table-row><table:table-cell table:number-columns-repeated="16383"/><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>`, 300))},
		{"blanks beyond the end", "there is no column", inRows(t, `<table:table-row><table:table-cell table:number-columns-repeated="999999999"/><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>`)},
		{"a text all over a row", "more than 64 MiB of text", inRows(t, fmt.Sprintf(row, 1, 16000, long))},
		{"a text all over a sheet", "more than 64 MiB of text", inRows(t, fmt.Sprintf(row, 100_000, 1, strings.Repeat("a", 1000)))},
		{"a text of 9 MB", "a text longer than 262144 bytes", inRows(t, fmt.Sprintf(row, 1, 1, strings.Repeat(long, 45)))},
		{"spaces", "a text longer than 262144 bytes", inRows(t, fmt.Sprintf(row, 1, 1, strings.Repeat(`<text:s text:c="200000"/>`, 3)))},
		{"spaces below none", "has \"-1\" spaces", inRows(t, fmt.Sprintf(row, 1, 1, `<text:s text:c="-1"/>`))},
		{"an element of 1 MB", "an element longer than 65536 bytes", inRows(t, `<table:table-row `+strings.Repeat(`a="" `, 200_000)+`/>`)},
		{"elements in elements", "nested too deeply", inRows(t, strings.Repeat("<table:table-row-group>", 1000))},
		{"too many elements", "too many elements", inRows(t, strings.Repeat("<a/>", 5_000_000))},
		{"unpacks to 100 MB", "unpacks to more than 64 MiB", inRows(t, strings.Repeat(" ", 100_000_000))},
		{"too many sheets", "more than 1000 sheets", inDocument(t, func() (all string) {
			for k := range 1001 {
				all += fmt.Sprintf(`<table:table table:name="%d"/>`, k)
			}
			return all
		}())},
		{"a sheet twice", "is there twice", inDocument(t, `<table:table table:name="A"/><table:table table:name="A"/>`)},
		{"it breaks off", "unexpected EOF", packed(t, "mimetype", odsMediaType, odsContent, documentHead+`<table:table table:name="A"><table:table-row>`)},
		{"no XML", "syntax error", packed(t, "mimetype", odsMediaType, odsContent, `<a></b>`)},
		{"an entity in entities", "invalid character entity", packed(t, "mimetype", odsMediaType, odsContent, `<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;">]>`+strings.TrimPrefix(documentHead, `<?xml version="1.0" encoding="UTF-8"?>`+"\n")+fmt.Sprintf(`<table:table table:name="A">`+row+`</table:table>`, 1, 1, "&c;")+documentTail)},
		{"a formula without a result", `the formula "=1+1" has no result in the file`, asDocument(t, inSheets("A", [][]any{{"recipe", "Gin"}, {"A", formula("1+1")}}))},
		{"no such sheet", "the workbook has no sheet \"B\"", inRows(t, fmt.Sprintf(row, 1, 1, "recipe"))},
	} {
		t.Run(test.name, func(t *testing.T) {
			var o Options
			if test.name == "no such sheet" {
				o.Sheet = "B"
			}
			isRefused(t, test.data, "book.ods", o, test.message)
		})
	}
}

// FuzzDocument reads OpenDocument spreadsheets whose content is anything.
func FuzzDocument(f *testing.F) {
	f.Add(documentHead + `<table:table table:name="A"><table:table-row><table:table-cell office:value-type="string"><text:p>recipe</text:p></table:table-cell></table:table-row>` + blankBelow + `</table:table>` + documentTail)
	f.Add(documentHead + `<table:table table:name="A"><table:table-row table:number-rows-repeated="10"><table:table-cell table:number-columns-repeated="10" office:value-type="percentage" office:value="1e999"/></table:table-row></table:table>` + documentTail)
	whole := asDocument(f, inSheets("Drinks", [][]any{{"recipe", "ingredient", "amount", "unit"}, {"Kir", "Cassis", 1.5, "cl"}, {"Kir", "Wine", shown{9, "0.0"}, formula("1+2")}}))
	archive, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range archive.File {
		if part.Name == odsContent {
			f.Add(string(unpack(f, part)))
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		book, err := Read(bytes.NewReader(packed(t, "mimetype", odsMediaType, odsContent, content)), "book.ods", Options{})
		if err != nil {
			checkShown(t, err)
			return
		}
		checkBook(t, book)
	})
}
