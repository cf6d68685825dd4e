package campaign

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// A conditionValueLimit limits how many different values of one condition a batch may have. The key
// "alike" in the problem file sets such limits.
type conditionValueLimit struct {
	conditionIndex int // index of the condition in the problem's list of conditions
	maxValues      int // maximum number of different values in one batch
}

// maxValueSets is the maximum number of sets of condition values that
// [batchOptimizer.chooseConditionValues] compares.
const maxValueSets = 200

// setConditionValueLimits sets the field conditionValueLimits from the settings. It leaves out a
// limit that is not smaller than the number of the condition's values.
func (ch *batchOptimizer) setConditionValueLimits() {
	for _, a := range ch.settings.AlikeLimits {
		k := slices.Index(ch.campaign.ConditionNames(), a.Condition)
		if k >= 0 && a.Values < ch.campaign.Problem.Conditions[k].Len() {
			ch.conditionValueLimits = append(ch.conditionValueLimits, conditionValueLimit{k, a.Values})
		}
	}
}

// fitsConditionValueLimits reports whether the batch still satisfies every [conditionValueLimit]
// after recipe x is added. If chosenConditionValues is set, x must also have only these values of
// the limited conditions.
func (ch *batchOptimizer) fitsConditionValueLimits(x recipe) bool {
	for k, a := range ch.conditionValueLimits {
		v := x.offeredValues[a.conditionIndex]
		if ch.chosenConditionValues != nil && !slices.Contains(ch.chosenConditionValues[k], v) {
			return false
		}
		if in := ch.conditionValuesInBatch(a); !slices.Contains(in, v) && len(in) >= a.maxValues {
			return false
		}
	}
	return true
}

// conditionValuesInBatch returns the indices of the different values that the condition of a limit
// has in the batch.
func (ch *batchOptimizer) conditionValuesInBatch(a conditionValueLimit) []int32 {
	var in []int32
	for _, b := range ch.batch {
		if v := b.offeredValues[a.conditionIndex]; !slices.Contains(in, v) {
			in = append(in, v)
		}
	}
	return in
}

// moveConditionsToBatch changes the conditions of recipe x so that the batch satisfies every
// [conditionValueLimit] after x is added. A value that the batch can no longer take becomes the
// value with the nearest index that the batch can take. The result ok is false if the rules forbid
// the changed recipe or a batch may not offer it.
func (ch *batchOptimizer) moveConditionsToBatch(x recipe) (moved recipe, ok bool) {
	if ch.fitsConditionValueLimits(x) {
		return x, true
	}
	if ch.allowedRecipes != nil {
		return x, false // the pairs that may be chosen are given
	}
	offered := slices.Clone(x.offeredValues)
	for k, a := range ch.conditionValueLimits {
		values := ch.conditionValuesInBatch(a)
		if len(values) < a.maxValues {
			if ch.chosenConditionValues == nil {
				continue
			}
			values = ch.chosenConditionValues[k]
		}
		at := offered[a.conditionIndex]
		offered[a.conditionIndex] = slices.MinFunc(values, func(v, w int32) int {
			return cmp.Or(cmp.Compare(max(v-at, at-v), max(w-at, at-w)), cmp.Compare(v, w))
		})
	}
	moved = ch.campaign.offeredRecipe(x.parts, offered)
	return moved, ch.isFeasible(moved) && ch.isOfferable(moved)
}

// candidateValueSets returns the sets of values that [batchOptimizer.chooseConditionValues]
// compares. Element k of a set lists the values, by index, that the batch may have of the condition
// of conditionValueLimits[k]. If there would be more than [maxValueSets] sets, the values with the
// lowest scores are left out. The score of a value is the highest score of a recipe with the value;
// scores[i] is the score of recipes[i].
func (ch *batchOptimizer) candidateValueSets(recipes []recipe, scores []float64) [][][]int32 {
	ranked := make([][]int32, len(ch.conditionValueLimits)) // values of the recipes, the best first
	for k, a := range ch.conditionValueLimits {
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
		for k, a := range ch.conditionValueLimits {
			n = float64(n * binomial(len(ranked[k]), min(a.maxValues, len(ranked[k]))))
		}
		return n
	}
	for count() > maxValueSets {
		most := 0
		for k, a := range ch.conditionValueLimits {
			if len(ranked[k])-a.maxValues > len(ranked[most])-ch.conditionValueLimits[most].maxValues {
				most = k
			}
		}
		ranked[most] = ranked[most][:len(ranked[most])-1]
	}
	sets := [][][]int32{nil}
	for k, a := range ch.conditionValueLimits {
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

// subsets returns all subsets of values that have k elements.
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

// chooseConditionValues chooses the values that the batch may have of the conditions with a
// [conditionValueLimit]. For each set of values, the function batchGain fills a copy of the batch
// with recipes that have only values of the set, and returns the expected gain. The set with the
// greatest gain is stored in chosenConditionValues.
func (ch *batchOptimizer) chooseConditionValues(recipes []recipe, scores []float64, batchGain func(set [][]int32) float64) {
	if len(ch.conditionValueLimits) == 0 || len(recipes) == 0 {
		return
	}
	most := math.Inf(-1)
	var best [][]int32
	for _, set := range ch.candidateValueSets(recipes, scores) {
		if g := batchGain(set); g > most {
			best, most = set, g
		}
	}
	ch.chosenConditionValues = best
}

// variantsAtEachValue returns at most maxVariants variants of the best recipes. A variant is a
// recipe with another value of one condition that has a [conditionValueLimit]. For every value of
// such a condition, the variants with the highest scores are kept, so that the candidates cover all
// values.
func (ch *batchOptimizer) variantsAtEachValue(best []recipe, score func(recipe) float64, maxVariants int) []candidate {
	const tried = 12 // recipes whose conditions are changed
	var all []candidate
	for _, a := range ch.conditionValueLimits {
		n := ch.campaign.Problem.Conditions[a.conditionIndex].Len()
		per := max(1, maxVariants/len(ch.conditionValueLimits)/n)
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
	return all[:min(len(all), maxVariants)]
}
