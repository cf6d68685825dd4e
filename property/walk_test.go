package property_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// randomComposition returns one of total units in which used ingredients, at
// most, have any.
func randomComposition(t *testing.T, r *rand.Rand, ingredients, total, used int) *mcmc.Composition {
	t.Helper()
	amounts := make(map[int]int)
	among := r.Perm(ingredients)[:used]
	for range total {
		amounts[among[r.IntN(used)]]++
	}
	var parts []mcmc.Part
	for i, a := range amounts {
		parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
	}
	x, err := mcmc.NewComposition(ingredients, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// same says whether two scores are the same bit for bit.
func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// walkLines moves a composition about and verifies, wherever it comes, that
// every line scored at once has the very values that the property has at its
// points, that the pieces are a line's, and that the scorer's own value is the
// property's. naive, if not nil, is another implementation of the score y, which
// must agree to a relative tolerance.
func walkLines(t *testing.T, p mcmc.LineProperty, ingredients, total, moves int, naive func(x []int) float64, tolerance float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(ingredients)<<32|uint64(total)))
	var pieces mcmc.PiecewiseConstant
	for range 3 {
		x := randomComposition(t, r, ingredients, total, 1+r.IntN(min(ingredients, total)))
		s := p.Scorer(x)
		s.Reset()
		for range moves {
			i := r.IntN(ingredients)
			if r.IntN(8) > 0 {
				i = int(x.Ingredients()[r.IntN(x.UsedCount())])
			}
			j := r.IntN(ingredients - 1)
			if j >= i {
				j++
			}
			before := x.Clone()
			pieces.Reset()
			s.Line(i, j, &pieces)
			sum := x.Amount(i) + x.Amount(j)
			checkPieces(t, &pieces, sum)
			if c, ok := s.(mcmc.CurveScorer); ok {
				checkCurve(t, r, c, i, j, sum, &pieces)
			}
			at := -1
			for k := range sum + 1 {
				for at+1 < pieces.Len() {
					if start, _ := pieces.Piece(at + 1); start > k {
						break
					}
					at++
				}
				_, value := pieces.Piece(at)
				point := x.Clone()
				if err := point.Move(i, j, k); err != nil {
					t.Fatal(err)
				}
				want := p.LogScore(point)
				if !same(value, want) {
					t.Fatalf("split %d of (%d, %d) of %v: the line says %v, the point %v", k, i, j, x, value, want)
				}
				if naive != nil {
					amounts := make([]int, ingredients)
					for i, a := range point.Amounts() {
						amounts[i] = int(a)
					}
					plain := naive(amounts)
					if y := math.Exp(want); math.Abs(y-plain) > tolerance*plain {
						t.Fatalf("%v scores %v, by its definition %v", point, y, plain)
					}
				}
			}
			if !x.Equal(before) {
				t.Fatalf("scoring a line moved %v to %v", before, x)
			}
			if got, want := s.LogScore(), p.LogScore(x); !same(got, want) {
				t.Fatalf("the scorer says %v at %v, the property %v", got, x, want)
			}
			k := r.IntN(sum + 1)
			if r.IntN(3) == 0 {
				k = sum * r.IntN(2)
			}
			if err := x.Move(i, j, k); err != nil {
				t.Fatal(err)
			}
			s.Moved(i, j)
			if r.IntN(16) == 0 {
				s.Reset()
			}
			if got, want := s.LogScore(), p.LogScore(x); !same(got, want) {
				t.Fatalf("after a move the scorer says %v at %v, the property %v", got, x, want)
			}
		}
	}
}

// checkCurve verifies that a line known as a function has the line's values, and that
// no bound of random splits from the first to the last is below one of them. That
// bounds come close is measured where draws are.
func checkCurve(t *testing.T, r *rand.Rand, c mcmc.CurveScorer, i, j, sum int, line *mcmc.PiecewiseConstant) {
	t.Helper()
	if peak := c.Curve(i, j); peak < 0 || peak > sum {
		t.Fatalf("the peak of a line of sum %d is %d", sum, peak)
	}
	values := make([]float64, 0, sum+1)
	for q := range line.Len() {
		_, value := line.Piece(q)
		to := sum + 1
		if q+1 < line.Len() {
			to, _ = line.Piece(q + 1)
		}
		for k := len(values); k < to; k++ {
			values = append(values, value)
			if got := c.ScoreAt(k); !same(got, value) {
				t.Fatalf("split %d of %d: the curve says %v, the line %v", k, sum, got, value)
			}
		}
	}
	for range min(20, sum*sum) {
		if sum < 4 {
			return
		}
		from := 1 + r.IntN(sum-3)
		to := from + 2 + r.IntN(sum-2-from)
		if r.IntN(2) == 0 {
			to = min(to, from+2+r.IntN(4))
		}
		above := c.UpperBound(from, to)
		for k := from; k <= to; k++ {
			if !(above >= values[k]) {
				t.Fatalf("the bound of splits %d to %d of %d is %v, and at %d is %v", from, to, sum, above, k, values[k])
			}
		}
	}
}

func checkPieces(t *testing.T, p *mcmc.PiecewiseConstant, sum int) {
	t.Helper()
	if p.Len() == 0 {
		t.Fatal("the line has no pieces")
	}
	last := -1
	for q := range p.Len() {
		start, _ := p.Piece(q)
		if start <= last || q == 0 && start != 0 || start > sum {
			t.Fatalf("piece %d of %d starts at %d after %d in a line of sum %d", q, p.Len(), start, last, sum)
		}
		last = start
	}
}

// checkKernels computes the transition matrices of the kernels that move along
// lines, for a target with the property on a small space, and runs every check
// on them.
func checkKernels(t *testing.T, p mcmc.LineProperty, ingredients, total int, weight float64) {
	t.Helper()
	space, err := mcmc.NewSpace(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, space.MaxUsed()), mcmc.Objective{Name: "wish", Property: p, Weight: weight})
	if err != nil {
		t.Fatal(err)
	}
	law, err := stattest.Law{
		Ingredients: ingredients,
		Total:       total,
		Size:        func(n int) float64 { return 1 },
		Objectives:  []stattest.Objective{{Score: func(x []int) float64 { return math.Exp(p.LogScore(composition(t, x))) }, Weight: weight}},
	}.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"accelerated", "balanced", "gibbs"} {
		if name == "balanced" && len(law.States) > 21 {
			continue // its moves have too many outcomes
		}
		kernel, err := mcmc.NewKernel(name, target)
		if err != nil {
			t.Fatal(err)
		}
		m, err := law.Matrix(target, kernel, stattest.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := m.Check(true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "balanced" {
			continue
		}
		two, err := law.Matrix(target, kernel, stattest.Options{Iterations: 2})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := m.Square().Compare(two); err != nil {
			t.Errorf("%s: two iterations: %v", name, err)
		}
	}
}

// composition returns the composition of the given amounts.
func composition(t *testing.T, amounts []int) *mcmc.Composition {
	t.Helper()
	var parts []mcmc.Part
	for i, a := range amounts {
		if a > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
		}
	}
	x, err := mcmc.NewComposition(len(amounts), parts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func sum(x []int) (total int) {
	for _, a := range x {
		total += a
	}
	return total
}

// must returns a value that cannot fail to be made.
func must[T any](value T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("test data: %v", err))
	}
	return value
}

// benchmarkLine times one line and one move, as a kernel makes them.
func benchmarkLine(b *testing.B, p mcmc.LineProperty, ingredients, total, used int) {
	r := rand.New(rand.NewPCG(1, 1))
	x := must(mcmc.NewComposition(ingredients))
	var parts []mcmc.Part
	for _, i := range r.Perm(ingredients)[:used] {
		parts = append(parts, mcmc.Part{Ingredient: i, Amount: total / used})
	}
	parts[0].Amount += total % used
	if err := x.SetParts(parts...); err != nil {
		b.Fatal(err)
	}
	s := p.Scorer(x)
	s.Reset()
	var pieces mcmc.PiecewiseConstant
	splits, lines := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		i := int(x.Ingredients()[r.IntN(x.UsedCount())])
		j := r.IntN(ingredients)
		if j == i {
			continue
		}
		pieces.Reset()
		s.Line(i, j, &pieces)
		sum := x.Amount(i) + x.Amount(j)
		splits += sum + 1
		lines++
		// Most moves leave the number of ingredients about the same.
		k := r.IntN(sum + 1)
		if x.UsedCount() > used {
			k = 0
		}
		if err := x.Move(i, j, k); err != nil {
			b.Fatal(err)
		}
		s.Moved(i, j)
	}
	b.ReportMetric(float64(splits)/float64(lines), "splits/line")
}
