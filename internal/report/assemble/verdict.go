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

// trustStatistics are the statistics that decide whether a run can be trusted.
func trustStatistics(r *run.Result) []run.Statistic {
	return append([]run.Statistic{r.Used, r.LogDensity}, r.Properties...)
}

// lowestESS is the figure with the smallest effective sample size.
type lowestESS struct {
	statistic string // in running text
	kind      string // bulk ESS, or ESS
	ess       float64
}

// rarest is the inclusion probability, and one less it, between which the presence of an ingredient
// counts for the effective sample size of a run. For rarer or more common ingredients there are too
// few events.
const rarest = 0.05

// worstStatistics returns the statistic with the largest R-hat, and the one with the smallest ESS, including
// the presence of ingredients. Chains confined to regions of equal scores differ only in the
// ingredients they use. Either result is nil if no statistic has the figure.
func worstStatistics(p *compile.Problem, r *run.Result) (rhat *run.Statistic, ess *lowestESS) {
	see := func(s lowestESS) {
		if !math.IsNaN(s.ess) && (ess == nil || s.ess < ess.ess) {
			ess = &s
		}
	}
	for _, s := range trustStatistics(r) {
		if !math.IsNaN(float64(s.RHat)) && (rhat == nil || s.RHat > rhat.RHat) {
			rhat = &s
		}
		see(lowestESS{statisticName(s.Name), "bulk ESS", float64(s.ESSBulk)})
	}
	for _, i := range r.Inclusion {
		if rarest <= i.Probability && i.Probability <= 1-rarest {
			see(lowestESS{"the presence of " + inputerr.Quote(p.Ingredients[i.Index]), "ESS", i.ESS})
		}
	}
	for _, c := range r.Conditions {
		for _, v := range c.Values {
			if rarest <= v.Probability && v.Probability <= 1-rarest {
				see(lowestESS{"the share of " + v.Name, "ESS", v.ESS})
			}
		}
	}
	return rhat, ess
}

const (
	// largestRHat and leastESS are the limits of Vehtari et al. (2021), the
	// latter a chain.
	largestRHat = 1.01
	leastESS    = 100
)

// verdict states in a sentence or two, and as a grade, whether the run can be trusted.
func verdict(p *compile.Problem, r *run.Result) (string, report.Grade) {
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
	case rhat.RHat > largestRHat:
		return fmt.Sprintf("Do not rely on this run yet: the chains disagree on %s (R-hat %s, at most %.2f is wanted). %s", statisticName(rhat.Name), number.VersusLimit(float64(rhat.RHat), largestRHat), largestRHat, worth), report.Unsound
	case ess.ess < float64(leastESS*len(r.Chains)):
		return fmt.Sprintf("This run is short: %s The chains agree so far (R-hat at most %.3f).", lowerFirst(worth), rhat.RHat), report.Short
	case len(r.Chains) == 1:
		return fmt.Sprintf("%s The halves of the one chain agree (R-hat at most %.3f); several chains would say more.", worth, rhat.RHat), report.Sound
	}
	return fmt.Sprintf("%s The chains agree (R-hat at most %.3f).", worth, rhat.RHat), report.Sound
}

// unseenModeText names the composition at the middle of a region.
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

// unseenModeRatio is how many times as probable the region is, in words.
func unseenModeRatio(m *run.UnseenMode) string {
	if exponent := m.LogRatio / math.Ln10; exponent >= 6 {
		return fmt.Sprintf("10^%.0f", math.Floor(exponent))
	}
	return number.Thousands(int(portable.Exp(m.LogRatio)))
}

// statisticName names a statistic in running text.
func statisticName(statistic string) string {
	switch statistic {
	case "used":
		return "the number of ingredients used"
	case "log_density":
		return "the log density"
	}
	return statistic
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// runWarnings returns the problems of a run and their remedies.
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
	wanted := float64(leastESS * len(r.Chains))
	enough := func() string {
		if ess == nil {
			return "more draws"
		}
		return "about " + number.Thousands(roundUp(float64(float64(p.Sampler.Draws)*max(2, 2*wanted/ess.ess)))) + " draws a chain"
	}
	if rhat != nil && rhat.RHat > largestRHat {
		add("R-hat of %s is %s, above %.2f: the chains have not yet come to the same law, and means over them may be off. Take %s and as long a warm-up%s.", statisticName(rhat.Name), number.VersusLimit(float64(rhat.RHat), largestRHat), largestRHat, enough(), better)
	}
	if ess != nil && ess.ess < wanted {
		add("The %s of %s is %s, below %d a chain: R-hat and standard errors are themselves unsure. Take %s%s.", ess.kind, ess.statistic, number.RoundedDown(ess.ess), leastESS, enough(), better)
	}
	for k, c := range r.Chains {
		if c.Tally.Updated == 0 && c.Tally.Iterations > 0 && len(p.Ingredients) > 1 {
			add("Chain %d never moved in %s iterations: its draws are one and the same. Lower the weights of the properties, give them a floor, or take another kernel.", k, number.Thousands(c.Tally.Iterations))
		}
	}
	tries := 0
	for _, c := range r.Chains {
		tries += c.Starts
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

// roundUp rounds up to two figures.
func roundUp(v float64) int {
	unit := portable.Pow(10, math.Max(0, math.Floor(portable.Log10(v))-1))
	return int(math.Ceil(v/unit) * unit)
}
