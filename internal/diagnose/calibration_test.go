package diagnose

import (
	"math"
	"testing"

	"kir/internal/testonly/testmode"
)

// TestIACT compares with (1+φ)/(1−φ), the IACT of an AR(1) chain. The estimate
// has a relative standard error of about √(2(2W+1)/S) for a sum that ends at lag
// W (Sokal 1997), which is at most 6 autocorrelation times here: 0.4 % for φ = 0,
// 2.4 % for φ = 0.9. With 4.5 of these, 7 in a million runs fail.
func TestIACT(t *testing.T) {
	for _, phi := range []float64{-0.5, 0, 0.5, 0.9} {
		x := autoregressions(7, 4, 100_000, phi)
		s := Summarize(x)
		got, err := s.IACT, s.ReasonFor("IACT")
		want := (1 + phi) / (1 - phi)
		se := want * math.Sqrt(2*(12*math.Max(1, want)+1)/400_000)
		if err != nil || math.Abs(float64(got)-want) > 4.5*se {
			t.Errorf("φ = %v: %v, %v, want %v ± %v", phi, got, err, want, se)
		}
		if !same(float64(got)*float64(s.ESSMean), 400_000) {
			t.Errorf("φ = %v: IACT × ESS is %v", phi, got*s.ESSMean)
		}
	}
}

// TestStandardErrors runs many sets of chains whose truth is known, and looks at
// the errors in units of their standard errors, for the mean (0), the standard
// deviation (1), the 5 % quantile and the probability of being below it. The mean
// square of n independent normal errors has the standard deviation √(2/n), 7 %
// for 400. Standard errors that are estimated themselves, the worst of them to
// within 20 % (from some 50 effective draws in the tail), make it a little more
// than 1, say 1.1. Outside 0.75..1.4 is at least 3.6 standard deviations away:
// less than 4 in 10,000 runs for each of the 12.
func TestStandardErrors(t *testing.T) {
	const runs = 400
	q5 := -1.6448536269514722
	var z Summarizer
	phis := []float64{0.6, 0, 0.9}
	for _, phi := range phis[:testmode.Pick(3, 1)] {
		var squares [4]float64
		for run := range runs {
			x := autoregressions(uint64(1000+run), 4, int(500/(1-phi)), phi)
			s := z.Draws(x)
			h := []*Histogram{}
			for _, chain := range x {
				c := NewHistogram(2, 1)
				for _, v := range chain {
					below := 0
					if v < q5 {
						below = 1
					}
					c.Add(below)
				}
				h = append(h, c)
			}
			shares, err := Shares(h)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range []float64{
				float64(s.Mean) / float64(s.MCSEMean),
				float64((s.SD - 1)) / float64(s.MCSESD),
				(float64(s.Q5) - q5) / float64(s.MCSEQ5),
				(shares[1].Probability - 0.05) / shares[1].MCSE,
			} {
				squares[i] += e * e / runs
			}
		}
		t.Logf("φ = %v: mean square of the errors of mean, sd, quantile and probability: %.2f", phi, squares)
		for i, s := range squares {
			if !(s > 0.75 && s < 1.4) {
				t.Errorf("φ = %v: mean square %d is %v", phi, i, s)
			}
		}
	}
}

// TestRHatSees looks for chains that differ in location or in scale only.
func TestRHatSees(t *testing.T) {
	for _, test := range []struct {
		name         string
		shift, scale float64
		bulk, folded bool
	}{
		{"alike", 0, 1, false, false},
		{"one shifted", 0.5, 1, true, false},
		{"one wider", 0, 1.5, false, true},
	} {
		x := autoregressions(8, 4, 2000, 0.3)
		for i := range x[0] {
			x[0][i] = x[0][i]*test.scale + test.shift
		}
		s := Summarize(x)
		if (s.RHatBulk > 1.01) != test.bulk || (s.RHatFolded > 1.01) != test.folded || float64(s.RHat) != math.Max(float64(s.RHatBulk), float64(s.RHatFolded)) {
			t.Errorf("%s: R-hat %v, bulk %v, folded %v", test.name, s.RHat, s.RHatBulk, s.RHatFolded)
		}
	}
}
