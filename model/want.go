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

// A Want is what a user asks of a label: a set of classes, a condition on a number, or a direction.
// Make one with [AnyOf], [AtLeast], [AtMost], [Between], [Maximize] or [Minimize].
type Want struct {
	classes   []string
	low       float64 // −∞ if there is no lower bound
	high      float64 // +∞ if there is no upper bound
	numerics  bool
	direction int // +1 for [Maximize], −1 for [Minimize], else 0

	scale [2]float64 // for a direction: the labels that score 0 and 1, or the reverse; if equal, the forest's range
}

// AnyOf wants the label to be one of the classes.
func AnyOf(classes ...string) Want { return Want{classes: slices.Clone(classes)} }

// AtLeast wants the label to be low or more.
func AtLeast(low float64) Want { return Want{low: low, high: math.Inf(1), numerics: true} }

// AtMost wants the label to be high or less.
func AtMost(high float64) Want { return Want{low: math.Inf(-1), high: high, numerics: true} }

// Between wants the label to be in [low, high].
func Between(low, high float64) Want { return Want{low: low, high: high, numerics: true} }

// Maximize wants the label as large as possible. The score of x is
//
//	(E[label | x] − least) / (greatest − least),
//
// where least and greatest are those of the labels from which the forest was grown. It is 0 where
// every leaf holds only the least label, 1 where each holds only the greatest, and rises with the
// predicted value between. It is a probability, too: that the label at x exceeds a threshold drawn
// uniformly between the two. So it is [AtLeast] without a preferred threshold. [Score.Value]
// converts it back to the label's unit.
func Maximize() Want { return Want{direction: 1} }

// Minimize wants the label as small as possible: [Maximize] with the reverse scale, (greatest −
// E[label | x]) / (greatest − least).
func Minimize() Want { return Want{direction: -1} }

// Bounds returns the least and the greatest wanted number, ±Inf for a missing bound, and whether w
// is a condition on a number at all.
func (w Want) Bounds() (low, high float64, bounded bool) { return w.low, w.high, w.numerics }

// Direction returns +1 for [Maximize], −1 for [Minimize], and 0 for any other Want.
func (w Want) Direction() int { return w.direction }

// Has reports whether a class is among the wanted ones.
func (w Want) Has(class string) bool { return slices.Contains(w.classes, class) }

// WithScale returns a direction with the scale from one label to another instead of the forest's own
// range, so that forests of different data share one scale. Labels beyond it count as its ends.
func (w Want) WithScale(least, greatest float64) Want {
	w.scale = [2]float64{least, greatest}
	return w
}

// scaleEnds returns the labels between which a direction scores.
func (w Want) scaleEnds(f *Forest) (least, greatest float64) {
	if w.direction != 0 && w.scale[0] < w.scale[1] {
		return w.scale[0], w.scale[1]
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
	case !w.numerics:
		return strings.Join(w.classes, " or ")
	case math.IsInf(w.high, 1):
		return "at least " + number(w.low)
	case math.IsInf(w.low, -1):
		return "at most " + number(w.high)
	default:
		return "between " + number(w.low) + " and " + number(w.high)
	}
}

// sharesPerOne is the resolution of how much a label is wanted.
const sharesPerOne = 1 << 31

// desires returns how much each label of the forest is wanted, in parts of sharesPerOne. It is all
// or nothing, or for a direction the label's position between the least and the greatest one. Only
// a label that is not wanted at all has 0.
func (w Want) desires(f *Forest) ([]int64, error) {
	switch {
	case w.direction != 0:
		return w.directedDesires(f)
	case w.numerics:
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
		desires[k] = sharesPerOne
	}
	return desires, nil
}

// boundedDesires returns what desires returns, for a condition on a number.
func (w Want) boundedDesires(f *Forest) ([]int64, error) {
	if !f.Numeric() {
		return nil, notANumber(f)
	}
	if math.IsNaN(w.low) || math.IsNaN(w.high) || w.low > w.high || math.IsInf(w.low, 1) || math.IsInf(w.high, -1) {
		return nil, fmt.Errorf("no number is between %g and %g", w.low, w.high)
	}
	desires := make([]int64, len(f.numbers))
	for k, v := range f.numbers {
		if w.low <= v && v <= w.high {
			desires[k] = sharesPerOne
		}
	}
	return desires, nil
}

// directedDesires returns what desires returns, for a direction.
func (w Want) directedDesires(f *Forest) ([]int64, error) {
	if !f.Numeric() {
		return nil, notANumber(f)
	}
	least, greatest := w.scaleEnds(f)
	if least == greatest {
		return nil, fmt.Errorf("%q is %g in every row: there is nothing to make larger or smaller", f.label, least)
	}
	desires := make([]int64, len(f.numbers))
	for k, v := range f.numbers {
		part := (v - least) / (greatest - least)
		if w.direction < 0 {
			part = (greatest - v) / (greatest - least)
		}
		part = min(max(part, 0), 1)
		if desires[k] = int64(math.Round(part * sharesPerOne)); part > 0 {
			desires[k] = max(desires[k], 1)
		}
	}
	return desires, nil
}

func notANumber(f *Forest) error {
	return fmt.Errorf("%q is not a number; its classes are %s", f.label, strings.Join(f.classes, ", "))
}

// scaleBits is the position of the binary point in a leaf's value. A share of
// one row in 2³¹ is still far above zero, and the ones of MaxTrees trees sum to 2⁵⁶.
const scaleBits = 40

// fixed returns part/whole, where part is in parts of sharesPerOne, in fixed point, rounded to
// nearest. It is 0 only if part is 0, and 1<<scaleBits only if part is whole·sharesPerOne; whole is
// below 2³¹.
func fixed(part, whole int64) int64 {
	switch part {
	case 0:
		return 0
	case whole * sharesPerOne:
		return 1 << scaleBits
	}
	hi, lo := bits.Mul64(uint64(part), 1<<scaleBits/sharesPerOne)
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(whole))
	return min(max(int64(q), 1), 1<<scaleBits-1)
}

// A Score is a function of the composition: the probability of a Want, or for a direction the
// position of the expected label in its range. It is a forest whose leaves hold one number each. It
// does not change, so that any number of goroutines may use it and its scorers may share it.
type Score struct {
	*structure
	want   Want
	values []int64 // by leaf of all trees in order: the leaf's fixed-point value
	empty  int64   // the sum at the composition in which all amounts are 0

	// For a forest with descriptors, whose structure has no tests.
	forest        *Forest
	ensembleScore *ensemble.Score

	least, greatest float64 // the least and the greatest label of a numeric forest
}

// Score returns the probability of w as a function of the composition. The error says why the
// forest cannot compute it: an unknown class, a class for a numeric label or the reverse, or bounds
// that exclude each other.
func (f *Forest) Score(w Want) (*Score, error) {
	desires, err := w.desires(f)
	if err != nil {
		return nil, err
	}
	f.compile.Do(func() {
		if hasDescriptors(f.features) {
			f.compiled = &structure{ingredients: len(f.ingredients), roots: make([]int32, len(f.trees))}
		} else {
			f.compiled = newStructure(f)
		}
	})
	s := &Score{structure: f.compiled, want: w}
	s.least, s.greatest = w.scaleEnds(f)
	for k := range f.trees {
		t := &f.trees[k]
		for l := range int32(t.leaves()) {
			s.values = append(s.values, t.value(l, desires))
		}
	}
	for _, base := range s.leafBase {
		s.empty += s.values[base]
	}
	if hasDescriptors(f.features) {
		s.forest = f
		if s.ensembleScore, err = f.bind(s.values); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Want returns the Want of the score.
func (s *Score) Want() Want { return s.want }

// One returns the sum that corresponds to a probability of one.
func (s *Score) One() int64 { return int64(len(s.roots)) << scaleBits }

// Probability converts a sum to a probability. It is 0 for a sum of 0, 1 for [Score.One], and rises
// with the sum.
func (s *Score) Probability(sum int64) float64 {
	return float64(sum) / float64(s.One())
}

// Value converts a sum of a score of [Maximize] or [Minimize] to the expected label, in the label's
// unit: the result of [Forest.Mean], up to rounding. It is NaN for other Wants, which do not
// determine the mean.
func (s *Score) Value(sum int64) float64 {
	p := s.Probability(sum)
	switch {
	case s.want.direction > 0:
		return s.least + float64(p*(s.greatest-s.least))
	case s.want.direction < 0:
		return s.greatest - float64(p*(s.greatest-s.least))
	}
	return math.NaN()
}

// Point returns the sum of the leaves' values at the dense composition x, computed tree by tree. It
// is the reference for the other ways to score; [Score.Sum] is the fast one.
func (s *Score) Point(x []int32) int64 {
	if s.ensembleScore != nil {
		return s.pointWithDescriptors(x)
	}
	if len(s.groups) > 0 {
		return s.pointWithGroups(x)
	}
	sum := int64(0)
	nodes := s.nodes
	for _, at := range s.roots {
		for {
			n := &nodes[at]
			if n.slot < 0 {
				sum += s.values[n.right]
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

func (s *Score) pointWithGroups(x []int32) int64 {
	sum := int64(0)
	for _, at := range s.roots {
		for {
			n := &s.nodes[at]
			if n.slot < 0 {
				sum += s.values[n.right]
				break
			}
			if s.amount(n.slot, x) <= n.threshold {
				at++
			} else {
				at = n.right
			}
		}
	}
	return sum
}
