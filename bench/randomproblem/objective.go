package randomproblem

import "math"

// NewObjectives draws a problem as NewRuled does, and before its other wishes an objective:
// a value that is to be as large or as small as the rules allow.
func NewObjectives(seed uint64) *Problem {
	for try := uint64(0); ; try++ {
		d := newDice(seed, 1<<44|try)
		p := &Problem{Pantry: drawPantry(d), Seed: seed}
		if len(p.Names) < 2 || p.Total < 2 {
			continue
		}
		p.Law = p.drawLaw(d)
		for range d.between(0, 3) {
			if r := p.drawAnyRule(d); r != nil {
				p.Rules = append(p.Rules, *r)
			}
		}
		if d.chance(0.3) {
			p.drawWishes(d)
		}
		w := &Wish{Name: "goal", Weight: one(d, 1, 1, 0.5, 2.5, 30)}
		p.drawGoal(d, w)
		p.Wishes = append([]*Wish{w}, p.Wishes[:min(len(p.Wishes), 1)]...)
		e := p.feasible()
		if e.thin || len(e.States) == 0 {
			continue
		}
		if p.scored(e) {
			return p
		}
	}
}

// A goal is a value that is to be as large (sign 1) or as small (−1) as can be.
type goal struct {
	value              func(x []int) float64
	sign, shape, floor float64
}

// drawGoal draws an objective.
func (p *Pantry) drawGoal(d dice, w *Wish) {
	w.goal = &goal{sign: 1, shape: 1, floor: 0.001}
	if d.chance(0.3) {
		w.Kind = "markowitz"
		p.drawMarkowitz(d, w, false)
		f, m := w.yaml.(map[string]any), w.market
		delete(f, "risk_aversion")
		w.log = nil
		if d.chance(0.5) {
			f["maximize"] = "return"
			w.goal.value = func(x []int) (sum float64) {
				for i, a := range x {
					sum += m.returns[i] * float64(a) / float64(p.Total)
				}
				return sum
			}
			return
		}
		f["minimize"], w.goal.sign = "volatility", -1
		w.goal.value = func(x []int) float64 {
			risk := 0.0
			for i, a := range x {
				for j, b := range x {
					risk += m.cov[i][j] * float64(a) * float64(b) / float64(p.Total) / float64(p.Total)
				}
			}
			return math.Sqrt(max(risk, 0))
		}
		return
	}
	c := p.Columns[d.between(1, 2)]
	mean := func(x []int) float64 { return p.mean(c, x) }
	f := map[string]any{"maximize": true}
	if d.chance(0.5) {
		f, w.goal.sign = map[string]any{"minimize": true}, -1
	}
	if d.chance(0.4) {
		w.goal.shape = one(d, 0.5, 2.0, 7)
		f["shape"] = w.goal.shape
	}
	if d.chance(0.4) {
		w.goal.floor = one(d, 0.1, 1e-9)
		f["floor"] = w.goal.floor
	}
	if w.Kind = one(d, "blend", "expression"); w.Kind == "blend" {
		f["attribute"], w.goal.value = c.Name, mean
	} else {
		f["formula"] = `mean("` + c.Name + `")^2 - 3 * used`
		w.goal.value = func(x []int) float64 { return mean(x)*mean(x) - 3*float64(used(x)) }
	}
	w.yaml = f
}

// reach sets log from the worst and the best value of all compositions that the rules and
// the law allow, which kir has found by a search.
func (w *Wish) reach(e *Enumeration) {
	g := w.goal
	worst, best := math.Inf(1), math.Inf(-1)
	for s, x := range e.States {
		if e.Mass(s) {
			v := g.sign * g.value(x)
			worst, best = min(worst, v), max(best, v)
		}
	}
	w.log = func(x []int) float64 {
		if best-worst <= 1e-12*math.Abs(best) {
			return 0
		}
		part := (g.sign*g.value(x) - worst) / (best - worst)
		if part <= 1e-12 {
			return math.Log(g.floor)
		}
		return floored(g.shape*math.Log(part), g.floor)
	}
}
