package report

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"kir/internal/dataset"
	"kir/internal/run"
)

// TestRack: parts are in the order of the groups of the table, the largest first, and
// what is not known is told as that.
func TestRack(t *testing.T) {
	const table = "name,kind,shelf,cost,price\nSyrup,sugar,a,2,1\nGin,spirit,a,30,2\nRum,spirit,b,20,x\nIce,,,0.5,3\nVodka,spirit,a,15,4\nCola,sugar,b,0.1,2\n"
	in, err := dataset.ReadIngredients(strings.NewReader(table), "shelf.csv", dataset.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewIngredientOrder(in, "", "")
	parts := []Part{{"Ice", 9}, {"Cola", 3}, {"Beer", 20}, {"Gin", 5}, {"Lime", 20}, {"Syrup", 1}, {"Rum", 7}}
	r.Order(parts)
	if want := []Part{{"Cola", 3}, {"Syrup", 1}, {"Rum", 7}, {"Gin", 5}, {"Beer", 20}, {"Lime", 20}, {"Ice", 9}}; !slices.Equal(parts, want) {
		t.Errorf("the order is %v, want %v", parts, want)
	}
	if r.GroupOf("Gin") != "spirit" || r.GroupOf("Ice") != "" || r.GroupOf("Beer") != "" || r.CostOf("Rum") != 20 || !math.IsNaN(r.CostOf("Beer")) {
		t.Errorf("gin is of %q, beer of %q; rum costs %v, beer %v", r.GroupOf("Gin"), r.GroupOf("Beer"), r.CostOf("Rum"), r.CostOf("Beer"))
	}
	if named := NewIngredientOrder(in, "shelf", "price"); named.GroupOf("Rum") != "b" || named.Cost != nil || !math.IsNaN(named.CostOf("Gin")) {
		t.Errorf("by the columns that are named, rum is of %q, and gin costs %v", named.GroupOf("Rum"), named.CostOf("Gin"))
	}
	if none := NewIngredientOrder(nil, "", ""); none.GroupOf("Gin") != "" || !math.IsNaN(none.CostOf("Gin")) {
		t.Error("something is known of nothing")
	}
}

// A summary that cannot be is refused, and the one that it was made of is read.
func TestReadRefuses(t *testing.T) {
	data, err := os.ReadFile("assemble/testdata/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(m *Model){
		"":                func(*Model) {},
		"no log Z":        func(m *Model) { m.LogZ = nil },
		"no rungs":        func(m *Model) { m.Ladders[0].Rungs = nil },
		"no chains":       func(m *Model) { m.Sampler.Chains = 0 },
		"no total":        func(m *Model) { m.Problem.Total = 0 },
		"too much of one": func(m *Model) { m.Best[0].Recipe = map[string]int{"Gin": m.Problem.Total + 1} },
	} {
		m := new(Model)
		if err := json.Unmarshal(data, m); err != nil {
			t.Fatal(err)
		}
		change(m)
		store := run.NewDirectoryStore(t.TempDir())
		if err := m.Save(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), store); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
