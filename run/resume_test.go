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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kir"
)

// outcome is what equal runs must have in common: the files of draws, byte for
// byte, and every figure.
type outcome struct {
	files  [][]byte
	result *Result
}

func outcomeOf(t testing.TB, dir string) outcome {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Result()
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{result: result}
	for _, path := range r.Files() {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		o.files = append(o.files, data)
	}
	return o
}

// same compares outcomes; notes may tell of what went wrong on the way.
func (o outcome) same(t testing.TB, want outcome) {
	t.Helper()
	for c := range want.files {
		if !bytes.Equal(o.files[c], want.files[c]) {
			t.Errorf("the draws of chain %d differ", c)
		}
	}
	a := *o.result
	a.Notes = want.result.Notes
	if !equalResults(&a, want.result) {
		t.Errorf("the results differ:\n%+v\n%+v", &a, want.result)
	}
}

// tidy fails if something is left that a complete run does not need.
func tidy(t testing.TB, dir string, chains int) {
	t.Helper()
	want := []string{lockName, manifestName, problemName, resultName}
	for c := range chains {
		want = append(want, checkpointName(c), drawsName(c))
	}
	slices.Sort(want)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the directory holds %q, want %q", got, want)
	}
}

// Draws do not end where a segment does: neither of these numbers is a multiple
// of 512.
func resumeSettings(draws int) Settings {
	return Settings{Kernel: "accelerated", Chains: 3, Warmup: 2500, Draws: draws, Thin: 2, Seed: 11}
}

// counted wraps the properties of a spec so that a function is called at each
// evaluation of the second one, with the number of the call.
func counted(t testing.TB, s *Spec, at func(n int64)) *Spec {
	var n atomic.Int64
	wishes := slices.Clone(s.Target.Wishes())
	inner := wishes[1].Property
	wishes[1].Property = kir.ScoreFunc(func(x *kir.Composition) float64 {
		at(n.Add(1))
		return inner.(kir.ScoreFunc)(x)
	})
	target, err := kir.NewTarget(s.Target.Space(), kir.Uniform(2, 5), wishes...)
	if err != nil {
		t.Fatal(err)
	}
	c := *s
	c.Target = target
	return &c
}

func TestWorkersChangeNothing(t *testing.T) {
	for name, s := range map[string]*Spec{
		"small": smallSpec(t, resumeSettings(4000)),
		"bare":  newSpec(t, 300, 60, kir.Uniform(3, 20), Settings{Kernel: "balanced", Chains: 5, Warmup: 100, Draws: 6000, Thin: 1, Seed: 4}),
	} {
		dir, _ := start(t, s, Options{Workers: 1})
		want := outcomeOf(t, dir)
		for _, workers := range []int{2, 8} {
			dir, r := start(t, s, Options{Workers: workers, Checkpoint: time.Nanosecond, Progress: func(Progress) {}})
			outcomeOf(t, dir).same(t, want)
			if !equalResults(r, want.result) {
				t.Errorf("%s, %d workers: the result returned is not the one stored", name, workers)
			}
			tidy(t, dir, s.Settings.Chains)
		}
		other := *s
		other.Settings.Seed++
		dir, _ = start(t, &other, Options{})
		if bytes.Equal(outcomeOf(t, dir).files[0], want.files[0]) {
			t.Errorf("%s: another seed gives the same draws", name)
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
	s := smallSpec(t, settings)
	var total int64
	dir, _ := start(t, counted(t, s, func(n int64) { atomic.StoreInt64(&total, n) }), Options{})
	want := outcomeOf(t, dir)
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 6 {
		dir := filepath.Join(t.TempDir(), "run")
		interrupts := 0
		for attempt := 0; ; attempt++ {
			ctx, cancel := context.WithCancel(context.Background())
			stop := r.Int64N(total)
			spec := counted(t, s, func(n int64) {
				if n == stop {
					cancel()
				}
			})
			var err error
			if _, e := os.Stat(dir); e != nil {
				_, err = Start(ctx, spec, dir, Options{Workers: 1 + round%2})
			} else {
				_, err = Resume(ctx, spec, dir, Options{Workers: 1 + round%2})
			}
			cancel()
			if err == nil {
				break
			}
			var interrupted *InterruptedError
			if !errors.As(err, &interrupted) && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if interrupted != nil {
				interrupts++
				if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "kir resume "+dir) || interrupted.Done < 0 || interrupted.Done > 1 {
					t.Errorf("the error is %q", err)
				}
				if _, err := Open(dir); err != nil {
					t.Error(err)
				}
			}
		}
		got := outcomeOf(t, dir)
		got.same(t, want)
		if len(got.result.Notes) > 0 {
			t.Errorf("after %d interrupts: notes %q", interrupts, got.result.Notes)
		}
		tidy(t, dir, 3)
	}
}

// An interrupted segment that does not come to its end is given up, and the
// last checkpoint has to do.
func TestInterruptedInASlowSegment(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the grace time")
	}
	s := smallSpec(t, resumeSettings(600))
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, dir)
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
			_, err := Start(ctx, slow, dir, Options{Workers: 1, Checkpoint: time.Nanosecond})
			var interrupted *InterruptedError
			if !errors.As(err, &interrupted) {
				t.Fatalf("the error is %v", err)
			}
			if took := time.Since(canceled); took < graceTime || took > graceTime+4*time.Second {
				t.Errorf("it took %v", took)
			}
			if _, err := Resume(context.Background(), s, dir, Options{}); err != nil {
				t.Fatal(err)
			}
			outcomeOf(t, dir).same(t, want)
		})
	}
}

// childDir tells the test binary to work on a run, as another process.
const childDir = "KIR_TEST_RUN"

// and childSpec which run of killedSpecs it is.
const childSpec = "KIR_TEST_SPEC"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir, os.Getenv(childSpec)))
	}
	os.Exit(m.Run())
}

// killedSpecs are with properties and without, where draws are written in other
// ways, for each kernel that learns in warm-up and one that does not.
func killedSpecs(t testing.TB) map[string]*Spec {
	specs := make(map[string]*Spec)
	for kernel, draws := range map[string]int{"accelerated": 40_000, "balanced": 30_000, "tempered": 3000} {
		settings := Settings{Kernel: kernel, Chains: 3, Warmup: 10_000, Draws: draws, Thin: 1, Seed: 5}
		specs[kernel] = smallSpec(t, settings)
		if kernel != "tempered" {
			settings.Draws *= 4
			specs["bare "+kernel] = newSpec(t, 2000, 100, kir.Uniform(17, 24), settings)
		}
	}
	return specs
}

func child(dir, name string) int {
	s := killedSpecs(new(testing.T))[name]
	o := Options{Checkpoint: 2 * time.Millisecond}
	_, err := Resume(context.Background(), s, dir, o)
	if errors.As(err, new(*NotRunError)) {
		// A killed start may leave a directory without a manifest: no run.
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		_, err = Start(context.Background(), s, dir, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A process is killed 25 times, whatever it is at, and each time another goes
// on. Should a run be complete before, the next one takes the rest.
func TestKilled(t *testing.T) {
	for name, s := range killedSpecs(t) {
		t.Run(name, func(t *testing.T) { testKilled(t, name, s) })
	}
}

func testKilled(t *testing.T, name string, s *Spec) {
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, dir)
	r := rand.New(rand.NewPCG(3, 3))
	for kills := 0; kills < 25; {
		dir := filepath.Join(t.TempDir(), "run")
		for {
			var stderr bytes.Buffer
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childDir+"="+dir, childSpec+"="+name)
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if kills < 25 {
				time.Sleep(time.Duration(r.Int64N(int64(60 * time.Millisecond))))
				cmd.Process.Kill()
			}
			err := cmd.Wait()
			if err == nil {
				break
			}
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
				t.Fatalf("%v: %s", err, &stderr)
			}
			kills++
		}
		outcomeOf(t, dir).same(t, want)
		tidy(t, dir, 3)
	}
}

// stopped returns the directory of a run that was interrupted with some
// checkpoints behind it.
func stopped(t testing.TB, s *Spec) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := filepath.Join(t.TempDir(), "stopped")
	o := Options{Workers: 1, Checkpoint: time.Nanosecond}
	_, err := Start(ctx, counted(t, s, func(n int64) {
		if n == 30_000 {
			cancel()
		}
	}), dir, o)
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

// Whichever of the newest files lost its end, the run goes on from what is
// intact and says so.
func TestTruncated(t *testing.T) {
	settings := resumeSettings(1300)
	settings.Chains = 1
	s := smallSpec(t, settings)
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, dir)
	from := stopped(t, s)
	name := checkpointName(0)
	info, err := os.Stat(filepath.Join(from, name))
	if err != nil {
		t.Fatal(err)
	}
	size := info.Size()
	for n := range size {
		if n >= 20 && n < size-40 && n%(size/25+1) != 0 {
			continue
		}
		dir := copyRun(t, from)
		if err := os.Truncate(filepath.Join(dir, name), n); err != nil {
			t.Fatal(err)
		}
		if _, err := Resume(context.Background(), s, dir, Options{}); err != nil {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		got := outcomeOf(t, dir)
		got.same(t, want)
		if len(got.result.Notes) != 1 {
			t.Errorf("cut to %d bytes: notes %q", n, got.result.Notes)
		}
		tidy(t, dir, 1)
	}
	t.Run("flipped", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(from, checkpointName(0)))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(data); n += 1 + len(data)/40 {
			dir := copyRun(t, from)
			bad := slices.Clone(data)
			bad[n] ^= 4
			if err := os.WriteFile(filepath.Join(dir, checkpointName(0)), bad, 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := Resume(context.Background(), s, dir, Options{}); err != nil {
				t.Fatal(err)
			}
			outcomeOf(t, dir).same(t, want)
		}
	})
	t.Run("gone", func(t *testing.T) {
		for _, gone := range [][]string{
			{checkpointName(0)},
			{checkpointName(0), previous(checkpointName(0))},
			{partialName(0)},
			{checkpointName(0), previous(checkpointName(0)), partialName(0)},
		} {
			dir := copyRun(t, from)
			for _, name := range gone {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Resume(context.Background(), s, dir, Options{}); err != nil {
				t.Fatalf("without %q: %v", gone, err)
			}
			outcomeOf(t, dir).same(t, want)
		}
	})
}

// The same for the file of draws, once it holds a row group. The checkpoint
// before the last one relies on less of it.
func TestTruncatedDraws(t *testing.T) {
	s := newSpec(t, 30, 40, kir.Uniform(2, 8), Settings{Kernel: "balanced", Chains: 1, Draws: 530_000, Thin: 1, Seed: 8})
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, dir)
	from := filepath.Join(t.TempDir(), "stopped")
	name := partialName(0)
	// A disk that is full when the second row group comes.
	disk := &full{left: 1 << 40}
	_, err := Start(context.Background(), s, from, Options{Checkpoint: 10 * time.Millisecond, open: func(path string, flag int) (file, error) {
		f, err := disk.open(path, flag)
		if filepath.Base(path) == name {
			f = &fullFile{f.(*fullFile).File, &full{left: len(want.files[0]) / 2}}
		}
		return f, err
	}})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the error is %v", err)
	}
	info, err := os.Stat(filepath.Join(from, name))
	if err != nil {
		t.Fatal(err)
	}
	size := info.Size()
	var newest checkpoint
	if err := unseal(filepath.Join(from, checkpointName(0)), checkpointKind, &newest); err != nil {
		t.Fatal(err)
	}
	if newest.Offset < size/3 {
		t.Fatalf("the checkpoint relies on %d of %d bytes: the test needs a row group", newest.Offset, size)
	}
	for _, cut := range []int64{0, newest.Offset / 2, newest.Offset - 1, newest.Offset, size} {
		dir := copyRun(t, from)
		if err := os.Truncate(filepath.Join(dir, name), cut); err != nil {
			t.Fatal(err)
		}
		if _, err := Resume(context.Background(), s, dir, Options{}); err != nil {
			t.Fatalf("cut to %d of %d bytes: %v", cut, size, err)
		}
		got := outcomeOf(t, dir)
		got.same(t, want)
		if noted := len(got.result.Notes) > 0; noted != (cut < newest.Offset) {
			t.Errorf("cut to %d of %d bytes, of which the checkpoint relies on %d: notes %q", cut, size, newest.Offset, got.result.Notes)
		}
	}
}

// full is a disk with room for so many bytes.
type full struct {
	mu   sync.Mutex
	left int
}

func (d *full) open(path string, flag int) (file, error) {
	f, err := os.OpenFile(path, flag, 0o666)
	if err != nil {
		return nil, err
	}
	return &fullFile{f, d}, nil
}

type fullFile struct {
	*os.File
	disk *full
}

func (f *fullFile) Write(b []byte) (int, error) {
	f.disk.mu.Lock()
	n := min(len(b), f.disk.left)
	f.disk.left -= n
	f.disk.mu.Unlock()
	written, err := f.File.Write(b[:n])
	if err == nil && n < len(b) {
		err = &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return written, err
}

// A full disk ends the run with the name of the file, and once there is room
// the run goes on.
func TestFullDisk(t *testing.T) {
	settings := resumeSettings(1300)
	settings.Chains = 2
	s := smallSpec(t, settings)
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, dir)
	r := rand.New(rand.NewPCG(5, 5))
	runs, resumed := 0, 0
	for room := 0; ; room += 1 + r.IntN(40_000) {
		runs++
		dir := filepath.Join(t.TempDir(), "run")
		disk := &full{left: room}
		_, err := Start(context.Background(), s, dir, Options{Checkpoint: time.Nanosecond, open: disk.open})
		if err == nil {
			break
		}
		var path *fs.PathError
		if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &path) || !strings.Contains(err.Error(), path.Path) {
			t.Fatalf("with room for %d bytes: %v", room, err)
		}
		if _, e := os.Stat(dir); errors.Is(e, fs.ErrNotExist) {
			continue // it had not begun
		}
		if !errors.As(err, new(*StorageError)) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
		resumed++
		// The disk is full again before there is room enough.
		disk.left = 30_000
		if _, err := Resume(context.Background(), s, dir, Options{Checkpoint: time.Nanosecond, open: disk.open}); err != nil && !errors.As(err, new(*StorageError)) {
			t.Fatalf("with room for 30000 bytes more: %v", err)
		} else if err != nil {
			if _, err := Resume(context.Background(), s, dir, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		outcomeOf(t, dir).same(t, want)
		tidy(t, dir, 2)
	}
	if resumed < 10 {
		t.Errorf("%d of %d runs could be resumed: the test needs more", resumed, runs)
	}
}

// The same on a real file system, where mounting one is allowed.
func TestFullFileSystem(t *testing.T) {
	mount := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(mount, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=300k"); err != nil {
		t.Skip("mounting is not allowed here: ", err)
	}
	defer syscall.Unmount(mount, 0)
	s := newSpec(t, 2000, 100, kir.Uniform(17, 24), Settings{Kernel: "balanced", Chains: 2, Draws: 60_000, Thin: 1, Seed: 1})
	whole, _ := start(t, s, Options{})
	want := outcomeOf(t, whole)
	dir := filepath.Join(mount, "run")
	_, err := Start(context.Background(), s, dir, Options{Checkpoint: time.Millisecond})
	if !errors.As(err, new(*StorageError)) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the error is %v", err)
	}
	if err := syscall.Mount("", mount, "tmpfs", syscall.MS_REMOUNT, "size=50m"); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(context.Background(), s, dir, Options{}); err != nil {
		t.Fatal(err)
	}
	outcomeOf(t, dir).same(t, want)
}

func TestExtended(t *testing.T) {
	for name, of := range map[string]func(draws int) *Spec{
		"accelerated": func(draws int) *Spec { return smallSpec(t, resumeSettings(draws)) },
		"bare": func(draws int) *Spec {
			settings := resumeSettings(draws)
			settings.Thin = 1
			return newSpec(t, 300, 60, kir.Uniform(3, 20), settings)
		},
		"balanced": func(draws int) *Spec {
			settings := resumeSettings(draws)
			settings.Kernel = "balanced"
			return smallSpec(t, settings)
		},
		"tempered": func(draws int) *Spec {
			settings := resumeSettings(draws)
			settings.Kernel = "tempered"
			return smallSpec(t, settings)
		},
	} {
		t.Run(name, func(t *testing.T) { testExtended(t, of) })
	}
}

func testExtended(t *testing.T, of func(draws int) *Spec) {
	s := of(5000)
	dir, _ := start(t, s, Options{})
	want := outcomeOf(t, dir)
	for _, steps := range [][]int{{1, 2, 5000}, {511, 512, 513, 1024, 5000}, {1500, 4999, 5000}, {4608, 5000}} {
		dir := filepath.Join(t.TempDir(), "run")
		for k, draws := range steps {
			spec := of(draws)
			var err error
			if k == 0 {
				_, err = Start(context.Background(), spec, dir, Options{})
			} else {
				_, err = Resume(context.Background(), spec, dir, Options{})
			}
			if err != nil {
				t.Fatal(err)
			}
			tidy(t, dir, 3)
			run, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if problem, err := run.Problem(); err != nil || !bytes.Equal(problem, spec.Resolved) || run.Manifest.Settings.Draws != draws {
				t.Errorf("the problem is %q with %d draws, error %v", problem, run.Manifest.Settings.Draws, err)
			}
			if _, err := Resume(context.Background(), spec, dir, Options{}); !errors.Is(err, ErrComplete) {
				t.Errorf("resuming a complete run: %v", err)
			}
		}
		got := outcomeOf(t, dir)
		got.same(t, want)
		if len(got.result.Notes) > 0 {
			t.Errorf("notes %q", got.result.Notes)
		}
	}
}

func TestInterruptedWhileExtended(t *testing.T) {
	s := smallSpec(t, resumeSettings(5000))
	whole, _ := start(t, s, Options{})
	want := outcomeOf(t, whole)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir, _ := start(t, smallSpec(t, resumeSettings(2000)), Options{})
	if _, err := Resume(ctx, counted(t, s, func(n int64) {
		if n == 30_000 {
			cancel()
		}
	}), dir, Options{}); !errors.As(err, new(*InterruptedError)) {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(); run.Complete() || !errors.As(err, new(*UnfinishedError)) {
		t.Errorf("a run that is being extended has a result: %v", err)
	}
	for _, err := range run.Draws() {
		if !errors.As(err, new(*UnfinishedError)) {
			t.Errorf("a run that is being extended has draws: %v", err)
		}
	}
	if _, err := Resume(context.Background(), s, dir, Options{}); err != nil {
		t.Fatal(err)
	}
	outcomeOf(t, dir).same(t, want)
	var changed *ChangedError
	if _, err := Resume(context.Background(), smallSpec(t, resumeSettings(4000)), dir, Options{}); !errors.As(err, &changed) {
		t.Errorf("fewer draws: %v", err)
	}
}
