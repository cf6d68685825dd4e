package conflict

import (
	"context"
	"math"

	"kir/internal/constraint/linprog"
)

// A relaxation is the linear program of a set of conditions, with amounts that need not be whole numbers. Every
// composition that keeps the conditions satisfies the program. So if the program is infeasible, no composition
// keeps the conditions.
//
// Each ingredient that may be used has a variable x for the amount. If a sum counts the use of the ingredient,
// the ingredient also has a variable u for the use, with least·u ≤ x ≤ greatest·u. An ingredient without a
// variable for the use counts as x / greatest, which is at most 1.
type relaxation struct {
	linprog.WholeProgram
	rowRules        [][]int // item r lists the indices of the rules that made row r
	amountVariables []int   // item i is the index of the variable for the amount of ingredient i; −1 if ingredient i cannot be used
	useVariables    []int   // item i is the index of the variable for the use of ingredient i; −1 if the use is decided or no sum depends on the use
}

// addRow adds a row that follows from the rules with the given indices.
func (x *relaxation) addRow(r linprog.WholeRow, rules ...int) {
	x.Rows, x.rowRules = append(x.Rows, r), append(x.rowRules, rules)
}

// maxUseVariables is the maximum number of variables for uses. If more variables would be needed, the relaxation
// has no variables for uses. Each variable for a use needs two rows.
const maxUseVariables = 200

// buildRelaxation returns the relaxation of the conditions in the branch n.
func (p *prover) buildRelaxation(n *node) *relaxation {
	x := &relaxation{amountVariables: make([]int, len(n.uses)), useVariables: make([]int, len(n.uses))}
	all := linprog.WholeRow{Lo: int64(p.Total), Hi: int64(p.Total)}
	every := make([]int, len(n.uses))
	for i, u := range n.uses {
		every[i], x.amountVariables[i], x.useVariables[i] = i, -1, -1
		if u == unused {
			continue
		}
		least := n.lo[i]
		if u == undecided {
			least = 0
		}
		x.amountVariables[i] = x.addVariable(int64(least), int64(n.hi[i]))
		all.Entries = append(all.Entries, linprog.WholeEntry{Column: x.amountVariables[i], Factor: 1})
	}
	x.addRow(all)
	x.addUses(p, n)
	x.addUseLimit(n, every, p.usedCounts[len(p.usedCounts)-1], nil)
	for g := range p.Groups {
		group := &p.Groups[g]
		if group.Used != nil {
			x.addUseLimit(n, group.Members, group.Used.Max, p.GroupRules[g:g+1])
		}
		if group.Total != nil {
			r := linprog.WholeRow{Lo: int64(group.Total.Min), Hi: int64(group.Total.Max)}
			for _, i := range group.Members {
				if v := x.amountVariables[i]; v >= 0 {
					r.Entries = append(r.Entries, linprog.WholeEntry{Column: v, Factor: 1})
				}
			}
			x.addRow(r, p.GroupRules[g])
		}
	}
	for k := range p.provedSums {
		x.addSum(n, &p.provedSums[k])
	}
	return x
}

func (x *relaxation) addVariable(lo, hi int64) int {
	x.Lo, x.Hi = append(x.Lo, lo), append(x.Hi, hi)
	return len(x.Lo) - 1
}

// addUses adds variables for the uses of ingredients: one variable for each undecided ingredient on whose use
// some sum depends.
func (x *relaxation) addUses(p *prover, n *node) {
	var of []int
	counted := make([]bool, len(n.uses))
	for k := range p.provedSums {
		for _, t := range p.provedSums[k].Terms {
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
		x.useVariables[i] = u
		amount := linprog.WholeEntry{Column: x.amountVariables[i], Factor: 1}
		x.addRow(linprog.WholeRow{Entries: []linprog.WholeEntry{amount, {Column: u, Factor: -int64(n.hi[i])}}, Lo: math.MinInt64})
		x.addRow(linprog.WholeRow{Entries: []linprog.WholeEntry{amount, {Column: u, Factor: -int64(n.lo[i])}}, Hi: math.MaxInt64})
	}
}

// addUseLimit adds a row that says: at most maxUsed of the given ingredients are used. The row follows from the
// rules with the given indices.
func (x *relaxation) addUseLimit(n *node, ingredients []int, maxUsed int, rules []int) {
	const one = 1 << 30 // the value that stands for 1; large, so that one/greatest rounded down stays precise
	r := linprog.WholeRow{Lo: math.MinInt64, Hi: int64(maxUsed) * one}
	for _, i := range ingredients {
		switch {
		case n.uses[i] == used:
			r.Hi -= one
		case n.uses[i] == undecided && x.useVariables[i] >= 0:
			r.Entries = append(r.Entries, linprog.WholeEntry{Column: x.useVariables[i], Factor: one})
		case n.uses[i] == undecided:
			r.Entries = append(r.Entries, linprog.WholeEntry{Column: x.amountVariables[i], Factor: one / int64(n.hi[i])})
		}
	}
	x.addRow(r, rules...)
}

// addSum adds the row of the sum s. A contribution that is not linear in the amount is replaced by a linear
// contribution that makes the row easier to satisfy, never harder.
func (x *relaxation) addSum(n *node, s *provedSum) {
	r := linprog.WholeRow{Lo: s.Min, Hi: s.Max}
	least, most := int64(0), int64(0) // range of the contributions that are not linear
	for k := range s.Terms {
		t := &s.Terms[k]
		v := x.amountVariables[t.Ingredient]
		if v < 0 {
			continue
		}
		decided := n.uses[t.Ingredient] == used
		switch u := x.useVariables[t.Ingredient]; {
		case decided:
			least, most = least+t.PerUse, most+t.PerUse
		case u >= 0:
			r.Entries = append(r.Entries, linprog.WholeEntry{Column: u, Factor: t.PerUse})
		default:
			least, most = least+min(t.PerUse, 0), most+max(t.PerUse, 0)
		}
		least, most = least+min(t.OffStepAddend, 0), most+max(t.OffStepAddend, 0)
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

// solve looks for amounts that satisfy the relaxation. There are three outcomes: amounts holds the amount of each
// ingredient; or impossible is true, and rules are the indices of the rules that the proof of infeasibility uses;
// or neither is known, amounts is nil and impossible is false. The result work is the number of coefficients
// processed, as in [linprog.WholeResult].
func (x *relaxation) solve(ctx context.Context) (amounts []float64, impossible bool, rules []int, work int) {
	r := x.Solve(ctx)
	if r.Values != nil {
		amounts = make([]float64, len(x.amountVariables))
		for i, v := range x.amountVariables {
			if v >= 0 {
				amounts[i] = r.Values[v]
			}
		}
	}
	for _, k := range r.BlamedRows {
		rules = append(rules, x.rowRules[k]...)
	}
	return amounts, r.Infeasible, rules, r.Work
}
