package assemble

import (
	"fmt"
	"math"
	"strings"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/run"
)

// statisticsForVerdict returns the statistics that decide whether the draws of a run can be relied
// on.
func statisticsForVerdict(r *run.Result) []run.Statistic {
	return append([]run.Statistic{r.IngredientCount, r.LogDensity}, r.Properties...)
}

// A statisticESS is a statistic with its effective sample size.
type statisticESS struct {
	statistic string // name of the statistic in a sentence
	ess       float64
}

// minUsedShare determines which ingredients [worstStatistics] considers. They are used by at least
// the share minUsedShare, and at most the share 1 − minUsedShare, of the draws. Other ingredients
// are used, or left out, too rarely for a reliable effective sample size.
const minUsedShare = 0.05

// worstStatistics returns the statistic with the largest R-hat, and the statistic with the smallest
// effective sample size. Either is nil if it is known for no statistic.
//
// For the effective sample size, the presence of each ingredient and the share of each condition's
// value are statistics, too. They matter if chains are confined to different regions with equal
// scores: such chains differ only in the ingredients that they use.
func worstStatistics(p *compile.Problem, r *run.Result) (rhat *run.Statistic, ess *statisticESS) {
	see := func(s statisticESS) {
		if !math.IsNaN(s.ess) && (ess == nil || s.ess < ess.ess) {
			ess = &s
		}
	}
	for _, s := range statisticsForVerdict(r) {
		if !math.IsNaN(float64(s.RHat)) && (rhat == nil || s.RHat > rhat.RHat) {
			rhat = &s
		}
		see(statisticESS{statisticName(s.Name), float64(s.ESSBulk)})
	}
	for _, i := range r.Inclusion {
		if minUsedShare <= i.Probability && i.Probability <= 1-minUsedShare {
			see(statisticESS{"how often " + inputerr.Quote(p.Ingredients[i.Index]) + " is used", i.ESS})
		}
	}
	for _, c := range r.Conditions {
		for _, v := range c.Values {
			if minUsedShare <= v.Probability && v.Probability <= 1-minUsedShare {
				see(statisticESS{"the share of " + v.Name, v.ESS})
			}
		}
	}
	return rhat, ess
}

const (
	// maxReliableRHat is the largest R-hat of draws that can be relied on (Vehtari et al. 2021).
	maxReliableRHat = 1.01
	// minReliableESSPerChain is the least effective sample size for each chain of draws that can be
	// relied on (Vehtari et al. 2021).
	minReliableESSPerChain = 100
)

// runVerdict says whether the draws of a run can be relied on, in a sentence or two and as a grade.
func runVerdict(p *compile.Problem, r *run.Result) (string, report.Grade) {
	if m := r.UnseenMode; m != nil {
		return fmt.Sprintf("Do not rely on this run: the search found recipes around %s that no chain has visited, and at least %s times as many draws should come from there as from all the rest.",
			unseenModeText(p, m), unseenModeRatio(m)), report.Unsound
	}
	rhat, ess := worstStatistics(p, r)
	if ess == nil || rhat == nil {
		return "kir cannot tell how many independent draws these are worth: no figure varies enough, or there are too few draws.", report.Unknown
	}
	worth := fmt.Sprintf("The %s draws (recipes drawn at random, better ones more often) are worth about %s independent ones, by the least certain figure: %s.",
		number.Thousands(p.Sampler.Chains*p.Sampler.Draws), number.RoundedDown(ess.ess), ess.statistic)
	switch {
	case rhat.RHat > maxReliableRHat:
		return fmt.Sprintf("Do not rely on this run yet: independent runs (chains) disagree on %s (R-hat %s; at most %.2f is good). %s", statisticName(rhat.Name), number.VersusLimit(float64(rhat.RHat), maxReliableRHat), maxReliableRHat, worth), report.Unsound
	case ess.ess < float64(minReliableESSPerChain*len(r.Chains)):
		return fmt.Sprintf("This run is short: %s The independent runs (chains) agree so far: R-hat %.3f; at most 1.01 is good.", lowerFirst(worth), rhat.RHat), report.Short
	case len(r.Chains) == 1:
		return fmt.Sprintf("%s The two halves of the only chain agree: R-hat %.3f; at most 1.01 is good. Several chains would say more.", worth, rhat.RHat), report.Sound
	}
	return fmt.Sprintf("%s The %d independent runs (chains) agree: R-hat %.3f; at most 1.01 is good.", worth, len(r.Chains), rhat.RHat), report.Sound
}

// unseenModeText describes a region that the chains missed by the largest ingredients of the
// composition that the search found there.
func unseenModeText(p *compile.Problem, m *run.UnseenMode) string {
	units := make([]int, len(m.Parts))
	for k, part := range m.Parts {
		units[k] = part.Amount
	}
	percent := number.Percentages(p.Total)
	percent.MinDigits = max(percent.MinDigits, 1)
	var parts []string
	for k, text := range percent.Write(units) {
		if k == 5 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s %%", inputerr.Quote(p.Ingredients[m.Parts[k].Ingredient]), text))
	}
	return strings.Join(parts, ", ")
}

// unseenModeRatio returns, as text, a lower bound on a ratio of probabilities: that of a region
// that the chains missed, divided by that of everything they have visited.
func unseenModeRatio(m *run.UnseenMode) string {
	if exponent := m.LogRatio / math.Ln10; exponent >= 6 {
		return fmt.Sprintf("10^%.0f", math.Floor(exponent))
	}
	return number.Thousands(int(portable.Exp(m.LogRatio)))
}

// statisticName returns the name of a statistic for use in a sentence.
func statisticName(statistic string) string {
	if label := run.StatisticLabel(statistic); label != statistic {
		return "the " + label
	}
	return statistic
}

// lowerFirst returns the text with its first letter in lower case.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// runWarnings returns warnings of problems of a run, and says what to do.
func runWarnings(p *compile.Problem, r *run.Result) []string {
	var warnings []string
	add := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	better := ""
	switch p.Sampler.Kernel {
	case "exact", "tempered":
	case "balanced":
		if r.Score != nil {
			better = ", or with --kernel tempered, which can jump between very different good recipes"
		}
	default:
		better = ", or with --kernel balanced, which is faster"
	}
	if r.UnseenMode != nil {
		add("No chain has visited the recipes around %s, which the search found: averages over draws leave them out. Lower the weights, or let objectives fall off less steeply, so that chains find the way.", unseenModeText(p, r.UnseenMode))
	}
	rhat, ess := worstStatistics(p, r)
	wanted := float64(minReliableESSPerChain * len(r.Chains))
	draws, warmup := "more --draws", "more --warmup"
	if ess != nil {
		enough := roundUp(float64(float64(p.Sampler.Draws) * max(2, 2*wanted/ess.ess)))
		draws, warmup = fmt.Sprintf("--draws %d (draws per chain)", enough), fmt.Sprintf("--warmup %d", max(enough, p.Sampler.Warmup))
	}
	advised := false // whether a warning says how many draws to take
	if rhat != nil && rhat.RHat > maxReliableRHat {
		add("The independent runs (chains) do not agree yet on %s (R-hat %s; at most %.2f is good): averages may be off. Run again with %s and %s%s.", statisticName(rhat.Name), number.VersusLimit(float64(rhat.RHat), maxReliableRHat), maxReliableRHat, draws, warmup, better)
		advised = true
	}
	if ess != nil && ess.ess < wanted {
		advice := ""
		if !advised {
			advice = fmt.Sprintf(" Run again with %s%s.", draws, better)
		}
		add("The draws are worth only %s independent ones (ESS) to tell %s; at least %s are needed. R-hat and errors (±) are uncertain.%s", number.RoundedDown(ess.ess), ess.statistic, number.Thousands(int(wanted)), advice)
	}
	for k, c := range r.Chains {
		if c.Tally.Updated == 0 && c.Tally.Iterations > 0 && len(p.Ingredients) > 1 {
			add("Chain %d never moved in %s steps: all its draws are the same recipe. Lower the weights of the objectives, give them a floor, or take another --kernel.", k, number.Thousands(c.Tally.Iterations))
		}
	}
	tries := 0
	for _, c := range r.Chains {
		tries += c.StartTries
	}
	if tries > 2*len(r.Chains) {
		// gibbs and accelerated move along one line at a time. The other kernels also jump to
		// unrelated compositions.
		danger, out := "it may be hard to get from one to another", "take --kernel tempered"
		switch p.Sampler.Kernel {
		case "gibbs", "accelerated":
			danger, out = "a chain may be stuck among a few", "take --kernel tempered or balanced"
		case "tempered":
			out = "take ten times the --warmup and --draws"
		}
		was, mend := "scored 0", "give the objective a floor"
		if p.HasPredictedLimits() {
			was, mend = "scored 0 or broke a limit", "loosen the limit"
		}
		add("%s of %s random recipes to start from %s: few recipes are allowed, and %s. Compare the chains, %s, or %s.",
			number.Thousands(tries-len(r.Chains)), number.Thousands(tries), was, danger, out, mend)
	}
	return warnings
}

// roundUp rounds up to two significant figures.
func roundUp(v float64) int {
	unit := portable.Pow(10, math.Max(0, math.Floor(portable.Log10(v))-1))
	return int(math.Ceil(v/unit) * unit)
}
