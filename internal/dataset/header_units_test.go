package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestHeaderUnits: the unit of a column of amounts is understood in brackets, behind a comma, a
// slash or the word in, and concentrations add up in a recipe as parts.
func TestHeaderUnits(t *testing.T) {
	for _, test := range []struct{ header, want string }{
		{"mix,Cement (kg/m3),Water [g/L],Salt (mg/l)", "Cement 300 g/l, Water 200 g/l, Salt 100 mg/l"},
		{"mix,Cement (kg/m³),Water (kg/m^3),Salt (g/m3)", "Cement 300 g/l, Water 200 g/l, Salt 100 mg/l"},
		{"mix,Resin (wt%),Filler (ppm),Dye [mg/kg]", "Resin 300 %, Filler 200 ppm, Dye 100 ppm"},
		{"mix,Gin (mL),Lime (cl),Bitters (dash)", "Gin 300 ml, Lime 200 cl, Bitters 100 dash"},
		{"mix,Oil (mg),Wax (g),Water (kg)", "Oil 300 mg, Wax 200 g, Water 100 kg"},
		{"mix,Cement (lb/yd3),Sand (lb/yd³),Water (pcy)", "Cement 300 lb/yd3, Sand 200 lb/yd3, Water 100 lb/yd3"},
		{"mix;Oil, g;Wax, g;Water, kg", "Oil 300 g, Wax 200 g, Water 100 kg"},
		{"mix;Egg, whole;Lime, wedge;Sugar, cube", "Egg, whole 300, Lime, wedge 200, Sugar, cube 100"},
		{"mix,Gin/cl,Rum in ml,Lime (cl)", "Gin 300 cl, Rum 200 ml, Lime 100 cl"},
	} {
		mark := ","
		if strings.Contains(test.header, ";") {
			mark = ";"
		}
		b, err := Read(strings.NewReader(test.header+"\n"+strings.Join([]string{"A", "300", "200", "100"}, mark)+"\n"), "book.csv", Options{})
		if err != nil {
			t.Errorf("%s: %v", test.header, err)
			continue
		}
		if got := flatten(b).Recipes[0]; got != "A: "+test.want {
			t.Errorf("%s is read as %s, want %s", test.header, got, test.want)
		}
	}
	_, err := Read(strings.NewReader("mix,Cement (kg/m3),Water (kg)\nA,300,200\n"), "book.csv", Options{})
	if err == nil || !strings.Contains(err.Error(), `mixes "g/l" (a mass in a volume) on line 2 with "Water" in "kg" (a mass)`) {
		t.Errorf("of a mass and a mass in a volume is said: %v", err)
	}
}

// concretes is a table as a laboratory of concrete keeps it: mixes measured at several ages, a
// column that sums up others, doses of another kind, and conditions.
func concretes() string {
	var b strings.Builder
	b.WriteString("Mix Name,Binder (kg/m3),Cement (kg/m3),Slag (kg/m3),w/b,Water (kg/m3),Sand (kg/m3),AE (oz/cwt),Temp (C),Age,Strength1 (psi),Strength (Mean),Strength (Std),Slump (in)\n")
	for k := range 24 {
		cement, slag := 200+k/2*7%90, 60+k/2*11%50
		fmt.Fprintf(&b, "M%d,%d,%d,%d,0.4,%d,%d,%.1f,%d,%d,%d,%d,%d,%.1f\n", k/2, cement+slag, cement, slag, 100+k/2%30, 700+k/2*13%200, float64(k/2%4), 20+k/2%3, 7+21*(k%2), 3000+k*37, 3010+k*37, 50+k, 4+float64(k%5)/2)
	}
	return b.String()
}

// TestTrialsOfOneName: where several rows are of one name, each row is a recipe, and only what has
// the unit of the amounts is an ingredient, but for what sums up others.
func TestTrialsOfOneName(t *testing.T) {
	b, err := Read(strings.NewReader(concretes()), "mixes.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Cement", "Slag", "Water", "Sand"}; !slices.Equal(b.Ingredients.Names, want) || len(b.Recipes) != 24 || b.Recipes[0].Name != "row 2" {
		t.Errorf("there are %d recipes, the first %q, of %v, want %v", len(b.Recipes), b.Recipes[0].Name, b.Ingredients.Names, want)
	}
	strength := slices.IndexFunc(b.Labels, func(l Label) bool { return l.Name == "Strength (Mean)" })
	if strength < 0 {
		t.Fatal("the strength is no label")
	}
	if of := b.SpreadLabels()[strength]; of < 0 || b.Labels[of].Name != "Strength (Std)" {
		t.Errorf("the standard deviations of the strength are in label %d", of)
	}
	again, err := Read(strings.NewReader(concretes()), "mixes.csv", Options{Layout: b.GuessedLayout})
	if err != nil || again.GuessedLayout.YAML() != "" || !slices.Equal(again.Ingredients.Names, b.Ingredients.Names) {
		t.Errorf("settled with %s it is %v, %v", b.GuessedLayout.YAML(), again, err)
	}
	// A long table of names that nobody knows stays one.
	if b, err := Read(strings.NewReader("Was,Womit,Wieviel,Wert\n"+strings.Repeat("A,Gin,1,2\nA,Rum,2,2\nB,Gin,1,3\n", 4)), "book.csv", Options{}); err == nil {
		t.Errorf("a long table without known names is read as %v", flatten(b))
	}
}

// TestUnknownClass: words that say that nothing is known are no classes.
func TestUnknownClass(t *testing.T) {
	b, err := Read(strings.NewReader("mix,Oil,Wax,kind,haze,ion\nA,1,2,NA,NA,Na\nB,2,1,thick,5,K\nC,1,1,n/a,6,Na\nD,3,1,thin,7,K\nE,3,2,?,8,K\n"), "book.csv", Options{Layout: Layout{Columns: map[string]Role{"haze": LabelColumn}}})
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := b.Label("kind")
	if !slices.Equal(kind.Classes, []string{"thick", "thin"}) || kind.MissingCount() != 3 || kind.Value(0) != "" || kind.Value(1) != "thick" {
		t.Errorf("the kind is %+v", kind)
	}
	haze, _ := b.Label("haze")
	if !haze.IsNumeric() || haze.MissingCount() != 1 {
		t.Errorf("the haze is %+v", haze)
	}
	if ion, _ := b.Label("ion"); !slices.Equal(ion.Classes, []string{"K", "Na"}) {
		t.Errorf("the ion is %v", ion.Classes)
	}
	if !slices.ContainsFunc(b.Notes, func(n Note) bool {
		return strings.Contains(n.Message, `"?", "NA", "n/a" in "kind" says that a class is not known`)
	}) {
		t.Errorf("the notes are %v", b.Notes)
	}
}

// TestUnwanted: of what costs and of flaws less is better, also with a unit behind.
func TestUnwanted(t *testing.T) {
	for name, want := range map[string]bool{"Turbidity_NTU": true, "Turbidity (NTU)": true, "haze": true, "Skin irritation": true, "stickiness [1-5]": true, "unit cost": true, "GWP": true,
		"bitterness": false, "viscosity": false, "clarity": false, "hazelnut": false} {
		if got := IsLowerBetterName(name); got != want {
			t.Errorf("less of %q is better: %v, want %v", name, got, want)
		}
	}
}
