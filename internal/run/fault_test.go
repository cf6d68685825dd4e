package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// A shaky directory fails at one call of the system, or loses all from it on, as a
// process that is killed does.
type shaky struct {
	at    int  // the call; 0: none
	fatal bool // whether those after it fail, too
	calls int
}

var errShaken = &fs.PathError{Op: "shake", Path: "the disk", Err: syscall.EIO}

func (s *shaky) open(path string) Store {
	return newDirectory(path, func(string, string) error {
		s.calls++
		if s.at > 0 && (s.calls == s.at || s.fatal && s.calls > s.at) {
			return errShaken
		}
		return nil
	})
}

// faultSpec is a small run of several parts; views are what stands for the summary
// and the page, which other packages write in the same way.
func faultSpec(t testing.TB, draws int) *Spec {
	return smallSpec(t, mcmc.Settings{Kernel: "balanced", Chains: 2, Warmup: 1100, Draws: draws, Thin: 4, Seed: 3})
}

// work does all that can be done with a run: make it, or go on with it, extend it,
// merge it and write its figures.
func work(t testing.TB, dir string, open func(string) Store) error {
	store := open(dir)
	o := Options{Workers: 1, Interval: time.Nanosecond}
	short, long := faultSpec(t, 300), faultSpec(t, 700)
	_, err := Start(context.Background(), short, store, o)
	if errors.As(err, new(*ExistsError)) {
		_, err = Resume(context.Background(), short, store, o)
		var changed *ChangedError
		if errors.As(err, &changed) && changed.What == "the number of draws" {
			err = nil // it has been extended
		}
	}
	if err != nil && !errors.Is(err, ErrComplete) {
		return err
	}
	if _, err := Resume(context.Background(), long, store, o); err != nil && !errors.Is(err, ErrComplete) {
		return err
	}
	r, err := Merge(context.Background(), long, store, o)
	if err != nil {
		return err
	}
	for _, view := range []string{"summary.json", "report.html"} {
		if err := store.Replace(context.Background(), view, []byte(fmt.Sprint(r.Parts, r.IngredientCount))); err != nil {
			return err
		}
	}
	return nil
}

// Each call of the system that changes something in a run, an extension, a merge
// and the writing of what is said fails once, and is once where the process is
// killed. Doing the same again completes the run to what it would have been.
func TestEveryFault(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "run")
	var count shaky
	if err := work(t, whole, count.open); err != nil {
		t.Fatal(err)
	}
	want := outcomeOf(t, faultSpec(t, 700), whole)
	parts := want.result.Parts
	if len(parts) < 6 || count.calls < 100 {
		t.Fatalf("%d parts, %d calls: the test needs more", len(parts), count.calls)
	}
	for _, fatal := range []bool{false, true} {
		for at := 1; at <= count.calls; at += testmode.Pick(1, 23) {
			dir := filepath.Join(t.TempDir(), "run")
			disk := shaky{at: at, fatal: fatal}
			err := work(t, dir, disk.open)
			if err == nil && fatal {
				t.Fatalf("call %d: a process that was killed ends well", at)
			}
			if err != nil {
				if !errors.Is(err, syscall.EIO) {
					t.Fatalf("call %d: %v", at, err)
				}
				if err := work(t, dir, NewDirectoryStore); err != nil {
					t.Fatalf("call %d, killed %t: going on: %v", at, fatal, err)
				}
			}
			outcomeOf(t, faultSpec(t, 700), dir).same(t, want)
			for _, view := range []string{"summary.json", "report.html"} {
				if _, err := os.Stat(filepath.Join(dir, view)); err != nil {
					t.Errorf("call %d: %v", at, err)
				}
			}
			if t.Failed() {
				t.Fatalf("at call %d, killed %t", at, fatal)
			}
			tidy(t, dir)
		}
	}
}

// Two processes that work on one chain: the second to store a part gets an error, and
// the run is what it would have been.
func TestTwoWriters(t *testing.T) {
	s := smallSpec(t, resumeSettings(1300))
	whole, _ := start(t, s, Options{})
	want := outcomeOf(t, s, whole)
	dir := filepath.Join(t.TempDir(), "run")
	met := false
	var first error
	slow := counted(t, s, func(n int64) {
		if n == 30_000 {
			// The other does all that this one is at.
			met = true
			_, first = RunShard(context.Background(), s, NewDirectoryStore(dir), Options{Shard: Shard{1, 1}})
		}
	})
	_, err := RunShard(context.Background(), slow, NewDirectoryStore(dir), Options{Workers: 1, Shard: Shard{1, 1}})
	var busy *BusyError
	if !met || first != nil || !errors.As(err, &busy) || busy.Chain < 0 {
		t.Fatalf("met %t; the first ended with %v and the second with %v", met, first, err)
	}
	outcomeOf(t, s, dir).same(t, want)
}

// childRun tells the test binary to work on a run, as another process.
const childRun = "KIR_TEST_RUN"

func TestMain(m *testing.M) {
	testmode.CollectRarely()
	if dir := os.Getenv(childRun); dir != "" {
		os.Exit(child(dir, os.Getenv("KIR_TEST_SPEC"), os.Getenv("KIR_TEST_SHARD")))
	}
	os.Exit(m.Run())
}

// killedSpecs are three problems, and three kernels. Chains take longer than a process lives that is killed,
// in the short form, too.
func killedSpecs(t testing.TB) map[string]*Spec {
	settings := mcmc.Settings{Kernel: "accelerated", Chains: 3, Warmup: testmode.Pick(10_000, 4000), Draws: testmode.Pick(30_000, 12_000), Thin: 1, Seed: 5}
	bare := settings
	bare.Kernel = "balanced"
	tempered := settings
	tempered.Kernel, tempered.Draws, tempered.Warmup = "tempered", 1500, 2000
	return map[string]*Spec{
		"accelerated": smallSpec(t, settings),
		"balanced":    newSpec(t, 2000, 100, mcmc.Uniform(17, 24), bare),
		"tempered":    smallSpec(t, tempered),
	}
}

// child runs a shard, or merges.
func child(dir, name, shard string) int {
	s := killedSpecs(new(testing.T))[name]
	o := Options{Interval: 2 * time.Millisecond, Workers: 1}
	var err error
	if shard == "merge" {
		var r *Result
		if r, err = Merge(context.Background(), s, NewDirectoryStore(dir), o); err == nil {
			err = NewDirectoryStore(dir).Replace(context.Background(), "summary.json", bytes.Repeat([]byte(fmt.Sprint(r.Parts)), 100))
		}
	} else if o.Shard, err = ParseShard(shard, 0); err == nil {
		_, err = RunShard(context.Background(), s, NewDirectoryStore(dir), o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Processes that run shards, and that merge, are killed 6 times in all, with KIR_LONG
// 102, whatever they are at, and each time another does the same again.
func TestKilled(t *testing.T) {
	kills := testmode.Pick(34, 3)
	for name, s := range killedSpecs(t) {
		if name == "tempered" && !testmode.Enabled() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			whole, _ := start(t, s, Options{})
			want := outcomeOf(t, s, whole)
			r := rand.New(rand.NewPCG(3, 3))
			for killed := 0; killed < kills; {
				dir := filepath.Join(t.TempDir(), "run")
				for _, shard := range []string{"1/2", "2/2", "merge"} {
					for !killedOrDone(t, r, dir, name, shard, killed < kills) {
						killed++
					}
				}
				outcomeOf(t, s, dir).same(t, want)
			}
		})
	}
}

// killedOrDone starts a process, kills it after a while if it is to, and says
// whether it came to its end.
func killedOrDone(t *testing.T, r *rand.Rand, dir, name, shard string, kill bool) (done bool) {
	var stderr bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRun+"="+dir, "KIR_TEST_SPEC="+name, "KIR_TEST_SHARD="+shard)
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if kill {
		time.Sleep(time.Duration(r.Int64N(int64(120 * time.Millisecond))))
		cmd.Process.Kill()
	}
	err := cmd.Wait()
	if err == nil {
		return true
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("%s: %v: %s", shard, err, &stderr)
	}
	return false
}
