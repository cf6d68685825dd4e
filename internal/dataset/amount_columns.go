package dataset

import (
	"math"
	"slices"

	"kir/internal/measure"
)

// An amountColumn is a column of numbers of a wide table that may hold the amounts of an ingredient.
type amountColumn struct {
	field  int          // index of the column in the table
	values []float64    // item r is the number in row r, in the base unit of kind; NaN if it is not known
	cells  []float64    // item r is the number in row r, as the table has it
	kind   measure.Kind // kind of the unit of the column

	// evidence is the logarithm of the odds that the column holds amounts, judged by its name and its numbers alone.
	evidence     float64
	isFixed      bool    // whether the role is known: the column holds amounts if evidence is positive
	isMaterial   bool    // whether the name is that of a material: the column is then no sum of others
	isNamedTotal bool    // whether the name is that of a sum
	isGrandTotal bool    // and not that of a base, on top of which other amounts come
	isTotal      bool    // whether the name is that of a sum, or all numbers are the same round number
	isPartSum    bool    // whether it was found to be the sum of some others
	restWhole    float64 // the whole that the cells state of which the column makes up the rest; 0 if there is none
	inBase       bool    // whether it belongs to those that make up a stated whole, on top of which other amounts come

	isSum         bool // whether the column is the sum of the chosen columns; set by chooseAmounts
	standsApart   bool // whether it is chosen, stands behind a gap and is not known as a material; set by chooseAmounts
	isAddition    bool // whether it is chosen beside the columns of a base; set by chooseAmounts
	leavesNothing bool // whether it is a total that leaves nothing for an amount that makes up the rest; set by chooseAmounts
}

// isRound reports whether all numbers are the same number of two figures at most, but for zeros, as a batch of 350 g is.
func (a *amountColumn) isRound() bool {
	if len(a.cells) == 0 {
		return false
	}
	v := a.cells[0]
	for v >= 100 {
		v /= 10
	}
	return v == math.Trunc(v) && v >= 1 && !slices.ContainsFunc(a.cells, func(other float64) bool { return other != a.cells[0] })
}

// Weights of the evidence for a choice of columns, as logarithms of odds.
const (
	equalSumsEvidence = 8  // the amounts of each recipe add up to the same
	exactSumsEvidence = 3  // and do so exactly
	roundSumEvidence  = 2  // and that is 1, 10, 100, 1000 or 10,000
	fullEvidence      = 8  // against percentages beside which nothing remains for an ingredient that makes up the rest
	unlikelyEvidence  = -4 // columns with no more evidence are not part of a range
	sumEvidence       = 8  // a column that is not chosen is the sum of those that are
	leastSumEvidence  = 3  // or is at least their sum, where each row has an amount that makes up the rest
	emptyRestEvidence = 6  // and leaves nothing for an ingredient that makes up the rest
	gapEvidence       = 2  // against a gap of one column between chosen columns, as amounts stand side by side; and 1 for each more
	maxGapEvidence    = 6  // at most
	otherKindEvidence = 4  // against each column whose unit measures something else than those of the others
)

const (
	exactTolerance   = 1e-5  // relative difference of sums of exact amounts
	sumTolerance     = 0.006 // relative difference of equal sums of rounded amounts
	roughTolerance   = 0.025 // the same of sums that were rounded much
	maxJointColumns  = 400   // greatest number of columns that are chosen together
	maxChoiceRows    = 60    // rows that are looked at
	minSummedColumns = 3     // fewest columns that a column may be the sum of
)

// An amountChoice is a choice of the columns of amounts among columns of numbers.
type amountChoice struct {
	columns []amountColumn
	rows    int       // number of rows that are compared
	varies  []bool    // item i reports whether the numbers of column i differ
	chosen  []bool    // item i reports whether column i is chosen
	sums    []float64 // item r is the sum of the chosen columns in row r
	unknown []int     // item r is the number of chosen columns without a number in row r
	sorted  []float64 // reused by equalSums
	hasBase bool      // whether some columns are those of a base

	partSums []partSum // the columns that are sums of some others
}

// chooseAmounts chooses those columns that are most likely the amounts of a recipe, all together: it adds up the
// evidence of each column and that of their sums, which are often equal for all recipes. It compares all ranges of
// columns that stand side by side, and then takes in or leaves out single columns as long as that raises the
// evidence. Of more than maxJointColumns columns each is chosen by its own evidence.
func chooseAmounts(columns []amountColumn, sums ...partSum) (chosen []bool) {
	if len(columns) > maxJointColumns || len(columns) == 0 {
		chosen = make([]bool, len(columns))
		for i, column := range columns {
			chosen[i] = column.evidence > 0
		}
		return chosen
	}
	c := newAmountChoice(columns)
	c.partSums = sums
	best, total := slices.Clone(c.chosen), c.total()
	for from := range columns {
		for i := range columns {
			c.set(i, columns[i].isFixed && columns[i].evidence > 0)
		}
		for to := from; to < len(columns); to++ {
			if columns[to].isFixed || columns[to].evidence <= unlikelyEvidence {
				continue
			}
			c.set(to, true)
			if t := c.total(); t > total {
				best, total = slices.Clone(c.chosen), t
			}
		}
	}
	for i, in := range best {
		c.set(i, in)
	}
	for range columns {
		change := c.bestChange()
		if change < 0 {
			break
		}
		c.set(change, !c.chosen[change])
	}
	c.markTotals()
	return c.chosen
}

// newAmountChoice returns the choice of the columns with evidence of their own.
func newAmountChoice(columns []amountColumn) *amountChoice {
	c := &amountChoice{columns: columns, varies: make([]bool, len(columns)), chosen: make([]bool, len(columns))}
	c.rows = min(len(columns[0].values), maxChoiceRows)
	c.sums, c.unknown = make([]float64, c.rows), make([]int, c.rows)
	for i := range columns {
		values := columns[i].values[:c.rows]
		c.varies[i] = slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
		c.set(i, columns[i].evidence > 0)
		c.hasBase = c.hasBase || columns[i].inBase
	}
	return c
}

// bestChange returns the column whose role, if changed, raises the evidence most; −1 if none does.
func (c *amountChoice) bestChange() int {
	change, highest := -1, c.total()+1e-9
	for i := range c.columns {
		if c.columns[i].isFixed {
			continue
		}
		c.set(i, !c.chosen[i])
		if t := c.total(); t > highest {
			change, highest = i, t
		}
		c.set(i, !c.chosen[i])
	}
	return change
}

// set takes a column in or leaves it out.
func (c *amountChoice) set(i int, in bool) {
	if c.chosen[i] == in {
		return
	}
	c.chosen[i] = in
	sign := 1
	if !in {
		sign = -1
	}
	for r, v := range c.columns[i].values[:c.rows] {
		if math.IsNaN(v) {
			c.unknown[r] += sign
		} else {
			c.sums[r] += float64(float64(sign) * v)
		}
	}
}

// total returns the evidence for the present choice.
func (c *amountChoice) total() (total float64) {
	var kinds [measure.KindCount]int
	chosen, last := 0, -1
	for i, in := range c.chosen {
		if c.columns[i].isTotal && c.columns[i].field == last+1 {
			last++ // a total within the amounts is no gap
		}
		if in {
			if field := c.columns[i].field; chosen >= minSummedColumns && field > last+1 && !c.columns[i].isFixed && c.rows >= minEvidenceRows {
				gap := min(gapEvidence+field-last-2, maxGapEvidence)
				if c.hasBase && !c.columns[i].inBase {
					gap = maxGapEvidence // additions stand directly behind the base
				}
				total -= float64(gap)
			}
			last = c.columns[i].field
			total += c.columns[i].evidence
			kinds[c.columns[i].kind]++
			chosen++
		}
	}
	hasLeast := false
	for i, in := range c.chosen {
		if !in && chosen >= minSummedColumns && !c.columns[i].isPartSum && c.isSum(i) {
			switch exact := c.columns[i].isTotal && c.leavesNothing(i); {
			case exact:
				total += sumEvidence + emptyRestEvidence
			case slices.Contains(c.unknown, 0):
				total += sumEvidence
			case !hasLeast:
				total += leastSumEvidence
				hasLeast = true
			}
		}
	}
	for _, s := range c.partSums {
		if c.dividesSum(s) {
			total -= sumEvidence + equalSumsEvidence
		}
	}
	whole := 0.0
	for i, in := range c.chosen {
		if in {
			whole = max(whole, c.columns[i].restWhole)
		}
	}
	for r, n := range c.unknown {
		if n > 0 && whole > 0 && c.sums[r] > float64((1+sumTolerance)*whole) {
			total -= 2 * fullEvidence
			break
		}
		if n > 0 && c.sums[r] > 100 && kinds[measure.Percent]+kinds[measure.MolePercent]+kinds[measure.VolumePercent] > 0 {
			total -= fullEvidence
			break
		}
	}
	if others := chosen - slices.Max(kinds[:]); others > 0 {
		return total - float64(otherKindEvidence*others)
	}
	return total + c.equalSums()
}

// dividesSum reports whether some of the columns whose sum another one is are chosen, and others are not.
func (c *amountChoice) dividesSum(s partSum) bool {
	chosen, others := 0, 0
	for i := s.from; i < s.to; i++ {
		switch column := &c.columns[i]; {
		case column.isPartSum || column.isFixed && column.evidence < 0:
		case c.chosen[i]:
			chosen++
		default:
			others++
		}
	}
	return chosen > 0 && others > 0
}

// equalSums returns the evidence of sums that are equal. Columns that do not change from row to row tell nothing.
func (c *amountChoice) equalSums() float64 {
	if c.hasBase {
		for i, column := range c.columns {
			if column.inBase && !c.chosen[i] {
				return 0
			}
		}
		return equalSumsEvidence + exactSumsEvidence
	}
	varying := 0
	for i, in := range c.chosen {
		if in && c.varies[i] {
			varying++
		}
	}
	if varying < 2 {
		return 0
	}
	sums := c.sorted[:0]
	for r, sum := range c.sums {
		if sum > 0 && c.unknown[r] == 0 {
			sums = append(sums, sum)
		}
	}
	c.sorted = sums
	if len(sums) < 3 {
		return 0
	}
	slices.Sort(sums)
	median := sums[len(sums)/2]
	near, roughly, exactly := 0, 0, 0
	for _, s := range sums {
		off := math.Abs(s/median - 1)
		if off <= sumTolerance {
			near++
		}
		if off <= exactTolerance {
			exactly++
		}
		if off <= roughTolerance {
			roughly++
		}
	}
	share := max(float64(near), float64(0.7*float64(roughly))) / float64(len(sums))
	level := min(max((share-0.6)/0.35, 0), 1)
	evidence := float64(equalSumsEvidence*level) + float64(exactSumsEvidence*float64(exactly)/float64(len(sums)))
	evidence = float64(evidence * min(1, float64(len(sums))/float64(minEvidenceRows)))
	if varying == 2 {
		evidence = float64(evidence / 2) // two columns may complement each other within a part of a recipe, as two rubbers do
	}
	for _, whole := range []float64{1, 10, 100, 1000, 10000} {
		if level > 0 && math.Abs(median/whole-1) <= sumTolerance {
			evidence += float64(roundSumEvidence * level)
		}
	}
	return evidence
}

// isSum reports whether a column is the sum of the chosen columns, to which it does not belong, in 19 rows of 20. It
// takes five rows, or a name or a number that is usual for a sum.
func (c *amountChoice) isSum(i int) bool {
	column := &c.columns[i]
	if column.isMaterial && !column.isTotal || c.rows < minEvidenceRows && !column.isTotal || c.rows == 0 {
		return false
	}
	return c.equalsSums(column.values[:c.rows], column.isTotal) || c.equalsSums(column.cells[:c.rows], column.isTotal)
}

// equalsSums reports whether numbers equal the sums of the chosen columns in 19 rows of 20. In a row with an unknown
// amount, which may make up the rest, a total is at least the sum of the others. A row without amounts tells nothing.
func (c *amountChoice) equalsSums(values []float64, isTotal bool) bool {
	if allZero(c.sums) {
		return false
	}
	others, telling := 0, 0
	for r, v := range values {
		if c.unknown[r] == 0 && c.sums[r] == 0 && v == 0 {
			continue
		}
		telling++
		if c.unknown[r] > 0 && isTotal && v >= c.sums[r] {
			continue
		}
		if c.unknown[r] > 0 || !(v > 0 && math.Abs(c.sums[r]-v) <= float64(sumTolerance*v)) {
			if others++; 20*others > c.rows {
				return false
			}
		}
	}
	return 20*others <= telling
}

// allZero reports whether all numbers are 0.
func allZero(numbers []float64) bool {
	return !slices.ContainsFunc(numbers, func(v float64) bool { return v != 0 })
}

// leavesNothing reports whether a column is the sum of the chosen ones in all rows with an unknown amount, of which there
// is one at least: that amount is nothing, as of a solvent that is dried off.
func (c *amountChoice) leavesNothing(i int) bool {
	found := false
	for r, n := range c.unknown {
		v := c.columns[i].values[r]
		if n > 0 && !(v > 0 && math.Abs(c.sums[r]-v) <= float64(sumTolerance*v)) {
			return false
		}
		found = found || n > 0
	}
	return found
}

// markTotals marks the columns that are the sum of the chosen ones, and those that leave nothing for the rest.
func (c *amountChoice) markTotals() {
	chosen, last := 0, -1
	for i, in := range c.chosen {
		if !in {
			continue
		}
		column := &c.columns[i]
		column.standsApart = chosen > 0 && column.field > last+2 && !column.isMaterial && !column.isFixed
		last = column.field
		chosen++
	}
	for i, in := range c.chosen {
		c.columns[i].isSum = !in && chosen >= minSummedColumns && c.isSum(i)
		c.columns[i].isAddition = in && c.hasBase && !c.columns[i].inBase && !c.columns[i].isMaterial && !c.columns[i].isFixed
		c.columns[i].leavesNothing = !in && c.columns[i].isTotal && c.leavesNothing(i)
	}
}

// findMeans marks the columns that belong to a row of repeated measurements with their mean: a column that is the mean
// of two or more that stand directly before or behind it. means are the places in columns of the means, and repeats
// those of what they are the means of.
func findMeans(columns []amountColumn) (means, repeats map[int]bool) {
	means, repeats = make(map[int]bool), make(map[int]bool)
	for i := range columns {
		for _, step := range []int{-1, 1} {
			if n := meanOfNeighbours(columns, i, step); n > 0 {
				means[i] = true
				for k := 1; k <= n; k++ {
					repeats[i+k*step] = true
				}
			}
		}
	}
	return means, repeats
}

// maxRepeats is the greatest number of repeated measurements that findMeans looks for.
const maxRepeats = 20

// meanOfNeighbours returns the number of neighbours in one direction of which a column is the mean in 19 rows of 20, but
// for rounding; 0 if there are none. The neighbours differ in half of the rows at least.
func meanOfNeighbours(columns []amountColumn, i, step int) int {
	mean := columns[i].values
	rows := min(len(mean), maxChoiceRows)
	if rows < minEvidenceRows {
		return 0
	}
	sums, least, most := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for n := 1; n <= maxRepeats; n++ {
		at := i + n*step
		if at < 0 || at >= len(columns) || columns[at].kind != columns[i].kind {
			return 0
		}
		others, apart, known := 0, 0, 0
		for r, v := range columns[at].values[:rows] {
			if v == 0 {
				v = math.NaN() // an empty cell
			}
			sums[r] += v
			if n == 1 {
				least[r], most[r] = v, v
			}
			least[r], most[r] = min(least[r], v), max(most[r], v)
			if m := mean[r]; math.Abs(sums[r]/float64(n)-m) > meanTolerance(m) { // not in a row without a number
				others++
			}
			if most[r] > least[r] {
				apart++
			}
			if !math.IsNaN(sums[r] + mean[r]) {
				known++
			}
		}
		if n > 1 && known >= minEvidenceRows && 20*others <= rows && 2*apart >= known {
			return n
		}
	}
	return 0
}

// meanTolerance returns how far a written mean may be from the exact one: half a unit of its last decimal place, as far
// as the number shows it, and one in a thousand.
func meanTolerance(mean float64) float64 {
	tolerance := float64(1e-3 * math.Abs(mean))
	for place := 1.0; place >= 1e-3; place /= 10 {
		if whole := mean / place; math.Abs(whole-math.Round(whole)) < 1e-9*max(1, math.Abs(whole)) {
			return max(tolerance, float64(0.5001*place))
		}
	}
	return tolerance
}
