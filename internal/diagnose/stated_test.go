package diagnose

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// TestWidening compares with the quantiles of the t laws that have a closed form:
// tan(π(p−½)) for one degree of freedom, (2p−1)/√(2p(1−p)) for two, and
// 2√(cos(arccos(√a)/3)/√a − 1) with a = 4p(1−p) for four (Shaw 2006).
func TestWidening(t *testing.T) {
	p := normalCDF(2)
	a := 4 * p * (1 - p)
	for _, test := range []struct{ freedom, want float64 }{
		{1, math.Tan(math.Pi*(p-0.5)) / 2},
		{2, (2*p - 1) / math.Sqrt(2*p*(1-p)) / 2},
		{4, math.Sqrt(math.Cos(math.Acos(math.Sqrt(a))/3)/math.Sqrt(a) - 1)},
		{1e9, 1},
	} {
		if got := wideningFactor(test.freedom); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%v degrees of freedom: %v, want %v", test.freedom, got, test.want)
		}
	}
}

// TestStatedOfManyDraws shows that the errors to state are those of the literature
// where there are many effective draws.
func TestStatedOfManyDraws(t *testing.T) {
	s := Summarize(autoregressions(3, 4, 50_000, 0.3))
	for _, of := range []struct {
		name         string
		stated, mcse float64
	}{{"mean", float64(s.SEMean), float64(s.MCSEMean)}, {"q5", float64(s.SEQ5), float64(s.MCSEQ5)}, {"median", float64(s.SEMedian), float64(s.MCSEMedian)}, {"q95", float64(s.SEQ95), float64(s.MCSEQ95)}} {
		if ratio := of.stated / of.mcse; !(ratio > 0.93 && ratio < 1.12) {
			t.Errorf("%s: %v, where the MCSE is %v", of.name, of.stated, of.mcse)
		}
	}
	p := Proportion{Probability: 0.3, MCSE: math.Sqrt(0.21 / 1e5), ESS: 1e5, visitCount: 1000, degreesOfFreedom: 2e4, chainCount: 4}
	if se, err := p.StatedError(1e4); err != nil || math.Abs(se/p.MCSE-1) > 1e-3 {
		t.Errorf("a share: %v, %v, where the MCSE is %v", se, err, p.MCSE)
	}
}

// TestStatedOfFewDraws looks at when errors grow, and when they are unknown.
func TestStatedOfFewDraws(t *testing.T) {
	rare := Proportion{Probability: 0.01, ESS: 500, visitCount: 5, degreesOfFreedom: 100, chainCount: 4}
	alone, err := rare.StatedError(math.Inf(1))
	if mcse := math.Sqrt(0.01 * 0.99 / 500); err != nil || !(alone > 1.2*mcse) {
		t.Errorf("5 effective hits: %v, %v, where the MCSE is %v", alone, err, mcse)
	}
	if slow, err := rare.StatedError(50); err != nil || !(slow > 1.5*alone) {
		t.Errorf("5 effective hits beside something slow: %v, %v, %v by itself", slow, err, alone)
	}
	if _, err := rare.StatedError(39); !errors.Is(err, ErrFewEffective) {
		t.Errorf("beside what is worth 39 draws of 4 chains: %v", err)
	}
	rare.visitCount = 2
	if se, err := rare.StatedError(500); !errors.Is(err, ErrFewVisits) || !math.IsNaN(se) {
		t.Errorf("two visits: %v, %v", se, err)
	}
	if se, err := (Proportion{Err: ErrConstant}).StatedError(500); !errors.Is(err, ErrConstant) || !math.IsNaN(se) {
		t.Errorf("no hit: %v, %v", se, err)
	}

	s := Summarize(autoregressions(5, 4, 200, 0.98))
	for _, figure := range []string{"SEMean", "SEMedian"} {
		if err := s.ReasonFor(figure); !errors.Is(err, ErrFewEffective) {
			t.Errorf("%s of %.0f effective draws: %v", figure, s.ESSMean, err)
		}
	}
}

// TestStatedQuantileOfSteps looks at quantiles of integers. The one that is the
// largest value has no ESS by itself, and what lies below it tells its error.
func TestStatedQuantileOfSteps(t *testing.T) {
	x := autoregressions(9, 4, 2000, 0.5)
	for _, c := range x {
		for i, v := range c {
			c[i] = 0
			if v > 0 {
				c[i] = 1
			}
		}
	}
	s := Summarize(x)
	if !errors.Is(s.ReasonFor("MCSEQ95"), ErrConstantTail) || s.SEQ95 != 0 || s.SEQ5 != 0 || s.Q95 != 1 {
		t.Errorf("half are 1: the 95 %% quantile is %v ± %v (MCSE: %v), the 5 %% quantile %v ± %v", s.Q95, s.SEQ95, s.ReasonFor("MCSEQ95"), s.Q5, s.SEQ5)
	}
	// The median of as many zeros as ones may be either.
	if s.SEMedian != 0.5 {
		t.Errorf("the median of as many zeros as ones is %v ± %v", s.Median, s.SEMedian)
	}
}

// TestStatedFormulas works errors out by hand, of a mean and of shares.
func TestStatedFormulas(t *testing.T) {
	// One in five: the skewness is 0.6/0.4, and the kurtosis 1 + 1.5².
	s := &sample{allDraws: []float64{0, 0, 7, 0, 0}}
	if got, want := s.statedErrorOfMean(0.3, 18, 24), wideningFactor(1/(1./24+2.25/36))*0.3*math.Sqrt(1+2.25/18); !same(got, want) {
		t.Errorf("a mean: %v, want %v", got, want)
	}
	for _, of := range []struct {
		share              Proportion
		slowest            float64
		ess, hits, freedom float64 // hits of ess + 2 with one more of each
	}{
		{Proportion{Probability: 0.3, ESS: 60, visitCount: 3, degreesOfFreedom: 25, chainCount: 4}, 45, 45, 14.5, 14.5 / 47 * 45},     // 18 effective hits
		{Proportion{Probability: 0.3, ESS: 200, visitCount: 3, degreesOfFreedom: 25, chainCount: 4}, 45, 135, 41.5, 25},               // 60, three times as many as are enough
		{Proportion{Probability: 0.9, ESS: 60, visitCount: 3, degreesOfFreedom: 25, chainCount: 4}, math.Inf(1), 60, 7, 7. / 62 * 60}, // of the misses
	} {
		q := of.hits / (of.ess + 2)
		want := wideningFactor(of.freedom) * math.Sqrt(q*(1-q)/of.ess)
		if got, err := of.share.StatedError(of.slowest); err != nil || !same(got, want) {
			t.Errorf("%+v: %v, %v, want %v", of.share, got, err, want)
		}
	}
}

// TestStatedQuantileOfUniform finds the points where the law of the quantile of
// uniform draws has Φ(±2w): I_x(a, b) is the probability that of a+b−1 draws at least
// a are below x.
func TestStatedQuantileOfUniform(t *testing.T) {
	const n = 10_000
	chain := make([]float64, n)
	for i := range chain {
		chain[i] = float64(i*37%n) / n
	}
	s := new(sample)
	if err := s.loadChains([][]float64{chain}); err != nil {
		t.Fatal(err)
	}
	for _, freedom := range []float64{1e9, 4} {
		for _, p := range []float64{0.25, 0.75} {
			got, err := s.statedErrorOfQuantile(p, 40, freedom)
			if err != nil {
				t.Fatal(err)
			}
			side := 1.0 // the further point lies towards the middle
			if p > 0.5 {
				side = -1
			}
			point := s.quantile(p) + side*2*got
			// Of 41 uniform draws more than 40p lie below the point.
			below := 1 - mathext.RegIncBeta(41-40*p, 40*p+1, 1-point)
			if want := normalCDF(side * 2 * wideningFactor(freedom)); math.Abs(below-want) > 1e-3 {
				t.Errorf("p = %v, %v degrees of freedom: the further point is at %v of the quantile's law, want %v", p, freedom, below, want)
			}
		}
	}
	for ess, enough := range map[float64]bool{11.9: false, 12: true} { // a quarter of them lies beyond
		if _, err := s.statedErrorOfQuantile(0.75, ess, 10); (err == nil) != enough {
			t.Errorf("%v effective draws: %v", ess, err)
		}
	}
}

// TestVisits counts them, of one draw a batch and of more.
func TestVisits(t *testing.T) {
	for _, test := range []struct {
		most  int // batches
		draws string
		want  visitCounts
	}{
		{16, "..........", visitCounts{0, 1}},
		{16, "xxxxxxxxxx", visitCounts{1, 0}},
		{16, "..xxx..x..", visitCounts{2, 3}},
		{16, "xxxx.....x", visitCounts{2, 1}},
		{2, "xxx", visitCounts{1, 0}}, // the last batch is not full
		{2, "...", visitCounts{0, 1}},
		{4, "xxx.x", visitCounts{2, 1}},
	} {
		p := NewPresence(1, 1)
		p.maxBatches = test.most
		for _, d := range test.draws {
			p.Next()
			if d == 'x' {
				p.Add(0, 1)
			}
		}
		if present, got := p.visitCountsOf(0); int(present) != strings.Count(test.draws, "x") || got != test.want {
			t.Errorf("%s: %d, %+v, want %+v", test.draws, present, got, test.want)
		}
	}
}
