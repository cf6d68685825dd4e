package dataset

import (
	"strings"
	"testing"

	"kir/internal/measure"
)

func TestDefaultUnits(t *testing.T) {
	units := measure.DefaultUnits()
	for _, test := range []struct {
		names string
		kind  measure.Kind
		size  string
	}{
		{"ml,mL,ML,milliliter,millilitres,ml.", measure.Volume, "0.1"},
		{"cl,CL,cls,centilitres", measure.Volume, "1"},
		{"dl,decilitre", measure.Volume, "10"},
		{"l,L,litre,liters", measure.Volume, "100"},
		{"oz,oz.,ounce,Ounces,fl oz,fl. oz.,Fl  Oz,fluid ounces", measure.Volume, "2.95735295625"},
		{"tbsp,tablespoon,table spoons", measure.Volume, "1.5"},
		{"tsp,tsps,Teaspoons,tea spoon", measure.Volume, "0.5"},
		{"bar spoon,Bar Spoons,barspoon,bsp", measure.Volume, "0.5"},
		{"dash,dashes,Dashes, dash ", measure.Volume, "0.09"},
		{"splash,splashes", measure.Volume, "0.25"},
		{"drop,drops", measure.Volume, "0.005"},
		{"whole", measure.Volume, "5"},
		{"cup,cups", measure.Volume, "24"},
		{"pint,pints,pt", measure.Volume, "47.3176473"},
		{"quart,qt", measure.Volume, "94.6352946"},
		{"shot,shots", measure.Volume, "4.436029434375"},
		{"jigger,jiggers", measure.Volume, "4.436029434375"},
		{"pony,ponies", measure.Volume, "2.95735295625"},
		{"pinch,pinches,Prise,pincée", measure.Volume, "0.03"},
		{"smidgen", measure.Volume, "0.015"},
		{"leaf,leaves,Blätter,feuilles", measure.Volume, "0.05"},
		{"sprig,sprigs", measure.Volume, "0.1"},
		{"wedge,wedges", measure.Volume, "0.7"},
		{"slice,slices,Scheiben", measure.Volume, "0.7"},
		{"clove,cloves", measure.Volume, "0.3"},
		{"cube,sugar cubes", measure.Volume, "0.23"},
		{"twist", measure.Volume, "0.1"},
		{"to taste,as needed,n. B.", measure.Volume, "0.03"},
		{"oz wt,wt. oz.", measure.Mass, "28.349523125"},
		{"mg,milligrams", measure.Mass, "0.001"},
		{"g,gs,Gram,grams,grammes", measure.Mass, "1"},
		{"kg,kilos,kilograms", measure.Mass, "1000"},
		{"lb,lbs,pounds", measure.Mass, "453.59237"},
		{"%,percent", measure.Percent, "1"},
		{"%,wt%,wt %,g/100 g", measure.Percent, "1"},
		{"g/kg,kg/t,‰", measure.Percent, "0.1"},
		{"ppm,mg/kg,µg/g", measure.Percent, "0.0001"},
		{"ppb,µg/kg", measure.Percent, "1e-7"},
		{"g/l,g/L,kg/m3,kg/m³,mg/mL", measure.Concentration, "1"},
		{"mg/l,g/m3", measure.Concentration, "0.001"},
		{"µg/l,mg/m3", measure.Concentration, "0.000001"},
		{"g/ml,g/cm3,kg/l", measure.Concentration, "1000"},
		{"g/100 ml,g/dl", measure.Concentration, "10"},
		{"lb/yd3,pcy", measure.Concentration, "0.5932764211"},
		{"lb/gal", measure.Concentration, "119.8264273"},
		{"oz/gal", measure.Concentration, "7.489151707"},
		{"part,Parts", measure.PartCount, "1"},
		{"piece,pieces,pc,pcs,each", measure.PieceCount, "1"},
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
	if got := len(units.Names()); got != 50 {
		t.Errorf("there are %d units, want 50", got)
	}
}

func TestUnitsWith(t *testing.T) {
	units := measure.DefaultUnits()
	for _, test := range []struct {
		name, size string
		as         string // a name it is then known under
		kind       measure.Kind
		want       string
	}{
		{"dash", "0.08", "dashes", measure.Volume, "0.08"},
		{"Dashes", "1 ml", "dash", measure.Volume, "0.1"},
		{"jigger", "1.5 oz", "Jiggers", measure.Volume, "4.436029434375"},
		{"jigger", "4", "jigger", measure.Volume, "4"},
		{"lb", "500", "pounds", measure.Mass, "500"},
		{"g", "0.1 cl", "grams", measure.Volume, "0.1"},
		{"part", "3 cl", "parts", measure.Volume, "3"},
		{"leaf", "1 piece", "leaf", measure.PieceCount, "1"},
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
	if dash, _ := units.Lookup("dash"); dash.Size.String() != "0.09" || len(units.Names()) != 50 {
		t.Errorf("the units have changed: %+v", dash)
	}
}

// With a size in another kind, units of two kinds add up.
func TestReadWithUnits(t *testing.T) {
	const file = "recipe,ingredient,amount,unit\nKir,Gin,6,cl\nKir,Sugar,20,g\n"
	if _, err := Read(strings.NewReader(file), "book.csv", Options{}); err == nil {
		t.Fatal("volume and mass were added up")
	}
	units, err := measure.DefaultUnits().With("g", "0.1 cl")
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
