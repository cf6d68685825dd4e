package campaign

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// An alikeLimit bounds how many values of a condition a batch has.
type alikeLimit struct {
	condition int // index
	values    int
}

// maxValueSets is the greatest number of sets of values for which the best batch is computed.
const maxValueSets = 200

// setAlike takes over the conditions that a batch has alike.
func (ch *batchOptimizer) setAlike() {
	for _, a := range ch.s.Alike {
		k := slices.Index(ch.c.ConditionNames(), a.Condition)
		if k >= 0 && a.Values < ch.c.Problem.Conditions[k].Len() {
			ch.alike = append(ch.alike, alikeLimit{k, a.Values})
		}
	}
}

// keepsAlike reports whether the batch with a further recipe has no more values of the conditions
// that are alike than it may, all of them among those chosen for it.
func (ch *batchOptimizer) keepsAlike(x recipe) bool {
	for k, a := range ch.alike {
		v := x.offered[a.condition]
		if ch.chosenValues != nil && !slices.Contains(ch.chosenValues[k], v) {
			return false
		}
		if in := ch.batchValues(a); !slices.Contains(in, v) && len(in) >= a.values {
			return false
		}
	}
	return true
}

// batchValues returns the different values of a condition in the batch.
func (ch *batchOptimizer) batchValues(a alikeLimit) []int32 {
	var in []int32
	for _, b := range ch.batch {
		if v := b.offered[a.condition]; !slices.Contains(in, v) {
			in = append(in, v)
		}
	}
	return in
}

// alignAlike returns the recipe under values that the batch can have: of each condition that is
// alike, of which the batch has as many values as it may, the value of the batch that is nearest
// by index. ok is false if the rules do not allow that, or the recipe must not be offered.
func (ch *batchOptimizer) alignAlike(x recipe) (y recipe, ok bool) {
	if ch.keepsAlike(x) {
		return x, true
	}
	if ch.allowed != nil {
		return x, false // the pairs that may be chosen are given
	}
	offered := slices.Clone(x.offered)
	for k, a := range ch.alike {
		values := ch.batchValues(a)
		if len(values) < a.values {
			if ch.chosenValues == nil {
				continue
			}
			values = ch.chosenValues[k]
		}
		at := offered[a.condition]
		offered[a.condition] = slices.MinFunc(values, func(v, w int32) int {
			return cmp.Or(cmp.Compare(max(v-at, at-v), max(w-at, at-w)), cmp.Compare(v, w))
		})
	}
	y = ch.c.offeredRecipe(x.parts, offered)
	return y, ch.isFeasible(y) && ch.isOfferable(y)
}

// valueSets returns sets of values that a batch may have of the conditions that are alike, by
// condition: all of them, or those of the values with the best scores if there are more than
// maxValueSets. scores has a score for each recipe, of which a higher one is better.
func (ch *batchOptimizer) valueSets(recipes []recipe, scores []float64) [][][]int32 {
	ranked := make([][]int32, len(ch.alike)) // values of the recipes, the best first
	for k, a := range ch.alike {
		best := make(map[int32]float64)
		for r, x := range recipes {
			v := x.offered[a.condition]
			if was, known := best[v]; !known || scores[r] > was {
				best[v] = scores[r]
			}
		}
		ranked[k] = slices.SortedFunc(maps.Keys(best), func(v, w int32) int { return cmp.Or(cmp.Compare(best[w], best[v]), cmp.Compare(v, w)) })
	}
	count := func() float64 {
		n := 1.0
		for k, a := range ch.alike {
			n = float64(n * binomial(len(ranked[k]), min(a.values, len(ranked[k]))))
		}
		return n
	}
	for count() > maxValueSets {
		most := 0
		for k, a := range ch.alike {
			if len(ranked[k])-a.values > len(ranked[most])-ch.alike[most].values {
				most = k
			}
		}
		ranked[most] = ranked[most][:len(ranked[most])-1]
	}
	sets := [][][]int32{nil}
	for k, a := range ch.alike {
		var longer [][][]int32
		for _, set := range sets {
			for _, some := range subsets(ranked[k], min(a.values, len(ranked[k]))) {
				longer = append(longer, append(slices.Clip(set), some))
			}
		}
		sets = longer
	}
	return sets
}

// binomial returns the number of subsets of k of n things.
func binomial(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = math.Round(float64(c*float64(n-i)) / float64(i+1))
	}
	return c
}

// subsets returns all subsets of k values.
func subsets(values []int32, k int) [][]int32 {
	if k == 0 {
		return [][]int32{nil}
	}
	var all [][]int32
	for i := range len(values) - k + 1 {
		for _, rest := range subsets(values[i+1:], k-1) {
			all = append(all, append([]int32{values[i]}, rest...))
		}
	}
	return all
}

// chooseValues chooses the values of the conditions that are alike. Of each set of values, gain
// fills a batch with recipes of these values alone and returns what it gains. The best set is
// chosen, so that the values are chosen jointly with the recipes.
func (ch *batchOptimizer) chooseValues(recipes []recipe, scores []float64, gain func(set [][]int32) float64) {
	if len(ch.alike) == 0 || len(recipes) == 0 {
		return
	}
	most := math.Inf(-1)
	var best [][]int32
	for _, set := range ch.valueSets(recipes, scores) {
		if g := gain(set); g > most {
			best, most = set, g
		}
	}
	ch.chosenValues = best
}

// atEachValue returns variants of the best recipes, so that there are good ones at each value of
// the conditions that are alike: at each value, the best of the variants. There are at most as many
// variants as most.
func (ch *batchOptimizer) atEachValue(best []recipe, score func(recipe) float64, most int) []candidate {
	const tried = 12 // recipes whose conditions are changed
	var all []candidate
	for _, a := range ch.alike {
		n := ch.c.Problem.Conditions[a.condition].Len()
		per := max(1, most/len(ch.alike)/n)
		for v := range n {
			var of []candidate
			for _, x := range best[:min(len(best), tried)] {
				if x.offered[a.condition] == int32(v) {
					continue
				}
				offered := slices.Clone(x.offered)
				offered[a.condition] = int32(v)
				if y := ch.c.offeredRecipe(x.parts, offered); ch.isOfferable(y) && ch.isFeasible(y) {
					of = append(of, candidate{y, score(y)})
				}
			}
			slices.SortFunc(of, compareCandidates)
			all = append(all, of[:min(len(of), per)]...)
		}
	}
	slices.SortFunc(all, compareCandidates)
	all = slices.CompactFunc(all, func(x, y candidate) bool { return compareRecipes(x.recipe, y.recipe) == 0 })
	return all[:min(len(all), most)]
}
