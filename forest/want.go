package forest

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A Want is a set of classes or a condition on a number. Make one with [AnyOf],
// [AtLeast], [AtMost] or [Between].
type Want struct {
	classes  []string
	low      float64 // −∞ if there is no lower bound
	high     float64 // +∞ if there is no upper bound
	numerics bool
}

// AnyOf wants the label to be one of the classes.
func AnyOf(classes ...string) Want { return Want{classes: slices.Clone(classes)} }

// AtLeast wants the label to be low or more.
func AtLeast(low float64) Want { return Want{low: low, high: math.Inf(1), numerics: true} }

// AtMost wants the label to be high or less.
func AtMost(high float64) Want { return Want{low: math.Inf(-1), high: high, numerics: true} }

// Between wants the label to be in [low, high].
func Between(low, high float64) Want { return Want{low: low, high: high, numerics: true} }

// String returns the want in words, such as "at least 3" or "Fresh or Sour".
func (w Want) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	switch {
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

// labels reports for each label of the forest whether it is wanted.
func (w Want) labels(f *Forest) ([]bool, error) {
	if !w.numerics {
		if f.Numeric() {
			return nil, fmt.Errorf("%q is a number from %g to %g: ask for at least, at most or between, not for a class",
				f.label, f.numbers[0], f.numbers[len(f.numbers)-1])
		}
		if len(w.classes) == 0 {
			return nil, fmt.Errorf("no class of %q is wanted; it has %s", f.label, strings.Join(f.classes, ", "))
		}
		wanted := make([]bool, len(f.classes))
		for _, class := range w.classes {
			k, found := slices.BinarySearch(f.classes, class)
			if !found {
				return nil, fmt.Errorf("%q has no class %q; it has %s", f.label, class, strings.Join(f.classes, ", "))
			}
			wanted[k] = true
		}
		return wanted, nil
	}
	if !f.Numeric() {
		return nil, fmt.Errorf("%q is not a number; its classes are %s", f.label, strings.Join(f.classes, ", "))
	}
	if math.IsNaN(w.low) || math.IsNaN(w.high) || w.low > w.high || math.IsInf(w.low, 1) || math.IsInf(w.high, -1) {
		return nil, fmt.Errorf("no number is between %g and %g", w.low, w.high)
	}
	wanted := make([]bool, len(f.numbers))
	for k, v := range f.numbers {
		wanted[k] = w.low <= v && v <= w.high
	}
	return wanted, nil
}

// scaleBits is the position of the binary point in a leaf's value. A share of
// one row in 2³¹ is still far above zero, and the ones of MaxTrees trees sum to 2⁵⁶.
const scaleBits = 40

// fixed returns part/whole in fixed point, rounded to nearest. It is 0 only if
// part is, and 1<<scaleBits only if part is whole, for whole < 2³¹.
func fixed(part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(part), 1<<scaleBits)
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(whole))
	return int64(q)
}

// A Score is the probability of a want as a function of the composition: a
// forest whose leaves hold one number each. It does not change, so that any
// number of goroutines may use it and its scorers may share it.
type Score struct {
	*structure
	want   Want
	values []int64 // by leaf, the trees' leaves one after another
}

// Score returns the probability of the want as a function of the composition.
// The error says why the forest cannot tell: a class that it does not have, a
// class asked of a number or the reverse, or bounds that exclude each other.
func (f *Forest) Score(w Want) (*Score, error) {
	wanted, err := w.labels(f)
	if err != nil {
		return nil, err
	}
	f.compile.Do(func() { f.compiled = newStructure(f) })
	s := &Score{structure: f.compiled, want: w}
	for k := range f.trees {
		t := &f.trees[k]
		for l := range int32(t.leaves()) {
			part := int64(0)
			labels, counts := t.content(l)
			for c, label := range labels {
				if wanted[label] {
					part += int64(counts[c])
				}
			}
			s.values = append(s.values, fixed(part, t.weight(l)))
		}
	}
	return s, nil
}

// Want returns what the score is the probability of.
func (s *Score) Want() Want { return s.want }

// One returns the sum that stands for a probability of one.
func (s *Score) One() int64 { return int64(len(s.roots)) << scaleBits }

// Probability returns the probability that a sum stands for. It is 0 for a sum
// of 0, 1 for [Score.One], and rises with the sum.
func (s *Score) Probability(sum int64) float64 {
	return float64(sum) / float64(s.One())
}

// Point returns the sum of the leaves' values at the dense composition x, found
// tree by tree. It is what the other ways to score must agree with.
func (s *Score) Point(x []int32) int64 {
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
