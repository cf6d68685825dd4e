package count

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// choices is a Rand that goes through all outcomes of the random choices of a
// draw, one draw after another, and knows the probability of each.
type choices struct {
	path        []choice
	at          int
	probability float64
}

type choice struct {
	p     []float64 // nil: n equally likely outcomes
	n     int
	taken int
}

func (c *choices) Intn(n int) int { return c.next(nil, n) }

func (c *choices) Categorical(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	p := make([]float64, len(weights))
	for i, w := range weights {
		p[i] = w / sum
	}
	return c.next(p, len(weights))
}

func (c *choices) next(p []float64, n int) int {
	if c.at == len(c.path) {
		c.path = append(c.path, choice{p: p, n: n, taken: -1})
		c.path[c.at].advance()
	}
	x := c.path[c.at]
	c.at++
	if x.p == nil {
		c.probability /= float64(n)
	} else {
		c.probability *= x.p[x.taken]
	}
	return x.taken
}

// advance goes to the next outcome that is possible.
func (x *choice) advance() bool {
	for x.taken++; x.taken < x.n; x.taken++ {
		if x.p == nil || x.p[x.taken] > 0 {
			return true
		}
	}
	return false
}

// lawOf returns the probability of every composition that draw returns, or nil
// if it takes more than budget draws to go through all outcomes.
func lawOf(draw func(Rand) []int, budget int) map[string]float64 {
	law := make(map[string]float64)
	lost := make(map[string]float64) // to rounding, of each sum (Kahan)
	c := new(choices)
	for range budget {
		c.at, c.probability = 0, 1
		x := fmt.Sprint(draw(c))
		add := c.probability - lost[x]
		sum := law[x] + add
		lost[x] = sum - law[x] - add
		law[x] = sum
		c.path = c.path[:c.at]
		for len(c.path) > 0 && !c.path[len(c.path)-1].advance() {
			c.path = c.path[:len(c.path)-1]
		}
		if len(c.path) == 0 {
			return law
		}
	}
	return nil
}

// dense draws from X_n and returns the amounts of all ingredients.
func dense(t *testing.T, s *Sampler, r Rand, n int) []int {
	ingredients, amounts, err := s.Draw(r, n, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]int, s.table.N())
	for k, i := range ingredients {
		if x[i] != 0 || amounts[k] <= 0 {
			t.Fatalf("a draw uses ingredient %d twice or not at all: %v %v", i, ingredients, amounts)
		}
		x[i] = int(amounts[k])
	}
	return x
}

// Over every outcome of their random choices, draws from random small spaces
// are exactly the compositions that brute force finds, each with the same
// probability, to the deviation that the sampler states and the rounding of
// the test's own sums, 1e-12.
func TestDrawsAreExactlyUniform(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	spaces, compositions, skipped := 0, 0, 0
	for spaces < 500 {
		s := randomSpace(r)
		byUsed := make(map[int][][]int)
		for _, x := range bruteForce(s) {
			byUsed[usedOf(x)] = append(byUsed[usedOf(x)], x)
		}
		table, err := New(context.Background(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sampler, err := table.Sampler(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(byUsed) > 0 {
			spaces++
		}
		for n := range min(len(s.Ingredients), s.Total) + 1 {
			want := byUsed[n]
			if len(want) == 0 {
				if _, _, err := sampler.Draw(new(choices), n, nil, nil); !errors.Is(err, ErrEmpty) {
					t.Fatalf("%s: a draw from an empty X_%d gives %v", show(s), n, err)
				}
				continue
			}
			law := lawOf(func(r Rand) []int { return dense(t, sampler, r, n) }, 20_000)
			if law == nil {
				skipped++
				continue
			}
			if len(law) != len(want) {
				t.Fatalf("%s: %d different draws from X_%d, which has %d", show(s), len(law), n, len(want))
			}
			p, tolerance := 1/float64(len(want)), sampler.Deviation(n)+1e-12
			for _, x := range want {
				if got := law[fmt.Sprint(x)]; !(math.Abs(got/p-1) <= tolerance) {
					t.Fatalf("%s: %v is drawn from X_%d with probability %v, not 1/%d", show(s), x, n, got, len(want))
				}
			}
			compositions += len(want)
		}
	}
	t.Logf("%d compositions of %d spaces; %d X_n have too many outcomes", compositions, spaces, skipped)
	if compositions < 20_000 || skipped > spaces/4 {
		t.Errorf("too little was compared: %d compositions, and %d X_n were skipped", compositions, skipped)
	}
}

// pcg is the random source of tests and benchmarks.
type pcg struct{ *rand.Rand }

func (r pcg) Intn(n int) int { return r.IntN(n) }

func (r pcg) Categorical(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := r.Float64() * sum
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}

func BenchmarkExactDraw(b *testing.B) {
	for _, c := range []struct {
		name  string
		space Space
		n     int
	}{
		{"N=50 M=100", Space{Total: 100, Ingredients: make([]Ingredient, 50)}, 5},
		{"N=2000 M=100", Space{Total: 100, Ingredients: make([]Ingredient, 2000)}, 20},
		{"assets", assets(), 20},
		{"bounds", Space{Total: 1000, Ingredients: large(0).Ingredients}, 30},
		{"groups", large(100), 30},
		{"all in groups", large(200), 30},
	} {
		b.Run(c.name, func(b *testing.B) {
			table, err := New(context.Background(), c.space, Options{MaxUsed: max(40, c.n)})
			if err != nil {
				b.Fatal(err)
			}
			s, err := table.Sampler(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			r := pcg{rand.New(rand.NewPCG(1, 1))}
			ingredients, amounts, _ := s.Draw(r, c.n, nil, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.Draw(r, c.n, ingredients[:0], amounts[:0]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(s.Deviation(c.n), "deviation")
		})
	}
}

func BenchmarkSampler(b *testing.B) {
	for _, c := range []struct {
		name  string
		space Space
	}{
		{"assets", assets()},
		{"bounds", Space{Total: 1000, Ingredients: large(0).Ingredients}},
		{"groups", large(100)},
		{"all in groups", large(200)},
	} {
		b.Run(c.name, func(b *testing.B) {
			table, err := New(context.Background(), c.space, Options{MaxUsed: 40})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := table.Sampler(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
