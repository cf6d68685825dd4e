// Command generate writes the trials of the spritz example into its
// directory:
//
//	go run -C bench ./generate/spritz
//
// Nobody tasted them: the three labels are functions of the recipe with normal
// errors. The random numbers are those of math/rand/v2, PCG with the seed (90, 10).
package main

import (
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// An ingredient has, in 100 ml, sugar and acid in grams, a bitterness and a haze of
// their own scales, and bubbles from 0 to 1.
type ingredient struct {
	name                               string
	sugar, acid, bitter, haze, bubbles float64
}

var ingredients = []ingredient{
	{"Sparkling wine", 1, 0.6, 0, 1, 1},
	{"Soda water", 0, 0, 0, 0, 1},
	{"Tonic water", 8, 0.3, 2, 1, 1},
	{"Bitter orange liqueur", 25, 0.1, 10, 2, 0},
	{"Elderflower liqueur", 30, 0.2, 0, 3, 0},
	{"Gin", 0, 0, 1, 0, 0},
	{"Sweet vermouth", 15, 0.4, 3, 5, 0},
	{"Dry vermouth", 3, 0.5, 2, 3, 0},
	{"Orange juice", 9, 0.9, 0, 80, 0},
	{"Grapefruit juice", 8, 1.4, 3, 60, 0},
	{"Lemon juice", 2, 5, 0, 50, 0},
	{"Ginger syrup", 60, 0.2, 1, 20, 0},
}

const (
	trials = 200
	unit   = 5 // millilitres: amounts are multiples of it
	glass  = 200
)

func main() {
	create := func(name string) (*os.File, error) { return os.Create(filepath.Join("..", "examples", "spritz", name)) }
	if err := write(create); err != nil {
		log.Fatal(err)
	}
}

// write writes trials.csv to what create returns.
func write[W io.WriteCloser](create func(name string) (W, error)) error {
	file, err := create("trials.csv")
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(90, 10))
	fmt.Fprintln(file, "recipe,ingredient,amount,unit,liking,bitterness,haze")
	for k := range trials {
		amounts := trial(r)
		liking, bitterness, haze := labels(r, amounts)
		for i, ml := range amounts {
			if ml > 0 {
				if _, err := fmt.Fprintf(file, "trial %03d,%s,%d,ml,%.1f,%.1f,%.0f\n", k+1, ingredients[i].name, ml, liking, bitterness, haze); err != nil {
					return err
				}
			}
		}
	}
	return file.Close()
}

// trial draws three to six ingredients, in parts of a glass that are uniform.
func trial(r *rand.Rand) []int {
	amounts := make([]int, len(ingredients))
	used := r.Perm(len(ingredients))[:3+r.IntN(4)]
	for _, i := range used {
		amounts[i] = unit
	}
	for range glass/unit - len(used) {
		amounts[used[min(r.IntN(len(used)), r.IntN(len(used)))]] += unit
	}
	return amounts
}

// labels says how a glass was liked, from 0 to 100: most if it is sparkling, with 6 g
// of sugar and 0.6 g of acid in 100 ml; and how bitter and how hazy it is.
func labels(r *rand.Rand, amounts []int) (liking, bitterness, haze float64) {
	var x ingredient
	for i, ml := range amounts {
		share := float64(ml) / glass
		x.sugar += share * ingredients[i].sugar
		x.acid += share * ingredients[i].acid
		x.bitter += share * ingredients[i].bitter
		x.haze += share * ingredients[i].haze
		x.bubbles += share * ingredients[i].bubbles
	}
	bell := func(v, best, width float64) float64 { return math.Exp(-(v - best) * (v - best) / (2 * width * width)) }
	liking = 20 + 30*bell(x.sugar, 6, 3) + 20*bell(x.acid, 0.6, 0.3) + 25*min(x.bubbles, 0.6)/0.6 + 2*r.NormFloat64()
	return min(max(liking, 0), 100), max(0, x.bitter+0.2*r.NormFloat64()), max(0, x.haze+2*r.NormFloat64())
}
