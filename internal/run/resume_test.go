package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// outcome is what equal runs must have in common: the draws, and every figure.
// Where parts end tells how a run came about.
type outcome struct {
	draws  [][]Draw
	result *Result
}

func outcomeOf(t testing.TB, s *Spec, dir string) outcome {
	t.Helper()
	result, err := Merge(context.Background(), s, NewDirectoryStore(dir), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return outcome{collect(t, dir), result}
}

// same compares outcomes; notes may tell of what went wrong on the way.
func (o outcome) same(t testing.TB, want outcome) {
	t.Helper()
	if !reflect.DeepEqual(o.draws, want.draws) {
		t.Error("the draws differ")
	}
	a, b := *o.result, *want.result
	a.Notes, b.Notes, a.Parts, b.Parts = nil, nil, nil, nil
	if !equalResults(&a, &b) {
		t.Errorf("the results differ:\n%+v\n%+v", &a, &b)
	}
}

// tidy fails if something is left that a complete run does not need.
func tidy(t testing.TB, dir string) {
	t.Helper()
	_, unfinished, err := newDirectory(dir, nil).dir.Walk("")
	if err != nil || len(unfinished) > 0 {
		t.Errorf("left are %q, error %v", unfinished, err)
	}
}

// Draws do not end where a segment does: neither of these numbers is a multiple
// of 512.
func resumeSettings(draws int) mcmc.Settings {
	return mcmc.Settings{Kernel: "accelerated", Chains: 3, Warmup: 2500, Draws: draws, Thin: 2, Seed: 11}
}

// counted wraps the properties of a spec so that a function is called at each
// evaluation of the second one, with the number of the call.
func counted(t testing.TB, s *Spec, at func(n int64)) *Spec {
	var n atomic.Int64
	wishes := slices.Clone(s.Target.Objectives())
	inner := wishes[1].Property
	wishes[1].Property = mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		at(n.Add(1))
		return inner.(mcmc.ScoreFunc)(x)
	})
	target, err := s.Target.WithObjectives(wishes...)
	if err != nil {
		t.Fatal(err)
	}
	c := *s
	c.Target = target
	return &c
}

// One process or several, on any number of workers, storing as often as can be:
// the draws and the figures are the same to the last digit.
func TestWorkersAndShardsChangeNothing(t *testing.T) {
	for name, s := range map[string]*Spec{
		"small":    smallSpec(t, resumeSettings(testmode.Pick(4000, 1500))),
		"bare":     newSpec(t, testmode.Pick(300, 80), 60, mcmc.Uniform(3, 20), mcmc.Settings{Kernel: "balanced", Chains: 5, Warmup: 100, Draws: testmode.Pick(6000, 1200), Thin: 1, Seed: 4}),
		"tempered": smallSpec(t, mcmc.Settings{Kernel: "tempered", Chains: testmode.Pick(17, 9), Warmup: testmode.Pick(300, 100), Draws: 130, Thin: 1, Seed: 4}),
	} {
		dir, _ := start(t, s, Options{Workers: 1})
		want := outcomeOf(t, s, dir)
		for _, workers := range testmode.Pick([]int{2, 8}, []int{2}) {
			dir, r := start(t, s, Options{Workers: workers, Interval: time.Nanosecond, Progress: func(Progress) {}})
			got := outcomeOf(t, s, dir)
			got.same(t, want)
			if !equalResults(r, got.result) {
				t.Errorf("%s, %d workers: merging gives another result", name, workers)
			}
			tidy(t, dir)
		}
		for _, shards := range testmode.Pick([]int{2, 16}, []int{2}) {
			dir := filepath.Join(t.TempDir(), "run")
			for k := range shards {
				complete, err := RunShard(context.Background(), s, NewDirectoryStore(dir), Options{Shard: Shard{shards - k, shards}})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := Merge(context.Background(), s, NewDirectoryStore(dir), Options{}); k == shards-1 && !complete || complete != (err == nil) || err != nil && !errors.As(err, new(*UnfinishedError)) {
					t.Errorf("%s: complete is %t after %d of %d shards; merging: %v", name, complete, k+1, shards, err)
				}
			}
			outcomeOf(t, s, dir).same(t, want)
			if _, err := RunShard(context.Background(), s, NewDirectoryStore(dir), Options{Shard: Shard{1, shards}}); err != nil {
				t.Errorf("%s: a shard that is done: %v", name, err)
			}
		}
		other := *s
		other.Settings.Seed++
		dir, _ = start(t, &other, Options{})
		if reflect.DeepEqual(collect(t, dir), want.draws) {
			t.Errorf("%s: another seed gives the same draws", name)
		}
		var changed *ChangedError
		if _, err := RunShard(context.Background(), s, NewDirectoryStore(dir), Options{Shard: Shard{1, 2}}); !errors.As(err, &changed) || changed.What != "the seed" {
			t.Errorf("%s: a shard of another seed: %v", name, err)
		}
		if _, err := Merge(context.Background(), s, NewDirectoryStore(dir), Options{}); !errors.As(err, &changed) || changed.What != "the seed" {
			t.Errorf("%s: merging what has another seed: %v", name, err)
		}
	}
}

// A run that is interrupted anywhere, again and again, ends as it would have.
func TestInterrupted(t *testing.T) {
	for _, kernel := range []string{"accelerated", "balanced", "tempered"} {
		t.Run(kernel, func(t *testing.T) { testInterrupted(t, kernel) })
	}
}

func testInterrupted(t *testing.T, kernel string) {
	settings := resumeSettings(4000)
	settings.Kernel = kernel
	if kernel == "tempered" { // an iteration of it takes ten times as long
		settings.Draws, settings.Warmup, settings.Chains = 600, testmode.Pick(2500, 1100), testmode.Pick(3, 2)
	}
	s := smallSpec(t, settings)
	var total int64
	dir, _ := start(t, counted(t, s, func(n int64) { atomic.StoreInt64(&total, n) }), Options{})
	want := outcomeOf(t, s, dir)
	r := rand.New(rand.NewPCG(1, 1))
	for round := range testmode.Pick(6, 2) {
		dir := filepath.Join(t.TempDir(), "run")
		for {
			ctx, cancel := context.WithCancel(context.Background())
			stop := r.Int64N(total)
			spec := counted(t, s, func(n int64) {
				if n == stop {
					cancel()
				}
			})
			var err error
			if _, e := os.Stat(dir); e != nil {
				_, err = Start(ctx, spec, NewDirectoryStore(dir), Options{Workers: 1 + round%2})
			} else {
				_, err = Resume(ctx, spec, NewDirectoryStore(dir), Options{Workers: 1 + round%2})
			}
			cancel()
			if err == nil || errors.Is(err, ErrComplete) {
				break
			}
			var interrupted *InterruptedError
			if !errors.As(err, &interrupted) && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if interrupted != nil {
				if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "kir resume "+dir) || interrupted.DoneShare < 0 || interrupted.DoneShare > 1 {
					t.Errorf("the error is %q", err)
				}
			}
		}
		got := outcomeOf(t, s, dir)
		got.same(t, want)
		if len(got.result.Notes) > 0 {
			t.Errorf("notes %q", got.result.Notes)
		}
		tidy(t, dir)
	}
}

// An interrupted segment that does not come to its end is given up. The draws so
// far are stored all the same.
func TestInterruptedInASlowSegment(t *testing.T) {
	if !testmode.Enabled() {
		t.Skip("takes as long as the grace time")
	}
	s := smallSpec(t, resumeSettings(600))
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, s, dir)
	for phase, from := range map[string]int64{"warm-up": 5000, "draws": 25_000} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var canceled time.Time
			slow := counted(t, s, func(n int64) {
				if n == from {
					cancel()
					canceled = time.Now()
				}
				if n >= from {
					time.Sleep(2 * time.Millisecond) // 15 seconds to the end of the segment
				}
			})
			dir := filepath.Join(t.TempDir(), "run")
			_, err := Start(ctx, slow, NewDirectoryStore(dir), Options{Workers: 1})
			var interrupted *InterruptedError
			if !errors.As(err, &interrupted) {
				t.Fatalf("the error is %v", err)
			}
			if took := time.Since(canceled); took < interruptGraceTime || took > interruptGraceTime+4*time.Second {
				t.Errorf("it took %v", took)
			}
			if r, err := Open(context.Background(), NewDirectoryStore(dir)); err != nil {
				t.Error(err)
			} else if status, err := r.Status(); err != nil || phase == "draws" && status.Chains[0].Draws == 0 {
				t.Errorf("the status is %+v: %v", status, err)
			}
			if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil {
				t.Fatal(err)
			}
			outcomeOf(t, s, dir).same(t, want)
		})
	}
}

// stopped returns the directory of a run that was interrupted with some draws
// behind it.
func stopped(t testing.TB, s *Spec) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := filepath.Join(t.TempDir(), "stopped")
	_, err := Start(ctx, counted(t, s, func(n int64) {
		if n == 30_000 {
			cancel()
		}
	}), NewDirectoryStore(dir), Options{Workers: 1, Interval: time.Nanosecond})
	if !errors.As(err, new(*InterruptedError)) {
		t.Fatalf("the run was not interrupted: %v", err)
	}
	return dir
}

func copyRun(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// Whatever became of a chain's state, the run goes on and says so.
func TestDamagedState(t *testing.T) {
	settings := resumeSettings(1300)
	settings.Chains = 1
	s := smallSpec(t, settings)
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, s, dir)
	from := stopped(t, s)
	name := stateName(0)
	data, err := os.ReadFile(filepath.Join(from, name))
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{"empty": {}, "of the complete run": old, "gone": nil}
	for n := 1; n < len(data); n += 1 + len(data)/testmode.Pick(20, 12) {
		cases[fmt.Sprintf("cut to %d bytes", n)] = data[:n]
		bad := slices.Clone(data)
		bad[n] ^= 4
		cases[fmt.Sprintf("byte %d flipped", n)] = bad
	}
	for what, bad := range cases {
		dir := copyRun(t, from)
		var err error
		if bad == nil {
			err = os.Remove(filepath.Join(dir, name))
		} else {
			err = os.WriteFile(filepath.Join(dir, name), bad, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if noted := len(r.Notes) == 1; noted != (bad != nil) {
			t.Errorf("%s: notes %q", what, r.Notes)
		}
		outcomeOf(t, s, dir).same(t, want)
	}
}

// Parts that are gone are made again, and a note says what stands behind a gap.
func TestLostParts(t *testing.T) {
	settings := resumeSettings(3000)
	s := smallSpec(t, settings)
	from, _ := start(t, s, Options{Interval: time.Nanosecond})
	want := outcomeOf(t, s, from)
	dir := copyRun(t, from)
	if err := os.Remove(filepath.Join(dir, partName(1, 1))); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), partName(1, 1)) {
		t.Fatalf("a gap: %v", err)
	}
	parts, err := filepath.Glob(filepath.Join(dir, chainPrefix(1), "*"))
	if err != nil || len(parts) < 3 {
		t.Fatal(parts, err)
	}
	for _, part := range parts[1:] {
		if err := os.Remove(part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil {
		t.Fatal(err)
	}
	outcomeOf(t, s, dir).same(t, want)
}

// A dying store fails once a state has been stored.
type dying struct {
	Store
	dead *atomic.Bool
}

func (s dying) Replace(ctx context.Context, name string, data []byte) error {
	if s.dead.Load() {
		return errShaken
	}
	s.dead.Store(strings.HasPrefix(name, "state/"))
	return s.Store.Replace(ctx, name, data)
}

// A chain that makes stored draws again and is killed meanwhile is not taken for
// finished with the counts of moves that it had then.
func TestKilledWhileMakingStoredDraws(t *testing.T) {
	settings := resumeSettings(3000)
	settings.Warmup = 100 // so that the first state is of draws
	s := smallSpec(t, settings)
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, s, dir)
	states, err := filepath.Glob(filepath.Join(dir, "state", "*"))
	if err != nil || len(states) == 0 {
		t.Fatal(states, err)
	}
	for _, state := range states {
		if err := os.Remove(state); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Resume(context.Background(), s, dying{NewDirectoryStore(dir), new(atomic.Bool)}, Options{Workers: 1, Interval: time.Nanosecond}); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil {
		t.Fatal(err)
	}
	outcomeOf(t, s, dir).same(t, want)
}

func TestExtended(t *testing.T) {
	all := [][]int{{1, 2, 3000}, {511, 512, 513, 1024, 3000}, {1500, 2999, 3000}, {2560, 3000}}
	for kernel, sample := range map[string][]int{
		"accelerated": all[0],
		"balanced":    all[1],
		"tempered":    {700, 1099, 1100}, // an iteration of it takes ten times as long
	} {
		t.Run(kernel, func(t *testing.T) {
			of := func(draws int) *Spec {
				settings := resumeSettings(draws)
				settings.Kernel = kernel
				if kernel == "tempered" {
					settings.Warmup, settings.Chains = testmode.Pick(2500, 1100), testmode.Pick(3, 2)
				}
				return smallSpec(t, settings)
			}
			ways := testmode.Pick(all, [][]int{sample})
			s := of(ways[0][len(ways[0])-1])
			dir, _ := start(t, s, Options{})
			want := outcomeOf(t, s, dir)
			for _, steps := range ways {
				dir := filepath.Join(t.TempDir(), "run")
				for k, draws := range steps {
					spec := of(draws)
					var err error
					if k == 0 {
						_, err = Start(context.Background(), spec, NewDirectoryStore(dir), Options{})
					} else {
						_, err = Resume(context.Background(), spec, NewDirectoryStore(dir), Options{})
					}
					if err != nil {
						t.Fatal(err)
					}
					if problem, err := os.ReadFile(filepath.Join(dir, problemName)); err != nil || !bytes.Equal(problem, spec.ResolvedProblem) {
						t.Errorf("the problem is %q, error %v", problem, err)
					}
					if _, err := Resume(context.Background(), spec, NewDirectoryStore(dir), Options{}); !errors.Is(err, ErrComplete) {
						t.Errorf("resuming a complete run: %v", err)
					}
				}
				got := outcomeOf(t, s, dir)
				got.same(t, want)
				if len(got.result.Notes) > 0 {
					t.Errorf("notes %q", got.result.Notes)
				}
			}
		})
	}
}

func TestInterruptedWhileExtended(t *testing.T) {
	s := smallSpec(t, resumeSettings(5000))
	whole, _ := start(t, s, Options{})
	want := outcomeOf(t, s, whole)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir, _ := start(t, smallSpec(t, resumeSettings(2000)), Options{})
	if _, err := Resume(ctx, counted(t, s, func(n int64) {
		if n == 30_000 {
			cancel()
		}
	}), NewDirectoryStore(dir), Options{}); !errors.As(err, new(*InterruptedError)) {
		t.Fatal(err)
	}
	run, err := Open(context.Background(), NewDirectoryStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := run.CheckComplete(); !errors.As(err, new(*UnfinishedError)) {
		t.Errorf("a run that is being extended is complete: %v", err)
	}
	for _, err := range run.Draws(context.Background()) {
		if !errors.As(err, new(*UnfinishedError)) {
			t.Errorf("a run that is being extended has draws: %v", err)
		}
	}
	if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil {
		t.Fatal(err)
	}
	outcomeOf(t, s, dir).same(t, want)
	var changed *ChangedError
	if _, err := Resume(context.Background(), smallSpec(t, resumeSettings(4000)), NewDirectoryStore(dir), Options{}); !errors.As(err, &changed) {
		t.Errorf("fewer draws: %v", err)
	}
}
