package mcmc_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"kir/internal/constraint/count"
	"kir/mcmc"
)

func newTarget(t *testing.T, ingredients, total int, y mcmc.Sparsity, wishes ...mcmc.Objective) *mcmc.Target {
	t.Helper()
	target, err := mcmc.NewTarget(newSpace(t, ingredients, total), y, wishes...)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func wish(name string, weight float64, y func(x *mcmc.Composition) float64) mcmc.Objective {
	return mcmc.Objective{Name: name, Weight: weight, Property: mcmc.ScoreFunc(y)}
}

// logScores is a property given by a function of its logarithm.
type logScores func(x *mcmc.Composition) float64

func (f logScores) LogScore(x *mcmc.Composition) float64 { return f(x) }

func TestTargetErrors(t *testing.T) {
	space := newSpace(t, 3, 4)
	one := mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 })
	for _, c := range []struct {
		wishes []mcmc.Objective
		want   string
	}{
		{[]mcmc.Objective{{Name: "a", Weight: 1}}, `wish "a" has no property`},
		{[]mcmc.Objective{{Name: "a", Property: one, Weight: -1}}, `wish "a" is -1`},
		{[]mcmc.Objective{{Name: "a", Property: one, Weight: math.NaN()}}, `wish "a" is NaN`},
		{[]mcmc.Objective{{Name: "a", Property: one, Weight: math.Inf(1)}}, `wish "a" is +Inf`},
		{[]mcmc.Objective{{Name: "a", Property: one, Weight: 1}, {Name: "b", Property: one}, {Name: "a", Property: one, Weight: 1}}, `two wishes are named "a"`},
	} {
		if _, err := mcmc.NewTarget(space, mcmc.Uniform(1, 3), c.wishes...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestWithWishes checks that the law of n and the space stay.
func TestWithWishes(t *testing.T) {
	space, err := mcmc.NewSpace(3, 5)
	if err != nil {
		t.Fatal(err)
	}
	one := mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 0.5 })
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 3), mcmc.Objective{Name: "a", Property: one, Weight: 3})
	if err != nil {
		t.Fatal(err)
	}
	other, err := target.WithObjectives(mcmc.Objective{Name: "a", Property: one, Weight: 1}, mcmc.Objective{Name: "b", Property: one, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := mcmc.NewComposition(3, mcmc.Part{Ingredient: 0, Amount: 2}, mcmc.Part{Ingredient: 1, Amount: 3})
	if score, err := other.LogScore(x); err != nil || score != 2*math.Log(0.5) {
		t.Errorf("score %v, %v", score, err)
	}
	if score, _ := target.LogScore(x); score != 3*math.Log(0.5) {
		t.Errorf("the first target changed: %v", score)
	}
	if other.LogLaw(2) != target.LogLaw(2) || other.Space() != space {
		t.Error("the law or the space is another")
	}
	if _, err := target.WithObjectives(mcmc.Objective{Name: "a"}); err == nil {
		t.Error("a wish without a property passed")
	}
}

// A property that returns what is no score ends the run with an error that
// names the kernel, the property and the state, wherever it is met.
func TestBadScores(t *testing.T) {
	type bad struct {
		name, want string
		value      float64
	}
	for _, b := range []bad{
		{"negative", "negative or not a number", -1},
		{"no number", "negative or not a number", math.NaN()},
		{"infinite", "infinite", math.Inf(1)},
	} {
		for _, kernel := range []string{"accelerated", "gibbs", "naive", "balanced"} {
			for _, weight := range []float64{1, 2.5} {
				// Good at first, so that the chain starts.
				spoilt := false
				y := func(x *mcmc.Composition) float64 {
					if spoilt && x.Amount(0) > 0 {
						return b.value
					}
					return 1
				}
				good := mcmc.Objective{Name: "good", Property: newTreeProperty(12, 8), Weight: 1}
				target := newTarget(t, 12, 8, mcmc.Uniform(1, 6), good, wish("bad", weight, y))
				k, err := mcmc.NewKernel(kernel, target)
				if err != nil {
					t.Fatal(err)
				}
				c, err := mcmc.NewChain(target, k, 1, 0)
				if err != nil {
					t.Fatal(err)
				}
				spoilt = true
				err = c.Advance(100_000)
				var score *mcmc.ScoreError
				if !errors.As(err, &score) || score.Objective != "bad" || !strings.HasPrefix(err.Error(), kernel+": ") ||
					!strings.Contains(err.Error(), b.want) || !strings.Contains(score.Composition, "{0: ") || !strings.Contains(err.Error(), score.Composition) {
					t.Errorf("%s, %s: got %v", kernel, b.name, err)
				}
				if tally := c.Tally(); tally.Updated > tally.Accepted || tally.Accepted > tally.Iterations {
					t.Errorf("%s, %s: %+v", kernel, b.name, tally)
				}
			}
		}

		// And before there is a kernel.
		y := func(x *mcmc.Composition) float64 { return b.value }
		target := newTarget(t, 40, 40, mcmc.Uniform(1, 6), wish("bad", 1, y))
		if _, _, err := mcmc.StartState(target, mcmc.NewRand(1, "test", 0)); !errors.As(err, new(*mcmc.ScoreError)) {
			t.Errorf("%s: a chain starts with %v", b.name, err)
		}
		if _, err := mcmc.NewState(target, newComposition(t, slices.Repeat([]int{1}, 40)...)); !errors.As(err, new(*mcmc.ScoreError)) {
			t.Errorf("%s: a state begins with %v", b.name, err)
		}
		if _, err := target.LogScore(newComposition(t, slices.Repeat([]int{1}, 40)...)); !errors.As(err, new(*mcmc.ScoreError)) {
			t.Errorf("%s: a score is computed with %v", b.name, err)
		}
		// A small space is looked at before the kernel is made.
		small := newTarget(t, 3, 3, mcmc.Uniform(1, 3), wish("bad", 1, y))
		for name, make := range map[string]func(*mcmc.Target) (mcmc.Kernel, error){"accelerated": shipped("accelerated"), "gibbs": shipped("gibbs")} {
			if _, err := make(small); !errors.As(err, new(*mcmc.ScoreError)) || !strings.HasPrefix(err.Error(), name) {
				t.Errorf("%s: %s is made with %v", b.name, name, err)
			}
		}
		// Of weight 0 it is never asked.
		free := newTarget(t, 3, 3, mcmc.Uniform(1, 3), wish("bad", 0, y))
		if _, _, err := mcmc.StartState(free, mcmc.NewRand(1, "test", 0)); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}

// A score that is finite but not when it is raised to its weight is one too.
func TestScoreOverflow(t *testing.T) {
	target := newTarget(t, 40, 40, mcmc.Uniform(1, 6), wish("steep", 1e308, func(x *mcmc.Composition) float64 { return 1e10 }))
	if _, _, err := mcmc.StartState(target, mcmc.NewRand(1, "test", 0)); err == nil || !strings.Contains(err.Error(), `"steep", to the power of its weight, is infinite`) {
		t.Errorf("got %v", err)
	}
}

// A property without a score where the law has no mass, where a rule forbids or
// where another property is 0, whichever comes first, ends no run; where it counts
// it does.
func TestScoresThatDoNotCount(t *testing.T) {
	alone := wish("alone", 1, func(x *mcmc.Composition) float64 { return 1 / float64(x.UsedCount()-1) })
	first := wish("first", 1, func(x *mcmc.Composition) float64 { return 1 / float64(x.Amount(0)) })
	without := wish("without", 1, func(x *mcmc.Composition) float64 { return float64(min(x.Amount(0), 1)) })
	plain, err := mcmc.NewSpace(3, 9)
	if err != nil {
		t.Fatal(err)
	}
	with := ruledSpace(t, 9, count.Ingredient{Required: true}, count.Ingredient{}, count.Ingredient{})
	for _, c := range []struct {
		name   string
		space  *mcmc.Space
		lo     int
		wishes []mcmc.Objective
		bad    string
	}{
		{"no mass", plain, 2, []mcmc.Objective{alone}, ""},
		{"a rule", with, 1, []mcmc.Objective{first}, ""},
		{"a property before", plain, 1, []mcmc.Objective{without, first}, ""},
		{"a property behind", plain, 1, []mcmc.Objective{first, without}, ""},
		{"mass", plain, 1, []mcmc.Objective{alone}, "alone"},
		{"no rule", plain, 1, []mcmc.Objective{first}, "first"},
	} {
		target, err := mcmc.NewTarget(c.space, mcmc.Uniform(c.lo, 3), c.wishes...)
		if err != nil {
			t.Fatal(err)
		}
		for _, kernel := range []string{"accelerated", "gibbs", "naive", "balanced", "tempered", "metropolis"} {
			sampler, err := mcmc.NewKernelSampler(target, mcmc.NewMetropolis("metropolis", target, handOver{}))
			if kernel != "metropolis" {
				sampler, err = mcmc.NewSampler(kernel, target)
			}
			var chain *mcmc.Chain
			if err == nil {
				chain, err = sampler.NewChain(1, 0)
			}
			if err == nil {
				err = chain.Warm(1000)
			}
			if err == nil {
				chain.EndWarmup()
				err = chain.Advance(1000)
			}
			var score *mcmc.ScoreError
			switch {
			case c.bad == "" && err != nil:
				t.Errorf("%s: %s: %v", c.name, kernel, err)
			case c.bad != "" && (!errors.As(err, &score) || score.Objective != c.bad):
				t.Errorf("%s: %s: got %v, want an error of %q", c.name, kernel, err, c.bad)
			}
		}
	}
}
