package randomproblem

import (
	"math"
	"strconv"
)

// A Law is a law of the number of ingredients.
type Law struct {
	yaml any
	// on returns the law's probabilities of 1..most, at index n−1.
	on func(most int) []float64
}

// drawLaw draws one that has mass on some size of the space.
func (p *Pantry) drawLaw(d dice) Law {
	most := min(len(p.Names), p.Total)
	if len(p.Recipes) > 0 && d.chance(0.4) {
		return p.recipesLaw()
	}
	fields, law := p.drawPlainLaw(d, most, true)
	law.yaml = fields
	if d.chance(0.3) {
		return power(d, fields, law)
	}
	return law
}

// power raises a law to a power: 0 is uniform on the sizes that have mass.
func power(d dice, fields map[string]any, law Law) Law {
	c := one(d, 0, 0.5, 1, 2.5, 3)
	fields["power"] = c
	return Law{fields, func(most int) []float64 {
		q := law.on(most)
		for k := range q {
			if q[k] > 0 {
				q[k] = math.Pow(q[k], c)
			}
		}
		return normalise(q)
	}}
}

// recipesLaw is the share of the recipes that use n.
func (p *Pantry) recipesLaw() Law {
	return Law{"recipes", func(most int) []float64 {
		q := make([]float64, most)
		for _, r := range p.Recipes {
			q[used(r.Amounts)-1]++
		}
		return normalise(q)
	}}
}

// drawPlainLaw draws a law other than that of the recipes.
func (p *Pantry) drawPlainLaw(d dice, most int, mixtures bool) (map[string]any, Law) {
	kinds := []string{"uniform", "uniform", "table", "table", "normal", "exponential", "mixture"}
	if !mixtures {
		kinds = kinds[:len(kinds)-1]
	}
	var yaml any
	var weight func(n int) float64
	kind := one(d, kinds...)
	switch kind {
	case "uniform":
		lo := d.between(1, most)
		hi := d.between(lo, most)
		yaml = []int{lo, hi}
		weight = func(n int) float64 { return oneIf(lo <= n && n <= hi) }
	case "table":
		table := map[string]float64{}
		at := map[int]float64{}
		for n := 1; n <= most; n++ {
			if d.chance(0.6) {
				at[n] = one(d, 0, 1, 13, 0.25, 1e-6, 1e6)
			}
		}
		if n := d.between(1, most); at[n] == 0 {
			at[n] = 2
		}
		for n, w := range at {
			table[strconv.Itoa(n)] = w
		}
		yaml = table
		weight = func(n int) float64 { return at[n] }
	case "normal":
		mean, sd := float64(d.between(0, 10*most))/10, one(d, 0.3, 1, 2.5)
		yaml = map[string]any{"mean": mean, "sd": sd}
		weight = func(n int) float64 { return math.Exp(-(float64(n) - mean) * (float64(n) - mean) / (2 * sd * sd)) }
	case "exponential":
		rate := one(d, -1.5, -0.1, 0, 0.5, 3, 20)
		yaml = map[string]any{"rate": rate}
		weight = func(n int) float64 { return math.Exp(-rate * float64(n-1)) }
	case "mixture":
		var parts []any
		var laws []Law
		var shares []float64
		for range d.between(1, 3) {
			fields, law := p.drawPlainLaw(d, most, false)
			share := one(d, 1, 0.5, 3)
			fields["weight"] = share
			parts, laws, shares = append(parts, fields), append(laws, law), append(shares, share)
		}
		return map[string]any{"mixture": parts}, Law{on: func(most int) []float64 {
			q := make([]float64, most)
			for c, law := range laws {
				for k, v := range law.on(most) {
					q[k] += shares[c] * v
				}
			}
			return normalise(q)
		}}
	}
	return map[string]any{kind: yaml}, Law{on: func(most int) []float64 {
		q := make([]float64, most)
		for k := range q {
			q[k] = weight(k + 1)
		}
		return normalise(q)
	}}
}

// normalise makes weights sum to 1; if all are 0 they stay so.
func normalise(q []float64) []float64 {
	sum := 0.0
	for _, v := range q {
		sum += v
	}
	if sum > 0 {
		for k := range q {
			q[k] /= sum
		}
	}
	return q
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
