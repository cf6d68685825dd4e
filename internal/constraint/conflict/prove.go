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

// A prover proves that no composition keeps some conditions.
//
// The search decides ingredient by ingredient whether it is used, and propagates the consequences. It
// abandons a branch if the bounds of a sum cannot be met: of amounts, of groups or of limits. It also
// abandons a branch if a linear program ([relaxation]) shows that they cannot all be met. If the program's
// amounts are not whole, the search branches on an amount. A branch that is fully decided and within all
// bounds ends the search: a composition may exist, or was found. So "impossible" is a proof, and its
// absence proves nothing.
type prover struct {
	*constraint.Conditions
	ctx         context.Context // when it ends, nothing more is proven
	sums        []provedSum     // sums to satisfy; those with equal terms are merged
	sizes       []int           // permitted numbers of used ingredients
	stepsLeft   int             // steps that the search may still take
	solution    []rule.Part     // composition that keeps the conditions; nil unless the search found one
	blamedRules []int           // rules that the first linear program shows to conflict
}

// A provedSum is a sum with the indices that the proof search needs.
type provedSum struct {
	constraint.Sum
	rules     []int              // rules that the sum comes from
	linear    bool               // whether amounts contribute, not only uses
	terms     []*constraint.Term // term of each ingredient or nil; only if linear
	ascending []int32            // ingredients by ascending PerUnit; only if linear
}

// newProved returns the provedSum of a sum.
func newProved(s constraint.Sum, ingredients int) provedSum {
	p := provedSum{Sum: s, linear: slices.ContainsFunc(s.Terms, func(t constraint.Term) bool { return t.PerUnit != 0 })}
	if !p.linear {
		return p
	}
	p.terms, p.ascending = make([]*constraint.Term, ingredients), make([]int32, ingredients)
	for k := range s.Terms {
		p.terms[s.Terms[k].Ingredient] = &s.Terms[k]
	}
	for i := range p.ascending {
		p.ascending[i] = int32(i)
	}
	slices.SortStableFunc(p.ascending, func(i, j int32) int { return cmp.Compare(p.perUnit(i), p.perUnit(j)) })
	return p
}

// termOf returns the term of an ingredient, or nil.
func (p *provedSum) termOf(i int32) *constraint.Term {
	if p.terms != nil {
		return p.terms[i]
	}
	return p.Term(int(i))
}

func (p *provedSum) perUnit(i int32) int64 {
	if t := p.termOf(i); t != nil {
		return t.PerUnit
	}
	return 0
}

// proofSteps is the greatest length of a proof search, in ingredients examined.
const proofSteps = 20_000_000

// programSteps is the cost of a linear program apart from its pivots, in the same steps.
const programSteps = 10_000

func newProver(ctx context.Context, c *constraint.Conditions, sizes []int) *prover {
	p := &prover{Conditions: c, ctx: ctx, sizes: sizes, stepsLeft: proofSteps}
	at := make(map[string]int) // index of the sum with equal terms, by those terms
	var key []byte
	for k, s := range c.Sums {
		key = key[:0]
		for _, t := range s.Terms {
			for _, v := range [...]int64{int64(t.Ingredient), t.PerUnit, t.PerUse, int64(t.Cap), t.Off, int64(t.First), int64(t.Step)} {
				key = binary.AppendVarint(key, v)
			}
		}
		same, ok := at[string(key)]
		if !ok {
			same = len(p.sums)
			at[string(key)] = same
			p.sums = append(p.sums, newProved(s, len(c.Amounts)))
		}
		t := &p.sums[same]
		t.rules = append(t.rules, c.SumRules[k])
		t.Min, t.Max = max(t.Min, s.Min), min(t.Max, s.Max)
	}
	return p
}

// isImpossible reports whether it is proven that no composition keeps the conditions.
func (p *prover) isImpossible() bool {
	if slices.ContainsFunc(p.sums, func(s provedSum) bool { return s.Min > s.Max || p.hasNoReachableValue(&s) }) {
		return true
	}
	n := &node{make([]use, len(p.Amounts)), make([]int, len(p.Amounts)), make([]int, len(p.Amounts))}
	for i, a := range p.Amounts {
		d := p.AmountSets[i]
		if d.N > 0 {
			n.lo[i], n.hi[i] = d.Lo, d.Hi()
		}
		switch {
		case a.Required && d.N == 0:
			return true
		case a.Required:
			n.uses[i] = used
		case d.N == 0:
			n.uses[i] = unused
		}
	}
	return !p.mayHold(n, 0)
}

// hasNoReachableValue reports whether divisibility excludes all values within a sum's bounds. Let each x_i be a
// multiple of g_i, and f one of the factors. As Σ x_i = M, the sum Σ f_i·x_i is f·M + Σ (f_i − f)·x_i. So it
// differs from f·M by a multiple of the greatest common divisor of all (f_i − f)·g_i.
func (p *prover) hasNoReachableValue(s *provedSum) bool {
	from, unit, first := int64(0), int64(0), true
	for i, d := range p.AmountSets {
		if t := s.termOf(int32(i)); t != nil && (t.PerUse != 0 || t.IsBent()) {
			return false
		}
		if d.N == 0 {
			continue
		}
		f := s.perUnit(int32(i))
		if first {
			from, first = f, false
		}
		multiple := int64(d.Lo)
		if d.N > 1 {
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

// A use is a decision on an ingredient: undecided, used or not used.
type use int8

const (
	undecided use = iota
	used
	unused
)

// mayHold reports whether a branch may contain a composition. It is true if the search runs out of steps.
func (p *prover) mayHold(n *node, depth int) bool {
	if p.stepsLeft -= len(n.uses) * (1 + len(p.sums) + len(p.Needs) + len(p.Groups)); (p.stepsLeft < 0 || p.ctx.Err() != nil) && depth > 0 {
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
	if len(p.sums) > 0 {
		x := p.buildRelaxation(n)
		var impossible bool
		var rules []int
		var work int
		amounts, impossible, rules, work = x.solve(p.ctx)
		if p.stepsLeft -= programSteps + work/4; impossible {
			if depth == 0 {
				p.blamedRules = rules
			}
			return false
		}
	}
	a, b := p.branch(n, amounts)
	return a == nil || p.mayHold(a, depth+1) || p.mayHold(b, depth+1)
}

// propagate decides uses that dependences and groups force. changed reports whether it decided any. ok is false if
// they contradict the earlier decisions.
func (p *prover) propagate(uses []use) (changed, ok bool) {
	decide := func(of []int, decision use) {
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
	for _, n := range p.Needs {
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
	for k := range p.sums {
		fixed, ok := p.sums[k].propagate(uses)
		if changed = changed || fixed; !ok {
			return changed, false
		}
	}
	return changed, true
}

// propagate decides uses that a sum over uses forces. changed reports whether it decided any. ok is false if the sum
// cannot be satisfied.
func (p *provedSum) propagate(uses []use) (changed, ok bool) {
	if p.linear {
		return false, true
	}
	lo, hi := int64(0), int64(0) // range of the sum under the decisions so far
	for k := range p.Terms {
		t := &p.Terms[k]
		switch uses[t.Ingredient] {
		case used:
			lo += t.PerUse + min(t.Off, 0)
			hi += t.PerUse + max(t.Off, 0)
		case undecided:
			lo += min(t.PerUse+min(t.Off, 0), 0)
			hi += max(t.PerUse+max(t.Off, 0), 0)
		}
	}
	if lo > p.Max || hi < p.Min {
		return false, false
	}
	for k := range p.Terms {
		t := &p.Terms[k]
		if uses[t.Ingredient] != undecided || t.Off != 0 {
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

// countMembers counts the members that are used, and those that are undecided.
func countMembers(uses []use, members []int) (have, may int) {
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

// canMeetSums reports whether the reachable ranges of all sums of amounts overlap their bounds.
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
	fits := slices.ContainsFunc(p.sizes, func(size int) bool { return have <= size && size <= have+may })
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
	for k := range p.sums {
		s := &p.sums[k]
		if s.Min > math.MinInt64 && p.extreme(n, s, 1, p.Total-least) < s.Min || s.Max < math.MaxInt64 && p.extreme(n, s, -1, p.Total-least) > s.Max {
			return false
		}
	}
	return true
}

// extreme returns an upper bound of a sum (sign 1), or a lower bound (sign −1). It assumes that all used
// ingredients have at least their least amounts, and that the free units go where they change the sum most.
// Off is counted only where it helps.
func (p *prover) extreme(n *node, s *provedSum, sign int64, free int) int64 {
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
			sum += t.PerUse + better(t.Off) + t.PerUnit*int64(least)
		case undecided:
			sum += better(t.PerUse) + better(t.Off)
		}
	}
	for at := range s.ascending { // range of a linear sum
		if sign > 0 {
			at = len(s.ascending) - 1 - at
		}
		i := s.ascending[at]
		if uses[i] == unused {
			continue
		}
		room, t := n.hi[i], s.terms[i]
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

// chooseIngredient returns an undecided ingredient, or −1. It prefers one in a dependence, a group or a sum
// over uses.
func (p *prover) chooseIngredient(uses []use) int {
	for _, n := range p.Needs {
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
	for k := range p.sums { // sums that depend on uses count even if their bounds are loose
		for _, t := range p.sums[k].Terms {
			if t.PerUse != 0 && uses[t.Ingredient] == undecided {
				return t.Ingredient
			}
		}
	}
	return slices.Index(uses, undecided)
}

func firstUndecided(uses []use, of []int) int {
	for _, i := range of {
		if uses[i] == undecided {
			return i
		}
	}
	return -1
}
