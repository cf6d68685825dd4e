package weigh

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"kir/rule"
)

// A rounding is the search for whole numbers near ideal ones.
type rounding struct {
	parts   []rule.Part
	ideal   []float64  // q
	weights []*big.Rat // what a step of each part is of the batch, up to a factor
	sum     int64      // S
	total   int64      // M
	text    func(rule int) string
	bounds  []bound
	nodes   int // how many partial roundings may be looked at
}

// A bound is Σ_i factor_i·x_i ≥ 0, of one rule.
type bound struct {
	factors []*big.Rat
	floats  []float64
	rule    int
	// period, if it is not 0, lets the units of part be first and whole periods more.
	part, first, period int
}

// constrain writes out what the rules say of compositions of the parts: with u_i =
// M·w_i·x_i / Σ_j w_j·x_j, the units that x_i steps are, lo ≤ Σ c_i·u_i is
// Σ (M·c_i − lo)·w_i·x_i ≥ 0.
func (r *rounding) constrain(rules rule.Set) error {
	for k, one := range rules.Rules {
		if one == nil {
			continue
		}
		alone := rules
		alone.Rules = []rule.Rule{one}
		c, err := alone.Conditions()
		if err != nil {
			return err
		}
		r.write(c, k)
	}
	return nil
}

// write writes out the conditions of a rule.
func (r *rounding) write(c *rule.Conditions, of int) {
	for k, p := range r.parts {
		a := c.Amounts[p.Ingredient]
		own := make([]int64, len(r.parts))
		own[k] = 1
		if a.Min > 1 {
			r.add(of, own, int64(a.Min), 1)
		}
		if a.Max > 0 && a.Max < c.Total {
			r.add(of, own, int64(a.Max), -1)
		}
		if a.Step > 1 {
			r.bounds = append(r.bounds, bound{rule: of, part: k, first: a.Min, period: a.Step})
		}
	}
	for _, g := range c.Groups {
		if g.Total == nil {
			continue
		}
		factors := make([]int64, len(r.parts))
		for k, p := range r.parts {
			if slices.Contains(g.Members, p.Ingredient) {
				factors[k] = 1
			}
		}
		r.between(of, factors, int64(g.Total.Min), int64(g.Total.Max))
	}
	for _, s := range c.Sums {
		factors := make([]int64, len(r.parts))
		for k, p := range r.parts {
			factors[k] = s.Factors[p.Ingredient]
		}
		r.between(of, factors, s.Min, s.Max)
	}
}

// between adds lo ≤ Σ factor_i·u_i ≤ hi.
func (r *rounding) between(of int, factors []int64, lo, hi int64) {
	if !slices.ContainsFunc(factors, func(f int64) bool { return f != 0 }) {
		return
	}
	if lo != math.MinInt64 {
		r.add(of, factors, lo, 1)
	}
	if hi != math.MaxInt64 {
		r.add(of, factors, hi, -1)
	}
}

// add adds sign·(Σ factor_i·u_i − least) ≥ 0.
func (r *rounding) add(of int, factors []int64, least int64, sign int64) {
	b := bound{rule: of}
	m := big.NewInt(r.total)
	for k, f := range factors {
		v := new(big.Int).Mul(m, big.NewInt(f))
		v.Sub(v, big.NewInt(least)).Mul(v, big.NewInt(sign))
		factor := new(big.Rat).SetInt(v)
		factor.Mul(factor, r.weights[k])
		b.factors = append(b.factors, factor)
	}
	// To sizes about 1, so that floats of all bounds can be compared alike.
	top := new(big.Rat)
	for _, f := range b.factors {
		if a := new(big.Rat).Abs(f); a.Cmp(top) > 0 {
			top = a
		}
	}
	for _, f := range b.factors {
		v := 0.0
		if top.Sign() > 0 {
			v, _ = new(big.Rat).Quo(f, top).Float64()
		}
		b.floats = append(b.floats, v)
	}
	r.bounds = append(r.bounds, b)
}

// keeps says exactly whether steps keep a bound.
func (r *rounding) keeps(b *bound, steps []int64) bool {
	sum, term := new(big.Rat), new(big.Rat)
	factors := b.factors
	if b.period > 0 {
		factors = r.weights
	}
	for k, x := range steps {
		sum.Add(sum, term.Mul(factors[k], term.SetInt64(x)))
	}
	if b.period == 0 {
		return sum.Sign() >= 0
	}
	units := new(big.Rat).SetInt64(r.total * steps[b.part])
	units.Mul(units, r.weights[b.part]).Quo(units, sum)
	return units.IsInt() && (units.Num().Int64()-int64(b.first))%int64(b.period) == 0
}

const (
	// farthest is how many steps of the scale an amount may be from its ideal.
	farthest = 16
	// mostNodes is how many partial roundings are looked at.
	mostNodes = 400_000
)

// search looks for the best rounding that keeps some of the bounds: near the ideals
// first, and farther away where that is in vain.
func (r *rounding) search(bounds []bound) (steps []int64, found bool) {
	for far := 2; far <= farthest; far *= 2 {
		w := newWalk(r, bounds, far)
		if w.empty {
			continue
		}
		if w.descend(0, 0, 0, 0); w.best != nil {
			return w.best, true
		}
	}
	return nil, false
}

// reason says what stands in the way: a rule that cannot be kept alone, or all.
func (r *rounding) reason() string {
	for k := 0; k < len(r.bounds); {
		end := k
		for end < len(r.bounds) && r.bounds[end].rule == r.bounds[k].rule {
			end++
		}
		if _, ok := r.search(r.bounds[k:end]); !ok {
			return fmt.Sprintf("no rounding to this scale keeps the rule %s", r.name(r.bounds[k].rule))
		}
		k = end
	}
	return fmt.Sprintf("no rounding within %d steps of this scale was found that keeps all rules at once", farthest)
}

func (r *rounding) name(k int) string {
	if r.text == nil {
		return fmt.Sprintf("number %d", k+1)
	}
	return r.text(k)
}

// A walk goes through roundings by branch and bound. A partial rounding of the
// first k parts costs at least
//
//	Σ_{i<k} d_i² + Σ_{i≥k} min_x (d_i² − λ·d_i) + λ·(D − Σ_{i<k} d_i), d_i = x_i − q_i,
//
// for any λ, since Σ d_i = D = S − Σ q_i. λ is the price at which the method of the
// largest remainder gives out its last step, with which the bound is tight at the
// root if there are no rules.
type walk struct {
	*rounding
	bounds []bound
	order  []int     // of the parts, those of few choices first
	choice [][]int64 // by place in the order, the nearest first
	empty  bool      // some part has no choice

	lambda, due float64
	rest        []float64   // Σ of min over the places from k on
	least, most []int64     // Σ of the choices from k on
	reach       [][]float64 // by bound: the most that the places from k on can add
	steps       []int64     // by part, so far
	partial     []float64   // of each bound, so far
	best        []int64
	bestCost    float64
	seen        int
}

func newWalk(r *rounding, bounds []bound, far int) *walk {
	n := len(r.parts)
	w := &walk{rounding: r, bounds: bounds, steps: make([]int64, n), partial: make([]float64, len(bounds)), bestCost: math.Inf(1)}
	choices := make([][]int64, n)
	for i, q := range r.ideal {
		from := max(1, int64(math.Floor(q))-int64(far)+1)
		for x := from; x <= max(from, int64(math.Floor(q))+int64(far)); x++ {
			if r.alone(bounds, i, x) {
				choices[i] = append(choices[i], x)
			}
		}
		slices.SortStableFunc(choices[i], func(a, b int64) int {
			return cmp.Compare(math.Abs(float64(a)-q), math.Abs(float64(b)-q))
		})
		w.empty = w.empty || len(choices[i]) == 0
		w.order = append(w.order, i)
		w.due -= q
	}
	if w.empty {
		return w
	}
	w.due += float64(r.sum)
	slices.SortStableFunc(w.order, func(a, b int) int { return cmp.Compare(len(choices[a]), len(choices[b])) })
	for _, i := range w.order {
		w.choice = append(w.choice, choices[i])
	}
	w.price()
	w.suffixes()
	return w
}

// alone says whether a number of steps of a part can keep the bounds that are about
// it alone; where all is one measure, its units are then known.
func (r *rounding) alone(bounds []bound, part int, x int64) bool {
	same := !slices.ContainsFunc(r.weights, func(w *big.Rat) bool { return w.Cmp(r.weights[0]) != 0 })
	if !same {
		return true
	}
	for k := range bounds {
		b := &bounds[k]
		if b.period == 0 || b.part != part {
			continue
		}
		units := new(big.Rat).SetFrac64(r.total*x, r.sum)
		if !units.IsInt() || (units.Num().Int64()-int64(b.first))%int64(b.period) != 0 {
			return false
		}
	}
	return true
}

// price finds λ.
func (w *walk) price() {
	var prices []float64
	left := w.sum
	for _, q := range w.ideal {
		left -= int64(math.Floor(q))
		prices = append(prices, 1-2*(q-math.Floor(q)))
	}
	slices.Sort(prices)
	at := min(max(int(left), 0), len(prices))
	w.lambda = (prices[max(at-1, 0)] + prices[min(at, len(prices)-1)]) / 2
}

// suffixes works out what the places from k on cost and reach.
func (w *walk) suffixes() {
	n := len(w.order)
	w.rest, w.least, w.most = make([]float64, n+1), make([]int64, n+1), make([]int64, n+1)
	for k := n - 1; k >= 0; k-- {
		cheapest := math.Inf(1)
		for _, x := range w.choice[k] {
			d := float64(x) - w.ideal[w.order[k]]
			cheapest = min(cheapest, d*d-w.lambda*d)
		}
		w.rest[k] = w.rest[k+1] + cheapest
		w.least[k] = w.least[k+1] + slices.Min(w.choice[k])
		w.most[k] = w.most[k+1] + slices.Max(w.choice[k])
	}
	for b := range w.bounds {
		reach := make([]float64, n+1)
		if w.bounds[b].period == 0 {
			for k := n - 1; k >= 0; k-- {
				f := w.bounds[b].floats[w.order[k]]
				reach[k] = reach[k+1] + max(f*float64(slices.Min(w.choice[k])), f*float64(slices.Max(w.choice[k])))
			}
		}
		w.reach = append(w.reach, reach)
	}
}

// descend tries all choices of the place k and those behind it.
func (w *walk) descend(k int, sum int64, off, cost float64) {
	if w.seen++; w.seen > w.nodes {
		return
	}
	if least := cost + w.rest[k] + w.lambda*(w.due-off); least >= w.bestCost-tolerance {
		return
	}
	if sum+w.least[k] > w.sum || sum+w.most[k] < w.sum {
		return
	}
	for b := range w.bounds {
		if w.bounds[b].period == 0 && !within(w.partial[b]+w.reach[b][k], float64(w.sum)) {
			return
		}
	}
	if k == len(w.order) {
		for b := range w.bounds {
			if !w.keeps(&w.bounds[b], w.steps) {
				return
			}
		}
		w.best, w.bestCost = slices.Clone(w.steps), cost
		return
	}
	i := w.order[k]
	before := slices.Clone(w.partial)
	for _, x := range w.choice[k] {
		w.steps[i] = x
		for b := range w.bounds {
			if w.bounds[b].period == 0 {
				w.partial[b] = before[b] + w.bounds[b].floats[i]*float64(x)
			}
		}
		d := float64(x) - w.ideal[i]
		w.descend(k+1, sum+x, off+d, cost+d*d)
	}
	copy(w.partial, before)
}
