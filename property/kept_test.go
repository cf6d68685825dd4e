package property_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/property"
)

// TestDesirabilitiesStay keeps what desirabilities of all shapes say of figures at, beside
// and beyond their bounds, and which are refused.
func TestDesirabilitiesStay(t *testing.T) {
	kept := golden.Open(t)
	inf, nan := math.Inf(1), math.NaN()
	numbers := []float64{-1, 0, 0.5, 2, nan, inf, -inf}
	made := map[string]func() (*property.Desirability, error){}
	for _, a := range numbers {
		for _, b := range numbers {
			made[fmt.Sprintf("larger %v %v", a, b)] = func() (*property.Desirability, error) { return property.LargerIsBetter(a, b, 1) }
			made[fmt.Sprintf("larger 1 3 %v %v", a, b)] = func() (*property.Desirability, error) { return property.Target(1, 2, 3, a, b) }
			made[fmt.Sprintf("smaller %v %v", a, b)] = func() (*property.Desirability, error) { return property.SmallerIsBetter(a, b, 2) }
			made[fmt.Sprintf("target %v %v 3", a, b)] = func() (*property.Desirability, error) { return property.Target(a, b, 3, 1, 2) }
			made[fmt.Sprintf("target -2 %v %v", a, b)] = func() (*property.Desirability, error) { return property.Target(-2, a, b, 0.5, 1) }
			made[fmt.Sprintf("range %v %v", a, b)] = func() (*property.Desirability, error) { return property.WithinRange(a, b) }
			made[fmt.Sprintf("normal %v %v", a, b)] = func() (*property.Desirability, error) { return property.BellShaped(a, b) }
		}
		made[fmt.Sprintf("larger 0 2 shape %v", a)] = func() (*property.Desirability, error) { return property.LargerIsBetter(0, 2, a) }
		made[fmt.Sprintf("normal 0 1 floor %v", a)] = func() (*property.Desirability, error) { return must(property.BellShaped(0, 1)).Floor(a) }
		made[fmt.Sprintf("range 0 1 floor %v", a)] = func() (*property.Desirability, error) { return must(property.WithinRange(0, 1)).Floor(a) }
	}
	for _, floor := range []float64{1, 1.0000001, 1e-300} {
		made[fmt.Sprintf("larger -1 1 floor %v", floor)] = func() (*property.Desirability, error) { return must(property.LargerIsBetter(-1, 1, 1)).Floor(floor) }
	}
	for name, f := range made {
		d, err := f()
		if err != nil {
			kept.CheckText(t, name, err.Error())
			continue
		}
		said := ""
		for _, v := range []float64{-3, -1, -0.75, 0, 0.25, 0.5, 1, 1.75, 2, 2.5, 3, 1e9, -inf, inf, nan} {
			said += fmt.Sprintf("%.7g ", d.Log(v))
		}
		kept.CheckText(t, name, said)
	}
}

// TestTasteStays keeps what is learnt from comparisons: how much is known, what is
// preferred, and what an answer would tell, the same of x or y and y or x and none of x
// or x.
func TestTasteStays(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range []struct {
		ingredients, total, pairs int
		group                     []int
	}{{3, 10, 1, nil}, {6, 100, 12, []int{0, 0, 1, -1, 1, 2}}, {12, 60, 40, nil}} {
		r := rand.New(rand.NewPCG(5, uint64(c.ingredients)))
		pairs := tasted(t, r, c.ingredients, c.total, c.pairs)
		learnt := must(property.NewComparisons(c.ingredients, c.total, c.group, pairs))
		taste := learnt.Posterior()
		said := fmt.Sprintf("scale %.6g", learnt.Scale())
		for range 6 {
			x, y := randomComposition(t, r, c.ingredients, c.total, 2), randomComposition(t, r, c.ingredients, c.total, 3)
			told, other := taste.Information(x, y), taste.Information(y, x)
			said += fmt.Sprintf("\n%v, %v: %.5g, %.5g %.5g, %.5g", x, y, taste.PreferenceProbability(x, y), taste.LogProbabilityOverMean(x), taste.LogProbabilityOverMean(y), told)
			if math.Abs(told-other) > 1e-9 || told < 0 || told > math.Ln2 || math.Abs(taste.Information(x, x)) > 1e-9 {
				t.Errorf("%v or %v tells %v, and the other way round %v; %v or itself %v", x, y, told, other, x, taste.Information(x, x))
			}
		}
		kept.CheckText(t, fmt.Sprint(c), said)
		held, err := property.CrossValidate(c.ingredients, c.total, c.group, pairs)
		kept.CheckText(t, fmt.Sprint(c, " held out"), fmt.Sprintf("%+v %v", held, err))
	}
	x := randomComposition(t, rand.New(rand.NewPCG(1, 1)), 4, 10, 2)
	for name, pairs := range map[string][]property.Pair{"none": nil, "most": make([]property.Pair, property.MaxPairs), "more": make([]property.Pair, property.MaxPairs+1), "the same": {{Better: x, Worse: x}}} {
		for k := range pairs {
			if pairs[k].Better == nil {
				pairs[k] = property.Pair{Better: x, Worse: randomComposition(t, rand.New(rand.NewPCG(uint64(k), 1)), 4, 10, 3)}
			}
		}
		if name == "most" {
			pairs = pairs[:60] // all of them take long
		}
		_, err := property.NewComparisons(4, 10, nil, pairs)
		kept.CheckText(t, "pairs, "+name, fmt.Sprint(err))
	}
}

// TestOperatorsStay keeps what formulas of every operator say of a composition.
func TestOperatorsStay(t *testing.T) {
	kept := golden.Open(t)
	x := must(mcmc.NewComposition(4, mcmc.Part{Ingredient: 0, Amount: 1}, mcmc.Part{Ingredient: 1, Amount: 3}))
	for _, a := range []string{"used", "2.5", "-1", "0"} {
		for _, b := range []string{"2", "used / 2", "0.5"} {
			for _, op := range []string{"+", "-", "*", "/", "%", "^", "**", "<", "<=", ">", ">=", "==", "!=", "&&", "and", "??"} {
				text := a + " " + op + " " + b
				for _, text := range []string{text, "(" + text + ") ? 3 : 4", "not (" + text + ") ? 3 : 4", "(" + text + " and used > 1 or used >= 3) ? 1 : 2"} {
					p, err := property.NewExpression(text, bar{}, 4)
					said := fmt.Sprint(err)
					if err == nil {
						said = fmt.Sprintf("%.9g", p.LogScore(x))
					}
					kept.CheckText(t, text, said)
				}
			}
		}
	}
	for _, text := range []string{"", " ", "1", "true", "\"a\"", "nil", "[1]", "used > 1", "abs(-2)", "min(1, used, 3)", "max(1, used)", "min()", "sqrt(4)", "exp(1)", "log(used)", "pow(used, 3)", "round(2.5)", "floor(-0.5)", "ceil(0.5)", "let a = used; a * a", "let used = 1; used", "used[0]", "a.b", "x => x", "1; 2", "-(used)", "+used", "!true ? 1 : 2", "1 < 2 < 3", "1 in [1]", "used ?: 1", "share(\"Gin\") + share(\"family\", \"citrus\")", "share(\"family\")", "count(\"Gin\")", "count(\"family\", \"citrus\")", "mean(\"cost\")", "mean(\"none\")", "share(used)", "share(\"none\")", "share(\"Gin\", \"a\", \"b\")", "nothing(1)"} {
		p, err := property.NewExpression(text, bar{}, 4)
		said := fmt.Sprint(err)
		if err == nil {
			said = fmt.Sprintf("%.9g", p.LogScore(x))
		}
		kept.CheckText(t, "alone: "+text, said)
	}
}
