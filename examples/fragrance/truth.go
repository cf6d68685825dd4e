// Package fragrance knows how good a formula of the example is: a truth that is
// made up, from which ratings.csv was generated, so that what a forest promises
// of new formulas can be held against what they are worth.
package fragrance

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A Material is a row of ingredients.csv.
type Material struct {
	Name, Family, Note string
	Cost               float64 // euros a kilogram
	MaxDose            int     // grams in a thousand
}

//go:embed ingredients.csv
var ingredients string

// Materials returns the rows of ingredients.csv.
func Materials() ([]Material, error) {
	rows, err := csv.NewReader(strings.NewReader(ingredients)).ReadAll()
	if err != nil {
		return nil, err
	}
	var all []Material
	for _, row := range rows[1:] {
		cost, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			return nil, fmt.Errorf("the cost of %s: %w", row[0], err)
		}
		dose, err := strconv.Atoi(row[4])
		if err != nil {
			return nil, fmt.Errorf("the dose of %s: %w", row[0], err)
		}
		all = append(all, Material{row[0], row[1], row[2], cost, dose})
	}
	return all, nil
}

// A Truth tells how good a formula is.
type Truth struct {
	materials []Material
	best      []float64 // the dose, in grams, at which a material does most
	merit     []float64 // what it does there
}

// NewTruth returns the truth of these materials. A material's best dose is
// uniform between 0.2 and 0.8 of its greatest one, and its merit normal; the
// random numbers are those of math/rand/v2, PCG with the seed (2000, 2).
func NewTruth(materials []Material) *Truth {
	r := rand.New(rand.NewPCG(2000, 2))
	t := &Truth{materials: materials}
	for _, m := range materials {
		t.best = append(t.best, float64(m.MaxDose)*(0.2+0.6*r.Float64()))
		t.merit = append(t.merit, r.NormFloat64())
	}
	return t
}

// Best returns the dose, in grams, at which a material does most.
func (t *Truth) Best(i int) float64 { return t.best[i] }

// Quality returns how good a formula is, from 0 to 100: grams in a thousand by
// material. It is 100/(1+e^−z), where z adds up
//
//   - the accord: −(share−wanted)²/(2·width²) of citrus (0.25, 0.12), floral
//     (0.35, 0.12) and wood, amber and musk together (0.30, 0.12);
//   - the base: −(0.2−share)·4 where base notes are less than 0.2;
//   - what does not go together: −1.2·√(shares' product)·10 for marine with
//     gourmand or amber, animalic with citrus, and aldehydic with fruity;
//   - the materials: 0.22·merit·u·(2−u) with u = dose/best, which is greatest at
//     the best dose; from twice that on −0.22·|merit|·u·(u−2), but not under −1.5;
//   - one pair of materials in eight: affinity·min(1, u)·min(1, v), with a normal
//     affinity of standard deviation 0.35;
//
// and 1, divided by 3.
func (t *Truth) Quality(grams map[int]float64) float64 {
	z := t.Accord(grams)
	var used []int
	for i := range t.materials { // in this order, so that sums are the same each time
		g := grams[i]
		if g == 0 {
			continue
		}
		used = append(used, i)
		u := g / t.best[i]
		effect := t.merit[i] * u * (2 - u)
		if u > 2 { // too much of anything is bad
			effect = -math.Abs(t.merit[i]) * u * (u - 2)
		}
		z += max(0.22*effect, -1.5)
	}
	for n, i := range used {
		for _, j := range used[:n] {
			z += t.affinity(j, i) * min(1, grams[i]/t.best[i]) * min(1, grams[j]/t.best[j])
		}
	}
	return 100 / (1 + math.Exp(-z/3))
}

// Accord returns the part of z that families and notes tell: 1, the accord, the base,
// and what does not go together.
func (t *Truth) Accord(grams map[int]float64) float64 {
	share := make(map[string]float64)
	for i := range t.materials {
		m := &t.materials[i]
		share[m.Family] += grams[i] / 1000
		share["note "+m.Note] += grams[i] / 1000
	}
	away := func(have, want float64) float64 { return (have - want) * (have - want) / (2 * 0.12 * 0.12) }
	z := 1 - away(share["citrus"], 0.25) - away(share["floral"], 0.35) - away(share["woody"]+share["amber"]+share["musk"], 0.30)
	z -= 4 * max(0, 0.2-share["note base"])
	for _, pair := range [][2]string{{"marine", "gourmand"}, {"marine", "amber"}, {"animalic", "citrus"}, {"aldehydic", "fruity"}} {
		z -= 12 * math.Sqrt(share[pair[0]]*share[pair[1]])
	}
	return z
}

// affinity returns what materials i < j do for each other.
func (t *Truth) affinity(i, j int) float64 {
	r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
	if r.IntN(8) > 0 {
		return 0
	}
	return 0.35 * r.NormFloat64()
}
