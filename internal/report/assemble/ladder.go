package assemble

import (
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/run"
)

// maxRejectedShare is the share of rejected swaps above which a step of a ladder is nearly blocked.
const maxRejectedShare = 0.95

// ladderWarnings returns warnings on the problems of the ladders, with their remedies.
func ladderWarnings(ladders []run.Ladder) []string {
	var warnings []string
	add := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }

	shut, unknown := 0, 0
	var first, blocked, blind *run.Ladder
	for k := range ladders {
		l := &ladders[k]
		if l.Steps() > 0 && l.RoundTrips == 0 {
			if shut++; first == nil {
				first = l
			}
		}
		if l.Steps() > 0 && l.MostRejected() > maxRejectedShare && (blocked == nil || l.MostRejected() > blocked.MostRejected()) {
			blocked = l
		}
		if !l.LogZ.SE.IsKnown() {
			if unknown++; blind == nil {
				blind = l
			}
		}
	}
	if first != nil {
		subject := fmt.Sprintf("Chain %d made no round trip between β = 1 and β = 0", first.Chain)
		if shut > 1 {
			subject = fmt.Sprintf("%d of %s made no round trip between β = 1 and β = 0", shut, number.CountWithNoun(len(ladders), "chain"))
		}
		add("%s in %s scans: good regions that are far apart may not have met. Take ten times the warm-up and the draws, or lower the weights of the properties.", subject, number.Thousands(first.Scans))
	}
	if blocked != nil {
		k := blocked.WorstStep()
		from, to := blocked.Rungs[k], blocked.Rungs[k+1]
		// Swaps with a score of 0 are rejected whatever the spacing.
		if spacing := (from.Rejected - from.Forbidden) / (1 - from.Forbidden); !(spacing > maxRejectedShare) {
			add("Of the random compositions at β = 0, %s score 0, so that little comes from there (chain %d). Give the properties a floor, or add rules that keep to what is allowed.", number.Percent(from.Forbidden), blocked.Chain)
		} else {
			add("Swaps between β = %s and %s are rejected %s of the time (chain %d): hardly anything passes there. Take a longer warm-up, which spaces the ladder, or lower the weights of the properties.",
				number.FourFigures(from.Beta), number.FourFigures(to.Beta), number.Percent(from.Rejected), blocked.Chain)
		}
	}
	if l := disagreeingLadder(ladders); l != nil {
		add("The two legs of chain %d disagree on log Z, %s from random compositions and %s from what warm-up has learnt: one has not seen all good regions. Take ten times the warm-up and the draws.",
			l.Chain, number.Fixed(l.LogZ.Value, 2), number.Fixed(l.Learnt.LogZ.Value, 2))
	}
	if lo, hi, apart := logZDisagreement(ladders); apart {
		add("The chains disagree on log Z, from %s to %s: some have not seen all good regions. Take ten times the warm-up and the draws.",
			number.Fixed(lo.LogZ.Value, 2), number.Fixed(hi.LogZ.Value, 2))
	}
	if blind != nil {
		subject := fmt.Sprintf("of chain %d", blind.Chain)
		if unknown > 1 {
			subject = fmt.Sprintf("of %d of %d chains", unknown, len(ladders))
		}
		add("The standard error of log Z %s cannot be told from %s scans. Take more draws.", subject, number.Thousands(blind.Scans))
	}
	return warnings
}

// judgeByLadders returns the verdict and the grade, adjusted by the ladders: chains without round
// trips may agree although all have missed the same regions.
func judgeByLadders(verdict string, grade report.Grade, ladders []run.Ladder) (string, report.Grade) {
	shut := 0
	for _, l := range ladders {
		if l.Steps() > 0 && l.RoundTrips == 0 {
			shut++
		}
	}
	_, _, apart := logZDisagreement(ladders)
	what := "chains"
	if !apart && disagreeingLadder(ladders) != nil {
		what, apart = "legs of a chain", true
	}
	switch {
	case apart && grade != report.Unsound:
		return fmt.Sprintf("Do not rely on this run yet: the %s disagree on log Z. %s", what, verdict), report.Unsound
	case shut > 0 && grade == report.Sound:
		return fmt.Sprintf("This run is short: %d of %s made no round trip between random compositions and the target. %s", shut, number.CountWithNoun(len(ladders), "chain"), verdict), report.Short
	}
	return verdict, grade
}

// disagreeingLadder returns the first ladder with two estimates of log Z that differ by more than 4
// standard errors; nil if there is none. One estimate starts from random compositions, the other
// from the law that warm-up has learnt. By chance that happens once in 16,000 times.
func disagreeingLadder(ladders []run.Ladder) *run.Ladder {
	for k := range ladders {
		l := &ladders[k]
		if leg := l.Learnt; leg != nil && math.Abs(float64(leg.LogZ.Value-l.LogZ.Value)) > 4*portable.Hypot(float64(leg.LogZ.SE), float64(l.LogZ.SE)) {
			return l
		}
	}
	return nil
}

// logZDisagreement returns the ladders with the smallest and the largest log Z. The result apart
// reports whether the ladders' log Z vary by more than 4 times their own standard errors. By chance
// that happens once in 16,000 times for 2 chains, and less often for more.
func logZDisagreement(ladders []run.Ladder) (lo, hi *run.Ladder, apart bool) {
	mean, within, between := 0.0, 0.0, 0.0
	for k := range ladders {
		l := &ladders[k]
		mean += float64(l.LogZ.Value) / float64(len(ladders))
		within += float64(l.LogZ.SE * l.LogZ.SE)
		if lo == nil || l.LogZ.Value < lo.LogZ.Value {
			lo = l
		}
		if hi == nil || l.LogZ.Value > hi.LogZ.Value {
			hi = l
		}
	}
	for _, l := range ladders {
		between += (float64(l.LogZ.Value) - mean) * (float64(l.LogZ.Value) - mean) / float64(len(ladders)-1)
	}
	return lo, hi, len(ladders) > 1 && between > 16*within/float64(len(ladders))
}
