package examples_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"kir/examples/fragrance"
	"kir/internal/compile"
	"kir/internal/search"
	"kir/internal/testonly/testmode"
)

// TestAnswerOfAProblemFile is TestAnswerIsGood by a problem file that says nothing
// but maximize and within: book. The mean over ten seeds must be above that of the
// local search by two standard errors of the difference; a single seed may come out
// even.
func TestAnswerOfAProblemFile(t *testing.T) {
	directory, err := filepath.Abs("fragrance")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "problem.yaml")
	// With the file of the materials these are in the order of newHouse, and the
	// forest is the one that the local search climbs.
	text := "recipes: " + filepath.Join(directory, "formulas.csv") + "\ningredients: " + filepath.Join(directory, "ingredients.csv") + `
total: 1000
properties:
  rating: {forest: {label: rating, maximize: true, splits: best}}
constraints:
  - amount: {of: "*", within: book}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Load(t.Context(), file, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q, err := p.SearchQuestion()
	if err != nil {
		t.Fatal(err)
	}
	q.HalfTargets = nil // which are another search, and change nothing in this one
	if !testmode.Enabled() {
		q.BoundProblem = nil // the proof of a bound, which adds to what the search finds
	}
	materials, err := fragrance.Materials()
	if err != nil {
		t.Fatal(err)
	}
	h := theHouse(t)
	const wanted = 20
	seeds := testmode.Pick(uint64(10), 2)
	total := make(map[string]float64)
	var gains []float64
	for seed := uint64(1); seed <= seeds; seed++ {
		a, err := q.Answer(t.Context(), search.RunContext{Iterations: 80_000, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Entries) != wanted {
			t.Fatalf("seed %d: %d entries", seed, len(a.Entries))
		}
		quality := make(map[string]float64)
		for _, e := range a.Entries {
			for _, part := range e.Parts {
				if i := part.Ingredient; part.Amount < h.least[i] || part.Amount > h.most[i] {
					t.Errorf("seed %d: %d of %s, and the book has %d to %d", seed, part.Amount, materials[i].Name, h.least[i], h.most[i])
				}
			}
			quality["search"] += h.quality(e.Parts) / wanted
		}
		for _, parts := range h.localSearch(seed, wanted, int(a.Evaluations)) {
			quality["local"] += h.quality(parts) / wanted
		}
		for _, parts := range h.randomSearch(t, seed, wanted, int(a.Evaluations)) {
			quality["random"] += h.quality(parts) / wanted
		}
		c := a.Comparison
		t.Logf("seed %2d: %d evaluations; true quality %.1f, of a local search %.1f, of a random one %.1f; apart %.2f of the known; promised %.2f, random %.2f, known %.2f", seed, a.Evaluations, quality["search"], quality["local"], quality["random"], c.MedianDistance/c.KnownMedianDistance, c.Shortlist.Mean, c.Random.Mean, c.Known.Mean)
		if quality["search"] < quality["random"]+20 {
			t.Errorf("seed %d: the shortlist has a quality of %.1f, a random search %.1f", seed, quality["search"], quality["random"])
		}
		gains = append(gains, quality["search"]-quality["local"])
		if c.MedianDistance < 0.4*c.KnownMedianDistance {
			t.Errorf("seed %d: the entries differ by %.2f of what known formulas do", seed, c.MedianDistance/c.KnownMedianDistance)
		}
		for name, v := range quality {
			total[name] += v / float64(seeds)
		}
	}
	n, gain, squares := float64(len(gains)), total["search"]-total["local"], 0.0
	for _, g := range gains {
		squares += (g - gain) * (g - gain)
	}
	se := math.Sqrt(squares / max(n-1, 1) / n)
	t.Logf("mean of the seeds: %.1f, local search %.1f, random %.1f; the gain is %.1f ± %.1f", total["search"], total["local"], total["random"], gain, se)
	if gain <= 2*se {
		t.Errorf("the gain over a local search is %.1f ± %.1f", gain, se)
	}
}
