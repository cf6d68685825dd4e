package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hill is a table of all recipes of three ingredients in tenths, measured without noise;
// the best has 5 of a and 3 of b.
func hill(t *testing.T) *oracle {
	t.Helper()
	text := "recipe,ingredient,amount,y\n"
	for a := range 13 {
		for b := range 13 - a {
			y := 100 - (a-6)*(a-6) - 2*(b-3)*(b-3)
			for k, v := range []int{a, b, 12 - a - b} {
				if v > 0 {
					text += fmt.Sprintf("r%d %d,%c,%d,%d\n", a, b, 'a'+k, v, y)
				}
			}
		}
	}
	path := filepath.Join(t.TempDir(), "hill.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := readBook(t.Context(), path, table{file: path, label: "y", total: 12})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestReplay: campaigns begin alike, their regret never grows, the same seed gives the same
// campaign, and one that learns finds the top of a hill.
func TestReplay(t *testing.T) {
	o := hill(t)
	if len(o.recipes) != 91 || o.best != 100 {
		t.Fatalf("%d recipes, the best %g", len(o.recipes), o.best)
	}
	var starts []float64
	for _, a := range []arm{{"random", random}, {"shortlist", shortlist}, {"next", next}} {
		r, err := replayOne(t.Context(), o, a, 3, 8)
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, r.Regret[0])
		if !slices.IsSortedFunc(r.Regret, func(a, b float64) int { return int(b - a) }) || len(r.Regret) != rounds(o, 8)+1 {
			t.Errorf("%s: regret %v", a.name, r.Regret)
		}
		again, err := replayOne(t.Context(), o, a, 3, 8)
		if err != nil || !slices.Equal(again.Regret, r.Regret) {
			t.Errorf("%s again: %v, %v", a.name, again, err)
		}
		if last := r.Closed[len(r.Closed)-1]; a.name == "next" && (last != 1 || len(r.Left) != len(r.Regret)-1) {
			t.Errorf("next closed %g of the gap; left %v", last, r.Left)
		}
	}
	if starts[0] != starts[1] || starts[0] != starts[2] {
		t.Errorf("they begin at %v", starts)
	}
}

// TestReplayUnderConditions: what is set beside a recipe is found with it, and no batch has more values of a condition
// than it may.
func TestReplayUnderConditions(t *testing.T) {
	text := "a,b,c,heat,oven,y\n"
	for a := range 7 {
		for b := range 7 - a {
			for heat := range 4 {
				for oven := range 2 {
					text += fmt.Sprintf("%d,%d,%d,%d,%c,%d\n", a, b, 6-a-b, 150+10*heat, 'A'+oven, 100-(a-3)*(a-3)-2*(b-2)*(b-2)-5*(heat-2)*(heat-2)+4*oven)
				}
			}
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ovens.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := readOracle(t.Context(), dir, table{file: "ovens.csv", columns: []string{"a", "b", "c"}, label: "y", total: 6,
		conditions: []condition{{name: "heat", number: true, alike: 2}, {name: "oven"}}})
	if err != nil || len(o.recipes) != 28*8 || o.best != 104 {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, a := range []arm{{"random", random}, {"next", next}} {
		watched := arm{a.name, func(ctx context.Context, p *replay) ([]int, error) {
			batch, err := a.choose(ctx, p)
			for k := range batch {
				if !o.fits(batch[:k], batch[k]) {
					t.Errorf("%s: a batch has more than two heats", a.name)
				}
			}
			return batch, err
		}}
		r, err := replayOne(t.Context(), o, watched, 3, 8)
		if err != nil {
			t.Fatal(err)
		}
		if last := r.Closed[len(r.Closed)-1]; a.name == "next" && last != 1 {
			t.Errorf("next closed %g of the gap", last)
		}
	}
}

// TestKept: campaigns that were kept are read, but for the end of an interrupted one, and
// reported.
func TestKept(t *testing.T) {
	o := hill(t)
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	for seed := range uint64(2) {
		for _, name := range []string{"random", "next"} {
			r := &record{Oracle: o.name, Arm: name, Seed: seed, Batch: 8, Regret: []float64{10, 4, float64(seed)}, Closed: []float64{0, 0.6, 1 - float64(seed)/10}}
			if name == "next" {
				r.Left = []float64{0.9, 0.01}
			}
			if err := appendLine(path, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"oracle":"hi`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := readKept(path)
	if err != nil || len(kept) != 4 {
		t.Fatalf("%d, %v", len(kept), err)
	}
	var b strings.Builder
	report(&b, []*oracle{o}, []string{"random", "next"}, kept, 8, seedsFrom(0, 2))
	calibration(&b, []*oracle{o}, "next", kept, 8, seedsFrom(0, 2))
	for _, want := range []string{"| hill | 91 |", " 0.5 ± 0.5 (0.50) |", "| next | 95.0 | 95.0 ± 5.0 | +0.0 ± 0.0 |", "| 0 to 0.05 | 2 | 100 | 40.0 |", "| 0.8 to 1 | 2 | 100 | 100.0 |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	picture := filepath.Join(t.TempDir(), "closed.svg")
	if err := saveFigure(picture, []*oracle{o}, []string{"random", "next"}, kept, 8, seedsFrom(0, 2)); err != nil {
		t.Fatal(err)
	}
	if svg, err := os.ReadFile(picture); err != nil || !strings.Contains(string(svg), "Share of the gap") {
		t.Errorf("%v\n%s", err, svg)
	}
}

// TestReplayTrade: a campaign for a trade-off keeps its batches, its regret never grows, the
// same seed gives the same campaign, and before each round it is known what is left.
func TestReplayTrade(t *testing.T) {
	o := hill(t)
	var err error
	if o.second, err = readSecond(t.Context(), "", table{prices: []float64{5, 1, 2}}, o); err != nil {
		t.Fatal(err)
	}
	var all [2]*record
	for k := range all {
		if all[k], err = replayOne(t.Context(), o, arm{"next", next}, 3, 8); err != nil {
			t.Fatal(err)
		}
	}
	r := all[0]
	n := rounds(o, 8)
	if !slices.Equal(r.Regret, all[1].Regret) || !slices.Equal(r.Said, all[1].Said) || len(r.Regret) != n+1 || len(r.More) != n || len(r.Stop) != n || len(r.Said) != len(r.Came) || len(r.Said) == 0 {
		t.Errorf("%+v, and again %+v", r, all[1])
	}
	for k := range n {
		if r.Regret[k+1] > r.Regret[k] || (r.More[k] == 0) != (r.Regret[k] < 1e-12) {
			t.Errorf("regret %v, left to add %v", r.Regret, r.More)
		}
	}
	var b strings.Builder
	advice(&b, []*oracle{o}, "next", map[string]*record{r.key(): r}, 8, []uint64{3})
	if !strings.Contains(b.String(), fmt.Sprintf("Of %d rounds, next advised to stop before ", n)) || !strings.Contains(b.String(), "| all | ") {
		t.Error(b.String())
	}
}

// TestExport: what is printed for other programs begins campaigns as a replay does, and failures have no worth.
func TestExport(t *testing.T) {
	o := hill(t)
	o.values[o.order[0]] = math.NaN()
	var b strings.Builder
	if err := export(&b, []*oracle{o}, []uint64{3, 4}); err != nil {
		t.Fatal(err)
	}
	var e exported
	if err := json.Unmarshal([]byte(b.String()), &e); err != nil {
		t.Fatal(err)
	}
	if text, _ := o.problem(); e.Problem != text || e.Stock != "" || e.Second != nil || e.Settings != nil {
		t.Errorf("%+v", e)
	}
	if e.Name != "hill" || e.Total != 12 || len(e.Units) != 91 || len(e.Worth) != 91 || len(e.Starts) != 2 {
		t.Fatalf("%+v", e)
	}
	if want := o.start(rand.New(rand.NewPCG(4, 7))); !slices.Equal(e.Starts[4], want) {
		t.Errorf("seed 4 begins with %v, not %v", e.Starts[4], want)
	}
	for k, units := range e.Units {
		sum := 0
		for _, u := range units {
			sum += u
		}
		if sum != 12 || (e.Worth[k] == nil) != (k == o.order[0]) || (e.Results[k] == nil) != (k == o.order[0]) {
			t.Errorf("recipe %d: %v, worth %v", k, units, e.Worth[k])
		}
	}
}

// TestExportFurther: two objectives are printed so that more is better, with their losses on the table's scale.
// Conditions are printed as they are and as features.
func TestExportFurther(t *testing.T) {
	text := "a,b,y,heat,oven\n"
	for a := range 70 {
		text += fmt.Sprintf("%d,%d,%d,%d,%c\n", a, 69-a, a*(69-a), 150+10*(a%3), 'A'+a%2)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "two.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	of := table{file: "two.csv", columns: []string{"a", "b"}, label: "y", total: 69, minimize: true}
	read := func(of table) (e exported) {
		o, err := readOracle(t.Context(), dir, of)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := export(&b, []*oracle{o}, []uint64{0}); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(b.String()), &e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	priced := of
	priced.prices = []float64{1, 3}
	e := read(priced)
	// Recipe 69 is of a alone: the smallest y, and the smallest price.
	if e.Second[69] != -1 || *e.Worth[69] != 0 || e.Results[1]["y"] != 68 || !slices.Equal(e.Prices, priced.prices) || !slices.Equal(e.Scaled[69], []float64{0, 0}) ||
		math.Abs(e.Volume-1) > 1e-9 || !strings.HasPrefix(e.Stock, "name,price\n") || !strings.Contains(e.Problem, "trade: [y, z]") {
		t.Errorf("%+v", e)
	}
	heated := of
	heated.conditions = []condition{{name: "heat", number: true, alike: 1}, {name: "oven"}}
	e = read(heated)
	if !slices.Equal(e.Conditions, []exportedCondition{{"heat", true}, {"oven", false}}) || !slices.Equal(e.Settings[1], []any{160.0, "B"}) ||
		!slices.Equal(e.Features[1], []float64{0.5, 0, 1}) || !strings.Contains(e.Problem, `"heat": {values: [150, 160, 170]}`) {
		t.Errorf("%+v", e)
	}
}

// TestSecondIsGreater: a second objective that is the better the greater it is counts as such, and a known one by name
// is the price of each ingredient.
func TestSecondIsGreater(t *testing.T) {
	text := "a,b,c,y,z\n"
	for a := range 11 {
		for b := range 11 - a {
			text += fmt.Sprintf("%d,%d,%d,%d,%d\n", a, b, 10-a-b, a, 2*b)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "two.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	of := table{file: "two.csv", columns: []string{"a", "b", "c"}, label: "y", total: 10, second: "z", greater: true}
	o, err := readOracle(t.Context(), dir, of)
	if err != nil {
		t.Fatal(err)
	}
	// All recipes without c are on the front: y + z/2 is 10.
	if !slices.Equal(o.second.ideal, []float64{-10, -20}) || !slices.Equal(o.second.reference, []float64{1, 2}) || !strings.Contains(o.second.asked("maximize"), "label: z, maximize: true") {
		t.Errorf("%+v, asked %s", o.second, o.second.asked("maximize"))
	}
	of.second, of.greater, of.price = "", false, func(name string) float64 { return map[string]float64{"a": 3, "b": 1, "c": 2}[name] }
	if o, err = readOracle(t.Context(), dir, of); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.second.prices, []float64{3, 1, 2}) || !slices.Equal(o.second.ideal, []float64{-10, 1}) {
		t.Errorf("%+v", o.second)
	}
}

// TestReportVolumes: the report has the share of the hypervolume that each arm reached, and how much further kir next
// came, seed by seed.
func TestReportVolumes(t *testing.T) {
	o := hill(t)
	kept := make(map[string]*record)
	for name, regrets := range map[string][]float64{"next": {0.1, 0.2}, "random": {0.5, 0.4}} {
		for seed, regret := range regrets {
			r := &record{Oracle: o.name, Arm: name, Seed: uint64(seed), Batch: 8, Regret: []float64{0.9, regret}}
			kept[r.key()] = r
		}
	}
	var b strings.Builder
	reportVolumes(&b, []*oracle{o}, []string{"random", "next"}, kept, 8, seedsFrom(0, 3))
	if want := "| hill | 91 | 20 + 24 | 55.0 ± 5.0 | 85.0 ± 5.0 | +30.0 ± 10.0 |"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

// TestReplayEHVI: the reference arm keeps its batches of different untried recipes, and does better than random.
func TestReplayEHVI(t *testing.T) {
	o := hill(t)
	var err error
	if o.second, err = readSecond(t.Context(), "", table{prices: []float64{5, 1, 2}}, o); err != nil {
		t.Fatal(err)
	}
	last := make(map[string]float64)
	for _, a := range []arm{{"random", random}, {"ehvi", expected}} {
		r, err := replayOne(t.Context(), o, a, 3, 8)
		if err != nil {
			t.Fatal(err)
		}
		last[a.name] = r.Regret[len(r.Regret)-1]
	}
	if last["ehvi"] >= last["random"] {
		t.Errorf("regret %v", last)
	}
}
