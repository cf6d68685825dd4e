package assemble

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/internal/report"
	"kir/internal/run"
)

// tradedFiles is a problem that trades a class that was learnt and a number that was learnt
// for a price.
func tradedFiles() map[string]string {
	var book strings.Builder
	book.WriteString("recipe,a,b,c,taste,liking\n")
	for k := range 60 {
		a, b := 1+k*7%40, 1+k*11%25
		taste := "dull"
		if a > 20 {
			taste = "sharp"
		}
		fmt.Fprintf(&book, "r%d,%d,%d,%d,%s,%.2f\n", k, a, b, 80-a-b, taste, float64(a)/4+float64(k%3)/10)
	}
	return map[string]string{
		"book.csv":  book.String(),
		"stock.csv": "name,price €/kg\na,30\nb,5\nc,1\n",
		"problem.yaml": `total: 80
recipes: book.csv
ingredients: stock.csv
labels: [taste, liking]
properties:
  price: {blend: {attribute: price, minimize: true}}
  liking: {learn: {label: liking, maximize: true}}
  taste: {forest: {label: taste, want: sharp, trees: 30, floor: 0.01}}
trade: [price, liking, taste]
sampler: {draws: 200, chains: 2, warmup: 100, seed: 3}
`,
	}
}

// TestTradeoff: a front of a run is what its parts say: no recipe beats another by what is
// shown, values have units and intervals, draws are those of the run, and known recipes
// have what was measured.
func TestTradeoff(t *testing.T) {
	m := sample(t, tradedFiles())
	out := m.model.Tradeoff
	if out == nil || len(out.Front) < 5 || out.Found < len(out.Front) || len(out.Front) > defaultFrontLength {
		t.Fatalf("the trade-off is %+v", out)
	}
	directions := []config.Direction{config.Minimize, config.Maximize, config.Maximize}
	units := []string{"€/kg", "", "%"}
	for k, o := range out.Objectives {
		if o.Direction != directions[k] || o.Unit != units[k] {
			t.Errorf("objective %d is %+v", k, o)
		}
		sign := 1.0
		if o.Direction == config.Maximize {
			sign = -1
		}
		if !(sign*float64(o.Best) < sign*float64(o.Worst) && sign*float64(o.Worst) < sign*float64(o.Reference)) {
			t.Errorf("%s goes from %v to %v, and %v", o.Name, o.Best, o.Worst, o.Reference)
		}
		at := slices.IndexFunc(out.Front, func(p report.FrontPoint) bool { return slices.Contains(p.Best, o.Name) })
		if at < 0 || out.Front[at].Values[o.Name].Value != o.Best {
			t.Errorf("no recipe is the best in %s", o.Name)
		}
	}
	loss := func(p report.FrontPoint) []float64 {
		return []float64{float64(p.Values["price"].Value), -float64(p.Values["liking"].Value), -float64(p.Values["taste"].Value)}
	}
	for k, p := range out.Front {
		if p.Index != k+1 {
			t.Errorf("recipe %d has the index %d", k+1, p.Index)
		}
		price, units := 0.0, 0
		for name, amount := range p.Recipe {
			price += map[string]float64{"a": 30, "b": 5, "c": 1}[name] * float64(amount) / 80
			units += amount
		}
		if units != 80 || math.Abs(price-float64(p.Values["price"].Value)) > 1e-9 {
			t.Errorf("%v costs %v, not %v", p.Recipe, price, p.Values["price"])
		}
		for _, name := range []string{"liking", "taste"} {
			if v := p.Values[name]; !(v.Low <= v.Value && v.Value <= v.High && v.Low < v.High) {
				t.Errorf("%v has %s %+v", p.Recipe, name, v)
			}
		}
		for _, q := range out.Front {
			a, b := loss(p), loss(q)
			if a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2] && !slices.Equal(a, b) {
				t.Errorf("%v beats %v", p.Values, q.Values)
			}
		}
	}
	if v := out.Hypervolume; !(v.Value > 0.1 && v.Value < 1 && v.SE >= 0 && len(v.Each) == 4 && out.Random.Value < v.Value && out.Random.Compositions > 0) {
		t.Errorf("the hypervolume is %+v, that of random recipes %+v", v, out.Random)
	}
	if len(out.Draws) != 400 {
		t.Errorf("%d draws stand behind the front", len(out.Draws))
	}
	if len(out.Known) != 60 {
		t.Fatalf("%d known recipes", len(out.Known))
	}
	if r := out.Known[3]; r.Recipe != "r3" || r.Values[2] != 100 || math.Abs(float64(r.Values[1])-22.0/4) > 1e-9 {
		t.Errorf("a known recipe has %+v", r)
	}

	// The same again, whatever the number of workers, and without draws.
	trade, err := m.problem.SearchTradeOff(t.Context(), compile.TradeOptions{ObjectiveNames: m.problem.Trade, Effort: 0.1, Seed: 3, Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Tradeoff(m.problem, trade, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(again.Front) != fmt.Sprint(out.Front) || len(again.Draws) != 0 {
		t.Error("another front is found again")
	}
	if _, err := run.Open(t.Context(), m.store); err != nil {
		t.Fatal(err)
	}
}

// TestOneIsBest: where one recipe is the best of both there is no trade-off, and no figure
// is made up.
func TestOneIsBest(t *testing.T) {
	files := tradedFiles()
	files["problem.yaml"] = "total: 10\ningredients: stock.csv\nsparsity: {uniform: [1, 2]}\nproperties:\n  price: {blend: {attribute: price, minimize: true}}\n  again: {expression: {formula: 'mean(\"price\") * 2', minimize: true}}\ntrade: [price, again]\nsampler: {draws: 100, chains: 2}\n"
	files["stock.csv"] = "name,price\na,30\nb,5\nc,1\n"
	out := sample(t, files).model.Tradeoff
	if out.Found != 1 || len(out.Front) != 1 || len(out.Knees()) != 0 || out.Objectives[0].Reference.IsKnown() {
		t.Errorf("the trade-off is %+v", out)
	}
}

// TestTradeoffTies: recipes that cost the same do, though their costs are summed otherwise and
// differ in the last bit: none of the front beats another, as its headline says.
func TestTradeoffTies(t *testing.T) {
	differ := 0
	for _, factors := range [][3]int{{10, 20, 50}, {30, 20, 70}, {10, 70, 40}} {
		files := tradedFiles()
		files["problem.yaml"] = fmt.Sprintf(`total: 14
ingredients: stock.csv
sparsity: {uniform: [1, 3]}
properties:
  cost: {expression: {formula: 'units("a") * %d / 14 + units("b") * %d / 14 + units("c") * %d / 14', minimize: true}}
  spread: {expression: {formula: '(units("a") - units("b")) * (units("a") - units("b")) / 3 + units("c") * units("c") / 3', minimize: true}}
trade: [cost, spread]
sampler: {draws: 100, chains: 2}
`, factors[0], factors[1], factors[2])
		out := sample(t, files).model.Tradeoff
		whole := func(p report.FrontPoint) [2]int {
			a, b, c := p.Recipe["a"], p.Recipe["b"], p.Recipe["c"]
			return [2]int{factors[0]*a + factors[1]*b + factors[2]*c, (a-b)*(a-b) + c*c}
		}
		every := make(map[[2]int]bool)
		for a := range 15 {
			for b := range 15 - a {
				every[whole(report.FrontPoint{Recipe: map[string]int{"a": a, "b": b, "c": 14 - a - b}})] = true
			}
		}
		beaten := func(p [2]int) bool {
			for q := range every {
				if q != p && q[0] <= p[0] && q[1] <= p[1] {
					return true
				}
			}
			return false
		}
		seen := make(map[[2]int]bool)
		for _, p := range out.Front {
			w := whole(p)
			if beaten(w) || seen[w] {
				t.Errorf("%v: %v is on the front with %v", factors, p.Recipe, w)
			}
			seen[w] = true
			if v := float64(p.Values["cost"].Value); v != float64(w[0])/14 {
				differ++
			}
		}
		want := 0
		for p := range every {
			if !beaten(p) {
				want++
			}
		}
		if out.Found != want {
			t.Errorf("%v: %d recipes are found, there are %d", factors, out.Found, want)
		}
	}
	if differ == 0 {
		t.Error("no cost is rounded otherwise than as one quotient: the test shows nothing")
	}
}
