package rounding

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/golden"
	"kir/rule"
)

// TestWeighedStay keeps how batches are rounded under rules of all kinds, and what is
// said and tried of those that cannot be.
func TestWeighedStay(t *testing.T) {
	kept := golden.Open(t)
	said := func(b Batch) string {
		w, err := Weigh(b)
		if err == nil {
			return fmt.Sprintf("%v of %.9g, %d", w.Steps, w.UnroundedSteps, w.Sum)
		}
		text := err.Error()
		if bad, is := errors.AsType[*ImpossibleError](err); is {
			for _, way := range bad.Alternatives {
				text += fmt.Sprintf("; %t %s", way.IsScaleStep, Decimal(way.Value))
			}
		}
		return text
	}
	rng := rand.New(rand.NewPCG(20261127, 9))
	for k := range 60 {
		var parts []rule.Part
		total := 60 * (1 + rng.IntN(3))
		left := total
		for i := range 2 + rng.IntN(4) {
			a := 1 + rng.IntN(left/2)
			parts = append(parts, rule.Part{Ingredient: 2 * i, Amount: a})
			left -= a
		}
		parts[0].Amount += left
		b := Batch{Parts: parts, Rules: rule.Set{Ingredients: 12, Total: total, Rules: randomRules(rng, parts, total)}, Size: big.NewRat(int64(5+rng.IntN(60)), int64(1+rng.IntN(2))), Step: big.NewRat(1, int64(1+rng.IntN(3)))}
		if k%3 == 0 {
			for range parts {
				b.Density = append(b.Density, big.NewRat(int64(70+rng.IntN(80)), 100))
			}
		}
		kept.CheckText(t, fmt.Sprint("random ", k), said(b))
	}
	half := []rule.Part{{Ingredient: 0, Amount: 33}, {Ingredient: 1, Amount: 33}, {Ingredient: 2, Amount: 34}}
	one, ten := big.NewRat(1, 1), big.NewRat(10, 1)
	for name, rules := range map[string][]rule.Rule{
		"none": nil, "used alone": {rule.Group{Of: []int{0, 1}, Used: &rule.Range{Min: 1, Max: 2}}}, "a dose from 34": {rule.Amount{Of: []int{0}, Min: 34}}, "a dose to 30": {rule.Amount{Of: []int{2}, Max: 30}}, "steps of 20": {rule.Amount{Of: []int{0}, Step: 20}}, "steps of 20 from 5": {rule.Amount{Of: []int{0}, Min: 5, Step: 20}},
		"half at most": {rule.Group{Of: []int{0, 1}, Total: &rule.Range{Min: 0, Max: 60}}}, "mean": {rule.Limit{Factors: []float64{1, 2, 3}, Min: 2, Max: 2}}, "mean above": {rule.Limit{Factors: []float64{1, 2, 3}, Min: 2.05, Max: math.Inf(1)}}, "mean below": {rule.Limit{Factors: []float64{1, 2, 3}, Min: math.Inf(-1), Max: 1.95}},
		"near": {rule.Near{Recipe: half, Changes: new(0), Distance: new(0)}}, "near by 6": {rule.Near{Recipe: half, Changes: new(0), Distance: new(6)}}, "not both": {rule.If{Used: []int{0}, Then: rule.Amount{Of: []int{1}, Min: 2, Max: 40, Step: 10}}}, "ratio": {rule.Ratio{Of: []int{0}, To: []int{2}, Min: 1, Max: 1.5}}, "two": {rule.Amount{Of: []int{0}, Min: 40}, rule.Amount{Of: []int{1}, Min: 40}, rule.Amount{Of: []int{2}, Min: 25}},
	} {
		for _, size := range []*big.Rat{ten, big.NewRat(7, 1), big.NewRat(100, 1), big.NewRat(21, 2), big.NewRat(2, 1), big.NewRat(1, 4)} {
			for _, dense := range []bool{false, true} {
				b := Batch{Parts: half, Rules: rule.Set{Ingredients: 3, Total: 100, Rules: rules}, Size: size, Step: one}
				if dense {
					b.Density = []*big.Rat{one, big.NewRat(1, 2), big.NewRat(7, 5)}
				}
				kept.CheckText(t, fmt.Sprintf("%s, %s, dense %t", name, size.RatString(), dense), said(b))
			}
		}
	}
	for name, b := range map[string]Batch{"no parts": {Size: ten, Step: one}, "no batch": {Parts: half, Size: new(big.Rat), Step: one}, "no step": {Parts: half, Size: ten, Step: big.NewRat(-1, 1)}, "too many steps": {Parts: half, Rules: rule.Set{Ingredients: 3, Total: 100}, Size: big.NewRat(1<<40+1, 1), Step: one}, "as many steps as can be": {Parts: half, Rules: rule.Set{Ingredients: 3, Total: 100}, Size: big.NewRat(1<<40, 1), Step: one}} {
		kept.CheckText(t, name, said(b))
	}
}
