package stattest

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"kir/mcmc"
)

// A Law is a target written down afresh, for spaces small enough to list:
//
//	π(x) ∝ Size(n(x)) / |X_n(x)| · Π_k Score_k(x)^Weight_k
//
// where |X_n| is counted, composition by composition. It shares no code with
// kir, so that the two can be held against each other.
//
// With conditions z it is Size(n(x)) / W_n(x) · p(z) · Π_k Score_k(x, z)^Weight_k, where p(z) is the
// product of normalised weights and W_n the sum of p(z) over the feasible pairs. The functions below
// are then given the amounts and, behind them, the index of the value of each condition.
type Law struct {
	Ingredients int
	Total       int
	Conditions  [][]float64 // by condition: the weights of its values

	// Size is the weight of n ingredients, n ≥ 1. Those of the sizes that the
	// space has are normalised.
	Size func(n int) float64
	// Feasible says which compositions the rules allow; nil allows all.
	Feasible func(x []int) bool
	// Objectives multiply the law.
	Objectives []Objective
	// Power is that to which the objectives are raised, β of a ladder; 0 stands for 1.
	Power float64
}

// A Objective is a property y(x) ≥ 0 of amounts by ingredient, and its weight. One
// of weight 0 counts for nothing, not even where the score is 0.
//
// Score is y or LogScore log y, which may be far beyond what y has room for;
// −Inf forbids.
type Objective struct {
	Score    func(x []int) float64
	Weight   float64
	LogScore func(x []int) float64
}

// Log returns c·log y.
func (w Objective) Log(x []int) float64 {
	if w.LogScore != nil {
		return w.Weight * w.LogScore(x)
	}
	return w.Weight * math.Log(w.Score(x))
}

// An Enumeration is every feasible composition of a space, with its
// probability under a law.
type Enumeration struct {
	States [][]int   // amounts by ingredient, and values by condition, in lexicographic order
	Pi     []float64 // sums to 1; 0 also where that is less than a float64 holds

	// log π is base + power·score up to a constant, which is never added: scores
	// of 10⁵ would take the last digits of all else. −Inf where x is forbidden.
	base, score []float64
	power       float64

	ingredients int
	place       []uint64 // by ingredient and condition: what one more of it adds to a state's key
	index       map[uint64]int32
}

// Enumerate lists the space. It fails when there is nothing in it that has
// positive probability, and when a weight or score is not finite and ≥ 0.
func (l Law) Enumerate() (*Enumeration, error) {
	if float64(l.Ingredients)*math.Log2(float64(l.Total+1)) >= 64 {
		return nil, fmt.Errorf("a space of %d ingredients and %d units is too large to enumerate", l.Ingredients, l.Total)
	}
	e := &Enumeration{index: make(map[uint64]int32), power: l.Power, ingredients: l.Ingredients}
	if e.power == 0 {
		e.power = 1
	}
	place := uint64(1)
	for range l.Ingredients {
		e.place = append(e.place, place)
		place *= uint64(l.Total + 1)
	}
	for _, weights := range l.Conditions {
		e.place = append(e.place, place)
		place *= uint64(len(weights))
	}
	sizes := make([]float64, l.Ingredients+1) // |X_n|, or W_n
	var masses []float64                      // of the conditions of each state
	for x, p := range l.pairs() {
		if l.Feasible != nil && !l.Feasible(x) {
			continue
		}
		e.index[e.key(x)] = int32(len(e.States))
		e.States = append(e.States, slices.Clone(x))
		masses = append(masses, p)
		sizes[e.countUsed(x)] += p
	}
	mass := 0.0
	for n := 1; n <= l.Ingredients; n++ {
		if sizes[n] > 0 {
			mass += l.Size(n)
		}
	}
	e.Pi, e.base, e.score = make([]float64, len(e.States)), make([]float64, len(e.States)), make([]float64, len(e.States))
	top := -1 // the state of the greatest probability
	for s, x := range e.States {
		n := e.countUsed(x)
		p := l.Size(n) / mass
		if !(p >= 0) || math.IsInf(p, 1) {
			return nil, fmt.Errorf("the weight of %v is %v", x, p)
		}
		e.base[s] = math.Log(p) + math.Log(masses[s]) - math.Log(sizes[n]) // their ratio may be too small to keep its digits
		for _, w := range l.Objectives {
			if w.Weight == 0 || p == 0 {
				continue // a wish is not asked where there is no mass
			}
			score := w.Log(x)
			if !(score < math.Inf(1)) {
				return nil, fmt.Errorf("the log score of %v is %v", x, score)
			}
			e.score[s] += score
		}
		if e.IsPossible(s) && (top < 0 || e.LogRatio(s, top) > 0) {
			top = s
		}
	}
	if top < 0 {
		return nil, fmt.Errorf("nothing has positive probability")
	}
	sum := 0.0
	for s := range e.States {
		if e.IsPossible(s) {
			e.Pi[s] = math.Exp(e.LogRatio(s, top))
			sum += e.Pi[s]
		}
	}
	for s := range e.Pi {
		e.Pi[s] /= sum
	}
	return e, nil
}

// IsPossible says whether state s has positive probability, however small.
func (e *Enumeration) IsPossible(s int) bool {
	return !math.IsInf(e.base[s], -1) && !math.IsInf(e.score[s], -1)
}

// LogRatio returns log π(s)/π(t) of two states that are possible.
func (e *Enumeration) LogRatio(s, t int) float64 {
	return e.base[s] - e.base[t] + e.power*(e.score[s]-e.score[t])
}

// Compositions yields the amounts, by ingredient, of every composition of a
// total over so many ingredients, in lexicographic order. The slice is the
// same each time.
func Compositions(ingredients, total int) iter.Seq[[]int] {
	return func(yield func(x []int) bool) {
		x := make([]int, ingredients)
		var fill func(i, left int) bool
		fill = func(i, left int) bool {
			if i == ingredients-1 {
				x[i] = left
				return yield(x)
			}
			for a := 0; a <= left; a++ {
				x[i] = a
				if !fill(i+1, left-a) {
					return false
				}
			}
			return true
		}
		fill(0, total)
	}
}

// pairs yields the amounts of every composition with the values of every condition behind them, and
// the probability of these values. The slice is the same each time.
func (l Law) pairs() iter.Seq2[[]int, float64] {
	return func(yield func(x []int, p float64) bool) {
		for amounts := range Compositions(l.Ingredients, l.Total) {
			x := append(slices.Clone(amounts), make([]int, len(l.Conditions))...)
			var fill func(c int, p float64) bool
			fill = func(c int, p float64) bool {
				if c == len(l.Conditions) {
					return yield(x, p)
				}
				sum := 0.0
				for _, w := range l.Conditions[c] {
					sum += w
				}
				for v, w := range l.Conditions[c] {
					x[l.Ingredients+c] = v
					if !fill(c+1, p*w/sum) {
						return false
					}
				}
				return true
			}
			if !fill(0, 1) {
				return
			}
		}
	}
}

// countUsed counts the positive amounts of a state.
func (e *Enumeration) countUsed(x []int) int {
	n := 0
	for _, a := range x[:e.ingredients] {
		if a > 0 {
			n++
		}
	}
	return n
}

func (e *Enumeration) key(x []int) uint64 {
	key := uint64(0)
	for i, a := range x {
		key += uint64(a) * e.place[i]
	}
	return key
}

// Index returns which state x is; false if it is none, or if what x says of
// itself does not fit its amounts.
func (e *Enumeration) Index(x *mcmc.Composition) (int, bool) {
	if x.N() != e.ingredients || x.N()+x.Conditions() != len(e.place) {
		return 0, false
	}
	key, n := uint64(0), 0
	for i, a := range x.Amounts() {
		if a < 0 {
			return 0, false
		}
		if a > 0 {
			key += uint64(a) * e.place[i]
			n++
		}
	}
	for c := range x.Conditions() {
		key += uint64(x.Condition(c)) * e.place[e.ingredients+c]
	}
	s, ok := e.index[key]
	return int(s), ok && n == x.UsedCount() && len(x.Ingredients()) == n
}

// Used returns the law of n: the probability of n at index n.
func (e *Enumeration) Used() []float64 {
	law := make([]float64, e.ingredients+1)
	for s, x := range e.States {
		law[e.countUsed(x)] += e.Pi[s]
	}
	return law
}
