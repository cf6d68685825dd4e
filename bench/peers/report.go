package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// meanWithError writes a mean and its standard error.
func meanWithError(of []float64) string {
	if len(of) == 0 {
		return "–"
	}
	m := mean(of)
	if len(of) == 1 {
		return fmt.Sprintf("%.1f", m)
	}
	sum := 0.0
	for _, v := range of {
		sum += (v - m) * (v - m)
	}
	return fmt.Sprintf("%.1f ± %.1f", m, math.Sqrt(sum/float64(len(of)-1)/float64(len(of))))
}

func mean(of []float64) float64 {
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum / float64(len(of))
}

// places returns what was measured of a task, in the order in which it was kept.
func places(kept []record, task string) []string {
	var on []string
	for _, r := range kept {
		if r.Task == task && !slices.Contains(on, r.On) {
			on = append(on, r.On)
		}
	}
	return on
}

// complete returns what finds a campaign of a task that no arm refused, and how many seeds there are.
func complete(kept []record, task string) (find func(on, arm string, seed int) *record, seeds int) {
	at := make(map[string]*record)
	batch := 0
	for k := range kept {
		r := &kept[k]
		if r.Task == task && r.Refused == "" && len(r.reached()) > 0 {
			at[r.key()], seeds, batch = r, max(seeds, r.Seed+1), r.Batch
		}
	}
	return func(on, arm string, seed int) *record {
		return at[(&record{Task: task, On: on, Arm: arm, Seed: seed, Batch: batch}).key()]
	}, seeds
}

// final returns the figure of a campaign at its end, in percent.
func (r *record) final() float64 {
	all := r.reached()
	return 100 * all[len(all)-1]
}

// reportTables prints the share of the gap that is closed: of each table over its seeds, and over the tables. An arm's
// figures are beside kir's on the campaigns that both made.
func reportTables(w io.Writer, kept []record, arms []string) {
	tables := places(kept, "tables")
	find, seeds := complete(kept, "tables")
	fmt.Fprintf(w, "| arm | %s | all | kir ahead by | campaigns | s a round | processor s a round | start, processor s | peak, MB |\n|%s\n", strings.Join(tables, " | "), strings.Repeat(" --- |", len(tables)+8))
	for _, arm := range arms {
		var cells []string
		var over, less, seconds, processor, start []float64
		top, count := 0.0, 0
		for _, table := range tables {
			var closed, behind []float64
			for seed := range seeds {
				r := find(table, arm, seed)
				if r == nil {
					continue
				}
				count++
				last := r.final()
				closed = append(closed, last)
				if k := find(table, "kir", seed); k != nil {
					behind = append(behind, k.final()-last)
				}
				seconds, processor = append(seconds, r.Seconds...), append(processor, r.Processor...)
				start, top = append(start, r.Start), max(top, r.Peak)
			}
			cells = append(cells, meanWithError(closed))
			if len(closed) > 0 {
				over = append(over, mean(closed))
			}
			if len(behind) > 0 {
				less = append(less, mean(behind))
			}
		}
		if count == 0 {
			continue
		}
		gap := meanWithError(less)
		if arm == "kir" {
			gap = ""
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %d | %.2f | %.2f | %.1f | %.0f |\n", arm, strings.Join(cells, " | "), meanWithError(over), gap, count, mean(seconds), mean(processor), mean(start), top)
	}
	failures(w, kept, "tables")
}

// reportPaired prints what campaigns of a task reached on each table, over the seeds, and what each arm took. Kir less
// another arm is of the campaigns that both made.
func reportPaired(w io.Writer, kept []record, task string, arms []string) {
	tables := places(kept, task)
	find, seeds := complete(kept, task)
	fmt.Fprintf(w, "| table | %s |", strings.Join(arms, " | "))
	for _, arm := range arms {
		if arm != "kir" {
			fmt.Fprintf(w, " kir less %s |", arm)
		}
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat(" --- |", 2*len(arms)))
	over, ahead := make([][]float64, len(arms)), make([][]float64, len(arms)) // means by table
	for _, table := range tables {
		var cells, less []string
		for n, arm := range arms {
			var reached, gaps []float64
			for seed := range seeds {
				r := find(table, arm, seed)
				if r == nil {
					continue
				}
				reached = append(reached, r.final())
				if k := find(table, "kir", seed); k != nil {
					gaps = append(gaps, k.final()-r.final())
				}
			}
			cells = append(cells, meanWithError(reached))
			if len(reached) > 0 {
				over[n] = append(over[n], mean(reached))
			}
			if len(gaps) > 0 {
				ahead[n] = append(ahead[n], mean(gaps))
			}
			if arm != "kir" {
				less = append(less, meanWithError(gaps))
			}
		}
		fmt.Fprintf(w, "| %s | %s |\n", table, strings.Join(append(cells, less...), " | "))
	}
	var cells, less []string
	for n, arm := range arms {
		cells = append(cells, meanWithError(over[n]))
		if arm != "kir" {
			less = append(less, meanWithError(ahead[n]))
		}
	}
	fmt.Fprintf(w, "| all | %s |\n\n", strings.Join(append(cells, less...), " | "))
	fmt.Fprintln(w, "| arm | campaigns | s a round | processor s a round | start, processor s | peak, MB |\n| --- | --- | --- | --- | --- | --- |")
	for _, arm := range arms {
		var seconds, processor, start []float64
		top := 0.0
		for _, table := range tables {
			for seed := range seeds {
				if r := find(table, arm, seed); r != nil {
					seconds, processor = append(seconds, r.Seconds...), append(processor, r.Processor...)
					start, top = append(start, r.Start), max(top, r.Peak)
				}
			}
		}
		if len(start) > 0 {
			fmt.Fprintf(w, "| %s | %d | %.2f | %.2f | %.1f | %.0f |\n", arm, len(start), mean(seconds), mean(processor), mean(start), top)
		}
	}
	failures(w, kept, task)
}

// reportRules prints what came of each set of rules.
func reportRules(w io.Writer, kept []record, arms []string) {
	fmt.Fprintf(w, "| rules | arm | answers | offers | break a rule | better than the best trial | best offer less the best trial | processor s | peak, MB |\n|%s\n", strings.Repeat(" --- |", 9))
	for _, on := range places(kept, "rules") {
		for _, arm := range arms {
			var best, processor []float64
			asked, answered, offers, broken, better := 0, 0, 0, 0, 0
			top := 0.0
			for _, r := range kept {
				if r.Task != "rules" || r.On != on || r.Arm != arm {
					continue
				}
				asked++
				if r.Refused == "" {
					answered++
				}
				offers, broken = offers+r.Offers, broken+len(r.Broken)
				for _, v := range r.Worth {
					if v > 0 {
						better++
					}
				}
				if len(r.Worth) > 0 {
					best = append(best, slices.Max(r.Worth))
				}
				processor, top = append(processor, r.Processor...), max(top, r.Peak)
			}
			if asked > 0 {
				fmt.Fprintf(w, "| %s | %s | %d of %d | %d | %d | %d | %s | %s | %.0f |\n", on, arm, answered, asked, offers, broken, better, meanWithError(best), meanWithError(processor), top)
			}
		}
	}
	failures(w, kept, "rules")
}

// reportSpeed prints the processor's time of one answer by size; behind a > it was ended.
func reportSpeed(w io.Writer, kept []record, arms []string) {
	fmt.Fprintf(w, "| size | %s |\n|%s\n", strings.Join(arms, " | "), strings.Repeat(" --- |", len(arms)+1))
	for _, on := range places(kept, "speed") {
		var cells []string
		for _, arm := range arms {
			var processor []float64
			over, asked, broken := "", 0, 0
			for _, r := range kept {
				if r.Task != "speed" || r.On != on || r.Arm != arm {
					continue
				}
				asked++
				if r.Refused == errSlow.Error() {
					over = "> "
				} else if r.Refused != "" {
					over = "refused after "
				}
				broken += len(r.Broken)
				processor = append(processor, r.Processor...)
			}
			cell := over + meanWithError(processor)
			if broken > 0 {
				cell += fmt.Sprintf(" (%d broken)", broken)
			}
			if asked == 0 {
				cell = "–"
			}
			cells = append(cells, cell)
		}
		fmt.Fprintf(w, "| %s | %s |\n", on, strings.Join(cells, " | "))
	}
	failures(w, kept, "speed")
}

// failures prints why there were no answers.
func failures(w io.Writer, kept []record, task string) {
	count := make(map[string]int)
	var order []string
	for _, r := range kept {
		if r.Task != task || r.Refused == "" {
			continue
		}
		reason, _, _ := strings.Cut(r.Refused, "\n")
		key := r.Arm + ": " + reason
		if count[key] == 0 {
			order = append(order, key)
		}
		count[key]++
	}
	fmt.Fprintln(w)
	for _, key := range order {
		fmt.Fprintf(w, "%d times %s\n", count[key], key)
	}
}

// printVersions prints the versions of the peers that were measured.
func printVersions(w io.Writer, kept []record) {
	var all []string
	for _, r := range kept {
		for _, v := range r.Versions {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	fmt.Fprintf(w, "\n%s\n", strings.Join(all, ", "))
}
