package conflict

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"kir/internal/constraint"
	"kir/internal/portable"
	"kir/rule"
)

// A prover tries to prove that no composition keeps a set of conditions.
//
// The search decides for each ingredient whether the ingredient is used, and propagates the consequences of each
// decision. The search abandons a branch if the bounds of a sum cannot be met: a sum of amounts, of a group or
// of a limit. The search also abandons a branch if a linear program (a [relaxation]) shows that the bounds
// cannot all be met together. If the amounts in the solution of the program are not whole, the search branches
// on an amount. A branch in which all uses are decided and all bounds can be met ends the search: a composition
// may exist, or was found. So the answer "impossible" is a proof, and any other answer proves nothing.
type prover struct {
	*constraint.Conditions
	ctx         context.Context // when the context ends, nothing more is proven
	provedSums  []provedSum     // sums whose bounds must be satisfied; sums with equal terms are merged into one
	usedCounts  []int           // permitted numbers of used ingredients
	stepsLeft   int             // number of further steps that the search may take; one step examines one ingredient for one condition
	solution    []rule.Part     // composition that keeps the conditions; nil unless the search found a composition
	blamedRules []int           // indices of the rules that the first linear program shows to conflict
}

// A provedSum is a sum with indices for the proof search.
type provedSum struct {
	constraint.Sum
	rules                []int              // indices of the rules that made the sum
	countsAmounts        bool               // whether some term has a PerUnit other than 0, so that the sum depends on amounts and not only on which ingredients are used
	termByIngredient     []*constraint.Term // item i is the term of ingredient i, or nil; the slice is empty if countsAmounts is false
	ingredientsByPerUnit []int32            // indices of the ingredients, ascending by PerUnit; the slice is empty if countsAmounts is false
}

// newProvedSum returns the provedSum of the sum s. The parameter ingredients is the number of ingredients of the
// problem.
func newProvedSum(s constraint.Sum, ingredients int) provedSum {
	p := provedSum{Sum: s, countsAmounts: slices.ContainsFunc(s.Terms, func(t constraint.Term) bool { return t.PerUnit != 0 })}
	if !p.countsAmounts {
		return p
	}
	p.termByIngredient, p.ingredientsByPerUnit = make([]*constraint.Term, ingredients), make([]int32, ingredients)
	for k := range s.Terms {
		p.termByIngredient[s.Terms[k].Ingredient] = &s.Terms[k]
	}
	for i := range p.ingredientsByPerUnit {
		p.ingredientsByPerUnit[i] = int32(i)
	}
	slices.SortStableFunc(p.ingredientsByPerUnit, func(i, j int32) int { return cmp.Compare(p.perUnitOf(i), p.perUnitOf(j)) })
	return p
}

// termOf returns the term of ingredient i, or nil if the ingredient has no term.
func (p *provedSum) termOf(i int32) *constraint.Term {
	if p.termByIngredient != nil {
		return p.termByIngredient[i]
	}
	return p.Term(int(i))
}

func (p *provedSum) perUnitOf(i int32) int64 {
	if t := p.termOf(i); t != nil {
		return t.PerUnit
	}
	return 0
}

// maxProofSteps is the maximum length of a proof search. One step examines one ingredient for one condition.
const maxProofSteps = 20_000_000

// programStepCost is the number of steps, as counted by maxProofSteps, that setting up a linear program costs.
const programStepCost = 10_000

func newProver(ctx context.Context, c *constraint.Conditions, sizes []int) *prover {
	p := &prover{Conditions: c, ctx: ctx, usedCounts: sizes, stepsLeft: maxProofSteps}
	at := make(map[string]int) // index of the sum with equal terms, by the encoded terms
	var key []byte
	for k, s := range c.Sums {
		key = key[:0]
		for _, t := range s.Terms {
			for _, v := range [...]int64{int64(t.Ingredient), t.PerUnit, t.PerUse, int64(t.Cap), t.OffStepAddend, int64(t.FirstStep), int64(t.Step)} {
				key = binary.AppendVarint(key, v)
			}
		}
		same, ok := at[string(key)]
		if !ok {
			same = len(p.provedSums)
			at[string(key)] = same
			p.provedSums = append(p.provedSums, newProvedSum(s, len(c.Amounts)))
		}
		t := &p.provedSums[same]
		t.rules = append(t.rules, c.SumRules[k])
		t.Min, t.Max = max(t.Min, s.Min), min(t.Max, s.Max)
	}
	return p
}

// isImpossible reports whether the search proves that no composition keeps the conditions.
func (p *prover) isImpossible() bool {
	if slices.ContainsFunc(p.provedSums, func(s provedSum) bool { return s.Min > s.Max || p.hasNoReachableValue(&s) }) {
		return true
	}
	n := &node{make([]useDecision, len(p.Amounts)), make([]int, len(p.Amounts)), make([]int, len(p.Amounts))}
	for i, a := range p.Amounts {
		d := p.AmountSets[i]
		if d.Count > 0 {
			n.lo[i], n.hi[i] = d.Lo, d.Hi()
		}
		switch {
		case a.Required && d.Count == 0:
			return true
		case a.Required:
			n.uses[i] = used
		case d.Count == 0:
			n.uses[i] = unused
		}
	}
	return !p.mayHold(n, 0)
}

// hasNoReachableValue reports whether divisibility excludes all values within the bounds of the sum s. Let each
// amount x_i be a multiple of g_i, and let f be one of the factors f_i. As Σ x_i = M, the sum Σ f_i·x_i equals
// f·M + Σ (f_i − f)·x_i. So the sum differs from f·M by a multiple of the greatest common divisor of all (f_i −
// f)·g_i.
func (p *prover) hasNoReachableValue(s *provedSum) bool {
	from, unit, first := int64(0), int64(0), true
	for i, d := range p.AmountSets {
		if t := s.termOf(int32(i)); t != nil && (t.PerUse != 0 || t.IsBent()) {
			return false
		}
		if d.Count == 0 {
			continue
		}
		f := s.perUnitOf(int32(i))
		if first {
			from, first = f, false
		}
		multiple := int64(d.Lo)
		if d.Count > 1 {
			multiple = int64(portable.GCD(d.Lo, d.Step))
		}
		unit = portable.GCD(unit, max(f-from, from-f)*multiple)
	}
	at := from * int64(p.Total)
	if unit == 0 {
		return at < s.Min || at > s.Max
	}
	if s.Min == math.MinInt64 || s.Max == math.MaxInt64 {
		return false
	}
	above := ((at-s.Min)%unit + unit) % unit // distance from Min to the least reachable value
	return s.Min+above > s.Max
}

// A useDecision tells what a branch of the proof search assumes about an ingredient: undecided, used or not used.
type useDecision int8

const (
	undecided useDecision = iota // whether the ingredient is used is still open
	used                         // the ingredient is used
	unused                       // the ingredient is not used
)

// mayHold reports whether the branch n may contain a composition that keeps the conditions. The result is also
// true if the search runs out of steps.
func (p *prover) mayHold(n *node, depth int) bool {
	if p.stepsLeft -= len(n.uses) * (1 + len(p.provedSums) + len(p.Dependences) + len(p.Groups)); (p.stepsLeft < 0 || p.ctx.Err() != nil) && depth > 0 {
		return true
	}
	for changed := true; changed; {
		var ok bool
		if changed, ok = p.propagate(n.uses); !ok {
			return false
		}
	}
	if !p.canMeetSums(n) {
		return false
	}
	var amounts []float64
	if len(p.provedSums) > 0 {
		x := p.buildRelaxation(n)
		var impossible bool
		var rules []int
		var work int
		amounts, impossible, rules, work = x.solve(p.ctx)
		if p.stepsLeft -= programStepCost + work/4; impossible {
			if depth == 0 {
				p.blamedRules = rules
			}
			return false
		}
	}
	a, b := p.branch(n, amounts)
	return a == nil || p.mayHold(a, depth+1) || p.mayHold(b, depth+1)
}

// propagate decides, for undecided ingredients, whether the ingredient is used, where a dependence, a group or a
// sum leaves only one possibility. The result changed reports whether propagate made a decision. The result ok is
// false if a condition contradicts the earlier decisions.
func (p *prover) propagate(uses []useDecision) (changed, ok bool) {
	decide := func(of []int, decision useDecision) {
		for _, i := range of {
			if uses[i] == undecided {
				uses[i] = decision
				changed = true
			}
		}
	}
	for _, g := range p.Groups {
		if g.Used == nil {
			continue
		}
		have, may := countMembers(uses, g.Members)
		switch {
		case have > g.Used.Max || have+may < g.Used.Min:
			return changed, false
		case have == g.Used.Max:
			decide(g.Members, unused)
		case have+may == g.Used.Min:
			decide(g.Members, used)
		}
	}
	for _, n := range p.Dependences {
		have, may := countMembers(uses, n.Then)
		switch {
		case have > 0:
		case uses[n.If] == used && may == 0:
			return changed, false
		case uses[n.If] == used && may == 1:
			decide(n.Then, used)
		case may == 0:
			decide([]int{n.If}, unused)
		}
	}
	for k := range p.provedSums {
		fixed, ok := p.provedSums[k].propagate(uses)
		if changed = changed || fixed; !ok {
			return changed, false
		}
	}
	return changed, true
}

// propagate decides, for undecided ingredients, whether the ingredient is used, where the sum leaves only one
// possibility. propagate handles only sums that depend on uses and not on amounts. The result changed reports
// whether propagate made a decision. The result ok is false if the sum cannot be satisfied.
func (p *provedSum) propagate(uses []useDecision) (changed, ok bool) {
	if p.countsAmounts {
		return false, true
	}
	lo, hi := int64(0), int64(0) // range of the sum under the decisions so far
	for k := range p.Terms {
		t := &p.Terms[k]
		switch uses[t.Ingredient] {
		case used:
			lo += t.PerUse + min(t.OffStepAddend, 0)
			hi += t.PerUse + max(t.OffStepAddend, 0)
		case undecided:
			lo += min(t.PerUse+min(t.OffStepAddend, 0), 0)
			hi += max(t.PerUse+max(t.OffStepAddend, 0), 0)
		}
	}
	if lo > p.Max || hi < p.Min {
		return false, false
	}
	for k := range p.Terms {
		t := &p.Terms[k]
		if uses[t.Ingredient] != undecided || t.OffStepAddend != 0 {
			continue
		}
		if lo+max(t.PerUse, 0) > p.Max || hi+min(t.PerUse, 0) < p.Min {
			uses[t.Ingredient], changed = unused, true
		} else if lo-min(t.PerUse, 0) > p.Max || hi-max(t.PerUse, 0) < p.Min {
			uses[t.Ingredient], changed = used, true
		}
	}
	return changed, true
}

// countMembers counts the members that are used (have), and the members that are undecided (may).
func countMembers(uses []useDecision, members []int) (have, may int) {
	for _, i := range members {
		switch uses[i] {
		case used:
			have++
		case undecided:
			may++
		}
	}
	return have, may
}

// canMeetSums looks at each sum of amounts alone, and reports whether each can have a value within its bounds in
// the branch n. The sums are the total, the units of the groups, and the sums of the conditions.
func (p *prover) canMeetSums(n *node) bool {
	uses := n.uses
	have, may := 0, 0
	least, most := 0, 0 // range of the total under the decisions so far
	for i, u := range uses {
		switch u {
		case used:
			have++
			least += n.lo[i]
			most += n.hi[i]
		case undecided:
			may++
			most += n.hi[i]
		}
	}
	fits := slices.ContainsFunc(p.usedCounts, func(size int) bool { return have <= size && size <= have+may })
	if !fits || least > p.Total || most < p.Total {
		return false
	}
	for _, g := range p.Groups {
		if g.Total == nil {
			continue
		}
		in, out := 0, 0 // least and greatest total of the members
		for _, i := range g.Members {
			switch uses[i] {
			case used:
				in += n.lo[i]
				out += n.hi[i]
			case undecided:
				out += n.hi[i]
			}
		}
		in, out = max(in, p.Total-(most-out)), min(out, p.Total-(least-in))
		if in > g.Total.Max || out < g.Total.Min || in > out {
			return false
		}
	}
	for k := range p.provedSums {
		s := &p.provedSums[k]
		if s.Min > math.MinInt64 && p.extremeSum(n, s, 1, p.Total-least) < s.Min || s.Max < math.MaxInt64 && p.extremeSum(n, s, -1, p.Total-least) > s.Max {
			return false
		}
	}
	return true
}

// extremeSum returns an upper bound of the sum s in the branch n (sign 1), or a lower bound (sign −1). First
// every used ingredient gets its least amount. Then the remaining units, free in number, go to the ingredients
// for which a unit changes the sum most. OffStepAddend is counted only if OffStepAddend moves the bound outwards.
func (p *prover) extremeSum(n *node, s *provedSum, sign int64, free int) int64 {
	uses, sum := n.uses, int64(0)
	better := func(v int64) int64 { return sign * max(sign*v, 0) }
	for k := range s.Terms {
		t := &s.Terms[k]
		switch uses[t.Ingredient] {
		case used:
			least := n.lo[t.Ingredient]
			if t.Cap > 0 {
				least = min(least, t.Cap)
			}
			sum += t.PerUse + better(t.OffStepAddend) + t.PerUnit*int64(least)
		case undecided:
			sum += better(t.PerUse) + better(t.OffStepAddend)
		}
	}
	for at := range s.ingredientsByPerUnit { // range of a linear sum
		if sign > 0 {
			at = len(s.ingredientsByPerUnit) - 1 - at
		}
		i := s.ingredientsByPerUnit[at]
		if uses[i] == unused {
			continue
		}
		room, t := n.hi[i], s.termByIngredient[i]
		if t != nil && t.Cap > 0 {
			room = min(room, t.Cap) // units beyond the cap contribute nothing
		}
		if uses[i] == used {
			room -= n.lo[i]
		}
		if room = max(min(room, free), 0); t != nil {
			sum += t.PerUnit * int64(room)
		}
		if free -= room; free == 0 {
			break
		}
	}
	return sum
}

// chooseIngredient returns an undecided ingredient to branch on, or −1 if all ingredients are decided. An
// ingredient in a dependence comes first, then an ingredient in a group, then an ingredient in a sum that depends
// on uses.
func (p *prover) chooseIngredient(uses []useDecision) int {
	for _, n := range p.Dependences {
		if uses[n.If] == undecided {
			return n.If
		}
		if i := firstUndecided(uses, n.Then); i >= 0 {
			return i
		}
	}
	for _, g := range p.Groups {
		if i := firstUndecided(uses, g.Members); i >= 0 {
			return i
		}
	}
	for k := range p.provedSums { // sums that depend on uses are searched even if their bounds are loose
		for _, t := range p.provedSums[k].Terms {
			if t.PerUse != 0 && uses[t.Ingredient] == undecided {
				return t.Ingredient
			}
		}
	}
	return slices.Index(uses, undecided)
}

func firstUndecided(uses []useDecision, of []int) int {
	for _, i := range of {
		if uses[i] == undecided {
			return i
		}
	}
	return -1
}
