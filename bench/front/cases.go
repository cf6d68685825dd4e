package front

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kir/internal/compile"
	"kir/internal/search"
	"kir/mcmc"
)

// A Case is what is to be traded off.
type Case struct {
	Target      *mcmc.Target
	Objectives  []search.Objective
	Known       []*mcmc.Composition
	Least, Most []int
}

// Read reads a problem whose trade-off is compared. The caller closes the problem.
func Read(ctx context.Context, path string) (*compile.Problem, *Case, error) {
	p, err := compile.Load(ctx, path, compile.Options{})
	if err != nil {
		return nil, nil, err
	}
	c, err := newCase(p)
	if err != nil {
		return nil, nil, errors.Join(err, p.Close())
	}
	return p, c, nil
}

func newCase(p *compile.Problem) (*Case, error) {
	objectives, err := p.Objectives(p.Trade)
	if err != nil {
		return nil, err
	}
	c := new(Case)
	for _, o := range objectives {
		c.Objectives = append(c.Objectives, o.Objective)
	}
	if c.Target, err = p.TradeTarget(); err != nil {
		return nil, err
	}
	q, err := p.SearchQuestion()
	if err != nil {
		return nil, err
	}
	c.Known, c.Least, c.Most = q.Known, q.Least, q.Most
	return c, nil
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

// WriteBent writes the problem whose front bends inwards, and returns its file.
func WriteBent(dir string) (string, error) { return write(dir, "problem.yaml", bent) }

// WriteConcrete writes the mixes of boxcrete.csv that were measured at 28 days, and a problem
// that trades strength for global warming potential, both learnt.
func WriteConcrete(dir, experiments string) (string, error) {
	file, err := os.Open(filepath.Join(experiments, "boxcrete.csv"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return "", err
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
	text := `recipes: mixes.csv
labels: [strength, GWP]
total: 1000
sparsity: recipes
properties:
  strength: {learn: {label: strength, maximize: true}}
  GWP: {learn: {label: GWP, minimize: true}}
trade: [strength, GWP]
`
	if _, err := write(dir, "mixes.csv", table); err != nil {
		return "", err
	}
	return write(dir, "problem.yaml", text)
}

func write(dir, name, text string) (string, error) {
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, []byte(text), 0o644)
}
