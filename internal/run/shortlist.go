package run

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// shortlistLength is the most sets of ingredients in a shortlist.
const shortlistLength = 100

// A Best is a high-scoring composition: the best draw among those with the same set of ingredients,
// or a composition that a tempered chain visited on the way to a draw.
type Best struct {
	Chain, Draw int
	Found       bool        // it is no draw: see [mcmc.VisitedState]
	Score       float64     // Π_k y_k^c_k
	LogScore    float64     // its log
	LogDensity  float64     // see [mcmc.State.LogDensity]
	Scores      []float64   // y_k, by property
	Conditions  []int32     // by condition, the index of its value
	Parts       []mcmc.Part // by ingredient
	Known       bool        // the book has a recipe of this set
}

// Compare orders by score, then by density, then draws before visited compositions, then by chain
// and draw. The best come first.
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

// A shortlist keeps the best draws of one chain, at most one for each set of ingredients. The best
// of all chains together are among the best of each.
type shortlist struct {
	known func(ingredients []int) bool // sets to leave out; nil: none
	best  []Best                       // the best first

	set []int // scratch
}

// leastScore is the least log score that the shortlist may accept.
func (s *shortlist) leastScore() float64 {
	if len(s.best) < shortlistLength {
		return math.Inf(-1)
	}
	return s.best[shortlistLength-1].LogScore
}

// isRefused reports whether the shortlist would reject a composition of that score and density, or a
// later one, whatever its ingredients.
func (s *shortlist) isRefused(logScore, logDensity float64) bool {
	if len(s.best) < shortlistLength {
		return false
	}
	worst := &s.best[shortlistLength-1]
	return logScore < worst.LogScore || logScore == worst.LogScore && logDensity <= worst.LogDensity
}

// offer offers a draw. Its chain is set when lists are merged.
func (s *shortlist) offer(d *Draw, logScore float64) {
	if s.isRefused(logScore, d.LogDensity) {
		return
	}
	b := newBest(d.Draw, logScore, d.LogDensity)
	s.set = s.set[:0]
	for _, p := range d.Parts {
		s.set = append(s.set, p.Ingredient)
	}
	same, wanted := s.isWanted(&b)
	if !wanted {
		return
	}
	b.Scores, b.Parts, b.Conditions = slices.Clone(d.Scores), slices.Clone(d.Parts), slices.Clone(d.Conditions)
	s.insert(b, same)
}

// offerFind offers a composition that a chain visited on the way to a draw.
func (s *shortlist) offerFind(t *mcmc.Target, draw int, f mcmc.VisitedState) error {
	x, err := t.Space().Composition(f.Parts, f.Conditions)
	if err != nil {
		return err
	}
	b := newBest(draw, f.LogScore, t.LogPrior(x)+f.LogScore)
	b.Found = true
	if s.isRefused(b.LogScore, b.LogDensity) {
		return nil
	}
	s.set = s.set[:0]
	for _, p := range f.Parts {
		s.set = append(s.set, p.Ingredient)
	}
	slices.Sort(s.set)
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

// LogScore returns Σ_k c_k·log y_k of the scores of objectives, in their order.
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

// isWanted reports whether to insert b, whose set of ingredients is s.set. It also returns the index
// of the entry with the same set, or −1.
func (s *shortlist) isWanted(b *Best) (same int, wanted bool) {
	same = slices.IndexFunc(s.best, func(b Best) bool { return b.uses(s.set) })
	if same >= 0 {
		return same, s.best[same].Compare(*b) >= 0
	}
	return same, s.known == nil || !s.known(s.set)
}

// insert inserts b in order. It replaces the entry with the same set or, if the list is full, the
// last one.
func (s *shortlist) insert(b Best, same int) {
	if same >= 0 {
		s.best = slices.Delete(s.best, same, same+1)
	} else if len(s.best) == shortlistLength {
		s.best = s.best[:shortlistLength-1]
	}
	at, _ := slices.BinarySearchFunc(s.best, b, Best.Compare)
	s.best = slices.Insert(s.best, at, b)
}

// uses reports whether the draw uses the ingredients of a set, in ascending order,
// and no others.
func (b *Best) uses(set []int) bool {
	return slices.EqualFunc(b.Parts, set, func(p mcmc.Part, i int) bool { return p.Ingredient == i })
}

// missingFrom returns the entries that another list lacks.
func (s *shortlist) missingFrom(list []Best) []Best {
	return slices.DeleteFunc(slices.Clone(s.best), func(b Best) bool {
		return slices.ContainsFunc(list, func(other Best) bool {
			return other.Compare(b) == 0 && slices.Equal(other.Parts, b.Parts) && slices.Equal(other.Conditions, b.Conditions)
		})
	})
}

// bestOfLists returns the best of several lists, at most one for each set of ingredients.
func bestOfLists(lists ...[]Best) []Best {
	all := Distinct(slices.Concat(lists...))
	return all[:min(len(all), shortlistLength)]
}

// Distinct returns the best of each set of ingredients, the best first. It sorts
// and overwrites the list.
func Distinct(list []Best) []Best {
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

// set returns the ingredients of the draw, in ascending order.
func (b *Best) set() []int {
	set := make([]int, len(b.Parts))
	for k, p := range b.Parts {
		set[k] = p.Ingredient
	}
	return set
}
