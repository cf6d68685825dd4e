package mcmc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Settings say how many chains run, with which kernel, and for how long. Together with the target
// they decide every draw.
type Settings struct {
	Kernel string `json:"kernel" yaml:"kernel"` // one of [KernelNames]; empty stands for balanced
	Chains int    `json:"chains" yaml:"chains"` // number of chains, 1 to MaxChains
	Warmup int    `json:"warmup" yaml:"warmup"` // number of iterations of each chain before its draws; with AutoDraws an upper bound
	Draws  int    `json:"draws" yaml:"draws"`   // number of states kept from each chain, 1 to MaxDraws, or AutoDraws
	Thin   int    `json:"thin" yaml:"thin"`     // number of iterations from one draw to the next, at least 1
	Seed   uint64 `json:"seed" yaml:"seed"`     // decides all random choices
}

// AutoDraws, as the number of draws, lets a run continue until its results are precise enough. The
// run then chooses how far apart its draws are, and Thin must be 1.
const AutoDraws = -1

// nominalDraws is the number of draws of a chain that [Settings.Iterations] assumes for a run with
// AutoDraws.
const nominalDraws = 100_000

// Limits of [Settings].
const (
	MaxChains = 100_000   // greatest number of chains
	MaxDraws  = 1<<32 - 1 // greatest number of draws of a chain
	// MaxIterations is the greatest number of iterations of a chain, including warm-up. No chain
	// makes that many in a lifetime.
	MaxIterations = 1 << 53
)

// DefaultSettings returns the default settings.
func DefaultSettings() Settings {
	return Settings{Kernel: "balanced", Chains: 4, Warmup: 10_000, Draws: AutoDraws, Thin: 1, Seed: 1}
}

// A SettingsError says which setting is invalid, and why.
type SettingsError struct {
	Setting string // name of the setting, such as chains
	Message string
	Hint    string // says which values are valid
}

func (e *SettingsError) Error() string { return e.Message + ": " + e.Hint }

// Check returns a [SettingsError] if a setting is invalid, and nil otherwise.
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

// Sampler returns a sampler of the target with the kernel that the settings name.
func (s *Settings) Sampler(t *Target) (Sampler, error) {
	return NewSampler(cmp.Or(s.Kernel, DefaultSettings().Kernel), t)
}

// Iterations returns the number of iterations of a chain, including warm-up. With [AutoDraws] it
// assumes 100,000 draws.
func (s *Settings) Iterations() int64 {
	draws := s.Draws
	if draws == AutoDraws {
		draws = nominalDraws
	}
	return int64(s.Warmup) + int64(draws)*int64(s.Thin)
}
