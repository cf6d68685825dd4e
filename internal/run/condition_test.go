package run

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir/mcmc"
)

// conditionSpec is a run with a condition of numbers and one of categories.
func conditionSpec(t testing.TB, settings mcmc.Settings) *Spec {
	t.Helper()
	s := newSpec(t, 6, 20, mcmc.Uniform(1, 4), settings)
	base, err := mcmc.NewSpace(6, 20)
	if err != nil {
		t.Fatal(err)
	}
	space, err := mcmc.WithConditions(base, []mcmc.Condition{{Name: "temperature", Weights: []float64{1, 2, 1}}, {Name: "catalyst", Weights: []float64{1, 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Target, err = mcmc.NewTarget(space, mcmc.Uniform(1, 4), mcmc.Objective{Name: "warm", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		return float64(1+x.Condition(0)*x.Amount(1)) / float64(1+x.Condition(1))
	})})
	if err != nil {
		t.Fatal(err)
	}
	s.Conditions = []Condition{{Name: "temperature", Unit: "°C", Numbers: []float64{-2.5, 0, 7}}, {Name: "catalyst", Categories: []string{"A", "ß"}}}
	return s
}

// The draws of a run with conditions are those of the chains, whether their number is fixed or not.
func TestDrawsWithConditions(t *testing.T) {
	t.Parallel()
	for _, kernel := range []string{"accelerated", "balanced", "tempered"} {
		s := conditionSpec(t, mcmc.Settings{Kernel: kernel, Chains: 2, Warmup: 300, Draws: 700, Thin: 2, Seed: 5})
		dir, _ := start(t, s, Options{})
		sampler, err := mcmc.NewSampler(kernel, s.Target)
		if err != nil {
			t.Fatal(err)
		}
		values := make(map[string]bool)
		for chain, draws := range collect(t, dir) {
			c, err := sampler.NewChain(5, chain)
			if err != nil {
				t.Fatal(err)
			}
			step := func(do error) {
				if do != nil {
					t.Fatal(do)
				}
			}
			step(c.Refresh())
			step(c.Warm(300))
			c.EndWarmup()
			for n, d := range draws {
				if n%512 == 0 {
					step(c.Refresh())
				}
				step(c.Advance(2))
				if x := c.State.Composition; !slices.Equal(d.Parts, x.Parts()) || !slices.Equal(d.Conditions, x.AppendConditions(nil)) || d.LogDensity != c.State.LogDensity() {
					t.Fatalf("%s: draw %d is %v with %v, want %v", kernel, n, d.Parts, d.Conditions, x)
				}
				values[s.Conditions[0].Text(int(d.Conditions[0]))+" "+s.Conditions[1].Text(int(d.Conditions[1]))] = true
			}
		}
		if len(values) != 6 || !values["-2.5 °C ß"] {
			t.Errorf("%s: the draws have the values %v", kernel, values)
		}
	}
}

// A run of automatic length that is interrupted within its warm-up and its draws, and resumed, has the
// draws of one that was not.
func TestAutoDrawsWithConditions(t *testing.T) {
	t.Parallel()
	settings := mcmc.Settings{Kernel: "balanced", Chains: 2, Warmup: 2048, Draws: mcmc.AutoDraws, Thin: 1, Seed: 5}
	whole, _ := start(t, conditionSpec(t, settings), Options{})
	want := collect(t, whole)
	held := &bufferedDraws{thin: 1}
	for _, d := range want[0][:50] {
		held.ingredientEnds = append(held.ingredientEnds, len(held.ingredients)+len(d.Parts))
		for _, p := range d.Parts {
			held.ingredients, held.amounts = append(held.ingredients, int32(p.Ingredient)), append(held.amounts, int32(p.Amount))
		}
		held.logDensities, held.scores, held.conditions = append(held.logDensities, d.LogDensity), append(held.scores, 1), append(held.conditions, d.Conditions...)
	}
	m, err := newManifest(conditionSpec(t, settings))
	if err != nil {
		t.Fatal(err)
	}
	data := held.encode(50)
	again, err := decodeBuffered(data, m, 1, 50)
	if err != nil || !reflect.DeepEqual(again.conditions, held.conditions) || !reflect.DeepEqual(again.amounts, held.amounts) {
		t.Errorf("buffered draws become others: %v", err)
	}
	again.thinTo(5)
	if !slices.Equal(again.conditionsOf(3), want[0][19].Conditions) {
		t.Errorf("a thinned draw has the conditions %v, want %v", again.conditionsOf(3), want[0][19].Conditions)
	}
	for k := range data { // a value that the condition does not have is refused, and nothing panics
		damaged := slices.Clone(data)
		damaged[k] ^= 0x7f
		if h, err := decodeBuffered(damaged, m, 1, 50); err == nil {
			for at, v := range h.conditions {
				if int(v) >= m.Conditions[at%2].Values() {
					t.Fatalf("byte %d: a condition has the value %d", k, v)
				}
			}
		}
	}
}

// Conditions that are not those of the target, or whose names cannot be columns, are refused.
func TestBadConditions(t *testing.T) {
	t.Parallel()
	settings := mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 10, Draws: 10, Thin: 1, Seed: 5}
	for want, change := range map[string]func(s *Spec){
		"1 conditions are named":       func(s *Spec) { s.Conditions = s.Conditions[:1] },
		"names 2 values":               func(s *Spec) { s.Conditions[0].Numbers = s.Conditions[0].Numbers[:2] },
		`cannot be named "amount"`:     func(s *Spec) { s.Conditions[0].Name = "amount" },
		`cannot be named "warm"`:       func(s *Spec) { s.Conditions[1].Name = "warm" },
		`cannot be named "catalyst"`:   func(s *Spec) { s.Conditions[0].Name = "catalyst" },
		"not named in UTF-8":           func(s *Spec) { s.Conditions[1].Categories[1] = "\xff" },
		`cannot be named ""`:           func(s *Spec) { s.Conditions[1].Name = "" },
		fmt.Sprintf("names %d val", 5): func(s *Spec) { s.Conditions[0].Categories = []string{"x", "y"} },
	} {
		s := conditionSpec(t, settings)
		change(s)
		if _, err := Start(context.Background(), s, NewDirectoryStore(t.TempDir()+"/run"), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
