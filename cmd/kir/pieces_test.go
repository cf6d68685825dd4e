package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/internal/terminal"
	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// TestPieces: names of directories, words of a shell, flags that are cut and lines of
// progress are what they were.
func TestPieces(t *testing.T) {
	record := golden.Open(t)
	for _, name := range []string{"", "!", "A sour", "  A  sour ", "Überall 2", "a_b-c", strings.Repeat("ab ", 20), strings.Repeat("ab ", 21), strings.Repeat("é", 40), "レモン ジュース"} {
		record.CheckText(t, "slug "+name, fileNameOf(name))
	}
	for _, text := range []string{"a", "a=b", "a=b=c", " a = b ", "=", "=b", "a="} {
		before, after, found := cutAtLast(text, "=")
		record.CheckText(t, "cut "+text, fmt.Sprintf("%q %q %v", before, after, found))
	}
	for _, text := range []string{"a", "a b", "it's", "", "a=b", "ü", "$a", "--x"} {
		record.CheckText(t, "word "+text, terminal.ShellWord(text))
	}
	for k, p := range []run.Progress{
		{Elapsed: 1500 * time.Millisecond, DoneShare: 0.25, Draws: 7, RHat: 1.5, ESS: 20, Chains: []run.ChainProgress{{DoneShare: 0.5, InWarmup: true, IterationsPerSecond: 10, AcceptedShare: math.NaN()}, {DoneShare: 0.75, IterationsPerSecond: math.NaN(), AcceptedShare: 0.5}}},
		{DoneShare: 1, RHat: math.NaN(), ESS: math.NaN(), SearchDoneShare: 0.5},
		{Elapsed: 4 * time.Second, DoneShare: 0.5, Draws: 7, RHat: 1.02, ESS: 20, WantedESS: 1000, TimeLeft: 3 * time.Second, Chains: []run.ChainProgress{{DoneShare: 0.5}}, Best: []run.Best{
			{Score: 0.75, Parts: []mcmc.Part{{Ingredient: 0, Amount: 20}, {Ingredient: 1, Amount: 50}, {Ingredient: 2, Amount: 10}, {Ingredient: 3, Amount: 5}, {Ingredient: 4, Amount: 15}}},
		}},
	} {
		text, err := json.Marshal(newProgressJSON(p, &compile.Problem{Total: 100, Ingredients: []string{"Gin", "Campari", "Water", "Ice", "Lemon"}}))
		if err != nil {
			t.Fatal(err)
		}
		record.CheckText(t, fmt.Sprint("progress ", k), string(text))
		record.CheckText(t, fmt.Sprint("line of progress ", k), logLineText(p, &compile.Problem{Total: 100, Ingredients: []string{"Gin", "Campari", "Water", "Ice", "Lemon"}}))
	}
	for _, path := range []string{"a", "a.html", "a.HTM", "a.pdf", "a.b/c", ".html", "a."} {
		record.CheckText(t, "page "+path, fmt.Sprint(checkPageName(path)))
	}
	for _, c := range [][2]string{{"p.yaml", "r.csv"}, {"d/p.yaml", "r.csv"}, {"p.yaml", "d/r.csv"}, {"d/p.yaml", "d/e/r.csv"}, {"d/p.yaml", "/abs/r.csv"}} {
		path, err := relativePath(c[0], c[1])
		record.CheckText(t, "from "+c[0]+" to "+c[1], fmt.Sprint(path, err))
	}
	dir := t.TempDir()
	for _, c := range []struct{ named, problem string }{{filepath.Join(dir, "a"), "x"}, {filepath.Join(dir, "new", "a"), "x"}, {filepath.Join(dir, "new", "b"), "x"}, {"s3://bucket/a", "x"}} {
		of, err := namedOrFreeRunDirectory(c.named, c.problem)
		record.CheckText(t, "run in "+strings.ReplaceAll(c.named, dir, "DIR"), strings.ReplaceAll(fmt.Sprint(of, " ", err), dir, "DIR"))
	}
	t.Chdir(dir)
	if dir, err := namedOrFreeRunDirectory("", "A sour"); err != nil || dir != filepath.Join("runs", "a-sour-1") {
		t.Errorf("%s %v", dir, err)
	}
	if err := os.MkdirAll(filepath.Join("runs", "a-sour-1"), 0o777); err != nil {
		t.Fatal(err)
	}
	if made, err := freeRunDirectory("A sour"); err != nil || made != filepath.Join("runs", "a-sour-2") {
		t.Errorf("%s %v", made, err)
	}
}

// TestProgressIsShown: progress is shown where it can be seen, and told as JSON where
// that is asked for.
func TestProgressIsShown(t *testing.T) {
	var b bytes.Buffer
	p := newProgressView(&b, &runOptions{progressJSON: true}, nil)
	p.show(run.Progress{DoneShare: 0.5, RHat: math.NaN(), ESS: math.NaN()})
	p.end()
	if got := b.String(); got != `{"elapsed":0,"done":0.5,"draws":0,"rhat":null,"ess":null,"search":0,"chains":[]}`+"\n" {
		t.Error(got)
	}
	b.Reset()
	chains := []run.ChainProgress{{}}
	for _, quiet := range []bool{false, true} {
		b.Reset()
		p := newProgressView(&b, &runOptions{quiet: quiet}, nil)
		for _, r := range []run.Progress{
			{Elapsed: time.Second / 4, DoneShare: 0.2, Chains: chains, RHat: math.NaN()}, {Elapsed: 900 * time.Millisecond, DoneShare: 0.3, Chains: chains, RHat: math.NaN()},
			{Elapsed: 5 * time.Second, DoneShare: 0.3, TimeLeft: 35 * time.Second, Chains: chains, RHat: math.NaN()}, {Elapsed: 9 * time.Second, DoneShare: 0.4, Chains: chains, RHat: 1.2, ESS: 50, Draws: 12},
			{Elapsed: 11 * time.Second, DoneShare: 0.6, TimeLeft: 11 * time.Second, Chains: chains, RHat: 1.01234, ESS: 340.7, Draws: 3000}, {Elapsed: 65 * time.Second, DoneShare: 1, Chains: chains, RHat: math.NaN()},
			{Elapsed: 70 * time.Second, DoneShare: 1, SearchDoneShare: 0.451, TimeLeft: 6 * time.Second, RHat: math.NaN(), ESS: math.NaN()},
		} {
			p.show(r)
		}
		p.end()
		want := "sampling: 30 %, after 5s, about 35s left\nsampling: 60 %, after 11s, about 11s left; R-hat 1.012, ESS 341 at 3000 draws a chain\nsampling: 100 %, after 1m5s\nlooking for the best: 45 %, after 1m10s, about 6s left\n"
		if quiet {
			want = ""
		}
		if got := b.String(); got != want {
			t.Errorf("quiet is %v, and to what is no terminal it writes\n%s", quiet, got)
		}
	}
}

// TestOurs: a report is written over a report and over nothing, and not over what
// somebody else wrote or over what cannot be read.
func TestOurs(t *testing.T) {
	dir := t.TempDir()
	page := []byte("<!doctype html>\n<html lang=\"en\">\n")
	for name, c := range map[string]struct {
		text string
		ours bool
	}{"empty": {"", view.IsPage(nil)}, "text": {"mine", false}, "page": {string(page), view.IsPage(page)}} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if ours, err := isReplaceable(t.Context(), path, view.IsPage); err != nil || ours != c.ours {
			t.Errorf("%s is ours: %v, %v", name, ours, err)
		}
	}
	if ours, err := isReplaceable(t.Context(), filepath.Join(dir, "none"), view.IsPage); err != nil || !ours {
		t.Errorf("nothing is ours: %v, %v", ours, err)
	}
	if _, err := isReplaceable(t.Context(), dir, view.IsPage); err == nil {
		t.Error("a directory is read")
	}
	if err := savePage(t.Context(), filepath.Join(dir, "text"), page); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a text: %v", err)
	}
	if err := savePage(t.Context(), filepath.Join(dir, "new"), page); err != nil {
		t.Error(err)
	}
}

// TestSteered: the run of a step is that of kir sample but for its page, and what keeps it
// from being made shows on the page.
func TestSteered(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.yaml")
	if err := os.WriteFile(file, []byte("total: 9\ningredients: [a, b, c]\nsparsity: {uniform: [1, 2]}\nsampler: {kernel: exact, chains: 2, draws: 30}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Load(t.Context(), file, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m, err := runStep(t.Context(), p, filepath.Join(dir, "run"), nil)
	if err != nil || m.Sampler.Draws != 30 || slices.Contains(m.Files, view.PageName) {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "run", view.PageName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has a page: %v", err)
	}
	var exists *run.ExistsError
	if _, err := runStep(t.Context(), p, filepath.Join(dir, "run"), nil); !errors.As(err, &exists) {
		t.Errorf("over another: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runStep(ctx, p, filepath.Join(dir, "next"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %v", err)
	}
	if _, err := runStep(t.Context(), p, "s3://", nil); !errors.As(err, new(*inputerr.Error)) {
		t.Errorf("in no bucket: %v", err)
	}
	for place, want := range map[string]string{"run": "../p.yaml", "a/b/run": "../../../p.yaml", "s3://bucket/run": "ABS"} {
		at := place
		if !strings.HasPrefix(at, "s3:") {
			at = filepath.Join(dir, place)
		}
		spec, err := newSpec(p, at)
		if want == "ABS" {
			want = file
		}
		if err != nil || spec.ProblemPath != filepath.FromSlash(want) || spec.AbsoluteProblemPath != file || spec.IsKnownSet != nil || spec.Question == nil || len(spec.Inputs) != 1 || spec.Name != "p" {
			t.Errorf("of %s it is %+v, %v", place, spec, err)
		}
	}
}

// TestRunStatus: how far a run is, chains that are done, going and missing, in shards or
// not, as text and in figures.
func TestRunStatus(t *testing.T) {
	record := golden.Open(t)
	now := time.Unix(1_000_000, 0)
	at := func(seconds int, s run.Shard, done bool) run.ChainStatus {
		return run.ChainStatus{Draws: 10 * seconds, Parts: 2, Bytes: 1_234_567, LastSaved: now.Add(-time.Duration(seconds) * time.Second), Shard: s, Done: done}
	}
	one, two := run.Shard{Index: 1, Count: 2}, run.Shard{Index: 2, Count: 2}
	for name, chains := range map[string][]run.ChainStatus{
		"none": {{}, {}}, "going": {at(3, run.Shard{}, false), {}}, "done and missing": {at(3, run.Shard{}, true), {}}, "done": {at(3, run.Shard{}, true), at(5, run.Shard{}, true)}, "all going": {at(3, run.Shard{}, false), at(90, run.Shard{}, false)},
		"shards": {at(3, one, true), at(5, one, true), at(100, two, false), {}}, "shards of which one is missing": {at(3, one, true), at(5, one, false), {}, {}}, "shards that are done": {at(3, one, true), at(5, one, true), at(1, two, true), at(3700, two, true)},
	} {
		m := &run.Manifest{Name: "It\x1b", Settings: mcmc.Settings{Draws: 1000}}
		for _, running := range []bool{false, true} {
			s := newRunStatus(m, &run.Status{Chains: chains}, now)
			s.Running = running
			var b bytes.Buffer
			if err := s.writeText(&b, "a b"); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if running && strings.Contains(b.String(), "kir resume") {
				t.Errorf("%s: kir says of a run that is going\n%s", name, &b)
			}
			record.CheckText(t, fmt.Sprintf("%s, running is %v", name, running), b.String()+string(text))
		}
	}
}

// TestRewritten: a terminal is shown one line, which is rewritten, fits its width and is
// gone at the end: what is left, the figure that chains go on for, and the best so far.
func TestRewritten(t *testing.T) {
	var b bytes.Buffer
	p := &compile.Problem{Total: 100, Ingredients: []string{"Gin", "Crème de violette, homemade"}}
	v := newTerminalProgressView(&b, p, func() int { return 79 })
	nan, best := math.NaN(), []run.Best{{Score: 0.75, Parts: []mcmc.Part{{Ingredient: 0, Amount: 20}, {Ingredient: 1, Amount: 80}}}}
	for k, r := range []run.Progress{
		{Chains: []run.ChainProgress{{InWarmup: true}}, TimeLeft: time.Minute, LeftIsLimit: true, RHat: nan, ESS: nan},
		{Chains: []run.ChainProgress{{}}, DoneShare: 0.1, RHat: nan, ESS: nan}, // too soon
		{Chains: []run.ChainProgress{{}}, DoneShare: 0.25, TimeLeft: 3 * time.Second, ESS: 321, WantedESS: 1000, Best: best},
		{SearchDoneShare: 0.3, Best: best, RHat: nan, ESS: nan},
	} {
		r.Elapsed = []time.Duration{0, time.Second / 10, time.Second, 2 * time.Second}[k]
		v.show(r)
	}
	v.end()
	want := "\rwarm-up, at most 1m0s left\x1b[K" +
		"\rsampling: 25 %, about 3s left; ESS 321 of 1000; best so far 0.750: 80 % Crème…\x1b[K" +
		"\rlooking for the best: 30 %; best so far 0.750: 80 % Crème de violette, homema…\x1b[K\r\x1b[K"
	if got := b.String(); got != want {
		t.Errorf("it writes\n%q\nwant\n%q", got, want)
	}
}
