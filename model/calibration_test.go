package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/testmode"
)

// TestCalibrationCovers: of parameters drawn from the law that is assumed, with rows drawn
// by them, 90 % of the intervals hold the probability, at any probability that the forest
// gives, and its mean is the mean of the stated ones. Bayes' rule says so of any
// number of rows. (4 standard errors of a share of 0.9 are 0.06 over 400 books, and 0.076 over
// the 250 of the short form; a false alarm of one of the 8 comparisons has a probability of
// 5·10⁻⁴. 0.02 more are for the grid, and for q, which is taken from the rows.)
func TestCalibrationCovers(t *testing.T) {
	books := testmode.Pick(400.0, 250)
	r := rand.New(rand.NewPCG(9, 1))
	given := []float64{0.05, 0.5, 0.9, 0.995}
	held, told, is := make([]float64, len(given)), make([]float64, len(given)), make([]float64, len(given))
	var squares [4]float64
	for range int(books) {
		n := 20 + r.IntN(60)
		p, came := make([]float64, n), make([]bool, n)
		centre := 0.0
		for k := range p {
			p[k] = r.Float64()
			centre += logOdds(min(max(p[k], 0.005), 0.995)) / float64(n)
		}
		// The base is a figure of the rows: it is drawn, and then kept as it comes out.
		a, b, lapse := (2*r.Float64()-1)*1.5, 0.0, lapseStep*float64(r.IntN(4))
		if r.Float64() >= zeroSlopePrior {
			b = math.Abs(r.NormFloat64())
		}
		base := 1 / (1 + math.Exp(-a))
		of := func(p float64) float64 {
			return lapse*base + (1-lapse)/(1+math.Exp(-a-b*(logOdds(min(max(p, 0.005), 0.995))-centre)))
		}
		for k := range p {
			came[k] = r.Float64() < of(p[k])
		}
		c := Calibrate(p, came, 100)
		for k, g := range given {
			q := c.Chance(g)
			if q.Low > q.Value || q.Value > q.High || math.Abs(q.Value-c.Value(g)) > 1e-12 {
				t.Fatalf("at %v it is %+v", g, q)
			}
			if truth := of(g); q.Low <= truth && truth <= q.High {
				held[k]++
			}
			told[k] += q.Value
			is[k] += of(g)
			squares[k] += (q.Value - of(g)) * (q.Value - of(g))
		}
	}
	for k, g := range given {
		if share := held[k] / books; math.Abs(share-0.9) > 4*math.Sqrt(0.09/books)+0.02 {
			t.Errorf("at %v the interval holds the probability in %.3f of the books", g, share)
		}
		if off := (told[k] - is[k]) / books; math.Abs(off) > 4*math.Sqrt(squares[k])/books+0.02 {
			t.Errorf("at %v it tells %.3f on average, and the probability is %.3f", g, told[k]/books, is[k]/books)
		}
		t.Logf("at %v: holds %.3f, tells %.3f, is %.3f", g, held[k]/books, told[k]/books, is[k]/books)
	}
}

// TestCalibration: what no row shows is near the share of all, what rows show is found, and
// it rises with the probability that the forest gives.
func TestCalibration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	rows := func(n int, truth func(p float64) float64) (p []float64, came []bool) {
		for range n {
			v := r.Float64()
			p, came = append(p, v), append(came, r.Float64() < truth(v))
		}
		return p, came
	}
	for _, c := range []struct {
		name  string
		n     int
		truth func(p float64) float64
		at    float64
		low   float64 // of the value
		high  float64
		wide  float64 // the interval at most
	}{
		{"noise", 60, func(float64) float64 { return 0.4 }, 0.98, 0.3, 0.7, 0.5},
		{"much noise", 20_000, func(float64) float64 { return 0.4 }, 0.98, 0.38, 0.44, 0.1},
		{"as it says", 20_000, func(p float64) float64 { return p }, 0.9, 0.88, 0.92, 0.05},
		{"too sure", 20_000, func(p float64) float64 { return 0.3 + 0.4*p }, 0.98, 0.62, 0.76, 0.1},
		{"too modest", 20_000, func(p float64) float64 { return 1 / (1 + math.Exp(-3*logOdds(p))) }, 0.7, 0.88, 0.96, 0.05},
		{"few rows", 3, func(float64) float64 { return 1 }, 0.98, 0.5, 0.95, 0.7},
		{"all of many", 500, func(float64) float64 { return 1 }, 0.98, 0.98, 1, 0.02},
	} {
		p, came := rows(c.n, c.truth)
		of := Calibrate(p, came, 100)
		q := of.Chance(c.at)
		if q.Value < c.low || q.Value > c.high || q.High-q.Low > c.wide || q.Low < 0 || q.High > 1 {
			t.Errorf("%s: at %v it is %+v", c.name, c.at, q)
		}
		for v, last := 0.0, 0.0; v <= 1; v += 0.05 {
			now := of.Value(v)
			if now < last-1e-12 {
				t.Errorf("%s: it falls to %v at %v", c.name, now, v)
			}
			last = now
		}
		if n, k := of.rows, of.occurrences; n != c.n || k > n {
			t.Errorf("%s: %d of %d rows", c.name, k, n)
		}
	}
	nan := math.NaN()
	if c := Calibrate([]float64{nan, nan}, []bool{true, false}, 100); c != nil {
		t.Errorf("of no rows it is %+v", c)
	}
	a, b := Calibrate([]float64{0.2, nan, 0.7}, []bool{false, true, true}, 100), Calibrate([]float64{0.7, 0.2}, []bool{true, false}, 100)
	if a.Chance(0.6) != b.Chance(0.6) {
		t.Error("rows that no tree left out count, or their order does")
	}
}

// The curve that chains ask is the calibration to a thousandth, does not fall, and is
// a probability beyond the last votes, too.
func TestCurve(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, rows := range []int{1, 8, 60, 900} {
		var stated []float64
		var came []bool
		for range rows {
			p := random.Float64()
			stated, came = append(stated, p), append(came, random.Float64() < p*p)
		}
		c := Calibrate(stated, came, 100)
		v, last := c.newCurve(), 0.0
		for k := range 2001 {
			p := float64(k) / 2000
			y := v.chanceAt(p)
			if math.Abs(y-c.Value(p)) > 1e-3 || y < last || !(y > 0 && y < 1) {
				t.Fatalf("%d rows: at %v the curve is %v after %v, the calibration %v", rows, p, y, last, c.Value(p))
			}
			last = y
		}
	}
	if y := (*calibrationCurve)(nil).chanceAt(0.3); y != 0.3 {
		t.Errorf("without a calibration 0.3 is taken for %v", y)
	}
}
