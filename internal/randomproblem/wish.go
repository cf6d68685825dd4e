package randomproblem

import (
	"fmt"
	"math"
)

// A Wish is a property: its score y(x) ≥ 0 and the weight to which that is
// raised.
type Wish struct {
	Name   string
	Kind   string
	Weight float64

	yaml any
	// log returns log y(x): −Inf where y is 0, NaN or +Inf where it is no score. It
	// is nil for a forest that has not been read; see [Wish.Read].
	log    func(x []int) float64
	forest *forestWish
	files  map[string]string // beside the problem file
}

// drawWishes draws none to three wishes. Some problems are extreme: their scores
// spread over thousands of log units.
func (p *Problem) drawWishes(d dice) {
	if d.chance(0.15) {
		return
	}
	extreme := d.chance(0.4)
	for k := range one(d, 1, 1, 1, 2, 3) {
		kinds := []string{"blend", "blend", "markowitz", "document", "document", "expression", "expression", "pairs"}
		if len(p.Recipes) > 0 {
			kinds = append(kinds, "pairs", "novelty", "likeness", "novelty", "likeness", "forest", "forest")
		}
		if d.chance(0.02) {
			kinds = []string{"program"}
		}
		w := &Wish{Kind: one(d, kinds...), Weight: one(d, 1, 1, 1, 0.5, 2.5, 0)}
		w.Name = fmt.Sprintf("%s %d", w.Kind, k+1)
		if extreme {
			w.Weight = one(d, 1.0, 30, 300, 3000)
		}
		switch w.Kind {
		case "forest":
			p.drawForest(d, w)
		case "blend":
			p.drawBlend(d, w)
		case "pairs":
			p.drawPairs(d, w)
		case "novelty", "likeness":
			p.drawNearest(d, w)
		case "markowitz":
			p.drawMarkowitz(d, w, extreme)
		case "document":
			p.drawDocument(d, w, extreme)
		case "expression":
			p.drawExpression(d, w)
		case "program":
			p.drawProgram(d, w)
		}
		p.Wishes = append(p.Wishes, w)
	}
}

// floored is log max(floor, y).
func floored(logY, floor float64) float64 { return max(logY, math.Log(floor)) }

// drawBlend draws how desirable a mean is.
func (p *Problem) drawBlend(d dice, w *Wish) {
	f := map[string]any{}
	var mean func(x []int) float64
	lo, hi := 0.0, 1.0
	if value := p.Columns[0].Text[d.IntN(len(p.Names))]; value != "" && d.chance(0.4) {
		f["attribute"], f["is"] = "family", value
		mean = func(x []int) float64 {
			units := 0
			for i, a := range x {
				if p.Columns[0].Text[i] == value {
					units += a
				}
			}
			return float64(units) / float64(p.Total)
		}
	} else {
		c := p.Columns[d.between(1, 2)]
		f["attribute"] = c.Name
		mean = func(x []int) float64 { return p.mean(c, x) }
		lo, hi = math.Inf(1), math.Inf(-1)
		for _, h := range c.Hundredths {
			lo, hi = min(lo, float64(h)/100), max(hi, float64(h)/100)
		}
	}
	// Ends that no mean meets, so that rounding decides nothing.
	place := func(share float64) float64 {
		return math.Round((lo+share*(hi-lo))*1000)/1000 + 0.000137
	}
	from := place(d.Float64() - 0.3)
	to := from + 0.1 + d.Float64()*max(hi-lo, 0.5)
	to = math.Round(to*1000)/1000 + 0.000291
	at := math.Round((from+(to-from)*(0.2+0.6*d.Float64()))*1e4)/1e4 + 0.0000173
	floor := one(d, 0, 0, 0.001, 1e-9)
	if floor > 0 {
		f["floor"] = floor
	}
	rise, fall := 1.0, 1.0
	var desirable func(v float64) float64 // log d
	kind := one(d, "larger", "smaller", "target", "range", "normal")
	if kind != "range" && kind != "normal" && d.chance(0.4) {
		rise, fall = one(d, 0.5, 2, 7), one(d, 0.3, 3)
		if kind == "target" {
			f["shape"] = []float64{rise, fall}
		} else {
			fall = rise
			f["shape"] = rise
		}
	}
	ramp := func(v, zero, full, shape float64) float64 {
		r := (v - zero) / (full - zero)
		if r <= 0 {
			return math.Inf(-1)
		}
		return shape * math.Log(min(r, 1))
	}
	f[kind] = map[string]float64{"from": from, "to": to}
	switch kind {
	case "larger":
		desirable = func(v float64) float64 { return ramp(v, from, to, rise) }
	case "smaller":
		desirable = func(v float64) float64 { return ramp(v, to, from, rise) }
	case "target":
		f[kind] = map[string]float64{"from": from, "at": at, "to": to}
		desirable = func(v float64) float64 {
			if v <= at {
				return ramp(v, from, at, rise)
			}
			return ramp(v, to, at, fall)
		}
	case "range":
		desirable = func(v float64) float64 { return math.Log(oneIf(from <= v && v <= to)) }
	case "normal":
		sd := one(d, 0.01, 0.1, 1, 10)
		f[kind] = map[string]float64{"mean": at, "sd": sd}
		desirable = func(v float64) float64 { return -(v - at) * (v - at) / (2 * sd * sd) }
	}
	w.yaml = f
	w.log = func(x []int) float64 { return floored(desirable(mean(x)), floor) }
}

// mean returns the mean of an attribute, weighted by amounts.
func (p *Problem) mean(c Column, x []int) float64 {
	s := 0
	for i, a := range x {
		s += c.Hundredths[i] * a
	}
	return float64(s) / float64(100*p.Total)
}

// drawMarkowitz draws returns, and a covariance Σ = B·Bᵀ.
func (p *Problem) drawMarkowitz(d dice, w *Wish, extreme bool) {
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
	w.yaml = f
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

// drawDocument draws topics and words. Topics of one word each are frequent, and
// so are words that stand there 3,000 times.
func (p *Problem) drawDocument(d dice, w *Wish, extreme bool) {
	words := []string{"river", "bank", "tide", "loan"}[:d.between(1, 4)]
	single := d.chance(0.5)
	beta := make([][]int, len(p.Names)) // in thousandths
	for i := range beta {
		beta[i] = make([]int, len(words))
		if single {
			beta[i][d.IntN(len(words))] = 1000
			continue
		}
		left := 1000
		for k := range words {
			take := d.IntN(left + 1)
			if k == len(words)-1 {
				take = left
			}
			beta[i][k] = take
			left -= take
		}
	}
	counts := map[string]int{}
	of := make([]int, len(words))
	all := 0
	for _, k := range d.some(d.between(1, len(words)), len(words)) {
		of[k] = d.between(1, 6)
		if extreme {
			of[k] = one(d, 1, 30, 300, 3000)
		}
		counts[words[k]] = of[k]
		all += of[k]
	}
	if extreme {
		w.Weight = one(d, 1.0, 1, 30)
	}
	rows := make([][]float64, len(beta))
	for i := range beta {
		for _, b := range beta[i] {
			rows[i] = append(rows[i], float64(b)/1000)
		}
	}
	file := fmt.Sprintf("topics %s.csv", w.Name)
	w.files = map[string]string{file: table(append([]string{"topic"}, words...), p.Names, rows)}
	w.yaml = map[string]any{"topics": file, "words": counts}
	w.log = func(x []int) float64 {
		s := 0.0
		for k, c := range of {
			if c == 0 {
				continue
			}
			have := 0
			for i, a := range x {
				have += beta[i][k] * a
			}
			share := float64(have) / float64(1000*p.Total)
			s += float64(c) * math.Log(share/(float64(c)/float64(all)))
		}
		return s
	}
}

// drawProgram draws a wish that a program scores: 2^−(units of one ingredient), or
// a floor; see [Scorer].
func (p *Problem) drawProgram(d dice, w *Wish) {
	i := d.IntN(len(p.Names))
	w.Weight = one(d, 0.5, 1, 2)
	w.yaml = map[string]any{"command": []string{scorerCommand, "scorer", p.Names[i]}}
	w.log = func(x []int) float64 { return math.Log(programScore(x[i])) }
}
