package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/portable"
	"kir/mcmc"
)

// ListOptions are the options of a shortlist.
type ListOptions struct {
	Length   int       // entries at most
	Distance *Distance // how much two compositions differ
	// Apart is the least distance between two entries. If that leaves fewer than Length of them,
	// more follow at a half and a quarter of it.
	Apart float64

	Least, Most []int                        // as in [Options]
	Refuse      func(ingredients []int) bool // as in [Options]
	Known       []*mcmc.Composition          // known recipes

	// Tolerance is the relative difference of scores that the model cannot resolve; 0 stands for 1
	// %.
	Tolerance float64

	// Exact marks every difference of scores as real: amounts change only between compositions of
	// equal score.
	Exact bool

	// Weight is the largest weight of a property in the sampled law, since the target of the
	// shortlist has none; 0 stands for 1. A difference that counts for much in that law, as with
	// portfolios, is one that the model resolves.
	Weight float64
}

// An Entry of a shortlist is a composition with its equally good alternatives.
type Entry struct {
	Found
	Scores []float64 // y_k of each objective, whatever its weight

	// Ranges are the amounts that each of the Parts may have, in exchange with one other part,
	// without a difference that the model resolves.
	Ranges []Range

	// ConditionRanges are, by condition, the indices of the values around the entry's own that make no
	// difference that the model resolves. The values of categories have no order, so a range of them
	// only says which neighbours in the list are as good.
	ConditionRanges []Range

	// Variants are nearly equal compositions of other ingredients, such as one with a trace more,
	// the best first. None is better than the entry.
	Variants []Found

	compared []Found // what was compared with it

	Apart   float64 // distance from the nearest entry before this one; NaN for the first
	Nearest []Near  // the nearest known recipes, at most 3
}

// A List is a shortlist and the work it took.
type List struct {
	Entries      []Entry
	Evaluations  int64 // lines that were scored to settle amounts and to find ranges
	Compositions int64 // and their splits
}

// A Range is the amounts from Low to High.
type Range struct {
	Low  int `json:"low"`
	High int `json:"high"`
}

// Near is the distance of a known recipe.
type Near struct {
	Known    int // index
	Distance float64
}

// ApartShare is the distance between the entries of a shortlist, as a share of the typical distance
// between two known recipes; see [Distance.Typical]. From 0.4 to 0.6 the mean score of twenty
// entries falls by about 1 %, and at 0.7 by 3 %.
const ApartShare = 0.55

const (
	mostVariants  = 3
	variantApart  = 0.25 // distance up to which another set of ingredients is a variant: 12 % exchanged
	variantWorse  = 0.05 // and by how much its log score may be lower
	mostNearest   = 3
	rangePartners = 3

	// The number of sweeps that settle amounts, and the relative fall of a line's score that the
	// model cannot resolve. On the fragrance example, whose truth is known, three sweeps raise the
	// true quality of twenty entries from 83.7 to 85.8 of 100 within equal scores, to 86.2 within
	// 0.1 %, 86.9 within 0.3 % and 85.6 within 1 %.
	settleSweeps    = 3
	settleTolerance = 0.002

	// settleOdds is the additional fall allowed for a log score times its weight.
	settleOdds = 0.1
)

// Shortlist chooses the best candidates that are far from each other. In the order of their score
// it takes each that is at least Apart from all those chosen before. Then it moves amounts to the
// middle of the range over which the score is nearly constant. There they are farthest from the
// edges of the model's data, which depend on the known recipes at hand. It skips candidates that
// break doses or sizes. The entries come the best first.
func Shortlist(ctx context.Context, t *mcmc.Target, candidates []Found, o ListOptions) (*List, error) {
	if o.Length < 0 || o.Distance == nil || !(o.Apart >= 0 && o.Apart <= 1) || !(o.Tolerance >= 0 && o.Tolerance < 1) {
		return nil, fmt.Errorf("shortlist: length %d, apart %v, tolerance %v: length must not be negative, the others in 0..1, and there must be a distance", o.Length, o.Apart, o.Tolerance)
	}
	if o.Tolerance == 0 {
		o.Tolerance = 0.01
	}
	l := &shortlister{ListOptions: o, target: t, doses: newDoses(t, o.Least, o.Most)}
	if err := l.admit(ctx, candidates); err != nil {
		return nil, err
	}
	entries := l.choose()
	for k := range entries {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		if err := l.finishEntry(entries, k); err != nil {
			return nil, fmt.Errorf("shortlist: %w", err)
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(b.LogScore, a.LogScore) })
	entries = withoutTwins(entries)
	for k := range entries {
		l.setNeighbours(entries, k)
	}
	return &List{entries, l.evaluations, l.compositions}, nil
}

// A shortlister is the state of [Shortlist].
type shortlister struct {
	ListOptions
	target *mcmc.Target
	doses  *doses
	pool   []Found // candidates, the best first

	evaluations, compositions int64
}

// admit keeps the candidates that may be suggested.
func (l *shortlister) admit(ctx context.Context, candidates []Found) error {
	s := &searcher{target: l.target, o: Options{Refuse: l.Refuse}}
	for k, f := range candidates {
		if k&255 == 0 {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
		}
		if math.IsInf(f.LogScore, -1) || !l.doses.allowsSize(len(f.Parts)) || s.refuses(f.Parts) ||
			slices.ContainsFunc(f.Parts, func(p mcmc.Part) bool { return !l.doses.allows(p.Ingredient, int32(p.Amount)) }) {
			continue
		}
		f.Parts = slices.Clone(f.Parts)
		sortParts(f.Parts)
		l.pool = append(l.pool, f)
	}
	sortFound(l.pool)
	l.pool = slices.CompactFunc(l.pool, func(f, g Found) bool {
		return slices.Equal(f.Parts, g.Parts) && slices.Equal(f.Conditions, g.Conditions)
	})
	l.pool = bestConditions(l.pool)
	return nil
}

// bestConditions keeps the first of the compositions of the same parts: of a list with the best first, the one
// with the best conditions.
func bestConditions(list []Found) []Found {
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(f Found) bool {
		if f.Conditions == nil {
			return false
		}
		key := fmt.Sprint(f.Parts)
		before := seen[key]
		seen[key] = true
		return before
	})
}

// choose takes the best candidates at full distance, then those at half of it, and so on.
func (l *shortlister) choose() []Entry {
	var entries []Entry
	a := &diversityFilter{distance: l.Distance, least: l.Apart}
	taken := make([]bool, len(l.pool))
	for range 3 {
		for k, f := range l.pool {
			if len(entries) == l.Length {
				return entries
			}
			if !taken[k] && a.allows(f.Parts) {
				taken[k] = true
				a.from = append(a.from, f)
				entries = append(entries, Entry{Found: Found{slices.Clone(f.Parts), slices.Clone(f.Conditions), f.LogScore}})
			}
		}
		a.least = float64(a.least / 2)
	}
	return entries
}

// finishEntry settles an entry, or replaces it by a better one nearby, and fills in its
// alternatives.
func (l *shortlister) finishEntry(entries []Entry, at int) error {
	e := &entries[at]
	w, err := l.settleAmounts(entries, at, e.Found)
	if err != nil {
		return err
	}
	e.Found = foundAt(w)
	if w, err = l.replaceByBetter(entries, at, w); err != nil {
		return err
	}
	if e.Scores, err = w.cursor.AppendScores(nil); err != nil {
		return err
	}
	before, compositions := w.evaluations, w.compositions
	for _, p := range e.Parts {
		r, err := l.amountRange(w, p)
		if err != nil {
			return err
		}
		e.Ranges = append(e.Ranges, r)
	}
	for k := range e.Conditions {
		r, err := l.conditionRange(w, k)
		if err != nil {
			return err
		}
		e.ConditionRanges = append(e.ConditionRanges, r)
	}
	l.evaluations += w.evaluations - before
	l.compositions += w.compositions - compositions
	return nil
}

// replaceByBetter replaces an entry by the best of the nearly equal compositions. Settling amounts
// may lower an entry's score below that of another set of ingredients. All compared compositions
// are settled in the same way. The others remain for the variants. The walker w has settled the
// entry. The returned walker stands at the new entry.
func (l *shortlister) replaceByBetter(entries []Entry, at int, w *walker) (*walker, error) {
	e := &entries[at]
	tried := []Found{e.Found}
	for again := true; again; {
		again = false
		for _, f := range l.pool {
			if f.LogScore <= e.LogScore {
				break
			}
			if l.Distance.Between(e.Parts, f.Parts) > variantApart || slices.ContainsFunc(tried, func(g Found) bool { return sameSet(f.Parts, g.Parts) }) {
				continue
			}
			tried = append(tried, f)
			other, err := l.settleAmounts(entries, at, f)
			if err != nil {
				return nil, err
			}
			better := foundAt(other)
			if better.LogScore <= e.LogScore || !l.canReplace(entries, at, better) {
				e.compared = append(e.compared, better)
				continue
			}
			e.compared = append(e.compared, e.Found)
			e.Found, w = better, other
			again = true // what is near it may have been passed over
			break
		}
	}
	return w, nil
}

// canReplace reports whether a composition may replace an entry: it must be as far from the others
// as required, or as far as the entry is.
func (l *shortlister) canReplace(entries []Entry, at int, f Found) bool {
	for k := range entries {
		if k != at && l.Distance.Between(f.Parts, entries[k].Parts) < min(l.Apart, l.Distance.Between(entries[at].Parts, entries[k].Parts)) {
			return false
		}
	}
	return true
}

// settleAmounts returns a walker that has settled the amounts of a composition in place of an
// entry.
func (l *shortlister) settleAmounts(entries []Entry, at int, f Found) (*walker, error) {
	s := &searcher{target: l.target, doses: l.doses, archive: &Archive{}}
	w, err := newWalker(s, f, nil)
	if err != nil {
		return nil, err
	}
	others := &diversityFilter{distance: l.Distance, least: l.Apart}
	near := &diversityFilter{distance: l.Distance, least: math.SmallestNonzeroFloat64} // which it must not become
	for k := range entries {
		if k == at {
			continue
		}
		if l.Distance.Between(f.Parts, entries[k].Parts) >= l.Apart {
			others.from = append(others.from, entries[k].Found)
		} else {
			near.from = append(near.from, entries[k].Found)
		}
	}
	for range settleSweeps {
		if err := w.bestValues(); err != nil {
			return nil, err
		}
		for _, p := range f.Parts {
			if err := l.settleAmount(w, others, near, p.Ingredient); err != nil {
				return nil, err
			}
		}
	}
	l.evaluations += w.evaluations
	l.compositions += w.compositions
	return w, nil
}

// foundAt returns the composition of a walker.
func foundAt(w *walker) Found {
	return Found{w.cursor.Composition().Parts(), w.cursor.Composition().AppendConditions(nil), w.cursor.LogScore()}
}

// partners returns the ingredients with the largest amounts, except i. They exchange units with the
// others.
func partners(x *mcmc.Composition, i int) []int {
	parts := x.Parts()
	slices.SortStableFunc(parts, func(p, q mcmc.Part) int { return cmp.Compare(q.Amount, p.Amount) })
	var most []int
	for _, p := range parts {
		if p.Ingredient != i && len(most) < rangePartners {
			most = append(most, p.Ingredient)
		}
	}
	return most
}

// settleAmount moves the amount of i, against each of its partners in turn, to the middle of the
// range around the line's best that the model cannot resolve. It does so only if the result stays
// far from the others and equals none of those near.
func (l *shortlister) settleAmount(w *walker, others, near *diversityFilter, i int) error {
	x := w.cursor.Composition()
	for _, j := range partners(x, i) {
		s := x.Amount(i) + x.Amount(j)
		if err := w.scoreLine(i, j, s); err != nil {
			return err
		}
		inner := w.inner(s)
		best := 0
		for q, c := range inner {
			here := c.from <= x.Amount(i) && x.Amount(i) < c.to
			if c.value > inner[best].value || c.value == inner[best].value && here {
				best = q
			}
		}
		if len(inner) == 0 || inner[best].value < w.cursor.LogScore() {
			continue
		}
		least := inner[best].value
		if !l.Exact {
			least -= min(-portable.Log1p(-settleTolerance), settleOdds/max(l.Weight, 1))
		}
		low, high := best, best
		for low > 0 && inner[low-1].value >= least && inner[low-1].to == inner[low].from {
			low--
		}
		for high+1 < len(inner) && inner[high+1].value >= least && inner[high+1].from == inner[high].to {
			high++
		}
		k := (inner[low].from + inner[high].to - 1) / 2
		if to := w.partsWith(i, j, s, k); k == x.Amount(i) || !others.allows(to) || !near.allows(to) {
			continue
		}
		for _, c := range inner[low : high+1] {
			if c.from <= k && k < c.to {
				w.cursor.Move(i, j, k, c.value)
				break
			}
		}
	}
	return nil
}

// amountRange returns the range of amounts of an ingredient.
func (l *shortlister) amountRange(w *walker, of mcmc.Part) (Range, error) {
	x, r := w.cursor.Composition(), Range{of.Amount, of.Amount}
	i, least := of.Ingredient, w.cursor.LogScore()+portable.Log1p(-l.Tolerance)
	for _, j := range partners(x, i) {
		s := of.Amount + x.Amount(j)
		if err := w.scoreLine(i, j, s); err != nil {
			return r, err
		}
		inner := w.inner(s)
		low, high := of.Amount, of.Amount
		for _, c := range inner {
			if c.value >= least && c.from <= high+1 && c.to > high {
				high = c.to - 1
			}
		}
		for _, c := range slices.Backward(inner) {
			if c.value >= least && c.to >= low && c.from < low {
				low = c.from
			}
		}
		r.Low, r.High = min(r.Low, low), max(r.High, high)
	}
	return r, nil
}

// conditionRange returns the range of the values of condition k around its own.
func (l *shortlister) conditionRange(w *walker, k int) (Range, error) {
	at := w.cursor.Composition().Condition(k)
	r, least := Range{at, at}, w.cursor.LogScore()+portable.Log1p(-l.Tolerance)
	p, err := w.cursor.Values(k)
	if err != nil {
		return r, err
	}
	last := len(l.target.Space().Conditions()[k].Weights)
	from := make([]float64, last) // the score of each value
	for q := range p.Len() {
		start, score := p.Piece(q)
		to := last
		if q+1 < p.Len() {
			to, _ = p.Piece(q + 1)
		}
		for v := start; v < to; v++ {
			from[v] = score
		}
	}
	for r.Low > 0 && from[r.Low-1] >= least {
		r.Low--
	}
	for r.High+1 < last && from[r.High+1] >= least {
		r.High++
	}
	return r, nil
}

// withoutTwins drops the entries whose parts an earlier one has. Settling may give two recipes that had other
// conditions the same amounts.
func withoutTwins(entries []Entry) []Entry {
	var kept []Entry
	for _, e := range entries {
		if e.Conditions == nil || !slices.ContainsFunc(kept, func(other Entry) bool { return slices.Equal(other.Parts, e.Parts) }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// setNeighbours fills in an entry's distance from the others, its variants and the nearest known
// recipes.
func (l *shortlister) setNeighbours(entries []Entry, at int) {
	e := &entries[at]
	e.Apart = math.NaN()
	for k := range at {
		if d := l.Distance.Between(entries[k].Parts, e.Parts); !(d >= e.Apart) {
			e.Apart = d
		}
	}
	near := slices.Concat(e.compared, l.pool)
	sortFound(near)
	for _, f := range near {
		if f.LogScore < e.LogScore-variantWorse || len(e.Variants) == mostVariants {
			break
		}
		if f.LogScore <= e.LogScore && !sameSet(f.Parts, e.Parts) && l.Distance.Between(e.Parts, f.Parts) <= variantApart &&
			!slices.ContainsFunc(e.Variants, func(v Found) bool { return sameSet(v.Parts, f.Parts) }) &&
			!slices.ContainsFunc(entries, func(o Entry) bool { return slices.Equal(o.Parts, f.Parts) }) {
			e.Variants = append(e.Variants, f)
		}
	}
	for k, x := range l.Known {
		e.Nearest = append(e.Nearest, Near{k, l.Distance.Between(x.Parts(), e.Parts)})
	}
	slices.SortStableFunc(e.Nearest, func(a, b Near) int { return cmp.Compare(a.Distance, b.Distance) })
	e.Nearest = e.Nearest[:min(len(e.Nearest), mostNearest)]
}

// sameSet reports whether two compositions use the same ingredients.
func sameSet(x, y []mcmc.Part) bool {
	return slices.EqualFunc(x, y, func(p, q mcmc.Part) bool { return p.Ingredient == q.Ingredient })
}
