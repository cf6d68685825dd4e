package view

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"kir/internal/config"
	"kir/internal/report"
	"kir/internal/terminal"
)

// someTradeoff is a front with a knee, a name that wants to be more than text, and an
// interval where there is one.
func someTradeoff() *report.Tradeoff {
	unknown := report.UnknownNumber()
	t := &report.Tradeoff{
		Objectives: []report.Objective{
			{Name: "cost", Direction: config.Minimize, Unit: "€/kg", Low: unknown, High: unknown, Best: 1, Worst: 9, Reference: 9.8},
			{Name: "<b>thick\x1b", Direction: config.Between, Unit: "mPa·s", Low: 20, High: 40, Best: 30, Worst: 8, Reference: 6},
		},
		Found:       40,
		Hypervolume: report.Hypervolume{Value: 0.8, SE: 0.01, Each: []report.Number{0.79, 0.77}},
		Random:      report.Hypervolume{Value: 0.5, SE: 0.02, Each: []report.Number{0.5}, Compositions: 2500},
		Draws:       [][]report.Number{{5, 10}, {6, 12}, {5.5, 15}, {report.Number(math.NaN()), 3}},
		Known:       []report.KnownPoint{{Recipe: "Old", Values: []report.Number{4, 9}}},
		Warnings:    []string{"A warning."},
	}
	for k, v := range [][2]float64{{1, 8}, {2, 25}, {9, 30}} {
		t.Front = append(t.Front, report.FrontPoint{
			Index: k + 1, Recipe: map[string]int{"Water": 60 + k, "<i>Oil": 40 - k}, Knee: k == 1, Best: []string{},
			Values: map[string]report.Value{
				"cost":         {Value: report.Number(v[0]), Low: unknown, High: unknown, Unit: "€/kg"},
				"<b>thick\x1b": {Value: report.Number(v[1]), Low: report.Number(v[1] - 2), High: report.Number(v[1] + 2), Unit: "mPa·s"},
			},
		})
	}
	return t
}

func TestTradeoffText(t *testing.T) {
	var b bytes.Buffer
	if err := Tradeoff(&b, someTradeoff(), 100, terminal.Style{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"3 recipes, none of which beats another.", "In these recipes, cost is between 1.00 €/kg (best) and 9.00 €/kg,",
		"(wanted: 20.0 to 40.0 mPa·s)", "The knee is recipe 2 (cost 2.00 €/kg,", "spread evenly over the 40 such recipes",
		"(hypervolume; larger is better) 0.800; each of 2 searches alone reaches 0.780 ± 0.01, 2,500 random recipes (drawn without objectives) 0.500 ± 0.02 (standard error).", "A warning.",
		"2 * Water 61 %, <i>Oil 39 % 2.00 25.0 (23.0–27.0)", "● best trade-offs, ◆ knee, o known recipes, · draws",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.ContainsRune(b.String(), '\x1b') {
		t.Error("a name acts on the terminal")
	}
	for mark, count := range map[string]int{"●": 3, "◆": 2, "·": 3 + 1 + 3} { // one more in the key; and in mPa·s
		if got := strings.Count(b.String(), mark); got < count {
			t.Errorf("%d %s in\n%s", got, mark, b.String())
		}
	}
}

// TestTradeoffOfNothing: a front of one recipe, and an empty one, are shown without figures.
func TestTradeoffOfNothing(t *testing.T) {
	one, none := someTradeoff(), someTradeoff()
	one.Front, one.Found = one.Front[:1], 1
	none.Front, none.Found = nil, 0
	for want, of := range map[string]*report.Tradeoff{"No trade-off: one recipe is the best in cost and": one, "No recipe was found that meets the constraints.": none} {
		var b bytes.Buffer
		if err := Tradeoff(&b, of, 100, terminal.Style{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "●") {
			t.Errorf("no %q in\n%s", want, b.String())
		}
		if figures := TradeFigures(of); figures != nil {
			t.Errorf("%d figures", len(figures))
		}
	}
}

// TestTradeoffFigures: each two objectives have one, which says in words what it shows.
func TestTradeoffFigures(t *testing.T) {
	all := TradeFigures(someTradeoff())
	if len(all) != 1 || all[0].Name != "tradeoff-1-2" {
		t.Fatalf("%d figures", len(all))
	}
	svg := all[0].SVG()
	for _, want := range []string{"recipe 2 at 2.00 €/kg and 25.0 mPa·s", "&lt;b&gt;thick", "known recipes", "knee"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in %s", want, svg)
		}
	}
	three := someTradeoff()
	three.Objectives = append(three.Objectives, report.Objective{Name: "third", Direction: config.Maximize, Best: 5, Worst: 1})
	for k := range three.Front {
		three.Front[k].Values["third"] = report.Value{Value: report.Number(k)}
	}
	three.Draws, three.Known = nil, nil
	if n := len(TradeFigures(three)); n != 3 {
		t.Errorf("%d figures of three objectives", n)
	}
}
