package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/diagnose"
	"kir/internal/run"
	"kir/mcmc"
)

// compared returns a model of what a comparison looks at.
func compared(recipes []map[string]int, used ...run.Inclusion) *Model {
	m := &Model{Sampler: mcmc.Settings{Chains: 1, Draws: 1000}, Inclusion: used}
	for _, r := range recipes {
		m.Best = append(m.Best, Best{Recipe: r})
	}
	return m
}

// TestCompare: recipes are told apart by their ingredients, and what moved by the
// standard errors of both runs.
func TestCompare(t *testing.T) {
	a := compared([]map[string]int{{"Gin": 60, "Lime": 40}, {"Rum": 100}}, included("Gin", 0.5, 0.01, 60, 1), included("Rum", 0.5, 0.05, 50, 1), included("Milk", 0.1, 0.01, 20, 1))
	b := compared([]map[string]int{{"Gin": 100}, {"Gin": 55, "Lime": 45}}, included("Gin", 0.6, 0.01, 60, 1), included("Rum", 0.6, 0.05, 50, 1), included("Milk", 0, 0, UnknownNumber(), UnknownNumber()))
	a.Again.Problem, b.Again.Problem = "total: 1\n", "total: 2\n"
	d := Compare("a", a, "b", b)
	if len(d.Stayed) != 1 || d.Stayed[0].A.Rank != 1 || d.Stayed[0].B.Rank != 2 || len(d.OnlyInA) != 1 || d.OnlyInA[0].Rank != 2 || len(d.OnlyInB) != 1 || d.OnlyInB[0].Rank != 1 {
		t.Errorf("%+v", d)
	}
	sure := make(map[string]bool)
	for _, m := range d.Figures {
		if m.Kind == "used" {
			sure[m.Of] = m.Sure
		}
	}
	// z is 7.1, 1.4 and −9.6, the last beside three in a thousand draws.
	if !sure["Gin"] || sure["Rum"] || !sure["Milk"] {
		t.Error(sure)
	}
	if d.ProblemDiff != "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-total: 1\n+total: 2\n" {
		t.Errorf("%q", d.ProblemDiff)
	}
}

// TestCompareErrors: what does not vary has no error, and of shares of nothing or all
// there is one that three in so many draws would have.
func TestCompareErrors(t *testing.T) {
	of := func(probability, se Number) *Model {
		return compared(nil, included("Gin", probability, se, 60, 60e-10))
	}
	for _, c := range []struct {
		p, se, want Number
	}{{0.5, 0.01, 0.01}, {1, 1e-12, 0.003}, {1, 0.01, 0.01}, {0, UnknownNumber(), 0.003}, {0.5, 1e-12, 0}} {
		for _, d := range []*Difference{Compare("a", of(c.p, c.se), "b", of(0.4, 0.02)), Compare("a", of(0.4, 0.02), "b", of(c.p, c.se))} {
			used, amount := d.Figures[0], d.Figures[1]
			if used.Kind != "used" || used.SEA != c.want && used.SEB != c.want || used.SEA != 0.02 && used.SEB != 0.02 {
				t.Errorf("a share of %v ± %v is compared as %+v", c.p, c.se, used)
			}
			if amount.Kind != "amount" || amount.SEA > 0 || amount.SEB > 0 || amount.Sure {
				t.Errorf("amounts that do not vary are %+v", amount)
			}
		}
	}
	// Amounts that do not vary: of many draws another one is moved, of few it may be chance.
	for _, c := range []struct {
		p, se, amount, amountSE Number
		sure                    bool
	}{
		{1, UnknownNumber(), 70, UnknownNumber(), true}, {1, UnknownNumber(), 60, UnknownNumber(), false}, {0.5, 0.01, 70, UnknownNumber(), true}, {0.5, 0.3, 70, UnknownNumber(), false},
		{0.5, UnknownNumber(), 70, UnknownNumber(), false}, {1, UnknownNumber(), 70.5, UnknownNumber(), false}, {1, UnknownNumber(), 70, 1.4e-14, true}, {1, UnknownNumber(), 60, 1.4e-14, false},
	} {
		a := compared(nil, included("Gin", 1, UnknownNumber(), 60, UnknownNumber()))
		d := Compare("a", a, "b", compared(nil, included("Gin", c.p, c.se, c.amount, c.amountSE)))
		if amount := d.Figures[1]; amount.Kind != "amount" || amount.Sure != c.sure {
			t.Errorf("an amount of 60 in all draws beside %v is %+v", c, amount)
		}
	}
	same, other := compared(nil), compared(nil)
	same.Sampler.Seed, other.Sampler.Seed, other.Problem.Total, other.Again.Problem = 1, 1, 9, "total: 9\n"
	if d := Compare("a", same, "b", other); len(d.Notes) != 2 || !strings.Contains(d.Notes[0], "the seed 1") || !strings.Contains(d.Notes[1], "The totals differ") {
		t.Errorf("it notes %q", d.Notes)
	}
}

// included returns the use of an ingredient.
func included(name string, probability, se, amount, amountSE Number) run.Inclusion {
	return run.Inclusion{Ingredient: name, Probability: probability, MCSE: se, MeanAmount: amount, AmountMCSE: amountSE}
}

// statistic returns a mean and its stated error.
func statistic(mean, se Number) run.Statistic {
	return run.Statistic{Summary: diagnose.Summary{Mean: mean, SEMean: se}}
}

// TestCompareFigures: which figures of two runs are set beside each other.
func TestCompareFigures(t *testing.T) {
	unknown := UnknownNumber()
	of := func(score Number, sizes []run.Size, statistics map[string]run.Statistic, used ...run.Inclusion) *Model {
		m := compared(nil, used...)
		m.Sparsity, m.Statistics, m.Score = sizes, statistics, Comparison{Draws: score, DrawsMCSE: 0.01}
		m.Properties = []Property{{Name: "taste", Weight: 1}}
		return m
	}
	a := of(0.5, []run.Size{{N: 1, Observed: 0.5, MCSE: 0.1}, {N: 2, Observed: 0.5, MCSE: 0.1}, {N: 3}, {N: 4}}, map[string]run.Statistic{"used": statistic(1.5, 0.1), "log_density": statistic(9, 0), "taste": statistic(0.5, 0), "old": statistic(3, 0)},
		included("Gin", 0.5, 0.01, 60, 1), included("Rum", 0, 0, unknown, unknown), included("Ice", 0, 0, unknown, unknown), included("Milk", 0.5, 0.1, 7, 1))
	b := of(0.75, []run.Size{{N: 2, Observed: 0.25, MCSE: 0.2}, {N: 3, Observed: 0.75, MCSE: 0.2}, {N: 4}, {N: 5, Observed: 1}}, map[string]run.Statistic{"used": statistic(2.5, 0.2), "log_density": statistic(8, 0), "taste": statistic(unknown, 0)},
		included("Gin", 0.25, 0.02, 70, 2), included("Rum", 0, 0, unknown, unknown), included("Ice", 0.125, 0.01, 5, 1))
	told := func(a, b *Model) (said []string) {
		for _, f := range Compare("a", a, "b", b).Figures {
			said = append(said, fmt.Sprintf("%s %s %v %v", f.Kind, f.Of, f.A, f.B))
		}
		slices.Sort(said)
		return said
	}
	want := []string{"amount Gin 60 70", "mean used 1.5 2.5", "n 2 0.5 0.25", "n 3 0 0.75", "score mean over the draws 0.5 0.75", "used Gin 0.5 0.25", "used Ice 0 0.125"}
	if got := told(a, b); !slices.Equal(got, want) {
		t.Errorf("it compares %q, want %q", got, want)
	}
	b.Properties[0].Weight = 0
	if got := told(a, b); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "score") }) || len(got) != len(want)-1 {
		t.Errorf("of a run that weighs nothing it compares %q", got)
	}
}

// TestCompareFalseAlarms: of 1,000 comparisons of figures that have not moved, one in
// twenty calls any of them sure. The bound is 4 standard errors above, which chance
// passes once in 30,000.
func TestCompareFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 7))
	alarms := 0
	for range 1000 {
		var a, b []run.Inclusion
		for k := range 100 {
			name := string(rune('A' + k))
			a = append(a, included(name, Number(0.5+0.01*rng.NormFloat64()), 0.01, UnknownNumber(), UnknownNumber()))
			b = append(b, included(name, Number(0.5+0.02*rng.NormFloat64()), 0.02, UnknownNumber(), UnknownNumber()))
		}
		for _, m := range Compare("a", compared(nil, a...), "b", compared(nil, b...)).Figures {
			if m.Sure {
				alarms++
				break
			}
		}
	}
	if alarms > 78 || alarms < 22 { // 50 ± 4·6.9
		t.Errorf("%d alarms", alarms)
	}
}
