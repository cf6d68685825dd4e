package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kir/internal/search"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// shownAnswer returns what equal runs have in common of an answer.
func shownAnswer(a *search.Answer) string {
	if a == nil {
		return "none"
	}
	b := *a
	b.Seconds, b.Comparison, b.OptimismCheck, b.Bound = 0, nil, nil, nil
	if a.OptimismCheck == nil {
		return fmt.Sprintf("%+v %+v %+v", b, a.Comparison, a.Bound)
	}
	p := *a.OptimismCheck
	p.ExpectedRemainingGain = nil // which follows from what is left
	return fmt.Sprintf("%+v %+v %+v %+v", b, a.Comparison, p, a.Bound)
}

// asking returns a spec with a question of the given effort.
func asking(t testing.TB, s *Spec, effort float64) *Spec {
	t.Helper()
	asked := *s
	asked.Question = &search.Question{Target: s.Target, Effort: effort, Refuse: s.IsKnownSet}
	// Two targets that are not alike stand for models of two halves.
	asked.Question.HalfTargets = func(context.Context, uint64) (own, other *mcmc.Target, err error) {
		wishes := append([]mcmc.Objective{}, s.Target.Objectives()...)
		own, err = s.Target.WithObjectives(wishes...)
		if err == nil {
			wishes[0].Weight = 0
			other, err = s.Target.WithObjectives(wishes...)
		}
		return own, other, err
	}
	return &asked
}

// drawFiles returns the content of each file of draws of a run.
func drawFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "draws", "*", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no draws: %v", err)
	}
	files := make(map[string]string)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(name, dir)] = string(data)
	}
	return files
}

// The draws of every kernel are the same bytes, however much is looked for the
// best beside them, and so are the figures of the draws.
func TestSearchLeavesDrawsAlone(t *testing.T) {
	for _, kernel := range mcmc.KernelNames() {
		if kernel == "exact" {
			continue // it is for targets without properties, of which nothing is asked
		}
		t.Run(kernel, func(t *testing.T) {
			s := smallSpec(t, mcmc.Settings{Kernel: kernel, Chains: 2, Warmup: 500, Draws: 700, Thin: 2, Seed: 5})
			dir, without := start(t, s, Options{})
			want := drawFiles(t, dir)
			if without.Answer != nil {
				t.Error("an answer that nobody asked for")
			}
			for _, effort := range testmode.Pick([]float64{0, 1, 7}, []float64{0, 1}) {
				dir, r := start(t, asking(t, s, effort), Options{})
				if got := drawFiles(t, dir); !reflect.DeepEqual(got, want) {
					t.Errorf("effort %v: the draws are others", effort)
				}
				a := r.Answer
				if a == nil || len(a.Entries) == 0 || a.Effort != effort || a.Comparison == nil {
					t.Fatalf("effort %v: the answer is %+v", effort, a)
				}
				if searched := a.OptimismCheck != nil; searched != (effort > 0) {
					t.Errorf("effort %v: a promise of %+v", effort, a.OptimismCheck)
				}
				r.Answer = nil
				if !equalResults(r, without) {
					t.Errorf("effort %v: the figures of the draws are others", effort)
				}
			}
		})
	}
}

// The shortlist is at least as good as the best that the chains have seen of new
// sets, by the score that no weight changes.
func TestAnswerHoldsWhatChainsSaw(t *testing.T) {
	s := smallSpec(t, mcmc.Settings{Kernel: "balanced", Chains: 2, Warmup: 500, Draws: 700, Thin: 2, Seed: 5})
	for _, effort := range []float64{0, 1} {
		_, r := start(t, asking(t, s, effort), Options{})
		best := math.Inf(-1)
		for _, b := range r.NewBest {
			best = max(best, b.Scores[0]*b.Scores[1]) // the third does not count
		}
		if got := r.Answer.Entries[0].Score(); got < best-1e-12 {
			t.Errorf("effort %v: the best of the shortlist scores %v, a draw %v", effort, got, best)
		}
		for k, e := range r.Answer.Entries {
			if want := e.Scores[0] * e.Scores[1]; math.Abs(e.Score()-want) > 1e-9 {
				t.Errorf("effort %v: entry %d scores %v, its properties %v", effort, k, e.Score(), want)
			}
			if s.IsKnownSet(setOf(e.Parts)) {
				t.Errorf("effort %v: entry %d has a known set", effort, k)
			}
		}
	}
}

func setOf(parts []mcmc.Part) []int {
	set := make([]int, len(parts))
	for k, p := range parts {
		set[k] = p.Ingredient
	}
	return set
}

// The answer is the same on any number of workers, merged, resumed and extended.
func TestAnswerOfOneRun(t *testing.T) {
	s := asking(t, smallSpec(t, resumeSettings(1200)), 1)
	dir, r := start(t, s, Options{Workers: 1})
	want := shownAnswer(r.Answer)
	check := func(what string, s *Spec, dir string, r *Result) {
		t.Helper()
		if got := shownAnswer(r.Answer); got != want {
			t.Errorf("%s: the answer is another:\n%s\n%s", what, got, want)
		}
		if got := shownAnswer(outcomeOf(t, s, dir).result.Answer); got != want {
			t.Errorf("%s, merged: the answer is another:\n%s\n%s", what, got, want)
		}
	}
	check("one worker", s, dir, r)
	dir, r = start(t, s, Options{Workers: 3})
	check("three workers", s, dir, r)

	short := asking(t, smallSpec(t, resumeSettings(400)), 1)
	dir, r = start(t, short, Options{})
	if shownAnswer(r.Answer) == want {
		t.Error("a shorter run, of which less is looked for, has the same answer")
	}
	r, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{})
	if err != nil {
		t.Fatal(err)
	}
	check("extended", s, dir, r)
	m, err := Open(context.Background(), NewDirectoryStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	if e := m.Manifest.Effort; e == nil || *e != 1 {
		t.Errorf("run.json has the effort %v", e)
	}
}

// A search that is interrupted leaves a complete run, of which Merge tells.
func TestSearchInterrupted(t *testing.T) {
	s := asking(t, smallSpec(t, resumeSettings(400)), 1)
	ctx, cancel := context.WithCancel(context.Background())
	halves := s.Question.HalfTargets
	s.Question.HalfTargets = func(c context.Context, seed uint64) (own, other *mcmc.Target, err error) {
		cancel()
		return halves(c, seed)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := Start(ctx, s, NewDirectoryStore(dir), Options{}); !errors.As(err, new(*InterruptedError)) {
		t.Fatalf("the error is %v", err)
	}
	s.Question.HalfTargets = halves
	if r, err := Merge(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil || r.Answer.OptimismCheck == nil {
		t.Errorf("merged: %v", err)
	}
}
