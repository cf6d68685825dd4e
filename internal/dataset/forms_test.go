package dataset

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kir/internal/measure"
	"kir/internal/tablefile"
	"kir/internal/testonly/golden"
)

// TestReadForms keeps what is made of tables in the forms that few have: what is
// taken from it, what is understood, guessed and refused.
func TestReadForms(t *testing.T) {
	kept := golden.Open(t)
	column := func(name string, role Role) Options {
		return Options{Layout: Layout{Columns: map[string]Role{name: role}}}
	}
	list := mustIngredients("Gin", "Rum", "Rye")
	list.File = "list.csv"
	for _, c := range []struct {
		name, file string
		options    Options
	}{
		{"one ingredient twice", "recipe,Gin,Gin (cl),Rum\nA,1,2,3\n", Options{Ingredients: list}},
		{"not in the list's file", "recipe,ingredient,amount\nA,Gim,1\nA,Gim,2\nB,Milk,2\n", Options{Ingredients: list}},
		{"not in the list's file, wide", "recipe,Gin,Milk\nA,1,2\nB,1,1\n", Options{Ingredients: list}},
		{"a total", "recipe,ingredient,amount\nA,Gin,1\nTotal,Gin,2\nB,Rum,1\nSum,Rum,1\n", Options{}},
		{"amounts that are none", "recipe,ingredient,quantity,cl\nA,Gin,x,1\nB,Rum,y,2\n", Options{}},
		{"two columns of units", "recipe,ingredient,cl,ml\nA,Gin,1,10\nB,Rum,2,20\n", Options{}},
		{"a unit's column that is given", "recipe,ingredient,cl,ml\nA,Gin,1,10\nB,Rum,2,20\n", column("ml", LabelColumn)},
		{"an ingredient's column in the long form", "recipe,ingredient,amount,Rum\nA,Gin,1,2\n", column("Rum", IngredientColumn)},
		{"a label's column that is the amount", "recipe,ingredient,amount\nA,Gin,1\n", column("amount", LabelColumn)},
		{"a label's column that is the recipe", "recipe,Gin,Rum\nA,1,2\n", column("recipe", LabelColumn)},
		{"two labels change", "recipe,ingredient,amount,taste,price\nA,Gin,1,Dry,3\nA,Rum,1,Sour,4\nA,Rye,1,Wet,5\n", Options{}},
		{"money", "recipe,ingredient,amount,price\nA,Gin,1,€3.50\nA,Rum,1,€3.50\nB,Gin,2,$4\nC,Gin,1,5 €\n", Options{}},
		{"money, wide", "recipe,Gin,Rum,price\nA,1,2,€3.50\nB,1,1,€4\nC,2,1,€5.25\n", Options{}},
		{"percentages", "recipe;Gin;Rum;rate\nA;40%;60%;1,5%\nB;50%;50%;2%\n", Options{}},
		{"no number says which", "recipe,ingredient,amount\nA,Gin,\"1,500\"\nA,Rum,1.500\n", Options{}},
		{"thousands", "recipe,ingredient,amount\nA,Gin,\"1,500\"\nA,Rum,2\n", Options{}},
		{"thousands behind a semicolon", "recipe;ingredient;amount\nA;Gin;1.500\nA;Rum;2\n", Options{}},
		{"a comma, undecided behind it", "recipe;ingredient;amount\nA;Gin;1,5\nA;Rum;2,000\n", Options{}},
		{"tabs, undecided", "recipe\tingredient\tamount\nA\tGin\t1.500\n", Options{}},
		{"few amounts", "recipe,Gin,Rum,word\nA,1,2,1\nB,1,1,x\nC,2,1,y\nD,2,3,z\n", Options{}},
		{"rows that are numbered", "no,recipe,Gin,Rum\n1,A,1,2\n2,B,1,1\n3,C,2,1\n", Options{}},
		{"a sum of units", "recipe,Gin (cl),Rum (cl),total\nA,1,2,3\nB,1,1,2\nC,2,1,3\n", Options{}},
		{"a column without its unit", "recipe,Gin (cl),Rum (cl),points\nA,1,2,7\nB,1,1,8\nC,2,1,9\n", Options{}},
		{"a row that adds up", "recipe,Gin,Rum,Rye\nA,1,2,3\nB,1,1,2\nC,2,1,3\nall,4,4,8\n", Options{}},
		{"a total of two rows", "recipe,Gin,Rum,Total drops\nA,1,2,3\nB,2-3,1,4\n", Options{}},
		{"no unit but one", "recipe,Gin,Rum,Rye\nA,1 cl,2,3\nB,1,1,2\n", Options{}},
		{"a header of two rows", "Grade,Composition (%),,,Hardness\nGrade,Fe,C,Cr,HV\nA,bal.,1,13,300\nB,bal.,2,12,350\n", Options{}},
		{"two columns that add up", "recipe,Gin,Rum\nA,1,2\nB,1,1\nC,2,1\nall,4,4\n", Options{}},
		{"a column that adds up", "recipe,Gin,Rum,whole\nA,1,2,3\nB,1,1,2\nC,2,1,3\nD,2,2,4\nE,5,1,6\n", Options{}},
		{"what is left to 10", "recipe,Gin,Rum,water\nA,1,2,7\nB,1,1,8\nC,2,1,7\nD,2,2,6\nE,5,1,4\n", Options{}},
		{"no name over the recipes", ",Gin,Rum\nA,1,2\nB,1,1\n", Options{}},
		{"no name over numbers", ",Gin,Rum\n1,1,2\n2,1,1\n", Options{}},
		{"names in the first column", "what,Gin,Rum\nA,1,2\nB,1,1\n", Options{}},
		{"names that repeat", "what,Gin,Rum\nA,1,2\nA,1,1\n", Options{}},
		{"the first column is given", "what,Gin,Rum\nA,1,2\nB,1,1\n", column("what", IgnoredColumn)},
		{"a long row, semicolons", "recipe;Gin\nA;1;2\n", Options{}},
		{"a short row, tabs", "recipe\tGin\tRum\nA\t1\n", Options{}},
		{"titles", "My drinks\n\nrecipe,ingredient,amount\nA,Gin,1\n", Options{}},
		{"two titles", "My drinks,,\nof 2026,,\nrecipe,ingredient,amount\nA,Gin,1\n", Options{}},
		{"turned", "ingredient,A,B,C\nGin,1,2,0\nRum,2,,1\n,,,\nRye,1,1,1\n", Options{}},
		{"turned, a row too long", "ingredient,A,B\nGin,1,2,5\nRum,2,3\n", Options{}},
		{"turned, columns before", ",ingredient,A,B\n,Gin,1,2\n,Rum,2,3\n", Options{}},
		{"a delimiter is declared", "sep=;\nrecipe;ingredient;amount\nA;Gin;1\n", Options{}},
		{"a delimiter is declared and given", "sep=;\nrecipe,ingredient,amount\nA,Gin,1\n", Options{Layout: Layout{Delimiter: "comma"}}},
		{"about", "recipe,ingredient,amount\nA,Gin,about 3 cl\nA,Rum,1-2 cl\nA,Rye,dash\nB,Gin,ca. 2 cl\nB,Rum,a dash\n", Options{}},
		{"amounts that are refused", "recipe,ingredient,amount\nA,Gin,3/0 cl\nA,Rum,2 - 1 cl\nA,Rye,-2 cl\nB,Gin,1e29-1e30\nB,Rum,1e-31\nB,Rye,3cl5\nC,Gin,3 5\nC,Rum,1/2/3\nC,Rye,-1-2\n", Options{}},
		{"wide, all wrong", "recipe,Gin,Rum\nA,x 1,2\nB,-1,y\nC,1 clx,-\nD,0,\n", Options{}},
		{"a quote in a quote, never closed", "recipe,ingredient,amount\n\"A \"\"1\"\"\",\"G\",1\nB,\"Rum,1\n", Options{}},
		{"a sheet that is not there", string(inSheets("Drinks", [][]any{{"recipe", "Gin"}, {"A", 1}}, "Costs", [][]any{{"name", "cost"}, {"Gin", 3}})), Options{Layout: Layout{Sheet: "Drink"}}},
		{"no sheet like it", string(inSheets("Drinks", [][]any{{"recipe", "Gin"}, {"A", 1}}, "Costs", [][]any{{"name", "cost"}, {"Gin", 3}})), Options{Layout: Layout{Sheet: "zzz"}}},
		{"the second sheet", string(inSheets("Costs", [][]any{{"x", "cost"}, {"Gin", 3}}, "Drinks", [][]any{{"recipe", "Gin"}, {"A", 1}})), Options{}},
		{"no sheet of recipes", string(inSheets("Costs", [][]any{{"x", "y"}, {"Gin", 3}}, "Others", [][]any{{"a", "b"}, {"c", 1}})), Options{}},
		{"a row too short, in a sheet", string(inSheets("Drinks", [][]any{{"recipe", "Gin", "Rum"}, {"A", 1}, {"B", 1, 2, 3}})), Options{}},
		{"wide, two units", "recipe,Gin (cl),Rum (g)\nA,1,2\nB,1,0\nC,,3\n", Options{}},
	} {
		book, err := readWithFixes(c.file, "book.csv", c.options)
		if err != nil {
			kept.CheckText(t, c.name, err.Error())
			continue
		}
		said := strings.Join(sameBook(book), "\n") + "\n" + book.GuessedLayout.YAML()
		for _, n := range book.Notes {
			said += "\n" + n.String()
		}
		for k := range book.Labels {
			l := &book.Labels[k]
			said += fmt.Sprintf("\n%s: %d missing, %t %v", l.Name, l.MissingCount(), l.IsNumeric(), l.Classes)
		}
		kept.CheckText(t, c.name, said)
	}
}

// TestLimits: what is as large as can be is read, and what is larger is refused where it
// stands.
func TestLimits(t *testing.T) {
	wide := func(columns int, name string) string {
		var b strings.Builder
		b.WriteString("recipe")
		for k := 1; k < columns; k++ {
			fmt.Fprintf(&b, name, k)
		}
		return b.String() + "\nA,1" + strings.Repeat(",", columns-2) + "\n"
	}
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name, file, text, says string
	}{
		{"columns", "b.csv", wide(tablefile.MaxColumns, ",i%d"), ""},
		{"columns of two lines", "b.csv", wide(tablefile.MaxColumns/4, ",\"i\n%d\""), ""},
		{"columns and one", "b.csv", wide(tablefile.MaxColumns+1, ",%d"), fmt.Sprintf("b.csv:1:1: the table has more than %d columns: is it the right file?", tablefile.MaxColumns)},
		{"name", "b.csv", "recipe," + long(tablefile.MaxCellBytes) + "\nA,1\n", ""},
		{"name and one", "b.csv", "recipe,g," + long(tablefile.MaxCellBytes+1) + "\nA,1,2\n", fmt.Sprintf("b.csv:1:10: the name is longer than %d bytes: is it the right file?", tablefile.MaxCellBytes)},
		{"cell", "b.csv", "recipe,ingredient,amount\nA,G,1\n" + long(tablefile.MaxCellBytes) + ",G,1\n", ""},
		{"cell and one", "b.csv", "recipe,ingredient,amount\nA,G,1\nB," + long(tablefile.MaxCellBytes+1) + ",1\n", fmt.Sprintf("b.csv:3:3: the cell is longer than %d bytes: look for a quote that is opened and never closed, or shorten it", tablefile.MaxCellBytes)},
	} {
		_, err := readWithFixes(c.text, c.file, Options{})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasSuffix(err.Error(), c.says)) {
			t.Errorf("%s: %.300v", c.name, err)
		}
		if _, isOne := errors.AsType[*Error](err); err != nil && !isOne {
			t.Errorf("%s: %.100v is no *Error", c.name, err)
		}
	}
}

// TestUnitsSizes keeps what units are of given sizes, and which sizes are refused.
func TestUnitsSizes(t *testing.T) {
	kept := golden.Open(t)
	for _, k := range []measure.Kind{0, measure.Volume, measure.Mass, measure.Percent, measure.PartCount, measure.PieceCount} {
		kept.CheckText(t, fmt.Sprint("kind ", int(k)), k.String())
	}
	for _, c := range [][2]string{{"g", "0.1 cl"}, {"cl", "8 g"}, {"kg", "2 l"}, {"g", "1e29 cl"}, {"mg", "1e-30 cl"}, {"thimble", "4.5"}, {"jigger", "4.5"}, {"jigger", "50 g"}, {"Jigger ", "2 oz"}, {"", "1"}, {"oz", "30 ml"}, {"oz", "28"}, {"%", "2"}, {"%", "2 cl"}, {"dash", "0.09"}, {"dashes", "1 g"}, {"x", ""}, {"x", "0"}, {"x", "a"}, {"x", "1 clx"}, {"x", "1e29 l"}, {"piece", "50 g"}, {"ml", "1 cl"}, {"pinch", "1 cl"}} {
		of := fmt.Sprintf("%q is %q", c[0], c[1])
		u, err := measure.DefaultUnits().With(c[0], c[1])
		if err != nil {
			kept.CheckText(t, of, err.Error())
			continue
		}
		said := fmt.Sprint(len(u.Names()), " names,")
		for _, name := range []string{c[0], "mg", "g", "kg", "ml", "cl", "l", "oz", "dash", "%"} {
			one, ok := u.Lookup(name)
			if ok {
				said += fmt.Sprintf(" %s: %s %v %v;", name, one.Name, one.Kind, one.Size)
			}
		}
		kept.CheckText(t, of, said)
	}
}
