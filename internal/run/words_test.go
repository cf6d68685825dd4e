package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kir/internal/file"
	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// TestWords: what errors, shards and bounds say is what they said.
func TestWords(t *testing.T) {
	record := golden.Open(t)
	base := errors.New("the disk is full")
	for name, err := range map[string]error{
		"exists": &ExistsError{"a b"}, "not": &NotRunError{"runs/it's", base}, "busy": &BusyError{"runs/a", -1}, "busy at 0": &BusyError{"runs/a", 0}, "busy at 3": &BusyError{"runs/a", 3},
		"changed": &ChangedError{"runs/a", "thin", "1", "2", "put it back"}, "interrupted": &InterruptedError{Dir: "runs/a", DoneShare: 0.426, Err: base}, "with a way": &InterruptedError{Dir: "runs/a", DoneShare: 1, HowToContinue: "wait", Err: base},
		"storage": &StorageError{"runs/a", base}, "interrupted in memory": &InterruptedError{DoneShare: 0.426, Err: base}, "storage before a run": &StorageError{Err: base}, "unfinished": &UnfinishedError{Dir: "runs/a$"}, "going": &UnfinishedError{"runs/a$", true}, "bounds": &BoundsError{"too much"},
	} {
		record.CheckText(t, name, err.Error())
		switch name {
		case "not", "interrupted", "storage":
			if !errors.Is(err, base) {
				t.Errorf("%s is not what it is of", name)
			}
		}
	}
	for _, text := range []string{"1/1", "3/16", "16/16", "17/16", "0/4", "-1/4", "0/0", "1/0", "1", "/", "1/", "/2", "a/b", "1/2/3", " 1/2"} {
		s, err := ParseShard(text, 0)
		record.CheckText(t, "shard "+text, fmt.Sprint(s, " ", err))
	}
	for _, s := range []Shard{{}, {1, 1}, {1, 3}, {2, 3}, {3, 3}, {2, 7}, {7, 7}} {
		from, to := s.Chains(4)
		record.CheckText(t, fmt.Sprintf("of 4 chains %v", s), fmt.Sprint(from, to, s.hasChains(4), s.check()))
	}
	later := func(s int) time.Time { return time.Unix(int64(s), 0) }
	for name, chains := range map[string][]ChainStatus{
		"nobody": {{}, {}}, "one": {{LastSaved: later(1)}}, "the last": {{LastSaved: later(3), Shard: Shard{1, 2}}, {LastSaved: later(2), Shard: Shard{1, 9}}, {}}, "more than chains": {{LastSaved: later(3), Shard: Shard{1, 5}}, {}},
	} {
		s := &Status{Chains: chains}
		record.CheckText(t, "shards of "+name, fmt.Sprint(s.Shards(), s.Complete(), s.isIntact()))
	}
	done := ChainStatus{Done: true, Bytes: 5, expectedBytes: 5, hasState: true}
	for name, chains := range map[string][]ChainStatus{"both": {done, done}, "one": {done, {Bytes: 5, expectedBytes: 5, hasState: true}}, "neither": {{}, {Bytes: 4, expectedBytes: 5, hasState: true}}} {
		s := &Status{Chains: chains}
		record.CheckText(t, "done are "+name, fmt.Sprint(s.Complete(), s.isIntact()))
	}

	// What may be run, up to its bounds and beyond.
	good := mcmc.Settings{Kernel: "exact", Chains: 2, Draws: 100, Thin: 1}
	for name, c := range map[string]struct{ ingredients, chains, draws, thin int }{
		"most files": {6, mcmc.MaxChains, 1, 1}, "chains": {6, mcmc.MaxChains + 1, 1, 1}, "more files": {6, 1000, 130_000_000, 1}, "files": {6, 1000, 125_000_000, 1},
		"bytes": {6, 10_000, 14_000_000, 1}, "more bytes": {6, 200_000, 5_000_000, 1}, "memory": {3_000_000, 470, 1, 1}, "more memory": {3_000_000, 480, 1, 1},
	} {
		s := newSpec(t, 6, 9, mcmc.Uniform(2, 2), good)
		if c.ingredients != 6 {
			s = newSpec(t, 9, 9, mcmc.Uniform(1, 2), good)
			space, err := mcmc.NewSpace(c.ingredients, 9)
			if err != nil {
				t.Fatal(err)
			}
			if s.Target, err = mcmc.NewTarget(space, mcmc.Uniform(2, 2)); err != nil {
				t.Fatal(err)
			}
		}
		s.Settings.Chains, s.Settings.Draws, s.Settings.Thin = c.chains, c.draws, c.thin
		record.CheckText(t, "may run "+name, fmt.Sprint(cmp.Or(s.Settings.Check(), s.checkBounds())))
	}
	for name, change := range map[string]func(s *Spec){
		"nothing": func(*Spec) {}, "no target": func(s *Spec) { s.Target = nil }, "a name less": func(s *Spec) { s.Ingredients = s.Ingredients[1:] }, "a name twice": func(s *Spec) { s.Ingredients[4] = s.Ingredients[0] },
		"a name of bytes": func(s *Spec) { s.Ingredients[4] = "a\xff" }, "no draws": func(s *Spec) { s.Settings.Draws = 0 },
	} {
		s := smallSpec(t, good)
		change(s)
		record.CheckText(t, "check "+name, fmt.Sprint(s.check()))
	}
	for _, name := range append(reservedColumnNames(), "\xff", "chains") {
		one := mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 })
		record.CheckText(t, fmt.Sprintf("a property %q", name), fmt.Sprint(newSpec(t, 5, 5, mcmc.Uniform(1, 3), good, mcmc.Objective{Name: name, Property: one, Weight: 1}).check()))
	}
}

// TestManifests: what a run says of itself, and what of it has changed, is told as it
// was; the name of a run is that of its law, and not of how many draws it has.
func TestManifests(t *testing.T) {
	record := golden.Open(t)
	settings := mcmc.Settings{Kernel: "accelerated", Chains: 3, Warmup: 50, Draws: 100, Thin: 2, Seed: 11}
	made := func(change func(s *Spec)) *Manifest {
		s := smallSpec(t, settings)
		change(s)
		m, err := newManifest(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain := made(func(*Spec) {})
	text, err := plain.encode()
	if err != nil {
		t.Fatal(err)
	}
	record.CheckText(t, "plain", string(text))
	if err := CheckSeal(text); err != nil {
		t.Errorf("its seal: %v", err)
	}
	for k := range text {
		changed := slices.Clone(text)
		changed[k] ^= 1
		if !errors.Is(CheckSeal(changed), ErrDamaged) {
			t.Fatalf("byte %d is another, and the seal is whole", k)
		}
	}
	for name, change := range map[string]func(s *Spec){
		"more draws": func(s *Spec) { s.Settings.Draws = 1000 }, "a place": func(s *Spec) { s.ProblemPath, s.AbsoluteProblemPath = "p.yaml", "/p.yaml" }, "a name": func(s *Spec) { s.Name = "other" },
		"an effort": func(s *Spec) { asking(t, s, 0.5) }, "counted": func(s *Spec) {
			space, err := mcmc.NewSpace(minNumberedNames, 20)
			if err != nil {
				t.Fatal(err)
			}
			if s.Target, err = mcmc.NewTarget(space, mcmc.Uniform(2, 5), s.Target.Objectives()...); err != nil {
				t.Fatal(err)
			}
			s.Ingredients = nil
			for i := range minNumberedNames {
				s.Ingredients = append(s.Ingredients, fmt.Sprint("no. ", i+1))
			}
		},
		"version": func(s *Spec) { s.Version = "1.2.4" }, "kernel": func(s *Spec) { s.Settings.Kernel = "gibbs" }, "chains": func(s *Spec) { s.Settings.Chains = 4 }, "warm-up": func(s *Spec) { s.Settings.Warmup++ },
		"thin": func(s *Spec) { s.Settings.Thin++ }, "seed": func(s *Spec) { s.Settings.Seed++ }, "an ingredient": func(s *Spec) { s.Ingredients[3] = "salt" },
		"an input": func(s *Spec) { s.Inputs[0].Bytes++ }, "no input": func(s *Spec) { s.Inputs = nil }, "two inputs": func(s *Spec) { s.Inputs = append(s.Inputs, Input{Path: "b"}) },
		"total": func(s *Spec) {
			s.Target = newSpec(t, 12, 21, mcmc.Uniform(2, 5), settings, s.Target.Objectives()...).Target
		},
		"law": func(s *Spec) {
			s.Target = newSpec(t, 12, 20, mcmc.Uniform(2, 4), settings, s.Target.Objectives()...).Target
		},
		"a wish less": func(s *Spec) {
			s.Target = newSpec(t, 12, 20, mcmc.Uniform(2, 5), settings, s.Target.Objectives()[:2]...).Target
		},
		"no wishes": func(s *Spec) { s.Target = newSpec(t, 12, 20, mcmc.Uniform(2, 5), settings).Target },
		"fewer things": func(s *Spec) {
			o := newSpec(t, 11, 20, mcmc.Uniform(2, 5), settings, s.Target.Objectives()...)
			s.Target, s.Ingredients = o.Target, o.Ingredients
		},
	} {
		m := made(change)
		record.CheckText(t, name, fmt.Sprintf("%.12s %.12s %v", m.Run, m.Target, plain.checkSameRun("run", m)))
		if m.Counted != nil && (m.Ingredients != nil || m.IngredientCount() != minNumberedNames || m.checkSameRun("run", m) != nil) {
			t.Errorf("names that count are %+v", m.Counted)
		}
	}
	find := newIngredientFinder(plain)
	if i, err := find("ingredient 12"); i != 11 || err != nil {
		t.Errorf("ingredient 12 is %d, %v", i, err)
	}
	if _, err := find("ingredient 13"); err == nil || err.Error() != `"ingredient 13" is no ingredient of the run` {
		t.Error(err)
	}
}

// TestStatesStand: the state of a chain is of the last segment that was made, and one
// that cannot be one is not used.
func TestStatesStand(t *testing.T) {
	record := golden.Open(t)
	settings := mcmc.Settings{Kernel: "accelerated", Chains: 2, Warmup: 1500, Draws: 1024, Thin: 2, Seed: 11}
	for _, draws := range []int{1, 511, 512, 513, 1024, 1300} {
		settings.Draws = draws
		s := smallSpec(t, settings)
		dir, r := start(t, s, Options{Workers: 1})
		m, err := newManifest(s)
		if err != nil {
			t.Fatal(err)
		}
		states, _, err := loadStates(t.Context(), NewDirectoryStore(dir), m)
		if err != nil {
			t.Fatal(err)
		}
		for c, is := range states {
			if want := draws - draws%512; is.At != want || is.Warm != 1500 || is.Draws != draws || is.Parts != 1 || is.Run != m.Run || is.Chain != c || is.Tries != r.Chains[c].StartTries ||
				is.Tally.Iterations != int64(2*draws) || !(is.Seconds > 0) || time.Since(is.Saved) > time.Hour || is.Shard != (Shard{}) {
				t.Errorf("of %d draws, chain %d stands at %d and %d with %d draws in %d parts, %d iterations", draws, c, is.Warm, is.At, is.Draws, is.Parts, is.Tally.Iterations)
			}
			walk, err := s.Settings.Sampler(s.Target)
			if err != nil {
				t.Fatal(err)
			}
			at, err := walk.RestoreChain(is.Walk)
			if err != nil || at.Tally().Iterations != int64(2*is.At) {
				t.Errorf("its chain is after %d iterations of %d draws, %v", at.Tally().Iterations, is.At, err)
			}
		}
	}
	m := &Manifest{Run: "run", Settings: settings}
	fine := state{Run: "run", Chain: 1, Warm: 1500, At: 512, Draws: 600, Parts: 1}
	for name, change := range map[string]func(s *state){
		"nothing": func(*state) {}, "another run": func(s *state) { s.Run = "ran" }, "no warm-up": func(s *state) { s.Warm = -1 }, "more warm-up": func(s *state) { s.Warm++ }, "draws before its end": func(s *state) { s.Warm-- },
		"before its end": func(s *state) { s.Warm, s.At, s.Draws = 7, 0, 0 }, "at −512": func(s *state) { s.At = -512 }, "ahead": func(s *state) { s.At = 1024 }, "at its draws": func(s *state) { s.Draws = 512 }, "in a segment": func(s *state) { s.At = 100 },
		"all": func(s *state) { s.Draws = 1300 }, "more draws": func(s *state) { s.Draws = 1301 }, "no parts": func(s *state) { s.Parts = 0 }, "fewer than none": func(s *state) { s.Parts = -1 },
	} {
		s, store := fine, NewDirectoryStore(t.TempDir())
		change(&s)
		if err := s.save(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		_, err := loadState(t.Context(), store, m, 1)
		record.CheckText(t, name, fmt.Sprint(err))
		if states, _, both := loadStates(t.Context(), store, m); both != nil || (states[1] == nil) != (err != nil) || states[0] != nil {
			t.Errorf("%s: the states are %v, %v", name, states, both)
		}
	}
	store := NewDirectoryStore(t.TempDir())
	if err := fine.save(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	whole, err := store.Read(t.Context(), stateName(1), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	for length := 0; length < len(whole); length += 7 {
		if err := store.Replace(t.Context(), stateName(1), whole[:length]); err != nil {
			t.Fatal(err)
		}
		if _, err := loadState(t.Context(), store, m, 1); !errors.Is(err, ErrDamaged) {
			t.Errorf("of %d bytes: %v", length, err)
		}
	}
	if _, err := loadState(t.Context(), store, m, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of another chain: %v", err)
	}
}

// TestLists: a shortlist of draws and finds, offered one by one, is the best of each
// set of ingredients, sorted, and so is what is merged of several.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, known := range []func([]int) bool{nil, func(set []int) bool { return set[0] == 0 }} {
		var lists [][]Best
		var all []Best
		for chain := range 3 {
			s := shortlist{isExcludedSet: known}
			for k := range 1500 {
				d := &Draw{Draw: k, LogDensity: float64(r.IntN(3)), Scores: []float64{float64(k)}}
				for i := range 9 {
					if r.IntN(3) == 0 || i == 8 {
						d.Parts = append(d.Parts, mcmc.Part{Ingredient: i, Amount: 1 + r.IntN(4)})
					}
				}
				score := float64(r.IntN(8))
				refused, bar := s.isRefused(score, d.LogDensity), s.minScore()
				before := slices.Clone(s.entries)
				s.offer(d, score)
				if changed := !slices.EqualFunc(before, s.entries, func(a, b Best) bool { return a.Compare(b) == 0 }); changed && (refused || score < bar) {
					t.Fatalf("a score of %v changes a list of the bar %v, refused %v", score, bar, refused)
				}
				b := newBest(k, score, d.LogDensity)
				b.Parts, b.Scores, b.Chain = d.Parts, d.Scores, chain
				if known == nil || !known(b.ingredientSet()) {
					all = append(all, b)
				}
			}
			if len(s.entries) != shortlistLength || !slices.IsSortedFunc(s.entries, Best.Compare) {
				t.Errorf("%d are on the list", len(s.entries))
			}
			lists = append(lists, bestWithChain(chain, s.entries, false))
			if len(bestWithChain(chain, s.entries, true)) != 0 {
				t.Error("draws were found on the way")
			}
		}
		naive := make(map[string]Best)
		for _, b := range all {
			key := fmt.Sprint(b.ingredientSet())
			if was, is := naive[key]; !is || b.Compare(was) < 0 {
				naive[key] = b
			}
		}
		var want []Best
		for _, b := range naive {
			want = append(want, b)
		}
		slices.SortFunc(want, Best.Compare)
		got := mergeBest(lists...)
		if len(got) != shortlistLength {
			t.Fatalf("%d are on the list of all", len(got))
		}
		for k, b := range got {
			if w := want[k]; b.Compare(w) != 0 || !slices.Equal(b.Parts, w.Parts) || b.Scores[0] != w.Scores[0] || b.Score != math.Exp(b.LogScore) {
				t.Fatalf("entry %d is %+v, not %+v", k, b, w)
			}
		}
		s := shortlist{entries: got}
		if rest := s.entriesMissingFrom(got[:60]); len(rest) != 40 || rest[0].Compare(got[60]) != 0 {
			t.Errorf("beside 60 there are %d", len(rest))
		}
	}
	// Draws come before finds, and of all that is alike the first of chain and draw.
	order := []Best{{LogScore: 2}, {LogScore: 1, LogDensity: 1, Found: true}, {LogScore: 1, Draw: 1}, {LogScore: 1, Draw: 2}, {LogScore: 1, Chain: 1}, {LogScore: 1, Found: true}}
	for a := range order {
		for b := range order {
			if got, want := order[a].Compare(order[b]), max(-1, min(1, a-b)); got != want {
				t.Errorf("%d and %d compare as %d", a, b, got)
			}
		}
	}
}

// TestAdviceOfTrials: what short runs tell, and that whatever fails in them is told.
func TestAdviceOfTrials(t *testing.T) {
	var b strings.Builder
	space, err := mcmc.NewSpace(8, 20)
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	failing := func(score func(x *mcmc.Composition) float64) mcmc.ScoreFunc {
		return func(x *mcmc.Composition) float64 {
			if left.Add(-1) == 0 {
				return math.NaN()
			}
			return score(x)
		}
	}
	target := func(sparsity mcmc.Sparsity, wishes ...mcmc.Objective) *mcmc.Target {
		x, err := mcmc.NewTarget(space, sparsity, wishes...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	smooth := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(1)) / 21 })
	// Either all of the first four or all of the others, and next to nothing between.
	torn := func(x *mcmc.Composition) float64 {
		first := x.Amount(0) + x.Amount(1) + x.Amount(2) + x.Amount(3)
		if first == 0 || first == 20 {
			return 1
		}
		return 1e-9 * float64(1+first)
	}
	// One alone, so that no trial can tell.
	alone := func(x *mcmc.Composition) float64 {
		if x.Amount(0) == 20 {
			return 1
		}
		return 1e-300
	}
	rare := func(x *mcmc.Composition) float64 {
		if x.Amount(1) > 12 {
			return 1
		}
		return 0
	}
	for _, c := range []struct {
		name     string
		target   *mcmc.Target
		settings mcmc.Settings
		programs bool
	}{
		{"exact", target(mcmc.Uniform(1, 3)), mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false},
		{"programs", target(mcmc.Uniform(1, 3), mcmc.Objective{Name: "y", Property: smooth, Weight: 1}), mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, true},
		{"smooth", target(mcmc.Uniform(1, 3), mcmc.Objective{Name: "y", Property: smooth, Weight: 1}), mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false},
		{"longer", target(mcmc.Uniform(1, 3), mcmc.Objective{Name: "y", Property: smooth, Weight: 2}), mcmc.Settings{Chains: 1, Warmup: 1000, Draws: 5000, Thin: 3}, false},
		{"a gap", target(mcmc.Table(map[int]float64{2: 1, 5: 1}), mcmc.Objective{Name: "y", Property: smooth, Weight: 1}), mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false},
		{"torn", target(mcmc.Uniform(3, 4), mcmc.Objective{Name: "y", Property: mcmc.ScoreFunc(torn), Weight: 1}), mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false},
		{"alone", target(mcmc.Uniform(1, 1), mcmc.Objective{Name: "y", Property: mcmc.ScoreFunc(alone), Weight: 1}), mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false},
		{"rare", target(mcmc.Uniform(3, 4), mcmc.Objective{Name: "y", Property: mcmc.ScoreFunc(rare), Weight: 1}), mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false},
		{"never", target(mcmc.Uniform(1, 2), mcmc.Objective{Name: "y", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 0 }), Weight: 1}), mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false},
	} {
		a, err := Recommend(t.Context(), c.target, c.settings, c.programs)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s, %s\n", c.name, a.Kernel, a.Because)
	}
	two := target(mcmc.Uniform(2, 4), mcmc.Objective{Name: "y", Property: smooth, Weight: 1}, mcmc.Objective{Name: "z", Property: mcmc.ScoreFunc(torn), Weight: 1})
	for _, weights := range [][]float64{{1, 0}, {3, 0.1}, {0, 0}, {1, 1}} {
		trial, err := TryWeights(t.Context(), two, weights)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "weights %v: %.6g, the chains agree: %v\n", weights, trial, trial.Agrees())
	}
	golden.Compare(t, "testdata/advice.txt", []byte(b.String()))
	for rhat, want := range map[float64]bool{1.1: true, 1.1001: false, math.NaN(): false} {
		if trial := (&Trial{RHat: rhat}); trial.Agrees() != want {
			t.Errorf("an R-hat of %v agrees: %v", rhat, !want)
		}
	}

	for name, wish := range map[string]mcmc.ScoreFunc{"torn": failing(torn), "rare": failing(rare), "alone": failing(alone)} {
		of := target(mcmc.Uniform(3, 4), mcmc.Objective{Name: "y", Property: wish, Weight: 1})
		if name == "alone" {
			of = target(mcmc.Uniform(1, 1), mcmc.Objective{Name: "y", Property: wish, Weight: 1})
		}
		told := 0
		for k := int64(1); ; k += 1 + k/3 {
			left.Store(k)
			a, err := Recommend(t.Context(), of, mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false)
			if left.Load() > 0 {
				break
			}
			if err == nil {
				t.Errorf("%s: score %d is no number, and the advice is %+v", name, k, a)
			}
			told++
		}
		if told < 20 {
			t.Errorf("%s: %d scores were none", name, told)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Recommend(over, two, mcmc.Settings{Chains: 1, Draws: 100, Thin: 1}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %v", err)
	}
	if _, err := TryWeights(over, two, []float64{1, 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %v", err)
	}
}

// TestDirectories: what is created, replaced, read in parts, listed and removed in a
// directory, and where a run may be begun.
func TestDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d := NewDirectoryStore(dir)
	for _, name := range []string{"run.json", "draws/chain=0000/part-00000.parquet", "draws/chain=0000/part-00001.parquet", "draws/chain=0001/part-00000.parquet", "draws/chain=0001/part-1.parquet", "draws/chain=1/part-00000.parquet", "state/lock"} {
		if err := d.Create(t.Context(), name, []byte("0123456789")); err != nil {
			t.Fatal(err)
		}
	}
	for _, prefix := range []string{"", "draws/", "draws/chain=0001/", "state/l", "none/", "run"} {
		files, err := d.List(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"": 7, "draws/": 5, "draws/chain=0001/": 2, "state/l": 1, "run": 1}[prefix]; len(files) != want {
			t.Errorf("%q lists %v", prefix, files)
		}
	}
	parts, err := listParts(t.Context(), d, "draws/")
	if err != nil || len(parts) != 2 || len(parts[0]) != 2 || len(parts[1]) != 1 || checkPartOrder(0, parts[0]) != nil {
		t.Errorf("the parts are %v, %v", parts, err)
	}
	if err := checkPartOrder(1, parts[0]); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "draws/chain=0000/part-00000.parquet is there and draws/chain=0001/part-00000.parquet is not") {
		t.Error(err)
	}
	if err := checkPartOrder(0, parts[0][1:]); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	for _, c := range []struct {
		offset, length int64
		want           string
	}{{0, -1, "0123456789"}, {3, -1, "3456789"}, {3, 2, "34"}, {0, 4, "0123"}, {8, 9, "89"}, {4, 0, ""}} {
		if got, err := d.Read(t.Context(), "run.json", c.offset, c.length); err != nil || string(got) != c.want {
			t.Errorf("%d bytes from %d are %q, %v", c.length, c.offset, got, err)
		}
	}
	file := &rangeReader{t.Context(), d, "run.json"}
	b := make([]byte, 4)
	if n, err := file.ReadAt(b, 3); n != 4 || err != nil || string(b) != "3456" {
		t.Errorf("it reads %q, %v", b[:n], err)
	}
	if n, err := file.ReadAt(b, 8); n != 2 || err == nil || err.Error() != "run.json ends early" {
		t.Errorf("it reads %d bytes beyond its end, %v", n, err)
	}
	if err := d.Create(t.Context(), "run.json", nil); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if got := d.Path("state/lock"); got != filepath.Join(dir, "state", "lock") || d.Location() != dir {
		t.Error(got)
	}
	for name, c := range map[string]struct {
		files []string
		want  bool
	}{"nothing": {nil, true}, "a lock": {[]string{"state/lock"}, true}, "a state": {[]string{"state/lock", "state/chain=0000.kir"}, false}, "what was not finished": {[]string{"run.json.123.new", "state/lock"}, true}, "a file": {[]string{"notes"}, false}} {
		d := NewDirectoryStore(t.TempDir())
		for _, name := range c.files {
			if err := d.Create(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
		}
		if isUnusedDirectory(d.Location()) != c.want {
			t.Errorf("%s is empty: %v", name, !c.want)
		}
	}
	if isUnusedDirectory(filepath.Join(dir, "none")) {
		t.Error("what is not there is empty")
	}
}

// TestCalls: what is asked of the operating system to create, replace and remove files,
// one after the other: what is not synced before it is named may be lost with the power.
func TestCalls(t *testing.T) {
	record := golden.Open(t)
	parent := t.TempDir()
	t.Chdir(parent)
	for name, path := range map[string]string{"absolute": filepath.Join(parent, "a", "run"), "relative": "run", "below": "b/c/run"} {
		var calls []string
		d := newDirectory(path, func(call, at string) error {
			calls = append(calls, call+" "+strings.ReplaceAll(at, parent, "PARENT"))
			return nil
		})
		told := func(what string, err error) {
			t.Helper()
			for k := range calls { // of a file that is not finished the name is by chance
				if at := strings.LastIndex(calls[k], file.NewEnding); at > 0 {
					calls[k] = calls[k][:strings.LastIndex(calls[k][:at], ".")] + ".#" + file.NewEnding
				}
			}
			record.CheckText(t, name+", "+what, fmt.Sprint(strings.Join(calls, "; "), " ", err != nil))
			calls = nil
		}
		told("create", d.Create(t.Context(), "draws/chain=0000/part", []byte("a")))
		told("create the next", d.Create(t.Context(), "draws/chain=0000/next", []byte("a")))
		told("create again", d.Create(t.Context(), "draws/chain=0000/part", []byte("b")))
		told("replace", d.Replace(t.Context(), "state/chain", []byte("a")))
		told("replace again", d.Replace(t.Context(), "state/chain", []byte("b")))
		told("remove", d.Remove(t.Context(), "state/chain"))
		told("remove again", d.Remove(t.Context(), "state/chain"))
		if err := d.Replace(t.Context(), "state/left.1.new", nil); err != nil {
			t.Fatal(err)
		}
		calls = nil
		told("clean", d.removeUnfinished())
		failed := errors.New("no")
		for _, at := range []string{"mkdir", "create", "write", "sync", "link", "rename", "remove"} {
			d.dir.Step = func(call, _ string) error {
				if calls = append(calls, call); call == at {
					return failed
				}
				return nil
			}
			told("create without "+at, d.Create(t.Context(), "new-"+at+"/file", nil))
			told("replace without "+at, d.Replace(t.Context(), "other-"+at+"/file", nil))
			told("create again without "+at, d.Create(t.Context(), "draws/chain=0000/part", nil))
		}
		files, unfinished, err := d.dir.Walk("")
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		record.CheckText(t, name+", left", fmt.Sprint(names, " ", len(unfinished), " ", err))
	}
}

// TestKeptDraws: how many draws of each chain are kept for quantiles.
func TestKeptDraws(t *testing.T) {
	for chains, want := range map[int]int{1: 1 << 17, 4: 1 << 17, 5: 104_857, 8: 1 << 16, 127: 4128, 128: 4096, 1024: 4096, 1025: 4092, 65_535: 64, 100_000: 64} {
		if got := seriesLength(chains); got != want {
			t.Errorf("of %d chains %d are kept, not %d", chains, got, want)
		}
	}
	for thin, want := range map[int]int{1: 1024, 3: 341, 1024: 1, 5000: 1} {
		if got := segmentDraws(&mcmc.Settings{Thin: thin}); got != want {
			t.Errorf("a segment has %d draws every %d, not %d", got, thin, want)
		}
	}
	o := Options{}
	if o.storeInterval() != 20*time.Second {
		t.Errorf("it stores every %v", o.storeInterval())
	}
	if o.Interval = time.Second; o.storeInterval() != time.Second {
		t.Errorf("it stores every %v", o.storeInterval())
	}
	for draws, want := range map[int]bool{1<<16 - 1: false, 1 << 16: true} {
		if p := (&partWriter{draws: draws}); p.isFull() != want {
			t.Errorf("a part of %d draws is full: %v", draws, !want)
		}
	}
	for entries, want := range map[int]bool{1<<19 - 1: false, 1 << 19: true} {
		if p := (&partWriter{ingredientCount: entries}); p.isFull() != want {
			t.Errorf("a part of %d entries is full: %v", entries, !want)
		}
	}
	r := &Result{Chains: []ChainResult{{}}, Timing: Timing{Iterations: 10}}
	for want, ladder := range map[int64]*mcmc.LadderStatistics{10: nil, 30: {Rungs: make([]mcmc.Rung, 3)}, 50: {Rungs: make([]mcmc.Rung, 3), Learnt: &mcmc.LadderStatistics{Rungs: make([]mcmc.Rung, 3)}}} {
		if r.Chains[0].Ladder = ladder; estimateScoredLines(r) != want {
			t.Errorf("10 iterations of %v are %d lines, not %d", ladder, estimateScoredLines(r), want)
		}
	}
}
