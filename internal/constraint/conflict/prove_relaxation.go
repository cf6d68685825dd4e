package conflict

import (
	"context"
	"math"
	"math/big"
)

// A relaxation is the linear program of some conditions, with amounts that need not be whole numbers. Every
// composition that keeps the conditions satisfies it. So if the relaxation is infeasible, no composition
// keeps the conditions.
//
// Each ingredient that may be used has a variable for its amount x. If a sum counts its use, it also has a
// variable u for use: x ≤ greatest·u and x ≥ least·u. A count of uses without such variables is at least Σ
// x / greatest.
type relaxation struct {
	lo, hi []int64 // bounds of the variables
	rows   []row
	amount []int // by ingredient: variable of its amount, −1 if it cannot be used
	use    []int // by ingredient: variable of its use if undecided, −1 if there is none
}

// A row is lo ≤ Σ factor·variable ≤ hi. A bound of math.MinInt64 or math.MaxInt64 means none.
type row struct {
	entries []entry
	lo, hi  int64
	rules   []int   // rules that the row comes from
	scale   float64 // by which the tableau has divided the row
}

type entry struct {
	variable int
	factor   int64
}

// maxUseVariables is the greatest number of variables for uses. Each needs two rows.
const maxUseVariables = 200

// buildRelaxation returns the relaxation of the conditions in a branch.
func (p *prover) buildRelaxation(n *node) *relaxation {
	x := &relaxation{amount: make([]int, len(n.uses)), use: make([]int, len(n.uses))}
	all := row{lo: int64(p.Total), hi: int64(p.Total)}
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
		all.entries = append(all.entries, entry{x.amount[i], 1})
	}
	x.rows = append(x.rows, all)
	x.addUses(p, n)
	x.addUseLimit(n, every, p.sizes[len(p.sizes)-1], nil)
	for g := range p.Groups {
		group := &p.Groups[g]
		if group.Used != nil {
			x.addUseLimit(n, group.Members, group.Used.Max, p.GroupRules[g:g+1])
		}
		if group.Total != nil {
			r := row{lo: int64(group.Total.Min), hi: int64(group.Total.Max), rules: p.GroupRules[g : g+1]}
			for _, i := range group.Members {
				if v := x.amount[i]; v >= 0 {
					r.entries = append(r.entries, entry{v, 1})
				}
			}
			x.rows = append(x.rows, r)
		}
	}
	for k := range p.sums {
		x.addSum(n, &p.sums[k])
	}
	return x
}

func (x *relaxation) addVariable(lo, hi int64) int {
	x.lo, x.hi = append(x.lo, lo), append(x.hi, hi)
	return len(x.lo) - 1
}

// addUses adds a variable for each undecided ingredient whose use is counted by a sum.
func (x *relaxation) addUses(p *prover, n *node) {
	var of []int
	counted := make([]bool, len(n.uses))
	for k := range p.sums {
		for _, t := range p.sums[k].Terms {
			if i := t.Ingredient; t.Whole != 0 && n.uses[i] == undecided && !counted[i] {
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
		x.rows = append(x.rows,
			row{entries: []entry{{x.amount[i], 1}, {u, -int64(n.hi[i])}}, lo: math.MinInt64},
			row{entries: []entry{{x.amount[i], 1}, {u, -int64(n.lo[i])}}, hi: math.MaxInt64})
	}
}

// addUseLimit adds a row: at most most of some ingredients are used.
func (x *relaxation) addUseLimit(n *node, of []int, most int, rules []int) {
	const one = 1 << 30 // large, so that one/greatest rounded down stays precise
	r := row{lo: math.MinInt64, hi: int64(most) * one, rules: rules}
	for _, i := range of {
		switch {
		case n.uses[i] == used:
			r.hi -= one
		case n.uses[i] == undecided && x.use[i] >= 0:
			r.entries = append(r.entries, entry{x.use[i], one})
		case n.uses[i] == undecided:
			r.entries = append(r.entries, entry{x.amount[i], one / int64(n.hi[i])})
		}
	}
	x.rows = append(x.rows, r)
}

// addSum adds the row of a sum. Nonlinear contributions are relaxed to the values that make each bound
// easiest to satisfy.
func (x *relaxation) addSum(n *node, s *provedSum) {
	r := row{lo: s.Min, hi: s.Max, rules: s.rules}
	least, most := int64(0), int64(0) // range of the nonlinear contributions
	for k := range s.Terms {
		t := &s.Terms[k]
		v := x.amount[t.Ingredient]
		if v < 0 {
			continue
		}
		decided := n.uses[t.Ingredient] == used
		switch u := x.use[t.Ingredient]; {
		case decided:
			least, most = least+t.Whole, most+t.Whole
		case u >= 0:
			r.entries = append(r.entries, entry{u, t.Whole})
		default:
			least, most = least+min(t.Whole, 0), most+max(t.Whole, 0)
		}
		least, most = least+min(t.Off, 0), most+max(t.Off, 0)
		if t.PerUnit != 0 && t.Cap > 0 && int64(t.Cap) < x.hi[v] {
			capped := x.addVariable(0, int64(t.Cap))
			x.rows = append(x.rows, row{entries: []entry{{capped, 1}, {v, -1}}, lo: math.MinInt64})
			v = capped
		}
		if t.PerUnit != 0 {
			r.entries = append(r.entries, entry{v, t.PerUnit})
		}
	}
	if r.lo != math.MinInt64 {
		r.lo -= most
	}
	if r.hi != math.MaxInt64 {
		r.hi -= least
	}
	x.rows = append(x.rows, r)
}

// maxFactors is the greatest number of factors in the rows of a relaxation, 512 MiB.
const maxFactors = 1 << 26

// solve returns amounts of the ingredients that satisfy the relaxation. Or it returns that the relaxation
// is infeasible, which is then proven, and the rules that the proof uses. Or it returns neither.
func (x *relaxation) solve(ctx context.Context) (amounts []float64, impossible bool, rules []int, work int) {
	columns := len(x.lo)
	if columns*len(x.rows) > maxFactors {
		return nil, false, nil, 0
	}
	lo, hi := make([]float64, columns+len(x.rows)), make([]float64, columns+len(x.rows))
	for j := range columns {
		if x.hi[j] > x.lo[j] {
			hi[j] = 1 // in units of the variable's range
		}
	}
	factors := make([][]float64, len(x.rows))
	for k := range x.rows {
		r := &x.rows[k]
		f := make([]float64, columns)
		top, at := 0.0, 0.0 // row value with all variables at their lower bounds
		for _, e := range r.entries {
			f[e.variable] += float64(float64(e.factor) * float64(x.hi[e.variable]-x.lo[e.variable]))
			at += float64(float64(e.factor) * float64(x.lo[e.variable]))
			top = max(top, math.Abs(f[e.variable]))
		}
		if top == 0 {
			top = 1
		}
		for j := range f {
			f[j] /= top
		}
		factors[k] = f
		lo[columns+k], hi[columns+k] = math.Inf(-1), math.Inf(1)
		if r.lo != math.MinInt64 {
			lo[columns+k] = (float64(r.lo) - at) / top
		}
		if r.hi != math.MaxInt64 {
			hi[columns+k] = (float64(r.hi) - at) / top
		}
		r.scale = top
	}
	t := newTableau(factors, lo, hi)
	kept, weights := t.solve(ctx)
	work = (t.pivots + 1) * columns * len(x.rows)
	switch {
	case kept:
		amounts = make([]float64, len(x.amount))
		for i, v := range x.amount {
			if v >= 0 {
				amounts[i] = float64(x.lo[v]) + float64(t.value[v]*float64(x.hi[v]-x.lo[v]))
			}
		}
	case weights != nil:
		impossible, rules = x.provesInfeasible(weights)
	}
	return amounts, impossible, rules, work
}

// provesInfeasible checks in whole numbers that a weighted sum of the rows is infeasible. The rows require
// Σ_r w_r·Σ_v f_rv·v to be at least some value, and that value exceeds the maximum that the variables'
// bounds allow. It returns the rules of the rows with nonzero weight.
func (x *relaxation) provesInfeasible(weights []float64) (proven bool, rules []int) {
	top, scale := 0.0, 1.0
	for k, w := range weights {
		top, scale = max(top, math.Abs(w)), max(scale, x.rows[k].scale)
	}
	exponent := 60 + math.Ilogb(scale/top)
	factors := make([]big.Int, len(x.lo)) // by variable
	asked, product, whole := new(big.Int), new(big.Int), new(big.Int)
	for k, w := range weights {
		r := &x.rows[k]
		if math.Abs(w) <= 1e-12*top {
			continue
		}
		bound := r.lo
		if w < 0 {
			bound = r.hi
		}
		if bound == math.MinInt64 || bound == math.MaxInt64 {
			continue // the remainder is rounding error
		}
		new(big.Float).SetMantExp(big.NewFloat(w/r.scale), exponent).Int(whole)
		asked.Add(asked, product.Mul(whole, big.NewInt(bound)))
		for _, e := range r.entries {
			factors[e.variable].Add(&factors[e.variable], product.Mul(whole, big.NewInt(e.factor)))
		}
		rules = append(rules, r.rules...)
	}
	for v := range factors {
		f := &factors[v]
		bound := x.hi[v]
		if f.Sign() < 0 {
			bound = x.lo[v]
		}
		asked.Sub(asked, product.Mul(f, big.NewInt(bound)))
	}
	return asked.Sign() > 0, rules
}
