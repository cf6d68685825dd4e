package problem

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// autoValue is the value of a setting that kir chooses by itself: the kernel, or the number of draws.
const autoValue = "auto"

// DefaultTime is the default time limit of a run with [mcmc.AutoDraws].
const DefaultTime = 60 * time.Second

// noTime is the value for a run without a time limit.
const noTime = "none"

// ReadTime reads the time limit of a run with [mcmc.AutoDraws], such as 60s or 5m. It returns 0 for none.
func ReadTime(text string) (time.Duration, error) {
	if text == noTime {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, &inputerr.Error{Message: fmt.Sprintf("the time is %s", inputerr.Quote(text)), Hint: "write a number and s, m or h, such as 60s or 5m, or none"}
	}
	return d, nil
}

// ReadDraws reads a number of draws from a text, or auto.
func ReadDraws(text string) (int, error) {
	if text == autoValue {
		return mcmc.AutoDraws, nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &inputerr.Error{Message: fmt.Sprintf("the number of draws is %s", inputerr.Quote(text)), Hint: "write a whole number, or auto"}
	}
	if v < 1 {
		return 0, &inputerr.Error{Message: fmt.Sprintf("draws is %d", v), Hint: "it must be at least 1, or auto"}
	}
	return int(v), nil
}

// readDraws reads a number of draws from a node, or auto.
func readDraws(n *yaml.Node) (int, error) {
	if n.Kind == yaml.Text && n.Text == autoValue {
		return mcmc.AutoDraws, nil
	}
	if n.Kind == yaml.Text {
		return 0, yaml.Hint(n.Errorf("draws is %s", n.Describe()), "write a whole number, or auto")
	}
	v, err := n.Whole("draws", math.MinInt32, mcmc.MaxIterations)
	if err == nil && v < 1 {
		err = yaml.Hint(n.Errorf("draws is %d", v), "it must be at least 1, or auto")
	}
	return v, err
}

// readTime reads the time limit, which is allowed only if draws is auto.
func readTime(n, draws *yaml.Node) (time.Duration, error) {
	text, err := n.Str("the time")
	if err != nil {
		return 0, err
	}
	d, err := ReadTime(text)
	if bad := (*inputerr.Error)(nil); errors.As(err, &bad) {
		return 0, yaml.Hint(n.Errorf("%s", bad.Message), "%s", bad.Hint)
	}
	if d > 0 && draws != nil && draws.Text != autoValue { // no time limit is valid with any number of draws
		return 0, yaml.Hint(n.Errorf("there is a time and a number of draws"), "leave one of them out, or write draws: auto")
	}
	return d, err
}

// readSampler reads the settings and the time limit. override may change the settings; it may be nil.
func readSampler(n *yaml.Node, override func(*mcmc.Settings)) (mcmc.Settings, time.Duration, error) {
	s, limit := mcmc.DefaultSettings(), DefaultTime
	s.Kernel = autoValue
	var f fields
	if n != nil && n.Kind != yaml.Null {
		var err error
		if f, err = schema.Sampler.Fields(n); err != nil {
			return s, limit, err
		}
		if k := f["kernel"]; k != nil {
			if s.Kernel, err = k.Str("the kernel"); err != nil {
				return s, limit, err
			}
		}
		for _, c := range []struct {
			key   string
			value *int
		}{{"chains", &s.Chains}, {"warmup", &s.Warmup}, {"thin", &s.Thin}} {
			if v := f[c.key]; v != nil {
				// A value too large for an int is also too large for any setting.
				if *c.value, err = v.Whole(c.key, math.MinInt32, mcmc.MaxIterations); err != nil {
					return s, limit, err
				}
			}
		}
		if v := f["draws"]; v != nil {
			if s.Draws, err = readDraws(v); err != nil {
				return s, limit, err
			}
		}
		if v := f["time"]; v != nil {
			if limit, err = readTime(v, f["draws"]); err != nil {
				return s, limit, err
			}
		}
		if v := f["seed"]; v != nil {
			if s.Seed, err = v.Uint64("the seed"); err != nil {
				return s, limit, err
			}
		}
	}
	given := s
	if override != nil {
		override(&s)
	}
	if s.Kernel == "" {
		s.Kernel = autoValue
	}
	checked := s
	if s.Kernel == autoValue {
		checked.Kernel = "" // the target checks the kernel
	}
	return s, limit, settingsError(&checked, func(setting string) *yaml.Node {
		if s == given { // otherwise a flag may have set it
			return f[setting]
		}
		return nil
	})
}

// settingsError checks settings. It converts an error about them to an input error at the node of the
// setting.
func settingsError(s *mcmc.Settings, place func(setting string) *yaml.Node) error {
	err := s.Check()
	var bad *mcmc.SettingsError
	if !errors.As(err, &bad) {
		return err
	}
	if near := inputerr.DidYouMean(s.Kernel, append(mcmc.KernelNames(), autoValue)); bad.Setting == "kernel" && near != "" {
		bad.Hint = near
	}
	e := &inputerr.Error{Message: bad.Message, Hint: bad.Hint}
	if n := place(bad.Setting); n != nil {
		e = yaml.Hint(n.Errorf("%s", bad.Message), "%s", bad.Hint)
	}
	e.Err = err
	return e
}
