package randomproblem

import "fmt"

// A market is what a portfolio is judged by.
type market struct {
	returns []float64
	cov     [][]float64
}

// drawMarkowitz draws returns, and a covariance Σ = B·Bᵀ.
func (p *Pantry) drawMarkowitz(d dice, w *Wish, extreme bool) {
	n := len(p.Names)
	b := make([][]int, n)
	for i := range b {
		for range 3 {
			b[i] = append(b[i], d.between(-3, 5))
		}
	}
	cov := make([][]float64, n)
	for i := range b {
		for j := range b {
			s := 0
			for k := range b[i] {
				s += b[i][k] * b[j][k]
			}
			cov[i] = append(cov[i], float64(s)/1000)
		}
	}
	aversion := one(d, 0, 0.5, 1.5, 10)
	returns := make([]float64, n)
	for i := range returns {
		returns[i] = float64(d.between(-200, 500)) / 1000
	}
	if extreme {
		w.Weight = one(d, 30.0, 2000, 1e5)
	}
	file := fmt.Sprintf("covariance %s.csv", w.Name)
	f := map[string]any{"covariance": file, "risk_aversion": aversion}
	w.files = map[string]string{file: table(append([]string{"name"}, p.Names...), p.Names, cov)}
	if d.chance(0.3) {
		c := p.Columns[1]
		for i := range returns {
			returns[i] = float64(c.Hundredths[i]) / 100
		}
		f["returns"] = map[string]any{"attribute": c.Name}
	} else {
		name := fmt.Sprintf("returns %s.csv", w.Name)
		column := make([][]float64, n)
		for i, r := range returns {
			column[i] = []float64{r}
		}
		f["returns"] = name
		w.files[name] = table([]string{"name", "return"}, p.Names, column)
	}
	w.yaml, w.market = f, &market{returns, cov}
	w.log = func(x []int) float64 {
		gain, risk := 0.0, 0.0
		for i, a := range x {
			gain += returns[i] * float64(a) / float64(p.Total)
			for j, b := range x {
				risk += cov[i][j] * float64(a) * float64(b) / float64(p.Total) / float64(p.Total)
			}
		}
		return gain - aversion*risk
	}
}
