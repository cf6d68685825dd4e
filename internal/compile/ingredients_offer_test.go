package compile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"kir/internal/dataset"
	"kir/internal/measure"
)

// shelfBook is a workbook of recipes with another sheet.
func shelfBook(t *testing.T, shelf [][]any) string {
	t.Helper()
	f := excelize.NewFile()
	rows := [][]any{{"Drink", "Ingredient", "Amount", "Unit"}, {"A", "Gin", 3, "cl"}, {"A", "Lime", 1, "cl"}, {"A", "Angostura", 1, "cl"}, {"B", "Gin", 2, "cl"}, {"B", "Soda", 3, "cl"}}
	if _, err := f.NewSheet("Shelf"); err != nil {
		t.Fatal(err)
	}
	for sheet, rows := range map[string][][]any{"Sheet1": rows, "Shelf": shelf} {
		for k, row := range rows {
			if err := f.SetSheetRow(sheet, fmt.Sprint("A", k+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// offered is the draft of a workbook with what is offered of it.
func offered(t *testing.T, data string, o dataset.Options) (d *Draft, table Table, out string) {
	t.Helper()
	d, out = drafted(t, "bar.xlsx", data, o)
	table = tableFrom("bar.xlsx", data)
	d.FindIngredientsSheets(table)
	return d, table, out
}

// Another sheet that lists the ingredients is offered by name with its columns, and used only when that is said. The
// problem that is then written has its prices and stock.
func TestOfferOfSheet(t *testing.T) {
	all := shelfBook(t, [][]any{{"Ingredient", "EUR/kg", "Stock (ml)", "Supplier"}, {"Soda", 2, 350, "a"}, {"Gin", 30, 700, "a"}, {"Lime", 4, 1050, "b"}, {"Angostura", 80, 100, "b"}, {"Rye", 20, 700, "b"}})
	d, table, out := offered(t, all, dataset.Options{})
	if len(d.Offers) != 1 || d.Offers[0].Text() != `sheet "Shelf" lists all 4 ingredients, with "EUR/kg", "Stock (ml)", "Supplier"` || d.Ingredients != "" || len(d.Book.Ingredients.Attributes) > 0 {
		t.Fatalf("%+v is offered, and %q is used", d.Offers, d.Ingredients)
	}
	if written := finished(t, d, out); !strings.Contains(written, "\n# ingredients: {file: bar.xlsx, sheet: Shelf} # sheet \"Shelf\" lists all") || strings.Contains(written, "\ningredients:") {
		t.Errorf("unasked the draft is\n%s", written)
	}
	if err := d.UseIngredientsSheet(table, dataset.Options{}, "shelf"); err == nil || !strings.Contains(err.Error(), `sheets that do are "Shelf"`) {
		t.Errorf("a sheet that is not there: %v", err)
	}
	if err := d.UseIngredientsSheet(table, dataset.Options{}, "Shelf"); err != nil {
		t.Fatal(err)
	}
	written := finished(t, d, out)
	for _, want := range []string{"\ningredients: {file: bar.xlsx, sheet: Shelf}", "stock: \"Stock (ml)\", batch: ", "\n#   - limit: {attribute: EUR/kg, max: ", "recipes: {file: bar.xlsx, sheet: Sheet1}"} {
		if !strings.Contains(written, want) {
			t.Errorf("the draft has no %q:\n%s", want, written)
		}
	}
	limited := strings.Replace(written, "#   - limit: {attribute: EUR/kg", "  - limit: {attribute: EUR/kg", 1)
	if p, err := Load(t.Context(), out, Options{Text: []byte(limited)}); err != nil {
		t.Errorf("with the limit on cost: %v", err)
	} else if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// A sheet that lacks an ingredient is named with what it lacks and with the name that it most likely has there; names make
// them one.
func TestOfferWithNearNames(t *testing.T) {
	some := shelfBook(t, [][]any{{"Name", "€/kg"}, {"Soda", 2}, {"Gin", 30}, {"Lime", 4}, {"Angostura bitters", 80}})
	d, table, _ := offered(t, some, dataset.Options{})
	if len(d.Offers) != 1 || fmt.Sprint(d.Offers[0].Near) != "[{Angostura Angostura bitters}]" || d.Offers[0].Text() != `sheet "Shelf" lists 3 of 4 ingredients, with "€/kg"; it lacks "Angostura"` {
		t.Fatalf("%+v is offered", d.Offers)
	}
	err := d.UseIngredientsSheet(table, dataset.Options{}, "Shelf")
	if err == nil || !strings.Contains(err.Error(), `lacks "Angostura", which the recipes have: add them there, or write their names as it does; names: {Angostura: Angostura bitters}`) {
		t.Errorf("it says %v", err)
	}
	o := dataset.Options{Layout: dataset.Layout{Names: map[string]string{"Angostura": "Angostura bitters"}}}
	d, table, out := offered(t, some, o)
	if err := d.UseIngredientsSheet(table, o, "Shelf"); err != nil {
		t.Fatal(err)
	}
	if written := finished(t, d, out); !strings.Contains(written, `names: {Angostura: Angostura bitters}`) {
		t.Errorf("the draft is\n%s", written)
	}
	for name, shelf := range map[string][][]any{
		"too few":           {{"Name", "€/kg"}, {"Soda", 2}, {"Flour", 30}},
		"one, and one near": {{"Name", "€/kg"}, {"Soda", 2}, {"Angostura bitters", 3}},
		"no attributes":     {{"Name"}, {"Soda"}, {"Gin"}, {"Lime"}, {"Angostura"}},
		"recipes in turn":   {{"Ingredient", "C", "D"}, {"Soda", 50, 40}, {"Gin", 30, 20}, {"Lime", 10, 30}, {"Angostura", 10, 10}},
		"recipes in a list": {{"Drink", "Ingredient", "Amount"}, {"C", "Gin", 1}, {"C", "Soda", 2}, {"D", "Gin", 1}, {"D", "Lime", 2}, {"D", "Angostura", 2}},
	} {
		if d, _, _ := offered(t, shelfBook(t, shelf), dataset.Options{}); len(d.Offers) > 0 {
			t.Errorf("%s: %+v is offered", name, d.Offers)
		}
	}
}

// Where the sheet of prices has the more usual names of columns, or comes first, the sheet of recipes is read all the same,
// and the other is offered.
func TestSheetOfRecipesIsFound(t *testing.T) {
	recipes := [][]any{{"Batch", "Water (g)", "Glycerine (g)", "Oil (g)", "viscosity"}}
	for k := range 6 {
		recipes = append(recipes, []any{fmt.Sprint("L", k), 70 + k, 10 + k, 20 - 2*k, 1000 + 137*k})
	}
	for name, prices := range map[string][][]any{
		"texts":   {{"Material", "Supplier", "Price (€/kg)", "Density"}, {"Water", "x", 0.01, 1}, {"Glycerine", "y", 2.5, 1.26}, {"Oil", "z", 4, 0.91}},
		"numbers": {{"Ingredient", "max", "Stock (g)"}, {"Water", 60, 100}, {"Glycerine", 20, 300}, {"Oil", 20, 400}},
	} {
		f := excelize.NewFile()
		for k, sheet := range []string{"Raw materials", "Trials"} {
			if _, err := f.NewSheet(sheet); err != nil {
				t.Fatal(err)
			}
			for r, row := range [][][]any{prices, recipes}[k] {
				if err := f.SetSheetRow(sheet, fmt.Sprint("A", r+1), &row); err != nil {
					t.Fatal(err)
				}
			}
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		d, table, out := offered(t, b.String(), dataset.Options{})
		if len(d.Book.Recipes) != 6 || len(d.Offers) != 1 || d.Offers[0].Sheet != "Raw materials" {
			t.Errorf("%s: %d recipes are read, and %+v is offered", name, len(d.Book.Recipes), d.Offers)
			continue
		}
		questions, _ := d.Questions()
		if !slices.ContainsFunc(questions, func(q TableQuestion) bool { return len(q.Flags) == 1 && q.Flags[0].Name == "sheet" }) {
			t.Errorf("%s: it does not ask whether the sheet is right: %+v", name, questions)
		}
		if err := d.UseIngredientsSheet(table, dataset.Options{}, "Raw materials"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if written := finished(t, d, out); !strings.Contains(written, "\nrecipes: {file: bar.xlsx, sheet: Trials") || !strings.Contains(written, "\ningredients: {file: bar.xlsx, sheet: Raw materials}") {
			t.Errorf("%s: the draft is\n%s", name, written)
		}
	}
}

// A sheet is offered if it lists half of the ingredients or more.
func TestOfferOfHalf(t *testing.T) {
	for listed, want := range map[int]bool{2: false, 3: true} {
		text := "name,price\n"
		names := []string{"flour", "sugar", "butter", "apples", "yeast", "salt"}
		for k, name := range names[:listed] {
			text += fmt.Sprintf("%s,%d\n", name, k+1)
		}
		list, err := dataset.ReadIngredients(strings.NewReader(text), "list.csv", dataset.Layout{})
		if err != nil {
			t.Fatal(err)
		}
		used, err := dataset.NewIngredients(names...)
		if err != nil {
			t.Fatal(err)
		}
		d := &Draft{Book: &dataset.Book{Ingredients: used}}
		if _, ok := d.offerSheet("Prices", list); ok != want {
			t.Errorf("%d of 6: it is offered: %v", listed, ok)
		}
	}
}

// What a table says of its ingredients is a table of them when that is said: columns of a table with a column for each
// recipe, and a row of prices. The problem has the prices.
func TestUseAsides(t *testing.T) {
	for name, test := range map[string]struct{ table, says, written, column string }{
		"turned": {"Ingredient;Supplier;A;B;C;EUR/kg\nGin;x;60;50;40;12,5\nLime;y;10;30;20;4\nSoda;x;30;20;40;1,25\n",
			`the columns "Supplier", "EUR/kg" describe the ingredients`, "name,Supplier,EUR/kg\nGin,x,12.5\nLime,y,4\nSoda,x,1.25\n", "EUR/kg"},
		"long": {"recipe,ingredient,amount,€ per kg,batch\nA,Gin,60,12,1\nA,Lime,40,4,2\nB,Lime,30,,3\nB,Gin,50,12,4\nC,Gin,3,12,5\nC,Soda,1,2,6\n",
			`the column "€ per kg" describes the ingredients`, "name,€ per kg\nGin,12\nLime,4\nSoda,2\n", "€ per kg"},
		"wide": {"recipe,Gin,Lime,Soda,liking\nA,60,10,30,5\nB,50,30,20,6\nC,40,20,40,7\nPrice (€/kg),12.5,4,1.25,\n",
			`the row "Price (€/kg)" describes the ingredients`, "name,Price (€/kg)\nGin,12.5\nLime,4\nSoda,1.25\n", "Price (€/kg)"},
	} {
		d, out := drafted(t, "bar.csv", test.table, dataset.Options{})
		if got := d.AsidesText(); got != test.says || len(d.Book.Ingredients.Attributes) > 0 || len(d.Book.Recipes) != 3 {
			t.Errorf("%s: it says %q of %d recipes", name, got, len(d.Book.Recipes))
		}
		if reading := strings.Join(d.Reading(), "\n"); !strings.Contains(reading, "left out") || strings.Count(reading, test.column) != 1 {
			t.Errorf("%s: it is not left out by name:\n%s", name, reading)
		}
		text, err := d.UseAsides(tableFrom("bar.csv", test.table), dataset.Options{}, "list.csv")
		if err != nil || string(text) != test.written {
			t.Errorf("%s: the table is %q, %v", name, text, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(out), "list.csv"), text, 0o666); err != nil {
			t.Fatal(err)
		}
		if written := finished(t, d, out); !strings.Contains(written, "\ningredients: {file: list.csv, decimal: point}") || !strings.Contains(written, "#   - limit: {attribute: "+dataset.YAMLText(test.column)) {
			t.Errorf("%s: the draft is\n%s", name, written)
		}
	}
	d, _ := drafted(t, "bar.csv", "recipe,Gin,Lime,liking\nA,60,40,5\nB,50,50,6\nC,40,60,7\nMean,50,50,6\n", dataset.Options{})
	if _, err := d.UseAsides(tableFrom("bar.csv", ""), dataset.Options{}, "list.csv"); err == nil || !strings.Contains(err.Error(), "nothing in the table describes the ingredients") {
		t.Errorf("a mean is something of the ingredients: %v", err)
	}
	const once = "recipe,Gin,Lime,liking\nA,60,40,5\nB,50,50,6\nC,40,60,7\nPrice (€/kg),2,3,\n"
	d, _ = drafted(t, "bar.csv", once, dataset.Options{})
	if _, err := d.UseAsides(Table{Name: "bar.csv", ReadableOnce: true}, dataset.Options{}, "list.csv"); err == nil || !strings.Contains(err.Error(), "the table can be read only once: name a file") {
		t.Errorf("from a pipe: %v", err)
	}
}

// Each question about a table has a flag that answers it otherwise, once a unit; an answered one is not asked again.
func TestQuestions(t *testing.T) {
	flags := func(d *Draft) (all []string) {
		questions, _ := d.Questions()
		for _, q := range questions {
			if len(q.Flags) == 0 {
				t.Errorf("%q has no flag", q.Text)
			}
			for _, f := range q.Flags {
				all = append(all, f.Name+" "+f.Value)
			}
		}
		slices.Sort(all)
		return all
	}
	const long = "recipe,ingredient,amount,unit,age,total\nA,Campari,3,cl,7,5\nA,Bitters,2,dash,7,5\nB,Campri,2,cl,7,4\nB,Bitters,1,dash,28,4\nC,campari,1,cl,28,3\nC,Salt,1,pinch,28,3\nD,Campari,1,cl,28,1\n"
	const pinch = "recipe,ingredient,amount,unit\nA,Flour,300,g\nA,Salt,2,pinch\nB,Flour,200,g\nB,Salt,1,pinch\n"
	for name, test := range map[string]struct {
		table string
		draft Draft
		o     dataset.Options
		want  []string
	}{
		"long":     {long, Draft{}, dataset.Options{}, []string{"names Campri=Campari", "names campari=campari (2)", "units dash=0.9 ml", "units pinch=0.3 ml"}},
		"answered": {long, Draft{SetColumns: []string{"age"}, Units: map[string]string{"dash": "1 ml"}}, dataset.Options{Layout: dataset.Layout{Columns: map[string]dataset.Role{"age": dataset.LabelColumn}, Names: map[string]string{"Campri": "Campari"}}}, []string{"names campari=campari (2)", "units pinch=0.3 ml"}},
		"masses":   {pinch, Draft{}, dataset.Options{}, []string{"units pinch=0.3 g"}},
		"wide": {"recipe,Gin,Lime,Soda,oven temperature (°C),pH,stars,liking\nA,60,10,30,200,5,<1,1\nB,50,30,20,220,6,2,2\nC,40,20,40,200,5,3,3\nD,50,20,30,200,5,3,3\nE,50,20,30,220,5,3,3\nF,50,30,20,200,6,3,3\nMean,50,20,30,1,1,1,1\n", Draft{}, dataset.Options{},
			[]string{"columns liking=ingredient", "columns pH=ingredient", "columns stars=ignore", "columns stars=ingredient", "conditions pH", "including Mean", "results oven temperature (°C)"}},
		"settled": {"recipe,Gin,Lime,stars\nA,60,40,<1\nB,50,50,2\nC,40,60,3\nTarget,,,4\n", Draft{}, dataset.Options{Layout: dataset.Layout{Columns: map[string]dataset.Role{"stars": dataset.LabelColumn}, Without: []string{"Target"}}}, nil},
		"turned":  {"Asset,A1,A2,A3\nSn,96.5,,50\nAg,3.5,40,\nPb,,60,50\nSum,100,100,100\n", Draft{}, dataset.Options{}, []string{"columns Asset=recipe", "columns Sum=ingredient"}},
		"decimal": {"recipe,Gin,Rum\nA,\"1,500\",\"2,000\"\nB,\"2,500\",\"1,000\"\n", Draft{}, dataset.Options{}, []string{"decimal comma"}},
		"letters": {"recipe,Gin,Rum\nM\xfcller,1,2\nB,2,3\n", Draft{}, dataset.Options{}, []string{"encoding windows-1250"}},
	} {
		d := test.draft
		d.Table = "b.csv"
		o := test.o
		for unit, size := range d.Units {
			var err error
			if o.Units, err = measure.DefaultUnits().With(unit, size); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.ReadTable(tableFrom("b.csv", test.table), o); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := flags(&d); !slices.Equal(got, test.want) {
			t.Errorf("%s: it asks %q, want %q", name, got, test.want)
		}
	}
}

// The sizes that were assumed of units without a standard stand in the problem file, which reads the recipes with them.
func TestDraftWritesSizes(t *testing.T) {
	d, out := drafted(t, "b.csv", "recipe,ingredient,amount,unit\nA,Gin,3,cl\nA,Bitters,2,dash\nB,Gin,2,cl\nB,Mint,4,leaves\n", dataset.Options{})
	written := finished(t, d, out)
	if !strings.Contains(written, "\nunits: {dash: \"0.9 ml\", leaf: \"0.5 ml\"} # kir assumed the size of \"dash\", \"leaf\"\n") {
		t.Errorf("the draft is\n%s", written)
	}
	p, err := Load(t.Context(), out, Options{Text: []byte(written)})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := p.Book.Recipes[0].Parts[1].Base().Float64(); got != 0.18 {
		t.Errorf("two dashes are %v cl", got)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// A result is the objective that is named, in its direction or of its class.
func TestChooseObjectives(t *testing.T) {
	table := "recipe,Gin,Rum,fizz,haze (NTU),grade,note\n"
	for k := range 8 {
		table += fmt.Sprintf("r%d,%d,%d,%d,%d,%s,n%d\n", k, 1+k%3, 2+k%2, k, 3*k%7, []string{"good", "bad"}[k%2], k)
	}
	o := dataset.Options{Layout: dataset.Layout{Columns: map[string]dataset.Role{"fizz": dataset.LabelColumn, "haze (NTU)": dataset.LabelColumn}}}
	d, _ := drafted(t, "b.csv", table, o)
	if err := d.ChooseObjectives([]string{"haze=minimize", "grade=good", "fizz"}); err != nil {
		t.Fatal(err)
	}
	text, err := d.Write()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  fizz: {learn: {label: fizz, maximize: true}}", "\n  haze: {learn: {label: \"haze (NTU)\", minimize: true}}", "\n  grade: {learn: {label: grade, want: good}}"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the draft has no %q:\n%s", want, text)
		}
	}
	for text, want := range map[string]string{
		"fiz": `no result is called "fiz": did you mean "fizz"`, "what": `no result is called "what": there are "fizz"`,
		"note": `"note" cannot be an objective: most values occur only once, so kir cannot learn them`, "grade=best": `"grade" has no class "best": write one of "bad", "good"`,
		"fizz=up": `an objective cannot be "up": write maximize or minimize`,
	} {
		if err := d.ChooseObjectives([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
