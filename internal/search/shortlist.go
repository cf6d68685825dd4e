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

// ListOptions state what a shortlist may contain and how much its entries must differ.
type ListOptions struct {
	MaxEntries int       // greatest number of entries
	Distance   *Distance // measure of how much two compositions differ
	// MinDistance is the least distance between two entries. If fewer than Length candidates are this far apart,
	// more candidates are added at a half and at a quarter of this distance.
	MinDistance float64

	Least, Most []int                        // limits of amounts; see [Options]
	Refuse      func(ingredients []int) bool // reports sets of ingredients that must not be suggested; see [Options]
	Known       []*mcmc.Composition          // known recipes

	// Tolerance is the relative difference of scores below which the model cannot distinguish compositions. 0 means
	// 1 %.
	Tolerance float64

	// Exact means that every difference of scores is real. Amounts then change only between compositions of equal
	// score.
	Exact bool

	// Weight is the largest weight of an objective in the sampled law; 0 means 1. The target by which the shortlist
	// is scored has no weights. With a large weight, as for portfolios, small differences of the score are real.
	Weight float64
}

// An Entry is a composition of a shortlist, with alternatives that are about equally good.
type Entry struct {
	Found
	Scores []float64 // by objective: its score y_k, without weight

	// Ranges holds, for each of Parts, the range of amounts within which the model cannot distinguish the scores.
	// The amount changes in exchange with one other ingredient.
	Ranges []Range

	// ConditionRanges holds, for each condition, a range of value indices around the value of the entry. Within
	// this range the model cannot distinguish the scores. Categories have no order, so their range only shows which
	// neighbours in the list are as good.
	ConditionRanges []Range

	// Variants are nearby compositions with another set of ingredients, such as an additional trace, from best to
	// worst. No variant scores higher than the entry.
	Variants []Found

	rejectedReplacements []Found // nearby compositions with settled amounts that replaceByBetterNeighbour compared and did not choose

	EarlierDistance float64      // distance from the nearest of the earlier entries; NaN for the first entry
	Nearest         []NearRecipe // nearest known recipes, at most 3
}

// A List is a shortlist, with the number of lines and compositions scored to make it.
type List struct {
	Entries      []Entry
	Evaluations  int64 // number of lines (see mcmc.Scorer) scored to settle amounts and find ranges
	Compositions int64 // number of compositions on the scored lines
}

// A Range is the whole numbers from Low to High: amounts in units, or indices of condition values.
type Range struct {
	Low  int `json:"low"`
	High int `json:"high"`
}

// A NearRecipe is a known recipe and its distance from an entry.
type NearRecipe struct {
	KnownIndex int // index of the recipe in ListOptions.Known
	Distance   float64
}

// MinDistanceShare is the least distance between entries of a shortlist, as a fraction of the typical distance
// between two known recipes; see [Distance.Typical]. From 0.4 to 0.6 the mean score of twenty entries decreases by
// about 1 %, and at 0.7 by 3 %.
const MinDistanceShare = 0.55

const (
	maxVariants         = 3    // greatest number of variants of an entry
	maxVariantDistance  = 0.25 // greatest distance of a variant from its entry: 12 % of the recipe exchanged
	maxVariantScoreDrop = 0.05 // greatest amount by which the log score of a variant may be below the log score of its entry
	maxNearest          = 3    // greatest number of known recipes that an entry lists as nearest
	maxExchangePartners = 3    // greatest number of ingredients in exchange with which an amount is changed

	// Amounts are settled in settleSweeps sweeps. The score of a line may decrease by the fraction settleTolerance,
	// which the model cannot distinguish. On the fragrance example, whose truth is known, three sweeps within equal
	// scores raise the true quality of twenty entries from 83.7 to 85.8 of 100. They raise it to 86.2 within 0.1 %,
	// 86.9 within 0.3 % and 85.6 within 1 %.
	settleSweeps    = 3
	settleTolerance = 0.002

	// maxSettleDrop is the greatest decrease of the log score, multiplied by [ListOptions.Weight], when amounts are
	// settled.
	maxSettleDrop = 0.1
)

// Shortlist chooses the best candidates that differ from each other. In descending order of score it takes each
// candidate that is at least MinDistance from all candidates taken before. It then settles the amounts: each amount
// moves to the middle of the range where the score is nearly constant. There the amount is farthest from the edges
// of the model's data, which depend on the known recipes at hand. Candidates beyond the limits of amounts or sizes
// are skipped. The entries are sorted from best to worst.
func Shortlist(ctx context.Context, t *mcmc.Target, candidates []Found, o ListOptions) (*List, error) {
	if o.MaxEntries < 0 || o.Distance == nil || !(o.MinDistance >= 0 && o.MinDistance <= 1) || !(o.Tolerance >= 0 && o.Tolerance < 1) {
		return nil, fmt.Errorf("shortlist: length %d, apart %v, tolerance %v: length must not be negative, the others in 0..1, and there must be a distance", o.MaxEntries, o.MinDistance, o.Tolerance)
	}
	if o.Tolerance == 0 {
		o.Tolerance = 0.01
	}
	l := &shortlister{ListOptions: o, target: t, limits: newAmountLimits(t, o.Least, o.Most)}
	if err := l.admitCandidates(ctx, candidates); err != nil {
		return nil, err
	}
	entries := l.chooseEntries()
	for k := range entries {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		if err := l.finishEntry(entries, k); err != nil {
			return nil, fmt.Errorf("shortlist: %w", err)
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(b.LogScore, a.LogScore) })
	entries = dropEqualEntries(entries)
	for k := range entries {
		l.setNeighbours(entries, k)
	}
	return &List{entries, l.evaluations, l.compositions}, nil
}

// A shortlister holds the state of a call of [Shortlist].
type shortlister struct {
	ListOptions
	target     *mcmc.Target
	limits     *amountLimits
	candidates []Found // candidates that may be suggested, from best to worst

	evaluations, compositions int64
}

// admitCandidates adds to l.candidates the compositions that may be suggested.
func (l *shortlister) admitCandidates(ctx context.Context, candidates []Found) error {
	s := &searcher{target: l.target, options: Options{Refuse: l.Refuse}}
	for k, f := range candidates {
		if k&255 == 0 {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
		}
		if math.IsInf(f.LogScore, -1) || !l.limits.allowsSize(len(f.Parts)) || s.refusesIngredients(f.Parts) ||
			slices.ContainsFunc(f.Parts, func(p mcmc.Part) bool { return !l.limits.allowsAmount(p.Ingredient, int32(p.Amount)) }) {
			continue
		}
		f.Parts = slices.Clone(f.Parts)
		sortByIngredient(f.Parts)
		l.candidates = append(l.candidates, f)
	}
	sortByScore(l.candidates)
	l.candidates = slices.CompactFunc(l.candidates, func(f, g Found) bool {
		return slices.Equal(f.Parts, g.Parts) && slices.Equal(f.Conditions, g.Conditions)
	})
	l.candidates = keepBestConditions(l.candidates)
	return nil
}

// keepBestConditions keeps only the first of all compositions with equal parts. In a list sorted from best to worst
// this is the composition with the best conditions.
func keepBestConditions(list []Found) []Found {
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

// chooseEntries returns the best candidates at the full minimum distance from each other. If there are too few, it
// adds candidates at half and at a quarter of this distance.
func (l *shortlister) chooseEntries() []Entry {
	var entries []Entry
	a := &diversityFilter{distance: l.Distance, minDistance: l.MinDistance}
	taken := make([]bool, len(l.candidates))
	for range 3 {
		for k, f := range l.candidates {
			if len(entries) == l.MaxEntries {
				return entries
			}
			if !taken[k] && a.isFarEnough(f.Parts) {
				taken[k] = true
				a.avoidedCompositions = append(a.avoidedCompositions, f)
				entries = append(entries, Entry{Found: Found{slices.Clone(f.Parts), slices.Clone(f.Conditions), f.LogScore}})
			}
		}
		a.minDistance = float64(a.minDistance / 2)
	}
	return entries
}

// finishEntry settles the amounts of the entry with index at, replaces the entry by a better composition nearby if
// there is one, and finds its ranges.
func (l *shortlister) finishEntry(entries []Entry, at int) error {
	e := &entries[at]
	w, err := l.settleAmounts(entries, at, e.Found)
	if err != nil {
		return err
	}
	e.Found = currentFound(w)
	if w, err = l.replaceByBetterNeighbour(entries, at, w); err != nil {
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

// replaceByBetterNeighbour replaces an entry by the best composition near it, if this composition scores higher.
// Settling amounts may have lowered the score of the entry below the score of another set of ingredients. The
// amounts of each composition compared are settled in the same way. Compositions that lose become candidates for
// variants. The walker w stands at the settled entry, and the returned walker at the new entry.
func (l *shortlister) replaceByBetterNeighbour(entries []Entry, at int, w *walker) (*walker, error) {
	e := &entries[at]
	tried := []Found{e.Found}
	for again := true; again; {
		again = false
		for _, f := range l.candidates {
			if f.LogScore <= e.LogScore {
				break
			}
			if l.Distance.Between(e.Parts, f.Parts) > maxVariantDistance || slices.ContainsFunc(tried, func(g Found) bool { return sameIngredients(f.Parts, g.Parts) }) {
				continue
			}
			tried = append(tried, f)
			other, err := l.settleAmounts(entries, at, f)
			if err != nil {
				return nil, err
			}
			better := currentFound(other)
			if better.LogScore <= e.LogScore || !l.canReplace(entries, at, better) {
				e.rejectedReplacements = append(e.rejectedReplacements, better)
				continue
			}
			e.rejectedReplacements = append(e.rejectedReplacements, e.Found)
			e.Found, w = better, other
			again = true // begin again: other compositions may be near the new entry
			break
		}
	}
	return w, nil
}

// canReplace reports whether f may replace the entry with index at. f must be at least MinDistance from each other
// entry, or at least as far as the present entry is.
func (l *shortlister) canReplace(entries []Entry, at int, f Found) bool {
	for k := range entries {
		if k != at && l.Distance.Between(f.Parts, entries[k].Parts) < min(l.MinDistance, l.Distance.Between(entries[at].Parts, entries[k].Parts)) {
			return false
		}
	}
	return true
}

// settleAmounts settles the amounts of composition f as if f stood at index at of the entries; see [Shortlist]. It
// returns a walker that stands at the settled composition.
func (l *shortlister) settleAmounts(entries []Entry, at int, f Found) (*walker, error) {
	s := &searcher{target: l.target, limits: l.limits, archive: &Archive{}}
	w, err := newWalker(s, f, nil)
	if err != nil {
		return nil, err
	}
	others := &diversityFilter{distance: l.Distance, minDistance: l.MinDistance}
	near := &diversityFilter{distance: l.Distance, minDistance: math.SmallestNonzeroFloat64} // f must not become equal to one of these
	for k := range entries {
		if k == at {
			continue
		}
		if l.Distance.Between(f.Parts, entries[k].Parts) >= l.MinDistance {
			others.avoidedCompositions = append(others.avoidedCompositions, entries[k].Found)
		} else {
			near.avoidedCompositions = append(near.avoidedCompositions, entries[k].Found)
		}
	}
	for range settleSweeps {
		if err := w.setBestConditions(); err != nil {
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

// currentFound returns the composition at which a walker stands, with its log score.
func currentFound(w *walker) Found {
	return Found{w.cursor.Composition().Parts(), w.cursor.Composition().AppendConditions(nil), w.cursor.LogScore()}
}

// largestOtherIngredients returns the ingredients other than i with the largest amounts, at most three. The amount of i
// changes only in exchange with these.
func largestOtherIngredients(x *mcmc.Composition, i int) []int {
	parts := x.Parts()
	slices.SortStableFunc(parts, func(p, q mcmc.Part) int { return cmp.Compare(q.Amount, p.Amount) })
	var most []int
	for _, p := range parts {
		if p.Ingredient != i && len(most) < maxExchangePartners {
			most = append(most, p.Ingredient)
		}
	}
	return most
}

// settleAmount changes the amount of i in exchange with each of its partners in turn. It moves to the middle of the
// range whose scores the model cannot distinguish from the best score on the line. It moves only if the result is
// far enough from the compositions of the filter others and differs from all compositions of the filter near.
func (l *shortlister) settleAmount(w *walker, others, near *diversityFilter, i int) error {
	x := w.cursor.Composition()
	for _, j := range largestOtherIngredients(x, i) {
		s := x.Amount(i) + x.Amount(j)
		if err := w.scoreLine(i, j, s); err != nil {
			return err
		}
		inner := w.innerChoices(s)
		best := 0
		for q, c := range inner {
			here := c.from <= x.Amount(i) && x.Amount(i) < c.to
			if c.logScore > inner[best].logScore || c.logScore == inner[best].logScore && here {
				best = q
			}
		}
		if len(inner) == 0 || inner[best].logScore < w.cursor.LogScore() {
			continue
		}
		least := inner[best].logScore
		if !l.Exact {
			least -= min(-portable.Log1p(-settleTolerance), maxSettleDrop/max(l.Weight, 1))
		}
		low, high := best, best
		for low > 0 && inner[low-1].logScore >= least && inner[low-1].to == inner[low].from {
			low--
		}
		for high+1 < len(inner) && inner[high+1].logScore >= least && inner[high+1].from == inner[high].to {
			high++
		}
		k := (inner[low].from + inner[high].to - 1) / 2
		if to := w.partsWithSplit(i, j, s, k); k == x.Amount(i) || !others.isFarEnough(to) || !near.isFarEnough(to) {
			continue
		}
		for _, c := range inner[low : high+1] {
			if c.from <= k && k < c.to {
				w.cursor.Move(i, j, k, c.logScore)
				break
			}
		}
	}
	return nil
}

// amountRange returns the range of amounts that an ingredient may have, in exchange with one of its partners, while
// the score stays within the tolerance.
func (l *shortlister) amountRange(w *walker, of mcmc.Part) (Range, error) {
	x, r := w.cursor.Composition(), Range{of.Amount, of.Amount}
	i, least := of.Ingredient, w.cursor.LogScore()+portable.Log1p(-l.Tolerance)
	for _, j := range largestOtherIngredients(x, i) {
		s := of.Amount + x.Amount(j)
		if err := w.scoreLine(i, j, s); err != nil {
			return r, err
		}
		inner := w.innerChoices(s)
		low, high := of.Amount, of.Amount
		for _, c := range inner {
			if c.logScore >= least && c.from <= high+1 && c.to > high {
				high = c.to - 1
			}
		}
		for _, c := range slices.Backward(inner) {
			if c.logScore >= least && c.to >= low && c.from < low {
				low = c.from
			}
		}
		r.Low, r.High = min(r.Low, low), max(r.High, high)
	}
	return r, nil
}

// conditionRange returns the range of value indices of condition k, around the present value, whose scores stay
// within the tolerance.
func (l *shortlister) conditionRange(w *walker, k int) (Range, error) {
	at := w.cursor.Composition().Condition(k)
	r, least := Range{at, at}, w.cursor.LogScore()+portable.Log1p(-l.Tolerance)
	p, err := w.cursor.ConditionScores(k)
	if err != nil {
		return r, err
	}
	last := len(l.target.Space().Conditions()[k].Weights)
	from := make([]float64, last) // score of each value of the condition
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

// dropEqualEntries drops entries whose parts equal the parts of an earlier entry. Settling can give equal amounts
// to two recipes that differed only by their conditions.
func dropEqualEntries(entries []Entry) []Entry {
	var kept []Entry
	for _, e := range entries {
		if e.Conditions == nil || !slices.ContainsFunc(kept, func(other Entry) bool { return slices.Equal(other.Parts, e.Parts) }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// setNeighbours sets, for the entry with index at, the distance from the earlier entries, the variants, and the
// nearest known recipes.
func (l *shortlister) setNeighbours(entries []Entry, at int) {
	e := &entries[at]
	e.EarlierDistance = math.NaN()
	for k := range at {
		if d := l.Distance.Between(entries[k].Parts, e.Parts); !(d >= e.EarlierDistance) {
			e.EarlierDistance = d
		}
	}
	near := slices.Concat(e.rejectedReplacements, l.candidates)
	sortByScore(near)
	for _, f := range near {
		if f.LogScore < e.LogScore-maxVariantScoreDrop || len(e.Variants) == maxVariants {
			break
		}
		if f.LogScore <= e.LogScore && !sameIngredients(f.Parts, e.Parts) && l.Distance.Between(e.Parts, f.Parts) <= maxVariantDistance &&
			!slices.ContainsFunc(e.Variants, func(v Found) bool { return sameIngredients(v.Parts, f.Parts) }) &&
			!slices.ContainsFunc(entries, func(o Entry) bool { return slices.Equal(o.Parts, f.Parts) }) {
			e.Variants = append(e.Variants, f)
		}
	}
	for k, x := range l.Known {
		e.Nearest = append(e.Nearest, NearRecipe{k, l.Distance.Between(x.Parts(), e.Parts)})
	}
	slices.SortStableFunc(e.Nearest, func(a, b NearRecipe) int { return cmp.Compare(a.Distance, b.Distance) })
	e.Nearest = e.Nearest[:min(len(e.Nearest), maxNearest)]
}

// sameIngredients reports whether two compositions use the same ingredients.
func sameIngredients(x, y []mcmc.Part) bool {
	return slices.EqualFunc(x, y, func(p, q mcmc.Part) bool { return p.Ingredient == q.Ingredient })
}
