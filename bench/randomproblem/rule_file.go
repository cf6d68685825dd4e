package randomproblem

import (
	"fmt"
	"slices"
)

// drawLimits draws a table of limits, a row each.
func (p *Pantry) drawLimits(d dice) *Rule {
	rows := [][]string{{"attribute", "min", "max"}}
	var keeps []func(x []int) bool
	for range d.between(1, 3) {
		r := p.drawLimit(d)
		f := r.yaml["limit"].(map[string]any)
		cell := func(key string) string {
			if f[key] == nil {
				return ""
			}
			return fmt.Sprint(f[key])
		}
		rows = append(rows, []string{f["attribute"].(string), cell("min"), cell("max")})
		keeps = append(keeps, r.keeps)
	}
	name := fmt.Sprintf("limits-%d.csv", d.IntN(1_000_000))
	return &Rule{
		yaml: map[string]any{"limits": map[string]any{"file": name}}, files: map[string]string{name: commas(rows)},
		keeps: func(x []int) bool {
			return !slices.ContainsFunc(keeps, func(k func([]int) bool) bool { return !k(x) })
		},
	}
}

// drawConstituents draws what ingredients consist of, of which most are empty, and
// a table with a limit on it.
func (p *Pantry) drawConstituents(d dice) *Rule {
	number := d.IntN(1_000_000)
	rows := [][]string{{"ingredient", "constituent", "share"}}
	shares, top := make([]int, len(p.Names)), 0 // in hundredths
	for i, name := range p.Names {
		if d.chance(0.5) {
			shares[i] = d.between(1, 100)
			rows = append(rows, []string{name, fmt.Sprintf("resin %d", number), fmt.Sprint(float64(shares[i]) / 100)})
			top = max(top, shares[i])
		}
	}
	if top == 0 {
		return nil
	}
	most, total := d.between(0, top), p.Total
	constituents, limits := fmt.Sprintf("constituents-%d.csv", number), fmt.Sprintf("limits-%d.csv", number)
	return &Rule{
		yaml: map[string]any{"constituents": map[string]any{"file": constituents}},
		also: map[string]any{"limits": map[string]any{"file": limits}},
		files: map[string]string{
			constituents: commas(rows),
			limits:       commas([][]string{{"attribute", "max"}, {fmt.Sprintf("resin %d", number), fmt.Sprint(float64(most) / 100)}}),
		},
		keeps: func(x []int) bool {
			mean := 0
			for i, a := range x {
				mean += shares[i] * a
			}
			return mean <= most*total
		},
	}
}
