package volume

import (
	"math"

	"kir/internal/portable"
)

// A sumState is the current value of a sum, the bounds min and max of the sum, and cost, the contribution of the
// sum to the total violation.
type sumState struct{ value, min, max, cost int64 }

// A walker is a composition that moves at random with a fixed number of used ingredients. The walker keeps the
// values of all sums up to date. The amounts are in multiples of rules.unit.
type walker struct {
	rules                *rules
	amounts              []int32    // item i is the amount of ingredient i
	usedIngredients      []int32    // indices of the used ingredients, in arbitrary order
	usedIndex            []int32    // item i is the index of ingredient i in usedIngredients, if ingredient i is used
	sums                 []sumState // item s is the state of sum s
	brokenCountableCount int        // number of countable rules that are broken
	totalViolation       int64      // sum of the contributions of all sums to the violation, as a multiple of 1/violationQuantum

	sumIncreases []int64 // item s is the increase of sum s by the proposed changes; all items are 0 between proposals
	touchedSums  []int32 // indices of the sums whose item in sumIncreases may not be 0; some indices occur twice

	moveCount int64 // number of moves made
}

func newWalker(r *rules) *walker {
	w := &walker{
		rules:        r,
		amounts:      make([]int32, len(r.allowedAmounts)),
		usedIndex:    make([]int32, len(r.allowedAmounts)),
		sums:         make([]sumState, len(r.sumBounds)),
		sumIncreases: make([]int64, len(r.sumBounds)),
	}
	for k := range w.sums {
		b := &w.rules.sumBounds[k]
		w.sums[k] = sumState{min: b.min, max: b.max, cost: b.violationCost(0)}
		if b.countable {
			if w.sums[k].cost > 0 {
				w.brokenCountableCount++
			}
		} else {
			w.totalViolation += w.sums[k].cost
		}
	}
	return w
}

// clearAmounts sets all amounts to 0.
func (w *walker) clearAmounts() {
	for len(w.usedIngredients) > 0 {
		w.setAmount(w.usedIngredients[len(w.usedIngredients)-1], 0)
	}
}

// load sets the walker to the composition x, whose amounts are in units and not in multiples of rules.unit.
func (w *walker) load(x Composition) {
	w.clearAmounts()
	for k, i := range x.Ingredients {
		w.setAmount(i, x.Amounts[k]/int32(w.rules.unit))
	}
}

// store writes the composition of the walker to x, with amounts in units and not in multiples of rules.unit.
func (w *walker) store(x *Composition) {
	x.Ingredients = append(x.Ingredients[:0], w.usedIngredients...)
	x.Amounts = x.Amounts[:0]
	for _, i := range w.usedIngredients {
		x.Amounts = append(x.Amounts, w.amounts[i]*int32(w.rules.unit))
	}
}

// setAmount changes the amount of ingredient i and updates all sums.
func (w *walker) setAmount(i, amount int32) {
	was := w.amounts[i]
	if was == amount {
		return
	}
	w.amounts[i] = amount
	whole := int64(0)
	switch {
	case was == 0:
		whole = 1
		w.usedIndex[i] = int32(len(w.usedIngredients))
		w.usedIngredients = append(w.usedIngredients, i)
	case amount == 0:
		whole = -1
		last := w.usedIngredients[len(w.usedIngredients)-1]
		w.usedIngredients[w.usedIndex[i]], w.usedIndex[last] = last, w.usedIndex[i]
		w.usedIngredients = w.usedIngredients[:len(w.usedIngredients)-1]
	}
	units := int64(amount - was)
	terms := w.rules.termsOf(i, firstChangedKind(whole), otherAmount)
	for k := range terms {
		t := &terms[k]
		change := t.perUnit*units + t.perUse*whole
		if t.bentIndex > 0 {
			change = w.rules.bentDelta(t.bentIndex, was, amount)
		}
		if change == 0 {
			continue
		}
		s := &w.sums[t.sumIndex]
		if s.value += change; s.value >= s.min && s.value <= s.max && s.cost == 0 {
			continue
		}
		b := &w.rules.sumBounds[t.sumIndex]
		cost := b.violationCost(s.value)
		if b.countable {
			w.brokenCountableCount += oneIfPositive(cost) - oneIfPositive(s.cost)
		} else {
			w.totalViolation += cost - s.cost
		}
		s.cost = cost
	}
}

// oneIfPositive returns 1 for a positive cost, and 0 otherwise.
func oneIfPositive(cost int64) int {
	if cost > 0 {
		return 1
	}
	return 0
}

// A change sets an ingredient to another amount.
type change struct{ ingredient, amount int32 }

// tryChanges proposes to change the amounts of ingredients, and makes the changes if the proposal is accepted.
// The changes must lead to allowed amounts. At a finite inverse temperature b, changes that break a countable
// rule are rejected, and other changes are accepted with probability exp(−b·increase of the violation). If b is
// infinite, the composition must keep all rules, and the changes are accepted if the composition then still keeps
// all rules.
func (w *walker) tryChanges(r Rand, b float64, changes ...change) {
	if math.IsInf(b, 1) {
		if !w.staysFeasible(changes...) {
			return
		}
	} else if worse, hard := w.evaluateChanges(changes); hard || worse > 0 && !r.Bernoulli(portable.Exp(float64(-b*float64(worse)/violationQuantum))) {
		return
	}
	for _, c := range changes {
		w.setAmount(c.ingredient, c.amount)
	}
}

// recordSumIncreases records in w.sumIncreases by how much the changes increase each sum. If all is false, recordSumIncreases
// leaves out the ceilings, that is, the sums that have only an upper bound and positive terms.
func (w *walker) recordSumIncreases(changes []change, all bool) {
	w.touchedSums = w.touchedSums[:0]
	for _, c := range changes {
		_, whole := w.amountDeltas(c)
		first := firstChangedKind(whole)
		if all {
			w.recordTermIncreases(w.rules.termsOf(c.ingredient, first, otherAmount), c)
			continue
		}
		if first == ceilingUse {
			w.recordTermIncreases(w.rules.termsOf(c.ingredient, otherUse, otherUse), c)
		}
		w.recordTermIncreases(w.rules.termsOf(c.ingredient, otherAmount, otherAmount), c)
	}
}

// recordTermIncreases adds to w.sumIncreases how much the change c increases the sums in which the terms are.
func (w *walker) recordTermIncreases(terms []ruleTerm, c change) {
	units, whole := w.amountDeltas(c)
	for k := range terms {
		t := &terms[k]
		if w.sumIncreases[t.sumIndex] == 0 {
			w.touchedSums = append(w.touchedSums, t.sumIndex)
		}
		if t.bentIndex > 0 {
			w.sumIncreases[t.sumIndex] += w.rules.bentDelta(t.bentIndex, w.amounts[c.ingredient], c.amount)
		} else {
			w.sumIncreases[t.sumIndex] += t.perUnit*units + t.perUse*whole
		}
	}
}

// evaluateChanges returns violationIncrease, the increase of the total violation by changes of different
// ingredients. The result breaksCountable tells whether the changes break a countable rule.
func (w *walker) evaluateChanges(changes []change) (violationIncrease int64, breaksCountable bool) {
	w.recordSumIncreases(changes, true)
	for _, k := range w.touchedSums {
		b := &w.rules.sumBounds[k]
		cost := b.violationCost(w.sums[k].value + w.sumIncreases[k])
		if w.sumIncreases[k] == 0 {
			continue // the sum is unchanged, or was listed twice
		}
		w.sumIncreases[k] = 0
		if b.countable {
			breaksCountable = breaksCountable || cost > 0
		} else {
			violationIncrease += cost - w.sums[k].cost
		}
	}
	return violationIncrease, breaksCountable
}

// firstChangedKind returns the first kind of terms whose value a change of an ingredient can affect. The
// parameter uses is the change of the number of used ingredients; 0 means that only the amount changes.
func firstChangedKind(uses int64) int {
	if uses == 0 {
		return ceilingAmount
	}
	return ceilingUse
}

// staysFeasible reports whether a composition that keeps all rules still keeps all rules after changes of
// different ingredients. Ceilings, that is, sums with only an upper bound and positive terms, are checked first,
// because with many rules ceilings take most of the time.
func (w *walker) staysFeasible(changes ...change) bool {
	for at := range changes {
		c := &changes[at]
		was := w.amounts[c.ingredient]
		if was == 0 && !w.keepsCeilings(changes, at, ceilingUse) || c.amount > was && !w.keepsCeilings(changes, at, ceilingAmount) {
			return false
		}
	}
	w.recordSumIncreases(changes, false)
	kept := true
	for _, k := range w.touchedSums {
		s := &w.sums[k]
		sum := s.value + w.sumIncreases[k]
		w.sumIncreases[k] = 0
		kept = kept && sum >= s.min && sum <= s.max
	}
	return kept
}

// keepsCeilings reports whether the changes keep certain ceilings, that is, sums that have only an upper bound
// and positive terms: all ceilings in which the ingredient of changes[changeIndex] has a term of the given kind.
func (w *walker) keepsCeilings(changes []change, changeIndex, kind int) bool {
	c := changes[changeIndex]
	units, whole := w.amountDeltas(c)
	terms := w.rules.termsOf(c.ingredient, kind, kind)
	for k := range terms {
		t := &terms[k]
		s := &w.sums[t.sumIndex]
		sum := s.value + t.perUnit*units + t.perUse*whole
		if sum <= s.max && len(changes) == 2 {
			continue // the other change can only lower the sum
		}
		for other, d := range changes {
			if other != changeIndex {
				sum += w.ceilingDelta(d, t.sumIndex)
			}
		}
		if sum > s.max {
			return false
		}
	}
	return true
}

// ceilingDelta returns by how much a change increases a ceiling, that is, a sum that has only an upper bound and
// positive terms.
func (w *walker) ceilingDelta(c change, sum int32) int64 {
	units, whole := w.amountDeltas(c)
	for _, kind := range [...]int{ceilingUse, ceilingAmount} {
		if t := w.rules.findTerm(c.ingredient, sum, kind); t != nil {
			return t.perUnit*units + t.perUse*whole
		}
	}
	return 0
}

// amountDeltas returns by how many units a change increases the amount, and by how much the change increases the
// number of used ingredients: 1, 0 or −1.
func (w *walker) amountDeltas(c change) (units, uses int64) {
	was := w.amounts[c.ingredient]
	return int64(c.amount - was), int64(oneIfPositive(int64(c.amount)) - oneIfPositive(int64(was)))
}

// makeMove makes one random move that keeps the number n of used ingredients. The move leaves the distribution ∝
// exp(−b·violation) on the countable compositions of n ingredients invariant, because each kind of move has a
// symmetric proposal.
func (w *walker) makeMove(r Rand, b float64) {
	w.moveCount++
	n := len(w.usedIngredients)
	switch k := r.Intn(20); {
	case k < 8 && n > 1:
		w.transferUnits(r, b)
	case k < 12 && n > 2 && len(w.rules.amountSums) > 0:
		w.moveAlongSum(r, b)
	case n < len(w.amounts):
		w.replaceIngredient(r, b)
	case n > 1:
		w.transferUnits(r, b)
	}
}

// drawUsedPair draws an ordered pair of different used ingredients.
func (w *walker) drawUsedPair(r Rand) (i, j int32) {
	p, q := r.Intn(len(w.usedIngredients)), r.Intn(len(w.usedIngredients)-1)
	if q >= p {
		q++
	}
	return w.usedIngredients[p], w.usedIngredients[q]
}

// drawStepSize draws a number from 1 to the largest power of two that is at most maxSize. First the exponent of
// a power of two is drawn uniformly, then a number up to that power.
func drawStepSize(r Rand, maxSize int32) int32 {
	exponent := 0
	for maxSize>>exponent > 1 {
		exponent++
	}
	return 1 + int32(r.Intn(1<<r.Intn(exponent+1)))
}

// transferUnits proposes to move units from one used ingredient to another.
func (w *walker) transferUnits(r Rand, b float64) {
	i, j := w.drawUsedPair(r)
	s := w.amounts[i] + w.amounts[j]
	ai, aj := &w.rules.allowedAmounts[i], &w.rules.allowedAmounts[j]
	var k int32
	if r.Bernoulli(0.5) {
		// Draw any allowed amount of i below the sum.
		from, to := ai.lo, min(ai.hi, s-1) // the range contains an allowed amount of i
		k = from + ai.step*int32(r.Intn(int((to-from)/ai.step)+1))
	} else {
		k = w.amounts[i] + max(ai.step, aj.step)*drawStepSize(r, int32(w.rules.total/len(w.usedIngredients)))
	}
	if !ai.contains(k) || !aj.contains(s-k) {
		return
	}
	w.tryChanges(r, b, change{i, k}, change{j, s - k})
}

// drawAbsent draws an ingredient that the composition does not use.
func (w *walker) drawAbsent(r Rand) int32 {
	for {
		if j := int32(r.Intn(len(w.amounts))); w.amounts[j] == 0 {
			return j
		}
	}
}

// replaceIngredient proposes to replace a used ingredient by an absent ingredient with the same amount.
func (w *walker) replaceIngredient(r Rand, b float64) {
	i, j := w.usedIngredients[r.Intn(len(w.usedIngredients))], w.drawAbsent(r)
	x := w.amounts[i]
	if w.rules.allowedAmounts[i].required || !w.rules.allowedAmounts[j].contains(x) {
		return
	}
	w.tryChanges(r, b, change{i, 0}, change{j, x})
}

// moveAlongSum proposes to move units among three used ingredients so that one of the sums stays constant. Such
// moves are needed if the bounds of the sum are so narrow that other moves rarely succeed.
func (w *walker) moveAlongSum(r Rand, b float64) {
	sum := w.rules.amountSums[r.Intn(len(w.rules.amountSums))]
	i, j := w.drawUsedPair(r)
	l := w.usedIngredients[r.Intn(len(w.usedIngredients))]
	if l == i || l == j {
		return
	}
	// p units to i and q to j, all from l: p·(a_i−a_l) + q·(a_j−a_l) = 0.
	p, q := w.unitFactor(j, sum)-w.unitFactor(l, sum), w.unitFactor(l, sum)-w.unitFactor(i, sum)
	if p == 0 && q == 0 {
		return // the three have equal coefficients, so transferUnits makes the same moves
	}
	g := portable.GCD(p, q)
	p, q = p/g, q/g
	reach := int64(w.rules.total)
	if p < -reach || p > reach || q < -reach || q > reach {
		return
	}
	t := int64(drawStepSize(r, int32(max(1, reach/int64(len(w.usedIngredients))/(1+abs(p)+abs(q))))))
	if r.Bernoulli(0.5) {
		t = -t
	}
	x, y, z := int64(w.amounts[i])+t*p, int64(w.amounts[j])+t*q, int64(w.amounts[l])-t*(p+q)
	if x < 1 || y < 1 || z < 1 || x > reach || y > reach || z > reach {
		return
	}
	if !w.rules.allowedAmounts[i].contains(int32(x)) || !w.rules.allowedAmounts[j].contains(int32(y)) || !w.rules.allowedAmounts[l].contains(int32(z)) {
		return
	}
	w.tryChanges(r, b, change{i, int32(x)}, change{j, int32(y)}, change{l, int32(z)})
}

// unitFactor returns the coefficient of the amount of ingredient i in a sum.
func (w *walker) unitFactor(i, sum int32) int64 {
	for k := ceilingUse; k < kindCount; k++ {
		if t := w.rules.findTerm(i, sum, k); t != nil {
			return t.perUnit
		}
	}
	return 0
}

// splitKeepsRules draws a split uniformly and reports whether the composition after the split still keeps all
// rules. A split gives some units of a used ingredient to an absent ingredient. The composition of the walker
// does not change.
func (w *walker) splitKeepsRules(r Rand) bool {
	n := len(w.usedIngredients)
	// The split falls at one of the total−n inner cuts. The unit before the first inner cut of an ingredient
	// stays with that ingredient.
	cut := int32(r.Intn(w.rules.total - n))
	at := 0
	for cut >= w.amounts[w.usedIngredients[at]]-1 {
		cut -= w.amounts[w.usedIngredients[at]] - 1
		at++
	}
	i, j := w.usedIngredients[at], w.drawAbsent(r)
	k, rest := cut+1, w.amounts[i]-cut-1
	if !w.rules.allowedAmounts[i].contains(k) || !w.rules.allowedAmounts[j].contains(rest) {
		return false
	}
	return w.staysFeasible(change{i, k}, change{j, rest})
}

// mergeKeepsRules draws a merge uniformly and reports whether the composition after the merge still keeps all
// rules. A merge gives all units of a used ingredient to another used ingredient. The composition of the walker
// does not change.
func (w *walker) mergeKeepsRules(r Rand) bool {
	i, j := w.drawUsedPair(r)
	s := w.amounts[i] + w.amounts[j]
	if w.rules.allowedAmounts[j].required || !w.rules.allowedAmounts[i].contains(s) {
		return false
	}
	return w.staysFeasible(change{i, s}, change{j, 0})
}

func abs(x int64) int64 { return max(x, -x) }
