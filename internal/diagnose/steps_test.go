package diagnose

import (
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/testmode"
)

// TestStatedQuantileNextToAStep looks at quantiles of laws in steps, of which one lies
// from 0 to 6 standard errors of a share beside the quantile: the errors that are stated
// hold the truth as often as normal ones, at 2 of them and at 3, and an error of 0 is
// never wrong. With an error of 0 wherever 2 errors on either side hold no other draw,
// 49 of these 20,000 runs stated 0 and were wrong: one in 408, and one in 211 of those
// that stated 0.
//
// Each run is 4 chains of 100 independent draws. Where z errors hold what they do of a
// normal law, the number of runs beyond them is binomial. Above its mean by 4.5 of its
// standard deviations: 3 in a million. An error of 0 may be wrong in 3 of 10 million runs,
// so that one of these is by chance in 6 of 1,000 tests.
func TestStatedQuantileNextToAStep(t *testing.T) {
	const draws = 400
	runs := testmode.Pick(20_000, 4000)
	r := rand.New(rand.NewPCG(16, 3))
	var z Summarizer
	certain, wrong, stated := 0, 0, 0
	beyondOf := map[float64]int{2: 0, 3: 0}
	for range runs {
		p := []float64{0.05, 0.5, 0.95}[r.IntN(3)]
		// The values are 0 to 3, and the share of those up to 1 is next to p.
		step := p + (1-2*float64(r.IntN(2)))*6*r.Float64()*math.Sqrt(p*(1-p)/draws)
		step = min(max(step, 0.01), 0.99)
		shares := [4]float64{step * 0.3, step, step + (1-step)*0.5, 1} // of those up to each value
		chains := make([][]float64, 4)
		for c := range chains {
			for range draws / 4 {
				u, v := r.Float64(), 0
				for u > shares[v] {
					v++
				}
				chains[c] = append(chains[c], float64(v))
			}
		}
		truth := 0
		for shares[truth] < p {
			truth++
		}
		s := z.Draws(chains)
		q, se := s.Median, s.SEMedian
		switch p {
		case 0.05:
			q, se = s.Q5, s.SEQ5
		case 0.95:
			q, se = s.Q95, s.SEQ95
		}
		if math.IsNaN(float64(se)) {
			continue
		}
		stated++
		off := math.Abs(float64(q) - float64(truth))
		if se == 0 {
			if certain++; off > 0 {
				wrong++
			}
			continue
		}
		for errors := range beyondOf {
			if off > errors*float64(se)*(1+1e-9) {
				beyondOf[errors]++
			}
		}
	}
	t.Logf("%d errors are stated, %d of them 0, %d of these wrong; beyond 2 and 3 of them: %v", stated, certain, wrong, beyondOf)
	if stated < runs*9/10 || certain < runs/40 {
		t.Errorf("of %d runs %d state an error, %d of them 0: these are too few to tell", runs, stated, certain)
	}
	if wrong > 0 {
		t.Errorf("an error of 0 is wrong %d times of %d", wrong, certain)
	}
	for errors, n := range beyondOf {
		mean := float64(stated) * 2 * normalCDF(-errors)
		if most := mean + 4.5*math.Sqrt(mean); float64(n) > most {
			t.Errorf("%d of %d are more than %v stated errors off, at most %.0f are by chance", n, stated, errors, most)
		}
	}
}
