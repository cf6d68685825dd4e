package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/testonly/golden"
)

// in16 is a text in UTF-16.
func in16(text string, little, mark bool) []byte {
	if mark {
		text = "\ufeff" + text
	}
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if little {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return b
}

// in1252 is a text in Windows-1252.
func in1252(text string) []byte {
	b, err := charmap.Windows1252.NewEncoder().Bytes([]byte(text))
	if err != nil {
		panic(err)
	}
	return b
}

// A shown is a number in a cell with the format that it is shown in.
type shown struct {
	value  float64
	format string
}

// A formula is one that was never worked out.
type formula string

// inSheets is a workbook; sheets alternate a name and the rows below it.
func inSheets(sheets ...any) []byte {
	f := excelize.NewFile()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	for i := 0; i < len(sheets); i += 2 {
		name := sheets[i].(string)
		if i == 0 {
			check(f.SetSheetName("Sheet1", name))
		} else {
			_, err := f.NewSheet(name)
			check(err)
		}
		for r, row := range sheets[i+1].([][]any) {
			for c, value := range row {
				cell, err := excelize.CoordinatesToCellName(c+1, r+1)
				check(err)
				switch v := value.(type) {
				case shown:
					style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &v.format})
					check(err)
					check(f.SetCellStyle(name, cell, cell, style))
					check(f.SetCellFloat(name, cell, v.value, -1, 64))
				case formula:
					check(f.SetCellFormula(name, cell, string(v)))
				case nil:
				default:
					check(f.SetCellValue(name, cell, v))
				}
			}
		}
	}
	var b bytes.Buffer
	check(f.Write(&b))
	return b.Bytes()
}

// Twins that several wild tables share, in the plainest form.
const (
	twinLong = "recipe,ingredient,amount,unit,taste,score\n" +
		"Kir royal,Champagne,9,cl,Fresh,4.5\nKir royal,Crème de cassis,1.5,cl,Fresh,4.5\n" +
		"Manhattan,Rye,1250.5,ml,Boozy,3.25\nManhattan,Bitters,2,dash,Boozy,3.25\n"
	twinPlain = "recipe,ingredient,amount\nA,Gin,4.5\nA,Rye,0.25\nB,Gin,1500\nB,Ice,1\n"
	twinHalf  = "recipe,ingredient,amount,unit\nA,Gin,0.5,cl\nA,Rye,1.5,cl\nA,Rum,2.5,cl\nB,Gin,0.75,cl\nB,Rye,1.125,cl\n"
	twinShare = "recipe,ingredient,amount,unit\nA,Gin,40,%\nA,Rye,60,%\nB,Gin,12.5,%\nB,Ice,87.5,%\n"
)

const germanLong = "Rezept;Zutat;Menge;Einheit;taste;score\n" +
	"Kir royal;Champagne;9;cl;Fresh;4,5\nKir royal;Crème de cassis;1,5;cl;Fresh;4,5\n" +
	"Manhattan;Rye;1.250,5;ml;Boozy;3,25\nManhattan;Bitters;2;Spritzer;Boozy;3,25\n"

// wildTables are tables as people have them, and the same in the plainest form.
var wildTables = []struct {
	name    string
	file    string
	data    []byte
	options Options
	twin    string
	labels  []string // of the twin, which may be wide
	notes   string   // in one of the notes
	asks    string   // in what settles the guesses; "" for none
}{
	{name: "trials without names", data: []byte("Ni,Fe,Co,overpotential\n0.1,0.2,0.7,0.40\n0,0.5,0.5,0.41\n0.3,0,0.7,0.39\n1,0,0,0.5\n0.2,0.2,0.6,0.38\n"),
		twin: "recipe,Ni,Fe,Co,overpotential\nrow 2,0.1,0.2,0.7,0.40\nrow 3,0,0.5,0.5,0.41\nrow 4,0.3,0,0.7,0.39\nrow 5,1,0,0,0.5\nrow 6,0.2,0.2,0.6,0.38\n", labels: []string{"overpotential"},
		notes: `each is called by its row, such as "row 2"`, asks: "columns: {overpotential: label}"},
	{name: "trials without names, rounded", data: []byte("A,B,C,index of it\n0.33,0.33,0.33,1e5\n0,0.5,0.5,2e5\n\n0.3,0,0.7,1.5e5\n1,0,0,5e5\n0.2,0.21,0.6,4e5\n"),
		twin: "recipe,A,B,C,index of it\nrow 2,0.33,0.33,0.33,1e5\nrow 3,0,0.5,0.5,2e5\nrow 5,0.3,0,0.7,1.5e5\nrow 6,1,0,0,5e5\nrow 7,0.2,0.21,0.6,4e5\n", labels: []string{"index of it"},
		notes: "only without it do all recipes have the same total", asks: "columns: {index of it: label}"},
	{name: "several rows of one mix", data: []byte("Mix,A,B,strength\nM1,1,2,50\nM1,1,2,60\nM2,2,1,40\nM2,2,1,45\nM3,3,1,30\n"), options: Options{Layout: Layout{Columns: map[string]Role{"Mix": LabelColumn, "strength": LabelColumn}}},
		twin: "recipe,A,B,Mix,strength\nrow 2,1,2,M1,50\nrow 3,1,2,M1,60\nrow 4,2,1,M2,40\nrow 5,2,1,M2,45\nrow 6,3,1,M3,30\n", labels: []string{"Mix", "strength"}, notes: "each is called by its row"},
	{name: "German Excel, UTF-8", data: []byte(germanLong), twin: twinLong, notes: `"Rezept" as the recipe`},
	{name: "German Excel, UTF-8 with a mark and CRLF", data: []byte("\ufeff" + strings.ReplaceAll(germanLong, "\n", "\r\n")), twin: twinLong, notes: "decimal mark"},
	{name: "German Excel, Windows-1252", data: in1252(germanLong), twin: twinLong, notes: "windows-1252", asks: "encoding: windows-1252"},
	{name: "German Excel, UTF-16 little", data: in16(germanLong, true, true), twin: twinLong},
	{name: "UTF-16 big", data: in16(germanLong, false, true), twin: twinLong},
	{name: "UTF-16 little without a mark", data: in16(germanLong, true, false), twin: twinLong, asks: "encoding: utf-16le"},
	{name: "UTF-16 big without a mark", data: in16(germanLong, false, false), twin: twinLong, asks: "encoding: utf-16be"},
	{name: "Unicode text of Excel: tabs and UTF-16", data: in16(strings.ReplaceAll(germanLong, ";", "\t"), true, true), twin: twinLong},
	{name: "tabs", data: []byte(strings.ReplaceAll(twinLong, ",", "\t")), twin: twinLong},
	{name: "tabs with empty cells", data: []byte("recipe\tGin\tRye\tIce\nA\t4.5\t0.25\t\nB\t1500\t\t1\n"), twin: twinPlain},
	{name: "bars", data: []byte(strings.ReplaceAll(twinLong, ",", "|")), twin: twinLong},
	{name: "sep line", data: []byte("sep=;\r\n" + germanLong), twin: twinLong},
	{name: "semicolons and commas in names", data: []byte("recipe;ingredient;amount\nA, the first;Gin, dry;1,5\nB, the other;Rye, old;2\n"), twin: "recipe,ingredient,amount\n\"A, the first\",\"Gin, dry\",1.5\n\"B, the other\",\"Rye, old\",2\n"},
	{name: "Latin-2 as said", data: []byte("recipe,ingredient,amount\nA,\xb6liwka,1\nA,Rye,2\n"), options: Options{Layout: Layout{Encoding: "iso-8859-2"}}, twin: "recipe,ingredient,amount\nA,śliwka,1\nA,Rye,2\n"},

	{name: "thousands with commas", data: []byte("recipe,ingredient,amount\nA,Gin,4.5\nA,Rye,.25\nB,Gin,\"1,500\"\nB,Ice,1\n"), twin: twinPlain, notes: "between thousands"},
	{name: "thousands with points", data: []byte("recipe;ingredient;amount\nA;Gin;4,5\nA;Rye;0,25\nB;Gin;1.500\nB;Ice;1\n"), twin: twinPlain, notes: "so \"1.500\" is 1500", asks: "decimal: comma"},
	{name: "thousands with spaces", data: []byte("recipe;ingredient;amount\nA;Gin;4,5\nA;Rye;0,25\nB;Gin;1\u202f500\nB;Ice;1\n"), twin: twinPlain},
	{name: "thousands with apostrophes", data: []byte("recipe,ingredient,amount\nA,Gin,4.5\nA,Rye,0.25\nB,Gin,1'500\nB,Ice,1\n"), twin: twinPlain},
	{name: "only 1,500, quoted", data: []byte("recipe,ingredient,amount\nA,Gin,\"1,500\"\nA,Rye,3\n"), twin: "recipe,ingredient,amount\nA,Gin,1500\nA,Rye,3\n", notes: "is read as 1500", asks: "decimal: point"},
	{name: "only 1,500, semicolons", data: []byte("recipe;ingredient;amount\nA;Gin;1,500\nA;Rye;3\n"), twin: "recipe,ingredient,amount\nA,Gin,1.5\nA,Rye,3\n", notes: "is read as 1.500", asks: "decimal: comma"},
	{name: "only 1.500, tabs", data: []byte("recipe\tingredient\tamount\nA\tGin\t1.500\nA\tRye\t3\n"), twin: "recipe,ingredient,amount\nA,Gin,1.5\nA,Rye,3\n", notes: "no number shows that it is", asks: "decimal: point"},
	{name: "only 1.500, commas", data: []byte("recipe,ingredient,amount\nA,Gin,1.500\nA,Rye,3\n"), twin: "recipe,ingredient,amount\nA,Gin,1.5\nA,Rye,3\n"},
	{name: "decimal comma as said", data: []byte("recipe\tingredient\tamount\nA\tGin\t1.500\nA\tRye\t3\n"), options: Options{Layout: Layout{Decimal: measure.DecimalComma}}, twin: "recipe,ingredient,amount\nA,Gin,1500\nA,Rye,3\n"},

	{name: "fractions", data: []byte("recipe,ingredient,amount,unit\nA,Gin,1/2,cl\nA,Rye,1 ½,cl\nA,Rum,2–3,cl\nB,Gin,¾,cl\nB,Rye,1 1/8,cl\n"), twin: twinHalf, notes: "read as their middle (1 time): 2–3 is 2.5"},
	{name: "fractions with their units", data: []byte("recipe,ingredient,amount\nA,Gin,½cl\nA,Rye,1-1/2 cl\nA,Rum,2 to 3 cl\nB,Gin,ca. 0.75 cl\nB,Rye,~1⅛ cl\n"), twin: twinHalf, notes: "about right"},
	{name: "ranges with a decimal comma", data: []byte("recipe;ingredient;amount;unit\nA;Gin;0,4-0,6;cl\nA;Rye;1–2;cl\nA;Rum;etwa 2,5;cl\nB;Gin;0,75;cl\nB;Rye;1,1 bis 1,15;cl\n"), twin: twinHalf},
	{name: "percentages", data: []byte("recipe,ingredient,amount\nA,Gin,40%\nA,Rye,60 %\nB,Gin,12.5 percent\nB,Ice,87.5%\n"), twin: twinShare},
	{name: "bar and kitchen units", data: []byte("recipe,ingredient,amount,unit\nA,Gin,1,shot\nA,Mint,6,leaves\nA,Lime,2,Wedges\nA,Salt,a pinch,\nA,Milk,1,cup\nA,Pepper,,to taste\n"),
		twin: "recipe,ingredient,amount,unit\nA,Gin,1,shot\nA,Mint,6,leaf\nA,Lime,2,wedge\nA,Salt,1,pinch\nA,Milk,1,cup\nA,Pepper,1,to taste\n", notes: "units without a number"},
	{name: "a pinch among grams", data: []byte("recipe,ingredient,amount,unit\nA,Salt,2,pinches\nA,Flour,500,g\n"), options: Options{}, twin: "recipe,ingredient,amount,unit\nA,Salt,0.6,g\nA,Flour,500,g\n", notes: "0.3 g where other amounts are masses"},
	{name: "unit in the name of the amounts", data: []byte("Drink,Ingredient,Quantity (cl)\nA,Gin,4.5\nA,Rye,1\n"), twin: "recipe,ingredient,amount,unit\nA,Gin,4.5,cl\nA,Rye,1,cl\n"},
	{name: "amounts called after their unit", data: []byte("Drink,Ingredients,ml\nA,Gin,45\nA,Rye,10\n"), twin: "recipe,ingredient,amount,unit\nA,Gin,45,ml\nA,Rye,10,ml\n"},
	{name: "names only in the first row of each", data: []byte("recipe,ingredient,amount,score\nA,Gin,4.5,7\n,Rye,0.25,\nB,Gin,1500,9\n,Ice,1,\n"), twin: "recipe,ingredient,amount,score\nA,Gin,4.5,7\nA,Rye,0.25,7\nB,Gin,1500,9\nB,Ice,1,9\n", notes: "belongs to the one above (2 times)"},
	{name: "title rows and empty columns", data: []byte("Our bar;;;;\n;;;;\nrecipe;ingredient;amount;;\nA;Gin;4,5;;\nA;Rye;0,25;;\n;;;;\nB;Gin;1500;;\nB;Ice;1;;\n"), twin: twinPlain, notes: "above the header"},

	{name: "wide with a rating and text", data: []byte("Cocktail,rating,taste,Gin,Rye,Ice\nA,4,Fresh,4.5,.25,\nB,3,Dry,1500,-,1\n"), twin: "recipe,rating,taste,Gin,Rye,Ice\nA,4,Fresh,4.5,0.25,\nB,3,Dry,1500,,1\n", labels: []string{"rating", "taste"}, notes: "not as an ingredient, because of its name", asks: "columns: {rating: label}"},
	{name: "wide without a name for the first column", data: []byte(",Gin,Rye,Ice\nA,4.5,0.25,\nB,1500,,1\n"), twin: twinPlain, notes: "has no name"},
	{name: "wide with units in names", data: []byte("recipe,Gin (%),Rye [%],Ice in %\nA,40,60,\nB,12.5,,87.5\n"), twin: twinShare, notes: "units stand in the names of 3 columns"},
	{name: "wide with a price and a sum", data: []byte("recipe;Gin;Rye;Ice;Preis;Summe\nA;40;60;0;3,50 €;100\nB;12,5;0;87,5;2,00 €;100\nC;10;10;80;1,00 €;100\nD;1;2;97;4,00 €;100\nE;5;5;90;9,50 €;100\n"),
		twin: "recipe,Gin,Rye,Ice,Preis\nA,40,60,0,3.50\nB,12.5,0,87.5,2.00\nC,10,10,80,1.00\nD,1,2,97,4.00\nE,5,5,90,9.50\n", labels: []string{"Preis"}, notes: "left out: it is the sum of the amounts", asks: "columns: {Summe: ignore}"},
	{name: "wide with a number for each row, units in names, a sum and a row of means", data: []byte("Nr.,recipe,Gin (g),Rye (g),Ice (g),Sum,panel\n1,A,40,60,,100,6\n2,B,12.5,,87.5,100,7\n3,C,10,10,80,100,4\n4,D,1,2,97,100,5\n,,,,,,\n5,E,5,5,90,100,6\nMean,,,,,,5.6\n"),
		twin: "recipe,Gin,Rye,Ice,panel\nA,40 g,60 g,,6\nB,12.5 g,,87.5 g,7\nC,10 g,10 g,80 g,4\nD,1 g,2 g,97 g,5\nE,5 g,5 g,90 g,6\n", labels: []string{"panel"}, notes: "neither a name nor amounts", asks: "columns: {Nr.: ignore, Sum: ignore, panel: label}"},
	{name: "wide with shares in percent and other numbers", data: []byte("recipe,Gin,Rye,Ice,gloss\nA,40%,60%,,6\nB,12.5%,,87.5%,7\n"), twin: "recipe,Gin,Rye,Ice,gloss\nA,40%,60%,,6\nB,12.5%,,87.5%,7\n", labels: []string{"gloss"}, notes: "has no unit that kir knows", asks: "columns: {gloss: label}"},
	{name: "a row for each ingredient", file: "book.xlsx", data: inSheets("Lab", [][]any{{nil, "Formulations of spring"}, {}, {nil, "Component", "A", "B"}, {nil, "Gin", shown{0.4, "0%"}, shown{0.125, "0.0%"}}, {nil, "Rye", shown{0.6, "0%"}}, {nil, "Ice", nil, shown{0.875, "0.0%"}}, {}, {nil, "gloss", 40, 50}, {nil, "passes", "yes", "no"}}),
		twin: "recipe,Gin,Rye,Ice,gloss,passes\nA,40%,60%,,40,yes\nB,12.5%,,87.5%,50,no\n", labels: []string{"gloss"}, notes: "each column behind it is a recipe", asks: "columns: {gloss: label}"},
	{name: "a row for each ingredient, by an unknown name", data: []byte("Asset,P1,P2,P3\nGold,40%,60.3%,\nCash,,40%,25%\nREIT,60%,,75%\nETF,,,\nTotal,100%,100%,100%\nReturn (%),4.5,n/a,-1\n"),
		twin: "recipe,Gold,Cash,REIT,ETF,Return (%)\nP1,40%,,60%,,4.5\nP2,60.3%,40%,,,\nP3,,25%,75%,,-1\n", labels: []string{"Return (%)"}, notes: "names the ingredients", asks: `columns: {Asset: ingredient, "Return (%)": label, Total: ignore}`},
	{name: "a row for each ingredient, in parts of 1", data: []byte("Asset,P1,P2,P3\nGold,0.4,0.6,\nCash,,0.4,0.25\nREIT,0.6,,0.75\n"),
		twin: "recipe,Gold,Cash,REIT\nP1,0.4,,0.6\nP2,0.6,0.4,\nP3,,0.25,0.75\n", notes: "names the ingredients", asks: "columns: {Asset: ingredient}"},
	{name: "levels of an experiment are no rows of ingredients", data: []byte("run,A,B,C\na,10,40,10\nb,10,10,40\nc,40,10,10\nd,40,40,40\n"), twin: "recipe,A,B,C\na,10,40,10\nb,10,10,40\nc,40,10,10\nd,40,40,40\n", notes: `"run" is taken as the names of the recipes`, asks: "columns: {run: recipe}"},
	{name: "wide with numbers for names, a sum and what was measured behind it", data: []byte("Mix no.,Gin,Rye,Ice,Batch total,L*,a*\n101,40,60,,100.1,31,-2\n102,12.5,,87.5,100,40,3\n103,10,10,80,100,35,-1\n104,1,2,97,100,33,5\n105,5,5,90,100,36,0\n"),
		twin: "recipe,Gin,Rye,Ice,L*,a*\n101,40,60,,31,-2\n102,12.5,,87.5,40,3\n103,10,10,80,35,-1\n104,1,2,97,33,5\n105,5,5,90,36,0\n", labels: []string{"L*", "a*"}, notes: "comes after the total", asks: `Batch total: ignore, "L*": label, Mix no.: recipe`},
	{name: "as much of one as of all before it", data: []byte("recipe,A,B,C,Water,D\na,1,2,,3,1\nb,2,2,1,5,\nc,,1,1,2,\nd,3,,1,4,2\ne,1,1,1,3,1\n"), twin: "recipe,A,B,C,Water,D\na,1,2,,3,1\nb,2,2,1,5,\nc,,1,1,2,\nd,3,,1,4,2\ne,1,1,1,3,1\n"},
	{name: "wide with numbers below 0", data: []byte("recipe,Gin,Rye,b*\nA,4,,-1\nB,,5,-2.5\nC,1,1,\n"), twin: "recipe,Gin,Rye,b*\nA,4,,-1\nB,,5,-2.5\nC,1,1,\n", labels: []string{"b*"}, notes: "below 0", asks: `columns: {"b*": label}`},
	{name: "rows and columns that add up to 100", data: []byte("point,A,B,C\nab,50,50,\nac,50,,50\nbc,,50,50\n"), twin: "recipe,A,B,C\nab,50,50,\nac,50,,50\nbc,,50,50\n", asks: "columns: {point: recipe}"},
	{name: "a title above unknown names, and numbers that are not known", data: []byte("Solder, in May;;;;\n;1;2;3;4\nAlloy;Sn (wt%);Ag (wt%);melts;note\nA;96,5;3,5;221;-\nB;100;;n/a;NA\nC;95;5;-;2\nØ;97;4;;\n"),
		twin: "recipe,Sn (%),Ag (%),melts,note\nA,96.5,3.5,221,\nB,100,,,\nC,95,5,,2\n", labels: []string{"melts", "note"}, notes: `row "Ø" is left out: by its name it is a mean or a standard deviation of other rows`, asks: "columns: {Alloy: recipe, melts: label, note: label}"},
	{name: "a row for each ingredient, German", data: []byte("Zutat;A;B\nGin;4,5;1500\n;;\nRye;0,25;\nIce;;1\n"), twin: twinPlain, notes: "each column behind it is a recipe"},
	{name: "a column called after ingredients that is said to be the recipe", data: []byte("Material,Gin,Rye,Ice\nA,4.5,0.25,\nB,1500,,1\n"), options: Options{Layout: Layout{Columns: map[string]Role{"Material": RecipeColumn}}}, twin: twinPlain},
	{name: "volumes among masses with a density", data: []byte("recipe,ingredient,amount,unit\nA,Flour,1,kg\nA,Water,0.5,l\nA,Salt,500,mg\nA,Oil,1,tbsp\n"), options: Options{Units: unitsWith("g", "0.2 cl")}, twin: "recipe,ingredient,amount,unit\nA,Flour,2000,ml\nA,Water,500,ml\nA,Salt,1,ml\nA,Oil,15,ml\n"},
	{name: "wide with a number that does not add up", data: []byte("recipe,Gin,Rye,Ice,feel\nA,40,60,0,6\nB,12.5,0,87.5,7\nC,10,10,80,4\nD,1,2,97,5\nE,5,5,90,6\n"),
		twin: "recipe,Gin,Rye,Ice,feel\nA,40,60,0,6\nB,12.5,0,87.5,7\nC,10,10,80,4\nD,1,2,97,5\nE,5,5,90,6\n", labels: []string{"feel"}, notes: "have the same total", asks: "columns: {feel: label}"},
	{name: "wide with units in cells, judgements without, and a row of sums", data: []byte("recipe;Gin;Rye;Ice;Note;panel (1-10)\nA;40 g;60 g;;6,5;1\nB;12,5 g;;87,5 g;7;2\nC;10 g;10 g;80 g;4;3\nD;1 g;2 g;97 g;5;4\nE;5 g;5 g;90 g;6;4\nTotal;68,5 g;77 g;354,5 g;;\n"),
		twin: "recipe,Gin,Rye,Ice,Note,panel (1-10)\nA,40 g,60 g,,6.5,1\nB,12.5 g,,87.5 g,7,2\nC,10 g,10 g,80 g,4,3\nD,1 g,2 g,97 g,5,4\nE,5 g,5 g,90 g,6,4\n", labels: []string{"Note", "panel (1-10)"}, notes: "adds up all others is left out", asks: "columns: {Note: label, \"panel (1-10)\": label}"},
	{name: "wide with a scale in a name", data: []byte("recipe,Gin,Rye,panel (1 to 5)\nA,40,60,3\nB,12,8,4\n"), twin: "recipe,Gin,Rye,panel (1 to 5)\nA,40,60,3\nB,12,8,4\n", labels: []string{"panel (1 to 5)"}, notes: "because of its name", asks: "columns: {\"panel (1 to 5)\": label}"},

	{name: "workbook, long", file: "book.xlsx", data: inSheets("Drinks", [][]any{{"recipe", "ingredient", "amount", "unit", "taste", "score"},
		{"Kir royal", "Champagne", 9, "cl", "Fresh", 4.5}, {"Kir royal", "Crème de cassis", 1.5, "cl", "Fresh", 4.5}, {"Manhattan", "Rye", 1250.5, "ml", "Boozy", 3.25}, {"Manhattan", "Bitters", 2, "dashes", "Boozy", 3.25}}), twin: twinLong},
	{name: "workbook, numbers with formats", file: "book.xlsx", data: inSheets("A", [][]any{{"recipe", "ingredient", "amount"},
		{"A", "Gin", shown{0.4, "0%"}}, {"A", "Rye", shown{0.6, "0.00%"}}, {"B", "Gin", "12,5 %"}, {"B", "Ice", shown{0.875, "0.0%"}}}), twin: twinShare},
	{name: "workbook, numbers that are text", file: "book.xlsx", data: inSheets("A", [][]any{{"Rezept", "Zutat", "Menge"}, {"A", "Gin", "4,5"}, {"A", "Rye", 0.25}, {"B", "Gin", "1.500"}, {"B", "Ice", "1"}}), twin: twinPlain, asks: "decimal: comma"},
	{name: "workbook, rounded, with units shown and long digits", file: "book.xlsx", data: inSheets("A", [][]any{{"recipe", "ingredient", "amount"}, {"A", "Gin", shown{0.1 + 0.2, "0.0\" cl\""}}, {"A", "Rye", shown{1.25, "0\" cl\""}}, {"A", "Rum", shown{1234.5, "#,##0.0\" cl\""}}}),
		twin: "recipe,ingredient,amount,unit\nA,Gin,0.3,cl\nA,Rye,1.25,cl\nA,Rum,1234.5,cl\n"},
	{name: "workbook, several sheets and a title", file: "book.xlsx", data: inSheets("Read me", [][]any{{"This is our bar"}}, "Drinks", [][]any{{"Our bar"}, {}, {"Cocktail", "Gin", "Rye", "Ice"}, {"A", 4.5, 0.25}, {"B", 1500, nil, 1}}), twin: twinPlain, notes: `the sheet "Drinks" is read`},
	{name: "workbook, the sheet is said", file: "book.xlsx", data: inSheets("Old", [][]any{{"recipe", "Gin"}, {"X", 1}}, "New", [][]any{{"recipe", "Gin", "Rye", "Ice"}, {"A", 4.5, 0.25}, {"B", 1500, nil, 1}}), options: Options{Layout: Layout{Sheet: "New"}}, twin: twinPlain},
}

// unitsWith are the usual units with a size for one.
func unitsWith(name, size string) *measure.Units {
	u, err := measure.DefaultUnits().With(name, size)
	if err != nil {
		panic(err)
	}
	return u
}

// sameBook writes a book down so that equal contents are equal texts: amounts in
// their base units, ingredients by name, and labels.
func sameBook(b *Book) []string {
	var lines []string
	for i, r := range b.Recipes {
		for _, p := range r.Parts {
			lines = append(lines, r.Name+": "+b.Ingredients.Names[p.Ingredient]+" "+p.Base().RatString()+" "+p.kind().String())
		}
		for _, l := range b.Labels {
			lines = append(lines, r.Name+": "+l.Name+" = "+l.Value(i))
		}
	}
	return lines
}

func TestReadWild(t *testing.T) {
	kept := golden.Open(t)
	if len(wildTables) < 40 {
		t.Errorf("there are %d tables, want 40", len(wildTables))
	}
	for _, test := range wildTables {
		t.Run(test.name, func(t *testing.T) {
			file := test.file
			if file == "" {
				file = "book.csv"
			}
			book, err := Read(bytes.NewReader(test.data), file, test.options)
			if err != nil {
				t.Fatal(err)
			}
			twin, err := Read(strings.NewReader(test.twin), "twin.csv", Options{Labels: test.labels, Units: test.options.Units})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sameBook(book), sameBook(twin); !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			checkBook(t, book)
			if len(twin.Notes) > 0 && test.labels == nil && !strings.Contains(test.twin, "to taste") && !strings.Contains(test.twin, "piece") {
				t.Errorf("of the twin is said: %v", twin.Notes)
			}
			said := ""
			for _, n := range book.Notes {
				said += n.String() + "\n"
				if n.Line < 1 && n.Message == "" {
					t.Errorf("%v has no place", n)
				}
			}
			if !strings.Contains(said, test.notes) {
				t.Errorf("what is said is\n%s\nwant %q in it", said, test.notes)
			}
			asked := book.GuessedLayout.YAML()
			kept.CheckText(t, test.name, said+asked)
			if test.asks == "" && asked != "" || !strings.Contains(asked, test.asks) {
				t.Errorf("asked for is %q, want %q", asked, test.asks)
			}
			// What settles the guesses leads to the same book, and nothing is asked any more.
			settled := test.options
			settled.Layout = settled.Layout.Merge(book.GuessedLayout)
			again, err := Read(bytes.NewReader(test.data), file, settled)
			if err != nil {
				t.Fatalf("settled with %s: %v", asked, err)
			}
			if !reflect.DeepEqual(sameBook(again), sameBook(book)) {
				t.Errorf("settled with %s it is another book", asked)
			}
			if left := again.GuessedLayout.YAML(); left != "" {
				t.Errorf("settled with %s, %s is asked for", asked, left)
			}
		})
	}
}

// badTables are tables with several things wrong, all of which one message tells.
var badTables = []struct {
	name string
	file string
	data []byte
	want []string
}{
	{name: "German, long", data: in1252("Rezept;Zutat;Menge;Einheit\nA;Gin;4,5;cl\nA;Crème;viel;cl\nA;Gin;1;cl\nB;Rye;1;Fass\nB;Ice;3-2;cl\nC;;1;cl\nD;Rum;1;Fass\n"), want: []string{
		`book.csv:3:9: unreadable amount "viel"`, `book.csv:4:3: "Gin" is in "A" twice`, `book.csv:5:9: unknown unit "Fass"`, `book.csv:6:7: the range "3-2" goes down`, "book.csv:7:3: an ingredient without a name"}},
	{name: "wide, a number without a unit", data: []byte("recipe,Gin,zing\nA,1 cl,6\nB,viel,7\nC,2 cl,3\n"), want: []string{
		`book.csv:2:8: "A" mixes "cl" (a volume) on line 2 with "zing" without a unit: use units of one kind in a recipe; columns: {zing: label} takes the column as a label`, `book.csv:3:3: unreadable amount "viel"`}},
	{name: "a row for each ingredient", data: []byte("Component,A,B\nGin,1 cl,viel\n\nRye,2 cm,3 cl\n"), want: []string{`book.csv:2:10: unreadable amount "viel"`, `book.csv:4:5: unknown unit "cm"`}},
	{name: "wide", data: []byte("recipe,Gin,Rye\nA,1,x\nB,1\nA,1,1\nC,-1,y\nD,0,0\nE,2,3\n"), want: []string{
		`book.csv:2:5: unreadable amount "x" of "Rye"`, "book.csv:3:4: the row has 2 columns", `book.csv:4:1: recipe "A" is there twice`, `book.csv:5:3: negative amount "-1" of "Gin"`, `book.csv:5:6: unreadable amount "y" of "Rye"`, `book.csv:6:1: the amounts of "D" add up to 0`}},
	{name: "quotes", data: []byte("recipe,ingredient,amount\nA,5\" Gin,1\nA,Rye,1\nA,Rum,x\nA,\"Ice\"s,1\n"), want: []string{"book.csv:2:4: a quote inside", `book.csv:4:7: unreadable amount "x"`, "book.csv:5:7: text after the quote"}},
	{name: "workbook", file: "book.xlsx", data: inSheets("My drinks", [][]any{{"recipe", "ingredient", "amount"}, {"A", "Gin", shown{45323, "d-mmm"}}, {"A", "Rye", formula("1+1")}, {"A", "Rum", "viel"}, {"A", "Ice", 1}, {"A", "Ice", 2}}), want: []string{
		`book.xlsx:'My drinks'!C2: unreadable amount "2024-02-01", which looks like a date`, `book.xlsx:'My drinks'!C3: the formula "=1+1" has no result`, `book.xlsx:'My drinks'!C4: unreadable amount "viel"`, `book.xlsx:'My drinks'!B6: "Ice" is in "A" twice`}},
}

func TestReadTellsAllErrors(t *testing.T) {
	kept := golden.Open(t)
	for _, test := range badTables {
		t.Run(test.name, func(t *testing.T) {
			file := test.file
			if file == "" {
				file = "book.csv"
			}
			_, err := readWithFixes(string(test.data), file, Options{})
			var all *inputerr.Errors
			if !errors.As(err, &all) {
				t.Fatalf("got %v, want several errors", err)
			}
			kept.CheckText(t, test.name, all.Error())
			lines := strings.Split(all.Error(), "\n")
			for i := range max(len(lines), len(test.want)) {
				switch {
				case i >= len(lines):
					t.Errorf("missing: %s", test.want[i])
				case i >= len(test.want):
					t.Errorf("too much: %s", lines[i])
				case !strings.HasPrefix(lines[i], test.want[i]):
					t.Errorf("got %s\nwant %s", lines[i], test.want[i])
				}
			}
		})
	}
}

// The reader reports the first 20 errors, and that there may be more.
func TestReadTellsTwenty(t *testing.T) {
	file := "recipe,ingredient,amount\n" + strings.Repeat("A,Gin,x\n", 1000)
	_, err := Read(strings.NewReader(file), "book.csv", Options{})
	var all *inputerr.Errors
	if !errors.As(err, &all) || len(all.All) != maxErrors || !all.MayHaveMore {
		t.Fatalf("got %v, want %d errors and more", err, maxErrors)
	}
	if e := all.All[maxErrors-1]; e.Line != 1+maxErrors {
		t.Errorf("the last is on line %d", e.Line)
	}
}

// TestReadCells keeps what is read of tables of a few named columns, and the notes on
// those that are wrong.
func TestReadCells(t *testing.T) {
	kept := golden.Open(t)
	for name, c := range map[string]struct {
		file          string
		layout        Layout
		required, any []string
	}{
		"plain":              {"attribute,min,max\nabv,3,\ncost,,4.5\n", Layout{}, []string{"attribute"}, []string{"min", "max"}},
		"in another order":   {"max, Attribute \n3,abv\n4,cost\n", Layout{}, []string{"attribute"}, []string{"min", "max"}},
		"all required":       {"a,b\n1,2\n", Layout{}, []string{"b", "a"}, nil},
		"one is not there":   {"a,c\n1,2\n", Layout{}, []string{"a", "b"}, nil},
		"none of any":        {"a,c\n1,2\n", Layout{}, []string{"a"}, []string{"min", "max"}},
		"left out":           {"a,b,c,\n1,2,3,4\n", Layout{}, []string{"a"}, nil},
		"twice":              {"a,b,a\n1,2,3\n", Layout{}, []string{"a"}, nil},
		"decimal comma":      {"a;b\nx;1,5\ny;2\n", Layout{}, []string{"a", "b"}, nil},
		"no number":          {"a,b\nx,1\ny,some\n", Layout{}, []string{"a", "b"}, nil},
		"short row":          {"a,b\nx\ny,2\nz\n", Layout{}, []string{"a", "b"}, nil},
		"empty":              {"", Layout{}, []string{"a"}, nil},
		"no such encoding":   {"a\n", Layout{Encoding: "utf-9"}, []string{"a"}, nil},
		"several lines":      {"a,b\n\"x\ny\",1\nz,2\n", Layout{}, []string{"a", "b"}, nil},
		"percent and others": {"a,b\nx,5 %\ny,1e-3\nz,-2\n", Layout{}, []string{"a", "b"}, nil},
	} {
		cells, err := ReadCells(strings.NewReader(c.file), "cells.csv", c.layout, c.required, c.any)
		if err != nil {
			kept.CheckText(t, name, err.Error())
			continue
		}
		said := cells.GuessedLayout.YAML()
		for _, n := range cells.Notes {
			said += "\n" + n.String()
		}
		for row, text := range cells.Text {
			said += fmt.Sprintf("\n%d: %q", cells.Line(row), text)
			for k := range text {
				v, ok, err := cells.Number(row, k)
				said += fmt.Sprintf("; %v %t %v", v, ok, err)
			}
		}
		kept.CheckText(t, name, said)
	}
}

// TestReadRefusesJSON: a file that is JSON by its name or by its beginning is refused as such.
func TestReadRefusesJSON(t *testing.T) {
	const recipe = `{"@type": "Recipe", "name": "A"}`
	for _, c := range []struct{ file, text string }{
		{"book.json", recipe}, {"book.JSON", "recipe,Gin\nA,1\n"}, {"book", " " + recipe}, {"book", "[\n" + recipe + "]"},
	} {
		_, err := readWithFixes(c.text, c.file, Options{})
		if want := c.file + ": this is a JSON file: tables are read from CSV, .xlsx and .ods"; fmt.Sprint(err) != want {
			t.Errorf("%s in %s: the error is %v, want %s", c.text, c.file, err, want)
		}
	}
	if _, err := Read(strings.NewReader("[recipe],[Gin]\nA,1\n"), "book", Options{Layout: Layout{Columns: map[string]Role{"[recipe]": RecipeColumn}}}); err != nil {
		t.Errorf("a table whose names are in brackets: %v", err)
	}
}

// TestGivenColumns keeps what is made of columns whose meaning is given.
func TestGivenColumns(t *testing.T) {
	kept := golden.Open(t)
	long, wide := "drink,what,how much,cl,taste,size\nA,Gin,1,2,Dry,3\nA,Rum,2,3,Dry,3\nB,Gin,3,4,Sour,4\n", "drink,Gin,Rum,taste,points\nA,1,2,Dry,3\nB,3,,Sour,4\nC,1,1,Dry,5\n"
	for _, c := range []struct {
		file   string
		given  map[string]Role
		labels []string
	}{
		{long, map[string]Role{"drink": RecipeColumn, "what": IngredientColumn, "how much": AmountColumn}, nil},
		{long, map[string]Role{"drink": RecipeColumn, "what": IngredientColumn, "cl": AmountColumn, "how much": IgnoredColumn, "size": LabelColumn}, []string{"taste"}},
		{long, map[string]Role{"drink": RecipeColumn, "what": RecipeColumn}, nil}, {long, map[string]Role{"what": IngredientColumn, "cl": AmountColumn, "how much": AmountColumn}, nil}, {long, map[string]Role{"nothing": LabelColumn}, nil},
		{long, map[string]Role{"drink": RecipeColumn, "what": IngredientColumn, "how much": AmountColumn, "taste": IngredientColumn}, nil}, {long, map[string]Role{"drink": RecipeColumn, "what": IngredientColumn, "how much": AmountColumn, "taste": IgnoredColumn}, []string{"taste"}},
		{long, map[string]Role{"drink": RecipeColumn, "what": IngredientColumn, "how much": AmountColumn, "taste": UnitColumn}, nil},
		{wide, nil, nil}, {wide, map[string]Role{"drink": RecipeColumn, "points": LabelColumn}, nil}, {wide, map[string]Role{"points": IngredientColumn}, nil}, {wide, map[string]Role{"drink": LabelColumn}, nil}, {wide, map[string]Role{"taste": RecipeColumn}, nil},
		{wide, map[string]Role{"taste": IngredientColumn}, nil}, {wide, map[string]Role{"points": IgnoredColumn, "Rum": IgnoredColumn}, nil}, {wide, map[string]Role{"Gin": LabelColumn, "Rum": LabelColumn}, []string{"points"}},
	} {
		book, err := readWithFixes(c.file, "book.csv", Options{Layout: Layout{Columns: c.given}, Labels: c.labels})
		of := fmt.Sprintf("%s %v %v", c.file[:9], c.given, c.labels)
		if err != nil {
			kept.CheckText(t, of, err.Error())
			continue
		}
		said := strings.Join(sameBook(book), "\n") + "\n" + book.GuessedLayout.YAML()
		for _, n := range book.Notes {
			said += "\n" + n.String()
		}
		for k := range book.Labels {
			l := &book.Labels[k]
			numbers, err := l.Numbers()
			said += fmt.Sprintf("\n%s: %d missing, %t %v %v %v", l.Name, l.MissingCount(), l.IsNumeric(), l.Classes, numbers, err)
		}
		kept.CheckText(t, of, said)
	}
}

// TestWords keeps the notes on words that people write.
func TestWords(t *testing.T) {
	kept := golden.Open(t)
	for _, text := range []string{"point", "comma", "", "dot", "POINT"} {
		d, err := measure.ParseDecimal(text)
		kept.CheckText(t, "decimal "+text, fmt.Sprintf("%v %v", d, err))
	}
	for _, text := range append([]string{"labels", "", "Recipe"}, "recipe", "ingredient", "amount", "unit", "label", "ignored") {
		r, err := ParseRole(text)
		kept.CheckText(t, "role "+text, fmt.Sprintf("%v %v", r, err))
	}
	for _, text := range []string{"a", "", "a b", "yes", "No", "null", "~", "3", "-1.5", "a: b", "a #b", "#a", "'a'", "\"a\"", "a\nb", "- a", "é", "a,b", "[a]", "*", "&a", "!x", "%a", "@a", "true", "1e3", " a", "a ", "0x1", ".inf"} {
		kept.CheckText(t, "YAML "+text, YAMLText(text))
	}
	for _, text := range []string{"cost", "unit cost", "Cost (EUR)", "price per litre", "costs", "rating", "costume", "", "Preis", "calories"} {
		kept.CheckText(t, "costs "+text, fmt.Sprint(IsCostName(text)))
	}
	kept.CheckText(t, "table", TableYAML("recipes", "a b.csv", Layout{})+"\n"+TableYAML("recipes", "a: b.csv", Layout{Sheet: "S", Encoding: "utf-16le", Delimiter: "tab", Decimal: measure.DecimalComma, Columns: map[string]Role{"b": LabelColumn, "a: c": RecipeColumn}}))
	one, other := Layout{Sheet: "S", Decimal: measure.DecimalPoint, Columns: map[string]Role{"a": LabelColumn}}, Layout{Encoding: "e", Delimiter: "tab", Sheet: "T", Decimal: measure.DecimalComma, Columns: map[string]Role{"b": RecipeColumn}}
	kept.CheckText(t, "with", fmt.Sprintf("%s\n%s\n%s", one.Merge(other).YAML(), other.Merge(one).YAML(), one.Merge(Layout{}).YAML()))
	in, err := ReadIngredients(strings.NewReader("name,cost,maker,family,kind\nGin,1,a,x,k\nRum,2,b,x,k\nRye,3,c,y,k\n"), "list.csv", Layout{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "cost", "maker", "kind", "none"} {
		said := "none"
		if a := in.Grouping(name); a != nil {
			said = a.Name
		}
		kept.CheckText(t, "grouping "+name, said)
	}
	for name, e := range map[string]error{"label": &MissingColumnError{Name: "a\n"}, "changes": &LabelChangeError{Column: "b"}} {
		kept.CheckText(t, "error "+name, e.Error())
	}
}
