package assemble

import (
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/run"
)

// maxRejectedShare is a share of rejected swaps between two neighbouring inverse temperatures of a
// tempered chain. If more swaps are rejected, the chain counts as nearly blocked there.
const maxRejectedShare = 0.95

// ladderWarnings returns warnings of problems that the statistics of tempered chains (ladders)
// show, and says what to do.
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
		subject := fmt.Sprintf("Chain %d made no round trip between good recipes (β = 1) and random ones (β = 0)", first.Chain)
		if shut > 1 {
			subject = fmt.Sprintf("%d of %s made no round trip between good recipes (β = 1) and random ones (β = 0)", shut, number.CountWithNoun(len(ladders), "chain"))
		}
		add("%s in %s scans: good recipes that are very different may be missing. Take ten times the --warmup and --draws, or lower the weights of the objectives.", subject, number.Thousands(first.Scans))
	}
	if blocked != nil {
		k := blocked.WorstStep()
		from, to := blocked.Rungs[k], blocked.Rungs[k+1]
		// Swaps with a score of 0 are rejected whatever the spacing.
		if spacing := (from.Rejected - from.Forbidden) / (1 - from.Forbidden); !(spacing > maxRejectedShare) {
			add("Of the random recipes (β = 0), %s score 0, so that few help to find good ones (chain %d). Give the objectives a floor, or add constraints that exclude what scores 0.", number.Percent(from.Forbidden), blocked.Chain)
		} else {
			add("Exchanges between β = %s and %s fail %s of the time (chain %d): hardly any recipe passes there. Take a longer --warmup, which spaces the β better, or lower the weights of the objectives.",
				number.FourFigures(from.Beta), number.FourFigures(to.Beta), number.Percent(from.Rejected), blocked.Chain)
		}
	}
	if l := ladderWithDisagreeingLogZ(ladders); l != nil {
		add("Chain %d has two estimates of the mean score of random recipes (log Z) that disagree: %s from random recipes, %s from what warm-up has learnt. One misses good recipes. Take ten times the --warmup and --draws.",
			l.Chain, number.Fixed(l.LogZ.Value, 2), number.Fixed(l.Learnt.LogZ.Value, 2))
	}
	if lo, hi, apart := logZDisagreement(ladders); apart {
		add("The chains disagree on the mean score of random recipes (log Z, from %s to %s): some miss good recipes. Take ten times the --warmup and --draws.",
			number.Fixed(lo.LogZ.Value, 2), number.Fixed(hi.LogZ.Value, 2))
	}
	if blind != nil {
		subject := fmt.Sprintf("of chain %d", blind.Chain)
		if unknown > 1 {
			subject = fmt.Sprintf("of %d of %d chains", unknown, len(ladders))
		}
		add("The standard error of log Z %s is unknown after %s scans. Take more --draws.", subject, number.Thousands(blind.Scans))
	}
	return warnings
}

// lowerGradeByLadders lowers the grade of the draws if the statistics of tempered chains (ladders)
// show that the draws are less reliable than they seem. Chains may agree although all have missed
// the same regions. The grade becomes
//   - Unsound, if the chains disagree on log Z, the log of the mean score over random compositions;
//   - Short instead of Sound, if a chain made no round trip between random compositions and the
//     target.
//
// A sentence with the reason is put before the verdict.
func lowerGradeByLadders(verdict string, grade report.Grade, ladders []run.Ladder) (string, report.Grade) {
	shut := 0
	for _, l := range ladders {
		if l.Steps() > 0 && l.RoundTrips == 0 {
			shut++
		}
	}
	_, _, apart := logZDisagreement(ladders)
	what := "chains"
	if !apart && ladderWithDisagreeingLogZ(ladders) != nil {
		what, apart = "two estimates of a chain", true
	}
	switch {
	case apart && grade != report.Unsound:
		return fmt.Sprintf("Do not rely on this run yet: the %s disagree on the mean score of random recipes (log Z). %s", what, verdict), report.Unsound
	case shut > 0 && grade == report.Sound:
		return fmt.Sprintf("This run is short: %d of %s made no round trip between random recipes and good ones. %s", shut, number.CountWithNoun(len(ladders), "chain"), verdict), report.Short
	}
	return verdict, grade
}

// ladderWithDisagreeingLogZ returns the first ladder whose two estimates of log Z differ by more
// than 4 standard errors; nil if there is none. One estimate starts from random compositions, the
// other from the distribution that warm-up has learnt. If nothing is wrong, such a difference has a
// probability of 1 in 16,000.
func ladderWithDisagreeingLogZ(ladders []run.Ladder) *run.Ladder {
	for k := range ladders {
		l := &ladders[k]
		if leg := l.Learnt; leg != nil && math.Abs(float64(leg.LogZ.Value-l.LogZ.Value)) > 4*portable.Hypot(float64(leg.LogZ.SE), float64(l.LogZ.SE)) {
			return l
		}
	}
	return nil
}

// logZDisagreement compares the estimates of log Z, the log of the mean score over random
// compositions, of several tempered chains. It returns the ladders with the smallest and the
// largest estimate. The result apart reports whether the estimates vary by more than 4 times their
// own standard errors. If nothing is wrong, that has a probability of 1 in 16,000 for 2 chains, and
// less for more.
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
