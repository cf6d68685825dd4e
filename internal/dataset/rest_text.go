package dataset

import (
	"fmt"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// restPattern matches words and a whole behind them, as in fins a 1000. Groups 1 and 2 are the words and the whole.
var restPattern = lazyPattern(`^(\pL[\pL. ]{0,20}?)\s*([0-9][0-9.,]*\s*(?:%|[\pL]{1,3})?)$`)

// findRestTexts finds the columns of amounts whose cells all have one text that kir does not know and that must stand for
// what the others leave of a whole: words with a round whole behind them, such as fins a 1000, or a word in the midst of
// percentages that add up to less than 100. It adds a note for each.
func (c *columnReader) findRestTexts() {
	if c.options.Ingredients != nil {
		return
	}
	for i, name := range c.header {
		p := &c.profiles[i]
		if _, given := c.givenRoles[i]; given && c.givenRoles[i] != IngredientColumn || name == "" || p.amountCount+p.remainderCount+p.numberCount > 0 || p.filledCount < minEvidenceRows || p.onlyText == "" || i == 0 {
			continue
		}
		text := p.onlyText
		rest := measure.Quantity{IsRemainder: true}
		if m := restPattern().FindStringSubmatch(text); m != nil {
			whole, message, _ := measure.ParseQuantity(m[2], c.decimal, c.units)
			if message != "" || !isRoundWhole(whole.Amount.Float64()) {
				continue
			}
			rest.Amount, rest.Unit = whole.Amount, whole.Unit
		} else if strings.ContainsAny(text, "0123456789") || len(wordsOf(text)) != 1 || !c.leavesRest(i) {
			continue
		}
		if c.restTexts == nil {
			c.restTexts = make(map[string]measure.Quantity)
		}
		c.restTexts[text] = rest
		p.remainderCount = p.filledCount
		c.noteGuessedRole(i, IngredientColumn, fmt.Sprintf("%s has %s everywhere: it is taken as an ingredient that makes up the rest", c.columnText(i), inputerr.Quote(text)))
	}
}

// isRoundWhole reports whether a number is 1, 100 or 1000.
func isRoundWhole(v float64) bool { return v == 1 || v == 100 || v == 1000 }

// leavesRest reports whether the columns directly before a column are percentages, three at least, that leave something of
// 100 in all rows.
func (c *columnReader) leavesRest(i int) bool {
	from := i
	for from > 0 {
		p := &c.profiles[from-1]
		_, unit := c.splitNameAndUnit(c.header[from-1])
		if !(unit != nil && unit.Kind.IsPercent()) && p.unitCount < p.amountCount || 2*p.amountCount < p.filledCount || p.amountCount == 0 {
			break
		}
		from--
	}
	if i-from < minSummedColumns {
		return false
	}
	sums := make([]float64, len(c.profiles[from].firstValues))
	for k := from; k < i; k++ {
		for r, v := range c.profiles[k].firstValues {
			sums[r] += v
		}
	}
	return !slices.ContainsFunc(sums, func(sum float64) bool { return !(sum > 0 && sum < 100) })
}
