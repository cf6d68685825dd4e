package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// Auto is the value of a setting that lets kir choose the kernel or the number of draws.
const Auto = "auto"

// AutoDraws stands for a number of draws that kir chooses.
const AutoDraws = -1

// noTimeLimit is the text for a run without a time limit.
const noTimeLimit = "none"

// A Sampler has the settings of the sampler that the file gives:
//
//	sampler: {kernel: balanced, chains: 4, warmup: 2000, draws: auto, time: 60s, thin: 1, seed: 7}
type Sampler struct {
	Kernel                      Written[string]
	Chains, Warmup, Draws, Thin Written[int]
	Time                        Written[time.Duration] // time limit; 0 means no limit
	Seed                        Written[uint64]
}

// NodeOf returns the YAML node of a setting, such as "chains". It returns nil if the file does not have the
// setting.
func (s *Sampler) NodeOf(setting string) *yaml.Node {
	return map[string]*yaml.Node{
		"kernel": s.Kernel.Node, "chains": s.Chains.Node, "warmup": s.Warmup.Node, "draws": s.Draws.Node,
		"thin": s.Thin.Node, "time": s.Time.Node, "seed": s.Seed.Node,
	}[setting]
}

// Unset removes a setting, such as "chains", as if the file did not have it.
func (s *Sampler) Unset(setting string) {
	switch setting {
	case "kernel":
		s.Kernel = Written[string]{}
	case "chains":
		s.Chains = Written[int]{}
	case "warmup":
		s.Warmup = Written[int]{}
	case "draws":
		s.Draws = Written[int]{}
	case "thin":
		s.Thin = Written[int]{}
	}
}

// decodeSampler decodes the settings of the sampler.
func decodeSampler(n *yaml.Node) (s Sampler, err error) {
	if n == nil || n.Kind == yaml.Null {
		return s, nil
	}
	f, err := schema.Sampler(schema.SamplerBounds{}).Fields(n)
	if err != nil {
		return s, err
	}
	whole := func(field *Written[int], key string) valueReader { // the sampler checks its bounds
		return wholeReader(field, key, math.MinInt32, schema.MaxWhole)
	}
	for _, c := range []struct {
		key  string
		read valueReader
	}{
		{"kernel", textReader(&s.Kernel, "the kernel")},
		{"chains", whole(&s.Chains, "chains")},
		{"warmup", whole(&s.Warmup, "warmup")},
		{"thin", whole(&s.Thin, "thin")},
		{"draws", decodingReader(&s.Draws, decodeDraws)},
		{"time", decodingReader(&s.Time, func(n *yaml.Node) (time.Duration, error) { return decodeTime(n, f["draws"]) })},
		{"seed", decodingReader(&s.Seed, func(n *yaml.Node) (uint64, error) { return n.Uint64("the seed") })},
	} {
		if v := f[c.key]; v != nil {
			if err := c.read(v); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// ReadTime parses the time limit of a run with [AutoDraws], such as 60s or 5m. It returns 0 for the text
// "none".
func ReadTime(text string) (time.Duration, error) {
	if text == noTimeLimit {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, &inputerr.Error{Message: fmt.Sprintf("the time is %s", inputerr.Quote(text)), Hint: "write a number and s, m or h, such as 60s or 5m, or none"}
	}
	return d, nil
}

// ReadDraws parses a number of draws. It returns [AutoDraws] for the text "auto".
func ReadDraws(text string) (int, error) {
	if text == Auto {
		return AutoDraws, nil
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

// decodeDraws decodes a number of draws. It returns [AutoDraws] for the text "auto".
func decodeDraws(n *yaml.Node) (int, error) {
	if n.Kind == yaml.Text && n.Text == Auto {
		return AutoDraws, nil
	}
	if n.Kind == yaml.Text {
		return 0, yaml.Hint(n.Errorf("draws is %s", n.Describe()), "write a whole number, or auto")
	}
	v, err := n.Whole("draws", math.MinInt32, schema.MaxWhole)
	if err == nil && v < 1 {
		err = yaml.Hint(n.Errorf("draws is %d", v), "it must be at least 1, or auto")
	}
	return v, err
}

// decodeTime decodes the time limit at the node n. The node draws has the number of draws. A time limit
// together with a fixed number of draws is an error.
func decodeTime(n, draws *yaml.Node) (time.Duration, error) {
	text, err := n.Str("the time")
	if err != nil {
		return 0, err
	}
	d, err := ReadTime(text)
	if bad := (*inputerr.Error)(nil); errors.As(err, &bad) {
		return 0, yaml.Hint(n.Errorf("%s", bad.Message), "%s", bad.Hint)
	}
	if d > 0 && draws != nil && draws.Text != Auto { // no time limit is valid with any number of draws
		return 0, yaml.Hint(n.Errorf("there is a time and a number of draws"), "leave one of them out, or write draws: auto")
	}
	return d, err
}
