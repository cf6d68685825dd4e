package problem

import (
	"errors"
	"math"

	"kir"
	"kir/fault"
)

func (l *loader) readSampler() error {
	s := kir.DefaultSettings()
	var f map[string]*node
	if n := l.fields["sampler"]; n != nil && n.kind != null {
		var err error
		if f, err = n.fields("the sampler", "kernel", "chains", "warmup", "draws", "thin", "seed"); err != nil {
			return err
		}
		if k := f["kernel"]; k != nil {
			if s.Kernel, err = k.str("the kernel"); err != nil {
				return err
			}
		}
		for _, c := range []struct {
			key   string
			value *int
		}{{"chains", &s.Chains}, {"warmup", &s.Warmup}, {"draws", &s.Draws}, {"thin", &s.Thin}} {
			if v := f[c.key]; v != nil {
				// What is too much for an int is too much for any of them.
				if *c.value, err = v.whole(c.key, math.MinInt32, kir.MaxIterations); err != nil {
					return err
				}
			}
		}
		if v := f["seed"]; v != nil {
			if s.Seed, err = v.uint64("the seed"); err != nil {
				return err
			}
		}
	}
	given := s
	if l.options.Override != nil {
		l.options.Override(&s)
	}
	if s.Kernel == "" {
		s.Kernel = "balanced"
	}
	l.problem.Sampler = s
	return settingsFault(&s, func(setting string) *node {
		if s == given { // else a flag may have said it
			return f[setting]
		}
		return nil
	})
}

// settingsFault checks settings and tells what is wrong with them as an error of
// input, at the place where they were given.
func settingsFault(s *kir.Settings, place func(setting string) *node) error {
	err := s.Check()
	var bad *kir.SettingsError
	if !errors.As(err, &bad) {
		return err
	}
	if near := fault.DidYouMean(s.Kernel, kir.KernelNames()); bad.Setting == "kernel" && near != "" {
		bad.Hint = near
	}
	e := &fault.Error{Message: bad.Message, Hint: bad.Hint}
	if n := place(bad.Setting); n != nil {
		e = hint(n.errorf("%s", bad.Message), "%s", bad.Hint)
	}
	e.Err = err
	return e
}
