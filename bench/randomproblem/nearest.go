package randomproblem

import (
	"math"
	"slices"
)

// drawPairs draws lifts and factors of pairs.
func (p *Pantry) drawPairs(d dice, w *Wish) {
	n := len(p.Names)
	f := map[string]any{}
	factors := make([][]float64, n) // by pair i < j
	for i := range factors {
		factors[i] = make([]float64, n)
		for j := range factors[i] {
			factors[i][j] = 1
		}
	}
	lift := "none"
	smooth := 1.0
	if len(p.Recipes) > 0 {
		lift = one(d, "mean", "product", "none")
		if lift != "none" && d.chance(0.4) {
			smooth = one(d, 0.01, 0.5, 3)
			f["smooth"] = smooth
		}
	}
	f["lift"] = lift
	add := func(key string, factor float64) {
		a, b := p.drawSelection(d), p.drawSelection(d)
		pairs := map[[2]int]bool{}
		for _, i := range a.of {
			for _, j := range b.of {
				if i != j {
					pairs[[2]int{min(i, j), max(i, j)}] = true
				}
			}
		}
		if len(pairs) == 0 {
			return
		}
		for q := range pairs {
			factors[q[0]][q[1]] *= factor
		}
		f[key] = []any{map[string]any{"of": []any{a.yaml, b.yaml}, "factor": factor}}
	}
	if d.chance(0.6) {
		add("avoid", one(d, 0, 0.01, 0.5, 1e-30))
	}
	if d.chance(0.4) {
		add("favour", one(d, 1.5, 20, 1e30))
	}
	if lift == "none" && f["avoid"] == nil && f["favour"] == nil {
		if n < 2 {
			p.drawBlend(d, w) // there is no pair
			w.Kind = "blend"
			return
		}
		factors[0][1] = 0.1
		f["avoid"] = []any{map[string]any{"of": []string{p.Names[0], p.Names[1]}, "factor": 0.1}}
	}
	w.yaml = f
	w.log = func(x []int) float64 {
		s, lifts, size := 0.0, 0.0, used(x)
		for i := range x {
			for j := i + 1; j < n; j++ {
				if x[i] > 0 && x[j] > 0 {
					s += math.Log(factors[i][j])
					lifts += math.Log(p.lift(i, j, smooth))
				}
			}
		}
		switch {
		case lift == "product":
			s += lifts
		case lift == "mean" && size > 1:
			s += lifts * 2 / float64(size*(size-1))
		}
		return s
	}
}

// lift says how usual a pair is in the book.
func (p *Pantry) lift(i, j int, smooth float64) float64 {
	ni, nj, both := 0.0, 0.0, 0.0
	for _, r := range p.Recipes {
		ni += oneIf(r.Amounts[i] > 0)
		nj += oneIf(r.Amounts[j] > 0)
		both += oneIf(r.Amounts[i] > 0 && r.Amounts[j] > 0)
	}
	return (both + smooth) / (ni*nj/float64(len(p.Recipes)) + smooth)
}

// drawNearest draws novelty or likeness.
func (p *Pantry) drawNearest(d dice, w *Wish) {
	f := map[string]any{}
	rows := p.Recipes
	if d.chance(0.4) {
		rows = nil
		var names []string
		for _, r := range d.some(d.between(1, len(p.Recipes)), len(p.Recipes)) {
			rows = append(rows, p.Recipes[r])
			names = append(names, p.Recipes[r].Name)
		}
		f["to"] = names
	}
	floor := one(d, 0, 0.01, 1e-9)
	if floor > 0 {
		f["floor"] = floor
	}
	w.yaml = f
	novelty := w.Kind == "novelty"
	if d.chance(0.4) {
		if d.chance(0.5) {
			f["by"] = "overlap"
		}
		w.log = func(x []int) float64 {
			o := 0.0
			for _, r := range rows {
				both := 0
				for i := range x {
					if x[i] > 0 && r.Amounts[i] > 0 {
						both++
					}
				}
				o = max(o, float64(both)/float64(min(used(x), used(r.Amounts))))
			}
			if novelty {
				o = 1 - o
			}
			return floored(math.Log(o), floor)
		}
		return
	}
	f["by"] = "amounts"
	zero := 0.5
	if d.chance(0.4) {
		zero = one(d, 1e-6, 0.01, 1)
		f["zero"] = zero
	}
	scale := p.typicalDistance(zero)
	if !(scale > 0) || d.chance(0.4) {
		scale = one(d, 0.2, 1, 5)
		f["scale"] = scale
	}
	w.log = func(x []int) float64 {
		nearest := math.Inf(1)
		for _, r := range rows {
			nearest = min(nearest, distance2(x, r.Amounts, zero))
		}
		e := -nearest / (2 * scale * scale)
		if novelty {
			return floored(math.Log(-math.Expm1(e)), floor)
		}
		return floored(e, floor)
	}
}

// distance2 is the square of the Aitchison distance, with zero in place of 0.
func distance2(x, r []int, zero float64) float64 {
	l := func(a int) float64 { return math.Log(max(float64(a), zero)) }
	squares, s := 0.0, 0.0
	for i := range x {
		diff := l(x[i]) - l(r[i])
		squares += diff * diff
		s += diff
	}
	return max(0, squares-s*s/float64(len(x)))
}

// typicalDistance is the median distance of a recipe to the nearest other, NaN
// with a single recipe.
func (p *Pantry) typicalDistance(zero float64) float64 {
	var all []float64
	for r := range p.Recipes {
		nearest := math.Inf(1)
		for q := range p.Recipes {
			if q != r {
				nearest = min(nearest, distance2(p.Recipes[r].Amounts, p.Recipes[q].Amounts, zero))
			}
		}
		all = append(all, math.Sqrt(nearest))
	}
	if len(all) < 2 {
		return math.NaN()
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
