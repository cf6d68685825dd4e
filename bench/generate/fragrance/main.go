// Command generate writes the files of the fragrance example, ingredients.csv and
// then formulas.csv, into its directory:
//
//	go run -C bench ./generate/fragrance
//
// The 2,000 ingredients are made up, and so is every number; families and notes
// are those that perfumers speak of. An ingredient belongs to one of twelve
// families. Its note, which tells how soon it evaporates, is top, heart or base
// with the family's probabilities (see the table below). Its cost, in euros a
// kilogram, is log-normal about the family's median with a standard deviation of
// the logarithm of 0.8, rounded to cents. Its greatest dose, in grams in a
// thousand, is 300, 100, 30, 10 or 3, with probabilities 0.1, 0.25, 0.3, 0.2 and
// 0.15: a few are for whole bouquets, many for traces.
//
// The random numbers are those of math/rand/v2, PCG with the seed (2000, 1).
//
// The formulas are what a house might have in its drawers: see formulas.go.
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// A family has a share of all ingredients, the probabilities of top and heart
// notes (base notes are the rest), and a median cost.
var families = []struct {
	name             string
	share            float64
	top, heart, cost float64
}{
	{"aldehydic", 0.05, 0.7, 0.3, 25},
	{"amber", 0.07, 0, 0.2, 70},
	{"animalic", 0.03, 0, 0.1, 150},
	{"aromatic", 0.09, 0.5, 0.5, 35},
	{"citrus", 0.12, 0.9, 0.1, 30},
	{"floral", 0.22, 0.1, 0.8, 60},
	{"fruity", 0.09, 0.5, 0.5, 30},
	{"gourmand", 0.05, 0.1, 0.4, 40},
	{"green", 0.06, 0.6, 0.4, 45},
	{"marine", 0.03, 0.4, 0.5, 50},
	{"musk", 0.06, 0, 0.1, 55},
	{"woody", 0.13, 0, 0.3, 45},
}

var (
	doses  = []int{300, 100, 30, 10, 3}
	chance = []float64{0.1, 0.25, 0.3, 0.2, 0.15}
)

const ingredients = 2000

// directory is that of the example, from this module's.
const directory = "../examples/fragrance"

func main() {
	if err := write(directory); err != nil {
		log.Fatal(err)
	}
	if err := writeFormulas(directory); err != nil {
		log.Fatal(err)
	}
}

// write writes the file into a directory.
func write(dir string) error {
	r := rand.New(rand.NewPCG(2000, 1))
	shares := make([]float64, len(families))
	for k, f := range families {
		shares[k] = f.share
	}
	rows := [][]string{{"name", "family", "note", "cost", "max_dose"}}
	counts := make([]int, len(families))
	for range ingredients {
		k := choose(r, shares)
		f := families[k]
		counts[k]++
		note := []string{"top", "heart", "base"}[choose(r, []float64{f.top, f.heart, max(0, 1-f.top-f.heart)})]
		cost := math.Round(100*f.cost*math.Exp(0.8*r.NormFloat64())) / 100
		rows = append(rows, []string{
			fmt.Sprintf("%s %03d", f.name, counts[k]), f.name, note,
			strconv.FormatFloat(cost, 'f', 2, 64), strconv.Itoa(doses[choose(r, chance)]),
		})
	}
	return writeRows(filepath.Join(dir, "ingredients.csv"), rows)
}

func writeRows(name string, rows [][]string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := csv.NewWriter(file).WriteAll(rows); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// choose returns k with a probability in proportion to its weight.
func choose(r *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := r.Float64() * sum
	last := 0
	for k, w := range weights {
		if w > 0 {
			if u < w {
				return k
			}
			last = k
		}
		u -= w
	}
	return last
}
