package examples_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/report/assemble"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// An ingredient, its figures in thousandths and its doses in units.
type lotionIngredient struct {
	name, phase, role   string
	cost, hlb, required int
	least, most         int
}

// lotionShelf reads the example's ingredients.
func lotionShelf(t *testing.T) []lotionIngredient {
	t.Helper()
	_, rows := readCSV(t, "lotion/ingredients.csv")
	whole := func(text string, scale float64) int {
		if text == "" {
			return 0
		}
		v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return int(math.Round(v * scale))
	}
	var all []lotionIngredient
	for _, r := range rows {
		all = append(all, lotionIngredient{r[0], r[1], r[2], whole(r[3], 1000), whole(r[4], 1000), whole(r[5], 1000), whole(r[6], 10), whole(r[7], 10)})
	}
	return all
}

// A lotion is a composition as the rules below look at it.
type lotion struct {
	of    []lotionIngredient
	units []int
}

// sum adds up, of the used ingredients that are meant, their units times a figure.
func (l lotion) sum(figure func(g lotionIngredient) int, meant func(g lotionIngredient) bool) int {
	s := 0
	for k, g := range l.of {
		if l.units[k] > 0 && meant(g) {
			s += figure(g) * l.units[k]
		}
	}
	return s
}

func unitCount(lotionIngredient) int       { return 1 }
func anyRole(lotionIngredient) bool        { return true }
func costOf(g lotionIngredient) int        { return g.cost }
func isOil(g lotionIngredient) bool        { return g.phase == "oil" }
func isEmulsifier(g lotionIngredient) bool { return g.phase == "emulsifier" }

func hasRole(name string) func(lotionIngredient) bool {
	return func(g lotionIngredient) bool { return g.role == name }
}

func (l lotion) has(name string) bool {
	return slices.ContainsFunc(l.of, func(g lotionIngredient) bool { return g.name == name && l.sum(unitCount, hasName(name)) > 0 })
}

func hasName(name string) func(lotionIngredient) bool {
	return func(g lotionIngredient) bool { return g.name == name }
}

func (l lotion) count(meant func(lotionIngredient) bool) int {
	n := 0
	for k, g := range l.of {
		if l.units[k] > 0 && meant(g) {
			n++
		}
	}
	return n
}

// broken names the rules of problem.yaml that a lotion breaks, in whole numbers.
func (l lotion) broken() (broken []string) {
	rule := func(name string, kept bool) {
		if !kept {
			broken = append(broken, name)
		}
	}
	between := func(lo, v, hi int) bool { return lo <= v && v <= hi }
	rule("total", l.sum(unitCount, anyRole) == 1000 && between(9, l.count(anyRole), 12))
	rule("required", l.has("Water") && l.has("Phenoxyethanol"))
	for k, g := range l.of {
		rule("dose of "+g.name, l.units[k] == 0 || l.units[k] >= g.least && (g.most == 0 || l.units[k] <= g.most))
	}
	oils, emulsifiers := l.sum(unitCount, isOil), l.sum(unitCount, isEmulsifier)
	rule("oil phase", between(2, l.count(isOil), 5) && between(120, oils, 250))
	rule("emulsifiers by oils", 100*emulsifiers >= 15*oils && 100*emulsifiers <= 30*oils)
	rule("emulsifiers", between(2, l.count(isEmulsifier), 3))
	low, high := l.sum(unitCount, hasRole("low")), l.sum(unitCount, hasRole("high"))
	rule("low to high", 2*low >= high && low <= 2*high)
	rule("actives", l.sum(unitCount, func(g lotionIngredient) bool { return g.phase == "active" }) == 30)
	rule("dose in the actives", l.sum(unitCount, hasName("Niacinamide")) <= 21 && l.sum(unitCount, hasName("Panthenol")) <= 21)
	rule("vitamins", between(1, l.count(hasRole("vitamin")), 2))
	rule("cost", l.sum(costOf, anyRole) <= 5500*1000)
	rule("cost of oils", l.sum(costOf, isOil) <= 12000*oils)
	wax := l.sum(unitCount, hasRole("wax"))
	rule("wax", 100*wax >= 5*oils && 100*wax <= 25*oils)
	rule("acids", l.count(func(g lotionIngredient) bool {
		return g.name == "Retinol" || g.name == "Ascorbic acid" || g.name == "Salicylic acid"
	}) <= 1)
	rule("vitamin C", !l.has("Niacinamide") || !l.has("Ascorbic acid"))
	rule("retinol", !l.has("Retinol") || l.has("Tocopherol") && !l.has("Sucrose laurate"))
	rule("thickener", l.has("Beeswax") || l.has("Xanthan gum"))
	rule("shea", !l.has("Shea butter") || 2*l.sum(unitCount, hasName("Shea butter")) <= l.sum(unitCount, hasRole("light")))
	return broken
}

// TestLotion checks the problem, draws lotions, and holds each against every rule
// and the objective, read anew. Each number of ingredients is measured by itself, which takes
// nearly all of the time: in the short form they are 11 or 12 rather than 9 to 12.
func TestLotion(t *testing.T) {
	of := lotionShelf(t)
	text, err := os.ReadFile("lotion/problem.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const uniform = "uniform: [%d, 12]"
	least := testmode.Pick(9, 11)
	before, after, found := strings.Cut(string(text), fmt.Sprintf(uniform, 9))
	if !found {
		t.Fatal("problem.yaml has other numbers of ingredients")
	}
	changed := before + fmt.Sprintf(uniform, least) + after
	p, err := compile.Load(t.Context(), "lotion/problem.yaml", compile.Options{Text: []byte(changed), OverrideSampler: func(s *mcmc.Settings) {
		s.Kernel, s.Chains, s.Warmup, s.Draws, s.Thin = "balanced", 2, 500, 1000, 5
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	check, err := assemble.Check(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(check.Sizes) != 13-least || len(p.Ingredients) != 28 {
		t.Errorf("%d sizes, %d ingredients", len(check.Sizes), len(p.Ingredients))
	}
	sampler, err := p.Sampler.Sampler(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	drawn := make([]int, p.Sampler.Chains)
	rest := lotion{of, make([]int, len(of))}
	_, err = mcmc.Stream(t.Context(), sampler, p.Sampler, 1, func(chain, _ int, x *mcmc.State) error {
		drawn[chain]++
		clear(rest.units)
		for _, part := range x.Composition.Parts() {
			rest.units[part.Ingredient] = part.Amount
		}
		if broken := rest.broken(); len(broken) > 0 {
			t.Errorf("%v breaks %q", x.Composition, broken)
		}
		own := float64(rest.sum(func(g lotionIngredient) int { return g.hlb }, anyRole)) / 1000 / float64(rest.sum(unitCount, isEmulsifier))
		required := float64(rest.sum(func(g lotionIngredient) int { return g.required }, anyRole)) / 1000 / float64(rest.sum(unitCount, isOil))
		if want := math.Log(max(math.Exp(-0.5*(own-required)*(own-required)), 0.01)); math.Abs(want-x.LogScore()) > 1e-9 {
			t.Errorf("%v has the HLB %.3f for %.3f and scores %v, not %v", x.Composition, own, required, x.LogScore(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if drawn[0] != 1000 || drawn[1] != 1000 {
		t.Errorf("%d draws", drawn)
	}
}
