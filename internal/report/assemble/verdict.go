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
	kind      string // kind of the effective sample size: "bulk ESS" or "ESS"
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
		see(statisticESS{statisticName(s.Name), "bulk ESS", float64(s.ESSBulk)})
	}
	for _, i := range r.Inclusion {
		if minUsedShare <= i.Probability && i.Probability <= 1-minUsedShare {
			see(statisticESS{"the presence of " + inputerr.Quote(p.Ingredients[i.Index]), "ESS", i.ESS})
		}
	}
	for _, c := range r.Conditions {
		for _, v := range c.Values {
			if minUsedShare <= v.Probability && v.Probability <= 1-minUsedShare {
				see(statisticESS{"the share of " + v.Name, "ESS", v.ESS})
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
		return fmt.Sprintf("Do not rely on this run: the search found a region that no chain has visited, around %s, and it is at least %s times as probable as all that the chains have seen.",
			unseenModeText(p, m), unseenModeRatio(m)), report.Unsound
	}
	rhat, ess := worstStatistics(p, r)
	if ess == nil || rhat == nil {
		return "How many independent draws these are worth cannot be told: no figure varies enough or there are too few draws.", report.Unknown
	}
	worth := fmt.Sprintf("The %s draws are worth about %s independent ones, by the figure that mixes slowest, %s.",
		number.Thousands(p.Sampler.Chains*p.Sampler.Draws), number.RoundedDown(ess.ess), ess.statistic)
	switch {
	case rhat.RHat > maxReliableRHat:
		return fmt.Sprintf("Do not rely on this run yet: the chains disagree on %s (R-hat %s, at most %.2f is wanted). %s", statisticName(rhat.Name), number.VersusLimit(float64(rhat.RHat), maxReliableRHat), maxReliableRHat, worth), report.Unsound
	case ess.ess < float64(minReliableESSPerChain*len(r.Chains)):
		return fmt.Sprintf("This run is short: %s The chains agree so far (R-hat at most %.3f).", lowerFirst(worth), rhat.RHat), report.Short
	case len(r.Chains) == 1:
		return fmt.Sprintf("%s The halves of the one chain agree (R-hat at most %.3f); several chains would say more.", worth, rhat.RHat), report.Sound
	}
	return fmt.Sprintf("%s The chains agree (R-hat at most %.3f).", worth, rhat.RHat), report.Sound
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
	switch statistic {
	case "used":
		return "the number of ingredients used"
	case "log_density":
		return "the log density"
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
			better = ", or take the kernel tempered, which goes from one good region to another by way of random compositions"
		}
	default:
		better = ", or take the kernel balanced, which mixes faster"
	}
	if r.UnseenMode != nil {
		add("No chain has visited the region around %s, which the search found: figures of the draws leave it out. Take lower weights, or properties that fall off less steeply, so that chains find the way.", unseenModeText(p, r.UnseenMode))
	}
	rhat, ess := worstStatistics(p, r)
	wanted := float64(minReliableESSPerChain * len(r.Chains))
	enough := func() string {
		if ess == nil {
			return "more draws"
		}
		return "about " + number.Thousands(roundUp(float64(float64(p.Sampler.Draws)*max(2, 2*wanted/ess.ess)))) + " draws a chain"
	}
	if rhat != nil && rhat.RHat > maxReliableRHat {
		add("R-hat of %s is %s, above %.2f: the chains have not yet come to the same law, and means over them may be off. Take %s and as long a warm-up%s.", statisticName(rhat.Name), number.VersusLimit(float64(rhat.RHat), maxReliableRHat), maxReliableRHat, enough(), better)
	}
	if ess != nil && ess.ess < wanted {
		add("The %s of %s is %s, below %d a chain: R-hat and standard errors are themselves unsure. Take %s%s.", ess.kind, ess.statistic, number.RoundedDown(ess.ess), minReliableESSPerChain, enough(), better)
	}
	for k, c := range r.Chains {
		if c.Tally.Updated == 0 && c.Tally.Iterations > 0 && len(p.Ingredients) > 1 {
			add("Chain %d never moved in %s iterations: its draws are one and the same. Lower the weights of the properties, give them a floor, or take another kernel.", k, number.Thousands(c.Tally.Iterations))
		}
	}
	tries := 0
	for _, c := range r.Chains {
		tries += c.StartTries
	}
	if tries > 2*len(r.Chains) {
		// gibbs and accelerated move along one line at a time. The other kernels also jump to
		// unrelated compositions.
		danger, out := "there may be few ways from one allowed region to another", "take the kernel tempered"
		switch p.Sampler.Kernel {
		case "gibbs", "accelerated":
			danger, out = "a chain may be shut in one allowed region", "take the kernel tempered or balanced"
		case "tempered":
			out = "take ten times the warm-up and the draws"
		}
		was, mend := "A property was 0", "give the property a floor"
		if p.HasPredictedLimits() {
			was, mend = "A limit was broken or a property was 0", "loosen the limit"
		}
		add("%s at %s of %s compositions drawn to start from: much of the space is forbidden, and %s. Compare the chains, %s, or %s.",
			was, number.Thousands(tries-len(r.Chains)), number.Thousands(tries), danger, out, mend)
	}
	return warnings
}

// roundUp rounds up to two significant figures.
func roundUp(v float64) int {
	unit := portable.Pow(10, math.Max(0, math.Floor(portable.Log10(v))-1))
	return int(math.Ceil(v/unit) * unit)
}
