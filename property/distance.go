package property

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Distance scores a composition by its distance, in amounts, to the nearest of known recipes.
// Likeness is high near a recipe, novelty far from all of them:
//
//	likeness y(x) = max(floor, exp(−d²/(2·scale²)))
//	novelty  y(x) = max(floor, 1 − exp(−d²/(2·scale²))),  d = min_r d(x, z_r)
//
// d(x, z) is the Aitchison distance between two compositions of M units. An amount of 0 is replaced
// by zero units, 0 < zero ≤ 1. With l(a) = log max(a, zero) and the differences D_i = l(x_i) −
// l(z_i),
//
//	d(x, z)² = Σ_i D_i² − (Σ_i D_i)²/N
//
// which is the Euclidean distance of the centred log-ratios. Closing the replaced compositions to a
// common sum does not change it. The distance is in logs: two recipes that differ by a factor of e
// in one of many ingredients are about 1 apart. One unit more or less of an ingredient is at least
// log 1/zero. (Aitchison, "The Statistical Analysis of Compositional Data", 1986, §8.3; the
// replacement is the simple one of Martín-Fernández, Barceló-Vidal and Pawlowsky-Glahn,
// Mathematical Geology 35 (2003), 253–278, eq. 4, which keeps the ratios of the amounts other than
// 0.)
//
// Logs are rounded to whole multiples of 2⁻ᵇ, so that sums are exact. b is 26, or less if sums of
// squares over min(N, M) ingredients leave no room. For each recipe the scorer keeps its sum of
// products with the composition. A line takes one pass over the recipes. The pass finds the few
// recipes that can be nearest somewhere on the line, and the scorer evaluates only these at each
// split.
type Distance struct {
	isLikeness bool
	floor      float64
	logFloor   float64
	perUnit    float64 // 1/(2·scale²) in units of squaredDistance, 2⁻²ᵇ
	n          float64 // N, the number of ingredients

	zero  float64
	shift int     // b: logs are stored in units of 2⁻ᵇ
	unit  float64 // 2ᵇ, the number of units in a log of 1
	logs  []int64 // logs[a] is l(a) − l(0) for each amount a below len(logs)

	squares, sums    []int64     // for each recipe, the sum of squares and the sum of l(z_i) − l(0)
	logsByIngredient [][]logPart // for each ingredient, the recipes that use it

	// For each recipe, sum²/N and 2·sum/N, with sum from sums. findCandidates bounds distances with them.
	curve, slope []float64
}

// maxLogs is the greatest length of the table of logs. Logs of larger amounts are computed when needed.
const maxLogs = 1 << 16

// A logPart is one ingredient of a recipe: its value l(amount) − l(0), in units of 2⁻ᵇ.
type logPart struct {
	recipe int32
	log    int64
}

var (
	_ mcmc.LineProperty = (*Distance)(nil)
	_ mcmc.CurveScorer  = (*distanceScorer)(nil)
)

// DistanceOptions sets the recipes and the scale of a [Distance].
type DistanceOptions struct {
	Ingredients int
	Total       int
	Recipes     [][]mcmc.Part // known recipes, each of Total units and with each ingredient at most once
	Zero        float64       // units that replace an amount of 0, from 10⁻⁶ to 1
	Scale       float64       // distance at which likeness has fallen to exp(−½); above 0
	Floor       float64       // least score, in 0..1
}

const minZero = 1e-6

// NewNear returns the likeness of [Distance], which is high near a known recipe.
func NewNear(o DistanceOptions) (*Distance, error) { return newDistance(true, o) }

// NewFar returns the novelty of [Distance], which is high far from all known recipes.
func NewFar(o DistanceOptions) (*Distance, error) { return newDistance(false, o) }

func newDistance(likes bool, o DistanceOptions) (*Distance, error) {
	switch {
	case !(o.Floor >= 0 && o.Floor <= 1):
		return nil, fmt.Errorf("the floor is %v: it must be from 0 to 1", o.Floor)
	case !(o.Zero >= minZero && o.Zero <= 1):
		return nil, fmt.Errorf("the units in place of none are %v: they must be from %v to 1", o.Zero, minZero)
	case !(o.Scale > 0) || math.IsInf(o.Scale, 0):
		return nil, fmt.Errorf("the scale is %v: it must be a finite number above 0", o.Scale)
	case len(o.Recipes) == 0:
		return nil, fmt.Errorf("there is no recipe to compare with")
	}
	d := &Distance{
		isLikeness: likes, floor: o.Floor, logFloor: portable.Log(o.Floor), n: float64(o.Ingredients), zero: o.Zero,
		squares:          make([]int64, len(o.Recipes)),
		sums:             make([]int64, len(o.Recipes)),
		logsByIngredient: make([][]logPart, o.Ingredients),
	}
	// The shift leaves room for sums of squares in 63 bits: |D_i| ≤ log(M/zero) < 2^e, and at most 2·min(N, M) of
	// the differences are not 0.
	_, e := math.Frexp(portable.Log(float64(o.Total)/o.Zero) + 1)
	d.shift = min(26, (60-2*e-bits.Len(uint(min(o.Ingredients, o.Total))))/2)
	d.unit = math.Ldexp(1, d.shift)
	logs := make([]int64, min(o.Total+1, maxLogs))
	for amount := range logs {
		logs[amount] = d.logAboveZero(amount)
	}
	d.logs = logs
	d.perUnit = math.Ldexp(1, -2*d.shift) / (2 * o.Scale * o.Scale)
	if d.perUnit == 0 || math.IsInf(d.perUnit, 0) {
		return nil, fmt.Errorf("the scale is %v: no distance can be compared with that", o.Scale)
	}
	for r, parts := range o.Recipes {
		for _, p := range parts {
			if p.Ingredient < 0 || p.Ingredient >= o.Ingredients || p.Amount < 1 || p.Amount > o.Total {
				return nil, fmt.Errorf("recipe %d has %d units of ingredient %d: there are %d ingredients and %d units", r, p.Amount, p.Ingredient, o.Ingredients, o.Total)
			}
			v := d.logAboveZero(p.Amount)
			d.squares[r] += v * v
			d.sums[r] += v
			d.logsByIngredient[p.Ingredient] = append(d.logsByIngredient[p.Ingredient], logPart{int32(r), v})
		}
		m := float64(d.sums[r])
		d.curve = append(d.curve, m*m/d.n)
		d.slope = append(d.slope, 2*m/d.n)
	}
	return d, nil
}

// logAboveZero returns l(amount) − l(0), in units of 2⁻ᵇ.
func (d *Distance) logAboveZero(amount int) int64 {
	if amount < len(d.logs) {
		return d.logs[amount]
	}
	if amount == 0 {
		return 0
	}
	return int64(math.RoundToEven(portable.Log(float64(amount)/d.zero) * d.unit))
}

// squaredDistance returns d², in units of 2⁻²ᵇ, from Σ D_i² and Σ D_i.
func (d *Distance) squaredDistance(squares, sum int64) float64 {
	s := float64(sum)
	return max(0, float64(squares)-float64(s*s)/d.n)
}

// log returns log y, given the least d² over the recipes in units of 2⁻²ᵇ.
func (d *Distance) log(least float64) float64 {
	z := float64(least * d.perUnit)
	if d.isLikeness {
		return max(d.logFloor, -z)
	}
	return portable.Log(max(d.floor, -portable.Expm1(-z)))
}

// NearestDistance returns d, the distance from a composition to the nearest recipe.
func (d *Distance) NearestDistance(x *mcmc.Composition) float64 {
	return math.Ldexp(math.Sqrt(d.nearestSquared(x.Parts(), -1)), -d.shift)
}

// nearestSquared returns the least d², in units of 2⁻²ᵇ, over all recipes except number but (−1 for none).
func (d *Distance) nearestSquared(parts []mcmc.Part, but int) float64 {
	shared := make([]int64, len(d.sums))
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
		if r != but {
			least = min(least, d.squaredDistance(squares+d.squares[r]-2*shared[r], sum-d.sums[r]))
		}
	}
	return least
}

// maxTypical is the greatest number of recipes whose nearest neighbour [TypicalDistance] computes.
const maxTypical = 1000

// TypicalDistance returns a scale for novelty and likeness: the median, over the recipes, of the
// distance to the nearest other recipe. Of more than 1,000 recipes it takes 1,000 spread evenly
// over the list. It is 0 if most recipes have a duplicate, and for a single recipe.
func TypicalDistance(o DistanceOptions) (float64, error) {
	o.Scale, o.Floor = 1, 0
	d, err := newDistance(true, o)
	if err != nil || len(o.Recipes) == 1 {
		return 0, err
	}
	looks := min(len(o.Recipes), maxTypical)
	distances := make([]float64, looks)
	for k := range distances {
		r := k * len(o.Recipes) / looks
		distances[k] = math.Ldexp(math.Sqrt(d.nearestSquared(o.Recipes[r], r)), -d.shift)
	}
	slices.Sort(distances)
	return float64((distances[(looks-1)/2] + distances[looks/2]) / 2), nil
}

// Most returns an upper bound of log y, which is 0: y is never above 1.
func (*Distance) Most(int) float64 { return 0 }

// LogScore returns log y(x).
func (d *Distance) LogScore(x *mcmc.Composition) float64 {
	return d.log(d.nearestSquared(x.Parts(), -1))
}

// Scorer returns a scorer of x.
func (d *Distance) Scorer(x *mcmc.Composition) mcmc.Scorer {
	recipes := len(d.sums)
	return &distanceScorer{
		property: d, previousAmounts: previousAmounts{x: x},
		rest:    make([]int64, recipes),
		left:    make([]float64, recipes),
		right:   make([]float64, recipes),
		ofI:     make([]int64, recipes),
		ofJ:     make([]int64, recipes),
		nearest: make([]int32, 0, recipes),
	}
}

type distanceScorer struct {
	property *Distance
	previousAmounts
	squares, sum int64   // sums over the used ingredients of the square and of l(x_i) − l(0)
	rest         []int64 // for each recipe: Σ z² − 2·Σ x·z, with x and z the values l − l(0) of the amounts

	// The next fields are scratch of findCandidates.
	left, right []float64
	ofI, ofJ    []int64 // for each recipe, l − l(0) of its amounts of i and j; all 0 between calls
	nearest     []int32

	lineUnits  int               // units that the ingredients i and j of the current line share
	lineSum    int64             // sum of l(x_i) − l(0) over all ingredients except i and j of the line
	candidates []candidateRecipe // recipes that can be the nearest somewhere on the current line
	known      [16]splitLogs
}

// splitLogs holds l − l(0) of the two amounts at split k of a line: u for i and v for j.
type splitLogs struct {
	k    int
	u, v int64
}

// A candidateRecipe is a recipe that can be the nearest on the current line. squares is Σ D_i² for the composition
// without the line's ingredients i and j. sum, ofI and ofJ are the recipe's sum of l − l(0) and its values for i
// and j.
type candidateRecipe struct {
	squares, ofI, ofJ, sum int64
}

func (s *distanceScorer) Reset() {
	s.previousAmounts.reset()
	copy(s.rest, s.property.squares)
	s.squares, s.sum = 0, 0
	for _, i := range s.x.Ingredients() {
		s.updateAmount(int(i), 0, s.x.Amount(int(i)))
	}
}

// updateAmount updates squares, sum and rest for a change of ingredient i's amount.
func (s *distanceScorer) updateAmount(i, from, to int) {
	d := s.property
	u, v := d.logAboveZero(from), d.logAboveZero(to)
	s.squares += v*v - u*u
	s.sum += v - u
	for _, p := range d.logsByIngredient[i] {
		s.rest[p.recipe] -= 2 * (v - u) * p.log
	}
}

func (s *distanceScorer) Moved(i, j int) {
	fromI, fromJ := int(s.amounts[i]), int(s.amounts[j])
	s.previousAmounts.changes(i, j)
	s.updateAmount(i, fromI, int(s.amounts[i]))
	s.updateAmount(j, fromJ, int(s.amounts[j]))
}

func (s *distanceScorer) LogScore() float64 {
	least := math.Inf(1)
	for r, rest := range s.rest {
		least = min(least, s.property.squaredDistance(s.squares+rest, s.sum-s.property.sums[r]))
	}
	return s.property.log(least)
}

func (s *distanceScorer) Line(i, j int, p *mcmc.Pieces) {
	s.Curve(i, j)
	q := joiner{pieces: p}
	for k := range s.lineUnits + 1 {
		q.add(k, s.At(k))
	}
}

// findCandidates finds the recipes that can be nearest to some split of sum units between i and j,
// and sets ofI and ofJ. The composition must currently have neither i nor j.
//
// For split k, let u and v be the logs of its two amounts and t the sum of all logs. Recipe r has
// d² = C(k) + f_r(t) − 2(u·r_i + v·r_j), where C is common to all recipes and
//
//	f_r(t) = rest_r − sum_r²/N + t·2·sum_r/N.
//
// u and v are at most the log of sum. Hence d² − C(k) is at least g_r(t) = f_r(t) − 2·log(sum)·(r_i
// + r_j), and at most f_r(t). If g_r ≥ f_q at both ends of the range of t, it is so everywhere
// between, and r is nowhere nearer than q. Each recipe is compared with those of least f at the two
// ends.
func (s *distanceScorer) findCandidates(i, j, sum int) {
	d := s.property
	for _, p := range d.logsByIngredient[i] {
		s.ofI[p.recipe] = p.log
	}
	for _, p := range d.logsByIngredient[j] {
		s.ofJ[p.recipe] = p.log
	}
	longest := d.logAboveZero(sum)
	t0, t1 := float64(s.sum), float64(s.sum+2*longest)
	first, last := 0, 0
	for r, rest := range s.rest {
		f := float64(rest) - d.curve[r]
		s.left[r], s.right[r] = f+float64(t0*d.slope[r]), f+float64(t1*d.slope[r])
		if s.left[r] < s.left[first] {
			first = r
		}
		if s.right[r] < s.right[last] {
			last = r
		}
	}
	// The bounds are rounded, so a recipe is dropped only if its bound exceeds the other's by more than the rounding
	// error.
	size := 0.0
	for _, r := range []int{first, last} {
		size = max(size, math.Abs(s.left[r]), math.Abs(s.right[r]))
	}
	slack := float64(1e-9 * (size + t1*t1/d.n + float64(s.squares)))
	s.nearest = s.nearest[:0]
	for r := range s.rest {
		bonus := float64(2 * float64(longest) * float64(s.ofI[r]+s.ofJ[r]))
		left, right := s.left[r]-bonus, s.right[r]-bonus
		// The two reference recipes first and last are never dropped.
		if r != first && r != last && (left >= s.left[first]+slack && right >= s.right[first]+slack ||
			left >= s.left[last]+slack && right >= s.right[last]+slack) {
			continue
		}
		s.nearest = append(s.nearest, int32(r))
	}
}

// Curve finds the recipes that can be nearest on the line of i and j. It always returns 0, because the peak of the
// scores is unknown.
func (s *distanceScorer) Curve(i, j int) (peak int) {
	a, b := s.x.Amount(i), s.x.Amount(j)
	s.updateAmount(i, a, 0)
	s.updateAmount(j, b, 0)
	s.findCandidates(i, j, a+b)
	s.lineUnits, s.lineSum, s.candidates, s.known = a+b, s.sum, s.candidates[:0], [16]splitLogs{}
	s.known[0].v = s.property.logAboveZero(a + b)
	for _, r := range s.nearest {
		s.candidates = append(s.candidates, candidateRecipe{s.squares + s.rest[r], s.ofI[r], s.ofJ[r], s.property.sums[r]})
	}
	s.clearCandidates(i, j, a, b)
	return 0
}

// logsAt returns the logs at split k. It caches 16 splits, because Above often asks for splits that At has just
// scored.
func (s *distanceScorer) logsAt(k int) *splitLogs {
	l := &s.known[k&15]
	if l.k != k {
		*l = splitLogs{k, s.property.logAboveZero(k), s.property.logAboveZero(s.lineUnits - k)}
	}
	return l
}

func (s *distanceScorer) At(k int) float64 {
	d, l := s.property, s.logsAt(k)
	least := math.Inf(1)
	for c := range s.candidates {
		r := &s.candidates[c]
		least = min(least, d.squaredDistance(r.squares+l.u*l.u+l.v*l.v-2*(l.u*r.ofI+l.v*r.ofJ), s.lineSum+l.u+l.v-r.sum))
	}
	return d.log(least)
}

// Above returns an upper bound of the log score over the splits from..to. It bounds each term of d² separately: u
// rises with the split, v falls, and u + v is concave with its maximum at the middle of the line. The logs are
// rounded, so each bound is widened by one unit.
func (s *distanceScorer) Above(from, to int) float64 {
	d := s.property
	first := *s.logsAt(from) // a copy, because the next call of logsAt may overwrite the cache entry
	last := *s.logsAt(to)
	u0, u1 := float64(first.u-1), float64(last.u+1)
	v0, v1 := float64(last.v-1), float64(first.v+1)
	low, high := min(u0+v1, u1+v0)-2, max(u0+v1, u1+v0)+2
	if half := s.lineUnits / 2; from <= half && half <= to {
		top := s.logsAt(half)
		high = max(high, float64(top.u+top.v+2))
	}
	least := math.Inf(1)
	for c := range s.candidates {
		r := &s.candidates[c]
		i, j := float64(r.ofI), float64(r.ofJ)
		nearU, farU := squareRange(u0-i, u1-i)
		nearV, farV := squareRange(v0-j, v1-j)
		near, far := squareRange(low-float64(r.sum-s.lineSum), high-float64(r.sum-s.lineSum))
		rest := float64(r.squares) - float64(i*i) - float64(j*j)
		slack := float64(0x1p-49 * (float64(r.squares) + float64(i*i) + float64(j*j) + farU + farV + far/d.n))
		if d.isLikeness {
			least = min(least, rest+nearU+nearV-far/d.n-slack)
		} else {
			least = min(least, rest+farU+farV-near/d.n+slack)
		}
	}
	return float64(d.log(max(0, least)) * (1 - 0x1p-49))
}

// squareRange returns the least and the greatest square of the numbers from low to high.
func squareRange(low, high float64) (least, greatest float64) {
	if low > 0 || high < 0 {
		least = min(low*low, high*high)
	}
	return least, max(low*low, high*high)
}

// clearCandidates sets ofI and ofJ back to 0 and restores the amounts a of i and b of j, which the caller of
// findCandidates had set to 0.
func (s *distanceScorer) clearCandidates(i, j, a, b int) {
	for _, p := range s.property.logsByIngredient[i] {
		s.ofI[p.recipe] = 0
	}
	for _, p := range s.property.logsByIngredient[j] {
		s.ofJ[p.recipe] = 0
	}
	s.updateAmount(i, 0, a)
	s.updateAmount(j, 0, b)
}
