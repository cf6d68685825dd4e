package model

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"kir/internal/ensemble"
)

// A Want is what a user wants of a label: a set of classes, bounds of a number, or the direction up
// or down. [AnyOf], [AtLeast], [AtMost], [Between], [Maximize] and [Minimize] return Wants.
type Want struct {
	classes   []string // the wanted classes; nil for numbers
	low       float64  // least wanted number; −∞ if there is no lower bound
	high      float64  // greatest wanted number; +∞ if there is no upper bound
	isBounded bool     // whether the Want consists of the bounds low and high
	direction int      // +1 for [Maximize], −1 for [Minimize], 0 for any other Want

	// directionScale holds the labels at the two ends of the scale of [Maximize] and [Minimize]. If
	// the two are equal, the least and the greatest label of the forest are taken.
	directionScale [2]float64
}

// AnyOf returns the Want that the label is one of the given classes.
func AnyOf(classes ...string) Want { return Want{classes: slices.Clone(classes)} }

// AtLeast returns the Want that the label is low or more.
func AtLeast(low float64) Want { return Want{low: low, high: math.Inf(1), isBounded: true} }

// AtMost returns the Want that the label is high or less.
func AtMost(high float64) Want { return Want{low: math.Inf(-1), high: high, isBounded: true} }

// Between returns the Want that the label is in [low, high].
func Between(low, high float64) Want { return Want{low: low, high: high, isBounded: true} }

// Maximize wants the label to be as large as possible. The score of the composition x is
//
//	(E[label | x] − least) / (greatest − least).
//
// Here least and greatest are the least and the greatest label of the rows from which the forest
// was grown. The score is 0 if all leaves that x reaches hold only the least label, and 1 if they
// hold only the greatest label. In between it rises with the predicted mean.
//
// The score is also the probability that the label at x exceeds a threshold that is drawn uniformly
// between least and greatest. Maximize is thus [AtLeast] without a preferred threshold.
// [Score.Value] converts the score back to the unit of the label.
func Maximize() Want { return Want{direction: 1} }

// Minimize wants the label to be as small as possible. The score of the composition x is (greatest
// − E[label | x]) / (greatest − least): see [Maximize].
func Minimize() Want { return Want{direction: -1} }

// Bounds returns the least and the greatest wanted number, or −Inf and +Inf for missing bounds. The
// result bounded reports whether w consists of bounds.
func (w Want) Bounds() (low, high float64, bounded bool) { return w.low, w.high, w.isBounded }

// Direction returns +1 for [Maximize], −1 for [Minimize], and 0 for any other Want.
func (w Want) Direction() int { return w.direction }

// Has reports whether a class is one of the wanted classes.
func (w Want) Has(class string) bool { return slices.Contains(w.classes, class) }

// WithScale returns w with other ends of the scale of [Maximize] or [Minimize]: the given least and
// greatest label instead of those of the forest. Forests of different data can thus have the same
// scale. Labels outside the scale count as its nearer end.
func (w Want) WithScale(least, greatest float64) Want {
	w.directionScale = [2]float64{least, greatest}
	return w
}

// Desirability returns how much a recipe is wanted whose label is the number v, from 0 to 1. For
// bounds it is 1 within them and 0 outside. For [Maximize] it is (v − least)/(greatest − least), for
// [Minimize] (greatest − v)/(greatest − least), both clipped to [0, 1]. The ends least and greatest
// are those of [Want.WithScale] or, without them, the parameters. It is NaN if v is NaN, if the ends
// are equal, and for wanted classes, for which see [Want.Has].
func (w Want) Desirability(v, least, greatest float64) float64 {
	if w.direction != 0 && w.directionScale[0] < w.directionScale[1] {
		least, greatest = w.directionScale[0], w.directionScale[1]
	}
	switch {
	case math.IsNaN(v):
		return math.NaN()
	case w.isBounded && w.low <= v && v <= w.high:
		return 1
	case w.isBounded:
		return 0
	case w.direction == 0 || least == greatest:
		return math.NaN()
	case w.direction < 0:
		return min(max((greatest-v)/(greatest-least), 0), 1)
	}
	return min(max((v-least)/(greatest-least), 0), 1)
}

// scaleEnds returns the least and the greatest label of the scale of [Maximize] and [Minimize] for
// forest f.
func (w Want) scaleEnds(f *Forest) (least, greatest float64) {
	if w.direction != 0 && w.directionScale[0] < w.directionScale[1] {
		return w.directionScale[0], w.directionScale[1]
	}
	return f.Range()
}

// String returns w in words, such as "at least 3" or "Fresh or Sour".
func (w Want) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	switch {
	case w.direction > 0:
		return "as large as possible"
	case w.direction < 0:
		return "as small as possible"
	case !w.isBounded:
		return strings.Join(w.classes, " or ")
	case math.IsInf(w.high, 1):
		return "at least " + number(w.low)
	case math.IsInf(w.low, -1):
		return "at most " + number(w.high)
	default:
		return "between " + number(w.low) + " and " + number(w.high)
	}
}

// fullDesire stands for a label that is wanted fully: see [Want.labelDesires]. A label that is not
// wanted has 0.
const fullDesire = 1 << 31

// labelDesires returns how much each label of the forest is wanted, from 0 to fullDesire. A Want of
// classes or bounds wants a label fully or not at all. For [Maximize] and [Minimize], it is the
// position of the label between the least and the greatest label. A label that is wanted at all has
// a positive number.
func (w Want) labelDesires(f *Forest) ([]int64, error) {
	switch {
	case w.direction != 0:
		return w.directionDesires(f)
	case w.isBounded:
		return w.boundedDesires(f)
	}
	if f.Numeric() {
		return nil, fmt.Errorf("%q is a number from %g to %g: ask for maximize, minimize, at least, at most or between, not for a class",
			f.label, f.numbers[0], f.numbers[len(f.numbers)-1])
	}
	if len(w.classes) == 0 {
		return nil, fmt.Errorf("no class of %q is wanted; it has %s", f.label, strings.Join(f.classes, ", "))
	}
	desires := make([]int64, len(f.classes))
	for _, class := range w.classes {
		k, found := slices.BinarySearch(f.classes, class)
		if !found {
			return nil, fmt.Errorf("%q has no class %q; it has %s", f.label, class, strings.Join(f.classes, ", "))
		}
		desires[k] = fullDesire
	}
	return desires, nil
}

// boundedDesires computes the result of [Want.labelDesires] for bounds of a number.
func (w Want) boundedDesires(f *Forest) ([]int64, error) {
	if !f.Numeric() {
		return nil, notNumericError(f)
	}
	if math.IsNaN(w.low) || math.IsNaN(w.high) || w.low > w.high || math.IsInf(w.low, 1) || math.IsInf(w.high, -1) {
		return nil, fmt.Errorf("no number is between %g and %g", w.low, w.high)
	}
	desires := make([]int64, len(f.numbers))
	for k, v := range f.numbers {
		if w.Desirability(v, w.low, w.high) == 1 {
			desires[k] = fullDesire
		}
	}
	return desires, nil
}

// directionDesires computes the result of [Want.labelDesires] for [Maximize] and [Minimize].
func (w Want) directionDesires(f *Forest) ([]int64, error) {
	if !f.Numeric() {
		return nil, notNumericError(f)
	}
	least, greatest := w.scaleEnds(f)
	if least == greatest {
		return nil, fmt.Errorf("%q is %g in every row: there is nothing to make larger or smaller", f.label, least)
	}
	desires := make([]int64, len(f.numbers))
	for k, v := range f.numbers {
		part := w.Desirability(v, least, greatest)
		if desires[k] = int64(math.Round(part * fullDesire)); part > 0 {
			desires[k] = max(desires[k], 1)
		}
	}
	return desires, nil
}

// notNumericError returns the error for a Want of numbers if the labels of forest f are classes.
func notNumericError(f *Forest) error {
	return fmt.Errorf("%q is not a number; its classes are %s", f.label, strings.Join(f.classes, ", "))
}

// fixedPointBits is the number of fractional bits of leaf values, which are fixed-point numbers. A
// share of one row in 2³¹ is then still far above 0. The sum of the values of [MaxTrees] trees is
// at most 2⁵⁶.
const fixedPointBits = 40

// toFixedPoint returns part/(whole·fullDesire) as a fixed-point number with fixedPointBits
// fractional bits, rounded to nearest. The result is exactly 0 only if part is 0, and exactly 1
// only if part is whole·fullDesire. The parameter whole must be below 2³¹.
func toFixedPoint(part, whole int64) int64 {
	switch part {
	case 0:
		return 0
	case whole * fullDesire:
		return 1 << fixedPointBits
	}
	hi, lo := bits.Mul64(uint64(part), 1<<fixedPointBits/fullDesire)
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(whole))
	return min(max(int64(q), 1), 1<<fixedPointBits-1)
}

// A Score is a function of the composition. For classes and bounds, it is the probability that the
// label satisfies a [Want]. For [Maximize] and [Minimize], it is the position of the expected label
// on a scale. A Score is a forest with one number in each leaf. It does not change, so that any
// number of goroutines may use it, and its scorers may share it.
type Score struct {
	*compiledForest
	want       Want    // what the user wants of the label
	leafValues []int64 // fixed-point value of each leaf, one tree after another
	emptySum   int64   // sum of the leaf values for the composition in which all amounts are 0

	// forest is set only for a forest with descriptors (see [Feature]). The compiled forest then
	// has no tests.
	forest        *Forest
	ensembleScore *ensemble.Score // the score in package ensemble; set only for a forest with descriptors

	leastLabel    float64 // lower end of the scale of [Maximize] and [Minimize], or least label for other Wants
	greatestLabel float64 // upper end of the scale of [Maximize] and [Minimize], or greatest label for other Wants
}

// Score returns the score for a [Want]. The error says why the forest cannot compute the score: an
// unknown class, a class for a numeric label, a number for a class, or bounds that exclude each
// other.
func (f *Forest) Score(w Want) (*Score, error) {
	desires, err := w.labelDesires(f)
	if err != nil {
		return nil, err
	}
	f.compileOnce.Do(func() {
		if hasDescriptors(f.features) {
			f.compiled = &compiledForest{ingredientCount: len(f.ingredients), roots: make([]int32, len(f.trees))}
		} else {
			f.compiled = compileForest(f)
		}
	})
	s := &Score{compiledForest: f.compiled, want: w}
	s.leastLabel, s.greatestLabel = w.scaleEnds(f)
	for k := range f.trees {
		t := &f.trees[k]
		for l := range int32(t.leafCount()) {
			s.leafValues = append(s.leafValues, t.leafValue(l, desires))
		}
	}
	for _, base := range s.firstLeaves {
		s.emptySum += s.leafValues[base]
	}
	if hasDescriptors(f.features) {
		s.forest = f
		if s.ensembleScore, err = f.bindEnsemble(s.leafValues); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Want returns the [Want] of the score.
func (s *Score) Want() Want { return s.want }

// SumForCertainty returns the sum that corresponds to a probability of 1.
func (s *Score) SumForCertainty() int64 { return int64(len(s.roots)) << fixedPointBits }

// Probability converts a sum of leaf values to a probability. The result is 0 for a sum of 0, and 1
// for the sum [Score.SumForCertainty]. It rises with the sum.
func (s *Score) Probability(sum int64) float64 {
	return float64(sum) / float64(s.SumForCertainty())
}

// Value converts a sum of leaf values to the expected label, in the unit of the label, if the Want
// is [Maximize] or [Minimize]. The result is that of [Forest.Mean], up to rounding. For other
// Wants, Value returns NaN, because the expected label does not follow from the sum.
func (s *Score) Value(sum int64) float64 {
	p := s.Probability(sum)
	switch {
	case s.want.direction > 0:
		return s.leastLabel + float64(p*(s.greatestLabel-s.leastLabel))
	case s.want.direction < 0:
		return s.greatestLabel - float64(p*(s.greatestLabel-s.leastLabel))
	}
	return math.NaN()
}

// Point returns the sum of the values of the leaves that the dense composition x reaches. It
// evaluates one tree after another. Tests compare faster ways, such as [Score.Sum], with Point.
func (s *Score) Point(x []int32) int64 {
	if s.ensembleScore != nil {
		return s.pointWithDescriptors(x)
	}
	if len(s.groups) > 0 {
		return s.pointWithGroups(x)
	}
	sum := int64(0)
	nodes := s.treeNodes
	for _, at := range s.roots {
		for {
			n := &nodes[at]
			if n.slot < 0 {
				sum += s.leafValues[n.right]
				break
			}
			if x[n.slot] <= n.threshold {
				at++
			} else {
				at = n.right
			}
		}
	}
	return sum
}

// pointWithGroups computes the result of [Score.Point] for a forest that tests groups of
// ingredients.
func (s *Score) pointWithGroups(x []int32) int64 {
	sum := int64(0)
	for _, at := range s.roots {
		for {
			n := &s.treeNodes[at]
			if n.slot < 0 {
				sum += s.leafValues[n.right]
				break
			}
			if s.slotAmount(n.slot, x) <= n.threshold {
				at++
			} else {
				at = n.right
			}
		}
	}
	return sum
}
