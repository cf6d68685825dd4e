package property_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/property"
)

// bar is a lexicon of five ingredients.
type bar struct{}

var (
	barNames    = []string{"Gin", "Lime juice", "Lemon juice", "Sugar", "Champagne"}
	barFamilies = []string{"spirit", "citrus", "citrus", "sweet", "wine"}
	barCosts    = []float64{20, 4.5, 4, 1.25, 30}
)

func (bar) Ingredient(name string) (int, error) {
	if i := slices.Index(barNames, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no ingredient %q", name)
}

func (bar) Group(attribute, value string) (of []int, err error) {
	for i, family := range barFamilies {
		if attribute == "family" && family == value {
			of = append(of, i)
		}
	}
	if of == nil {
		err = fmt.Errorf("no %s is %q", attribute, value)
	}
	return of, err
}

func (bar) Numbers(attribute string) ([]float64, error) {
	if attribute != "cost" {
		return nil, errors.New("there is no such attribute")
	}
	return barCosts, nil
}

func TestExpression(t *testing.T) {
	const total = 40
	share := func(x []int, of ...int) (s float64) {
		for _, i := range of {
			s += float64(x[i]) / total
		}
		return s
	}
	count := func(x []int, of ...int) (n float64) {
		for _, i := range of {
			if x[i] > 0 {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		formula string
		naive   func(x []int) float64
	}{
		{`share("Gin")`, func(x []int) float64 { return share(x, 0) }},
		{`units("Gin") / total`, func(x []int) float64 { return share(x, 0) }},
		{`exp(-8 * (share("family", "citrus") - 0.3)^2)`, func(x []int) float64 { return math.Exp(-8 * math.Pow(share(x, 1, 2)-0.3, 2)) }},
		{`mean("cost") < 15 and count("family", "citrus") <= 1`, func(x []int) float64 {
			if mean(barCosts, x) < 15 && count(x, 1, 2) <= 1 {
				return 1
			}
			return 0
		}},
		{`1 / used`, func(x []int) float64 { return 1 / count(x, 0, 1, 2, 3, 4) }},
		{`2.5`, func(x []int) float64 { return 2.5 }},
		{`count("Gin") == 1 ? 2 : 0.5`, func(x []int) float64 { return 0.5 + 1.5*count(x, 0) }},
		{`if not (used > 3) {1} else {0.25}`, func(x []int) float64 {
			if count(x, 0, 1, 2, 3, 4) > 3 {
				return 0.25
			}
			return 1
		}},
		{`let s = share("Sugar"); let c = share("family", "citrus"); s > 0 && c > 0 ? min(s / c, c / s, 1) : 0.01`, func(x []int) float64 {
			s, c := share(x, 3), share(x, 1, 2)
			if s > 0 && c > 0 {
				return min(s/c, c/s)
			}
			return 0.01
		}},
		{`used > 2 ? share("Gin") > 0.2 : true`, func(x []int) float64 {
			if count(x, 0, 1, 2, 3, 4) <= 2 || share(x, 0) > 0.2 {
				return 1
			}
			return 0
		}},
		{`let s = share("Gin"); s > 0.2`, func(x []int) float64 {
			if share(x, 0) > 0.2 {
				return 1
			}
			return 0
		}},
		{`let s = 1; (let s = 2; s) + s`, func(x []int) float64 { return 3 }},
		{`abs(round(7.5) % 5 - 1) ** 2 + sqrt(16) + max(floor(1.5), ceil(1.5)) * -(-1) + log(exp(1))`, func(x []int) float64 { return 4 + 4 + 2 + 1 }},
		{`0.1 <= share("Gin") < 0.6 or true != (1 != 1)`, nil}, // comparisons of truths are refused
		{`0.1 <= share("Gin") < 0.6`, func(x []int) float64 {
			if s := share(x, 0); 0.1 <= s && s < 0.6 {
				return 1
			}
			return 0
		}},
	} {
		p, err := property.NewExpression(c.formula, bar{}, total)
		if c.naive == nil {
			if err == nil {
				t.Errorf("%s is read", c.formula)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.formula, err)
			continue
		}
		walkLines(t, p, len(barNames), total, 40, c.naive, 1e-9)
	}
	few := must(property.NewExpression(`let g = share("Gin"); used > 1 ? 0.2 + g * share("family", "citrus") : 0.1 + count("Gin")`, bar{}, 4))
	checkKernels(t, few, 3, 4, 2)
}

// An error has its place. None of the language's ways to loop, to
// make lists or text, to tell the time or to reach into values is read.
func TestExpressionRefuses(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range []struct {
		formula string
		at      int
		says    string
	}{
		{``, 0, "the expression is empty"},
		{`1 +`, 2, "ends where more is expected"},
		{`(1`, 1, "ends where more is expected"},
		{`used = 2`, 5, "to compare write =="},
		{`if used > 1 then 1 else 0`, 12, "t ? a : b"},
		{`share("Ginn")`, 6, `no ingredient "Ginn"`},
		{`1 + share("family", "citrux")`, 20, `no family is "citrux"`},
		{`mean("price")`, 5, "no such attribute"},
		{`share(Gin)`, 6, `write share("ingredient")`},
		{`share()`, 0, `write share("ingredient")`},
		{`share("a", "b", "c")`, 0, `write share("ingredient")`},
		{`mean("a", "b")`, 0, `write mean("attribute")`},
		{`min(1)`, 0, "write min(a, b)"},
		{`exp(1, 2)`, 0, "write exp(a)"},
		{`expp(1)`, 0, `did you mean "exp"?`},
		{`Gin`, 0, `share("Gin")`},
		{`usd + 1`, 0, `did you mean "used"?`},
		{`"Gin"`, 0, "text stands where a number is needed"},
		{`1 + (used > 2)`, 10, "a truth stands where a number is needed"},
		{`used ? 1 : 2`, 0, "a number stands where a comparison is needed"},
		{`used > 1 ? 1 : true`, 15, "a truth stands"},
		{`not used`, 4, "a number stands"},
		{`let used = 1; 2`, 4, "is taken"},
		{`let a = b; 2`, 8, `no "b"`},
		{`(let a = 1; a) + a`, 17, `no "a"`},
		{`1..5`, 1, `".."`},
		{`[1, 2]`, 0, "not read"},
		{`{"a": 1}`, 0, "not read"},
		{`nil`, 0, "not read"},
		{`1; 2`, 0, "not read"},
		{`used.x`, 5, "not read"},
		{`used in [1]`, 5, `"in"`},
		{`used ?? 1`, 5, `"??"`},
		{`1 | exp()`, 0, ""}, // the same as exp(1), and fine
		{`used | exp().foo`, 12, "is not expected here"},
		{`(exp)(1)`, 0, ""},
		{`now()`, 0, `no function "now"`},
		{`len("a")`, 0, `no function "len"`},
		{`map(1..9, # * 2)`, 0, `no function "map"`},
		{`reduce(1..1000000000, #acc + #)`, 0, `no function "reduce"`},
		{`repeat("a", 1000000000)`, 0, `no function "repeat"`},
		{`toJSON(1)`, 0, `no function "toJSON"`},
		{`$env`, 0, `no "$env"`},
		{`used.String()`, 5, "only functions are called"},
		{strings.Repeat("(", 9000) + "1" + strings.Repeat(")", 900), 0, ""},
		{strings.Repeat("-", 9999) + "1", 0, "maximum allowed nodes"},
		{strings.Repeat("1+", 4000) + "1", 0, "maximum allowed nodes"},
		{strings.Repeat("1", 10_001), 10_000, "at most 10000"},
	} {
		_, err := property.NewExpression(c.formula, bar{}, 10)
		shown := c.formula[:min(len(c.formula), 40)]
		if err != nil {
			kept.CheckText(t, shown, err.Error())
		}
		var bad *property.ExpressionError
		switch {
		case c.says == "" && err == nil:
			continue
		case !errors.As(err, &bad):
			t.Errorf("%s: the error is %v", shown, err)
		case !strings.Contains(err.Error(), c.says):
			t.Errorf("%s: %v; it does not say %q", shown, err, c.says)
		case bad.At != c.at && c.says != "" && len(c.formula) < 100:
			t.Errorf("%s: the place is %d, want %d, of %v", shown, bad.At, c.at, err)
		}
	}
}

// A value that is no score ends the run, and the error says what it was.
func TestExpressionWithoutScore(t *testing.T) {
	for formula, says := range map[string]string{
		`1 - 3 * share("Gin")`: "the expression is -2",
		`1 / units("Sugar")`:   "the expression is +Inf",
		`log(0 - used)`:        "the expression is NaN",
	} {
		p := must(property.NewExpression(formula, bar{}, 10))
		space := must(mcmc.NewSpace(len(barNames), 10))
		target := must(mcmc.NewTarget(space, mcmc.Uniform(1, 3), mcmc.Objective{Name: "w", Property: p, Weight: 1}))
		_, err := mcmc.NewState(target, composition(t, []int{10, 0, 0, 0, 0}))
		if bad := (*mcmc.ScoreError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; it does not say %q", formula, err, says)
		}
	}
}

func FuzzExpression(f *testing.F) {
	f.Add(`let s = share("Gin"); s > 0.2 and used < 3 ? exp(-s^2) : max(1, mean("cost"), count("family", "citrus"))`)
	f.Add(`1 <= used < 4 or not (units("Gin") % 2 == 1)`)
	x := must(mcmc.NewComposition(len(barNames), part(0, 3), part(2, 7)))
	f.Fuzz(func(t *testing.T, formula string) {
		p, err := property.NewExpression(formula, bar{}, 10)
		if err != nil {
			var bad *property.ExpressionError
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
			return
		}
		s := p.Scorer(x)
		s.Reset()
		// NaN has many patterns of bits.
		if a, b := s.LogScore(), p.LogScore(x); !same(a, b) && !(math.IsNaN(a) && math.IsNaN(b)) {
			t.Fatalf("%v and %v", a, b)
		}
		amounts := make([]int, len(barNames))
		for i := range amounts {
			amounts[i] = x.Amount(i)
		}
		v, above := p.Value(x), p.UpperBound(len(barNames), greatestIn([][]int{amounts}))
		if score := p.LogScore(x); v >= 0 && !math.IsInf(v, 1) && score > above {
			t.Fatalf("it scores %v, and is bounded by %v", score, above)
		}
	})
}

func BenchmarkExpressionLine(b *testing.B) {
	names := make([]float64, 2000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range names {
		names[i] = float64(r.IntN(100))
	}
	p := must(property.NewExpression(`mean("cost") > 20 ? exp(-(share("odd", "yes") - 0.3)^2 / 2) * (1 - share("first")) : 0.01`, many{names}, 1000))
	benchmarkLine(b, p, 2000, 1000, 20)
}

// many is a lexicon of many ingredients.
type many struct{ costs []float64 }

func (many) Ingredient(string) (int, error) { return 0, nil }
func (m many) Group(_, _ string) (of []int, err error) {
	for i := 1; i < len(m.costs); i += 2 {
		of = append(of, i)
	}
	return of, nil
}
func (m many) Numbers(string) ([]float64, error) { return m.costs, nil }
