package randomproblem

import (
	"encoding/json"
	"math"
	"math/big"

	"kir/internal/stattest"
	"kir/report/build"
)

// counts holds what kir check --json says of the sizes against the enumeration. It
// returns |X_n| as kir has it where that is an estimate, else nil.
func (c *checker) counts(e *Enumeration) (sizes []float64, err error) {
	check, err := build.Check(c.read)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(check)
	if err != nil {
		return nil, err
	}
	var said struct {
		Sizes []struct {
			N            int      `json:"n"`
			Target       float64  `json:"target"`
			Compositions *big.Int `json:"compositions"`
			Share        *struct {
				Estimate float64 `json:"estimate"`
				SE       float64 `json:"se"`
			} `json:"share"`
		} `json:"sizes"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, err
	}
	seen := make([]bool, len(e.Sizes))
	estimates := make([]float64, len(e.Sizes))
	for _, size := range said.Sizes {
		if size.N >= len(e.Law) || e.Law[size.N] == 0 {
			c.fault("n = %d has the mass %v, and nothing keeps the rules", size.N, size.Target)
			continue
		}
		seen[size.N] = true
		if math.Abs(size.Target-e.Law[size.N]) > 1e-12 {
			c.fault("n = %d has the mass %v, and should have %v", size.N, size.Target, e.Law[size.N])
		}
		if size.Compositions == nil {
			c.fault("n = %d has no count", size.N)
			continue
		}
		counted, _ := new(big.Float).SetInt(size.Compositions).Float64()
		truth := float64(e.Sizes[size.N])
		if size.Share == nil {
			if counted != truth {
				c.fault("n = %d: %v compositions, and there are %v", size.N, size.Compositions, truth)
			}
			estimates[size.N] = truth
			continue
		}
		c.measured = true
		estimates[size.N] = counted * size.Share.Estimate
		c.share(size.N, truth/counted, size.Share.Estimate, size.Share.SE)
	}
	for n, mass := range e.Law {
		if mass > 0 && !seen[n] {
			c.fault("n = %d is left out, and has %d compositions", n, e.Sizes[n])
		}
	}
	if c.measured {
		return estimates, nil
	}
	return nil, nil
}

// share tests the share of the counted compositions that keeps all rules: one
// without an error must be right, and the draws of an estimated one follow from its
// standard error, √(s(1−s)/draws); they end at 10,000 that passed, so that the tail
// of few draws is the binomial one of many that passed.
func (c *checker) share(n int, truth, estimate, se float64) {
	switch {
	case truth > 1:
		c.fault("n = %d: more compositions than are counted", n)
		return
	case se == 0 && estimate == 1:
		if math.Pow(truth, 10_000) < small {
			c.fault("n = %d: the share is said to be 1, and is %v", n, truth)
		}
		return
	case se == 0: // counted by looking at every composition
		if math.Abs(estimate-truth) > 1e-12*truth {
			c.fault("n = %d: the share is said to be %v without an error, and is %v", n, estimate, truth)
		}
		return
	}
	draws := int(math.Round(estimate * (1 - estimate) / (se * se)))
	passed := int(math.Round(estimate * float64(draws)))
	if p, _ := stattest.Follows([]int{passed, draws - passed}, []float64{truth, 1 - truth}); p < small {
		c.fault("n = %d: the share is said to be %v ± %v, and is %v (p = %.2g)", n, estimate, se, truth, p)
	}
}
