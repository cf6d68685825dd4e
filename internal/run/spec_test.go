package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"kir/mcmc"
)

// smallSpec is a target with properties, one of which sums floating-point
// numbers move by move, and one that does not count.
func smallSpec(t testing.TB, settings mcmc.Settings) *Spec {
	fruit := func(x *mcmc.Composition) float64 {
		return float64(1+x.Amount(1)+x.Amount(4)) / 21
	}
	return newSpec(t, 12, 20, mcmc.Uniform(2, 5), settings,
		mcmc.Objective{Name: "smooth", Property: drifting{}, Weight: 1.5},
		mcmc.Objective{Name: "fruit", Property: mcmc.ScoreFunc(fruit), Weight: 0.5},
		mcmc.Objective{Name: "aside", Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(x.Amount(0)) }), Weight: 0},
	)
}

func newSpec(t testing.TB, ingredients, total int, sparsity mcmc.Sparsity, settings mcmc.Settings, wishes ...mcmc.Objective) *Spec {
	t.Helper()
	space, err := mcmc.NewSpace(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, sparsity, wishes...)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("recipes"))
	s := &Spec{
		Name:            "test",
		Target:          target,
		Settings:        settings,
		ResolvedProblem: []byte(fmt.Sprintf("name: test\ndraws: %d\n", settings.Draws)),
		Inputs:          []Input{{Path: "/data/recipes.csv", SHA256: hex.EncodeToString(sum[:]), Bytes: 7}},
		Version:         "1.2.3",
		IsKnownSet:      func(set []int) bool { return set[0]%2 == 0 },
	}
	for i := range ingredients {
		s.Ingredients = append(s.Ingredients, fmt.Sprintf("ingredient %d", i+1))
	}
	return s
}

// drifting is a property whose scorer adds up what moves change, so that its
// sum depends on the moves since it was last reset by rounding. No property
// should; a run that is resumed must not notice all the same.
type drifting struct{}

func (drifting) LogScore(x *mcmc.Composition) float64 {
	sum := 0.0
	for i := range x.N() {
		sum += driftingTerm(i, x.Amount(i))
	}
	return sum
}

func driftingTerm(i, amount int) float64 {
	if i < len(driftingFactors) {
		return -math.Sqrt(float64(amount)) * driftingFactors[i]
	}
	return -math.Sqrt(float64(amount)) * driftingFactor(i)
}

func driftingFactor(i int) float64 { return 0.1 + 0.3*math.Sin(float64(i+1)) }

// driftingFactors are kept, as nearly every test scores with the first of them.
var driftingFactors = func() (factors [12]float64) {
	for i := range factors {
		factors[i] = driftingFactor(i)
	}
	return factors
}()

func (p drifting) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &driftingScorer{x: x, have: make([]int, x.N())}
}

type driftingScorer struct {
	x    *mcmc.Composition
	have []int
	sum  float64
}

func (s *driftingScorer) Reset() {
	s.sum = drifting{}.LogScore(s.x)
	for i := range s.have {
		s.have[i] = s.x.Amount(i)
	}
}

func (s *driftingScorer) LogScore() float64 { return s.sum }

func (s *driftingScorer) ScoreAt(i, j, k int) float64 {
	sum := s.have[i] + s.have[j]
	return s.sum - driftingTerm(i, s.have[i]) - driftingTerm(j, s.have[j]) + driftingTerm(i, k) + driftingTerm(j, sum-k)
}

func (s *driftingScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	for k := range s.have[i] + s.have[j] + 1 {
		p.Add(k, s.ScoreAt(i, j, k))
	}
}

func (s *driftingScorer) Moved(i, j int) {
	s.sum = s.ScoreAt(i, j, s.x.Amount(i))
	s.have[i], s.have[j] = s.x.Amount(i), s.x.Amount(j)
}
