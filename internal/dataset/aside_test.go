package dataset

import (
	"fmt"
	"strings"
	"testing"

	"kir/internal/measure"
)

// What a table says of its ingredients is kept by ingredient, numbers with the point as their mark. What it says of the
// recipes, such as means, and columns with several texts for an ingredient are not.
func TestAsides(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, table, want string }{
		{"turned", "Ingredient;CAS;A;B;Price;Mean\nGin;64-17-5;60,5;50;1.234,5 €;55\nLime;;39,5;20;-;30\nRum;x;;30;2 €;15\n", "[{CAS [64-17-5  x]} {Price [1234.5 €  2 €]}]"},
		{"a row of prices and one of means", "recipe,Gin,Lime,liking\nA,60,40,5\nB,50,50,6\nC,40,60,7\nMean,50,50,6\n€/kg,12,4,\n", "[{€/kg [12 4]}]"},
		{"long", "recipe,ingredient,amount,supplier,batch,empty\nA,Gin,1,x,1,\nA,Lime,2,y,2,\nB,Gin,2,,3,\nB,Lime,3,y,4,\n", "[{supplier [x y]}]"},
		{"nothing", "recipe,Gin,Lime,liking\nA,60,40,5\nB,50,50,6\nC,40,60,7\n", "[]"},
	} {
		o := Options{}
		if test.name == "long" {
			o.Columns = map[string]Role{"supplier": IgnoredColumn, "batch": IgnoredColumn, "empty": IgnoredColumn}
		}
		b, err := Read(strings.NewReader(test.table), "b.csv", o)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if got := fmt.Sprint(b.Asides); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// A name is near another that differs in a few letters, or the only one with its words, and not one that is taken.
func TestNearName(t *testing.T) {
	t.Parallel()
	in, err := NewIngredients("Angostura bitters", "Orange bitters", "Gin", "Lime juice", "Campari", "London dry gin")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Angostura": "Angostura bitters", "juice of lime": "Lime juice", "Lime": "Lime juice", "bitters": "", "Campri": "Campari", "Vodka": "", "Gin, 40 %": "Gin", "Rye": "",
	} {
		if got, ok := in.NearName(name, func(other string) bool { return other == "London dry gin" }); got != want || ok != (want != "") {
			t.Errorf("near %q is %q, want %q", name, got, want)
		}
	}
	if got, ok := in.NearName("Angostura", func(other string) bool { return other == "Angostura bitters" }); ok {
		t.Errorf("%q is taken", got)
	}
}

// A currency for a unit is the name of a price.
func TestPriceByUnit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"EUR/kg": true, "€/l": true, "(€/kg)": true, "$ per lb": true, "CHF / 100 g": true, "euros/kg": true, "Eur": false, "g/kg": false, "Europe/x": false, "€/kg of it": false} {
		if got := IsCostName(name); got != want {
			t.Errorf("%q is a price: %v, want %v", name, got, want)
		}
	}
}

// A dash of another size counts as 1 g/ml among masses, as that of the usual size does, and the units that a book uses
// are told with the size that it assumes.
func TestLooseUnitSizes(t *testing.T) {
	t.Parallel()
	const masses, volumes = "A,Gin,30,g\nA,Bitters,2,dash\n", "B,Gin,3,cl\nB,Bitters,1,dash\n"
	for _, test := range []struct{ size, rows, want, base string }{
		{"", masses, "[{dash 1 0.9 g [0.45 g 0.9 g 1.8 g]}]", "1.8"},
		{"", volumes, "[{dash 1 0.9 ml [0.45 ml 0.9 ml 1.8 ml]}]", "0.09"},
		{"1 ml", masses, "[{dash 1 1 g [0.45 g 0.9 g 1.8 g]}]", "2"},
		{"1 ml", masses + volumes, "[{dash 2 1 ml [0.45 ml 0.9 ml 1.8 ml]}]", "2"},
		{"2 g", masses, "[{dash 1 2 g [0.45 g 0.9 g 1.8 g]}]", "4"},
	} {
		o := Options{Units: measure.DefaultUnits()}
		if test.size != "" {
			var err error
			if o.Units, err = o.Units.With("dash", test.size); err != nil {
				t.Fatal(err)
			}
		}
		b, err := Read(strings.NewReader("recipe,ingredient,amount,unit\n"+test.rows), "b.csv", o)
		if err != nil {
			t.Errorf("%s, %q: %v", test.size, test.rows, err)
			continue
		}
		base, _ := b.Recipes[0].Parts[1].Base().Float64()
		if got := fmt.Sprint(b.LooseUnits()); got != test.want || fmt.Sprint(base) != test.base {
			t.Errorf("%s, %q: got %s of %v, want %s of %s", test.size, test.rows, got, base, test.want, test.base)
		}
	}
}
