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

// ListOptions says what a shortlist may contain and how much its entries must differ.
type ListOptions struct {
	MaxEntries int       // greatest number of entries
	Distance   *Distance // measure of how much two compositions differ
	// MinDistance is the least distance between two entries. If fewer than MaxEntries candidates are this far
	// apart, candidates at half and then at a quarter of this distance are added.
	MinDistance float64

	Least, Most []int                        // least and greatest amount of each ingredient; see [Options]
	Refuse      func(ingredients []int) bool // reports whether a set of ingredients must not be suggested; see [Options]
	Known       []*mcmc.Composition          // known recipes

	// Tolerance is the relative difference of scores below which the model cannot distinguish compositions. 0 means
	// 1 %.
	Tolerance float64

	// Exact means that the model distinguishes even the smallest difference of scores. Amounts of entries are
	// then changed only if the score stays equal.
	Exact bool

	// Weight is the largest weight of an objective in the sampled target; 0 means 1. The shortlist is scored
	// without weights. With a large weight, as for portfolios, even small differences of this score matter.
	Weight float64
}

// An Entry is a composition of a shortlist, with alternatives that are about equally good.
type Entry struct {
	Found
	Scores []float64 // item k is the score y_k of objective k, without its weight

	// Ranges holds a range of amounts for each of Parts. Within the range the model cannot distinguish the
	// scores, if one other ingredient takes or gives the difference.
	Ranges []Range

	// ConditionRanges holds, for each condition, a range of value indices around the index of the entry's
	// value. Within this range the model cannot distinguish the scores. For a categorical condition, whose
	// categories have no order, the range contains only neighbours in the list of categories.
	ConditionRanges []Range

	// Variants are nearby compositions with another set of ingredients, such as one more ingredient in a small
	// amount, from best to worst. No variant scores higher than the entry.
	Variants []Found

	rejectedReplacements []Found // nearby compositions that were considered instead of the entry and not chosen; see replaceByBetterNeighbour

	EarlierDistance float64      // distance to the nearest entry before this entry on the shortlist; NaN for the first entry
	Nearest         []NearRecipe // known recipes nearest to the entry, at most 3
}

// A List is a shortlist, with the work that was done to make it.
type List struct {
	Entries      []Entry
	Evaluations  int64 // number of lines (see [mcmc.Scorer]) scored to adjust amounts and to find ranges
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
// between two known recipes; see [Distance.Typical]. A larger fraction costs score: between 0.4 and 0.6 the
// mean score of twenty entries decreases by about 1 %, and at 0.7 it is 3 % lower.
const MinDistanceShare = 0.55

const (
	maxVariants         = 3    // greatest number of variants of an entry
	maxVariantDistance  = 0.25 // greatest distance of a variant from its entry; about 12 % of the recipe may be exchanged
	maxVariantScoreDrop = 0.05 // greatest difference by which the log score of a variant may be below that of its entry
	maxNearest          = 3    // greatest number of nearest known recipes that are listed for an entry
	maxExchangePartners = 3    // greatest number of other ingredients with which units are exchanged to change the amount of an ingredient

	// An entry's amounts are moved to the middle of the ranges where the score is nearly constant. There are
	// centeringSweeps passes over all amounts. Within such a range the score may be lower by the fraction
	// centeringTolerance, which the model cannot distinguish. On the fragrance example, whose true quality is
	// known, three passes with a tolerance of 0 raise the true quality of twenty entries from 83.7 to 85.8 of
	// 100. They raise it to 86.2 with a tolerance of 0.1 %, 86.9 with 0.3 % and 85.6 with 1 %.
	centeringSweeps    = 3
	centeringTolerance = 0.002

	// maxCenteringScoreDrop is the greatest decrease of the log score, multiplied by [ListOptions.Weight], that is
	// accepted when an entry's amount moves to the middle of a range.
	maxCenteringScoreDrop = 0.1
)

// Shortlist chooses the best candidates that differ from each other. In descending order of score it takes each
// candidate whose distance from all candidates taken before is at least MinDistance. It then adjusts the
// amounts: each amount moves to the middle of the range where the score is nearly constant. The ends of such a
// range depend on chance, namely on which recipes the model was trained on. The middle is farthest from them.
// Candidates beyond the limits of amounts or of the number of ingredients are skipped. The entries are sorted
// from best to worst.
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
		if err := l.completeEntry(entries, k); err != nil {
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
	candidates []Found // candidates that satisfy all limits, from best to worst

	evaluations  int64 // number of lines scored
	compositions int64 // number of compositions on the scored lines
}

// admitCandidates adds to l.candidates the given compositions that satisfy all limits.
func (l *shortlister) admitCandidates(ctx context.Context, candidates []Found) error {
	s := &searcher{target: l.target, options: Options{Refuse: l.Refuse}}
	for k, f := range candidates {
		if k&255 == 0 {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
		}
		if math.IsInf(f.LogScore, -1) || !l.limits.allowsIngredientCount(len(f.Parts)) || s.refusesIngredients(f.Parts) ||
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

// keepBestConditions drops each composition that has the same ingredients and amounts as an earlier one in the
// list. If the list is sorted from best to worst, the composition with the best values of conditions remains.
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

// chooseEntries returns the best candidates at the minimum distance from each other. If there are too few, it
// adds candidates at half and then at a quarter of the minimum distance.
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

// completeEntry completes the entry with the given index: it adjusts the amounts, replaces the entry by a better
// composition nearby if there is one, and finds the ranges of amounts.
func (l *shortlister) completeEntry(entries []Entry, entryIndex int) error {
	e := &entries[entryIndex]
	w, err := l.centerAmounts(entries, entryIndex, e.Found)
	if err != nil {
		return err
	}
	e.Found = currentFound(w)
	if w, err = l.replaceByBetterNeighbour(entries, entryIndex, w); err != nil {
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

// replaceByBetterNeighbour replaces the entry with the given index by the best composition near it, if this
// composition scores higher. Such a composition can exist because adjusting the amounts of the entry may have
// lowered its score. The amounts of each nearby composition are adjusted in the same way before the comparison.
// The compositions that are not chosen become candidates for variants. The walker w stands at the present
// entry, and the returned walker at the new entry.
func (l *shortlister) replaceByBetterNeighbour(entries []Entry, entryIndex int, w *walker) (*walker, error) {
	e := &entries[entryIndex]
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
			other, err := l.centerAmounts(entries, entryIndex, f)
			if err != nil {
				return nil, err
			}
			better := currentFound(other)
			if better.LogScore <= e.LogScore || !l.canReplace(entries, entryIndex, better) {
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

// canReplace reports whether the composition f may replace the entry with the given index. The distance of f
// from each other entry must be at least MinDistance, or at least the distance of the present entry.
func (l *shortlister) canReplace(entries []Entry, entryIndex int, f Found) bool {
	for k := range entries {
		if k != entryIndex && l.Distance.Between(f.Parts, entries[k].Parts) < min(l.MinDistance, l.Distance.Between(entries[entryIndex].Parts, entries[k].Parts)) {
			return false
		}
	}
	return true
}

// centerAmounts moves the amounts of composition f to the middle of the ranges where the score is nearly
// constant; see [Shortlist]. It treats f as the entry with the given index, which must differ from all other
// entries. It returns a walker that stands at the changed composition.
func (l *shortlister) centerAmounts(entries []Entry, entryIndex int, f Found) (*walker, error) {
	s := &searcher{target: l.target, limits: l.limits, archive: &Archive{}}
	w, err := newWalker(s, f, nil)
	if err != nil {
		return nil, err
	}
	others := &diversityFilter{distance: l.Distance, minDistance: l.MinDistance}
	near := &diversityFilter{distance: l.Distance, minDistance: math.SmallestNonzeroFloat64} // f must not become equal to one of these
	for k := range entries {
		if k == entryIndex {
			continue
		}
		if l.Distance.Between(f.Parts, entries[k].Parts) >= l.MinDistance {
			others.avoidedCompositions = append(others.avoidedCompositions, entries[k].Found)
		} else {
			near.avoidedCompositions = append(near.avoidedCompositions, entries[k].Found)
		}
	}
	for range centeringSweeps {
		if err := w.setBestConditions(); err != nil {
			return nil, err
		}
		for _, p := range f.Parts {
			if err := l.centerAmount(w, others, near, p.Ingredient); err != nil {
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

// largestOtherIngredients returns the three ingredients other than i with the largest amounts, or all others if
// there are fewer. The amount of i changes only in exchange with these.
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

// centerAmount changes the amount of ingredient i in exchange with each of several other ingredients in turn.
// The amount moves to the middle of the range around the best score where the model cannot distinguish the
// scores. It does not move if the result would be nearer than the minimum distance to a composition in
// distantEntries, or equal to a composition in nearEntries.
func (l *shortlister) centerAmount(w *walker, distantEntries, nearEntries *diversityFilter, i int) error {
	x := w.cursor.Composition()
	for _, j := range largestOtherIngredients(x, i) {
		s := x.Amount(i) + x.Amount(j)
		if err := w.scoreLine(i, j, s); err != nil {
			return err
		}
		inner := w.choicesUsingBoth(s)
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
			least -= min(-portable.Log1p(-centeringTolerance), maxCenteringScoreDrop/max(l.Weight, 1))
		}
		low, high := best, best
		for low > 0 && inner[low-1].logScore >= least && inner[low-1].to == inner[low].from {
			low--
		}
		for high+1 < len(inner) && inner[high+1].logScore >= least && inner[high+1].from == inner[high].to {
			high++
		}
		k := (inner[low].from + inner[high].to - 1) / 2
		if to := w.partsWithSplit(i, j, s, k); k == x.Amount(i) || !distantEntries.isFarEnough(to) || !nearEntries.isFarEnough(to) {
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

// amountRange returns the range of amounts that the ingredient of part may have while the score stays within
// the tolerance. The difference is exchanged with one other ingredient.
func (l *shortlister) amountRange(w *walker, part mcmc.Part) (Range, error) {
	x, r := w.cursor.Composition(), Range{part.Amount, part.Amount}
	i, least := part.Ingredient, w.cursor.LogScore()+portable.Log1p(-l.Tolerance)
	for _, j := range largestOtherIngredients(x, i) {
		s := part.Amount + x.Amount(j)
		if err := w.scoreLine(i, j, s); err != nil {
			return r, err
		}
		inner := w.choicesUsingBoth(s)
		low, high := part.Amount, part.Amount
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

// conditionRange returns the range of value indices of condition k, around the present index, within which the
// scores stay within the tolerance.
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

// dropEqualEntries drops entries that have the same ingredients and amounts as an earlier entry. Such entries
// arise when amounts are adjusted in two recipes that differed only by their conditions.
func dropEqualEntries(entries []Entry) []Entry {
	var kept []Entry
	for _, e := range entries {
		if e.Conditions == nil || !slices.ContainsFunc(kept, func(other Entry) bool { return slices.Equal(other.Parts, e.Parts) }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// setNeighbours finds the compositions near the entry with the given index. It sets the distance from earlier
// entries, the variants, and the nearest known recipes.
func (l *shortlister) setNeighbours(entries []Entry, entryIndex int) {
	e := &entries[entryIndex]
	e.EarlierDistance = math.NaN()
	for k := range entryIndex {
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
