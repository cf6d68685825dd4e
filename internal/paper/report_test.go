package paper

import (
	"math"
	"testing"
)

// A row's z, also where all sequences agree.
func TestRowZ(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		exact float64
		rates []float64
		want  float64
	}{
		// Mean 0.5, sd √(1/150), standard error √(1/600).
		{"apart", 0.45, []float64{0.4, 0.6, 0.5, 0.5}, 0.05 * math.Sqrt(600)},
		{"never, and next to never", 1e-90, []float64{0, 0, 0, 0}, -1e-90 / math.Sqrt(1e-90/400)},
		{"always, by definition", 1, []float64{1, 1, 1, 1}, 0},
		// None of 400 where half was due: the standard error is 1/40.
		{"never, though likely", 0.5, []float64{0, 0, 0, 0}, -20},
		{"once where it cannot be", 1, []float64{0.99, 0.99, 0.99, 0.99}, -0.01 * 400},
	} {
		row := newRow("t", "k", Accepted, c.exact, c.rates, 100)
		if math.Abs(row.Z-c.want) > 1e-9*math.Max(1e-30, math.Abs(c.want)) {
			t.Errorf("%s: z is %v, want %v", c.name, row.Z, c.want)
		}
	}
}
