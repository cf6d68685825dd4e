package examples_test

import (
	"context"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/internal/testonly/stattest"
	"kir/mcmc"
	"kir/property"
)

// readMarket reads the example's assets.
func readMarket(t *testing.T) (returns []float64, covariance [][]float64) {
	t.Helper()
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	_, assets := readCSV(t, "portfolio/assets.csv")
	for _, row := range assets {
		returns = append(returns, number(row[2]))
	}
	_, rows := readCSV(t, "portfolio/covariance.csv")
	for _, row := range rows {
		var numbers []float64
		for _, text := range row[1:] {
			numbers = append(numbers, number(text))
		}
		covariance = append(covariance, numbers)
	}
	return returns, covariance
}

// solveShares returns the shares that maximise μᵀw − a·wᵀΣw for a sum of 1 and are 0
// outside the support, whatever their signs: with the multiplier ν of the sum,
// 2aΣw + ν·1 = μ.
func solveShares(returns []float64, covariance [][]float64, aversion float64, support []int) []float64 {
	n := len(support)
	rows := make([][]float64, n+1) // the coefficients, and what they add up to
	for p, i := range support {
		for _, j := range support {
			rows[p] = append(rows[p], 2*aversion*covariance[i][j])
		}
		rows[p] = append(rows[p], 1, returns[i])
		rows[n] = append(rows[n], 1)
	}
	rows[n] = append(rows[n], 0, 1)
	return solveLinear(rows)[:n]
}

// solveLinear solves linear equations by Gaussian elimination with pivots: each row has the
// coefficients of an equation and its right-hand side.
func solveLinear(rows [][]float64) []float64 {
	n := len(rows)
	for k := range n {
		pivot := k
		for i := k; i < n; i++ {
			if math.Abs(rows[i][k]) > math.Abs(rows[pivot][k]) {
				pivot = i
			}
		}
		rows[k], rows[pivot] = rows[pivot], rows[k]
		if rows[k][k] == 0 {
			panic("the equations have no single solution") // the variances are positive
		}
		for i := k + 1; i < n; i++ {
			factor := rows[i][k] / rows[k][k]
			for j := k; j <= n; j++ {
				rows[i][j] -= factor * rows[k][j]
			}
		}
	}
	x := make([]float64, n)
	for k := n - 1; k >= 0; k-- {
		x[k] = rows[k][n]
		for j := k + 1; j < n; j++ {
			x[k] -= rows[k][j] * x[j]
		}
		x[k] /= rows[k][k]
	}
	return x
}

// bestOfSupport returns the largest utility of shares w > 0 of a support; −Inf if it lies
// where one of them is 0, so that a smaller support has it.
func bestOfSupport(returns []float64, covariance [][]float64, aversion float64, support []int) float64 {
	w, utility := solveShares(returns, covariance, aversion, support), 0.0
	for p, i := range support {
		if w[p] <= 0 {
			return math.Inf(-1)
		}
		utility += returns[i] * w[p]
		for q, j := range support {
			utility -= aversion * w[p] * covariance[i][j] * w[q]
		}
	}
	return utility
}

// bestUtility returns the largest utility over all supports of at most most assets,
// tried one after the other.
func bestUtility(returns []float64, covariance [][]float64, aversion float64, most int) float64 {
	largest := math.Inf(-1)
	var try func(from int, support []int)
	try = func(from int, support []int) {
		if len(support) > 0 {
			largest = max(largest, bestOfSupport(returns, covariance, aversion, support))
		}
		if len(support) == most {
			return
		}
		for i := from; i < len(returns); i++ {
			try(i+1, append(support[:len(support):len(support)], i))
		}
	}
	try(0, nil)
	return largest
}

// portfolioUtility is that of a composition, from its definition.
func portfolioUtility(x *mcmc.Composition, returns []float64, covariance [][]float64, aversion float64) float64 {
	u := 0.0
	for _, p := range x.Parts() {
		w := float64(p.Amount) / float64(x.Total())
		u += returns[p.Ingredient] * w
		for _, q := range x.Parts() {
			u -= aversion * w * covariance[p.Ingredient][q.Ingredient] * float64(q.Amount) / float64(x.Total())
		}
	}
	return u
}

// TestPortfolio runs the example.
func TestPortfolio(t *testing.T) {
	p, err := compile.Load(context.Background(), "portfolio/problem.yaml", compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	returns, covariance := readMarket(t)
	const aversion = 1.5
	s := p.Sampler
	s.Warmup, s.Draws, s.Thin = 5000, 10_000, 5
	series := make([][]float64, s.Chains)
	top := make([]float64, s.Chains)
	sampler, err := s.Sampler(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.Stream(t.Context(), sampler, s, 0, func(chain, draw int, x *mcmc.State) error {
		if n := x.Composition.UsedCount(); n < 5 || n > 10 || x.Composition.Total() != 100 {
			t.Errorf("a portfolio of %d assets, %d percent", n, x.Composition.Total())
		}
		u := portfolioUtility(x.Composition, returns, covariance, aversion)
		if score := x.LogScore() / p.Properties[0].Weight; math.Abs(u-score) > 1e-9 {
			t.Errorf("%v has the utility %v and scores %v", x.Composition, u, score)
		}
		series[chain] = append(series[chain], u)
		if draw == 0 || u > top[chain] {
			top[chain] = u
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	of := diagnose.Summarize(series)
	rhat, err := of.RHat, of.ReasonFor("RHat")
	if err != nil {
		t.Fatal(err)
	}
	if rhat > 1.01 {
		t.Errorf("R-hat of the utility is %.4f", rhat)
	}
	// Without a limit on their number, 9 assets are best. Shares in steps of a
	// percent, and a weight that leaves room for others, come close.
	support, bound := bestUnlimited(t, returns, covariance, aversion)
	t.Logf("R-hat %.4f, best of each chain %.5f, of all portfolios %.5f with %v", rhat, top, bound, support)
	for chain, u := range top {
		if u > bound*(1+1e-9) || u < 0.97*bound {
			t.Errorf("the best draw of chain %d has the utility %v, and the best there is %v", chain, u, bound)
		}
	}
}

// bestUnlimited returns the assets and the utility of the best portfolio of any
// number of assets: it leaves out those that would be sold short until none is,
// and verifies that buying any of them back would not pay.
func bestUnlimited(t *testing.T, returns []float64, covariance [][]float64, aversion float64) (support []int, utility float64) {
	t.Helper()
	for i := range returns {
		support = append(support, i)
	}
	for {
		w, worst := solveShares(returns, covariance, aversion, support), 0
		for p := range w {
			if w[p] < w[worst] {
				worst = p
			}
		}
		if w[worst] <= 0 {
			support = slices.Delete(support, worst, worst+1)
			continue
		}
		gain := func(i int) float64 {
			g := returns[i]
			for q, j := range support {
				g -= 2 * aversion * covariance[i][j] * w[q]
			}
			return g
		}
		for i := range returns {
			if gain(i) > gain(support[0])+1e-12 {
				t.Fatalf("asset %d was left out and pays", i)
			}
		}
		return support, bestOfSupport(returns, covariance, aversion, support)
	}
}

// The best of the draws, with a large weight, is as good as what an exact solver
// finds on the best of all supports.
func TestBestPortfolio(t *testing.T) {
	const assets, total, most, aversion = 12, 1000, 5, 1.5
	returns, covariance := readMarket(t)
	returns, covariance = returns[:assets], covariance[:assets]
	for i := range covariance {
		covariance[i] = covariance[i][:assets]
	}
	want := bestUtility(returns, covariance, aversion, most)
	p, err := property.NewMarkowitz(returns, covariance, aversion, total)
	if err != nil {
		t.Fatal(err)
	}
	space, err := mcmc.NewSpace(assets, total)
	if err != nil {
		t.Fatal(err)
	}
	for _, kernel := range []string{"accelerated", "balanced"} {
		target, err := mcmc.NewTarget(space, mcmc.Uniform(1, most), mcmc.Objective{Name: "utility", Property: p, Weight: 3e5})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		found := math.Inf(-1)
		settings := mcmc.Settings{Kernel: kernel, Chains: 4, Draws: 5000, Thin: 4, Seed: 1}
		sampler, err := settings.Sampler(target)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mcmc.Stream(t.Context(), sampler, settings, 0, func(_, _ int, x *mcmc.State) error {
			mu.Lock()
			defer mu.Unlock()
			found = max(found, portfolioUtility(x.Composition, returns, covariance, aversion))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: found %.8f, the best there is is %.8f", kernel, found, want)
		if found > want*(1+1e-9) || found < want*(1-0.001) {
			t.Errorf("%s: the best draw has the utility %v, not within 0.1 %% of the best there is, %v", kernel, found, want)
		}
	}
}

// The draws follow the law that enumeration gives.
func TestPortfolioLaw(t *testing.T) {
	const assets, total, aversion = 4, 6, 1.5
	returns, covariance := readMarket(t)
	returns, covariance = returns[:assets], covariance[:assets]
	for i := range covariance {
		covariance[i] = covariance[i][:assets]
	}
	p, err := property.NewMarkowitz(returns, covariance, aversion, total)
	if err != nil {
		t.Fatal(err)
	}
	space, err := mcmc.NewSpace(assets, total)
	if err != nil {
		t.Fatal(err)
	}
	for _, weight := range []float64{1, 200} {
		target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 4), mcmc.Objective{Name: "utility", Property: p, Weight: weight})
		if err != nil {
			t.Fatal(err)
		}
		law, err := stattest.Law{
			Ingredients: assets, Total: total, Size: func(int) float64 { return 1 },
			Objectives: []stattest.Objective{{Weight: weight, Score: func(x []int) float64 {
				u := 0.0
				for i := range x {
					u += returns[i] * float64(x[i]) / total
					for j := range x {
						u -= aversion * covariance[i][j] * float64(x[i]*x[j]) / total / total
					}
				}
				return math.Exp(u)
			}}},
		}.Enumerate()
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, len(law.States))
		series := make([][]float64, 4)
		var mu sync.Mutex
		settings := mcmc.Settings{Kernel: "balanced", Chains: 4, Warmup: 1000, Draws: 5000, Thin: 40, Seed: 1}
		sampler, err := settings.Sampler(target)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mcmc.Stream(t.Context(), sampler, settings, 0, func(chain, _ int, x *mcmc.State) error {
			mu.Lock()
			defer mu.Unlock()
			state, ok := law.Index(x.Composition)
			if !ok {
				t.Errorf("%v is no state", x.Composition)
			}
			counts[state]++
			series[chain] = append(series[chain], x.LogScore())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		// The test is for independent draws, so the chains are thinned until
		// they are as good as that. Its rate of false alarms is at most 10⁻⁶.
		of := diagnose.Summarize(series)
		iact, err := of.IACT, of.ReasonFor("IACT")
		if err != nil {
			t.Fatal(err)
		}
		if iact > 1.1 {
			t.Errorf("weight %v: the draws are worth 1/%.2f of independent ones", weight, iact)
		}
		if p, at := stattest.TestLaw(counts, law.Pi); p < 1e-6 {
			t.Errorf("weight %v: the draws do not follow the law: p = %.2g at %s", weight, p, at)
		}
	}
}
