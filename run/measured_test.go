package run

import (
	"math"
	"testing"

	"kir"
	"kir/internal/stattest"
)

// TestLawErrors measures the |X_n| of a limit with many seeds and holds the law of
// n that chains then sample, y(n)·|X_n| over the measured one, against the law
// wanted. The mean square of 200 independent errors in units of their standard
// error is 1 ± √(2/200) = 1 ± 0.1, so that outside of 1 ± 0.45 one of the three
// sizes is in 2 of 100,000 runs. Errors that are too small by √2 make it 2.
func TestLawErrors(t *testing.T) {
	const (
		ingredients, total = 6, 12
		seeds              = 200
	)
	limit := kir.Limit{Factors: []float64{0, 1, 2, 3, 4, 5}, Min: 1.5, Max: math.Inf(1)}
	exact := make([]float64, 4)
	for x := range stattest.Compositions(ingredients, total) {
		sum, n := 0, 0
		for i, units := range x {
			sum += i * units
			if units > 0 {
				n++
			}
		}
		if n < len(exact) && float64(sum) >= limit.Min*total {
			exact[n]++
		}
	}
	wanted := []float64{0, 0.2, 0.5, 0.3}
	squares := make([]float64, len(wanted))
	for seed := range uint64(seeds) {
		space, err := kir.NewRuledSpace(t.Context(), ingredients, total, kir.Rules{Limits: []kir.Limit{limit}, Seed: seed}, 3)
		if err != nil {
			t.Fatal(err)
		}
		counts := space.LogCounts(3)
		sampled, sum := make([]float64, len(wanted)), 0.0
		for n := 1; n < len(wanted); n++ {
			sampled[n] = wanted[n] * exact[n] / math.Exp(counts[n])
			sum += sampled[n]
		}
		for n := range sampled {
			sampled[n] /= sum
		}
		for n, se := range lawErrors(sampled, space.Shares()) {
			if n > 0 {
				z := (sampled[n] - wanted[n]) / se
				squares[n] += z * z / seeds
			}
		}
	}
	t.Logf("mean squares %.2f", squares[1:])
	for n, square := range squares[1:] {
		if math.Abs(square-1) > 0.45 {
			t.Errorf("n = %d: the mean square is %.2f", n+1, square)
		}
		if math.Abs(2*square-1) < 0.45 {
			t.Errorf("n = %d: errors that are too small by √2 are not seen", n+1)
		}
	}
	for n, se := range lawErrors(wanted, nil) {
		if se != 0 {
			t.Errorf("n = %d: an exact law is off by %v", n, se)
		}
	}
}
