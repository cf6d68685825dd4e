package property

import (
	"fmt"

	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Overlap scores a composition by the ingredients that it shares with the nearest of known recipes.
// Likeness is high near a recipe, novelty far from all of them:
//
//	o(x) = max_r |A ∩ B_r| / min(|A|, |B_r|),  y(x) = max(floor, o(x)) or max(floor, 1 − o(x))
//
// A is the set of used ingredients and B_r that of recipe r (the overlap coefficient of Szymkiewicz
// and Simpson). o is 1 where one set contains the other. So novelty without a floor forbids every
// composition that only adds ingredients to a known recipe, or only leaves some out.
//
// A line has at most three pieces. Their time grows with the recipes that use i or j, not with all.
// The scorer keeps counts of ingredients, which are exact.
type Overlap struct {
	isLikeness   bool
	floor        float64
	recipesUsing [][]int32 // recipesUsing[i] lists the recipes that use ingredient i
	sizeIndex    []int32   // for each recipe, the index in sizes of its number of ingredients
	sizes        []int     // the different numbers of ingredients of recipes, rising
}

var _ mcmc.LineProperty = (*Overlap)(nil)

// NewLikeness returns the likeness of [Overlap], which is high near a known recipe. Recipes are non-empty sets of
// ingredients; floor is in 0..1.
func NewLikeness(ingredients int, recipes [][]int32, floor float64) (*Overlap, error) {
	return newOverlap(true, ingredients, recipes, floor)
}

// NewNovelty returns the novelty of [Overlap], which is high far from all known recipes.
func NewNovelty(ingredients int, recipes [][]int32, floor float64) (*Overlap, error) {
	return newOverlap(false, ingredients, recipes, floor)
}

func newOverlap(likes bool, ingredients int, recipes [][]int32, floor float64) (*Overlap, error) {
	if !(floor >= 0 && floor <= 1) {
		return nil, fmt.Errorf("the floor is %v: it must be from 0 to 1", floor)
	}
	if len(recipes) == 0 {
		return nil, fmt.Errorf("there is no recipe to compare with")
	}
	o := &Overlap{isLikeness: likes, floor: floor, sizeIndex: make([]int32, len(recipes))}
	uses := make([]int, ingredients)
	for r, recipe := range recipes {
		if len(recipe) == 0 {
			return nil, fmt.Errorf("recipe %d has no ingredients", r)
		}
		o.sizes = append(o.sizes, len(recipe))
		for _, i := range recipe {
			if i < 0 || int(i) >= ingredients {
				return nil, fmt.Errorf("recipe %d has ingredient %d, and there are %d", r, i, ingredients)
			}
			uses[i]++
		}
	}
	slices.Sort(o.sizes)
	o.sizes = slices.Compact(o.sizes)
	for r, recipe := range recipes {
		at, _ := slices.BinarySearch(o.sizes, len(recipe))
		o.sizeIndex[r] = int32(at)
	}
	o.recipesUsing = invert(ingredients, recipes, uses)
	return o, nil
}

// log returns log y, given the greatest overlap coefficient with any recipe.
func (o *Overlap) log(overlap float64) float64 {
	if o.isLikeness {
		return portable.Log(max(o.floor, overlap))
	}
	return portable.Log(max(o.floor, 1-overlap))
}

// Most returns an upper bound of log y, which is 0: y is never above 1.
func (*Overlap) Most(int) float64 { return 0 }

// LogScore returns log y(x).
func (o *Overlap) LogScore(x *mcmc.Composition) float64 {
	shared := make(map[int32]int)
	nearest := 0.0
	for _, i := range x.Ingredients() {
		for _, r := range o.recipesUsing[i] {
			shared[r]++
			nearest = max(nearest, float64(shared[r])/float64(min(x.Used(), o.sizes[o.sizeIndex[r]])))
		}
	}
	return o.log(nearest)
}

// Scorer returns a scorer of x.
func (o *Overlap) Scorer(x *mcmc.Composition) mcmc.Scorer {
	s := &overlapScorer{property: o, previousAmounts: previousAmounts{x: x}, shared: make([]int32, len(o.sizeIndex)), firstCount: make([]int, len(o.sizes)), mostShared: make([]int32, len(o.sizes))}
	cells := 0
	for k, size := range o.sizes {
		s.firstCount[k] = cells
		cells += size + 1
	}
	s.recipeCounts = make([]int32, cells)
	return s
}

type overlapScorer struct {
	property *Overlap
	previousAmounts
	inSet  []bool  // whether each ingredient is in the set of used ingredients
	used   int     // number of ingredients in the set
	shared []int32 // for each recipe, how many of its ingredients are in the set

	// recipeCounts[firstCount[k]+c] is the number of recipes with sizes[k] ingredients of which exactly c are in the
	// set. mostShared[k] is the greatest such c.
	recipeCounts []int32
	firstCount   []int
	mostShared   []int32
}

func (s *overlapScorer) Reset() {
	s.previousAmounts.reset()
	o := s.property
	clear(s.shared)
	clear(s.recipeCounts)
	clear(s.mostShared)
	for _, size := range o.sizeIndex {
		s.recipeCounts[s.firstCount[size]]++
	}
	s.inSet = append(s.inSet[:0], make([]bool, s.x.N())...)
	s.used = 0
	for _, i := range s.x.Ingredients() {
		s.setUsed(int(i), true)
	}
}

// setUsed adds ingredient i to the set if in is true, else removes it. It updates all counts.
func (s *overlapScorer) setUsed(i int, in bool) {
	if s.inSet[i] == in {
		return
	}
	s.inSet[i] = in
	by := int32(sign(in))
	s.used += int(by)
	for _, r := range s.property.recipesUsing[i] {
		size := s.property.sizeIndex[r]
		at := s.firstCount[size] + int(s.shared[r])
		s.shared[r] += by
		s.recipeCounts[at]--
		s.recipeCounts[at+int(by)]++
		s.mostShared[size] = max(s.mostShared[size], s.shared[r])
	}
	if in {
		return
	}
	for size, top := range s.mostShared {
		for top > 0 && s.recipeCounts[s.firstCount[size]+int(top)] == 0 {
			top--
		}
		s.mostShared[size] = top
	}
}

// score returns log y for the current set of used ingredients.
func (s *overlapScorer) score() float64 {
	nearest := 0.0
	for size, top := range s.mostShared {
		nearest = max(nearest, float64(top)/float64(min(s.used, s.property.sizes[size])))
	}
	return s.property.log(nearest)
}

func (s *overlapScorer) LogScore() float64 { return s.score() }

func (s *overlapScorer) Line(i, j int, p *mcmc.Pieces) {
	sum := s.x.Amount(i) + s.x.Amount(j)
	if sum == 0 {
		p.Add(0, s.score())
		return
	}
	q := joiner{pieces: p}
	s.setUsed(i, false)
	s.setUsed(j, true)
	q.add(0, s.score())
	s.setUsed(i, true)
	if sum > 1 {
		q.add(1, s.score())
	}
	s.setUsed(j, false)
	q.add(sum, s.score())
	s.setUsed(i, s.amounts[i] > 0)
	s.setUsed(j, s.amounts[j] > 0)
}

func (s *overlapScorer) Moved(i, j int) {
	s.previousAmounts.changes(i, j)
	s.setUsed(i, s.amounts[i] > 0)
	s.setUsed(j, s.amounts[j] > 0)
}

// invert returns, for each ingredient, the indices of the recipes that use it, in rising order. uses holds the length
// of each of these lists.
func invert(ingredients int, recipes [][]int32, uses []int) [][]int32 {
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
