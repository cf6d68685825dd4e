package volume

import (
	"math"

	"kir/internal/portable"
)

// A sumState is the value of a sum, stored next to the bounds with which it is compared.
type sumState struct{ sum, min, max, cost int64 }

// A walker is a composition that moves within one size, with the values of all sums. Its amounts are in multiples of
// rules.unit.
type walker struct {
	rules   *rules
	amounts []int32    // amount of each ingredient
	list    []int32    // used ingredients in no order
	slot    []int32    // index in list of each used ingredient
	sums    []sumState // state of each sum
	hard    int        // number of countable rules that are broken
	v       int64      // total violation v of the sums, in parts of quantum

	added   []int64 // increase of each sum by the proposed changes; all 0 between proposals
	touched []int32 // sums whose increase may not be 0, some of them twice

	moves int64
}

func newWalker(r *rules) *walker {
	w := &walker{
		rules:   r,
		amounts: make([]int32, len(r.amounts)),
		slot:    make([]int32, len(r.amounts)),
		sums:    make([]sumState, len(r.bounds)),
		added:   make([]int64, len(r.bounds)),
	}
	for k := range w.sums {
		b := &w.rules.bounds[k]
		w.sums[k] = sumState{min: b.min, max: b.max, cost: b.cost(0)}
		if b.hard {
			if w.sums[k].cost > 0 {
				w.hard++
			}
		} else {
			w.v += w.sums[k].cost
		}
	}
	return w
}

// clear sets all amounts to 0.
func (w *walker) clear() {
	for len(w.list) > 0 {
		w.set(w.list[len(w.list)-1], 0)
	}
}

// load sets the walker to composition x, whose amounts are in single units.
func (w *walker) load(x Composition) {
	w.clear()
	for k, i := range x.Ingredients {
		w.set(i, x.Amounts[k]/int32(w.rules.unit))
	}
}

// store writes the walker's composition to x, in single units.
func (w *walker) store(x *Composition) {
	x.Ingredients = append(x.Ingredients[:0], w.list...)
	x.Amounts = x.Amounts[:0]
	for _, i := range w.list {
		x.Amounts = append(x.Amounts, w.amounts[i]*int32(w.rules.unit))
	}
}

// set changes the amount of ingredient i and updates all sums.
func (w *walker) set(i, amount int32) {
	was := w.amounts[i]
	if was == amount {
		return
	}
	w.amounts[i] = amount
	whole := int64(0)
	switch {
	case was == 0:
		whole = 1
		w.slot[i] = int32(len(w.list))
		w.list = append(w.list, i)
	case amount == 0:
		whole = -1
		last := w.list[len(w.list)-1]
		w.list[w.slot[i]], w.slot[last] = last, w.slot[i]
		w.list = w.list[:len(w.list)-1]
	}
	units := int64(amount - was)
	terms := w.rules.termsOf(i, firstChangedKind(whole), otherAmount)
	for k := range terms {
		t := &terms[k]
		change := t.perUnit*units + t.perUse*whole
		if t.bent > 0 {
			change = w.rules.bentDelta(t.bent, was, amount)
		}
		if change == 0 {
			continue
		}
		s := &w.sums[t.sum]
		if s.sum += change; s.sum >= s.min && s.sum <= s.max && s.cost == 0 {
			continue
		}
		b := &w.rules.bounds[t.sum]
		cost := b.cost(s.sum)
		if b.hard {
			w.hard += sign(cost) - sign(s.cost)
		} else {
			w.v += cost - s.cost
		}
		s.cost = cost
	}
}

// sign returns 1 for a positive cost, else 0.
func sign(cost int64) int {
	if cost > 0 {
		return 1
	}
	return 0
}

// A change sets an ingredient to another amount.
type change struct{ ingredient, amount int32 }

// tryChanges proposes changes of amounts to allowed ones. It accepts them with probability exp(−b·(v′−v)) if
// the countable rules hold afterwards. If b is infinite and all rules hold now, it accepts them only if all rules
// hold afterwards.
func (w *walker) tryChanges(r Rand, b float64, changes ...change) {
	if math.IsInf(b, 1) {
		if !w.staysFeasible(changes...) {
			return
		}
	} else if worse, hard := w.evaluateChanges(changes); hard || worse > 0 && !r.Bernoulli(portable.Exp(float64(-b*float64(worse)/quantum))) {
		return
	}
	for _, c := range changes {
		w.set(c.ingredient, c.amount)
	}
}

// noteChanges records in w.added by how much the changes increase each sum. With all false it leaves out the
// ceilings.
func (w *walker) noteChanges(changes []change, all bool) {
	w.touched = w.touched[:0]
	for _, c := range changes {
		_, whole := w.amountDeltas(c)
		first := firstChangedKind(whole)
		if all {
			w.noteTerms(w.rules.termsOf(c.ingredient, first, otherAmount), c)
			continue
		}
		if first == ceilingUse {
			w.noteTerms(w.rules.termsOf(c.ingredient, otherUse, otherUse), c)
		}
		w.noteTerms(w.rules.termsOf(c.ingredient, otherAmount, otherAmount), c)
	}
}

func (w *walker) noteTerms(terms []ruleTerm, c change) {
	units, whole := w.amountDeltas(c)
	for k := range terms {
		t := &terms[k]
		if w.added[t.sum] == 0 {
			w.touched = append(w.touched, t.sum)
		}
		if t.bent > 0 {
			w.added[t.sum] += w.rules.bentDelta(t.bent, w.amounts[c.ingredient], c.amount)
		} else {
			w.added[t.sum] += t.perUnit*units + t.perUse*whole
		}
	}
}

// evaluateChanges returns by how much changes of different ingredients increase v, and whether they break a countable
// rule.
func (w *walker) evaluateChanges(changes []change) (worse int64, hard bool) {
	w.noteChanges(changes, true)
	for _, k := range w.touched {
		b := &w.rules.bounds[k]
		cost := b.cost(w.sums[k].sum + w.added[k])
		if w.added[k] == 0 {
			continue // the sum is unchanged, or was listed twice
		}
		w.added[k] = 0
		if b.hard {
			hard = hard || cost > 0
		} else {
			worse += cost - w.sums[k].cost
		}
	}
	return worse, hard
}

// firstChangedKind returns the first kind of terms that a change can affect. whole is the change of the number of
// used ingredients, 0 if only amounts change.
func firstChangedKind(whole int64) int {
	if whole == 0 {
		return ceilingAmount
	}
	return ceilingUse
}

// staysFeasible reports whether a composition that keeps all rules still does after changes of different ingredients.
// It checks ceilings first and stops at a broken one, because with many rules it takes most of the time.
func (w *walker) staysFeasible(changes ...change) bool {
	for at := range changes {
		c := &changes[at]
		was := w.amounts[c.ingredient]
		if was == 0 && !w.keepsCeilings(changes, at, ceilingUse) || c.amount > was && !w.keepsCeilings(changes, at, ceilingAmount) {
			return false
		}
	}
	w.noteChanges(changes, false)
	kept := true
	for _, k := range w.touched {
		s := &w.sums[k]
		sum := s.sum + w.added[k]
		w.added[k] = 0
		kept = kept && sum >= s.min && sum <= s.max
	}
	return kept
}

// keepsCeilings reports whether all ceilings hold that the change number at raises by terms of the given kind.
func (w *walker) keepsCeilings(changes []change, at, kind int) bool {
	c := changes[at]
	units, whole := w.amountDeltas(c)
	terms := w.rules.termsOf(c.ingredient, kind, kind)
	for k := range terms {
		t := &terms[k]
		s := &w.sums[t.sum]
		sum := s.sum + t.perUnit*units + t.perUse*whole
		if sum <= s.max && len(changes) == 2 {
			continue // the other change can only lower the sum
		}
		for other, d := range changes {
			if other != at {
				sum += w.ceilingDelta(d, t.sum)
			}
		}
		if sum > s.max {
			return false
		}
	}
	return true
}

// ceilingDelta returns by how much a change increases a sum that is a ceiling.
func (w *walker) ceilingDelta(c change, sum int32) int64 {
	units, whole := w.amountDeltas(c)
	for _, kind := range [...]int{ceilingUse, ceilingAmount} {
		if t := w.rules.find(c.ingredient, sum, kind); t != nil {
			return t.perUnit*units + t.perUse*whole
		}
	}
	return 0
}

// amountDeltas returns by how many units a change increases the amount, and by how much the number of used
// ingredients: 1, 0 or −1.
func (w *walker) amountDeltas(c change) (units, whole int64) {
	was := w.amounts[c.ingredient]
	return int64(c.amount - was), int64(sign(int64(c.amount)) - sign(int64(was)))
}

// move makes one random move within the size. It leaves the law ∝ exp(−b·v) on the countable compositions of n
// ingredients invariant, because each kind of move has a symmetric proposal.
func (w *walker) move(r Rand, b float64) {
	w.moves++
	n := len(w.list)
	switch k := r.Intn(20); {
	case k < 8 && n > 1:
		w.transfer(r, b)
	case k < 12 && n > 2 && len(w.rules.linear) > 0:
		w.moveAlongSum(r, b)
	case n < len(w.amounts):
		w.exchange(r, b)
	case n > 1:
		w.transfer(r, b)
	}
}

// drawUsedPair draws an ordered pair of different used ingredients.
func (w *walker) drawUsedPair(r Rand) (i, j int32) {
	p, q := r.Intn(len(w.list)), r.Intn(len(w.list)-1)
	if q >= p {
		q++
	}
	return w.list[p], w.list[q]
}

// drawStepSize draws a number from 1 to most: first the exponent of a power of two uniformly, then a number up to
// that power.
func drawStepSize(r Rand, most int32) int32 {
	exponent := 0
	for most>>exponent > 1 {
		exponent++
	}
	return 1 + int32(r.Intn(1<<r.Intn(exponent+1)))
}

// transfer proposes to move units from one used ingredient to another.
func (w *walker) transfer(r Rand, b float64) {
	i, j := w.drawUsedPair(r)
	s := w.amounts[i] + w.amounts[j]
	ai, aj := &w.rules.amounts[i], &w.rules.amounts[j]
	var k int32
	if r.Bernoulli(0.5) {
		// Draw any allowed amount of i below the sum.
		from, to := ai.lo, min(ai.hi, s-1) // the range contains an allowed amount of i
		k = from + ai.step*int32(r.Intn(int((to-from)/ai.step)+1))
	} else {
		k = w.amounts[i] + max(ai.step, aj.step)*drawStepSize(r, int32(w.rules.total/len(w.list)))
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

// exchange proposes to replace a used ingredient by an absent one with the same amount.
func (w *walker) exchange(r Rand, b float64) {
	i, j := w.list[r.Intn(len(w.list))], w.drawAbsent(r)
	x := w.amounts[i]
	if w.rules.amounts[i].required || !w.rules.amounts[j].contains(x) {
		return
	}
	w.tryChanges(r, b, change{i, 0}, change{j, x})
}

// moveAlongSum proposes to move units among three used ingredients so that one of the sums stays constant. If that
// sum is nearly fixed by its bounds, no other move succeeds.
func (w *walker) moveAlongSum(r Rand, b float64) {
	sum := w.rules.linear[r.Intn(len(w.rules.linear))]
	i, j := w.drawUsedPair(r)
	l := w.list[r.Intn(len(w.list))]
	if l == i || l == j {
		return
	}
	// p units to i and q to j, all from l: p·(a_i−a_l) + q·(a_j−a_l) = 0.
	p, q := w.factor(j, sum)-w.factor(l, sum), w.factor(l, sum)-w.factor(i, sum)
	if p == 0 && q == 0 {
		return // the three have equal coefficients, so transfer makes the same moves
	}
	g := portable.GCD(p, q)
	p, q = p/g, q/g
	reach := int64(w.rules.total)
	if p < -reach || p > reach || q < -reach || q > reach {
		return
	}
	t := int64(drawStepSize(r, int32(max(1, reach/int64(len(w.list))/(1+abs(p)+abs(q))))))
	if r.Bernoulli(0.5) {
		t = -t
	}
	x, y, z := int64(w.amounts[i])+t*p, int64(w.amounts[j])+t*q, int64(w.amounts[l])-t*(p+q)
	if x < 1 || y < 1 || z < 1 || x > reach || y > reach || z > reach {
		return
	}
	if !w.rules.amounts[i].contains(int32(x)) || !w.rules.amounts[j].contains(int32(y)) || !w.rules.amounts[l].contains(int32(z)) {
		return
	}
	w.tryChanges(r, b, change{i, int32(x)}, change{j, int32(y)}, change{l, int32(z)})
}

// factor returns the coefficient of ingredient i's amount in a sum.
func (w *walker) factor(i, sum int32) int64 {
	for k := ceilingUse; k < kinds; k++ {
		if t := w.rules.find(i, sum, k); t != nil {
			return t.perUnit
		}
	}
	return 0
}

// split reports whether the composition after a uniformly drawn split still keeps all rules. It does not change the
// composition.
func (w *walker) split(r Rand) bool {
	n := len(w.list)
	// The split falls at one of the total−n inner cuts. The unit before the first inner cut of an
	// ingredient stays with it.
	cut := int32(r.Intn(w.rules.total - n))
	at := 0
	for cut >= w.amounts[w.list[at]]-1 {
		cut -= w.amounts[w.list[at]] - 1
		at++
	}
	i, j := w.list[at], w.drawAbsent(r)
	k, rest := cut+1, w.amounts[i]-cut-1
	if !w.rules.amounts[i].contains(k) || !w.rules.amounts[j].contains(rest) {
		return false
	}
	return w.staysFeasible(change{i, k}, change{j, rest})
}

// merge reports whether the composition after a uniformly drawn merge still keeps all rules. It does not change the
// composition.
func (w *walker) merge(r Rand) bool {
	i, j := w.drawUsedPair(r)
	s := w.amounts[i] + w.amounts[j]
	if w.rules.amounts[j].required || !w.rules.amounts[i].contains(s) {
		return false
	}
	return w.staysFeasible(change{i, s}, change{j, 0})
}

func abs(x int64) int64 { return max(x, -x) }
