package problem

import (
	"math"
	"strings"

	"kir"
	"kir/fault"
)

// mostDraws bounds counts of iterations, so that sums of them fit an int64.
const mostDraws = 1 << 53

func (l *loader) readSampler() error {
	s := DefaultSampler()
	if n := l.fields["sampler"]; n != nil && n.kind != null {
		f, err := n.fields("the sampler", "kernel", "chains", "warmup", "draws", "thin", "seed")
		if err != nil {
			return err
		}
		if k := f["kernel"]; k != nil {
			if s.Kernel, err = k.str("the kernel"); err != nil {
				return err
			}
			if err := checkKernel(s.Kernel); err != nil {
				return hint(k.errorf("%s", err.Message), "%s", err.Hint)
			}
		}
		for _, c := range []struct {
			key         string
			value       *int
			least, most int
		}{
			{"chains", &s.Chains, 1, 1 << 16},
			{"warmup", &s.Warmup, 0, mostDraws},
			{"draws", &s.Draws, 1, mostDraws},
			{"thin", &s.Thin, 1, mostDraws},
		} {
			if v := f[c.key]; v != nil {
				if *c.value, err = v.whole(c.key, c.least, c.most); err != nil {
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
	if l.options.Override != nil {
		l.options.Override(&s)
	}
	if err := s.check(); err != nil {
		return err
	}
	l.problem.Sampler = s
	return nil
}

func checkKernel(name string) *fault.Error {
	for _, known := range kir.KernelNames() {
		if known == name {
			return nil
		}
	}
	e := &fault.Error{Message: "there is no kernel " + fault.Quote(name), Hint: fault.DidYouMean(name, kir.KernelNames())}
	if e.Hint == "" {
		e.Hint = "there are " + strings.Join(kir.KernelNames(), ", ")
	}
	return e
}

// check verifies settings, wherever they come from.
func (s Sampler) check() error {
	if err := checkKernel(s.Kernel); err != nil {
		return err
	}
	for _, c := range []struct {
		name         string
		value, least int
	}{{"chains", s.Chains, 1}, {"warmup", s.Warmup, 0}, {"draws", s.Draws, 1}, {"thin", s.Thin, 1}} {
		if c.value < c.least {
			return &fault.Error{Message: c.name + " is " + itoa(c.value), Hint: "it must be at least " + itoa(c.least)}
		}
	}
	if s.Draws > (math.MaxInt64-s.Warmup)/s.Thin {
		return &fault.Error{Message: "draws times thin is more iterations than can be counted", Hint: "lower one of them"}
	}
	return nil
}
