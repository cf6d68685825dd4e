package dataset

import (
	"strings"
	"testing"
)

// TestForms reads tables of the same recipes in each form and with each kind of evidence for it.
func TestForms(t *testing.T) {
	const (
		want   = "A1: Water 60, Oil 40\nA2: Water 70, Oil 30\nA3: Water 50, Oil 50\n"
		plain  = "A1: Foo 60, Bar 40\nA2: Foo 70, Bar 30\nA3: Foo 50, Bar 50\n"
		scales = "A1: Foo 600, Bar 4, Baz 0.4\nA2: Foo 700, Bar 3, Baz 0.5\nA3: Foo 500, Bar 5, Baz 0.3\nA4: Foo 550, Bar 3, Baz 0.2\nA5: Foo 650, Bar 4, Baz 0.3\n"
	)
	for _, c := range []struct{ name, file, want, note string }{
		{"wide, by words", "X,Water,Oil\nA1,60,40\nA2,70,30\nA3,50,50\n", want, ""},
		{"turned, by words", "X,A1,A2,A3\nWater,60,70,50\nOil,40,30,50\n", want, `each column behind it is a recipe, such as "A1"`},
		{"turned, by a series", "X,A1,A2,A3\nFoo,60,70,50\nBar,40,30,50\n", plain, "each column behind it is a recipe"},
		{"wide, by a series", "X,Foo,Bar\nA1,60,40\nA2,70,30\nA3,50,50\n", plain, ""},
		{"turned, by scales", "X,A1,A2,A3,A4,A5\nFoo,600,700,500,550,650\nBar,4,3,5,3,4\nBaz,0.4,0.5,0.3,0.2,0.3\n", scales, "each column behind it is a recipe"},
		{"long, by words", "X,Y,g\nA1,Water,60\nA1,Oil,40\nA2,Water,70\nA2,Oil,30\nA3,Water,50\nA3,Oil,50\n", "A1: Water 60 g, Oil 40 g\nA2: Water 70 g, Oil 30 g\nA3: Water 50 g, Oil 50 g\n", `column "Y" is taken as the ingredient`},
		{"long, by blanks and sums", "X,Y,Z\nA1,Foo,60\n,Bar,40\nA2,Foo,70\n,Bar,30\nA3,Foo,50\n,Bar,50\n", plain, `column "Z" is taken as the amount`},
		{"long, what describes an ingredient", "recipe,ingredient,amount,CAS\nA1,Foo,60,7-1\nA1,Bar,40,7-2\nA2,Foo,70,7-1\nA2,Bar,30,7-2\nA3,Foo,50,7-1\nA3,Bar,50,7-2\n", plain, `column "CAS" says the same of an ingredient in all recipes`},
		{"long, a column of units by its cells", "recipe,ingredient,amount,x\nA1,Foo,60,g\nA1,Bar,40,g\nA2,Foo,70,g\nA2,Bar,30,g\n", "A1: Foo 60 g, Bar 40 g\nA2: Foo 70 g, Bar 30 g\n", `column "x" is taken as the unit`},
		{"a title, and a header below it", "Trials of spring\n\nX,Water,Oil\nA1,60,40\nA2,70,30\nA3,50,50\n", want, "1 row above the header is left out"},
		{"a header that is repeated", "X,Water,Oil\nA1,60,40\nA2,70,30\n\nX,Water,Oil\nA3,50,50\n", want, ""},
		{"cells with a ditto mark", "X,Water,Oil,Oven (°C)\nA1,60,40,200\nA2,70,30,\"\"\"\"\nA3,50,50,dito\n", want, "hold what stands above them"},
		{"a header of two lines", "X,What,,Test\n,Water,Oil,Hardness (N)\nA1,60,40,5\nA2,70,30,6\nA3,50,50,8\n", want, ""},
		{"further trials below a recipe", "X,Water,Oil,Salt,Oven (°C),Rise (mm)\nB1,60,39,1,200,5\n,,,,220,6\nB2,50,48,2,200,7\n,,,,220,8\n,,,,240,9\n",
			"row 2: Water 60, Oil 39, Salt 1\nrow 3: Water 60, Oil 39, Salt 1\nrow 4: Water 50, Oil 48, Salt 2\nrow 5: Water 50, Oil 48, Salt 2\nrow 6: Water 50, Oil 48, Salt 2\n", "further trials of the recipe above"},
		{"a mean below", "X,Water,Oil,Salt\nA1,60,38,2\nA2,70,27,3\nA3,50,49,1\nA4,54,44,2\nA5,56,42,2\nMean of five,58,40,2\n", "A1: Water 60, Oil 38, Salt 2\nA2: Water 70, Oil 27, Salt 3\nA3: Water 50, Oil 49, Salt 1\nA4: Water 54, Oil 44, Salt 2\nA5: Water 56, Oil 42, Salt 2\n", "the mean of all others is left out"},
		{"a rest of nothing", "X,F1,F2\nDrug,100,120\nSugar,200,180\nTalc,40,40\nWater,q.s.,q.s.\nTotal,340,340\n", "F1: Drug 100, Sugar 200, Talc 40\nF2: Drug 120, Sugar 180, Talc 40\n", "the others make up the total"},
		{"units that are not known", "X,Foo,Baz,Gloss\n,g,g,GU\nA1,60,40,5\nA2,70,30,6\nA3,50,50,8\n", "A1: Foo 60 g, Baz 40 g\nA2: Foo 70 g, Baz 30 g\nA3: Foo 50 g, Baz 50 g\n", `the row below the header gives the units`},
	} {
		b, err := Read(strings.NewReader(c.file), "book.csv", Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := bookText(b); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		said := ""
		for _, n := range b.Notes {
			said += n.String() + "\n"
		}
		if !strings.Contains(said, c.note) {
			t.Errorf("%s: it says\n%s\nand not %q", c.name, said, c.note)
		}
	}
}

// TestSections reads numbers whose names tell nothing by the headings above them.
func TestSections(t *testing.T) {
	for _, c := range []struct{ name, file string }{
		{"above the columns", ",Composition,,Process,Results\nX,Foo,Bar,Baz,Qux\nA1,60,41,5,7\nA2,70,29,5,9\nA3,50,53,4,8\n"},
		{"above the rows", "X,A1,A2,A3,A4\nComposition,,,,\nFoo,60,70,50,61\nBar,41,29,53,38\nProcess,,,,\nBaz,5,5,4,4\nResults,,,,\nQux,7,9,8,8\n"},
	} {
		b, err := Read(strings.NewReader(c.file), "book.csv", Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(b.Ingredients.Names, " "); got != "Foo Bar" {
			t.Errorf("%s: the ingredients are %s", c.name, got)
		}
		for _, l := range b.Labels {
			if want := map[string]Origin{"Baz": SetInTrial, "Qux": MeasuredInTrial}[l.Name]; l.Heading != want {
				t.Errorf("%s: the heading of %s says %v, not %v", c.name, l.Name, l.Heading, want)
			}
		}
	}
}
