package mcmc_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"kir/mcmc"
)

// badProposal proposes what it is told to.
type badProposal func(r *mcmc.Rand, x, y *mcmc.Composition) (float64, error)

func (p badProposal) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (float64, error) {
	return p(r, x, y)
}

func TestBadProposals(t *testing.T) {
	target := newTarget(t, 3, 4, mcmc.Uniform(1, 3), wish("bad", 1, func(x *mcmc.Composition) float64 {
		if x.Amount(2) > 3 {
			return math.NaN()
		}
		return 1
	}))
	broken := errors.New("out of order")
	set := func(y *mcmc.Composition, amounts ...int) error {
		var parts []mcmc.Part
		for i, a := range amounts {
			if a > 0 {
				parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
			}
		}
		return y.SetParts(parts...)
	}
	for name, c := range map[string]struct {
		propose badProposal
		want    []string
	}{
		"NaN":      {func(*mcmc.Rand, *mcmc.Composition, *mcmc.Composition) (float64, error) { return math.NaN(), nil }, []string{"NaN", "{0: 1, 1: 3}"}},
		"+Inf":     {func(*mcmc.Rand, *mcmc.Composition, *mcmc.Composition) (float64, error) { return math.Inf(1), nil }, []string{"+Inf", "{0: 1, 1: 3}"}},
		"an error": {func(*mcmc.Rand, *mcmc.Composition, *mcmc.Composition) (float64, error) { return 0, broken }, []string{"out of order", "{0: 1, 1: 3}"}},
		"off the space": {func(_ *mcmc.Rand, _, y *mcmc.Composition) (float64, error) { return 0, set(y, 1, 4, 0) },
			[]string{"{0: 1, 1: 3}", "{0: 1, 1: 4}", "sum to 5", "total of 4"}},
		"nothing at all": {func(_ *mcmc.Rand, _, y *mcmc.Composition) (float64, error) { return 0, set(y) }, []string{"{0: 1, 1: 3}", "sum to 0"}},
		"a bad score": {func(_ *mcmc.Rand, _, y *mcmc.Composition) (float64, error) { return 0, set(y, 0, 0, 4) },
			[]string{`"bad"`, "{2: 4}"}},
	} {
		x, err := mcmc.NewState(target, newComposition(t, 1, 3, 0))
		if err != nil {
			t.Fatal(err)
		}
		err = mcmc.NewMetropolis("mine", target, c.propose).Advance(mcmc.NewRand(1, "test", 0), x, 10, new(mcmc.Tally))
		for _, want := range append(c.want, "mine: ") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", name, err, want)
			}
		}
		if name == "an error" && !errors.Is(err, broken) {
			t.Errorf("%v does not wrap the proposal's error", err)
		}
	}

	// What cannot lead back is rejected, and what leaves the law of n as well.
	narrow := newTarget(t, 3, 4, mcmc.Uniform(2, 2))
	for name, propose := range map[string]badProposal{
		"no way back": func(_ *mcmc.Rand, _, y *mcmc.Composition) (float64, error) { return math.Inf(-1), set(y, 2, 2, 0) },
		"no mass":     func(_ *mcmc.Rand, _, y *mcmc.Composition) (float64, error) { return 700, set(y, 4, 0, 0) },
	} {
		x, err := mcmc.NewState(narrow, newComposition(t, 1, 3, 0))
		if err != nil {
			t.Fatal(err)
		}
		var tally mcmc.Tally
		if err := mcmc.NewMetropolis("mine", narrow, propose).Advance(mcmc.NewRand(1, "test", 0), x, 10, &tally); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if tally.Iterations != 10 || tally.Accepted != 0 || x.Composition.String() != "{0: 1, 1: 3}" {
			t.Errorf("%s: %+v at %v", name, tally, x.Composition)
		}
	}
}
