package property_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/property"
)

// randomNumber draws a formula of a number, with everything that there is.
func randomNumber(r *rand.Rand, depth int) string {
	sub := func() string { return randomNumber(r, depth-1) }
	if depth == 0 || r.IntN(5) == 0 {
		leaves := []string{
			"used", "total", `units("Gin")`, `share("family", "citrus")`, `share("Sugar")`, `count("family", "citrus")`,
			`count("Champagne")`, `mean("cost")`, fmt.Sprintf("%.2f", 4*r.Float64()), "0", "2",
		}
		return leaves[r.IntN(len(leaves))]
	}
	switch r.IntN(15) {
	case 0, 1:
		return "(" + sub() + " + " + sub() + ")"
	case 2, 3:
		return "(" + sub() + " - " + sub() + ")"
	case 4:
		return "(" + sub() + " * " + sub() + ")"
	case 5, 6:
		return "(" + sub() + " / " + sub() + ")"
	case 7:
		return "(" + sub() + " % " + sub() + ")"
	case 8:
		return "(" + sub() + ")^" + []string{"2", "3", "(-1)", "(-2)", "0.5", "0"}[r.IntN(6)]
	case 9:
		return "(" + sub() + " ^ " + sub() + ")"
	case 10:
		return "(-" + sub() + ")"
	case 11:
		return []string{"min", "max"}[r.IntN(2)] + "(" + sub() + ", " + sub() + ", " + sub() + ")"
	case 12:
		return "(" + randomTruth(r, depth-1) + " ? " + sub() + " : " + sub() + ")"
	case 13:
		return "(let v = " + sub() + "; v * v + " + sub() + ")"
	}
	return []string{"abs", "exp", "log", "sqrt", "floor", "ceil", "round"}[r.IntN(7)] + "(" + sub() + ")"
}

func randomTruth(r *rand.Rand, depth int) string {
	switch r.IntN(6) {
	case 0:
		if depth > 0 {
			return "(" + randomTruth(r, depth-1) + " ? " + randomTruth(r, depth-1) + " : " + randomTruth(r, depth-1) + ")"
		}
		return "true"
	case 1:
		return "(" + randomTruth(r, max(depth-1, 0)) + []string{" and ", " or "}[r.IntN(2)] + "not " + randomTruth(r, max(depth-1, 0)) + ")"
	default:
		return "(" + randomNumber(r, max(depth-1, 0)) + []string{" < ", " <= ", " > ", " >= ", " == ", " != "}[r.IntN(6)] + randomNumber(r, max(depth-1, 0)) + ")"
	}
}

// greatestIn returns what forms are at most among compositions.
func greatestIn(some [][]int) func(perUnit, perUse []float64) float64 {
	return func(perUnit, perUse []float64) float64 {
		best := math.Inf(-1)
		for _, x := range some {
			v := 0.0
			for i, a := range x {
				if a > 0 {
					v += perUnit[i]*float64(a) + perUse[i]
				}
			}
			best = max(best, v+1e-12*math.Abs(v)) // as bounds are, which are rounded up
		}
		return best
	}
}

// TestExpressionAbove: of compositions drawn at random, of which it is known what linear forms
// are at most, none scores more than a formula's bound. Ratios are bounded closely, and of
// what is affine the forms are those of the value.
func TestExpressionAbove(t *testing.T) {
	const total = 12
	r := rand.New(rand.NewPCG(33, 4))
	desirable := []*property.Desirability{
		nil, property.Exponential(0.5), must(property.BellShaped(1, 2)), must(property.LargerIsBetter(0, 5, 2)), must(property.SmallerIsBetter(-3, 5, 1)),
		must(property.UncappedRamp(10, -2, 1)), must(property.Target(-1, 1, 4, 1, 2)),
	}
	held, affine := 0, 0
	for trial := range 20_000 {
		formula := randomNumber(r, r.IntN(4))
		if trial%8 == 0 {
			formula = randomTruth(r, 3)
		}
		e, err := property.NewExpression(formula, bar{}, total)
		if err != nil {
			t.Fatal(formula, err)
		}
		if d := desirable[r.IntN(len(desirable))]; d != nil {
			e = e.WithDesirability(d)
		}
		some := make([][]int, 1+r.IntN(6))
		for k := range some {
			some[k] = make([]int, len(barNames))
			used := r.Perm(len(barNames))[:1+r.IntN(3)]
			for range total {
				some[k][used[r.IntN(len(used))]]++
			}
		}
		above := e.UpperBound(len(barNames), greatestIn(some))
		if math.IsNaN(above) {
			t.Fatalf("%s: the bound is none", formula)
		}
		perUnit, perUse, constant, _ := e.Linear(len(barNames))
		for _, amounts := range some {
			x := composition(t, amounts)
			if perUnit != nil {
				v := constant + greatestIn([][]int{amounts})(perUnit, perUse)
				if affine++; math.Abs(v-e.Value(x)) > 1e-9*(1+math.Abs(v)) {
					t.Fatalf("%s: the form is %v, and the value %v", formula, v, e.Value(x))
				}
			}
			score := e.LogScore(x)
			if v := e.Value(x); math.IsNaN(score) || math.IsInf(score, 1) || math.IsInf(v, 0) || math.IsNaN(v) {
				continue // no score
			}
			if held++; score > above {
				t.Fatalf("%s: %v scores %v, and the bound is %v", formula, amounts, score, above)
			}
		}
	}
	if held < 20_000 || affine < 1000 {
		t.Errorf("%d bounds and %d forms are few to compare", held, affine)
	}
	// A ratio of what goes together is bounded by what it is, and not by both sides alone.
	e := must(property.NewExpression(`mean("cost") / (share("Gin") + share("Champagne"))`, bar{}, total)).WithDesirability(property.Exponential(1))
	some := [][]int{{6, 6, 0, 0, 0}, {3, 9, 0, 0, 0}, {0, 0, 6, 0, 6}, {0, 6, 0, 3, 3}}
	best := math.Inf(-1)
	for _, x := range some {
		best = max(best, e.LogScore(composition(t, x)))
	}
	if above := e.UpperBound(len(barNames), greatestIn(some)); above < best || above > best+0.02*math.Abs(best) {
		t.Errorf("a ratio of at most %v is bounded by %v", best, above)
	}
}

// What all but cancels out is rounded by more than a linear form of it would show.
func TestExpressionCancels(t *testing.T) {
	e := must(property.NewExpression(`(share("Gin") * 1e18 + mean("cost")) - share("Gin") * 1e18`, bar{}, 12))
	if perUnit, _, _, _ := e.Linear(len(barNames)); perUnit != nil {
		t.Error("it is taken for a linear form")
	}
	for gin := range 12 {
		x := []int{gin, 12 - gin, 0, 0, 0}
		if score, above := e.LogScore(composition(t, x)), e.UpperBound(len(barNames), greatestIn([][]int{x})); score > above {
			t.Errorf("%v scores %v, and is bounded by %v", x, score, above)
		}
	}
}
