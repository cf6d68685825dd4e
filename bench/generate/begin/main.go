// Command begin writes the examples of a lotion and of funds that the page of kir serve
// offers:
//
//	go run ./generate/begin -o ../internal/serve/assets/examples
//
// Nobody made these formulas, and nobody could buy these funds: both follow from the laws
// below.
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	dir := flag.String("o", ".", "directory to write to")
	flag.Parse()
	for name, text := range tables() {
		if err := os.WriteFile(filepath.Join(*dir, name), []byte(text), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// tables returns the files by their names.
func tables() map[string]string {
	formulas, materials := lotion(rand.New(rand.NewPCG(7, 1)))
	return map[string]string{"lotion.csv": formulas, "lotion-ingredients.csv": materials, "funds.csv": funds(rand.New(rand.NewPCG(7, 2)))}
}

// A material is one of the lotion's.
type material struct {
	name, function, price, most, stock string
}

var materials = []material{
	{"Water", "solvent", "0.01", "", "500"}, {"Glycerin", "humectant", "1.4", "10", "40"}, {"Propanediol", "humectant", "4.2", "8", "25"},
	{"Sunflower oil", "oil", "3.1", "25", "60"}, {"Caprylic triglyceride", "oil", "5.8", "25", "50"}, {"Squalane", "oil", "24", "15", "8"},
	{"Shea butter", "butter", "6.5", "10", "15"}, {"Cetearyl alcohol", "thickener", "4.4", "6", "20"}, {"Xanthan gum", "thickener", "12", "0.8", "5"},
	{"Glyceryl stearate", "emulsifier", "5.1", "6", "12"}, {"Polysorbate 60", "emulsifier", "6.2", "5", "9"}, {"Phenoxyethanol", "preservative", "7.5", "1", "6"},
}

// lotion returns 48 formulas in percent, and their materials. A lotion is thick for its
// thickeners, and is stable if it has emulsifier and gum enough for its oils.
func lotion(r *rand.Rand) (formulas, list string) {
	var f, m strings.Builder
	m.WriteString("name,function,price (€/kg),max %,stock (kg)\n")
	f.WriteString("Formula")
	for _, k := range materials {
		fmt.Fprintf(&m, "%s,%s,%s,%s,%s\n", k.name, k.function, k.price, k.most, k.stock)
		fmt.Fprintf(&f, ",%s (%%)", k.name)
	}
	f.WriteString(",viscosity (mPa·s),stable\n")
	one := func(of ...float64) float64 { return of[r.IntN(len(of))] }
	for n := range 48 {
		x := make(map[string]float64)
		x["Phenoxyethanol"] = one(0.8, 0.9, 1)
		x[[]string{"Glycerin", "Propanediol"}[r.IntN(2)]] = one(3, 4, 5, 6)
		oils := []string{"Sunflower oil", "Caprylic triglyceride", "Squalane"}
		r.Shuffle(len(oils), func(i, j int) { oils[i], oils[j] = oils[j], oils[i] })
		for _, oil := range oils[:1+r.IntN(2)] {
			x[oil] = one(4, 6, 8, 10)
		}
		x["Shea butter"] = one(0, 0, 2, 3, 5)
		x["Cetearyl alcohol"] = one(0, 1, 2, 3, 4)
		x["Xanthan gum"] = one(0, 0, 0.1, 0.2, 0.3, 0.4, 0.5)
		x["Glyceryl stearate"] = one(1, 2, 3, 4)
		x["Polysorbate 60"] = one(0, 1, 1.5, 2, 3)
		sum, oil := 0.0, x["Shea butter"]
		for _, k := range materials {
			sum += x[k.name]
		}
		for _, name := range oils {
			oil += x[name]
		}
		x["Water"] = 100 - sum
		viscosity := math.Exp(6.6 + 0.42*x["Cetearyl alcohol"] + 2.6*x["Xanthan gum"] + 0.05*oil + 0.12*x["Shea butter"] + 0.12*r.NormFloat64())
		stable := "no"
		if (x["Glyceryl stearate"]+x["Polysorbate 60"])/oil+0.35*x["Xanthan gum"]+0.05*r.NormFloat64() > 0.33 {
			stable = "yes"
		}
		fmt.Fprintf(&f, "L%02d", n+1)
		for _, k := range materials {
			f.WriteByte(',')
			if x[k.name] > 0 {
				f.WriteString(strconv.FormatFloat(math.Round(10*x[k.name])/10, 'g', -1, 64))
			}
		}
		fmt.Fprintf(&f, ",%.0f,%s\n", math.Round(viscosity/10)*10, stable)
	}
	return f.String(), m.String()
}

// funds returns ten years of monthly prices. A fund follows the market by its load, and
// itself.
func funds(r *rand.Rand) string {
	const market = 0.035 // standard deviation
	all := []struct {
		name           string
		mean, sd, load float64
	}{
		{"World shares", 0.006, 0.042, 1}, {"Small companies", 0.008, 0.055, 1.15}, {"Emerging markets", 0.007, 0.06, 1.1}, {"Property", 0.005, 0.045, 0.8},
		{"Government bonds", 0.002, 0.015, -0.1}, {"Corporate bonds", 0.003, 0.02, 0.2}, {"Gold", 0.004, 0.045, 0}, {"Commodities", 0.003, 0.05, 0.5},
	}
	var b strings.Builder
	b.WriteString("Date")
	prices := make([]float64, len(all))
	for i, fund := range all {
		prices[i] = 100
		b.WriteString("," + fund.name)
	}
	b.WriteByte('\n')
	for month := range 121 {
		fmt.Fprintf(&b, "%d-%02d-01", 2014+month/12, 1+month%12)
		moves := market * r.NormFloat64()
		for i, fund := range all {
			if month > 0 {
				own := math.Sqrt(max(fund.sd*fund.sd-fund.load*market*fund.load*market, 0.0001))
				prices[i] *= 1 + fund.mean + fund.load*moves + own*r.NormFloat64()
			}
			fmt.Fprintf(&b, ",%.2f", prices[i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
