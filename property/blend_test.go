package property_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
	"kir/property"
)

// mean is the weighted mean of an attribute by its definition.
func mean(attribute []float64, x []int) float64 {
	m := 0.0
	for i, a := range x {
		m += attribute[i] * float64(a)
	}
	return m / float64(sum(x))
}

func TestBlend(t *testing.T) {
	type desirability struct {
		name  string
		d     *property.Desirability
		naive func(v float64) float64
	}
	clamp := func(v float64) float64 { return min(max(v, 0), 1) }
	all := []desirability{
		{"larger", must(property.LargerIsBetter(10, 25, 2)), func(v float64) float64 { return math.Pow(clamp((v-10)/15), 2) }},
		{"smaller", must(property.SmallerIsBetter(3, 31, 0.5)), func(v float64) float64 { return math.Sqrt(clamp((31 - v) / 28)) }},
		{"target", must(property.Target(5, 20, 30, 1, 3)), func(v float64) float64 {
			if v < 20 {
				return clamp((v - 5) / 15)
			}
			return math.Pow(clamp((30-v)/10), 3)
		}},
		{"range", must(property.WithinRange(10, 20)), func(v float64) float64 {
			if v >= 10 && v <= 20 {
				return 1
			}
			return 0
		}},
		{"normal", must(property.BellShaped(20, 4)), func(v float64) float64 { return math.Exp(-(v - 20) * (v - 20) / 32) }},
	}
	attribute := []float64{40, 0, 12.5, 17, 0, 37.5, 17, 0.75}
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			p := must(property.NewBlend(attribute, 60, d.d))
			walkLines(t, p, len(attribute), 60, 60, func(x []int) float64 { return d.naive(mean(attribute, x)) }, 1e-9)
			floored := must(d.d.Floor(0.01))
			p = must(property.NewBlend(attribute[:3], 5, floored))
			walkLines(t, p, 3, 5, 40, func(x []int) float64 { return max(0.01, d.naive(mean(attribute, x))) }, 1e-9)
			checkKernels(t, p, 3, 4, 1.5)
		})
	}
}

// Means are exact where the attribute is a decimal: a bound is met when it is
// met on paper, and not when a sum of binary fractions happens to fall on the
// right side of it.
func TestBlendIsExact(t *testing.T) {
	p := must(property.NewBlend([]float64{0.1, 0.7, 0.3}, 10, must(property.WithinRange(0.3, 0.3))))
	// 0.1·5 + 0.7·2 + 0.3·3 = 2.8; 0.1·4 + 0.7·2 + 0.3·4 = 3.
	for _, c := range []struct {
		x    []int
		want float64
	}{{[]int{5, 2, 3}, math.Inf(-1)}, {[]int{4, 2, 4}, 0}, {[]int{6, 3, 1}, 0}, {[]int{0, 0, 10}, 0}} {
		if got := p.LogScore(composition(t, c.x)); got != c.want {
			t.Errorf("%v: %v, want %v (the mean is %v)", c.x, got, c.want, p.Mean(composition(t, c.x)))
		}
	}
	// Multiplied by 100 these fall below 29, 57 and 58 as binary fractions.
	for _, v := range []float64{0.29, 0.57, 0.58} {
		p := must(property.NewBlend([]float64{v, 1.25}, 10, must(property.WithinRange(v, v))))
		if got := p.Mean(composition(t, []int{10, 0})); got != v {
			t.Errorf("the mean of %v alone is %v", v, got)
		}
	}
}

// Attributes that no power of ten makes whole are rounded, and by no more than
// is said.
func TestBlendRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, size := range []float64{1e-300, 1e-200, 1e-9, 1, 1e9, 1e300} {
		for _, total := range []int{1, 1000, math.MaxInt32} {
			attribute := make([]float64, 4)
			for i := range attribute {
				attribute[i] = (r.Float64() - 0.5) * size
			}
			p := must(property.NewBlend(attribute, total, must(property.WithinRange(0, 1))))
			x := []int{0, 0, 0, 0}
			left := total
			for i := range 3 {
				x[i] = r.IntN(left + 1)
				left -= x[i]
			}
			x[3] = left
			tolerance := math.Ldexp(float64(total), -61)*size + 1e-15*size
			if size < 1e-250 {
				tolerance = 1e-280
			}
			if got, want := p.Mean(composition(t, x)), mean(attribute, x); math.Abs(got-want) > tolerance {
				t.Errorf("of attributes about %v and a total of %d the mean is %v, want %v", size, total, got, want)
			}
		}
	}
}

func TestBlendRefuses(t *testing.T) {
	kept := golden.Open(t)
	for k, c := range []struct {
		err  error
		says string
	}{
		{second(property.LargerIsBetter(2, 2, 1)), "must be lower"},
		{second(property.LargerIsBetter(1, 2, 0)), "above 0"},
		{second(property.LargerIsBetter(1, 2, math.Inf(1))), "finite"},
		{second(property.SmallerIsBetter(math.NaN(), 2, 1)), "finite"},
		{second(property.SmallerIsBetter(-math.MaxFloat64, math.MaxFloat64, 1)), "further apart"},
		{second(property.Target(1, 2, 2, 1, 1)), "must be lower"},
		{second(property.Target(1, 2, 3, 1, -1)), "above 0"},
		{second(property.WithinRange(2, 1)), "lower one first"},
		{second(property.BellShaped(1, 0)), "above 0"},
		{second(must(property.WithinRange(1, 2)).Floor(2)), "0 to 1"},
		{second(property.NewBlend([]float64{1, math.Inf(1)}, 5, must(property.WithinRange(1, 2)))), "ingredient 1"},
		{second(property.NewBlend([]float64{1}, 5, nil)), "desirability"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("the error is %v; it does not say %q", c.err, c.says)
		}
		kept.CheckText(t, fmt.Sprintf("%d: %s", k+1, c.says), fmt.Sprint(c.err))
	}
}

func second[T any](_ T, err error) error { return err }
