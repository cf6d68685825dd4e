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

// A walk searches for a composition that keeps a set of conditions, in a space too large to enumerate. The walk
// makes random moves that do not increase the violation, and occasionally a move that increases the violation.
// [constraint.Conditions.AreKeptBy] checks the result. A walk that finds no composition proves nothing. The random
// numbers of a walk are fixed, so every run makes the same moves.
type walk struct {
	*constraint.Conditions
	usedCounts        []int     // permitted numbers of used ingredients
	usableIngredients []int     // indices of the ingredients that may be used
	violationWeights  []float64 // item k is the penalty for each unit by which the sum with index k violates a bound; the penalty for using or not using an ingredient against a rule is 1
	random            *rand.Rand
	parts             []rule.Part // present composition of the random walk
	previousParts     []rule.Part // parts before the latest move, to undo the move
	work              float64     // estimated time so far, in nanoseconds

	state                      *constraint.ConstraintState // values of groups and sums; has parts only during the evaluation of a composition
	groupLastSeen, sumLastSeen []int                       // item k is the number of the evaluation in which the penalty of group or sum k was last counted
	evaluation                 int                         // number of the current evaluation; evaluations are numbered one after the other
}

// These constants limit the search by a [walk], which begins at several random compositions.
const (
	maxWalkMoves           = 20_000 // maximum number of moves from one starting composition
	walkStartCount         = 4      // number of starting compositions
	maxNanosecondsPerStart = 1e9    // maximum estimated time from one starting composition, in nanoseconds
)

func newWalk(c *constraint.Conditions, sizes []int) *walk {
	w := &walk{
		Conditions: c, usedCounts: sizes, random: rand.New(rand.NewPCG(1, 2)),
		state: constraint.NewConstraintState(c), groupLastSeen: make([]int, len(c.Groups)), sumLastSeen: make([]int, len(c.Sums)),
	}
	for i, d := range c.AmountSets {
		if d.Count > 0 {
			w.usableIngredients = append(w.usableIngredients, i)
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
		w.violationWeights = append(w.violationWeights, 4/(float64(top*float64(c.Total))+1))
	}
	return w
}

// findComposition reports whether the random walk found a composition that keeps all conditions. The composition
// is then in parts.
func (w *walk) findComposition(ctx context.Context) bool {
	if len(w.usableIngredients) == 0 || len(w.usedCounts) == 0 {
		return false
	}
	conditions := len(w.IdleGroups) + len(w.IdleSums)
	for _, i := range w.usableIngredients {
		conditions += len(w.GroupsOf[i]) + len(w.SumsOf[i]) + len(w.DependencesOf[i])
	}
	mean := 1 + float64(conditions)/float64(len(w.usableIngredients))         // mean number of conditions per ingredient
	cost := float64(40 * mean * float64(1+w.usedCounts[len(w.usedCounts)-1])) // work of one step
	steps := min(maxWalkMoves, int(maxNanosecondsPerStart/cost))
	for start := range walkStartCount {
		w.startComposition(w.usedCounts[start*(len(w.usedCounts)-1)/walkStartCount])
		broken := w.violation()
		for step := 0; broken > 0 && step < steps; step++ {
			if step%256 == 0 && browsersched.Err(ctx) != nil {
				return false
			}
			w.work += cost
			w.previousParts = append(w.previousParts[:0], w.parts...)
			w.changeParts()
			after := w.violation()
			heat := float64(0.05 * (1 - float64(step)/float64(steps)))
			if after <= broken || w.random.Float64() < portable.Exp((broken-after)/(heat+1e-9)) {
				broken = after
			} else {
				w.parts, w.previousParts = w.previousParts, w.parts
			}
		}
		if broken == 0 && w.AreKeptBy(w.parts) {
			return true
		}
	}
	return false
}

// startComposition sets parts to a new starting composition of size ingredients: the required ingredients, and
// other ingredients chosen at random. The ingredients have their least amounts, which are cut if they exceed the
// total. The first part takes the remaining units.
func (w *walk) startComposition(size int) {
	w.parts = w.parts[:0]
	var free []int
	for _, i := range w.usableIngredients {
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

// changeParts makes one random move: it shifts units between two ingredients, replaces an ingredient by another,
// gives some units of an ingredient to an unused ingredient, or merges two ingredients into one.
func (w *walk) changeParts() {
	r := w.random
	a := r.IntN(len(w.parts))
	units := func(most int) int { // prefers small numbers of units
		if r.IntN(2) == 0 {
			return 1 + r.IntN(min(most, w.AmountSets[w.parts[a].Ingredient].Step))
		}
		return 1 + r.IntN(most)
	}
	other := w.usableIngredients[r.IntN(len(w.usableIngredients))]
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

// violation returns the total penalty of the violated conditions. The penalty is 0 if all conditions hold.
func (w *walk) violation() float64 {
	total, missing := float64(w.Total), w.RequiredCount
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
	for _, n := range w.usedCounts {
		near = min(near, max(n-len(w.parts), len(w.parts)-n))
	}
	out += float64(near)
	for _, p := range w.parts {
		w.state.Add(p)
	}
	w.evaluation++
	group := func(g int32) {
		if w.groupLastSeen[g] == w.evaluation {
			return
		}
		w.groupLastSeen[g] = w.evaluation
		if u := w.Groups[g].Used; u != nil {
			out += float64(max(u.Min-w.state.UsedMembers[g], w.state.UsedMembers[g]-u.Max, 0))
		}
		if t := w.Groups[g].Total; t != nil {
			out += 4 * float64(max(t.Min-w.state.GroupUnits[g], w.state.GroupUnits[g]-t.Max, 0)) / total
		}
	}
	sum := func(k int32) {
		if w.sumLastSeen[k] == w.evaluation {
			return
		}
		w.sumLastSeen[k] = w.evaluation
		switch s, v := &w.Sums[k], w.state.SumValues[k]; {
		case v < s.Min:
			out += 1e-6 + float64(w.violationWeights[k]*(float64(s.Min)-float64(v)))
		case v > s.Max:
			out += 1e-6 + float64(w.violationWeights[k]*(float64(v)-float64(s.Max)))
		}
	}
	visitAll(w.IdleGroups, group)
	visitAll(w.IdleSums, sum)
	for _, p := range w.parts {
		visitAll(w.GroupsOf[p.Ingredient], group)
		visitAll(w.SumsOf[p.Ingredient], sum)
		for _, k := range w.DependencesOf[p.Ingredient] {
			if !w.Dependences[k].IsMet(func(i int) bool { return w.state.IsUsed[i] }) {
				out++
			}
		}
	}
	for _, p := range w.parts {
		w.state.Remove(p)
	}
	return out
}

// visitAll calls visit with each of the given conditions.
func visitAll(conditions []int32, visit func(int32)) {
	for _, k := range conditions {
		visit(k)
	}
}
