package stattest_test

import (
	"errors"
	"math"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// explore returns the probability of each result of a step.
func explore(t *testing.T, step func(r *mcmc.Rand) int) map[int]float64 {
	t.Helper()
	law := make(map[int]float64)
	result := 0
	err := stattest.Explore(func(r *mcmc.Rand) error {
		result = step(r)
		return nil
	}, func(p float64) error {
		law[result] += p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return law
}

func TestExplore(t *testing.T) {
	for _, c := range []struct {
		name string
		step func(r *mcmc.Rand) int
		want map[int]float64
	}{
		{"no choice", func(r *mcmc.Rand) int { return 7 }, map[int]float64{7: 1}},
		{"two dice", func(r *mcmc.Rand) int { return r.Intn(3) + r.Intn(3) },
			map[int]float64{0: 1. / 9, 1: 2. / 9, 2: 3. / 9, 3: 2. / 9, 4: 1. / 9}},
		{"a coin that decides what follows", func(r *mcmc.Rand) int {
			if r.Bernoulli(0.25) {
				return r.Intn(2)
			}
			return 10 + r.Categorical([]float64{1, 0, 3})
		}, map[int]float64{0: 1. / 8, 1: 1. / 8, 10: 3. / 16, 12: 9. / 16}},
		{"weights of 0 at either end", func(r *mcmc.Rand) int {
			return 10*r.Categorical([]float64{0, 2, 2, 0}) + r.Categorical([]float64{0, 0, 5})
		}, map[int]float64{12: 0.5, 22: 0.5}},
		{"sure things", func(r *mcmc.Rand) int {
			if r.Bernoulli(1) && !r.Bernoulli(0) {
				return r.Intn(1)
			}
			return 9
		}, map[int]float64{0: 1}},
		{"until the first success, at most 5 times", func(r *mcmc.Rand) int {
			n := 0
			for n < 5 && !r.Bernoulli(0.5) {
				n++
			}
			return n
		}, map[int]float64{0: 0.5, 1: 0.25, 2: 0.125, 3: 0.0625, 4: 0.03125, 5: 0.03125}},
	} {
		got := explore(t, c.step)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		for k, p := range c.want {
			if math.Abs(got[k]-p) > 1e-15 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

func TestExploreRefuses(t *testing.T) {
	calls := 0
	mine := errors.New("mine")
	for _, c := range []struct {
		name string
		step func(r *mcmc.Rand) error
		want error
	}{
		{"a step that fails", func(r *mcmc.Rand) error { return mine }, mine},
		{"more options each time", func(r *mcmc.Rand) error { calls++; r.Intn(2 + calls); r.Intn(2); return nil }, stattest.ErrTree},
		{"another kind of choice", func(r *mcmc.Rand) error {
			if calls++; calls%2 == 0 {
				r.Intn(2)
			} else {
				r.Bernoulli(0.5)
			}
			r.Intn(2)
			return nil
		}, stattest.ErrTree},
		{"fewer choices", func(r *mcmc.Rand) error {
			if calls++; calls%2 == 1 {
				r.Intn(2)
			}
			return nil
		}, stattest.ErrTree},
		{"nothing to choose from", func(r *mcmc.Rand) error { r.Intn(0); return nil }, stattest.ErrTree},
		{"no weight", func(r *mcmc.Rand) error { r.Categorical([]float64{0, 0}); return nil }, stattest.ErrTree},
		{"a negative weight", func(r *mcmc.Rand) error { r.Categorical([]float64{2, -1}); return nil }, stattest.ErrTree},
		{"an infinite weight", func(r *mcmc.Rand) error { r.Categorical([]float64{2, math.Inf(1)}); return nil }, stattest.ErrTree},
		{"no number", func(r *mcmc.Rand) error { r.Categorical([]float64{2, math.NaN()}); return nil }, stattest.ErrTree},
	} {
		calls = 0
		if err := stattest.Explore(c.step, func(float64) error { return nil }); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	visits := 0
	err := stattest.Explore(func(r *mcmc.Rand) error { r.Intn(9); return nil }, func(float64) error { visits++; return mine })
	if !errors.Is(err, mine) || visits != 1 {
		t.Errorf("a visit that fails: got %v after %d visits", err, visits)
	}
}
