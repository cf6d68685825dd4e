package main

import (
	"fmt"
	"io"
	"math"
)

// reportVolumes writes tables in Markdown of the share of the table's hypervolume that arms reached
// at the end of campaigns for trade-offs, and how much further kir next came than the others, seed by
// seed. The errors are over the seeds of an oracle, and over the oracles of all.
func reportVolumes(w io.Writer, oracles []*oracle, arms []string, kept map[string]*record, batch int, seeds []uint64) {
	fmt.Fprintf(w, "Share of the hypervolume, %%, batches of %d, %d campaigns:\n\n| oracle | recipes | trials |", batch, len(seeds))
	line := "| --- | ---: | ---: |"
	for _, a := range arms {
		fmt.Fprintf(w, " %s |", a)
		line += " ---: |"
	}
	for _, a := range arms {
		if a != "next" {
			fmt.Fprintf(w, " next less %s |", a)
			line += " ---: |"
		}
	}
	fmt.Fprintf(w, "\n%s\n", line)
	all := make([][]float64, 2*len(arms)) // means by oracle: of each arm, then of next less it
	for _, o := range oracles {
		fmt.Fprintf(w, "| %s | %d | %d + %d |", o.name, len(o.recipes), startSize, rounds(o, batch)*batch)
		ours := finalVolumes(o, "next", kept, batch, seeds)
		var less string
		for n, a := range arms {
			theirs := finalVolumes(o, a, kept, batch, seeds)
			m, se := meanPresent(theirs)
			fmt.Fprintf(w, " %.1f ± %.1f |", 100*m, 100*se)
			all[n] = append(all[n], m)
			if a == "next" {
				continue
			}
			for k := range theirs {
				theirs[k] = ours[k] - theirs[k]
			}
			m, se = meanPresent(theirs)
			less += fmt.Sprintf(" %+.1f ± %.1f |", 100*m, 100*se)
			all[len(arms)+n] = append(all[len(arms)+n], m)
		}
		fmt.Fprintln(w, less)
	}
	fmt.Fprint(w, "| all | | |")
	for n, means := range all {
		if means != nil {
			m, se := meanOf(means)
			sign := "%.1f"
			if n >= len(arms) {
				sign = "%+.1f"
			}
			fmt.Fprintf(w, " "+sign+" ± %.1f |", 100*m, 100*se)
		}
	}
	fmt.Fprintln(w)
}

// finalVolumes returns the share of the hypervolume at the end, by seed; NaN where there was no campaign.
func finalVolumes(o *oracle, arm string, kept map[string]*record, batch int, seeds []uint64) []float64 {
	all := make([]float64, len(seeds))
	for k, seed := range seeds {
		all[k] = math.NaN()
		if r := kept[(&record{Oracle: o.name, Arm: arm, Seed: seed, Batch: batch}).key()]; r != nil {
			all[k] = 1 - r.Regret[len(r.Regret)-1]
		}
	}
	return all
}

// meanPresent is the mean of the numbers that are there, and its standard error.
func meanPresent(v []float64) (mean, se float64) {
	var there []float64
	for _, x := range v {
		if !math.IsNaN(x) {
			there = append(there, x)
		}
	}
	return meanOf(there)
}
