package paper

import (
	"math"

	"kir/mcmc"
)

// These constants are the names of the kernels in the report.
const (
	KernelNaive       = "naive"       // candidates are uniform on all compositions
	KernelGibbs       = "gibbs"       // two ingredients, used or not, divide their joint amount anew
	KernelAccelerated = "accelerated" // Algorithm 2 of the paper
)

// A Setting is one size of the paper's experiments on distributions of n (§5.1): the space, the targets on the
// space, and the length of each sequence.
type Setting struct {
	Name       string // "small" or "large"
	N, Total   int    // number of ingredients, and total units
	Iterations int    // iterations of one sequence, T in the paper
	Discarded  int    // number of iterations at the beginning of a sequence that are discarded
	Targets    []LawTarget
}

// A LawTarget is a target without properties. The target is given by the distribution of the number n of
// ingredients; all compositions with the same n are equally probable.
type LawTarget struct {
	Name    string        // name such as "small a", unique among all settings
	Law     mcmc.Sparsity // distribution of n
	Formula string        // formula of the distribution of n, as text
}

// Settings returns the two settings of the paper. If we could not read a formula in the paper, the Formula of
// the target states the formula that is used instead.
func Settings() []Setting {
	return []Setting{
		{
			Name: "small", N: 10, Total: 5, Iterations: 50_000, Discarded: 10_000,
			Targets: []LawTarget{
				{"small a", mcmc.Uniform(2, 5), "uniform on 2 ≤ n ≤ 5"},
				{"small b", mcmc.Normal(3, math.Sqrt2), "∝ exp(−0.25 (n−3)²)"},
			},
		},
		{
			Name: "large", N: 2000, Total: 100, Iterations: 500_000, Discarded: 10_000,
			Targets: []LawTarget{
				{"large a", mcmc.Uniform(17, 24), "uniform on 17 ≤ n ≤ 24"},
				{"large b", mcmc.Normal(20, math.Sqrt2), "∝ exp(−0.25 (n−20)²)"},
				{"large c", mcmc.Mixture(
					mcmc.Component{Weight: 1, Law: mcmc.Normal(15, 1)},
					mcmc.Component{Weight: 2, Law: mcmc.Normal(20, 1)},
				), "∝ exp(−0.5 (n−15)²) + 2 exp(−0.5 (n−20)²)"},
				{"large d", mcmc.Exponential(0.5), "∝ exp(−0.5 n)"},
			},
		},
	}
}

// Target returns the mcmc.Target of a LawTarget in the setting.
func (s *Setting) Target(l LawTarget) (*mcmc.Target, error) {
	space, err := mcmc.NewSpace(s.N, s.Total)
	if err != nil {
		return nil, err
	}
	return mcmc.NewTarget(space, l.Law)
}

// formulaOf returns the formula of the distribution of n, as text, for the target with the given name.
func formulaOf(target string) string {
	for _, s := range Settings() {
		for _, l := range s.Targets {
			if l.Name == target {
				return l.Formula
			}
		}
	}
	return ""
}
