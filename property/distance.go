package property

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Distance scores a composition by its distance, in amounts, to the nearest of the known recipes. Likeness is
// high near a recipe, and novelty is high far from all recipes:
//
//	likeness y(x) = max(floor, exp(−d²/(2·scale²)))
//	novelty  y(x) = max(floor, 1 − exp(−d²/(2·scale²))),  d = min_r d(x, z_r)
//
// z_r is known recipe r, and d(x, z) is the Aitchison distance between two compositions of M units of N
// ingredients. scale and floor are options. An amount of 0 is replaced by zero units, 0 < zero ≤ 1. With l(a) =
// log max(a, zero) and the differences D_i = l(x_i) − l(z_i),
//
//	d(x, z)² = Σ_i D_i² − (Σ_i D_i)²/N
//
// which is the squared Euclidean distance of the centred log-ratios. Dividing the replaced compositions by
// their sums does not change the distance. The distance is in logs: two recipes that differ by a factor of e in
// one of many ingredients are about 1 apart. Two recipes of which only one uses an ingredient differ in this
// ingredient by at least log(1/zero). (Aitchison, "The Statistical Analysis of Compositional Data", 1986, §8.3;
// the replacement is the simple one of Martín-Fernández, Barceló-Vidal and Pawlowsky-Glahn, Mathematical
// Geology 35 (2003), 253–278, eq. 4, which keeps the ratios of the amounts other than 0.)
//
// Logs are rounded to whole multiples of 2⁻ᵇ, so that sums are exact. b is 26, or less if sums of squares over
// min(N, M) ingredients leave no room. For each recipe the scorer keeps the sum of products with the
// composition. A line is all divisions (splits) of the joint amount of two ingredients. To score a line, the
// scorer first finds the few recipes that can be nearest to some split. It then computes the distances to these
// recipes alone.
type Distance struct {
	isLikeness      bool
	floor           float64
	logFloor        float64
	exponentPerUnit float64 // 1/(2·scale²) for squared distances in units of 2⁻²ᵇ
	ingredientCount float64 // N, the number of ingredients

	zeroReplacement float64
	logFractionBits int     // b: logs are stored in units of 2⁻ᵇ
	unitsPerLog     float64 // 2ᵇ, the number of units in a log of 1
	logTable        []int64 // item a is the result of logAboveZero for the amount a; logs of amounts beyond the table are computed when needed

	recipeLogSquareSums []int64       // item r is the sum of v² over the ingredients of recipe r, where v is logAboveZero of the amount
	recipeLogSums       []int64       // item r is the sum of v over the ingredients of recipe r
	logsByIngredient    [][]recipeLog // item i lists the recipes that use ingredient i, with the logs of the amounts of i

	// sumSquareTerms and sumSlopes hold one item per recipe: sum²/N and 2·sum/N, where sum is the item of
	// recipeLogSums. [distanceScorer.findCandidates] bounds distances by these terms.
	sumSquareTerms, sumSlopes []float64
}

// maxLogTableLength is the greatest length of [Distance.logTable], a table of the logs of amounts. Logs of larger
// amounts are computed when needed.
const maxLogTableLength = 1 << 16

// A recipeLog holds the amount of an ingredient in one recipe, as the log that [Distance.logAboveZero] returns.
type recipeLog struct {
	recipe int32
	log    int64
}

var (
	_ mcmc.LineProperty = (*Distance)(nil)
	_ mcmc.CurveScorer  = (*distanceScorer)(nil)
)

// DistanceOptions sets the recipes and the scale of a [Distance].
type DistanceOptions struct {
	Ingredients     int
	Total           int
	Recipes         [][]mcmc.Part // known recipes, each of Total units and with each ingredient at most once
	ZeroReplacement float64       // units that replace an amount of 0, from 10⁻⁶ to 1
	Scale           float64       // distance to the nearest recipe at which the likeness is exp(−½); above 0
	Floor           float64       // least score, in 0..1
}

const minZeroReplacement = 1e-6

// NewDistanceLikeness returns a [Distance] that scores likeness, which is high near a known recipe.
func NewDistanceLikeness(o DistanceOptions) (*Distance, error) { return newDistance(true, o) }

// NewDistanceNovelty returns a [Distance] that scores novelty, which is high far from all known recipes.
func NewDistanceNovelty(o DistanceOptions) (*Distance, error) { return newDistance(false, o) }

func newDistance(likes bool, o DistanceOptions) (*Distance, error) {
	switch {
	case !(o.Floor >= 0 && o.Floor <= 1):
		return nil, fmt.Errorf("the floor is %v: it must be from 0 to 1", o.Floor)
	case !(o.ZeroReplacement >= minZeroReplacement && o.ZeroReplacement <= 1):
		return nil, fmt.Errorf("the units in place of none are %v: they must be from %v to 1", o.ZeroReplacement, minZeroReplacement)
	case !(o.Scale > 0) || math.IsInf(o.Scale, 0):
		return nil, fmt.Errorf("the scale is %v: it must be a finite number above 0", o.Scale)
	case len(o.Recipes) == 0:
		return nil, fmt.Errorf("there is no recipe to compare with")
	}
	d := &Distance{
		isLikeness: likes, floor: o.Floor, logFloor: portable.Log(o.Floor), ingredientCount: float64(o.Ingredients), zeroReplacement: o.ZeroReplacement,
		recipeLogSquareSums: make([]int64, len(o.Recipes)),
		recipeLogSums:       make([]int64, len(o.Recipes)),
		logsByIngredient:    make([][]recipeLog, o.Ingredients),
	}
	// The shift leaves room for sums of squares in 63 bits: |D_i| ≤ log(M/zero) < 2^e, and at most 2·min(N, M) of
	// the differences are not 0.
	_, e := math.Frexp(portable.Log(float64(o.Total)/o.ZeroReplacement) + 1)
	d.logFractionBits = min(26, (60-2*e-bits.Len(uint(min(o.Ingredients, o.Total))))/2)
	d.unitsPerLog = math.Ldexp(1, d.logFractionBits)
	logs := make([]int64, min(o.Total+1, maxLogTableLength))
	for amount := range logs {
		logs[amount] = d.logAboveZero(amount)
	}
	d.logTable = logs
	d.exponentPerUnit = math.Ldexp(1, -2*d.logFractionBits) / (2 * o.Scale * o.Scale)
	if d.exponentPerUnit == 0 || math.IsInf(d.exponentPerUnit, 0) {
		return nil, fmt.Errorf("the scale is %v: no distance can be compared with that", o.Scale)
	}
	for r, parts := range o.Recipes {
		for _, p := range parts {
			if p.Ingredient < 0 || p.Ingredient >= o.Ingredients || p.Amount < 1 || p.Amount > o.Total {
				return nil, fmt.Errorf("recipe %d has %d units of ingredient %d: there are %d ingredients and %d units", r, p.Amount, p.Ingredient, o.Ingredients, o.Total)
			}
			v := d.logAboveZero(p.Amount)
			d.recipeLogSquareSums[r] += v * v
			d.recipeLogSums[r] += v
			d.logsByIngredient[p.Ingredient] = append(d.logsByIngredient[p.Ingredient], recipeLog{int32(r), v})
		}
		m := float64(d.recipeLogSums[r])
		d.sumSquareTerms = append(d.sumSquareTerms, m*m/d.ingredientCount)
		d.sumSlopes = append(d.sumSlopes, 2*m/d.ingredientCount)
	}
	return d, nil
}

// logAboveZero returns log(amount/zero) for a positive amount and 0 for an amount of 0. zero is the constant
// that replaces an amount of 0; see [Distance]. The unit of the result is 2⁻ᵇ, where b is logFractionBits.
func (d *Distance) logAboveZero(amount int) int64 {
	if amount < len(d.logTable) {
		return d.logTable[amount]
	}
	if amount == 0 {
		return 0
	}
	return int64(math.RoundToEven(portable.Log(float64(amount)/d.zeroReplacement) * d.unitsPerLog))
}

// squaredDistance returns the squared distance of two compositions, in units of 2⁻²ᵇ. squares is Σ D_i², and
// sum is Σ D_i, where D_i is the difference of the logs of the amounts of ingredient i.
func (d *Distance) squaredDistance(squares, sum int64) float64 {
	s := float64(sum)
	return max(0, float64(squares)-float64(s*s)/d.ingredientCount)
}

// logScoreFrom returns the log score of a composition. least is its least squared distance from a recipe, in
// units of 2⁻²ᵇ, where b is logFractionBits.
func (d *Distance) logScoreFrom(least float64) float64 {
	z := float64(least * d.exponentPerUnit)
	if d.isLikeness {
		return max(d.logFloor, -z)
	}
	return portable.Log(max(d.floor, -portable.Expm1(-z)))
}

// NearestDistance returns the distance d from the composition x to the nearest recipe.
func (d *Distance) NearestDistance(x *mcmc.Composition) float64 {
	return math.Ldexp(math.Sqrt(d.nearestSquaredDistance(x.Parts(), -1)), -d.logFractionBits)
}

// nearestSquaredDistance returns the squared distance of a composition from the nearest recipe, in units of
// 2⁻²ᵇ. It ignores the recipe with the index excluded; −1 ignores none.
func (d *Distance) nearestSquaredDistance(parts []mcmc.Part, excluded int) float64 {
	shared := make([]int64, len(d.recipeLogSums))
	squares, sum := int64(0), int64(0)
	for _, p := range parts {
		u := d.logAboveZero(p.Amount)
		squares += u * u
		sum += u
		for _, q := range d.logsByIngredient[p.Ingredient] {
			shared[q.recipe] += u * q.log
		}
	}
	least := math.Inf(1)
	for r := range shared {
		if r != excluded {
			least = min(least, d.squaredDistance(squares+d.recipeLogSquareSums[r]-2*shared[r], sum-d.recipeLogSums[r]))
		}
	}
	return least
}

// maxTypicalRecipes is the greatest number of recipes for which [TypicalDistance] finds the nearest other recipe.
const maxTypicalRecipes = 1000

// TypicalDistance returns a value for the option Scale: the median, over the recipes, of the distance to the
// nearest other recipe. For more than 1,000 recipes the median is over 1,000 recipes spread evenly over the
// list. The result is 0 if most recipes have a duplicate, and for a single recipe.
func TypicalDistance(o DistanceOptions) (float64, error) {
	o.Scale, o.Floor = 1, 0
	d, err := newDistance(true, o)
	if err != nil || len(o.Recipes) == 1 {
		return 0, err
	}
	looks := min(len(o.Recipes), maxTypicalRecipes)
	distances := make([]float64, looks)
	for k := range distances {
		r := k * len(o.Recipes) / looks
		distances[k] = math.Ldexp(math.Sqrt(d.nearestSquaredDistance(o.Recipes[r], r)), -d.logFractionBits)
	}
	slices.Sort(distances)
	return float64((distances[(looks-1)/2] + distances[looks/2]) / 2), nil
}

// Most returns 0, which is an upper bound of the log score, because the score is at most 1.
func (*Distance) Most(int) float64 { return 0 }

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (d *Distance) LogScore(x *mcmc.Composition) float64 {
	return d.logScoreFrom(d.nearestSquaredDistance(x.Parts(), -1))
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (d *Distance) Scorer(x *mcmc.Composition) mcmc.Scorer {
	recipes := len(d.recipeLogSums)
	return &distanceScorer{
		property: d, previousAmounts: previousAmounts{x: x},
		recipeTerms:      make([]int64, recipes),
		boundsAtStart:    make([]float64, recipes),
		boundsAtEnd:      make([]float64, recipes),
		logsOfI:          make([]int64, recipes),
		logsOfJ:          make([]int64, recipes),
		candidateIndices: make([]int32, 0, recipes),
	}
}

type distanceScorer struct {
	property *Distance
	previousAmounts
	usedLogSquareSum int64   // sum over the used ingredients of v², where v is logAboveZero of the amount
	usedLogSum       int64   // sum over the used ingredients of v
	recipeTerms      []int64 // item r is Σ z² − 2·Σ x·z, where x and z are logAboveZero of the amounts in the composition and in recipe r

	// boundsAtStart and boundsAtEnd are scratch of [distanceScorer.findCandidates]. They hold one item per
	// recipe: the values f_r(t) defined there, for the least and for the greatest t.
	boundsAtStart, boundsAtEnd []float64
	logsOfI                    []int64 // item r is logAboveZero of the amount of ingredient i in recipe r; all 0 between calls of findCandidates
	logsOfJ                    []int64 // the same for ingredient j
	candidateIndices           []int32 // result of findCandidates: indices of the recipes that can be nearest to some division of the joint amount of two ingredients

	jointAmount      int               // joint amount, in units, of the two ingredients i and j whose divisions are being scored
	otherLogSum      int64             // sum of logAboveZero of the amounts of all ingredients except i and j
	candidateRecipes []candidateRecipe // recipes that can be nearest to some division of the joint amount of i and j
	splitCache       [16]splitLogs     // latest results of logsAtSplit
}

// A splitLogs holds the results of [Distance.logAboveZero] for the amounts of two ingredients i and j at one
// split, that is, one division of their joint amount.
type splitLogs struct {
	split          int
	logOfI, logOfJ int64
}

// A candidateRecipe is a recipe that can be nearest to some division of the joint amount of ingredients i and
// j. All logs are results of [Distance.logAboveZero].
type candidateRecipe struct {
	squares int64 // Σ D_i², the sum of the squared log differences for the composition without i and j
	logOfI  int64 // log of the recipe's amount of i
	logOfJ  int64 // log of the recipe's amount of j
	sum     int64 // sum of the logs of all amounts in the recipe
}

func (s *distanceScorer) Reset() {
	s.previousAmounts.reset()
	copy(s.recipeTerms, s.property.recipeLogSquareSums)
	s.usedLogSquareSum, s.usedLogSum = 0, 0
	for _, i := range s.x.Ingredients() {
		s.updateAmount(int(i), 0, s.x.Amount(int(i)))
	}
}

// updateAmount updates usedLogSquareSum, usedLogSum and recipeTerms for a change of the amount of ingredient i.
func (s *distanceScorer) updateAmount(i, from, to int) {
	d := s.property
	u, v := d.logAboveZero(from), d.logAboveZero(to)
	s.usedLogSquareSum += v*v - u*u
	s.usedLogSum += v - u
	for _, p := range d.logsByIngredient[i] {
		s.recipeTerms[p.recipe] -= 2 * (v - u) * p.log
	}
}

func (s *distanceScorer) Moved(i, j int) {
	fromI, fromJ := int(s.amounts[i]), int(s.amounts[j])
	s.previousAmounts.updateAndReturnChanges(i, j)
	s.updateAmount(i, fromI, int(s.amounts[i]))
	s.updateAmount(j, fromJ, int(s.amounts[j]))
}

func (s *distanceScorer) LogScore() float64 {
	least := math.Inf(1)
	for r, rest := range s.recipeTerms {
		least = min(least, s.property.squaredDistance(s.usedLogSquareSum+rest, s.usedLogSum-s.property.recipeLogSums[r]))
	}
	return s.property.logScoreFrom(least)
}

func (s *distanceScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	s.Curve(i, j)
	q := pieceJoiner{pieces: p}
	for k := range s.jointAmount + 1 {
		q.add(k, s.ScoreAt(k))
	}
}

// findCandidates finds the recipes that can be nearest to some division (split) of sum units between
// ingredients i and j. It also sets logsOfI and logsOfJ. The caller has set the amounts of i and j to 0.
//
// For split k, let u and v be the logs of the two amounts and t the sum of the logs of all amounts. Recipe r
// has d² = C(k) + f_r(t) − 2(u·r_i + v·r_j), where C is common to all recipes and
//
//	f_r(t) = rest_r − sum_r²/N + t·2·sum_r/N.
//
// rest_r is recipeTerms[r], sum_r is the sum of all logs of recipe r, and r_i is its log of i. u and v are at
// most the log of sum. Hence d² − C(k) is at least g_r(t) = f_r(t) − 2·log(sum)·(r_i + r_j), and at most
// f_r(t). If g_r ≥ f_q at both ends of the range of t, then g_r ≥ f_q everywhere between, and r is nowhere
// nearer than q. Each recipe r is compared with two recipes q: the recipe of least f at the start of the range,
// and the recipe of least f at the end.
func (s *distanceScorer) findCandidates(i, j, sum int) {
	d := s.property
	for _, p := range d.logsByIngredient[i] {
		s.logsOfI[p.recipe] = p.log
	}
	for _, p := range d.logsByIngredient[j] {
		s.logsOfJ[p.recipe] = p.log
	}
	longest := d.logAboveZero(sum)
	t0, t1 := float64(s.usedLogSum), float64(s.usedLogSum+2*longest)
	first, last := 0, 0
	for r, rest := range s.recipeTerms {
		f := float64(rest) - d.sumSquareTerms[r]
		s.boundsAtStart[r], s.boundsAtEnd[r] = f+float64(t0*d.sumSlopes[r]), f+float64(t1*d.sumSlopes[r])
		if s.boundsAtStart[r] < s.boundsAtStart[first] {
			first = r
		}
		if s.boundsAtEnd[r] < s.boundsAtEnd[last] {
			last = r
		}
	}
	// The bounds are rounded, so a recipe is dropped only if its bound exceeds the other's by more than the rounding
	// error.
	size := 0.0
	for _, r := range []int{first, last} {
		size = max(size, math.Abs(s.boundsAtStart[r]), math.Abs(s.boundsAtEnd[r]))
	}
	slack := float64(1e-9 * (size + t1*t1/d.ingredientCount + float64(s.usedLogSquareSum)))
	s.candidateIndices = s.candidateIndices[:0]
	for r := range s.recipeTerms {
		bonus := float64(2 * float64(longest) * float64(s.logsOfI[r]+s.logsOfJ[r]))
		left, right := s.boundsAtStart[r]-bonus, s.boundsAtEnd[r]-bonus
		// The two reference recipes first and last are never dropped.
		if r != first && r != last && (left >= s.boundsAtStart[first]+slack && right >= s.boundsAtEnd[first]+slack ||
			left >= s.boundsAtStart[last]+slack && right >= s.boundsAtEnd[last]+slack) {
			continue
		}
		s.candidateIndices = append(s.candidateIndices, int32(r))
	}
}

// Curve prepares the methods ScoreAt and UpperBound for the divisions of the joint amount of ingredients i and j: it
// finds the recipes that can be nearest to some division. Curve always returns 0, because the division with the
// best score is unknown.
func (s *distanceScorer) Curve(i, j int) (peak int) {
	a, b := s.x.Amount(i), s.x.Amount(j)
	s.updateAmount(i, a, 0)
	s.updateAmount(j, b, 0)
	s.findCandidates(i, j, a+b)
	s.jointAmount, s.otherLogSum, s.candidateRecipes, s.splitCache = a+b, s.usedLogSum, s.candidateRecipes[:0], [16]splitLogs{}
	s.splitCache[0].logOfJ = s.property.logAboveZero(a + b)
	for _, r := range s.candidateIndices {
		s.candidateRecipes = append(s.candidateRecipes, candidateRecipe{s.usedLogSquareSum + s.recipeTerms[r], s.logsOfI[r], s.logsOfJ[r], s.property.recipeLogSums[r]})
	}
	s.restoreAmounts(i, j, a, b)
	return 0
}

// logsAtSplit returns the logs of the amounts of i and j if i has k units of their joint amount. It caches 16
// results, because UpperBound often asks for logs that ScoreAt has just used.
func (s *distanceScorer) logsAtSplit(k int) *splitLogs {
	l := &s.splitCache[k&15]
	if l.split != k {
		*l = splitLogs{k, s.property.logAboveZero(k), s.property.logAboveZero(s.jointAmount - k)}
	}
	return l
}

func (s *distanceScorer) ScoreAt(k int) float64 {
	d, l := s.property, s.logsAtSplit(k)
	least := math.Inf(1)
	for c := range s.candidateRecipes {
		r := &s.candidateRecipes[c]
		least = min(least, d.squaredDistance(r.squares+l.logOfI*l.logOfI+l.logOfJ*l.logOfJ-2*(l.logOfI*r.logOfI+l.logOfJ*r.logOfJ), s.otherLogSum+l.logOfI+l.logOfJ-r.sum))
	}
	return d.logScoreFrom(least)
}

// UpperBound returns an upper bound of the log score over the splits from..to, where split k gives k units of the
// joint amount to ingredient i. It bounds each term of d² separately. The log u of the amount of i increases
// with the split, v of j decreases, and u + v is concave with its maximum where both amounts are equal. The
// logs are rounded, so each bound is widened by one unit.
func (s *distanceScorer) UpperBound(from, to int) float64 {
	d := s.property
	first := *s.logsAtSplit(from) // a copy, because the next call of logsAtSplit may overwrite the cache entry
	last := *s.logsAtSplit(to)
	u0, u1 := float64(first.logOfI-1), float64(last.logOfI+1)
	v0, v1 := float64(last.logOfJ-1), float64(first.logOfJ+1)
	low, high := min(u0+v1, u1+v0)-2, max(u0+v1, u1+v0)+2
	if half := s.jointAmount / 2; from <= half && half <= to {
		top := s.logsAtSplit(half)
		high = max(high, float64(top.logOfI+top.logOfJ+2))
	}
	least := math.Inf(1)
	for c := range s.candidateRecipes {
		r := &s.candidateRecipes[c]
		i, j := float64(r.logOfI), float64(r.logOfJ)
		nearU, farU := squareRange(u0-i, u1-i)
		nearV, farV := squareRange(v0-j, v1-j)
		near, far := squareRange(low-float64(r.sum-s.otherLogSum), high-float64(r.sum-s.otherLogSum))
		rest := float64(r.squares) - float64(i*i) - float64(j*j)
		slack := float64(0x1p-49 * (float64(r.squares) + float64(i*i) + float64(j*j) + farU + farV + far/d.ingredientCount))
		if d.isLikeness {
			least = min(least, rest+nearU+nearV-far/d.ingredientCount-slack)
		} else {
			least = min(least, rest+farU+farV-near/d.ingredientCount+slack)
		}
	}
	return float64(d.logScoreFrom(max(0, least)) * (1 - 0x1p-49))
}

// squareRange returns the least and the greatest value of v² for low ≤ v ≤ high.
func squareRange(low, high float64) (least, greatest float64) {
	if low > 0 || high < 0 {
		least = min(low*low, high*high)
	}
	return least, max(low*low, high*high)
}

// restoreAmounts undoes the preparation for findCandidates: it sets logsOfI and logsOfJ back to 0, and the
// amounts of ingredients i and j back to a and b.
func (s *distanceScorer) restoreAmounts(i, j, a, b int) {
	for _, p := range s.property.logsByIngredient[i] {
		s.logsOfI[p.recipe] = 0
	}
	for _, p := range s.property.logsByIngredient[j] {
		s.logsOfJ[p.recipe] = 0
	}
	s.updateAmount(i, 0, a)
	s.updateAmount(j, 0, b)
}
