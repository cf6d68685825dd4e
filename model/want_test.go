package model

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFixed compares fixed with exact arithmetic.
func TestFixed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		whole := 1 + random.Int64N(1<<(1+random.IntN(31))-1)
		all := whole * fullDesire
		part := random.Int64N(whole+1) * fullDesire
		switch random.IntN(8) {
		case 0:
			part = 0
		case 1:
			part = all
		case 2:
			part = fullDesire
		case 3:
			part = random.Int64N(all + 1)
		case 4:
			part = 1
		case 5:
			part = all - 1
		}
		got := toFixedPoint(part, whole)
		// |got/2⁴⁰ − part/all| ≤ 2⁻⁴¹, but next to 0 and 1 up to 2⁻⁴⁰
		gap := new(big.Rat).Sub(big.NewRat(got, 1<<fixedPointBits), big.NewRat(part, all))
		bound := big.NewRat(1, 2<<fixedPointBits)
		if got == 1 || got == 1<<fixedPointBits-1 {
			bound = big.NewRat(1, 1<<fixedPointBits)
		}
		if gap.Abs(gap).Cmp(bound) > 0 {
			t.Fatalf("fixed(%d, %d) = %d is off by %v", part, whole, got, gap)
		}
		if (got == 0) != (part == 0) || (got == 1<<fixedPointBits) != (part == all) {
			t.Fatalf("fixed(%d, %d) = %d: only none is 0 and only all is 1", part, whole, got)
		}
	}
}

// TestScoreIsTheShareOfTheLaw compares scores with the law of the label.
func TestScoreIsTheShareOfTheLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for name, b := range growingBooks {
		d := b.data()
		withGroups(d, random)
		f := mustGrow(t, d, Options{Seed: 1, SmallestLeaf: 3})
		var wants []Want
		if f.Numeric() {
			v := f.numbers
			wants = []Want{AtLeast(v[20]), AtMost(v[20]), Between(v[10], v[50]), Between(v[10]+1e-9, v[10]+2e-9), AtLeast(v[len(v)-1] + 1), AtMost(v[len(v)-1]), Maximize(), Minimize()}
		} else {
			wants = []Want{AnyOf(f.classes[0]), AnyOf(f.classes[1:]...), AnyOf(f.classes...)}
		}
		for _, w := range wants {
			s := mustScore(t, f, w)
			desires, _ := w.labelDesires(f)
			for range 50 {
				x := b.composition(random, nil)
				want, sum := 0.0, 0.0
				for l, p := range f.labelWeights(x) {
					sum += p
					want += p * float64(desires[l]) / fullDesire
				}
				near(t, name+": the sum of the law", sum, 1)
				near(t, name+": the probability of "+w.String(), s.Probability(s.Point(x)), want)
				if (want == 0) != (s.Point(x) == 0) {
					t.Errorf("%s: a probability of %g has the sum %d", name, want, s.Point(x))
				}
			}
		}
	}
}

func TestPredictions(t *testing.T) {
	f := mustGrow(t, growingBooks["numbers"].data(), Options{Seed: 1})
	x := growingBooks["numbers"].composition(rand.New(rand.NewPCG(9, 9)), nil)
	mean := 0.0
	for l, p := range f.labelWeights(x) {
		mean += p * f.numbers[l]
	}
	near(t, "mean", f.Mean(x), mean)
	low, high := f.Range()
	if f.Quantile(x, 0) < low || f.Quantile(x, 1) > high {
		t.Errorf("quantiles 0 and 1 are %g and %g, the labels %g to %g", f.Quantile(x, 0), f.Quantile(x, 1), low, high)
	}
	for _, p := range []float64{0.01, 0.2, 0.5, 0.9, 1} {
		at := f.Quantile(x, p)
		upTo := mustScore(t, f, AtMost(at))
		below := mustScore(t, f, AtMost(math.Nextafter(at, math.Inf(-1))))
		if got := upTo.Probability(upTo.Point(x)); got < p-1e-9 {
			t.Errorf("P(X ≤ quantile %g) = %g", p, got)
		}
		if got := below.Probability(below.Point(x)); got >= p {
			t.Errorf("P(X < quantile %g) = %g", p, got)
		}
	}
	if f.Shares(x) != nil {
		t.Error("a numeric forest has no class shares")
	}
	defer func() {
		if recover() == nil {
			t.Error("the mean of a class should panic")
		}
	}()
	mustGrow(t, cocktailBook.data(), Options{Trees: 1}).Mean(make([]int32, 65))
}

// TestDirectionsTellTheMean compares the scores of Maximize and Minimize with the
// mean that they stand for, and their lines with their points.
func TestDirectionsTellTheMean(t *testing.T) {
	b := growingBooks["numbers"]
	f := mustGrow(t, b.data(), Options{Seed: 1})
	least, greatest := f.Range()
	up, down := mustScore(t, f, Maximize()), mustScore(t, f, Minimize())
	random := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		x := b.composition(random, nil)
		mean := f.Mean(x)
		near(t, "maximize", up.Probability(up.Point(x)), (mean-least)/(greatest-least))
		near(t, "minimize", down.Probability(down.Point(x)), (greatest-mean)/(greatest-least))
		near(t, "the value of maximize", up.Value(up.Point(x)), mean)
		near(t, "the value of minimize", down.Value(down.Point(x)), mean)
	}
	if v := mustScore(t, f, AtLeast(1)).Value(0); !math.IsNaN(v) {
		t.Errorf("the probability of at least 1 has the value %g", v)
	}
	flat := mustGrow(t, &Data{Label: "y", Ingredients: []string{"a"}, Total: 1, Rows: [][]Part{nil, nil}, Numbers: []float64{4, 4}}, Options{Trees: 1})
	if _, err := flat.Score(Maximize()); err == nil || !strings.Contains(err.Error(), "is 4 in every row") {
		t.Errorf("maximize where all labels are equal: %v", err)
	}
}

func TestWants(t *testing.T) {
	classes := mustGrow(t, cocktailBook.data(), Options{Trees: 1})
	numbers := mustGrow(t, growingBooks["numbers"].data(), Options{Trees: 1})
	for _, c := range []struct {
		forest *Forest
		want   Want
		text   string
		err    string // "": none
	}{
		{classes, AnyOf("a"), "a", ""},
		{classes, AnyOf("a", "c"), "a or c", ""},
		{classes, AnyOf("a", "z"), "a or z", `"taste" has no class "z"; it has a, b, c, d, e, f`},
		{classes, AnyOf(), "", "no class of \"taste\" is wanted"},
		{classes, Maximize(), "as large as possible", `"taste" is not a number; its classes are a, b`},
		{numbers, Minimize(), "as small as possible", ""},
		{classes, AtLeast(3), "at least 3", `"taste" is not a number; its classes are a, b`},
		{numbers, AnyOf("a"), "a", `"taste" is a number from`},
		{numbers, AtLeast(2.5), "at least 2.5", ""},
		{numbers, AtMost(-1e9), "at most -1e+09", ""},
		{numbers, Between(1, 2), "between 1 and 2", ""},
		{numbers, Between(2, 1), "between 2 and 1", "no number is between 2 and 1"},
		{numbers, AtLeast(math.NaN()), "at least NaN", "no number is between NaN"},
		{numbers, AtMost(math.NaN()), "at most NaN", "no number is between"},
		{numbers, AtLeast(math.Inf(1)), "at least +Inf", "no number is between"},
		{numbers, AtLeast(math.Inf(-1)), "at least -Inf", ""},
	} {
		s, err := c.forest.Score(c.want)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.want, err, c.err)
		}
		low, high, bounded := c.want.Bounds()
		if said := fmt.Sprint(low, high, bounded); said != cmp.Or(map[string]string{"at least 3": "3 +Inf true", "at least 2.5": "2.5 +Inf true", "at most -1e+09": "-Inf -1e+09 true", "between 1 and 2": "1 2 true", "between 2 and 1": "2 1 true",
			"at least NaN": "NaN +Inf true", "at most NaN": "-Inf NaN true", "at least +Inf": "+Inf +Inf true", "at least -Inf": "-Inf +Inf true"}[c.text], "0 0 false") {
			t.Errorf("%s has the bounds %s", c.text, said)
		}
		if c.want.String() != c.text {
			t.Errorf("want %q reads %q", c.text, c.want)
		}
		if err == nil && s.Want().String() != c.text {
			t.Errorf("the score of %q is of %q", c.text, s.Want())
		}
	}
}

// A scale that is given takes the place of the forest's own, and its ends those of
// labels beyond it.
func TestWantOver(t *testing.T) {
	data := &Data{Label: "rating", Ingredients: []string{"a", "b"}, Total: 10}
	for k := range 11 {
		data.Rows = append(data.Rows, PositiveParts([]int32{int32(k), int32(10 - k)}))
		data.Numbers = append(data.Numbers, float64(k))
	}
	f, err := Grow(t.Context(), data, Options{Trees: 30, Seed: 1, SmallestLeaf: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := []int32{6, 4}
	for _, c := range []struct {
		want Want
		to   func(mean float64) float64
	}{
		{Maximize().WithScale(-10, 30), func(mean float64) float64 { return (mean + 10) / 40 }},
		{Minimize().WithScale(-10, 30), func(mean float64) float64 { return (30 - mean) / 40 }},
		{Maximize().WithScale(20, 30), func(float64) float64 { return 0 }},
		{Maximize().WithScale(-9, -5), func(float64) float64 { return 1 }},
	} {
		s, err := f.Score(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.Probability(s.Point(x)), c.to(f.Mean(x)); math.Abs(got-want) > 1e-6 {
			t.Errorf("%v: scores %v, want %v", c.want, got, want)
		}
	}
}
