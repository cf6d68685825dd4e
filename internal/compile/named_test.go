package compile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/xuri/excelize/v2"

	"kir/internal/inputerr"
)

// TestMissingNumberInWorkbook: a number that is missing in a workbook is missed
// in its cell, and in a CSV file at its line and column.
func TestMissingNumberInWorkbook(t *testing.T) {
	dir := t.TempDir()
	book := excelize.NewFile()
	if err := book.SetSheetName("Sheet1", "Shelf"); err != nil {
		t.Fatal(err)
	}
	for k, row := range [][]any{{"name", "abv"}, {"Gin", 40}, {"Milk", nil}} {
		cell, err := excelize.CoordinatesToCellName(1, k+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := book.SetSheetRow("Shelf", cell, &row); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.SaveAs(filepath.Join(dir, "shelf.xlsx")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shelf.csv"), []byte("name,abv\nGin,40\nMilk,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, cell   string
		line, column int
	}{{file: "shelf.xlsx", cell: "Shelf!B3"}, {file: "shelf.csv", line: 3, column: 6}} {
		path := filepath.Join(dir, "problem.yaml")
		text := "total: 10\ningredients: " + c.file + "\nsparsity: {uniform: [1, 2]}\nconstraints: [limit: {attribute: abv, max: 20}]\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Load(context.Background(), path, Options{})
		var bad *inputerr.Error
		if !errors.As(err, &bad) || bad.File != filepath.Join(dir, c.file) || bad.Cell != c.cell || c.cell == "" && (bad.Line != c.line || bad.Column != c.column) {
			t.Errorf("%s: the error is %v", c.file, err)
		}
	}
}
