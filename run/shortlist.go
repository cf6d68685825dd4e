package run

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"kir"
)

// shortlistLength is how many sets of ingredients a shortlist has at most.
const shortlistLength = 100

// A Best is a draw that is worth a look: the best of those that use the same
// set of ingredients.
type Best struct {
	Chain, Draw int
	Score       float64    // Π_k y_k^c_k
	LogScore    float64    // its log
	LogDensity  float64    // see [kir.State.LogDensity]
	Scores      []float64  // y_k, by property
	Parts       []kir.Part // by ingredient
	Known       bool       // the book has a recipe of this set
}

// compareBest orders by score, then by density, then by chain and draw, the
// best first.
func compareBest(a, b Best) int {
	return cmp.Or(
		cmp.Compare(b.LogScore, a.LogScore),
		cmp.Compare(b.LogDensity, a.LogDensity),
		cmp.Compare(a.Chain, b.Chain),
		cmp.Compare(a.Draw, b.Draw),
	)
}

// A shortlist keeps the best draws of one chain, at most one for each set of
// ingredients. What it keeps of the draws of all chains together is among what
// it keeps of each.
type shortlist struct {
	known func(ingredients []int) bool // sets to leave out; nil: none
	best  []Best                       // the best first

	set []int // scratch
}

// refuses says whether the recorder's current draw, or a later one with the same
// numbers, is not wanted whatever it uses.
func (s *shortlist) refuses(r *recorder) bool {
	if len(s.best) < shortlistLength {
		return false
	}
	worst := &s.best[shortlistLength-1]
	return r.logScore < worst.LogScore || r.logScore == worst.LogScore && r.current.LogDensity <= worst.LogDensity
}

// offer considers the recorder's current draw.
func (s *shortlist) offer(r *recorder) {
	if s.refuses(r) {
		return
	}
	s.set = s.set[:0]
	for _, i := range r.current.Ingredients {
		s.set = append(s.set, int(i))
	}
	slices.Sort(s.set)
	draw := Best{
		Draw:       r.draws,
		Score:      math.Exp(r.logScore),
		LogScore:   r.logScore,
		LogDensity: r.current.LogDensity,
	}
	same := slices.IndexFunc(s.best, func(b Best) bool { return b.uses(s.set) })
	if same >= 0 && compareBest(s.best[same], draw) < 0 || s.known != nil && same < 0 && s.known(s.set) {
		return
	}
	draw.Scores = slices.Clone(r.current.Scores)
	draw.Parts = make([]kir.Part, len(s.set))
	for k, i := range s.set {
		draw.Parts[k] = kir.Part{Ingredient: i, Amount: int(r.current.Amounts[slices.Index(r.current.Ingredients, int32(i))])}
	}
	if same >= 0 {
		s.best = slices.Delete(s.best, same, same+1)
	} else if len(s.best) == shortlistLength {
		s.best = s.best[:shortlistLength-1]
	}
	at, _ := slices.BinarySearchFunc(s.best, draw, compareBest)
	s.best = slices.Insert(s.best, at, draw)
}

// uses says whether the draw uses the ingredients of a set, in ascending order,
// and no others.
func (b *Best) uses(set []int) bool {
	return slices.EqualFunc(b.Parts, set, func(p kir.Part, i int) bool { return p.Ingredient == i })
}

// mergeShortlists returns the best draws of all chains.
func mergeShortlists(chains []shortlist) []Best {
	var all []Best
	for index, s := range chains {
		for _, b := range s.best {
			b.Chain = index
			all = append(all, b)
		}
	}
	slices.SortFunc(all, compareBest)
	seen := make(map[string]bool)
	return slices.DeleteFunc(all, func(b Best) bool {
		var key []byte
		for _, p := range b.Parts {
			key = binary.AppendUvarint(key, uint64(p.Ingredient))
		}
		if len(seen) == shortlistLength || seen[string(key)] {
			return true
		}
		seen[string(key)] = true
		return false
	})
}
