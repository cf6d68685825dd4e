package portable

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLower holds factor, solution, determinant and inverse of B·Bᵀ + 1 against what they
// are defined by. An entry's rounding error is below n·2⁻⁵³ times the matrix's condition,
// which is at most 1 + |B|² < 10⁴ here, so below 10⁻¹⁰ for n up to 40.
func TestLower(t *testing.T) {
	const close = 1e-10
	r := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{1, 2, 3, 5, 17, 40} {
		b := make([][]float64, n)
		for i := range b {
			for range n {
				b[i] = append(b[i], r.NormFloat64())
			}
		}
		a := NewLower(n)
		at := func(i, j int) float64 { return a.Row(max(i, j))[min(i, j)] }
		for i := range n {
			for j := range i + 1 {
				a.Row(i)[j] = Dot(b[i], b[j])
			}
			a.Row(i)[i]++
		}
		l := NewLower(n)
		for i := range n {
			copy(l.Row(i), a.Row(i))
		}
		if !l.Factor() {
			t.Fatalf("%d rows: no factor", n)
		}
		diagonal := 0.0
		for i := range n {
			diagonal += 2 * math.Log(l.Row(i)[i])
			for j := range i + 1 {
				if got := Dot(l.Row(i)[:j+1], l.Row(j)); math.Abs(got-at(i, j)) > close*at(i, i) {
					t.Errorf("%d rows: L·Lᵀ has %v at %d, %d, and A %v", n, got, i, j, at(i, j))
				}
			}
		}
		if d := l.LogDeterminant(); math.Abs(d-diagonal) > close {
			t.Errorf("%d rows: log det is %v, want %v", n, d, diagonal)
		}
		inverse := l.Inverse()
		for k := range n {
			unit := make([]float64, n)
			unit[k] = 1
			l.Solve(unit)
			for i := range n {
				if got := inverse.Row(max(i, k))[min(i, k)]; math.Abs(got-unit[i]) > close {
					t.Errorf("%d rows: the inverse has %v at %d, %d, and the solution %v", n, got, i, k, unit[i])
				}
				sum := 0.0
				for j := range n {
					sum += at(i, j) * unit[j]
				}
				if want := float64(1 - min(1, max(i-k, k-i))); math.Abs(sum-want) > close {
					t.Errorf("%d rows: A·A⁻¹ has %v at %d, %d", n, sum, i, k)
				}
			}
		}
	}
	indefinite := NewLower(2)
	indefinite.Row(0)[0], indefinite.Row(1)[0], indefinite.Row(1)[1] = 1, 2, 1
	if indefinite.Factor() {
		t.Error("an indefinite matrix has a factor")
	}
}
