package examples_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/pareto"
	"kir/internal/report"
	"kir/internal/report/assemble"
)

// findFrontier returns the trade-off of the example with other lines in it.
func findFrontier(t *testing.T, changes ...string) (*compile.Problem, *report.Tradeoff) {
	t.Helper()
	text, err := os.ReadFile("portfolio/frontier.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(changes...).Replace(string(text))
	p, err := compile.Load(t.Context(), "portfolio/frontier.yaml", compile.Options{Text: []byte(changed)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	trade, err := p.SearchTradeOff(t.Context(), compile.TradeOptions{ObjectiveNames: p.Trade, Effort: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	out, err := assemble.Tradeoff(p, trade, 2000, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

// TestFrontierByEnumeration: at most three of the thirty assets, in steps of 2.5 % and none
// below 5 %, are 2.6 million portfolios, and all are looked at. The front that is found is
// the frontier that there is: of each of its points some portfolio found has as much return
// and as little volatility, to 1e-7, and nothing that is found is beaten.
func TestFrontierByEnumeration(t *testing.T) {
	const total, least = 40, 2
	returns, covariance := readMarket(t)
	var every [][]float64 // −return and volatility
	keep := func(assets, amounts []int) {
		gain, variance := 0.0, 0.0
		for p, i := range assets {
			gain += returns[i] * float64(amounts[p]) / total
			for q, j := range assets {
				variance += covariance[i][j] * float64(amounts[p]*amounts[q]) / (total * total)
			}
		}
		if every = append(every, []float64{-gain, math.Sqrt(variance)}); len(every) > 20_000 {
			every = minimalPoints(every)
		}
	}
	for i := range returns {
		for j := range i {
			for a := least; a <= total-least; a++ {
				keep([]int{i, j}, []int{a, total - a})
			}
			for k := range j {
				for a := least; a <= total-2*least; a++ {
					for b := least; a+b <= total-least; b++ {
						keep([]int{i, j, k}, []int{a, b, total - a - b})
					}
				}
			}
		}
	}
	truth := minimalPoints(every)
	_, out := findFrontier(t, "total: 200", "total: 40", "uniform: [2, 5]", "uniform: [2, 3]")
	var found [][]float64
	for _, p := range out.Front {
		found = append(found, []float64{-float64(p.Values["return"].Value) / 100, float64(p.Values["volatility"].Value) / 100})
	}
	const near = 1e-7
	within := func(points [][]float64, p []float64) bool {
		return slices.ContainsFunc(points, func(q []float64) bool { return q[0] <= p[0]+near && q[1] <= p[1]+near })
	}
	missed := 0
	for _, p := range truth {
		if !within(found, p) {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("%d of %d points of the frontier are missed", missed, len(truth))
	}
	for _, p := range found {
		if slices.ContainsFunc(truth, func(q []float64) bool { return q[0] < p[0]-near && q[1] < p[1]-near }) {
			t.Errorf("a return of %v and a volatility of %v is beaten", -p[0], p[1])
		}
	}
	t.Logf("%d of %d points", len(truth)-missed, len(truth))
}

func minimalPoints(points [][]float64) (kept [][]float64) {
	for _, k := range pareto.NonDominated(points) {
		kept = append(kept, points[k])
	}
	return kept
}
