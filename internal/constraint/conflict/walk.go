package conflict

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/constraint"
	"kir/internal/portable"
	"kir/rule"
)

// A walk searches for a composition that keeps some conditions, in a space too large to enumerate. It makes
// random moves that do not increase the violation, and occasionally one that does. [Conditions.Keeps]
// checks the result. Finding nothing proves nothing. Every run makes the same moves.
type walk struct {
	*constraint.Conditions
	sizes         []int
	usable        []int
	scale         []float64 // for each sum: the violation that weighs as much as one wrong use of an ingredient
	random        *rand.Rand
	parts         []rule.Part
	previousParts []rule.Part // parts before the latest move, to undo it
	work          float64

	state                *constraint.ConstraintState // state of the conditions; without parts except during evaluation
	seenGroups, seenSums []int                       // number of the evaluation in which each group or sum was last seen
	round                int
}

// walkSteps is the number of moves of a walk from one start, and walkStarts the number of starts.
const (
	walkSteps  = 20_000
	walkStarts = 4
	walkBudget = 1e9 // work from one start, in steps of about 10⁻⁹ s
)

func newWalk(c *constraint.Conditions, sizes []int) *walk {
	w := &walk{
		Conditions: c, sizes: sizes, random: rand.New(rand.NewPCG(1, 2)),
		state: constraint.NewConstraintState(c), seenGroups: make([]int, len(c.Groups)), seenSums: make([]int, len(c.Sums)),
	}
	for i, d := range c.AmountSets {
		if d.N > 0 {
			w.usable = append(w.usable, i)
		}
	}
	for _, s := range c.Sums {
		top := 0.0
		for _, t := range s.Terms {
			top = max(top, math.Abs(float64(t.PerUnit)))
		}
		if top == 0 { // a sum that counts used ingredients, with violations of a few units at most
			top = 4 / float64(c.Total)
		}
		w.scale = append(w.scale, 4/(float64(top*float64(c.Total))+1))
	}
	return w
}

// findComposition reports whether the walk found a composition that keeps all conditions.
func (w *walk) findComposition(ctx context.Context) bool {
	if len(w.usable) == 0 || len(w.sizes) == 0 {
		return false
	}
	conditions := len(w.IdleGroups) + len(w.IdleSums)
	for _, i := range w.usable {
		conditions += len(w.GroupsOf[i]) + len(w.SumsOf[i]) + len(w.NeedsOf[i])
	}
	mean := 1 + float64(conditions)/float64(len(w.usable))          // mean number of conditions per ingredient
	cost := float64(40 * mean * float64(1+w.sizes[len(w.sizes)-1])) // work of one step
	steps := min(walkSteps, int(walkBudget/cost))
	for start := range walkStarts {
		w.start(w.sizes[start*(len(w.sizes)-1)/walkStarts])
		broken := w.violation()
		for step := 0; broken > 0 && step < steps; step++ {
			if step%256 == 0 && browsersched.Err(ctx) != nil {
				return false
			}
			w.work += cost
			w.previousParts = append(w.previousParts[:0], w.parts...)
			w.move()
			after := w.violation()
			heat := float64(0.05 * (1 - float64(step)/float64(steps)))
			if after <= broken || w.random.Float64() < portable.Exp((broken-after)/(heat+1e-9)) {
				broken = after
			} else {
				w.parts, w.previousParts = w.previousParts, w.parts
			}
		}
		if broken == 0 && w.Keeps(w.parts) {
			return true
		}
	}
	return false
}

// start begins with the required ingredients and random others, size in all, at their least amounts. It gives the
// remaining units to one of them.
func (w *walk) start(size int) {
	w.parts = w.parts[:0]
	var free []int
	for _, i := range w.usable {
		if w.Amounts[i].Required {
			w.parts = append(w.parts, rule.Part{Ingredient: i, Amount: w.AmountSets[i].Lo})
		} else {
			free = append(free, i)
		}
	}
	w.random.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
	for _, i := range free[:max(0, min(size-len(w.parts), len(free)))] {
		w.parts = append(w.parts, rule.Part{Ingredient: i, Amount: w.AmountSets[i].Lo})
	}
	left := w.Total
	for k := range w.parts {
		w.parts[k].Amount = min(w.parts[k].Amount, max(left-(len(w.parts)-1-k), 0))
		left -= w.parts[k].Amount
	}
	w.parts = slices.DeleteFunc(w.parts, func(p rule.Part) bool { return p.Amount == 0 })
	w.parts[0].Amount += left
}

// move changes the parts at random. It moves units between two ingredients, replaces an ingredient by
// another, splits one into two or merges two.
func (w *walk) move() {
	r := w.random
	a := r.IntN(len(w.parts))
	units := func(most int) int { // prefers small numbers of units
		if r.IntN(2) == 0 {
			return 1 + r.IntN(min(most, w.AmountSets[w.parts[a].Ingredient].Step))
		}
		return 1 + r.IntN(most)
	}
	other := w.usable[r.IntN(len(w.usable))]
	b := slices.IndexFunc(w.parts, func(p rule.Part) bool { return p.Ingredient == other })
	kind := r.IntN(6)
	if b < 0 && kind < 3 && len(w.parts) > 1 { // prefer ingredients that are in use
		if b = r.IntN(len(w.parts) - 1); b >= a {
			b++
		}
	}
	switch {
	case a == b:
	case b >= 0 && kind == 5:
		w.parts[b].Amount += w.parts[a].Amount
		w.parts = slices.Delete(w.parts, a, a+1)
	case b >= 0 && w.parts[a].Amount > 1:
		n := units(w.parts[a].Amount - 1)
		w.parts[a].Amount -= n
		w.parts[b].Amount += n
	case b < 0 && kind == 5 && w.parts[a].Amount > 1:
		n := units(w.parts[a].Amount - 1)
		w.parts[a].Amount -= n
		w.parts = append(w.parts, rule.Part{Ingredient: other, Amount: n})
	case b < 0:
		w.parts[a].Ingredient = other
	}
}

// violation returns the total violation of the conditions, which is 0 if all hold.
func (w *walk) violation() float64 {
	total, missing := float64(w.Total), w.Required
	out := 0.0
	for _, p := range w.parts {
		if w.Amounts[p.Ingredient].Required {
			missing--
		}
		if d := w.AmountSets[p.Ingredient]; p.Amount < d.Lo {
			out += 0.1 + float64(d.Lo-p.Amount)/total
		} else if p.Amount > d.Hi() {
			out += 0.1 + float64(p.Amount-d.Hi())/total
		} else if (p.Amount-d.Lo)%d.Step != 0 {
			out += 0.1
		}
	}
	out += float64(missing)
	near := math.MaxInt
	for _, n := range w.sizes {
		near = min(near, max(n-len(w.parts), len(w.parts)-n))
	}
	out += float64(near)
	for _, p := range w.parts {
		w.state.Add(p)
	}
	w.round++
	group := func(g int32) {
		if w.seenGroups[g] == w.round {
			return
		}
		w.seenGroups[g] = w.round
		if u := w.Groups[g].Used; u != nil {
			out += float64(max(u.Min-w.state.Used[g], w.state.Used[g]-u.Max, 0))
		}
		if t := w.Groups[g].Total; t != nil {
			out += 4 * float64(max(t.Min-w.state.Totals[g], w.state.Totals[g]-t.Max, 0)) / total
		}
	}
	sum := func(k int32) {
		if w.seenSums[k] == w.round {
			return
		}
		w.seenSums[k] = w.round
		switch s, v := &w.Sums[k], w.state.SumValues[k]; {
		case v < s.Min:
			out += 1e-6 + float64(w.scale[k]*(float64(s.Min)-float64(v)))
		case v > s.Max:
			out += 1e-6 + float64(w.scale[k]*(float64(v)-float64(s.Max)))
		}
	}
	visitAll(w.IdleGroups, group)
	visitAll(w.IdleSums, sum)
	for _, p := range w.parts {
		visitAll(w.GroupsOf[p.Ingredient], group)
		visitAll(w.SumsOf[p.Ingredient], sum)
		for _, k := range w.NeedsOf[p.Ingredient] {
			if !w.Needs[k].IsMet(func(i int) bool { return w.state.IsUsed[i] }) {
				out++
			}
		}
	}
	for _, p := range w.parts {
		w.state.Remove(p)
	}
	return out
}

// visitAll calls visit with each condition of a list.
func visitAll(of []int32, visit func(int32)) {
	for _, k := range of {
		visit(k)
	}
}
