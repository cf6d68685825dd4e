package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzWorkbook reads workbooks of which a sheet, the shared texts and the styles are
// anything, packed as they should be.
func FuzzWorkbook(f *testing.F) {
	whole := inSheets("Drinks", [][]any{{"recipe", "ingredient", "amount", "unit"}, {"Kir", "Cassis", 1.5, "cl"}, {"Kir", "Wine", shown{9, "0.0"}, formula("1+2")}})
	archive, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		f.Fatal(err)
	}
	parts := make(map[string][]byte)
	for _, p := range archive.File {
		parts[p.Name] = unpack(f, p)
	}
	const sheet, texts, styles = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
	f.Add(parts[sheet], parts[texts], parts[styles])
	f.Add([]byte(`<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>recipe</t></is></c><c t="s"><v>9</v></c></row></sheetData></worksheet>`), parts[texts], parts[styles])
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for name, data := range parts {
			if of := map[string][]byte{sheet: a, texts: b, styles: c}[name]; of != nil {
				data = of
			}
			p, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(p, bytes.NewReader(data)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		book, err := Read(bytes.NewReader(out.Bytes()), "book.xlsx", Options{})
		if err != nil {
			checkShown(t, err)
			return
		}
		checkBook(t, book)
	})
}

// unpack returns the content of a part of an archive.
func unpack(t testing.TB, part *zip.File) []byte {
	t.Helper()
	in, err := part.Open()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil {
		t.Fatal(err)
	}
	return content
}
