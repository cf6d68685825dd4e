package assemble

import (
	"fmt"
	"math"
	"strings"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/search"
)

// newBound returns the upper bound that a search has proved, in the form for reports; nil if there
// is none.
func newBound(b *search.Bound) *report.Bound {
	if b == nil {
		return nil
	}
	out := &report.Bound{
		Score: report.UnknownNumber(), Gap: report.UnknownNumber(), Best: report.Number(portable.Exp(b.BestLogScore)),
		ProvedOptimal: b.Proved, WithinKnownDoses: b.OnlyKnownDoses, Unbounded: append([]string{}, b.UnboundedTerms...),
	}
	if above := portable.Exp(b.UpperLogScore); !math.IsInf(above, 0) {
		out.Score = report.Number(above)
		out.Gap = report.Number(max(0, -portable.Expm1(b.BestLogScore-b.UpperLogScore)))
		if b.Proved { // what is more is rounding, which proofs round up
			out.Score, out.Gap = out.Best, 0
		}
	}
	return out
}

// maxCenteringLoss is the largest share of its score that a suggestion may lose when its amounts
// move to the middle of their ranges: twice the 0.2 % of the search, as two scores are rounded.
const maxCenteringLoss = 0.004

// centeredText says why the first suggestion scores less than the best recipe found. It returns ""
// if their scores read the same, or if the difference is not that of centering.
func centeredText(b *report.Bound, first report.Number) string {
	if !first.IsKnown() || first >= b.Best || first < b.Best*(1-maxCenteringLoss) || number.Score(first, 1) == number.Score(b.Best, 1) {
		return ""
	}
	return fmt.Sprintf(" Suggestion 1 scores %s: kir sets each amount in the middle of the range that scores nearly the same, so that small errors matter little.", number.Score(first, 1))
}

// maxInformativeGap is the relative difference between an upper bound and the best score found
// above which the bound tells nothing about the best recipe found.
const maxInformativeGap = 0.5

// boundSentence returns a sentence that says how much better than the best recipe found another
// recipe can be.
func boundSentence(b *report.Bound) string {
	allowed := "allowed recipe"
	if b.WithinKnownDoses {
		allowed += " within the amounts of your recipes"
	}
	best := fmt.Sprintf("The best found scores %s; ", number.Score(b.Best, 1))
	switch {
	case !b.Score.IsKnown() && len(b.Unbounded) > 0:
		return best + fmt.Sprintf("how much better a recipe can be is unknown, because nothing bounds %s.", strings.Join(b.Unbounded, ", "))
	case !b.Score.IsKnown():
		return best + "how much better a recipe can be is unknown."
	case b.ProvedOptimal:
		return fmt.Sprintf("Proved best: no %s can score above %s.", allowed, number.Score(b.Best, 1))
	case b.Gap > maxInformativeGap:
		return fmt.Sprintf("The best found scores %s. A proved limit: no %s scores above %s (a loose limit: better recipes need not exist).", number.Score(b.Best, 1), allowed, number.Score(b.Score, 1))
	}
	return fmt.Sprintf("No %s can score above %s. The best found scores %s, %s below that.", allowed, number.Score(b.Score, 1), number.Score(b.Best, 1), number.Percent(b.Gap))
}
