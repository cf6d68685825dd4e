package count

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"kir/internal/testonly/testmode"
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
	x := make([]int, s.table.IngredientCount())
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
	for name, random := range randomSpaces {
		t.Run(name, func(t *testing.T) { testUniform(t, random) })
	}
}

func testUniform(t *testing.T, random func(*rand.Rand) Space) {
	r := rand.New(rand.NewPCG(6, 2))
	spaces, compositions, skipped := 0, 0, 0
	for spaces < testmode.Pick(500, 150) {
		s := random(r)
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
	if compositions < 16*spaces || skipped > spaces/4 {
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

// supportFirst draws a composition the way that is often taken for uniform:
// which ingredients, uniformly, and then their amounts, uniformly. It also
// returns the total variation between that law and the uniform one.
func supportFirst(all [][]int) (draw func(r *rand.Rand) []int, variation float64) {
	bySupport := make(map[string][][]int)
	var supports []string
	for _, x := range all {
		key := ""
		for _, a := range x {
			key += fmt.Sprint(min(a, 1))
		}
		if bySupport[key] == nil {
			supports = append(supports, key)
		}
		bySupport[key] = append(bySupport[key], x)
	}
	for _, some := range bySupport {
		variation += math.Abs(1/float64(len(supports))-float64(len(some))/float64(len(all))) / 2
	}
	return func(r *rand.Rand) []int {
		some := bySupport[supports[r.IntN(len(supports))]]
		return some[r.IntN(len(some))]
	}, variation
}

// chiSquare returns the probability of a χ² at least as large as that of some
// draws against the uniform law on given compositions.
func chiSquare(t *testing.T, want [][]int, perComposition int, draw func() []int) float64 {
	seen := make(map[string]int)
	for _, x := range want {
		seen[fmt.Sprint(x)] = 0
	}
	for range perComposition * len(want) {
		x := fmt.Sprint(draw())
		if _, ok := seen[x]; !ok {
			t.Fatalf("%s is drawn and does not keep the rules", x)
		}
		seen[x]++
	}
	sum := 0.0
	for _, n := range seen {
		d := float64(n - perComposition)
		sum += d * d / float64(perComposition)
	}
	return mathext.GammaIncRegComp(float64(len(want)-1)/2, sum/2) // the upper tail of χ²
}

// Draws by the generator from 20 random spaces fit the uniform law by χ². At
// 10^-6 a space, a right sampler fails with probability 2·10^-5; the seed is
// fixed. Drawing the support first must be found out wherever the total variation
// between its law and the uniform one is 0.15 or more: χ² is then expected at
// 9 times its degrees of freedom, of which there are at least 19.
func TestDrawsFitUniform(t *testing.T) {
	for name, random := range randomSpaces {
		t.Run(name, func(t *testing.T) { testFit(t, random) })
	}
}

func testFit(t *testing.T, random func(*rand.Rand) Space) {
	const falseAlarm = 1e-6
	const perComposition = 100
	r := rand.New(rand.NewPCG(6, 7))
	spaces, uneven := 0, 0
	for spaces < 20 {
		s := random(r)
		byUsed := make(map[int][][]int)
		for _, x := range bruteForce(s) {
			byUsed[usedOf(x)] = append(byUsed[usedOf(x)], x)
		}
		n, most := 0, 0
		for k := range s.Total + 1 {
			if xs := byUsed[k]; len(xs) > most {
				n, most = k, len(xs)
			}
		}
		if most < 20 || most > 500 || len(s.Groups) == 0 && spaces%2 == 0 {
			continue
		}
		spaces++
		table, err := New(context.Background(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sampler, err := table.Sampler(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		source := pcg{r}
		if p := chiSquare(t, byUsed[n], perComposition, func() []int { return dense(t, sampler, source, n) }); p < falseAlarm {
			t.Errorf("%s: draws from X_%d do not fit the uniform law, p = %g", show(s), n, p)
		}
		wrong, variation := supportFirst(byUsed[n])
		if variation < 0.15 {
			continue
		}
		uneven++
		if p := chiSquare(t, byUsed[n], perComposition, func() []int { return wrong(r) }); p >= falseAlarm {
			t.Errorf("%s: drawing the support first is off by %.3g and not found out, p = %g", show(s), variation, p)
		}
	}
	if uneven < 5 {
		t.Errorf("drawing the support first is wrong on %d spaces only", uneven)
	}
}

// Where counts are beyond the range of floating-point numbers the tables are
// scaled, and still right.
func TestScaledTables(t *testing.T) {
	const most = 140
	s := Space{Total: 400, Ingredients: make([]Ingredient, 20_000)}
	for i := range s.Ingredients {
		s.Ingredients[i] = Ingredient{Max: 300 + i%2, Excluded: i >= 2000}
	}
	table, err := New(context.Background(), s, Options{MaxUsed: most})
	if err != nil {
		t.Fatal(err)
	}
	if table.LogCount(most) < 1024*math.Ln2 {
		t.Fatalf("|X_%d| is e^%v only", most, table.LogCount(most))
	}
	sampler, err := table.Sampler(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tilt, err := tiltFor(table.plan)
	if err != nil || tilt == 1 {
		t.Fatalf("the tables are scaled by %v, %v", tilt, err)
	}
	for n := 2; n <= most; n++ {
		sum := 0.0
		for _, w := range sampler.rootSplits[n] {
			sum += w
		}
		scaled := new(big.Float).SetInt(table.Count(n))
		scaled.SetMantExp(scaled, n*int(math.Log2(tilt)))
		if exact, _ := scaled.Float64(); !(math.Abs(sum/exact-1) <= sampler.Deviation(n)) {
			t.Errorf("the tables count |X_%d| as %v, not %v", n, sum, exact)
		}
	}
	r := pcg{rand.New(rand.NewPCG(1, 2))}
	ingredients, amounts, err := sampler.Draw(r, most, nil, nil)
	if err != nil || !s.Contains(ingredients, amounts) {
		t.Errorf("%v %v, %v", ingredients, amounts, err)
	}
	for i := range s.Ingredients {
		s.Ingredients[i].Excluded = false
	}
	plan, err := newPlan(context.Background(), s, 400, 1e8)
	if err != nil {
		t.Fatal(err)
	}
	var size *SizeError
	if _, err := tiltFor(plan); !errors.As(err, &size) {
		t.Errorf("tables beyond all range give %v", err)
	}
}

// Both ways to draw a subset give all subsets of all sizes alike.
func TestSubsets(t *testing.T) {
	for n := 1; n <= 6; n++ {
		for k := 0; k <= n; k++ {
			want := new(big.Int).Binomial(int64(n), int64(k)).Int64()
			for _, subset := range []func(*partialDraw) []int32{
				func(d *partialDraw) []int32 { return d.subset(n, k) },
				func(d *partialDraw) []int32 { return d.sortedSubset(n, k) },
			} {
				law := lawOf(func(r Rand) []int {
					var out []int
					for _, i := range subset(&partialDraw{Sampler: new(Sampler), random: r}) {
						out = append(out, int(i))
					}
					slices.Sort(out)
					return out
				}, 100_000)
				if len(law) != int(want) {
					t.Fatalf("%d subsets of %d of %d, not %d", len(law), k, n, want)
				}
				for x, p := range law {
					if math.Abs(p*float64(want)-1) > 1e-12 {
						t.Errorf("of %d of %d, %s has probability %v, not 1/%d", k, n, x, p, want)
					}
				}
			}
		}
	}
	table, err := NewUnconstrainedTable(1_000_000_000, 2_000_000_000)
	if err != nil {
		t.Fatal(err)
	}
	s, err := table.Sampler(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ingredients, amounts, err := s.Draw(pcg{rand.New(rand.NewPCG(1, 1))}, 1000, nil, nil)
	sum := int64(0)
	for _, a := range amounts {
		sum += int64(a)
	}
	if err != nil || len(ingredients) != 1000 || sum != 2_000_000_000 || s.takenBits != nil {
		t.Errorf("a draw of billions: %d ingredients that sum to %d, %v", len(ingredients), sum, err)
	}
}

// The stated deviation is what the weights of a draw can add up to: of one used
// among two, a product of two rounded counts for each side, twice 3 roundoffs; of
// two used, a sum of such products, twice 2+14, and then a product, twice 3.
func TestDeviation(t *testing.T) {
	s := Space{Total: 10, Ingredients: []Ingredient{{Max: 8}, {Max: 10}}}
	table, err := New(context.Background(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := table.Sampler(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []float64{0, 6, 38} {
		if got := sampler.Deviation(n) / unitRoundoff; got < want || got > want+1e-6 {
			t.Errorf("with %d used the deviation is %v roundoffs, not %v", n, got, want)
		}
	}
}

// Draws from large spaces keep the rules, use as many ingredients as asked for,
// and do not depend on how many workers made the tables. Clones draw at once.
func TestDrawsFromLargeSpaces(t *testing.T) {
	for name, s := range map[string]Space{"assets": assets(), "groups": middling()} {
		var first [][]int32
		for _, workers := range []int{1, 2, 5} {
			table, err := New(context.Background(), s, Options{MaxUsed: 20, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			sampler, err := table.Sampler(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			draws := make([][]int32, 20)
			var wg sync.WaitGroup
			for n := 6; n <= 20; n++ {
				wg.Go(func() {
					r := pcg{rand.New(rand.NewPCG(3, uint64(n)))}
					clone := sampler.Clone()
					for range 20 {
						ingredients, amounts, err := clone.Draw(r, n, nil, nil)
						if err != nil || len(ingredients) != n || !s.Contains(ingredients, amounts) {
							t.Errorf("%s, n = %d: %v %v, %v", name, n, ingredients, amounts, err)
							return
						}
						draws[n-1] = append(append(draws[n-1], ingredients...), amounts...)
					}
				})
			}
			wg.Wait()
			if first == nil {
				first = draws
			}
			if !reflect.DeepEqual(first, draws) {
				t.Errorf("%s: %d workers draw otherwise than one", name, workers)
			}
		}
	}
}

// middling is 200 ingredients with different bounds, some in groups.
func middling() Space {
	s := large(20)
	s.Total = 300
	s.Ingredients = s.Ingredients[:200]
	r := rand.New(rand.NewPCG(4, 4))
	order := r.Perm(200)
	s.Groups = nil
	for g := range 6 {
		s.Groups = append(s.Groups, Group{
			Members: order[20*g : 20*g+20],
			Used:    &Range{g % 2, 3 + g},
			Total:   &Range{0, 60 + 20*g},
		})
	}
	s.Groups = append(s.Groups, Group{Members: order[:10], Used: &Range{0, 2}})
	return s
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
			b.ReportMetric(s.Deviation(c.n)*1e12, "deviation·1e12")
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
