package constraint

import (
	"math"
	"slices"
	"strconv"

	"kir/internal/constraint/count"
	"kir/rule"
)

// A kind defines the meaning of one type of rule, such as [rule.Group]: the conditions that the rule makes, and
// the numbers that the rule bounds. A kind may also have a method relaxations, which [Relaxations] calls.
type kind interface {
	// conditions adds the conditions of the rule to c.
	conditions(c *Conditions)

	// slacks returns the numbers that the rule bounds, with their bounds, for a composition of total units given
	// by its parts; see [Slacks].
	slacks(parts []rule.Part, total int) []Slack
}

// kindOf returns the kind of the rule r, or nil if the type of r is not a type of package rule.
func kindOf(r rule.Rule) kind {
	switch r := r.(type) {
	case rule.Require:
		return requireRule(r)
	case rule.Exclude:
		return excludeRule(r)
	case rule.Amount:
		return amountRule(r)
	case rule.Group:
		return groupRule(r)
	case rule.Need:
		return needRule(r)
	case rule.Limit:
		return limitRule(r)
	case rule.Ratio:
		return ratioRule(r)
	case rule.Near:
		return nearRule(r)
	case rule.If:
		return ifRule(r)
	}
	return nil
}

type requireRule rule.Require

type excludeRule rule.Exclude

func (r requireRule) conditions(c *Conditions) {
	c.require(r.Of)
}

func (r excludeRule) conditions(c *Conditions) {
	c.exclude(r.Of)
}

func (r requireRule) slacks(parts []rule.Part, _ int) []Slack {
	all := float64(len(r.Of))
	return []Slack{{Value: float64(countUsed(parts, r.Of)), Min: all, Max: all, Unit: "ingredients", Ingredient: -1}}
}

func (r excludeRule) slacks(parts []rule.Part, _ int) []Slack {
	return []Slack{{Value: float64(countUsed(parts, r.Of)), Unit: "ingredients", Ingredient: -1}}
}

type needRule rule.Need

func (r needRule) conditions(c *Conditions) { c.addDependence(Dependence(r)) }

// slacks returns a [Slack] for the number of used ingredients of Then, which must be at least 1. The slice is nil
// if ingredient If is not used.
func (r needRule) slacks(parts []rule.Part, _ int) []Slack {
	if amountOf(parts, r.If) == 0 {
		return nil
	}
	return []Slack{{Value: float64(countUsed(parts, r.Then)), Min: 1, Max: math.Inf(1), Unit: "ingredients", Ingredient: -1}}
}

type amountRule rule.Amount

func (r amountRule) conditions(c *Conditions) {
	own := AmountSetOf(count.Ingredient{Min: r.Min, Max: r.Max, Step: r.Step}, c.Total)
	for _, i := range r.Of {
		c.restrictAmounts(i, own)
	}
}

// slacks returns a [Slack] for one used ingredient of the rule: the ingredient whose amount is nearest to a
// bound. The slice is nil if no ingredient of the rule is used.
func (r amountRule) slacks(parts []rule.Part, _ int) []Slack {
	var tightest []Slack
	for _, i := range r.Of {
		a := amountOf(parts, i)
		if a == 0 {
			continue
		}
		s := Slack{Value: float64(a), Min: math.Inf(-1), Max: math.Inf(1), Unit: "units", Ingredient: i}
		if r.Min > 0 {
			s.Min = float64(r.Min)
		}
		if r.Max > 0 {
			s.Max = float64(r.Max)
		}
		if tightest == nil || s.Room() < tightest[0].Room() {
			tightest = []Slack{s}
		}
	}
	return tightest
}

func (r amountRule) relaxations(s *rule.Set) []Relaxation {
	var out []Relaxation
	if step := max(r.Step, 1); r.Min > 0 {
		out = addBoundRelaxation(out, "min", r.Min, (r.Min-1)/step, -step, s.AmountText, func(to int) rule.Rule { r := rule.Amount(r); r.Min = to; return r })
	}
	if r.Max > 0 {
		out = addBoundRelaxation(out, "max", r.Max, s.Total-r.Max, 1, s.AmountText, func(to int) rule.Rule { r := rule.Amount(r); r.Max = to; return r })
	}
	if r.Step > 1 {
		out = append(out, Relaxation{
			MaxNotches: 1,
			Relax:      func(int) rule.Rule { r := rule.Amount(r); r.Step = 1; return r },
			Text:       func(_ int, name string) string { return "drop the step of " + name },
		})
	}
	return out
}

type groupRule rule.Group

func (r groupRule) conditions(c *Conditions) {
	if r.Used != nil || r.Total != nil {
		c.addGroup(count.Group{Members: slices.Clone(r.Of), Used: (*count.Range)(r.Used), Total: (*count.Range)(r.Total)})
	}
}

func (r groupRule) slacks(parts []rule.Part, total int) []Slack {
	var slacks []Slack
	if r.Used != nil {
		s := Slack{Value: float64(countUsed(parts, r.Of)), Unit: "ingredients", Ingredient: -1}
		s.Min, s.Max = rangeBounds(r.Used, len(r.Of))
		slacks = append(slacks, s)
	}
	if r.Total != nil {
		sum := 0
		for _, i := range r.Of {
			sum += amountOf(parts, i)
		}
		s := Slack{Value: float64(sum), Unit: "units", Ingredient: -1}
		s.Min, s.Max = rangeBounds(r.Total, total)
		slacks = append(slacks, s)
	}
	return slacks
}

// rangeBounds returns the bounds of the range r as floats. A bound that every number from 0 to maximum satisfies
// becomes infinite.
func rangeBounds(r *rule.Range, maximum int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if r.Min > 0 {
		lo = float64(r.Min)
	}
	if r.Max < maximum {
		hi = float64(r.Max)
	}
	return lo, hi
}

func (r groupRule) relaxations(s *rule.Set) []Relaxation {
	var out []Relaxation
	if u := r.Used; u != nil {
		to := func(used rule.Range) rule.Rule { r := rule.Group(r); r.Used = &used; return r }
		out = addBoundRelaxation(out, "least used", u.Min, u.Min, -1, strconv.Itoa, func(v int) rule.Rule { return to(rule.Range{Min: v, Max: u.Max}) })
		out = addBoundRelaxation(out, "most used", u.Max, len(r.Of)-u.Max, 1, strconv.Itoa, func(v int) rule.Rule { return to(rule.Range{Min: u.Min, Max: v}) })
	}
	if t := r.Total; t != nil {
		to := func(total rule.Range) rule.Rule { r := rule.Group(r); r.Total = &total; return r }
		out = addBoundRelaxation(out, "least total", t.Min, t.Min, -1, s.AmountText, func(v int) rule.Rule { return to(rule.Range{Min: v, Max: t.Max}) })
		out = addBoundRelaxation(out, "greatest total", t.Max, s.Total-t.Max, 1, s.AmountText, func(v int) rule.Rule { return to(rule.Range{Min: t.Min, Max: v}) })
	}
	return out
}

type limitRule rule.Limit

// averagedIngredients returns the ingredients whose factors the rule averages: the ingredients in Of, or all ingredients
// if Of is nil.
func (r limitRule) averagedIngredients() []int {
	if r.Of != nil {
		return uniformSum(r.Of, Term{}).ingredients()
	}
	all := make([]int, len(r.Factors))
	for i := range all {
		all[i] = i
	}
	return all
}

// factorScale returns scale, the power of ten by which the factors of the rule are multiplied before rounding
// (see [decimalScale]), and top, the greatest magnitude of a factor.
func (r limitRule) factorScale(total int) (scale, top float64) {
	for _, f := range r.Factors {
		top = max(top, math.Abs(f))
	}
	if r.Of == nil {
		return decimalScale(top, total), top
	}
	return decimalScale(float64(2*top)+1, total), top // the sum has the coefficients factor − bound
}

func (r limitRule) conditions(c *Conditions) {
	scale, top := r.factorScale(c.Total)
	if r.Of == nil {
		s := Sum{Min: wholeBound(r.Min, scale, c.Total), Max: wholeBound(r.Max, scale, c.Total)}
		for i, f := range r.Factors {
			if f := roundToScale(f, scale); f != 0 {
				s.Terms = append(s.Terms, Term{Ingredient: i, PerUnit: f})
			}
		}
		c.addSum(s)
		return
	}
	over := func(bound float64) Sum { // makes the sum Σ (f_i − bound)·x_i
		var s Sum
		by := roundToScale(min(max(bound, -top-1), top+1), scale)
		for _, i := range r.averagedIngredients() {
			if f := roundToScale(r.Factors[i], scale) - by; f != 0 {
				s.Terms = append(s.Terms, Term{Ingredient: i, PerUnit: f})
			}
		}
		return s
	}
	if !math.IsInf(r.Min, -1) {
		s := over(r.Min)
		s.Max = math.MaxInt64
		c.addSum(s)
	}
	if !math.IsInf(r.Max, 1) {
		s := over(r.Max)
		s.Min = math.MinInt64
		c.addSum(s)
	}
}

// wholeBound converts b, a bound of a mean over the total units, to a bound of the corresponding sum in whole
// numbers. wholeBound rounds b·scale and then multiplies by total, so that decimal bounds stay exact. A bound
// that no sum can reach becomes math.MinInt64 or math.MaxInt64.
func wholeBound(b, scale float64, total int) int64 {
	if math.Abs(b)*scale*float64(total) > 1<<61 {
		if b > 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return roundToScale(b, scale) * int64(total)
}

// slacks returns a [Slack] for the mean that the rule bounds. The mean is the float nearest to the exact mean, so
// a mean that equals a bound exactly also compares as equal. The slice is nil if no ingredient of the mean is
// used.
func (r limitRule) slacks(parts []rule.Part, total int) []Slack {
	scale, _ := r.factorScale(total)
	sum, units := int64(0), int64(0)
	for _, p := range parts {
		if r.Of == nil || slices.Contains(r.Of, p.Ingredient) {
			sum += roundToScale(r.Factors[p.Ingredient], scale) * int64(p.Amount)
			units += int64(p.Amount)
		}
	}
	if units == 0 {
		return nil
	}
	return []Slack{{Value: nearestQuotient(sum, units, scale), Min: r.Min, Max: r.Max, Unit: r.Attribute, Ingredient: -1}}
}

// factorRange returns the least and the greatest factor of the ingredients whose factors the rule averages. Both
// factors are multiplied by scale and rounded. If there are no ingredients, least exceeds most.
func (r limitRule) factorRange(total int) (least, most int64, scale float64) {
	scale, _ = r.factorScale(total)
	least, most = math.MaxInt64, math.MinInt64
	for _, i := range r.averagedIngredients() {
		f := roundToScale(r.Factors[i], scale)
		least, most = min(least, f), max(most, f)
	}
	return least, most, scale
}

func (r limitRule) relaxations(s *rule.Set) []Relaxation {
	least, most, scale := r.factorRange(s.Total)
	if least > most {
		return nil
	}
	return boundRelaxations(r.Min, r.Max, least, most, scale, func(lo, hi float64) rule.Rule {
		r := rule.Limit(r)
		r.Min, r.Max = lo, hi
		return r
	})
}

type ratioRule rule.Ratio

// bounds returns the bounds of the ratio, and the power of ten by which the bounds are multiplied before
// rounding (see [decimalScale]). A lower bound that no ratio of two amounts reaches is replaced by total + 1, which
// no ratio reaches either.
func (r ratioRule) bounds(total int) (lo, hi, scale float64) {
	lo, hi = max(r.Min, 0), r.Max
	top := max(lo, 1)
	if !math.IsInf(hi, 1) {
		top = max(top, hi)
	}
	top = min(top, float64(total)+1) // a ratio of amounts is at most the total
	return min(lo, top), hi, decimalScale(top+1, total)
}

func (r ratioRule) conditions(c *Conditions) {
	lo, hi, scale := r.bounds(c.Total)
	over := func(bound float64) Sum { // returns Σ_Of − bound·Σ_To
		of, to := unitSum(r.Of, roundToScale(1, scale)), unitSum(r.To, -roundToScale(bound, scale))
		return of.plusTerms(to.Terms...)
	}
	if lo > 0 {
		s := over(lo)
		s.Min = 0
		c.addSum(s)
	}
	if hi <= float64(c.Total) {
		s := over(hi)
		s.Max = 0
		c.addSum(s)
	} else if !math.IsInf(hi, 1) { // without an ingredient of To, no ingredient of Of may be used
		s := over(float64(c.Total))
		s.Max = 0
		c.addSum(s)
	}
}

// slacks returns a [Slack] for the ratio that the rule bounds. The slice is nil if no ingredient of To is used.
func (r ratioRule) slacks(parts []rule.Part, total int) []Slack {
	of, to := totalAmountOf(parts, r.Of), totalAmountOf(parts, r.To)
	if to == 0 {
		return nil
	}
	return []Slack{{Value: float64(of) / float64(to), Min: r.Min, Max: r.Max, Unit: "ratio", Ingredient: -1}}
}

func (r ratioRule) relaxations(s *rule.Set) []Relaxation {
	lo, hi, scale := r.bounds(s.Total)
	if lo == 0 {
		lo = math.Inf(-1)
	}
	return boundRelaxations(lo, hi, 0, roundToScale(float64(s.Total), scale), scale, func(lo, hi float64) rule.Rule {
		r := rule.Ratio(r)
		r.Min, r.Max = lo, hi
		return r
	})
}

type nearRule rule.Near

// conditions adds a sum for each bound of the rule. Let r be the number of ingredients of the given recipe, which
// has r_i units of ingredient i. A composition that uses u ingredients of the recipe and v other ingredients
// differs from the recipe by r − u + v removed or added ingredients. If the composition has x_i units of
// ingredient i, the number of changed units is M − Σ_i min(x_i, r_i), where M is the total.
func (r nearRule) conditions(c *Conditions) {
	if r.Changes != nil {
		s := Sum{Min: math.MinInt64, Max: int64(*r.Changes - len(r.Recipe))}
		for i := range c.Amounts {
			s.Terms = append(s.Terms, Term{Ingredient: i, PerUse: 1})
		}
		for _, p := range r.Recipe {
			s.Terms[p.Ingredient].PerUse = -1
		}
		c.addSum(s)
	}
	if r.Distance != nil {
		s := Sum{Min: int64(c.Total - *r.Distance), Max: math.MaxInt64}
		for _, p := range r.Recipe {
			s = s.plusTerms(Term{Ingredient: p.Ingredient, PerUnit: 1, Cap: p.Amount})
		}
		c.addSum(s)
	}
}

func (r nearRule) slacks(parts []rule.Part, _ int) []Slack {
	common, units, away := 0, 0, 0
	for _, p := range r.Recipe {
		a := amountOf(parts, p.Ingredient)
		if a > 0 {
			common++
		}
		units += p.Amount
		away += max(p.Amount-a, 0)
	}
	var out []Slack
	add := func(v int, most *int, unit string) {
		if most != nil {
			out = append(out, Slack{Value: float64(v), Min: math.Inf(-1), Max: float64(*most), Unit: unit, Ingredient: -1})
		}
	}
	add(len(r.Recipe)+len(parts)-2*common, r.Changes, "changes")
	add(away, r.Distance, "units")
	return out
}

func (r nearRule) relaxations(s *rule.Set) []Relaxation {
	var out []Relaxation
	if r.Changes != nil {
		out = addBoundRelaxation(out, "changes", *r.Changes, s.Ingredients-*r.Changes, 1, strconv.Itoa, func(to int) rule.Rule { r := rule.Near(r); r.Changes = &to; return r })
	}
	if r.Distance != nil {
		out = addBoundRelaxation(out, "distance", *r.Distance, s.Total-*r.Distance, 1, s.AmountText, func(to int) rule.Rule { r := rule.Near(r); r.Distance = &to; return r })
	}
	return out
}

type ifRule rule.If

func (r ifRule) conditions(c *Conditions) {
	write := func() { c.addRule(r.Then) }
	for _, g := range []guard{{ingredients: r.Used}, {ingredients: r.Unused, holdsIfUnused: true}} {
		if len(g.ingredients) > 0 {
			g.ingredients = unitSum(g.ingredients, 1).ingredients()
			inner := write
			write = func() { c.withGuard(g, inner) }
		}
	}
	write()
}

// slacks returns the slacks of the rule in the field Then. The slice is nil if the condition of the If rule does
// not hold.
func (r ifRule) slacks(parts []rule.Part, total int) []Slack {
	if len(r.Used) > 0 && countUsed(parts, r.Used) == 0 || countUsed(parts, r.Unused) > 0 {
		return nil
	}
	return Slacks(r.Then, parts, total)
}

func (r ifRule) relaxations(s *rule.Set) []Relaxation {
	relaxations := Relaxations(r.Then, s)
	for k, q := range relaxations {
		relaxations[k].Relax = func(notches int) rule.Rule { r := rule.If(r); r.Then = q.Relax(notches); return r }
	}
	return relaxations
}
