package paper

import (
	"math"

	"kir/mcmc"
)

// Kernels of the experiments, as they are named in the report.
const (
	KernelNaive       = "naive"       // candidates uniform on X
	KernelGibbs       = "gibbs"       // a split of any pair
	KernelAccelerated = "accelerated" // Algorithm 2
)

// A Setting is one size of the paper's experiments on laws of n alone
// (§5.1): a space, the targets on it, and how long each sequence is.
type Setting struct {
	Name       string // "small" or "large"
	N, Total   int
	Iterations int // of a sequence, T in the paper
	Discarded  int // of these, the first
	Targets    []LawTarget
}

// A LawTarget is a law of n that is sampled.
type LawTarget struct {
	Name    string // such as "small a": unique among all settings
	Law     mcmc.Sparsity
	Formula string // the law in words and signs
}

// Settings returns the paper's two settings. Where it gives no formula that we
// could read, the target's Formula says what was taken.
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

// Target returns the target of a law in a setting.
func (s *Setting) Target(l LawTarget) (*mcmc.Target, error) {
	space, err := mcmc.NewSpace(s.N, s.Total)
	if err != nil {
		return nil, err
	}
	return mcmc.NewTarget(space, l.Law)
}

// formula returns the law of a target of the settings, in words and signs.
func formula(target string) string {
	for _, s := range Settings() {
		for _, l := range s.Targets {
			if l.Name == target {
				return l.Formula
			}
		}
	}
	return ""
}
