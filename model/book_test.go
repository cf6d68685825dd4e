package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A book describes a made-up recipe book.
type book struct {
	rows, ingredients, total int
	sizes                    []int // how many ingredients a recipe has, drawn from these
	classes                  int   // 0: numbers
	seed                     uint64
}

// cocktailBook has the shape of a book of 69 drinks: 65 ingredients, a few of
// them in many drinks and most of them in one or two, 2 to 5 in a drink.
var cocktailBook = book{
	rows: 69, ingredients: 65, total: 1000, classes: 6, seed: 1,
	sizes: slices.Concat(slices.Repeat([]int{2}, 13), slices.Repeat([]int{3}, 29), slices.Repeat([]int{4}, 24), slices.Repeat([]int{5}, 3)),
}

// data writes the book. Each ingredient leans to a class or a number; a recipe's
// label is what its parts lean to, with noise.
func (b book) data() *Data {
	random := rand.New(rand.NewPCG(b.seed, 1))
	d := &Data{Label: "taste", Total: b.total}
	popularity := make([]float64, b.ingredients)
	for i := range popularity {
		d.Ingredients = append(d.Ingredients, fmt.Sprintf("ingredient %d", i))
		popularity[i] = 1 / (2 + float64(i))
	}
	lean := make([]float64, b.ingredients)
	for i := range lean {
		lean[i] = random.Float64()
	}
	for range b.rows {
		x := b.composition(random, popularity)
		d.Rows = append(d.Rows, PositiveParts(x))
		label := 0.05 * random.Float64()
		for i, amount := range x {
			label += 0.95 * lean[i] * float64(amount) / float64(b.total)
		}
		if b.classes == 0 {
			d.Numbers = append(d.Numbers, float64(int(1e6*label))/1e3)
		} else {
			d.Classes = append(d.Classes, string(rune('a'+int(label*1.3*float64(b.classes))%b.classes)))
		}
	}
	return d
}

// composition returns a random composition with as many ingredients as one of
// the book's sizes; nil popularity means that all are equally likely.
func (b book) composition(random *rand.Rand, popularity []float64) []int32 {
	n := min(b.sizes[random.IntN(len(b.sizes))], b.ingredients, b.total)
	x := make([]int32, b.ingredients)
	var used []int
	for len(used) < n {
		i := random.IntN(b.ingredients)
		if x[i] == 0 && (popularity == nil || random.Float64() < popularity[i]/popularity[0]) {
			x[i] = 1
			used = append(used, i)
		}
	}
	// Recipes are written in few distinct measures, which make for few distinct
	// thresholds.
	parts, sum := make([]int, n), 0
	for k := range parts {
		parts[k] = 1 + random.IntN(8)
		sum += parts[k]
	}
	left := int32(b.total)
	for k, i := range used {
		x[i] = max(1, int32(b.total*parts[k]/sum))
		left -= x[i]
	}
	for left != 0 { // the rounding goes to the first that can take it
		for _, i := range used {
			if change := max(left, 1-x[i]); change != 0 {
				x[i] += change
				left -= change
			}
			if left == 0 {
				break
			}
		}
	}
	return x
}

func mustGrow(tb testing.TB, d *Data, o Options) *Forest {
	tb.Helper()
	f, err := Grow(context.Background(), d, o)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func mustScore(tb testing.TB, f *Forest, w Want) *Score {
	tb.Helper()
	s, err := f.Score(w)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
