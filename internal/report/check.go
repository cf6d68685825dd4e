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
	Untabled     string        `json:"untabled,omitempty"` // why some rules are measured or looked at, and not counted by a table
	Compositions *big.Int      `json:"compositions"`       // of the sizes with mass, all together; nil if that of one is
	Properties   []Property    `json:"properties"`
	Kernel       run.Advice    `json:"kernel"`
	Warnings     []string      `json:"warnings"`
}

// A SpaceSize is one number of ingredients that the sparsity law allows.
type SpaceSize struct {
	N            int         `json:"n"`
	Target       Number      `json:"target"`
	Compositions *big.Int    `json:"compositions"` // that keep every rule that can be counted; nil beyond mostBits
	Share        *mcmc.Share `json:"share,omitempty"`
}
