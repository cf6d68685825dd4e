package run

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kir/internal/diagnose"
	"kir/mcmc"
)

// What cannot be run leaves nothing behind.
func TestStartRefuses(t *testing.T) {
	good := resumeSettings(100)
	with := func(change func(s *Spec)) *Spec {
		s := smallSpec(t, good)
		change(s)
		return s
	}
	forbidden := newSpec(t, 5, 5, mcmc.Uniform(1, 3), good, mcmc.Objective{Name: "never", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 0 }), Weight: 1})
	negative := newSpec(t, 5, 5, mcmc.Uniform(1, 3), good, mcmc.Objective{Name: "below", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return -1 }), Weight: 1})
	gap := newSpec(t, 9, 9, mcmc.Table(map[int]float64{2: 1, 7: 1}), good)
	for name, c := range map[string]struct {
		spec *Spec
		say  string
	}{
		"no target":            {with(func(s *Spec) { s.Target = nil }), "no target"},
		"names":                {with(func(s *Spec) { s.Ingredients = s.Ingredients[1:] }), "11 names for 12"},
		"doubled name":         {with(func(s *Spec) { s.Ingredients[3] = s.Ingredients[2] }), `two ingredients are named "ingredient 3"`},
		"name not UTF-8":       {with(func(s *Spec) { s.Ingredients[3] = "\xff" }), "UTF-8"},
		"no chains":            {with(func(s *Spec) { s.Settings.Chains = 0 }), "at least 1"},
		"negative warm-up":     {with(func(s *Spec) { s.Settings.Warmup = -1 }), "at least 0"},
		"no draws":             {with(func(s *Spec) { s.Settings.Draws = 0 }), "at least 1"},
		"thin 0":               {with(func(s *Spec) { s.Settings.Thin = 0 }), "at least 1"},
		"unknown kernel":       {with(func(s *Spec) { s.Settings.Kernel = "fast" }), `no kernel "fast"`},
		"kernel and gap":       {gap, "accelerated"},
		"property of 0":        {forbidden, mcmc.ErrNoStart.Error()},
		"property below 0":     {negative, `"below"`},
		"property named used":  {newSpec(t, 5, 5, mcmc.Uniform(1, 3), good, mcmc.Objective{Name: "used", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 }), Weight: 1}), `"used"`},
		"property named chain": {newSpec(t, 5, 5, mcmc.Uniform(1, 3), good, mcmc.Objective{Name: "chain", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 }), Weight: 0}), `"chain"`},
	} {
		parent := t.TempDir()
		_, err := Start(context.Background(), c.spec, NewDirectoryStore(filepath.Join(parent, "run")), Options{})
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.say)
		}
		if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
			t.Errorf("%s: left %v, error %v", name, entries, err)
		}
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	parent := t.TempDir()
	if _, err := Start(canceled, smallSpec(t, good), NewDirectoryStore(filepath.Join(parent, "run")), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled before the start: %v", err)
	}
	if entries, _ := os.ReadDir(parent); len(entries) > 0 {
		t.Errorf("canceled before the start: left %v", entries)
	}
}

func TestDirectoryExists(t *testing.T) {
	s := smallSpec(t, resumeSettings(100))
	parent := t.TempDir()
	path := func(name string) string { return filepath.Join(parent, name) }
	if err := os.WriteFile(path("file"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path("empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path("other"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("other/notes"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "other", "link"} {
		var exists *ExistsError
		if _, err := Start(context.Background(), s, NewDirectoryStore(path(name)), Options{}); !errors.As(err, &exists) || exists.Dir != path(name) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := Open(context.Background(), NewDirectoryStore(path(name))); err == nil {
			t.Errorf("%s was opened as a run", name)
		}
		if _, err := Resume(context.Background(), s, NewDirectoryStore(path(name)), Options{}); err == nil {
			t.Errorf("%s was resumed", name)
		}
	}
	if data, err := os.ReadFile(path("file")); err != nil || string(data) != "mine" {
		t.Errorf("the file holds %q, error %v", data, err)
	}
	if entries, err := os.ReadDir(path("other")); err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v, error %v", entries, err)
	}
	// Nothing is overwritten in an empty directory.
	if _, err := Start(context.Background(), s, NewDirectoryStore(path("empty")), Options{}); err != nil {
		t.Error(err)
	}
	if _, err := Resume(context.Background(), s, NewDirectoryStore(path("none")), Options{}); !errors.As(err, new(*NotRunError)) {
		t.Errorf("no run: error %v", err)
	}
}

// Two processes cannot work on one run. A lock is held by the file opened, so
// that two calls are as good as two processes.
func TestBusy(t *testing.T) {
	s := smallSpec(t, resumeSettings(3000))
	dir := filepath.Join(t.TempDir(), "run")
	working, tried := make(chan bool), make(chan bool)
	var once sync.Once
	slow := counted(t, s, func(n int64) {
		if n > 20_000 {
			once.Do(func() {
				close(working)
				<-tried
			})
		}
	})
	done := make(chan error)
	go func() {
		_, err := Start(context.Background(), slow, NewDirectoryStore(dir), Options{Workers: 1})
		done <- err
	}()
	<-working
	var busy *BusyError
	if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); !errors.As(err, &busy) || busy.Dir != dir || !strings.Contains(err.Error(), "another process") {
		t.Errorf("error %v", err)
	}
	if r, err := Open(context.Background(), NewDirectoryStore(dir)); err != nil || r.CheckComplete() == nil {
		t.Errorf("looking at a run that is at work: %v", err)
	}
	close(tried)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); !errors.Is(err, ErrComplete) {
		t.Errorf("after its end: %v", err)
	}
}

func TestChanged(t *testing.T) {
	settings := resumeSettings(6000) // so many that a run which is told to stop is not at its end
	settings.Chains = 1
	s := smallSpec(t, settings)
	from := stopped(t, s)
	with := func(change func(s *Spec)) *Spec {
		c := smallSpec(t, settings)
		change(c)
		return c
	}
	wishes := s.Target.Objectives()
	retarget := func(sparsity mcmc.Sparsity, w ...mcmc.Objective) *Spec {
		return newSpec(t, 12, 20, sparsity, settings, w...)
	}
	heavier := slices.Clone(wishes)
	heavier[0].Weight *= 1.0000001
	otherwise := slices.Clone(wishes)
	otherwise[1].Property = mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(1)+x.Amount(5)) / 21 })
	renamed := slices.Clone(wishes)
	renamed[2].Name = "beside"
	for name, c := range map[string]struct {
		spec *Spec
		say  string
	}{
		"input":         {with(func(s *Spec) { s.Inputs[0].SHA256 = strings.Repeat("0", 64) }), "/data/recipes.csv"},
		"input gone":    {with(func(s *Spec) { s.Inputs = nil }), "/data/recipes.csv"},
		"input more":    {with(func(s *Spec) { s.Inputs = append(s.Inputs, Input{Path: "/data/forest.json"}) }), "/data/forest.json"},
		"version":       {with(func(s *Spec) { s.Version = "1.2.4" }), "1.2.4"},
		"seed":          {with(func(s *Spec) { s.Settings.Seed++ }), "the seed"},
		"thin":          {with(func(s *Spec) { s.Settings.Thin++ }), "thin"},
		"warm-up":       {with(func(s *Spec) { s.Settings.Warmup++ }), "warm-up"},
		"chains":        {with(func(s *Spec) { s.Settings.Chains++ }), "chains"},
		"kernel":        {with(func(s *Spec) { s.Settings.Kernel = "gibbs" }), "gibbs"},
		"fewer draws":   {with(func(s *Spec) { s.Settings.Draws-- }), "draws"},
		"ingredient":    {with(func(s *Spec) { s.Ingredients[7] = "salt" }), `"salt"`},
		"weight":        {retarget(mcmc.Uniform(2, 5), heavier...), "the target"},
		"property":      {retarget(mcmc.Uniform(2, 5), otherwise...), "the target"},
		"property name": {retarget(mcmc.Uniform(2, 5), renamed...), "beside"},
		"sparsity":      {retarget(mcmc.Uniform(2, 4), wishes...), "the target"},
	} {
		dir := copyRun(t, from)
		var changed *ChangedError
		_, err := Resume(context.Background(), c.spec, NewDirectoryStore(dir), Options{})
		if !errors.As(err, &changed) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.say)
		}
		// It can still be resumed as it was.
		if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamagedManifest(t *testing.T) {
	s := smallSpec(t, resumeSettings(100))
	dir, _ := start(t, s, Options{})
	path := filepath.Join(dir, manifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{"empty": "", "half": string(data[:len(data)/2]), "null": "null", "list": "[]"}
	for from, to := range map[string]string{
		`"format": 2`:           `"format": 3`,
		`"draws": 100`:          `"draws": -1`,
		`"chains": 3`:           `"chains": 1000000000`,
		`"seed": 11`:            `"seed": 12`,
		`"total": 20`:           `"total": 21`,
		`"ingredient 5"`:        `"ingredient 50"`,
		`"version": "1.2.3"`:    `"version": "1.2.5"`,
		`"thin": 2`:             `"thin": 0`,
		`"/data/recipes.csv"`:   `"/data/other.csv"`,
		`"properties": [`:       `"properties": ["x",`,
		`"target_sha256": "`:    `"target_sha256": "0`,
		`"kernel": "accelerate`: `"kernel": "exaggerate`,
	} {
		if bad[from] = strings.Replace(string(data), from, to, 1); bad[from] == string(data) {
			t.Errorf("the manifest has no %s", from)
		}
	}
	// What is sealed anew is not the run that it names, one digit of the checksum is not
	// that of the rest, and a checksum stands last.
	open := regexp.MustCompile(`,\s*"checksum": "[0-9a-f]*"`).ReplaceAllString(string(data), "")
	bad["sealed anew"] = string(Seal([]byte(strings.Replace(open, `"seed": 11`, `"seed": 12`, 1))))
	bad["another blank"] = strings.Replace(string(data), `"seed": 11`, `"seed":  11`, 1)
	bad["checksum elsewhere"] = strings.Replace(open, "{", `{"checksum": "00",`, 1)
	bad["no checksum"] = strings.TrimSpace(open) + "\n"
	for name, text := range bad {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(context.Background(), NewDirectoryStore(dir)); !errors.As(err, new(*NotRunError)) || !strings.Contains(err.Error(), manifestName) {
			t.Errorf("%s: opened with error %v", name, err)
		}
		if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); !errors.As(err, new(*NotRunError)) {
			t.Errorf("%s: resumed with error %v", name, err)
		}
	}
}

// Files of a complete run that were damaged are errors that name the file.
func TestDamagedRun(t *testing.T) {
	s := smallSpec(t, resumeSettings(2000))
	from, _ := start(t, s, Options{})
	read := func(dir string) error {
		r, err := Open(context.Background(), NewDirectoryStore(dir))
		if err != nil {
			return err
		}
		for _, err := range r.Draws(context.Background()) {
			if err != nil {
				return err
			}
		}
		_, err = Merge(context.Background(), s, NewDirectoryStore(dir), Options{})
		return err
	}
	if err := read(from); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{partName(0, 0), partName(2, 0)} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		for what, bad := range map[string][]byte{"cut": data[:len(data)-1], "empty": nil, "flipped": append(slices.Clone(data[:100]), append([]byte{data[100] ^ 1}, data[101:]...)...)} {
			dir := copyRun(t, from)
			if err := os.WriteFile(filepath.Join(dir, name), bad, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := read(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
				t.Errorf("%s %s: error %v", name, what, err)
			}
		}
		dir := copyRun(t, from)
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := read(dir); !errors.As(err, new(*UnfinishedError)) {
			t.Errorf("%s missing: error %v", name, err)
		}
		if _, err := Resume(context.Background(), s, NewDirectoryStore(dir), Options{}); err != nil {
			t.Errorf("%s is not made again: %v", name, err)
		}
		if again, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s was made again, and is another: %v", name, err)
		}
	}
	// Two chains' files in each other's place.
	dir := copyRun(t, from)
	a, b, c := filepath.Join(dir, partName(0, 0)), filepath.Join(dir, partName(1, 0)), filepath.Join(dir, "c")
	if err := errors.Join(os.Rename(a, c), os.Rename(b, a), os.Rename(c, b)); err != nil {
		t.Fatal(err)
	}
	if err := read(dir); err == nil || !strings.Contains(err.Error(), a) {
		t.Errorf("swapped: error %v", err)
	}
}

// A property that fails in the middle of a run ends it with its own error.
func TestFailingProperty(t *testing.T) {
	s := smallSpec(t, resumeSettings(3000))
	wishes := slices.Clone(s.Target.Objectives())
	wishes[2].Property = mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		if x.Amount(3) == 7 {
			return math.NaN()
		}
		return 1
	})
	bad := newSpec(t, 12, 20, mcmc.Uniform(2, 5), s.Settings, wishes...)
	_, err := Start(context.Background(), bad, NewDirectoryStore(filepath.Join(t.TempDir(), "run")), Options{})
	var score *mcmc.ScoreError
	if !errors.As(err, &score) || score.Objective != "aside" || !strings.Contains(score.Composition, "3: 7") {
		t.Errorf("the error is %v", err)
	}
}

// Who looks at the figures while chains begin sees chains that have begun, or not: half
// of one would be read beyond its end. The race detector sees what is not waited for.
func TestFiguresWhileChainsBegin(t *testing.T) {
	spec := smallSpec(t, mcmc.DefaultSettings())
	var z diagnose.Summarizer
	for range 20 {
		s := &session{spec: spec, options: Options{Progress: func(Progress) {}}}
		for k := range 8 {
			s.chains = append(s.chains, &chain{session: s, index: k})
		}
		var all sync.WaitGroup
		for _, c := range s.chains {
			all.Go(c.initDisplayedSeries)
			all.Go(func() { s.summarizeSoFar(&diagnose.Summarizer{}) })
		}
		all.Wait()
		if draws, _, _ := s.summarizeSoFar(&z); draws != 0 {
			t.Fatalf("there are %d draws", draws)
		}
	}
}

func TestProgress(t *testing.T) {
	s := smallSpec(t, mcmc.Settings{Kernel: "accelerated", Chains: 3, Warmup: 3000, Draws: 1_000_000, Thin: 1, Seed: 1})
	ctx, cancel := context.WithTimeout(context.Background(), 900*time.Millisecond)
	defer cancel()
	var mu sync.Mutex
	var events []Progress
	dir := filepath.Join(t.TempDir(), "run")
	_, err := Start(ctx, s, NewDirectoryStore(dir), Options{Progress: func(p Progress) {
		if !mu.TryLock() {
			t.Error("two events at once")
			return
		}
		defer mu.Unlock()
		events = append(events, p)
	}})
	if !errors.As(err, new(*InterruptedError)) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	// On a busy machine a run takes longer to end than it was given.
	took := events[len(events)-1].Elapsed
	if len(events) < 2 || len(events) > int(took/progressInterval)+2 {
		t.Errorf("%d events in %v", len(events), took)
	}
	last := Progress{}
	for k, p := range events {
		if p.DoneShare < last.DoneShare || p.Elapsed <= last.Elapsed || len(p.Chains) != 3 {
			t.Errorf("event %d is %+v after %+v", k, p, last)
		}
		for _, c := range p.Chains {
			if !(c.IterationsPerSecond >= 0) || c.DoneShare < 0 || c.DoneShare > 1 || c.AcceptedShare > 1 || c.InWarmup && !math.IsNaN(c.AcceptedShare) {
				t.Errorf("event %d: chain %+v", k, c)
			}
		}
		last = p
	}
	if !(last.RHat > 0.9 && last.RHat < 2) || !(last.ESS > 1) || last.Draws < 1000 {
		t.Errorf("the last event is %+v", last)
	}
	if last.DoneShare <= 0 || last.DoneShare >= 1 {
		t.Errorf("%v is done", last.DoneShare)
	}
}
