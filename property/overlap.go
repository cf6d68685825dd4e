package property

import (
	"fmt"

	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Overlap scores a composition by the ingredients that it shares with the nearest of the known recipes.
// Likeness is high near a recipe, and novelty is high far from all recipes:
//
//	o(x) = max_r |A ∩ B_r| / min(|A|, |B_r|),  y(x) = max(floor, o(x)) or max(floor, 1 − o(x))
//
// A is the set of used ingredients and B_r the set of ingredients of recipe r (the overlap coefficient of
// Szymkiewicz and Simpson). o is 1 where one set contains the other. Therefore novelty without a floor forbids
// every composition that only adds ingredients to a known recipe, or only leaves some out.
//
// Among all divisions of the joint amount of ingredients i and j there are at most three different scores: if
// only i is used, only j, or both. The time to compute these scores is proportional to the number of recipes
// that use i or j. The scorer keeps counts of ingredients, which are exact.
type Overlap struct {
	isLikeness      bool
	floor           float64
	recipesUsing    [][]int32 // item i lists the indices of the recipes that use ingredient i
	recipeSizeIndex []int32   // item r is the index in recipeSizes of the number of ingredients of recipe r
	recipeSizes     []int     // numbers of ingredients that occur among the recipes, ascending, each once
}

var _ mcmc.LineProperty = (*Overlap)(nil)

// NewOverlapLikeness returns an [Overlap] that scores likeness, which is high near a known recipe. Each recipe is a
// non-empty set of ingredient indices; floor is in 0..1.
func NewOverlapLikeness(ingredients int, recipes [][]int32, floor float64) (*Overlap, error) {
	return newOverlap(true, ingredients, recipes, floor)
}

// NewOverlapNovelty returns an [Overlap] that scores novelty, which is high far from all known recipes. Each recipe is a
// non-empty set of ingredient indices; floor is in 0..1.
func NewOverlapNovelty(ingredients int, recipes [][]int32, floor float64) (*Overlap, error) {
	return newOverlap(false, ingredients, recipes, floor)
}

func newOverlap(likes bool, ingredients int, recipes [][]int32, floor float64) (*Overlap, error) {
	if !(floor >= 0 && floor <= 1) {
		return nil, fmt.Errorf("the floor is %v: it must be from 0 to 1", floor)
	}
	if len(recipes) == 0 {
		return nil, fmt.Errorf("there is no recipe to compare with")
	}
	o := &Overlap{isLikeness: likes, floor: floor, recipeSizeIndex: make([]int32, len(recipes))}
	uses := make([]int, ingredients)
	for r, recipe := range recipes {
		if len(recipe) == 0 {
			return nil, fmt.Errorf("recipe %d has no ingredients", r)
		}
		o.recipeSizes = append(o.recipeSizes, len(recipe))
		for _, i := range recipe {
			if i < 0 || int(i) >= ingredients {
				return nil, fmt.Errorf("recipe %d has ingredient %d, and there are %d", r, i, ingredients)
			}
			uses[i]++
		}
	}
	slices.Sort(o.recipeSizes)
	o.recipeSizes = slices.Compact(o.recipeSizes)
	for r, recipe := range recipes {
		at, _ := slices.BinarySearch(o.recipeSizes, len(recipe))
		o.recipeSizeIndex[r] = int32(at)
	}
	o.recipesUsing = recipesByIngredient(ingredients, recipes, uses)
	return o, nil
}

// logScoreFrom returns the log score of a composition whose greatest overlap coefficient with any recipe is
// overlap; see [Overlap].
func (o *Overlap) logScoreFrom(overlap float64) float64 {
	if o.isLikeness {
		return portable.Log(max(o.floor, overlap))
	}
	return portable.Log(max(o.floor, 1-overlap))
}

// Most returns 0, which is an upper bound of the log score, because the score is at most 1.
func (*Overlap) Most(int) float64 { return 0 }

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (o *Overlap) LogScore(x *mcmc.Composition) float64 {
	shared := make(map[int32]int)
	nearest := 0.0
	for _, i := range x.Ingredients() {
		for _, r := range o.recipesUsing[i] {
			shared[r]++
			nearest = max(nearest, float64(shared[r])/float64(min(x.UsedCount(), o.recipeSizes[o.recipeSizeIndex[r]])))
		}
	}
	return o.logScoreFrom(nearest)
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (o *Overlap) Scorer(x *mcmc.Composition) mcmc.Scorer {
	s := &overlapScorer{property: o, previousAmounts: previousAmounts{x: x}, sharedCounts: make([]int32, len(o.recipeSizeIndex)), firstCountIndex: make([]int, len(o.recipeSizes)), maxSharedBySize: make([]int32, len(o.recipeSizes))}
	cells := 0
	for k, size := range o.recipeSizes {
		s.firstCountIndex[k] = cells
		cells += size + 1
	}
	s.recipeCounts = make([]int32, cells)
	return s
}

type overlapScorer struct {
	property *Overlap
	previousAmounts
	isUsed       []bool  // item i tells whether ingredient i is in the set of used ingredients
	usedCount    int     // number of ingredients in the set of used ingredients
	sharedCounts []int32 // item r is the number of ingredients of recipe r that are in the set of used ingredients

	// recipeCounts[firstCountIndex[k]+c] is the number of recipes with exactly recipeSizes[k] ingredients, c of
	// which are in the set of used ingredients.
	recipeCounts []int32
	// firstCountIndex[k] is the index in recipeCounts of the first count for recipes with recipeSizes[k]
	// ingredients.
	firstCountIndex []int
	// maxSharedBySize[k] is the greatest number of used ingredients in a recipe with recipeSizes[k]
	// ingredients.
	maxSharedBySize []int32
}

func (s *overlapScorer) Reset() {
	s.previousAmounts.reset()
	o := s.property
	clear(s.sharedCounts)
	clear(s.recipeCounts)
	clear(s.maxSharedBySize)
	for _, size := range o.recipeSizeIndex {
		s.recipeCounts[s.firstCountIndex[size]]++
	}
	s.isUsed = append(s.isUsed[:0], make([]bool, s.x.N())...)
	s.usedCount = 0
	for _, i := range s.x.Ingredients() {
		s.setUsed(int(i), true)
	}
}

// setUsed adds ingredient i to the set of used ingredients if used is true, and otherwise removes i from the
// set. It updates all counts of the scorer.
func (s *overlapScorer) setUsed(i int, used bool) {
	if s.isUsed[i] == used {
		return
	}
	s.isUsed[i] = used
	by := int32(plusOrMinusOne(used))
	s.usedCount += int(by)
	for _, r := range s.property.recipesUsing[i] {
		size := s.property.recipeSizeIndex[r]
		at := s.firstCountIndex[size] + int(s.sharedCounts[r])
		s.sharedCounts[r] += by
		s.recipeCounts[at]--
		s.recipeCounts[at+int(by)]++
		s.maxSharedBySize[size] = max(s.maxSharedBySize[size], s.sharedCounts[r])
	}
	if used {
		return
	}
	for size, top := range s.maxSharedBySize {
		for top > 0 && s.recipeCounts[s.firstCountIndex[size]+int(top)] == 0 {
			top--
		}
		s.maxSharedBySize[size] = top
	}
}

// currentLogScore returns the log score for the current set of used ingredients.
func (s *overlapScorer) currentLogScore() float64 {
	nearest := 0.0
	for size, top := range s.maxSharedBySize {
		nearest = max(nearest, float64(top)/float64(min(s.usedCount, s.property.recipeSizes[size])))
	}
	return s.property.logScoreFrom(nearest)
}

func (s *overlapScorer) LogScore() float64 { return s.currentLogScore() }

func (s *overlapScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	sum := s.x.Amount(i) + s.x.Amount(j)
	if sum == 0 {
		p.Add(0, s.currentLogScore())
		return
	}
	q := pieceJoiner{pieces: p}
	s.setUsed(i, false)
	s.setUsed(j, true)
	q.add(0, s.currentLogScore())
	s.setUsed(i, true)
	if sum > 1 {
		q.add(1, s.currentLogScore())
	}
	s.setUsed(j, false)
	q.add(sum, s.currentLogScore())
	s.setUsed(i, s.amounts[i] > 0)
	s.setUsed(j, s.amounts[j] > 0)
}

func (s *overlapScorer) Moved(i, j int) {
	s.previousAmounts.updateAndReturnChanges(i, j)
	s.setUsed(i, s.amounts[i] > 0)
	s.setUsed(j, s.amounts[j] > 0)
}

// recipesByIngredient returns a list for each ingredient: the ascending indices of the recipes that use the
// ingredient. uses[i] is the number of recipes that use ingredient i.
func recipesByIngredient(ingredients int, recipes [][]int32, uses []int) [][]int32 {
	of := make([][]int32, ingredients)
	for i, n := range uses {
		if n > 0 {
			of[i] = make([]int32, 0, n)
		}
	}
	for r, recipe := range recipes {
		for _, i := range recipe {
			of[i] = append(of[i], int32(r))
		}
	}
	return of
}
