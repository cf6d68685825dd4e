package view

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// groupsOf returns the groups of a figure: what each is of, its hover text, and its marks as SVG.
func groupsOf(f *figure.Figure) (all []struct{ entry, hover, marks string }) {
	for _, m := range regexp.MustCompile(`<g(?: data-entry="([^"]*)")?><title>([^<]*)</title>(.*?)</g>`).FindAllStringSubmatch(f.SVG(), -1) {
		all = append(all, struct{ entry, hover, marks string }{m[1], m[2], m[3]})
	}
	return all
}

// attribute returns the first number that marks have for an attribute.
func attribute(t *testing.T, marks, name string) float64 {
	t.Helper()
	m := regexp.MustCompile(` ` + name + `="([-.0-9]+)"`).FindStringSubmatch(marks)
	if m == nil {
		t.Fatalf("there is no %s in %s", name, marks)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shortlisted returns a report on recipes of a total of 100 units.
func shortlisted(recipes ...map[string]int) *report.Model {
	m := &report.Model{Problem: report.Problem{Total: 100}}
	for _, r := range recipes {
		m.Best = append(m.Best, report.Best{Recipe: r, Scores: map[string]report.Number{}, Values: map[string]report.Value{}})
	}
	return m
}

// TestTextIsLargeEnough checks that the text of each figure has 12 pixels or more on a telephone of
// 360 pixels, where a figure is 334 pixels wide, and that of a card 294.
func TestTextIsLargeEnough(t *testing.T) {
	for name, m := range map[string]*report.Model{"made": madeOf[report.Model](t, "summary.json"), "cocktails": cocktails(t).model} {
		for _, f := range Figures(m) {
			room := 334.0
			if strings.HasPrefix(f.Name, "best-") {
				room = 294
			}
			for _, size := range regexp.MustCompile(`font-size="([0-9.]+)"`).FindAllStringSubmatch(f.SVG(), -1) {
				if v, err := strconv.ParseFloat(size[1], 64); err != nil || v*room/f.Width < 12 {
					t.Errorf("%s: the figure %s is %v wide and has text of %s, %v", name, f.Name, f.Width, size[1], err)
					break
				}
			}
		}
	}
}

// TestHeldOutFigure checks that a recipe on the diagonal lies on it, that recipes are named, and that
// intervals are left out where they would hide the points.
func TestHeldOutFigure(t *testing.T) {
	of := &report.Forest{Unit: "cP"}
	if heldOutFigure(of, "held-out", "viscosity") != nil {
		t.Error("there is a figure of nothing")
	}
	of.HeldOut = []report.HeldOut{
		{Recipe: "as predicted", Measured: 50, Value: 50, Low: 40, High: 60}, {Recipe: "too high", Measured: 10, Value: 50, Low: 40, High: 60},
		{Recipe: "without an interval", Measured: 90, Value: 80, Low: report.UnknownNumber(), High: report.UnknownNumber()},
	}
	f := heldOutFigure(of, "held-out", "viscosity")
	groups := groupsOf(f)
	if len(groups) != 3 || groups[1].hover != "too high: predicted 50.0, measured 10.0" {
		t.Fatalf("the recipes are %+v", groups)
	}
	right := attribute(t, groups[0].marks, "cx") - 52 - (286 - attribute(t, groups[0].marks, "cy")) // of the ends of both axes
	if right > 0.1 || right < -0.1 {
		t.Errorf("a recipe measured as predicted is not on the diagonal: %s", groups[0].marks)
	}
	if a, b := attribute(t, groups[1].marks, "cy"), attribute(t, groups[0].marks, "cy"); a <= b {
		t.Errorf("what is measured lower is at %v, the other at %v", a, b)
	}
	for _, want := range []string{"predicted, cP", "measured, cP", "hold 1 of 2"} {
		if !strings.Contains(f.SVG(), want) {
			t.Errorf("there is no %q in %s", want, f.SVG())
		}
	}
	intervals := func(f *figure.Figure) int { return strings.Count(f.SVG(), `stroke-width="0.5"`) }
	few := intervals(f)
	for len(of.HeldOut) <= maxIntervalsShown {
		of.HeldOut = append(of.HeldOut, of.HeldOut[0])
	}
	if many := intervals(heldOutFigure(of, "held-out", "viscosity")); many >= few {
		t.Errorf("%d recipes have %d thin lines, three have %d", len(of.HeldOut), many, few)
	}
}

// TestHeatMap checks that larger shares are darker, that the known recipe comes first, and that each
// column is of its suggestion.
func TestHeatMap(t *testing.T) {
	m := shortlisted(map[string]int{"Gin": 60, "Lime": 39, "Salt": 1}, map[string]int{"Gin": 50, "Lime": 50})
	f := heatMapFigure(m, "Gimlet", map[string]int{"Gin": 75, "Cordial": 25})
	groups := groupsOf(f)
	var entries []string
	for _, g := range groups {
		entries = append(entries, g.entry)
	}
	if fmt.Sprint(entries) != "[known 1 2]" || !strings.HasPrefix(groups[0].hover, "Gimlet: Gin 75") || !strings.HasPrefix(groups[1].hover, "Suggestion 1: Gin 60") {
		t.Fatalf("the columns are %+v", groups)
	}
	if cells := strings.Count(groups[1].marks, "<rect"); cells != 3 {
		t.Errorf("the first suggestion has %d cells, want 3", cells)
	}
	if !strings.Contains(f.SVG(), ">known</text>") || !strings.Contains(f.Text, "Gin in 3, Lime in 2") {
		t.Errorf("the known recipe has no head, or the text is %q", f.Text)
	}
	for k, share := range []float64{0.001, 0.03, 0.1, 0.2, 0.5} {
		if got := heatOpacity(share); got != heatLevels()[k].opacity || k > 0 && got <= heatLevels()[k-1].opacity {
			t.Errorf("a share of %v has the opacity %v", share, got)
		}
	}
	if heatMapFigure(shortlisted(m.Best[0].Recipe), "", nil) != nil {
		t.Error("one recipe has a heat map")
	}
	wide := map[string]int{}
	for k := range maxHeatRows + 5 {
		wide[fmt.Sprint("ingredient ", k)] = 1
	}
	if f := heatMapFigure(shortlisted(wide, wide), "", nil); !strings.HasSuffix(f.Title, ": the 40 main ingredients of 45") || strings.Contains(f.SVG(), ">known<") {
		t.Errorf("the title is %q", f.Title)
	}
}

// TestParallel checks that there is an axis for each objective that counts, a line for each
// suggestion, and an arrow to the better end where there is one.
func TestParallel(t *testing.T) {
	m := shortlisted(map[string]int{"a": 100}, map[string]int{"b": 100}, map[string]int{"c": 100})
	m.Properties = []report.Property{
		{Name: "cost", Weight: 1, Values: []string{"cost"}}, {Name: "liking", Weight: 1}, {Name: "steady", Weight: 1, Values: []string{"steady"}}, {Name: "noted", Weight: 0},
	}
	for k := range m.Best {
		b := &m.Best[k]
		b.Values["cost"], b.Scores["cost"] = report.Value{Value: report.Number(10 + 5*k), Unit: "€/kg"}, report.Number(0.9-0.2*float64(k))
		b.Values["steady"], b.Scores["steady"] = report.Value{Value: report.Number(100 + 0.001*float64(k))}, 0.5
		b.Predicted = map[string]report.Prediction{"liking": {Value: report.Number(50 + 10*k)}}
		b.Scores["liking"] = report.Number([]float64{0.5, 0.9, 0.4}[k])
	}
	f := parallelFigure(m)
	groups := groupsOf(f)
	if len(groups) != 3 || groups[0].entry != "3" || groups[2].entry != "1" || groups[2].hover != "Suggestion 1: cost, €/kg 10.0, liking 50.0, steady 100" {
		t.Errorf("the lines are %+v", groups)
	}
	svg := f.SVG()
	for _, want := range []string{">cost, €/kg ← better</text>", ">liking</text>", ">steady</text>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("there is no %q in %s", want, svg)
		}
	}
	if strings.Contains(svg, "noted") {
		t.Error("an objective of weight 0 has an axis")
	}
	a := newParallelAxes(m, m.Best)[2]
	if a.scale.Hi-a.scale.Lo < 4 {
		t.Errorf("the axis of nearly equal values runs from %v to %v", a.scale.Lo, a.scale.Hi)
	}
	m.BestKnown = &report.BestKnown{Name: "old", Measured: map[string]report.Measurement{"liking": {Value: 20}}, Values: map[string]report.Value{"cost": {Value: 12}, "steady": {Value: 100}}}
	groups = groupsOf(parallelFigure(m))
	if last := groups[len(groups)-1]; last.entry != knownEntry || last.hover != "Your best, old: cost, €/kg 12.0, liking 20.0, steady 100" || !strings.Contains(last.marks, "dasharray") {
		t.Errorf("the best known is %+v", last)
	}
	m.BestKnown.Values["cost"] = report.Value{Value: report.UnknownNumber()}
	if n := len(groupsOf(parallelFigure(m))); n != 3 {
		t.Errorf("with an unknown cost of the best known there are %d lines", n)
	}
	m.Properties[0].Weight = 0
	if parallelFigure(m) != nil {
		t.Error("two objectives have parallel coordinates")
	}
}

// TestMapFigure checks that suggestions have their numbers, known recipes their names, and that the
// best known recipe is marked.
func TestMapFigure(t *testing.T) {
	m := shortlisted(map[string]int{"a": 100}, map[string]int{"b": 100})
	if mapFigure(m, "") != nil {
		t.Error("there is a map of nothing")
	}
	m.Map = &report.RecipeMap{
		Explained: 0.5, Left: []string{"a"}, Right: []string{"b"}, Upper: []string{"c"}, Draws: [][2]report.Number{{0, 0}, {1, 1}, {-1, 2}},
		Known: []report.MappedKnown{{Recipe: "old", At: [2]report.Number{0.5, 0}}, {Recipe: "best", At: [2]report.Number{0, 1}}}, Best: [][2]report.Number{{-1, 0}, {1, 0}},
	}
	f := mapFigure(m, "best")
	of := map[string][]string{}
	for _, g := range groupsOf(f) {
		of[g.entry+"|"+g.hover] = append(of[g.entry+"|"+g.hover], g.marks)
	}
	left, right := of["1|Suggestion 1: a 100 %"], of["2|Suggestion 2: b 100 %"]
	if len(left) != 2 || len(right) != 2 || len(of["|old"]) != 1 || len(of["known|Your best: best"]) != 1 {
		t.Fatalf("the points are %v", of)
	}
	if attribute(t, left[0], "cx") >= attribute(t, right[0], "cx") || !strings.Contains(left[1], ">1</text>") {
		t.Errorf("the suggestions are %v and %v", left, right)
	}
	if want := "More a at the left; b at the right; c at the top. The axes show 50.0 % of the differences between draws."; !strings.HasSuffix(f.Text, want) {
		t.Errorf("the text is %q", f.Text)
	}
}

// TestLabelsDoNotOverlap checks that numbers of points at one place lie beside each other, and that
// some are left out where there are too many.
func TestLabelsDoNotOverlap(t *testing.T) {
	l := labelPlacer{width: 100, height: 100}
	placed := 0
	for range 30 {
		if _, _, ok := l.place(50, 50, 4, "17"); ok {
			placed++
		}
	}
	if placed < 4 || placed == 30 || placed != len(l.taken) {
		t.Errorf("%d of 30 numbers are placed", placed)
	}
	for k, a := range l.taken {
		for _, b := range l.taken[:k] {
			if a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3] {
				t.Errorf("%v lies across %v", a, b)
			}
		}
	}
	if _, _, ok := l.place(-50, 50, 4, "17"); ok {
		t.Error("a number lies outside of the figure")
	}
}

// TestTernaryFigure checks that a recipe of one thing alone is at its corner.
func TestTernaryFigure(t *testing.T) {
	m := shortlisted(map[string]int{"a": 100}, map[string]int{"b": 100}, map[string]int{"c": 100}, map[string]int{"d": 100})
	if ternaryFigure(m, "") != nil {
		t.Error("there is a ternary plot of nothing")
	}
	unknown := report.UnknownNumber()
	m.Ternary = &report.Ternary{Corners: [3]string{"a", "b", "c"}, Best: [][3]report.Number{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {unknown, unknown, unknown}}}
	points := map[string]string{}
	for _, g := range groupsOf(ternaryFigure(m, "")) {
		if strings.Contains(g.marks, "<circle") {
			points[g.entry] = g.marks
		}
	}
	if len(points) != 3 {
		t.Fatalf("the points are %v", points)
	}
	x := func(entry string) float64 { return attribute(t, points[entry], "cx") }
	y := func(entry string) float64 { return attribute(t, points[entry], "cy") }
	if !(x("2") < x("1") && x("1") < x("3") && y("1") < y("2") && y("2") == y("3")) {
		t.Errorf("the corners are %v", points)
	}
}

// TestNetwork checks that pairs that are used apart are dashed, that a stronger pair is wider, and
// that there are at most 20 ingredients.
func TestNetwork(t *testing.T) {
	pairs := &report.Pairs{
		Together: []report.Pair{{First: "gin", Second: "tonic", Lift: 3, Expected: 1}, {First: "gin", Second: "lime", Lift: 1.2, Expected: 1}},
		Apart:    []report.Pair{{First: "cream", Second: "lime", Lift: 0.3, Expected: 0.9}},
	}
	groups := groupsOf(networkFigure(pairs))
	if len(groups) != 3+4 || groups[0].hover != "gin and tonic together: lift 3.00" || groups[1].hover != "cream and lime apart: lift 0.30" {
		t.Fatalf("the groups are %+v", groups)
	}
	for k, dashed := range []bool{false, true, false} {
		if strings.Contains(groups[k].marks, "dasharray") != dashed {
			t.Errorf("pair %d is drawn as %s", k, groups[k].marks)
		}
	}
	if a, b := attribute(t, groups[0].marks, "stroke-width"), attribute(t, groups[2].marks, "stroke-width"); a <= b {
		t.Errorf("a lift of 3 has a line of %v, one of 1.2 of %v", a, b)
	}
	if _, nodes := networkOf(pairs); fmt.Sprint(nodes) != "[gin tonic lime cream]" {
		t.Errorf("the order is %v", nodes)
	}
	for k := range 15 {
		pairs.Together = append(pairs.Together, report.Pair{First: fmt.Sprint("a", k), Second: fmt.Sprint("b", k), Lift: 2, Expected: 1})
	}
	if edges, nodes := networkOf(pairs); len(nodes) != maxNetworkNodes || len(edges) != 3+8 {
		t.Errorf("there are %d pairs of %d ingredients", len(edges), len(nodes))
	}
	if networkFigure(nil) != nil || networkFigure(&report.Pairs{}) != nil {
		t.Error("there is a network of nothing")
	}
}

// TestResponseFigures checks that the interval is a band along amounts and a bar for a category, and
// that all figures of a model have the same vertical axis.
func TestResponseFigures(t *testing.T) {
	of := &report.Forest{
		Total: 100, At: "the first suggestion", Unit: "cP",
		Responses: []report.Response{{Ingredient: "oil", Amount: 10, Sign: 1, Swing: 5, Points: []report.ResponsePoint{{Amount: 0, Value: 1, Low: 0, High: 2}, {Amount: 20, Value: 6, Low: 5, High: 9}}}},
		ConditionResponses: []report.ConditionResponse{{Condition: "oven", At: "fan", Swing: 1, Points: []report.ConditionResponsePoint{
			{At: "deck", Value: 3, Low: 2, High: 4}, {At: "fan", Value: 4, Low: 3, High: 5},
		}}},
	}
	all := responseFigures(of, "response-1", "viscosity")
	if len(all) != 2 || all[0].Name != "response-1-1" || all[1].Title != "How viscosity changes with oven" {
		t.Fatalf("the figures are %+v", all)
	}
	band := regexp.MustCompile(`<path d="M[^"]*Z" class="f-accent faint"/>`)
	if n := len(band.FindAllString(all[0].SVG(), -1)); n != 1 {
		t.Errorf("the interval along amounts is drawn by %d areas", n)
	}
	if n := strings.Count(all[1].SVG(), `class="f-accent faint"`); n != 2+1 || band.MatchString(all[1].SVG()) {
		t.Errorf("two categories and the key have %d bars", n)
	}
	for _, f := range all {
		for _, want := range []string{">predicted viscosity, cP</text>", ">8</text>", ">90 % interval</text>", ">the recipe</text>"} {
			if !strings.Contains(f.SVG(), want) {
				t.Errorf("%s has no %q", f.Name, want)
			}
		}
	}
}
