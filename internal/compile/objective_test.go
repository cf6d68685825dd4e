package compile

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kir/mcmc"
)

// thatKeepAll returns the compositions of the total that keep all rules, which are written
// out once for all of them.
func thatKeepAll(t *testing.T, p *Problem) (kept []*mcmc.Composition) {
	t.Helper()
	var all []*mcmc.Composition
	var scored []ScoredRecipe
	everyComposition(t, len(p.Ingredients), p.Total, func(x *mcmc.Composition) {
		all, scored = append(all, x), append(scored, ScoredRecipe{Parts: x.Parts()})
	})
	if err := p.findBreaches(scored); err != nil {
		t.Fatal(err)
	}
	for k, s := range scored {
		if len(s.Broken) == 0 {
			kept = append(kept, all[k])
		}
	}
	return kept
}

// everyComposition calls see with all compositions of some units.
func everyComposition(t *testing.T, ingredients, total int, see func(x *mcmc.Composition)) {
	t.Helper()
	amounts := make([]int, ingredients)
	var fill func(i, left int)
	fill = func(i, left int) {
		if i == ingredients-1 {
			amounts[i] = left
			var parts []mcmc.Part
			for k, a := range amounts {
				if a > 0 {
					parts = append(parts, mcmc.Part{Ingredient: k, Amount: a})
				}
			}
			x, err := mcmc.NewComposition(ingredients, parts...)
			if err != nil {
				t.Fatal(err)
			}
			see(x)
			return
		}
		for a := range left + 1 {
			amounts[i] = a
			fill(i+1, left-a)
		}
	}
	fill(0, total)
}

// TestObjectiveScale compares the ends of scales with those that all compositions have that
// keep the rules, and the score, the value and its unit of the best and the worst.
func TestObjectiveScale(t *testing.T) {
	rules := [][]string{
		nil,
		{"ratio: {of: Gin, to: Vermouth, min: 0.5, max: 2}", "never: [Campari, Cassis]", "limit: {attribute: cost, max: 20}"},
		{"group: {of: [Gin, Campari], used: [1, 1]}", "needs: {if: Gin, then: [Champagne]}", "if: {unused: [Cassis], then: {require: [Vermouth]}}"},
	}
	properties := []string{
		"blend: {attribute: cost, minimize: true}",
		"blend: {attribute: cost, maximize: true, shape: 2, floor: 0}",
		"blend: {attribute: family, is: wine, maximize: true}",
		`expression: {formula: 'mean("cost") / (0.1 + share("Gin")) - 7', minimize: true, unit: "€/kg"}`,
		"markowitz: {returns: returns.csv, covariance: covariance.csv, minimize: volatility}",
		"markowitz: {returns: returns.csv, covariance: covariance.csv, maximize: ratio}",
		"markowitz: {returns: prices.csv, maximize: return}",
	}
	for _, rules := range rules {
		for _, property := range properties {
			text := "recipes: recipes.csv\ningredients: ingredients.csv\ntotal: 20\nsparsity: {uniform: [2, 4]}\nproperties:\n  p: {" + property + "}\nconstraints: []\n"
			if len(rules) > 0 {
				text = strings.Replace(text, " []\n", "\n  - "+strings.Join(rules, "\n  - ")+"\n", 1)
			}
			files := map[string]string{"problem.yaml": text, "ingredients.csv": strings.Replace(bar["ingredients.csv"], ",cost", ",cost €/kg", 1)}
			t.Run(fmt.Sprint(property, rules), func(t *testing.T) {
				p, err := loadFiles(t, files, "")
				if err != nil {
					t.Fatal(err)
				}
				w := p.Properties[0]
				sign := 1.0
				if strings.Contains(property, "minimize") {
					sign = -1
				}
				worst, best := math.Inf(int(-sign)), math.Inf(int(-sign))
				var bestAt, worstAt *mcmc.Composition
				for _, x := range thatKeepAll(t, p) {
					v := w.Value(x)
					if bestAt == nil || sign*v > sign*best {
						best, bestAt = v, x
					}
					if worstAt == nil || sign*v < sign*worst {
						worst, worstAt = v, x
					}
				}
				for _, v := range []float64{worst, best} {
					text := fmt.Sprintf("%.4g", v)
					if !strings.Contains(w.About, text) {
						t.Errorf("%q does not say %s (from %v to %v)", w.About, text, worst, best)
					}
				}
				if y := w.mcmcProperty.LogScore(bestAt); !(math.Abs(y) <= 1e-9) {
					t.Errorf("the best has the log score %v", y)
				}
				least := math.Log(0.001)
				if strings.Contains(property, "floor: 0") {
					least = math.Inf(-1)
				}
				if y := w.mcmcProperty.LogScore(worstAt); y != least && !(math.Abs(y-least) <= 1e-9) {
					t.Errorf("the worst has the log score %v, want %v", y, least)
				}
				if strings.HasPrefix(property, "blend: {attribute: cost") && w.Unit != "€/kg" {
					t.Errorf("its unit is %q", w.Unit)
				}
			})
		}
	}
}
