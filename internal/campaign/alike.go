package campaign

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// An alikeLimit limits how many different values of one condition a batch may have.
type alikeLimit struct {
	conditionIndex int // index of the condition in the problem
	maxValues      int // maximum number of different values in one batch
}

// maxValueSets is the maximum number of sets of condition values that [batchOptimizer.chooseValues]
// tries.
const maxValueSets = 200

// setAlikeLimits sets alikeLimits from the settings. It leaves out limits that every batch
// satisfies.
func (ch *batchOptimizer) setAlikeLimits() {
	for _, a := range ch.settings.AlikeLimits {
		k := slices.Index(ch.campaign.ConditionNames(), a.Condition)
		if k >= 0 && a.Values < ch.campaign.Problem.Conditions[k].Len() {
			ch.alikeLimits = append(ch.alikeLimits, alikeLimit{k, a.Values})
		}
	}
}

// fitsAlikeLimits reports whether the batch still satisfies every [alikeLimit] when recipe x is
// added. If the values for the batch were chosen before, x must have chosen values.
func (ch *batchOptimizer) fitsAlikeLimits(x recipe) bool {
	for k, a := range ch.alikeLimits {
		v := x.offeredValues[a.conditionIndex]
		if ch.chosenValues != nil && !slices.Contains(ch.chosenValues[k], v) {
			return false
		}
		if in := ch.batchValues(a); !slices.Contains(in, v) && len(in) >= a.maxValues {
			return false
		}
	}
	return true
}

// batchValues returns the different values that the limited condition has in the batch, as indices.
func (ch *batchOptimizer) batchValues(a alikeLimit) []int32 {
	var in []int32
	for _, b := range ch.batch {
		if v := b.offeredValues[a.conditionIndex]; !slices.Contains(in, v) {
			in = append(in, v)
		}
	}
	return in
}

// alignWithBatch returns recipe x with condition values that the batch can still take. If the batch
// already has the maximum number of values of a limited condition, the value becomes the batch's
// nearest value by index. The result ok is false if the rules forbid the new recipe or the new
// recipe must not be offered.
func (ch *batchOptimizer) alignWithBatch(x recipe) (y recipe, ok bool) {
	if ch.fitsAlikeLimits(x) {
		return x, true
	}
	if ch.allowedRecipes != nil {
		return x, false // the pairs that may be chosen are given
	}
	offered := slices.Clone(x.offeredValues)
	for k, a := range ch.alikeLimits {
		values := ch.batchValues(a)
		if len(values) < a.maxValues {
			if ch.chosenValues == nil {
				continue
			}
			values = ch.chosenValues[k]
		}
		at := offered[a.conditionIndex]
		offered[a.conditionIndex] = slices.MinFunc(values, func(v, w int32) int {
			return cmp.Or(cmp.Compare(max(v-at, at-v), max(w-at, at-w)), cmp.Compare(v, w))
		})
	}
	y = ch.campaign.offeredRecipe(x.parts, offered)
	return y, ch.isFeasible(y) && ch.isOfferable(y)
}

// candidateValueSets returns sets of values from which the batch's values of the limited conditions
// may be chosen. A set has the allowed value indices of each limited condition, by limit. If there
// would be more than [maxValueSets] sets, candidateValueSets leaves out the values with the lowest
// scores. The parameter scores has one score for each recipe; a higher score is better.
func (ch *batchOptimizer) candidateValueSets(recipes []recipe, scores []float64) [][][]int32 {
	ranked := make([][]int32, len(ch.alikeLimits)) // values of the recipes, the best first
	for k, a := range ch.alikeLimits {
		best := make(map[int32]float64)
		for r, x := range recipes {
			v := x.offeredValues[a.conditionIndex]
			if was, known := best[v]; !known || scores[r] > was {
				best[v] = scores[r]
			}
		}
		ranked[k] = slices.SortedFunc(maps.Keys(best), func(v, w int32) int { return cmp.Or(cmp.Compare(best[w], best[v]), cmp.Compare(v, w)) })
	}
	count := func() float64 {
		n := 1.0
		for k, a := range ch.alikeLimits {
			n = float64(n * binomial(len(ranked[k]), min(a.maxValues, len(ranked[k]))))
		}
		return n
	}
	for count() > maxValueSets {
		most := 0
		for k, a := range ch.alikeLimits {
			if len(ranked[k])-a.maxValues > len(ranked[most])-ch.alikeLimits[most].maxValues {
				most = k
			}
		}
		ranked[most] = ranked[most][:len(ranked[most])-1]
	}
	sets := [][][]int32{nil}
	for k, a := range ch.alikeLimits {
		var longer [][][]int32
		for _, set := range sets {
			for _, some := range subsets(ranked[k], min(a.maxValues, len(ranked[k]))) {
				longer = append(longer, append(slices.Clip(set), some))
			}
		}
		sets = longer
	}
	return sets
}

// binomial returns the binomial coefficient, that is, the number of subsets of size k of a set of n
// elements.
func binomial(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = math.Round(float64(c*float64(n-i)) / float64(i+1))
	}
	return c
}

// subsets returns all subsets of the given values that have k elements.
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

// chooseValues chooses the batch's values of the limited conditions. For each set of values, the
// function gain fills a batch with recipes that have only these values, and returns the gain of
// that batch. The set with the greatest gain is chosen, so values and recipes are chosen jointly.
func (ch *batchOptimizer) chooseValues(recipes []recipe, scores []float64, gain func(set [][]int32) float64) {
	if len(ch.alikeLimits) == 0 || len(recipes) == 0 {
		return
	}
	most := math.Inf(-1)
	var best [][]int32
	for _, set := range ch.candidateValueSets(recipes, scores) {
		if g := gain(set); g > most {
			best, most = set, g
		}
	}
	ch.chosenValues = best
}

// variantsAtEachValue returns at most limit variants of the best recipes, so that good candidates
// exist at every value of every limited condition. A variant is a recipe with another value of one
// condition. Only the best variants at each value are returned.
func (ch *batchOptimizer) variantsAtEachValue(best []recipe, score func(recipe) float64, limit int) []candidate {
	const tried = 12 // recipes whose conditions are changed
	var all []candidate
	for _, a := range ch.alikeLimits {
		n := ch.campaign.Problem.Conditions[a.conditionIndex].Len()
		per := max(1, limit/len(ch.alikeLimits)/n)
		for v := range n {
			var of []candidate
			for _, x := range best[:min(len(best), tried)] {
				if x.offeredValues[a.conditionIndex] == int32(v) {
					continue
				}
				offered := slices.Clone(x.offeredValues)
				offered[a.conditionIndex] = int32(v)
				if y := ch.campaign.offeredRecipe(x.parts, offered); ch.isOfferable(y) && ch.isFeasible(y) {
					of = append(of, candidate{y, score(y)})
				}
			}
			slices.SortFunc(of, compareCandidates)
			all = append(all, of[:min(len(of), per)]...)
		}
	}
	slices.SortFunc(all, compareCandidates)
	all = slices.CompactFunc(all, func(x, y candidate) bool { return compareRecipes(x.recipe, y.recipe) == 0 })
	return all[:min(len(all), limit)]
}
