package report

import (
	"math/big"

	"kir/internal/run"
	"kir/mcmc"
)

// A Check is the report on a problem before it is sampled.
type Check struct {
	Problem      Problem       `json:"problem"`
	Sampler      mcmc.Settings `json:"sampler"`
	Sizes        []SpaceSize   `json:"sizes"`              // description of the compositions with each number of ingredients that the sparsity law allows
	WhyUntabled  string        `json:"untabled,omitempty"` // reason why the numbers of compositions do not take all rules into account; the share of compositions that keep the remaining rules is estimated
	Compositions *big.Int      `json:"compositions"`       // number of compositions with positive probability; nil if the number is unknown for some number of ingredients
	Properties   []Property    `json:"properties"`
	Kernel       run.Advice    `json:"kernel"` // recommended kernel (sampling algorithm)
	Warnings     []string      `json:"warnings"`
}

// A SpaceSize describes the compositions with one number N of ingredients.
type SpaceSize struct {
	N            int                      `json:"n"`               // number of ingredients
	Target       Number                   `json:"target"`          // probability of N in the sparsity law
	Compositions *big.Int                 `json:"compositions"`    // number of compositions with N ingredients that keep all rules that can be counted; nil if the number has too many digits
	Share        *mcmc.UncountedRuleShare `json:"share,omitempty"` // estimated share of the counted compositions that keep the rules which cannot be counted, too; nil if all rules can be counted
}
