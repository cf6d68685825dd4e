package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"

	"kir/examples/fragrance"
)

const (
	formulas = 500
	palette  = 150 // of the materials, which the house has
	noise    = 3   // standard deviation of a rating about the truth
	drafts   = 3   // of which a perfumer keeps the best, by a rating
)

// writeFormulas writes formulas.csv: a formula has 12 to 30 materials of the
// house's palette, of which the k-th is taken with probability ∝ 1/(k+10), in
// doses that are log-normal about the material's best one with a standard
// deviation of the logarithm of 0.6, within its greatest dose, and that are
// brought to a thousand grams. Of three drafts the one with the best rating is
// kept, and rated again. A rating is the truth and a normal error of 3, in tenths
// from 0 to 100.
//
// The random numbers are those of math/rand/v2, PCG with the seed (2000, 3).
func writeFormulas(dir string) error {
	materials, err := fragrance.Materials()
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(2000, 3))
	truth := fragrance.NewTruth(materials)
	house := r.Perm(len(materials))[:palette]
	rate := func(f map[int]float64) float64 {
		return math.Round(10*min(max(truth.Quality(f)+noise*r.NormFloat64(), 0), 100)) / 10
	}
	rows := [][]string{{"recipe", "ingredient", "amount", "unit", "rating"}}
	for k := range formulas {
		var kept map[int]float64
		best := -1.0
		for range drafts {
			f := draft(r, truth, materials, house)
			if rating := rate(f); rating > best {
				kept, best = f, rating
			}
		}
		rating := strconv.FormatFloat(rate(kept), 'f', 1, 64)
		for i := range materials {
			if g, used := kept[i]; used {
				rows = append(rows, []string{fmt.Sprintf("formula %03d", k+1), materials[i].Name, strconv.FormatFloat(g, 'f', 0, 64), "g", rating})
			}
		}
	}
	return writeRows(filepath.Join(dir, "formulas.csv"), rows)
}

// draft makes a formula of a thousand grams.
func draft(r *rand.Rand, truth *fragrance.Truth, materials []fragrance.Material, house []int) map[int]float64 {
	for {
		weights := make([]float64, len(house))
		for k := range house {
			weights[k] = 1 / float64(k+10)
		}
		f := make(map[int]float64)
		sum, room := 0.0, 0.0
		for range 12 + r.IntN(19) {
			k := choose(r, weights)
			weights[k] = 0
			i := house[k]
			f[i] = min(max(math.Round(truth.Best(i)*math.Exp(0.6*r.NormFloat64())), 1), float64(materials[i].MaxDose))
			sum += f[i]
			room += float64(materials[i].MaxDose)
		}
		if room < 1000 || sum < 300 {
			continue // too little of anything
		}
		if fill(f, sum, materials) {
			return f
		}
	}
}

// fill brings the doses to a thousand grams in proportion, as far as the greatest
// doses let it, and rounds them.
func fill(f map[int]float64, sum float64, materials []fragrance.Material) bool {
	var order []int
	for i := range f {
		order = append(order, i)
	}
	slices.Sort(order)
	for range 20 {
		for _, i := range order {
			f[i] = min(max(math.Round(f[i]*1000/sum), 1), float64(materials[i].MaxDose))
		}
		sum = 0
		for _, i := range order {
			sum += f[i]
		}
		if sum == 1000 {
			return true
		}
		if math.Abs(sum-1000) < 20 { // the last grams, one at a time
			for _, i := range order {
				step := math.Copysign(1, 1000-sum)
				if g := f[i] + step; sum != 1000 && g >= 1 && g <= float64(materials[i].MaxDose) {
					f[i] = g
					sum += step
				}
			}
		}
	}
	return sum == 1000
}
