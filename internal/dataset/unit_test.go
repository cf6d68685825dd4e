package dataset

import (
	"strings"
	"testing"
)

func TestDefaultUnits(t *testing.T) {
	units := DefaultUnits()
	for _, test := range []struct {
		names string
		kind  Kind
		size  string
	}{
		{"ml,mL,ML,milliliter,millilitres,ml.", Volume, "0.1"},
		{"cl,CL,cls,centilitres", Volume, "1"},
		{"dl,decilitre", Volume, "10"},
		{"l,L,litre,liters", Volume, "100"},
		{"oz,oz.,ounce,Ounces,fl oz,fl. oz.,Fl  Oz,fluid ounces", Volume, "2.95735295625"},
		{"tbsp,tablespoon,table spoons", Volume, "1.5"},
		{"tsp,tsps,Teaspoons,tea spoon", Volume, "0.5"},
		{"bar spoon,Bar Spoons,barspoon,bsp", Volume, "0.5"},
		{"dash,dashes,Dashes, dash ", Volume, "0.09"},
		{"splash,splashes", Volume, "0.25"},
		{"drop,drops", Volume, "0.005"},
		{"whole", Volume, "5"},
		{"cup,cups", Volume, "24"},
		{"pint,pints,pt", Volume, "47.3176473"},
		{"quart,qt", Volume, "94.6352946"},
		{"shot,shots", Volume, "4.436029434375"},
		{"jigger,jiggers", Volume, "4.436029434375"},
		{"pony,ponies", Volume, "2.95735295625"},
		{"pinch,pinches,Prise,pincée", Volume, "0.03"},
		{"smidgen", Volume, "0.015"},
		{"leaf,leaves,Blätter,feuilles", Volume, "0.05"},
		{"sprig,sprigs", Volume, "0.1"},
		{"wedge,wedges", Volume, "0.7"},
		{"slice,slices,Scheiben", Volume, "0.7"},
		{"clove,cloves", Volume, "0.3"},
		{"cube,sugar cubes", Volume, "0.23"},
		{"twist", Volume, "0.1"},
		{"to taste,as needed,n. B.", Volume, "0.03"},
		{"oz wt,wt. oz.", Mass, "28.349523125"},
		{"mg,milligrams", Mass, "0.001"},
		{"g,gs,Gram,grams,grammes", Mass, "1"},
		{"kg,kilos,kilograms", Mass, "1000"},
		{"lb,lbs,pounds", Mass, "453.59237"},
		{"%,percent", Percent, "1"},
		{"%,wt%,wt %,g/100 g", Percent, "1"},
		{"g/kg,kg/t,‰", Percent, "0.1"},
		{"ppm,mg/kg,µg/g", Percent, "0.0001"},
		{"ppb,µg/kg", Percent, "1e-7"},
		{"g/l,g/L,kg/m3,kg/m³,mg/mL", Concentration, "1"},
		{"mg/l,g/m3", Concentration, "0.001"},
		{"µg/l,mg/m3", Concentration, "0.000001"},
		{"g/ml,g/cm3,kg/l", Concentration, "1000"},
		{"g/100 ml,g/dl", Concentration, "10"},
		{"lb/yd3,pcy", Concentration, "0.5932764211"},
		{"lb/gal", Concentration, "119.8264273"},
		{"oz/gal", Concentration, "7.489151707"},
		{"part,Parts", PartCount, "1"},
		{"piece,pieces,pc,pcs,each", PieceCount, "1"},
	} {
		first := strings.Split(test.names, ",")[0]
		for _, name := range strings.Split(test.names, ",") {
			unit, ok := units.Lookup(name)
			if !ok {
				t.Errorf("%q is unknown", name)
				continue
			}
			if unit.Name != first || unit.Kind != test.kind || unit.Size.String() != test.size {
				t.Errorf("%q is %+v, want %s, %v of %s", name, *unit, first, test.kind, test.size)
			}
		}
	}
	for _, name := range []string{"", "s", "es", "clx", "cl s", "c l", "oz/2", "dashs es"} {
		if unit, ok := units.Lookup(name); ok {
			t.Errorf("%q is %+v", name, *unit)
		}
	}
	if got := len(units.names); got != 50 {
		t.Errorf("there are %d units, want 50", got)
	}
}

func TestUnitsWith(t *testing.T) {
	units := DefaultUnits()
	for _, test := range []struct {
		name, size string
		as         string // a name it is then known under
		kind       Kind
		want       string
	}{
		{"dash", "0.08", "dashes", Volume, "0.08"},
		{"Dashes", "1 ml", "dash", Volume, "0.1"},
		{"jigger", "1.5 oz", "Jiggers", Volume, "4.436029434375"},
		{"jigger", "4", "jigger", Volume, "4"},
		{"lb", "500", "pounds", Mass, "500"},
		{"g", "0.1 cl", "grams", Volume, "0.1"},
		{"part", "3 cl", "parts", Volume, "3"},
		{"leaf", "1 piece", "leaf", PieceCount, "1"},
	} {
		with, err := units.With(test.name, test.size)
		if err != nil {
			t.Errorf("%s of %s: %v", test.name, test.size, err)
			continue
		}
		unit, ok := with.Lookup(test.as)
		if !ok || unit.Kind != test.kind || unit.Size.String() != test.want {
			t.Errorf("%s of %s makes %s %+v, want %v of %s", test.name, test.size, test.as, unit, test.kind, test.want)
		}
	}
	for _, test := range []struct{ name, size, want string }{
		{"", "1", "without a name"},
		{"dash", "", "no number"},
		{"dash", "x cl", `unreadable amount "x"`},
		{"dash", "0 cl", "no size"},
		{"dash", "-1 cl", "negative"},
		{"dash", "1 clx", `unknown unit "clx": did you mean "cl"?`},
		{"part", "3", "a number of what?"},
		{"ton", "1e29 kg", "out of range"},
	} {
		if _, err := units.With(test.name, test.size); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s of %q: got %v, want %q in it", test.name, test.size, err, test.want)
		}
	}
	if dash, _ := units.Lookup("dash"); dash.Size.String() != "0.09" || len(units.names) != 50 {
		t.Errorf("the units have changed: %+v", dash)
	}
}

// With a size in another kind, units of two kinds add up.
func TestReadWithUnits(t *testing.T) {
	const file = "recipe,ingredient,amount,unit\nKir,Gin,6,cl\nKir,Sugar,20,g\n"
	if _, err := Read(strings.NewReader(file), "book.csv", Options{}); err == nil {
		t.Fatal("volume and mass were added up")
	}
	units, err := DefaultUnits().With("g", "0.1 cl")
	if err != nil {
		t.Fatal(err)
	}
	book, err := Read(strings.NewReader(file), "book.csv", Options{Units: units})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := book.Closure(0, 100); err != nil || got[0] != 75 || got[1] != 25 {
		t.Errorf("got %v, %v, want 75 and 25", got, err)
	}
}
