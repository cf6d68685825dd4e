package report

import (
	"math/big"

	"kir/internal/run"
	"kir/mcmc"
)

// A Check describes a problem before it is sampled.
type Check struct {
	Problem      Problem       `json:"problem"`
	Sampler      mcmc.Settings `json:"sampler"`
	Sizes        []SpaceSize   `json:"sizes"`
	WhyUntabled  string        `json:"untabled,omitempty"` // reason why no table counts some rules; the share of compositions that keep these rules is estimated
	Compositions *big.Int      `json:"compositions"`       // number of compositions of all sizes with positive probability; nil if the number of one size is unknown
	Properties   []Property    `json:"properties"`
	Kernel       run.Advice    `json:"kernel"`
	Warnings     []string      `json:"warnings"`
}

// A SpaceSize describes the compositions with one number of ingredients that the sparsity law
// allows.
type SpaceSize struct {
	N            int                      `json:"n"`
	Target       Number                   `json:"target"`
	Compositions *big.Int                 `json:"compositions"` // number of compositions that keep all rules that can be counted; nil if it has too many digits
	Share        *mcmc.UncountedRuleShare `json:"share,omitempty"`
}
