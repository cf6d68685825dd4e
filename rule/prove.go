package rule

import (
	"cmp"
	"math"
	"slices"
)

// A prover shows of conditions that no composition keeps them.
//
// It decides ingredient by ingredient whether it is used, follows what that
// means for others, and gives a branch up where sums of bounds cannot be met: of
// amounts, of groups, of what is limited. A branch in which all is decided and
// nothing is out of bounds ends the search: there may be a composition. So what
// it says cannot be, cannot be; what it does not, may.
type prover struct {
	*Conditions
	sums   []proved // with those of the same terms put together
	sizes  []int    // the numbers of ingredients that are asked for
	lo, hi []int    // amounts when used
	steps  int      // left of the search
}

// A proved is a sum as the search sees it.
type proved struct {
	Sum
	terms  []*Term // by ingredient
	rising []int32 // the ingredients by what a unit adds
	linear bool    // units add something, and not only what is used
}

// newProved prepares a sum.
func newProved(s Sum, ingredients int) proved {
	p := proved{Sum: s, terms: make([]*Term, ingredients), rising: make([]int32, ingredients)}
	for k := range s.Terms {
		t := &s.Terms[k]
		p.terms[t.Ingredient] = t
		p.linear = p.linear || t.PerUnit != 0
	}
	for i := range p.rising {
		p.rising[i] = int32(i)
	}
	slices.SortStableFunc(p.rising, func(i, j int32) int { return cmp.Compare(p.perUnit(i), p.perUnit(j)) })
	return p
}

func (p *proved) perUnit(i int32) int64 {
	if t := p.terms[i]; t != nil {
		return t.PerUnit
	}
	return 0
}

// proofSteps bounds a search, in ingredients looked at.
const proofSteps = 20_000_000

func newProver(c *Conditions, sizes []int) *prover {
	p := &prover{Conditions: c, sizes: sizes, lo: make([]int, len(c.Amounts)), hi: make([]int, len(c.Amounts)), steps: proofSteps}
	for i, d := range c.doses {
		if d.n > 0 {
			p.lo[i], p.hi[i] = d.lo, d.hi()
		}
	}
	for _, s := range c.Sums {
		same := slices.IndexFunc(p.sums, func(t proved) bool { return slices.Equal(s.Terms, t.Terms) })
		if same < 0 {
			p.sums = append(p.sums, newProved(s, len(c.Amounts)))
			continue
		}
		t := &p.sums[same]
		t.Min, t.Max = max(t.Min, s.Min), min(t.Max, s.Max)
	}
	return p
}

// impossible says whether it is proven that no composition keeps the conditions.
func (p *prover) impossible() bool {
	if slices.ContainsFunc(p.sums, func(s proved) bool { return s.Min > s.Max }) {
		return true
	}
	uses := make([]use, len(p.Amounts))
	for i, a := range p.Amounts {
		free := p.hi[i] > 0
		switch {
		case a.Required && !free:
			return true
		case a.Required:
			uses[i] = used
		case !free:
			uses[i] = unused
		}
	}
	return !p.open(uses)
}

// A use is what is decided of an ingredient.
type use int8

const (
	undecided use = iota
	used
	unused
)

// open says whether there may be a composition in which ingredients are used as
// decided. It is the answer if the search takes too long.
func (p *prover) open(uses []use) bool {
	if p.steps -= len(uses) * (1 + len(p.sums) + len(p.Needs) + len(p.Groups)); p.steps < 0 {
		return true
	}
	for changed := true; changed; {
		var ok bool
		if changed, ok = p.follow(uses); !ok {
			return false
		}
	}
	if !p.within(uses) {
		return false
	}
	i := p.choose(uses)
	if i < 0 {
		return true
	}
	for _, decision := range []use{unused, used} {
		next := slices.Clone(uses)
		next[i] = decision
		if p.open(next) {
			return true
		}
	}
	return false
}

// follow decides what needs and groups leave no choice about. ok is false if
// they cannot be met.
func (p *prover) follow(uses []use) (changed, ok bool) {
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
		have, may := haveOf(uses, g.Members)
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
		have, may := haveOf(uses, n.Then)
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
		fixed, ok := p.sums[k].follow(uses)
		if changed = changed || fixed; !ok {
			return changed, false
		}
	}
	return changed, true
}

// follow decides what a sum over what is used leaves no choice about.
func (p *proved) follow(uses []use) (changed, ok bool) {
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

// haveOf counts the members that are used and those that may be.
func haveOf(uses []use, members []int) (have, may int) {
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

// within says whether what sums of amounts can be reaches what they must be.
func (p *prover) within(uses []use) bool {
	have, may := 0, 0
	least, most := 0, 0 // of the total
	for i, u := range uses {
		switch u {
		case used:
			have++
			least += p.lo[i]
			most += p.hi[i]
		case undecided:
			may++
			most += p.hi[i]
		}
	}
	fits := slices.ContainsFunc(p.sizes, func(n int) bool { return have <= n && n <= have+may })
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
				in += p.lo[i]
				out += p.hi[i]
			case undecided:
				out += p.hi[i]
			}
		}
		in, out = max(in, p.Total-(most-out)), min(out, p.Total-(least-in))
		if in > g.Total.Max || out < g.Total.Min || in > out {
			return false
		}
	}
	for k := range p.sums {
		s := &p.sums[k]
		if s.Min > math.MinInt64 && p.extreme(uses, s, 1, p.Total-least) < s.Min || s.Max < math.MaxInt64 && p.extreme(uses, s, -1, p.Total-least) > s.Max {
			return false
		}
	}
	return true
}

// extreme returns no less than the greatest that a sum can be, or with sign −1 no
// more than the least, if all used ingredients have at least their least amounts,
// and the free units go where they do most. A step may fall as it wants.
func (p *prover) extreme(uses []use, s *proved, sign int64, free int) int64 {
	sum := int64(0)
	better := func(v int64) int64 { return sign * max(sign*v, 0) }
	for k := range s.Terms {
		t := &s.Terms[k]
		switch uses[t.Ingredient] {
		case used:
			least := p.lo[t.Ingredient]
			if t.Cap > 0 {
				least = min(least, t.Cap)
			}
			sum += t.Whole + better(t.Off) + t.PerUnit*int64(least)
		case undecided:
			sum += better(t.Whole) + better(t.Off)
		}
	}
	for at := range s.rising {
		if sign > 0 {
			at = len(s.rising) - 1 - at
		}
		i := s.rising[at]
		if uses[i] == unused {
			continue
		}
		room, t := p.hi[i], s.terms[i]
		if t != nil && t.Cap > 0 {
			room = min(room, t.Cap) // and beyond it as good as elsewhere
		}
		if uses[i] == used {
			room -= p.lo[i]
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

// choose returns an undecided ingredient, of a need, a group or a sum over what is
// used if there is one, or −1.
func (p *prover) choose(uses []use) int {
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
