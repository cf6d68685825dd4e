package search_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"kir"
	"kir/search"
)

// TestAnswerAtTheEdges asks where there is next to nothing to look among.
func TestAnswerAtTheEdges(t *testing.T) {
	rising := kir.ScoreFunc(func(x *kir.Composition) float64 { return float64(1+x.Amount(0)) / float64(1+x.Total()) })
	for _, c := range []struct {
		name     string
		n, total int
		law      kir.Sparsity
		wish     kir.ScoreFunc
		weight   float64
		entries  int // at least; −1: no answer
	}{
		{"one of one", 1, 1, kir.Uniform(1, 1), rising, 1, 1},
		{"one unit", 3, 1, kir.Uniform(1, 1), rising, 1, 1},
		{"one ingredient", 1, 9, kir.Uniform(1, 1), rising, 1, 1},
		{"all used", 4, 4, kir.Uniform(4, 4), rising, 1, 1},
		{"no weight", 4, 9, kir.Uniform(1, 3), rising, 0, -1},
		{"a great weight", 4, 9, kir.Uniform(1, 3), rising, 1e6, 2},
		{"nearly all forbidden", 9, 30, kir.Uniform(2, 4), func(x *kir.Composition) float64 {
			if x.Amount(0) == 0 || x.Amount(8) == 0 {
				return 0
			}
			return 0.5
		}, 1, 1},
	} {
		space, err := kir.NewSpace(c.n, c.total)
		if err != nil {
			t.Fatal(err)
		}
		target, err := kir.NewTarget(space, c.law, kir.Wish{Name: "y", Property: c.wish, Weight: c.weight})
		if err != nil {
			t.Fatal(err)
		}
		for _, effort := range []float64{0, 0.001, 1} {
			q := &search.Question{Target: target, Effort: effort}
			b := search.Beside{Iterations: 4000, Seed: 1}
			x, _, err := kir.StartState(target, kir.NewRand(1, "test", 0))
			if err != nil {
				t.Fatal(err)
			}
			b.Found = []search.Found{{Parts: x.Composition.Parts(), LogScore: x.LogScore() / max(c.weight, 1)}}
			a, err := q.Answer(t.Context(), b)
			if err != nil {
				t.Errorf("%s, effort %v: %v", c.name, effort, err)
				continue
			}
			if c.entries < 0 {
				if a != nil {
					t.Errorf("%s: an answer where nothing counts", c.name)
				}
				continue
			}
			if least := min(c.entries, 1+int(effort)*c.entries); len(a.Entries) < least {
				t.Errorf("%s, effort %v: %d entries", c.name, effort, len(a.Entries))
			}
			for _, e := range a.Entries {
				if score := e.Score(); !(score > 0 && score <= 1) || math.Abs(score-e.Scores[0]) > 1e-9 {
					t.Errorf("%s, effort %v: an entry scores %v, its property %v", c.name, effort, score, e.Scores[0])
				}
			}
		}
	}
}

// What cannot be checked on halves is noted, and ends nothing but the check.
func TestAnswerNotesWhatCannotBeChecked(t *testing.T) {
	space, err := kir.NewSpace(4, 10)
	if err != nil {
		t.Fatal(err)
	}
	rising := kir.ScoreFunc(func(x *kir.Composition) float64 { return float64(1+x.Amount(0)) / 11 })
	target, err := kir.NewTarget(space, kir.Uniform(1, 3), kir.Wish{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := &search.Question{Target: target, Effort: 1, Halves: func(context.Context, uint64) (own, other *kir.Target, err error) {
		return nil, nil, errors.New("one half has no such class")
	}}
	a, err := q.Answer(t.Context(), search.Beside{Iterations: 8000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a.Promise != nil || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "one half has no such class") || len(a.Entries) == 0 {
		t.Errorf("the answer is %+v", a)
	}
}

// Without known recipes, entries are apart by a share of what random compositions
// differ.
func TestAnswerWithoutKnownIsApart(t *testing.T) {
	space, err := kir.NewSpace(12, 60)
	if err != nil {
		t.Fatal(err)
	}
	rising := kir.ScoreFunc(func(x *kir.Composition) float64 { return float64(1+x.Amount(0)+x.Amount(1)) / 61 })
	target, err := kir.NewTarget(space, kir.Uniform(2, 4), kir.Wish{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, err := (&search.Question{Target: target, Effort: 1}).Answer(t.Context(), search.Beside{Iterations: 8000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Entries) < 2 || !(a.Entries[1].Apart > 0.2) {
		t.Errorf("the second of %d entries is %v apart from the first", len(a.Entries), a.Entries[1].Apart)
	}
}

// What is told while it is looked ends at what was expected, nearly: half of a walk
// may be left over in each round.
func TestAnswerTellsHowFarItIs(t *testing.T) {
	space, err := kir.NewSpace(8, 30)
	if err != nil {
		t.Fatal(err)
	}
	rising := kir.ScoreFunc(func(x *kir.Composition) float64 { return float64(1+x.Amount(0)) / 31 })
	target, err := kir.NewTarget(space, kir.Uniform(2, 4), kir.Wish{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := &search.Question{Target: target, Effort: 1}
	b := search.Beside{Iterations: 40_000, Seed: 1, Looked: new(atomic.Int64)}
	if _, err := q.Answer(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if told, expected := int(b.Looked.Load()), q.Expected(b); told > expected || told < 8*expected/10 {
		t.Errorf("%d lines were told of, and %d expected", told, expected)
	}
}

// Where rules and the book do not go together, the rules do, and it is said.
func TestAnswerOutsideTheBook(t *testing.T) {
	space, err := kir.NewSpace(4, 10)
	if err != nil {
		t.Fatal(err)
	}
	rising := kir.ScoreFunc(func(x *kir.Composition) float64 { return float64(1+x.Amount(0)) / 11 })
	target, err := kir.NewTarget(space, kir.Uniform(2, 3), kir.Wish{Name: "y", Property: rising, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := &search.Question{Target: target, Effort: 1, Least: []int{1, 1, 1, 1}, Most: []int{2, 2, 2, 2}}
	a, err := q.Answer(t.Context(), search.Beside{Iterations: 8000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Entries) == 0 || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "within the doses") {
		t.Errorf("%d entries, with the notes %q", len(a.Entries), a.Notes)
	}
}
