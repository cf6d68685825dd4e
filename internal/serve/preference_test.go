package serve

import (
	"context"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/property"
)

// A drinker is a made-up taste: so much of each kind of ingredient is liked, and each
// ingredient a third as much more or less than its kind. It answers as Bradley and
// Terry have it, so that asked twice about two random drinks it says the same in
// nine of ten.
type drinker struct {
	of   []float64 // by ingredient
	root bool      // of the roots of shares, else of shares
	r    *rand.Rand
}

// firmness is the standard deviation of what a drinker makes of a kind.
const firmness = 10

func newDrinker(g *ingredientGroups, seed uint64, root bool) *drinker {
	d := &drinker{of: make([]float64, len(g.groupOfIngredient)), root: root, r: rand.New(rand.NewPCG(seed, 7))}
	kinds := make([]float64, len(g.values))
	for k := range kinds {
		kinds[k] = firmness * d.r.NormFloat64()
	}
	for i, k := range g.groupOfIngredient {
		d.of[i] = kinds[k] + firmness/3*d.r.NormFloat64()
	}
	return d
}

func (d *drinker) likes(x *mcmc.Composition) (u float64) {
	for _, i := range x.Ingredients() {
		share := float64(x.Amount(int(i))) / float64(x.Total())
		if d.root {
			share = math.Sqrt(share)
		}
		u += d.of[i] * share
	}
	return u
}

func (d *drinker) choose(x, y *mcmc.Composition) property.Pair {
	if d.r.Float64() < 1/(1+math.Exp(d.likes(y)-d.likes(x))) {
		return property.Pair{Better: x, Worse: y}
	}
	return property.Pair{Better: y, Worse: x}
}

// TestTaste: twenty answers to the pairs that are asked tell eight of ten other pairs
// right, on average over sixty drinkers, thirty in short, and the share that is stated is within
// five points of that. The standard error of the mean over sixty drinkers is 0.007, and 0.014 of the
// pairs that were asked, each left out in turn; over thirty 0.010 and 0.020. Of a hundred
// drinkers 0.84 are told right and 0.81 stated by roots, 0.81 and 0.80 by shares. With
// pairs asked at random it is 0.80 and 0.79, and with the posterior taken
// about its mode (Laplace) the share stated is 0.6.
func TestTaste(t *testing.T) {
	p, err := compile.Load(context.Background(), filepath.Join("..", "..", "examples", "cocktails", "bar.yaml"), compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := newIngredientGroups(p)
	pool, err := p.KnownRecipes()
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := mcmc.NewKernel("balanced", p.Target)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcmc.NewChain(p.Target, kernel, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Warm(2000); err != nil {
		t.Fatal(err)
	}
	c.EndWarmup()
	for range 140 {
		if err := c.Advance(200); err != nil {
			t.Fatal(err)
		}
		pool = append(pool, c.State.Composition.Clone())
	}
	roots := []bool{true, false}
	drinkers := testmode.Pick(60, 30)
	for _, root := range roots[:testmode.Pick(2, 1)] {
		const asked, held = 20, 300
		each := 1 / float64(drinkers)
		right, stated, leftOut, leftStated := 0.0, 0.0, 0.0, 0.0
		for seed := range uint64(drinkers) {
			d := newDrinker(g, seed, root)
			r := mcmc.NewRand(seed, "test", 0)
			var pairs []property.Pair
			var taste *property.PreferencePosterior
			for range asked {
				x, y := chooseQuestion(taste, pool, r)
				pairs = append(pairs, d.choose(x, y))
				learnt, err := property.NewComparisons(len(p.Ingredients), p.Total, g.groupOfIngredient, pairs)
				if err != nil {
					t.Fatal(err)
				}
				taste = learnt.Posterior()
			}
			for n := 0; n < held; {
				x, y := pool[r.Intn(len(pool))], pool[r.Intn(len(pool))]
				if x.Equal(y) {
					continue
				}
				n++
				q := d.choose(x, y)
				share := taste.PreferenceProbability(q.Better, q.Worse)
				if share > 0.5 {
					right += each / held
				}
				stated += max(share, 1-share) * each / held
			}
			if !root {
				continue // leaving out takes long
			}
			h, err := property.CrossValidate(len(p.Ingredients), p.Total, g.groupOfIngredient, pairs)
			if err != nil {
				t.Fatal(err)
			}
			leftOut += h.Accuracy * each
			leftStated += h.ExpectedAccuracy * each
		}
		t.Logf("roots %v: right %.3f, stated %.3f; of asked pairs left out: right %.3f, stated %.3f", root, right, stated, leftOut, leftStated)
		if right < 0.8 {
			t.Errorf("roots %v: of the pairs held out %.3f are told right", root, right)
		}
		if math.Abs(right-stated) > 0.05 {
			t.Errorf("roots %v: %.3f are told right, and %.3f stated", root, right, stated)
		}
		if root && math.Abs(leftOut-leftStated) > 0.05 {
			t.Errorf("roots %v: of the asked pairs left out %.3f are told right, and %.3f stated", root, leftOut, leftStated)
		}
	}
}

// TestPrefer: answers are one step, stand in a file beside the problem, and count as
// far as a step's text says; what was taken back is kept in a copy.
func TestPrefer(t *testing.T) {
	file := smallCocktails(t)
	c := serving(t, file)
	c.drawn()
	a, b := map[string]int{"Gin": 500, "Lemon juice": 500}, map[string]int{"Milk": 600, "Campari": 400}
	for range 3 {
		c.must(Request{Action: "prefer", Better: a, Worse: b})
	}
	s := c.until("three answers", func(s *State) bool { return s.Phase == "drawing" })
	if len(s.Steps) != 2 || s.Steps[1].Change != "compared 3 pairs" || !strings.Contains(c.session.history.currentStep().Text, "first: 3") {
		t.Fatalf("the steps are %+v of\n%s", s.Steps, c.session.history.currentStep().Text)
	}
	c.must(Request{Action: "back", Step: 1})
	if strings.Contains(c.session.history.currentStep().Text, "preference") {
		t.Error("the way back keeps the taste")
	}
	c.must(Request{Action: "back", Step: 2})
	c.must(Request{Action: "ban", Ingredient: "Milk"})
	c.must(Request{Action: "prefer", Better: b, Worse: a})
	rows, err := os.ReadFile(filepath.Join(filepath.Dir(file), pairsFileName))
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(strings.NewReader(string(rows))).ReadAll()
	if err != nil || len(all) != 1+4*4 || all[16][0] != "4" {
		t.Errorf("the file is %q: %v", rows, err)
	}
	s = c.until("four answers", func(s *State) bool { return s.Phase == "drawing" })
	if w := s.Problem.Objectives[len(s.Problem.Objectives)-1]; w.Kind != "preference" || !strings.Contains(w.About, "4 comparisons") {
		t.Errorf("the objective is %+v", w)
	}
	// Back to three, and on in another way: the fourth is another one now.
	c.must(Request{Action: "back", Step: 2})
	c.must(Request{Action: "prefer", Better: a, Worse: map[string]int{"Absinthe": 1000}})
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), pairsFileName+".before")); err != nil {
		t.Errorf("what was taken back is lost: %v", err)
	}
	for _, bad := range []Request{{Action: "prefer"}, {Action: "prefer", Better: a, Worse: a}, {Action: "prefer", Better: a, Worse: map[string]int{"Gin": -1}}} {
		if status, _ := c.do(bad); status != 400 {
			t.Errorf("%+v: %d", bad, status)
		}
	}
}
