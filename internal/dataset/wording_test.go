package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// readText reads a table that is written here.
func readText(text string, o Options) (*Book, error) {
	return readWithFixes(text, "book.csv", o)
}

func notesOf(b *Book) string {
	var all []string
	for _, n := range b.Notes {
		all = append(all, n.String())
	}
	return strings.Join(all, "\n")
}

// Amounts such as top, which say that the glass is filled, are taken as 9 cl and asked about once, and may be given another
// size in any place where a unit can stand.
func TestFilling(t *testing.T) {
	for _, c := range []struct{ text, word string }{
		{"recipe,ingredient,amount,unit\nFizz,Gin,4,cl\nFizz,Soda,top,\n", "top"},
		{"recipe,ingredient,amount,unit\nFizz,Gin,4,cl\nFizz,Soda,Top Up,\n", "Top Up"},
		{"recipe,ingredient,amount,unit\nFizz,Gin,4,cl\nFizz,Soda,,top\n", "top"},
		{"recipe,ingredient,amount,unit\nFizz,Gin,4,cl\nFizz,Soda,fill,cl\n", "fill"},
		{"recipe,ingredient,amount\nFizz,Gin,4 cl\nFizz,Soda,auffüllen\n", "auffüllen"},
		{"recipe,ingredient,amount\nFizz,Gin,4 cl\nFizz,Soda,compléter\n", "compléter"},
		{"recipe,Gin (cl),Soda (cl)\nFizz,4,top\nSour,5,\n", "top"},
		{"recipe,Gin (cl),Soda (cl)\nFizz,4,fill\nSour,5,fill\n", "fill"},
	} {
		for _, size := range []string{"", "12"} {
			units := measure.DefaultUnits()
			want := 900
			if size != "" {
				want = 1200
				var err error
				if units, err = units.With(c.word, size+" cl"); err != nil {
					t.Fatal(err)
				}
			}
			book, err := readText(c.text, Options{Units: units})
			if err != nil {
				t.Errorf("%s\n%v", c.text, err)
				continue
			}
			soda, _ := book.Ingredients.Index("Soda")
			if got, err := book.Closure(0, want+400); err != nil || got[1] != want || int(book.Recipes[0].Parts[1].Ingredient) != soda {
				t.Errorf("%s\nthe parts are %v: %v", c.text, got, err)
			}
			if asked := book.LooseUnits(); size == "" && (len(asked) != 1 || asked[0].Name != "top" || !slices.Contains(asked[0].SizeChoices, "90 ml")) {
				t.Errorf("%s\nkir asks about %v", c.text, asked)
			}
		}
	}
}

// A percent sign at the end of a column's name is a unit where what is before it is an
// ingredient, or most columns have one; a strength is part of a name.
func TestPercentInHeader(t *testing.T) {
	in, err := NewIngredients("Water", "Oil", "Alcohol 96 %")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		header string
		in     *Ingredients
		want   []string
	}{
		{"name,Water %,Oil %,feel", in, []string{"Water", "Oil", "Alcohol 96 %"}},
		{"name,Water%,\"Oil, %\",feel", in, []string{"Water", "Oil", "Alcohol 96 %"}},
		{"name,water %,OIL %,feel", in, []string{"Water", "Oil", "Alcohol 96 %"}},
		{"name,Oil,Alcohol 96 %,feel", in, []string{"Water", "Oil", "Alcohol 96 %"}},
		{"name,Water %,Oil %,feel", nil, []string{"Water", "Oil"}},
		{"name,Water,Alcohol 96 %,feel", nil, []string{"Water", "Alcohol 96 %"}},
	} {
		book, err := readText(c.header+"\nA,60,40,good\nB,70,30,bad\n", Options{Ingredients: c.in})
		if err != nil {
			t.Errorf("%s: %v", c.header, err)
			continue
		}
		if !slices.Equal(book.Ingredients.Names, c.want) || len(book.Recipes[0].Parts) != 2 {
			t.Errorf("%s: the ingredients are %q, and the first recipe has %v", c.header, book.Ingredients.Names, book.Recipes[0].Parts)
		}
	}
}

// A text that stands alone in its row below the table is left out, and that is said;
// above other rows it is wrong.
func TestFootnotes(t *testing.T) {
	long := "recipe,ingredient,amount,unit\nKir,Gin,3,cl\nKir,Rum,1,cl\n"
	wide := "recipe,Gin,Rum\nKir,3,1\nSec,2,2\n"
	for _, c := range []struct {
		text  string
		notes []string
	}{
		{long + "* stirred,,,\n", []string{`book.csv:4:1: "* stirred"`}},
		{long + "* stirred\n", []string{`book.csv:4:1: "* stirred"`}},
		{long + "\nSource: a book,,,\nall in cl,,,\n", []string{`book.csv:5:1: "Source: a book"`, "and so is 1 row like it"}},
		{long + ",* stirred,,\n", []string{`book.csv:4:2: "* stirred"`}},
		{wide + "Note: in cl,,\n", []string{`book.csv:4:1: "Note: in cl"`}},
		{wide + "all in cl\n", []string{`book.csv:4:1: "all in cl"`}},
		{wide + ",* in cl,\n", []string{`book.csv:4:2: "* in cl"`}},
		{"Ingredient,A,B,C\nWater,60,70,80\nOil,40,30,20\n* w/w,,,\n", []string{`book.csv:4:1: "* w/w"`}},
	} {
		book, err := readText(c.text, Options{})
		if err != nil {
			t.Errorf("%s\n%v", c.text, err)
			continue
		}
		said := notesOf(book)
		for _, want := range c.notes {
			if !strings.Contains(said, want) || !strings.Contains(said, "left out") {
				t.Errorf("%s\nit says %s", c.text, said)
			}
		}
		if len(book.Ingredients.Names) != 2 || len(book.Recipes) > 3 || slices.ContainsFunc(book.Recipes, func(r Recipe) bool { return len(r.Parts) != 2 }) {
			t.Errorf("%s\nthere are %v of %q", c.text, book.Recipes, book.Ingredients.Names)
		}
	}
	for text, places := range map[string][]int{
		"recipe,ingredient,amount,unit\nKir,Gin,3,cl\nSec,,,\n,Rum,1,cl\n":  {3},
		"recipe,ingredient,amount,unit\nKir,Gin,3,cl\nSec\nSec,Rum,1,cl\n":  {3},
		"recipe,Gin,Rum\nKir,3,1\nSec,0,0\nSur,2,2\n":                       {3},
		"recipe,Gin,Rum\nKir,,\nSec,,\n":                                    {2, 3},
		"recipe,ingredient,amount,unit\nKir,Gin,3,cl\nKir,Rum\n* stirred\n": {3},
	} {
		_, err := readText(text, Options{})
		var several *inputerr.Errors
		var one *inputerr.Error
		all := []*inputerr.Error{}
		if errors.As(err, &several) {
			all = several.All
		} else if errors.As(err, &one) {
			all = append(all, one)
		}
		var lines []int
		for _, e := range all {
			lines = append(lines, e.Line)
		}
		if !slices.Equal(slices.Compact(lines), places) {
			t.Errorf("%s\nthe errors are on lines %v, want %v: %v", text, lines, places, err)
		}
	}
	in, err := ReadIngredients(strings.NewReader("name,phase,cost\nWater,w,1\nOil,o,2\n* of 2024\n"), "shelf.csv", Layout{})
	if err != nil || len(in.Names) != 2 || len(in.Notes) != 1 {
		t.Errorf("%v, %v", in, err)
	}
	if _, err := ReadIngredients(strings.NewReader("name,phase,cost\nWater,w,1\nOil\n"), "shelf.csv", Layout{}); err == nil || !strings.Contains(err.Error(), ":3:4: ") {
		t.Errorf("a row that is too short is read as an ingredient: %v", err)
	}
}

// Ingredients whose names differ in the case of letters are one, under the first name, and
// that is said; symbols of one or two letters may be two.
func TestCaseOfIngredients(t *testing.T) {
	for _, c := range []struct {
		text string
		in   []string
		want []string
		says string
	}{
		{"recipe,ingredient,amount\nKir,Gin,3\nSec,gin,1\nSec,GIN Fizz,2\nSur,gin,1\n", nil, []string{"Gin", "GIN Fizz"}, `book.csv:3:5: "Gin" and "gin" are taken for one ingredient, "Gin"`},
		{"recipe,ingredient,amount\nKir,gin,3\nSec,Rum,1\n", []string{"Rum", "Gin"}, []string{"Rum", "Gin"}, `"Gin" and "gin" are taken for one`},
		{"recipe,gin,RUM\nKir,3,1\n", []string{"Rum", "Gin"}, []string{"Rum", "Gin"}, `"Rum" and "RUM" are taken for one`},
		{"recipe,ingredient,amount\nKir,Éclair,3\nSec,éclair,1\n", nil, []string{"Éclair"}, `"Éclair" and "éclair"`},
		{"recipe,ingredient,amount\nKir,Lime juice,3\nSec,Lime  juice,1\n", nil, []string{"Lime juice"}, `"Lime juice" and "Lime  juice"`},
		{"recipe,ingredient,amount\nKir,Co,3\nSec,CO,1\n", nil, []string{"Co", "CO"}, ""},
	} {
		o := Options{}
		if c.in != nil {
			var err error
			if o.Ingredients, err = NewIngredients(c.in...); err != nil {
				t.Fatal(err)
			}
		}
		book, err := readText(c.text, o)
		if err != nil {
			t.Errorf("%s\n%v", c.text, err)
			continue
		}
		said := notesOf(book)
		if !slices.Equal(book.Ingredients.Names, c.want) || !strings.Contains(said, c.says) || strings.Contains(said, "one ingredient") != (c.says != "") {
			t.Errorf("%s\nthe ingredients are %q, and it says %s", c.text, book.Ingredients.Names, said)
		}
	}
	for _, text := range []string{"recipe,ingredient,amount\nKir,Gin,3\nKir,gin,1\n", "recipe,Gin,gin\nKir,3,1\n"} {
		if _, err := readText(text, Options{}); err == nil {
			t.Errorf("%s\nis read", text)
		}
	}
	if _, err := ReadIngredients(strings.NewReader("name,cost\nGin,1\ngin,2\n"), "shelf.csv", Layout{}); err == nil || !strings.Contains(err.Error(), `as "Gin"`) {
		t.Errorf("it says %v", err)
	}
	if _, err := NewIngredients("Gin", "gin"); err == nil {
		t.Error("a list with both is taken")
	}
}

// A table without a header is recognised, and a header's unit may stand behind a role's
// own name.
func TestHeaders(t *testing.T) {
	for _, text := range []string{
		"Negroni,Gin,3,cl,Bitter\nNegroni,Campari,3,cl,Bitter\nMartini,Gin,6,cl,Boozy\n",
		"Negroni,Gin,3\nNegroni,Campari,3\nMartini,Gin,6\n",
	} {
		if _, err := readText(text, Options{}); err == nil || !strings.Contains(err.Error(), "no names of columns") {
			t.Errorf("%s\nit says %v", text, err)
		}
	}
	for _, text := range []string{
		"formula,ingredient,amount (g)\nA,Water,60\nA,Oil,40\n", "formula,ingredient,amount %\nA,Water,60\nA,Oil,40\n", "formula,ingredient,Menge %\nA,Water,60\nA,Oil,40\n",
		"drink,1,2\nA,60,40\nB,1,1\n", "2020,2021\nA,60\nB,1\n", // names, if odd ones
	} {
		if _, err := readText(text, Options{}); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
	for _, text := range []string{"recipe,ingredient,amount,unit\nA,Rum,1,bottle\nA,Lime,20,cl\n", "recipe,ingredient,amount\nA,Rum,1 bottle\nA,Lime,20 cl\n"} {
		if _, err := readText(text, Options{}); err == nil || !strings.Contains(err.Error(), "units: {bottle: 9 cl}") {
			t.Errorf("%s\nit says %v", text, err)
		}
	}
	for word, want := range map[string]string{"garnish": "units: {garnish: 9 cl}", "a squeeze": "units: {squeeze: 9 cl}"} {
		if _, err := readText("recipe,ingredient,amount\nA,Rum,1 cl\nA,Lime,"+word+"\n", Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "0 for none") {
			t.Errorf("%s: it says %v", word, err)
		}
	}
}
