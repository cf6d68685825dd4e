package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// TestAppendPair: a comparison is added to those of the file that count, whatever stands
// in it; what does not count any more is kept in a copy, and what is no file of
// comparisons is left alone.
func TestAppendPair(t *testing.T) {
	const head = "pair,choice,ingredient,amount\n"
	one := "1,better,Gin,3\n1,worse,Rum,2\n1,worse,Ice,1\n"
	two := "7,better,Ice,3\n7,worse,Gin,3\n"
	const added = ",better,Rum,4\nN,better,Gin,2\nN,better,Ice,2\nN,worse,Gin,8\n"
	with := func(n string) string { return n + strings.ReplaceAll(added, "N", n) }
	for name, c := range map[string]struct {
		has    string
		first  int
		pairs  int
		want   string
		before bool
	}{
		"no file":          {"", 0, 1, head + with("1"), false},
		"a head":           {head, 0, 1, head + with("1"), false},
		"one":              {head + one, 0, 2, head + one + with("2"), false},
		"one that counts":  {head + one, 1, 2, head + one + with("2"), false},
		"two, of any name": {head + one + two, 0, 3, head + one + two + with("8"), false},
		"two of one":       {head + one + two, 1, 2, head + one + with("2"), true},
		"fewer than count": {head + one, 9, 2, head + one + with("2"), false},
		"words":            {head + "x,better,Gin,1\nx,worse,Ice,1\n", 0, 2, head + "x,better,Gin,1\nx,worse,Ice,1\n" + with("1"), false},
	} {
		path := filepath.Join(t.TempDir(), "tasted.csv")
		if c.has != "" {
			if err := os.WriteFile(path, []byte(c.has), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		pairs, err := appendPair(path, c.first, map[string]int{"Ice": 2, "Rum": 4, "Gin": 2}, map[string]int{"Gin": 8})
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != c.want || pairs != c.pairs {
			t.Errorf("%s: %d pairs, %v:\n%swant %d:\n%s", name, pairs, err, got, c.pairs, c.want)
		}
		if before, err := os.ReadFile(path + ".before"); (err == nil) != c.before || c.before && string(before) != c.has {
			t.Errorf("%s: before it was %q, %v", name, before, err)
		}
	}
	path := filepath.Join(t.TempDir(), "tasted.csv")
	for _, bad := range []string{"a,b\n", "pair,choice,ingredient,amount\n\"", "pair,choice,ingredient,amount\n1,2\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := appendPair(path, 0, map[string]int{"Gin": 1}, map[string]int{"Rum": 1}); !errors.As(err, new(*inputerr.Error)) {
			t.Errorf("%q: %v", bad, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != bad {
			t.Errorf("%q became %q, %v", bad, got, err)
		}
	}
	if _, err := appendPair(filepath.Dir(path), 0, nil, nil); err == nil {
		t.Error("a directory is a file of comparisons")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := appendPair(path, 0, map[string]int{"Gin": 1}, map[string]int{"Rum": 0}); err == nil || err.Error() != `the amount of "Rum" is 0` {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"total: 1\n": "  0", "properties: {}\n": "  0", "properties: {a: {expression: x}}\n": "  0", "properties: {a: {preference: {}}}\n": "  0",
		"properties: {a: {expression: x}, b: {preference: {pairs: p.csv}}}\n": "b p.csv 0", "properties: {b: {preference: {pairs: p.csv, first: 3}}, c: {preference: {pairs: q.csv}}}\n": "b p.csv 3",
	} {
		root, err := yaml.Parse("problem", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		name, file, first := findPreferenceProperty(root)
		if got := fmt.Sprint(name, " ", file, " ", first); got != want {
			t.Errorf("%s has %q, want %q", text, got, want)
		}
	}
}

// TestAskNext: without answers any two that differ are asked about, and where there are
// none, nothing is.
func TestAskNext(t *testing.T) {
	of := func(amount int) *mcmc.Composition {
		x, err := mcmc.NewComposition(2, mcmc.Part{Ingredient: 0, Amount: amount}, mcmc.Part{Ingredient: 1, Amount: 9 - amount})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	r := mcmc.NewRand(1, "test", 0)
	for range 50 {
		if a, b := chooseQuestion(nil, []*mcmc.Composition{of(1), of(1), of(1), of(2)}, r); a == nil || a.Equal(b) {
			t.Fatalf("%v and %v are asked about", a, b)
		}
	}
	if a, b := chooseQuestion(nil, []*mcmc.Composition{of(1), of(1)}, r); a != nil || b != nil {
		t.Errorf("%v and %v are asked about", a, b)
	}
}

// TestPairsOfTheBook: known recipes are asked about beside draws, a good part of the
// time and each of them, also those that break a rule by now.
func TestPairsOfTheBook(t *testing.T) {
	s := asking(t)
	p := s.currentStepWork.problem
	known, err := p.KnownRecipes()
	if err != nil {
		t.Fatal(err)
	}
	asked, of := make([]int, len(known)), 0
	for seed := range uint64(40) {
		p.Sampler.Seed = seed
		answer, err := s.respondWithQuestion(httptest.NewRequest("GET", "/pair", nil))
		if err != nil {
			t.Fatal(err)
		}
		q := answer.(*Question)
		if q.ComparedPairs != 0 || q.Expected != 0.5 || q.Certainty != "" || maps.Equal(q.A, q.B) {
			t.Fatalf("nothing was answered, and it says %+v", q)
		}
		for _, recipe := range []map[string]int{q.A, q.B} {
			if k := slices.IndexFunc(known, func(x *mcmc.Composition) bool { return maps.Equal(s.currentStepWork.amountsByName(x), recipe) }); k >= 0 {
				asked[k]++
				of++
			}
		}
	}
	// A quarter of the pool: 20 of 80 are expected, with a standard deviation of 3.9.
	if of < 4 || of > 36 || slices.Min(asked) == 0 {
		t.Errorf("of 80 recipes %d are of the book: %v", of, asked)
	}
}

// TestChains: chains go on from the draws that fit, weighed by how much more likely they
// are now, are cut to the same length when they are looked at, and are drawn by balanced
// where the problem's kernel is none of one state or cannot go everywhere.
func TestChains(t *testing.T) {
	space, err := mcmc.NewSpace(4, 6)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Table(map[int]float64{1: 1, 3: 1}), mcmc.Objective{Name: "y", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(x.Amount(0)) / 6 })})
	if err != nil {
		t.Fatal(err)
	}
	c := newDrawingChains(target, new(processorGate))
	draw := func(density float64, amounts ...int) keptDraw {
		d := keptDraw{logDensity: density}
		for i, a := range amounts {
			if a > 0 {
				d.parts = append(d.parts, mcmc.Part{Ingredient: i, Amount: a})
			}
		}
		return d
	}
	// Of one ingredient each composition has 1/2/4, and of three 1/2/40; the second has
	// no score, the third no law, the fourth is none of the space.
	starts, weights := c.reusableDraws([]keptDraw{draw(0, 6), draw(0, 0, 6), draw(0, 3, 3), draw(0, 7), draw(1, 2, 2, 2)})
	if len(starts) != 2 || starts[1].parts[0].Amount != 2 || weights[0] != 1 || math.Abs(weights[1]-math.Exp(-1)/3/10) > 1e-12 {
		t.Errorf("%v fit, with %v", starts, weights)
	}
	if starts, weights := c.reusableDraws([]keptDraw{draw(0, 0, 6)}); starts != nil || weights != nil {
		t.Errorf("%v fit, with %v", starts, weights)
	}
	r := mcmc.NewRand(1, "test", 0)
	for range 20 {
		if x, err := c.startState(r, starts[:1], weights[:1]); err != nil || x.Composition.Amount(0) != 6 || x.LogScore() != 0 {
			t.Fatalf("it starts at %v, %v", x, err)
		}
	}
	for k, n := range []int{3, 1, 2, 5} {
		for range n {
			c.traces[k].draws = append(c.traces[k].draws, draw(float64(k), 6))
		}
		c.traces[k].drawsSeen = 10 * n
	}
	kept, made := c.draws()
	if made != 110 || len(kept) != 4 || len(kept[0]) != 1 || len(kept[3]) != 1 || kept[3][0].logDensity != 3 {
		t.Errorf("%d draws, kept are %v", made, kept)
	}
	for _, kernel := range []string{"tempered", "gibbs", "balanced"} {
		c := newDrawingChains(target, new(processorGate))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		ended := make(chan error, 1)
		go func() { ended <- c.drawUntilDone(ctx, kernel, 3, []keptDraw{draw(0, 6), draw(0, 7)}) }()
		for c.traces[0].drawCount() < 40 || c.traces[3].drawCount() < 40 {
			time.Sleep(time.Millisecond)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || c.reusableDrawCount.Load() != 1 {
			t.Errorf("%s: %v, from %d", kernel, err, c.reusableDrawCount.Load())
		}
		ones, threes := 0, 0
		for _, tr := range c.traces {
			for _, d := range tr.draws {
				switch len(d.parts) {
				case 1:
					ones++
				case 3:
					threes++
				default:
					t.Fatalf("%s draws %v", kernel, d.parts)
				}
			}
		}
		if ones == 0 || threes == 0 {
			t.Errorf("%s: %d of one ingredient and %d of three", kernel, ones, threes)
		}
	}
	if err := c.drawUntilDone(t.Context(), "fast", 1, nil); err == nil {
		t.Error("there is a kernel fast")
	}
}
