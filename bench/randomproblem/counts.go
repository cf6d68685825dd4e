package randomproblem

import (
	"encoding/json"
	"math"
	"math/big"

	"kir/internal/report/assemble"

	"gonum.org/v1/gonum/stat/distuv"
)

// counts holds what kir check --json says of the sizes against the enumeration. It
// returns |X_n| as kir has it where that is an estimate, else nil.
func (c *checker) counts(e *Enumeration) (sizes []float64, err error) {
	check, err := assemble.Check(c.read)
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
		c.uncounted = true
		estimates[size.N] = counted * size.Share.Estimate
		if size.Share.SE == 0 { // each was looked at
			if math.Abs(estimates[size.N]-truth) > 1e-9*truth {
				c.fault("n = %d: the share is said to be %v without an error, and is %v", size.N, size.Share.Estimate, truth/counted)
			}
			estimates[size.N] = truth
			continue
		}
		c.measured = true
		c.out.Measured++
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

// shareDegrees are the degrees of freedom of the standard error of a measured
// share: package volume takes it from 32 groups.
const shareDegrees = 31

// share tests a measured share of the compositions that are counted. Its logarithm
// is a mean of independent groups, so that its error follows Student's law, about.
func (c *checker) share(n int, truth, estimate, se float64) {
	t := math.Log(estimate/truth) * estimate / se
	p := 2 * distuv.StudentsT{Sigma: 1, Nu: shareDegrees}.CDF(-math.Abs(t))
	if !(p >= small) {
		c.fault("n = %d: the share is said to be %v ± %v, and is %v (p = %.2g)", n, estimate, se, truth, p)
	}
}
