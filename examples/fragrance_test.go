package examples_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/mcmc"
)

// A material is a row of ingredients.csv.
type material struct {
	family, note string
	cost         float64
	dose         int
}

func readMaterials(t *testing.T) (all []material) {
	t.Helper()
	_, rows := readCSV(t, "fragrance/ingredients.csv")
	for _, row := range rows {
		cost, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		dose, err := strconv.Atoi(row[4])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, material{row[1], row[2], cost, dose})
	}
	return all
}

// TestFragrance runs the example for 250 draws of each chain. Each draw keeps the doses and is scored as the
// file says, from its definition; the chains agree on what they found.
func TestFragrance(t *testing.T) {
	p, err := compile.Load(context.Background(), "fragrance/problem.yaml", compile.Options{
		OverrideSampler: func(s *mcmc.Settings) { s.Warmup, s.Draws, s.Thin = 20_000, 250, 200 },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	all := readMaterials(t)
	s := p.Sampler
	series := make([][]float64, s.Chains)
	first := make([]error, s.Chains)
	sampler, err := s.Sampler(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.Stream(t.Context(), sampler, s, 0, func(chain, draw int, x *mcmc.State) error {
		series[chain] = append(series[chain], x.LogDensity())
		first[chain] = errors.Join(first[chain], checkFormula(x, all))
		return first[chain]
	})
	if err != nil {
		t.Fatal(err)
	}
	of := diagnose.Summarize(series)
	rhat, ess := of.RHat, of.ESSBulk
	if err := of.ReasonFor("RHat"); err != nil {
		t.Fatal(err)
	}
	t.Logf("log density: R-hat %.3f, effective draws %.0f", rhat, ess)
	// About 60 effective draws, on which R-hat is 1.05 give or take as much.
	if rhat > 1.2 || ess < 20 {
		t.Errorf("the chains do not agree: R-hat %v, effective draws %v", rhat, ess)
	}
}

// checkFormula holds a draw against the problem as a person reads it.
func checkFormula(x *mcmc.State, all []material) error {
	c := x.Composition
	if n := c.UsedCount(); n < 12 || n > 40 || c.Total() != 1000 {
		return fmt.Errorf("%d ingredients, %d g", n, c.Total())
	}
	cost, share, families := 0.0, make(map[string]float64), make(map[string]int)
	for _, part := range c.Parts() {
		m, w := all[part.Ingredient], float64(part.Amount)/1000
		if part.Amount > m.dose {
			return fmt.Errorf("%d g of ingredient %d, at most %d", part.Amount, part.Ingredient, m.dose)
		}
		cost += m.cost * w
		share[m.family] += w
		share["note "+m.note] += w
		families[m.family]++
	}
	bell := func(v, mean, sd float64) float64 { return math.Exp(-(v - mean) * (v - mean) / (2 * sd * sd)) }
	clamp := func(v float64) float64 { return max(0.001, min(v, 1)) }
	pairs := func(factor float64, n int) float64 { return math.Pow(factor, float64(n)) }
	want := []float64{
		bell(share["citrus"], 0.25, 0.03),
		bell(share["floral"], 0.35, 0.04),
		bell(share["woody"]+share["amber"]+share["musk"], 0.30, 0.04),
		clamp((share["note base"] - 0.05) / 0.3),
		clamp((100 - cost) / 80),
		pairs(0.05, families["marine"]*families["gourmand"]) * pairs(0.2, families["marine"]*families["amber"]) *
			pairs(0.5, families["aldehydic"]*families["fruity"]) * pairs(0.1, families["animalic"]*(families["animalic"]-1)/2),
	}
	for k, y := range x.AppendScores(nil) {
		if math.Abs(y-want[k]) > 1e-9*want[k] {
			return fmt.Errorf("property %d of %v is %v, by its definition %v", k, c, y, want[k])
		}
	}
	return nil
}
