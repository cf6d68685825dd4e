package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// A trade makes a problem: ingredients in phases with descriptors, a book of recipes that
// keep the frame, each with labels that follow from a hidden truth, and the problem file.
type trade struct {
	name        string
	ingredients int
	recipes     int
	total       int
	phases      []phase
	text        string // the problem file after name, total and the tables
	limits      int    // constituents that are limited, 0: none
}

// A phase is a part of the recipes of a trade.
type phase struct {
	name        string
	share       float64 // of the ingredients
	least, most float64 // of the total of a recipe
	used        [2]int  // ingredients of a recipe
	mean        [3]float64
}

// descriptors are the columns beside cost: a mean of each is what a truth depends on. A
// phase has a mean of each, and ingredients are normal about it.
var descriptors = [3]string{"polarity", "density", "strength"}

// trades are the problems, from the smallest to the largest.
var trades = []trade{
	{
		name: "paint", ingredients: 60, recipes: 150, total: 1000,
		phases: []phase{
			{"resin", 0.3, 0.3, 0.5, [2]int{1, 3}, [3]float64{3, 1.1, 2}},
			{"pigment", 0.25, 0.15, 0.35, [2]int{1, 3}, [3]float64{5, 3, 5}},
			{"solvent", 0.25, 0.15, 0.4, [2]int{1, 3}, [3]float64{6, 0.9, 0.5}},
			{"additive", 0.2, 0.005, 0.05, [2]int{1, 3}, [3]float64{4, 1, 8}},
		},
		text: `sparsity: {uniform: [6, 11]}
properties:
  opacity: {forest: {label: first, maximize: true, add: {totals: phase, means: [density, strength]}}}
  gloss: {learn: {label: second, maximize: true}}
  cost: {blend: {attribute: cost, minimize: true}}
constraints:
  - amount: {of: "*", max: max_dose}
  - group: {of: {phase: resin}, used: [1, 3], total: ["30%", "50%"]}
  - group: {of: {phase: additive}, used: [1, 3]}
  - ratio: {of: {phase: pigment}, to: {phase: resin}, min: 0.4, max: 0.8}
  - limit: {attribute: density, min: 1.45, max: 1.55}
  - limit: {attribute: polarity, of: {phase: solvent}, min: 5.5, max: 6}
`,
	},
	{
		name: "cream", ingredients: 200, recipes: 300, total: 1000,
		phases: []phase{
			{"water", 0.1, 0.5, 0.75, [2]int{1, 3}, [3]float64{10, 1, 0.1}},
			{"oil", 0.35, 0.1, 0.3, [2]int{2, 5}, [3]float64{2, 0.9, 3}},
			{"emulsifier", 0.2, 0.02, 0.08, [2]int{1, 3}, [3]float64{9, 1, 5}},
			{"active", 0.35, 0.005, 0.06, [2]int{1, 4}, [3]float64{5, 1.1, 9}},
		},
		text: `sparsity: {uniform: [8, 14]}
properties:
  feel: {forest: {label: first, maximize: true, add: {totals: phase, means: [polarity, strength], ratios: phase}}}
  stable: {forest: {label: good, want: yes, add: {totals: phase, means: polarity}}}
  cost: {blend: {attribute: cost, minimize: true}}
constraints:
  - amount: {of: "*", min: min_dose, max: max_dose}
  - group: {of: {phase: water}, used: [1, 3], total: ["50%", "75%"]}
  - group: {of: {phase: active}, used: [1, 4]}
  - ratio: {of: {phase: emulsifier}, to: {phase: oil}, min: 0.15, max: 0.25}
  - limit: {attribute: polarity, of: {phase: emulsifier}, min: 9, max: 9.5}
  - limit: {attribute: strength, min: 0.9, max: 1.1}
  - limit: {attribute: cost, max: 30}
  - limit: {property: stable, min: "60%"}
`,
	},
	{
		name: "drink", ingredients: 500, recipes: 200, total: 200,
		phases: []phase{
			{"base", 0.2, 0.2, 0.5, [2]int{1, 2}, [3]float64{1, 0.95, 40}},
			{"juice", 0.3, 0.2, 0.5, [2]int{1, 3}, [3]float64{3, 1.05, 0}},
			{"syrup", 0.2, 0.05, 0.2, [2]int{1, 2}, [3]float64{0, 1.3, 0}},
			{"spice", 0.3, 0.01, 0.1, [2]int{1, 2}, [3]float64{5, 1, 10}},
		},
		text: `sparsity: recipes
properties:
  liking: {learn: {label: first, maximize: true}}
  usual: {likeness: {by: amounts, floor: 0.01}}
  cost: {blend: {attribute: cost, minimize: true}}
constraints:
  - limit: {attribute: strength, min: 13, max: 14}
  - limit: {attribute: density, min: 1.02, max: 1.04}
  - limit: {attribute: polarity, min: 1.9, max: 2.1}
  - ratio: {of: {phase: syrup}, to: {phase: juice}, min: 0.2, max: 0.4}
`,
	},
	{
		name: "cleaner", ingredients: 1000, recipes: 250, total: 1000, limits: 60,
		phases: []phase{
			{"carrier", 0.1, 0.4, 0.8, [2]int{1, 2}, [3]float64{9, 1, 0}},
			{"surfactant", 0.4, 0.1, 0.4, [2]int{2, 4}, [3]float64{6, 1, 10}},
			{"builder", 0.2, 0.02, 0.2, [2]int{1, 3}, [3]float64{8, 1.6, 2}},
			{"scent", 0.3, 0.001, 0.02, [2]int{1, 4}, [3]float64{3, 0.9, 1}},
		},
		text: `sparsity: {uniform: [7, 12]}
properties:
  wash: {process: {label: first, maximize: true}}
  foam: {forest: {label: second, minimize: true, add: {means: [polarity, density, strength], totals: phase}}}
  cost: {blend: {attribute: cost, minimize: true}}
constraints:
  - amount: {of: "*", max: max_dose}
  - group: {of: {phase: carrier}, used: [1, 2], total: ["40%", "80%"]}
  - ratio: {of: {phase: builder}, to: {phase: surfactant}, min: 0.1, max: 0.5}
  - limit: {attribute: strength, min: 2, max: 2.4}
  - constituents: {file: constituents.csv}
  - limits: {file: limits.csv}
`,
	},
	{
		name: "perfume", ingredients: 2000, recipes: 400, total: 1000,
		phases: []phase{
			{"top", 0.3, 0.1, 0.3, [2]int{3, 8}, [3]float64{3, 0.9, 3}},
			{"heart", 0.35, 0.2, 0.45, [2]int{4, 9}, [3]float64{4, 0.95, 5}},
			{"base", 0.3, 0.15, 0.4, [2]int{3, 9}, [3]float64{5, 1, 8}},
			{"diluent", 0.05, 0.1, 0.3, [2]int{1, 2}, [3]float64{6, 1.1, 0}},
		},
		text: `sparsity: {uniform: [12, 28]}
properties:
  liking: {forest: {label: first, maximize: true, add: {totals: [phase, family], means: [polarity, strength, cost]}}}
  lasting: {forest: {label: second, at_least: 55, add: {totals: family, means: strength, ratios: phase}}}
  cost: {blend: {attribute: cost, minimize: true}}
constraints:
  - amount: {of: "*", max: max_dose}
  - ratio: {of: {phase: top}, to: {phase: base}, min: 0.5, max: 1}
  - limit: {attribute: strength, min: 4.5, max: 5}
  - limit: {attribute: cost, max: 60}
  - group: {of: {phase: diluent}, used: [1, 2], total: ["10%", "30%"]}
`,
	},
}

// families are groups across the phases.
const families = 12

// An ingredient has what the table of ingredients says of it.
type ingredient struct {
	name, phase, family string
	cost                float64
	values              [3]float64
	least, most         int     // units
	worth               float64 // what the truth says of it beyond its descriptors
}

// write writes the files of the problem into a directory.
func (t *trade) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(uint64(t.ingredients), 34))
	all := t.shelf(r)
	shelf := [][]string{{"name", "phase", "family", "cost", descriptors[0], descriptors[1], descriptors[2], "min_dose", "max_dose"}}
	for _, i := range all {
		shelf = append(shelf, []string{i.name, i.phase, i.family, number(i.cost), number(i.values[0]), number(i.values[1]), number(i.values[2]), strconv.Itoa(i.least), strconv.Itoa(i.most)})
	}
	if err := table(filepath.Join(dir, "ingredients.csv"), shelf); err != nil {
		return err
	}
	book := [][]string{{"recipe", "ingredient", "amount", "first", "second", "good"}}
	var recipes [][]int
	for k := range t.recipes {
		x := t.recipe(r, all)
		recipes = append(recipes, x)
		first, second, good := t.labels(r, all, x)
		for i, amount := range x {
			if amount > 0 {
				book = append(book, []string{fmt.Sprintf("recipe %03d", k+1), all[i].name, strconv.Itoa(amount), number(first), number(second), good})
			}
		}
	}
	if err := table(filepath.Join(dir, "recipes.csv"), book); err != nil {
		return err
	}
	if t.limits > 0 {
		if err := t.constituents(r, dir, all, recipes); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("name: %s\nrecipes: {file: recipes.csv, columns: {first: label, second: label, good: label}}\ningredients: ingredients.csv\ntotal: %d\n%s", t.name, t.total, t.text)
	return os.WriteFile(filepath.Join(dir, "problem.yaml"), []byte(text), 0o666)
}

// shelf makes the ingredients.
func (t *trade) shelf(r *rand.Rand) (all []ingredient) {
	for _, p := range t.phases {
		for k := range int(math.Round(p.share * float64(t.ingredients))) {
			i := ingredient{
				name: fmt.Sprintf("%s %03d", p.name, k+1), phase: p.name, family: fmt.Sprintf("family %02d", 1+r.IntN(families)),
				cost: round(20 * math.Exp(0.8*r.NormFloat64())), worth: 6 * r.NormFloat64(),
			}
			for d, mean := range p.mean {
				i.values[d] = round(math.Max(0, mean*(1+0.2*r.NormFloat64())))
			}
			i.least = max(1, int(0.02*p.least*float64(t.total)))
			i.most = max(2, int(p.most*float64(t.total)*(0.5+0.5*r.Float64())))
			all = append(all, i)
		}
	}
	return all
}

// recipe makes one that keeps the shares of the phases and the doses.
func (t *trade) recipe(r *rand.Rand, all []ingredient) []int {
	x := make([]int, len(all))
	left := t.total
	order := r.Perm(len(t.phases))
	// What the last phase takes is what is left; the largest is the last.
	slices.SortStableFunc(order, func(a, b int) int {
		return int(math.Copysign(1, t.phases[a].most-t.phases[b].most))
	})
	for at, k := range order {
		p := &t.phases[k]
		var of []int
		for i := range all {
			if all[i].phase == p.name {
				of = append(of, i)
			}
		}
		units := int((p.least + (p.most-p.least)*r.Float64()) * float64(t.total))
		if at == len(order)-1 {
			units = left
		}
		units = min(units, left)
		left -= units
		r.Shuffle(len(of), func(a, b int) { of[a], of[b] = of[b], of[a] })
		n := p.used[0] + r.IntN(p.used[1]-p.used[0]+1)
		for j, i := range of {
			if units == 0 {
				break
			}
			amount := units
			if j < n-1 {
				amount = max(1, int(float64(units)*(0.2+0.6*r.Float64())))
			}
			amount = min(amount, all[i].most, units)
			x[i] += amount
			units -= amount
		}
	}
	return x
}

// labels are what was measured of a recipe: two numbers from 0 to 100, and a class.
func (t *trade) labels(r *rand.Rand, all []ingredient, x []int) (first, second float64, good string) {
	var means [3]float64
	worth := 0.0
	share := make(map[string]float64)
	for i, amount := range x {
		s := float64(amount) / float64(t.total)
		for d := range means {
			means[d] += s * all[i].values[d]
		}
		share[all[i].phase] += s
		worth += s * all[i].worth
	}
	var off [3]float64 // from the middle of the frame, relative
	for d := range off {
		middle, sum := 0.0, 0.0
		for _, p := range t.phases {
			w := (p.least + p.most) / 2
			middle += w * p.mean[d]
			sum += w
		}
		off[d] = means[d]/(middle/sum) - 1
	}
	ratio := share[t.phases[1].name] / (share[t.phases[0].name] + 0.01)
	value := func(v float64) float64 { return round(min(max(v+4*r.NormFloat64(), 0), 100)) }
	first = value(70 - 150*off[0]*off[0] - 60*math.Abs(off[1]) + 2*worth - 8*math.Abs(math.Log(ratio+0.01)))
	second = value(50 + 60*off[2] - 40*off[0] - 3*worth)
	good = "no"
	if 100*off[0]*off[0]+20*math.Abs(off[2])+r.NormFloat64() < 4 {
		good = "yes"
	}
	return first, second, good
}

// constituents writes what is in the ingredients, and limits that nine in ten recipes of
// the book keep of each.
func (t *trade) constituents(r *rand.Rand, dir string, all []ingredient, recipes [][]int) error {
	shares := make([]map[int]float64, len(all))
	rows := [][]string{{"ingredient", "constituent", "share"}}
	for i := range all {
		shares[i] = make(map[int]float64)
		for range 1 + r.IntN(4) {
			k := r.IntN(t.limits)
			if _, has := shares[i][k]; !has {
				shares[i][k] = round(1 + 20*r.Float64())
				rows = append(rows, []string{all[i].name, fmt.Sprintf("constituent %02d", k+1), number(shares[i][k])})
			}
		}
	}
	if err := table(filepath.Join(dir, "constituents.csv"), rows); err != nil {
		return err
	}
	limits := [][]string{{"attribute", "min", "max"}}
	for k := range t.limits {
		var found []float64
		for _, x := range recipes {
			sum := 0.0
			for i, amount := range x {
				sum += float64(amount) * shares[i][k]
			}
			found = append(found, sum/float64(t.total))
		}
		slices.Sort(found)
		limits = append(limits, []string{fmt.Sprintf("constituent %02d", k+1), "", number(max(0.05, round(found[len(found)*9/10])))})
	}
	return table(filepath.Join(dir, "limits.csv"), limits)
}

func round(v float64) float64 { return math.Round(100*v) / 100 }

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// table writes a file of rows.
func table(name string, rows [][]string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	w := csv.NewWriter(f)
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return w.Error()
}
