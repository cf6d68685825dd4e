package dataset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
)

// sharesOf describes the recipes of a book: the name and the amounts of each.
func sharesOf(b *Book) (text string) {
	for _, r := range b.Recipes {
		text += r.Name + ":"
		for _, p := range r.Parts {
			base, _ := p.Base().Float64()
			text += fmt.Sprintf(" %g %s", base, b.Ingredients.Names[p.Ingredient])
		}
		text += "\n"
	}
	return text
}

// TestTableShapes reads tables of shapes that are no plain table.
func TestTableShapes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, want string }{
		{"blocks side by side, in two bands",
			"A,,,B,\nIngredient,g,,Ingredient,g\nWater,60,,Water,50\nSugar,40,,Honey,50\nTotal,100,,Total,100\n,,,,\nC,,,D,\nIngredient,g,,Ingredient,g\nWater,70,,Water,20\nSugar,30,,Sugar,80\n",
			"A: 60 Water 40 Sugar\nB: 50 Water 50 Honey\nC: 70 Water 30 Sugar\nD: 20 Water 80 Sugar\n"},
		{"blocks without a header",
			"A,,,B,\nWater,60,,Water,50\nSugar,40,,Honey,50\n,,,,\nC,,,D,\nWater,70,,Water,20\nSugar,30,,Sugar,80\n",
			"A: 60 Water 40 Sugar\nB: 50 Water 50 Honey\nC: 70 Water 30 Sugar\nD: 20 Water 80 Sugar\n"},
		{"names above numbers that are no blocks",
			"run,,note,\na,1,b,2\nrecipe,Gin,Rum,Ice\nA,1,2,3\nB,2,2,1\n",
			"A: 1 Gin 2 Rum 3 Ice\nB: 2 Gin 2 Rum 1 Ice\n"},
		{"cards below each other",
			"Recipe,A\nDate,3 May\nIngredient,g\nWater,60\nSugar,40\n,\nRecipe,B\nDate,4 May\nIngredient,g\nWater,50\nHoney,50\n",
			"A: 60 Water 40 Sugar\nB: 50 Water 50 Honey\n"},
		{"recipes in headings",
			"Ingredient,Amount,Unit\nA,,\nWater,60,g\nSugar,40,g\nB,,\nWater,50,g\nSugar,50,g\nC,,\nWater,1,kg\nSugar,0.5,kg\n",
			"A: 60 Water 40 Sugar\nB: 50 Water 50 Sugar\nC: 1000 Water 500 Sugar\n"},
		{"an unknown word that makes up a recipe's last row",
			"Recipe,Ingredient,g\nA,Water,60\nA,Sugar,40\nA,Salt,1\nA,Alles,101\nB,Water,50\nB,Sugar,50\nB,Salt,2\nB,Alles,102\nC,Water,40\nC,Sugar,60\nC,Salt,3\nC,Alles,103\n",
			"A: 60 Water 40 Sugar 1 Salt\nB: 50 Water 50 Sugar 2 Salt\nC: 40 Water 60 Sugar 3 Salt\n"},
		{"a rest told by one unknown word",
			"recipe,Bond (%),Stock (%),Gold (%),Cash\nA,30,20,10,zog\nB,20,30,10,zog\nC,10,20,30,zog\nD,40,20,20,zog\nE,50,20,10,zog\n",
			"A: 30 Bond 20 Stock 10 Gold 40 Cash\nB: 20 Bond 30 Stock 10 Gold 40 Cash\nC: 10 Bond 20 Stock 30 Gold 40 Cash\nD: 40 Bond 20 Stock 20 Gold 20 Cash\nE: 50 Bond 20 Stock 10 Gold 20 Cash\n"},
		{"the sum of some columns that stand apart",
			"recipe,Flour,Rye,Water,Salt,TA\nA,60,40,65,2,165\nB,50,50,70,2,170\nC,70,30,68,1.8,168\nD,80,20,72,2,172\nE,90,10,60,2.2,160\n",
			"A: 60 Flour 40 Rye 65 Water 2 Salt\nB: 50 Flour 50 Rye 70 Water 2 Salt\nC: 70 Flour 30 Rye 68 Water 1.8 Salt\nD: 80 Flour 20 Rye 72 Water 2 Salt\nE: 90 Flour 10 Rye 60 Water 2.2 Salt\n"},
		{"additions on top of a base",
			"recipe,Feldspar,Silica,Whiting,Base,Rutile\nA,50,30,20,100,\nB,40,35,25,100,2\nC,45,30,25,100,\nD,50,25,25,100,4\nE,40,40,20,100,\n",
			"A: 50 Feldspar 30 Silica 20 Whiting\nB: 40 Feldspar 35 Silica 25 Whiting 2 Rutile\nC: 45 Feldspar 30 Silica 25 Whiting\nD: 50 Feldspar 25 Silica 25 Whiting 4 Rutile\nE: 40 Feldspar 40 Silica 20 Whiting\n"},
		{"percent beside ppm",
			"recipe,Si,Mg,Sr (ppm),Al\nA,7,0.3,200,bal.\nB,6,0.4,100,bal.\n",
			"A: 7 Si 0.3 Mg 0.02 Sr 92.68 Al\nB: 6 Si 0.4 Mg 0.01 Sr 93.59 Al\n"},
		{"sums of money",
			"account,Bonds,Stocks,Gold,Cash\nA,£300,£200,£100,£400\nB,\"£1,200\",£300,£100,£400\n",
			"A: 300 Bonds 200 Stocks 100 Gold 400 Cash\nB: 1200 Bonds 300 Stocks 100 Gold 400 Cash\n"},
		{"limits told by their pair",
			"recipe,A,B\nr1,60,40\nr2,50,50\nmin. share,10,20\nmax. share,70,80\n",
			"r1: 60 A 40 B\nr2: 50 A 50 B\n"},
		{"an amount of which a bound is known",
			"recipe,A,B\nr1,60,40\nr2,50,<0.5\n",
			"r1: 60 A 40 B\nr2: 50 A 0.5 B\n"},
		{"a legend of a unit",
			"recipe,ingredient,amount\nA,Gin,4 cl\nA,Bitters,2 dash\nB,Gin,3 cl\nB,Rum,1 cl\n1 dash = 2 ml,,\n",
			"A: 4 Gin 0.4 Bitters\nB: 3 Gin 1 Rum\n"},
	} {
		book, err := Read(strings.NewReader(test.file), "book.csv", Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := sharesOf(book); got != test.want {
			t.Errorf("%s: it is\n%swant\n%s", test.name, got, test.want)
		}
	}
}

// TestGuessedEncoding: the letters of a text tell which of two encodings it has.
func TestGuessedEncoding(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		in   *charmap.Charmap
	}{
		{"Masło, żytnia mąka i łój", charmap.Windows1250}, {"příliš žluťoučký kůň", charmap.Windows1250}, {"árvíztűrő tükörfúrógép", charmap.Windows1250},
		{"crème brûlée, cœur", charmap.Windows1252}, {"Öl, Süßholz und Äpfel", charmap.Windows1252}, {"rødgrød med fløde, æg", charmap.Windows1252},
		{"ácido cítrico, piñón, ½", charmap.Windows1252}, {"açúcar, pão, ingrediênte 5 m³", charmap.Windows1252},
	} {
		text, err := test.in.NewEncoder().String(test.name)
		if err != nil {
			t.Fatal(err)
		}
		book, err := Read(strings.NewReader("recipe;"+text+";Gin\nA;1;2\n"), "book.csv", Options{})
		if err != nil || book.Ingredients.Names[0] != test.name {
			t.Errorf("%s in %v: %v, %v", test.name, test.in, book, err)
		}
	}
}

// TestBlocksAreLinear: the time to read blocks grows in proportion to their rows.
func TestBlocksAreLinear(t *testing.T) {
	measure := func(rows int) time.Duration {
		var b strings.Builder
		b.WriteString("A,,B,\nIngredient,g,Ingredient,g\n")
		for r := range rows {
			fmt.Fprintf(&b, "x%d,1,y%d,1\n", r, r)
		}
		begin := time.Now()
		if _, err := Read(strings.NewReader(b.String()), "book.csv", Options{}); err != nil {
			t.Fatal(err)
		}
		return time.Since(begin)
	}
	small, large := measure(2000), measure(20000)
	if large > 60*small && large > time.Second {
		t.Errorf("2,000 rows take %v and 20,000 take %v", small, large)
	}
}
