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

// A Best is a composition of high score. It is the best draw among all draws with the same set of
// ingredients, or a composition that a tempered chain visited between draws.
type Best struct {
	Chain, Draw int
	Found       bool        // whether the composition was visited between draws and is no draw; see [mcmc.VisitedState]
	Score       float64     // Π_k y_k^c_k, with the scores y_k and the weights c_k of the properties
	LogScore    float64     // log of Score
	LogDensity  float64     // log of the unnormalised target density; see [mcmc.State.LogDensity]
	Scores      []float64   // score y_k of each property
	Conditions  []int32     // by condition: index of the condition's value
	Parts       []mcmc.Part // ingredients with their amounts, ascending by ingredient
	Known       bool        // whether a known recipe has this set of ingredients
}

// Compare returns a negative number if b comes before c in a list that begins with the best.
// Compositions are ordered by score, then by density, then draws before visited compositions, then
// by chain and draw.
func (b Best) Compare(c Best) int {
	return cmp.Or(
		cmp.Compare(c.LogScore, b.LogScore),
		cmp.Compare(c.LogDensity, b.LogDensity),
		compareBool(b.Found, c.Found),
		cmp.Compare(b.Chain, c.Chain),
		cmp.Compare(b.Draw, c.Draw),
	)
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// A shortlist keeps the best compositions of one chain, at most one for each set of ingredients.
// The best compositions of all chains are among the shortlists of the chains.
type shortlist struct {
	known   func(ingredients []int) bool // reports whether a set of ingredients is to be left out; nil: none is
	entries []Best                       // kept compositions, the best first

	setScratch []int // reused by offer and offerVisited
}

// minScore returns the log score below which the shortlist accepts no composition.
func (s *shortlist) minScore() float64 {
	if len(s.entries) < shortlistLength {
		return math.Inf(-1)
	}
	return s.entries[shortlistLength-1].LogScore
}

// isRefused reports whether the shortlist would reject a composition with the given score and
// density, whatever its ingredients and however late it comes.
func (s *shortlist) isRefused(logScore, logDensity float64) bool {
	if len(s.entries) < shortlistLength {
		return false
	}
	worst := &s.entries[shortlistLength-1]
	return logScore < worst.LogScore || logScore == worst.LogScore && logDensity <= worst.LogDensity
}

// offer offers a draw to the shortlist. The number of the chain is set when shortlists are merged.
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

// offerVisited offers a composition that a chain visited on the way to the draw with the given
// number.
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

// isWanted reports whether to insert b, whose set of ingredients must be in s.setScratch. The
// result same is the index of the entry with the same set of ingredients, or −1.
func (s *shortlist) isWanted(b *Best) (same int, wanted bool) {
	same = slices.IndexFunc(s.entries, func(b Best) bool { return b.usesExactly(s.setScratch) })
	if same >= 0 {
		return same, s.entries[same].Compare(*b) >= 0
	}
	return same, s.known == nil || !s.known(s.setScratch)
}

// insert inserts b at its place in the order. It removes the entry with index same or, if same is
// −1 and the list is full, the last entry.
func (s *shortlist) insert(b Best, same int) {
	if same >= 0 {
		s.entries = slices.Delete(s.entries, same, same+1)
	} else if len(s.entries) == shortlistLength {
		s.entries = s.entries[:shortlistLength-1]
	}
	at, _ := slices.BinarySearchFunc(s.entries, b, Best.Compare)
	s.entries = slices.Insert(s.entries, at, b)
}

// usesExactly reports whether the composition uses all ingredients of a set and no others. The set
// must be in ascending order.
func (b *Best) usesExactly(set []int) bool {
	return slices.EqualFunc(b.Parts, set, func(p mcmc.Part, i int) bool { return p.Ingredient == i })
}

// missingFrom returns the entries of the shortlist that another list lacks.
func (s *shortlist) missingFrom(list []Best) []Best {
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

// DistinctBest returns the best composition of each set of ingredients, the best first. It sorts and
// overwrites the list.
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
