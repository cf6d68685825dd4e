package model

import (
	"fmt"

	"kir/internal/ensemble"
)

// maxDescriptorTrees is the greatest number of trees of a forest with descriptors (see [Feature]).
// The limit keeps the sums of fixed-point leaf values at most 2⁵³. Whole numbers up to 2⁵³ are
// exact in float64.
const maxDescriptorTrees = 1 << (53 - fixedPointBits)

// bindEnsemble converts a forest with descriptors to a score of package ensemble, which can score
// lines with weighted means and log-ratios. The parameter values holds the fixed-point value of
// each leaf, one tree after another. The sums of these values are exact in float64.
//
// Each input of the converted model is a feature, or a single test of a log-ratio. Let the test be
// whether (a + ½)/(b + ½) > n/d, where a and b are the totals of the two groups, and n/d is a step
// of the ratio. The input is then the weighted sum 2d·a − 2n·b, and the test is whether the input
// exceeds n − d.
func (f *Forest) bindEnsemble(values []int64) (*ensemble.Score, error) {
	if len(f.trees) > maxDescriptorTrees {
		return nil, fmt.Errorf("a forest with descriptors can have %d trees, and this one has %d", maxDescriptorTrees, len(f.trees))
	}
	m := &ensemble.Model{Start: []float64{0}, Terms: make([][]ensemble.Term, 1)}
	var sources []ensemble.Source
	known := make(map[[2]int32]int) // inputs by feature and, for a log-ratio, by step
	input := func(feature, step int32) int {
		key := [2]int32{feature, step}
		at, found := known[key]
		if !found {
			at = len(sources)
			known[key] = at
			sources = append(sources, f.features[feature].ensembleSource(int(step)))
			m.Inputs = append(m.Inputs, f.features[feature].Name)
			m.Features = append(m.Features, ensemble.Feature{Input: at})
		}
		return at
	}
	b := ensemble.NewBuilder(m)
	base := 0
	for k := range f.trees {
		t := &f.trees[k]
		err := b.AddTree(ensemble.TreeShape{
			Nodes: len(t.nodes),
			Children: func(at int) (left, right int, leaf bool) {
				return at + 1, int(t.nodes[at].right), t.nodes[at].feature < 0
			},
			Leaf: func(at int) (int32, error) { return b.AddLeaf(float64(values[base+int(t.nodes[at].right)])) },
			Test: func(at int, left, right int32) (int32, error) {
				n := &t.nodes[at]
				bound, step := float64(n.threshold), int32(0)
				if f.features[n.feature].Over != nil {
					above, below := ratioStepFraction(int(n.threshold))
					bound, step = float64(above-below), n.threshold
				}
				return b.AddThresholdTests(input(n.feature, step), []float64{bound}, []int32{left, right}, 0)
			},
		})
		if err == nil {
			err = b.AddToTargets(0)
		}
		if err != nil {
			return nil, err
		}
		base += t.leafCount()
	}
	return ensemble.Bind(m, len(f.ingredients), f.totalAmount, sources)
}

// ensembleSource returns the weighted sum of amounts from which package ensemble computes the
// feature. If the feature is a log-ratio, the sum is for the test of one step, whose index is step.
func (f *Feature) ensembleSource(step int) ensemble.Source {
	s := ensemble.Source{Ingredients: f.Ingredients, Presence: f.Presence}
	for _, w := range f.Weights {
		s.Weights = append(s.Weights, int64(w))
	}
	if f.Over == nil {
		return s
	}
	above, below := ratioStepFraction(step)
	s.Ingredients = append(s.Ingredients[:len(s.Ingredients):len(s.Ingredients)], f.Over...)
	for k := range s.Ingredients {
		if k < len(f.Ingredients) {
			s.Weights = append(s.Weights, 2*below)
		} else {
			s.Weights = append(s.Weights, -2*above)
		}
	}
	return s
}

// pointWithDescriptors computes the result of [Score.Point] for a forest with descriptors. It
// evaluates the trees of the forest one by one.
func (s *Score) pointWithDescriptors(x []int32) int64 {
	values := s.forest.featureValues(x)
	sum, base := int64(0), 0
	for k := range s.forest.trees {
		t := &s.forest.trees[k]
		sum += s.leafValues[base+int(t.leafNumber(values))]
		base += t.leafCount()
	}
	return sum
}

// HasDescriptors reports whether the forest has descriptors: see [Feature].
func (s *Score) HasDescriptors() bool { return s.ensembleScore != nil }

// descriptorValue computes the result of [Scorer.Value] for a forest with descriptors. The float64
// sums of package ensemble are whole numbers.
func (s *Scorer) descriptorValue() int64 {
	s.descriptorSums = s.descriptorScorer.AppendSums(s.descriptorSums[:0])
	return int64(s.descriptorSums[0])
}

// descriptorLine computes the result of [Scorer.Line] for a forest with descriptors.
func (s *Scorer) descriptorLine(i, j int) (starts []int32, sums []int64) {
	starts, values := s.descriptorScorer.Line(i, j)
	s.lineSums = s.lineSums[:0]
	for _, v := range values[0] {
		s.lineSums = append(s.lineSums, int64(v))
	}
	return starts, s.lineSums
}
