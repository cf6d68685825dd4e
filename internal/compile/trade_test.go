package compile

import (
	"math"
	"strings"
	"testing"

	"kir/internal/config"
	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// TestObjectives: of each kind of property the loss falls where the value, as it is shown,
// gets better, and by as much where it is judged as it is shown.
func TestObjectives(t *testing.T) {
	other := "}\n  other: {novelty: {}"
	for _, c := range []struct {
		name, property string
		goal           config.Direction
		least, most    float64
		exact          bool
	}{
		{"a blend", "blend: {attribute: cost, minimize: true}", config.Minimize, 0, 0, true},
		{"larger", "blend: {attribute: cost, larger: {from: 5, to: 50}, floor: 0.1}", config.Maximize, 0, 0, true},
		{"smaller", "blend: {attribute: cost, smaller: {from: 5, to: 50}, floor: 0.1}", config.Minimize, 0, 0, true},
		{"a target", "blend: {attribute: cost, target: {from: 5, at: 15, to: 60}, floor: 0.1}", config.Between, 15, 15, true},
		{"a bell", "blend: {attribute: cost, normal: {mean: 15, sd: 4}}", config.Between, 15, 15, true},
		{"a range", "blend: {attribute: cost, range: [5, 15], floor: 0.1}", config.Between, 5, 15, true},
		{"a share", "blend: {attribute: family, is: spirit, maximize: true}", config.Maximize, 0, 0, false},
		{"a formula", "expression: {formula: 'share(\"Gin\") * 3', maximize: true}", config.Maximize, 0, 0, true},
		{"a score", "expression: 'share(\"Gin\")'", config.Maximize, 0, 0, true},
		{"a forest", "forest: {label: stars, maximize: true}", config.Maximize, 0, 0, false},
		{"a forest within", "forest: {label: stars, between: [3, 4], floor: 0.1}", config.Between, 3, 4, false},
		{"at least", "learn: {label: stars, at_least: 4}", config.Between, 4, math.Inf(1), false},
		{"the least", "learn: {label: stars, minimize: true}", config.Minimize, 0, 0, false},
		{"a logarithm", "learn: {label: stars, maximize: true, log: true}", config.Maximize, 0, 0, false},
		{"a class", "learn: {label: taste, want: Fresh}", config.Maximize, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			property := strings.Replace(c.property, "range: [5, 15]", "range: {from: 5, to: 15}", 1)
			p, err := loadLimits(t, property+other, "  - require: [Gin]\ntrade: [p, other]\n")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			all, err := p.Objectives(p.Trade)
			if err != nil {
				t.Fatal(err)
			}
			o := all[0]
			if o.Direction != c.goal || o.Direction == config.Between && (o.Least != c.least || o.Most != c.most) {
				t.Errorf("the objective is %+v", o)
			}
			value := shownOf(t, &p.Properties[0])
			bad := func(x *mcmc.Composition) float64 {
				v := value(x)
				switch c.goal {
				case config.Maximize:
					return -v
				case config.Minimize:
					return v
				}
				return max(c.least-v, v-c.most, 0)
			}
			prior, r := mcmc.NewPrior(p.Target), mcmc.NewRand(3, "objectives", 0)
			var losses, shown []float64
			for range 60 {
				x, err := prior.Draw(r)
				if err != nil {
					t.Fatal(err)
				}
				losses, shown = append(losses, o.Loss(x)), append(shown, bad(x))
			}
			agree, pairs := 0, 0
			for a := range losses {
				if c.exact && math.Abs(losses[a]-shown[a]) > 1e-9*(1+math.Abs(shown[a])) {
					t.Fatalf("a loss of %v where what is shown has %v", losses[a], shown[a])
				}
				for b := range a {
					if d := shown[a] - shown[b]; math.Abs(d) > 1e-6 {
						pairs++
						if d*(losses[a]-losses[b]) >= 0 {
							agree++
						}
					}
				}
			}
			least := pairs
			if c.name == "a logarithm" {
				least = pairs * 95 / 100 // the number that is expected is not that of the logarithm
			}
			if pairs == 0 || agree < least {
				t.Errorf("of %d pairs that differ the losses order %d so", pairs, agree)
			}
		})
	}
}

// TestObjectivesOfPortfolios: the return and the volatility of one property.
func TestObjectivesOfPortfolios(t *testing.T) {
	files := map[string]string{
		"problem.yaml": "ingredients: r.csv\ntotal: 10\nsparsity: {uniform: [1, 2]}\nproperties: {money: {markowitz: {returns: {attribute: gain}, covariance: c.csv}}}\ntrade: [return, volatility]\n",
		"r.csv":        "name,gain\na,0.1\nb,0.2\n",
		"c.csv":        "name,a,b\na,0.04,0\nb,0,0.09\n",
	}
	p, err := loadFiles(t, files, "")
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Objectives(p.Trade)
	if err != nil {
		t.Fatal(err)
	}
	x, err := mcmc.NewComposition(2, mcmc.Part{Ingredient: 0, Amount: 5}, mcmc.Part{Ingredient: 1, Amount: 5})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{-0.15, math.Sqrt(0.25 * 0.13)} {
		if got := all[k].Loss(x); math.Abs(got-want) > 1e-9 || all[k].Unit != "%" || all[k].Figure != k {
			t.Errorf("%+v has a loss of %v, not %v", all[k], got, want)
		}
	}
}

// TestTradeErrors: an error in a trade-off has its place and a fix.
func TestTradeErrors(t *testing.T) {
	kept := golden.Open(t)
	two := "properties:\n  cost: {blend: {attribute: cost, minimize: true}}\n  abv: {blend: {attribute: return, maximize: true}}\n"
	for _, c := range []struct{ name, text string }{
		{"no list", two + "trade: cost\n"},
		{"one", two + "trade: [cost]\n"},
		{"five", two + "trade: [cost, abv, a, b, c]\n"},
		{"twice", two + "trade: [cost, cost]\n"},
		{"nearly", two + "trade: [cots, abv]\n"},
		{"unknown", two + "trade: [viscosity, abv]\n"},
		{"nothing to trade", "trade: [cost, abv]\n"},
		{"none of one", "trade: [cost]\n"},
		{"a number", two + "trade: [cost, 3]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"problem.yaml": "ingredients: ingredients.csv\ntotal: 20\nsparsity: {uniform: [1, 4]}\n" + c.text}
			_, err := loadFiles(t, files, "")
			kept.CheckError(t, c.name, err)
		})
	}
}

// TestTradeIsResolved: the resolved problem asks for the same.
func TestTradeIsResolved(t *testing.T) {
	p, err := loadLimits(t, "blend: {attribute: cost, minimize: true}}\n  other: {novelty: {}", "  - require: [Gin]\ntrade: [p, other]\n")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(p.Resolved), "trade:") {
		t.Errorf("%s", p.Resolved)
	}
}
