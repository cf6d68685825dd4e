package compile

import (
	"errors"
	"time"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// DefaultTime is the default time limit of a run with [mcmc.AutoDraws].
const DefaultTime = 60 * time.Second

// samplerBounds returns the valid values and the default values of the settings of the sampler.
func samplerBounds() schema.SamplerBounds {
	s := mcmc.DefaultSettings()
	return schema.SamplerBounds{
		Kernels: mcmc.KernelNames(), MaxChains: mcmc.MaxChains, MaxIterations: mcmc.MaxIterations, MaxDraws: mcmc.MaxDraws,
		Chains: s.Chains, Warmup: s.Warmup, Thin: s.Thin, Seed: s.Seed,
	}
}

// compileSampler returns the settings of the sampler and the time limit that a file gives, with defaults filled
// in. The function override may change the settings, and may be nil. compileSampler adds input errors to bad.
func compileSampler(c config.Sampler, override func(*mcmc.Settings), bad *config.Diagnostics) (mcmc.Settings, time.Duration, error) {
	for {
		s, err := samplerSettings(&c, override)
		limit := c.Time.Or(DefaultTime)
		if bad := bad.Add(err); bad != nil {
			return s, limit, bad
		}
		var setting *mcmc.SettingsError
		var placed *inputerr.Error
		if !errors.As(err, &setting) || !errors.As(err, &placed) || placed.Line == 0 {
			return s, limit, nil // there is no error, or not one of the file
		}
		c.Unset(setting.Setting) // the file may have more errors
	}
}

// samplerSettings returns the settings of the sampler that a file gives. It fills in defaults, and lets the
// function override change the settings.
func samplerSettings(c *config.Sampler, override func(*mcmc.Settings)) (mcmc.Settings, error) {
	s := mcmc.DefaultSettings()
	s.Kernel = c.Kernel.Or(config.Auto)
	s.Chains, s.Warmup, s.Thin = c.Chains.Or(s.Chains), c.Warmup.Or(s.Warmup), c.Thin.Or(s.Thin)
	s.Draws, s.Seed = c.Draws.Or(s.Draws), c.Seed.Or(s.Seed)
	given := s
	if override != nil {
		override(&s)
	}
	if s.Kernel == "" {
		s.Kernel = config.Auto
	}
	checked := s
	if s.Kernel == config.Auto {
		checked.Kernel = "" // the target checks the kernel
	}
	return s, checkSamplerSettings(&checked, func(setting string) *yaml.Node {
		if s == given { // otherwise a flag may have set it
			return c.NodeOf(setting)
		}
		return nil
	})
}

// checkSamplerSettings checks the settings of the sampler. The function place returns the YAML node of a
// setting, where an error is placed, or nil if the file does not have the setting.
func checkSamplerSettings(s *mcmc.Settings, place func(setting string) *yaml.Node) error {
	err := s.Check()
	var bad *mcmc.SettingsError
	if !errors.As(err, &bad) {
		return err
	}
	if near := inputerr.DidYouMean(s.Kernel, append(mcmc.KernelNames(), config.Auto)); bad.Setting == "kernel" && near != "" {
		bad.Hint = near
	}
	e := &inputerr.Error{Message: bad.Message, Hint: bad.Hint}
	if n := place(bad.Setting); n != nil {
		e = yaml.Hint(n.Errorf("%s", bad.Message), "%s", bad.Hint)
	}
	e.Err = err
	return e
}
