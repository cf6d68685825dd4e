package compile

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/config/schema"
	"kir/mcmc"
	"kir/model"
)

// drinks is a table of 60 drinks of four ingredients, whose rating is a smooth function
// of the gin and the kind of the rest, with every tenth a failure.
func drinks(t *testing.T, properties string) (*Problem, error) {
	t.Helper()
	var rows, stock strings.Builder
	rows.WriteString("recipe,Gin,Rum,Lime juice,Lemon juice,rating,taste\n")
	for k := range 60 {
		gin, rum, lime := 10+(k*7)%60, (k*13)%20, (k*5)%15
		lemon := 100 - gin - rum - lime
		rating := fmt.Sprintf("%.2f", 50+30*math.Sin(float64(gin)/15)+float64(k%3))
		if k%10 == 9 {
			rating = []string{"failed", "n/a", "curdled"}[k/10%3]
		}
		taste := "long"
		if gin+rum > 50 {
			taste = "strong"
		}
		fmt.Fprintf(&rows, "drink %d,%d,%d,%d,%d,%s,%s\n", k+1, gin, rum, lime, lemon, rating, taste)
	}
	stock.WriteString("name,kind\nGin,spirit\nRum,spirit\nLime juice,juice\nLemon juice,juice\n")
	dir := t.TempDir()
	for name, text := range map[string]string{"recipes.csv": rows.String(), "stock.csv": stock.String(), "problem.yaml": "recipes: recipes.csv\ningredients: stock.csv\ntotal: 100\nproperties:\n  p: {" + properties + "}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(t.Context(), filepath.Join(dir, "problem.yaml"), Options{})
}

// What is learnt of a number is an average, with failures as data; the recipes of the
// book have held-out scores, and failures none.
func TestLearn(t *testing.T) {
	p, err := drinks(t, "learn: {label: rating, maximize: true, failed: curdled, trees: 40}")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m := p.Properties[0].Model.(*model.LearnedModel)
	if m.Rows() != 54 || m.FailedCount() != 6 || m.Process() == nil || m.Forest().TreeCount() != 40 {
		t.Errorf("%d rows, %d failures, process %v", m.Rows(), m.FailedCount(), m.Process() != nil)
	}
	if q := m.Quality(); q.Numbers == nil || q.Numbers.R2 < 0.8 {
		t.Errorf("%+v", q.Numbers)
	}
	if len(p.Warnings) != 2 || !strings.Contains(p.Warnings[1], `6 of 60 recipes failed, as their rating says ("curdled", "failed", "n/a")`) {
		t.Errorf("warnings: %q", p.Warnings)
	}
	for _, words := range []string{"learn:", "trees: 40", "log: false", "failed: curdled", "maximize: true"} {
		if !strings.Contains(string(p.Resolved), words) {
			t.Errorf("resolved without %q:\n%s", words, p.Resolved)
		}
	}
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	scores, err := q.KnownScores()
	if err != nil {
		t.Fatal(err)
	}
	for r, y := range scores {
		if failed := r%10 == 9; failed != math.IsNaN(y) {
			t.Errorf("recipe %d: %v", r+1, y)
		}
	}
	own, other, err := q.HalfTargets(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := mcmc.NewComposition(4, mcmc.Part{Ingredient: 0, Amount: 25}, mcmc.Part{Ingredient: 3, Amount: 75})
	if err != nil {
		t.Fatal(err)
	}
	a, b := math.Exp(own.Objectives()[0].Property.LogScore(x)), math.Exp(other.Objectives()[0].Property.LogScore(x))
	if math.Abs(a-b) > 0.3 || a == b {
		t.Errorf("models of the halves say %v and %v", a, b)
	}
}

// The kinds of the ingredients are used without being asked for.
func TestLearnKinds(t *testing.T) {
	p, err := drinks(t, "learn: {label: taste, want: strong}")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := p.Properties[0]
	if m := w.Model.(*model.LearnedModel); m.Numeric() || m.Process() != nil || m.Choice() == nil {
		t.Errorf("numeric %v, choice %+v", m.Numeric(), m.Choice())
	} else if name := m.Choice().Tried[m.Choice().Chosen].Name; !strings.Contains(name, "totals by kind") {
		t.Errorf("chosen are %q", name)
	}
	if strings.Contains(string(p.Resolved), "log:") {
		t.Errorf("resolved:\n%s", p.Resolved)
	}
}

// A process alone, by bounds and of a logarithm.
func TestLearnProcess(t *testing.T) {
	p, err := drinks(t, "process: {label: rating, between: [60, 80], failed: curdled, log: true}")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m := p.Properties[0].Model.(*model.LearnedModel)
	if m.Forest() != nil || !m.Options().Log || !strings.Contains(p.Properties[0].About, "by its logarithm") {
		t.Errorf("%q, forest %v", p.Properties[0].About, m.Forest() != nil)
	}
	if _, err := drinks(t, "process: {label: rating, maximize: true}"); err == nil || !strings.Contains(err.Error(), "\"curdled\" in \"rating\" is not a number, while 54 others are") {
		t.Errorf("a value that is no number: %v", err)
	}
}

// A column of standard deviations tells what to trust, and the unit in a label's name
// stands beside what is predicted.
func TestLearnMeasured(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("recipe,flour,sugar,strength (MPa),strength sd,verdict,below,none\n")
	for k := range 40 {
		flour := 10 + (k*7)%80
		sd := 1
		y := 50 + 30*math.Sin(float64(flour)/20)
		if k%2 == 0 {
			sd = 40
			y += 40 * math.Sin(float64(k*k))
		}
		fmt.Fprintf(&rows, "r%d,%d,%d,%.2f,%d,good,-1,\n", k, flour, 100-flour, y, sd)
	}
	load := func(property string) (*Problem, error) {
		dir := t.TempDir()
		for name, text := range map[string]string{"recipes.csv": rows.String(), "problem.yaml": "recipes: {file: recipes.csv, columns: {\"strength (MPa)\": label, strength sd: label, below: label, none: label}}\ntotal: 100\nproperties:\n  p: {" + property + "}\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return Load(t.Context(), filepath.Join(dir, "problem.yaml"), Options{})
	}
	off := func(property string) float64 {
		p, err := load(property)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if p.Properties[0].Unit != "MPa" {
			t.Errorf("%s: the unit is %q", property, p.Properties[0].Unit)
		}
		sum := 0.0
		for flour := int32(10); flour < 90; flour++ {
			gap := p.Properties[0].Model.Predict([]int32{flour, 100 - flour}).Value - (50 + 30*math.Sin(float64(flour)/20))
			sum += gap * gap / 80
		}
		return math.Sqrt(sum)
	}
	for _, kind := range []string{"learn", "process"} {
		blind := off(kind + `: {label: "strength (MPa)", maximize: true}`)
		told := off(kind + `: {label: "strength (MPa)", maximize: true, sd: strength sd}`)
		if !(told < 0.9*blind) {
			t.Errorf("%s: off by %v without standard deviations, %v with them", kind, blind, told)
		}
	}
	for property, want := range map[string]string{
		`learn: {label: "strength (MPa)", maximize: true, sd: width}`:          `the recipes have no label "width"`,
		`learn: {label: "strength (MPa)", maximize: true, sd: verdict}`:        "is not a number",
		`learn: {label: "strength (MPa)", maximize: true, sd: below}`:          "a recipe has the standard deviation -1",
		`learn: {label: "strength (MPa)", maximize: true, sd: none}`:           "has a standard deviation in",
		`learn: {label: verdict, want: good, sd: strength sd}`:                 "sd",
		`process: {label: strength sd, maximize: true, sd: "strength (MPa)x"}`: "no label",
	} {
		p, err := load(property)
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", property, err)
		}
	}
}

// A problem file may ask for as many trees as a forest can have. Package config does not know package model.
func TestMaxTrees(t *testing.T) {
	if schema.MaxTrees != model.MaxTrees {
		t.Errorf("a file may ask for %d trees, and a forest has at most %d", schema.MaxTrees, model.MaxTrees)
	}
}
