package volume

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/testonly/golden"
	"kir/internal/testonly/testmode"
)

// A stream is a Rand for tests.
type stream struct{ *rand.Rand }

func (s stream) Intn(n int) int           { return s.IntN(n) }
func (s stream) Bernoulli(p float64) bool { return s.Float64() < p }
func (s stream) Categorical(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := s.Float64() * sum
	for k, w := range weights {
		if u -= w; u < 0 {
			return k
		}
	}
	for k := len(weights) - 1; ; k-- {
		if weights[k] > 0 {
			return k
		}
	}
}

func streams(seed uint64) func(uint64) Rand {
	return func(index uint64) Rand { return stream{rand.New(rand.NewPCG(seed, index))} }
}

func newProblem(t testing.TB, s count.Space, most int, sums ...constraint.Sum) Problem {
	t.Helper()
	table, err := count.New(t.Context(), s, count.Options{MaxUsed: most})
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := table.Sampler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return Problem{Space: s, Table: table, Sampler: sampler, Sums: sums}
}

func limit(factors []int64, min, max int64) constraint.Sum {
	s := constraint.Sum{Min: min, Max: max}
	for i, f := range factors {
		if f != 0 {
			s.Terms = append(s.Terms, constraint.Term{Ingredient: i, PerUnit: f})
		}
	}
	return s
}

// enumerated counts, by hand, the compositions of each number of ingredients that
// keep the countable rules, and those of them that keep the sums.
func enumerated(p Problem) (all, kept []float64) {
	n := len(p.Space.Ingredients)
	all, kept = make([]float64, n+1), make([]float64, n+1)
	amounts := make([]int32, n)
	var rec func(i, left int)
	rec = func(i, left int) {
		if i == n-1 {
			amounts[i] = int32(left)
			var list, units []int32
			for i, x := range amounts {
				if x > 0 {
					list, units = append(list, int32(i)), append(units, x)
				}
			}
			if !p.Space.Contains(list, units) {
				return
			}
			used := len(list)
			all[used]++
			for _, s := range p.Sums {
				sum := int64(0)
				for _, t := range s.Terms {
					if x := amounts[t.Ingredient]; x > 0 {
						sum += t.PerUnit*int64(x) + t.PerUse
					}
				}
				if sum < s.Min || sum > s.Max {
					return
				}
			}
			kept[used]++
			return
		}
		for x := 0; x <= left; x++ {
			amounts[i] = int32(x)
			rec(i+1, left-x)
		}
	}
	rec(0, p.Space.Total)
	return all, kept
}

// randomProblem makes a small problem with rules of all kinds.
func randomProblem(t testing.TB, r *rand.Rand) Problem {
	n, total := 5+r.IntN(3), 8+r.IntN(9)
	s := count.Space{Total: total, Ingredients: make([]count.Ingredient, n)}
	for i := range s.Ingredients {
		a := &s.Ingredients[i]
		switch r.IntN(6) {
		case 0:
			a.Min = 1 + r.IntN(3)
		case 1:
			a.Max = total/2 + r.IntN(total/2)
		case 2:
			a.Step = 1 + r.IntN(2)
		}
	}
	if r.IntN(5) == 0 {
		s.Ingredients[r.IntN(n)].Required = true
	}
	if r.IntN(3) == 0 {
		s.Groups = append(s.Groups, count.Group{Members: []int{0, 1, 2}, Used: &count.Range{Min: r.IntN(2), Max: 2}})
	}
	var sums []constraint.Sum
	for range 1 + r.IntN(2) {
		switch r.IntN(6) {
		case 0: // a group that crosses others
			sum := constraint.Sum{Min: int64(r.IntN(3)), Max: int64(3 + r.IntN(total))}
			for i := 1; i < 4; i++ {
				sum.Terms = append(sum.Terms, constraint.Term{Ingredient: i, PerUnit: 1})
			}
			sums = append(sums, sum)
		case 1: // ingredient 0 needs 3 or 4
			sums = append(sums, constraint.Sum{Min: math.MinInt64, Max: 0, Terms: []constraint.Term{{Ingredient: 0, PerUse: 1}, {Ingredient: 3, PerUse: -1}, {Ingredient: 4, PerUse: -1}}})
		case 2: // an equality
			f := make([]int64, n)
			for i := range f {
				f[i] = int64(r.IntN(4))
			}
			sums = append(sums, limit(f, int64(total), int64(total)))
		case 3: // a ratio: 2·x_0 ≤ x_1 + x_2
			sums = append(sums, constraint.Sum{Min: math.MinInt64, Max: 0, Terms: []constraint.Term{{Ingredient: 0, PerUnit: 2}, {Ingredient: 1, PerUnit: -1}, {Ingredient: 2, PerUnit: -1}}})
		default: // a limit
			f := make([]int64, n)
			for i := range f {
				f[i] = int64(r.IntN(1000))
			}
			mean := int64(r.NormFloat64()*120 + 500)
			sums = append(sums, limit(f, math.MinInt64, mean*int64(total)))
		}
	}
	return newProblem(t, s, 0, sums...)
}

func sizesUpTo(most int) []int {
	var sizes []int
	for n := 1; n <= most; n++ {
		sizes = append(sizes, n)
	}
	return sizes
}

// checkDraws verifies that what a walk draws keeps every rule.
func checkDraws(t testing.TB, p Problem, result *Result) {
	t.Helper()
	walk, r := result.Walk(), streams(99)(0)
	var x Composition
	for at, s := range result.Sizes {
		if !s.Found {
			continue
		}
		for range 20 {
			walk.Draw(r, at, &x)
			if len(x.Ingredients) != s.N || !p.Space.Contains(x.Ingredients, x.Amounts) {
				t.Fatalf("a draw of %d ingredients breaks the countable rules: %v", s.N, x)
			}
			amounts := make(map[int]int64)
			for k, i := range x.Ingredients {
				amounts[int(i)] = int64(x.Amounts[k])
			}
			for _, sum := range p.Sums {
				v := int64(0)
				for _, term := range sum.Terms {
					if a := amounts[term.Ingredient]; a > 0 {
						v += term.ValueAt(int(a))
					}
				}
				if v < sum.Min || v > sum.Max {
					t.Fatalf("a draw of %d ingredients breaks a sum: %v", s.N, x)
				}
			}
		}
	}
}

// TestErrorsAreWhatTheySay measures small random problems without enumerating
// them, 30, with KIR_LONG 100, or KIR_PROBLEMS of them. The errors over their standard errors have
// to be standard normal: each problem gives a score of one share and of one
// ratio, all independent. The mean square of k of them is off 1 by more than
// 4·√(2/k) with probability 6e-5, and none of 200 lies beyond 5.5 but with
// probability 8e-6.
func TestErrorsAreWhatTheySay(t *testing.T) {
	problems := testmode.Pick(100, 30)
	if more := os.Getenv("KIR_PROBLEMS"); more != "" {
		var err error
		if problems, err = strconv.Atoi(more); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(3, 3))
	var shares, ratios, laws scores
	for k := range problems {
		p := randomProblem(t, r)
		all, kept := enumerated(p)
		result := measured(t, p, uint64(k))
		var last = -1
		var pick []int
		for at, s := range result.Sizes {
			if kept[s.N] == 0 {
				if s.Found {
					t.Errorf("problem %d: a composition of %d ingredients was found and there is none", k, s.N)
				}
				continue
			}
			if !s.Found {
				if kept[s.N] > 1e-4*all[s.N] && kept[s.N] > 5 {
					t.Errorf("problem %d: none of %v compositions of %d ingredients among %v was found", k, kept[s.N], s.N, all[s.N])
				}
				continue
			}
			pick = append(pick, at)
		}
		checkDraws(t, p, result)
		if len(pick) == 0 {
			continue
		}
		at := pick[r.IntN(len(pick))]
		s := result.Sizes[at]
		if len(pick) > 1 { // the law of n that chains sample where a uniform one is wanted
			p, sum := make([]float64, len(result.Sizes)), 0.0
			for _, k := range pick {
				z := result.Sizes[k]
				p[k] = kept[z.N] / all[z.N] / math.Exp(z.LogShare)
				sum += p[k]
			}
			for k := range p {
				p[k] /= sum
			}
			errors, rest := result.LawStandardErrors(p, 0)
			if rest != 0 {
				t.Errorf("problem %d: nothing is off by %v", k, rest)
			}
			laws.add(p[at]-1/float64(len(pick)), max(errors[at], minRelativeError/float64(len(pick))), fmt.Sprint("problem ", k, " law at ", s.N))
		}
		shares.add(s.LogShare-math.Log(kept[s.N]/all[s.N]), s.SE, fmt.Sprint("problem ", k, " size ", s.N))
		if last = pick[r.IntN(len(pick))]; last != at {
			o := result.Sizes[last]
			ratios.add(s.LogShare-o.LogShare-math.Log(kept[s.N]/all[s.N])+math.Log(kept[o.N]/all[o.N]), result.RatioSE(at, last), fmt.Sprint("problem ", k, " sizes ", s.N, o.N))
		}
	}
	shares.check(t, "shares")
	ratios.check(t, "ratios")
	laws.check(t, "laws")
}

// measured measures a problem.
func measured(t testing.TB, p Problem, seed uint64) *Result {
	t.Helper()
	result, err := Measure(t.Context(), p, Options{Sizes: sizesUpTo(p.Table.MaxUsed()), Stream: streams(seed), RatioError: 0.05, MaxMillionMoves: 1})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// scores are errors over their standard errors.
type scores struct {
	z     []float64
	where []string
}

func (s *scores) add(err, se float64, where string) {
	s.z, s.where = append(s.z, err/se), append(s.where, where)
}

func (s *scores) check(t *testing.T, what string) {
	t.Helper()
	squares, mean := 0.0, 0.0
	for k, z := range s.z {
		squares += z * z / float64(len(s.z))
		mean += z / float64(len(s.z))
		if !(math.Abs(z) < 5.5) {
			t.Errorf("%s: %s is %.1f standard errors off", what, s.where[k], z)
		}
	}
	t.Logf("%s: %d scores, mean %.3f, mean square %.3f", what, len(s.z), mean, squares)
	slack := 4 * math.Sqrt(2/float64(len(s.z)))
	if squares > 1+slack || squares < 1-slack {
		t.Errorf("%s: the mean square of %d errors over their standard errors is %.2f", what, len(s.z), squares)
	}
}

// TestDeepShares measures what a table can count exactly as well: a group's
// rule given as a sum, which one in 10 to 10¹² compositions keep.
func TestDeepShares(t *testing.T) {
	const n, total, members = 40, 200, 30
	var scores scores
	for k, units := range []int{100, 60, 30, 10, 4} {
		s := count.Space{Total: total, Ingredients: make([]count.Ingredient, n)}
		group := make([]int, members)
		sum := constraint.Sum{Min: math.MinInt64, Max: int64(units)}
		for i := range group {
			group[i] = i
			sum.Terms = append(sum.Terms, constraint.Term{Ingredient: i, PerUnit: 1})
		}
		counted := s
		counted.Groups = []count.Group{{Members: group, Total: &count.Range{Max: units}}}
		exact := newProblem(t, counted, 20).Table
		p := newProblem(t, s, 20, sum)
		result, err := Measure(t.Context(), p, Options{Sizes: []int{10, 11, 12, 13, 14}, Stream: streams(uint64(k)), MaxMillionMoves: 5})
		if err != nil {
			t.Fatal(err)
		}
		checkDraws(t, p, result)
		for at, size := range result.Sizes {
			want := exact.LogCount(size.N) - p.Table.LogCount(size.N)
			t.Logf("at most %d units, %d ingredients: share %.3g, log off by %.3f ± %.3f", units, size.N, math.Exp(want), size.LogShare-want, size.SE)
			if at == 0 {
				scores.add(size.LogShare-want, size.SE, fmt.Sprint("at most ", units))
			} else {
				before := exact.LogCount(size.N-1) - p.Table.LogCount(size.N-1)
				scores.add(size.LogShare-result.Sizes[at-1].LogShare-want+before, result.RatioSE(at, at-1), fmt.Sprint("at most ", units, " ratio at ", size.N))
			}
		}
	}
	scores.check(t, "deep")
}

// TestWorkers shows that what is measured does not depend on how many work.
func TestWorkers(t *testing.T) {
	p := randomProblem(t, rand.New(rand.NewPCG(5, 5)))
	o := Options{Sizes: sizesUpTo(p.Table.MaxUsed()), Stream: streams(4), MaxMillionMoves: 1, RatioError: 0.1}
	var first *Result
	for _, o.Workers = range []int{1, 3} {
		result, err := Measure(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = result
		} else if fmt.Sprint(first.Sizes, first.jackknifeLogShares) != fmt.Sprint(result.Sizes, result.jackknifeLogShares) {
			t.Error("more workers measure something else")
		}
	}
}

// TestMeasureOfSeed: what is measured, and the steps it takes, follow from the seed,
// and are what they were: how a population is thinned or a bridge is built does not
// change unseen.
func TestMeasureOfSeed(t *testing.T) {
	var got strings.Builder
	tell := func(p Problem, o Options) string {
		var b strings.Builder
		result, err := Measure(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, result.Moves, "moves")
		walk, r := result.Walk(), streams(3)(0)
		var x Composition
		for at, s := range result.Sizes {
			fmt.Fprintf(&b, "%d: %.6f ± %.6f", s.N, s.LogShare, s.SE)
			if at > 0 {
				fmt.Fprintf(&b, ", ratio ± %.6f", result.RatioSE(at, at-1))
			}
			if s.Found {
				walk.Draw(r, at, &x)
				fmt.Fprint(&b, " ", x.Ingredients, x.Amounts)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	for seed := range uint64(4) {
		p := randomProblem(t, rand.New(rand.NewPCG(seed, 9)))
		o := Options{Sizes: sizesUpTo(p.Table.MaxUsed()), Stream: streams(seed), RatioError: 0.05, MaxMillionMoves: 2}
		got.WriteString(tell(p, o))
		o.SizeProbabilities = make([]float64, len(o.Sizes))
		for k := range o.SizeProbabilities {
			o.SizeProbabilities[k] = 1 / float64(1+k*k)
		}
		got.WriteString(tell(p, o))
	}
	sum := constraint.Sum{Min: math.MinInt64, Max: 8}
	for i := range 15 {
		sum.Terms = append(sum.Terms, constraint.Term{Ingredient: i, PerUnit: 1})
	}
	deep := newProblem(t, count.Space{Total: 60, Ingredients: make([]count.Ingredient, 20)}, 9, sum) // one in 10⁴ to 10⁶ keeps it
	got.WriteString(tell(deep, Options{Sizes: []int{6, 7, 9}, Stream: streams(5), RatioError: 0.1, MaxMillionMoves: 2}))
	golden.Compare(t, "testdata/measured.txt", []byte(got.String()))

	// What is not said is what is documented.
	p := randomProblem(t, rand.New(rand.NewPCG(5, 5)))
	o := Options{Sizes: []int{2, 3}, Stream: streams(4)}
	said := o
	said.RatioError, said.MaxMillionMoves, said.SizeProbabilities, said.Workers = 0.02, 100, []float64{1, 1}, 1
	if a, b := tell(p, o), tell(p, said); a != b {
		t.Errorf("by default it measures\n%sand not\n%s", a, b)
	}
	o.RatioError, said.RatioError = 0.005, 0.005 // which one round does not reach
	if a, b := tell(p, o), tell(p, said); a != b {
		t.Errorf("with an effort that is not said it measures\n%sand not\n%s", a, b)
	}
}

// TestNextStep leaves what is wished of a population effective, and does not end where
// all are alike.
func TestNextStep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values, weights := make([]float64, 500), make([]float64, 500)
	for k := range values {
		values[k] = 5 * r.ExpFloat64() * r.Float64()
	}
	step := nextStep(values, 7, weights) - 7
	sum, squares := 0.0, 0.0
	for _, v := range values {
		w := math.Exp(-step * v)
		sum, squares = sum+w, squares+w*w
	}
	if left := sum * sum / squares / 500; math.Abs(left-keptEffectiveShare) > 1e-9 {
		t.Errorf("%v is effective after a step of %v, want %v", left, step, keptEffectiveShare)
	}
	for k := range values {
		values[k] = 2
	}
	if got := nextStep(values, 7, weights); got != 8.5 {
		t.Errorf("where all are broken by 2, from 7 to %v, want e⁻³", got)
	}
}

// BenchmarkMeasure measures 200 ingredients, a total of 1,000 and n ~ normal(20, 2)
// under limits that each let about six in ten pass.
func BenchmarkMeasure(b *testing.B) {
	for _, limits := range []int{1, 3, 12} {
		b.Run(fmt.Sprint(limits), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, uint64(limits)))
			s := count.Space{Total: 1000, Ingredients: make([]count.Ingredient, 200)}
			var sums []constraint.Sum
			for range limits {
				f := make([]int64, 200)
				mean := 0.0
				for i := range f {
					f[i] = int64(r.ExpFloat64() * 1000)
					mean += float64(f[i]) / 200
				}
				sums = append(sums, limit(f, math.MinInt64, int64(mean*1.03*1000)))
			}
			p := newProblem(b, s, 40, sums...)
			var sizes []int
			var mass []float64
			for n := 8; n <= 32; n++ {
				z := float64(n-20) / 2
				sizes, mass = append(sizes, n), append(mass, math.Exp(-z*z/2))
			}
			for b.Loop() {
				result, err := Measure(b.Context(), p, Options{Sizes: sizes, SizeProbabilities: mass, Stream: streams(7)})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(result.Sizes[12].SE, "SE-of-share")
				b.ReportMetric(result.RatioSE(6, 18), "SE-of-ratio")
			}
		})
	}
}

// Whoever wants to know early is given compositions of each size that keep the sums, and
// what is measured then is the same.
func TestEarly(t *testing.T) {
	p := randomProblem(t, rand.New(rand.NewPCG(5, 5)))
	o := Options{Sizes: sizesUpTo(p.Table.MaxUsed()), Stream: streams(4), MaxMillionMoves: 1, RatioError: 0.1}
	want, err := Measure(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Begin(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range m.RoughResult().Sizes {
		if s.Found {
			found++
		}
	}
	got, err := m.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Sizes, want.Sizes) {
		t.Errorf("with an early look it is %+v, without %+v", got.Sizes, want.Sizes)
	}
	if found == 0 {
		t.Error("nothing was found early")
	}
}
