package kir_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir"
)

func newSpace(t *testing.T, ingredients, total int) *kir.Space {
	t.Helper()
	s, err := kir.NewSpace(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newTarget(t *testing.T, ingredients, total int, y kir.Sparsity, wishes ...kir.Wish) *kir.Target {
	t.Helper()
	target, err := kir.NewTarget(newSpace(t, ingredients, total), y, wishes...)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func newComposition(t *testing.T, amounts ...int) *kir.Composition {
	t.Helper()
	var parts []kir.Part
	for i, a := range amounts {
		if a > 0 {
			parts = append(parts, kir.Part{Ingredient: i, Amount: a})
		}
	}
	x, err := kir.NewComposition(len(amounts), parts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func wish(name string, weight float64, y func(x *kir.Composition) float64) kir.Wish {
	return kir.Wish{Name: name, Weight: weight, Property: kir.ScoreFunc(y)}
}

func TestTargetErrors(t *testing.T) {
	space := newSpace(t, 3, 4)
	one := kir.ScoreFunc(func(*kir.Composition) float64 { return 1 })
	for _, c := range []struct {
		wishes []kir.Wish
		want   string
	}{
		{[]kir.Wish{{Name: "a", Weight: 1}}, `wish "a" has no property`},
		{[]kir.Wish{{Name: "a", Property: one, Weight: -1}}, `wish "a" is -1`},
		{[]kir.Wish{{Name: "a", Property: one, Weight: math.NaN()}}, `wish "a" is NaN`},
		{[]kir.Wish{{Name: "a", Property: one, Weight: math.Inf(1)}}, `wish "a" is +Inf`},
		{[]kir.Wish{{Name: "a", Property: one, Weight: 1}, {Name: "b", Property: one}, {Name: "a", Property: one, Weight: 1}}, `two wishes are named "a"`},
	} {
		if _, err := kir.NewTarget(space, kir.Uniform(1, 3), c.wishes...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// LogDensity, LogScore and AppendScores by hand: N = 3, M = 4, n uniform on
// 1..3; |X_2| = 9.
func TestStateByHand(t *testing.T) {
	target := newTarget(t, 3, 4, kir.Uniform(1, 3),
		wish("first", 2, func(x *kir.Composition) float64 { return float64(x.Amount(0)) }),
		wish("nothing", 0, func(x *kir.Composition) float64 { return 0 }),
		wish("used", 0.5, func(x *kir.Composition) float64 { return float64(x.Used()) }))
	x, err := kir.NewState(target, newComposition(t, 3, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-14*math.Abs(want) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("the log score", x.LogScore(), 2*math.Log(3)+0.5*math.Log(2))
	near("the log density", x.LogDensity(), math.Log(1./3/9)+2*math.Log(3)+0.5*math.Log(2))
	scores := x.AppendScores([]float64{7})
	for k, want := range []float64{7, 3, 0, 2} {
		near(fmt.Sprint("score ", k), scores[k], want)
	}
	if x.Target() != target || len(target.Wishes()) != 3 || target.Space().N() != 3 {
		t.Error("the state's target is not the target")
	}
	for _, n := range []int{-1, 0, 4, 100} {
		if got := target.LogLaw(n); !math.IsInf(got, -1) {
			t.Errorf("LogLaw(%d) = %v", n, got)
		}
	}
	if _, err := kir.NewState(target, newComposition(t, 3, 0, 2)); err == nil {
		t.Error("a composition of another total is a state")
	}
	if _, err := kir.NewState(target, newComposition(t, 3, 0, 1, 0)); err == nil {
		t.Error("a composition of more ingredients is a state")
	}
}

// Scores that a chain keeps up to date along the way are what they would be if
// they were computed anew, and its compositions stay whole.
func TestLongChainsKeepTheirScores(t *testing.T) {
	const ingredients, total = 12, 30
	tree := newTreeProperty(ingredients, total)
	spread := wish("spread", 1.5, func(x *kir.Composition) float64 {
		sum := 0
		for _, i := range x.Ingredients() {
			sum += x.Amount(int(i)) * x.Amount(int(i))
		}
		return 1 / float64(sum)
	})
	target := newTarget(t, ingredients, total, kir.Uniform(1, 8), kir.Wish{Name: "tree", Property: tree, Weight: 2.5}, spread)
	for _, name := range []string{"accelerated", "gibbs", "naive", "balanced"} {
		k, err := kir.NewKernel(name, target)
		if err != nil {
			t.Fatal(err)
		}
		c, err := kir.NewChain(target, k, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			if err := c.Advance(5); err != nil {
				t.Fatal(err)
			}
			x := c.State
			if err := x.Composition.Consistent(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if x.Composition.Total() != total {
				t.Fatalf("%s: total %d", name, x.Composition.Total())
			}
			want, err := target.LogScore(x.Composition)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(x.LogScore()-want) > 1e-12*math.Abs(want) {
				t.Fatalf("%s: at %v the log score is %v, want %v", name, x.Composition, x.LogScore(), want)
			}
			scores := []float64{tree.score(amounts(x.Composition)), math.Exp(spread.Property.LogScore(x.Composition))}
			if got := x.AppendScores(nil); math.Abs(got[0]/scores[0]-1) > 1e-14 || math.Abs(got[1]/scores[1]-1) > 1e-14 {
				t.Fatalf("%s: at %v the scores are %v, want %v", name, x.Composition, got, scores)
			}
		}
		if tally := c.Tally(); tally.Updated == 0 || tally.Iterations != 10_000 {
			t.Errorf("%s: %+v", name, tally)
		}
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
				y := func(x *kir.Composition) float64 {
					if spoilt && x.Amount(0) > 0 {
						return b.value
					}
					return 1
				}
				good := kir.Wish{Name: "good", Property: newTreeProperty(12, 8), Weight: 1}
				target := newTarget(t, 12, 8, kir.Uniform(1, 6), good, wish("bad", weight, y))
				k, err := kir.NewKernel(kernel, target)
				if err != nil {
					t.Fatal(err)
				}
				c, err := kir.NewChain(target, k, 1, 0)
				if err != nil {
					t.Fatal(err)
				}
				spoilt = true
				err = c.Advance(100_000)
				var score *kir.ScoreError
				if !errors.As(err, &score) || score.Wish != "bad" || !strings.HasPrefix(err.Error(), kernel+": ") ||
					!strings.Contains(err.Error(), b.want) || !strings.Contains(score.State, "{0: ") || !strings.Contains(err.Error(), score.State) {
					t.Errorf("%s, %s: got %v", kernel, b.name, err)
				}
				if tally := c.Tally(); tally.Updated > tally.Accepted || tally.Accepted > tally.Iterations {
					t.Errorf("%s, %s: %+v", kernel, b.name, tally)
				}
			}
		}

		// And before there is a kernel.
		y := func(x *kir.Composition) float64 { return b.value }
		target := newTarget(t, 40, 40, kir.Uniform(1, 6), wish("bad", 1, y))
		if _, _, err := kir.StartState(target, kir.NewRand(1, "test", 0)); !errors.As(err, new(*kir.ScoreError)) {
			t.Errorf("%s: a chain starts with %v", b.name, err)
		}
		if _, err := kir.NewState(target, newComposition(t, slices.Repeat([]int{1}, 40)...)); !errors.As(err, new(*kir.ScoreError)) {
			t.Errorf("%s: a state begins with %v", b.name, err)
		}
		if _, err := target.LogScore(newComposition(t, slices.Repeat([]int{1}, 40)...)); !errors.As(err, new(*kir.ScoreError)) {
			t.Errorf("%s: a score is computed with %v", b.name, err)
		}
		// A small space is looked at before the kernel is made.
		small := newTarget(t, 3, 3, kir.Uniform(1, 3), wish("bad", 1, y))
		for name, make := range map[string]func(*kir.Target) (kir.Kernel, error){"accelerated": shipped("accelerated"), "gibbs": shipped("gibbs")} {
			if _, err := make(small); !errors.As(err, new(*kir.ScoreError)) || !strings.HasPrefix(err.Error(), name) {
				t.Errorf("%s: %s is made with %v", b.name, name, err)
			}
		}
		// Of weight 0 it is never asked.
		free := newTarget(t, 3, 3, kir.Uniform(1, 3), wish("bad", 0, y))
		if _, _, err := kir.StartState(free, kir.NewRand(1, "test", 0)); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}

// A score that is finite but not when it is raised to its weight is one too.
func TestScoreOverflow(t *testing.T) {
	target := newTarget(t, 40, 40, kir.Uniform(1, 6), wish("steep", 1e308, func(x *kir.Composition) float64 { return 1e10 }))
	if _, _, err := kir.StartState(target, kir.NewRand(1, "test", 0)); err == nil || !strings.Contains(err.Error(), `"steep", to the power of its weight, is infinite`) {
		t.Errorf("got %v", err)
	}
}

// badProposal proposes what it is told to.
type badProposal func(r *kir.Rand, x, y *kir.Composition) (float64, error)

func (p badProposal) Propose(r *kir.Rand, x, y *kir.Composition) (float64, error) { return p(r, x, y) }

func TestBadProposals(t *testing.T) {
	target := newTarget(t, 3, 4, kir.Uniform(1, 3), wish("bad", 1, func(x *kir.Composition) float64 {
		if x.Amount(2) > 3 {
			return math.NaN()
		}
		return 1
	}))
	broken := errors.New("out of order")
	set := func(y *kir.Composition, amounts ...int) error {
		var parts []kir.Part
		for i, a := range amounts {
			if a > 0 {
				parts = append(parts, kir.Part{Ingredient: i, Amount: a})
			}
		}
		return y.SetParts(parts...)
	}
	for name, c := range map[string]struct {
		propose badProposal
		want    []string
	}{
		"NaN":      {func(*kir.Rand, *kir.Composition, *kir.Composition) (float64, error) { return math.NaN(), nil }, []string{"NaN", "{0: 1, 1: 3}"}},
		"+Inf":     {func(*kir.Rand, *kir.Composition, *kir.Composition) (float64, error) { return math.Inf(1), nil }, []string{"+Inf", "{0: 1, 1: 3}"}},
		"an error": {func(*kir.Rand, *kir.Composition, *kir.Composition) (float64, error) { return 0, broken }, []string{"out of order", "{0: 1, 1: 3}"}},
		"off the space": {func(_ *kir.Rand, _, y *kir.Composition) (float64, error) { return 0, set(y, 1, 4, 0) },
			[]string{"{0: 1, 1: 3}", "{0: 1, 1: 4}", "sum to 5", "total of 4"}},
		"nothing at all": {func(_ *kir.Rand, _, y *kir.Composition) (float64, error) { return 0, set(y) }, []string{"{0: 1, 1: 3}", "sum to 0"}},
		"a bad score": {func(_ *kir.Rand, _, y *kir.Composition) (float64, error) { return 0, set(y, 0, 0, 4) },
			[]string{`"bad"`, "{2: 4}"}},
	} {
		x, err := kir.NewState(target, newComposition(t, 1, 3, 0))
		if err != nil {
			t.Fatal(err)
		}
		err = kir.NewMetropolis("mine", target, c.propose).Advance(kir.NewRand(1, "test", 0), x, 10, new(kir.Tally))
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
	narrow := newTarget(t, 3, 4, kir.Uniform(2, 2))
	for name, propose := range map[string]badProposal{
		"no way back": func(_ *kir.Rand, _, y *kir.Composition) (float64, error) { return math.Inf(-1), set(y, 2, 2, 0) },
		"no mass":     func(_ *kir.Rand, _, y *kir.Composition) (float64, error) { return 700, set(y, 4, 0, 0) },
	} {
		x, err := kir.NewState(narrow, newComposition(t, 1, 3, 0))
		if err != nil {
			t.Fatal(err)
		}
		var tally kir.Tally
		if err := kir.NewMetropolis("mine", narrow, propose).Advance(kir.NewRand(1, "test", 0), x, 10, &tally); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if tally.Iterations != 10 || tally.Accepted != 0 || x.Composition.String() != "{0: 1, 1: 3}" {
			t.Errorf("%s: %+v at %v", name, tally, x.Composition)
		}
	}
}

// A state that a kernel cannot move from is an error of every kernel, which
// names it and the state.
func TestBadStates(t *testing.T) {
	zero := wish("zero", 1, func(x *kir.Composition) float64 { return float64(x.Amount(0)) })
	plain, scored := newTarget(t, 3, 4, kir.Uniform(1, 2)), newTarget(t, 3, 4, kir.Uniform(1, 2), zero)
	kernels := map[string]func(*kir.Target) (kir.Kernel, error){"mine": func(t *kir.Target) (kir.Kernel, error) {
		return kir.NewMetropolis("mine", t, handOver{}), nil
	}}
	for _, name := range kir.KernelNames() {
		kernels[name] = shipped(name)
	}
	for name, make := range kernels {
		for _, c := range []struct {
			target *kir.Target
			x      *kir.Composition
			spoil  func(x *kir.State) error
			want   string
		}{
			{plain, newComposition(t, 2, 1, 1), nil, "{0: 2, 1: 1, 2: 1} no density"},
			{scored, newComposition(t, 0, 3, 1), nil, "{1: 3, 2: 1} no density"},
			{plain, newComposition(t, 2, 2, 0), func(x *kir.State) error { return x.Composition.SetParts(kir.Part{Ingredient: 0, Amount: 5}) }, "{0: 5} sum to 5"},
		} {
			k, err := make(c.target)
			if err != nil {
				continue // exact, with a wish
			}
			x, err := kir.NewState(c.target, c.x.Clone())
			if err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				if err := c.spoil(x); err != nil {
					t.Fatal(err)
				}
			}
			err = k.Advance(kir.NewRand(1, "test", 0), x, 1, new(kir.Tally))
			if err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		}
		k, err := make(plain)
		if err != nil {
			t.Fatal(err)
		}
		x, err := kir.NewState(newTarget(t, 3, 4, kir.Uniform(1, 2)), newComposition(t, 2, 2, 0))
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Advance(kir.NewRand(1, "test", 0), x, 1, new(kir.Tally)); err == nil || !strings.Contains(err.Error(), "{0: 2, 1: 2} belongs to another target") {
			t.Errorf("%s moves a state of another target: %v", name, err)
		}
	}
}

// lineOf is a property whose lines are what it is told.
type lineOf struct {
	starts []int
	value  float64
}

func (lineOf) LogScore(*kir.Composition) float64    { return 0 }
func (l lineOf) Scorer(*kir.Composition) kir.Scorer { return lineOfScorer{l} }

type lineOfScorer struct{ lineOf }

func (lineOfScorer) Reset()            {}
func (lineOfScorer) LogScore() float64 { return 0 }
func (lineOfScorer) Moved(i, j int)    {}
func (l lineOfScorer) Line(i, j int, p *kir.Pieces) {
	for _, start := range l.starts {
		p.Add(start, l.value)
	}
}

func TestBadLines(t *testing.T) {
	for _, c := range []struct {
		line lineOf
		want string
	}{
		{lineOf{nil, 0}, "no pieces"},
		{lineOf{[]int{1}, 0}, "starts at split 1"},
		{lineOf{[]int{0, 0}, 0}, "starts at split 0 after 0"},
		{lineOf{[]int{0, 2, 1}, 0}, "starts at split 1 after 2"},
		{lineOf{[]int{0, 100_000}, 0}, "starts at split 100000"},
		{lineOf{[]int{0}, math.NaN()}, "not a number"},
		{lineOf{[]int{0}, math.Inf(1)}, "infinite"},
	} {
		for _, kernel := range []string{"accelerated", "gibbs", "balanced"} {
			target := newTarget(t, 300, 5000, kir.Uniform(2, 3), kir.Wish{Name: "odd", Property: c.line, Weight: 1})
			k, err := kir.NewKernel(kernel, target)
			if err != nil {
				t.Fatal(err)
			}
			chain, err := kir.NewChain(target, k, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			err = chain.Advance(10_000)
			if err == nil || !strings.HasPrefix(err.Error(), kernel+": ") || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"odd"`) || !strings.Contains(err.Error(), "{") {
				t.Errorf("%s: got %v, want %q", kernel, err, c.want)
			}
		}
	}
}

func TestKernelNames(t *testing.T) {
	target := newTarget(t, 3, 4, kir.Uniform(1, 3))
	if !slices.IsSorted(kir.KernelNames()) {
		t.Errorf("%v", kir.KernelNames())
	}
	for _, name := range kir.KernelNames() {
		if _, err := kir.NewSampler(name, target); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := kir.NewSampler("acelerated", target)
	for _, name := range append(kir.KernelNames(), `"acelerated"`) {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want it to name %s", err, name)
		}
	}
}

func TestMixErrors(t *testing.T) {
	target := newTarget(t, 3, 4, kir.Uniform(1, 3))
	for _, m := range []kir.Mix{{}, {Line: -1}, {Resize: math.NaN()}, {Recall: 1, Refresh: math.Inf(1)}} {
		if _, err := kir.NewBalancedMix(target, m); err == nil || !strings.Contains(err.Error(), "balanced: ") {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// Moves are told by their names, whatever the order in which tallies met them.
func TestTallyAdds(t *testing.T) {
	a := kir.Tally{Iterations: 5, Accepted: 4, Updated: 3}
	a.Of("line", "resize")[1] = kir.MoveTally{Name: "resize", Tried: 5, Accepted: 4, Updated: 3}
	b := kir.Tally{Iterations: 50, Accepted: 40, Updated: 30}
	copy(b.Of("resize", "swap"), []kir.MoveTally{{Name: "resize", Tried: 10, Accepted: 9, Updated: 8}, {Name: "swap", Tried: 1}})
	a.Add(b)
	want := kir.Tally{Iterations: 55, Accepted: 44, Updated: 33, Moves: []kir.MoveTally{
		{Name: "line"}, {Name: "resize", Tried: 15, Accepted: 13, Updated: 11}, {Name: "swap", Tried: 1},
	}}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("%+v, want %+v", a, want)
	}
	if again := a.Of("resize", "swap"); len(a.Moves) != 3 || again[0].Tried != 15 {
		t.Errorf("%+v of %+v", again, a)
	}
}

// StartState draws again while a property is 0, and says how often.
func TestStartTries(t *testing.T) {
	target := newTarget(t, 50, 10, kir.Uniform(1, 3), wish("has 0", 1, func(x *kir.Composition) float64 { return float64(x.Amount(0)) }))
	r := kir.NewRand(1, "test", 0)
	tries := 0
	for range 100 {
		x, n, err := kir.StartState(target, r)
		if err != nil {
			t.Fatal(err)
		}
		if x.Composition.Amount(0) == 0 || n < 1 || math.IsInf(x.LogDensity(), 0) {
			t.Fatalf("%v after %d", x.Composition, n)
		}
		tries += n
	}
	// A draw has ingredient 0 with probability (1+2+3)/3/50 = 0.04: 2,500
	// draws are expected for 100, with an sd of 245. Six of those are passed
	// with probability below 1e-8; the seed is fixed.
	if tries < 1030 || tries > 3970 {
		t.Errorf("%d draws for 100 starts", tries)
	}
}
