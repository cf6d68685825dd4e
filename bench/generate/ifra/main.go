// Command generate writes the files of the ifra example, ingredients.csv,
// constituents.csv and limits.csv, into its directory:
//
//	go run -C bench ./generate/ifra
//
// 1,000 materials and 171 constituents are made up, and so is every number but the
// 171. A material belongs to one of eight families, and costs, in euros a kilogram,
// a log-normal amount about 40 with a standard deviation of the logarithm of 0.8.
// It has 1 to 8 constituents that are limited, uniform; constituent k of 171 is
// drawn as ⌊171·u^1.5⌋ with u uniform, so that some are in more materials than
// others, and makes up 2.7 to 30 percent of it, uniform in the logarithm.
//
// The limit of a constituent is what 90 to 99 of 100 random formulas keep, uniform,
// of 4,000 formulas of 30 materials whose shares are uniform, rounded up to two
// digits, and at least 0.05 percent. So nearly every random formula breaks some.
//
// The random numbers are those of math/rand/v2, PCG with the seed (171, 1).
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

const (
	materials    = 1000
	constituents = 171
	formulas     = 4000
	used         = 30 // materials of a formula
	total        = 1000
	least        = 0.05 // percent, of a constituent that few formulas have
)

// families returns those that materials belong to.
func families() []string {
	return []string{"amber", "aromatic", "citrus", "floral", "fruity", "green", "musk", "woody"}
}

// directory is that of the ifra example, from this module's.
const directory = "../examples/ifra"

func main() {
	if err := write(directory); err != nil {
		log.Fatal(err)
	}
}

// write writes the files into a directory.
func write(dir string) error {
	r := rand.New(rand.NewPCG(171, 1))
	of := families()
	counts := make([]int, len(of))
	shelf := [][]string{{"name", "family", "cost"}}
	table := [][]string{{"ingredient", "constituent", "share"}}
	shares := make([]map[int]float64, materials) // percent
	for i := range materials {
		k := r.IntN(len(of))
		counts[k]++
		name := fmt.Sprintf("%s %03d", of[k], counts[k])
		shelf = append(shelf, []string{name, of[k], text(math.Round(4000*math.Exp(0.8*r.NormFloat64())) / 100)})
		shares[i] = make(map[int]float64)
		for range 1 + r.IntN(8) {
			k := int(constituents * math.Pow(r.Float64(), 1.5))
			if _, has := shares[i][k]; !has {
				shares[i][k] = math.Round(100*30*math.Exp(math.Log(0.09)*r.Float64())) / 100
				table = append(table, []string{name, constituent(k), text(shares[i][k])})
			}
		}
	}
	limits := [][]string{{"attribute", "min", "max"}}
	for k, found := range percentages(r, shares) {
		slices.Sort(found)
		at := max(found[int((0.9+0.09*r.Float64())*float64(len(found)))], least)
		digits := math.Pow(10, math.Floor(math.Log10(at))-1)
		limit, err := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(at/digits)*digits, 'g', 2, 64), 64)
		if err != nil {
			return err
		}
		limits = append(limits, []string{constituent(k), "", text(limit)})
	}
	for name, rows := range map[string][][]string{"ingredients.csv": shelf, "constituents.csv": table, "limits.csv": limits} {
		if err := writeRows(filepath.Join(dir, name), rows); err != nil {
			return err
		}
	}
	return nil
}

// percentages returns what each constituent makes up of random formulas.
func percentages(r *rand.Rand, shares []map[int]float64) [constituents][]float64 {
	var found [constituents][]float64
	for range formulas {
		var of [constituents]float64
		chosen := r.Perm(materials)[:used]
		cuts := append(r.Perm(total - 1)[:used-1], -1, total-1)
		slices.Sort(cuts)
		for k, i := range chosen {
			for c, share := range shares[i] {
				of[c] += share * float64(cuts[k+1]-cuts[k]) / total
			}
		}
		for c, v := range of {
			found[c] = append(found[c], v)
		}
	}
	return found
}

func constituent(k int) string { return fmt.Sprintf("constituent %03d", k+1) }

func text(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

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
