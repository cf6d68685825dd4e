package dataset

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"kir/internal/measure"
	"kir/internal/tablefile"
	"kir/internal/testonly/golden"
)

// badBooks are files with something wrong, and where and what it is.
var badBooks = []struct {
	name         string
	file         string
	options      Options
	line, column int
	message      string // part of the message
	hint         string // part of the hint
}{
	{name: "empty file", file: "", line: 1, column: 1, message: "the file is empty", hint: "names the columns"},
	{name: "only a byte-order mark", file: "\ufeff", line: 1, column: 1, message: "the file is empty"},
	{name: "only blank lines", file: "\n\r\n\n", line: 1, column: 1, message: "the file is empty"},
	{name: "no recipes", file: "recipe,ingredient,amount\n", line: 1, column: 1, message: "no recipe in the file", hint: "add a row"},
	{name: "no recipes, wide", file: "recipe,Gin\n", line: 1, column: 1, message: "no recipe in the file"},

	{name: "short row", file: "recipe,ingredient,amount,unit\nKir,Cassis,1,cl\nKir,Crème,9\n", line: 3, column: 12, message: "the row has 3 columns and the header 4", hint: `add "unit"`},
	{name: "short row with CRLF", file: "recipe,ingredient,amount\r\nKir,Gin\r\n", line: 2, column: 8, message: "the row has 2 columns and the header 3", hint: `add "amount"`},
	{name: "short last row without newline", file: "recipe,ingredient,amount\nKir", line: 2, column: 4, message: "the row has 1 column and", hint: `add "ingredient", "amount"`},
	{name: "long row", file: "recipe,ingredient,amount\nCrème,Gin, very dry,1\n", line: 2, column: 21, message: "the row has 4 columns and the header 3", hint: "in quotes"},
	{name: "row after blank lines", file: "recipe,ingredient,amount\n\n\nKir,Gin\n", line: 4, column: 8, message: "the row has 2 columns"},

	{name: "doubled pair", file: "recipe,ingredient,amount\nKir,Gin,1\nKir,Cassis,1\nKir,Gin,2\n", line: 4, column: 5, message: `"Gin" is in "Kir" twice: first on line 2`, hint: "sum"},
	{name: "doubled pair in another order", file: "ingredient,recipe,amount\nGin,Kir,1\nGin,Sec,1\nGin ,Kir,2\n", line: 4, column: 1, message: `"Gin" is in "Kir" twice: first on line 2`},
	{name: "doubled pair, unused first", file: "recipe,ingredient,amount\nKir,Gin,0\nKir,Gin,2\n", line: 3, column: 5, message: "first on line 2"},
	{name: "doubled pair, unused second", file: "recipe,ingredient,amount\nKir,Gin,3\nKir,Gin,0\n", line: 3, column: 5, message: "first on line 2"},
	{name: "doubled pair, composed and decomposed", file: "recipe,ingredient,amount\nKir,Cr\u00e8me,3\nKir,Cre\u0300me,1\n", line: 3, column: 5, message: "first on line 2"},
	{name: "doubled recipe, wide", file: "recipe,Gin,Cassis\nKir,1,2\nSec,1,\n Kir ,1,1\n", line: 4, column: 2, message: `recipe "Kir" is there twice: first on line 2`},

	{name: "negative", file: "recipe,ingredient,amount\nKir,Gin,-1\n", line: 2, column: 9, message: `negative amount "-1"`, hint: "0 or more"},
	{name: "negative, wide", file: "recipe,Gin\nKir,-0.5\n", line: 2, column: 5, message: `negative amount "-0.5" of "Gin"`},
	{name: "not a number", file: "recipe,ingredient,amount\nKir,Gin,NaN\n", line: 2, column: 9, message: `amount "NaN" is not finite`},
	{name: "infinite", file: "recipe,ingredient,amount\nKir,Gin,+Inf\n", line: 2, column: 9, message: `amount "+Inf" is not finite`},
	{name: "minus infinity", file: "recipe,ingredient,amount\nKir,Gin,-Infinity\n", line: 2, column: 9, message: "not finite"},
	{name: "huge", file: "recipe,ingredient,amount\nKir,Gin,1e400\n", line: 2, column: 9, message: "out of range", hint: "1e30"},
	{name: "tiny", file: "recipe,ingredient,amount\nKir,Gin,1e-99999999999999999999\n", line: 2, column: 9, message: "out of range"},
	{name: "unreadable", file: "recipe,ingredient,amount\nKïr, Gin ,some\n", line: 2, column: 11, message: `unreadable amount "some"`, hint: "such as 4.5"},
	{name: "what is left of an unknown whole", file: "recipe,ingredient,g\nKir,Gin,3\nKir,Aqua,q.s.\n", line: 3, column: 10, message: `"q.s." of "Aqua" in "Kir" is the rest of a whole that nothing tells`, hint: `as in "q.s. 100 g", or the number`},
	{name: "what is left of 1 or of 100", file: "recipe,Al,Cu\nKir,Bal.,.4\nSec,bal,.5\n", line: 2, column: 5, message: `"Bal." of "Al" in "Kir" is the rest of a whole that nothing tells`, hint: `as in "Bal. 100" or "Bal. 1", or the number`},
	{name: "what is left beside a figure", file: "recipe,Bond,Stock,Cash,Ratio\nA,.3,.2,rest,1.2\nB,.5,.3,rest,.8\n", line: 2, column: 9, message: "that nothing tells", hint: `"rest 100" or "rest 1"`},
	{name: "no amounts but returns", file: "Date,Bond,Stock\n2021-01-01,.3,-.2\n2021-02-01,-.5,.3\n2021-03-01,-.5,-.3\n", line: 1, column: 1, message: "numbers below 0, and no column of amounts", hint: "amounts are 0 or more"},
	{name: "what is left where the complete ones are no 100", file: "recipe,Al,Cu\nKir,Bal.,40\nSec,200,50\n", line: 2, column: 5, message: "that nothing tells"},
	{name: "what is left of another kind", file: "recipe,ingredient,g\nKir,Gin,3\nKir,Aqua,q.s. 100 %\n", line: 3, column: 10, message: `is a percentage, and another amount a mass`, hint: "in the others' unit"},
	{name: "what is left of no unit", file: "recipe,ingredient,amount\nKir,Gin,3 g\nKir,Rum,30 mg\nKir,Aqua,q.s. 100\n", line: 4, column: 10, message: `is a plain number, and another amount a mass`},
	{name: "two rests", file: "Formula,INCI name,% w/w\nKir,Aqua,q.s. 100\nKir,Parfum,q.s.\nSec,Gin,3\n", line: 3, column: 12, message: `"Parfum" makes up the rest of "Kir", and so does "Aqua"`, hint: "write the number of one"},
	{name: "two rests, wide", file: "recipe,Al,Cu\nKir,bal,bal\n", line: 2, column: 9, message: `"Cu" makes up the rest of "Kir", and so does "Al"`},
	{name: "a rest of nothing", file: "recipe,Al,Cu,Mg\nKir,bal,97,5.5\n", line: 2, column: 5, message: `"bal" of "Al" in "Kir" has nothing left: the others add up to 102.5, and the whole is 100`, hint: "correct the others"},
	{name: "a rest beside a label", file: "recipe,Al,Cu,Mg,pores\nKir,bal,7,5.5,300\nSec,bal,6,3,120\n", line: 2, column: 5, message: `the others add up to 312.5, and the whole is 100`, hint: "columns: {pores: label} takes the column as a label"},
	{name: "a header of two rows without a name", file: "recipe,Al,,Mg\nKir,1,7,5.5\nSec,2,6,3\n", line: 2, column: 7, message: `column 3 has no name and holds "7"`},
	{name: "a rest of 0", file: "recipe,Al,Cu (%)\nKir,bal. 100%,100\n", line: 2, column: 5, message: `the others add up to 100 %, and the whole is 100 %`},
	{name: "a rest twice", file: "recipe,ingredient,amount\nKir,Gin,bal\nKir,Rum,3\nKir,Gin,2\n", line: 4, column: 5, message: "is in \"Kir\" twice"},
	{name: "a rest of something else", file: "recipe,ingredient,amount\nKir,Acid,q.s. pH 5.5\n", line: 2, column: 10, message: `unreadable amount "q.s. pH 5.5"`, hint: "what the others leave of 100 is q.s. 100"},
	{name: "a rest and a misspelt one", file: "recipe,Al,Cu,Mg\nKir,bal,3,2\nSec,ball,3,2\nSur,bal,4,2\n", line: 3, column: 5, message: `unreadable amount "ball" of "Al"`},
	{name: "hexadecimal", file: "recipe,ingredient,amount\nKir,Gin,0x10\n", line: 2, column: 9, message: `unreadable amount "0x10"`},
	{name: "exponent without digits", file: "recipe,ingredient,amount\nKir,Gin,1e\n", line: 2, column: 9, message: `unreadable amount "1e"`},
	{name: "two points", file: "recipe,ingredient,amount\nKir,Gin,1.2.3\n", line: 2, column: 9, message: `unreadable amount "1.2.3"`},
	{name: "decimal comma where the point is given", file: "recipe,ingredient,amount\nKir,Gin,\"4,5\"\n", options: Options{Layout: Layout{Decimal: measure.DecimalPoint}}, line: 2, column: 9, message: `unreadable amount "4,5"`, hint: "decimal: comma"},
	{name: "amount with an unknown unit", file: "recipe,ingredient,amount\nKir,Gin,3 clx\n", line: 2, column: 9, message: `unknown unit "clx" in the amount "3 clx"`, hint: `did you mean "cl"?`},
	{name: "two units", file: "recipe,ingredient,amount,unit\nKir,Gin,3 cl,ml\n", line: 2, column: 9, message: `the amount "3 cl" has the unit "cl" and the row has "ml"`},
	{name: "a range that goes down", file: "recipe,ingredient,amount\nKir,Gin,3-2\n", line: 2, column: 9, message: `the range "3-2" goes down`},
	{name: "a date", file: "recipe,ingredient,amount\nKir,Gin,02-Jan\n", line: 2, column: 9, message: `unreadable amount "02-Jan", which looks like a date`, hint: "text"},
	{name: "division by 0", file: "recipe,ingredient,amount\nKir,Gin,1/0\n", line: 2, column: 9, message: `unreadable amount "1/0"`, hint: "divided by 0"},
	{name: "two meanings", file: "recipe,ingredient,amount\nKir,Gin,1.5\nKir,Rye,\"1,5\"\nKir,Rum,1.500\n", line: 4, column: 9, message: `unreadable amount "1.500"`, hint: "may be 1.500 or 1500"},
	{name: "no amount", file: "recipe,ingredient,amount\nKir,Gin, \n", line: 2, column: 10, message: "no amount", hint: "or 0"},
	{name: "text in a column of amounts, wide", file: "recipe,Gin\nKir,1\nSec,2\nRose,Fresh\n", line: 4, column: 6, message: `unreadable amount "Fresh" of "Gin"`, hint: "without: [Rose] leaves the recipe out"},

	{name: "unknown unit", file: "recipe,ingredient,amount,unit\nKir,Gin,1,cl\nKir,Rye,1,clx\n", line: 3, column: 11, message: `unknown unit "clx"`, hint: `did you mean "cl"? Known are "ml", "cl",`},
	{name: "unknown unit with nothing near", file: "recipe,ingredient,amount,unit\nKir,Gin,1,hogshead\n", line: 2, column: 11, message: `unknown unit "hogshead"`, hint: `known are "ml"`},
	{name: "volume and mass", file: "recipe,ingredient,amount,unit\nKir,Gin,1,cl\nKir,Sugar,1,g\n", line: 3, column: 13, message: `"Kir" mixes "cl" (a volume) on line 2 with "Sugar" in "g" (a mass)`, hint: `units: {g: 0.1 cl} takes the density of water for all`},
	{name: "unit and none", file: "recipe,ingredient,amount,unit\nKir,Gin,1,\nKir,Rye,1,cl\n", line: 3, column: 11, message: `mixes no unit on line 2 with "Rye" in "cl"`},

	{name: "sum of 0", file: "recipe,ingredient,amount\nKir,Gin,1\n Sec,Gin,0\nKir,Rye,1\nSec,Rye,0.0\n", line: 3, column: 2, message: `the amounts of "Sec" add up to 0`, hint: "above 0"},
	{name: "sum of 0, wide", file: "recipe,Gin,Rye\nKir,1,\nSec,0,\n", line: 3, column: 1, message: `the amounts of "Sec" add up to 0`},

	{name: "label changes", file: "recipe,ingredient,amount,taste\nKir,Gin,1,Fresh\nSec,Gin,1,Dry\nKir,Rye,1,Sweet\n", line: 4, column: 11, message: `"taste" of "Kir" changes from "Fresh" on line 2 to "Sweet"`, hint: "in all rows"},
	{name: "label appears", file: "recipe,ingredient,amount,taste\nKir,Gin,1,\nKir,Rye,1,Sweet\n", line: 3, column: 11, message: `changes from "" on line 2 to "Sweet"`},

	{name: "no recipe column", file: "ingredient,amount\nGin,1\n", line: 1, column: 1, message: `no column is called "recipe"`, hint: "long form"},
	{name: "no recipe column, wide", file: "Gin,Rye\n1,1\n", line: 1, column: 1, message: `no column is called "recipe"`, hint: "wide form"},
	{name: "several rows of one mix", file: "Mix,A,B\nM1,1,2\nM1,1,2\nM2,2,1\nM2,2,1\nM3,3,1\n", line: 1, column: 1, message: `no column is called "recipe"`, hint: "columns: {Mix: label} calls the recipes by their rows"},
	{name: "four rows without names", file: "A,B\n1,2\n1,2\n2,1\n2,1\n", line: 1, column: 1, message: `no column is called "recipe"`},
	{name: "no amount column", file: "recipe,ingredient,amout\nKir,Gin,much\n", line: 1, column: 19, message: `no column is called "amount"`, hint: `is it "amout"?`},
	{name: "no ingredient column", file: "recipe,amount\nKir,1\n", line: 1, column: 1, message: `no column is called "ingredient"`},
	{name: "misspelt ingredient column", file: "recipe,ingrediants,cl\nKir,Gin,1\n", line: 1, column: 8, message: `column "ingrediants" holds text such as "Gin"`, hint: "the long form has the columns recipe, ingredient,"},
	{name: "no ingredient in a wide header", file: "recipe\nKir\n", line: 1, column: 1, message: "names no ingredient"},
	{name: "doubled column", file: "recipe,Crème,Rye,Crème\nKir,1,2,3\n", line: 1, column: 18, message: `two columns are called "Crème": numbers 2 and 4`},
	{name: "doubled column in another case", file: "recipe,ingredient,amount,Amount\nKir,Gin,1,1\n", line: 1, column: 26, message: `two columns are called "amount": numbers 3 and 4`},
	{name: "column without a name", file: "recipe,ingredient,amount,\nKir,Gin,1,x\n", line: 2, column: 11, message: `column 4 has no name and holds "x"`},
	{name: "another delimiter than the one given", file: "recipe;ingredient;amount\nKir;Gin;1\n", options: Options{Layout: Layout{Delimiter: "comma"}}, line: 1, column: 1, message: `no column is called "recipe"`},
	{name: "no such delimiter", file: "recipe\n", options: Options{Layout: Layout{Delimiter: "dot"}}, message: `there is no delimiter "dot"`},
	{name: "no such encoding", file: "recipe\n", options: Options{Layout: Layout{Encoding: "utf-9"}}, message: `there is no encoding "utf-9"`},
	{name: "a sheet of a text", file: "recipe\n", options: Options{Layout: Layout{Sheet: "A"}}, message: "no sheets"},
	{name: "old line ends", file: "recipe,ingredient,amount\rKir,Gin,1\r", line: 1, column: 19, message: "carriage return", hint: "LF"},

	{name: "empty recipe name", file: "recipe,ingredient,amount\n,Gin,1\n", line: 2, column: 1, message: "a recipe without a name"},
	{name: "empty recipe name, wide", file: "recipe,Gin\n\" \",1\n", line: 2, column: 1, message: "a recipe without a name"},
	{name: "empty ingredient name", file: "recipe,ingredient,amount\nKir,,1\n", line: 2, column: 5, message: "an ingredient without a name"},

	{name: "invalid UTF-8", file: "recipe,ingredient,amount\nCrème,Cr\xe8me,1\n", line: 2, column: 9, message: "byte 0xe8 is not valid in UTF-8", hint: "save the file as UTF-8"},
	{name: "invalid UTF-8 in the header", file: "é\xff,ingredient,amount\n", line: 1, column: 2, message: "byte 0xff"},
	{name: "invalid UTF-8 within quotes on the second line", file: "recipe,ingredient,amount\n\"Crème\nde\xff\",Gin,1\n", line: 3, column: 3, message: "byte 0xff"},
	{name: "half a character of UTF-16", file: "\xff\xfer\x00\x00\xd8,\x00G\x00\n\x00", line: 1, column: 2, message: "a character that its encoding does not have", hint: "encoding"},
	{name: "a byte that is not in Windows-1252", file: "recipe,Cr\xe8me\x81\nKir,1\n", line: 1, column: 13, message: "a character that its encoding does not have"},

	{name: "bare quote", file: "recipe,ingredient,amount\nKïr,5\" Gin,1\n", line: 2, column: 6, message: "a quote inside a field that is not in quotes", hint: "twice"},
	{name: "text after a quote", file: "recipe,ingredient,amount\nKïr,\"5\"Gin,1\n", line: 2, column: 7, message: "text after the quote"},
	{name: "quote never closed", file: "recipe,ingredient,amount\nKïr,\"5\"\"\",1\nKïr,\"Gin,1\nKir,Rye,1\n", line: 3, column: 5, message: "a quote is opened here and never closed", hint: "close it"},
	{name: "quote never closed on the last line", file: "recipe,ingredient,amount\nKïr,\"", line: 2, column: 5, message: "a quote is opened here and never closed"},
	{name: "after a field of several lines", file: "recipe,ingredient,amount\n\"Kïr\nà la mode\",Gin,x\n", line: 3, column: 16, message: `unreadable amount "x"`},
	{name: "after a byte-order mark", file: "\ufeffrecipe,ingredient,amount,\nKir,Gin,1,x\n", line: 2, column: 11, message: "column 4 has no name"},

	{name: "ingredient not on the list", file: "recipe,ingredient,amount\nKir,Gim,1\n", options: Options{Ingredients: mustIngredients("Gin", "Rye")}, line: 2, column: 5, message: `"Gim" is not one of the 2 ingredients`, hint: `did you mean "Gin"?`},
	{name: "ingredient not on the list, wide", file: "recipe,Gin,Rum 12\nKir,1,2\n", options: Options{Ingredients: mustIngredients("Gin", "Rye")}, line: 1, column: 12, message: `"Rum 12" is not one of the 2 ingredients`, hint: "label"},
	{name: "label not there", file: "recipe,Gin,taste\nKir,1,x\n", options: Options{Labels: []string{"tast"}}, line: 1, column: 1, message: `no column is called "tast"`, hint: `did you mean "taste"?`},
	{name: "label not there, long", file: "recipe,ingredient,amount\nKir,Gin,x\n", options: Options{Labels: []string{"colour"}}, line: 1, column: 1, message: `no column is called "colour"`, hint: `the columns are "recipe", "ingredient", "amount"`},
	{name: "label with another meaning", file: "recipe,ingredient,amount\nKir,Gin,1\n", options: Options{Labels: []string{"amount"}}, line: 1, column: 19, message: `column "amount" cannot be a label`},

	{name: "control characters", file: "recipe,ingredient,amount\nKir,Gin,\x1b[31m1\n", line: 2, column: 9, message: `"\x1b[31m1"`},
}

func mustIngredients(names ...string) *Ingredients {
	in, err := NewIngredients(names...)
	if err != nil {
		panic(err)
	}
	return in
}

func TestReadRefuses(t *testing.T) {
	kept := golden.Open(t)
	for _, test := range badBooks {
		t.Run(test.name, func(t *testing.T) {
			book, err := readWithFixes(test.file, "book.csv", test.options)
			checkError(t, err, "book.csv", test.line, test.column, test.message, test.hint)
			kept.CheckError(t, test.name, err)
			if book != nil {
				t.Error("a book was returned beside the error")
			}
		})
	}
}

// checkError checks that err is an *Error there that says that.
func checkError(t *testing.T, err error, file string, line, column int, message, hint string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	if e.File != file || e.Line != line || e.Column != column {
		t.Errorf("%v: is at %s:%d:%d, want %s:%d:%d", err, e.File, e.Line, e.Column, file, line, column)
	}
	if !strings.Contains(e.Message, message) {
		t.Errorf("message is %q, want %q in it", e.Message, message)
	}
	if !strings.Contains(e.Hint, hint) {
		t.Errorf("hint is %q, want %q in it", e.Hint, hint)
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("%q holds a control character", err.Error())
	}
}

// Where no column is called as names are, the first is taken if it may be.
func TestFirstColumnNames(t *testing.T) {
	in, err := ReadIngredients(strings.NewReader("Asset,Return\nGold,3%\nMg,4%\n"), "list.csv", Layout{})
	if err != nil || len(in.Names) != 2 || len(in.Notes) != 1 || in.Notes[0].Doubtful {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := ReadIngredients(strings.NewReader("Asset,Return\nGold,3%\nGold,4%\n"), "list.csv", Layout{}); err == nil {
		t.Error("names that repeat are taken")
	}
}

func TestReadIngredientsRefuses(t *testing.T) {
	kept := golden.Open(t)
	for _, test := range []struct {
		name         string
		file         string
		line, column int
		message      string
		hint         string
	}{
		{"empty file", "", 1, 1, "the file is empty", ""},
		{"no rows", "name,cost\n", 1, 1, "no ingredient in the file", "add a row"},
		{"no name column", "nom,cost\nGin,3\n", 1, 1, `no column is called "name"`, "so"},
		{"misspelt name column", "cost,nane\n3,Gin\n", 1, 1, `no column is called "name"`, `is it "nane"?`},
		{"two name columns", "name,Name\nGin,3\n", 1, 6, `two columns are called "name": numbers 1 and 2`, ""},
		{"doubled attribute", "name,cost,cost\nGin,3,4\n", 1, 11, `two columns are called "cost"`, ""},
		{"doubled ingredient", "name,cost\nCrème,3\nRye,2\n Crème,3\n", 4, 2, `ingredient "Crème" is there twice: first on line 2`, "remove"},
		{"empty name", "name,cost\n,3\n", 2, 1, "an ingredient without a name", ""},
		{"short row", "name,cost,abv\nGin,3\n", 2, 6, "the row has 2 columns and the header 3", `add "abv"`},
		{"long row", "name,cost\nGin,3,4\n", 2, 7, "the row has 3 columns and the header 2", ""},
		{"invalid UTF-8", "name,cost\né,1\nGin,\xff\n", 3, 5, "byte 0xff", ""},
		{"quote", "name,cost\nGin,\"3\n", 2, 5, "never closed", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, err := ReadIngredients(strings.NewReader(test.file), "list.csv", Layout{})
			checkError(t, err, "list.csv", test.line, test.column, test.message, test.hint)
			kept.CheckError(t, test.name, err)
			if in != nil {
				t.Error("ingredients were returned beside the error")
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	for _, test := range []struct {
		e    Error
		want string
	}{
		{Error{File: "a.csv", Line: 2, Column: 3, Message: "wrong", Hint: "do right"}, "a.csv:2:3: wrong: do right"},
		{Error{File: "a.csv", Line: 2, Message: "wrong"}, "a.csv:2: wrong"},
		{Error{File: "a.csv", Message: "wrong", Hint: "do right"}, "a.csv: wrong: do right"},
	} {
		if got := test.e.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.csv")
	_, err := ReadFile(t.Context(), missing, Options{})
	checkError(t, err, missing, 0, 0, "no such file", "")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	_, err = ReadIngredientsFile(t.Context(), dir, Layout{})
	checkError(t, err, dir, 0, 0, "is a directory", "")

	empty := filepath.Join(dir, "empty.csv")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = ReadFile(t.Context(), empty, Options{})
	checkError(t, err, empty, 1, 1, "the file is empty", "")
}

// A disk that fails is no fault of the file, wherever it fails.
func TestReadFails(t *testing.T) {
	const file = "recipe,ingredient,amount\nKir,Gin,1\n\"Kir\n\",Rye,1\n"
	disk := errors.New("disk on fire")
	for n := range len(file) + 1 {
		r := io.MultiReader(strings.NewReader(file[:n]), iotest.ErrReader(disk))
		_, err := Read(r, "book.csv", Options{})
		var e *Error
		if !errors.Is(err, disk) || errors.As(err, &e) {
			t.Fatalf("failure after %d bytes: got %v, want one that wraps %v", n, err, disk)
		}
		if !strings.HasPrefix(err.Error(), "book.csv: ") {
			t.Errorf("%v does not name the file", err)
		}
	}
}

// The same file read in pieces of any size gives the same errors and books.
func TestReadInPieces(t *testing.T) {
	for _, test := range badBooks {
		_, want := Read(strings.NewReader(test.file), "book.csv", test.options)
		_, got := Read(iotest.OneByteReader(strings.NewReader(test.file)), "book.csv", test.options)
		if got.Error() != want.Error() {
			t.Errorf("%s: a byte at a time gives %v, at once %v", test.name, got, want)
		}
	}
}

// A row without end is refused before it has filled the memory.
func TestReadRefusesEndlessRow(t *testing.T) {
	for _, test := range []struct{ name, head string }{
		{"quote", "recipe,ingredient,amount\nKir,Gin,1\nKir,\"Rye"},
		{"field", "recipe,ingredient,amount\nKir,Gin,1\nKir,Rye"},
	} {
		r := &endless{head: test.head, body: "x, "}
		_, err := Read(r, "book.csv", Options{})
		checkError(t, err, "book.csv", 3, 1, "a row is longer than 4 MiB", "quote")
		if r.read > tablefile.MaxRowBytes+1<<17 {
			t.Errorf("%s: %d bytes were read", test.name, r.read)
		}
	}
}

// endless reads as a head and then its body, over and over: for 64 MB, so that
// a reader without a bound fails the test and not the machine.
type endless struct {
	head, body string
	read       int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read > 64<<20 {
		return 0, io.EOF
	}
	for i := range p {
		if at := e.read + i; at < len(e.head) {
			p[i] = e.head[at]
		} else {
			p[i] = e.body[at%len(e.body)]
		}
	}
	e.read += len(p)
	return len(p), nil
}
