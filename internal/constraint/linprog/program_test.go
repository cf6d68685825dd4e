package linprog

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWeightsCannotMakeABoundWrong: whatever the rows are made to weigh, the bound of a program holds, and that of the weights
// that the simplex method ends with is the optimum.
func TestWeightsCannotMakeABoundWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		p := &Program{Columns: 4}
		x := make([]float64, p.Columns) // keeps all rows
		for j := range x {
			x[j] = r.Float64()
			p.Cost = append(p.Cost, r.NormFloat64())
		}
		for range 5 {
			var of []Entry
			at := 0.0
			for j := range x {
				f := r.NormFloat64()
				of = append(of, Entry{j, f})
				at += f * x[j]
			}
			lo, hi := at-r.Float64(), at+r.Float64()
			if r.IntN(3) == 0 {
				lo = math.Inf(-1)
			}
			p.AddRow(of, lo, hi)
		}
		lo, hi := make([]float64, p.Columns), []float64{1, 1, 1, 1}
		value := 0.0
		for j, c := range p.Cost {
			value += c * x[j]
		}
		for range 10 {
			w := make([]float64, len(p.Rows))
			for k := range w {
				w[k] = 3 * r.NormFloat64()
			}
			if above := p.UpperBound(p.Cost, w, lo, hi); above < value {
				t.Fatalf("bounded by %v, and %v is reached", above, value)
			}
		}
		s := NewDual(p)
		s.SetBounds(lo, hi)
		if v, _ := s.Solve(1000, math.Inf(-1)); v != Optimal {
			t.Fatalf("it ends with %v", v)
		}
		if above, got := p.UpperBound(p.Cost, s.Weights(), lo, hi), s.Objective(); math.Abs(above-got) > 1e-7 || got < value-1e-7 {
			t.Fatalf("the optimum is %v by the tableau and %v by its weights; %v is reached", got, above, value)
		}
	}
}
