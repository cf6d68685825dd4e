//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// What a soak may take. The memory is that of Go alone; the race detector's shadow of it
// is some ten times as large, and comes on top.
const (
	soakFiles  = 128       // descriptors, of which a process over it gets EMFILE
	soakMemory = 256 << 20 // bytes; the collector works harder near it
	soakShare  = 0.25      // of a core
)

// A soaked run is one that the soak has begun.
type soakedRun struct {
	dir, args string
	draws     int
	done      bool
	killed    bool // and not resumed since
}

// A soak does commands at random, one after the other, and those that people give at
// once at once, and looks at what they leave behind.
type soak struct {
	t     *testing.T
	r     *rand.Rand
	dir   string
	runs  []*soakedRun
	named int
	step  int
	did   map[string]int
	said  string // of the step that is going on

	commands atomic.Int64 // that were done
}

// execute does a command.
func (s *soak) execute(ctx context.Context, args []string, out, said io.Writer) error {
	s.commands.Add(1)
	return execute(patient(ctx), args, out, said)
}

// TestSoak is a long day of one process: commands, and a page that is steered, at
// random, some ended at a random time and some killed, under limits of memory and of
// open files. After each the goroutines, open files and temporary files are those from
// before; the heap and, without the race detector, the resident memory do not grow; a run
// that was ended and resumed has the draws of one that was not. KIR_SOAK says for how
// long, KIR_SEED from where.
func TestSoak(t *testing.T) {
	most, err := time.ParseDuration(os.Getenv("KIR_SOAK"))
	steps := 1 << 30
	if err != nil {
		if os.Getenv("KIR_SOAK") != "" {
			t.Fatal("KIR_SOAK: ", err)
		}
		most, steps = time.Minute, 12
	}
	seed, _ := strconv.ParseUint(os.Getenv("KIR_SEED"), 10, 64)
	s := &soak{t: t, r: rand.New(rand.NewPCG(seed, 22)), dir: t.TempDir(), did: make(map[string]int)}
	s.limit()
	s.problems()
	var samples []sample
	began, told := time.Now(), time.Now()
	before := s.look()
	for ; time.Since(began) < most && s.step < steps && !t.Failed(); s.step++ {
		s.one()
		if s.step == 20 {
			before = s.look() // all is loaded that is loaded once
		}
		samples = append(samples, s.settled(before))
		if steps < 1<<30 {
			continue
		}
		if time.Since(told) > 5*time.Minute {
			told = time.Now()
			fmt.Printf("%v: step %d, %v, %v\n", time.Since(began).Round(time.Second), s.step, samples[len(samples)-1], s.did)
		}
		for float64(cpuTime()) > soakShare*float64(time.Since(began)) {
			time.Sleep(100 * time.Millisecond)
		}
	}
	t.Logf("%d steps in %v, %v of CPU: %v", s.step, time.Since(began).Round(time.Second), cpuTime().Round(time.Second), s.did)
	if len(samples) < 100 {
		return
	}
	// From the second quarter to the last: what is loaded once is loaded then.
	n := len(samples) / 4
	early, late := mean(samples[n:2*n]), mean(samples[3*n:])
	// A quarter more, for what is kept of a command that was given flags.
	kept := 1.25 * keptOfCommands(t) * (late.commands - early.commands)
	t.Logf("from the second quarter to the last: %v, then %v, of which up to %.2f MB are flags of %.0f commands", early, late, kept/(1<<20), late.commands-early.commands)
	if late.heap > early.heap+kept+1<<20 {
		t.Error("the heap grows")
	}
	// The race detector keeps a shadow of all memory that was ever used.
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return
	}
	if late.resident > early.resident*1.1+2*kept+8<<20 {
		t.Error("the resident memory grows")
	}
}

// keptOfCommands is how much memory a command leaves behind: the library of commands
// keeps their flags in a table of its own, as a process elsewhere has one command.
func keptOfCommands(t *testing.T) float64 {
	heap := func() float64 {
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return float64(memory.HeapAlloc)
	}
	const commands = 300
	before := heap()
	for range commands {
		if err := execute(t.Context(), []string{"version"}, io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	return (heap() - before) / commands
}

// limit sets the limits of the process and of those that it starts.
func (s *soak) limit() {
	var files syscall.Rlimit
	s.must(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	few := syscall.Rlimit{Cur: soakFiles, Max: files.Max}
	if os.Getenv("KIR_SOAK") != "" {
		few.Max = soakFiles // and no way back, for those that it starts neither
	}
	s.must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	files.Max = few.Max
	files.Cur = min(files.Cur, files.Max)
	s.t.Cleanup(func() { s.must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files)) })
	s.t.Setenv("GOMEMLIMIT", strconv.Itoa(soakMemory))
	old := debug.SetMemoryLimit(soakMemory)
	s.t.Cleanup(func() { debug.SetMemoryLimit(old) })
	for _, dir := range []string{"tmp", "problems"} {
		if err := os.Mkdir(filepath.Join(s.dir, dir), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	s.t.Setenv("TMPDIR", filepath.Join(s.dir, "tmp"))
}

// problems writes the problems that are sampled: small ones, with what kir has.
func (s *soak) problems() {
	recipes := "recipe,ingredient,amount,taste\n"
	for k := range 24 {
		for i, name := range []string{"Gin", "Vodka", "Campari", "Lime", "Syrup", "Soda"} {
			if (k+i)%3 == 0 || (k*i)%5 == 2 {
				recipes += fmt.Sprintf("R%d,%s,%d,%s\n", k, name, 10+(7*k+11*i)%40, []string{"Fresh", "Boozy"}[k*k%3%2])
			}
		}
	}
	sampler := "sampler: {chains: 2, warmup: 50, draws: 300}\n"
	for name, text := range map[string]string{
		"recipes.csv": recipes,
		"shares.yaml": strings.Replace(sharesProblem, "draws: 20000", "draws: 300", 1),
		"forest.yaml": "recipes: recipes.csv\ntotal: 100\nproperties:\n  taste: {forest: {label: taste, want: Fresh, trees: 20}}\n" + sampler,
		"rules.yaml": "recipes: recipes.csv\ntotal: 100\nsparsity: {uniform: [2, 4]}\nproperties:\n  lime: {expression: 'share(\"Lime\")'}\n" +
			"constraints:\n  - amount: {of: Gin, min: 5%, max: 60%}\n  - never: [Vodka, Campari]\n  - group: {of: [Lime, Syrup], total: [5%, 70%]}\n" + sampler,
		"tempered.yaml": "ingredients: [Gin, Vodka, Campari, Lime, Syrup]\ntotal: 40\nsparsity: {uniform: [1, 4]}\nproperties:\n  dry: {expression: '1 - share(\"Syrup\")', weight: 9}\n" +
			"sampler: {chains: 3, warmup: 50, draws: 200, kernel: tempered}\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, "problems", name), []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

// one does something.
func (s *soak) one() {
	for len(s.runs) > 12 {
		k := s.r.IntN(len(s.runs))
		s.must(os.RemoveAll(s.runs[k].dir))
		s.runs = slices.Delete(s.runs, k, k+1)
	}
	do := []struct {
		name  string
		share int
		do    func()
	}{
		{"sample", 20, s.sample}, {"resume", 20, s.resume}, {"extend", 10, s.extend}, {"kill", 6, s.kill}, {"shards and merge", 8, s.shards},
		{"serve", 12, s.serve}, {"look", 28, s.lookAt}, {"ask otherwise", 6, s.otherwise},
	}
	at := s.r.IntN(110)
	for _, d := range do {
		if at -= d.share; at < 0 {
			s.did[d.name]++
			s.said = d.name
			d.do()
			return
		}
	}
}

// path names something in the soak's directory.
func (s *soak) path(name string) string { return filepath.Join(s.dir, name) }

func (s *soak) must(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatalf("step %d, %s: %v", s.step, s.said, err)
	}
}

// kir does a command, which may be ended at a random time, and returns its status and
// what it prints.
func (s *soak) kir(line string, ended bool) (status int, out string) {
	status, out = s.try(line, ended)
	if status != 0 && (status != 130 || !ended) {
		s.t.Errorf("step %d, %s: status %d", s.step, s.said, status)
	}
	return status, out
}

// try is kir of a command that may be refused.
func (s *soak) try(line string, ended bool) (status int, out string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if ended {
		// Most often in the first tenths of a second, where files are opened and made.
		time.AfterFunc(time.Duration(s.r.ExpFloat64()*float64(400*time.Millisecond)), cancel)
	}
	printed, said := new(pageOutput), new(pageOutput) // which are written while they are read
	s.said += "; kir " + line
	before := runtime.NumGoroutine()
	status = reportError(s.execute(ctx, strings.Fields(line), printed, said), said)
	// What an ended command does not wait for ends with the process elsewhere.
	for k := 0; status == 130 && runtime.NumGoroutine() > before && k < 600; k++ {
		time.Sleep(50 * time.Millisecond)
	}
	if status != 0 && status != 130 {
		s.said += fmt.Sprintf(" (which says %q)", said)
	}
	return status, printed.String()
}

// fresh names a new run and the command that makes it, from a problem at random.
func (s *soak) fresh() *soakedRun {
	s.named++
	problem := []string{"shares", "forest", "rules", "tempered"}[s.r.IntN(4)]
	kernel := ""
	if problem != "tempered" && s.r.IntN(3) > 0 {
		kernel = " --kernel " + []string{"balanced", "gibbs", "tempered", "auto"}[s.r.IntN(4)]
	}
	n := &soakedRun{dir: s.path(fmt.Sprintf("run-%d", s.named)), draws: 50 + s.r.IntN(1500)}
	n.args = fmt.Sprintf("%s --seed %d --chains %d --effort %v%s", s.path("problems/"+problem+".yaml"), s.r.IntN(1000), 1+s.r.IntN(4), []float64{0, 0.1, 0.3}[s.r.IntN(3)], kernel)
	return n
}

func (n *soakedRun) line() string {
	return fmt.Sprintf("sample %s --draws %d -o %s", n.args, n.draws, n.dir)
}

// any returns a run that is done, or not.
func (s *soak) any(done bool) *soakedRun {
	for _, k := range s.r.Perm(len(s.runs)) {
		if s.runs[k].done == done {
			return s.runs[k]
		}
	}
	return nil
}

// began keeps a run that was begun, if it was.
func (s *soak) began(n *soakedRun, done bool) {
	if n.done = done; !done {
		if !isRun(n.dir) {
			s.must(os.RemoveAll(n.dir))
			return
		}
	}
	s.runs = append(s.runs, n)
}

func (s *soak) sample() {
	n := s.fresh()
	status, _ := s.kir(n.line()+fmt.Sprintf(" --workers %d", s.r.IntN(4)), s.r.IntN(2) == 0)
	s.began(n, status == 0)
}

// kill kills another process.
func (s *soak) kill() {
	n := s.fresh()
	s.said += "; kir " + n.line()
	c, said := kirProcess(s.dir, strings.Fields(n.line())...)
	s.must(c.Start())
	late := time.AfterFunc(time.Second+time.Duration(s.r.ExpFloat64()*float64(500*time.Millisecond)), func() { c.Process.Kill() })
	defer late.Stop()
	err := c.Wait()
	if status := c.ProcessState.Sys().(syscall.WaitStatus); err != nil && !status.Signaled() {
		s.t.Errorf("step %d, %s: %v: %s", s.step, s.said, err, said)
	}
	n.killed = err != nil
	temporary, err := filepath.Glob(s.path("tmp/*")) // of the killed one, which nobody else can know
	s.must(err)
	for _, path := range temporary {
		s.must(os.RemoveAll(path))
	}
	s.began(n, !n.killed)
}

// resume goes on with a run, to the end or not; at the end it is what it would have been.
func (s *soak) resume() {
	n := s.any(false)
	if n == nil {
		s.sample()
		return
	}
	if n.killed {
		// It may have been killed when all was done.
		status, _ := s.try("resume "+n.dir, false)
		if n.done = status == 0 || status == 2; n.done {
			s.same(n)
		}
		if _, err := os.Stat(filepath.Join(n.dir, "report.html")); !n.done || err != nil {
			s.t.Errorf("step %d, %s: status %d, and the page is: %v", s.step, s.said, status, err)
		}
		return
	}
	status, _ := s.kir("resume "+n.dir, s.r.IntN(3) == 0)
	if n.done = status == 0; n.done {
		s.same(n)
	}
}

// same compares the draws of a run with those of the same run that nothing happened to.
func (s *soak) same(n *soakedRun) {
	whole := *n
	whole.dir = s.path("whole")
	s.kir(whole.line()+" --no-report", false)
	_, got := s.kir("draws "+n.dir, false)
	_, want := s.kir("draws "+whole.dir, false)
	if got != want || got == "" {
		s.t.Errorf("step %d, %s: the draws are others than those of an uninterrupted run", s.step, s.said)
	}
	s.must(os.RemoveAll(whole.dir))
}

func (s *soak) extend() {
	n := s.any(true)
	if n == nil {
		s.sample()
		return
	}
	n.draws += 50 + s.r.IntN(500)
	status, _ := s.kir(fmt.Sprintf("resume %s --draws %d", n.dir, n.draws), s.r.IntN(2) == 0)
	if n.done = status == 0; n.done {
		s.same(n)
		return
	}
	// It was ended before the run was longer, or after; asked again, it is.
	if status, _ := s.kir(fmt.Sprintf("resume %s --draws %d", n.dir, n.draws), false); status == 0 {
		n.done = true
		s.same(n)
	}
}

// shards runs the parts of a run at once, some of them ended and done again, with others
// who look how far it is, and joins them.
func (s *soak) shards() {
	n, parts := s.fresh(), 2+s.r.IntN(2)
	n.args = strings.Replace(n.args, "--chains ", "--chains 1", 1) // ten or more
	n.draws = 50 + s.r.IntN(200)
	s.said += "; shards of kir " + n.line()
	var all sync.WaitGroup
	for k := range parts {
		wait := time.Duration(s.r.ExpFloat64() * float64(700*time.Millisecond))
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			time.AfterFunc(wait, cancel)
			line := strings.Fields(n.line() + fmt.Sprintf(" --workers 1 --shard %d/%d", k+1, parts))
			var said bytes.Buffer
			status := reportError(s.execute(ctx, line, io.Discard, &said), &said)
			if status == 130 {
				status = reportError(s.execute(context.Background(), line, io.Discard, &said), &said)
			}
			if status != 0 {
				s.t.Errorf("step %d, %s, %d of %d: status %d: %s", s.step, s.said, k+1, parts, status, &said)
			}
		})
	}
	all.Wait()
	if s.t.Failed() {
		return
	}
	s.kir("status "+n.dir, false)
	if status, _ := s.kir("merge "+n.dir, s.r.IntN(3) == 0); status != 0 {
		s.kir("merge "+n.dir, false)
	}
	s.began(n, true)
	if s.r.IntN(3) == 0 {
		s.same(n)
	}
}

// lookAt looks at a run, or makes something of it.
func (s *soak) lookAt() {
	n := s.any(true)
	if n == nil {
		s.sample()
		return
	}
	page, figures, forest, start := s.path("page.html"), s.path("figures"), s.path("forest.json"), s.path("start.yaml")
	for range 1 + s.r.IntN(4) {
		recipes := s.path("problems/recipes.csv")
		lines := []string{
			"show " + n.dir, "show " + n.dir + " --best 9 --json", "status " + n.dir + " --json", "draws " + n.dir + " --format wide", "draws " + n.dir + " --format jsonl",
			"report " + n.dir + " -o " + page, "report " + n.dir, "report " + n.dir + " --figures " + figures, "compare " + n.dir + " " + s.any(true).dir,
			"check " + s.path("problems/rules.yaml"), "check " + s.path("problems/tempered.yaml"), "train " + recipes + " --label taste -o " + forest, "init " + recipes + " -o " + start, "merge " + n.dir,
		}
		s.kir(lines[s.r.IntN(len(lines))], s.r.IntN(4) == 0)
		for _, path := range []string{page, figures, forest, start} {
			s.must(os.RemoveAll(path))
		}
	}
}

// otherwise asks the same of a run with something changed.
func (s *soak) otherwise() {
	n := s.any(true)
	if n == nil || strings.Contains(n.args, "forest") {
		s.sample()
		return
	}
	changed, to := s.path("problems/changed.yaml"), s.path("changed")
	move := []string{"--pin Gin", "--exclude Vodka", "--max Lime=50%", "--near 1=3"}[s.r.IntN(4)]
	s.kir(fmt.Sprintf("sample %s %s --save %s -o %s", n.dir, move, changed, to), s.r.IntN(2) == 0)
	s.must(errors.Join(os.RemoveAll(to), os.RemoveAll(changed)))
}

// A pageOutput is what kir serve prints, which is read while it writes.
type pageOutput struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *pageOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *pageOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// serve opens the page of a problem or a run and asks it for things, some at once, and
// goes away from streams in the middle.
func (s *soak) serve() {
	dir := s.path("served")
	s.must(os.CopyFS(dir, os.DirFS(s.path("problems"))))
	file := filepath.Join(dir, []string{"forest", "rules", "tempered"}[s.r.IntN(3)]+".yaml")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.said += "; kir serve " + file
	out, done := new(pageOutput), make(chan error, 1)
	go func() { done <- s.execute(ctx, []string{"serve", "--no-open", file}, out, out) }()
	address := ""
	for range 1200 {
		if _, rest, ok := strings.Cut(out.String(), "http://"); ok && strings.Contains(rest, "\n") {
			address = "http://" + strings.Fields(rest)[0]
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	if address == "" {
		s.t.Fatalf("step %d: kir serve says %q", s.step, out)
	}
	transport := &http.Transport{}
	address, client, err := openPage(address, transport)
	s.must(err)
	client.Timeout = 2 * time.Minute
	people := 1 + s.r.IntN(3)
	var all sync.WaitGroup
	for range people {
		r := rand.New(rand.NewPCG(s.r.Uint64(), 1))
		all.Go(func() {
			for range 3 + r.IntN(12) {
				s.asks(client, address, r)
			}
		})
	}
	all.Wait()
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		s.t.Errorf("step %d, %s: %v", s.step, s.said, err)
	}
	transport.CloseIdleConnections()
	s.must(os.RemoveAll(dir))
}

// asks asks the page for one thing. What cannot be done is refused, and nothing fails.
func (s *soak) asks(client *http.Client, address string, r *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gone := r.IntN(5) == 0
	var request *http.Request
	var err error
	if r.IntN(2) == 0 {
		paths := []string{"", "events", "amounts", "amounts?ingredient=Gin", "map", "pair", "text", "text?step=1", "list", "csv", "weigh", `leaves?change={"do":"ban","ingredient":"Gin"}`, "js/page.js", "none"}
		path := paths[r.IntN(len(paths))]
		gone = gone || path == "events"
		request, err = http.NewRequestWithContext(ctx, "GET", address+path, nil)
	} else {
		requests := []string{
			`{"do":"pin","ingredient":"Gin"}`, `{"do":"ban","ingredient":"Vodka"}`, `{"do":"dose","ingredient":"Lime","min":"5%","max":"40%"}`, `{"do":"seed","rule":7}`,
			`{"do":"weight","property":"taste","weight":2}`, `{"do":"rule","text":"require: [Gin, Lime, Campari, Vodka, Soda]"}`, `{"do":"way","rule":0}`, `{"do":"back","step":1}`,
			`{"do":"back","step":2}`, `{"do":"name","step":1,"text":"first"}`, `{"do":"prefer","better":{"Gin":60,"Lime":40},"worse":{"Vodka":100}}`, `{"do":"drop","rule":0}`, `{"do":"save","step":1,"text":"saved.yaml","over":true}`, `{`,
		}
		request, err = http.NewRequestWithContext(ctx, "POST", address+"do", strings.NewReader(requests[r.IntN(len(requests))]))
		request.Header.Set("Content-Type", "application/json")
	}
	if err != nil {
		s.t.Error(err)
		return
	}
	if gone {
		time.AfterFunc(time.Duration(r.IntN(1500))*time.Millisecond, cancel)
	}
	answer, err := client.Do(request)
	if err == nil {
		var text []byte
		text, err = io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode >= 500 {
			s.t.Errorf("step %d, %s: %s is answered with %s: %s", s.step, s.said, request.URL, answer.Status, text)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.t.Errorf("step %d, %s: %s: %v", s.step, s.said, request.URL, err)
	}
	time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
}

// A sample is what a process holds.
type sample struct {
	goroutines, files, temporary float64
	heap, resident               float64 // bytes
	commands                     float64 // so far
}

func (m sample) String() string {
	return fmt.Sprintf("%.1f goroutines, %.1f files, %.2f MB of heap, %.1f MB resident", m.goroutines, m.files, m.heap/(1<<20), m.resident/(1<<20))
}

func mean(all []sample) (m sample) {
	for _, s := range all {
		n := float64(len(all))
		m.goroutines += s.goroutines / n
		m.files += s.files / n
		m.heap += s.heap / n
		m.commands += s.commands / n
		m.resident += s.resident / n
	}
	return m
}

// look says what the process holds now.
func (s *soak) look() sample {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	open, err := os.ReadDir("/proc/self/fd")
	s.must(err)
	temporary, err := os.ReadDir(s.path("tmp"))
	s.must(err)
	statm, err := os.ReadFile("/proc/self/statm")
	s.must(err)
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	s.must(err)
	return sample{float64(runtime.NumGoroutine()), float64(len(open)), float64(len(temporary)), float64(memory.HeapAlloc), float64(pages * os.Getpagesize()), float64(s.commands.Load())}
}

// settled waits until the process holds no more than before, and says what it holds.
func (s *soak) settled(before sample) sample {
	var now sample
	for range 100 {
		now = s.look()
		if now.goroutines <= before.goroutines && now.files <= before.files && now.temporary == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if now.goroutines > before.goroutines+s.slack() || now.files > before.files+s.slack() || now.temporary > 0 {
		stacks := make([]byte, 1<<16)
		s.t.Errorf("step %d, %s leaves behind: %v and %v temporary files, from %v\n%s", s.step, s.said, now, now.temporary, before, stacks[:runtime.Stack(stacks, true)])
	}
	if now.heap > soakMemory {
		s.t.Errorf("step %d, %s: %v", s.step, s.said, now)
	}
	return now
}

// slack is for what is loaded once, in the first steps.
func (s *soak) slack() float64 {
	if s.step < 20 {
		return 3
	}
	return 0
}

// cpuTime is what the process and those that it started have used.
func cpuTime() (used time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			used += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return used
}
