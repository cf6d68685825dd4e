package compile

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"kir/internal/dataset"
)

// TestDraftOfDocument: a workbook saved as .ods gives the problem that it gives as .xlsx, with its
// title, merged cells and the sheet that lists the ingredients.
func TestDraftOfDocument(t *testing.T) {
	sheets := map[string][][]any{"Drinks": {{"The bar, winter list"}, {}, {"Cocktail", "Ingredient", "Amount", "Unit", "Rating (1-10)"}},
		"Stock": {{"Ingredient", "Price (€/l)", "Stock (ml)"}, {"Gin", 20.5, 700}, {"Vermouth", 9, 1400}, {"Campari", 18, 350}, {"Soda", 1.5, nil}}}
	for k := range 24 {
		drink := any(fmt.Sprintf("Drink %d", k+1))
		for i, name := range []string{"Gin", "Vermouth", "Campari", "Soda"} {
			if (k+i)%4 == 0 {
				continue
			}
			var rating any
			if drink != nil && k%3 > 0 {
				rating = 1 + (k*7+i)%10
			}
			sheets["Drinks"] = append(sheets["Drinks"], []any{drink, name, []any{1.5, "¾", 1, "½"}[(k+i)%4], "oz", rating})
			drink = nil // merged with the cell above
		}
	}
	office := excelize.NewFile()
	var content strings.Builder
	content.WriteString(`<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>`)
	for k, name := range []string{"Drinks", "Stock"} {
		var err error
		if k == 0 {
			err = office.SetSheetName("Sheet1", name)
		} else {
			_, err = office.NewSheet(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&content, `<table:table table:name="%s">`, name)
		for r, row := range sheets[name] {
			content.WriteString("<table:table-row>")
			for c, v := range row {
				at, err := excelize.CoordinatesToCellName(c+1, r+1)
				if err == nil && v != nil {
					err = office.SetCellValue(name, at, v)
				}
				if err != nil {
					t.Fatal(err)
				}
				switch v := v.(type) {
				case nil:
					content.WriteString("<table:covered-table-cell/>")
				case string:
					fmt.Fprintf(&content, `<table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell>`, v)
				default:
					fmt.Fprintf(&content, `<table:table-cell office:value-type="float" office:value="%v"><text:p>%[1]v</text:p></table:table-cell>`, v)
				}
			}
			content.WriteString("</table:table-row>")
		}
		content.WriteString(`<table:table-row table:number-rows-repeated="1048500"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>`)
	}
	content.WriteString("</office:spreadsheet></office:body></office:document-content>")
	var xlsx, ods bytes.Buffer
	if err := office.Write(&xlsx); err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(&ods)
	for name, text := range map[string]string{"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content.String()} {
		part, err := archive.Create(name)
		if err == nil {
			_, err = part.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	written := func(name, data string) string {
		d := &Draft{Table: name}
		table := tableFrom(name, data)
		if err := d.ReadTable(table, dataset.Options{}); err != nil {
			t.Fatal(err)
		}
		d.FindIngredientsSheets(table)
		if err := d.UseIngredientsSheet(table, dataset.Options{}, "Stock"); err != nil {
			t.Errorf("the ingredients of %s: %v", name, err)
		}
		text, err := d.Write()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	one, other := written("bar.xlsx", xlsx.String()), written("bar.ods", ods.String())
	if got := strings.ReplaceAll(other, "bar.ods", "bar.xlsx"); got != one || !strings.Contains(one, "Price (€/l)") || !strings.Contains(one, "stock: ") {
		t.Errorf("of .ods it is\n%s\nof .xlsx\n%s", got, one)
	}
}
