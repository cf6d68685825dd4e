package property

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Pairs scores how well the used ingredients go together, two by two:
//
//	y(x) = (Π_{i<j used} lift_ij)^p · Π_{i<j used} factor_ij
//
// The smoothed lift measures how usual a pair of ingredients i and j is in a dataset of R recipes. n_i recipes
// use i, n_j recipes use j, and n_ij recipes use both:
//
//	lift_ij = (n_ij + a) / (n_i·n_j/R + a)
//
// The lift is above 1 for a pair that occurs more often than by chance. a > 0 is a pseudo-count, in recipes,
// that pulls the lift to 1. A pair with an ingredient that the dataset does not use has a lift of 1. For n used
// ingredients the exponent p is 2/(n(n−1)) for the geometric mean over the pairs, 1 for the product, and 0
// without lifts. A single ingredient has no pair and scores 1. (Lift: Brin, Motwani, Ullman and Tsur, "Dynamic
// Itemset Counting and Implication Rules for Market Basket Data", SIGMOD 1997, there called interest.) A factor
// is at least 0 and multiplies the score where both ingredients are used; a factor of 0 forbids the pair.
//
// Scores depend only on the set of used ingredients. Hence among all divisions of the joint amount of two
// ingredients there are at most three different scores: if only the first is used, only the second, or both.
// Computing these scores takes O(n log N) time, against O(n² log N) for all pairs anew. Logs are whole
// multiples of 2⁻ᵇ, b as large as a sum over the pairs of min(N, M) ingredients allows: 39 for N = 2,000 if no
// log is above 4.
type Pairs struct {
	liftMode        LiftMode
	usageClasses    []int32 // item i is the class of ingredient i; ingredients used by equally many recipes have the same class
	classCount      int     // number of classes of ingredients; see usageClasses
	unobservedLifts []int64 // item a·classCount+b is the log lift of two ingredients of classes a and b that no recipe uses together
	observedLifts   pairTable
	factors         pairTable
	logUnit         float64 // logs are stored as whole numbers; this is the log that the number 1 stands for, 2⁻ᵇ
}

var _ mcmc.LineProperty = (*Pairs)(nil)

// LiftMode selects how the lifts of all pairs of used ingredients are combined into the score; see [Pairs].
type LiftMode int

// These constants are the ways to combine the lifts of all pairs of used ingredients; see [Pairs]. The lift of
// a pair is how much more often than by chance recipes use both ingredients.
const (
	NoLift      LiftMode = iota // the lifts of pairs do not affect the score
	MeanLift                    // geometric mean of the lifts of all pairs of used ingredients
	ProductLift                 // product of the lifts of all pairs of used ingredients
)

// A PairFactor is a factor that multiplies the score of every composition in which ingredients I and J are both
// used.
type PairFactor struct {
	I, J   int
	Factor float64
}

// PairsOptions holds the recipes and factors from which [NewPairs] makes a [Pairs].
type PairsOptions struct {
	Ingredients int
	Total       int
	// Recipes are the sets of ingredients from which lifts are computed.
	Recipes     [][]int32
	Lift        LiftMode
	PseudoCount float64 // pseudo-count a of the smoothed lift, in recipes
	// Factors holds factors for pairs of different ingredients. Several factors for the same pair are multiplied.
	Factors []PairFactor
}

// maxCountedPairs is the greatest work for counting pairs: the sum, over the recipes, of the squared number of
// ingredients. The sum is about twice the number of pairs to count.
const maxCountedPairs = 1 << 31

// NewPairs returns a [Pairs]. The error describes the fault in the options.
func NewPairs(o PairsOptions) (*Pairs, error) {
	p := &Pairs{liftMode: o.Lift}
	factors, err := p.checkFactors(&o)
	if err != nil {
		return nil, err
	}
	var lifts []pairValue
	uses := make([]int, o.Ingredients)
	if o.Lift != NoLift {
		if !(o.PseudoCount > 0) || math.IsInf(o.PseudoCount, 0) {
			return nil, fmt.Errorf("smooth is %v: it must be a finite number above 0", o.PseudoCount)
		}
		if len(o.Recipes) == 0 {
			return nil, fmt.Errorf("lifts are counted in recipes, and there are none")
		}
		work := 0
		for _, recipe := range o.Recipes {
			for _, i := range recipe {
				if i < 0 || int(i) >= o.Ingredients {
					return nil, fmt.Errorf("a recipe has ingredient %d, and there are %d", i, o.Ingredients)
				}
				uses[i]++
			}
			if work += len(recipe) * len(recipe); work > maxCountedPairs {
				return nil, fmt.Errorf("the recipes have more than %d pairs of ingredients to count", maxCountedPairs/2)
			}
		}
		lifts = computeLifts(&o, uses)
	}
	logUnmet := func(m, n int) float64 {
		return portable.Log(o.PseudoCount / (float64(m)*float64(n)/float64(len(o.Recipes)) + o.PseudoCount))
	}
	sizes := slices.Compact(slices.Sorted(slices.Values(uses)))
	p.classCount = len(sizes)

	// The largest log determines b: the sum over all pairs must fit in 62 bits.
	largest := math.Ln2
	if o.Lift != NoLift {
		largest = max(largest, -logUnmet(sizes[len(sizes)-1], sizes[len(sizes)-1]))
	}
	for _, v := range slices.Concat(lifts, factors) {
		if v.logValue != math.Inf(-1) {
			largest = max(largest, math.Abs(v.logValue))
		}
	}
	most := min(o.Ingredients, o.Total)
	_, exponent := math.Frexp(largest)
	shift := 62 - exponent - 2*bits.Len(uint(most))
	p.logUnit = math.Ldexp(1, -shift)
	whole := func(log float64) int64 { return int64(math.RoundToEven(math.Ldexp(log, shift))) }

	p.factors = newPairTable(o.Ingredients, factors, whole)
	if o.Lift == NoLift {
		return p, nil
	}
	p.observedLifts = newPairTable(o.Ingredients, lifts, whole)
	p.usageClasses = make([]int32, o.Ingredients)
	for i, n := range uses {
		class, _ := slices.BinarySearch(sizes, n)
		p.usageClasses[i] = int32(class)
	}
	// There are O(√Σ n_i) classes, so this square table has no more entries than the dataset has ingredients in
	// recipes.
	p.unobservedLifts = make([]int64, p.classCount*p.classCount)
	for a, m := range sizes {
		for b, n := range sizes {
			p.unobservedLifts[a*p.classCount+b] = whole(logUnmet(m, n))
		}
	}
	return p, nil
}

// checkFactors verifies the factors in the options. It returns the log of the factor of each pair, sorted by
// pair. Several factors for the same pair are multiplied.
func (p *Pairs) checkFactors(o *PairsOptions) ([]pairValue, error) {
	values := make([]pairValue, 0, len(o.Factors))
	for _, f := range o.Factors {
		switch {
		case f.I < 0 || f.I >= o.Ingredients || f.J < 0 || f.J >= o.Ingredients || f.I == f.J:
			return nil, fmt.Errorf("%d and %d are not two of the ingredients 0 to %d", f.I, f.J, o.Ingredients-1)
		case !(f.Factor >= 0) || math.IsInf(f.Factor, 0):
			return nil, fmt.Errorf("the factor of %d and %d is %v: it must be a finite number of at least 0", f.I, f.J, f.Factor)
		}
		values = append(values, pairValue{int32(min(f.I, f.J)), int32(max(f.I, f.J)), portable.Log(f.Factor)})
	}
	slices.SortStableFunc(values, comparePairs)
	joined := values[:0]
	for _, v := range values {
		if n := len(joined); n > 0 && comparePairs(joined[n-1], v) == 0 {
			joined[n-1].logValue += v.logValue
		} else {
			joined = append(joined, v)
		}
	}
	return joined, nil
}

// computeLifts returns the log lift of each pair of ingredients that some recipe uses together; see [Pairs].
// uses[i] is the number of recipes that use ingredient i.
func computeLifts(o *PairsOptions, uses []int) []pairValue {
	recipes := recipesByIngredient(o.Ingredients, o.Recipes, uses)
	together := make([]int, o.Ingredients)
	var met []int32
	var lifts []pairValue
	for i := range o.Ingredients {
		met = met[:0]
		for _, r := range recipes[i] {
			for _, j := range o.Recipes[r] {
				if int(j) <= i {
					continue
				}
				if together[j] == 0 {
					met = append(met, j)
				}
				together[j]++
			}
		}
		slices.Sort(met)
		for _, j := range met {
			expected := float64(uses[i]) * float64(uses[j]) / float64(len(o.Recipes))
			lifts = append(lifts, pairValue{int32(i), j, portable.Log((float64(together[j]) + o.PseudoCount) / (expected + o.PseudoCount))})
			together[j] = 0
		}
	}
	return lifts
}

// A pairSum is a sum over pairs of ingredients.
type pairSum struct {
	logLift        int64 // sum of the log lifts of the pairs
	logFactor      int64 // sum of the logs of the factors above 0
	forbiddenCount int   // number of pairs whose factor is 0
}

func (b *pairSum) add(c pairSum, sign int64) {
	b.logLift += sign * c.logLift
	b.logFactor += sign * c.logFactor
	b.forbiddenCount += int(sign) * c.forbiddenCount
}

// pairContribution returns what the pair of ingredients i and j adds to a [pairSum].
func (p *Pairs) pairContribution(i, j int) (b pairSum) {
	if p.liftMode != NoLift {
		var met bool
		if b.logLift, met = p.observedLifts.get(i, j); !met {
			b.logLift = p.unobservedLifts[int(p.usageClasses[i])*p.classCount+int(p.usageClasses[j])]
		}
	}
	if f, ok := p.factors.get(i, j); ok && f == forbiddenFactor {
		b.forbiddenCount = 1
	} else if ok {
		b.logFactor = f
	}
	return b
}

// sumPairsWithUsed returns the sum over the pairs of one ingredient with each used ingredient other than i and j.
func (p *Pairs) sumPairsWithUsed(ingredient int, x *mcmc.Composition, i, j int) (sum pairSum) {
	for _, u := range x.Ingredients() {
		if int(u) != i && int(u) != j {
			sum.add(p.pairContribution(ingredient, int(u)), 1)
		}
	}
	return sum
}

// logScoreFrom returns the log score of a composition with n used ingredients. pairs is the sum over all pairs
// of these ingredients.
func (p *Pairs) logScoreFrom(pairs pairSum, n int) float64 {
	if pairs.forbiddenCount > 0 {
		return math.Inf(-1)
	}
	if n < 2 {
		return 0
	}
	lift := float64(pairs.logLift)
	if p.liftMode == MeanLift {
		lift /= float64(n) * float64(n-1) / 2
	}
	return float64((lift + float64(pairs.logFactor)) * p.logUnit)
}

// sumUsedPairs returns the sum over all pairs of used ingredients.
func (p *Pairs) sumUsedPairs(x *mcmc.Composition) (b pairSum) {
	used := x.Ingredients()
	for k, i := range used {
		for _, j := range used[:k] {
			b.add(p.pairContribution(int(i), int(j)), 1)
		}
	}
	return b
}

// Most returns an upper bound of the log score over all compositions that use the given number of ingredients.
func (p *Pairs) Most(used int) float64 {
	pairs := float64(float64(used) * float64(used-1) / 2)
	lift := int64(0)
	if p.liftMode != NoLift {
		for _, v := range slices.Concat(p.unobservedLifts, p.observedLifts.values) {
			lift = max(lift, v)
		}
	}
	top, sum := int64(0), 0.0
	for _, v := range p.factors.values { // each pair stands in the table twice, so its share is halved
		top = max(top, v)
		sum += float64(float64(max(v, 0)) / 2)
	}
	most := float64(lift)
	if p.liftMode == ProductLift {
		most = float64(most * pairs)
	}
	most += min(sum, float64(float64(top)*pairs))
	return float64(float64(most*p.logUnit) * (1 + 0x1p-50))
}

// LogScore returns the natural logarithm of the score of the composition x. It takes O(n² log N) time for n
// used of N ingredients.
func (p *Pairs) LogScore(x *mcmc.Composition) float64 {
	return p.logScoreFrom(p.sumUsedPairs(x), x.UsedCount())
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (p *Pairs) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &pairsScorer{property: p, previousAmounts: previousAmounts{x: x}}
}

type pairsScorer struct {
	property *Pairs
	previousAmounts
	usedPairSum pairSum // sum over all pairs of ingredients that the composition uses
}

func (s *pairsScorer) Reset() {
	s.previousAmounts.reset()
	s.usedPairSum = s.property.sumUsedPairs(s.x)
}

func (s *pairsScorer) LogScore() float64 {
	return s.property.logScoreFrom(s.usedPairSum, s.x.UsedCount())
}

// lineSums returns sums over pairs, from which the scores follow if ingredients i and j get other amounts. The
// results are:
//   - ofI: sum over the pairs of i with each used ingredient other than i and j.
//   - ofJ: sum over the pairs of j with each used ingredient other than i and j.
//   - rest: sum over all pairs of used ingredients other than i and j.
//   - both: what the pair of i and j adds.
//   - others: number of used ingredients other than i and j.
func (s *pairsScorer) lineSums(i, j int) (ofI, ofJ, both, rest pairSum, others int) {
	p, x := s.property, s.x
	ofI, ofJ, both = p.sumPairsWithUsed(i, x, i, j), p.sumPairsWithUsed(j, x, i, j), p.pairContribution(i, j)
	rest, others = s.usedPairSum, x.UsedCount()
	if x.Amount(i) > 0 {
		rest.add(ofI, -1)
		others--
	}
	if x.Amount(j) > 0 {
		rest.add(ofJ, -1)
		others--
	}
	if others == x.UsedCount()-2 {
		rest.add(both, -1)
	}
	return ofI, ofJ, both, rest, others
}

func (s *pairsScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	sum := s.x.Amount(i) + s.x.Amount(j)
	if sum == 0 {
		p.Add(0, s.LogScore())
		return
	}
	ofI, ofJ, both, rest, others := s.lineSums(i, j)
	q := pieceJoiner{pieces: p}
	rest.add(ofJ, 1)
	q.add(0, s.property.logScoreFrom(rest, others+1))
	rest.add(ofI, 1)
	if sum > 1 {
		inner := rest
		inner.add(both, 1)
		q.add(1, s.property.logScoreFrom(inner, others+2))
	}
	rest.add(ofJ, -1)
	q.add(sum, s.property.logScoreFrom(rest, others+1))
}

func (s *pairsScorer) Moved(i, j int) {
	// Only pairs with i or j change the sum.
	hadI, hadJ := s.amounts[i] > 0, s.amounts[j] > 0
	s.previousAmounts.updateAndReturnChanges(i, j)
	hasI, hasJ := s.amounts[i] > 0, s.amounts[j] > 0
	if hadI != hasI {
		s.usedPairSum.add(s.property.sumPairsWithUsed(i, s.x, i, j), plusOrMinusOne(hasI))
	}
	if hadJ != hasJ {
		s.usedPairSum.add(s.property.sumPairsWithUsed(j, s.x, i, j), plusOrMinusOne(hasJ))
	}
	if had, has := hadI && hadJ, hasI && hasJ; had != has {
		s.usedPairSum.add(s.property.pairContribution(i, j), plusOrMinusOne(has))
	}
}
