package diagnose_test

import (
	"fmt"
	"math/rand/v2"

	"kir/internal/diagnose"
)

// walk returns n draws of a chain that keeps nine tenths of its last value.
func walk(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]float64, n)
	for i := 1; i < n; i++ {
		x[i] = 0.9*x[i-1] + r.NormFloat64()
	}
	return x
}

func ExampleSummarize() {
	s := diagnose.Summarize([][]float64{walk(1, 10_000), walk(2, 10_000)})
	fmt.Printf("mean %.2f ± %.2f, R-hat %.3f, bulk ESS %.0f, IACT %.0f\n", s.Mean, s.MCSEMean, s.RHat, s.ESSBulk, s.IACT)

	s = diagnose.Summarize([][]float64{make([]float64, 100), make([]float64, 100)})
	fmt.Println(s.RHat, "because", s.ReasonFor("RHat"))
	// Output:
	// mean -0.05 ± 0.07, R-hat 1.001, bulk ESS 1051, IACT 19
	// NaN because all draws are equal
}

func ExampleSeries() {
	chains := []*diagnose.Series{diagnose.NewSeries(1000, 2), diagnose.NewSeries(1000, 2)}
	for c, s := range chains {
		for _, x := range walk(uint64(c+1), 100_000) {
			s.Add(x)
		}
	}
	var z diagnose.Summarizer
	s := z.Series(chains)
	fmt.Printf("mean %.2f ± %.2f of all draws\n", s.Mean, s.MCSEMean)
	fmt.Printf("R-hat %.2f of every %d-th\n", s.RHat, s.Stride)
	// Output:
	// mean 0.00 ± 0.02 of all draws
	// R-hat 1.00 of every 128-th
}

func ExamplePresence() {
	p := diagnose.NewPresence(3, 1)
	for draw := range 200 {
		p.Next()
		p.Add(0, 40) // 40 units of ingredient 0 in all draws
		if draw < 50 {
			p.Add(1, 60)
		} else {
			p.Add(2, 60)
		}
	}
	inclusions, err := diagnose.Inclusions([]*diagnose.Presence{p})
	if err != nil {
		panic(err)
	}
	for i, x := range inclusions {
		fmt.Printf("ingredient %d: %.2f ± %.2f, %v units; %v\n", i, x.Probability, x.MCSE, x.MeanAmount, x.Err)
	}
	// Output:
	// ingredient 0: 1.00 ± NaN, 40 units; all draws are equal
	// ingredient 1: 0.25 ± 0.28, 60 units; <nil>
	// ingredient 2: 0.75 ± 0.28, 60 units; <nil>
}
