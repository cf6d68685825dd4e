package mcmc_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/mcmc"
)

// Candidates of recall come as often as it says they do, where six of the ingredients
// are the core and others go with some of it more than with the rest: with many sets of
// ingredients, and with bins of several amounts. What was drawn of each composition is
// held to its probability by χ², which a right law fails once in 10^6.
func TestRecallDrawsWhatItSays(t *testing.T) {
	for _, c := range []struct{ ingredients, total, most int }{{10, 6, 4}, {9, 45, 2}} {
		space, err := mcmc.NewSpace(c.ingredients, c.total)
		if err != nil {
			t.Fatal(err)
		}
		wish := mcmc.Objective{Name: "all alike", Weight: 1, Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 })}
		target, err := mcmc.NewTarget(space, mcmc.Uniform(2, c.most), wish)
		if err != nil {
			t.Fatal(err)
		}
		r := mcmc.NewRand(1, "recall", 0)
		var met []*mcmc.Composition
		for k := range 90 {
			i, a := k%3, 1+r.Intn(c.total/3)
			j := 6 + (i+r.Intn(2))%(c.ingredients-6) // of those used least
			if k%4 > 0 {
				j = 3 + (i+k)%3
			}
			parts := []mcmc.Part{{Ingredient: i, Amount: c.total - a}, {Ingredient: j, Amount: a}}
			if c.most > 2 && a > 1 {
				parts[1].Amount--
				parts = append(parts, mcmc.Part{Ingredient: 3 + (j+1)%3 + 3*(k%2), Amount: 1})
			}
			x, err := mcmc.NewComposition(c.ingredients, parts...)
			if err != nil {
				continue // an ingredient twice
			}
			met = append(met, x)
		}
		x, err := mcmc.NewState(target, met[0].Clone())
		if err != nil {
			t.Fatal(err)
		}
		mcmc.Teach(x, met...)

		const draws = 150_000
		none := 0.0
		seen, expected := map[string]float64{}, map[string]float64{}
		for range draws {
			y, p := mcmc.RecallCandidate(x, r)
			if y == nil {
				none++
				continue
			}
			key := y.Clone().String()
			seen[key]++
			expected[key] = p * draws
		}
		// What is expected less than ten times is one cell, and so is what was never drawn.
		rest, restExpected, cells, chi := draws-none, draws-none, -1.0, 0.0
		for key, e := range expected {
			if e < 10 {
				continue
			}
			rest, restExpected = rest-seen[key], restExpected-e
			chi += (seen[key] - e) * (seen[key] - e) / e
			cells++
		}
		z := (chi - cells) / math.Sqrt(2*cells)
		t.Logf("%d of %d: %.0f cells, χ² %.0f, z %.2f; none %.4f; rest %.0f of %.0f", c.total, c.ingredients, cells, chi, z, none/draws, rest, restExpected)
		if !(math.Abs(z) <= 4.9) {
			t.Errorf("%d of %d: the candidates of recall are off by %.1f standard errors", c.total, c.ingredients, z)
		}
		if d := (rest - restExpected) / math.Sqrt(draws); !(math.Abs(d) <= 4.9) {
			t.Errorf("%d of %d: what is drawn seldom is off by %.1f standard errors", c.total, c.ingredients, d)
		}
	}
}

// Products of factors that a float64 holds no more, each or together, have the log that
// the sum of the logs gives, but for the rounding of a dozen terms: 2⁻⁴⁹ of the largest.
func TestProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	factors := func() (all []float64, log float64) {
		for range r.IntN(6) {
			f := math.Pow(10, []float64{0, -1, -90, -99, -101, -250, -300}[r.IntN(7)]+3*r.Float64())
			all, log = append(all, f), log+math.Log(f)
		}
		if r.IntN(20) == 0 {
			return append(all, 0), math.Inf(-1)
		}
		return all, log
	}
	near := func(what string, got, want, largest float64) {
		if got != want && !(math.Abs(got-want) <= 0x1p-49*(1+largest)) {
			t.Errorf("the log of %s is %v, want %v", what, got, want)
		}
	}
	for range 10_000 {
		a, logA := factors()
		b, logB := factors()
		largest := math.Abs(logA) + math.Abs(logB)
		if math.IsInf(largest, 1) {
			largest = 4000 // of five factors of 1e-300
		}
		near(fmt.Sprint(a), mcmc.LogProduct(a...), logA, largest)
		and, plus := mcmc.LogProducts(a, b)
		near(fmt.Sprint(a, " and ", b), and, logA+logB, largest)
		top := max(logA, logB)
		if !math.IsInf(top, -1) {
			top += math.Log(math.Exp(logA-top) + math.Exp(logB-top))
		}
		near(fmt.Sprint(a, " plus ", b), plus, top, largest)
	}
}
