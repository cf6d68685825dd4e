package assemble

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/internal/report"
	"kir/internal/run"
)

// TestAlike: draws whose scores hardly differ from those of random compositions are told
// as such, with weights that help; others, and those of which it is not sure, are not.
func TestAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	like := func(spread float64) []float64 { // log scores of which the best are few
		logs := make([]float64, 10_000)
		for k := range logs {
			logs[k] = -0.018 - spread*r.ExpFloat64()
		}
		return logs
	}
	one := &compile.Problem{Properties: []compile.Property{{Name: "y", Weight: 1}, {Name: "told"}}}
	two := &compile.Problem{Properties: []compile.Property{{Name: "y", Weight: 1}, {Name: "z", Weight: 2.5}}}
	for _, c := range []struct {
		name                  string
		p                     *compile.Problem
		draws, random, se, sd float64
		logs                  []float64
		says, says2, saysLess string
	}{
		{"nearly the same", one, 0.985, 0.982, 1e-4, 0.01, like(0.01), "The draws are hardly better than random recipes: they score 0.985, random recipes 0.982, and at most 3 % of them differ.", "(weight: 300)", ""},
		{"of two weights", two, 0.985, 0.982, 1e-4, 0.01, like(0.01), "raise the weights 300 times: they would score about", "", "weight:"},
		{"no difference", one, 0.9820001, 0.982, 1e-6, 0.01, like(0), "they score 0.9820001, random recipes 0.9820000", "The score hardly tells recipes apart", "weight"},
		{"one score", one, 1, 1, 0, 0, like(0), "at most 0 % of them", "The score hardly tells recipes apart", "weight"},
		{"a difference that counts", one, 0.985, 0.9, 1e-4, 0.01, like(0.01), "", "", ""},
		{"an error that is too large", one, 0.985, 0.982, 0.1, 0.01, like(0.01), "", "", ""},
		{"an error that is not known", one, 0.985, 0.982, math.NaN(), 0.01, like(0.01), "", "", ""},
		{"worse than random ones, by chance", one, 0.981, 0.982, 1e-3, 0.01, like(0.01), "at most 3 % of them", "(weight: 300)", ""},
	} {
		got := nearlyRandomText(c.p, &run.Result{Score: &run.Statistic{Summary: diagnose.Summary{Mean: report.Number(c.draws), SEMean: report.Number(c.se), SD: report.Number(c.sd)}}, Baseline: &run.Baseline{Random: report.Number(c.random), RandomSE: report.Number(c.se), LogScores: c.logs}})
		if c.says == "" && got != "" || !strings.Contains(got, c.says) || !strings.Contains(got, c.says2) || c.saysLess != "" && strings.Contains(got, c.saysLess) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	if got := nearlyRandomText(one, &run.Result{}); got != "" {
		t.Errorf("of draws without a score it says %q", got)
	}
}

// TestAlikeBound: the share of draws that differ is bounded by what is told, for scores of
// any kind.
func TestAlikeBound(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	for range 2000 {
		n := 2 + r.IntN(30)
		law, score := make([]float64, n), make([]float64, n)
		sum, mean, squares := 0.0, 0.0, 0.0
		for k := range law {
			law[k], score[k] = r.ExpFloat64(), math.Pow(r.Float64(), 3*r.Float64())
			sum += law[k]
		}
		for k := range law {
			law[k] /= sum
			mean += law[k] * score[k]
			squares += law[k] * score[k] * score[k]
		}
		distance := 0.0
		for k := range law {
			distance += math.Abs(law[k]*score[k]/mean-law[k]) / 2
		}
		if bound := math.Sqrt(squares/mean/mean-1) / 2; distance > bound+1e-12 {
			t.Fatalf("a distance of %v is told as at most %v", distance, bound)
		}
	}
}
