package models

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"kir/internal/ensemble"
	"kir/internal/importedmodel"
	"kir/mcmc"
)

// TestChain walks the chain of chain.py, which runs it.
func TestChain(t *testing.T) {
	path := os.Getenv("KIR_CHAIN")
	if path == "" {
		t.Skip("KIR_CHAIN names no model; see chain.py")
	}
	iterations, err := strconv.Atoi(os.Getenv("KIR_CHAIN_ITERATIONS"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(os.Getenv("KIR_CHAIN_SEED"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	const total = 1000
	m := load(t, path)
	s := shared(t, m, total)
	wish := func(sums []float64) float64 { return min(max((sums[0]+2)/4, 0), 1) }
	space, err := mcmc.NewSpace(len(m.Inputs), total)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 8), mcmc.Objective{Name: "model", Property: importedmodel.New(s, wish, 0), Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := mcmc.NewKernel("accelerated", target)
	if err != nil {
		t.Fatal(err)
	}
	x, err := mcmc.NewComposition(len(m.Inputs), mcmc.Part{Ingredient: 0, Amount: 250}, mcmc.Part{Ingredient: 1, Amount: 250}, mcmc.Part{Ingredient: 2, Amount: 250}, mcmc.Part{Ingredient: 3, Amount: 250})
	if err != nil {
		t.Fatal(err)
	}
	state, err := mcmc.NewState(target, x)
	if err != nil {
		t.Fatal(err)
	}
	r := mcmc.NewRand(seed, "chain", 0)
	var tally mcmc.Tally
	if err := kernel.Advance(r, state, 1000, &tally); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	const step = 20
	start := processorTime(t)
	for range iterations / step {
		if err := kernel.Advance(r, state, step, &tally); err != nil {
			t.Fatal(err)
		}
		sum += state.AppendScores(nil)[0]
	}
	spent := processorTime(t) - start
	if math.IsNaN(sum) {
		t.Fatal("the chain has no score")
	}
	t.Logf("iteration %.1f ns, mean score %.5f", float64(spent)/float64(iterations), sum/float64(iterations/step))
}

// processorTime returns the time that processors have spent on this process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLine compares lines of the model KIR_CHAIN, see chain.py, with points, in
// turns: the least time of 30 for each of 100 compositions, of three to eight
// ingredients in 1,000 units, and 20 lines through each. Points are the composition
// itself, 20 times, which the processor learns to foresee, and one on each line.
func BenchmarkLine(b *testing.B) {
	path := os.Getenv("KIR_CHAIN")
	if path == "" {
		b.Skip("KIR_CHAIN names no model; see chain.py")
	}
	const total, lines = 1000, 20
	m := load(b, path)
	s := shared(b, m, total)
	n := len(m.Inputs)
	r := rand.New(rand.NewPCG(1, 1))
	c := s.NewScorer()
	var point, onLine, line, move time.Duration
	pieces, compositions := 0, 0
	for range 100 {
		x := make([]int32, n)
		of := r.Perm(n)[:3+r.IntN(6)]
		rest := int32(total)
		for _, i := range of[1:] {
			x[i] = 1 + r.Int32N(rest-int32(len(of)))/2
			rest -= x[i]
		}
		x[of[0]] = rest
		var used []int32
		var pairs [lines][2]int
		var points [lines][]int32
		for _, i := range of {
			used = append(used, int32(i))
		}
		for k := range pairs {
			i := of[r.IntN(len(of))]
			j := (i + 1 + r.IntN(n-1)) % n
			pairs[k] = [2]int{i, j}
			y := slices.Clone(x)
			y[i] = r.Int32N(x[i] + x[j] + 1)
			y[j] = x[i] + x[j] - y[i]
			points[k] = y
		}
		c.Reset(x, used)
		bestPoint, bestOnLine, bestLine, bestMove := time.Hour, time.Hour, time.Hour, time.Hour
		for range 30 {
			start := time.Now()
			for range lines {
				s.Sums(x)
			}
			bestPoint = min(bestPoint, time.Since(start))
			start = time.Now()
			for _, y := range points {
				s.Sums(y)
			}
			bestOnLine = min(bestOnLine, time.Since(start))
			start = time.Now()
			for _, p := range pairs {
				starts, _ := c.Line(p[0], p[1])
				pieces += len(starts)
			}
			bestLine = min(bestLine, time.Since(start))
			start = time.Now()
			for _, p := range pairs {
				sum := x[p[0]] + x[p[1]]
				k := r.Int32N(sum + 1)
				c.Set(p[0], k, p[1], sum-k)
				c.Set(p[0], x[p[0]], p[1], x[p[1]])
			}
			bestMove = min(bestMove, time.Since(start)/2)
		}
		point, onLine, line, move = point+bestPoint, onLine+bestOnLine, line+bestLine, move+bestMove
		compositions += lines
	}
	each := float64(compositions)
	b.ReportMetric(float64(point)/each, "ns/point")
	b.ReportMetric(float64(line)/each, "ns/line")
	b.ReportMetric(float64(move)/each, "ns/move")
	b.ReportMetric(float64(line)/float64(point), "line/point")
	b.ReportMetric(float64(onLine)/each, "ns/point-on-line")
	b.ReportMetric(float64(line)/float64(onLine), "line/point-on-line")
	b.ReportMetric(float64(pieces)/each/30, "pieces/line")
	b.ReportMetric(0, "ns/op")
}

// shared returns a model whose inputs are the shares of as many ingredients.
func shared(t testing.TB, m *ensemble.Model, total int) *ensemble.Score {
	t.Helper()
	sources := make([]ensemble.Source, len(m.Inputs))
	for i := range sources {
		sources[i] = ensemble.Source{Ingredients: []int32{int32(i)}, Divisor: float64(total)}
	}
	s, err := ensemble.Bind(m, len(m.Inputs), total, sources)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
