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

// maxInformativeGap is the relative difference between an upper bound and the best score found
// above which the bound tells nothing about the best recipe found.
const maxInformativeGap = 0.5

// boundSentence returns a sentence that says how much better than the best recipe found another
// recipe can be.
func boundSentence(b *report.Bound) string {
	within := "within the constraints"
	if b.WithinKnownDoses {
		within += " and the doses of the known recipes"
	}
	switch {
	case !b.Score.IsKnown() && len(b.Unbounded) > 0:
		return fmt.Sprintf("The best found scores %s; how much better another recipe can be is not known, since nothing bounds %s.", number.Score(b.Best, 1), strings.Join(b.Unbounded, ", "))
	case !b.Score.IsKnown():
		return fmt.Sprintf("The best found scores %s; how much better another recipe can be is not known.", number.Score(b.Best, 1))
	case b.ProvedOptimal:
		return fmt.Sprintf("Proved best: no recipe %s scores above %s by this model.", within, number.Score(b.Best, 1))
	case b.Gap > maxInformativeGap:
		return fmt.Sprintf("The best found scores %s; how much better another recipe can be is not known: all that is proved is that none %s scores above %s by this model.", number.Score(b.Best, 1), within, number.Score(b.Score, 1))
	}
	return fmt.Sprintf("No recipe %s scores above %s by this model; the best found has %s, a gap of %s.", within, number.Score(b.Score, 1), number.Score(b.Best, 1), number.Percent(b.Gap))
}
