package randomproblem

import "math"

// drawBlend draws how desirable a mean is.
func (p *Pantry) drawBlend(d dice, w *Wish) {
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
