package models

import (
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"kir"
	"kir/forest/ensemble"
	"kir/property"
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
	space, err := kir.NewSpace(len(m.Inputs), total)
	if err != nil {
		t.Fatal(err)
	}
	target, err := kir.NewTarget(space, kir.Uniform(2, 8), kir.Wish{Name: "model", Property: property.NewModel([]*ensemble.Score{s}, wish, 0), Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := kir.NewAccelerated(target)
	if err != nil {
		t.Fatal(err)
	}
	x, err := kir.NewComposition(len(m.Inputs), kir.Part{Ingredient: 0, Amount: 250}, kir.Part{Ingredient: 1, Amount: 250}, kir.Part{Ingredient: 2, Amount: 250}, kir.Part{Ingredient: 3, Amount: 250})
	if err != nil {
		t.Fatal(err)
	}
	state, err := kir.NewState(target, x)
	if err != nil {
		t.Fatal(err)
	}
	r := kir.NewRand(seed, "chain", 0)
	var tally kir.Tally
	if err := kernel.Advance(r, state, 1000, &tally); err != nil {
		t.Fatal(err)
	}
	sum, spent := 0.0, time.Duration(0)
	const step = 20
	for range iterations / step {
		start := time.Now()
		if err := kernel.Advance(r, state, step, &tally); err != nil {
			t.Fatal(err)
		}
		spent += time.Since(start)
		sum += state.AppendScores(nil)[0]
	}
	if math.IsNaN(sum) {
		t.Fatal("the chain has no score")
	}
	t.Logf("iteration %.1f ns, mean score %.5f", float64(spent)/float64(iterations), sum/float64(iterations/step))
}

// shared returns a model whose inputs are the shares of as many ingredients.
func shared(t testing.TB, m *ensemble.Model, total int) *ensemble.Score {
	t.Helper()
	sources := make([]ensemble.Source, len(m.Inputs))
	for i := range sources {
		sources[i] = ensemble.Source{Ingredients: []int32{int32(i)}, Over: float64(total)}
	}
	s, err := ensemble.Bind(m, len(m.Inputs), total, sources)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
