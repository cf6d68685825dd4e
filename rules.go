package kir

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/count"
)

// Rules limit which compositions are feasible. All of them are kept exactly,
// in whole units.
//
// Amounts and groups that are disjoint or nested can be counted: |X_n| is then
// exact. Groups that overlap otherwise, needs and limits leave a share of what
// is counted, which is measured; see [NewRuledSpace].
type Rules struct {
	// Amounts are what each ingredient may take when it is used. nil: anything.
	Amounts []count.Ingredient

	// Groups bound how many of their members are used, and their total.
	Groups []count.Group

	// Needs make ingredients depend on others.
	Needs []Need

	// Limits bound sums of all amounts, each with its own factor.
	Limits []Limit
}

// A Need says that if an ingredient is used, so is at least one of others.
type Need struct {
	If   int
	Then []int
}

// A Limit bounds a mean over the composition: Min ≤ Σ_i f_i·x_i / M ≤ Max.
//
// Factors and bounds are taken to as many decimals as fit sums of them into 62
// bits, at most 9, so that whether a composition keeps the limit does not
// depend on the order in which it is summed.
type Limit struct {
	Factors  []float64 // one for each ingredient
	Min, Max float64   // −Inf and +Inf where there is no bound
}

// A Share is the part of the compositions of n ingredients that can be counted
// which keep the other rules too.
type Share struct {
	N        int
	Estimate float64 // Kept/Drawn
	SE       float64 // standard error of the estimate
	Kept     int
	Drawn    int
}

// ruleset is what a space knows of its rules.
type ruleset struct {
	amounts []count.Ingredient
	groups  []count.Group
	needs   []Need
	limits  []exactLimit

	groupsOf [][]int32 // by ingredient
	needsOf  [][]int32 // by ingredient: those that begin with it or that it meets
	meets    [][]int32 // by ingredient: those that it meets
	required int

	table    *count.Table
	sampler  *count.Sampler
	shares   []Share   // of n = 1.. ; nil if all rules are counted
	logCount []float64 // log |X_n| at n, −Inf at 0 and where X_n is empty
}

// exactLimit is a limit in whole numbers: min ≤ Σ f_i·x_i ≤ max.
type exactLimit struct {
	factors  []int64
	min, max int64
}

const (
	// shareKept and shareDrawn say when the share that passes has been
	// measured: after that many passes, which makes the relative standard error
	// at most 1 %, or that many draws.
	shareKept  = 10_000
	shareDrawn = 1_000_000
)

// NewRuledSpace returns the compositions of total units over the given number
// of ingredients that keep the rules. |X_n| is worked out for n up to most,
// which 0 makes all; a law of n that has mass beyond fails with an
// [*UncountedError]. Rules that can be kept by nothing, whatever the others say,
// fail with a [*RuleError].
//
// Rules that cannot be counted are measured: for each n, compositions are
// drawn exactly and uniformly from those that keep the countable rules, until
// 10,000 keep the others too or 1,000,000 were drawn; |X_n| is the count times
// the share. An n at which none was found is taken for empty. See
// [Space.Shares].
func NewRuledSpace(ctx context.Context, ingredients, total int, rules Rules, most int) (*Space, error) {
	s, err := NewSpace(ingredients, total)
	if err != nil {
		return nil, err
	}
	if most < 1 || most > s.MaxUsed() {
		most = s.MaxUsed()
	}
	if err := rules.check(); err != nil {
		return nil, err
	}
	r, err := newRuleset(s, rules)
	if err != nil {
		return nil, err
	}
	countable := count.Space{Total: total, Ingredients: r.amounts, Groups: r.groups}
	kept, rest := countable.Disjoint()
	countable.Groups = nil
	for _, g := range kept {
		countable.Groups = append(countable.Groups, r.groups[g])
	}
	if r.table, err = count.New(ctx, countable, count.Options{MaxUsed: most}); err != nil {
		return nil, err
	}
	if r.sampler, err = r.table.Sampler(ctx); err != nil {
		return nil, err
	}
	s.rules = r
	r.logCount = make([]float64, most+1)
	r.logCount[0] = negInf
	measured := len(rest) > 0 || len(r.needs) > 0 || len(r.limits) > 0
	for n := 1; n <= most; n++ {
		r.logCount[n] = r.table.LogCount(n)
		if !measured {
			continue
		}
		share := Share{N: n}
		if !r.table.Empty(n) {
			if share, err = s.measure(ctx, n); err != nil {
				return nil, err
			}
		}
		r.shares = append(r.shares, share)
		r.logCount[n] += math.Log(share.Estimate)
	}
	return s, nil
}

// A RuleError says that a rule can be kept by nothing.
type RuleError struct {
	Kind     string  // "amounts", "group" or "limit"
	Index    int     // in the list of that kind; for amounts, the ingredient
	What     string  // of which the least is above the most: "amount", "number used", "total", "mean"
	Min, Max float64 // the least and the most
}

func (e *RuleError) Error() string {
	of := fmt.Sprintf("%s %d", e.Kind, e.Index)
	if e.Kind == "amounts" {
		of = fmt.Sprintf("the amounts of ingredient %d", e.Index)
	}
	return fmt.Sprintf("%s: the least %s, %g, is above the most, %g", of, e.What, e.Min, e.Max)
}

// check returns a [*RuleError] for the first rule that can be kept by nothing.
func (r *Rules) check() error {
	for i, a := range r.Amounts {
		if a.Max > 0 && a.Min > a.Max {
			return &RuleError{"amounts", i, "amount", float64(a.Min), float64(a.Max)}
		}
	}
	for k, g := range r.Groups {
		if u := g.Used; u != nil && u.Min > u.Max {
			return &RuleError{"group", k, "number used", float64(u.Min), float64(u.Max)}
		}
		if t := g.Total; t != nil && t.Min > t.Max {
			return &RuleError{"group", k, "total", float64(t.Min), float64(t.Max)}
		}
	}
	for k, l := range r.Limits {
		if l.Min > l.Max {
			return &RuleError{"limit", k, "mean", l.Min, l.Max}
		}
	}
	return nil
}

// newRuleset checks rules and indexes them by ingredient.
func newRuleset(s *Space, rules Rules) (*ruleset, error) {
	n := s.ingredients
	r := &ruleset{
		amounts: rules.Amounts, groups: rules.Groups, needs: rules.Needs,
		groupsOf: make([][]int32, n), needsOf: make([][]int32, n), meets: make([][]int32, n),
	}
	if r.amounts == nil {
		r.amounts = make([]count.Ingredient, n)
	}
	if len(r.amounts) != n {
		return nil, fmt.Errorf("there are rules for the amounts of %d ingredients and there are %d", len(r.amounts), n)
	}
	for _, a := range r.amounts {
		if a.Required {
			r.required++
		}
	}
	index := func(what string, of [][]int32, k int, members []int) error {
		for _, i := range members {
			if i < 0 || i >= n {
				return fmt.Errorf("%s %d names ingredient %d of %d", what, k, i, n)
			}
			if !slices.Contains(of[i], int32(k)) {
				of[i] = append(of[i], int32(k))
			}
		}
		return nil
	}
	for k, g := range r.groups {
		if err := index("group", r.groupsOf, k, g.Members); err != nil {
			return nil, err
		}
	}
	for k, need := range r.needs {
		if err := errors.Join(index("need", r.needsOf, k, []int{need.If}), index("need", r.needsOf, k, need.Then), index("need", r.meets, k, need.Then)); err != nil {
			return nil, err
		}
	}
	for k, l := range rules.Limits {
		exact, err := l.exact(n, s.total)
		if err != nil {
			return nil, fmt.Errorf("limit %d: %w", k, err)
		}
		r.limits = append(r.limits, exact)
	}
	return r, nil
}

// exact turns a limit into whole numbers.
func (l Limit) exact(ingredients, total int) (exactLimit, error) {
	if len(l.Factors) != ingredients {
		return exactLimit{}, fmt.Errorf("it has %d factors for %d ingredients", len(l.Factors), ingredients)
	}
	top := 0.0
	for i, f := range l.Factors {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return exactLimit{}, fmt.Errorf("the factor of ingredient %d is %v", i, f)
		}
		top = max(top, math.Abs(f))
	}
	if math.IsNaN(l.Min) || math.IsNaN(l.Max) {
		return exactLimit{}, errors.New("a bound is not a number")
	}
	scale := 1e9
	for scale > 1e-9 && top*scale*float64(total) > 1<<61 {
		scale /= 10
	}
	e := exactLimit{factors: make([]int64, ingredients)}
	for i, f := range l.Factors {
		e.factors[i] = int64(math.Round(f * scale))
	}
	if e.min = wholeBound(l.Min, scale, total); math.IsInf(l.Min, -1) {
		e.min = math.MinInt64
	}
	if e.max = wholeBound(l.Max, scale, total); math.IsInf(l.Max, 1) {
		e.max = math.MaxInt64
	}
	return e, nil
}

// wholeBound returns a bound of the mean as one of the sum. A bound that is a
// decimal number stays one: it is rounded to the scale first and multiplied by
// the total in whole numbers. What no sum reaches becomes the end of int64.
func wholeBound(b, scale float64, total int) int64 {
	if math.Abs(b)*scale*float64(total) > 1<<61 {
		if b > 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return int64(math.Round(b*scale)) * int64(total)
}

// possible says whether X_n is not empty, as far as is known.
func (r *ruleset) possible(n int) bool { return r.logCount[n] > negInf }

// measure estimates which share of the countable compositions of n ingredients
// keeps the other rules.
func (s *Space) measure(ctx context.Context, n int) (Share, error) {
	share := Share{N: n}
	r := NewRand(0, "share of rules", uint64(n))
	x := newComposition(s.ingredients)
	scorer := s.rules.scorer(x)
	e := exactScratch{sampler: s.rules.sampler.Clone()}
	for share.Kept < shareKept && share.Drawn < shareDrawn {
		if share.Drawn%4096 == 0 && ctx.Err() != nil {
			return share, ctx.Err()
		}
		e.draw(r, x, n, s.total)
		scorer.Reset()
		share.Drawn++
		if scorer.LogScore() == 0 {
			share.Kept++
		}
	}
	share.Estimate = float64(share.Kept) / float64(share.Drawn)
	share.SE = math.Sqrt(share.Estimate * (1 - share.Estimate) / float64(share.Drawn))
	return share, nil
}

// Ruled says whether the space has rules.
func (s *Space) Ruled() bool { return s.rules != nil }

// Counts returns the exact counts of the space: without rules in closed form,
// and with rules those of the ones that can be counted.
func (s *Space) Counts() (*count.Table, error) {
	if s.rules != nil {
		return s.rules.table, nil
	}
	return count.Unconstrained(s.ingredients, s.total)
}

// logDrawable returns the log of how many compositions of n ingredients
// [exactScratch.draw] draws from: |X_n|, unless some rules are not counted.
func (s *Space) logDrawable(n int) float64 {
	return s.rules.table.LogCount(n)
}

// Shares returns what part of the counted compositions keeps the rules that
// cannot be counted, by n from 1 on; nil if all rules are counted, and so the
// sparsity law is exact.
func (s *Space) Shares() []Share {
	if s.rules == nil {
		return nil
	}
	return s.rules.shares
}

// rulesName is what the rules are called where properties have names.
const rulesName = "rules"

// LogScore returns 0 where the rules are kept and −Inf elsewhere.
func (r *ruleset) LogScore(x *Composition) float64 { return logOf(r.keeps(x)) }

// keeps looks at every rule anew.
func (r *ruleset) keeps(x *Composition) bool {
	required := 0
	used, total := make([]int, len(r.groups)), make([]int, len(r.groups))
	for _, i := range x.Ingredients() {
		a := &r.amounts[i]
		if !a.Allows(x.Amount(int(i)), x.total) {
			return false
		}
		if a.Required {
			required++
		}
		for _, g := range r.groupsOf[i] {
			used[g]++
			total[g] += x.Amount(int(i))
		}
	}
	if required < r.required {
		return false
	}
	for k, g := range r.groups {
		if g.Used != nil && (used[k] < g.Used.Min || used[k] > g.Used.Max) || g.Total != nil && (total[k] < g.Total.Min || total[k] > g.Total.Max) {
			return false
		}
	}
	for _, n := range r.needs {
		if x.Amount(n.If) > 0 && !slices.ContainsFunc(n.Then, func(i int) bool { return x.Amount(i) > 0 }) {
			return false
		}
	}
	for _, l := range r.limits {
		sum := int64(0)
		for _, i := range x.Ingredients() {
			sum += l.factors[i] * int64(x.amounts[i])
		}
		if sum < l.min || sum > l.max {
			return false
		}
	}
	return true
}

// Scorer returns a scorer of x.
func (r *ruleset) Scorer(x *Composition) Scorer { return r.scorer(x) }

func (r *ruleset) scorer(x *Composition) *ruleScorer {
	return &ruleScorer{
		r: r, x: x,
		amounts:    make([]int32, x.N()),
		groupUsed:  make([]int32, len(r.groups)),
		groupTotal: make([]int64, len(r.groups)),
		met:        make([]int32, len(r.needs)),
		sums:       make([]int64, len(r.limits)),
		touched:    make([]int32, 0, 8),
	}
}

// ruleScorer keeps count of which rules a composition breaks, amount by amount.
type ruleScorer struct {
	r       *ruleset
	x       *Composition
	amounts []int32 // as last told
	used    []int32 // the ingredients with an amount, in no order, some maybe without

	missing    int     // required ingredients that are not used
	badAmounts int     // ingredients with an amount that they may not take
	groupUsed  []int32 // by group: members used, and their units
	groupTotal []int64
	badGroups  int
	met        []int32 // by need: how many of Then are used
	badNeeds   int
	sums       []int64 // by limit: Σ f_i·x_i
	touched    []int32
}

// Reset counts everything anew.
func (s *ruleScorer) Reset() {
	for _, i := range s.used {
		s.amounts[i] = 0
	}
	clear(s.groupUsed)
	clear(s.groupTotal)
	clear(s.met)
	clear(s.sums)
	s.used = s.used[:0]
	s.missing, s.badAmounts, s.badGroups, s.badNeeds = s.r.required, 0, 0, 0
	for g := range s.r.groups {
		if s.groupBroken(int32(g)) {
			s.badGroups++
		}
	}
	for _, i := range s.x.Ingredients() {
		s.set(int(i), s.x.amounts[i])
		s.used = append(s.used, i)
	}
}

// set changes one amount and what follows from it.
func (s *ruleScorer) set(i int, amount int32) {
	was := s.amounts[i]
	if was == amount {
		return
	}
	change := int32(0)
	switch {
	case was == 0:
		change = 1
	case amount == 0:
		change = -1
	}
	if change != 0 {
		s.badNeeds -= s.brokenNeeds(i)
	}
	s.amounts[i] = amount
	rule := &s.r.amounts[i]
	total := s.x.total
	if was > 0 && !rule.Allows(int(was), total) {
		s.badAmounts--
	}
	if amount > 0 && !rule.Allows(int(amount), total) {
		s.badAmounts++
	}
	if rule.Required {
		s.missing -= int(change)
	}
	for _, g := range s.r.groupsOf[i] {
		before := s.groupBroken(g)
		s.groupUsed[g] += change
		s.groupTotal[g] += int64(amount - was)
		s.badGroups += broke(before, s.groupBroken(g))
	}
	if change != 0 {
		for _, k := range s.r.meets[i] {
			s.met[k] += change
		}
		s.badNeeds += s.brokenNeeds(i)
	}
	for k := range s.r.limits {
		s.sums[k] += s.r.limits[k].factors[i] * int64(amount-was)
	}
}

// broke is how the number of broken rules changes.
func broke(before, after bool) int {
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}

func (s *ruleScorer) groupBroken(g int32) bool {
	return s.groupUsedBroken(g) || s.groupTotalBroken(g)
}

func (s *ruleScorer) groupUsedBroken(g int32) bool {
	u := s.r.groups[g].Used
	return u != nil && (int(s.groupUsed[g]) < u.Min || int(s.groupUsed[g]) > u.Max)
}

func (s *ruleScorer) groupTotalBroken(g int32) bool {
	t := s.r.groups[g].Total
	return t != nil && (s.groupTotal[g] < int64(t.Min) || s.groupTotal[g] > int64(t.Max))
}

// brokenNeeds counts those of an ingredient's needs that are not met.
func (s *ruleScorer) brokenNeeds(i int) int {
	n := 0
	for _, k := range s.r.needsOf[i] {
		if s.needBroken(k) {
			n++
		}
	}
	return n
}

// needBroken says whether a need is not met.
func (s *ruleScorer) needBroken(k int32) bool {
	return s.amounts[s.r.needs[k].If] > 0 && s.met[k] == 0
}

func (s *ruleScorer) limitsBroken() bool {
	for k, l := range s.r.limits {
		if s.sums[k] < l.min || s.sums[k] > l.max {
			return true
		}
	}
	return false
}

// kept says whether all rules are.
func (s *ruleScorer) kept() bool {
	return s.missing == 0 && s.badAmounts == 0 && s.badGroups == 0 && s.badNeeds == 0 && !s.limitsBroken()
}

func logOf(kept bool) float64 {
	if kept {
		return 0
	}
	return negInf
}

// LogScore returns 0 if all rules are kept, else −Inf.
func (s *ruleScorer) LogScore() float64 { return logOf(s.kept()) }

// at returns the score of one split of (i, j): k units to i.
func (s *ruleScorer) at(i, j, k int) float64 {
	a, b := s.amounts[i], s.amounts[j]
	s.set(i, int32(k))
	s.set(j, a+b-int32(k))
	score := s.LogScore()
	s.set(i, a)
	s.set(j, b)
	return score
}

// Moved takes over the new amounts.
func (s *ruleScorer) Moved(i, j int) {
	for _, k := range [2]int{i, j} {
		if amount := s.x.amounts[k]; amount != s.amounts[k] {
			if s.amounts[k] == 0 {
				s.used = append(s.used, int32(k))
			}
			s.set(k, amount)
		}
	}
	if len(s.used) > 4*s.x.Used()+64 { // those dropped long ago
		s.used = append(s.used[:0], s.x.Ingredients()...)
	}
}

// Line cuts the line to its feasible splits. The two ends are looked at one by
// one. Between them both ingredients are used: rules on what is used hold for
// all splits or for none, rules on groups' totals and limits leave an interval,
// and an ingredient's own amounts an interval and, with a step, a lattice in
// it.
func (s *ruleScorer) Line(i, j int, p *Pieces) {
	sum := int(s.amounts[i] + s.amounts[j])
	first := s.at(i, j, 0)
	p.Add(0, first)
	if sum == 0 {
		return
	}
	last := s.at(i, j, sum)
	previous := first
	add := func(start int, score float64) {
		if score != previous {
			p.Add(start, score)
			previous = score
		}
	}
	if sum > 1 {
		from, to := s.between(i, j, sum)
		if from > 1 || from >= to {
			add(1, negInf)
		}
		if ruleI, ruleJ := &s.r.amounts[i], &s.r.amounts[j]; from < to && ruleI.Step <= 1 && ruleJ.Step <= 1 {
			add(from, 0)
		} else {
			for k := from; k < to; k++ {
				add(k, logOf(ruleI.Allows(k, s.x.total) && ruleJ.Allows(sum-k, s.x.total)))
			}
		}
		if from < to && to < sum {
			add(to, negInf)
		}
	}
	add(sum, last)
}

// between returns the splits from ≤ k < to with both ingredients used that
// keep every rule but steps; none if from ≥ to.
func (s *ruleScorer) between(i, j, sum int) (from, to int) {
	a, b := s.amounts[i], s.amounts[j]
	s.set(i, 0)
	s.set(j, 0)
	// What i and j have no part in must hold already.
	others := s.badAmounts == 0
	s.set(i, 1)
	s.set(j, 1)
	s.touched = append(append(s.touched[:0], s.r.groupsOf[i]...), s.r.groupsOf[j]...)
	slices.Sort(s.touched)
	s.touched = slices.Compact(s.touched)
	bad := s.badGroups
	for _, g := range s.touched {
		if s.groupBroken(g) {
			bad--
		}
	}
	others = others && bad == 0 && s.missing == 0 && s.badNeeds == 0
	from, to = 1, sum
	narrow := func(least, most int64) { // for k
		from = int(max(int64(from), least))
		to = int(min(int64(to), most+1))
	}
	for _, g := range s.touched {
		if s.groupUsedBroken(g) {
			others = false
		}
		t := s.r.groups[g].Total
		if t == nil {
			continue
		}
		inI, inJ := slices.Contains(s.r.groupsOf[i], g), slices.Contains(s.r.groupsOf[j], g)
		rest := s.groupTotal[g]
		switch {
		case inI && inJ:
			if all := rest - 2 + int64(sum); all < int64(t.Min) || all > int64(t.Max) {
				others = false
			}
		case inI:
			rest--
			narrow(int64(t.Min)-rest, int64(t.Max)-rest)
		default:
			rest--
			narrow(int64(sum)-(int64(t.Max)-rest), int64(sum)-(int64(t.Min)-rest))
		}
	}
	for k := range s.r.limits {
		l := &s.r.limits[k]
		fi, fj := l.factors[i], l.factors[j]
		rest := s.sums[k] - fi - fj + fj*int64(sum) // at k = 0
		slope := fi - fj
		switch {
		case slope == 0:
			if rest < l.min || rest > l.max {
				others = false
			}
		case slope > 0:
			narrow(divideUp(subtract(l.min, rest), slope), divideDown(subtract(l.max, rest), slope))
		default:
			narrow(divideUp(subtract(rest, l.max), -slope), divideDown(subtract(rest, l.min), -slope))
		}
	}
	s.set(i, a)
	s.set(j, b)
	leastI, mostI := s.bounds(i)
	leastJ, mostJ := s.bounds(j)
	narrow(leastI, mostI)
	narrow(int64(sum)-mostJ, int64(sum)-leastJ)
	if !others {
		return 1, 1
	}
	return from, to
}

// bounds returns the least and the greatest amount of an ingredient in use.
func (s *ruleScorer) bounds(i int) (least, most int64) {
	a := &s.r.amounts[i]
	if a.Excluded {
		return 1, 0
	}
	least, most = int64(max(a.Min, 1)), int64(s.x.total)
	if a.Max > 0 {
		most = min(most, int64(a.Max))
	}
	return least, most
}

// subtract returns a − b, or the bound of int64 that it passes.
func subtract(a, b int64) int64 {
	d := a - b
	switch {
	case a >= 0 && b < 0 && d < 0:
		return math.MaxInt64
	case a < 0 && b > 0 && d > 0:
		return math.MinInt64
	}
	return d
}

// divideUp returns ⌈a/b⌉ and divideDown ⌊a/b⌋, for b > 0, kept away from the
// bounds of int64.
func divideUp(a, b int64) int64 { return -divideDown(-max(a, -math.MaxInt64), b) }

func divideDown(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return min(max(q, -1<<40), 1<<40)
}
