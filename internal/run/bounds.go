package run

import (
	"fmt"

	"kir/mcmc"
)

// Limits on the size of a run. The limits far exceed what anyone would wait for or read. Their
// purpose is to catch typing errors.
const (
	maxFiles       = 2_000_000 // largest number of files of draws
	maxDrawBytes   = 16 << 40  // largest total size of the files of draws, in bytes
	maxMemoryBytes = 16 << 30  // largest number of bytes in memory for statistics of each ingredient and for the draws that are not stored yet
)

// A BoundsError is returned for a run that would exceed the size limits of all runs.
type BoundsError struct{ Message string }

func (e *BoundsError) Error() string { return e.Message }

// checkBounds estimates the size of the run. It returns a [BoundsError] if the run would be too
// large.
func (s *Spec) checkBounds() error {
	c, n := s.Settings, float64(s.Target.Space().N())
	used := 0.0 // ingredients of a draw, on average
	lo, hi := s.Target.Law().Support()
	for k := lo; k <= hi; k++ {
		used += float64(float64(k) * s.Target.Law().P(k))
	}
	chains, draws := float64(c.Chains), float64(c.Draws)
	held := 0.0 // bytes in memory
	if c.Draws == mcmc.AutoDraws {
		draws = float64(maxBufferedDraws(s))
		held = float64(chains * draws * float64(8*float64(2+float64(len(s.Target.Objectives()))+used)))
	}
	// A draw takes 8 bytes a number, and 2 or 3 for an ingredient and its amount.
	bytes := float64(chains * draws * (12 + float64(8*float64(1+len(s.Target.Objectives()))) + float64(2.5*used)))
	files := float64(chains * (2 + draws/min(minDrawsOfFullPart, minIngredientsOfFullPart/used)))
	// An ingredient takes a sum and two batches of at least 4 bytes in each chain.
	memory := float64(chains*12*n) + held
	asked := fmt.Sprintf("%d chains of %.0f draws", c.Chains, draws)
	const lower = "lower the number of chains or of draws, or keep fewer with a larger thin"
	switch {
	case files > maxFiles:
		return &BoundsError{fmt.Sprintf("%s would be about %.2g files, and a run has at most %d: %s", asked, files, maxFiles, lower)}
	case bytes > maxDrawBytes:
		return &BoundsError{fmt.Sprintf("%s would be about %.2g TB, and a run has at most %d: %s", asked, bytes/(1<<40), maxDrawBytes>>40, lower)}
	case memory > maxMemoryBytes:
		return &BoundsError{fmt.Sprintf("the figures of %d chains and %.0f ingredients would take about %.2g GB of memory, and may take %d: lower the number of chains", c.Chains, n, memory/(1<<30), maxMemoryBytes>>30)}
	}
	return nil
}
