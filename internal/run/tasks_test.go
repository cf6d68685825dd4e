package run

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kir/internal/search"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// dyingStore is a store whose process is killed after so many writes, before or after the last of them is made.
type dyingStore struct {
	Store
	left  atomic.Int64
	after bool // whether the last write is made
}

var errTaskKilled = &fs.PathError{Op: "write", Path: "a run", Err: syscall.EIO}

func (d *dyingStore) write(do func() error) error {
	left := d.left.Add(-1)
	if left > 0 || left == 0 && d.after {
		if err := do(); err != nil || left > 0 {
			return err
		}
	}
	return errTaskKilled
}

func (d *dyingStore) Create(ctx context.Context, name string, data []byte) error {
	return d.write(func() error { return d.Store.Create(ctx, name, data) })
}

func (d *dyingStore) Replace(ctx context.Context, name string, data []byte) error {
	return d.write(func() error { return d.Store.Replace(ctx, name, data) })
}

// taskSpecs are runs whose work is shared in the tests.
func taskSpecs(t *testing.T) map[string]*Spec {
	fixed := asking(t, smallSpec(t, mcmc.Settings{Kernel: "balanced", Chains: 4, Warmup: 1100, Draws: 700, Thin: 4, Seed: 3}), 1)
	specs := map[string]*Spec{"fixed": fixed}
	for name, s := range autoSpecs(t) {
		if name == "early" || name == "searches" || name == "warmer" {
			specs[name] = asking(t, s, 1)
		}
	}
	return specs
}

// Tasks done in any order, several times, by processes that are killed and by such as were given old lists, come to
// the draws and the answer of one process.
func TestTasksInAnyOrder(t *testing.T) {
	for name, s := range taskSpecs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			one := NewMemoryStore()
			alone := *s
			alone.TimeLimit = 0
			want, err := Start(ctx, &alone, one, Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			killed, repeated, listed := 0, 0, make(map[TaskKind]int)
			orders := testmode.Pick(340, 3)
			if name == "warmer" {
				orders = testmode.Pick(30, 2) // its warm-up has the rounds that the others lack, and takes long
			}
			for seed := range uint64(orders) {
				r := rand.New(rand.NewPCG(seed, 7))
				store := NewMemoryStore()
				if err := Prepare(ctx, s, store, Options{}); err != nil {
					t.Fatal(err)
				}
				var old []Task
				for {
					tasks, err := Tasks(ctx, s, store, Options{})
					if err != nil {
						t.Fatal(err)
					}
					if len(tasks) == 0 {
						break
					}
					r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
					for _, task := range tasks[:1+r.IntN(len(tasks))] {
						listed[task.Kind]++
						at := Store(store)
						if r.IntN(4) == 0 {
							d := &dyingStore{Store: store, after: r.IntN(2) == 0}
							d.left.Store(1 + r.Int64N(4))
							at = d
						}
						err := RunTask(ctx, s, at, Options{Workers: 1, Interval: 1}, task.Name, nil)
						if errors.Is(err, errTaskKilled) {
							killed++
							continue
						}
						if err != nil {
							t.Fatalf("%s: %v", task.Name, err)
						}
						old = append(old, task)
						if r.IntN(3) == 0 { // once more: this one, or an old one by a late process
							repeated++
							again := old[r.IntN(len(old))].Name
							if err := RunTask(ctx, s, store, Options{Workers: 1}, again, nil); err != nil {
								t.Fatalf("once more %s: %v", again, err)
							}
						}
					}
				}
				got, err := Merge(ctx, s, store, Options{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				if shownAnswer(got.Answer) != shownAnswer(want.Answer) {
					t.Errorf("seed %d: the answer is another", seed)
				}
				if !reflect.DeepEqual(storedDraws(t, store), storedDraws(t, one)) {
					t.Errorf("seed %d: the draws are others", seed)
				}
				got.Answer, got.Notes, got.Parts = want.Answer, want.Notes, want.Parts
				if !equalResults(got, want) {
					t.Errorf("seed %d: the figures are others", seed)
				}
			}
			if killed == 0 || repeated == 0 || listed[TaskChain] == 0 || listed[TaskFigures] == 0 || listed[TaskSearch] == 0 {
				t.Errorf("%d killed, %d repeated, %v", killed, repeated, listed)
			}
		})
	}
}

// storedDraws returns the draws of the chains of a run in a store.
func storedDraws(t testing.TB, store Store) [][]Draw {
	t.Helper()
	r, err := Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	chains := make([][]Draw, r.Manifest.Settings.Chains)
	for d, err := range r.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		c := *d
		c.Scores, c.Parts, c.Conditions = slices.Clone(d.Scores), slices.Clone(d.Parts), slices.Clone(d.Conditions)
		chains[d.Chain] = append(chains[d.Chain], c)
	}
	return chains
}

// Shards of a run that determines its number of draws make the draws of one process, whether they run side by side or
// one waits for the others.
func TestAutoShards(t *testing.T) {
	for name, s := range taskSpecs(t) {
		if name == "fixed" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, store := NewMemoryStore(), NewMemoryStore()
			alone := *s
			alone.TimeLimit = 0
			if _, err := Start(t.Context(), &alone, one, Options{}); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			for k := range 2 {
				go func() {
					_, err := RunShard(t.Context(), s, store, Options{Shard: Shard{k + 1, 2}, Workers: 1})
					ended <- err
				}()
			}
			for range 2 {
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
			}
			if !reflect.DeepEqual(storedDraws(t, store), storedDraws(t, one)) {
				t.Error("the draws are others")
			}
		})
	}
}

// A process that was late may put an old manifest back. The length of the run stays.
func TestLateManifest(t *testing.T) {
	s := taskSpecs(t)["early"]
	store := NewMemoryStore()
	if err := Prepare(t.Context(), s, store, Options{}); err != nil {
		t.Fatal(err)
	}
	first, err := ReadWhole(t.Context(), store, manifestName, maxManifestBytes)
	if err != nil {
		t.Fatal(err)
	}
	for {
		tasks, err := Tasks(t.Context(), s, store, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(tasks) == 0 || tasks[0].Kind != TaskChain {
			break
		}
		for _, task := range tasks {
			if err := RunTask(t.Context(), s, store, Options{}, task.Name, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := storedDraws(t, store)
	if err := store.Replace(t.Context(), manifestName, first); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(storedDraws(t, store), want) {
		t.Error("the run has other draws with its first manifest")
	}
	if tasks, err := Tasks(t.Context(), s, store, Options{}); err != nil || len(tasks) == 0 || tasks[0].Kind == TaskChain {
		t.Errorf("%v, %v", tasks, err)
	}
}

// What is no task of the run is refused and changes nothing.
func TestNoTask(t *testing.T) {
	s := taskSpecs(t)["early"]
	store := NewMemoryStore()
	if err := Prepare(t.Context(), s, store, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"", "x", "chain=0000", "chain=0000/warmup=7", "chain=0000/warmup=0", "chain=0/warmup=1500", "chain=0009/warmup=1500", "chain=-001/warmup=1500",
		"chain=0000/draws=100", "chain=0000/steps=1025", "chain=0000/walks=1", "search/round=00/walk=00", "search/../../x", "/etc/x", "figures", "trade-off/search=00",
	} {
		err := RunTask(t.Context(), s, store, Options{}, name, func(*search.Steps) error { return nil })
		if !errors.As(err, new(*TaskError)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	files, err := store.List(t.Context(), "")
	if err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
}

// A run that may stop by the clock is not shared.
func TestTimeIsNotShared(t *testing.T) {
	s := *taskSpecs(t)["early"]
	s.TimeLimit = 24 * time.Hour
	store := NewMemoryStore()
	killed := &dyingStore{Store: store}
	killed.left.Store(3) // after the manifest and the problem
	if _, err := Start(t.Context(), &s, killed, Options{}); !errors.Is(err, errTaskKilled) {
		t.Fatal(err)
	}
	if _, err := Tasks(t.Context(), &s, store, Options{}); !errors.Is(err, ErrTimeLimit) {
		t.Errorf("tasks: %v", err)
	}
	if _, err := RunShard(t.Context(), &s, store, Options{Shard: Shard{1, 2}}); !errors.Is(err, ErrTimeLimit) {
		t.Errorf("a shard: %v", err)
	}
}

// A chain whose task was killed is told apart, within a minute, from one that a task lengthens, one that waits for the
// others and one that is done.
func TestDeadTask(t *testing.T) {
	now := time.Now()
	chain := func(iterations int64, ago time.Duration, done bool) ChainStatus {
		return ChainStatus{isByTask: true, iterations: iterations, LastSaved: now.Add(-ago), Done: done}
	}
	s := &Status{Chains: []ChainStatus{
		chain(2048, time.Hour, false),      // waits for the others
		chain(1024, 30*time.Second, false), // runs
		chain(1024, 55*time.Second, false), // was killed
		chain(2048, time.Hour, true),
		{}, // not begun
	}}
	s.markStopped(now)
	for k, c := range s.Chains {
		if c.Stopped != (k == 2) {
			t.Errorf("chain %d: stopped is %v", k, c.Stopped)
		}
	}
	if !s.ByTasks() || !s.isActive(now) {
		t.Error("no task is at work")
	}
	byShards := &Status{Chains: []ChainStatus{{LastSaved: now.Add(-time.Hour)}, {}}}
	byShards.markStopped(now)
	if byShards.ByTasks() || byShards.Chains[0].Stopped {
		t.Errorf("%+v", byShards)
	}
}

// A file of a step that was changed, that comes from another search or that unpacks to much is refused, and names the file.
func TestDamagedStep(t *testing.T) {
	s := taskSpecs(t)["fixed"]
	ctx := t.Context()
	store := NewMemoryStore()
	if err := Prepare(ctx, s, store, Options{}); err != nil {
		t.Fatal(err)
	}
	for {
		tasks, err := Tasks(ctx, s, store, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			if err := RunTask(ctx, s, store, Options{}, task.Name, nil); err != nil {
				t.Fatal(err)
			}
		}
		if tasks[0].Kind == TaskFigures {
			break
		}
	}
	files, err := store.List(ctx, "steps/")
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0].Name, "/figures.kir") {
		t.Fatalf("%v, %v", files, err)
	}
	whole, err := ReadWhole(ctx, store, files[0].Name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var foreign, bomb bytes.Buffer
	if err := gob.NewEncoder(&foreign).Encode(search.RunFigures{Iterations: 1, Found: []search.Found{{Parts: []mcmc.Part{{Ingredient: 12, Amount: 20}}}}}); err != nil {
		t.Fatal(err)
	}
	bomb.Write(make([]byte, maxStepBytes+1))
	for name, data := range map[string][]byte{
		"cut": whole[:len(whole)/2], "a bit": flipped(whole, len(whole)/2), "nothing": {}, "another's": sealed(t, foreign.Bytes()), "a bomb": sealed(t, bomb.Bytes()),
		"no gob": sealed(t, []byte("x")),
	} {
		if err := store.Replace(ctx, files[0].Name, data); err != nil {
			t.Fatal(err)
		}
		for what, try := range map[string]func() error{
			"tasks": func() error { _, err := Tasks(ctx, s, store, Options{}); return err },
			"task":  func() error { return RunTask(ctx, s, store, Options{}, "search/round=00/walk=00", nil) },
		} {
			if err := try(); err == nil || !strings.Contains(err.Error(), "figures") {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
	}
}

// flipped returns data with one bit changed.
func flipped(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[at] ^= 1
	return data
}

// sealed returns the file of a step with the given result.
func sealed(t *testing.T, result []byte) []byte {
	t.Helper()
	data, err := sealBinary(stepHeader, result)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
