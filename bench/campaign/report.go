package main

import (
	"fmt"
	"io"
	"math"
)

// cell is what campaigns of an arm on an oracle came to.
type cell struct {
	n              int
	regret, closed []float64 // at the end, by seed
	early          float64   // the mean share of the gap that is closed after two batches, or 16 trials
	found          float64   // the share of campaigns within 1 % of the gap
}

func gather(o *oracle, arm string, kept map[string]*record, batch int, seeds []uint64) cell {
	var c cell
	for _, seed := range seeds {
		r := kept[(&record{Oracle: o.name, Arm: arm, Seed: seed, Batch: batch}).key()]
		if r == nil {
			continue
		}
		last := len(r.Closed) - 1
		c.n++
		c.regret = append(c.regret, r.Regret[last])
		c.closed = append(c.closed, r.Closed[last])
		c.early += r.Closed[min(max(16/batch, 1), last)]
		if r.Closed[last] >= 0.99 {
			c.found++
		}
	}
	c.early /= float64(max(c.n, 1))
	c.found /= float64(max(c.n, 1))
	return c
}

// meanOf returns the mean and its standard error.
func meanOf(v []float64) (mean, se float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / float64(max(len(v)-1, 1)) / float64(max(len(v), 1)))
}

// report writes tables in Markdown: regret by oracle, and shares of the gap over all.
func report(w io.Writer, oracles []*oracle, arms []string, kept map[string]*record, batch int, seeds []uint64) {
	fmt.Fprintf(w, "Regret at the end (share of campaigns that came within 1 %% of the gap), batches of %d:\n\n| oracle | recipes | trials |", batch)
	for _, a := range arms {
		fmt.Fprintf(w, " %s |", a)
	}
	fmt.Fprint(w, "\n| --- | ---: | ---: |")
	for range arms {
		fmt.Fprint(w, " ---: |")
	}
	fmt.Fprintln(w)
	n := 0
	for _, o := range oracles {
		fmt.Fprintf(w, "| %s | %d | %d + %d |", o.name, len(o.recipes), startSize, rounds(o, batch)*batch)
		for _, a := range arms {
			c := gather(o, a, kept, batch, seeds)
			n = max(n, c.n)
			if c.n == 0 {
				fmt.Fprint(w, " – |")
				continue
			}
			m, se := meanOf(c.regret)
			fmt.Fprintf(w, " %.3g ± %.2g (%.2f) |", m, se, c.found)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nShare of the gap that is closed, %%, over all oracles, of %d campaigns each:\n\n| arm | after 16 trials | at the end | more than random | more than gp |\n| --- | ---: | ---: | ---: | ---: |\n", n)
	for _, a := range arms {
		early, end, ends := 0.0, 0.0, 0.0
		for _, o := range oracles {
			c := gather(o, a, kept, batch, seeds)
			m, se := meanOf(c.closed)
			early += c.early / float64(len(oracles))
			end += m / float64(len(oracles))
			ends += se * se / float64(len(oracles)*len(oracles))
		}
		fmt.Fprintf(w, "| %s | %.1f | %.1f ± %.1f | %s | %s |\n", a, 100*early, 100*end, 100*math.Sqrt(ends),
			versus(oracles, a, "random", kept, batch, seeds), versus(oracles, a, "gp", kept, batch, seeds))
	}
}

// calibration writes how often something better was left where an arm said so with a
// probability within some bounds.
func calibration(w io.Writer, oracles []*oracle, arm string, kept map[string]*record, batch int, seeds []uint64) {
	bounds := []float64{0, 0.05, 0.2, 0.5, 0.8, 1.01}
	n, better, gain := make([]int, len(bounds)), make([]int, len(bounds)), make([]float64, len(bounds))
	for _, o := range oracles {
		for _, seed := range seeds {
			r := kept[(&record{Oracle: o.name, Arm: arm, Seed: seed, Batch: batch}).key()]
			if r == nil || len(r.Left) != len(r.Regret)-1 {
				continue
			}
			for k, p := range r.Left {
				bin := 0
				for p >= bounds[bin+1] {
					bin++
				}
				n[bin]++
				gain[bin] += 1 - r.Closed[k]
				if r.Regret[k] > 0 {
					better[bin]++
				}
			}
		}
	}
	stops, wrong, lost, could := 0, 0, 0.0, 0 // where kir campaign says stop: see its quiet rounds
	for _, o := range oracles {
		for _, seed := range seeds {
			r := kept[(&record{Oracle: o.name, Arm: arm, Seed: seed, Batch: batch}).key()]
			if r == nil || len(r.Left) != len(r.Regret)-1 {
				continue
			}
			for k, p := range r.Left {
				if k < 2 || r.Regret[k-2] != r.Regret[k] {
					continue
				}
				if r.Regret[k] == 0 {
					could++
				}
				if p < bounds[1] {
					stops++
					lost += 1 - r.Closed[k]
					if r.Regret[k] > 0 {
						wrong++
					}
				}
			}
		}
	}
	fmt.Fprintf(w, "\n| probability that %s says something better is left with | rounds | in which it was, %% | left of the gap, %% |\n| --- | ---: | ---: | ---: |\n", arm)
	for bin := range len(bounds) - 1 {
		if n[bin] > 0 {
			fmt.Fprintf(w, "| %.2g to %.2g | %d | %.0f | %.1f |\n", bounds[bin], min(bounds[bin+1], 1), n[bin], 100*float64(better[bin])/float64(n[bin]), 100*gain[bin]/float64(n[bin]))
		}
	}
	if stops > 0 {
		fmt.Fprintf(w, "\nBelow 0.05, and two rounds without anything better: %d rounds; in %.0f ± %.0f %% something better was left, and on average %.1f %% of the gap.\n",
			stops, 100*float64(wrong)/float64(stops), 100*shareSE(wrong, stops), 100*lost/float64(stops))
		fmt.Fprintf(w, "Two rounds without anything better, and nothing better left: %d rounds, in %.0f %% of them below 0.05.\n", could, 100*float64(stops-wrong)/float64(max(could, 1)))
	}
}

// shareSE is the standard error of a share, with half of one more that is and one that is
// not, so that it is not 0 of none.
func shareSE(of, n int) float64 {
	p := (float64(of) + 0.5) / (float64(n) + 1)
	return math.Sqrt(p * (1 - p) / float64(n))
}

// versus is how much more of the gap an arm closes than another, seed by seed, averaged
// over the oracles.
func versus(oracles []*oracle, arm, other string, kept map[string]*record, batch int, seeds []uint64) string {
	if arm == other {
		return "–"
	}
	sum, variance := 0.0, 0.0
	for _, o := range oracles {
		var d []float64
		for _, seed := range seeds {
			a := kept[(&record{Oracle: o.name, Arm: arm, Seed: seed, Batch: batch}).key()]
			b := kept[(&record{Oracle: o.name, Arm: other, Seed: seed, Batch: batch}).key()]
			if a != nil && b != nil {
				d = append(d, a.Closed[len(a.Closed)-1]-b.Closed[len(b.Closed)-1])
			}
		}
		if len(d) == 0 {
			return "–"
		}
		m, se := meanOf(d)
		sum += m / float64(len(oracles))
		variance += se * se / float64(len(oracles)*len(oracles))
	}
	return fmt.Sprintf("%+.1f ± %.1f", 100*sum, 100*math.Sqrt(variance))
}

// advice writes how often an arm advised to stop a trade-off where a recipe was left that adds
// more than 1 % to its hypervolume, and how often recipes were better than what
// was tried, beside the probability that the arm had said.
func advice(w io.Writer, oracles []*oracle, arm string, kept map[string]*record, batch int, seeds []uint64) {
	stops, wrong, could, rounds := 0, 0, 0, 0
	bounds := []float64{0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.01}
	n, came, said := make([]int, len(bounds)), make([]int, len(bounds)), make([]float64, len(bounds))
	for _, o := range oracles {
		for _, seed := range seeds {
			r := kept[(&record{Oracle: o.name, Arm: arm, Seed: seed, Batch: batch}).key()]
			if r == nil {
				continue
			}
			if len(r.Stop) == len(r.More) { // only replays of trade-offs know what more there is
				for k, stop := range r.Stop {
					left := r.More[k] > 0.01
					rounds++
					if !left {
						could++
					}
					if stop {
						stops++
						if left {
							wrong++
						}
					}
				}
			}
			for k, p := range r.Said {
				bin := 0
				for p >= bounds[bin+1] {
					bin++
				}
				n[bin]++
				said[bin] += p
				if r.Came[k] {
					came[bin]++
				}
			}
		}
	}
	if rounds > 0 {
		fmt.Fprintf(w, "\nOf %d rounds, %s advised to stop before %d; in %d or %.0f ± %.0f %% of these something was left. In %d rounds nothing was left.\n", rounds, arm, stops, wrong, 100*float64(wrong)/float64(max(stops, 1)), 100*shareSE(wrong, max(stops, 1)), could)
	}
	fmt.Fprint(w, "\n| probability of a recipe to beat what was tried | recipes | said on average | came |\n| --- | ---: | ---: | ---: |\n")
	all, total, sum := 0, 0, 0.0
	for bin := range len(bounds) - 1 {
		if n[bin] > 0 {
			fmt.Fprintf(w, "| %.2g to %.2g | %d | %.2f | %.2f ± %.2f |\n", bounds[bin], min(bounds[bin+1], 1), n[bin], said[bin]/float64(n[bin]), float64(came[bin])/float64(n[bin]), shareSE(came[bin], n[bin]))
		}
		all, total, sum = all+n[bin], total+came[bin], sum+said[bin]
	}
	if all > 0 {
		fmt.Fprintf(w, "| all | %d | %.3f | %.3f ± %.3f |\n", all, sum/float64(all), float64(total)/float64(all), shareSE(total, all))
	}
}

// intervals writes how many of the 90 % intervals of the first batches and of later ones held what
// came. The errors are over the oracles.
func intervals(w io.Writer, oracles []*oracle, arm string, kept map[string]*record, batch int, seeds []uint64) {
	var first, later []float64 // shares, one for each oracle
	for _, o := range oracles {
		var n, held [2]float64
		for _, seed := range seeds {
			r := kept[(&record{Oracle: o.name, Arm: arm, Seed: seed, Batch: batch}).key()]
			if r == nil {
				continue
			}
			for k, round := range r.Off {
				for _, off := range round {
					n[min(k, 1)]++
					if math.Abs(off) <= 1 {
						held[min(k, 1)]++
					}
				}
			}
		}
		if n[0] > 0 {
			first = append(first, held[0]/n[0])
		}
		if n[1] > 0 {
			later = append(later, held[1]/n[1])
		}
	}
	if len(later) == 0 {
		return
	}
	a, aSE := meanOf(first)
	b, bSE := meanOf(later)
	fmt.Fprintf(w, "\nOf the 90 %% intervals %s gave, %.1f ± %.1f %% held in the first batch and %.1f ± %.1f %% in later ones.\n", arm, 100*a, 100*aSE, 100*b, 100*bSE)
}
