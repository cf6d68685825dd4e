package search

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"kir/mcmc"
)

// memorySteps is a store of steps in memory.
type memorySteps struct {
	mu    sync.Mutex
	steps map[string][]byte
}

func (m *memorySteps) LoadStep(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.steps[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memorySteps) SaveStep(_ context.Context, name string, result []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps[name] = result
	return nil
}

// A search with a large budget comes to the same from one process and from steps in any order. Each of the walks
// for a diverse composition is then a step.
func TestLongSearchInSteps(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "y", Property: rough(1), Weight: 1})
	n := target.Space().N()
	options := Options{Evaluations: 40_000, Seed: 2, Workers: 2, DiverseCount: 1, Distance: NewDistance(n, nil), MinDistance: 0.3, StepName: "search"}
	want, err := Best(t.Context(), target, options)
	if err != nil {
		t.Fatal(err)
	}
	store, r, diverse := &memorySteps{steps: make(map[string][]byte)}, rand.New(rand.NewPCG(1, 2)), 0
	for {
		o := options
		o.Steps = &Steps{Store: store}
		got, err := Best(t.Context(), target, o)
		if err == nil {
			if !reflect.DeepEqual(got.Diverse, want.Diverse) || !reflect.DeepEqual(got.Archive.Best(), want.Archive.Best()) || got.Evaluations != want.Evaluations {
				t.Errorf("steps come to %+v, and one process to %+v", got.Diverse, want.Diverse)
			}
			break
		}
		if !errors.Is(err, ErrStepsMissing) {
			t.Fatal(err)
		}
		names := o.Steps.Missing()
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			if strings.HasPrefix(name, "search/diverse=") {
				diverse++
			}
			o.Steps = &Steps{Store: store, Only: name}
			if _, err := Best(t.Context(), target, o); err != nil && !errors.Is(err, ErrStepsMissing) {
				t.Fatal(err)
			}
		}
	}
	if diverse < 8 {
		t.Errorf("%d steps search for the diverse composition", diverse)
	}
}
