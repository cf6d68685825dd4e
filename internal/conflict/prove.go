package conflict

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"kir/internal/condition"
	"kir/rule"
)

// A prover shows of conditions that no composition keeps them.
//
// It decides ingredient by ingredient whether it is used, follows what that
// means for others, and gives a branch up where sums of bounds cannot be met: of
// amounts, of groups, of what is limited; or where all of them together cannot,
// by linear programming ([relaxation]). Where amounts would have to be broken
// numbers, they are decided to be less or more. A branch in which all is decided
// and nothing is out of bounds ends the search: there may be a composition, or it
// has been found. So what it says cannot be, cannot be; what it does not, may.
type prover struct {
	*condition.Conditions
	ctx         context.Context // once it has ended, nothing more is proven
	sums        []provedSum     // with those of the same terms put together
	sizes       []int           // the numbers of ingredients that are asked for
	stepsLeft   int             // left of the search
	solution    []rule.Part     // a composition that keeps the conditions, if it met one
	blamedRules []int           // rules that the first linear program shows to be impossible
}

// A provedSum is a sum as the search sees it.
type provedSum struct {
	condition.Sum
	rules     []int             // that say it
	linear    bool              // units add something, and not only what is used
	terms     []*condition.Term // if so, by ingredient
	ascending []int32           // and the ingredients by what a unit adds
}

// newProved prepares a sum.
func newProved(s condition.Sum, ingredients int) provedSum {
	p := provedSum{Sum: s, linear: slices.ContainsFunc(s.Terms, func(t condition.Term) bool { return t.PerUnit != 0 })}
	if !p.linear {
		return p
	}
	p.terms, p.ascending = make([]*condition.Term, ingredients), make([]int32, ingredients)
	for k := range s.Terms {
		p.terms[s.Terms[k].Ingredient] = &s.Terms[k]
	}
	for i := range p.ascending {
		p.ascending[i] = int32(i)
	}
	slices.SortStableFunc(p.ascending, func(i, j int32) int { return cmp.Compare(p.perUnit(i), p.perUnit(j)) })
	return p
}

// termOf returns the term of an ingredient, nil if there is none.
func (p *provedSum) termOf(i int32) *condition.Term {
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

// proofSteps bounds a search, in ingredients looked at.
const proofSteps = 20_000_000

// programSteps is what a linear program costs besides its pivots.
const programSteps = 10_000

func newProver(ctx context.Context, c *condition.Conditions, sizes []int) *prover {
	p := &prover{Conditions: c, ctx: ctx, sizes: sizes, stepsLeft: proofSteps}
	at := make(map[string]int) // the sum of the same terms
	var key []byte
	for k, s := range c.Sums {
		key = key[:0]
		for _, t := range s.Terms {
			for _, v := range [...]int64{int64(t.Ingredient), t.PerUnit, t.Whole, int64(t.Cap), t.Off, int64(t.First), int64(t.Step)} {
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

// isImpossible says whether it is proven that no composition keeps the conditions.
func (p *prover) isImpossible() bool {
	if slices.ContainsFunc(p.sums, func(s provedSum) bool { return s.Min > s.Max || p.hasNoReachableValue(&s) }) {
		return true
	}
	n := &node{make([]use, len(p.Amounts)), make([]int, len(p.Amounts)), make([]int, len(p.Amounts))}
	for i, a := range p.Amounts {
		d := p.Doses[i]
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

// hasNoReachableValue says whether no number that a sum can be is within its bounds: with the
// amounts that are all multiples of what lo and step have in common, and together
// the total, Σ f_i·x_i is f·M and multiples of the greatest common divisor of all
// (f_i − f) times those.
func (p *prover) hasNoReachableValue(s *provedSum) bool {
	from, unit, first := int64(0), int64(0), true
	for i, d := range p.Doses {
		if t := s.termOf(int32(i)); t != nil && (t.Whole != 0 || t.IsBent()) {
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
			multiple = int64(condition.GCD(d.Lo, d.Step))
		}
		unit = int64(condition.GCD(int(unit), int(max(f-from, from-f)*multiple)))
	}
	at := from * int64(p.Total)
	if unit == 0 {
		return at < s.Min || at > s.Max
	}
	if s.Min == math.MinInt64 || s.Max == math.MaxInt64 {
		return false
	}
	above := ((at-s.Min)%unit + unit) % unit // of the least that is not below Min
	return s.Min+above > s.Max
}

// A use is what is decided of an ingredient.
type use int8

const (
	undecided use = iota
	used
	unused
)

// mayHold says whether there may be a composition in a branch. It is the answer if
// the search takes too long.
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

// propagate decides what needs and groups leave no choice about. ok is false if
// they cannot be met.
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

// propagate decides what a sum over what is used leaves no choice about.
func (p *provedSum) propagate(uses []use) (changed, ok bool) {
	if p.linear {
		return false, true
	}
	lo, hi := int64(0), int64(0) // what it can come to
	for k := range p.Terms {
		t := &p.Terms[k]
		switch uses[t.Ingredient] {
		case used:
			lo += t.Whole + min(t.Off, 0)
			hi += t.Whole + max(t.Off, 0)
		case undecided:
			lo += min(t.Whole+min(t.Off, 0), 0)
			hi += max(t.Whole+max(t.Off, 0), 0)
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
		if lo+max(t.Whole, 0) > p.Max || hi+min(t.Whole, 0) < p.Min {
			uses[t.Ingredient], changed = unused, true
		} else if lo-min(t.Whole, 0) > p.Max || hi-max(t.Whole, 0) < p.Min {
			uses[t.Ingredient], changed = used, true
		}
	}
	return changed, true
}

// countMembers counts the members that are used and those that may be.
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

// canMeetSums says whether what sums of amounts can be reaches what they must be.
func (p *prover) canMeetSums(n *node) bool {
	uses := n.uses
	have, may := 0, 0
	least, most := 0, 0 // of the total
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
		in, out := 0, 0 // least and most of the members
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

// extreme returns no less than the greatest that a sum can be, or with sign −1 no
// more than the least, if all used ingredients have at least their least amounts,
// and the free units go where they do most. A step may fall as it wants.
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
			sum += t.Whole + better(t.Off) + t.PerUnit*int64(least)
		case undecided:
			sum += better(t.Whole) + better(t.Off)
		}
	}
	for at := range s.ascending { // of a sum that units add to
		if sign > 0 {
			at = len(s.ascending) - 1 - at
		}
		i := s.ascending[at]
		if uses[i] == unused {
			continue
		}
		room, t := n.hi[i], s.terms[i]
		if t != nil && t.Cap > 0 {
			room = min(room, t.Cap) // and beyond it as good as elsewhere
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

// chooseIngredient returns an undecided ingredient, of a need, a group or a sum over what is
// used if there is one, or −1.
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
	for k := range p.sums { // what is slack or not by what is used
		for _, t := range p.sums[k].Terms {
			if t.Whole != 0 && uses[t.Ingredient] == undecided {
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
