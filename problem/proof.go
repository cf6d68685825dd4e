package problem

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/count"
	"kir/fault"
)

// A prover shows of rules that no composition keeps them, also of those that
// cannot be counted: groups that cross, needs and limits.
//
// It decides ingredient by ingredient whether it is used, follows what that
// means for others, and gives a branch up where sums of bounds cannot be met: of
// amounts, of groups, of what is limited. A branch in which all is decided and
// nothing is out of bounds ends the search: there may be a composition. So what
// it says cannot be, cannot be; what it does not, may.
type prover struct {
	ingredients, total int
	sizes              []int // the numbers of ingredients that are asked for, rising
	steps              int   // left of the search
}

// proofSteps bounds a search, in ingredients looked at.
const proofSteps = 20_000_000

// A question is rules in the form in which they are looked at.
type question struct {
	*prover
	amounts []count.Ingredient
	groups  []count.Group
	rules   []*rule // needs and limits
	lo, hi  []int   // amounts when used
}

// impossible says whether it is proven that no composition keeps the rules.
func (p *prover) impossible(rules []*rule, sizes []int) bool {
	set := count.Ruleset{Ingredients: p.ingredients, Total: p.total}
	q := question{prover: p}
	for _, r := range rules {
		if r.counted != nil {
			set.Rules = append(set.Rules, *r.counted)
		} else {
			q.rules = append(q.rules, r)
		}
	}
	space, err := set.Space()
	if err != nil {
		return false
	}
	q.amounts, q.groups = space.Ingredients, space.Groups
	q.lo, q.hi = make([]int, p.ingredients), make([]int, p.ingredients)
	use := make([]int8, p.ingredients)
	for i, a := range q.amounts {
		q.lo[i], q.hi[i] = a.Min, a.Max // which a Ruleset's space has written out
		switch {
		case a.Required && a.Excluded:
			return true
		case a.Required:
			use[i] = used
		case a.Excluded:
			use[i] = unused
		}
	}
	p.steps = proofSteps
	return !q.open(use, sizes)
}

// What is decided of an ingredient.
const (
	undecided int8 = iota
	used
	unused
)

// open says whether there may be a composition in which ingredients are used as
// decided. It is the answer if the search takes too long.
func (q *question) open(use []int8, sizes []int) bool {
	if q.steps -= len(use) * (1 + len(q.rules) + len(q.groups)); q.steps < 0 {
		return true
	}
	for changed := true; changed; {
		var ok bool
		if changed, ok = q.follow(use); !ok {
			return false
		}
	}
	if !q.within(use, sizes) {
		return false
	}
	i := q.choose(use)
	if i < 0 {
		return true
	}
	for _, decision := range []int8{unused, used} {
		next := slices.Clone(use)
		next[i] = decision
		if q.open(next, sizes) {
			return true
		}
	}
	return false
}

// follow decides what needs and groups leave no choice about. ok is false if
// they cannot be met.
func (q *question) follow(use []int8) (changed, ok bool) {
	decide := func(of []int, decision int8) {
		for _, i := range of {
			if use[i] == undecided {
				use[i] = decision
				changed = true
			}
		}
	}
	for _, g := range q.groups {
		if g.Used == nil {
			continue
		}
		have, may := tally(use, g.Members)
		switch {
		case have > g.Used.Max || have+may < g.Used.Min:
			return changed, false
		case have == g.Used.Max:
			decide(g.Members, unused)
		case have+may == g.Used.Min:
			decide(g.Members, used)
		}
	}
	for _, r := range q.rules {
		if r.need == nil {
			continue
		}
		have, may := tally(use, r.need.Then)
		switch {
		case have > 0:
		case use[r.need.If] == used && may == 0:
			return changed, false
		case use[r.need.If] == used && may == 1:
			decide(r.need.Then, used)
		case may == 0:
			decide([]int{r.need.If}, unused)
		}
	}
	return changed, true
}

// tally counts the members that are used and those that may be.
func tally(use []int8, members []int) (have, may int) {
	for _, i := range members {
		switch use[i] {
		case used:
			have++
		case undecided:
			may++
		}
	}
	return have, may
}

// within says whether what sums of amounts can be reaches what they must be.
func (q *question) within(use []int8, sizes []int) bool {
	have, may := 0, 0
	least, most := 0, 0 // of the total
	for i, u := range use {
		switch u {
		case used:
			have++
			least += q.lo[i]
			most += q.hi[i]
		case undecided:
			may++
			most += q.hi[i]
		}
	}
	fits := slices.ContainsFunc(sizes, func(n int) bool { return have <= n && n <= have+may })
	if !fits || least > q.total || most < q.total {
		return false
	}
	for _, g := range q.groups {
		if g.Total == nil {
			continue
		}
		in, out := 0, 0 // least and most of the members
		for _, i := range g.Members {
			switch use[i] {
			case used:
				in += q.lo[i]
				out += q.hi[i]
			case undecided:
				out += q.hi[i]
			}
		}
		in, out = max(in, q.total-(most-out)), min(out, q.total-(least-in))
		if in > g.Total.Max || out < g.Total.Min || in > out {
			return false
		}
	}
	for _, r := range q.rules {
		if r.limit == nil {
			continue
		}
		scale := 0.0
		for _, f := range r.limit.Factors {
			scale = max(scale, math.Abs(f))
		}
		rounding := 1e-9 * (1 + scale)
		if q.extreme(use, r.limit.Factors, 1, q.total-least) < r.limit.Min-rounding ||
			q.extreme(use, r.limit.Factors, -1, q.total-least) > r.limit.Max+rounding {
			return false
		}
	}
	return true
}

// extreme returns the greatest mean of a factor, or with sign −1 the least, if
// all used ingredients have at least their least amounts, and the free units go
// where they do most.
func (q *question) extreme(use []int8, factors []float64, sign float64, free int) float64 {
	sum := 0.0
	var order []int
	for i, u := range use {
		if u == used {
			sum += factors[i] * float64(q.lo[i])
		}
		if u != unused {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(sign*factors[j], sign*factors[i])
	})
	for _, i := range order {
		room := q.hi[i]
		if use[i] == used {
			room -= q.lo[i]
		}
		room = min(room, free)
		sum += factors[i] * float64(room)
		if free -= room; free == 0 {
			break
		}
	}
	return sum / float64(q.total)
}

// choose returns an undecided ingredient, of a group or a need if there is one,
// or −1.
func (q *question) choose(use []int8) int {
	for _, r := range q.rules {
		if r.need != nil {
			for _, i := range append([]int{r.need.If}, r.need.Then...) {
				if use[i] == undecided {
					return i
				}
			}
		}
	}
	for _, g := range q.groups {
		for _, i := range g.Members {
			if use[i] == undecided {
				return i
			}
		}
	}
	return slices.Index(use, undecided)
}

// mostProofs is how many sets of rules are looked at in search of a smallest
// one.
const mostProofs = 2000

// contradiction returns a set of rules of which it is proven that no composition
// keeps them all, and any fewer of which are not proven to be so; none if there
// is none. law says that they might hold with other numbers of ingredients.
func (p *prover) contradiction(rules []*rule) (core []*rule, law bool) {
	if !p.impossible(rules, p.sizes) {
		return nil, false
	}
	all := make([]int, min(p.ingredients, p.total))
	for k := range all {
		all[k] = k + 1
	}
	law = !p.impossible(rules, all)
	sizes := all
	if law {
		sizes = p.sizes
	}
	proofs := 0
	for size := 1; size < len(rules); size++ {
		if found := p.ofSize(rules, size, nil, sizes, &proofs); found != nil {
			return found, law
		} else if proofs > mostProofs {
			break
		}
	}
	core = slices.Clone(rules)
	for k := len(core) - 1; k >= 0; k-- {
		if less := slices.Delete(slices.Clone(core), k, k+1); p.impossible(less, sizes) {
			core = less
		}
	}
	return core, law
}

// ofSize returns a set of so many of the rules that cannot hold, beside chosen.
func (p *prover) ofSize(rules []*rule, size int, chosen []*rule, sizes []int, proofs *int) []*rule {
	if size == 0 {
		if *proofs++; *proofs <= mostProofs && p.impossible(chosen, sizes) {
			return slices.Clone(chosen)
		}
		return nil
	}
	for k := 0; k+size <= len(rules) && *proofs <= mostProofs; k++ {
		if found := p.ofSize(rules[k+1:], size-1, append(chosen, rules[k]), sizes, proofs); found != nil {
			return found
		}
	}
	return nil
}

// explain says what is wrong with rules that cannot hold together, and what
// would free them.
func (p *prover) explain(core []*rule, law bool, at *node) error {
	names, lines := make([]string, len(core)), make([]string, len(core))
	for k, r := range core {
		names[k], lines[k] = fault.Quote(r.text), fmt.Sprintf("line %d", r.at.line)
	}
	message := "the rules cannot all hold: no composition keeps " + inWords(names, " and ")
	if len(core) > 1 {
		message += " together"
	}
	if law {
		message += " with a number of ingredients that the sparsity allows"
		lines = append(lines, fmt.Sprintf("the sparsity on line %d", at.line))
	}
	if len(lines) > 1 {
		message += " (" + strings.Join(lines, ", ") + ")"
	}
	sizes := p.sizes
	var ways []string
	for k, r := range core {
		if r.limit != nil {
			if way := p.loosen(core, k, sizes); way != "" {
				ways = append(ways, way)
			}
		}
	}
	switch {
	case len(core) > 1:
		ways = append(ways, "drop one of them")
	default:
		ways = append(ways, "drop it")
	}
	if law {
		ways = append(ways, "allow other numbers of ingredients")
	}
	return hint(core[0].at.errorf("%s", message), "%s", inWords(ways, " or "))
}

// loosen returns by how much the bounds of a limit, one of the rules, would have
// to give way; nothing if that alone does not help.
func (p *prover) loosen(core []*rule, k int, sizes []int) string {
	was := *core[k].limit
	try := func(lo, hi float64) bool {
		limit, r := was, *core[k]
		limit.Min, limit.Max = lo, hi
		r.limit = &limit
		changed := slices.Clone(core)
		changed[k] = &r
		return !p.impossible(changed, sizes)
	}
	least, most := slices.Min(was.Factors), slices.Max(was.Factors)
	for _, b := range []struct {
		name, verb string
		from, to   float64
		with       func(v float64) bool
		round      func(float64) float64
	}{
		{"min", "lower", was.Min, least, func(v float64) bool { return try(v, was.Max) }, math.Floor},
		{"max", "raise", was.Max, most, func(v float64) bool { return try(was.Min, v) }, math.Ceil},
	} {
		if math.IsInf(b.from, 0) || !b.with(b.to) {
			continue
		}
		bad, good := b.from, b.to
		for range 60 {
			if middle := bad + (good-bad)/2; b.with(middle) {
				good = middle
			} else {
				bad = middle
			}
		}
		// To as many decimals as tell the two ends of the way apart.
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(b.from-b.to)))-3)
		rounded := b.round(good/unit+math.Copysign(1e-6, b.from-b.to)) * unit
		if !b.with(rounded) {
			rounded = good
		}
		return fmt.Sprintf("%s the %s of %s from %v to %s", b.verb, b.name, fault.Quote(core[k].text), b.from, strconv.FormatFloat(rounded, 'g', 6, 64))
	}
	return ""
}

// inWords joins texts as "a, b and c".
func inWords(texts []string, last string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + last + texts[len(texts)-1]
}
