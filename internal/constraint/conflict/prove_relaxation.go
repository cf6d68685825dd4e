package conflict

import (
	"context"
	"math"

	"kir/internal/constraint/linprog"
)

// A relaxation is the linear program of some conditions, with amounts that need not be whole numbers. Every
// composition that keeps the conditions satisfies it. So if the relaxation is infeasible, no composition
// keeps the conditions.
//
// Each ingredient that may be used has a variable for its amount x. If a sum counts its use, it also has a
// variable u for use: x ≤ greatest·u and x ≥ least·u. A count of uses without such variables is at least Σ
// x / greatest.
type relaxation struct {
	linprog.Whole
	rules  [][]int // for each row: indices of the rules from which it comes
	amount []int   // for each ingredient: variable of its amount, −1 if it cannot be used
	use    []int   // for each ingredient: variable of its use; −1 if the use is decided or no sum counts it
}

// addRow adds a row that follows from the given rules.
func (x *relaxation) addRow(r linprog.WholeRow, rules ...int) {
	x.Rows, x.rules = append(x.Rows, r), append(x.rules, rules)
}

// maxUseVariables is the greatest number of variables for uses, each of which needs two rows.
const maxUseVariables = 200

// buildRelaxation returns the relaxation of the conditions in a branch.
func (p *prover) buildRelaxation(n *node) *relaxation {
	x := &relaxation{amount: make([]int, len(n.uses)), use: make([]int, len(n.uses))}
	all := linprog.WholeRow{Lo: int64(p.Total), Hi: int64(p.Total)}
	every := make([]int, len(n.uses))
	for i, u := range n.uses {
		every[i], x.amount[i], x.use[i] = i, -1, -1
		if u == unused {
			continue
		}
		least := n.lo[i]
		if u == undecided {
			least = 0
		}
		x.amount[i] = x.addVariable(int64(least), int64(n.hi[i]))
		all.Entries = append(all.Entries, linprog.WholeEntry{Column: x.amount[i], Factor: 1})
	}
	x.addRow(all)
	x.addUses(p, n)
	x.addUseLimit(n, every, p.sizes[len(p.sizes)-1], nil)
	for g := range p.Groups {
		group := &p.Groups[g]
		if group.Used != nil {
			x.addUseLimit(n, group.Members, group.Used.Max, p.GroupRules[g:g+1])
		}
		if group.Total != nil {
			r := linprog.WholeRow{Lo: int64(group.Total.Min), Hi: int64(group.Total.Max)}
			for _, i := range group.Members {
				if v := x.amount[i]; v >= 0 {
					r.Entries = append(r.Entries, linprog.WholeEntry{Column: v, Factor: 1})
				}
			}
			x.addRow(r, p.GroupRules[g])
		}
	}
	for k := range p.sums {
		x.addSum(n, &p.sums[k])
	}
	return x
}

func (x *relaxation) addVariable(lo, hi int64) int {
	x.Lo, x.Hi = append(x.Lo, lo), append(x.Hi, hi)
	return len(x.Lo) - 1
}

// addUses adds a variable for each undecided ingredient whose use is counted by a sum.
func (x *relaxation) addUses(p *prover, n *node) {
	var of []int
	counted := make([]bool, len(n.uses))
	for k := range p.sums {
		for _, t := range p.sums[k].Terms {
			if i := t.Ingredient; t.PerUse != 0 && n.uses[i] == undecided && !counted[i] {
				counted[i] = true
				of = append(of, i)
			}
		}
	}
	if len(of) > maxUseVariables {
		return
	}
	for _, i := range of {
		u := x.addVariable(0, 1)
		x.use[i] = u
		amount := linprog.WholeEntry{Column: x.amount[i], Factor: 1}
		x.addRow(linprog.WholeRow{Entries: []linprog.WholeEntry{amount, {Column: u, Factor: -int64(n.hi[i])}}, Lo: math.MinInt64})
		x.addRow(linprog.WholeRow{Entries: []linprog.WholeEntry{amount, {Column: u, Factor: -int64(n.lo[i])}}, Hi: math.MaxInt64})
	}
}

// addUseLimit adds the row "at most most of the ingredients in of are used".
func (x *relaxation) addUseLimit(n *node, of []int, most int, rules []int) {
	const one = 1 << 30 // the value that stands for 1; large, so that one/greatest rounded down stays precise
	r := linprog.WholeRow{Lo: math.MinInt64, Hi: int64(most) * one}
	for _, i := range of {
		switch {
		case n.uses[i] == used:
			r.Hi -= one
		case n.uses[i] == undecided && x.use[i] >= 0:
			r.Entries = append(r.Entries, linprog.WholeEntry{Column: x.use[i], Factor: one})
		case n.uses[i] == undecided:
			r.Entries = append(r.Entries, linprog.WholeEntry{Column: x.amount[i], Factor: one / int64(n.hi[i])})
		}
	}
	x.addRow(r, rules...)
}

// addSum adds the row of a sum. Nonlinear contributions are relaxed to the values that make each bound
// easiest to satisfy.
func (x *relaxation) addSum(n *node, s *provedSum) {
	r := linprog.WholeRow{Lo: s.Min, Hi: s.Max}
	least, most := int64(0), int64(0) // range of the contributions that are not linear
	for k := range s.Terms {
		t := &s.Terms[k]
		v := x.amount[t.Ingredient]
		if v < 0 {
			continue
		}
		decided := n.uses[t.Ingredient] == used
		switch u := x.use[t.Ingredient]; {
		case decided:
			least, most = least+t.PerUse, most+t.PerUse
		case u >= 0:
			r.Entries = append(r.Entries, linprog.WholeEntry{Column: u, Factor: t.PerUse})
		default:
			least, most = least+min(t.PerUse, 0), most+max(t.PerUse, 0)
		}
		least, most = least+min(t.Off, 0), most+max(t.Off, 0)
		if t.PerUnit != 0 && t.Cap > 0 && int64(t.Cap) < x.Hi[v] {
			capped := x.addVariable(0, int64(t.Cap))
			x.addRow(linprog.WholeRow{Entries: []linprog.WholeEntry{{Column: capped, Factor: 1}, {Column: v, Factor: -1}}, Lo: math.MinInt64})
			v = capped
		}
		if t.PerUnit != 0 {
			r.Entries = append(r.Entries, linprog.WholeEntry{Column: v, Factor: t.PerUnit})
		}
	}
	if r.Lo != math.MinInt64 {
		r.Lo -= most
	}
	if r.Hi != math.MaxInt64 {
		r.Hi -= least
	}
	x.addRow(r, s.rules...)
}

// solve looks for amounts that satisfy the relaxation. It returns amounts if it finds them. If it proves that there
// are none, impossible is true and rules are those that the proof uses. Otherwise it returns neither.
func (x *relaxation) solve(ctx context.Context) (amounts []float64, impossible bool, rules []int, work int) {
	r := x.Solve(ctx)
	if r.Values != nil {
		amounts = make([]float64, len(x.amount))
		for i, v := range x.amount {
			if v >= 0 {
				amounts[i] = r.Values[v]
			}
		}
	}
	for _, k := range r.Blamed {
		rules = append(rules, x.rules[k]...)
	}
	return amounts, r.Infeasible, rules, r.Work
}
