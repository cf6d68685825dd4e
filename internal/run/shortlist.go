package run

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// shortlistLength is the largest number of compositions in a shortlist.
const shortlistLength = 100

// A Best is a composition of high score. It is either the best draw with its set of ingredients, or
// a composition that a tempered chain visited between draws.
type Best struct {
	Chain      int         // number of the chain, from 0
	Draw       int         // number of the draw in its chain; for a composition visited between draws, the number of the next draw
	Found      bool        // whether a tempered chain visited the composition between draws; then the composition is no draw; see [mcmc.VisitedState]
	Score      float64     // Π_k y_k^c_k, with the scores y_k and the weights c_k of the properties
	LogScore   float64     // log of Score
	LogDensity float64     // log of the unnormalised target density; see [mcmc.State.LogDensity]
	Scores     []float64   // score y_k of each property
	Conditions []int32     // item k is the index of the value of condition k
	Parts      []mcmc.Part // ingredients with their amounts, ascending by ingredient
	Known      bool        // whether a known recipe has this set of ingredients
}

// Compare returns a negative number if b is better than c, and a positive number if b is worse. The
// higher score is better, and of equal scores the higher density. If both are equal, draws come
// before visited compositions, lower chain numbers before higher, and lower draw numbers before
// higher.
func (b Best) Compare(c Best) int {
	return cmp.Or(
		cmp.Compare(c.LogScore, b.LogScore),
		cmp.Compare(c.LogDensity, b.LogDensity),
		compareBool(b.Found, c.Found),
		cmp.Compare(b.Chain, c.Chain),
		cmp.Compare(b.Draw, c.Draw),
	)
}

// compareBool compares two booleans for sorting: false comes before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// A shortlist keeps the compositions of highest score of one chain, at most one for each set of
// ingredients. The best compositions of the run are found by merging the shortlists of its chains.
type shortlist struct {
	isExcludedSet func(ingredients []int) bool // reports whether compositions with a set of ingredients are left out of the shortlist; nil: none are
	entries       []Best                       // kept compositions, the best first

	setScratch []int // memory that offer and offerVisited reuse for a set of ingredients
}

// minScore returns the least log score that a composition needs to enter the shortlist.
func (s *shortlist) minScore() float64 {
	if len(s.entries) < shortlistLength {
		return math.Inf(-1)
	}
	return s.entries[shortlistLength-1].LogScore
}

// isRefused reports whether the shortlist is full of compositions that are at least as good as a
// composition with the given score and density. If so, the composition cannot enter the shortlist.
func (s *shortlist) isRefused(logScore, logDensity float64) bool {
	if len(s.entries) < shortlistLength {
		return false
	}
	worst := &s.entries[shortlistLength-1]
	return logScore < worst.LogScore || logScore == worst.LogScore && logDensity <= worst.LogDensity
}

// offer adds a draw to the shortlist if the draw is good enough. The number of the chain is set
// later, when shortlists are merged.
func (s *shortlist) offer(d *Draw, logScore float64) {
	if s.isRefused(logScore, d.LogDensity) {
		return
	}
	b := newBest(d.Draw, logScore, d.LogDensity)
	s.setScratch = s.setScratch[:0]
	for _, p := range d.Parts {
		s.setScratch = append(s.setScratch, p.Ingredient)
	}
	same, wanted := s.isWanted(&b)
	if !wanted {
		return
	}
	b.Scores, b.Parts, b.Conditions = slices.Clone(d.Scores), slices.Clone(d.Parts), slices.Clone(d.Conditions)
	s.insert(b, same)
}

// offerVisited adds a composition to the shortlist if it is good enough. The composition was
// visited by a tempered chain between draws; the parameter draw is the number of the next draw.
func (s *shortlist) offerVisited(t *mcmc.Target, draw int, f mcmc.VisitedState) error {
	x, err := t.Space().Composition(f.Parts, f.Conditions)
	if err != nil {
		return err
	}
	b := newBest(draw, f.LogScore, t.LogPrior(x)+f.LogScore)
	b.Found = true
	if s.isRefused(b.LogScore, b.LogDensity) {
		return nil
	}
	s.setScratch = s.setScratch[:0]
	for _, p := range f.Parts {
		s.setScratch = append(s.setScratch, p.Ingredient)
	}
	slices.Sort(s.setScratch)
	if _, wanted := s.isWanted(&b); !wanted {
		return nil
	}
	if b.Scores, err = t.AppendScores(nil, x); err != nil {
		return err
	}
	// Compute it as for a draw, so that equal compositions have equal scores.
	b.LogScore = LogScore(t.Objectives(), b.Scores)
	b.Score = portable.Exp(b.LogScore)
	b.Parts, b.Conditions = x.Parts(), x.AppendConditions(nil)
	if same, wanted := s.isWanted(&b); wanted {
		s.insert(b, same)
	}
	return nil
}

// LogScore returns Σ_k c_k·log y_k, where c_k are the weights of the objectives and y_k the scores,
// in the order of the objectives.
func LogScore(wishes []mcmc.Objective, scores []float64) (sum float64) {
	for k, w := range wishes {
		if w.Weight > 0 {
			sum += float64(w.Weight * portable.Log(scores[k]))
		}
	}
	return sum
}

func newBest(draw int, logScore, logDensity float64) Best {
	return Best{Draw: draw, Score: portable.Exp(logScore), LogScore: logScore, LogDensity: logDensity}
}

// isWanted reports whether b should be inserted: whether b beats the entry with the same set of
// ingredients or, if there is no such entry, whether the set is not left out. The set of
// ingredients of b must be in s.setScratch. The result same is the index of the entry with the same
// set, or −1.
func (s *shortlist) isWanted(b *Best) (same int, wanted bool) {
	same = slices.IndexFunc(s.entries, func(b Best) bool { return b.usesExactly(s.setScratch) })
	if same >= 0 {
		return same, s.entries[same].Compare(*b) >= 0
	}
	return same, s.isExcludedSet == nil || !s.isExcludedSet(s.setScratch)
}

// insert inserts b in its place, so that the entries remain ordered. If same is not −1, b replaces
// the entry with the index same. Otherwise the last entry is removed if the list is full.
func (s *shortlist) insert(b Best, same int) {
	if same >= 0 {
		s.entries = slices.Delete(s.entries, same, same+1)
	} else if len(s.entries) == shortlistLength {
		s.entries = s.entries[:shortlistLength-1]
	}
	at, _ := slices.BinarySearchFunc(s.entries, b, Best.Compare)
	s.entries = slices.Insert(s.entries, at, b)
}

// usesExactly reports whether the ingredients of the composition are exactly those in set, which
// must be in ascending order.
func (b *Best) usesExactly(set []int) bool {
	return slices.EqualFunc(b.Parts, set, func(p mcmc.Part, i int) bool { return p.Ingredient == i })
}

// entriesMissingFrom returns the entries of the shortlist that are not in the given list.
func (s *shortlist) entriesMissingFrom(list []Best) []Best {
	return slices.DeleteFunc(slices.Clone(s.entries), func(b Best) bool {
		return slices.ContainsFunc(list, func(other Best) bool {
			return other.Compare(b) == 0 && slices.Equal(other.Parts, b.Parts) && slices.Equal(other.Conditions, b.Conditions)
		})
	})
}

// mergeBest returns the best compositions of several lists, at most one for each set of
// ingredients.
func mergeBest(lists ...[]Best) []Best {
	all := DistinctBest(slices.Concat(lists...))
	return all[:min(len(all), shortlistLength)]
}

// DistinctBest returns the best composition of each set of ingredients, in order from the best on.
// It sorts and overwrites the list.
func DistinctBest(list []Best) []Best {
	slices.SortFunc(list, Best.Compare)
	seen := make(map[string]bool, len(list))
	var key []byte
	return slices.DeleteFunc(list, func(b Best) bool {
		key = key[:0]
		for _, p := range b.Parts {
			key = binary.AppendUvarint(key, uint64(p.Ingredient))
		}
		if seen[string(key)] {
			return true
		}
		seen[string(key)] = true
		return false
	})
}

// ingredientSet returns the ingredients of the composition, in ascending order.
func (b *Best) ingredientSet() []int {
	set := make([]int, len(b.Parts))
	for k, p := range b.Parts {
		set[k] = p.Ingredient
	}
	return set
}
