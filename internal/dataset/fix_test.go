package dataset

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"kir/internal/inputerr"
)

// readWithFixes reads a table that can be read again, so that hints have the settings that get past an error.
func readWithFixes(text, file string, o Options) (*Book, error) {
	read := func(o Options) (*Book, error) { return Read(strings.NewReader(text), file, o) }
	b, err := read(o)
	if err != nil {
		return nil, TryFixes(err, o, read)
	}
	return b, nil
}

// TestOddUnitIsNamed: of units that do not go together the error names the place of the one that few have, and prints
// what gets past it.
func TestOddUnitIsNamed(t *testing.T) {
	for _, c := range []struct{ table, place, message, hint string }{
		{"recipe,Gin,Rum,Rye\nA,1 ml,2 g,3 g\nB,1 g,2 g,3 g\n", "2:3", `"A" mixes "g" (a mass) on line 2 with "Gin" in "ml" (a volume)`, "units: {g: 0.1 cl}"},
		{"recipe,Gin,Rum,Rye\nA,1 g,2 g,3 ml\nB,1 g,2 g,3 g\n", "2:11", `"A" mixes "g" (a mass) on line 2 with "Rye" in "ml" (a volume)`, "units: {g: 0.1 cl}"},
		{"recipe,Gin,Rum,Rye\nA,1 %,2,3\nB,1,2,3\n", "2:3", `"A" mixes no unit on line 2 with "Gin" in "%" (a percentage)`, "without: [A] leaves the recipe out"},
		{"recipe,ingredient,amount\nA,Gin,1 ml\nA,Rum,2 g\nA,Rye,2 g\nB,Gin,1 g\n", "2:0", `"A" mixes "g" (a mass) on line 3 with "Gin" in "ml" (a volume)`, "units: {g: 0.1 cl}"},
		{"recipe,ingredient,amount\nA,Gin,1 g\nA,Rum,2 g\nA,Rye,2 pieces\nB,Gin,1 g\n", "4:7", `"A" mixes "g" (a mass) on line 2 with "Rye" in "piece" (a number of pieces)`, "units: {piece: 5 g} gives it a size"},
	} {
		_, err := readWithFixes(c.table, "book.csv", Options{})
		all := inputerr.All(err)
		if len(all) != 1 || fmt.Sprintf("%d:%d", all[0].Line, all[0].Column) != c.place || all[0].Message != c.message || !strings.Contains(all[0].Hint, c.hint) {
			t.Errorf("%s\nis refused with %v", c.table, err)
		}
	}
}

// TestWithoutRow: without takes any row by its name or its line, and a row of a turned table by its name.
func TestWithoutRow(t *testing.T) {
	for _, c := range []struct{ table, without, want string }{
		{"recipe,Gin,Rum\nA,1,2\nB,viel,2\nC,2,2\n", "B", "A Gin Rum|C Gin Rum"},
		{"recipe,Gin,Rum\nA,1,2\nB,viel,2\nC,2,2\n", "row 3", "A Gin Rum|C Gin Rum"},
		{"recipe,Gin,Rum\nA,1,2\nB,1,2,3,4\nC,2,2\n", "row 3", "A Gin Rum|C Gin Rum"},
		{"Gin,Rum,Rye\n1,2,3\n2,2,3\n3,1,3\n1,1,3\n2,3,3\n,x,x\n", "row 7", "row 2 Gin Rum Rye|row 3 Gin Rum Rye|row 4 Gin Rum Rye|row 5 Gin Rum Rye|row 6 Gin Rum Rye"},
		{"recipe,ingredient,amount\nA,Gin,1\nA,Gin,2\nA,Rum,2\n", "row 3", "A Gin Rum"},
		{"ingredient,A,B,C\nGin,1,2,3\nRum,2,viel,2\nWater,3,3,3\n", "B", "A Gin Rum Water|C Gin Rum Water"},
		{"ingredient,A,B,C\nGin,1,2,3\nRum,2,viel,2\nWater,3,3,3\n", "Rum", "A Gin Water|B Gin Water|C Gin Water"},
		{"ingredient,A,B,C\nGin,1,2,3\nRum,2,viel,2\nWater,3,3,3\n", "row 3", "A Gin Water|B Gin Water|C Gin Water"},
	} {
		b, err := Read(strings.NewReader(c.table), "book.csv", Options{Layout: Layout{Without: []string{c.without}}})
		if err != nil {
			t.Errorf("without %s: %v", c.without, err)
			continue
		}
		var recipes []string
		for _, r := range b.Recipes {
			text := r.Name
			for _, p := range r.Parts {
				text += " " + b.Ingredients.Names[p.Ingredient]
			}
			recipes = append(recipes, text)
		}
		if got := strings.Join(recipes, "|"); got != c.want {
			t.Errorf("without %s the recipes are %s", c.without, got)
		}
		for _, n := range b.Notes {
			if strings.Contains(n.Message, "without has") {
				t.Errorf("without %s: %s", c.without, n)
			}
		}
	}
}

// TestWithoutSheet: without leaves out a sheet, so that the next that fits is read.
func TestWithoutSheet(t *testing.T) {
	f := excelize.NewFile()
	if _, err := f.NewSheet("Second"); err != nil {
		t.Fatal(err)
	}
	for sheet, name := range map[string]string{"Sheet1": "A", "Second": "B"} {
		for k, row := range [][]any{{"recipe", "Gin", "Rum"}, {name, 1, 2}} {
			if err := f.SetSheetRow(sheet, fmt.Sprint("A", k+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	var text bytes.Buffer
	if err := f.Write(&text); err != nil {
		t.Fatal(err)
	}
	b, err := Read(&text, "book.xlsx", Options{Layout: Layout{Without: []string{"Sheet1"}}})
	if err != nil || b.Recipes[0].Name != "B" {
		t.Errorf("without the first sheet: %v, %v", b, err)
	}
}

// TestFixesOfManyErrors: a refused table is read again a few times at most, however many errors it has.
func TestFixesOfManyErrors(t *testing.T) {
	text := "recipe,Gin,Rum\n"
	for k := range 40 {
		text += fmt.Sprintf("R%d,%d,%s\n", k, k%7+1, []string{"2", "viel"}[k%2])
	}
	reads := 0
	read := func(o Options) (*Book, error) {
		reads++
		return Read(strings.NewReader(text), "book.csv", o)
	}
	_, err := read(Options{})
	if err = TryFixes(err, Options{}, read); reads > 1+maxTrials+2*maxUndone {
		t.Errorf("the table was read %d times", reads)
	}
	for _, e := range inputerr.All(err) {
		if !strings.Contains(e.Hint, "columns: {Rum: ignore} leaves the column out") {
			t.Errorf("no fix: %v", e)
		}
	}
}
