package main

import (
	"fmt"
	"math"
	"os"

	"kir/internal/report/figure"
)

// saveFigure draws how much of the gap the arms have closed, on average over the oracles,
// after each batch, with two standard errors to either side.
func saveFigure(path string, oracles []*oracle, arms []string, kept map[string]*record, batch int, seeds []uint64) error {
	const left, top, right, bottom = 46.0, 10.0, 560.0, 260.0
	f := &figure.Figure{Name: "campaign", Title: "Share of the gap to the best recipe that is closed, by trials", Width: 570, Height: 300}
	y := f.Frame(left, top, right, bottom, 1, figure.Percent, "trials after the first 20")
	f.Text = fmt.Sprintf("Batches of %d. Averages over %d tables:", batch, len(oracles))
	x := figure.Scale{Lo: 0, Hi: trials, From: left, To: right}
	for at := 0; at <= trials; at += 16 {
		f.Write(x.At(float64(at)), bottom+15, figure.SmallSize, figure.Middle, figure.Soft, fmt.Sprint(at))
	}
	for k, arm := range arms {
		paint := figure.Colour(k)
		var line []float64
		for step := 0; step <= trials/batch; step++ {
			sum, variance, n := 0.0, 0.0, 0
			for _, o := range oracles {
				var closed []float64
				for _, seed := range seeds {
					if r := kept[(&record{Oracle: o.name, Arm: arm, Seed: seed, Batch: batch}).key()]; r != nil {
						closed = append(closed, r.Closed[min(step, len(r.Closed)-1)])
					}
				}
				if len(closed) > 0 {
					m, se := meanOf(closed)
					sum, variance, n = sum+m, variance+se*se, n+1
				}
			}
			if n == 0 || n < len(oracles) {
				break // an average over some of the tables would be another figure
			}
			mean, se := sum/float64(n), math.Sqrt(variance)/float64(n)
			at := x.At(float64(step * batch))
			line = append(line, at, y.ClampedAt(mean))
			f.Line(at, y.ClampedAt(mean-2*se), at, y.ClampedAt(mean+2*se), 1, paint)
			if (step+1)*batch > trials {
				f.Text += fmt.Sprintf(" %s %.1f %%,", arm, 100*mean)
			}
		}
		if len(line) == 0 {
			continue
		}
		f.Path(line, 2, paint)
		f.Key(arm, func(f *figure.Figure, x, y float64) { f.Line(x, y+5, x+20, y+5, 2, paint) })
	}
	f.PlaceKeys()
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := figure.WriteSVG(out, f); err != nil {
		return err
	}
	return out.Close()
}
