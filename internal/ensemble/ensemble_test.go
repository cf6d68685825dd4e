package ensemble

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomModel returns trees of a depth over all kinds of sources.
func randomModel(r *rand.Rand, inputs, trees, depth, targets int, single bool, fold TermFold, sources []Source, total int) *Model {
	m := &Model{IsFloat32: single, Terms: make([][]Term, targets), Fold: fold, Start: make([]float64, targets)}
	for k := range inputs {
		m.Inputs = append(m.Inputs, fmt.Sprint(k))
		m.Features = append(m.Features, Feature{Input: k})
	}
	m.Features = append(m.Features, Feature{0, func(v float64) float64 { return -3 * v }})
	m.Outputs = []Output{{Name: "value", Compute: func(sums []float64, _ int) float64 { return sums[0] }}}
	b := NewBuilder(m)
	var grow func(depth, width int) int32
	grow = func(depth, width int) int32 {
		if depth == 0 || r.IntN(8) == 0 {
			values := make([]float64, width)
			for k := range values {
				values[k] = r.NormFloat64()
			}
			leaf, err := b.AddLeaf(values...)
			if err != nil {
				panic(err)
			}
			return leaf
		}
		f := r.IntN(len(m.Features))
		left, right := grow(depth-1, width), grow(depth-1, width)
		s := &sources[m.Features[f].Input]
		n := int64(r.IntN(total + 1))
		if s.CountsUsed {
			n = int64(r.IntN(4))
		}
		if s.Weights != nil {
			n *= s.Weights[r.IntN(len(s.Weights))]
		}
		t := s.inputValue(n)
		if m.Features[f].Function != nil {
			t = m.Features[f].Function(t)
		}
		if r.IntN(4) == 0 {
			t = b.PreviousInput(t)
		}
		var made int32
		var err error
		if r.IntN(5) == 0 {
			made, err = b.AddThresholdTests(f, []float64{t, t + 2, t + 3}, []int32{left, right, left, right}, r.IntN(4))
		} else {
			made, err = b.AddThresholdTests(f, []float64{t}, []int32{left, right}, r.IntN(2))
		}
		if err != nil {
			panic(err)
		}
		return made
	}
	for range trees {
		width := 1
		if targets > 1 && r.IntN(2) == 0 {
			width = targets
		}
		m.roots = append(m.roots, grow(depth, width))
		of := []int{r.IntN(targets)}
		if width > 1 {
			of = r.Perm(targets)
		}
		if err := b.AddToTargets(of...); err != nil {
			panic(err)
		}
	}
	return m
}

func randomSources(r *rand.Rand, ingredients, total int) []Source {
	all := make([]int32, ingredients)
	weights := make([]int64, ingredients)
	for i := range all {
		all[i], weights[i] = int32(i), int64(r.IntN(2001)-700)
	}
	var sources []Source
	for i := range ingredients {
		sources = append(sources, Source{Ingredients: []int32{int32(i)}, Divisor: float64(total)})
	}
	half := slices.Clone(all[:ingredients/2])
	return append(sources,
		Source{Ingredients: []int32{0}, Presence: true},
		Source{Ingredients: half},
		Source{Ingredients: half, Multiplier: 100, Divisor: float64(total)},
		Source{Ingredients: half, CountsUsed: true},
		Source{Ingredients: all, CountsUsed: true},
		Source{Ingredients: all, Weights: weights, Divisor: 100 * float64(total)},
		Source{Ingredients: half, Weights: weights[:len(half)], Divisor: 7},
		Source{Constant: true, Value: 0.3}, Source{Constant: true, Value: math.NaN()})
}

// TestLines holds lines, and the sums of a composition that moves, to points, bit for
// bit, over models of all shapes and sources of all kinds.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 120 {
		n, total := 2+r.IntN(8), 1+r.IntN(60)
		if trial%10 == 0 {
			total = 100000
		}
		sources := randomSources(r, n, total)
		m := randomModel(r, len(sources), 1+r.IntN(70), 1+r.IntN(7), 1+r.IntN(3), trial%2 == 0, TermFold(max(0, r.IntN(6)-3)), sources, total)
		s, err := Bind(m, n, total, sources)
		if err != nil {
			t.Fatal(err)
		}
		c := s.NewScorer()
		x, used := randomComposition(r, n, total)
		c.Reset(x, used)
		for range 30 {
			i, j := r.IntN(n), r.IntN(n-1)
			if j >= i {
				j++
			}
			sum := x[i] + x[j]
			y := slices.Clone(x)
			starts, lines := c.Line(i, j)
			split := func(k int32) {
				p, found := slices.BinarySearch(starts, k)
				if !found {
					p--
				}
				y[i], y[j] = k, sum-k
				want := s.Sums(y)
				for g := range want {
					if lines[g][p] != want[g] {
						t.Fatalf("trial %d, line (%d,%d) of %v at %d: target %d is %v, and the point's %v", trial, i, j, x, k, g, lines[g][p], want[g])
					}
				}
			}
			if sum < 200 {
				for k := range sum + 1 {
					split(k)
				}
			}
			for _, k := range starts {
				split(k)
				split(max(k-1, 0))
			}
			split(sum)
			x[i] = r.Int32N(sum + 1)
			x[j] = sum - x[i]
			c.Set(i, x[i], j, x[j])
			if got, want := c.AppendSums(nil), s.Sums(x); !slices.Equal(got, want) {
				t.Fatalf("trial %d: the sums of %v are %v, and the point's %v", trial, x, got, want)
			}
			least, greatest := s.SumBounds()
			for g, v := range c.AppendSums(nil) {
				if v < least[g] || v > greatest[g] {
					t.Fatalf("%v is not within %v..%v", v, least[g], greatest[g])
				}
			}
		}
	}
}

func randomComposition(r *rand.Rand, n, total int) (x, used []int32) {
	x = make([]int32, n)
	of := r.Perm(n)[:1+r.IntN(n)]
	for rest := total; rest > 0; {
		k := 1 + r.IntN(max(rest/2, 1))
		x[of[r.IntN(len(of))]] += int32(k)
		rest -= k
	}
	for i, v := range x {
		if v > 0 {
			used = append(used, int32(i))
		}
	}
	return x, used
}

// TestReduced holds the sums of whole numbers to the model's own tests of floating-point
// features.
func TestReduced(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 100 {
		n, total := 2+r.IntN(6), 1+r.IntN(300)
		sources := randomSources(r, n, total)
		m := randomModel(r, len(sources), 20, 6, 1, trial%2 == 0, Sum, sources, total)
		s, err := Bind(m, n, total, sources)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			x, _ := randomComposition(r, n, total)
			leaves := s.appendLeaves(nil, s.appendSlotNumbers(nil, x))
			for k, at := range m.roots {
				for at >= 0 {
					node := m.nodes[at]
					if v := featureAt(m, sources, node.Feature, x); v <= node.Threshold || math.IsNaN(v) && node.NaNLeft {
						at = node.Left
					} else {
						at = node.Right
					}
				}
				if ^at != leaves[k] {
					t.Fatalf("trial %d: tree %d of %v ends in leaf %d, and should in %d", trial, k, x, leaves[k], ^at)
				}
			}
		}
	}
}

func featureAt(m *Model, sources []Source, feature int32, x []int32) float64 {
	f := m.Features[feature]
	s := &sources[f.Input]
	v := s.Value
	if !s.Constant {
		n := int64(0)
		for k, i := range s.Ingredients {
			switch {
			case s.CountsUsed && x[i] > 0:
				n++
			case s.CountsUsed:
			case s.Weights != nil:
				n += s.Weights[k] * int64(x[i])
			default:
				n += int64(x[i])
			}
		}
		if s.Presence {
			n = min(n, 1)
		}
		v = float64(n*max(1, s.Multiplier)) / max(1, s.Divisor)
	}
	switch {
	case f.Function != nil:
		return f.Function(v)
	case m.IsFloat32:
		return float64(float32(v))
	}
	return v
}
