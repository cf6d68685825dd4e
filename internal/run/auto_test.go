package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// autoSpecs are runs that stop by themselves: one in an early round, one of chains that
// search, one so slow that most of its draws are dropped, and three whose warm-up has
// rounds: it ends after the first, after a later one, and where it may not be longer.
func autoSpecs(t testing.TB) map[string]*Spec {
	settings := func(kernel string, chains, warmup int) mcmc.Settings {
		return mcmc.Settings{Kernel: kernel, Chains: chains, Warmup: warmup, Draws: mcmc.AutoDraws, Thin: 1, Seed: 5}
	}
	small := func(name string, of ...int) mcmc.Objective {
		return mcmc.Objective{Name: name, Weight: 20, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
			sum := 0
			for _, i := range of {
				sum += x.Amount(i)
			}
			return math.Exp(-float64(sum) / 9)
		})}
	}
	learning := func(law mcmc.Sparsity, warmup int) *Spec {
		return newSpec(t, 40, 30, law, settings("balanced", 4, warmup), small("one", 1, 7), small("other", 3))
	}
	return map[string]*Spec{
		"early":     smallSpec(t, settings("balanced", 3, 1500)),
		"searches":  smallSpec(t, settings("tempered", 2, 1500)),
		"slow":      newSpec(t, 30, 10, mcmc.Uniform(2, 6), settings("gibbs", 2, 1500)),
		"warm":      learning(mcmc.Uniform(1, 3), 10_000),
		"warmer":    learning(mcmc.Uniform(8, 16), 30_000),
		"warm, all": learning(mcmc.Uniform(8, 16), 3000),
	}
}

// sampledSpecs returns all runs of autoSpecs where tests run in full, else those that are named.
func sampledSpecs(t testing.TB, names ...string) map[string]*Spec {
	all := autoSpecs(t)
	if !testmode.Enabled() {
		maps.DeleteFunc(all, func(name string, _ *Spec) bool { return !slices.Contains(names, name) })
	}
	return all
}

// The warm-up ends when what was learnt rests on enough, and at last where it must.
func TestAutoWarmup(t *testing.T) {
	for name, s := range autoSpecs(t) {
		var dir string
		var r *Result
		if testmode.Enabled() || name == "warmer" {
			dir, r = start(t, s, Options{})
		} else {
			// All but one that has rounds of warm-up on several workers are made once.
			whole := autoRunOf(t, name, s)
			dir, r = whole.copyTo(t), whole.result
		}
		m := manifestOf(t, dir)
		warmed, most := m.Settings.Warmup, s.Settings.Warmup
		if m.Auto.MaxWarmupIterations != most || r.Settings.Warmup != warmed || m.Auto.WarmupIterations != warmed && most > firstWarmupIterations {
			t.Errorf("%s: of a warm-up of %d: %+v, %+v", name, most, m.Auto, m.Settings)
		}
		right := warmed == most
		switch name {
		case "warm":
			right = warmed == firstWarmupIterations
		case "warmer":
			right = firstWarmupIterations < warmed && warmed < most && warmed%firstWarmupIterations == 0
		}
		if !right {
			t.Errorf("%s: the warm-up had %d iterations of %d", name, warmed, most)
		}
		// Asked for again it is what there is.
		if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); !errors.Is(err, ErrComplete) {
			t.Errorf("%s: resumed: %v", name, err)
		}
		if testmode.Enabled() || name == "warmer" || name == "slow" { // a warm-up of rounds, and draws that are dropped
			longer := *s
			longer.Settings.Draws, longer.Settings.Thin = m.Settings.Draws+500, m.Settings.Thin
			if _, err := Resume(context.Background(), &longer, NewDirectoryStore(dir), Options{}); err != nil {
				t.Errorf("%s: made longer: %v", name, err)
			}
		}
		other := *s
		other.Settings.Warmup++
		var changed *ChangedError
		if _, err := Resume(context.Background(), &other, NewDirectoryStore(dir), Options{}); !errors.As(err, &changed) || changed.What != "the warm-up" {
			t.Errorf("%s: with another warm-up: %v", name, err)
		}
	}
}

// An autoRun is what a whole run of one of autoSpecs left.
type autoRun struct {
	stored   fstest.MapFS // all of it
	files    map[string][]byte
	outcome  outcome
	result   *Result
	manifest *Manifest
	calls    int // of the system
}

// autoOptions are those of an autoRun, and of the runs that are killed at its calls.
var autoOptions = Options{Workers: 1, Interval: 20 * time.Millisecond}

var autoRuns = make(map[string]*autoRun)

// autoRunOf makes the run of one of autoSpecs, once for all tests.
func autoRunOf(t *testing.T, name string, s *Spec) *autoRun {
	t.Helper()
	if autoRuns[name] == nil {
		dir := filepath.Join(t.TempDir(), "run")
		var count shaky
		r, err := Start(context.Background(), s, count.open(dir), autoOptions)
		if err != nil {
			t.Fatal(err)
		}
		autoRuns[name] = &autoRun{readFS(t, dir), autoFiles(t, dir), outcomeOf(t, s, dir), r, manifestOf(t, dir), count.calls}
	}
	return autoRuns[name]
}

// copyTo writes the run into a directory, which it returns.
func (r *autoRun) copyTo(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, r.stored); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readFS returns the files of a directory.
func readFS(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	from, files := os.DirFS(dir), make(fstest.MapFS)
	err := fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		files[name] = &fstest.MapFile{Data: data, Mode: 0o666}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// autoFiles returns the bytes of the files that draws are in, and run.json.
func autoFiles(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "draws", "*", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files of draws in %s: %v", len(names), dir, err)
	}
	files := make(map[string][]byte)
	for _, name := range append(names, filepath.Join(dir, manifestName)) {
		if files[name[len(dir):]], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func sameFiles(t testing.TB, got, want map[string][]byte) {
	t.Helper()
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s differs", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d files, want %d", len(got), len(want))
	}
}

// When a run stops follows from its draws alone: on any number of workers, and however
// often it stores its states, it gives the same bytes. They hold the draws of a run
// that was asked for as many of that thin.
func TestAutoOnAnyWorkers(t *testing.T) {
	for name, s := range sampledSpecs(t, "early", "searches", "slow", "warm") {
		t.Run(name, func(t *testing.T) {
			whole := autoRunOf(t, name, s)
			m := whole.manifest
			if m.Auto == nil || m.Auto.Stop != StopEnough || m.Settings.Draws > maxBufferCapacity {
				t.Fatalf("the run stopped with %+v, %+v", m.Auto, m.Settings)
			}
			if name == "slow" && m.Settings.Thin < 2 {
				t.Fatal("nothing was dropped: the test needs slower chains")
			}
			other, _ := start(t, s, Options{Workers: 4, Interval: 5 * time.Millisecond, Progress: func(Progress) {}})
			sameFiles(t, autoFiles(t, other), whole.files)
			outcomeOf(t, s, other).same(t, whole.outcome)
			if !equalResults(whole.result, whole.outcome.result) {
				t.Error("merging gives another result")
			}
			tidy(t, other)
			if !testmode.Enabled() && name != "slow" && name != "warm" {
				return // TestAutoTime compares others with runs of a number of draws
			}

			fixed := *s
			fixed.Settings = m.Settings
			number, _ := start(t, &fixed, Options{})
			if !reflect.DeepEqual(collect(t, number), whole.outcome.draws) {
				t.Errorf("a run of %d draws, thin %d, has others", m.Settings.Draws, m.Settings.Thin)
			}
		})
	}
}

func manifestOf(t testing.TB, dir string) *Manifest {
	t.Helper()
	r, err := Open(context.Background(), NewDirectoryStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	return r.Manifest
}

// What a run stops with is what was asked for: every figure has so many effective draws.
func TestAutoIsEnough(t *testing.T) {
	for name, s := range autoSpecs(t) {
		r := autoRunOf(t, name, s).result
		all := append([]Statistic{r.IngredientCount, r.LogDensity}, r.Properties...)
		if r.Score != nil {
			all = append(all, *r.Score)
		}
		for _, f := range all {
			for what, ess := range map[string]float64{"bulk": float64(f.ESSBulk), "mean": float64(f.ESSMean), "5 %": float64(f.ESSQ5)} {
				if ess < minStatisticESS {
					t.Errorf("%s: the ESS of %s, %s, is %.0f", name, f.Name, what, ess)
				}
			}
			if f.RHat > maxStatisticRHat {
				t.Errorf("%s: R-hat of %s is %v", name, f.Name, f.RHat)
			}
		}
		for _, i := range r.Inclusion {
			if !isRare(float64(i.Probability)) && i.ESS < minStatisticESS {
				t.Errorf("%s: the presence of %s has an ESS of %.0f", name, i.Ingredient, i.ESS)
			}
		}
	}
}

// A run that is interrupted again and again, at any place, ends with the same bytes.
func TestAutoInterrupted(t *testing.T) {
	for name, s := range sampledSpecs(t, "searches", "warm") {
		if len(s.Target.Objectives()) == 0 {
			continue
		}
		sample := map[string][]int64{"early": {3000, 30_007}, "searches": {10_000}, "warm": {3000, 30_007}, "warmer": {10_000}}
		t.Run(name, func(t *testing.T) {
			for _, after := range testmode.Pick([]int64{2000, 5000, 10_000, 17_321, 30_007, 100_003}, sample[name]) {
				whole := autoRunOf(t, name, s)
				dir := filepath.Join(t.TempDir(), "run")
				ctx, cancel := context.WithCancel(context.Background())
				_, err := Start(ctx, counted(t, s, func(n int64) {
					if n == after {
						cancel()
					}
				}), NewDirectoryStore(dir), Options{Workers: 2})
				for times := 0; errors.As(err, new(*InterruptedError)); times++ {
					if times == 0 {
						if status, err := readStatus(context.Background(), NewDirectoryStore(dir), manifestOf(t, dir)); err != nil || status.Complete() {
							t.Errorf("after %d: complete is %t, error %v", after, status.Complete(), err)
						}
					}
					again, cancel := context.WithCancel(context.Background())
					if times > 3 {
						_, err = Resume(again, s, NewDirectoryStore(dir), Options{})
					} else {
						_, err = Resume(again, counted(t, s, func(n int64) {
							if n == after+1000 {
								cancel()
							}
						}), NewDirectoryStore(dir), Options{Workers: times + 1})
					}
					cancel()
				}
				cancel()
				if err != nil && !errors.Is(err, ErrComplete) {
					t.Fatalf("after %d: %v", after, err)
				}
				outcomeOf(t, s, dir).same(t, whole.outcome)
				if files := autoFiles(t, dir); len(files) == len(whole.files) {
					sameFiles(t, files, whole.files)
				}
				tidy(t, dir)
			}
		})
	}
}

// A process that is killed at any call of the system is gone on with to the same bytes.
func TestAutoKilled(t *testing.T) {
	for name, s := range sampledSpecs(t, "searches", "warm") {
		t.Run(name, func(t *testing.T) {
			whole := autoRunOf(t, name, s)
			step := max(1, whole.calls/40)
			if !testmode.Enabled() {
				if step = max(1, 3*whole.calls/5); name == "early" || name == "warm" {
					step = max(1, whole.calls/3)
				}
			}
			for at := step; at <= whole.calls; at += step {
				dir := filepath.Join(t.TempDir(), "run")
				disk := shaky{at: at, fatal: true}
				_, err := Start(context.Background(), s, disk.open(dir), autoOptions)
				if err == nil {
					continue // it took less time, and stored less
				}
				if !errors.Is(err, syscall.EIO) {
					t.Fatalf("call %d: %v", at, err)
				}
				if _, err = Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); errors.As(err, new(*NotRunError)) {
					_, err = Start(context.Background(), s, NewDirectoryStore(dir), Options{})
				}
				if err != nil && !errors.Is(err, ErrComplete) {
					t.Fatalf("call %d: %v; %+v %+v", at, err, manifestOf(t, dir).Auto, manifestOf(t, dir).Settings)
				}
				outcomeOf(t, s, dir).same(t, whole.outcome)
				sameFiles(t, autoFiles(t, dir), whole.files)
				if t.Failed() {
					t.Fatalf("killed at call %d of %d", at, whole.calls)
				}
			}
		})
	}
}

// Damaged and lost states cost time and nothing else.
func TestAutoWithoutStates(t *testing.T) {
	s := autoSpecs(t)["early"]
	whole, _ := start(t, s, Options{})
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Start(ctx, counted(t, s, func(n int64) {
		if n == 60_000 {
			cancel()
		}
	}), NewDirectoryStore(dir), Options{Workers: 1, Interval: time.Millisecond})
	if !errors.As(err, new(*InterruptedError)) {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, stateName(0))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, stateName(1)))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(filepath.Join(dir, stateName(1)), data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, autoFiles(t, dir), autoFiles(t, whole))
}

// When its time is over a run has a prefix of the draws that it would have had: those of a
// run of fewer draws. It can be made longer.
func TestAutoTime(t *testing.T) {
	stopped := 0
	for name, s := range sampledSpecs(t, "early", "searches", "warm") {
		t.Run(name, func(t *testing.T) {
			limits := []time.Duration{1, 30 * time.Millisecond}
			if !testmode.Enabled() && name != "early" && name != "warm" {
				limits = limits[:1]
			}
			for _, limit := range limits {
				short := *s
				short.TimeLimit = limit
				dir, r := start(t, &short, Options{Workers: 3})
				m := manifestOf(t, dir)
				if m.Auto.Stop != StopTime {
					// It had enough when figures were looked at first, before the clock was.
					if made := m.Settings.Draws * m.Settings.Thin; limit == 1 && (m.Auto.Stop != StopEnough || made != firstRoundIterations) {
						t.Errorf("it stopped by %q after %d iterations", m.Auto.Stop, made)
					}
					continue
				}
				stopped++
				if len(r.Notes) == 0 {
					t.Error("the result has no note of it")
				}
				draws := collect(t, dir)
				for c := range draws {
					if len(draws[c]) != m.Settings.Draws || len(draws[c])*m.Settings.Thin < firstRoundIterations {
						t.Errorf("chain %d has %d draws", c, len(draws[c]))
					}
				}
				fixed := *s
				fixed.Settings.Draws, fixed.Settings.Thin, fixed.Settings.Warmup = m.Settings.Draws+700, m.Settings.Thin, m.Settings.Warmup
				number, _ := start(t, &fixed, Options{})
				longer := collect(t, number)
				for c := range draws {
					if !reflect.DeepEqual(draws[c], longer[c][:len(draws[c])]) {
						t.Errorf("chain %d: the draws are no prefix", c)
					}
				}
				more := short
				more.Settings = fixed.Settings
				if _, err := Resume(context.Background(), &more, NewDirectoryStore(dir), Options{}); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(collect(t, dir), longer) {
					t.Error("made longer it has other draws")
				}
				if _, err := Resume(context.Background(), &short, NewDirectoryStore(dir), Options{}); !errors.Is(err, ErrComplete) {
					t.Errorf("resumed as it was asked for: %v", err)
				}
			}
		})
	}
	if stopped == 0 {
		t.Error("no run was stopped by time")
	}
}

// A number of draws is not auto.
func TestAutoRefuses(t *testing.T) {
	s := autoSpecs(t)["early"]
	dir, _ := start(t, s, Options{})
	fixed := *s
	fixed.Settings.Draws = 5000
	if _, err := Resume(context.Background(), &fixed, NewDirectoryStore(dir), Options{}); err != nil {
		t.Errorf("made longer: %v", err)
	}
	fixed.Settings.Thin = 3
	var changed *ChangedError
	if _, err := Resume(context.Background(), &fixed, NewDirectoryStore(dir), Options{}); !errors.As(err, &changed) || changed.What != "thin" {
		t.Errorf("with another thin: %v", err)
	}
	number, _ := start(t, &Spec{
		Target: s.Target, Ingredients: s.Ingredients,
		Settings: mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 0, Draws: 10, Thin: 1, Seed: 1},
	}, Options{})
	auto := &Spec{Target: s.Target, Ingredients: s.Ingredients, Settings: mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 0, Draws: mcmc.AutoDraws, Thin: 1, Seed: 1}}
	if _, err := Resume(context.Background(), auto, NewDirectoryStore(number), Options{}); !errors.As(err, &changed) {
		t.Errorf("a run of a number of draws, resumed as auto: %v", err)
	}
}

// Held draws that are read are those that were written; others are refused, whatever is
// wrong with them.
func TestHeldDraws(t *testing.T) {
	s := autoSpecs(t)["early"]
	m, err := newManifest(s)
	if err != nil {
		t.Fatal(err)
	}
	h := &bufferedDraws{thin: 1}
	chain, err := mcmc.NewSampler("balanced", s.Target)
	if err != nil {
		t.Fatal(err)
	}
	walk, err := chain.NewChain(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	row := func(h *bufferedDraws, d int) string {
		i, a := h.partsOf(d)
		return fmt.Sprint(h.logDensities[d], h.scoresOf(d), i, a, h.ingredientCount(d))
	}
	for d := range 50 {
		if err := walk.Advance(3); err != nil {
			t.Fatal(err)
		}
		h.add(walk.State, walk.State.AppendScores(nil))
		all = append(all, row(h, d))
	}
	data := h.encode(h.count())
	got, err := decodeBuffered(data, m, 1, 50)
	if err != nil || !reflect.DeepEqual(got, h) {
		t.Fatalf("read are %v, error %v", got, err)
	}
	for _, bad := range [][]byte{nil, data[:len(data)-1], append(bytes.Clone(data), 0), data[1:]} {
		if _, err := decodeBuffered(bad, m, 1, 50); !errors.Is(err, errBufferedMismatch) {
			t.Errorf("%d bytes of %d: %v", len(bad), len(data), err)
		}
	}
	got.thinTo(4)
	if got.count() != 12 {
		t.Fatalf("%d draws are left of 50", got.count())
	}
	for d := range got.count() {
		if row(got, d) != all[4*d+3] {
			t.Errorf("draw %d of every fourth is %s, want %s", d, row(got, d), all[4*d+3])
		}
	}
}

// Until the figures have been looked at nobody knows how long chains are to be, and the
// time left is what the time allows; then it is what the rest takes, but no more than that.
func TestLeft(t *testing.T) {
	s := &session{spec: &Spec{}, chains: []*chain{{}, {}}, manifest: &Manifest{Auto: &Auto{Seconds: 60}}, startTime: time.Now().Add(-10 * time.Second)}
	for _, c := range s.chains {
		c.publishedCounts.iterations.Store(1000)
	}
	s.expectedIterations.Store(3000)
	near := func(when string, want time.Duration, wantAtMost bool) {
		t.Helper()
		left, atMost := s.estimateTimeLeft(0, true)
		if left > want || left < want-5*time.Second || atMost != wantAtMost {
			t.Errorf("%s: %v left, at most %v; want %v, %v", when, left, atMost, want, wantAtMost)
		}
	}
	near("before a look", 50*time.Second, true)
	s.lastStoppingCheck.Store(&stoppingCheck{minESS: 300, iterations: 1000})
	s.startTime = time.Now().Add(-10 * time.Second)
	if left, atMost := s.estimateTimeLeft(0, true); atMost || left < 20*time.Second || left > 25*time.Second {
		t.Errorf("a third is made in 10 s, and %v are left, at most %v", left, atMost)
	}
	s.expectedIterations.Store(3_000_000)
	near("when much is left", 50*time.Second, false)
	s.manifest.Auto.Seconds = 0
	if left, _ := s.estimateTimeLeft(0, true); left < time.Hour {
		t.Errorf("without a bound %v are left", left)
	}
}

// The effective sample size of the progress is that of the worst figure at the last look, as
// it grows with the iterations, unless that of the statistics is less.
func TestPromised(t *testing.T) {
	s := &session{chains: []*chain{{}, {}}}
	s.warmupIterations.Store(100)
	s.chains[0].publishedCounts.iterations.Store(2100)
	s.chains[1].publishedCounts.iterations.Store(1900)
	if got := s.capESS(1500); got != 1500 {
		t.Errorf("before a look it is %v", got)
	}
	s.lastStoppingCheck.Store(&stoppingCheck{minESS: 300, iterations: 1000})
	if got := s.capESS(1500); got != 540 {
		t.Errorf("it is %v, and the worst figure promises 540", got)
	}
	if got := s.capESS(200); got != 200 {
		t.Errorf("it is %v, and that of the statistics is 200", got)
	}
	if got := s.capESS(math.NaN()); !math.IsNaN(got) {
		t.Errorf("it is %v, and none is determined", got)
	}
}
