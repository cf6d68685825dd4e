package search

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir/internal/bound"
	"kir/internal/constraint"
	"kir/mcmc"
	"kir/rule"
)

// newBoundedQuestion returns a question whose log score is a sum over pairs of ingredients, each a table by the
// two amounts. The bound of a box is the sum of the maxima, which is far above the best, so that the bounding
// uses all its time.
func newBoundedQuestion(t *testing.T) *Question {
	t.Helper()
	const n, total = 7, 12
	r := rand.New(rand.NewPCG(3, 5))
	var tables [n][n][total + 1][total + 1]float64
	for i := range n {
		for j := range i {
			for a := range total + 1 {
				for b := range total + 1 {
					tables[i][j][a][b] = -r.Float64()
				}
			}
		}
	}
	space, err := mcmc.NewSpace(n, total)
	if err != nil {
		t.Fatal(err)
	}
	score := func(x *mcmc.Composition) (sum float64) {
		for i := range n {
			for j := range i {
				sum += tables[i][j][x.Amount(i)][x.Amount(j)]
			}
		}
		return sum
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 5), mcmc.Objective{Name: "y", Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return math.Exp(score(x)) }), Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	conditions, err := constraint.FromRules(rule.Set{Ingredients: n, Total: total})
	if err != nil {
		t.Fatal(err)
	}
	box := func(lo, hi []int32, _ int) (sum float64) {
		for i := range n {
			for j := range i {
				most := math.Inf(-1)
				for a := lo[i]; a <= hi[i]; a++ {
					for b := lo[j]; b <= hi[j]; b++ {
						most = max(most, tables[i][j][a][b])
					}
				}
				sum += most
			}
		}
		return sum
	}
	return &Question{Target: target, Effort: 1, BoundProblem: &bound.Problem{
		Conditions: conditions, SoloWork: 1, Factors: []bound.Factor{{Name: "y", UpperBound: math.Inf(1), Box: box, BoxWork: 3000}},
	}}
}

// The bound and the check of models are the same from one process and from steps that many processes do in any
// order, lane by lane. The steps of the check can be done before those of the search.
func TestBoundInSteps(t *testing.T) {
	q := newBoundedQuestion(t)
	q.HalfTargets = func(context.Context, uint64) (own, other *mcmc.Target, err error) { return q.Target, q.Target, nil }
	b := RunContext{Iterations: 2000, Seed: 1, Workers: 2}
	want, err := q.Answer(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if want.Bound == nil || want.Bound.Proved || math.IsInf(want.Bound.UpperLogScore, 1) {
		t.Fatalf("the bound is %+v, and should be open", want.Bound)
	}
	store, lanes, r := &memorySteps{steps: make(map[string][]byte)}, 0, rand.New(rand.NewPCG(1, 2))
	answer := func(s *Steps) (*Answer, error) {
		c := b
		c.Steps = s
		s.Store, s.MinSharedBound = store, 1
		return q.Answer(t.Context(), c)
	}
	for {
		s := &Steps{}
		got, err := answer(s)
		if err == nil {
			if !reflect.DeepEqual(got.Bound, want.Bound) || !reflect.DeepEqual(got.OptimismCheck, want.OptimismCheck) || fmt.Sprint(got.Entries) != fmt.Sprint(want.Entries) {
				t.Errorf("steps come to %+v, and one process to %+v", got.Bound, want.Bound)
			}
			break
		}
		if !errors.Is(err, ErrStepsMissing) {
			t.Fatal(err)
		}
		names := s.Missing()
		if len(store.steps) == 1 && !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "search-check-2/") }) {
			t.Errorf("the check waits: %q", names)
		}
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			if strings.Contains(name, "/lane=") {
				lanes++
			}
			if _, err := answer(&Steps{Only: name}); err != nil && !errors.Is(err, ErrStepsMissing) {
				t.Fatal(err)
			}
			if store.steps[name] == nil {
				t.Fatalf("%s is not stored", name)
			}
		}
	}
	if lanes < 100 {
		t.Errorf("%d steps are lanes", lanes)
	}
	// One lane is another's: a box lies outside the space.
	for name, data := range store.steps {
		if !strings.Contains(name, "/lane=") {
			continue
		}
		var lane bound.LaneResult
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&lane); err != nil {
			t.Fatal(err)
		}
		if len(lane.Boxes) == 0 {
			continue
		}
		lane.Boxes[0].Hi[0] = 1000
		var changed bytes.Buffer
		if err := gob.NewEncoder(&changed).Encode(&lane); err != nil {
			t.Fatal(err)
		}
		store.steps[name] = changed.Bytes()
		for step := range store.steps {
			if strings.HasSuffix(step, "bound=after") {
				delete(store.steps, step)
			}
		}
		if _, err := answer(&Steps{}); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("a box outside the space: %v", err)
		}
		return
	}
	t.Error("no lane has a box")
}
