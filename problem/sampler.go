package problem

import (
	"errors"
	"math"

	"kir"
	"kir/fault"
)

// auto is the kernel that stands for the recommended one.
const auto = "auto"

func (l *loader) readSampler() error {
	s := kir.DefaultSettings()
	s.Kernel = auto
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
		s.Kernel = auto
	}
	l.problem.Sampler = s
	checked := s
	if s.Kernel == auto {
		checked.Kernel = "" // which is told when there is a target
	}
	return settingsFault(&checked, func(setting string) *node {
		if s == given { // else a flag may have said it
			return f[setting]
		}
		return nil
	})
}

// chooseKernel puts a kernel in the place of auto.
func (l *loader) chooseKernel() error {
	p := l.problem
	if p.Sampler.Kernel != auto {
		return nil
	}
	p.Auto = true
	if l.options.Kernel == nil {
		p.Sampler.Kernel = "balanced"
		if _, err := kir.NewExact(p.Target); err == nil {
			p.Sampler.Kernel = "exact"
		}
		return nil
	}
	var err error
	p.Sampler.Kernel, err = l.options.Kernel(l.ctx, p)
	return p.Explain(err)
}

// settingsFault checks settings and tells what is wrong with them as an error of
// input, at the place where they were given.
func settingsFault(s *kir.Settings, place func(setting string) *node) error {
	err := s.Check()
	var bad *kir.SettingsError
	if !errors.As(err, &bad) {
		return err
	}
	if near := fault.DidYouMean(s.Kernel, append(kir.KernelNames(), auto)); bad.Setting == "kernel" && near != "" {
		bad.Hint = near
	}
	e := &fault.Error{Message: bad.Message, Hint: bad.Hint}
	if n := place(bad.Setting); n != nil {
		e = hint(n.errorf("%s", bad.Message), "%s", bad.Hint)
	}
	e.Err = err
	return e
}
