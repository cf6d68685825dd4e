// Command generate writes the assets of the portfolio example, assets.csv and
// covariance.csv, into its directory:
//
//	go run -C bench ./generate/portfolio
//
// The assets are made up. Their returns follow a factor model with six factors,
// the market and five sectors, all independent:
//
//	r_i = β_i·m + s_sector(i)·γ_i + ε_i
//
// with the market's standard deviation 0.16 a year and its expected return above
// the safe rate 0.05; a sector's 0.10 and 0; β_i uniform on 0.6..1.4, γ_i on
// 0.5..1.5; and ε_i with a standard deviation uniform on 0.08..0.25 and an
// expected value normal with a standard deviation of 0.01. So
//
//	μ_i  = 0.05·β_i + α_i
//	Σ_ij = 0.16²·β_i·β_j + [same sector]·0.10²·γ_i·γ_j + [i = j]·sd(ε_i)²
//
// There are six assets in each sector. The random numbers are those of
// math/rand/v2, PCG with the seed (7, 30). Numbers are rounded to six decimal
// places.
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

var sectors = []string{"energy", "health", "industry", "retail", "software"}

const perSector = 6

// directory is that of the example, from this module's.
const directory = "../examples/portfolio"

func main() {
	if err := write(directory); err != nil {
		log.Fatal(err)
	}
}

// write writes the files into a directory.
func write(dir string) error {
	r := rand.New(rand.NewPCG(7, 30))
	between := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	type asset struct {
		name, sector                    string
		beta, gamma, alpha, ownVariance float64
	}
	var assets []asset
	for _, sector := range sectors {
		for k := range perSector {
			sd := between(0.08, 0.25)
			assets = append(assets, asset{
				name: fmt.Sprintf("%s %d", sector, k+1), sector: sector,
				beta: between(0.6, 1.4), gamma: between(0.5, 1.5),
				alpha: 0.01 * r.NormFloat64(), ownVariance: float64(sd * sd),
			})
		}
	}
	list := [][]string{{"name", "sector", "return"}}
	covariance := [][]string{{"name"}}
	for _, a := range assets {
		list = append(list, []string{a.name, a.sector, number(float64(0.05*a.beta) + a.alpha)})
		covariance[0] = append(covariance[0], a.name)
		row := []string{a.name}
		for _, b := range assets {
			v := float64(0.16 * 0.16 * a.beta * b.beta)
			if a.sector == b.sector {
				v += float64(0.1 * 0.1 * a.gamma * b.gamma)
			}
			if a.name == b.name {
				v += a.ownVariance
			}
			row = append(row, number(v))
		}
		covariance = append(covariance, row)
	}
	if err := writeCSV(filepath.Join(dir, "assets.csv"), list); err != nil {
		return err
	}
	return writeCSV(filepath.Join(dir, "covariance.csv"), covariance)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }

func writeCSV(path string, rows [][]string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := csv.NewWriter(file).WriteAll(rows); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
