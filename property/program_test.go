package property_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/property"
	"kir/rule"
)

// TestMain makes the test binary a scorer when it is run as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "scorer" {
		os.Exit(score(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// score is a program that scores recipes, well or badly.
func score(mode string, arguments []string) int {
	in := bufio.NewReader(os.Stdin)
	total, err := strconv.Atoi(os.Getenv("KIR_TOTAL"))
	if err != nil {
		return 1
	}
	for asked := 0; ; asked++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if mode == "stays" { // and does not end with its input
				time.Sleep(time.Minute)
			}
			return 0
		}
		var recipes []map[string]int
		if err := json.Unmarshal(line, &recipes); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		// The names, which are all its words, are in order, so that what is known is
		// seen to be.
		for d, before := json.NewDecoder(bytes.NewReader(line)), ""; ; {
			word, err := d.Token()
			if err != nil {
				break
			}
			name, is := word.(string)
			if is && name <= before {
				fmt.Fprintf(os.Stderr, "%q after %q\n", name, before)
				return 3
			}
			if is || word == json.Delim('{') {
				before = name
			}
		}
		scores := make([]float64, len(recipes))
		for k, recipe := range recipes {
			for name, amount := range recipe {
				if amount < 1 {
					fmt.Fprintln(os.Stderr, name, "is not used")
					return 3
				}
			}
			scores[k] = scored(recipe, total)
		}
		answer, err := json.Marshal(scores)
		if err != nil {
			return 1
		}
		text := string(answer)
		switch {
		case mode == "slow":
			time.Sleep(2 * time.Millisecond)
		case mode == "dies once":
			if _, err := os.Stat(arguments[0]); err != nil {
				if os.WriteFile(arguments[0], nil, 0o644) != nil {
					return 1
				}
				fmt.Fprintln(os.Stderr, "out of\x1b[31m paper")
				return 3
			}
		case mode == "not alone": // what is asked that must not be is the end
			for _, recipe := range recipes {
				if len(recipe) < 2 || recipe["b"] == 0 {
					fmt.Fprintln(os.Stderr, "nobody wants to know")
					return 3
				}
			}
		case mode == "closes its output":
			os.Stdout.Close()
			time.Sleep(time.Minute)
		case asked < 5: // the failures come later
		case mode == "dies":
			fmt.Fprintln(os.Stderr, "out of paper")
			return 3
		case mode == "dies early" && asked == 5:
			fmt.Print(text[:1])
			return 4
		case mode == "hangs":
			time.Sleep(time.Minute)
		case mode == "hangs with a child":
			child, err := os.StartProcess(os.Args[0], []string{os.Args[0], "scorer", "stays"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}, Env: os.Environ()})
			if err == nil {
				child.Wait()
			}
			time.Sleep(time.Minute)
		case mode == "rubbish":
			text = "Traceback (most recent call last):"
		case mode == "NaN":
			text = strings.Replace(text, "0.", "NaN, 0.", 1)
		case mode == "negative":
			text = "[-0.5" + strings.Repeat(", 1", len(recipes)-1) + "]"
		case mode == "null":
			text = "[null" + strings.Repeat(", 1", len(recipes)-1) + "]"
		case mode == "infinite":
			text = "[1e999" + strings.Repeat(", 1", len(recipes)-1) + "]"
		case mode == "too few":
			text = "[]"
		case mode == "one number":
			text = "0.5"
		case mode == "says more":
			text += "\nand another thing"
		case mode == "says it twice":
			text += "\n" + text
		case mode == "endless":
			for {
				if _, err := fmt.Print(strings.Repeat("1,", 1000)); err != nil {
					return 0
				}
			}
		case mode == "empty":
			text = ""
		}
		fmt.Println(text)
	}
}

// scored is a function of a recipe with the ingredients "a" to "e".
func scored(recipe map[string]int, total int) float64 {
	s := 0.125
	for _, name := range slices.Sorted(maps.Keys(recipe)) {
		units := recipe[name]
		s += float64(units*units) / float64(total*total) * float64(name[0]-'a')
	}
	return s / 8
}

func newProgram(t *testing.T, total int, arguments ...string) *property.Program {
	t.Helper()
	return newProgramWith(t, total, nil, arguments...)
}

func newProgramWith(t *testing.T, total int, conditions []property.ProgramCondition, arguments ...string) *property.Program {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	p, err := property.NewProgram(property.ProgramOptions{
		Command:     append([]string{self, "scorer"}, arguments...),
		Dir:         t.TempDir(),
		Ingredients: []string{"a", "b", `c "quoted" é`, "d\n", "e"},
		Conditions:  conditions,
		Total:       total,
		Timeout:     20 * time.Second,
		Batch:       2,
		Processes:   2,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestProgram(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	naive := func(x []int) float64 {
		recipe := make(map[string]int)
		for i, a := range x {
			if a > 0 {
				recipe[names[i]] = a
			}
		}
		return scored(recipe, sum(x))
	}
	walkLines(t, newProgram(t, 12, "well"), 5, 12, 25, naive, 1e-9)
	// What a line has told is not asked for again, unless another pair has moved.
	p := newProgram(t, 12, "well")
	asked := func() int64 {
		_, recipes := p.CallCounts()
		return recipes
	}
	for _, c := range []struct {
		i, j int
		anew int64
	}{{0, 3, 0}, {2, 3, 1}, {0, 2, 1}, {3, 0, 1}} {
		x := composition(t, []int{4, 0, 3, 5, 0})
		s := p.Scorer(x)
		s.Reset()
		var line mcmc.PiecewiseConstant
		s.Line(0, 3, &line)
		if err := x.Move(c.i, c.j, 1); err != nil {
			t.Fatal(err)
		}
		before := asked()
		s.Moved(c.i, c.j)
		want := math.Log(naive([]int{x.Amount(0), x.Amount(1), x.Amount(2), x.Amount(3), x.Amount(4)}))
		if got := s.LogScore(); math.Abs(got-want) > 1e-9 || asked()-before > c.anew {
			t.Errorf("%d units between %d and %d: the score is %v, want %v, and %d recipes were asked for, want %d", x.Amount(c.i), c.i, c.j, got, want, asked()-before, c.anew)
		}
	}
	// A line that takes three requests.
	p = newProgram(t, 10_000, "well")
	x := composition(t, []int{4000, 0, 1000, 5000, 0})
	s := p.Scorer(x)
	s.Reset()
	var pieces mcmc.PiecewiseConstant
	s.Line(3, 0, &pieces)
	for _, k := range []int{0, 1, 4095, 4096, 4097, 8192, 9000} {
		point := x.Clone()
		if err := point.Move(3, 0, k); err != nil {
			t.Fatal(err)
		}
		want := p.LogScore(point)
		found := math.NaN()
		for q := range pieces.Len() {
			if start, value := pieces.Piece(q); start <= k {
				found = value
			}
		}
		if !same(found, want) {
			t.Errorf("split %d: the line says %v, the point %v", k, found, want)
		}
	}
}

// runProgram samples with a program as the only wish.
func runProgram(t *testing.T, p *property.Program, draws int, sink func(chain, draw int, x *mcmc.State) error) error {
	t.Helper()
	target, err := mcmc.NewTarget(must(mcmc.NewSpace(5, 60)), mcmc.Uniform(1, 3), mcmc.Objective{Name: "taste", Property: p, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	settings := mcmc.Settings{Kernel: "accelerated", Chains: 2, Draws: draws, Thin: 1, Seed: 1}
	sampler, err := settings.Sampler(target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.Stream(t.Context(), sampler, settings, 2, sink)
	return err
}

// Whatever a program does that it must not, the run ends with an error that says
// so and quotes it, within the timeout, and leaves no process behind.
func TestProgramFails(t *testing.T) {
	for _, c := range []struct {
		mode string
		says []string
	}{
		{"dies", []string{"ended before it answered", "exit status 3", `"out of paper"`}},
		{"hangs", []string{"did not answer", "in 300ms"}},
		{"hangs with a child", []string{"did not answer", "in 300ms"}},
		{"closes its output", []string{"ended before it answered", "killed"}},
		{"rubbish", []string{`"Traceback (most recent call last):"`, "JSON array"}},
		{"NaN", []string{`NaN, 0.`, "JSON array"}},
		{"negative", []string{`"[-0.5`, "score 1 of", "is -0.5", "at least 0"}},
		{"null", []string{`"[null`, "is null"}},
		{"infinite", []string{`1e999`, "finite"}},
		{"too few", []string{`"[]"`, "0 scores for"}},
		{"one number", []string{`"0.5"`, "JSON array"}},
		{"empty", []string{`""`, "JSON array"}},
		{"endless", []string{"more than", `"1,1,1,1`}},
		{"says more", []string{"and another thing"}},
		{"says it twice", []string{"after its answer", "one line"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			self, err := filepath.Abs(os.Args[0])
			if err != nil {
				t.Fatal(err)
			}
			timeout := 20 * time.Second
			if strings.HasPrefix(c.mode, "hangs") {
				timeout = 300 * time.Millisecond
			}
			p, err := property.NewProgram(property.ProgramOptions{
				Command: []string{self, "scorer", c.mode}, Dir: t.TempDir(),
				Ingredients: []string{"a", "b", "c", "d", "e"}, Total: 60, Timeout: timeout, Processes: 1, Batch: 16,
			})
			if err != nil {
				t.Fatal(err)
			}
			err = runProgram(t, p, 1000, func(int, int, *mcmc.State) error { return nil })
			var bad *mcmc.ScoreError
			if !errors.As(err, &bad) || bad.Objective != "taste" {
				t.Fatalf("the run ended with %v", err)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %s: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), `only said ""`) {
				t.Errorf("the error says what was not said: %v", err)
			}
			if p.Err() == nil {
				t.Error("the property does not know of it")
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A program that ends is started again, once, and that is told; the draws are
// those of one that did not end.
// No kernel asks a program for what the law gives no mass or a rule forbids.
func TestProgramIsAskedWhatCounts(t *testing.T) {
	p := newProgram(t, 12, "not alone")
	defer p.Close()
	set := rule.Set{Ingredients: 5, Total: 12, Rules: []rule.Rule{rule.Require{Of: []int{1}}}}
	space := must(mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{}))
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 4), mcmc.Objective{Name: "taste", Property: p, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, kernel := range []string{"accelerated", "gibbs", "naive", "balanced", "tempered"} {
		o := mcmc.Settings{Kernel: kernel, Chains: 1, Warmup: 50, Draws: 200, Thin: 1, Seed: 1}
		sampler, err := o.Sampler(target)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mcmc.Stream(t.Context(), sampler, o, 1, func(_, _ int, _ *mcmc.State) error { return nil }); err != nil {
			t.Errorf("%s: %v", kernel, err)
		}
	}
}

func TestProgramRestarts(t *testing.T) {
	var want []string
	keep := func(draws *[]string) func(chain, draw int, x *mcmc.State) error {
		var mu sync.Mutex
		*draws = make([]string, 200)
		return func(chain, draw int, x *mcmc.State) error {
			mu.Lock()
			defer mu.Unlock()
			(*draws)[100*chain+draw] = x.Composition.String()
			return nil
		}
	}
	if err := runProgram(t, newProgram(t, 60, "well"), 100, keep(&want)); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{{"dies once", filepath.Join(t.TempDir(), "died")}, {"dies early"}} {
		self, err := filepath.Abs(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		p, err := property.NewProgram(property.ProgramOptions{
			Command: append([]string{self, "scorer"}, arguments...), Dir: t.TempDir(),
			Ingredients: []string{"a", "b", "c", "d", "e"}, Total: 60, Timeout: 20 * time.Second, Processes: 1, Batch: 16,
			Warn: func(message string) { told = append(told, message) },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if arguments[0] == "dies early" {
			// It ends after every five answers, for ever.
			err = runProgram(t, p, 1000, func(int, int, *mcmc.State) error { return nil })
			if err == nil || !strings.Contains(err.Error(), `had only said "["`) || len(told) != 20 {
				t.Errorf("after %d restarts: %v", len(told), err)
			}
			continue
		}
		var got []string
		if err := runProgram(t, p, 100, keep(&got)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Error("the draws differ from those of a program that did not end")
		}
		if len(told) != 1 || !strings.Contains(told[0], "exit status 3") || !strings.Contains(told[0], `out of\x1b[31m paper`) {
			t.Errorf("told %q", told)
		}
	}
}

// How many processes there are changes nothing but the time.
func TestProgramProcesses(t *testing.T) {
	draws := make([][]string, 2)
	for k, processes := range []int{1, 2} {
		self, err := filepath.Abs(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		p, err := property.NewProgram(property.ProgramOptions{
			Command: []string{self, "scorer", "well"}, Ingredients: []string{"a", "b", "c", "d", "e"}, Total: 60, Timeout: 20 * time.Second, Processes: processes, Batch: 16,
		})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		draws[k] = make([]string, 200)
		if err := runProgram(t, p, 100, func(chain, draw int, x *mcmc.State) error {
			mu.Lock()
			defer mu.Unlock()
			draws[k][100*chain+draw] = x.Composition.String()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	if !slices.Equal(draws[0], draws[1]) {
		t.Error("the draws differ")
	}
}

// What several chains want to know at a time is asked at once, and what is known is not
// asked again; that changes no draw.
func TestProgramIsAskedRarely(t *testing.T) {
	const lines = 300
	run := func(chains, workers int) (calls int64, draws []string) {
		p := newProgram(t, 60, "slow")
		target, err := mcmc.NewTarget(must(mcmc.NewSpace(5, 60)), mcmc.Uniform(1, 3), mcmc.Objective{Name: "taste", Property: p, Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		settings := mcmc.Settings{Kernel: "accelerated", Chains: chains, Draws: lines, Thin: 1, Seed: 1}
		draws = make([]string, chains*lines)
		if _, err := mcmc.Stream(t.Context(), must(settings.Sampler(target)), settings, workers, func(chain, draw int, x *mcmc.State) error {
			draws[chain*lines+draw] = x.Composition.String()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		calls, recipes := p.CallCounts()
		t.Logf("%d chains, %d at once: %d calls, %d recipes", chains, workers, calls, recipes)
		return calls, draws
	}
	alone, want := run(6, 1)
	together, got := run(6, 6)
	if !slices.Equal(got, want) {
		t.Error("the draws differ")
	}
	// Two processes answer three chains each; half of that is left to chance.
	if 3*together > 2*alone {
		t.Errorf("%d calls for all chains at once, and %d for one at a time", together, alone)
	}
}

func TestProgramMatrix(t *testing.T) {
	checkKernels(t, newProgram(t, 3, "well"), 3, 3, 2)
}

// A program gets the values of conditions behind the amounts, all values of one in one request.
func TestProgramConditions(t *testing.T) {
	p := newProgramWith(t, 6, []property.ProgramCondition{{Name: "x", Values: []any{1.0, 4.0}}, {Name: "y", Values: []any{2.0, 3.0, 7.0}}}, "well")
	values := map[string][]int{"x": {1, 4}, "y": {2, 3, 7}}
	base, err := mcmc.NewSpace(5, 6)
	if err != nil {
		t.Fatal(err)
	}
	space, err := mcmc.WithConditions(base, []mcmc.Condition{{Name: "x", Weights: []float64{1, 1}}, {Name: "y", Weights: []float64{1, 1, 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := space.Composition([]mcmc.Part{{Ingredient: 0, Amount: 2}, {Ingredient: 4, Amount: 4}}, []int32{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	want := func(a, e, x, y int) float64 {
		return math.Log(scored(map[string]int{"a": a, "e": e, "x": values["x"][x], "y": values["y"][y]}, 6))
	}
	s := p.Scorer(x).(mcmc.ConditionScorer)
	s.Reset()
	check := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("the score", s.LogScore(), want(2, 4, 1, 0))
	var pieces mcmc.PiecewiseConstant
	before, _ := p.CallCounts()
	s.Values(1, &pieces)
	if after, _ := p.CallCounts(); after != before+1 {
		t.Errorf("the values of a condition take %d requests", after-before)
	}
	for v := range 3 {
		start, got := pieces.Piece(v)
		check("a value", got, want(2, 4, 1, v))
		if start != v {
			t.Errorf("value %d is at %d", v, start)
		}
	}
	if err := x.SetCondition(1, 2); err != nil {
		t.Fatal(err)
	}
	s.ConditionSet(1)
	check("after set", s.LogScore(), want(2, 4, 1, 2))
	pieces.Reset()
	s.Line(0, 4, &pieces)
	_, first := pieces.Piece(0)
	check("a split", first, math.Log(scored(map[string]int{"e": 6, "x": 4, "y": 7}, 6)))
	if err := x.Move(0, 4, 1); err != nil {
		t.Fatal(err)
	}
	s.Moved(0, 4)
	check("after a move", s.LogScore(), want(1, 5, 1, 2))
	check("the point", p.LogScore(x), want(1, 5, 1, 2))
	if err := x.SetCondition(0, 0); err != nil { // without having asked for its values
		t.Fatal(err)
	}
	s.ConditionSet(0)
	check("another condition", s.LogScore(), want(1, 5, 0, 2))
}

// Closing ends even a program that does not end with its input.
func TestProgramCloses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are counted in /proc")
	}
	p := newProgram(t, 6, "stays")
	if y := p.LogScore(composition(t, []int{6, 0, 0, 0, 0})); math.IsNaN(y) {
		t.Fatal(p.Err())
	}
	running := func() (n int) {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "scorer\x00stays") {
				stat, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "stat"))
				if !strings.Contains(string(stat), ") Z ") {
					n++
				}
			}
		}
		return n
	}
	if running() == 0 {
		t.Fatal("no process is running")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(5 * time.Second); running() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d processes are still running", running())
		}
	}
	if y := p.LogScore(composition(t, []int{6, 0, 0, 0, 0})); !math.IsNaN(y) || p.Err() == nil {
		t.Error("a program that was closed scores")
	}
}

func TestProgramRefuses(t *testing.T) {
	kept := golden.Open(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	good := property.ProgramOptions{Command: []string{os.Args[0]}, Dir: dir, Timeout: 1, Processes: 1, Batch: 1}
	if _, err := property.NewProgram(good); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(o *property.ProgramOptions){
		"no command":      func(o *property.ProgramOptions) { o.Command = nil },
		"no such program": func(o *property.ProgramOptions) { o.Command = []string{"no-such-program-anywhere"} },
		"no such file":    func(o *property.ProgramOptions) { o.Command = []string{"./scorer"} },
		"no program":      func(o *property.ProgramOptions) { o.Command = []string{"./notes.txt"} },
		"no time":         func(o *property.ProgramOptions) { o.Timeout = 0 },
		"no process":      func(o *property.ProgramOptions) { o.Processes = 0 },
		"an empty name":   func(o *property.ProgramOptions) { o.Command = []string{""} },
		"time runs back":  func(o *property.ProgramOptions) { o.Timeout = -1 },
		"no batch":        func(o *property.ProgramOptions) { o.Batch = 0 },
	} {
		o := good
		spoil(&o)
		_, err := property.NewProgram(o)
		kept.CheckText(t, name, strings.ReplaceAll(fmt.Sprint(err), dir, "its directory"))
	}
}

// A program beside a directory that is no more is not found, whatever its name.
func TestFindProgramNowhere(t *testing.T) {
	gone := t.TempDir()
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"./scorer", "../scorer", "no-such-program-anywhere"} {
		if path, err := property.FindProgram(name, "."); err == nil {
			t.Errorf("%s is found at %q", name, path)
		}
	}
	if filepath.IsAbs(os.Args[0]) {
		if _, err := property.FindProgram(os.Args[0], "."); err != nil {
			t.Error(err)
		}
		if _, err := property.NewProgram(property.ProgramOptions{Command: []string{os.Args[0]}, Dir: ".", Timeout: 1, Processes: 1, Batch: 1}); err == nil {
			t.Error("a program runs in a directory that is no more")
		}
	}
}

// What is seen to before a program starts is seen to each time, and ends the run if it
// says so.
func TestProgramStarting(t *testing.T) {
	started, changed := 0, errors.New("the program has changed")
	p, err := property.NewProgram(property.ProgramOptions{
		Command: []string{"sh", "-c", "read line; echo '[1]'"}, Ingredients: []string{"a", "b"}, Total: 3, Timeout: time.Minute, Processes: 1, Batch: 1,
		BeforeStart: func() error {
			if started++; started > 2 {
				return changed
			}
			return nil
		},
	})
	if err != nil {
		t.Skip(err)
	}
	defer p.Close()
	for amount := 1; amount <= 3; amount++ { // it ends after each answer
		x, err := mcmc.NewComposition(2, mcmc.Part{Ingredient: 0, Amount: amount})
		if err != nil {
			t.Fatal(err)
		}
		if score := p.LogScore(x); (score == 0) != (amount < 3) {
			t.Errorf("recipe %d scores %v: %v", amount, score, p.Err())
		}
	}
	if !errors.Is(p.Err(), changed) || started != 3 {
		t.Errorf("started %d times: %v", started, p.Err())
	}
}
