package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// reportSamplers prints a table of each kind that was measured.
func reportSamplers(w io.Writer, kept []samplerRecord) {
	reportDraws(w, kept, "polytopes", "hopsy, coordinates")
	reportDraws(w, kept, "targets", "hopsy")
	reportEvolution(w, kept)
	reportPortfolios(w, kept)
	reportDiagnostics(w, kept)
	reportModels(w, kept)
	var versions []string
	refused := make(map[string]int)
	for _, r := range kept {
		versions = append(versions, r.Versions...)
		if r.Refused != "" {
			reason, _, _ := strings.Cut(r.Refused, "\n")
			refused[r.Task+", "+r.Arm+": "+reason]++
		}
	}
	slices.Sort(versions)
	fmt.Fprintf(w, "\n%s\n", strings.Join(slices.Compact(versions), ", "))
	for _, reason := range slices.Sorted(maps.Keys(refused)) {
		fmt.Fprintf(w, "%d times %s\n", refused[reason], reason)
	}
}

// samplerGroups returns the answers of a task by what they are of and by arm, in the order in which they were kept.
func samplerGroups(kept []samplerRecord, task string) (on []string, arms func(on string) []string, of func(on, arm string) []samplerRecord) {
	for _, r := range kept {
		if r.Task == task && !slices.Contains(on, r.On) {
			on = append(on, r.On)
		}
	}
	arms = func(on string) (list []string) {
		for _, r := range kept {
			if r.Task == task && r.On == on && !slices.Contains(list, r.Arm) {
				list = append(list, r.Arm)
			}
		}
		return list
	}
	of = func(on, arm string) (list []samplerRecord) {
		for _, r := range kept {
			if r.Task == task && r.On == on && r.Arm == arm && (r.Refused == "" || task == "portfolios") {
				list = append(list, r)
			}
		}
		return list
	}
	return on, arms, of
}

// figures returns a figure of each record that has it.
func figures(of []samplerRecord, name string) []float64 {
	var out []float64
	for _, r := range of {
		if v, ok := r.Figures[name]; ok {
			out = append(out, v)
		}
	}
	return out
}

// seconds returns a time of each record.
func seconds(of []samplerRecord, time func(*samplerRecord) float64) []float64 {
	var out []float64
	for k := range of {
		out = append(out, time(&of[k]))
	}
	return out
}

func setupSeconds(r *samplerRecord) float64 { return r.Setup }
func processorOf(r *samplerRecord) float64  { return r.Processor }
func allSeconds(r *samplerRecord) float64   { return r.Setup + r.Processor }

// heading prints the first two lines of a table.
func heading(w io.Writer, columns ...string) {
	row(w, columns...)
	row(w, slices.Repeat([]string{"---"}, len(columns))...)
}

// row prints a line of a table.
func row(w io.Writer, of ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(of, " | ")) }

func title(w io.Writer, text string) { fmt.Fprintf(w, "\n**%s**\n\n", text) }

// meanAndError writes a mean and its standard error with some digits.
func meanAndError(of []float64, digits int) string {
	if len(of) == 0 {
		return "–"
	}
	m, sum := mean(of), 0.0
	for _, v := range of {
		sum += (v - m) * (v - m)
	}
	if len(of) == 1 {
		return fmt.Sprintf("%.*f", digits, m)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, m, digits, math.Sqrt(sum/float64(len(of)-1)/float64(len(of))))
}

// reportDraws prints what draws are worth, and how far their means and deviations are from those of a reference.
func reportDraws(w io.Writer, kept []samplerRecord, task, reference string) {
	on, arms, of := samplerGroups(kept, task)
	if len(on) == 0 {
		return
	}
	title(w, "Draws: "+task)
	heading(w, "law", "arm", "setup, s", "effective draws a second", "in all draws", "R-hat", "means apart, errors", "deviations apart, errors")
	for _, law := range on {
		for _, arm := range arms(law) {
			list := of(law, arm)
			if len(list) == 0 {
				row(w, law, arm, "–", "refused", "", "", "", "")
				continue
			}
			means, deviations := "", ""
			if arm != reference {
				means, deviations = agreement(list, of(law, reference), "mean"), agreement(list, of(law, reference), "sd")
			}
			row(w, law, arm, meanAndError(seconds(list, setupSeconds), 2), meanAndError(figures(list, "per_second"), 0), meanAndError(figures(list, "ess_bulk"), 0),
				fmt.Sprintf("%.3f", slices.Max(figures(list, "rhat"))), means, deviations)
		}
	}
}

// agreement returns the largest difference of a figure of a share, in standard errors of the difference.
func agreement(own, theirs []samplerRecord, figure string) string {
	if len(own) == 0 || len(theirs) == 0 {
		return ""
	}
	worst := 0.0
	for i := range own[0].Vectors[figure] {
		between, variance := 0.0, 0.0
		for k, of := range [][]samplerRecord{own, theirs} {
			for _, r := range of {
				count := float64(len(of))
				between += float64(1-2*k) * r.Vectors[figure][i] / count
				e := r.Vectors["mcse_"+figure][i] / count
				variance += e * e
			}
		}
		worst = max(worst, math.Abs(between)/math.Sqrt(variance))
	}
	return fmt.Sprintf("%.1f", worst)
}

// reportEvolution prints the hypervolumes of fronts, as shares of that of all points found.
func reportEvolution(w io.Writer, kept []samplerRecord) {
	on, arms, of := samplerGroups(kept, "evolution")
	if len(on) == 0 {
		return
	}
	title(w, "Evolution")
	heading(w, "problem", "arm", "hypervolume, % of all points'", "behind kir", "evaluations", "processor, s")
	for _, problem := range on {
		var all []samplerRecord
		for _, arm := range arms(problem) {
			all = append(all, of(problem, arm)...)
		}
		whole := samplerRecord{}
		for _, r := range all {
			whole.Points = append(whole.Points, r.Points...)
		}
		volumes := volumesOf(append(slices.Clone(all), whole))
		top := volumes[len(volumes)-1]
		own := make(map[int]float64) // by seed
		for k, r := range all {
			if r.Arm == "kir" {
				own[r.Seed] = 100 * volumes[k] / top
			}
		}
		for _, arm := range arms(problem) {
			var share, behind []float64
			for k, r := range all {
				if r.Arm == arm {
					share, behind = append(share, 100*volumes[k]/top), append(behind, own[r.Seed]-100*volumes[k]/top)
				}
			}
			list := of(problem, arm)
			evaluations, times := "", ""
			switch {
			case strings.HasPrefix(arm, "kir"):
				evaluations = fmt.Sprintf("%.0f lines", mean(figures(list, "evaluations")))
				if arm == "kir" {
					behind = nil
				}
			case strings.HasSuffix(arm, "× 10"):
				evaluations = fmt.Sprintf("%.0f, and %.0f that break a rule", mean(figures(list, "evaluations")), mean(figures(list, "asked"))-mean(figures(list, "evaluations")))
			}
			if evaluations != "" {
				times = meanAndError(seconds(list, processorOf), 2)
			}
			row(w, problem, arm, meanAndError(share, 2), meanAndError(behind, 2), evaluations, times)
		}
	}
}

// reportPortfolios prints how far utilities are below the best.
func reportPortfolios(w io.Writer, kept []samplerRecord) {
	on, arms, of := samplerGroups(kept, "portfolios")
	if len(on) == 0 {
		return
	}
	title(w, "Portfolios")
	heading(w, "portfolio", "arm", "utility, best of all seeds", "below the best, millionths of it", "processor, s", "found after, s", "proved")
	for _, portfolio := range on {
		best := math.Inf(-1)
		for _, arm := range arms(portfolio) {
			if !strings.HasSuffix(arm, "alone") {
				for _, u := range figures(of(portfolio, arm), "utility") {
					best = max(best, u)
				}
			}
		}
		for _, arm := range arms(portfolio) {
			list := of(portfolio, arm)
			utilities := figures(list, "utility")
			if len(utilities) == 0 || strings.HasSuffix(arm, "alone") {
				continue
			}
			var below []float64
			for _, u := range utilities {
				below = append(below, 1e6*(best-u)/math.Abs(best))
			}
			broken := ""
			if reason := list[0].Refused; reason != "" {
				broken = ", " + reason
			}
			row(w, portfolio, arm, fmt.Sprintf("%.9f", slices.Max(utilities)), meanAndError(below, 1)+broken, meanAndError(seconds(list, allSeconds), 2),
				meanAndError(figures(list, "found_after"), 2), fmt.Sprintf("%d of %d", len(slices.DeleteFunc(figures(list, "proved"), func(v float64) bool { return v == 0 })), len(list)))
		}
	}
}

// reportDiagnostics prints how far kir's figures of draws are from ArviZ's.
func reportDiagnostics(w io.Writer, kept []samplerRecord) {
	worst, where := make(map[string]float64), make(map[string]string)
	count, beyond := 0, make(map[string]int)
	for _, r := range kept {
		isFirst := true
		for name, v := range r.Figures {
			of, ok := strings.CutPrefix(name, "difference_")
			if !ok {
				continue
			}
			if isFirst {
				count, isFirst = count+1, false
			}
			if v > 1e-9 {
				beyond[of]++
			}
			if v >= worst[of] {
				worst[of], where[of] = v, r.On+", "+r.Arm
			}
		}
	}
	if count == 0 {
		return
	}
	title(w, fmt.Sprintf("Diagnostics of %d sets of draws", count))
	heading(w, "figure", "largest relative difference", "in", "sets above 1e-9")
	for _, name := range slices.Sorted(maps.Keys(worst)) {
		row(w, name, fmt.Sprintf("%.1e", worst[name]), where[name], fmt.Sprint(beyond[name]))
	}
}

// reportModels prints how far predictions are apart, and the time of a line.
func reportModels(w io.Writer, kept []samplerRecord) {
	on, _, of := samplerGroups(kept, "models")
	if len(on) == 0 {
		return
	}
	title(w, "Models")
	heading(w, "model", "trees", "predictions that differ", "largest difference", "of numbers up to", "a line by the peer, µs", "by kir, µs")
	for _, model := range on {
		list := of(model, "peer")
		if len(list) == 0 {
			row(w, model, "refused", "", "", "", "", "")
			continue
		}
		row(w, model, fmt.Sprintf("%.0f", mean(figures(list, "trees"))), fmt.Sprintf("%.0f", mean(figures(list, "different"))), fmt.Sprintf("%.1e", slices.Max(figures(list, "difference"))),
			fmt.Sprintf("%.1f", slices.Max(figures(list, "largest"))), meanAndError(figures(list, "peer_microseconds"), 0), meanAndError(figures(list, "kir_microseconds"), 1))
	}
}
