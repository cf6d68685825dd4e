package problem

import (
	"errors"
	"math"

	"kir/internal/fault"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
	"kir/mcmc"
)

// auto is the kernel that stands for the recommended one.
const auto = "auto"

// readSampler reads the settings and lets override change them; it may be nil.
func readSampler(n *yaml.Node, override func(*mcmc.Settings)) (mcmc.Settings, error) {
	s := mcmc.DefaultSettings()
	s.Kernel = auto
	var f fields
	if n != nil && n.Kind != yaml.Null {
		var err error
		if f, err = schema.Sampler.Fields(n); err != nil {
			return s, err
		}
		if k := f["kernel"]; k != nil {
			if s.Kernel, err = k.Str("the kernel"); err != nil {
				return s, err
			}
		}
		for _, c := range []struct {
			key   string
			value *int
		}{{"chains", &s.Chains}, {"warmup", &s.Warmup}, {"draws", &s.Draws}, {"thin", &s.Thin}} {
			if v := f[c.key]; v != nil {
				// What is too much for an int is too much for any of them.
				if *c.value, err = v.Whole(c.key, math.MinInt32, mcmc.MaxIterations); err != nil {
					return s, err
				}
			}
		}
		if v := f["seed"]; v != nil {
			if s.Seed, err = v.Uint64("the seed"); err != nil {
				return s, err
			}
		}
	}
	given := s
	if override != nil {
		override(&s)
	}
	if s.Kernel == "" {
		s.Kernel = auto
	}
	checked := s
	if s.Kernel == auto {
		checked.Kernel = "" // which the target will say
	}
	return s, settingsFault(&checked, func(setting string) *yaml.Node {
		if s == given { // else a flag may have said it
			return f[setting]
		}
		return nil
	})
}

// settingsFault checks settings and tells what is wrong with them as an error of
// input, at the place where they were given.
func settingsFault(s *mcmc.Settings, place func(setting string) *yaml.Node) error {
	err := s.Check()
	var bad *mcmc.SettingsError
	if !errors.As(err, &bad) {
		return err
	}
	if near := fault.DidYouMean(s.Kernel, append(mcmc.KernelNames(), auto)); bad.Setting == "kernel" && near != "" {
		bad.Hint = near
	}
	e := &fault.Error{Message: bad.Message, Hint: bad.Hint}
	if n := place(bad.Setting); n != nil {
		e = yaml.Hint(n.Errorf("%s", bad.Message), "%s", bad.Hint)
	}
	e.Err = err
	return e
}
