package dataset

import (
	"fmt"
	"strings"
	"testing"

	"kir/internal/tablefile"
)

// TestAlike: names a letter apart are pairs, the rarer one second, unless they are short,
// have digits or are used together.
func TestAlike(t *testing.T) {
	b, err := Read(strings.NewReader("recipe,ingredient,amount\nA,Campri,1\nA,Gin,1\nB,Campari,1\nB,Gim,1\nC,Campari,1\nC,Lemon juice,1\nD,Lime juice,1\nD,Red 40 dye,1\nE,Red 41 dye,1\nE,Absinthe,1\nF,Absinhte,1\nG,Cherry,1\nG,Sherry,1\n"), "b.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(b.Misspellings()); got != "[[Campari Campri] [Absinthe Absinhte]]" {
		t.Errorf("alike are %s", got)
	}
}

// TestNamesAndWithout: a name stands for another, one of two spellings for itself, and
// recipes are left out with the rows below that belong to them, in both forms.
func TestNamesAndWithout(t *testing.T) {
	o := Options{Layout: Layout{Names: map[string]string{"Campri": "Campari", "gin": "gin (2)"}, Without: []string{"Sum of all"}}}
	long, err := Read(strings.NewReader("recipe,ingredient,amount\nA,Campri,1\n,Gin,1\nSum of all,Gin,9\n,Rum,9\nB,Campari,2\n,gin,1\n"), "b.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(long.Ingredients.Names, len(long.Recipes), len(long.Recipes[1].Parts)); got != "[Campari Gin gin (2)] 2 2" {
		t.Errorf("the long form has %s", got)
	}
	if got := fmt.Sprint(long.Shape.LeftOut, long.Shape.HeaderLine); got != "[{4 left out by you} {5 left out by you}] 1" {
		t.Errorf("rows left out, and the header, are %s", got)
	}
	wide, err := Read(strings.NewReader("recipe,Gin,gin,Campri\nA,1,2,3\nSum of all,9,9,9\nB,1,0,3\n"), "b.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(wide.Ingredients.Names, len(wide.Recipes), wide.Shape.LeftOut); got != "[Gin gin (2) Campari] 2 [{3 left out by you}]" {
		t.Errorf("the wide form has %s", got)
	}
	if got := (Layout{Names: map[string]string{"gin": "gin (2)"}, Without: []string{"Sum of all", "x: y"}}).YAML(); got != `names: {gin: "gin (2)"}, without: [Sum of all, "x: y"]` {
		t.Errorf("it is written %s", got)
	}
}

// TestShapes: a turned table keeps where its rows stand, and a peek shows the file as it is.
func TestShapes(t *testing.T) {
	text := "Title of it,,\n\nIngredient,F1,F2\nWater,60,70\nOil,40,\nSugar,0,30\nscore,3,5\n"
	b, err := Read(strings.NewReader(text), "b.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(b.Transposed, b.Shape.HeaderLine, b.Shape.RowLines, b.Shape.NameColumn); got != "true 3 [3 4 5 6 7] 0" {
		t.Errorf("the shape is %s", got)
	}
	p, err := ReadPreview(strings.NewReader(text), "b.csv", Layout{}, 3, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Rows, p.RowLines, p.HasMoreRows); got != "[[Title… ] [Ingre… F1] [Water 60]] [1 3 4] true" {
		t.Errorf("the peek is %s", got)
	}
	if got := tablefile.Truncate("añb", 2); got != "a…" {
		t.Errorf("cut it is %q", got)
	}
}
