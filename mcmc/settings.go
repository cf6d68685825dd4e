package mcmc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Settings determine which chains run, and for how long. Together with the target they decide every
// draw.
type Settings struct {
	Kernel string `json:"kernel" yaml:"kernel"` // see [KernelNames]; balanced if it is empty
	Chains int    `json:"chains" yaml:"chains"` // 1 to MaxChains
	Warmup int    `json:"warmup" yaml:"warmup"` // iterations of each chain before its draws; with AutoDraws an upper bound
	Draws  int    `json:"draws" yaml:"draws"`   // states kept of each chain, 1 to MaxDraws, or AutoDraws
	Thin   int    `json:"thin" yaml:"thin"`     // iterations from one draw to the next, at least 1
	Seed   uint64 `json:"seed" yaml:"seed"`     // seed of all random choices
}

// AutoDraws as the number of draws lets a run continue until its figures are good enough. Thin then
// follows from the draws, and must be 1 here.
const AutoDraws = -1

// nominalDraws replaces AutoDraws where the length of a run is needed before its end.
const nominalDraws = 100_000

// Bounds of [Settings].
const (
	MaxChains = 100_000
	MaxDraws  = 1<<32 - 1 // greatest number of draws of a chain
	// MaxIterations is the most iterations of a chain, warm-up included: more than can be made in a
	// lifetime.
	MaxIterations = 1 << 53
)

// DefaultSettings returns the default settings.
func DefaultSettings() Settings {
	return Settings{Kernel: "balanced", Chains: 4, Warmup: 10_000, Draws: AutoDraws, Thin: 1, Seed: 1}
}

// A SettingsError names the invalid setting.
type SettingsError struct {
	Setting string // the setting's name, such as chains
	Message string
	Hint    string // which values are valid
}

func (e *SettingsError) Error() string { return e.Message + ": " + e.Hint }

// Check returns a [SettingsError] if the settings are invalid.
func (s *Settings) Check() error {
	if s.Kernel != "" && !slices.Contains(KernelNames(), s.Kernel) {
		return &SettingsError{"kernel", fmt.Sprintf("there is no kernel %q", s.Kernel), "there are " + strings.Join(KernelNames(), ", ")}
	}
	draws := s.Draws
	if draws == AutoDraws {
		draws = 1
	}
	for _, c := range []struct {
		name            string
		value, min, max int
	}{
		{"chains", s.Chains, 1, MaxChains},
		{"warmup", s.Warmup, 0, MaxIterations},
		{"draws", draws, 1, MaxDraws},
		{"thin", s.Thin, 1, MaxIterations},
	} {
		if c.value < c.min {
			return &SettingsError{c.name, fmt.Sprintf("%s is %d", c.name, c.value), fmt.Sprintf("it must be at least %d", c.min)}
		}
		if c.value > c.max {
			return &SettingsError{c.name, fmt.Sprintf("%s is %d", c.name, c.value), fmt.Sprintf("it must be at most %d", c.max)}
		}
	}
	if s.Draws == AutoDraws && s.Thin > 1 {
		return &SettingsError{"thin", fmt.Sprintf("thin is %d and draws is auto, which chooses thin", s.Thin), "leave thin out, or give a number of draws"}
	}
	if draws > (MaxIterations-s.Warmup)/s.Thin {
		return &SettingsError{"thin", fmt.Sprintf("a warm-up of %d and %d draws, %d iterations apart, are more than %d iterations", s.Warmup, s.Draws, s.Thin, MaxIterations), "lower one of them"}
	}
	return nil
}

// Sampler returns the sampler of a target that the settings name.
func (s *Settings) Sampler(t *Target) (Sampler, error) {
	return NewSampler(cmp.Or(s.Kernel, DefaultSettings().Kernel), t)
}

// Iterations returns the number of iterations of a chain, warm-up included. With [AutoDraws] it
// assumes 100,000 draws.
func (s *Settings) Iterations() int64 {
	draws := s.Draws
	if draws == AutoDraws {
		draws = nominalDraws
	}
	return int64(s.Warmup) + int64(draws)*int64(s.Thin)
}
