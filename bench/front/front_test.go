package front

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/pareto"
	"kir/internal/search"
	"kir/internal/testonly/testmode"
)

// caseOf reads a problem whose trade-off is compared.
func caseOf(t *testing.T, path string) (*compile.Problem, *Case) {
	t.Helper()
	p, err := compile.Load(t.Context(), path, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	objectives, err := p.Objectives(p.Trade)
	if err != nil {
		t.Fatal(err)
	}
	c := new(Case)
	for _, o := range objectives {
		c.Objectives = append(c.Objectives, o.Objective)
	}
	if c.Target, err = p.TradeTarget(); err != nil {
		t.Fatal(err)
	}
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	c.Known, c.Least, c.Most = q.Known, q.Least, q.Most
	return p, c
}

// bent is a problem whose front bends inwards: each objective is reached by one ingredient
// alone, faster the purer, under rules that couple others.
const bent = `total: 100
ingredients: [a, b, c, d, e, f, g, h]
sparsity: {uniform: [2, 4]}
properties:
  one: {expression: {formula: 'share("a")^3 + 0.2*share("c")*share("d") - 0.3*share("e")', maximize: true}, weight: 0}
  two: {expression: {formula: 'share("b")^3 + 0.2*share("c")*share("f") - 0.3*share("g")', maximize: true}, weight: 0}
constraints:
  - amount: {of: "*", min: 3}
  - if: {used: a, then: {require: [h]}}
  - amount: {of: h, max: 20}
trade: [one, two]
`

// concrete writes the mixes of boxcrete.csv that were measured at 28 days, and a problem
// that trades strength for global warming potential, both learnt.
func concrete(t *testing.T, experiments string) string {
	t.Helper()
	file, err := os.Open(filepath.Join(experiments, "boxcrete.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[string]int)
	for k, name := range rows[0] {
		at[name] = k
	}
	columns := []string{"Cement (kg/m3)", "Fly Ash (kg/m3)", "Slag (kg/m3)", "Water (kg/m3)", "Fine Aggregate (kg/m3)", "Coarse Aggregates (kg/m3)"}
	table := "recipe,Cement,Fly ash,Slag,Water,Fine aggregate,Coarse aggregate,strength,GWP\n"
	for k, row := range rows[1:] {
		if row[at["Time"]] != "28" || row[at["Mortar or Concrete"]] != "Concrete" {
			continue
		}
		table += fmt.Sprintf("mix %d", k)
		for _, c := range columns {
			v := row[at[c]]
			if v == "" {
				v = "0"
			}
			table += "," + v
		}
		table += "," + row[at["Strength (Mean)"]] + "," + row[at["GWP"]] + "\n"
	}
	dir := t.TempDir()
	text := `recipes: mixes.csv
labels: [strength, GWP]
total: 1000
sparsity: recipes
properties:
  strength: {learn: {label: strength, maximize: true}}
  GWP: {learn: {label: GWP, minimize: true}}
trade: [strength, GWP]
`
	write(t, dir, "mixes.csv", table)
	return write(t, dir, "problem.yaml", text)
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBesideNSGA: on a front that bends inwards, on the efficient frontier of the example and
// on concrete, kir's hypervolume is at least that of NSGA-II at ten times the evaluations:
// within the same ideal and reference, the mean over three seeds each. Short, the frontier is
// left out and both have a tenth of the lines.
func TestBesideNSGA(t *testing.T) {
	cases := map[string]string{"bent inwards": write(t, t.TempDir(), "problem.yaml", bent)}
	if dir := os.Getenv("KIR_EXPERIMENTS"); dir != "" {
		cases["concrete"] = concrete(t, dir)
	}
	effort := 0.1
	if testmode.Enabled() {
		effort = 1
		cases["frontier"] = filepath.Join("..", "..", "examples", "portfolio", "frontier.yaml")
	}
	for name, path := range cases {
		t.Run(name, func(t *testing.T) {
			p, c := caseOf(t, path)
			lines := search.FrontLineBudget(p.Total, effort)
			var own, theirs [][][]float64
			var all [][]float64
			spent := 0
			for seed := range uint64(3) {
				got, err := search.TradeOff(t.Context(), c.Target, c.Objectives, search.TradeOptions{
					Lines: lines, Seed: seed, Starts: c.Known, Least: c.Least, Most: c.Most, SkipRandomVolumes: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				spent = max(spent, int(got.Lines))
				var points [][]float64
				for _, m := range got.Front {
					points = append(points, m.Losses)
				}
				own, all = append(own, points), append(all, points...)
			}
			for seed := range uint64(3) {
				points, err := c.Evolve(t.Context(), 10*spent, seed)
				if err != nil {
					t.Fatal(err)
				}
				theirs, all = append(theirs, points), append(all, points...)
			}
			ideal, nadir := pareto.Bounds(minimal(all))
			reference := pareto.HypervolumeReference(ideal, nadir)
			one := make([]float64, len(ideal))
			for k := range one {
				one[k] = 1
			}
			var said [2][]string
			var mean [2]float64
			for k, list := range [2][][][]float64{own, theirs} {
				for _, points := range list {
					v := pareto.Hypervolume(pareto.ScaleLosses(points, ideal, reference), one)
					mean[k] += v / float64(len(list))
					said[k] = append(said[k], fmt.Sprintf("%.5f", v))
				}
			}
			t.Logf("%d lines: kir %s, NSGA-II with %d evaluations %s", spent, strings.Join(said[0], " "), 10*spent, strings.Join(said[1], " "))
			if mean[0] < mean[1] {
				t.Errorf("kir has a hypervolume of %.5f, NSGA-II of %.5f", mean[0], mean[1])
			}
		})
	}
}
