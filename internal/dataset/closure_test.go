package dataset

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/measure"
)

// partsOf makes parts without units.
func partsOf(amounts ...string) []Part {
	parts := make([]Part, len(amounts))
	for i, text := range amounts {
		a, err := measure.ParseAmount(text)
		if err != nil {
			panic(err)
		}
		parts[i] = Part{Ingredient: int32(i), Amount: a}
	}
	return parts
}

func TestClosure(t *testing.T) {
	for _, test := range []struct {
		amounts string
		total   int
		want    []int
	}{
		{"9 1", 1000, []int{900, 100}},
		{"3 3 3", 1000, []int{334, 333, 333}},                       // equal remainders: the first gets
		{"1 1 1 1 1 1", 8, []int{2, 2, 1, 1, 1, 1}},                 // likewise
		{"2 1 1", 2 + 1 + 1 + 2, []int{3, 2, 1}},                    // 3, 1.5, 1.5
		{"6 2.25 1.5", 1000, []int{615, 231, 154}},                  // .385, .769, .846
		{"0.1 0.2 0.3", 6, []int{1, 2, 3}},                          // exact: float64 gives 0.1+0.2 ≠ 0.3
		{"0.3 0.1 0.1 0.1", 4, []int{1, 1, 1, 1}},                   // 2, 2/3, 2/3, 2/3
		{"1000 1 1", 3, []int{1, 1, 1}},                             // no choice
		{"1000 1 1", 10, []int{8, 1, 1}},                            // 9.98 gives for both
		{"50 50 0.01", 10, []int{5, 4, 1}},                          // equal: the first gets
		{"50 50 0.01 0.01 0.01", 10, []int{4, 3, 1, 1, 1}},          // equal: the last gives
		{"49 52 0.01 0.01", 9, []int{3, 4, 1, 1}},                   // 4.37 and 4.63: the smaller remainder gives
		{"5 3 0.1 0.1 0.1 0.1 0.1", 10, []int{4, 1, 1, 1, 1, 1, 1}}, // 5.88 and 3.53 give in turns
		{"7", 5, []int{5}},
		{"1e-20 1e20", 7, []int{1, 6}},
		{"1e29 1e-30 1e29", 1000, []int{500, 1, 499}},
	} {
		got, err := Closure(partsOf(strings.Fields(test.amounts)...), test.total)
		if err != nil {
			t.Errorf("%s to %d: %v", test.amounts, test.total, err)
		} else if !slices.Equal(got, test.want) {
			t.Errorf("%s to %d is %v, want %v", test.amounts, test.total, got, test.want)
		}
	}
	for _, test := range []struct {
		parts []Part
		total int
	}{{nil, 5}, {partsOf("1", "2", "3"), 2}, {partsOf("1"), 0}, {partsOf("1"), -1}, {partsOf("1", "0"), 5}} {
		if got, err := Closure(test.parts, test.total); err == nil {
			t.Errorf("%d parts to %d is %v, want an error", len(test.parts), test.total, got)
		}
	}
}

// byHand is the closure by its definition as the best of all compositions:
// starting from 1 each, the units are given out one at a time to the part that
// is furthest below its ideal, the first of equals. For a sum of convex costs
// that is a minimum (Fox 1966).
func byHand(parts []Part, total int) []int {
	sum := new(big.Rat)
	for _, p := range parts {
		sum.Add(sum, p.Base())
	}
	ideal := make([]*big.Rat, len(parts))
	units := make([]int, len(parts))
	for i, p := range parts {
		ideal[i] = new(big.Rat).Quo(p.Base(), sum)
		ideal[i].Mul(ideal[i], new(big.Rat).SetInt64(int64(total)))
		units[i] = 1
	}
	for range total - len(parts) {
		best := 0
		var most *big.Rat
		for i := range units {
			below := new(big.Rat).Sub(ideal[i], new(big.Rat).SetInt64(int64(units[i])))
			if most == nil || below.Cmp(most) > 0 {
				best, most = i, below
			}
		}
		units[best]++
	}
	return units
}

// cost is Σ (x_i − q_i)².
func cost(parts []Part, units []int) *big.Rat {
	sum, total := new(big.Rat), 0
	for i, p := range parts {
		sum.Add(sum, p.Base())
		total += units[i]
	}
	c := new(big.Rat)
	for i, p := range parts {
		d := new(big.Rat).Quo(p.Base(), sum)
		d.Mul(d, new(big.Rat).SetInt64(int64(total)))
		d.Sub(d, new(big.Rat).SetInt64(int64(units[i])))
		c.Add(c, d.Mul(d, d))
	}
	return c
}

// randomParts draws amounts of very different sizes with many ties.
func randomParts(random *rand.Rand, n int) []Part {
	units := []*measure.Unit{nil}
	if random.IntN(2) == 0 {
		all := measure.DefaultUnits()
		units = nil
		for _, name := range []string{"cl", "dash", "drop", "oz"} {
			u, _ := all.Lookup(name)
			units = append(units, u)
		}
	}
	amounts := []string{"1", "1", "2", "3", "0.5", "4.5", "0.01", "1e-6", "20", "333.3", "1000"}
	parts := make([]Part, n)
	for i := range parts {
		a, _ := measure.ParseAmount(amounts[random.IntN(len(amounts))])
		parts[i] = Part{Ingredient: int32(i), Amount: a, Unit: units[random.IntN(len(units))]}
	}
	return parts
}

func TestClosureEqualsByHand(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	raised := 0
	for range 3000 {
		parts := randomParts(random, 1+random.IntN(9))
		total := len(parts) + random.IntN(60)
		got, err := Closure(parts, total)
		if err != nil {
			t.Fatal(err)
		}
		if want := byHand(parts, total); !slices.Equal(got, want) {
			t.Fatalf("%v to %d is %v, want %v", parts, total, got, want)
		}
		if slices.Contains(got, 1) {
			raised++
		}
	}
	if raised < 1000 {
		t.Errorf("only %d of the cases have a part of 1", raised)
	}
}

// No composition with the same sum and no part below 1 is closer to the ideal.
func TestClosureIsNearest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for range 300 {
		parts := randomParts(random, 2+random.IntN(3))
		total := len(parts) + random.IntN(12)
		got, err := Closure(parts, total)
		if err != nil {
			t.Fatal(err)
		}
		least := cost(parts, got)
		x := make([]int, len(parts))
		var walk func(i, left int)
		walk = func(i, left int) {
			if i == len(x)-1 {
				x[i] = left
				if cost(parts, x).Cmp(least) < 0 {
					t.Fatalf("%v to %d is %v, but %v is closer", parts, total, got, x)
				}
				return
			}
			for x[i] = 1; x[i] <= left-(len(x)-1-i); x[i]++ {
				walk(i+1, left-x[i])
			}
		}
		walk(0, total)
	}
}

// With every ideal at least 1 each part is off by less than 1, and the sum is
// exact whatever the sizes.
func TestClosureBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	for range 2000 {
		parts := randomParts(random, 1+random.IntN(40))
		total := len(parts) + random.IntN(1<<random.IntN(30))
		units, err := Closure(parts, total)
		if err != nil {
			t.Fatal(err)
		}
		sum, base := 0, new(big.Rat)
		for i, p := range parts {
			if units[i] < 1 {
				t.Fatalf("%v to %d is %v", parts, total, units)
			}
			sum += units[i]
			base.Add(base, p.Base())
		}
		if sum != total {
			t.Fatalf("%v adds up to %d, want %d", units, sum, total)
		}
		small := false
		worst := 0.0
		for i, p := range parts {
			q := new(big.Rat).Quo(p.Base(), base)
			ideal, _ := q.Mul(q, new(big.Rat).SetInt64(int64(total))).Float64()
			small = small || ideal < 1
			worst = max(worst, float64(units[i])-ideal, ideal-float64(units[i]))
		}
		if !small && worst >= 1 || worst >= float64(len(parts)) {
			t.Fatalf("%v to %d is %v, off by %v", parts, total, units, worst)
		}
	}
}

func TestBookClosureNamesTheRecipe(t *testing.T) {
	book, err := Read(strings.NewReader("recipe,Gin,Rye,Ice\nKir,1,,1\n Sec,1,1,1\n"), "book.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := book.Closure(1, 3); err != nil || !slices.Equal(got, []int{1, 1, 1}) {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = book.Closure(1, 2)
	checkError(t, err, "book.csv", 3, 2, `"Sec" uses 3 ingredients, too many for a total of 2 units`, "at least 3 units")
}

func BenchmarkClosure(b *testing.B) {
	for _, n := range []int{4, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			parts := randomParts(rand.New(rand.NewPCG(5, 1)), n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Closure(parts, 10*n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
